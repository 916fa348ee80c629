/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place of this library that throws dice: keys, names of Events and the spread of waiting
 * times begin here. Everything below is given its random bytes.
 */
#include "operator/entropy.h"

#include <mpijob/base.h>

#include <errno.h>
#include <sys/random.h>

int mpijob__operator_entropy_fill(void *data, size_t len)
{
	unsigned char *at = data;

	while (len > 0) {
		ssize_t got = getrandom(at, len, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return MPIJOB_ERR_IO;
		at += got;
		len -= (size_t)got;
	}
	return 0;
}
