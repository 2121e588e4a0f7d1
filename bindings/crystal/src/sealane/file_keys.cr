module Sealane
  # :nodoc:
  # Defines the symmetric-key constructors of `EncryptWith` and `DecryptWith`.
  macro symmetric_file_keys(type)
    {% function = type.stringify.underscore.id %}
    Sealane.owns_closable_handle({{type}})

    # A symmetric key of 16 or 32 bytes. *format* is "chunked" (C2SP chunked-encryption@v1, the
    # default), "tink-4kb" or "tink-1mb". *context* is bound to the file but not stored; pass the
    # same to decrypt.
    def self.key(key : Bytes, *, format : String? = nil, context : Bytes = Bytes.empty) : self
      format = Sealane.c_text(format)
      new(Sealane.create do |error|
        LibSealane.{{function}}_key(key, key.size, format, context, context.size, error)
      end)
    end

    # A symmetric key, or an age identity to decrypt with (without format and context).
    def self.key(key : Secret, *, format : String? = nil, context : Bytes = Bytes.empty) : self
      format = Sealane.c_text(format)
      new(key.lend do |secret|
        Sealane.create do |error|
          LibSealane.{{function}}_secret(secret, format, context, context.size, error)
        end
      end)
    end

    # A Tink keyset in JSON for AES-GCM-HKDF streaming.
    def self.keyset(json : String, *, context : Bytes = Bytes.empty) : self
      json = Sealane.c_text(json)
      new(Sealane.create { |error| LibSealane.{{function}}_keyset(json, context, context.size, error) })
    end

    # :nodoc:
    def initialize(@handle : LibSealane::{{type}})
    end
  end

  # Keys and format for encrypting files. Fibers and threads may share it.
  class EncryptWith
    Sealane.symmetric_file_keys(EncryptWith)

    # Recipients of an age file: age1..., ssh-ed25519 ..., ssh-rsa .... With *armor*, the file is
    # text.
    def self.recipients(recipients : Enumerable(String), *, armor : Bool = false) : self
      lines = Sealane.c_text(recipients.join('\n'))
      flags = armor ? LibSealane::ARMOR : 0_u32
      new(Sealane.create { |error| LibSealane.encrypt_with_recipients(lines, flags, error) })
    end

    # The passphrase of an age file. *work_factor* is the base-2 logarithm of scrypt's N, or 0 for
    # 18: about a second and 256 MiB per file.
    def self.passphrase(passphrase : String, *, work_factor : UInt32 = 0_u32, armor : Bool = false) : self
      passphrase = Sealane.c_text(passphrase)
      flags = armor ? LibSealane::ARMOR : 0_u32
      new(Sealane.create { |error| LibSealane.encrypt_with_passphrase(passphrase, work_factor, flags, error) })
    end
  end

  # Keys and format for decrypting files. Fibers and threads may share it.
  class DecryptWith
    Sealane.symmetric_file_keys(DecryptWith)

    # Identities for age files: lines of AGE-SECRET-KEY-..., or one OpenSSH private key. Tried in
    # order.
    def self.identities(identities : String) : self
      identities = Sealane.c_text(identities)
      new(Sealane.create { |error| LibSealane.decrypt_with_identities(identities, error) })
    end

    # The passphrase of age files. Files with a work factor above *max_work_factor* (0 means 20) are
    # refused.
    def self.passphrase(passphrase : String, *, max_work_factor : UInt32 = 0_u32) : self
      passphrase = Sealane.c_text(passphrase)
      new(Sealane.create { |error| LibSealane.decrypt_with_passphrase(passphrase, max_work_factor, error) })
    end
  end
end
