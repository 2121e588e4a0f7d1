module Sealane
  # Messages for the holder of a private key: HPKE for X25519, P-256 and X-Wing, RSA-OAEP, or ECIES
  # for secp256k1.
  #
  # *info* and *suite* are HPKE options that both sides need: the description of the exchange, and
  # "aes-128-gcm", "aes-256-gcm" (the default) or "chacha20-poly1305".
  module Hybrid
    # Seals a message for a public key in the text form of `Secret#public_key`.
    def self.seal(public_key : String, data : Bytes, aad : Bytes = Bytes.empty, *, info : Bytes = Bytes.empty,
                  suite : String? = nil) : Bytes
      public_key, suite = Sealane.c_text(public_key), Sealane.c_text(suite)
      Sealane.take_result do |result, error|
        LibSealane.hybrid_seal(public_key, data, data.size, aad, aad.size, info, info.size, suite, result, error)
      end
    end

    # Opens a message with the private key, or raises `AuthenticationError`.
    def self.open(secret : Secret, message : Bytes, aad : Bytes = Bytes.empty, *, info : Bytes = Bytes.empty,
                  suite : String? = nil) : Bytes
      suite = Sealane.c_text(suite)
      secret.lend do |key|
        Sealane.take_result do |result, error|
          LibSealane.hybrid_open(key, message, message.size, aad, aad.size, info, info.size, suite, result, error)
        end
      end
    end
  end
end
