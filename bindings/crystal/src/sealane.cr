require "./sealane/lib_sealane"
require "./sealane/errors"
require "./sealane/handle"
require "./sealane/library"
require "./sealane/secret"
require "./sealane/aead"
require "./sealane/hybrid"
require "./sealane/signing"
require "./sealane/hazmat/keystream"
require "./sealane/hazmat/keystream_io"
require "./sealane/hazmat/poly1305"
require "./sealane/hazmat/speck"
require "./sealane/hazmat/pieces"
require "./sealane/file_keys"
require "./sealane/files"
require "./sealane/source"
require "./sealane/read_only"
require "./sealane/reader"
require "./sealane/writer"
require "./sealane/encryptor"
require "./sealane/decryptor"

# Authenticated encryption of messages, files and streams, through sealane's C library.
#
# * `Aead` seals messages; `Hybrid` seals them for the holder of a private key.
# * `Sealane.encrypt_file` and `Sealane.decrypt_file` process files on all cores. `Reader` and
#   `Writer` are encrypted files as `IO`, and `Encryptor` and `Decryptor` are filters over any other
#   `IO`.
# * `Signing` signs files and messages, and verifies their signatures.
# * `Secret` holds a private or symmetric key outside of the garbage-collected memory.
# * `Hazmat` has raw parts, which are dangerous in the hands of a caller who does not know the
#   algorithm.
#
# A call blocks its thread, like any computation in Crystal. Objects with keys or files have a
# method `close`; the garbage collector does the same later. While another fiber or thread is in a
# call to the object, `close` only refuses later calls, and the memory is wiped and freed when the
# last call ends.
module Sealane
  VERSION = {{ `sed -n 's/^version: //p' "#{__DIR__}/../shard.yml"`.strip.stringify }}

  unless LibSealane.abi == LibSealane::ABI
    raise InternalError.new("expected version #{LibSealane::ABI} of the interface of the C library, " \
                            "found #{LibSealane.abi}; build program and library from one release")
  end
end
