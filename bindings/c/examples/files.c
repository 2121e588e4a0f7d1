/* Files: from a path to a path on all cores, with progress; and bytes of a file in memory. */
#include <sealane.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

static int32_t report(void *context, uint64_t done, uint64_t total) {
	*(uint64_t *)context = done;
	if (total != SEALANE_UNKNOWN) fprintf(stderr, "\r%3.0f %%", total ? 100.0 * (double)done / (double)total : 100.0);
	return 0; /* anything else cancels */
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: files FILE: encrypts FILE to FILE.age and decrypts it to FILE.back\n");
		return 2;
	}
	sealane_error error;
	char sealed[4096], back[4096], recipient[8192];
	snprintf(sealed, sizeof sealed, "%s.age", argv[1]);
	snprintf(back, sizeof back, "%s.back", argv[1]);

	sealane_secret *identity = sealane_secret_generate("age", &error);
	sealane_secret_public(identity, (uint8_t *)recipient, sizeof recipient, &error);
	sealane_encrypt_with *encrypt = sealane_encrypt_with_recipients(recipient, 0, &error);
	sealane_decrypt_with *decrypt = sealane_decrypt_with_secret(identity, NULL, NULL, 0, &error);

	uint64_t done = 0;
	sealane_options options = {.size = sizeof options, .progress = report, .context = &done};
	if (sealane_encrypt_file(argv[1], sealed, encrypt, &options, &error) < 0 ||
		sealane_decrypt_file(sealed, back, decrypt, NULL, &error) < 0) {
		fprintf(stderr, "%s (errno %d)\n", error.text, error.os_code);
		return 1;
	}
	fprintf(stderr, "\r%llu bytes\n", (unsigned long long)done);

	/* The same format in memory. */
	uint8_t *file = NULL, *text = NULL;
	int64_t len = sealane_encrypt(encrypt, (const uint8_t *)"hello", 5, &file, &error);
	int64_t text_len = sealane_decrypt(decrypt, file, (size_t)len, &text, &error);
	if (text_len != 5 || memcmp(text, "hello", 5)) return 1;
	sealane_free(text);
	sealane_free(file);

	/* The program `sealane` can decrypt the file with this key. */
	if (getenv("KEY_FILE") && sealane_secret_save(identity, getenv("KEY_FILE"), NULL, SEALANE_REPLACE, &error) < 0)
		return 1;
	sealane_encrypt_with_free(encrypt);
	sealane_decrypt_with_free(decrypt);
	sealane_secret_free(identity);
	return 0;
}
