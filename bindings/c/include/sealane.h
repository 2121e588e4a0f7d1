/*
 * sealane: authenticated encryption of messages, files and streams, and raw ciphers.
 *
 * Bytes are a pointer and a length. If the length is 0, the pointer may be null. Text is
 * zero-terminated UTF-8, except paths, which are the system's bytes. A `const char *` may be null
 * only where its comment says so.
 *
 * Results. A function that can fail returns an int64_t: a number of bytes or 0, or one of the
 * negative codes below. A function that makes a handle returns null if it fails. The last argument
 * is a caller's structure, written only after a failure; it may be null. There is no per-thread or
 * per-process "last error".
 *
 * Handles. Free a handle once, with its type's function `..._free`, which also accepts null. A
 * handle passed as `const` can be used by several threads at once, and after fork(). Other handles
 * are for one thread at a time. Keys are copied into a handle and wiped when it is freed. Do not
 * free a handle during a call with it, except a sealane_reader, sealane_encrypt_with or
 * sealane_decrypt_with: calls with these can call your functions, which may free them, as may other
 * threads once the call has begun. The memory is wiped and freed when the last such call ends.
 *
 * Outputs. `out` must be at least as long as the result; the rest stays unchanged. The result may
 * be written over the data ("in place") as each function describes. Any other overlap of the output
 * with an argument is SEALANE_MISUSE, and nothing is written. After SEALANE_AUTHENTICATION the
 * plaintext's bytes are zero. Other threads must not change the arguments during a call.
 *
 * Text outputs. If `text_len` is greater than the length of a text, the text and a zero are
 * written. The result is always the length without the zero, so if it is not smaller than
 * `text_len`, call again with a longer buffer.
 *
 * Functions named `sealane_hazmat_...` make handles that are easy to misuse; their comments name
 * the danger.
 */
#ifndef SEALANE_H
#define SEALANE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. Compare it with sealane_abi() if you load the library at run time. */
#define SEALANE_ABI 0

/* Error codes. A code is never reused. */
#define SEALANE_AUTHENTICATION (-1)       /* wrong key, nonce or associated data, or modified data */
#define SEALANE_FORMAT (-2)               /* the input is not in the expected format */
#define SEALANE_TRUNCATED (-3)            /* the input ends too early */
#define SEALANE_UNSUPPORTED_VERSION (-4)  /* the version of the format is not supported */
#define SEALANE_NO_MATCHING_KEY (-5)      /* none of the given keys opens the data, or the passphrase is wrong */
#define SEALANE_PROVIDER_UNAVAILABLE (-6) /* the provider cannot compute the algorithm on this machine */
#define SEALANE_LIMIT_EXCEEDED (-7)       /* a limit of the algorithm, the format or the machine */
#define SEALANE_MISUSE (-8)               /* a mistake in the call, such as a key of the wrong length */
#define SEALANE_IO (-9)                   /* an operating-system error, see os_code */
#define SEALANE_CANCELLED (-10)           /* the progress callback cancelled the operation */
#define SEALANE_INTERNAL (-11)            /* a bug in sealane */
#define SEALANE_OUT_OF_MEMORY (-12)       /* a buffer could not be allocated */

/* Flags. A call refuses flags it does not have. */
#define SEALANE_ARMOR 1          /* an age file is written as text, with ASCII armor */
#define SEALANE_SYNCED 2         /* wait until the bytes are on disk */
#define SEALANE_REPLACE 4        /* replace an existing file */
#define SEALANE_CALLING_THREAD 8 /* a source is read only by the thread that calls the library, one read at a time */

/* The total of a progress report if unknown, as for a pipe. */
#define SEALANE_UNKNOWN UINT64_MAX

/* The description of a failure. */
typedef struct sealane_error {
	int32_t code;      /* one of the codes above */
	int32_t os_code;   /* errno, or 0 */
	uint8_t text[248]; /* zero-terminated UTF-8; a long text is cut */
} sealane_error;

typedef struct sealane_aead sealane_aead;                 /* an algorithm with a key */
typedef struct sealane_stream sealane_stream;             /* a keystream with random access */
typedef struct sealane_poly1305 sealane_poly1305;         /* a tag being computed */
typedef struct sealane_speck sealane_speck;               /* a key of a block cipher */
typedef struct sealane_pieces sealane_pieces;             /* a message processed in pieces */
typedef struct sealane_secret sealane_secret;             /* a private or symmetric key */
typedef struct sealane_signature sealane_signature;       /* a message signed or verified in pieces */
typedef struct sealane_encrypt_with sealane_encrypt_with; /* keys and format for encrypting files */
typedef struct sealane_decrypt_with sealane_decrypt_with; /* keys and format for decrypting files */
typedef struct sealane_reader sealane_reader;             /* an encrypted file with random access */
typedef struct sealane_filter sealane_filter;             /* a stream: bytes are pushed in and taken out */
typedef struct sealane_writer sealane_writer;             /* an encrypted file written in pieces */

/* ---- The library ----------------------------------------------------------------------------------------------------- */

/* Returns the SEALANE_ABI of the loaded library. */
uint32_t sealane_abi(void);

/* Returns the library's version, such as "0.1.0". It is static. */
const char *sealane_version(void);

/* Returns the number of handles and results not freed, for leak tests. */
int64_t sealane_live_handles(void);

/*
 * Lists the algorithms of sealane_aead_new(), one per line. A line has six tab-separated fields:
 * name; key, nonce and tag length in bytes; maximum lengths of plaintext and associated data. A
 * text output.
 */
int64_t sealane_algorithms(uint8_t *text, size_t text_len, sealane_error *error);

/*
 * Lists the implementations, one per line with six fields: algorithm, provider, variant, whether it
 * is available (0 or 1), whether it is the default, and why it is unavailable. A text output.
 */
int64_t sealane_providers(uint8_t *text, size_t text_len, sealane_error *error);

/*
 * Sets this process's provider (null for none) for calls that name none. It can be set once. A
 * library should not call it.
 */
int64_t sealane_set_default_provider(const char *provider, sealane_error *error);

/* Fills `out` with random bytes from the operating system, fit for keys. */
int64_t sealane_random(uint8_t *out, size_t out_len, sealane_error *error);

/* Overwrites bytes with zeros. The compiler cannot remove the writes. */
void sealane_wipe(uint8_t *bytes, size_t bytes_len);

/* Wipes and frees a result obtained through `uint8_t **out`. Null is allowed. */
void sealane_free(uint8_t *bytes);

/* ---- Messages -------------------------------------------------------------------------------------------------------- */

/*
 * Expands a key. The algorithm is, for example, "aes-256-gcm", "chacha20-poly1305" or "aegis-256";
 * sealane_algorithms() lists them with their key lengths. A null `provider` selects the fastest
 * implementation on this machine.
 */
sealane_aead *sealane_aead_new(const char *algorithm, const uint8_t *key, size_t key_len, const char *provider,
	sealane_error *error);

/* Expands a symmetric key held by the library. */
sealane_aead *sealane_aead_new_with_secret(const char *algorithm, const sealane_secret *secret, const char *provider,
	sealane_error *error);

/*
 * Expands a key of Speck-Poly1305, SpeckEx's AEAD: "speck128-128-poly1305", "speck128-192-poly1305"
 * or "speck128-256-poly1305". Prefer AES or ChaCha20: no analysis of this construction has been
 * published. Never use the key with sealane_hazmat_stream_new(): its keystream contains the tag
 * keys.
 */
sealane_aead *sealane_hazmat_aead_new(const char *algorithm, const uint8_t *key, size_t key_len, sealane_error *error);

/*
 * The same with nonces of a whole 16-byte block, as in SpeckEx's low-level functions. Keep the
 * counters of messages apart: a message takes a counter per block, and two more.
 * sealane_aead_seal() is refused.
 */
sealane_aead *sealane_hazmat_aead_new_block_nonce(const char *algorithm, const uint8_t *key, size_t key_len,
	sealane_error *error);

/*
 * The same for blocks of 32 to 96 bits, such as "speck64-128-poly1305". Only for existing messages.
 * The nonce is a whole block; count it so that messages do not overlap. sealane_aead_seal() is
 * refused.
 */
sealane_aead *sealane_hazmat_aead_new_small_block(const char *algorithm, const uint8_t *key, size_t key_len,
	sealane_error *error);

void sealane_aead_free(sealane_aead *aead);

/* Properties of an AEAD key. */
typedef struct sealane_aead_description {
	size_t size;                /* sizeof(sealane_aead_description), set by the caller */
	size_t nonce_len;           /* bytes */
	size_t tag_len;             /* bytes */
	uint64_t max_plaintext_len; /* bytes */
	uint8_t algorithm[32];      /* text, for example "aes-256-gcm" */
	uint8_t provider[32];       /* text, for example "native" */
	uint8_t variant[32];        /* text: the code for an instruction set, for example "vaes512" */
} sealane_aead_description;

/* Describes a key. Set description->size before the call. */
int64_t sealane_aead_describe(const sealane_aead *aead, sealane_aead_description *description, sealane_error *error);

/*
 * Seals a message under a fresh random nonce: `nonce || ciphertext || tag`, nonce_len + tag_len
 * bytes longer than `data`. The associated data `aad` is authenticated but not part of the result.
 * In place if `data` is `out + nonce_len`.
 */
int64_t sealane_aead_seal(const sealane_aead *aead, const uint8_t *data, size_t data_len, const uint8_t *aad,
	size_t aad_len, uint8_t *out, size_t out_len, sealane_error *error);

/* Opens a sealed message. In place if `out` is `sealed + nonce_len`. */
int64_t sealane_aead_open(const sealane_aead *aead, const uint8_t *sealed, size_t sealed_len, const uint8_t *aad,
	size_t aad_len, uint8_t *out, size_t out_len, sealane_error *error);

/*
 * Seals `count` messages like sealane_aead_seal(), each under its own nonce and all with the same
 * associated data. They are consecutive in `data`, with the lengths `lens`. The sealed messages are
 * consecutive in `out`, each nonce_len + tag_len bytes longer than its message. `out` may not
 * overlap an argument. Large batches use several cores. Not for Speck-Poly1305.
 */
int64_t sealane_aead_seal_many(const sealane_aead *aead, const uint8_t *data, size_t data_len, const uint64_t *lens,
	size_t count, const uint8_t *aad, size_t aad_len, uint8_t *out, size_t out_len, sealane_error *error);

/*
 * Opens `count` sealed messages, consecutive in `sealed`, with the lengths `lens`. If any is not
 * authentic, the result is SEALANE_AUTHENTICATION, the error's text names the first one's index,
 * and `out` has no plaintext. `verdicts` is null, or gets one byte per message: 1 if authentic, 0
 * if not. It is written only with these two results, and may not overlap an argument.
 */
int64_t sealane_aead_open_many(const sealane_aead *aead, const uint8_t *sealed, size_t sealed_len,
	const uint64_t *lens, size_t count, const uint8_t *aad, size_t aad_len, uint8_t *out, size_t out_len,
	uint8_t *verdicts, sealane_error *error);

/*
 * Encrypts under the caller's nonce: `ciphertext || tag`. Never use a nonce twice with one key. In
 * place if `out` is `data`.
 */
int64_t sealane_aead_encrypt(const sealane_aead *aead, const uint8_t *nonce, size_t nonce_len, const uint8_t *data,
	size_t data_len, const uint8_t *aad, size_t aad_len, uint8_t *out, size_t out_len, sealane_error *error);

/* Decrypts `ciphertext || tag`. In place if `out` is `data`. */
int64_t sealane_aead_decrypt(const sealane_aead *aead, const uint8_t *nonce, size_t nonce_len, const uint8_t *data,
	size_t data_len, const uint8_t *aad, size_t aad_len, uint8_t *out, size_t out_len, sealane_error *error);

/* ---- Raw parts ------------------------------------------------------------------------------------------------------- */

/*
 * Makes a keystream: "aes-ctr" (key of 16, 24 or 32 bytes, IV of 16), "chacha20" (32, 12),
 * "xchacha20" (32, 24), or Speck in counter mode, such as "speck128-256" (32, 16). `counter` is the
 * first block of ChaCha20 and XChaCha20, and 0 for the others. `byte_order` is null, or "big" or
 * "little" for Speck.
 *
 * A keystream does not detect changes: flipping a bit of the ciphertext flips the same bit of the
 * plaintext. Two texts under the same part of a keystream reveal each other.
 */
sealane_stream *sealane_hazmat_stream_new(const char *cipher, const uint8_t *key, size_t key_len, const uint8_t *iv,
	size_t iv_len, uint32_t counter, const char *byte_order, sealane_error *error);

void sealane_stream_free(sealane_stream *stream);

/* Writes `data` XOR the keystream from byte `offset` on; encrypts and decrypts. In place if `out`
 * is `data`. */
int64_t sealane_stream_xor_at(const sealane_stream *stream, uint64_t offset, const uint8_t *data, size_t data_len,
	uint8_t *out, size_t out_len, sealane_error *error);

/*
 * The same with another 16-byte IV, for "aes-ctr": one handle serves many keystreams of a key. The
 * IV is the first counter block, and every 16 bytes advance it by one, so nearby IVs have
 * overlapping keystreams: number the keystreams in the first 8 bytes.
 */
int64_t sealane_stream_xor_under(const sealane_stream *stream, const uint8_t *iv, size_t iv_len, uint64_t offset,
	const uint8_t *data, size_t data_len, uint8_t *out, size_t out_len, sealane_error *error);

/* Starts a Poly1305 tag. Use the 32-byte key for one message: with two tags under one key, an
 * attacker can forge a third. */
sealane_poly1305 *sealane_hazmat_poly1305_new(const uint8_t *key, size_t key_len, sealane_error *error);

/* Starts a tag with ChaCha20's one-time key for a 32-byte key and a 12-byte nonce (RFC 8439,
 * section 2.6). */
sealane_poly1305 *sealane_hazmat_poly1305_new_from_chacha20(const uint8_t *key, size_t key_len, const uint8_t *nonce,
	size_t nonce_len, sealane_error *error);

void sealane_poly1305_free(sealane_poly1305 *poly1305);

/* Adds data to the message. */
int64_t sealane_poly1305_update(sealane_poly1305 *poly1305, const uint8_t *data, size_t data_len, sealane_error *error);

/* Writes the tag, 16 bytes. Afterwards, only free the handle. In a forked child this is
 * SEALANE_MISUSE. */
int64_t sealane_poly1305_finalize(sealane_poly1305 *poly1305, uint8_t *tag, size_t tag_len, sealane_error *error);

/* Compares the tag with `tag` in constant time. Afterwards, only free the handle. */
int64_t sealane_poly1305_verify(sealane_poly1305 *poly1305, const uint8_t *tag, size_t tag_len, sealane_error *error);

/*
 * Expands a key of the block cipher Speck, such as "speck128-256". `byte_order` is null or "big"
 * for the paper's order, or "little" for the NSA guide's. Equal blocks give equal results, so do
 * not encrypt data with it.
 */
sealane_speck *sealane_hazmat_speck_new(const char *algorithm, const uint8_t *key, size_t key_len,
	const char *byte_order, sealane_error *error);

void sealane_speck_free(sealane_speck *speck);

/* Encrypts each block of `data`, a whole number of blocks. In place if `out` is `data`. */
int64_t sealane_speck_encrypt_blocks(const sealane_speck *speck, const uint8_t *data, size_t data_len, uint8_t *out,
	size_t out_len, sealane_error *error);

/* Decrypts each block of `data`. In place if `out` is `data`. */
int64_t sealane_speck_decrypt_blocks(const sealane_speck *speck, const uint8_t *data, size_t data_len, uint8_t *out,
	size_t out_len, sealane_error *error);

/*
 * Starts encrypting a message in pieces: AES-GCM, "chacha20-poly1305" or "xchacha20-poly1305".
 * Never use a nonce twice with one key. First associated data, then data, then
 * sealane_pieces_finalize(). In a forked child, calls are SEALANE_MISUSE.
 */
sealane_pieces *sealane_hazmat_encryptor_new(const char *algorithm, const uint8_t *key, size_t key_len,
	const uint8_t *nonce, size_t nonce_len, sealane_error *error);

/* Starts decrypting a message in pieces. The plaintext is unverified until sealane_pieces_verify()
 * returns 0: an attacker may have chosen it. Otherwise discard all of it. */
sealane_pieces *sealane_hazmat_decryptor_new(const char *algorithm, const uint8_t *key, size_t key_len,
	const uint8_t *nonce, size_t nonce_len, sealane_error *error);

void sealane_pieces_free(sealane_pieces *pieces);

/* Adds associated data, before the first data. */
int64_t sealane_pieces_aad(sealane_pieces *pieces, const uint8_t *aad, size_t aad_len, sealane_error *error);

/* Encrypts or decrypts the next data, to as many bytes. In place if `out` is `data`. */
int64_t sealane_pieces_update(sealane_pieces *pieces, const uint8_t *data, size_t data_len, uint8_t *out,
	size_t out_len, sealane_error *error);

/* Writes the tag of an encrypted message, 16 bytes. Afterwards, only free the handle. */
int64_t sealane_pieces_finalize(sealane_pieces *pieces, uint8_t *tag, size_t tag_len, sealane_error *error);

/* Compares the tag of a decrypted message. Afterwards, only free the handle. */
int64_t sealane_pieces_verify(sealane_pieces *pieces, const uint8_t *tag, size_t tag_len, sealane_error *error);

/* ---- Keys ------------------------------------------------------------------------------------------------------------ */

/*
 * Generates a key: "aes-128", "aes-192" or "aes-256" (symmetric, also for other ciphers),
 * "aes-256-siv" (for file names), "age" or "age-pq" (for files), "rsa-2048", "rsa-3072",
 * "rsa-4096", "secp256k1", "x25519", "p-256" or "x-wing" (for messages).
 */
sealane_secret *sealane_secret_generate(const char *kind, sealane_error *error);

/* Copies a symmetric key. */
sealane_secret *sealane_secret_from_bytes(const uint8_t *key, size_t key_len, sealane_error *error);

/* Parses the text of a key file: a JSON Web Key, PEM, AGE-SECRET-KEY-..., an OpenSSH key.
 * `passphrase` may be null. */
sealane_secret *sealane_secret_from_text(const char *text, const char *passphrase, sealane_error *error);

/* Loads a private or symmetric key from a file, also in DER or in an age file. `passphrase` may be
 * null. A key other than the one that this user knows there is SEALANE_AUTHENTICATION. */
sealane_secret *sealane_secret_load(const char *path, const char *passphrase, sealane_error *error);

void sealane_secret_free(sealane_secret *secret);

/* Writes the key to a file that only the owner can read, encrypted if `passphrase` is not null. An
 * existing file is refused unless `flags` is SEALANE_REPLACE. */
int64_t sealane_secret_save(const sealane_secret *secret, const char *path, const char *passphrase, uint32_t flags,
	sealane_error *error);

/* Writes the key's kind, as for sealane_secret_generate(), or an empty text if it has none. A text
 * output. */
int64_t sealane_secret_kind(const sealane_secret *secret, uint8_t *text, size_t text_len, sealane_error *error);

/*
 * Writes the key as the text of a key file, encrypted if `passphrase` is not null. A text output;
 * 8192 bytes are enough for every key from sealane_secret_generate(). Pass such a buffer from the
 * start: each call with a passphrase takes a second.
 */
int64_t sealane_secret_to_text(const sealane_secret *secret, const char *passphrase, uint8_t *text, size_t text_len,
	sealane_error *error);

/* Writes the public key: age1..., an SSH key or PEM, or an empty text for a symmetric key. A text
 * output; 8192 bytes are enough. */
int64_t sealane_secret_public(const sealane_secret *secret, uint8_t *text, size_t text_len, sealane_error *error);

/* Writes the bytes of a symmetric key. */
int64_t sealane_secret_bytes(const sealane_secret *secret, uint8_t *key, size_t key_len, sealane_error *error);

/*
 * Derives a key of `key_len` bytes from a passphrase with Argon2id (RFC 9106). The salt needs at
 * least 8 bytes, better 16 random ones. The RFC recommends 65536 KiB, 3 passes and 4 lanes where 2
 * GiB are too much.
 */
int64_t sealane_derive(const uint8_t *passphrase, size_t passphrase_len, const uint8_t *salt, size_t salt_len,
	uint32_t memory_kib, uint32_t passes, uint32_t lanes, uint8_t *key, size_t key_len, sealane_error *error);

/* ---- Messages for the holder of a private key ------------------------------------------------------------------------ */

/*
 * Seals a message for a public key in text form: HPKE for X25519, P-256 and X-Wing, RSA-OAEP, or
 * ECIES for secp256k1. `info` and `suite` are HPKE options that both sides need: empty and null, or
 * the description of the exchange and "aes-128-gcm", "aes-256-gcm" (the default) or
 * "chacha20-poly1305".
 *
 * *out becomes the message (free it with sealane_free()), or null after a failure. The result is
 * its length.
 */
int64_t sealane_hybrid_seal(const char *public_key, const uint8_t *data, size_t data_len, const uint8_t *aad,
	size_t aad_len, const uint8_t *info, size_t info_len, const char *suite, uint8_t **out, sealane_error *error);

/* Opens a message with the private key. *out becomes the plaintext, as in sealane_hybrid_seal(). */
int64_t sealane_hybrid_open(const sealane_secret *secret, const uint8_t *message, size_t message_len,
	const uint8_t *aad, size_t aad_len, const uint8_t *info, size_t info_len, const char *suite, uint8_t **out,
	sealane_error *error);

/* ---- Signatures ------------------------------------------------------------------------------------------------------ */

/* Starts a signature. `key` is the content of an OpenSSH Ed25519 or minisign private key. SSH signs
 * for `name_space` (null means "file"), minisign also signs `comment` (null means the time). */
sealane_signature *sealane_sign_new(const uint8_t *key, size_t key_len, const char *passphrase, const char *name_space,
	const char *comment, sealane_error *error);

/* Starts a verification. `signers` are public keys of SSH or minisign, or a file of allowed signers
 * of ssh-keygen. Keys in `revoked`, which may be empty, are refused. */
sealane_signature *sealane_verify_new(const uint8_t *signature, size_t signature_len, const uint8_t *signers,
	size_t signers_len, const char *name_space, const uint8_t *revoked, size_t revoked_len, sealane_error *error);

/* Takes the next piece of the message, of any length. */
int64_t sealane_signature_update(sealane_signature *signature, const uint8_t *data, size_t data_len,
	sealane_error *error);

/*
 * Ends the message. *out becomes the signature; or the signer, a line end and the trusted comment.
 * Free it with sealane_free(). The result is its length. A bad signature is SEALANE_AUTHENTICATION,
 * and the text says so if its key is revoked, expired or for another namespace. Content that is no
 * signature is SEALANE_FORMAT in sealane_verify_new().
 */
int64_t sealane_signature_finish(sealane_signature *signature, uint8_t **out, sealane_error *error);

void sealane_signature_free(sealane_signature *signature);

/* ---- Keys and formats of files --------------------------------------------------------------------------------------- */

/*
 * A symmetric key of 16 or 32 bytes. `format` is "chunked" (C2SP chunked-encryption@v1) or null for
 * it, "tink-4kb" or "tink-1mb". `context` is bound to the file but not stored; pass the same to
 * decrypt.
 */
sealane_encrypt_with *sealane_encrypt_with_key(const uint8_t *key, size_t key_len, const char *format,
	const uint8_t *context, size_t context_len, sealane_error *error);

/* A symmetric key held by the library. */
sealane_encrypt_with *sealane_encrypt_with_secret(const sealane_secret *secret, const char *format,
	const uint8_t *context, size_t context_len, sealane_error *error);

/* A Tink keyset in JSON for AES-GCM-HKDF streaming. */
sealane_encrypt_with *sealane_encrypt_with_keyset(const char *keyset, const uint8_t *context, size_t context_len,
	sealane_error *error);

/* Recipients of an age file, one per line: age1..., ssh-ed25519 ..., ssh-rsa .... `flags` is 0 or
 * SEALANE_ARMOR. */
sealane_encrypt_with *sealane_encrypt_with_recipients(const char *recipients, uint32_t flags, sealane_error *error);

/*
 * The passphrase of an age file. `work_factor` is the base-2 logarithm of scrypt's N, or 0 for 18:
 * about a second and 256 MiB per file. `flags` is 0 or SEALANE_ARMOR.
 */
sealane_encrypt_with *sealane_encrypt_with_passphrase(const char *passphrase, uint32_t work_factor, uint32_t flags,
	sealane_error *error);

void sealane_encrypt_with_free(sealane_encrypt_with *with);

/* The counterpart of sealane_encrypt_with_key(). */
sealane_decrypt_with *sealane_decrypt_with_key(const uint8_t *key, size_t key_len, const char *format,
	const uint8_t *context, size_t context_len, sealane_error *error);

/* A symmetric key or an age identity held by the library. An identity has neither format nor
 * context. */
sealane_decrypt_with *sealane_decrypt_with_secret(const sealane_secret *secret, const char *format,
	const uint8_t *context, size_t context_len, sealane_error *error);

/* The counterpart of sealane_encrypt_with_keyset(). */
sealane_decrypt_with *sealane_decrypt_with_keyset(const char *keyset, const uint8_t *context, size_t context_len,
	sealane_error *error);

/* Identities for age files: lines of AGE-SECRET-KEY-..., or one OpenSSH private key. Tried in
 * order. */
sealane_decrypt_with *sealane_decrypt_with_identities(const char *identities, sealane_error *error);

/*
 * The passphrase of age files. Files with a work factor above `max_work_factor` (0 means 20) are
 * refused.
 */
sealane_decrypt_with *sealane_decrypt_with_passphrase(const char *passphrase, uint32_t max_work_factor,
	sealane_error *error);

void sealane_decrypt_with_free(sealane_decrypt_with *with);

/* ---- Files ----------------------------------------------------------------------------------------------------------- */

/* Options for a file operation. Null means all zeros. */
typedef struct sealane_options {
	size_t size;      /* sizeof(sealane_options) */
	uint32_t threads; /* including the calling one; 0 means one per core, at most 8 */
	uint32_t flags;   /* 0 or SEALANE_SYNCED */
	/* Called on the calling thread with the bytes done and the total or SEALANE_UNKNOWN. A nonzero
	 * result cancels. May be null. */
	int32_t (*progress)(void *context, uint64_t done, uint64_t total);
	void *context; /* the first argument of progress */
} sealane_options;

/*
 * Encrypts the file `from` to the file `to`, which appears complete or not at all. Either may be a
 * pipe. `options` may be null.
 */
int64_t sealane_encrypt_file(const char *from, const char *to, const sealane_encrypt_with *with,
	const sealane_options *options, sealane_error *error);

/*
 * Decrypts the file `from` to the file `to`, which appears complete and verified or not at all.
 * `options` may be null.
 */
int64_t sealane_decrypt_file(const char *from, const char *to, const sealane_decrypt_with *with,
	const sealane_options *options, sealane_error *error);

/* Verifies every byte of an encrypted file. `options` may be null. */
int64_t sealane_verify_file(const char *from, const sealane_decrypt_with *with, const sealane_options *options,
	sealane_error *error);

/* Encrypts data to the bytes of a file. *out becomes the file (free it with sealane_free()), or
 * null after a failure. */
int64_t sealane_encrypt(const sealane_encrypt_with *with, const uint8_t *data, size_t data_len, uint8_t **out,
	sealane_error *error);

/* Decrypts the bytes of a file. *out becomes the plaintext (free it with sealane_free()), or null
 * after a failure. */
int64_t sealane_decrypt(const sealane_decrypt_with *with, const uint8_t *file, size_t file_len, uint8_t **out,
	sealane_error *error);

/* A source other than a file, such as an object store. */
typedef struct sealane_source {
	size_t size;     /* sizeof(sealane_source) */
	uint64_t length; /* of the encrypted file, in bytes */
	/* Reads up to `len` bytes from `offset` into `into`. Returns their number (0 only at the end), or
	 * -errno. Several library threads call it at once unless `flags` has SEALANE_CALLING_THREAD; with
	 * it, reads wait for each other, and a child of fork() must not use the reader if another thread
	 * was reading. It must neither throw an exception nor longjmp. */
	int64_t (*read_at)(void *context, uint64_t offset, uint8_t *into, size_t len);
	void *context;  /* the first argument of read_at; used until the reader is freed and its calls have ended */
	uint32_t flags; /* 0 or SEALANE_CALLING_THREAD */
} sealane_source;

/* Opens an encrypted file. Verifies the header and the last chunk, so the size is authentic. */
sealane_reader *sealane_reader_open(const char *path, const sealane_decrypt_with *with, sealane_error *error);

/* Opens an encrypted file in a caller's source. The structure is copied. */
sealane_reader *sealane_reader_over(const sealane_source *source, const sealane_decrypt_with *with,
	sealane_error *error);

/* Returns the plaintext length in bytes. */
int64_t sealane_reader_size(const sealane_reader *reader, sealane_error *error);

/*
 * Reads plaintext from byte `offset` on. Returns the number of bytes, smaller than `out_len` only
 * at the end. Everything is verified.
 */
int64_t sealane_reader_read_at(const sealane_reader *reader, uint64_t offset, uint8_t *out, size_t out_len,
	sealane_error *error);

void sealane_reader_free(sealane_reader *reader);

/* ---- Streams --------------------------------------------------------------------------------------------------------- */

/*
 * Starts encrypting a stream. Take the encrypted bytes out. An unfinished stream is truncated, and
 * decryption detects this.
 */
sealane_filter *sealane_encryptor_new(const sealane_encrypt_with *with, sealane_error *error);

/*
 * Starts decrypting a stream. All bytes taken out are verified, but only sealane_filter_finish()
 * verifies that none are missing at the end.
 */
sealane_filter *sealane_decryptor_new(const sealane_decrypt_with *with, sealane_error *error);

/* Processes a piece of any length, such as 64 KiB. Returns the number of bytes ready to take. */
int64_t sealane_filter_push(sealane_filter *filter, const uint8_t *data, size_t data_len, sealane_error *error);

/*
 * Takes output bytes in order. Returns their number, smaller than `out_len` if there are no more.
 */
int64_t sealane_filter_take(sealane_filter *filter, uint8_t *out, size_t out_len, sealane_error *error);

/*
 * Ends the stream. Returns the number of bytes ready to take. Afterwards, only take from the handle
 * and free it. After a failure there is nothing to take: if verified bytes are useful without the
 * end, take them before.
 */
int64_t sealane_filter_finish(sealane_filter *filter, sealane_error *error);

void sealane_filter_free(sealane_filter *filter);

/* Starts an encrypted file. It gets its name when finished; until then an existing file stays
 * unchanged. */
sealane_writer *sealane_writer_create(const char *path, const sealane_encrypt_with *with, sealane_error *error);

/* Encrypts a piece of the plaintext. */
int64_t sealane_writer_push(sealane_writer *writer, const uint8_t *data, size_t data_len, sealane_error *error);

/* Writes the rest and gives the file its name. `flags` is 0 or SEALANE_SYNCED. Afterwards, only
 * free the handle. */
int64_t sealane_writer_finish(sealane_writer *writer, uint32_t flags, sealane_error *error);

/* Frees a writer. If unfinished, nothing remains on disk. */
void sealane_writer_free(sealane_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
