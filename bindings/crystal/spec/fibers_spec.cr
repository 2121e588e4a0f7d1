require "./spec_helper"

# test.sh runs this file again with `-Dpreview_mt`, so that the fibers are on several threads.
private FIBERS = 8

# An IO that lets other fibers run in the middle of a read.
private class Yielding < IO
  def initialize(@io : IO::Memory)
  end

  def read(slice : Bytes) : Int32
    Fiber.yield
    count = @io.read(slice)
    Fiber.yield
    count
  end

  def write(slice : Bytes) : Nil
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

# Runs the block in several fibers and returns what they raised.
private def in_fibers(&block : Int32 ->)
  results = Channel(Exception?).new
  FIBERS.times do |number|
    spawn do
      block.call(number)
      results.send(nil)
    rescue error
      results.send(error)
    end
  end
  FIBERS.times { results.receive.try { |error| raise error } }
end

describe "fibers" do
  # claim: runtime-crystal
  it "share keys, and an encrypted file" do
    key, data = sample(32), sample(1_000_000)
    aead = Sealane::Aead.new("aes-256-gcm", key)
    keystream = Sealane::Hazmat::Keystream.new("chacha20", key, sample(12))
    expected = keystream.xor_at(0, data)
    encrypt, decrypt = Sealane::EncryptWith.key(key), Sealane::DecryptWith.key(key)
    file = File.tempfile("sealane-crystal")
    file.write(Sealane.encrypt(data, encrypt))
    file.close
    reader = Sealane::Reader.new(file.path, decrypt)
    in_fibers do |number|
      random = Random.new(number)
      500.times do |round|
        message = data[random.rand(900_000), random.rand(200)]
        sealed = aead.seal(message)
        raise "another message" if aead.open(sealed) != message
        at = random.rand(900_000)
        raise "another range" if reader.read_at(at, count: 5000) != data[at, 5000]
        raise "another keystream" if keystream.xor_at(at, data[at, 100]) != expected[at, 100]
        Fiber.yield if round % 50 == 0
        # Finalizers run while other fibers compute.
        GC.collect if round % 250 == 0
      end
      Sealane.decrypt(Sealane.encrypt(data, encrypt), decrypt).should eq data
    end
    [reader, aead, keystream, encrypt, decrypt].each(&.close)
    file.delete
  end

  it "take turns to read another IO" do
    key, data = sample(32), sample(1_000_000)
    encrypt, decrypt = Sealane::EncryptWith.key(key), Sealane::DecryptWith.key(key)
    sealed = Sealane.encrypt(data, encrypt)
    shared = Sealane::Reader.new(Yielding.new(IO::Memory.new(sealed)), decrypt)
    in_fibers do |number|
      own = Sealane::Reader.new(Yielding.new(IO::Memory.new(sealed)), decrypt)
      random = Random.new(number)
      100.times do
        at = random.rand(900_000)
        raise "another range" if shared.read_at(at, count: 50_000) != data[at, 50_000]
        raise "another range" if own.read_at(at, count: 50_000) != data[at, 50_000]
      end
      own.close
    end
    [shared, encrypt, decrypt].each(&.close)
  end

  # claim: runtime-crystal
  it "are interrupted by signals and the collector" do
    encrypt, decrypt = Sealane::EncryptWith.key(sample(32)), Sealane::DecryptWith.key(sample(32))
    received = 0
    Signal::USR1.trap { received += 1 }
    sender = Process.new("while kill -USR1 #{Process.pid} 2>/dev/null; do sleep 0.001; done", shell: true)
    in_folder do |folder|
      data = sample(3_000_000)
      File.write(folder / "plain", data)
      until received > 20
        Sealane.encrypt_file(folder / "plain", folder / "sealed", encrypt) { sleep 0 }
        Sealane::Reader.open(folder / "sealed", decrypt, &.getb_to_end.should(eq(data)))
        GC.collect
      end
    end
  ensure
    sender.try(&.terminate)
    sender.try(&.wait)
    Signal::USR1.ignore
    [encrypt, decrypt].each(&.try(&.close))
  end

  it "report progress of several files at once" do
    encrypt = Sealane::EncryptWith.key(sample(32))
    in_folder do |folder|
      File.write(folder / "plain", sample(3_000_000))
      in_fibers do |number|
        reports = 0
        Sealane.encrypt_file(folder / "plain", folder / number.to_s, encrypt) do
          reports += 1
          Fiber.yield
        end
        raise "no report" if reports == 0
      end
      Dir.children(folder).size.should eq FIBERS + 1
    end
    encrypt.close
  end
end
