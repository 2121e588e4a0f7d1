/* Handles that are freed while a call uses them: by a function that the call calls, and by another thread. */
#include "check.h"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#define LEN 300000
static uint8_t data[LEN], out[LEN], *file;
static int64_t file_len;
static const uint8_t key[32] = {1};
static sealane_reader *reader;
static sealane_decrypt_with *decrypt;
static sealane_encrypt_with *encrypt;
static sem_t inside, freed;
/* What the next call of a function below frees: a handle of its own call, or that of a waiting thread. */
static enum { NOTHING, READER, DECRYPT, ENCRYPT, OTHER_THREAD } frees;

static void free_one(void) {
	int what = frees;
	frees = NOTHING;
	if (what == READER) sealane_reader_free(reader);
	if (what == DECRYPT) sealane_decrypt_with_free(decrypt);
	if (what == ENCRYPT) sealane_encrypt_with_free(encrypt);
	if (what == OTHER_THREAD) sem_post(&inside), sem_wait(&freed);
}

static int64_t read_at(void *context, uint64_t offset, uint8_t *into, size_t len) {
	(void)context;
	free_one();
	if (offset >= (uint64_t)file_len) return 0;
	if (len > (uint64_t)file_len - offset) len = (size_t)((uint64_t)file_len - offset);
	memcpy(into, file + offset, len);
	return (int64_t)len;
}

static int32_t progress(void *context, uint64_t done, uint64_t total) {
	(void)context, (void)done, (void)total;
	free_one();
	return 0;
}

static void *free_reader(void *nothing) {
	sem_wait(&inside);
	sealane_reader_free(reader);
	sem_post(&freed);
	return nothing;
}

static sealane_decrypt_with *new_decrypt(void) { return sealane_decrypt_with_key(key, 32, NULL, NULL, 0, E); }

int main(void) {
	for (size_t i = 0; i < LEN; i++) data[i] = (uint8_t)(i * 13 + i / 1000);
	char plain[] = "/tmp/sealane-lifetimes-XXXXXX", sealed[64], back[64];
	int fd = mkstemp(plain);
	CHECK(fd >= 0 && write(fd, data, LEN) == LEN && close(fd) == 0);
	snprintf(sealed, sizeof sealed, "%s.sealed", plain), snprintf(back, sizeof back, "%s.back", plain);
	CHECK(sem_init(&inside, 0, 0) == 0 && sem_init(&freed, 0, 0) == 0);
	encrypt = sealane_encrypt_with_key(key, 32, NULL, NULL, 0, E);
	file_len = sealane_encrypt(encrypt, data, LEN, &file, E);
	CHECK(file_len > LEN);

	sealane_source source = {.size = sizeof source, .length = (uint64_t)file_len, .read_at = read_at};
	for (uint32_t flags = 0; flags <= SEALANE_CALLING_THREAD; flags += SEALANE_CALLING_THREAD) {
		source.flags = flags;
		decrypt = new_decrypt();
		frees = DECRYPT;
		reader = sealane_reader_over(&source, decrypt, E);
		CHECK(reader && frees == NOTHING);
		frees = READER;
		CHECK(sealane_reader_read_at(reader, 5, out, 100000, E) == 100000 && frees == NOTHING);
		CHECK(!memcmp(out, data + 5, 100000));

		decrypt = new_decrypt();
		reader = sealane_reader_over(&source, decrypt, E);
		sealane_decrypt_with_free(decrypt);
		pthread_t thread;
		CHECK(pthread_create(&thread, NULL, free_reader, NULL) == 0);
		frees = OTHER_THREAD;
		CHECK(sealane_reader_read_at(reader, 5, out, 100000, E) == 100000 && frees == NOTHING);
		CHECK(!memcmp(out, data + 5, 100000) && pthread_join(thread, NULL) == 0);
	}

	sealane_options options = {.size = sizeof options, .threads = 1, .progress = progress};
	frees = ENCRYPT;
	CHECK(sealane_encrypt_file(plain, sealed, encrypt, &options, E) == 0 && frees == NOTHING);
	decrypt = new_decrypt(), frees = DECRYPT;
	CHECK(sealane_verify_file(sealed, decrypt, &options, E) == 0 && frees == NOTHING);
	decrypt = new_decrypt(), frees = DECRYPT;
	CHECK(sealane_decrypt_file(sealed, back, decrypt, &options, E) == 0 && frees == NOTHING);
	sealane_free(file);
	CHECK(sealane_live_handles() == 0);
	unlink(plain), unlink(sealed), unlink(back);
	return passed("lifetimes");
}
