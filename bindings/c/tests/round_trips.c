/* Everything that is encrypted is decrypted again: keys of all kinds, files with options, callbacks, streams. */
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEN 3000000
static uint8_t data[LEN], out[LEN + 100];
static char folder[] = "/tmp/sealane-c-XXXXXX";

static const char *path(const char *name) {
	static char paths[8][100];
	static int next;
	char *found = paths[next++ % 8];
	snprintf(found, sizeof paths[0], "%s/%s", folder, name);
	return found;
}

static void store(const char *to, const uint8_t *bytes, size_t len) {
	FILE *f = fopen(to, "wb");
	CHECK(f && fwrite(bytes, 1, len, f) == len && fclose(f) == 0);
}

static void same_file(const char *name, const uint8_t *bytes, size_t len) {
	static uint8_t found[LEN + 1];
	FILE *f = fopen(name, "rb");
	CHECK(f && fread(found, 1, sizeof found, f) == len && !memcmp(found, bytes, len));
	fclose(f);
}

static void algorithms(void) {
	char text[4096], *rest = NULL;
	CHECK(sealane_algorithms((uint8_t *)text, sizeof text, E) < (int64_t)sizeof text);
	int count = 0;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), count++) {
		char name[40];
		unsigned key_len, nonce_len, tag_len;
		CHECK(sscanf(line, "%39[^\t]\t%u\t%u\t%u", name, &key_len, &nonce_len, &tag_len) == 4);
		uint8_t key[32], back[300];
		CHECK(sealane_random(key, key_len, E) == key_len);
		sealane_secret *secret = sealane_secret_from_bytes(key, key_len, E);
		sealane_aead *a = sealane_aead_new(name, key, key_len, NULL, E), *b = sealane_aead_new_with_secret(name,
			secret, "", NULL);
		CHECK(a && !b);
		b = sealane_aead_new_with_secret(name, secret, NULL, E);
		for (size_t len = 0; len < 200; len += 13) {
			int64_t n = sealane_aead_seal(a, data, len, data, 200 - len, out, sizeof out, E);
			CHECK(n == (int64_t)(nonce_len + len + tag_len));
			CHECK(sealane_aead_open(b, out, (size_t)n, data, 200 - len, back, sizeof back, E) == (int64_t)len);
			CHECK(!memcmp(back, data, len));
		}
		sealane_aead_free(a), sealane_aead_free(b), sealane_secret_free(secret);
	}
	CHECK(count >= 14);
}

static void keys(void) {
	static const char *kinds[] = {"aes-128", "aes-192", "aes-256", "age", "age-pq", "rsa-2048", "secp256k1", "x25519",
		"p-256", "x-wing"};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		char text[8192], again[8192], public[8192], kind[20];
		sealane_secret *secret = sealane_secret_generate(kinds[i], E);
		CHECK(secret);
		CHECK(sealane_secret_kind(secret, (uint8_t *)kind, sizeof kind, E) > 0 && !strcmp(kind, kinds[i]));
		int64_t len = sealane_secret_to_text(secret, NULL, (uint8_t *)text, sizeof text, E);
		CHECK(len > 0 && len < (int64_t)sizeof text && strlen(text) == (size_t)len);
		CHECK(sealane_secret_to_text(secret, NULL, NULL, 0, E) == len);
		sealane_secret *parsed = sealane_secret_from_text(text, NULL, E);
		CHECK(sealane_secret_to_text(parsed, NULL, (uint8_t *)again, sizeof again, E) == len && !strcmp(text, again));
		sealane_secret_free(parsed);
		const char *file = path(kinds[i]);
		CHECK(sealane_secret_save(secret, file, NULL, 0, E) == 0);
		FAILS(SEALANE_IO, sealane_secret_save(secret, file, NULL, 0, E));
		CHECK(failure.os_code == EEXIST || failure.os_code == 0);
		CHECK(sealane_secret_save(secret, file, NULL, SEALANE_REPLACE, E) == 0);
		struct stat found;
		CHECK(stat(file, &found) == 0 && (found.st_mode & 0777) == 0600);
		sealane_secret *loaded = sealane_secret_load(file, NULL, E);
		CHECK(sealane_secret_to_text(loaded, NULL, (uint8_t *)again, sizeof again, E) == len && !strcmp(text, again));
		sealane_secret_free(loaded);
		CHECK(sealane_secret_public(secret, (uint8_t *)public, sizeof public, E) < (int64_t)sizeof public);
		CHECK((i < 3) == (public[0] == 0));
		if (i < 3) {
			uint8_t key[32];
			CHECK(sealane_secret_bytes(secret, key, sizeof key, E) == (int64_t)(16 + 8 * i));
			sealane_secret *copy = sealane_secret_from_bytes(key, 16 + 8 * i, E);
			CHECK(sealane_secret_bytes(copy, out, 32, E) > 0 && !memcmp(out, key, 16 + 8 * i));
			sealane_secret_free(copy);
		} else if (i > 4) { /* keys for messages */
			uint8_t *message = NULL, *plain = NULL;
			size_t info = i > 6 ? 4 : 0; /* HPKE only */
			const char *suite = i > 6 ? "chacha20-poly1305" : NULL;
			len = sealane_hybrid_seal(public, data, 1000, data, 7, data, info, suite, &message, E);
			CHECK(len > 1000);
			CHECK(sealane_hybrid_open(secret, message, (size_t)len, data, 7, data, info, suite, &plain, E) == 1000);
			CHECK(!memcmp(plain, data, 1000));
			sealane_free(plain), sealane_free(message);
			CHECK(sealane_hybrid_seal(public, NULL, 0, NULL, 0, NULL, 0, NULL, &message, E) > 0);
			sealane_free(message);
			if (!suite) FAILS(SEALANE_MISUSE, sealane_hybrid_seal(public, data, 5, NULL, 0, data, 1, NULL, &message,
				E));
		}
		sealane_secret_free(secret);
	}
	/* A passphrase: PKCS#8 with scrypt, which takes a moment. */
	sealane_secret *secret = sealane_secret_generate("x25519", E);
	char text[8192];
	CHECK(sealane_secret_to_text(secret, "right", (uint8_t *)text, sizeof text, E) > 0);
	MAKES_NOTHING(SEALANE_MISUSE, sealane_secret_from_text(text, NULL, E));
	sealane_secret *opened = sealane_secret_from_text(text, "right", E);
	CHECK(opened);
	CHECK(!sealane_secret_from_text(text, "wrong", E) && failure.code == SEALANE_NO_MATCHING_KEY);
	sealane_secret_free(opened), sealane_secret_free(secret);
	/* Argon2id, from the tests of its reference implementation. */
	uint8_t key[32], expected[32];
	from_hex(expected, 32, "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7");
	CHECK(sealane_derive((const uint8_t *)"password", 8, (const uint8_t *)"somesalt", 8, 65536, 2, 1, key, 32,
		E) == 32);
	CHECK(!memcmp(key, expected, 32));
}

static uint64_t last_done, last_total;
static int reports;
static int32_t report(void *context, uint64_t done, uint64_t total) {
	last_done = done, last_total = total, reports++;
	return *(int32_t *)context;
}

struct pair {
	const char *name;
	sealane_encrypt_with *encrypt;
	sealane_decrypt_with *decrypt;
};

/* Files, memory, streams, writers and readers with one pair of keys. */
static void everything(struct pair *with) {
	CHECK(with->encrypt && with->decrypt);
	const char *from = path("plain"), *sealed = path("sealed"), *back = path("back");
	store(from, data, LEN);
	int32_t answer = 0;
	sealane_options options = {.size = sizeof options, .threads = 2, .progress = report, .context = &answer};
	reports = 0;
	CHECK(sealane_encrypt_file(from, sealed, with->encrypt, &options, E) == 0);
	CHECK(reports > 0 && last_done == LEN && last_total == LEN);
	CHECK(sealane_verify_file(sealed, with->decrypt, &options, E) == 0);
	options.flags = SEALANE_SYNCED;
	CHECK(sealane_decrypt_file(sealed, back, with->decrypt, &options, E) == 0);
	same_file(back, data, LEN);
	unlink(back);
	answer = 1;
	FAILS(SEALANE_CANCELLED, sealane_decrypt_file(sealed, back, with->decrypt, &options, E));
	CHECK(access(back, F_OK) != 0);

	uint8_t *file = NULL, *plain = NULL;
	for (size_t len = 0; len <= 70000; len += 35000) {
		int64_t n = sealane_encrypt(with->encrypt, data, len, &file, E);
		CHECK(n > (int64_t)len && sealane_decrypt(with->decrypt, file, (size_t)n, &plain, E) == (int64_t)len);
		CHECK(plain && !memcmp(plain, data, len));
		sealane_free(plain), sealane_free(file);
	}

	for (size_t cut = 1000; cut <= LEN; cut *= 7) {
		sealane_filter *encryptor = sealane_encryptor_new(with->encrypt, E),
			*decryptor = sealane_decryptor_new(with->decrypt, E);
		sealane_writer *writer = sealane_writer_create(back, with->encrypt, E);
		CHECK(encryptor && decryptor && writer);
		static uint8_t piece[1 << 16];
		size_t total = 0;
		for (size_t at = 0; at <= LEN; at += cut) {
			size_t len = LEN - at < cut ? LEN - at : cut;
			CHECK(sealane_writer_push(writer, data + at, len, E) == (int64_t)len);
			int64_t waiting = sealane_filter_push(encryptor, data + at, len, E);
			if (at + cut > LEN) waiting = sealane_filter_finish(encryptor, E);
			CHECK(waiting >= 0);
			for (int64_t n; (n = sealane_filter_take(encryptor, piece, sizeof piece, E)) > 0; waiting -= n) {
				CHECK(sealane_filter_push(decryptor, piece, (size_t)n, E) >= 0);
				total += (size_t)sealane_filter_take(decryptor, out + total, sizeof out - total, E);
			}
			CHECK(waiting == 0);
		}
		CHECK(sealane_filter_finish(decryptor, E) >= 0);
		total += (size_t)sealane_filter_take(decryptor, out + total, sizeof out - total, E);
		CHECK(total == LEN && !memcmp(out, data, LEN));
		CHECK(sealane_writer_finish(writer, 0, E) == 0 && sealane_verify_file(back, with->decrypt, NULL, E) == 0);
		sealane_filter_free(encryptor), sealane_filter_free(decryptor), sealane_writer_free(writer);
	}

	sealane_reader *reader = sealane_reader_open(sealed, with->decrypt, E);
	CHECK(sealane_reader_size(reader, E) == LEN);
	memset(out, 0, LEN);
	CHECK(sealane_reader_read_at(reader, 0, out, sizeof out, E) == LEN && !memcmp(out, data, LEN));
	for (uint64_t at = 0; at < LEN; at += 77777) {
		int64_t expected = LEN - at < 100000 ? (int64_t)(LEN - at) : 100000;
		CHECK(sealane_reader_read_at(reader, at, out, 100000, E) == expected && !memcmp(out, data + at,
			(size_t)expected));
	}
	sealane_reader_free(reader);
	sealane_encrypt_with_free(with->encrypt), sealane_decrypt_with_free(with->decrypt);
	printf("  %s\n", with->name);
}

/* A source in memory that remembers which threads read it. */
struct memory {
	const uint8_t *bytes;
	uint64_t len;
	pthread_t caller;
	int reads, other_threads;
};

static int64_t read_memory(void *context, uint64_t offset, uint8_t *into, size_t len) {
	struct memory *memory = context;
	__atomic_fetch_add(&memory->reads, 1, __ATOMIC_RELAXED);
	if (!pthread_equal(memory->caller, pthread_self())) __atomic_fetch_add(&memory->other_threads, 1, __ATOMIC_RELAXED);
	if (offset >= memory->len) return 0;
	size_t rest = memory->len - offset < len ? (size_t)(memory->len - offset) : len;
	rest = rest > 50000 ? 50000 : rest; /* fewer bytes than requested are allowed */
	memcpy(into, memory->bytes + offset, rest);
	return (int64_t)rest;
}

static void callbacks(void) {
	const size_t len = 24 << 20;
	uint8_t *plain = malloc(len), *back = malloc(len), *file = NULL;
	for (size_t i = 0; i < len; i++) plain[i] = (uint8_t)(i * 7 + i / 1000);
	uint8_t key[32] = {9};
	sealane_encrypt_with *encrypt = sealane_encrypt_with_key(key, 32, NULL, NULL, 0, E);
	sealane_decrypt_with *decrypt = sealane_decrypt_with_key(key, 32, NULL, NULL, 0, E);
	int64_t n = sealane_encrypt(encrypt, plain, len, &file, E);
	for (uint32_t flags = 0; flags <= SEALANE_CALLING_THREAD; flags += SEALANE_CALLING_THREAD) {
		struct memory memory = {file, (uint64_t)n, pthread_self(), 0, 0};
		sealane_source source = {.size = sizeof source, .length = (uint64_t)n, .read_at = read_memory,
			.context = &memory, .flags = flags};
		sealane_reader *reader = sealane_reader_over(&source, decrypt, E);
		memset(&source, 0, sizeof source); /* it was copied */
		CHECK(reader && sealane_reader_size(reader, E) == (int64_t)len);
		memset(back, 0, len);
		CHECK(sealane_reader_read_at(reader, 0, back, len, E) == (int64_t)len && !memcmp(back, plain, len));
		CHECK(sealane_reader_read_at(reader, len - 10, back, len, E) == 10 && !memcmp(back, plain + len - 10, 10));
		CHECK(memory.reads > 400 && (!flags || memory.other_threads == 0));
		memory.len = 100; /* the source became shorter */
		CHECK(sealane_reader_read_at(reader, 0, back, len, E) == SEALANE_IO);
		sealane_reader_free(reader);
	}
	sealane_free(file), free(plain), free(back);
	sealane_encrypt_with_free(encrypt), sealane_decrypt_with_free(decrypt);
}

/* Single files do not go into a folder that describes itself: its files have keys of their own. */
static void described(struct pair *with) {
	const char text[] = "{\n  \"sealane\": \"folder\",\n  \"version\": 2,\n"
		"  \"folder\": \"00000000000000000000000000000000\",\n  \"suffix\": \"\",\n  \"names\": false,\n"
		"  \"preserve\": false,\n  \"recipients\": [],\n  \"keyset\": \"\",\n  \"mac\": \"\"\n}\n";
	const char *sealed = path("sealed"), *description = path(".sealane"), *inside = path("new");
	CHECK(sealane_encrypt_file("/etc/passwd", sealed, with->encrypt, NULL, E) == 0);
	store(description, (const uint8_t *)text, sizeof text - 1);
	FAILS(SEALANE_MISUSE, sealane_encrypt_file("/etc/passwd", inside, with->encrypt, NULL, E));
	SAYS("describes itself");
	FAILS(SEALANE_MISUSE, sealane_decrypt_file(sealed, inside, with->decrypt, NULL, E));
	SAYS("describes itself");
	MAKES_NOTHING(SEALANE_MISUSE, sealane_writer_create(inside, with->encrypt, E));
	SAYS("describes itself");
	CHECK(access(inside, F_OK) != 0);
	unlink(description), unlink(sealed);
}

int main(void) {
	for (size_t i = 0; i < LEN; i++) data[i] = (uint8_t)(i * 31 + i / 251);
	CHECK(mkdtemp(folder));
	algorithms(), keys(), callbacks();

	const uint8_t *context = (const uint8_t *)"context";
	uint8_t key[32] = {5};
	sealane_secret *secret = sealane_secret_from_bytes(key, 32, E), *identity = sealane_secret_generate("age-pq", E);
	char public[8192], text[8192], keyset[4096] = {0};
	sealane_secret_public(identity, (uint8_t *)public, sizeof public, E);
	sealane_secret_to_text(identity, NULL, (uint8_t *)text, sizeof text, E);
	CHECK(getenv("GOLDEN"));
	char keyset_path[1000];
	snprintf(keyset_path, sizeof keyset_path, "%s/tink/AES128_GCM_HKDF_4KB.json", getenv("GOLDEN"));
	FILE *f = fopen(keyset_path, "r");
	CHECK(f);
	keyset[fread(keyset, 1, sizeof keyset - 1, f)] = 0;
	fclose(f);
	struct pair pairs[] = {
		{"chunked", sealane_encrypt_with_key(key, 32, NULL, context, 7, E),
			sealane_decrypt_with_key(key, 32, "chunked", context, 7, E)},
		{"a key that the library holds", sealane_encrypt_with_secret(secret, "tink-1mb", context, 7, E),
			sealane_decrypt_with_secret(secret, "tink-1mb", context, 7, E)},
		{"tink-4kb", sealane_encrypt_with_key(key, 16, "tink-4kb", context, 7, E),
			sealane_decrypt_with_key(key, 16, "tink-4kb", context, 7, E)},
		{"a Tink keyset", sealane_encrypt_with_keyset(keyset, context, 7, E),
			sealane_decrypt_with_keyset(keyset, context, 7, E)},
		{"age", sealane_encrypt_with_recipients(public, 0, E), sealane_decrypt_with_identities(text, E)},
		{"an identity that the library holds", sealane_encrypt_with_recipients(public, 0, E),
			sealane_decrypt_with_secret(identity, NULL, NULL, 0, E)},
		{"a passphrase", sealane_encrypt_with_passphrase("secret", 4, 0, E),
			sealane_decrypt_with_passphrase("secret", 4, E)},
	};
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) everything(&pairs[i]);

	/* Armor. */
	sealane_encrypt_with *encrypt = sealane_encrypt_with_recipients(public, SEALANE_ARMOR, E);
	sealane_decrypt_with *decrypt = sealane_decrypt_with_identities(text, E);
	uint8_t *file = NULL, *plain = NULL;
	int64_t n = sealane_encrypt(encrypt, data, 1000, &file, E);
	CHECK(n > 1000 && !strncmp((char *)file, "-----BEGIN AGE ENCRYPTED FILE-----", 34));
	CHECK(sealane_decrypt(decrypt, file, (size_t)n, &plain, E) == 1000 && !memcmp(plain, data, 1000));
	sealane_free(plain), sealane_free(file);
	described(&(struct pair){"age", encrypt, decrypt});
	sealane_encrypt_with_free(encrypt), sealane_decrypt_with_free(decrypt);

	/* A wrong passphrase, a wrong context, another key, a work factor above the limit. */
	sealane_encrypt_with *a = sealane_encrypt_with_passphrase("right", 5, 0, E);
	n = sealane_encrypt(a, data, 10, &file, E);
	sealane_decrypt_with *wrong = sealane_decrypt_with_passphrase("wrong", 5, E),
		*limited = sealane_decrypt_with_passphrase("right", 4, E);
	FAILS(SEALANE_NO_MATCHING_KEY, sealane_decrypt(wrong, file, (size_t)n, &plain, E));
	FAILS(SEALANE_LIMIT_EXCEEDED, sealane_decrypt(limited, file, (size_t)n, &plain, E));
	sealane_decrypt_with_free(wrong), sealane_decrypt_with_free(limited), sealane_encrypt_with_free(a),
		sealane_free(file);
	a = sealane_encrypt_with_key(key, 32, NULL, context, 7, E);
	n = sealane_encrypt(a, data, 10, &file, E);
	wrong = sealane_decrypt_with_key(key, 32, NULL, context, 6, E);
	FAILS(SEALANE_AUTHENTICATION, sealane_decrypt(wrong, file, (size_t)n, &plain, E));
	sealane_decrypt_with_free(wrong), sealane_encrypt_with_free(a), sealane_free(file);

	sealane_secret_free(secret), sealane_secret_free(identity);
	char command[100];
	snprintf(command, sizeof command, "rm -r %s", folder);
	CHECK(system(command) == 0);
	return passed("round_trips");
}
