/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How secrets are stored: every block is overwritten before it is freed. Therefore this file does
 * not use realloc, and reads files without stdio, whose buffers are not wiped. A file may be
 * anything that can be read to its end: a pipe, a link, a projected volume.
 */
#include "http/secret.h"

#include "base/base64.h"
#include "base/secret.h"

#include <mpijob/base.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_CAPACITY 4096

void mpijob__http_secret_clear(mpijob__http_secret *secret)
{
	mpijob__base_secret_free(secret->data, secret->len);
	secret->data = NULL;
	secret->len = 0;
}

/* Replace the content by `a` followed by `b`. */
static int replace(mpijob__http_secret *secret, const char *a, size_t a_len, const char *b,
    size_t b_len)
{
	char *data;

	if (b_len > SIZE_MAX - 1 - a_len)
		return MPIJOB_ERR_NOMEM;
	data = malloc(a_len + b_len + 1);
	if (!data)
		return MPIJOB_ERR_NOMEM;
	if (a_len)
		memcpy(data, a, a_len);
	if (b_len)
		memcpy(data + a_len, b, b_len);
	data[a_len + b_len] = 0;
	mpijob__http_secret_clear(secret);
	secret->data = data;
	secret->len = a_len + b_len;
	return 0;
}

int mpijob__http_secret_set(mpijob__http_secret *secret, const char *data, size_t len)
{
	if (!len) {
		mpijob__http_secret_clear(secret);
		return 0;
	}
	return replace(secret, NULL, 0, data, len);
}

int mpijob__http_secret_append(mpijob__http_secret *secret, const char *data, size_t len)
{
	return len ? replace(secret, secret->data, secret->len, data, len) : 0;
}

int mpijob__http_secret_encode(mpijob__http_secret *secret, const char *data, size_t len)
{
	char *text = mpijob__base_base64_encode_new(data, len);
	int rc;

	if (!text)
		return MPIJOB_ERR_NOMEM;
	rc = mpijob__http_secret_set(secret, text, strlen(text));
	mpijob__base_secret_free_text(text);
	return rc;
}

int mpijob__http_secret_decode(mpijob__http_secret *secret, const char *text, size_t len)
{
	char *data;
	size_t data_len;
	int rc = mpijob__base_base64_decode_new(text, len, &data, &data_len);

	if (rc)
		return rc;
	rc = mpijob__http_secret_set(secret, data, data_len);
	mpijob__base_secret_free(data, data_len);
	return rc;
}

int mpijob__http_secret_equal(const mpijob__http_secret *a, const mpijob__http_secret *b)
{
	return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

static int is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A file while it is read. */
struct reading {
	char *data;
	size_t len;
	size_t capacity;
};

static void reading_release(struct reading *reading)
{
	mpijob__base_secret_free(reading->data, reading->len);
}

static int grow(struct reading *reading)
{
	size_t capacity = reading->capacity ? reading->capacity * 2 : FIRST_CAPACITY;
	char *data;

	if (reading->len < reading->capacity)
		return 0;
	data = malloc(capacity);
	if (!data)
		return MPIJOB_ERR_NOMEM;
	if (reading->len)
		memcpy(data, reading->data, reading->len);
	reading_release(reading);
	reading->data = data;
	reading->capacity = capacity;
	return 0;
}

static int read_all(int fd, struct reading *reading)
{
	for (;;) {
		ssize_t got;

		if (grow(reading))
			return MPIJOB_ERR_NOMEM;
		got = read(fd, reading->data + reading->len, reading->capacity - reading->len);
		if (got == 0)
			return 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return MPIJOB_ERR_IO;
		reading->len += (size_t)got;
		if (reading->len > MPIJOB__HTTP_SECRET_FILE_LIMIT) {
			errno = EFBIG;
			return MPIJOB_ERR_IO;
		}
	}
}

int mpijob__http_secret_read(mpijob__http_secret *secret, const char *path, int trim)
{
	struct reading reading = { NULL, 0, 0 };
	size_t begin = 0, end;
	int rc, why;
	int fd;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return MPIJOB_ERR_IO;
	rc = read_all(fd, &reading);
	why = errno;
	close(fd);
	end = reading.len;
	while (trim && begin < end && is_space(reading.data[begin]))
		begin++;
	while (trim && end > begin && is_space(reading.data[end - 1]))
		end--;
	if (rc == 0)
		rc = mpijob__http_secret_set(secret, reading.data ? reading.data + begin : NULL,
		    end - begin);
	reading_release(&reading);
	errno = why;
	return rc;
}
