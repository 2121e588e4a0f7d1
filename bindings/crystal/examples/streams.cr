# Streams: standard input is encrypted, decrypted again, and written to standard output.
require "../src/sealane"

key = Sealane.random_bytes(32)
read, write = IO.pipe
spawn do
  Sealane::Encryptor.open(write, Sealane::EncryptWith.key(key), sync_close: true) do |encrypted|
    IO.copy(STDIN, encrypted)
  end
end
# All bytes are verified before they are written. An exception says that some are missing at the
# end.
Sealane::Decryptor.open(read, Sealane::DecryptWith.key(key)) do |decrypted|
  IO.copy(decrypted, STDOUT)
end
