module Sealane
  # Signatures for `ssh-keygen -Y verify` and `minisign -V`.
  #
  # ```
  # signature = File.open("app.tar.gz") { |file| Sealane::Signing.sign(file, File.read("release.key")) }
  # ```
  module Signing
    # What a valid signature says: the signer's principals in a file of allowed signers, or else the
    # fingerprint of the SSH key or the number of the minisign key; and minisign's trusted comment.
    record Verified, signer : String, comment : String

    # Reads a message to its end and returns its signature. *key* is the content of an OpenSSH
    # Ed25519 private key or a minisign secret key. An SSH signature is for *namespace*, "file" by
    # default; minisign also signs *comment*, by default the time.
    def self.sign(message : IO, key : String, *, passphrase : String? = nil, namespace : String? = nil,
                  comment : String? = nil) : String
      phrase, name, text = Sealane.c_text(passphrase), Sealane.c_text(namespace), Sealane.c_text(comment)
      handle = Sealane.create { |error| LibSealane.sign_new(key, key.bytesize, phrase, name, text, error) }
      Message.new(handle).pass(message)
    end

    # Reads a message to its end and verifies its signature. *signers* are public keys of SSH, a
    # file of allowed signers of `ssh-keygen`, or a minisign public key; those in *revoked* are
    # refused. Raises `AuthenticationError` for a signature that is not accepted, and `FormatError`
    # for content that is none.
    def self.verify(message : IO, signature : String, signers : String, *, namespace : String? = nil,
                    revoked : String = "") : Verified
      name = Sealane.c_text(namespace)
      handle = Sealane.create do |error|
        LibSealane.verify_new(signature, signature.bytesize, signers, signers.bytesize, name, revoked,
          revoked.bytesize, error)
      end
      signer, _, comment = Message.new(handle).pass(message).partition('\n')
      Verified.new(signer, comment)
    end

    private class Message
      Sealane.owns_handle(Signature, exclusive: true)

      def initialize(@handle : LibSealane::Signature)
      end

      def pass(message : IO) : String
        buffer = Bytes.new(65536)
        while (count = message.read(buffer)) > 0
          call { |error| LibSealane.signature_update(handle, buffer, count, error) }
        end
        String.new(Sealane.take_result { |result, error| LibSealane.signature_finish(handle, result, error) })
      ensure
        free_handle
      end
    end
  end
end
