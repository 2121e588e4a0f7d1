module Sealane
  # Raw ciphers. They are easy to misuse unless you know the algorithm.
  module Hazmat
    # A keystream with random access. Fibers and threads may share it.
    #
    # A keystream does not detect changes: flipping a bit of the ciphertext flips the same bit of
    # the plaintext. Two texts under the same part of a keystream reveal each other.
    class Keystream
      Sealane.owns_closable_handle(Stream)

      # Makes a keystream: "aes-ctr" (key of 16, 24 or 32 bytes, IV of 16), "chacha20" (32, 12),
      # "xchacha20" (32, 24), or Speck in counter mode, such as "speck128-256" (32, 16). *counter*
      # is the first block of ChaCha20 and XChaCha20. *byte_order* is "big" or "little" for Speck.
      def initialize(cipher : String, key : Bytes, iv : Bytes, counter : UInt32 = 0_u32, byte_order : String? = nil)
        cipher, byte_order = Sealane.c_text(cipher), Sealane.c_text(byte_order)
        @handle = Sealane.create do |error|
          LibSealane.hazmat_stream_new(cipher, key, key.size, iv, iv.size, counter, byte_order, error)
        end
      end

      # Returns *data* XOR the keystream from byte *offset* on; encrypts and decrypts.
      def xor_at(offset : Int, data : Bytes) : Bytes
        xor_into(offset, data, Sealane.new_bytes(data.size))
      end

      # Like `xor_at`, to the caller's memory. Returns the written part of *output*. In place if
      # *output* begins where *data* does; any other overlap is refused.
      def xor_into(offset : Int, data : Bytes, output : Bytes) : Bytes
        at = Hazmat.offset(offset)
        call_into(output) do |error|
          LibSealane.stream_xor_at(handle, at, data, data.size, output, output.size, error)
        end
      end

      # Like `xor_at`, in place.
      def xor_in_place(offset : Int, data : Bytes) : Bytes
        xor_into(offset, data, data)
      end

      # Like `xor_at` with another IV, for "aes-ctr". Every 16 bytes advance the IV by one, so
      # nearby IVs have overlapping keystreams: number the keystreams in the first 8 bytes.
      def xor_under(iv : Bytes, offset : Int, data : Bytes) : Bytes
        xor_under_into(iv, offset, data, Sealane.new_bytes(data.size))
      end

      # Like `xor_under`, to the caller's memory.
      def xor_under_into(iv : Bytes, offset : Int, data : Bytes, output : Bytes) : Bytes
        at = Hazmat.offset(offset)
        call_into(output) do |error|
          LibSealane.stream_xor_under(handle, iv, iv.size, at, data, data.size, output, output.size, error)
        end
      end
    end

    # :nodoc:
    def self.offset(offset : Int) : UInt64
      return offset.to_u64! if 0 <= offset <= UInt64::MAX
      raise ArgumentError.new("expected an offset from 0 to #{UInt64::MAX}, found #{offset}")
    end
  end
end
