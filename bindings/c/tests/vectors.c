/*
 * The published vectors (vectors/lines.txt) and the files of other implementations (tests/golden), through the C
 * library. Arguments: the folder `vectors`, the folder `tests/golden`.
 */
#include "check.h"
#include <dirent.h>
#include <stdbool.h>

_Static_assert(sizeof(sealane_error) == 256, "the structure is part of the binary interface");

#define ROOM 70000
static uint8_t key[ROOM], nonce[ROOM], aad[ROOM], plain[ROOM], sealed[ROOM], out[ROOM];

/* aead NAME KEY NONCE AAD PLAINTEXT CIPHERTEXT||TAG RESULT */
static void aead(char **field) {
	const char *name = field[0], *result = field[6];
	size_t key_len = from_hex(key, ROOM, field[1]), nonce_len = from_hex(nonce, ROOM, field[2]),
		aad_len = from_hex(aad, ROOM, field[3]);
	size_t plain_len = from_hex(plain, ROOM, field[4]), sealed_len = from_hex(sealed, ROOM, field[5]);
	sealane_aead *handle;
	if (!strncmp(name, "speck128", 8)) handle = sealane_hazmat_aead_new_block_nonce(name, key, key_len, E);
	else if (!strncmp(name, "speck", 5)) handle = sealane_hazmat_aead_new_small_block(name, key, key_len, E);
	else handle = sealane_aead_new(name, key, key_len, NULL, E);
	CHECK(handle);
	if (!strcmp(result, "nonce-length")) {
		FAILS(SEALANE_MISUSE, sealane_aead_decrypt(handle, nonce, nonce_len, sealed, sealed_len, aad, aad_len, out,
			ROOM, E));
		SAYS("nonce");
		FAILS(SEALANE_MISUSE, sealane_aead_encrypt(handle, nonce, nonce_len, plain, plain_len, aad, aad_len, out, ROOM,
			E));
	} else if (!strcmp(result, "invalid")) {
		size_t len = sealed_len < 16 ? 0 : sealed_len - 16;
		memset(out, 0xee, len + 1);
		FAILS(SEALANE_AUTHENTICATION, sealane_aead_decrypt(handle, nonce, nonce_len, sealed, sealed_len, aad, aad_len,
			out, ROOM, E));
		for (size_t i = 0; i < len; i++) CHECK(out[i] == 0);
		CHECK(out[len] == 0xee);
		memcpy(out, nonce, nonce_len);
		memcpy(out + nonce_len, sealed, sealed_len);
		FAILS(SEALANE_AUTHENTICATION,
			sealane_aead_open(handle, out, nonce_len + sealed_len, aad, aad_len, out + nonce_len, sealed_len, E));
	} else {
		CHECK(!strcmp(result, "valid"));
		int64_t n = sealane_aead_decrypt(handle, nonce, nonce_len, sealed, sealed_len, aad, aad_len, out, plain_len, E);
		CHECK(n == (int64_t)plain_len && !memcmp(out, plain, plain_len));
		n = sealane_aead_encrypt(handle, nonce, nonce_len, plain, plain_len, aad, aad_len, out, sealed_len, E);
		CHECK(n == (int64_t)sealed_len && !memcmp(out, sealed, sealed_len));
		/* In place. */
		memcpy(out, plain, plain_len);
		n = sealane_aead_encrypt(handle, nonce, nonce_len, out, plain_len, aad, aad_len, out, ROOM, E);
		CHECK(n == (int64_t)sealed_len && !memcmp(out, sealed, sealed_len));
		n = sealane_aead_decrypt(handle, nonce, nonce_len, out, sealed_len, aad, aad_len, out, ROOM, E);
		CHECK(n == (int64_t)plain_len && !memcmp(out, plain, plain_len));
		/* A sealed message, apart and in place. */
		memcpy(out, nonce, nonce_len);
		memcpy(out + nonce_len, sealed, sealed_len);
		static uint8_t opened[ROOM];
		n = sealane_aead_open(handle, out, nonce_len + sealed_len, aad, aad_len, opened, plain_len, E);
		CHECK(n == (int64_t)plain_len && !memcmp(opened, plain, plain_len));
		n = sealane_aead_open(handle, out, nonce_len + sealed_len, aad, aad_len, out + nonce_len, plain_len, E);
		CHECK(n == (int64_t)plain_len && !memcmp(out + nonce_len, plain, plain_len));
		if (!strncmp(name, "speck128", 8) && !memcmp(nonce + 12, "\0\0\0\0", 4)) {
			/* The same message under a nonce of 12 bytes. */
			sealane_aead *short_nonce = sealane_hazmat_aead_new(name, key, key_len, E);
			n = sealane_aead_encrypt(short_nonce, nonce, 12, plain, plain_len, aad, aad_len, out, ROOM, E);
			CHECK(n == (int64_t)sealed_len && !memcmp(out, sealed, sealed_len));
			sealane_aead_free(short_nonce);
		}
	}
	sealane_aead_free(handle);
}

/* stream NAME ORDER KEY IV COUNTER PLAINTEXT CIPHERTEXT */
static void stream(char **field) {
	const char *order = strcmp(field[1], "-") ? field[1] : NULL;
	size_t key_len = from_hex(key, ROOM, field[2]), iv_len = from_hex(nonce, ROOM, field[3]);
	uint32_t counter = (uint32_t)strtoul(field[4], NULL, 10);
	size_t len = from_hex(plain, ROOM, field[5]);
	CHECK(from_hex(sealed, ROOM, field[6]) == len);
	sealane_stream *handle = sealane_hazmat_stream_new(field[0], key, key_len, nonce, iv_len, counter, order, E);
	CHECK(handle);
	for (size_t at = 0; at <= len; at++) {
		CHECK(sealane_stream_xor_at(handle, at, plain + at, len - at, out, len - at, E) == (int64_t)(len - at));
		CHECK(!memcmp(out, sealed + at, len - at));
	}
	memcpy(out, sealed, len);
	CHECK(sealane_stream_xor_at(handle, 0, out, len, out, ROOM, E) == (int64_t)len && !memcmp(out, plain, len));
	if (!strcmp(field[0], "aes-ctr")) {
		sealane_stream *other = sealane_hazmat_stream_new(field[0], key, key_len, (uint8_t[16]){9}, 16, 0, NULL, E);
		CHECK(sealane_stream_xor_under(other, nonce, iv_len, 0, plain, len, out, len, E) == (int64_t)len);
		CHECK(!memcmp(out, sealed, len));
		sealane_stream_free(other);
	}
	sealane_stream_free(handle);
}

/* poly1305 KEY MESSAGE TAG */
static void poly1305(char **field) {
	size_t key_len = from_hex(key, ROOM, field[0]), len = from_hex(plain, ROOM, field[1]);
	CHECK(from_hex(sealed, ROOM, field[2]) == 16);
	for (size_t cut = 1; cut < 40; cut += 6) {
		sealane_poly1305 *mac = sealane_hazmat_poly1305_new(key, key_len, E);
		for (size_t at = 0; at < len; at += cut)
			CHECK(sealane_poly1305_update(mac, plain + at, len - at < cut ? len - at : cut, E) >= 0);
		CHECK(sealane_poly1305_finalize(mac, out, 16, E) == 16 && !memcmp(out, sealed, 16));
		sealane_poly1305_free(mac);
	}
	sealane_poly1305 *mac = sealane_hazmat_poly1305_new(key, key_len, E);
	sealane_poly1305_update(mac, plain, len, E);
	CHECK(sealane_poly1305_verify(mac, sealed, 16, E) == 0);
	sealane_poly1305_free(mac);
}

/* block NAME ORDER KEY PLAINTEXT CIPHERTEXT */
static void block(char **field) {
	size_t key_len = from_hex(key, ROOM, field[2]), len = from_hex(plain, ROOM, field[3]);
	CHECK(from_hex(sealed, ROOM, field[4]) == len);
	sealane_speck *speck = sealane_hazmat_speck_new(field[0], key, key_len, field[1], E);
	CHECK(speck);
	CHECK(sealane_speck_encrypt_blocks(speck, plain, len, out, len, E) == (int64_t)len && !memcmp(out, sealed, len));
	CHECK(sealane_speck_decrypt_blocks(speck, out, len, out, len, E) == (int64_t)len && !memcmp(out, plain, len));
	sealane_speck_free(speck);
}

/* file NAME KEY CONTEXT FILE RESULT LENGTH */
static void file(char **field) {
	size_t key_len = from_hex(key, ROOM, field[1]), context_len = from_hex(aad, ROOM, field[2]), len = from_hex(sealed,
		ROOM, field[3]);
	bool valid = !strcmp(field[4], "valid");
	sealane_decrypt_with *with = sealane_decrypt_with_key(key, key_len, field[0], aad, context_len, E);
	if (!with) { /* a key of another length */
		CHECK(!valid && failure.code == SEALANE_MISUSE);
		return;
	}
	uint8_t *data = out;
	int64_t n = sealane_decrypt(with, sealed, len, &data, E);
	if (valid) CHECK(n == (int64_t)strtoll(field[5], NULL, 10));
	else CHECK(n < 0 && n != SEALANE_INTERNAL && data == NULL);
	sealane_free(data);
	sealane_decrypt_with_free(with);
}

static int run_lines(const char *folder) {
	char path[4096];
	snprintf(path, sizeof path, "%s/lines.txt", folder);
	FILE *lines = fopen(path, "r");
	CHECK(lines);
	static char line[1 << 18];
	int cases = 0;
	while (fgets(line, sizeof line, lines)) {
		char *field[10], *rest = NULL;
		int count = 0;
		for (char *word = strtok_r(line, " \n", &rest); word && count < 10; word = strtok_r(NULL, " \n",
			&rest)) field[count++] = word;
		if (count == 0 || field[0][0] == '#') continue;
		if (!strcmp(field[0], "aead") && count == 8) aead(field + 1);
		else if (!strcmp(field[0], "stream") && count == 8) stream(field + 1);
		else if (!strcmp(field[0], "poly1305") && count == 4) poly1305(field + 1);
		else if (!strcmp(field[0], "block") && count == 6) block(field + 1);
		else if (!strcmp(field[0], "file") && count == 7) file(field + 1);
		else {
			fprintf(stderr, "a line of an unknown kind: %s\n", field[0]);
			exit(1);
		}
		cases++;
	}
	fclose(lines);
	return cases;
}

static size_t load(const char *path, uint8_t *to, size_t room) {
	FILE *f = fopen(path, "rb");
	CHECK(f);
	size_t len = fread(to, 1, room, f);
	fclose(f);
	return len;
}

/* Opens a file of another implementation: the plaintext is `len` bytes, byte i is i mod 251. */
static void opens(const char *path, long len, sealane_decrypt_with *with) {
	static uint8_t bytes[1 << 18], back[1 << 18];
	CHECK(with);
	size_t file_len = load(path, bytes, sizeof bytes);
	for (long i = 0; i < len; i++) plain[i] = (uint8_t)(i % 251);
	uint8_t *data = NULL;
	CHECK(sealane_decrypt(with, bytes, file_len, &data, E) == len && !memcmp(data, plain, (size_t)len));
	sealane_free(data);
	sealane_reader *reader = sealane_reader_open(path, with, E);
	CHECK(sealane_reader_size(reader, E) == len);
	CHECK(sealane_reader_read_at(reader, 0, back, sizeof back, E) == len && !memcmp(back, plain, (size_t)len));
	sealane_reader_free(reader);
	sealane_filter *filter = sealane_decryptor_new(with, E);
	long done = 0;
	for (size_t at = 0; at < file_len; at += 1000) {
		CHECK(sealane_filter_push(filter, bytes + at, file_len - at < 1000 ? file_len - at : 1000, E) >= 0);
		done += sealane_filter_take(filter, back + done, sizeof back - (size_t)done, E);
	}
	CHECK(sealane_filter_finish(filter, E) >= 0);
	done += sealane_filter_take(filter, back + done, sizeof back - (size_t)done, E);
	CHECK(done == len && !memcmp(back, plain, (size_t)len));
	sealane_filter_free(filter);
	CHECK(sealane_verify_file(path, with, NULL, E) == 0);
	sealane_decrypt_with_free(with);
}

/* Returns the number before the last hyphen of a name like `ssh-rsa-5-age1.1.1.age`, and ends the name before it. */
static long number(char *name, int hyphens) {
	while (hyphens-- > 1) *strrchr(name, '-') = 0;
	char *hyphen = strrchr(name, '-');
	*hyphen = 0;
	return strtol(hyphen + 1, NULL, 10);
}

static int golden(const char *root, const char *below) {
	char folder[4096], path[8192], text[8192];
	snprintf(folder, sizeof folder, "%s/%s", root, below);
	DIR *entries = opendir(folder);
	CHECK(entries);
	int files = 0;
	for (struct dirent *entry; (entry = readdir(entries));) {
		const char *end = strrchr(entry->d_name, '.');
		if (!end || !(strcmp(end, ".sealed") == 0 || strcmp(end, ".age") == 0 || strcmp(end, ".asc") == 0 ||
			strcmp(end, ".tink") == 0)) continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		char name[256];
		snprintf(name, sizeof name, "%s", entry->d_name);
		files++;
		if (!strcmp(end, ".sealed")) {
			long len = number(name, 1), bits = number(name, 1);
			for (int i = 0; i < 32; i++) key[i] = (uint8_t)i;
			opens(path, len, sealane_decrypt_with_key(key, (size_t)bits / 8, NULL, (const uint8_t *)"golden", 6, E));
			continue;
		}
		long len = number(name, strcmp(end, ".tink") ? 2 : 1);
		if (!strcmp(name, "passphrase")) {
			opens(path, len, sealane_decrypt_with_passphrase("golden", 0, E));
			continue;
		}
		char key_path[9000];
		snprintf(key_path, sizeof key_path, "%s/%s.%s", folder, name, strcmp(end, ".tink") ? "key" : "json");
		text[load(key_path, (uint8_t *)text, sizeof text - 1)] = 0;
		if (strcmp(end, ".tink")) opens(path, len, sealane_decrypt_with_identities(text, E));
		else opens(path, len, sealane_decrypt_with_keyset(text, (const uint8_t *)"golden", 6, E));
	}
	closedir(entries);
	return files;
}

int main(int argc, char **argv) {
	CHECK(argc == 3);
	CHECK(sealane_abi() == SEALANE_ABI);
	int cases = run_lines(argv[1]);
	CHECK(cases > 1200);
	int files = golden(argv[2], ".") + golden(argv[2], "age") + golden(argv[2], "tink");
	CHECK(files == 8 + 19 + 14);
	printf("vectors: %d published cases, %d files of other implementations\n", cases, files);
	return passed("vectors");
}
