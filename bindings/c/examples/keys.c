/* Keys: generate, save, load, derive from a passphrase. The library holds them and wipes them. */
#include <sealane.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
	sealane_error error;
	char path[] = "/tmp/sealane-example-XXXXXX";
	close(mkstemp(path));

	sealane_secret *key = sealane_secret_generate("aes-256", &error);
	/* A JSON Web Key that only its owner can read; with a passphrase instead of NULL it would be an age file. */
	if (!key || sealane_secret_save(key, path, NULL, SEALANE_REPLACE, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	sealane_secret_free(key);
	key = sealane_secret_load(path, NULL, &error);
	sealane_aead *aead = sealane_aead_new_with_secret("xaes-256-gcm", key, NULL, &error);
	if (!aead) return 1;
	sealane_aead_free(aead);
	sealane_secret_free(key);
	unlink(path);

	/* A key pair for age files. */
	sealane_secret *identity = sealane_secret_generate("age", &error);
	char recipient[8192];
	if (sealane_secret_public(identity, (uint8_t *)recipient, sizeof recipient, &error) < 0) return 1;
	printf("%s", recipient);
	sealane_secret_free(identity);

	/* A key from a passphrase. Store the salt; it is not secret. */
	uint8_t salt[16], derived[32];
	sealane_random(salt, sizeof salt, &error);
	const char passphrase[] = "correct horse battery staple";
	int64_t len = sealane_derive((const uint8_t *)passphrase, sizeof passphrase - 1, salt, sizeof salt, 65536, 3, 4,
		derived,
		sizeof derived, &error);
	sealane_wipe(derived, sizeof derived);
	return len == 32 ? 0 : 1;
}
