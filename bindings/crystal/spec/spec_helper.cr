require "spec"
require "file_utils"
require "../src/rfc8439"

ROOT = Path[__DIR__].parent.parent.parent.normalize

# The bytes of hexadecimal digits; "-" means none, as in vectors/lines.txt.
def hex(digits : String) : Bytes
  digits == "-" ? Bytes.empty : digits.hexbytes
end

# Data that repeats in no block of a cipher.
def sample(size : Int32, factor : Int32 = 31) : Bytes
  Bytes.new(size) { |i| (i &* factor &+ i // 251).to_u8! }
end

# A folder that is removed after the block.
def in_folder(&)
  folder = File.tempname("sealane-crystal")
  Dir.mkdir(folder)
  begin
    yield Path[folder]
  ensure
    FileUtils.rm_rf(folder)
  end
end

# Expects that the block closes its handles and leaks no library result.
def expect_no_leak(&)
  # No finalizer of an earlier example may run inside the block.
  2.times { GC.collect }
  GC.disable
  before = Sealane.live_handles
  yield
  Sealane.live_handles.should eq before
ensure
  GC.enable
end

# The program `sealane`, which reads what Crystal writes and the reverse.
def program(arguments : Enumerable(String), input : String = "") : String
  output, errors = IO::Memory.new, IO::Memory.new
  path = ENV["SEALANE_PROGRAM"]? || raise "set SEALANE_PROGRAM to the program sealane"
  status = Process.run(path, arguments.to_a, input: IO::Memory.new(input), output: output, error: errors)
  fail "sealane #{arguments.join(' ')}: #{errors}" unless status.success?
  output.to_s
end

def join(*parts : Bytes) : Bytes
  IO::Memory.new.tap { |io| parts.each { |part| io.write(part) } }.to_slice
end
