require "./spec_helper"

# Objects that are closed or ended while another fiber or thread is in a call to them. test.sh runs
# this file also on several threads, and under valgrind.

# An IO that stops in its next read or write until it may go on, as a socket does.
private class Stopping < IO
  getter io : IO::Memory
  property stops = 0

  def initialize(data : Bytes = Bytes.empty)
    @io = IO::Memory.new
    @io.write(data)
    @io.rewind
    @stopped = Channel(Nil).new
    @continued = Channel(Nil).new
  end

  # Waits until another fiber is inside.
  def wait : Nil
    @stopped.receive
  end

  # Lets it go on.
  def go_on : Nil
    @continued.send(nil)
  end

  private def stop : Nil
    return if stops == 0
    self.stops -= 1
    @stopped.send(nil)
    @continued.receive
  end

  def read(slice : Bytes) : Int32
    stop
    @io.read(slice)
  end

  def write(slice : Bytes) : Nil
    stop
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

# A call in another fiber.
private class Call(T)
  def initialize(&block : -> T)
    @result = Channel(T | Exception).new(1)
    spawn do
      @result.send(block.call)
    rescue error
      @result.send(error)
    end
  end

  def result : T | Exception
    @result.receive
  end
end

# Too short for several threads, which valgrind cannot follow into the library's use of the vDSO.
private KEY  = sample(32)
private DATA = sample(60_000)

private def keys(& : Sealane::EncryptWith, Sealane::DecryptWith ->) : Nil
  expect_no_leak do
    encrypt, decrypt = Sealane::EncryptWith.key(KEY), Sealane::DecryptWith.key(KEY)
    yield encrypt, decrypt
    [encrypt, decrypt].each(&.close)
  end
end

private def stopped(source : Stopping, &block : -> T) forall T
  source.stops = 1
  Call.new(&block).tap { source.wait }
end

# Whether a call found a closed object. Fibers on several threads begin in any order.
private def refused?(result) : Bool
  result.is_a?(Sealane::ClosedError | IO::Error)
end

describe "a call in progress" do
  # claim: lifetimes, runtime-crystal
  it "finishes after the reader is closed" do
    keys do |encrypt, decrypt|
      source = Stopping.new(Sealane.encrypt(DATA, encrypt))
      reader = Sealane::Reader.new(source, decrypt)
      first = stopped(source) { reader.read_at(5, count: 50_000) }
      second = Call.new { reader.read_at(5, count: 10) }
      Fiber.yield
      reader.close
      reader.closed?.should be_true
      handles = Sealane.live_handles
      source.go_on
      first.result.should eq DATA[5, 50_000]
      refused?(second.result).should be_true
      Sealane.live_handles.should eq handles - 1
      expect_raises(IO::Error, "Closed stream") { reader.read_at(5, count: 10) }
      reader.close
    end
  end

  it "finishes after the keys are closed" do
    expect_no_leak do
      encrypt = Sealane::EncryptWith.key(KEY)
      sealed = Sealane.encrypt(DATA, encrypt)
      source = Stopping.new(sealed)
      decrypt = Sealane::DecryptWith.key(KEY)
      opening = stopped(source) { Sealane::Reader.new(source, decrypt) }
      decrypt.close
      source.go_on
      reader = opening.result.as(Sealane::Reader)
      reader.gets_to_end.to_slice.should eq DATA
      reader.close
      in_folder do |folder|
        File.write(folder / "plain", DATA)
        Sealane.encrypt_file(folder / "plain", folder / "sealed", encrypt) { encrypt.close }
        decrypt = Sealane::DecryptWith.key(KEY)
        Sealane.verify_file(folder / "sealed", decrypt) { decrypt.close }
        expect_raises(Sealane::ClosedError) { Sealane.verify_file(folder / "sealed", decrypt) }
      end
    end
  end

  it "of an encryptor ends before the stream does" do
    keys do |encrypt, decrypt|
      sink = Stopping.new
      encryptor = Sealane::Encryptor.new(sink, encrypt)
      writing = stopped(sink) { encryptor.write(DATA) }
      other = Call.new { encryptor.write(DATA) }
      Fiber.yield
      closing = Call.new { encryptor.close }
      Fiber.yield
      sink.go_on
      {writing, closing}.each(&.result.should be_nil)
      expected = refused?(other.result) ? DATA : join(DATA, DATA)
      Sealane.decrypt(sink.io.to_slice, decrypt).should eq expected
    end
  end

  it "of an encryptor is refused the next one after an abort" do
    keys do |encrypt, decrypt|
      sink = Stopping.new
      encryptor = Sealane::Encryptor.new(sink, encrypt)
      writing = stopped(sink) { 2.times { encryptor.write(DATA) } }
      encryptor.abort
      sink.go_on
      refused?(writing.result).should be_true
      expect_raises(Sealane::Error) { Sealane.decrypt(sink.io.to_slice, decrypt) }
    end
  end

  it "of a decryptor is refused the next piece after a close" do
    keys do |encrypt, decrypt|
      source = Stopping.new(Sealane.encrypt(DATA, encrypt))
      decryptor = Sealane::Decryptor.new(source, decrypt)
      reading = stopped(source) { decryptor.getb_to_end }
      decryptor.close
      source.go_on
      refused?(reading.result).should be_true
      decryptor.closed?.should be_true
    end
  end

  it "of a keystream ends before the next one begins" do
    expect_no_leak do
      keystream = Sealane::Hazmat::Keystream.new("chacha20", KEY, sample(12))
      expected = keystream.xor_at(0, join(DATA, DATA))
      sink = Stopping.new
      io = Sealane::Hazmat::KeystreamIO.new(keystream, sink)
      first = stopped(sink) { io.write(DATA) }
      second = Call.new { io.write(DATA) }
      Fiber.yield
      sink.go_on
      {first, second}.each(&.result.should be_nil)
      sink.io.to_slice.should eq expected
      sink.stops = 1
      last = Call.new { io.write(DATA) }
      sink.wait
      keystream.close
      sink.go_on
      refused?(last.result).should be_true
    end
  end

  it "of rfc8439's AEAD ends before the tag is computed" do
    expect_no_leak do
      sink = Stopping.new
      aead = Crypto::AeadChacha20Poly1305.new(KEY, sample(12), sink)
      writing = stopped(sink) { aead.update(DATA) }
      ending = Call.new { aead.final }
      Fiber.yield
      sink.go_on
      writing.result.should be_nil
      tag = ending.result.as(Bytes)
      plain = IO::Memory.new
      Crypto::AeadChacha20Poly1305.new(KEY, sample(12), plain).decrypt(sink.io.to_slice, tag)
      plain.to_slice.should eq DATA
    end
  end

  # On one thread, no two of these calls overlap.
  # claim: lifetimes, runtime-crystal
  it "of any object is finished or refused, on all threads" do
    closed = Atomic(Int32).new(0)
    expect_no_leak do
      encrypt = Sealane::EncryptWith.key(KEY)
      sealed = Sealane.encrypt(DATA, encrypt)
      in_folder do |folder|
        File.write(folder / "sealed", sealed)
        20.times do |round|
          secret = Sealane::Secret.generate("aes-256")
          aead = Sealane::Aead.new("aes-256-gcm", KEY)
          keystream = Sealane::Hazmat::Keystream.new("aes-ctr", KEY, sample(16))
          speck = Sealane::Hazmat::Speck.new("speck128-256", KEY)
          mac = Sealane::Hazmat::Poly1305.new(KEY)
          pieces = Sealane::Hazmat::AeadEncryptor.new("aes-256-gcm", KEY, sample(12))
          decrypt = Sealane::DecryptWith.key(KEY)
          reader = Sealane::Reader.new(folder / "sealed", decrypt)
          writer = Sealane::Writer.new(folder / "written", encrypt)
          encryptor = Sealane::Encryptor.new(IO::Memory.new, encrypt)
          calls = {
            ->{ secret.bytes }, ->{ secret.to_text }, ->{ aead.seal(DATA) }, ->{ keystream.xor_at(0, DATA) },
            ->{ speck.encrypt_blocks(KEY) }, ->{ mac.update(DATA) }, ->{ pieces.update(DATA) },
            ->{ Sealane.decrypt(sealed, decrypt) }, ->{ reader.read_at(round, count: 50_000) },
            ->{ writer.write(DATA) }, ->{ encryptor.write(DATA) }, ->{ writer.write(DATA) }, ->{ mac.update(DATA) },
          }
          running = calls.map do |call|
            Call.new do
              begin
                loop { call.call; Fiber.yield }
              rescue Sealane::ClosedError | IO::Error
                closed.add(1)
              end
              nil
            end
          end
          sleep 0.002
          [secret, aead, keystream, speck, mac, pieces, decrypt, reader].each(&.close)
          writer.abort
          encryptor.abort
          running.each(&.result.should be_nil)
        end
      end
      encrypt.close
    end
    closed.get.should eq 20 * 13
  end
end
