require "./spec_helper"

private KEY     = sample(32)
private DATA    = sample(1_000_003)
private CONTEXT = "context".to_slice

# Another IO with failing or short reads and writes.
private class Slow < IO
  property failure : Exception?

  def initialize(@io : IO)
  end

  def read(slice : Bytes) : Int32
    @failure.try { |failure| raise failure }
    # Another fiber may use the library here.
    Fiber.yield
    @io.read(slice[0, {slice.size, 5000}.min])
  end

  def write(slice : Bytes) : Nil
    @failure.try { |failure| raise failure }
    @io.write(slice)
  end

  def seek(offset, whence : Seek = Seek::Set)
    @io.seek(offset, whence)
    self
  end

  def pos
    @io.pos
  end
end

private def with_keys(&)
  encrypt = Sealane::EncryptWith.key(KEY, context: CONTEXT)
  decrypt = Sealane::DecryptWith.key(KEY, context: CONTEXT)
  begin
    yield encrypt, decrypt
  ensure
    encrypt.close
    decrypt.close
  end
end

# Files, memory, streams, writers and readers with one pair of keys.
private def round_trips(encrypt, decrypt)
  in_folder do |folder|
    plain, sealed, back = folder / "plain", folder / "sealed", folder / "back"
    File.write(plain, DATA)
    reports = [] of {UInt64, UInt64?}
    Sealane.encrypt_file(plain, sealed, encrypt, threads: 2) { |done, total| reports << {done, total} }
    reports.last.should eq({DATA.size.to_u64, DATA.size.to_u64})
    Sealane.verify_file(sealed, decrypt)
    Sealane.verify_file(sealed, decrypt) { |done, total| total.not_nil!.should be >= done }
    Sealane.decrypt_file(sealed.to_s, back.to_s, decrypt, sync: true)
    File.read(back).to_slice.should eq DATA

    {0, 1, 70_000}.each do |size|
      Sealane.decrypt(Sealane.encrypt(DATA[0, size], encrypt), decrypt).should eq DATA[0, size]
    end

    {997, 65_536, DATA.size}.each do |size|
      stream = IO::Memory.new
      Sealane::Encryptor.open(stream, encrypt) do |encryptor|
        Sealane::Writer.open(back, encrypt, sync: true) do |writer|
          (0...DATA.size).step(size) do |at|
            piece = DATA[at, {size, DATA.size - at}.min]
            encryptor.write(piece)
            writer.write(piece)
          end
        end
      end
      Sealane.verify_file(back, decrypt)
      Sealane.decrypt(stream.to_slice, decrypt).should eq DATA
      Sealane::Decryptor.open(Slow.new(stream.rewind), decrypt, &.getb_to_end).should eq DATA
    end

    [Sealane::Reader.new(sealed, decrypt), Sealane::Reader.new(Slow.new(File.open(sealed)), decrypt)].each do |reader|
      reader.size.should eq DATA.size
      reader.getb_to_end.should eq DATA
      (0...DATA.size).step(77_777) do |at|
        reader.read_at(at, count: 1000).should eq DATA[at, {1000, DATA.size - at}.min]
        reader.seek(at)
        byte = reader.read_byte
        byte.should eq DATA[at]
        reader.pos.should eq at + 1
      end
      reader.close
    end
  end
end

describe "files" do
  it "are decrypted from what encrypted them, with every kind of key" do
    expect_no_leak do
      secret, identity = Sealane::Secret.new(KEY), Sealane::Secret.generate("age-pq")
      keyset = File.read(ROOT / "tests/golden/tink/AES128_GCM_HKDF_4KB.json")
      recipients = [identity.public_key.not_nil!]
      [
        {Sealane::EncryptWith.key(KEY, context: CONTEXT), Sealane::DecryptWith.key(KEY, context: CONTEXT)},
        {Sealane::EncryptWith.key(secret, format: "tink-1mb"), Sealane::DecryptWith.key(secret, format: "tink-1mb")},
        {Sealane::EncryptWith.keyset(keyset, context: CONTEXT), Sealane::DecryptWith.keyset(keyset, context: CONTEXT)},
        {Sealane::EncryptWith.recipients(recipients), Sealane::DecryptWith.identities(identity.to_text)},
        {Sealane::EncryptWith.recipients(recipients, armor: true), Sealane::DecryptWith.key(identity)},
        {Sealane::EncryptWith.passphrase("secret", work_factor: 4_u32), Sealane::DecryptWith.passphrase("secret")},
      ].each do |encrypt, decrypt|
        round_trips(encrypt, decrypt)
        encrypt.close
        decrypt.close
      end
      secret.close
      identity.close
    end
  end

  it "are read by the program, and the reverse" do
    in_folder do |folder|
      key, plain, sealed, back = {"key", "plain", "sealed", "back"}.map { |name| (folder / name).to_s }
      Sealane::Secret.generate("aes-256").save(key)
      File.write(plain, DATA)
      secret = Sealane::Secret.load(key)
      Sealane::Writer.open(sealed, Sealane::EncryptWith.key(secret), &.write(DATA))
      program({"decrypt", "-k", key, "-o", back, sealed})
      File.read(back).to_slice.should eq DATA
      File.delete(sealed)
      program({"encrypt", "-k", key, "-o", sealed, plain})
      Sealane::Reader.open(sealed, Sealane::DecryptWith.key(secret), &.getb_to_end).should eq DATA

      identity = Sealane::Secret.generate("age")
      identity.save(folder / "identity")
      File.open(folder / "age", "w") do |file|
        keys = Sealane::EncryptWith.recipients([identity.public_key.not_nil!], armor: true)
        Sealane::Encryptor.open(file, keys, &.write(DATA))
      end
      File.delete(back)
      program({"decrypt", "-i", (folder / "identity").to_s, "-o", back, (folder / "age").to_s})
      File.read(back).to_slice.should eq DATA
      File.delete(sealed)
      program({"encrypt", "-r", identity.public_key.not_nil!, "-o", sealed, plain})
      Sealane::Decryptor.open(File.open(sealed), Sealane::DecryptWith.key(identity), sync_close: true) do |io|
        io.getb_to_end.should eq DATA
      end
    end
  end

  # claim: runtime-crystal
  it "are cancelled by an exception of the block" do
    with_keys do |encrypt, decrypt|
      in_folder do |folder|
        File.write(folder / "plain", DATA)
        expect_raises(IndexError, "enough") do
          Sealane.encrypt_file(folder / "plain", folder / "sealed", encrypt) { raise IndexError.new("enough") }
        end
        File.exists?(folder / "sealed").should be_false
        Sealane.encrypt_file(folder / "plain", folder / "sealed", encrypt)
        expect_raises(Sealane::CancelledError) do
          Sealane.decrypt_file(folder / "sealed", folder / "back", decrypt) { raise Sealane::CancelledError.new }
        end
        File.exists?(folder / "back").should be_false
      end
    end
  end

  it "are refused with their path, if the system refuses them" do
    expect_no_leak do
      with_keys do |encrypt, decrypt|
        expect_raises(File::NotFoundError, "/nowhere/in") { Sealane.encrypt_file("/nowhere/in", "/nowhere/out", encrypt) }
        expect_raises(File::NotFoundError, "/nowhere/in") { Sealane.decrypt_file("/nowhere/in", "/nowhere/out", decrypt) }
        expect_raises(File::NotFoundError, "/nowhere/in") { Sealane.verify_file("/nowhere/in", decrypt) }
        expect_raises(File::NotFoundError, "/nowhere/in") { Sealane::Reader.new("/nowhere/in", decrypt) }
        expect_raises(File::NotFoundError, "/nowhere") { Sealane::Writer.new("/nowhere/out", encrypt) }
        error = expect_raises(File::Error) { Sealane::Reader.new("/nowhere/in", decrypt) }
        error.file.should eq "/nowhere/in"
        error.os_error.should eq Errno::ENOENT
        expect_raises(ArgumentError, "null byte") { Sealane::Reader.new("/nowhere\0/in", decrypt) }
        expect_raises(ArgumentError, "threads") { Sealane.verify_file("/nowhere/in", decrypt, threads: -1) }
      end
    end
  end

  it "are refused with other keys, or if a byte was changed" do
    expect_no_leak do
      with_keys do |encrypt, decrypt|
        file = Sealane.encrypt(DATA[0, 100], encrypt)
        file.size.times do |place|
          forged = file.dup
          forged[place] ^= 1
          error = expect_raises(Exception) { Sealane.decrypt(forged, decrypt) }
          error.should be_a Sealane::Error
          error.should_not be_a Sealane::InternalError
          expect_raises(Sealane::Error) { Sealane.decrypt(file[0, place], decrypt) }
        end
        other = Sealane::DecryptWith.key(KEY, context: CONTEXT[0, 6])
        expect_raises(Sealane::AuthenticationError) { Sealane.decrypt(file, other) }
        other.close

        right = Sealane::EncryptWith.passphrase("right", work_factor: 5_u32)
        file = Sealane.encrypt(DATA[0, 100], right)
        wrong = Sealane::DecryptWith.passphrase("wrong")
        limited = Sealane::DecryptWith.passphrase("right", max_work_factor: 4_u32)
        expect_raises(Sealane::NoMatchingKeyError) { Sealane.decrypt(file, wrong) }
        expect_raises(Sealane::NoMatchingKeyError) { Sealane::Reader.new(IO::Memory.new(file), wrong) }
        expect_raises(Sealane::LimitExceededError) { Sealane.decrypt(file, limited) }
        [right, wrong, limited].each(&.close)
      end
    end
  end

  it "have keys without mistakes" do
    expect_no_leak do
      expect_raises(ArgumentError) { Sealane::EncryptWith.key(KEY[0, 24]) }
      expect_raises(ArgumentError, "chunked") { Sealane::EncryptWith.key(KEY, format: "zip") }
      expect_raises(Sealane::FormatError) { Sealane::EncryptWith.keyset("{}") }
      expect_raises(Sealane::FormatError, "line 1") { Sealane::EncryptWith.recipients(["age1unknown"]) }
      expect_raises(Sealane::FormatError) { Sealane::EncryptWith.recipients([] of String) }
      expect_raises(ArgumentError) { Sealane::EncryptWith.passphrase("") }
      expect_raises(Sealane::LimitExceededError) { Sealane::EncryptWith.passphrase("x", work_factor: 23_u32) }
      expect_raises(ArgumentError) { Sealane::DecryptWith.key(KEY[0, 31]) }
      expect_raises(Sealane::FormatError) { Sealane::DecryptWith.identities("no identity") }
      expect_raises(ArgumentError) { Sealane::DecryptWith.passphrase("x", max_work_factor: 31_u32) }
      keys = Sealane::DecryptWith.key(KEY)
      keys.close
      expect_raises(Sealane::ClosedError) { Sealane.decrypt(DATA, keys) }
      expect_raises(Sealane::ClosedError) { Sealane::Reader.new("/nowhere/in", keys) }
    end
  end
end

describe Sealane::Reader do
  it "seeks, reads lines and ranges" do
    expect_no_leak do
      with_keys do |encrypt, decrypt|
        text = String.build { |io| 100_000.times { |number| io.puts number } }
        file = Sealane.encrypt(text.to_slice, encrypt)
        plain = IO::Memory.new(text.to_slice)
        reader = Sealane::Reader.new(IO::Memory.new(file), decrypt)
        random = Random.new(5)
        500.times do
          at = random.rand(text.bytesize + 10)
          [plain, reader].each(&.seek(at))
          reader.gets.should eq plain.gets
          reader.pos.should eq plain.pos
          reader.gets(20).should eq plain.gets(20)
          back = -random.rand(10)
          [plain, reader].each(&.seek(back, IO::Seek::Current)) if reader.pos + back >= 0
          reader.read_string({5, text.bytesize - reader.pos}.min).should eq plain.read_string({5, text.bytesize - plain.pos}.min) if reader.pos < text.bytesize
          reader.pos.should eq plain.pos
        end
        reader.rewind
        reader.each_line.size.should eq 100_000
        reader.gets.should be_nil
        reader.seek(-6, IO::Seek::End)
        reader.gets_to_end.should eq "99999\n"
        reader.pos = 0
        reader.skip(10)
        reader.gets(2).should eq "5\n"
        reader.read_at(0, count: 4).should eq "0\n1\n".to_slice
        reader.read_at(text.bytesize - 2, count: 100).should eq "9\n".to_slice
        reader.read_at(text.bytesize + 5, count: 100).should be_empty
        reader.pos.should eq 12
        buffer = Bytes.new(20_000)
        reader.read_at(5, buffer).should eq 20_000
        buffer.should eq text.to_slice[5, 20_000]

        expect_raises(ArgumentError, "position") { reader.seek(-1) }
        expect_raises(ArgumentError, "offset") { reader.read_at(-1, buffer) }
        expect_raises(ArgumentError, "read-only") { reader.read_at(0, "text".to_slice) }
        expect_raises(IO::Error, "Writer") { reader.puts "text" }
        reader.close
        reader.close
        expect_raises(IO::Error, "Closed") { reader.gets }
        expect_raises(IO::Error, "Closed") { reader.seek(0) }
        expect_raises(IO::Error, "Closed") { reader.read_at(0, buffer) }
      end
    end
  end

  it "raises what another IO raises" do
    expect_no_leak do
      with_keys do |encrypt, decrypt|
        source = Slow.new(IO::Memory.new(Sealane.encrypt(DATA, encrypt)))
        reader = Sealane::Reader.new(source, decrypt)
        reader.gets(10)
        source.failure = KeyError.new("disconnected")
        expect_raises(KeyError, "disconnected") { reader.read_at(500_000, count: 10) }
        source.failure = nil
        reader.read_at(500_000, count: 10).should eq DATA[500_000, 10]
        reader.close
        source.failure = KeyError.new("disconnected")
        expect_raises(KeyError, "disconnected") { Sealane::Reader.new(source, decrypt) }
      end
    end
  end

  it "closes another IO if it should" do
    with_keys do |encrypt, decrypt|
      file = IO::Memory.new(Sealane.encrypt(DATA, encrypt))
      Sealane::Reader.open(file, decrypt, &.gets)
      file.closed?.should be_false
      Sealane::Reader.open(file, decrypt, sync_close: true, &.gets)
      file.closed?.should be_true
    end
  end

  it "refuses a chunk that was changed, and reads the others" do
    with_keys do |encrypt, decrypt|
      file = Sealane.encrypt(DATA, encrypt)
      file[500_000] ^= 1
      reader = Sealane::Reader.new(IO::Memory.new(file), decrypt)
      reader.read_at(0, count: 1000).should eq DATA[0, 1000]
      reader.read_at(900_000, count: 1000).should eq DATA[900_000, 1000]
      expect_raises(Sealane::AuthenticationError) { reader.read_at(499_900, count: 1000) }
      expect_raises(Sealane::AuthenticationError) { reader.getb_to_end }
      reader.close
    end
  end
end

describe Sealane::Writer do
  it "commits on close, and aborts otherwise" do
    expect_no_leak do
      with_keys do |encrypt, decrypt|
        in_folder do |folder|
          path = folder / "sealed"
          writer = Sealane::Writer.new(path, encrypt)
          writer.puts "text"
          File.exists?(path).should be_false
          writer.close
          writer.close
          Sealane::Reader.open(path, decrypt, &.gets_to_end).should eq "text\n"
          expect_raises(IO::Error, "Closed") { writer.puts "text" }

          # An existing file stays as it was.
          expect_raises(KeyError) do
            Sealane::Writer.open(path, encrypt) do |file|
              file.write(DATA)
              raise KeyError.new
            end
          end
          writer = Sealane::Writer.new(path, encrypt)
          writer.write(DATA)
          writer.abort
          writer.abort
          writer.close
          writer = Sealane::Writer.new(path, encrypt)
          writer.write(DATA)
          # As the garbage collector does.
          writer.finalize
          Sealane::Reader.open(path, decrypt, &.gets_to_end).should eq "text\n"
          Dir.children(folder).should eq ["sealed"]

          expect_raises(IO::Error, "Reader") { Sealane::Writer.open(path, encrypt, &.gets) }
          Sealane::Reader.open(path, decrypt, &.gets_to_end).should eq "text\n"
          [1].each { Sealane::Writer.open(path, encrypt) { |file| file.puts "next"; break } }
          Sealane::Reader.open(path, decrypt, &.gets_to_end).should eq "next\n"
        end
      end
    end
  end
end

describe Sealane::Encryptor do
  it "ends the stream on close, and leaves it truncated otherwise" do
    expect_no_leak do
      with_keys do |encrypt, decrypt|
        stream = IO::Memory.new
        expect_raises(KeyError) do
          Sealane::Encryptor.open(stream, encrypt, sync_close: false) do |encryptor|
            encryptor.write(DATA)
            raise KeyError.new
          end
        end
        error = expect_raises(Sealane::Error) { Sealane::Decryptor.open(stream.rewind, decrypt, &.getb_to_end) }
        (error.is_a?(Sealane::TruncatedError) || error.is_a?(Sealane::AuthenticationError)).should be_true

        stream = IO::Memory.new
        encryptor = Sealane::Encryptor.new(stream, encrypt, sync_close: true)
        encryptor.puts "text"
        encryptor.flush
        expect_raises(IO::Error, "Decryptor") { encryptor.gets }
        encryptor.close
        encryptor.close
        stream.closed?.should be_true
        expect_raises(IO::Error, "Closed") { encryptor.puts "text" }
        expect_raises(IO::Error, "Closed") { encryptor.flush }
        Sealane.decrypt(stream.to_slice, decrypt).should eq "text\n".to_slice

        failing = Slow.new(IO::Memory.new)
        failing.failure = KeyError.new("disconnected")
        expect_raises(KeyError, "disconnected") { Sealane::Encryptor.open(failing, encrypt, &.write(DATA)) }
      end
    end
  end
end

describe Sealane::Decryptor do
  it "reads lines and bytes, and raises at every change and end" do
    expect_no_leak do
      with_keys do |encrypt, decrypt|
        file = Sealane.encrypt("one\ntwo\nthree".to_slice, encrypt)
        Sealane::Decryptor.open(IO::Memory.new(file), decrypt) do |io|
          io.gets.should eq "one"
          io.read_char.should eq 't'
          io.gets_to_end.should eq "wo\nthree"
          io.gets.should be_nil
          expect_raises(IO::Error, "Encryptor") { io.puts }
          expect_raises(IO::Error, "Reader") { io.rewind }
        end
        file.size.times do |place|
          forged = file.dup
          forged[place] ^= 1
          expect_raises(Sealane::Error) { Sealane::Decryptor.open(IO::Memory.new(forged), decrypt, &.getb_to_end) }
          io = Sealane::Decryptor.new(IO::Memory.new(file[0, place]), decrypt)
          expect_raises(Sealane::Error) { io.gets }
          # It stays an error, and never becomes the end of the file.
          expect_raises(Sealane::Error) { io.gets }
          io.close
          expect_raises(IO::Error, "Closed") { io.gets }
        end
        stream = IO::Memory.new(file)
        decryptor = Sealane::Decryptor.new(stream, decrypt, sync_close: true)
        decryptor.close
        decryptor.close
        stream.closed?.should be_true
      end
    end
  end
end
