/* SPDX-License-Identifier: Apache-2.0 */
/* Writes bytes as %XX. The digits are upper case, as RFC 3986 recommends. */
#include "base/percent.h"

#include <string.h>

static int is_plain(char c, const char *plain)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       strchr(plain, c);
}

int mpijob__base_percent_encode(struct mpijob_text *out, const char *text, const char *plain)
{
	int rc = 0;

	for (; *text && rc == 0; text++)
		rc = is_plain(*text, plain)
			 ? mpijob__base_text_append(out, text, 1)
			 : mpijob__base_text_printf(out, "%%%02X", (unsigned char)*text);
	return rc;
}
