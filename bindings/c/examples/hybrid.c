/* Messages for the holder of a private key: whoever has the public key can seal, and one can open. */
#include <sealane.h>
#include <stdio.h>

int main(void) {
	sealane_error error;
	sealane_secret *key = sealane_secret_generate("x-wing", &error); /* secure against quantum computers */
	char public_key[8192];
	if (!key || sealane_secret_public(key, (uint8_t *)public_key, sizeof public_key, &error) < 0) return 1;

	const uint8_t text[] = "attack at dawn", header[] = "to: alice", info[] = "example";
	uint8_t *message = NULL, *opened = NULL;
	int64_t len = sealane_hybrid_seal(public_key, text, sizeof text, header, sizeof header, info, sizeof info, NULL,
		&message, &error);
	if (len < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	int64_t text_len =
		sealane_hybrid_open(key, message, (size_t)len, header, sizeof header, info, sizeof info, NULL, &opened, &error);
	if (text_len < 0) return 1;
	printf("%s\n", opened);
	sealane_free(opened); /* wiped and freed */
	sealane_free(message);
	sealane_secret_free(key);
	return 0;
}
