require "./sealane"
require "./rfc8439/hex"
require "./rfc8439/chacha20"
require "./rfc8439/poly1305"
require "./rfc8439/aead"

# The names of the shard rfc8439, computed by sealane. Programs for that shard change only their
# import. The README lists the differences; each removes a danger.
module Rfc8439
  # The version of the shard with these names.
  VERSION = "1.1.1"
end
