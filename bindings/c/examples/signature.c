/* Signs a file in pieces, prints the signature, and verifies it: signature KEY PUBLIC_KEY FILE */
#include <sealane.h>
#include <stdio.h>

static uint8_t key[10000], public_key[10000], piece[65536];
static sealane_error error;

static size_t load(const char *path, uint8_t *into, size_t len) {
	FILE *file = fopen(path, "rb");
	size_t found = file ? fread(into, 1, len, file) : 0;
	if (file) fclose(file);
	return found;
}

/* Passes the file to a signature or its verification, and frees that. */
static int64_t pass(const char *path, sealane_signature *signature, uint8_t **out) {
	FILE *file = fopen(path, "rb");
	int64_t len = file && signature ? 0 : -1;
	size_t found;
	while (len >= 0 && (found = fread(piece, 1, sizeof piece, file)) > 0) {
		len = sealane_signature_update(signature, piece, found, &error);
	}
	if (len >= 0) len = ferror(file) ? -1 : sealane_signature_finish(signature, out, &error);
	if (file) fclose(file);
	sealane_signature_free(signature);
	return len;
}

int main(int argc, char **argv) {
	if (argc != 4) return 2;
	size_t key_len = load(argv[1], key, sizeof key), public_len = load(argv[2], public_key, sizeof public_key);
	uint8_t *signature = NULL, *signer = NULL;
	int64_t len = pass(argv[3], sealane_sign_new(key, key_len, NULL, NULL, NULL, &error), &signature);
	sealane_wipe(key, sizeof key);
	if (len < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	fwrite(signature, 1, (size_t)len, stdout);
	int64_t signer_len = pass(argv[3],
		sealane_verify_new(signature, (size_t)len, public_key, public_len, NULL, NULL, 0, &error), &signer);
	if (signer_len < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	fprintf(stderr, "valid signature of %.*s", (int)signer_len, (const char *)signer);
	sealane_free(signature);
	sealane_free(signer);
	return 0;
}
