/* Raw parts: keystreams at any offset, Poly1305, blocks. They protect nothing by themselves against changes. */
#include <sealane.h>
#include <stdio.h>
#include <string.h>

int main(void) {
	sealane_error error;
	uint8_t key[32] = {1}, iv[16] = {2};

	/* AES-CTR from the middle of a stream. */
	sealane_stream *stream = sealane_hazmat_stream_new("aes-ctr", key, 32, iv, 16, 0, NULL, &error);
	uint8_t data[26] = "somewhere in a long stream";
	sealane_stream_xor_at(stream, 1000003, data, sizeof data, data, sizeof data, &error);
	sealane_stream_xor_at(stream, 1000003, data, sizeof data, data, sizeof data, &error);
	if (memcmp(data, "somewhere", 9)) return 1;

	/*
	 * Many keystreams of one key: a sector of a disk each. The number of the sector is in the first half of the block,
	 * because the second half counts: keystreams whose blocks are close to each other overlap.
	 */
	uint8_t sector[16] = {[7] = 42};
	sealane_stream_xor_under(stream, sector, 16, 0, data, sizeof data, data, sizeof data, &error);
	sealane_stream_xor_under(stream, sector, 16, 10, data + 10, 5, data + 10, 5, &error);
	if (memcmp(data + 10, "in a ", 5)) return 1;
	sealane_stream_free(stream);

	/* The tag of a message, with a key that is never used again. */
	uint8_t tag[16];
	sealane_poly1305 *mac = sealane_hazmat_poly1305_new_from_chacha20(key, 32, iv, 12, &error);
	sealane_poly1305_update(mac, (const uint8_t *)"Cryptographic Forum ", 20, &error);
	sealane_poly1305_update(mac, (const uint8_t *)"Research Group", 14, &error);
	if (sealane_poly1305_finalize(mac, tag, sizeof tag, &error) != 16) return 1;
	sealane_poly1305_free(mac);

	/* Single blocks. */
	sealane_speck *speck = sealane_hazmat_speck_new("speck64-128", key, 16, NULL, &error);
	uint8_t blocks[16] = "two blocks of 64";
	sealane_speck_encrypt_blocks(speck, blocks, 16, blocks, 16, &error);
	sealane_speck_decrypt_blocks(speck, blocks, 16, blocks, 16, &error);
	sealane_speck_free(speck);
	printf("%.16s\n", (char *)blocks);
	return 0;
}
