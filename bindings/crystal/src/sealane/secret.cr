module Sealane
  # A private or symmetric key in the C library's memory, wiped when closed or collected.
  class Secret
    Sealane.owns_closable_handle(Secret)

    # Copies the bytes of a symmetric key.
    def self.new(key : Bytes) : self
      new(Sealane.create { |error| LibSealane.secret_from_bytes(key, key.size, error) })
    end

    # Generates a key: "aes-128", "aes-192" or "aes-256" (symmetric, also for other ciphers),
    # "aes-256-siv" (for file names), "age" or "age-pq" (for files), "rsa-2048", "rsa-3072",
    # "rsa-4096", "secp256k1", "x25519", "p-256" or "x-wing" (for `Hybrid`).
    def self.generate(kind : String) : self
      new(Sealane.create { |error| LibSealane.secret_generate(Sealane.c_text(kind), error) })
    end

    # Parses the text of a key file: a JSON Web Key, PEM, AGE-SECRET-KEY-..., or an OpenSSH key.
    def self.parse(text : String, passphrase : String? = nil) : self
      text, passphrase = Sealane.c_text(text), Sealane.c_text(passphrase)
      new(Sealane.create { |error| LibSealane.secret_from_text(text, passphrase, error) })
    end

    # Loads a key from a file, also in DER or in an age file.
    def self.load(path : String | Path, passphrase : String? = nil) : self
      path, passphrase = Sealane.c_path(path), Sealane.c_text(passphrase)
      new(Sealane.create({path}) { |error| LibSealane.secret_load(path, passphrase, error) })
    end

    # :nodoc:
    def initialize(@handle : LibSealane::Secret)
    end

    # Writes the key to a file that only the owner can read, encrypted if there is a passphrase. An
    # existing file is refused unless *replace* is true.
    def save(path : String | Path, passphrase : String? = nil, *, replace : Bool = false) : Nil
      path, passphrase = Sealane.c_path(path), Sealane.c_text(passphrase)
      flags = replace ? LibSealane::REPLACE : 0_u32
      call({path}) { |error| LibSealane.secret_save(handle, path, passphrase, flags, error) }
    end

    # Returns the key's kind, as for `generate`, or nil if it has none.
    def kind : String?
      lend { |key| Sealane.text { |buffer, size, error| LibSealane.secret_kind(key, buffer, size, error) } }.presence
    end

    # Returns the key as the text of a key file, encrypted if there is a passphrase. Crystal cannot
    # wipe a string.
    def to_text(passphrase : String? = nil) : String
      passphrase = Sealane.c_text(passphrase)
      lend do |key|
        Sealane.text { |buffer, size, error| LibSealane.secret_to_text(key, passphrase, buffer, size, error) }
      end
    end

    # Returns the public key: age1..., an SSH key or PEM, or nil for a symmetric key. Without a
    # trailing newline.
    def public_key : String?
      text = lend { |key| Sealane.text { |buffer, size, error| LibSealane.secret_public(key, buffer, size, error) } }
      text.chomp.presence
    end

    # Returns the bytes of a symmetric key. Wipe them with `Sealane.wipe` after use.
    def bytes : Bytes
      key = Bytes.new(64)
      key[0, call { |error| LibSealane.secret_bytes(handle, key, key.size, error) }]
    end
  end
end
