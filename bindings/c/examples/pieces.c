/* One message in pieces. Prefer sealane_aead_seal(), or a stream for data that does not fit into memory. */
#include <sealane.h>
#include <stdio.h>
#include <string.h>

int main(void) {
	sealane_error error;
	uint8_t key[32], nonce[12], ciphertext[14], plaintext[14], tag[16];
	sealane_random(key, sizeof key, &error);
	sealane_random(nonce, sizeof nonce, &error);

	sealane_pieces *encryptor = sealane_hazmat_encryptor_new("aes-256-gcm", key, 32, nonce, 12, &error);
	sealane_pieces_aad(encryptor, (const uint8_t *)"header", 6, &error);
	sealane_pieces_update(encryptor, (const uint8_t *)"attack ", 7, ciphertext, 7, &error);
	sealane_pieces_update(encryptor, (const uint8_t *)"at dawn", 7, ciphertext + 7, 7, &error);
	if (sealane_pieces_finalize(encryptor, tag, sizeof tag, &error) != 16) return 1;
	sealane_pieces_free(encryptor);

	sealane_pieces *decryptor = sealane_hazmat_decryptor_new("aes-256-gcm", key, 32, nonce, 12, &error);
	sealane_pieces_aad(decryptor, (const uint8_t *)"header", 6, &error);
	sealane_pieces_update(decryptor, ciphertext, 14, plaintext, 14, &error); /* not verified yet */
	int64_t verified = sealane_pieces_verify(decryptor, tag, sizeof tag, &error);
	sealane_pieces_free(decryptor);
	if (verified < 0) {
		sealane_wipe(plaintext, sizeof plaintext);
		return 1;
	}
	printf("%.14s\n", (char *)plaintext);
	return 0;
}
