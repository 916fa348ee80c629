/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How bytes are really gone.
 *
 * A plain memset() before free() may be left out by the compiler: that is
 * settled here and nowhere else.
 */
#include "base/secret.h"

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
