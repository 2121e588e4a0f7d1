require "openssl"
require "openssl/cipher"

lib LibCrypto
  fun evp_cipher_ctx_ctrl = EVP_CIPHER_CTX_ctrl(ctx : EVP_CIPHER_CTX, type : Int32, arg : Int32, ptr : Void*) : Int32
end

# The standard library's OpenSSL, which lacks associated data and tags.
class OpenSSL::Cipher
  GET_TAG = 0x10

  def aad=(data : Bytes)
    written = 0
    return if data.empty?
    raise Error.new("EVP_CipherUpdate") if LibCrypto.evp_cipherupdate(@ctx, nil, pointerof(written), data, data.size) != 1
  end

  def tag : Bytes
    tag = Bytes.new(16)
    raise Error.new("EVP_CTRL_AEAD_GET_TAG") if LibCrypto.evp_cipher_ctx_ctrl(@ctx, GET_TAG, 16, tag) != 1
    tag
  end
end

module OpenSSLReference
  # Returns `ciphertext || tag`.
  def self.seal(name : String, key : Bytes, nonce : Bytes, data : Bytes, aad : Bytes) : Bytes
    cipher = OpenSSL::Cipher.new(name)
    cipher.encrypt
    cipher.key = key
    cipher.iv = nonce
    cipher.aad = aad
    output = IO::Memory.new(data.size + 16)
    output.write(cipher.update(data)) unless data.empty?
    output.write(cipher.final)
    output.write(cipher.tag)
    output.to_slice
  end

  # Returns data XOR a keystream.
  def self.xor(name : String, key : Bytes, iv : Bytes, data : Bytes) : Bytes
    cipher = OpenSSL::Cipher.new(name)
    cipher.encrypt
    cipher.key = key
    cipher.iv = iv
    cipher.update(data)
  end
end
