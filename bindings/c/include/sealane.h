/*
 * sealane: authenticated encryption of messages, files and streams, and raw ciphers.
 *
 * Bytes are a pointer and a length. With a length of 0, the pointer may be null. Text ends with a zero and is UTF-8,
 * except paths, which have the bytes of the system. A `const char *` may be null only where its comment says so.
 *
 * Results. A function that can fail returns an int64_t: a number of bytes or 0, or one of the negative codes below. A
 * function that makes a handle returns a null pointer if it fails. The last argument is a structure of the caller,
 * which is written only after a failure; it may be null. There is no "last error" of a thread or of the process.
 *
 * Handles. A handle is freed once, by the function `..._free` of its type, which also accepts null. A handle that is
 * passed as `const` can be used by several threads at once, and after fork(). Any other handle is for one thread at a
 * time. Keys are copied into a handle, and wiped when it is freed.
 *
 * Outputs. `out` must have at least the length of the result; more is allowed and stays unchanged. The result may be
 * written where the data lies ("in place") as each function describes. Any other overlap of the output with an argument
 * is SEALANE_MISUSE, and nothing is written then. After SEALANE_AUTHENTICATION the place of the plaintext is zero. No
 * other thread may change the arguments during a call.
 *
 * Text outputs. If `text_len` is greater than the length of a text, the text and a zero are written. The result is the
 * length without the zero in any case, so a result that is not smaller than `text_len` asks for a longer buffer.
 *
 * Functions whose names begin with `sealane_hazmat_` make handles that are dangerous in the hands of a caller who does
 * not know the algorithm; their comments name the danger.
 */
#ifndef SEALANE_H
#define SEALANE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. Compare it with sealane_abi() if the library is loaded at run time. */
#define SEALANE_ABI 0

/* Codes of errors. A code is never used again for something else. */
#define SEALANE_AUTHENTICATION (-1)       /* wrong key, nonce or associated data, or data that was changed */
#define SEALANE_FORMAT (-2)               /* the input is not in the expected format */
#define SEALANE_TRUNCATED (-3)            /* the input ends too early */
#define SEALANE_UNSUPPORTED_VERSION (-4)  /* the version of the format is not supported */
#define SEALANE_NO_MATCHING_KEY (-5)      /* none of the given keys opens the data, or the passphrase is wrong */
#define SEALANE_PROVIDER_UNAVAILABLE (-6) /* the provider cannot compute the algorithm on this machine */
#define SEALANE_LIMIT_EXCEEDED (-7)       /* a limit of the algorithm, the format or the machine */
#define SEALANE_MISUSE (-8)               /* a mistake in the call, for example a key of the wrong length */
#define SEALANE_IO (-9)                   /* an error of the operating system, see os_code */
#define SEALANE_CANCELLED (-10)           /* the progress callback cancelled the operation */
#define SEALANE_INTERNAL (-11)            /* a bug in sealane */
#define SEALANE_OUT_OF_MEMORY (-12)       /* the system does not have the memory for a buffer */

/* Flags. A call that does not have a flag refuses it. */
#define SEALANE_ARMOR 1          /* an age file is written as text, with ASCII armor */
#define SEALANE_SYNCED 2         /* the call waits until the disk has the bytes */
#define SEALANE_REPLACE 4        /* a file that exists is replaced */
#define SEALANE_CALLING_THREAD 8 /* a source is read only by the thread that calls the library, one read at a time */

/* The total of a progress report that is not known, for example of a pipe. */
#define SEALANE_UNKNOWN UINT64_MAX

/* The description of a failure. */
typedef struct sealane_error {
	int32_t code;      /* one of the codes above */
	int32_t os_code;   /* errno, or 0 */
	uint8_t text[248]; /* UTF-8 with a zero at its end; a long text is cut */
} sealane_error;

typedef struct sealane_aead sealane_aead;                 /* an algorithm with a key */
typedef struct sealane_stream sealane_stream;             /* a keystream that can be used at any offset */
typedef struct sealane_poly1305 sealane_poly1305;         /* a tag that is being computed */
typedef struct sealane_speck sealane_speck;               /* a key of a block cipher */
typedef struct sealane_pieces sealane_pieces;             /* one message that is processed in pieces */
typedef struct sealane_secret sealane_secret;             /* a private or symmetric key */
typedef struct sealane_encrypt_with sealane_encrypt_with; /* the keys and the format of files to encrypt */
typedef struct sealane_decrypt_with sealane_decrypt_with; /* the keys and the format of files to decrypt */
typedef struct sealane_reader sealane_reader;             /* an encrypted file that is read at any offset */
typedef struct sealane_filter sealane_filter;             /* a stream: bytes are pushed in and taken out */
typedef struct sealane_writer sealane_writer;             /* an encrypted file that is written in pieces */

/* ---- The library ----------------------------------------------------------------------------------------------------- */

/* Returns the SEALANE_ABI of the library that is loaded. */
uint32_t sealane_abi(void);

/* Returns the version of the library, for example "0.1.0". It is static. */
const char *sealane_version(void);

/* Returns the number of handles and results that were not freed, for tests of leaks. */
int64_t sealane_live_handles(void);

/*
 * Lists the algorithms of sealane_aead_new(), one on a line. A line has six fields, separated by tabs: name, lengths of
 * a key, a nonce and a tag in bytes, maximum lengths of plaintext and of associated data. A text
 * output.
 */
int64_t sealane_algorithms(uint8_t *text, size_t text_len, sealane_error *error);

/*
 * Lists the implementations, one on a line of six fields: algorithm, provider, variant, whether it is available (0 or
 * 1), whether it is chosen by default, and the reason if it is not available. A text output.
 */
int64_t sealane_providers(uint8_t *text, size_t text_len, sealane_error *error);

/*
 * Sets the provider of this process, or none with null, for calls that name none. It can be set once. A library does
 * not call it.
 */
int64_t sealane_set_default_provider(const char *provider, sealane_error *error);

/* Fills `out` with random bytes of the operating system, which are secure enough for keys. */
int64_t sealane_random(uint8_t *out, size_t out_len, sealane_error *error);

/* Overwrites bytes with zeros, which the compiler may not leave out. */
void sealane_wipe(uint8_t *bytes, size_t bytes_len);

/* Wipes and frees a result that a call gave through `uint8_t **out`. Null is allowed. */
void sealane_free(uint8_t *bytes);

/* ---- Messages -------------------------------------------------------------------------------------------------------- */

/*
 * Expands a key. The algorithm is for example "aes-256-gcm", "chacha20-poly1305" or "aegis-256"; sealane_algorithms()
 * lists them with the length of a key. `provider` is null for the fastest implementation on this machine.
 */
sealane_aead *sealane_aead_new(const char *algorithm, const uint8_t *key, size_t key_len, const char *provider,
	sealane_error *error);

/* Expands a symmetric key that the library holds. */
sealane_aead *sealane_aead_new_with_secret(const char *algorithm, const sealane_secret *secret, const char *provider,
	sealane_error *error);

/*
 * Expands a key of Speck-Poly1305, the AEAD of the library SpeckEx: "speck128-128-poly1305", "speck128-192-poly1305" or
 * "speck128-256-poly1305". Prefer AES or ChaCha20: no analysis of this construction is published. Never use the key
 * with sealane_hazmat_stream_new(), whose keystream contains the keys of the tags.
 */
sealane_aead *sealane_hazmat_aead_new(const char *algorithm, const uint8_t *key, size_t key_len, sealane_error *error);

/*
 * The same with nonces of a whole block, 16 bytes, as SpeckEx's low-level functions take them. The caller keeps the
 * counters of messages apart: a message takes a counter for each block, and two more. sealane_aead_seal() is refused.
 */
sealane_aead *sealane_hazmat_aead_new_block_nonce(const char *algorithm, const uint8_t *key, size_t key_len,
	sealane_error *error);

/*
 * The same for blocks of 32 to 96 bits, for example "speck64-128-poly1305". Only for existing messages. The nonce is a
 * whole block, which must be counted so that messages do not overlap; sealane_aead_seal() is refused.
 */
sealane_aead *sealane_hazmat_aead_new_small_block(const char *algorithm, const uint8_t *key, size_t key_len,
	sealane_error *error);

void sealane_aead_free(sealane_aead *aead);

/* Facts about a key of an AEAD. */
typedef struct sealane_aead_description {
	size_t size;                /* sizeof(sealane_aead_description), set by the caller */
	size_t nonce_len;           /* bytes */
	size_t tag_len;             /* bytes */
	uint64_t max_plaintext_len; /* bytes */
	uint8_t algorithm[32];      /* text, for example "aes-256-gcm" */
	uint8_t provider[32];       /* text, for example "native" */
	uint8_t variant[32];        /* text: the code for an instruction set, for example "vaes512" */
} sealane_aead_description;

/* Describes a key. The caller sets description->size before the call. */
int64_t sealane_aead_describe(const sealane_aead *aead, sealane_aead_description *description, sealane_error *error);

/*
 * Seals a message under a fresh random nonce: `nonce || ciphertext || tag`, nonce_len + tag_len bytes longer than
 * `data`. The associated data `aad` is authenticated and not part of the result. In place if `data` is `out +
 * nonce_len`.
 */
int64_t sealane_aead_seal(const sealane_aead *aead, const uint8_t *data, size_t data_len, const uint8_t *aad,
	size_t aad_len, uint8_t *out, size_t out_len, sealane_error *error);

/* Opens a sealed message. In place if `out` is `sealed + nonce_len`. */
int64_t sealane_aead_open(const sealane_aead *aead, const uint8_t *sealed, size_t sealed_len, const uint8_t *aad,
	size_t aad_len, uint8_t *out, size_t out_len, sealane_error *error);

/*
 * Seals `count` messages, which lie one after the other in `data` and have the lengths `lens`, as sealane_aead_seal()
 * does, each under a nonce of its own and with the same associated data. The sealed messages lie one after the other in
 * `out`, each nonce_len + tag_len bytes longer than its message. `out` may not overlap an argument. Large batches use
 * several cores. Not for Speck-Poly1305.
 */
int64_t sealane_aead_seal_many(const sealane_aead *aead, const uint8_t *data, size_t data_len, const uint64_t *lens,
	size_t count, const uint8_t *aad, size_t aad_len, uint8_t *out, size_t out_len, sealane_error *error);

/*
 * Opens `count` sealed messages, which lie one after the other in `sealed` and have the lengths `lens`. If one of them is
 * not authentic, the result is SEALANE_AUTHENTICATION, the text of the error has the index of the first one, and `out`
 * has no plaintext. `verdicts` is null, or gets one byte for each message: 1 if it is authentic, 0 if not. They are
 * written with these two results only, and may not overlap an argument.
 */
int64_t sealane_aead_open_many(const sealane_aead *aead, const uint8_t *sealed, size_t sealed_len,
	const uint64_t *lens, size_t count, const uint8_t *aad, size_t aad_len, uint8_t *out, size_t out_len,
	uint8_t *verdicts, sealane_error *error);

/*
 * Encrypts under a nonce of the caller, which must never be used twice with one key: `ciphertext || tag`. In place if
 * `out` is `data`.
 */
int64_t sealane_aead_encrypt(const sealane_aead *aead, const uint8_t *nonce, size_t nonce_len, const uint8_t *data,
	size_t data_len, const uint8_t *aad, size_t aad_len, uint8_t *out, size_t out_len, sealane_error *error);

/* Decrypts `ciphertext || tag`. In place if `out` is `data`. */
int64_t sealane_aead_decrypt(const sealane_aead *aead, const uint8_t *nonce, size_t nonce_len, const uint8_t *data,
	size_t data_len, const uint8_t *aad, size_t aad_len, uint8_t *out, size_t out_len, sealane_error *error);

/* ---- Raw parts ------------------------------------------------------------------------------------------------------- */

/*
 * Makes a keystream: "aes-ctr" (key of 16, 24 or 32 bytes, IV of 16), "chacha20" (32, 12), "xchacha20" (32, 24), or
 * Speck in counter mode, for example "speck128-256" (32, 16). `counter` is the first block of ChaCha20 and XChaCha20,
 * and 0 for the others. `byte_order` is null, or "big" or "little" for Speck.
 *
 * A keystream does not detect changes: a changed bit of the ciphertext changes the same bit of the plaintext. Two texts
 * under one part of a keystream reveal each other.
 */
sealane_stream *sealane_hazmat_stream_new(const char *cipher, const uint8_t *key, size_t key_len, const uint8_t *iv,
	size_t iv_len, uint32_t counter, const char *byte_order, sealane_error *error);

void sealane_stream_free(sealane_stream *stream);

/* Writes `data` XOR the keystream from byte `offset` on, which encrypts and decrypts. In place if `out` is `data`. */
int64_t sealane_stream_xor_at(const sealane_stream *stream, uint64_t offset, const uint8_t *data, size_t data_len,
	uint8_t *out, size_t out_len, sealane_error *error);

/*
 * Does the same with another IV of 16 bytes. For "aes-ctr", so that one handle serves many keystreams of a key. The IV is
 * the first counter block, and each 16 bytes advance it by one, so IVs that are close to each other have keystreams that
 * overlap: number the keystreams in the first 8 bytes.
 */
int64_t sealane_stream_xor_under(const sealane_stream *stream, const uint8_t *iv, size_t iv_len, uint64_t offset,
	const uint8_t *data, size_t data_len, uint8_t *out, size_t out_len, sealane_error *error);

/*
 * Starts a tag of Poly1305. The key of 32 bytes is for one message: two tags under one key are enough to forge a third.
 */
sealane_poly1305 *sealane_hazmat_poly1305_new(const uint8_t *key, size_t key_len, sealane_error *error);

/*
 * Starts a tag with the one-time key that ChaCha20 makes from a key of 32 bytes and a nonce of 12 (RFC 8439, section
 * 2.6).
 */
sealane_poly1305 *sealane_hazmat_poly1305_new_from_chacha20(const uint8_t *key, size_t key_len, const uint8_t *nonce,
	size_t nonce_len, sealane_error *error);

void sealane_poly1305_free(sealane_poly1305 *poly1305);

/* Adds data to the message. */
int64_t sealane_poly1305_update(sealane_poly1305 *poly1305, const uint8_t *data, size_t data_len, sealane_error *error);

/* Writes the tag, 16 bytes. Then the handle can only be freed. In a forked child this is SEALANE_MISUSE. */
int64_t sealane_poly1305_finalize(sealane_poly1305 *poly1305, uint8_t *tag, size_t tag_len, sealane_error *error);

/* Compares the tag with `tag` in constant time. Then the handle can only be freed. */
int64_t sealane_poly1305_verify(sealane_poly1305 *poly1305, const uint8_t *tag, size_t tag_len, sealane_error *error);

/*
 * Expands a key of the block cipher Speck, for example "speck128-256". `byte_order` is null or "big" for the order of
 * the paper, or "little" for that of the NSA guide. Equal blocks give equal results, so this is no way to encrypt data.
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
 * Starts a message that is encrypted in pieces: AES-GCM, "chacha20-poly1305" or "xchacha20-poly1305". The nonce must
 * never be used twice with one key. Associated data comes first, then data, then sealane_pieces_finalize(). In a forked
 * child, calls are SEALANE_MISUSE.
 */
sealane_pieces *sealane_hazmat_encryptor_new(const char *algorithm, const uint8_t *key, size_t key_len,
	const uint8_t *nonce, size_t nonce_len, sealane_error *error);

/*
 * Starts a message that is decrypted in pieces. Its plaintext is not verified until sealane_pieces_verify() returns 0:
 * an attacker may have chosen it. Discard all of it otherwise.
 */
sealane_pieces *sealane_hazmat_decryptor_new(const char *algorithm, const uint8_t *key, size_t key_len,
	const uint8_t *nonce, size_t nonce_len, sealane_error *error);

void sealane_pieces_free(sealane_pieces *pieces);

/* Adds associated data, before the first data. */
int64_t sealane_pieces_aad(sealane_pieces *pieces, const uint8_t *aad, size_t aad_len, sealane_error *error);

/* Encrypts or decrypts the next data, to as many bytes. In place if `out` is `data`. */
int64_t sealane_pieces_update(sealane_pieces *pieces, const uint8_t *data, size_t data_len, uint8_t *out,
	size_t out_len, sealane_error *error);

/* Writes the tag of an encrypted message, 16 bytes. Then the handle can only be freed. */
int64_t sealane_pieces_finalize(sealane_pieces *pieces, uint8_t *tag, size_t tag_len, sealane_error *error);

/* Compares the tag of a decrypted message. Then the handle can only be freed. */
int64_t sealane_pieces_verify(sealane_pieces *pieces, const uint8_t *tag, size_t tag_len, sealane_error *error);

/* ---- Keys ------------------------------------------------------------------------------------------------------------ */

/*
 * Generates a key: "aes-128", "aes-192" or "aes-256" (symmetric, also for other ciphers), "aes-256-siv" (for names of
 * files), "age" or "age-pq" (for files), "rsa-2048", "rsa-3072", "rsa-4096", "secp256k1", "x25519", "p-256" or "x-wing"
 * (for messages).
 */
sealane_secret *sealane_secret_generate(const char *kind, sealane_error *error);

/* Copies a symmetric key. */
sealane_secret *sealane_secret_from_bytes(const uint8_t *key, size_t key_len, sealane_error *error);

/* Parses the text of a key file: a JSON Web Key, PEM, AGE-SECRET-KEY-..., an OpenSSH key. `passphrase` may be null. */
sealane_secret *sealane_secret_from_text(const char *text, const char *passphrase, sealane_error *error);

/* Loads a private or symmetric key from a file, also in DER or in an age file. `passphrase` may be null. */
sealane_secret *sealane_secret_load(const char *path, const char *passphrase, sealane_error *error);

void sealane_secret_free(sealane_secret *secret);

/*
 * Writes the key to a file that only its owner can read, encrypted if `passphrase` is not null. A file that exists is
 * refused unless `flags` is SEALANE_REPLACE.
 */
int64_t sealane_secret_save(const sealane_secret *secret, const char *path, const char *passphrase, uint32_t flags,
	sealane_error *error);

/* Writes the kind of the key, as sealane_secret_generate() takes it, or an empty text if it has none. A text output. */
int64_t sealane_secret_kind(const sealane_secret *secret, uint8_t *text, size_t text_len, sealane_error *error);

/*
 * Writes the key as the text of a key file, encrypted if `passphrase` is not null. A text output; 8192 bytes are enough
 * for every key that sealane_secret_generate() makes. Give such a buffer at once: each call with a passphrase takes a
 * second.
 */
int64_t sealane_secret_to_text(const sealane_secret *secret, const char *passphrase, uint8_t *text, size_t text_len,
	sealane_error *error);

/*
 * Writes the public key: age1..., an SSH key or PEM, or an empty text for a symmetric key. A text output; 8192 bytes
 * are enough.
 */
int64_t sealane_secret_public(const sealane_secret *secret, uint8_t *text, size_t text_len, sealane_error *error);

/* Writes the bytes of a symmetric key. */
int64_t sealane_secret_bytes(const sealane_secret *secret, uint8_t *key, size_t key_len, sealane_error *error);

/*
 * Derives a key of `key_len` bytes from a passphrase with Argon2id (RFC 9106). The salt has at least 8 bytes, better 16
 * random ones. 65536 KiB, 3 passes and 4 lanes are the recommendation of the RFC where 2 GiB are too much.
 */
int64_t sealane_derive(const uint8_t *passphrase, size_t passphrase_len, const uint8_t *salt, size_t salt_len,
	uint32_t memory_kib, uint32_t passes, uint32_t lanes, uint8_t *key, size_t key_len, sealane_error *error);

/* ---- Messages for the holder of a private key ------------------------------------------------------------------------ */

/*
 * Seals a message for a public key in text form: HPKE for X25519, P-256 and X-Wing, RSA-OAEP, or ECIES for secp256k1.
 * `info` and `suite` are options of HPKE, which both sides need: no bytes and null, or the description of the exchange
 * and "aes-128-gcm", "aes-256-gcm" (the default) or "chacha20-poly1305".
 *
 * *out becomes the message, which sealane_free() frees, or null after a failure. The result is its length.
 */
int64_t sealane_hybrid_seal(const char *public_key, const uint8_t *data, size_t data_len, const uint8_t *aad,
	size_t aad_len, const uint8_t *info, size_t info_len, const char *suite, uint8_t **out, sealane_error *error);

/* Opens a message with the private key. *out becomes the plaintext, as in sealane_hybrid_seal(). */
int64_t sealane_hybrid_open(const sealane_secret *secret, const uint8_t *message, size_t message_len,
	const uint8_t *aad, size_t aad_len, const uint8_t *info, size_t info_len, const char *suite, uint8_t **out,
	sealane_error *error);

/* ---- Keys and formats of files --------------------------------------------------------------------------------------- */

/*
 * A symmetric key of 16 or 32 bytes. `format` is "chunked" (C2SP chunked-encryption@v1) or null for it, "tink-4kb" or
 * "tink-1mb". Decryption needs the same `context`, which is not stored.
 */
sealane_encrypt_with *sealane_encrypt_with_key(const uint8_t *key, size_t key_len, const char *format,
	const uint8_t *context, size_t context_len, sealane_error *error);

/* A symmetric key that the library holds. */
sealane_encrypt_with *sealane_encrypt_with_secret(const sealane_secret *secret, const char *format,
	const uint8_t *context, size_t context_len, sealane_error *error);

/* A Tink keyset in JSON for AES-GCM-HKDF streaming. */
sealane_encrypt_with *sealane_encrypt_with_keyset(const char *keyset, const uint8_t *context, size_t context_len,
	sealane_error *error);

/* Recipients of an age file, one on a line: age1..., ssh-ed25519 ..., ssh-rsa .... `flags` is 0 or SEALANE_ARMOR. */
sealane_encrypt_with *sealane_encrypt_with_recipients(const char *recipients, uint32_t flags, sealane_error *error);

/*
 * The passphrase of an age file. `work_factor` is the base-2 logarithm of scrypt's N, or 0 for 18: about a second and
 * 256 MiB for each file. `flags` is 0 or SEALANE_ARMOR.
 */
sealane_encrypt_with *sealane_encrypt_with_passphrase(const char *passphrase, uint32_t work_factor, uint32_t flags,
	sealane_error *error);

void sealane_encrypt_with_free(sealane_encrypt_with *with);

/* The counterpart of sealane_encrypt_with_key(). */
sealane_decrypt_with *sealane_decrypt_with_key(const uint8_t *key, size_t key_len, const char *format,
	const uint8_t *context, size_t context_len, sealane_error *error);

/* A symmetric key or an age identity that the library holds. An identity has neither format nor context. */
sealane_decrypt_with *sealane_decrypt_with_secret(const sealane_secret *secret, const char *format,
	const uint8_t *context, size_t context_len, sealane_error *error);

/* The counterpart of sealane_encrypt_with_keyset(). */
sealane_decrypt_with *sealane_decrypt_with_keyset(const char *keyset, const uint8_t *context, size_t context_len,
	sealane_error *error);

/* Identities for age files: lines of AGE-SECRET-KEY-..., or one OpenSSH private key. They are tried in order. */
sealane_decrypt_with *sealane_decrypt_with_identities(const char *identities, sealane_error *error);

/*
 * The passphrase of age files. A file with a work factor above `max_work_factor`, or above 20 if it is 0, is refused.
 */
sealane_decrypt_with *sealane_decrypt_with_passphrase(const char *passphrase, uint32_t max_work_factor,
	sealane_error *error);

void sealane_decrypt_with_free(sealane_decrypt_with *with);

/* ---- Files ----------------------------------------------------------------------------------------------------------- */

/* Options of a file operation. A null pointer stands for zeros. */
typedef struct sealane_options {
	size_t size;      /* sizeof(sealane_options) */
	uint32_t threads; /* the calling one included; 0 for one per core, at most 8 */
	uint32_t flags;   /* 0 or SEALANE_SYNCED */
	/* Called in the calling thread with the number of bytes done and the total or SEALANE_UNKNOWN. A result other than
	 * 0 cancels. May be null. */
	int32_t (*progress)(void *context, uint64_t done, uint64_t total);
	void *context; /* the first argument of progress */
} sealane_options;

/*
 * Encrypts the file `from` to the file `to`, which appears complete or not at all. Either side may be a pipe. `options`
 * may be null.
 */
int64_t sealane_encrypt_file(const char *from, const char *to, const sealane_encrypt_with *with,
	const sealane_options *options, sealane_error *error);

/*
 * Decrypts the file `from` to the file `to`, which appears complete and verified or not at all. `options` may be null.
 */
int64_t sealane_decrypt_file(const char *from, const char *to, const sealane_decrypt_with *with,
	const sealane_options *options, sealane_error *error);

/* Verifies every byte of an encrypted file. `options` may be null. */
int64_t sealane_verify_file(const char *from, const sealane_decrypt_with *with, const sealane_options *options,
	sealane_error *error);

/* Encrypts data to the bytes of a file. *out becomes the file, which sealane_free() frees, or null after a failure. */
int64_t sealane_encrypt(const sealane_encrypt_with *with, const uint8_t *data, size_t data_len, uint8_t **out,
	sealane_error *error);

/* Decrypts the bytes of a file. *out becomes the plaintext, which sealane_free() frees, or null after a failure. */
int64_t sealane_decrypt(const sealane_decrypt_with *with, const uint8_t *file, size_t file_len, uint8_t **out,
	sealane_error *error);

/* A source that is not a file, for example an object store. */
typedef struct sealane_source {
	size_t size;     /* sizeof(sealane_source) */
	uint64_t length; /* of the encrypted file, in bytes */
	/* Reads up to `len` bytes from `offset` into `into`. Returns their number, which is 0 only at the end, or -errno.
	 * Several threads of the library call it at once, unless `flags` has SEALANE_CALLING_THREAD; then reads wait for
	 * each other, and a child of fork() must not use the reader if another thread was reading. It must neither throw an
	 * exception nor longjmp. */
	int64_t (*read_at)(void *context, uint64_t offset, uint8_t *into, size_t len);
	void *context;  /* the first argument of read_at; it is used until the reader is freed */
	uint32_t flags; /* 0 or SEALANE_CALLING_THREAD */
} sealane_source;

/* Opens an encrypted file. The header and the last chunk are verified, so the size is authentic. */
sealane_reader *sealane_reader_open(const char *path, const sealane_decrypt_with *with, sealane_error *error);

/* Opens an encrypted file in a source of the caller. The structure is copied. */
sealane_reader *sealane_reader_over(const sealane_source *source, const sealane_decrypt_with *with,
	sealane_error *error);

/* Returns the number of bytes of the plaintext. */
int64_t sealane_reader_size(const sealane_reader *reader, sealane_error *error);

/*
 * Reads plaintext from byte `offset` on. Returns the number of bytes, which is smaller than `out_len` only at the end.
 * All of it is verified.
 */
int64_t sealane_reader_read_at(const sealane_reader *reader, uint64_t offset, uint8_t *out, size_t out_len,
	sealane_error *error);

void sealane_reader_free(sealane_reader *reader);

/* ---- Streams --------------------------------------------------------------------------------------------------------- */

/*
 * Starts to encrypt a stream. The encrypted bytes are taken out; a stream that is not finished is truncated, which is
 * detected.
 */
sealane_filter *sealane_encryptor_new(const sealane_encrypt_with *with, sealane_error *error);

/*
 * Starts to decrypt a stream. All bytes that are taken out are verified, but only sealane_filter_finish() verifies that
 * none are missing at the end.
 */
sealane_filter *sealane_decryptor_new(const sealane_decrypt_with *with, sealane_error *error);

/* Processes a piece of any length, for example of 64 KiB. Returns the number of bytes that can be taken. */
int64_t sealane_filter_push(sealane_filter *filter, const uint8_t *data, size_t data_len, sealane_error *error);

/*
 * Takes bytes that came out of the stream, in order. Returns their number, which is smaller than `out_len` if there are
 * no more.
 */
int64_t sealane_filter_take(sealane_filter *filter, uint8_t *out, size_t out_len, sealane_error *error);

/*
 * Ends the stream. Returns the number of bytes that can be taken. Then the handle can only be taken from and freed. After a
 * failure there is nothing to take: take verified bytes before, if they are of use without the end.
 */
int64_t sealane_filter_finish(sealane_filter *filter, sealane_error *error);

void sealane_filter_free(sealane_filter *filter);

/* Starts an encrypted file, which gets its name when it is finished. A file that exists stays unchanged until then. */
sealane_writer *sealane_writer_create(const char *path, const sealane_encrypt_with *with, sealane_error *error);

/* Encrypts a piece of the plaintext. */
int64_t sealane_writer_push(sealane_writer *writer, const uint8_t *data, size_t data_len, sealane_error *error);

/* Writes the rest and gives the file its name. `flags` is 0 or SEALANE_SYNCED. Then the handle can only be freed. */
int64_t sealane_writer_finish(sealane_writer *writer, uint32_t flags, sealane_error *error);

/* Frees a writer. If it is not finished, nothing remains on disk. */
void sealane_writer_free(sealane_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
