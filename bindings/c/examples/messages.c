/* Messages: seal and open, in place, with associated data. */
#include <sealane.h>
#include <stdio.h>
#include <string.h>

static int failed(const char *what, const sealane_error *error) {
	fprintf(stderr, "%s: %s (code %d)\n", what, (const char *)error->text, error->code);
	return 1;
}

int main(void) {
	sealane_error error;
	uint8_t key[32];
	if (sealane_random(key, sizeof key, &error) < 0) return failed("random", &error);
	sealane_aead *aead = sealane_aead_new("aes-256-gcm", key, sizeof key, NULL, &error);
	sealane_wipe(key, sizeof key); /* the handle has a copy */
	if (!aead) return failed("aead_new", &error);

	sealane_aead_description facts = {.size = sizeof facts};
	if (sealane_aead_describe(aead, &facts, &error) < 0) return failed("describe", &error);
	printf("%s by %s (%s)\n", facts.algorithm, facts.provider, facts.variant);

	/* nonce || ciphertext || tag */
	const uint8_t text[] = "attack at dawn", header[] = "to: alice";
	uint8_t sealed[100], opened[100];
	int64_t len = sealane_aead_seal(aead, text, sizeof text, header, sizeof header, sealed, sizeof sealed, &error);
	if (len < 0) return failed("seal", &error);

	int64_t text_len = sealane_aead_open(aead, sealed, (size_t)len, header, sizeof header, opened, sizeof opened,
		&error);
	if (text_len < 0) return failed("open", &error);
	printf("%s\n", opened);

	/* In place: the plaintext lies where the ciphertext goes, behind the nonce. */
	uint8_t message[100];
	memcpy(message + facts.nonce_len, "hello", 5);
	len = sealane_aead_seal(aead, message + facts.nonce_len, 5, NULL, 0, message, sizeof message, &error);
	if (len != (int64_t)(facts.nonce_len + 5 + facts.tag_len)) return failed("seal in place", &error);

	/* A changed message is refused, and no byte of its plaintext is there. */
	message[20] ^= 1;
	if (sealane_aead_open(aead, message, (size_t)len, NULL, 0, opened, sizeof opened,
		&error) != SEALANE_AUTHENTICATION) return 1;
	printf("%s\n", error.text);
	sealane_aead_free(aead);
	return 0;
}
