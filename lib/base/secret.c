/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wipes memory. A compiler may remove a plain memset() before free(), so only this file wipes.
 */
#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

void mpijob__base_secret_wipe(void *data, size_t len)
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

void mpijob__base_secret_free(void *data, size_t len)
{
	if (data)
		mpijob__base_secret_wipe(data, len);
	free(data);
}

void mpijob__base_secret_free_text(char *text)
{
	if (text)
		mpijob__base_secret_free(text, strlen(text));
}
