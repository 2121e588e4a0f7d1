# The C library's functions and structures, declared and documented in bindings/c/include/sealane.h.
# spec/lib_sealane_spec.cr compares this file with the header, line by line.
#
# The library is linked statically from the folder `native` of a packed shard, from the repository's
# target/c (built by `make -C bindings lib-c`), or from the folder in the environment variable
# SEALANE_LIB_DIR. With `-Dsealane_dynamic`,
# pkg-config finds the shared library.
{% begin %}
  {% if flag?(:sealane_dynamic) %}
    @[Link("sealane", pkg_config: "sealane")]
  {% else %}
    {% folders = ["#{__DIR__.id}/../../native", "#{__DIR__.id}/../../../../target/c/lib"] %}
    {% packed = system("test -d '#{folders[0].id}' && echo packed || echo clone").strip == "packed" %}
    {% archive = (env("SEALANE_LIB_DIR") || folders[packed ? 0 : 1]) + "/libsealane.a" %}
    {% if system("test -f '#{archive.id}' && echo found || echo missing").strip != "found" %}
      {% raise "expected the C library of sealane at #{archive.id}, found no file; run `make -C bindings lib-c` in the repository" %}
    {% end %}
    @[Link(ldflags: {{ "'" + archive + "' -lgcc_s -lm -lpthread -ldl" }})]
  {% end %}
  lib LibSealane
  end
{% end %}

lib LibSealane
  ABI = 0_u32

  AUTHENTICATION       =  -1
  FORMAT               =  -2
  TRUNCATED            =  -3
  UNSUPPORTED_VERSION  =  -4
  NO_MATCHING_KEY      =  -5
  PROVIDER_UNAVAILABLE =  -6
  LIMIT_EXCEEDED       =  -7
  MISUSE               =  -8
  IO                   =  -9
  CANCELLED            = -10
  INTERNAL             = -11
  OUT_OF_MEMORY        = -12

  ARMOR          = 1_u32
  SYNCED         = 2_u32
  REPLACE        = 4_u32
  CALLING_THREAD = 8_u32

  UNKNOWN = UInt64::MAX

  type Aead = Void*
  type Stream = Void*
  type Poly1305 = Void*
  type Speck = Void*
  type Pieces = Void*
  type Secret = Void*
  type Signature = Void*
  type EncryptWith = Void*
  type DecryptWith = Void*
  type Reader = Void*
  type Filter = Void*
  type Writer = Void*

  struct Error
    code : Int32
    os_code : Int32
    text : UInt8[248]
  end

  struct AeadDescription
    size : LibC::SizeT
    nonce_len : LibC::SizeT
    tag_len : LibC::SizeT
    max_plaintext_len : UInt64
    algorithm : UInt8[32]
    provider : UInt8[32]
    variant : UInt8[32]
  end

  struct Options
    size : LibC::SizeT
    threads : UInt32
    flags : UInt32
    progress : (Void*, UInt64, UInt64) -> Int32
    context : Void*
  end

  struct Source
    size : LibC::SizeT
    length : UInt64
    read_at : (Void*, UInt64, UInt8*, LibC::SizeT) -> Int64
    context : Void*
    flags : UInt32
  end

  fun abi = sealane_abi : UInt32
  fun version = sealane_version : LibC::Char*
  fun live_handles = sealane_live_handles : Int64
  fun algorithms = sealane_algorithms(text : UInt8*, text_len : LibC::SizeT, error : Error*) : Int64
  fun providers = sealane_providers(text : UInt8*, text_len : LibC::SizeT, error : Error*) : Int64
  fun set_default_provider = sealane_set_default_provider(provider : LibC::Char*, error : Error*) : Int64
  fun random = sealane_random(output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun wipe = sealane_wipe(bytes : UInt8*, bytes_len : LibC::SizeT)
  fun free = sealane_free(bytes : UInt8*)
  fun aead_new = sealane_aead_new(algorithm : LibC::Char*, key : UInt8*, key_len : LibC::SizeT, provider : LibC::Char*, error : Error*) : Aead
  fun aead_new_with_secret = sealane_aead_new_with_secret(algorithm : LibC::Char*, secret : Secret, provider : LibC::Char*, error : Error*) : Aead
  fun hazmat_aead_new = sealane_hazmat_aead_new(algorithm : LibC::Char*, key : UInt8*, key_len : LibC::SizeT, error : Error*) : Aead
  fun hazmat_aead_new_block_nonce = sealane_hazmat_aead_new_block_nonce(algorithm : LibC::Char*, key : UInt8*, key_len : LibC::SizeT, error : Error*) : Aead
  fun hazmat_aead_new_small_block = sealane_hazmat_aead_new_small_block(algorithm : LibC::Char*, key : UInt8*, key_len : LibC::SizeT, error : Error*) : Aead
  fun aead_free = sealane_aead_free(aead : Aead)
  fun aead_describe = sealane_aead_describe(aead : Aead, description : AeadDescription*, error : Error*) : Int64
  fun aead_seal = sealane_aead_seal(aead : Aead, data : UInt8*, data_len : LibC::SizeT, aad : UInt8*, aad_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun aead_open = sealane_aead_open(aead : Aead, sealed : UInt8*, sealed_len : LibC::SizeT, aad : UInt8*, aad_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun aead_seal_many = sealane_aead_seal_many(aead : Aead, data : UInt8*, data_len : LibC::SizeT, lens : UInt64*, count : LibC::SizeT, aad : UInt8*, aad_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun aead_open_many = sealane_aead_open_many(aead : Aead, sealed : UInt8*, sealed_len : LibC::SizeT, lens : UInt64*, count : LibC::SizeT, aad : UInt8*, aad_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, verdicts : UInt8*, error : Error*) : Int64
  fun aead_encrypt = sealane_aead_encrypt(aead : Aead, nonce : UInt8*, nonce_len : LibC::SizeT, data : UInt8*, data_len : LibC::SizeT, aad : UInt8*, aad_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun aead_decrypt = sealane_aead_decrypt(aead : Aead, nonce : UInt8*, nonce_len : LibC::SizeT, data : UInt8*, data_len : LibC::SizeT, aad : UInt8*, aad_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun hazmat_stream_new = sealane_hazmat_stream_new(cipher : LibC::Char*, key : UInt8*, key_len : LibC::SizeT, iv : UInt8*, iv_len : LibC::SizeT, counter : UInt32, byte_order : LibC::Char*, error : Error*) : Stream
  fun stream_free = sealane_stream_free(stream : Stream)
  fun stream_xor_at = sealane_stream_xor_at(stream : Stream, offset : UInt64, data : UInt8*, data_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun stream_xor_under = sealane_stream_xor_under(stream : Stream, iv : UInt8*, iv_len : LibC::SizeT, offset : UInt64, data : UInt8*, data_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun hazmat_poly1305_new = sealane_hazmat_poly1305_new(key : UInt8*, key_len : LibC::SizeT, error : Error*) : Poly1305
  fun hazmat_poly1305_new_from_chacha20 = sealane_hazmat_poly1305_new_from_chacha20(key : UInt8*, key_len : LibC::SizeT, nonce : UInt8*, nonce_len : LibC::SizeT, error : Error*) : Poly1305
  fun poly1305_free = sealane_poly1305_free(poly1305 : Poly1305)
  fun poly1305_update = sealane_poly1305_update(poly1305 : Poly1305, data : UInt8*, data_len : LibC::SizeT, error : Error*) : Int64
  fun poly1305_finalize = sealane_poly1305_finalize(poly1305 : Poly1305, tag : UInt8*, tag_len : LibC::SizeT, error : Error*) : Int64
  fun poly1305_verify = sealane_poly1305_verify(poly1305 : Poly1305, tag : UInt8*, tag_len : LibC::SizeT, error : Error*) : Int64
  fun hazmat_speck_new = sealane_hazmat_speck_new(algorithm : LibC::Char*, key : UInt8*, key_len : LibC::SizeT, byte_order : LibC::Char*, error : Error*) : Speck
  fun speck_free = sealane_speck_free(speck : Speck)
  fun speck_encrypt_blocks = sealane_speck_encrypt_blocks(speck : Speck, data : UInt8*, data_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun speck_decrypt_blocks = sealane_speck_decrypt_blocks(speck : Speck, data : UInt8*, data_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun hazmat_encryptor_new = sealane_hazmat_encryptor_new(algorithm : LibC::Char*, key : UInt8*, key_len : LibC::SizeT, nonce : UInt8*, nonce_len : LibC::SizeT, error : Error*) : Pieces
  fun hazmat_decryptor_new = sealane_hazmat_decryptor_new(algorithm : LibC::Char*, key : UInt8*, key_len : LibC::SizeT, nonce : UInt8*, nonce_len : LibC::SizeT, error : Error*) : Pieces
  fun pieces_free = sealane_pieces_free(pieces : Pieces)
  fun pieces_aad = sealane_pieces_aad(pieces : Pieces, aad : UInt8*, aad_len : LibC::SizeT, error : Error*) : Int64
  fun pieces_update = sealane_pieces_update(pieces : Pieces, data : UInt8*, data_len : LibC::SizeT, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun pieces_finalize = sealane_pieces_finalize(pieces : Pieces, tag : UInt8*, tag_len : LibC::SizeT, error : Error*) : Int64
  fun pieces_verify = sealane_pieces_verify(pieces : Pieces, tag : UInt8*, tag_len : LibC::SizeT, error : Error*) : Int64
  fun secret_generate = sealane_secret_generate(kind : LibC::Char*, error : Error*) : Secret
  fun secret_from_bytes = sealane_secret_from_bytes(key : UInt8*, key_len : LibC::SizeT, error : Error*) : Secret
  fun secret_from_text = sealane_secret_from_text(text : LibC::Char*, passphrase : LibC::Char*, error : Error*) : Secret
  fun secret_load = sealane_secret_load(path : LibC::Char*, passphrase : LibC::Char*, error : Error*) : Secret
  fun secret_free = sealane_secret_free(secret : Secret)
  fun secret_save = sealane_secret_save(secret : Secret, path : LibC::Char*, passphrase : LibC::Char*, flags : UInt32, error : Error*) : Int64
  fun secret_kind = sealane_secret_kind(secret : Secret, text : UInt8*, text_len : LibC::SizeT, error : Error*) : Int64
  fun secret_to_text = sealane_secret_to_text(secret : Secret, passphrase : LibC::Char*, text : UInt8*, text_len : LibC::SizeT, error : Error*) : Int64
  fun secret_public = sealane_secret_public(secret : Secret, text : UInt8*, text_len : LibC::SizeT, error : Error*) : Int64
  fun secret_bytes = sealane_secret_bytes(secret : Secret, key : UInt8*, key_len : LibC::SizeT, error : Error*) : Int64
  fun derive = sealane_derive(passphrase : UInt8*, passphrase_len : LibC::SizeT, salt : UInt8*, salt_len : LibC::SizeT, memory_kib : UInt32, passes : UInt32, lanes : UInt32, key : UInt8*, key_len : LibC::SizeT, error : Error*) : Int64
  fun hybrid_seal = sealane_hybrid_seal(public_key : LibC::Char*, data : UInt8*, data_len : LibC::SizeT, aad : UInt8*, aad_len : LibC::SizeT, info : UInt8*, info_len : LibC::SizeT, suite : LibC::Char*, output : UInt8**, error : Error*) : Int64
  fun hybrid_open = sealane_hybrid_open(secret : Secret, message : UInt8*, message_len : LibC::SizeT, aad : UInt8*, aad_len : LibC::SizeT, info : UInt8*, info_len : LibC::SizeT, suite : LibC::Char*, output : UInt8**, error : Error*) : Int64
  fun sign_new = sealane_sign_new(key : UInt8*, key_len : LibC::SizeT, passphrase : LibC::Char*, name_space : LibC::Char*, comment : LibC::Char*, error : Error*) : Signature
  fun verify_new = sealane_verify_new(signature : UInt8*, signature_len : LibC::SizeT, signers : UInt8*, signers_len : LibC::SizeT, name_space : LibC::Char*, revoked : UInt8*, revoked_len : LibC::SizeT, error : Error*) : Signature
  fun signature_update = sealane_signature_update(signature : Signature, data : UInt8*, data_len : LibC::SizeT, error : Error*) : Int64
  fun signature_finish = sealane_signature_finish(signature : Signature, output : UInt8**, error : Error*) : Int64
  fun signature_free = sealane_signature_free(signature : Signature)
  fun encrypt_with_key = sealane_encrypt_with_key(key : UInt8*, key_len : LibC::SizeT, format : LibC::Char*, context : UInt8*, context_len : LibC::SizeT, error : Error*) : EncryptWith
  fun encrypt_with_secret = sealane_encrypt_with_secret(secret : Secret, format : LibC::Char*, context : UInt8*, context_len : LibC::SizeT, error : Error*) : EncryptWith
  fun encrypt_with_keyset = sealane_encrypt_with_keyset(keyset : LibC::Char*, context : UInt8*, context_len : LibC::SizeT, error : Error*) : EncryptWith
  fun encrypt_with_recipients = sealane_encrypt_with_recipients(recipients : LibC::Char*, flags : UInt32, error : Error*) : EncryptWith
  fun encrypt_with_passphrase = sealane_encrypt_with_passphrase(passphrase : LibC::Char*, work_factor : UInt32, flags : UInt32, error : Error*) : EncryptWith
  fun encrypt_with_free = sealane_encrypt_with_free(file_keys : EncryptWith)
  fun decrypt_with_key = sealane_decrypt_with_key(key : UInt8*, key_len : LibC::SizeT, format : LibC::Char*, context : UInt8*, context_len : LibC::SizeT, error : Error*) : DecryptWith
  fun decrypt_with_secret = sealane_decrypt_with_secret(secret : Secret, format : LibC::Char*, context : UInt8*, context_len : LibC::SizeT, error : Error*) : DecryptWith
  fun decrypt_with_keyset = sealane_decrypt_with_keyset(keyset : LibC::Char*, context : UInt8*, context_len : LibC::SizeT, error : Error*) : DecryptWith
  fun decrypt_with_identities = sealane_decrypt_with_identities(identities : LibC::Char*, error : Error*) : DecryptWith
  fun decrypt_with_passphrase = sealane_decrypt_with_passphrase(passphrase : LibC::Char*, max_work_factor : UInt32, error : Error*) : DecryptWith
  fun decrypt_with_free = sealane_decrypt_with_free(file_keys : DecryptWith)
  fun encrypt_file = sealane_encrypt_file(from : LibC::Char*, to : LibC::Char*, file_keys : EncryptWith, options : Options*, error : Error*) : Int64
  fun decrypt_file = sealane_decrypt_file(from : LibC::Char*, to : LibC::Char*, file_keys : DecryptWith, options : Options*, error : Error*) : Int64
  fun verify_file = sealane_verify_file(from : LibC::Char*, file_keys : DecryptWith, options : Options*, error : Error*) : Int64
  fun encrypt = sealane_encrypt(file_keys : EncryptWith, data : UInt8*, data_len : LibC::SizeT, output : UInt8**, error : Error*) : Int64
  fun decrypt = sealane_decrypt(file_keys : DecryptWith, file : UInt8*, file_len : LibC::SizeT, output : UInt8**, error : Error*) : Int64
  fun reader_open = sealane_reader_open(path : LibC::Char*, file_keys : DecryptWith, error : Error*) : Reader
  fun reader_over = sealane_reader_over(source : Source*, file_keys : DecryptWith, error : Error*) : Reader
  fun reader_size = sealane_reader_size(reader : Reader, error : Error*) : Int64
  fun reader_read_at = sealane_reader_read_at(reader : Reader, offset : UInt64, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun reader_free = sealane_reader_free(reader : Reader)
  fun encryptor_new = sealane_encryptor_new(file_keys : EncryptWith, error : Error*) : Filter
  fun decryptor_new = sealane_decryptor_new(file_keys : DecryptWith, error : Error*) : Filter
  fun filter_push = sealane_filter_push(filter : Filter, data : UInt8*, data_len : LibC::SizeT, error : Error*) : Int64
  fun filter_take = sealane_filter_take(filter : Filter, output : UInt8*, out_len : LibC::SizeT, error : Error*) : Int64
  fun filter_finish = sealane_filter_finish(filter : Filter, error : Error*) : Int64
  fun filter_free = sealane_filter_free(filter : Filter)
  fun writer_create = sealane_writer_create(path : LibC::Char*, file_keys : EncryptWith, error : Error*) : Writer
  fun writer_push = sealane_writer_push(writer : Writer, data : UInt8*, data_len : LibC::SizeT, error : Error*) : Int64
  fun writer_finish = sealane_writer_finish(writer : Writer, flags : UInt32, error : Error*) : Int64
  fun writer_free = sealane_writer_free(writer : Writer)
end
