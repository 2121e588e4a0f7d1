/* A range out of the middle of an encrypted file, which may lie behind a function, for example in an object store. */
#include <sealane.h>
#include <stdio.h>
#include <string.h>

struct object {
	const uint8_t *bytes;
	size_t len;
};

static int64_t read_object(void *context, uint64_t offset, uint8_t *into, size_t len) {
	const struct object *object = context;
	if (offset >= object->len) return 0;
	if (len > object->len - offset) len = (size_t)(object->len - offset);
	memcpy(into, object->bytes + offset, len);
	return (int64_t)len;
}

int main(void) {
	sealane_error error;
	static uint8_t text[1000000];
	for (size_t i = 0; i < sizeof text; i++) text[i] = "0123456789"[i % 10];
	uint8_t key[32], *file = NULL, range[10];
	sealane_random(key, sizeof key, &error);
	sealane_encrypt_with *encrypt = sealane_encrypt_with_key(key, 32, NULL, (const uint8_t *)"example", 7, &error);
	sealane_decrypt_with *decrypt = sealane_decrypt_with_key(key, 32, NULL, (const uint8_t *)"example", 7, &error);
	int64_t len = sealane_encrypt(encrypt, text, sizeof text, &file, &error);
	if (len < 0) return 1;

	/* Use sealane_reader_open() for a file with a path. */
	struct object object = {file, (size_t)len};
	sealane_source source = {.size = sizeof source, .length = (uint64_t)len, .read_at = read_object,
		.context = &object};
	sealane_reader *reader = sealane_reader_over(&source, decrypt, &error);
	if (!reader || sealane_reader_size(reader, &error) != sizeof text) return 1;
	if (sealane_reader_read_at(reader, 777770, range, sizeof range, &error) != sizeof range) return 1;
	printf("%.10s\n", (char *)range);

	sealane_reader_free(reader);
	sealane_free(file);
	sealane_encrypt_with_free(encrypt);
	sealane_decrypt_with_free(decrypt);
	return 0;
}
