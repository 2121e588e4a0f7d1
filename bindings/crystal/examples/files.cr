# Files on all cores with progress; lines of an encrypted file; a file for recipients, which the
# program `age` reads.
require "../src/sealane"

abort "usage: files FILE: encrypts FILE to FILE.sealed and FILE.age, and FILE.sealed back to FILE.back" if ARGV.size != 1
path = ARGV[0]

secret = Sealane::Secret.generate("aes-256")
encrypt, decrypt = Sealane::EncryptWith.key(secret), Sealane::DecryptWith.key(secret)
Sealane.encrypt_file(path, "#{path}.sealed", encrypt) { |done, total| STDERR.print "\r#{done} of #{total} bytes" }
STDERR.puts
Sealane.decrypt_file("#{path}.sealed", "#{path}.back", decrypt)

# The file gets its name at the end of the block, or never if the block raises.
Sealane::Writer.open("#{path}.list", encrypt) do |file|
  100_000.times { |number| file.puts number }
end
Sealane::Reader.open("#{path}.list", decrypt) do |file|
  file.seek(-6, IO::Seek::End)
  puts "the last line: #{file.gets}"
end

identity = Sealane::Secret.generate("age") # or "age-pq", which resists quantum computers
identity.save("#{path}.identity")
recipients = Sealane::EncryptWith.recipients([identity.public_key.not_nil!], armor: true)
Sealane.encrypt_file(path, "#{path}.age", recipients)
