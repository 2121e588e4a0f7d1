/* A file that is written in pieces. It gets its name when it is complete; until then nothing is there. */
#include <sealane.h>
#include <stdio.h>

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: writer FILE: writes an encrypted list of numbers to FILE\n");
		return 2;
	}
	sealane_error error;
	sealane_encrypt_with *encrypt = sealane_encrypt_with_passphrase("correct horse", 10, SEALANE_ARMOR, &error);
	sealane_writer *writer = sealane_writer_create(argv[1], encrypt, &error);
	for (int i = 0; writer && i < 100000; i++) {
		char line[20];
		int len = snprintf(line, sizeof line, "%d\n", i);
		if (sealane_writer_push(writer, (const uint8_t *)line, (size_t)len, &error) < 0) break;
	}
	if (!writer || sealane_writer_finish(writer, SEALANE_SYNCED, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	sealane_writer_free(writer);
	sealane_encrypt_with_free(encrypt);
	return 0;
}
