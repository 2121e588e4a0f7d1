/*
 * Bad input for every function that can fail: null pointers, short outputs, overlaps, lengths that no memory has,
 * unknown names, forged data. Each call is made with and without a place for the description. A test of the project
 * checks that no function is missing here.
 */
#include "check.h"
#include <errno.h>
#include <unistd.h>

static uint8_t key[32] = {1}, nonce[24] = {2}, data[256], out[512];
static const size_t NEGATIVE = (size_t)-1;

static void library(void) {
	CHECK(sealane_abi() == SEALANE_ABI && strchr(sealane_version(), '.'));
	FAILS(SEALANE_MISUSE, sealane_algorithms(NULL, 10, E));
	SAYS("text is a null pointer");
	int64_t len = sealane_algorithms(NULL, 0, E);
	CHECK(len > 100);
	uint8_t *text = malloc((size_t)len + 1);
	memset(text, 0xee, (size_t)len + 1);
	CHECK(sealane_algorithms(text, (size_t)len, E) == len && text[0] == 0xee); /* no room for the zero */
	CHECK(sealane_algorithms(text, (size_t)len + 1, E) == len && strlen((char *)text) == (size_t)len);
	CHECK(strstr((char *)text, "aes-256-gcm\t32\t12\t16\t68719476704\t"));
	free(text);
	FAILS(SEALANE_MISUSE, sealane_providers(NULL, 10, E));
	len = sealane_providers(NULL, 0, E);
	text = malloc((size_t)len + 1);
	CHECK(sealane_providers(text, (size_t)len + 1, E) == len && strstr((char *)text, "aes-256-gcm\tnative\t"));
	free(text);
	FAILS(SEALANE_MISUSE, sealane_set_default_provider("unknown", E));
	SAYS("native");
	CHECK(sealane_set_default_provider("native", E) == 0 && sealane_set_default_provider("native", E) == 0);
	FAILS(SEALANE_MISUSE, sealane_set_default_provider("rustcrypto", E));
	FAILS(SEALANE_MISUSE, sealane_set_default_provider(NULL, E));
	FAILS(SEALANE_MISUSE, sealane_random(NULL, 1, E));
	FAILS(SEALANE_MISUSE, sealane_random(out, NEGATIVE, E));
	SAYS("negative");
	uint8_t a[32] = {0}, b[32] = {0};
	CHECK(sealane_random(a, 32, E) == 32 && sealane_random(b, 32, E) == 32 && memcmp(a, b, 32));
	CHECK(sealane_random(NULL, 0, E) == 0);
	sealane_wipe(a, 32);
	CHECK(!memcmp(a, (uint8_t[32]){0}, 32));
	sealane_wipe(NULL, 0), sealane_wipe(NULL, 5), sealane_free(NULL);
}

/* Three messages of 40 bytes in all, which need 124 bytes when they are sealed. */
static void batches(const sealane_aead *aead) {
	static const uint64_t lens[3] = {5, 0, 35}, longer[3] = {5, 1, 35}, wrap[3] = {41, UINT64_MAX, 0};
	static const uint64_t sealed_lens[3] = {33, 28, 63}, short_lens[3] = {33, 27, 64};
	uint8_t sealed[124], back[64], verdicts[3];
	memset(out, 0xee, sizeof out);
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(NULL, data, 40, lens, 3, NULL, 0, out, 124, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, NULL, 40, lens, 3, NULL, 0, out, 124, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, 40, NULL, 3, NULL, 0, out, 124, E));
	SAYS("lens is a null pointer");
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, 40, lens, 3, NULL, 1, out, 124, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, 40, lens, 3, NULL, 0, NULL, 124, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, 40, lens, 3, NULL, 0, out, 123, E));
	SAYS("123 bytes, 124 are needed");
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, NEGATIVE, lens, 3, NULL, 0, out, 124, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, 40, lens, NEGATIVE, NULL, 0, out, 124, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, 40, lens, NEGATIVE / 8, NULL, 0, out, 124, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, 40, lens, 2, NULL, 0, out, 124, E));
	SAYS("lens must add up to 40, the length of the messages, found 5");
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, 40, longer, 3, NULL, 0, out, 124, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, 40, wrap, 3, NULL, 0, out, 124, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, out + 12, 40, lens, 3, NULL, 0, out, 124, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(aead, data, 40, lens, 3, out + 123, 1, out, 124, E));
	for (size_t i = 0; i < sizeof out; i++) CHECK(out[i] == 0xee);
	CHECK(sealane_aead_seal_many(aead, data, 40, lens, 3, NULL, 0, out, sizeof out, E) == 124 && out[124] == 0xee);
	CHECK(sealane_aead_seal_many(aead, NULL, 0, NULL, 0, NULL, 0, NULL, 0, E) == 0);
	memcpy(sealed, out, sizeof sealed);

	FAILS(SEALANE_MISUSE, sealane_aead_open_many(NULL, sealed, 124, sealed_lens, 3, NULL, 0, back, 40, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open_many(aead, NULL, 124, sealed_lens, 3, NULL, 0, back, 40, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open_many(aead, sealed, 124, NULL, 3, NULL, 0, back, 40, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open_many(aead, sealed, 124, sealed_lens, 3, NULL, 0, NULL, 40, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open_many(aead, sealed, 124, sealed_lens, 3, NULL, 0, back, 39, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open_many(aead, sealed, 124, sealed_lens, 2, NULL, 0, back, 68, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open_many(aead, sealed, 124, sealed_lens, 3, NULL, 0, sealed + 12, 40, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open_many(aead, sealed, 124, sealed_lens, 3, NULL, 0, back, 40, back, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open_many(aead, sealed, 124, sealed_lens, 3, NULL, 0, back, 40, sealed, E));
	memset(verdicts, 0xee, sizeof verdicts);
	CHECK(sealane_aead_open_many(aead, sealed, 124, sealed_lens, 3, NULL, 0, back, 64, verdicts, E) == 40);
	CHECK(!memcmp(back, data, 40) && !memcmp(verdicts, (uint8_t[3]){1, 1, 1}, 3));
	for (size_t at = 0; at < 124; at++) {
		size_t changed = at < 33 ? 0 : at < 61 ? 1 : 2;
		char first[] = "message 0";
		first[8] = (char)('0' + changed);
		sealed[at] ^= 1;
		memset(back, 0xee, sizeof back), memset(verdicts, 0xee, sizeof verdicts);
		FAILS(SEALANE_AUTHENTICATION, sealane_aead_open_many(aead, sealed, 124, sealed_lens, 3, NULL, 0, back,
			sizeof back, verdicts, E));
		SAYS(first);
		for (size_t i = 0; i < 3; i++) CHECK(verdicts[i] == (i != changed));
		for (size_t i = 0; i < sizeof back; i++) CHECK(back[i] == (i < 40 ? 0 : 0xee));
		FAILS(SEALANE_AUTHENTICATION, sealane_aead_open_many(aead, sealed, 124, sealed_lens, 3, NULL, 0, back, 40,
			NULL, E));
		sealed[at] ^= 1;
	}
	FAILS(SEALANE_AUTHENTICATION, sealane_aead_open_many(aead, sealed, 124, short_lens, 3, NULL, 0, back, 40,
		verdicts, E));
	CHECK(!memcmp(verdicts, (uint8_t[3]){1, 0, 0}, 3));
}

static void messages(void) {
	MAKES_NOTHING(SEALANE_MISUSE, sealane_aead_new("rot13", key, 32, NULL, E));
	SAYS("aes-256-gcm");
	MAKES_NOTHING(SEALANE_MISUSE, sealane_aead_new(NULL, key, 32, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_aead_new("\xff", key, 32, NULL, E));
	SAYS("UTF-8");
	MAKES_NOTHING(SEALANE_MISUSE, sealane_aead_new("aes-256-gcm", NULL, 32, NULL, E));
	SAYS("key is a null pointer");
	MAKES_NOTHING(SEALANE_MISUSE, sealane_aead_new("aes-256-gcm", key, 31, NULL, E));
	SAYS("32 bytes, not 31");
	MAKES_NOTHING(SEALANE_MISUSE, sealane_aead_new("aes-256-gcm", key, NEGATIVE, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_aead_new("aes-256-gcm", key, 32, "unknown", E));
	MAKES_NOTHING(SEALANE_PROVIDER_UNAVAILABLE, sealane_aead_new("aegis-256", key, 32, "rustcrypto", E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_aead_new_with_secret("aes-256-gcm", NULL, NULL, E));
	sealane_secret *identity = sealane_secret_generate("age", E);
	MAKES_NOTHING(SEALANE_MISUSE, sealane_aead_new_with_secret("aes-256-gcm", identity, NULL, E));
	sealane_secret_free(identity);
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_aead_new("aes-256-gcm", key, 32, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_aead_new("speck128-256", key, 32, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_aead_new("speck64-128-poly1305", key, 16, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_aead_new_block_nonce("speck64-128-poly1305", key, 16, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_aead_new_block_nonce(NULL, key, 16, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_aead_new_small_block("speck128-256-poly1305", key, 32, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_aead_new_small_block("speck64-128-poly1305", NULL, 16, E));

	sealane_aead *block = sealane_hazmat_aead_new_block_nonce("speck128-256-poly1305", key, 32, E);
	FAILS(SEALANE_MISUSE, sealane_aead_seal(block, data, 5, NULL, 0, out, sizeof out, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal_many(block, NULL, 0, NULL, 0, NULL, 0, out, sizeof out, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open_many(block, NULL, 0, NULL, 0, NULL, 0, out, sizeof out, NULL, E));
	sealane_aead_free(block);
	sealane_aead *small = sealane_hazmat_aead_new_small_block("speck64-128-poly1305", key, 16, E);
	FAILS(SEALANE_MISUSE, sealane_aead_seal(small, data, 5, NULL, 0, out, sizeof out, E));
	sealane_aead_free(small);

	sealane_aead *aead = sealane_aead_new("aes-256-gcm", key, 32, NULL, E);
	CHECK(aead);
	sealane_aead_description facts = {.size = sizeof facts};
	CHECK(sealane_aead_describe(aead, &facts, E) == 0 && facts.size == sizeof facts && facts.nonce_len == 12 &&
		facts.tag_len == 16);
	CHECK(facts.max_plaintext_len == (1ull << 36) - 32 && !strcmp((char *)facts.algorithm, "aes-256-gcm"));
	CHECK(!strcmp((char *)facts.provider, "native") && facts.variant[0]);
	FAILS(SEALANE_MISUSE, sealane_aead_describe(NULL, &facts, E));
	FAILS(SEALANE_MISUSE, sealane_aead_describe(aead, NULL, E));
	facts.size = 8;
	FAILS(SEALANE_MISUSE, sealane_aead_describe(aead, &facts, E));
	SAYS("sizeof");

	/* Seal: 40 bytes of data need 68. */
	memset(out, 0xee, sizeof out);
	FAILS(SEALANE_MISUSE, sealane_aead_seal(NULL, data, 40, NULL, 0, out, 68, E));
	SAYS("aead is a null pointer");
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, NULL, 40, NULL, 0, out, 68, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, data, 40, NULL, 1, out, 68, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, data, 40, NULL, 0, NULL, 68, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, data, 40, NULL, 0, out, 67, E));
	SAYS("67 bytes, 68 are needed");
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, data, NEGATIVE, NULL, 0, out, 68, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, data, 40, data, NEGATIVE, out, 68, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, data, 40, NULL, 0, out, NEGATIVE, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, out + 11, 40, NULL, 0, out, 68, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, out + 13, 40, NULL, 0, out, 68, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, data, 40, out + 67, 1, out, 68, E));
	FAILS(SEALANE_MISUSE, sealane_aead_seal(aead, out + 12, 40, out + 12, 40, out, 68, E));
	for (size_t i = 0; i < sizeof out; i++) CHECK(out[i] == 0xee);
	CHECK(sealane_aead_seal(aead, out + 12, 40, out + 68, 9, out, sizeof out, E) == 68 && out[68] == 0xee);

	/* Open, and forgeries: each changed byte. */
	uint8_t back[64];
	FAILS(SEALANE_MISUSE, sealane_aead_open(NULL, out, 68, out + 68, 9, back, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open(aead, NULL, 68, out + 68, 9, back, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open(aead, out, 68, NULL, 9, back, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open(aead, out, 68, out + 68, 9, NULL, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open(aead, out, 68, out + 68, 9, back, 39, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open(aead, out, NEGATIVE, out + 68, 9, back, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open(aead, out, 68, out + 68, 9, out + 13, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_open(aead, out, 68, out + 12, 9, out + 12, 40, E));
	for (size_t len = 0; len < 28; len++) FAILS(SEALANE_AUTHENTICATION, sealane_aead_open(aead, out, len, NULL, 0,
		back, 40, E));
	for (size_t at = 0; at < 77; at++) {
		out[at] ^= 1;
		memset(back, 0xee, sizeof back);
		FAILS(SEALANE_AUTHENTICATION, sealane_aead_open(aead, out, 68, out + 68, 9, back, sizeof back, E));
		for (size_t i = 0; i < sizeof back; i++) CHECK(back[i] == (i < 40 ? 0 : 0xee));
		out[at] ^= 1;
	}
	FAILS(SEALANE_AUTHENTICATION, sealane_aead_open(aead, out, 68, out + 68, 8, back, 40, E));
	CHECK(sealane_aead_open(aead, out, 68, out + 68, 9, back, 40, E) == 40);
	CHECK(sealane_aead_open(aead, out, 68, out + 68, 9, out + 12, 40, E) == 40);

	batches(aead);

	/* Explicit nonces. */
	FAILS(SEALANE_MISUSE, sealane_aead_encrypt(NULL, nonce, 12, data, 40, NULL, 0, out, 56, E));
	FAILS(SEALANE_MISUSE, sealane_aead_encrypt(aead, NULL, 12, data, 40, NULL, 0, out, 56, E));
	FAILS(SEALANE_MISUSE, sealane_aead_encrypt(aead, nonce, 13, data, 40, NULL, 0, out, 56, E));
	FAILS(SEALANE_MISUSE, sealane_aead_encrypt(aead, nonce, NEGATIVE, data, 40, NULL, 0, out, 56, E));
	FAILS(SEALANE_MISUSE, sealane_aead_encrypt(aead, nonce, 12, NULL, 40, NULL, 0, out, 56, E));
	FAILS(SEALANE_MISUSE, sealane_aead_encrypt(aead, nonce, 12, data, 40, NULL, 3, out, 56, E));
	FAILS(SEALANE_MISUSE, sealane_aead_encrypt(aead, nonce, 12, data, 40, NULL, 0, out, 55, E));
	FAILS(SEALANE_MISUSE, sealane_aead_encrypt(aead, nonce, 12, out + 1, 40, NULL, 0, out, 56, E));
	FAILS(SEALANE_MISUSE, sealane_aead_encrypt(aead, out + 50, 12, data, 40, NULL, 0, out, 56, E));
	CHECK(sealane_aead_encrypt(aead, nonce, 12, data, 40, NULL, 0, out, 56, E) == 56);
	FAILS(SEALANE_MISUSE, sealane_aead_decrypt(NULL, nonce, 12, out, 56, NULL, 0, back, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_decrypt(aead, NULL, 12, out, 56, NULL, 0, back, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_decrypt(aead, nonce, 11, out, 56, NULL, 0, back, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_decrypt(aead, nonce, 24, out, 56, NULL, 0, back, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_decrypt(aead, data, 256, out, 56, NULL, 0, back, 40, E));
	FAILS(SEALANE_MISUSE, sealane_aead_decrypt(aead, nonce, 12, out, 56, NULL, 0, back, 39, E));
	FAILS(SEALANE_MISUSE, sealane_aead_decrypt(aead, nonce, 12, out, 56, NULL, 0, out + 1, 40, E));
	FAILS(SEALANE_AUTHENTICATION, sealane_aead_decrypt(aead, nonce, 12, out, 15, NULL, 0, back, 40, E));
	FAILS(SEALANE_AUTHENTICATION, sealane_aead_decrypt(aead, nonce, 12, out, 0, NULL, 0, back, 40, E));
	CHECK(sealane_aead_decrypt(aead, nonce, 12, out, 56, NULL, 0, back, 40, E) == 40 && !memcmp(back, data, 40));
	sealane_aead_free(aead), sealane_aead_free(NULL);
}

static void raw(void) {
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("des", key, 16, nonce, 16, 0, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new(NULL, key, 16, nonce, 16, 0, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("aes-ctr", key, 15, nonce, 16, 0, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("aes-ctr", NULL, 16, nonce, 16, 0, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("aes-ctr", key, 16, nonce, 12, 0, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("aes-ctr", key, 16, NULL, 16, 0, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("aes-ctr", key, 16, nonce, 16, 1, NULL, E));
	SAYS("counter");
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("aes-ctr", key, 16, nonce, 16, 0, "big", E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("chacha20", key, 32, nonce, 24, 0, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("xchacha20", key, 32, nonce, 12, 0, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("speck128-256", key, 32, nonce, 16, 0, "middle", E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_stream_new("speck7", key, 32, nonce, 16, 0, NULL, E));
	sealane_stream *stream = sealane_hazmat_stream_new("aes-ctr", key, 16, nonce, 16, 0, NULL, E);
	memset(out, 0xee, sizeof out);
	FAILS(SEALANE_MISUSE, sealane_stream_xor_at(NULL, 0, data, 40, out, 40, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_at(stream, 0, NULL, 40, out, 40, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_at(stream, 0, data, 40, NULL, 40, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_at(stream, 0, data, 40, out, 39, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_at(stream, 0, out + 1, 40, out, 40, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_at(stream, 0, data, NEGATIVE, out, 40, E));
	FAILS(SEALANE_LIMIT_EXCEEDED, sealane_stream_xor_at(stream, UINT64_MAX - 38, data, 40, out, 40, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_under(NULL, nonce, 16, 0, data, 40, out, 40, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_under(stream, nonce, 15, 0, data, 40, out, 40, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_under(stream, NULL, 16, 0, data, 40, out, 40, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_under(stream, out + 30, 16, 0, data, 40, out, 40, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_under(stream, nonce, 16, 0, data, 40, out, 39, E));
	FAILS(SEALANE_MISUSE, sealane_stream_xor_under(stream, nonce, 16, 0, NULL, 40, out, 40, E));
	FAILS(SEALANE_LIMIT_EXCEEDED, sealane_stream_xor_under(stream, nonce, 16, UINT64_MAX, data, 40, out, 40, E));
	for (size_t i = 0; i < sizeof out; i++) CHECK(out[i] == 0xee);
	CHECK(sealane_stream_xor_at(stream, UINT64_MAX, NULL, 0, NULL, 0, E) == 0);
	sealane_stream_free(stream), sealane_stream_free(NULL);
	stream = sealane_hazmat_stream_new("chacha20", key, 32, nonce, 12, 7, NULL, E);
	FAILS(SEALANE_MISUSE, sealane_stream_xor_under(stream, nonce, 12, 0, data, 40, out, 40, E));
	SAYS("aes-ctr");
	sealane_stream_free(stream);

	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_poly1305_new(key, 31, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_poly1305_new(NULL, 32, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_poly1305_new_from_chacha20(key, 31, nonce, 12, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_poly1305_new_from_chacha20(key, 32, nonce, 24, E));
	sealane_poly1305 *mac = sealane_hazmat_poly1305_new(key, 32, E);
	FAILS(SEALANE_MISUSE, sealane_poly1305_update(NULL, data, 5, E));
	FAILS(SEALANE_MISUSE, sealane_poly1305_update(mac, NULL, 5, E));
	FAILS(SEALANE_MISUSE, sealane_poly1305_update(mac, data, NEGATIVE, E));
	FAILS(SEALANE_MISUSE, sealane_poly1305_finalize(NULL, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_poly1305_finalize(mac, out, 15, E));
	FAILS(SEALANE_MISUSE, sealane_poly1305_finalize(mac, NULL, 16, E));
	FAILS(SEALANE_MISUSE, sealane_poly1305_verify(NULL, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_poly1305_verify(mac, out, 15, E));
	FAILS(SEALANE_MISUSE, sealane_poly1305_verify(mac, NULL, 16, E));
	/* None of these ended the message. */
	CHECK(sealane_poly1305_finalize(mac, out, 16, E) == 16);
	FAILS(SEALANE_MISUSE, sealane_poly1305_finalize(mac, out, 16, E));
	SAYS("finalized");
	FAILS(SEALANE_MISUSE, sealane_poly1305_verify(mac, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_poly1305_update(mac, data, 5, E));
	sealane_poly1305_free(mac), sealane_poly1305_free(NULL);
	mac = sealane_hazmat_poly1305_new_from_chacha20(key, 32, nonce, 12, E);
	memset(&failure, 0, sizeof failure);
	CHECK(sealane_poly1305_verify(mac, out, 16, E) == SEALANE_AUTHENTICATION && failure.code == SEALANE_AUTHENTICATION);
	sealane_poly1305_free(mac);

	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_speck_new("speck128", key, 16, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_speck_new("speck128-128", key, 17, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_speck_new("speck128-128", key, 16, "", E));
	sealane_speck *speck = sealane_hazmat_speck_new("speck128-128", key, 16, "little", E);
	FAILS(SEALANE_MISUSE, sealane_speck_encrypt_blocks(speck, data, 17, out, 17, E));
	FAILS(SEALANE_MISUSE, sealane_speck_encrypt_blocks(NULL, data, 16, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_speck_encrypt_blocks(speck, NULL, 16, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_speck_encrypt_blocks(speck, data, 16, out, 15, E));
	FAILS(SEALANE_MISUSE, sealane_speck_encrypt_blocks(speck, out + 8, 16, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_speck_decrypt_blocks(speck, data, 17, out, 17, E));
	FAILS(SEALANE_MISUSE, sealane_speck_decrypt_blocks(NULL, data, 16, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_speck_decrypt_blocks(speck, data, 16, NULL, 16, E));
	FAILS(SEALANE_MISUSE, sealane_speck_decrypt_blocks(speck, data, 32, out, 31, E));
	FAILS(SEALANE_MISUSE, sealane_speck_decrypt_blocks(speck, out + 8, 16, out, 16, E));
	sealane_speck_free(speck), sealane_speck_free(NULL);
}

static void pieces(void) {
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_encryptor_new("aegis-256", key, 32, nonce, 12, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_encryptor_new("aes-256-gcm", key, 32, nonce, 24, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_encryptor_new("aes-256-gcm", key, 16, nonce, 12, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_encryptor_new("aes-256-gcm", NULL, 32, nonce, 12, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_decryptor_new("aes-256-gcm", key, 32, NULL, 12, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_hazmat_decryptor_new(NULL, key, 32, nonce, 12, E));
	sealane_pieces *seal = sealane_hazmat_encryptor_new("aes-256-gcm", key, 32, nonce, 12, E);
	sealane_pieces *open = sealane_hazmat_decryptor_new("aes-256-gcm", key, 32, nonce, 12, E);
	FAILS(SEALANE_MISUSE, sealane_pieces_aad(NULL, data, 5, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_aad(seal, NULL, 5, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_update(NULL, data, 5, out, 5, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_update(seal, NULL, 5, out, 5, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_update(seal, data, 5, out, 4, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_update(seal, out + 1, 5, out, 5, E));
	CHECK(sealane_pieces_update(seal, data, 5, out, 5, E) == 5 && sealane_pieces_update(open, out, 5, out, 5, E) == 5);
	FAILS(SEALANE_MISUSE, sealane_pieces_aad(seal, data, 5, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_finalize(NULL, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_finalize(seal, out, 15, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_finalize(open, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_verify(NULL, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_verify(seal, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_verify(open, NULL, 16, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_verify(open, out, 15, E));
	CHECK(sealane_pieces_finalize(seal, out, 16, E) == 16);
	FAILS(SEALANE_MISUSE, sealane_pieces_finalize(seal, out, 16, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_update(seal, data, 5, out, 5, E));
	FAILS(SEALANE_MISUSE, sealane_pieces_aad(seal, data, 5, E));
	out[0] ^= 1;
	memset(&failure, 0, sizeof failure);
	CHECK(sealane_pieces_verify(open, out, 16, E) == SEALANE_AUTHENTICATION && failure.code == SEALANE_AUTHENTICATION);
	FAILS(SEALANE_MISUSE, sealane_pieces_verify(open, out, 16, E));
	sealane_pieces_free(seal), sealane_pieces_free(open), sealane_pieces_free(NULL);
}

static void keys(void) {
	MAKES_NOTHING(SEALANE_MISUSE, sealane_secret_generate("aes-512", E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_secret_generate(NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_secret_from_bytes(NULL, 32, E));
	MAKES_NOTHING(SEALANE_FORMAT, sealane_secret_from_text("no key", NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_secret_from_text(NULL, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_secret_from_text("\xff\xff", NULL, E));
	MAKES_NOTHING(SEALANE_IO, sealane_secret_load("/nowhere/key", NULL, E));
	CHECK(failure.os_code == ENOENT);
	SAYS("/nowhere/key");
	MAKES_NOTHING(SEALANE_MISUSE, sealane_secret_load(NULL, NULL, E));
	sealane_secret *secret = sealane_secret_from_bytes(key, 32, E), *pair = sealane_secret_generate("x25519", E);
	FAILS(SEALANE_MISUSE, sealane_secret_save(NULL, "/nowhere/key", NULL, 0, E));
	FAILS(SEALANE_MISUSE, sealane_secret_save(secret, NULL, NULL, 0, E));
	FAILS(SEALANE_MISUSE, sealane_secret_save(secret, "/nowhere/key", NULL, SEALANE_ARMOR, E));
	SAYS("flags");
	FAILS(SEALANE_MISUSE, sealane_secret_save(secret, "/nowhere/key", "", 0, E));
	FAILS(SEALANE_IO, sealane_secret_save(secret, "/nowhere/key", NULL, 0, E));
	FAILS(SEALANE_MISUSE, sealane_secret_kind(NULL, out, 10, E));
	FAILS(SEALANE_MISUSE, sealane_secret_kind(secret, NULL, 10, E));
	FAILS(SEALANE_MISUSE, sealane_secret_to_text(NULL, NULL, out, 10, E));
	FAILS(SEALANE_MISUSE, sealane_secret_to_text(secret, NULL, NULL, 10, E));
	FAILS(SEALANE_MISUSE, sealane_secret_public(NULL, out, 10, E));
	FAILS(SEALANE_MISUSE, sealane_secret_public(pair, NULL, 10, E));
	FAILS(SEALANE_MISUSE, sealane_secret_bytes(NULL, out, 32, E));
	FAILS(SEALANE_MISUSE, sealane_secret_bytes(secret, out, 31, E));
	FAILS(SEALANE_MISUSE, sealane_secret_bytes(secret, NULL, 32, E));
	FAILS(SEALANE_MISUSE, sealane_secret_bytes(pair, out, 32, E));
	SAYS("symmetric");

	FAILS(SEALANE_MISUSE, sealane_derive(NULL, 5, data, 16, 64, 1, 1, out, 32, E));
	FAILS(SEALANE_MISUSE, sealane_derive(data, 5, data, 7, 64, 1, 1, out, 32, E));
	FAILS(SEALANE_MISUSE, sealane_derive(data, 5, NULL, 16, 64, 1, 1, out, 32, E));
	FAILS(SEALANE_MISUSE, sealane_derive(data, 5, data, 16, 64, 0, 1, out, 32, E));
	FAILS(SEALANE_MISUSE, sealane_derive(data, 5, data, 16, UINT32_MAX, 1, 1, out, 32, E));
	FAILS(SEALANE_MISUSE, sealane_derive(data, 5, data, 16, 64, 1, 1, NULL, 32, E));
	FAILS(SEALANE_MISUSE, sealane_derive(data, 5, data, 16, 64, 1, 1, out, 3, E));
	FAILS(SEALANE_MISUSE, sealane_derive(out, 5, data, 16, 64, 1, 1, out, 32, E));

	uint8_t *message = out;
	char public[8192];
	CHECK(sealane_secret_public(pair, (uint8_t *)public, sizeof public, E) > 0);
	FAILS(SEALANE_MISUSE, sealane_hybrid_seal(NULL, data, 5, NULL, 0, NULL, 0, NULL, &message, E));
	CHECK(message == NULL);
	FAILS(SEALANE_FORMAT, sealane_hybrid_seal("no key", data, 5, NULL, 0, NULL, 0, NULL, &message, E));
	FAILS(SEALANE_MISUSE, sealane_hybrid_seal(public, NULL, 5, NULL, 0, NULL, 0, NULL, &message, E));
	FAILS(SEALANE_MISUSE, sealane_hybrid_seal(public, data, 5, NULL, 1, NULL, 0, NULL, &message, E));
	FAILS(SEALANE_MISUSE, sealane_hybrid_seal(public, data, 5, NULL, 0, NULL, 1, NULL, &message, E));
	FAILS(SEALANE_MISUSE, sealane_hybrid_seal(public, data, 5, NULL, 0, NULL, 0, "aegis-256", &message, E));
	FAILS(SEALANE_MISUSE, sealane_hybrid_seal(public, data, 5, NULL, 0, NULL, 0, NULL, NULL, E));
	int64_t len = sealane_hybrid_seal(public, data, 5, NULL, 0, NULL, 0, NULL, &message, E);
	CHECK(len == 32 + 5 + 16);
	uint8_t *plain = out;
	FAILS(SEALANE_MISUSE, sealane_hybrid_open(NULL, message, (size_t)len, NULL, 0, NULL, 0, NULL, &plain, E));
	FAILS(SEALANE_MISUSE, sealane_hybrid_open(secret, message, (size_t)len, NULL, 0, NULL, 0, NULL, &plain, E));
	FAILS(SEALANE_MISUSE, sealane_hybrid_open(pair, NULL, (size_t)len, NULL, 0, NULL, 0, NULL, &plain, E));
	FAILS(SEALANE_MISUSE, sealane_hybrid_open(pair, message, (size_t)len, NULL, 0, NULL, 0, NULL, NULL, E));
	FAILS(SEALANE_TRUNCATED, sealane_hybrid_open(pair, message, 47, NULL, 0, NULL, 0, NULL, &plain, E));
	FAILS(SEALANE_AUTHENTICATION, sealane_hybrid_open(pair, message, (size_t)len, data, 1, NULL, 0, NULL, &plain, E));
	FAILS(SEALANE_AUTHENTICATION, sealane_hybrid_open(pair, message, (size_t)len, NULL, 0, data, 1, NULL, &plain, E));
	CHECK(plain == NULL);
	message[40] ^= 1;
	FAILS(SEALANE_AUTHENTICATION, sealane_hybrid_open(pair, message, (size_t)len, NULL, 0, NULL, 0, NULL, &plain, E));
	sealane_free(message);
	sealane_secret_free(secret), sealane_secret_free(pair), sealane_secret_free(NULL);
}

static void signatures(void) {
	const uint8_t *sign = (const uint8_t *)SIGN, *signer = (const uint8_t *)SIGNER;
	size_t len = sizeof SIGN - 1, signer_len = sizeof SIGNER - 1;
	MAKES_NOTHING(SEALANE_MISUSE, sealane_sign_new(NULL, len, NULL, NULL, NULL, E));
	MAKES_NOTHING(SEALANE_FORMAT, sealane_sign_new(data, 256, NULL, NULL, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_sign_new(sign, len, "passphrase", NULL, NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_sign_new(sign, len, NULL, "", NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_sign_new(sign, len, NULL, NULL, "comment", E));
	sealane_signature *signing = sealane_sign_new(sign, len, NULL, NULL, NULL, E);
	FAILS(SEALANE_MISUSE, sealane_signature_update(NULL, data, 5, E));
	FAILS(SEALANE_MISUSE, sealane_signature_update(signing, NULL, 5, E));
	FAILS(SEALANE_MISUSE, sealane_signature_update(signing, data, NEGATIVE, E));
	CHECK(sealane_signature_update(signing, data, 5, E) == 0 && sealane_signature_update(signing, NULL, 0, E) == 0);
	uint8_t *text = out, *found = out;
	FAILS(SEALANE_MISUSE, sealane_signature_finish(NULL, &text, E));
	FAILS(SEALANE_MISUSE, sealane_signature_finish(signing, NULL, E));
	int64_t text_len = sealane_signature_finish(signing, &text, E);
	CHECK(text_len > 200 && !memcmp(text, "-----BEGIN SSH SIGNATURE-----", 29));
	FAILS(SEALANE_MISUSE, sealane_signature_finish(signing, &found, E));
	FAILS(SEALANE_MISUSE, sealane_signature_update(signing, data, 5, E));
	size_t n = (size_t)text_len;
	MAKES_NOTHING(SEALANE_MISUSE, sealane_verify_new(NULL, n, signer, signer_len, NULL, NULL, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_verify_new(text, n, NULL, signer_len, NULL, NULL, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_verify_new(text, n, signer, signer_len, NULL, NULL, 1, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_verify_new(text, n, signer, signer_len, "", NULL, 0, E));
	MAKES_NOTHING(SEALANE_FORMAT, sealane_verify_new(text, n - 40, signer, signer_len, NULL, NULL, 0, E));
	MAKES_NOTHING(SEALANE_FORMAT, sealane_verify_new(text, n, data, 256, NULL, NULL, 0, E));
	MAKES_NOTHING(SEALANE_FORMAT, sealane_verify_new(text, n, signer, signer_len, NULL, data, 256, E));
	CHECK(ends(sealane_verify_new(text, n, signer, signer_len, NULL, NULL, 0, E), data, 4, &found) == SEALANE_AUTHENTICATION);
	CHECK(ends(sealane_verify_new(text, n, signer, signer_len, NULL, signer, signer_len, E), data, 5, &found) ==
		SEALANE_AUTHENTICATION && found == NULL);
	SAYS("revoked");
	CHECK(ends(sealane_verify_new(text, n, signer, signer_len, NULL, NULL, 0, E), data, 5, &found) == 51 && found[50] == '\n');
	sealane_free(found), sealane_free(text), sealane_signature_free(signing), sealane_signature_free(NULL);
}

static int64_t refuses(void *context, uint64_t offset, uint8_t *into, size_t len) {
	(void)offset, (void)into;
	return context ? -EACCES : (int64_t)len + 1;
}

static void files(void) {
	const uint8_t *none = NULL;
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_key(key, 24, NULL, none, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_key(NULL, 32, NULL, none, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_key(key, 32, "zip", none, 0, E));
	SAYS("chunked");
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_key(key, 32, "age", none, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_key(key, 32, NULL, none, 1, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_secret(NULL, NULL, none, 0, E));
	sealane_secret *identity = sealane_secret_generate("age", E);
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_secret(identity, NULL, none, 0, E));
	MAKES_NOTHING(SEALANE_FORMAT, sealane_encrypt_with_keyset("{}", none, 0, E));
	const char *unknown_type = "{\"primaryKeyId\":1,\"key\":[{\"keyData\":{\"typeUrl\":\"other\",\"value\":\"AAAA\","
		"\"keyMaterialType\":\"SYMMETRIC\"},\"status\":\"ENABLED\",\"keyId\":1,\"outputPrefixType\":\"RAW\"}]}";
	MAKES_NOTHING(SEALANE_FORMAT, sealane_encrypt_with_keyset(unknown_type, none, 0, E));
	SAYS("type of key");
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_keyset(NULL, none, 0, E));
	MAKES_NOTHING(SEALANE_FORMAT, sealane_encrypt_with_recipients("age1unknown", 0, E));
	SAYS("line 1");
	MAKES_NOTHING(SEALANE_FORMAT, sealane_encrypt_with_recipients("", 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_recipients(NULL, 0, E));
	char public[200];
	CHECK(sealane_secret_public(identity, (uint8_t *)public, sizeof public, E) > 0);
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_recipients(public, 16, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_passphrase("", 0, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_passphrase(NULL, 0, 0, E));
	MAKES_NOTHING(SEALANE_LIMIT_EXCEEDED, sealane_encrypt_with_passphrase("x", 23, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_passphrase("x", 300, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_encrypt_with_passphrase("x", 10, SEALANE_SYNCED, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_decrypt_with_key(key, 31, NULL, none, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_decrypt_with_key(key, 32, "zip", none, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_decrypt_with_secret(NULL, NULL, none, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_decrypt_with_secret(identity, "chunked", none, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_decrypt_with_secret(identity, NULL, data, 1, E));
	MAKES_NOTHING(SEALANE_FORMAT, sealane_decrypt_with_keyset("[]", none, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_decrypt_with_keyset(NULL, none, 0, E));
	MAKES_NOTHING(SEALANE_FORMAT, sealane_decrypt_with_identities("no identity", E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_decrypt_with_identities(NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_decrypt_with_passphrase(NULL, 0, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_decrypt_with_passphrase("x", 31, E));
	sealane_secret_free(identity);

	sealane_encrypt_with *encrypt = sealane_encrypt_with_key(key, 32, NULL, none, 0, E);
	sealane_decrypt_with *with = sealane_decrypt_with_key(key, 32, NULL, none, 0, E);
	FAILS(SEALANE_MISUSE, sealane_encrypt_file(NULL, "/nowhere/out", encrypt, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_encrypt_file("/nowhere/in", NULL, encrypt, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_encrypt_file("/nowhere/in", "/nowhere/out", NULL, NULL, E));
	FAILS(SEALANE_IO, sealane_encrypt_file("/nowhere/in", "/nowhere/out", encrypt, NULL, E));
	CHECK(failure.os_code == ENOENT);
	sealane_options options = {.size = 4};
	FAILS(SEALANE_MISUSE, sealane_encrypt_file("/nowhere/in", "/nowhere/out", encrypt, &options, E));
	options = (sealane_options){.size = sizeof options, .flags = SEALANE_ARMOR};
	FAILS(SEALANE_MISUSE, sealane_encrypt_file("/nowhere/in", "/nowhere/out", encrypt, &options, E));
	FAILS(SEALANE_MISUSE, sealane_decrypt_file("/nowhere/in", "/nowhere/out", NULL, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_decrypt_file(NULL, "/nowhere/out", with, NULL, E));
	FAILS(SEALANE_IO, sealane_decrypt_file("/nowhere/in", "/nowhere/out", with, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_decrypt_file("/nowhere/in", "/nowhere/out", with, &options, E));
	FAILS(SEALANE_MISUSE, sealane_verify_file("/nowhere/in", NULL, NULL, E));
	FAILS(SEALANE_MISUSE, sealane_verify_file(NULL, with, NULL, E));
	FAILS(SEALANE_IO, sealane_verify_file("/nowhere/in", with, NULL, E));

	uint8_t *file = out, *plain = out;
	FAILS(SEALANE_MISUSE, sealane_encrypt(NULL, data, 5, &file, E));
	CHECK(file == NULL);
	FAILS(SEALANE_MISUSE, sealane_encrypt(encrypt, NULL, 5, &file, E));
	FAILS(SEALANE_MISUSE, sealane_encrypt(encrypt, data, NEGATIVE, &file, E));
	FAILS(SEALANE_MISUSE, sealane_encrypt(encrypt, data, 5, NULL, E));
	int64_t len = sealane_encrypt(encrypt, data, 100, &file, E);
	CHECK(len > 100);
	FAILS(SEALANE_MISUSE, sealane_decrypt(NULL, file, (size_t)len, &plain, E));
	FAILS(SEALANE_MISUSE, sealane_decrypt(with, NULL, (size_t)len, &plain, E));
	FAILS(SEALANE_MISUSE, sealane_decrypt(with, file, (size_t)len, NULL, E));
	for (int64_t cut = 0; cut < len; cut++) {
		memset(&failure, 0, sizeof failure);
		CHECK(sealane_decrypt(with, file, (size_t)cut, &plain, E) < 0 && failure.code != SEALANE_INTERNAL && !plain);
		file[cut] ^= 1;
		CHECK(sealane_decrypt(with, file, (size_t)len, &plain, E) < 0 && failure.code != SEALANE_INTERNAL && !plain);
		file[cut] ^= 1;
	}

	MAKES_NOTHING(SEALANE_IO, sealane_reader_open("/nowhere/in", with, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_reader_open(NULL, with, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_reader_open("/nowhere/in", NULL, E));
	sealane_source source = {.size = sizeof source, .length = (uint64_t)len, .read_at = refuses, .context = data};
	MAKES_NOTHING(SEALANE_MISUSE, sealane_reader_over(NULL, with, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_reader_over(&source, NULL, E));
	MAKES_NOTHING(SEALANE_IO, sealane_reader_over(&source, with, E));
	CHECK(failure.os_code == EACCES);
	source.context = NULL;
	MAKES_NOTHING(SEALANE_IO, sealane_reader_over(&source, with, E));
	SAYS("more bytes");
	source.flags = 1;
	MAKES_NOTHING(SEALANE_MISUSE, sealane_reader_over(&source, with, E));
	source.flags = 0, source.read_at = NULL;
	MAKES_NOTHING(SEALANE_MISUSE, sealane_reader_over(&source, with, E));
	source.size--;
	MAKES_NOTHING(SEALANE_MISUSE, sealane_reader_over(&source, with, E));
	char path[] = "/tmp/sealane-bad-XXXXXX";
	int descriptor = mkstemp(path);
	CHECK(descriptor >= 0 && write(descriptor, file, (size_t)len) == len && close(descriptor) == 0);
	sealane_reader *reader = sealane_reader_open(path, with, E);
	CHECK(reader);
	FAILS(SEALANE_MISUSE, sealane_reader_size(NULL, E));
	FAILS(SEALANE_MISUSE, sealane_reader_read_at(NULL, 0, out, 10, E));
	FAILS(SEALANE_MISUSE, sealane_reader_read_at(reader, 0, NULL, 10, E));
	FAILS(SEALANE_MISUSE, sealane_reader_read_at(reader, 0, out, NEGATIVE, E));
	CHECK(sealane_reader_read_at(reader, 100, out, 10, E) == 0 && sealane_reader_read_at(reader, UINT64_MAX, out, 10,
		E) == 0);
	sealane_reader_free(reader), sealane_reader_free(NULL);
	unlink(path);

	MAKES_NOTHING(SEALANE_MISUSE, sealane_encryptor_new(NULL, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_decryptor_new(NULL, E));
	sealane_filter *filter = sealane_decryptor_new(with, E);
	FAILS(SEALANE_MISUSE, sealane_filter_push(NULL, data, 5, E));
	FAILS(SEALANE_MISUSE, sealane_filter_push(filter, NULL, 5, E));
	FAILS(SEALANE_MISUSE, sealane_filter_take(NULL, out, 5, E));
	FAILS(SEALANE_MISUSE, sealane_filter_take(filter, NULL, 5, E));
	FAILS(SEALANE_MISUSE, sealane_filter_finish(NULL, E));
	file[10] ^= 1;
	memset(&failure, 0, sizeof failure);
	int64_t pushed = sealane_filter_push(filter, file, (size_t)len, E);
	CHECK(pushed == SEALANE_AUTHENTICATION || sealane_filter_finish(filter, E) == SEALANE_AUTHENTICATION);
	CHECK(sealane_filter_take(filter, out, sizeof out, E) == 0);
	FAILS(SEALANE_MISUSE, sealane_filter_push(filter, data, 5, E));
	sealane_filter_free(filter), sealane_filter_free(NULL);
	sealane_free(file);

	MAKES_NOTHING(SEALANE_IO, sealane_writer_create("/nowhere/out", encrypt, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_writer_create(NULL, encrypt, E));
	MAKES_NOTHING(SEALANE_MISUSE, sealane_writer_create("/nowhere/out", NULL, E));
	sealane_writer *writer = sealane_writer_create(path, encrypt, E);
	CHECK(writer);
	FAILS(SEALANE_MISUSE, sealane_writer_push(NULL, data, 5, E));
	FAILS(SEALANE_MISUSE, sealane_writer_push(writer, NULL, 5, E));
	FAILS(SEALANE_MISUSE, sealane_writer_finish(NULL, 0, E));
	FAILS(SEALANE_MISUSE, sealane_writer_finish(writer, SEALANE_ARMOR, E));
	CHECK(sealane_writer_finish(writer, SEALANE_SYNCED, E) == 0 && access(path, F_OK) == 0);
	FAILS(SEALANE_MISUSE, sealane_writer_push(writer, data, 5, E));
	FAILS(SEALANE_MISUSE, sealane_writer_finish(writer, 0, E));
	sealane_writer_free(writer), sealane_writer_free(NULL);
	unlink(path);
	writer = sealane_writer_create(path, encrypt, E);
	CHECK(sealane_writer_push(writer, data, 5, E) == 5);
	sealane_writer_free(writer);
	CHECK(access(path, F_OK) != 0);

	sealane_encrypt_with_free(encrypt), sealane_encrypt_with_free(NULL);
	sealane_decrypt_with_free(with), sealane_decrypt_with_free(NULL);
}

int main(void) {
	for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)i;
	messages(), raw(), pieces(), keys(), signatures(), files(), library();
	return passed("bad_input");
}
