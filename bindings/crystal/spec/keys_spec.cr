require "./spec_helper"

describe Sealane::Secret do
  it "is generated, saved, loaded and converted" do
    expect_no_leak do
      in_folder do |folder|
        {"aes-128", "aes-256", "age", "age-pq", "secp256k1", "x25519", "p-256", "x-wing"}.each do |kind|
          secret = Sealane::Secret.generate(kind)
          secret.kind.should eq kind
          parsed = Sealane::Secret.parse(secret.to_text)
          parsed.to_text.should eq secret.to_text
          secret.save(folder / kind)
          File.info(folder / kind).permissions.value.should eq 0o600
          expect_raises(IO::Error) { secret.save(folder / kind) }
          secret.save(folder / kind, replace: true)
          loaded = Sealane::Secret.load(folder / kind)
          loaded.public_key.should eq secret.public_key
          if kind.starts_with?("aes")
            secret.public_key.should be_nil
            secret.bytes.size.should eq kind[/\d+/].to_i // 8
            loaded.bytes.should eq secret.bytes
          else
            expect_raises(ArgumentError) { secret.bytes }
          end
          [secret, parsed, loaded].each(&.close)
          expect_raises(Sealane::ClosedError) { secret.to_text }
        end
      end
    end
  end

  it "is protected by a passphrase" do
    expect_no_leak do
      in_folder do |folder|
        secret = Sealane::Secret.generate("x25519")
        text = secret.to_text("right")
        expect_raises(ArgumentError, "passphrase") { Sealane::Secret.parse(text) }
        expect_raises(Sealane::NoMatchingKeyError) { Sealane::Secret.parse(text, "wrong") }
        expect_raises(ArgumentError, "null byte") { Sealane::Secret.parse(text, "right\0") }
        opened = Sealane::Secret.parse(text, "right")
        opened.public_key.should eq secret.public_key
        secret.save(folder / "key", "right")
        loaded = Sealane::Secret.load((folder / "key").to_s, "right")
        loaded.public_key.should eq secret.public_key
        [secret, opened, loaded].each(&.close)
      end
    end
  end

  it "refuses what is no key" do
    expect_no_leak do
      expect_raises(ArgumentError) { Sealane::Secret.generate("des") }
      expect_raises(Sealane::FormatError) { Sealane::Secret.parse("no key") }
      secret = Sealane::Secret.new(Bytes.new(5))
      secret.kind.should be_nil
      secret.close
      expect_raises(File::NotFoundError, "/nowhere/key") { Sealane::Secret.load("/nowhere/key") }
    end
  end

  it "is the key that the program writes, and the reverse" do
    in_folder do |folder|
      program({"keygen", "-o", (folder / "key.jwk").to_s})
      program({"keygen", "-t", "age", "-o", (folder / "me.key").to_s})
      Sealane::Secret.load(folder / "key.jwk").bytes.size.should eq 32
      Sealane::Secret.load(folder / "me.key").public_key.not_nil!.should start_with "age1"
    end
  end
end

describe Sealane::Hybrid do
  it "opens what it seals" do
    expect_no_leak do
      {"rsa-2048", "secp256k1", "x25519", "p-256", "x-wing"}.each do |kind|
        secret = Sealane::Secret.generate(kind)
        public_key = secret.public_key.not_nil!
        data, aad = sample(1000), "to: alice".to_slice
        message = Sealane::Hybrid.seal(public_key, data, aad)
        Sealane::Hybrid.open(secret, message, aad).should eq data
        expect_raises(Sealane::AuthenticationError) { Sealane::Hybrid.open(secret, message, "to: bob".to_slice) }
        message[message.size - 1] ^= 1
        expect_raises(Sealane::AuthenticationError) { Sealane::Hybrid.open(secret, message, aad) }
        Sealane::Hybrid.open(secret, Sealane::Hybrid.seal(public_key, Bytes.empty)).should be_empty
        if kind.in?("x25519", "p-256", "x-wing")
          message = Sealane::Hybrid.seal(public_key, data, info: aad, suite: "chacha20-poly1305")
          Sealane::Hybrid.open(secret, message, info: aad, suite: "chacha20-poly1305").should eq data
        else
          expect_raises(ArgumentError) { Sealane::Hybrid.seal(public_key, data, suite: "aes-128-gcm") }
        end
        expect_raises(ArgumentError) { Sealane::Hybrid.seal(public_key, data, suite: "rot13") }
        secret.close
        expect_raises(Sealane::ClosedError) { Sealane::Hybrid.open(secret, message) }
      end
      expect_raises(Sealane::FormatError) { Sealane::Hybrid.seal("no key", Bytes.empty) }
    end
  end
end
