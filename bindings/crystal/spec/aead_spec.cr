require "./spec_helper"
require "./openssl_reference"

private KEY   = sample(32)
private NONCE = sample(12, 7)

describe Sealane::Aead do
  it "opens what it seals, with every algorithm" do
    expect_no_leak do
      algorithms = Sealane.algorithms
      algorithms.size.should be >= 14
      algorithms.each do |algorithm|
        key = Sealane.random_bytes(algorithm.key_size)
        secret = Sealane::Secret.new(key)
        one, other = Sealane::Aead.new(algorithm.name, key), Sealane::Aead.new(algorithm.name, secret)
        one.nonce_size.should eq algorithm.nonce_size
        one.tag_size.should eq algorithm.tag_size
        one.algorithm.should eq algorithm.name
        one.max_plaintext_size.should eq algorithm.max_plaintext_size
        (0..200).step(13) do |size|
          data, aad = sample(size), sample(200 - size)
          sealed = one.seal(data, aad)
          sealed.size.should eq size + one.overhead
          other.open(sealed, aad).should eq data
        end
        [one, other, secret].each(&.close)
      end
    end
  end

  it "seals and opens batches" do
    expect_no_leak do
      aead = Sealane::Aead.new("aes-256-gcm", KEY)
      data, aad, sizes = sample(1000), sample(9), [0, 64, 1, 64, 871]
      sealed = aead.seal_many(data, sizes, aad)
      sealed.size.should eq data.size + sizes.size * aead.overhead
      at = from = 0
      sizes.each do |size|
        aead.open(sealed[at, size + aead.overhead], aad).should eq data[from, size]
        at += size + aead.overhead
        from += size
      end
      sealed_sizes = sizes.map(&.+ aead.overhead)
      aead.open_many(sealed, sealed_sizes, aad).should eq data
      sealed[30] ^= 1 # in message 1
      expect_raises(Sealane::AuthenticationError, "message 1") { aead.open_many(sealed, sealed_sizes, aad) }
      aead.seal_many(Bytes.empty, [] of Int32).size.should eq 0
      [[1], [1000, 1], [-1, 1001], [UInt64::MAX, 1001_u64]].each do |wrong|
        expect_raises(ArgumentError) { aead.seal_many(data, wrong) }
        expect_raises(ArgumentError) { aead.open_many(data, wrong) }
      end
      aead.close
    end
  end

  it "computes what OpenSSL computes" do
    {"aes-128-gcm" => 16, "aes-256-gcm" => 32, "chacha20-poly1305" => 32}.each do |name, size|
      aead = Sealane::Aead.new(name, KEY[0, size])
      (0..300).step(7) do |length|
        data, aad = sample(length), sample(length // 3, 5)
        aead.encrypt(NONCE, data, aad).should eq OpenSSLReference.seal(name, KEY[0, size], NONCE, data, aad)
      end
      data = sample(1_000_003)
      aead.encrypt(NONCE, data).should eq OpenSSLReference.seal(name, KEY[0, size], NONCE, data, Bytes.empty)
      aead.close
    end
  end

  it "works in place, and refuses other overlaps" do
    aead = Sealane::Aead.new("aes-256-gcm", KEY)
    data, buffer = sample(100), Bytes.new(128)
    data.copy_to(buffer + 12)
    aead.seal_into(buffer[12, 100], buffer).size.should eq 128
    aead.open_into(buffer, buffer + 12).should eq data
    buffer[12, 100].should eq data
    expect_raises(ArgumentError, "overlap") { aead.encrypt_into(NONCE, buffer[0, 100], buffer + 1) }
    aead.close
  end

  it "refuses forgeries, and leaves zeros" do
    aead = Sealane::Aead.new("aes-256-gcm", KEY)
    sealed = aead.seal(sample(100), "header".to_slice)
    sealed.size.times do |place|
      forged = sealed.dup
      forged[place] ^= 1
      output = Bytes.new(100, 0xee)
      expect_raises(Sealane::AuthenticationError) { aead.open_into(forged, output, "header".to_slice) }
      output.all?(&.zero?).should be_true
      expect_raises(Sealane::AuthenticationError) { aead.open(sealed[0, place], "header".to_slice) }
    end
    expect_raises(Sealane::AuthenticationError) { aead.open(sealed) }
    aead.close
  end

  it "refuses mistakes with the name of the argument" do
    expect_no_leak do
      expect_raises(ArgumentError, "aes-256-gcm") { Sealane::Aead.new("aes-255-gcm", KEY) }
      expect_raises(ArgumentError, "null byte") { Sealane::Aead.new("aes-256-gcm\0", KEY) }
      expect_raises(ArgumentError, "31") { Sealane::Aead.new("aes-256-gcm", KEY[0, 31]) }
      expect_raises(ArgumentError) { Sealane::Aead.new("aes-256-gcm", KEY, "unknown") }
      expect_raises(Sealane::ProviderUnavailableError) { Sealane::Aead.new("aegis-256", KEY, "rustcrypto") }
      aead = Sealane::Aead.new("aes-256-gcm", KEY)
      expect_raises(ArgumentError, "nonce") { aead.encrypt(NONCE[0, 11], KEY) }
      expect_raises(ArgumentError) { aead.encrypt_into(NONCE, KEY, Bytes.new(47)) }
      expect_raises(ArgumentError, "read-only") { aead.encrypt_into(NONCE, KEY, ("x" * 48).to_slice) }
      expect_raises(ArgumentError, "read-only") { aead.seal_into(KEY, ("x" * 60).to_slice) }
      aead.close
      aead.closed?.should be_true
      aead.close
      aead.finalize
      expect_raises(Sealane::ClosedError, "closed") { aead.seal(KEY) }
      expect_raises(Sealane::ClosedError, "closed") { aead.decrypt(NONCE, KEY) }
    end
  end

  it "hides keys in its description" do
    aead = Sealane::Aead.new("aes-256-gcm", KEY)
    aead.inspect.should_not contain KEY[0, 4].hexstring
    aead.close
  end

  it "lists implementations that compute the same" do
    expected = Sealane::Aead.new("chacha20-poly1305", KEY).encrypt(NONCE, sample(1000))
    rows = Sealane.providers.select { |row| row.algorithm == "chacha20-poly1305" && row.available }
    rows.count(&.chosen).should eq 1
    rows.map(&.name).uniq!.each do |provider|
      aead = Sealane::Aead.new("chacha20-poly1305", KEY, provider)
      aead.provider.should eq provider
      aead.encrypt(NONCE, sample(1000)).should eq expected
      aead.close
    end
  end
end

describe Sealane do
  it "has the version of the package" do
    Sealane.version.should eq Sealane::VERSION
  end

  it "returns random bytes, and wipes" do
    bytes = Sealane.random_bytes(32)
    bytes.should_not eq Sealane.random_bytes(32)
    Sealane.wipe(bytes)
    bytes.all?(&.zero?).should be_true
    expect_raises(ArgumentError, "read-only") { Sealane.wipe("text".to_slice) }
  end

  it "derives keys with Argon2id" do
    # From the tests of the reference implementation of Argon2.
    key = Sealane.derive("password", "somesalt".to_slice, memory_kib: 65536_u32, passes: 2_u32, lanes: 1_u32)
    key.hexstring.should eq "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"
    expect_raises(ArgumentError) { Sealane.derive("password", "short".to_slice) }
  end
end
