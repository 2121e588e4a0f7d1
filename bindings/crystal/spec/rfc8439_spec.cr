require "./spec_helper"
require "./openssl_reference"

private KEY   = sample(32)
private NONCE = sample(12, 7)

# The layout of the shard: associated data, ciphertext and lengths, padded to 16 bytes.
private def blob(aad : Bytes, data : Bytes) : {Bytes, Bytes}
  sealed = Sealane::Aead.new("chacha20-poly1305", KEY).encrypt(NONCE, data, aad)
  io = IO::Memory.new
  {aad, sealed[0, data.size]}.each do |part|
    io.write(part)
    io.write(Bytes.new(-part.size % 16))
  end
  {aad, data}.each { |part| io.write_bytes(part.size.to_u64, IO::ByteFormat::LittleEndian) }
  {io.to_slice, sealed + data.size}
end

describe Crypto::Hex do
  it "takes colons and white space, and refuses everything else" do
    Crypto::Hex.bytes("85:d6:Be").should eq Bytes[0x85, 0xd6, 0xbe]
    Crypto::Hex.bytes("\n 43 72\t79 ").should eq Bytes[0x43, 0x72, 0x79]
    Crypto::Hex.bytes("").should be_empty
    ["0g", "0x00", "00-01", "é0", "00:0", "٣٣"].each { |text| expect_raises(ArgumentError, "expected") { Crypto::Hex.bytes(text) } }
    # The message does not contain any digit of a key.
    error = expect_raises(ArgumentError) { Crypto::Hex.bytes("c0ffee:zz") }
    error.message.not_nil!.should_not contain "z"
  end
end

describe Crypto::ChaCha20 do
  it "computes what OpenSSL computes, in pieces of any length" do
    data = sample(10_000)
    expected = OpenSSLReference.xor("chacha20", KEY, join(Bytes[3, 0, 0, 0], NONCE), data)
    {1, 63, 64, 65, 1000, 10_000}.each do |size|
      cipher = Crypto::ChaCha20.new(KEY, NONCE, 3)
      output = IO::Memory.new
      (0...data.size).step(size) { |at| output.write(cipher.encrypt(data[at, {size, data.size - at}.min])) }
      output.to_slice.should eq expected
    end
    output = IO::Memory.new
    Crypto::ChaCha20::Native.new(KEY, NONCE, 3).encrypt(IO::Memory.new(data), output)
    output.to_slice.should eq expected
    buffer = Bytes.new(data.size + 5, 0xee)
    Crypto::ChaCha20.new(KEY, NONCE, 3).encrypt(data, buffer)
    buffer[0, data.size].should eq expected
    # The rest of a longer output is not keystream, which could decrypt other data.
    (buffer + data.size).all?(0xee).should be_true
    Crypto::ChaCha20.new(KEY, NONCE, 3).encrypt(buffer[0, data.size], buffer)
    buffer[0, data.size].should eq data
  end

  it "clones, resets, and takes texts and states" do
    cipher = Crypto::ChaCha20.new(KEY.hexstring, NONCE.hexstring, 9)
    block = cipher.next_key_block
    cipher.encrypt(Bytes.new(3))
    tenth = cipher.next_key_block
    again = Crypto::ChaCha20.new(KEY, NONCE, 11)
    again.next_key_block.should eq tenth
    first = Crypto::ChaCha20.new(KEY, NONCE).next_key_block
    cipher.clone.next_key_block.should eq first
    cipher.reset
    cipher.next_key_block.should eq first
    words = Crypto::ChaCha20.block_bytes(first, false)
    words.should eq Crypto::ChaCha20.new(KEY, NONCE).encrypt(Bytes.new(64))
    Crypto::ChaCha20.block_bytes(first)[0, 4].should eq words[0, 4].reverse!

    state = StaticArray(UInt32, 16).new(0_u32)
    {0x61707865_u32, 0x3320646e_u32, 0x79622d32_u32, 0x6b206574_u32}.each_with_index { |word, i| state[i] = word }
    join(KEY, Bytes[9, 0, 0, 0], NONCE).each_slice(4).each_with_index do |bytes, i|
      state[4 + i] = IO::ByteFormat::LittleEndian.decode(UInt32, Slice.new(bytes.to_unsafe, 4))
    end
    Crypto::ChaCha20::Native.new(state).next_key_block.should eq block
    state[0] = 0
    expect_raises(ArgumentError, "constants") { Crypto::ChaCha20::Native.new(state) }
  end

  it "refuses mistakes, and stops at the end of the counter" do
    expect_raises(ArgumentError, "32 bytes") { Crypto::ChaCha20.new(KEY[0, 31], NONCE) }
    expect_raises(ArgumentError, "12 bytes") { Crypto::ChaCha20.new(KEY, KEY) }
    expect_raises(ArgumentError) { Crypto::ChaCha20.new(KEY, NONCE).encrypt(KEY, Bytes.new(31)) }
    cipher = Crypto::ChaCha20.new(KEY, NONCE, UInt32::MAX)
    cipher.next_key_block
    expect_raises(Sealane::LimitExceededError) { cipher.next_key_block }
    expect_raises(Sealane::LimitExceededError) { cipher.encrypt(Bytes.new(1)) }
    key = KEY.dup
    cipher = Crypto::ChaCha20::Default.new(key, NONCE)
    key.fill(0_u8)
    cipher.clone.encrypt(KEY).should eq Crypto::ChaCha20.new(KEY, NONCE).encrypt(KEY)
    cipher.inspect.should_not contain "key"
    cipher.close
    expect_raises(Sealane::ClosedError) { cipher.encrypt(KEY) }
    expect_raises(Sealane::ClosedError) { cipher.clone }
  end
end

describe Crypto::Poly1305 do
  it "takes pieces of any length, and ends with the tag" do
    data = sample(1000)
    tag = Crypto::Poly1305.auth(KEY, data)
    {1, 15, 16, 17, 100}.each do |size|
      mac = Crypto::Poly1305::Fast.new(KEY.hexstring)
      (0...data.size).step(size) { |at| mac.update(data[at, {size, data.size - at}.min]) }
      mac.final.should eq tag
      expect_raises(Sealane::ClosedError) { mac.final }
      expect_raises(Sealane::ClosedError) { mac.update(data) }
    end
    Crypto::Poly1305::Default.new(KEY).update(data).verify(tag)
    tag[15] ^= 1
    expect_raises(Crypto::TagException) { Crypto::Poly1305::Default.new(KEY).update(data).verify(tag) }
    Crypto::Poly1305.new(KEY).key.should eq KEY
    expect_raises(ArgumentError, "32 bytes") { Crypto::Poly1305.new(KEY[0, 16]) }
    one_time = Crypto::ChaCha20.new(KEY, NONCE).encrypt(Bytes.new(32))
    Crypto::Poly1305.chacha20(KEY, NONCE).key.should eq one_time
    Crypto::Poly1305.chacha20(Crypto::ChaCha20.new(KEY, NONCE, 5)).key.should eq one_time
    Crypto::Poly1305.new(KEY).inspect.should_not contain "key"
  end
end

describe Crypto::AeadChacha20Poly1305 do
  it "has one layout, whatever the pieces" do
    data = sample(200_000)
    {0, 1, 15, 16, 17, 200}.each do |aad_size|
      {0, 1, 15, 16, 17, 64, 100, 200_000}.each do |size|
        aad = sample(aad_size, 3)
        expected, expected_tag = blob(aad, data[0, size])
        {7, 16, 100_000}.each do |piece|
          output = IO::Memory.new
          aead = Crypto::AeadChacha20Poly1305.new(KEY, NONCE, output)
          (0...aad_size).step(piece) { |at| aead.aad(aad[at, {piece, aad_size - at}.min]) }
          (0...size).step(piece) { |at| aead.update(data[at, {piece, size - at}.min]) } if size < 1000 || piece > 16
          aead.update(data[0, size]) if size >= 1000 && piece <= 16
          aead.final.should eq expected_tag
          output.to_slice.should eq expected
        end
        plaintext = IO::Memory.new
        Crypto::AeadChacha20Poly1305.new(KEY, NONCE, plaintext).decrypt(expected, expected_tag).should eq aad
        plaintext.to_slice.should eq data[0, size]
      end
    end
  end

  it "verifies before it writes" do
    sealed, tag = blob(sample(20), sample(50))
    wrong = [] of {Bytes, Bytes}
    sealed.size.times { |place| wrong << {sealed.dup.tap { |bytes| bytes[place] ^= 1 }, tag} }
    sealed.size.times { |place| wrong << {sealed[0, place], tag} }
    16.times { |place| wrong << {sealed, tag.dup.tap { |bytes| bytes[place] ^= 0x80 }} }
    wrong << {sealed, tag[0, 15]} << {sealed, Bytes.empty} << {join(sealed, Bytes.new(16)), tag}
    # Lengths with a sum that overflows an integer.
    wrong << {sealed.dup.tap { |bytes| bytes[sealed.size - 16, 16].fill(0xff) }, tag}
    wrong.each do |data, tag|
      plaintext = IO::Memory.new
      expect_raises(Crypto::TagException) do
        Crypto::AeadChacha20Poly1305.new(KEY, NONCE, plaintext).decrypt(data, tag)
      end
      plaintext.size.should eq 0
    end
    expect_raises(Crypto::TagException) do
      Crypto::AeadChacha20Poly1305.new(sample(32, 5), NONCE, IO::Memory.new).decrypt(sealed, tag)
    end
  end

  it "is for one message" do
    sealed, tag = blob(sample(20), sample(50))
    aead = Crypto::AeadChacha20Poly1305.new(KEY, NONCE, IO::Memory.new)
    aead.aad(KEY)
    expect_raises(ArgumentError, "new object") { aead.decrypt(sealed, tag) }
    aead.update(KEY)
    expect_raises(ArgumentError, "before the plaintext") { aead.aad(KEY) }
    aead.final
    expect_raises(ArgumentError, "new object") { aead.update(KEY) }
    expect_raises(ArgumentError, "new object") { aead.final }
    expect_raises(ArgumentError, "32 bytes") { Crypto::AeadChacha20Poly1305.new(NONCE, NONCE, IO::Memory.new) }
    expect_raises(ArgumentError, "12 bytes") { Crypto::AeadChacha20Poly1305.new(KEY, KEY, IO::Memory.new) }
    aead.inspect.should_not contain "key"
  end
end
