require "./sealane"
require "./rfc8439/hex"
require "./rfc8439/chacha20"
require "./rfc8439/poly1305"
require "./rfc8439/aead"

# The names of the shard rfc8439, computed by sealane. Programs that were written for that shard change their import
# only. The README lists the differences, all of which remove a danger.
module Rfc8439
  # The version of the shard whose names these are.
  VERSION = "1.1.1"
end
