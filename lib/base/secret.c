/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How bytes are really gone.
 *
 * A plain memset() before free() may be left out by the compiler, and a buffer
 * that grows leaves copies behind: both are settled here and nowhere else.
 */
#include "base/secret.h"

#include <mpijob/base.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void mpijob__secret_wipe(void *data, size_t len)
{
	if (len == 0)
		return;
	memset(data, 0, len);
#if defined(__GNUC__)
	__asm__ __volatile__("" : : "r"(data) : "memory");
#else
	volatile unsigned char *p = data;
	while (len--)
		*p++ = 0;
#endif
}

int mpijob__secret_init(struct mpijob__secret *secret, size_t cap)
{
	char *data = cap < SIZE_MAX ? calloc(cap + 1, 1) : NULL;

	if (!data)
		return MPIJOB_ERR_NOMEM;
	secret->data = data;
	secret->len = 0;
	secret->cap = cap;
	return 0;
}

int mpijob__secret_write(void *user, const char *data, size_t len)
{
	struct mpijob__secret *secret = user;

	if (len > secret->cap - secret->len)
		return MPIJOB_ERR_NOMEM;
	if (len)
		memcpy(secret->data + secret->len, data, len);
	secret->len += len;
	secret->data[secret->len] = 0;
	return 0;
}

void mpijob__secret_free(struct mpijob__secret *secret)
{
	if (secret->data)
		mpijob__secret_wipe(secret->data, secret->cap + 1);
	free(secret->data);
	memset(secret, 0, sizeof(*secret));
}
