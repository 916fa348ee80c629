/* SPDX-License-Identifier: Apache-2.0 */
/* The characters of DNS names, independent of the locale. */
#include "base/dns.h"

#include <string.h>

static int is_lower_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

int mpijob__base_dns_is_label(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_lower_or_digit(text[i]) && (text[i] != '-' || i == 0 || i + 1 == len))
			return 0;
	return len > 0;
}

int mpijob__base_dns_is_name(const char *text, size_t len)
{
	const char *end = text + len;

	for (;;) {
		const char *dot = memchr(text, '.', (size_t)(end - text));

		if (!mpijob__base_dns_is_label(text, (size_t)((dot ? dot : end) - text)))
			return 0;
		if (!dot)
			return 1;
		text = dot + 1;
	}
}

int mpijob__base_dns_is_domain(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
	       strlen(text);
}
