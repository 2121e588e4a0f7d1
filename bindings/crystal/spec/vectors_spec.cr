require "./spec_helper"

# The published vectors in vectors/lines.txt. vectors/src/lines.rs describes the fields.
private class Lines
  getter counts = Hash(String, Int32).new(0)

  def run(line : String) : Nil
    kind, _, rest = line.partition(' ')
    fields = rest.split(' ')
    case {kind, fields.size}
    when {"aead", 7}     then aead(fields)
    when {"stream", 7}   then stream(fields)
    when {"poly1305", 3} then poly1305(fields)
    when {"block", 5}    then block(fields)
    when {"file", 6}     then file(fields)
    else                      raise "a line of an unknown kind: #{kind} with #{fields.size} fields"
    end
    counts[kind] += 1
  end

  private def aead(fields)
    name, result = fields[0], fields[6]
    key, nonce, aad, plaintext, sealed = fields[1..5].map { |digits| hex(digits) }
    aead = if name.starts_with?("speck128")
             Sealane::Hazmat::SpeckAead.block_nonce(name, key)
           elsif name.starts_with?("speck")
             Sealane::Hazmat::SpeckAead.small_block(name, key)
           else
             Sealane::Aead.new(name, key)
           end
    case result
    when "nonce-length"
      expect_raises(ArgumentError, "nonce") { aead.decrypt(nonce, sealed, aad) }
      expect_raises(ArgumentError, "nonce") { aead.encrypt(nonce, plaintext, aad) }
    when "invalid"
      expect_raises(Sealane::AuthenticationError) { aead.decrypt(nonce, sealed, aad) }
      expect_raises(Sealane::AuthenticationError) { aead.open(join(nonce, sealed), aad) }
      output = Bytes.new({sealed.size - 16, 0}.max, 0xee)
      expect_raises(Sealane::AuthenticationError) { aead.decrypt_into(nonce, sealed, output, aad) }
      output.all?(&.zero?).should be_true
    when "valid"
      aead.encrypt(nonce, plaintext, aad).should eq sealed
      aead.decrypt(nonce, sealed, aad).should eq plaintext
      aead.open(join(nonce, sealed), aad).should eq plaintext
      buffer = join(plaintext, Bytes.new(aead.tag_size))
      aead.encrypt_into(nonce, buffer[0, plaintext.size], buffer, aad).should eq sealed
      aead.decrypt_into(nonce, buffer, buffer, aad).should eq plaintext
    else
      raise "an unknown result: #{result}"
    end
    aead.close
  end

  private def stream(fields)
    order = fields[1] == "-" ? nil : fields[1]
    key, iv, plaintext, ciphertext = {2, 3, 5, 6}.map { |index| hex(fields[index]) }
    keystream = Sealane::Hazmat::Keystream.new(fields[0], key, iv, fields[4].to_u32, order)
    (0..plaintext.size).each { |at| keystream.xor_at(at, plaintext + at).should eq ciphertext + at }
    keystream.xor_in_place(0, ciphertext.dup).should eq plaintext
    if fields[0] == "aes-ctr"
      other = Sealane::Hazmat::Keystream.new("aes-ctr", key, Bytes.new(16, 9))
      other.xor_under(iv, 0, plaintext).should eq ciphertext
      other.close
    end
    keystream.close
  end

  private def poly1305(fields)
    key, message, tag = fields.map { |digits| hex(digits) }
    (1..40).step(6) do |size|
      mac = Sealane::Hazmat::Poly1305.new(key)
      (0...message.size).step(size) { |at| mac.update(message[at, {size, message.size - at}.min]) }
      mac.final.should eq tag
      mac.close
    end
    Sealane::Hazmat::Poly1305.new(key).update(message).verify(tag)
    Crypto::Poly1305.auth(key, message).should eq tag
  end

  private def block(fields)
    key, plaintext, ciphertext = fields[2..4].map { |digits| hex(digits) }
    speck = Sealane::Hazmat::Speck.new(fields[0], key, fields[1])
    speck.encrypt_blocks(plaintext).should eq ciphertext
    speck.decrypt_blocks(ciphertext).should eq plaintext
    speck.close
  end

  private def file(fields)
    key, context, file = fields[1..3].map { |digits| hex(digits) }
    if fields[4] == "valid"
      keys = Sealane::DecryptWith.key(key, format: fields[0], context: context)
      Sealane.decrypt(file, keys).size.should eq fields[5].to_i
      Sealane::Reader.open(IO::Memory.new(file), keys) { |reader| reader.size.should eq fields[5].to_i }
    else
      refused = begin
        Sealane.decrypt(file, Sealane::DecryptWith.key(key, format: fields[0], context: context))
      rescue error : Sealane::Error | ArgumentError
        error
      end
      refused.should_not be_a Bytes
      refused.should_not be_a Sealane::InternalError
    end
  end
end

describe "vectors/lines.txt" do
  it "is computed as published" do
    lines = Lines.new
    File.each_line(ROOT / "vectors/lines.txt") do |line|
      lines.run(line) unless line.starts_with?('#')
    rescue error : Spec::AssertionFailed
      fail "#{line[0, 200]}: #{error.message}"
    end
    puts "published vectors: #{lines.counts.map { |kind, count| "#{count} #{kind}" }.join(", ")}"
    lines.counts.keys.sort!.should eq ["aead", "block", "file", "poly1305", "stream"]
    lines.counts.values.sum.should be > 1200
  end

  it "has kinds of lines that are known" do
    expect_raises(Exception, "unknown kind") { Lines.new.run("hash sha256 - 00") }
    expect_raises(Exception, "unknown kind") { Lines.new.run("poly1305 00 00") }
  end
end

# A file's plaintext length is in its name, and byte i is i mod 251.
private def opens(path : Path, size : Int32, keys : Sealane::DecryptWith)
  plaintext = Bytes.new(size) { |i| (i % 251).to_u8 }
  bytes = File.read(path).to_slice
  Sealane::Reader.open(IO::Memory.new(bytes), keys, &.getb_to_end).should eq plaintext
  # Each call with a passphrase takes a second.
  return if path.basename.starts_with?("passphrase")
  Sealane.decrypt(bytes, keys).should eq plaintext
  Sealane::Decryptor.open(IO::Memory.new(bytes), keys, &.getb_to_end).should eq plaintext
  Sealane::Reader.open(path, keys) do |reader|
    reader.size.should eq size
    reader.getb_to_end.should eq plaintext
    reader.read_at(size // 2, count: size).should eq plaintext + size // 2
  end
  Sealane.verify_file(path, keys)
end

describe "tests/golden" do
  it "is opened" do
    folder = ROOT / "tests/golden"
    sealed = Dir.glob((folder / "*.sealed").to_s)
    sealed.each do |path|
      bits, size = path.split(/[-.]/).last(3).first(2).map(&.to_i)
      key = Bytes.new(bits // 8, &.to_u8)
      opens(Path[path], size, Sealane::DecryptWith.key(key, context: "golden".to_slice))
    end

    age = Dir.glob((folder / "age/*.{age,asc}").to_s)
    age.each do |path|
      # For example, ssh-rsa-5-age1.1.1.age is for the identity in ssh-rsa.key, and has 5 bytes.
      name, size = File.basename(path).match(/^(.+)-(\d+)-[^-]+$/).not_nil!.captures
      keys = if name == "passphrase"
               Sealane::DecryptWith.passphrase("golden")
             else
               Sealane::DecryptWith.identities(File.read(folder / "age/#{name}.key"))
             end
      opens(Path[path], size.not_nil!.to_i, keys)
    end

    tink = Dir.glob((folder / "tink/*.tink").to_s)
    tink.each do |path|
      name, size = File.basename(path, ".tink").split('-')
      keys = Sealane::DecryptWith.keyset(File.read(folder / "tink/#{name}.json"), context: "golden".to_slice)
      opens(Path[path], size.to_i, keys)
    end

    puts "files of other implementations: #{sealed.size} chunked, #{age.size} age, #{tink.size} tink"
    {sealed.size, age.size, tink.size}.should eq({8, 19, 14})
  end
end
