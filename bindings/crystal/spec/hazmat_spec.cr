require "./spec_helper"
require "./openssl_reference"

private KEY = sample(32)

describe Sealane::Hazmat::Keystream do
  it "computes what OpenSSL computes, at every offset" do
    data = sample(5000)
    iv = sample(16, 3)
    expected = OpenSSLReference.xor("aes-256-ctr", KEY, iv, data)
    keystream = Sealane::Hazmat::Keystream.new("aes-ctr", KEY, iv)
    nonce = sample(12, 3)
    # The IV of OpenSSL is the counter in four bytes, and the nonce.
    from_seven = OpenSSLReference.xor("chacha20", KEY, join(Bytes[7, 0, 0, 0], nonce), data)
    chacha20 = Sealane::Hazmat::Keystream.new("chacha20", KEY, nonce, counter: 7_u32)
    (0..200).each do |at|
      keystream.xor_at(at, data + at).should eq expected + at
      chacha20.xor_at(at, data[at, 1000]).should eq from_seven[at, 1000]
    end
    buffer = data.dup
    keystream.xor_in_place(0, buffer)
    buffer.should eq expected
    keystream.close
    chacha20.close
  end

  it "refuses mistakes" do
    expect_no_leak do
      expect_raises(ArgumentError, "aes-ctr") { Sealane::Hazmat::Keystream.new("aes-cbc", KEY, sample(16)) }
      expect_raises(ArgumentError) { Sealane::Hazmat::Keystream.new("aes-ctr", KEY, sample(12)) }
      expect_raises(ArgumentError) { Sealane::Hazmat::Keystream.new("speck128-256", KEY, sample(16), byte_order: "odd") }
      keystream = Sealane::Hazmat::Keystream.new("chacha20", KEY, sample(12))
      expect_raises(ArgumentError, "offset") { keystream.xor_at(-1, KEY) }
      expect_raises(Sealane::LimitExceededError) { keystream.xor_at(64_u64 << 32, KEY) }
      keystream.xor_at((64_u64 << 32) - 32, KEY).size.should eq 32
      expect_raises(ArgumentError) { keystream.xor_into(0, KEY, Bytes.new(31)) }
      expect_raises(ArgumentError, "read-only") { keystream.xor_in_place(0, "text".to_slice) }
      expect_raises(ArgumentError) { keystream.xor_under(sample(16), 0, KEY) }
      keystream.close
      expect_raises(Sealane::ClosedError) { keystream.xor_at(0, KEY) }
    end
  end
end

describe Sealane::Hazmat::KeystreamIO do
  it "reads and writes another IO at any position" do
    keystream = Sealane::Hazmat::Keystream.new("aes-ctr", KEY, sample(16))
    data = sample(100_000)
    stored = IO::Memory.new
    io = Sealane::Hazmat::KeystreamIO.new(keystream, stored)
    io.write(data[0, 7])
    io.write(data + 7)
    io.write(Bytes.empty)
    stored.to_slice.should eq keystream.xor_at(0, data)
    io.rewind
    io.getb_to_end.should eq data
    io.seek(-1000, IO::Seek::End)
    io.pos.should eq 99_000
    io.getb_to_end.should eq data + 99_000
    io.pos = 500
    io.seek(100, IO::Seek::Current).read_byte.should eq data[600]
    expect_raises(Exception) { io.seek(-1) }

    # A part of a longer keystream.
    part = IO::Memory.new(keystream.xor_at(1000, data))
    Sealane::Hazmat::KeystreamIO.new(keystream, part, 1000).getb_to_end.should eq data

    io.sync_close = true
    io.close
    io.close
    stored.closed?.should be_true
    expect_raises(IO::Error, "Closed") { io.read_byte }
    expect_raises(IO::Error, "Closed") { io.write(data) }
    keystream.close
  end
end

describe Sealane::Hazmat::Poly1305 do
  it "verifies, and ends with the tag" do
    expect_no_leak do
      mac = Sealane::Hazmat::Poly1305.new(KEY).update(sample(100))
      tag = mac.final
      expect_raises(ArgumentError) { mac.final }
      expect_raises(ArgumentError) { mac.update(KEY) }
      mac.close
      expect_raises(Sealane::ClosedError) { mac.update(KEY) }
      other = Sealane::Hazmat::Poly1305.new(KEY).update(sample(100))
      other.verify(tag)
      other.close
      16.times do |place|
        wrong = tag.dup
        wrong[place] ^= 0x80
        mac = Sealane::Hazmat::Poly1305.new(KEY).update(sample(100))
        expect_raises(Sealane::AuthenticationError) { mac.verify(wrong) }
        mac.close
      end
      mac = Sealane::Hazmat::Poly1305.new(KEY)
      expect_raises(ArgumentError, "16 bytes") { mac.verify(tag[0, 15]) }
      mac.close
      expect_raises(ArgumentError, "31") { Sealane::Hazmat::Poly1305.new(KEY[0, 31]) }
      expect_raises(ArgumentError) { Sealane::Hazmat::Poly1305.from_chacha20(KEY, sample(11)) }
      mac = Sealane::Hazmat::Poly1305.from_chacha20(KEY, sample(12))
      mac.update(sample(5)).final.should eq Crypto::Poly1305.chacha20(KEY, sample(12)).tap(&.update(sample(5))).final
      mac.close
    end
  end
end

describe Sealane::Hazmat::AeadEncryptor do
  it "computes in pieces what Aead computes" do
    expect_no_leak do
      {"aes-256-gcm", "chacha20-poly1305"}.each do |name|
        data, aad, nonce = sample(10_000), sample(77), sample(12)
        aead = Sealane::Aead.new(name, KEY)
        whole = aead.encrypt(nonce, data, aad)
        encryptor = Sealane::Hazmat::AeadEncryptor.new(name, KEY, nonce)
        decryptor = Sealane::Hazmat::AeadDecryptor.new(name, KEY, nonce)
        aad.each_slice(10) do |piece|
          bytes = Slice.new(piece.to_unsafe, piece.size)
          encryptor.aad(bytes)
          decryptor.aad(bytes)
        end
        at = 0
        {0, 1, 15, 16, 17, 1000, 8951}.each do |size|
          piece = encryptor.update(data[at, size])
          piece.should eq whole[at, size]
          decryptor.update_into(piece, piece).should eq data[at, size]
          at += size
        end
        at.should eq data.size
        expect_raises(ArgumentError) { encryptor.aad(aad) }
        tag = encryptor.final
        tag.should eq whole + data.size
        decryptor.verify(tag)
        expect_raises(ArgumentError) { encryptor.update(data) }
        other = Sealane::Hazmat::AeadDecryptor.new(name, KEY, nonce)
        expect_raises(Sealane::AuthenticationError) { other.verify(tag) }
        [aead, encryptor, decryptor, other].each(&.close)
        expect_raises(Sealane::ClosedError) { encryptor.update(data) }
      end
      expect_raises(ArgumentError) { Sealane::Hazmat::AeadEncryptor.new("aegis-256", KEY, KEY) }
      expect_raises(ArgumentError) { Sealane::Hazmat::AeadDecryptor.new("aes-256-gcm", KEY, Bytes.empty) }
    end
  end
end

describe Sealane::Hazmat::SpeckAead do
  it "refuses what is dangerous" do
    expect_no_leak do
      aead = Sealane::Hazmat::SpeckAead.new("speck128-256-poly1305", KEY)
      aead.open(aead.seal(KEY)).should eq KEY
      blocks = Sealane::Hazmat::SpeckAead.block_nonce("speck128-256-poly1305", KEY)
      blocks.nonce_size.should eq 16
      nonce = sample(12)
      blocks.encrypt(join(nonce, Bytes.new(4)), KEY).should eq aead.encrypt(nonce, KEY)
      expect_raises(ArgumentError) { blocks.seal(KEY) }
      expect_raises(ArgumentError) { Sealane::Hazmat::SpeckAead.new("speck64-128-poly1305", KEY[0, 16]) }
      small = Sealane::Hazmat::SpeckAead.small_block("speck64-128-poly1305", KEY[0, 16])
      expect_raises(ArgumentError) { small.seal(KEY) }
      speck = Sealane::Hazmat::Speck.new("speck128-256", KEY)
      expect_raises(ArgumentError) { speck.encrypt_blocks(sample(17)) }
      [aead, blocks, small, speck].each(&.close)
      expect_raises(Sealane::ClosedError) { speck.encrypt_blocks(KEY) }
    end
  end
end
