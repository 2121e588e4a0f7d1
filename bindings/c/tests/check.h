/* What the test programs share: checks that end the program, and hexadecimal digits. */
#ifndef CHECK_H
#define CHECK_H

#include "sealane.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sealane_error failure;
/* The last argument of calls. The macros for failures make each call twice, the second time with a null pointer. */
static sealane_error *E = &failure;
static long checks;

#define CHECK(condition)                                                                                         \
	do {                                                                                                     \
		if (!(condition)) {                                                                              \
			fprintf(stderr, "%s:%d: %s\n  last error: %d: %s\n", __FILE__, __LINE__, #condition, (int)failure.code, \
				(char *)failure.text);                                                           \
			exit(1);                                                                                 \
		}                                                                                                \
		checks++;                                                                                        \
	} while (0)

/* The call returns this code and describes it, also without a place for the description. */
#define FAILS(expected, call)                                                                                    \
	do {                                                                                                     \
		memset(&failure, 0, sizeof failure);                                                             \
		E = &failure;                                                                                    \
		CHECK((call) == (expected));                                                                     \
		CHECK(failure.code == (expected) && failure.text[0] != 0 && memchr(failure.text, 0, sizeof failure.text)); \
		E = NULL;                                                                                        \
		CHECK((call) == (expected));                                                                     \
		E = &failure;                                                                                    \
	} while (0)

/* The call makes no handle and describes why. */
#define MAKES_NOTHING(expected, call)                                                                            \
	do {                                                                                                     \
		memset(&failure, 0, sizeof failure);                                                             \
		E = &failure;                                                                                    \
		CHECK((call) == NULL);                                                                           \
		CHECK(failure.code == (expected) && failure.text[0] != 0 && memchr(failure.text, 0, sizeof failure.text)); \
		E = NULL;                                                                                        \
		CHECK((call) == NULL);                                                                           \
		E = &failure;                                                                                    \
	} while (0)

/* The text of the last failure contains these words. */
#define SAYS(words) CHECK(strstr((char *)failure.text, (words)) != NULL)

static inline int passed(const char *program) {
	CHECK(sealane_live_handles() == 0);
	printf("%s: %ld checks passed, 0 failed\n", program, checks);
	return 0;
}

/* A signing key that is only for tests, and its public key. */
#define SIGN \
	"-----BEGIN OPENSSH PRIVATE KEY-----\n" \
	"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n" \
	"QyNTUxOQAAACCzPq7zfqLffKoBDe/eo04kH2XxtSmk9D7RQyf1xUqrYgAAAJgAIAxdACAM\n" \
	"XQAAAAtzc2gtZWQyNTUxOQAAACCzPq7zfqLffKoBDe/eo04kH2XxtSmk9D7RQyf1xUqrYg\n" \
	"AAAEC2BsIi0QwW2uFscKTUUXNHLsYX4FxlaSDSblbAj7WR7bM+rvN+ot98qgEN796jTiQf\n" \
	"ZfG1KaT0PtFDJ/XFSqtiAAAAEHVzZXJAZXhhbXBsZS5jb20BAgMEBQ==\n" \
	"-----END OPENSSH PRIVATE KEY-----\n"
#define SIGNER "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti\n"

/* Passes a message, and frees the handle. */
static inline int64_t ends(sealane_signature *signature, const uint8_t *data, size_t len, uint8_t **found) {
	CHECK(sealane_signature_update(signature, data, len, E) == 0);
	int64_t result = sealane_signature_finish(signature, found, E);
	sealane_signature_free(signature);
	return result;
}

/* Converts digits; "-" stands for no bytes. Returns the number of bytes. */
static inline size_t from_hex(uint8_t *to, size_t room, const char *digits) {
	size_t len = strcmp(digits, "-") ? strlen(digits) / 2 : 0;
	CHECK(len <= room);
	for (size_t i = 0; i < len; i++) CHECK(sscanf(digits + 2 * i, "%2hhx", &to[i]) == 1);
	return len;
}

#endif
