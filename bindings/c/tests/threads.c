/* Threads that share handles, and forked processes. */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define LEN (4 << 20)
static uint8_t data[LEN];
static sealane_aead *aead;
static sealane_stream *stream;
static sealane_reader *reader;
static sealane_decrypt_with *decrypt;
static sealane_encrypt_with *encrypt;

/* The macros are for one thread, so this returns a name for what went wrong. */
static void *work(void *number) {
	uint8_t out[300], back[300], range[5000];
	sealane_error error;
	for (size_t i = 0; i < 2000; i++) {
		size_t len = (i * 7 + (size_t)number) % 200;
		int64_t n = sealane_aead_seal(aead, data, len, data, 5, out, sizeof out, &error);
		if (sealane_aead_open(aead, out, (size_t)n, data, 5, back, sizeof back, &error) != (int64_t)len || memcmp(back,
			data, len)) return "aead";
		out[n - 1] ^= 1;
		if (sealane_aead_open(aead, out, (size_t)n, data, 5, back, sizeof back, &error) != error.code ||
			error.code != SEALANE_AUTHENTICATION)
			return "forgery";
		if (sealane_stream_xor_at(stream, i, data + i, 100, out, 100, &error) != 100) return "stream";
		if (sealane_stream_xor_at(stream, i, out, 100, out, 100, &error) != 100 || memcmp(out, data + i, 100))
			return "stream back";
		uint64_t at = (i * 99991 + (size_t)number * 1000) % (LEN - sizeof range);
		if (sealane_reader_read_at(reader, at, range, sizeof range, &error) != (int64_t)sizeof range || memcmp(range,
			data + at, sizeof range)) return "reader";
		if (i % 500 == 0) {
			uint8_t *file = NULL, *plain = NULL;
			int64_t len = sealane_encrypt(encrypt, data, 100000, &file, &error);
			if (sealane_decrypt(decrypt, file, (size_t)len, &plain, &error) != 100000 || memcmp(plain, data, 100000))
				return "file";
			sealane_free(plain), sealane_free(file);
		}
	}
	return NULL;
}

/* Runs a function in a forked child, whose checks must pass. */
static void in_child(void (*run)(void)) {
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		run();
		_exit(0);
	}
	int status;
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static uint8_t *shared_nonces; /* what the child sealed */
static sealane_pieces *pieces, *opening;
static sealane_poly1305 *mac;
static sealane_filter *encryptor, *decryptor;
static sealane_writer *writer;

static void child(void) {
	uint8_t out[100], tag[16];
	/* Shared handles continue, with other nonces. */
	CHECK(sealane_aead_seal(aead, data, 40, NULL, 0, shared_nonces, 68, E) == 68);
	CHECK(sealane_aead_open(aead, shared_nonces, 68, NULL, 0, out, 40, E) == 40);
	static uint8_t range[LEN];
	CHECK(sealane_reader_read_at(reader, 0, range, LEN, E) == LEN && !memcmp(range, data, LEN));
	uint8_t *file = NULL;
	CHECK(sealane_encrypt(encrypt, data, LEN, &file, E) > LEN);
	sealane_free(file);
	/* Values that would use a nonce or a one-time key twice are refused. */
	FAILS(SEALANE_MISUSE, sealane_pieces_update(pieces, data, 5, out, 5, E));
	SAYS("fork");
	CHECK(sealane_pieces_finalize(pieces, tag, 16, E) == SEALANE_MISUSE);
	CHECK(sealane_poly1305_finalize(mac, tag, 16, E) == SEALANE_MISUSE);
	FAILS(SEALANE_MISUSE, sealane_filter_push(encryptor, data, 5, E));
	CHECK(sealane_filter_finish(encryptor, E) == SEALANE_MISUSE);
	FAILS(SEALANE_MISUSE, sealane_writer_push(writer, data, 5, E));
	CHECK(sealane_writer_finish(writer, 0, E) == SEALANE_MISUSE);
	/* Decryption continues. */
	CHECK(sealane_pieces_update(opening, data, 5, out, 5, E) == 5);
	CHECK(sealane_filter_push(decryptor, data, 5, E) == 0);
	sealane_writer_free(writer), sealane_filter_free(encryptor), sealane_pieces_free(pieces),
		sealane_poly1305_free(mac);
}

int main(void) {
	for (size_t i = 0; i < LEN; i++) data[i] = (uint8_t)(i * 13 + i / 1000);
	uint8_t key[32] = {3}, nonce[12] = {1}, out[100], ours[68];
	char path[] = "/tmp/sealane-threads-XXXXXX", written[64];
	close(mkstemp(path));
	snprintf(written, sizeof written, "%s.new", path);
	aead = sealane_aead_new("aes-256-gcm", key, 32, NULL, E);
	stream = sealane_hazmat_stream_new("chacha20", key, 32, nonce, 12, 0, NULL, E);
	encrypt = sealane_encrypt_with_key(key, 32, NULL, NULL, 0, E);
	decrypt = sealane_decrypt_with_key(key, 32, NULL, NULL, 0, E);
	uint8_t *file = NULL;
	int64_t len = sealane_encrypt(encrypt, data, LEN, &file, E);
	FILE *f = fopen(path, "wb");
	CHECK(len > LEN && fwrite(file, 1, (size_t)len, f) == (size_t)len && fclose(f) == 0);
	sealane_free(file);
	reader = sealane_reader_open(path, decrypt, E);
	CHECK(aead && stream && reader);

	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
	for (size_t i = 0; i < THREADS; i++) {
		void *failed;
		CHECK(pthread_join(threads[i], &failed) == 0);
		if (failed) fprintf(stderr, "a thread failed: %s\n", (char *)failed);
		CHECK(!failed);
	}

	/* The threads that the library keeps exist now; a child has none of them. */
	static uint8_t range[LEN];
	CHECK(sealane_reader_read_at(reader, 0, range, LEN, E) == LEN);
	pieces = sealane_hazmat_encryptor_new("aes-256-gcm", key, 32, nonce, 12, E);
	opening = sealane_hazmat_decryptor_new("aes-256-gcm", key, 32, nonce, 12, E);
	mac = sealane_hazmat_poly1305_new(key, 32, E);
	encryptor = sealane_encryptor_new(encrypt, E), decryptor = sealane_decryptor_new(decrypt, E);
	writer = sealane_writer_create(written, encrypt, E);
	CHECK(pieces && opening && mac && encryptor && decryptor && writer);
	int pipes[2];
	CHECK(pipe(pipes) == 0);
	shared_nonces = ours;
	for (int round = 0; round < 3; round++) in_child(child);

	/* Parent and child seal the next message under different nonces. */
	pid_t process = fork();
	if (process == 0) {
		sealane_aead_seal(aead, data, 40, NULL, 0, out, 68, NULL);
		_exit(write(pipes[1], out, 68) != 68);
	}
	CHECK(sealane_aead_seal(aead, data, 40, NULL, 0, ours, 68, E) == 68 && read(pipes[0], out, 68) == 68);
	int status;
	CHECK(waitpid(process, &status, 0) == process && memcmp(ours, out, 12));

	/* The parent continues, and the children left nothing behind. */
	CHECK(sealane_pieces_update(pieces, data, 5, out, 5, E) == 5 && sealane_pieces_finalize(pieces, out, 16, E) == 16);
	CHECK(sealane_poly1305_finalize(mac, out, 16, E) == 16);
	CHECK(sealane_filter_push(encryptor, data, 5, E) >= 0 && sealane_filter_finish(encryptor, E) > 0);
	CHECK(sealane_writer_push(writer, data, 5, E) == 5 && sealane_writer_finish(writer, 0, E) == 0);
	CHECK(sealane_verify_file(written, decrypt, NULL, E) == 0);
	sealane_pieces_free(pieces), sealane_pieces_free(opening), sealane_poly1305_free(mac);
	sealane_filter_free(encryptor), sealane_filter_free(decryptor), sealane_writer_free(writer);
	sealane_aead_free(aead), sealane_stream_free(stream), sealane_reader_free(reader);
	sealane_encrypt_with_free(encrypt), sealane_decrypt_with_free(decrypt);
	unlink(path), unlink(written);
	return passed("threads");
}
