/* Streams: standard input is encrypted, decrypted again, and written to standard output. */
#include <sealane.h>
#include <stdio.h>

static int failed(const sealane_error *error) {
	fprintf(stderr, "%s\n", (const char *)error->text);
	return 1;
}

/* Moves all bytes that wait in one filter to the next one. */
static int move(sealane_filter *from, sealane_filter *to, sealane_error *error) {
	uint8_t piece[65536];
	for (int64_t len; (len = sealane_filter_take(from, piece, sizeof piece, error)) != 0;)
		if (len < 0 || sealane_filter_push(to, piece, (size_t)len, error) < 0) return -1;
	return 0;
}

static int print(sealane_filter *from, sealane_error *error) {
	uint8_t piece[65536];
	for (int64_t len; (len = sealane_filter_take(from, piece, sizeof piece, error)) != 0;)
		if (len < 0 || fwrite(piece, 1, (size_t)len, stdout) != (size_t)len) return -1;
	return 0;
}

int main(void) {
	sealane_error error = {0};
	uint8_t key[32], piece[65536];
	sealane_random(key, sizeof key, &error);
	sealane_encrypt_with *encrypt = sealane_encrypt_with_key(key, 32, NULL, NULL, 0, &error);
	sealane_decrypt_with *decrypt = sealane_decrypt_with_key(key, 32, NULL, NULL, 0, &error);
	sealane_filter *encryptor = sealane_encryptor_new(encrypt, &error), *decryptor = sealane_decryptor_new(decrypt,
		&error);
	if (!encryptor || !decryptor) return failed(&error);

	for (size_t len; (len = fread(piece, 1, sizeof piece, stdin)) > 0;)
		if (sealane_filter_push(encryptor, piece, len, &error) < 0 || move(encryptor, decryptor, &error) < 0 ||
			print(decryptor, &error) < 0)
			return failed(&error);
	/* Only now it is certain that the plaintext is complete. */
	if (sealane_filter_finish(encryptor, &error) < 0 || move(encryptor, decryptor, &error) < 0 ||
		sealane_filter_finish(decryptor, &error) < 0 || print(decryptor, &error) < 0)
		return failed(&error);

	sealane_filter_free(encryptor);
	sealane_filter_free(decryptor);
	sealane_encrypt_with_free(encrypt);
	sealane_decrypt_with_free(decrypt);
	return 0;
}
