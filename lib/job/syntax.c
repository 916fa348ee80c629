/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of Kubernetes' names as the API server of 1.36 checks them, which differ from the
 * standards: a DNS label inside a longer name may have any length, an IPv4-mapped IPv6 address is
 * rejected, and the name of a variable may contain almost any character.
 */
#include "job/syntax.h"

#include "base/dns.h"
#include "base/hex.h"

#include <stdint.h>
#include <string.h>

#define LABEL_LENGTH     63
#define SUBDOMAIN_LENGTH 253

static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
static const char digits[] = "0123456789";
static const char lower_digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
static const char lower_digits_dash[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
static const char alphanumeric[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char alphanumeric_dash[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
static const char name_part[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

static int is_in(char c, const char *set)
{
	return c && strchr(set, c) != NULL;
}

static int all_in(const char *text, size_t len, const char *set)
{
	for (size_t i = 0; i < len; i++) {
		if (!is_in(text[i], set))
			return 0;
	}
	return 1;
}

/* Whether a text is not empty, begins and ends with a character of `ends`, and has only characters
 * of `inside`. */
static int has_ends(const char *text, size_t len, const char *ends, const char *inside)
{
	return len && is_in(text[0], ends) && is_in(text[len - 1], ends) &&
	       all_in(text, len, inside);
}

const char *mpijob__job_syntax_label(const char *text)
{
	size_t len = strlen(text);

	if (len <= LABEL_LENGTH && mpijob__base_dns_is_label(text, len))
		return NULL;
	return "1 to 63 lower case letters, digits and '-', with a letter or digit at both ends";
}

const char *mpijob__job_syntax_subdomain(const char *text)
{
	size_t len = strlen(text);

	if (len <= SUBDOMAIN_LENGTH && mpijob__base_dns_is_name(text, len))
		return NULL;
	return "lower case letters, digits, '-' and '.', at most 253, with a letter or digit at "
	       "the ends of each part";
}

const char *mpijob__job_syntax_prefix(const char *text)
{
	char whole[SUBDOMAIN_LENGTH];
	size_t len = strlen(text);

	/* The generated suffix follows the dash. So the dash and the character before it are
	 * checked as if they were one letter. */
	if (len < 2 || len > SUBDOMAIN_LENGTH + 1 || text[len - 1] != '-')
		return mpijob__job_syntax_subdomain(text);
	memcpy(whole, text, len - 2);
	whole[len - 2] = 'a';
	return mpijob__base_dns_is_name(whole, len - 1) ? NULL : mpijob__job_syntax_subdomain(text);
}

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

const char *mpijob__job_syntax_driver(const char *text)
{
	char folded[LABEL_LENGTH + 1] = { 0 };
	size_t len = strlen(text);

	for (size_t i = 0; len <= LABEL_LENGTH && i < len; i++)
		folded[i] = fold(text[i]);
	if (len && len <= LABEL_LENGTH && mpijob__base_dns_is_name(folded, len))
		return NULL;
	return "letters, digits, '-' and '.', at most 63, with a letter or digit at the ends of "
	       "each part";
}

const char *mpijob__job_syntax_host(const char *text)
{
	size_t len = strlen(text);

	if (len <= 64 && mpijob__base_dns_is_name(text, len))
		return NULL;
	return "lower case letters, digits, '-' and '.', at most 64, with a letter or digit at the "
	       "ends of each part";
}

const char *mpijob__job_syntax_search(const char *text)
{
	size_t len = strlen(text);
	const char *end;
	int good = 1;

	if (strcmp(text, ".") == 0)
		return NULL;
	len -= len && text[len - 1] == '.';
	end = text + len;
	for (const char *at = text; good; at++) {
		const char *dot = memchr(at, '.', (size_t)(end - at));
		size_t part;

		at += at < end && *at == '_';
		part = (size_t)((dot ? dot : end) - at);
		good = part && is_in(at[0], lower_digits) && is_in(at[part - 1], lower_digits);
		for (size_t i = 0; good && i < part; i++)
			good = at[i] == '_' || is_in(at[i], lower_digits_dash);
		if (!dot)
			break;
		at = dot;
	}
	return good && len <= SUBDOMAIN_LENGTH ? NULL
					       : "a domain in lower case, at most 253 characters";
}

int mpijob__job_syntax_is_key(const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);

	if (slash) {
		size_t prefix = (size_t)(slash - text);

		if (prefix > SUBDOMAIN_LENGTH || !mpijob__base_dns_is_name(text, prefix))
			return 0;
		text += prefix + 1;
		len -= prefix + 1;
	}
	return len <= LABEL_LENGTH && has_ends(text, len, alphanumeric, name_part);
}

static const char key_form[] =
    "a key such as example.com/name: an optional domain and '/', then 1 to 63 letters, digits, "
    "'-', '_' and '.', with a letter or digit at both ends";

const char *mpijob__job_syntax_key(const char *text)
{
	return mpijob__job_syntax_is_key(text, strlen(text)) ? NULL : key_form;
}

const char *mpijob__job_syntax_annotation(const char *text)
{
	char folded[SUBDOMAIN_LENGTH + 1 + LABEL_LENGTH];
	size_t len = strlen(text);

	if (len > sizeof(folded))
		return key_form;
	for (size_t i = 0; i < len; i++)
		folded[i] = fold(text[i]);
	return mpijob__job_syntax_is_key(folded, len) ? NULL : key_form;
}

const char *mpijob__job_syntax_value(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || (len <= LABEL_LENGTH && has_ends(text, len, alphanumeric, name_part)))
		return NULL;
	return "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
}

const char *mpijob__job_syntax_variable(const char *text)
{
	for (const char *at = text; *at; at++) {
		if (*at < ' ' || *at > '~' || *at == '=')
			return "printable ASCII without '='";
	}
	return *text ? NULL : "printable ASCII without '='";
}

const char *mpijob__job_syntax_port(const char *text)
{
	size_t len = strlen(text);

	if (len <= 15 && mpijob__base_dns_is_label(text, len) && strpbrk(text, lower) &&
	    !strstr(text, "--"))
		return NULL;
	return "1 to 15 lower case letters, digits and single '-', with at least one letter and no "
	       "'-' at the ends";
}

const char *mpijob__job_syntax_file(const char *text)
{
	size_t len = strlen(text);

	if (len && len <= SUBDOMAIN_LENGTH && all_in(text, len, name_part) &&
	    strcmp(text, ".") != 0 && strncmp(text, "..", 2) != 0)
		return NULL;
	return "1 to 253 letters, digits, '-', '_' and '.', not beginning with '..'";
}

const char *mpijob__job_syntax_header(const char *text)
{
	return *text && all_in(text, strlen(text), alphanumeric_dash) ? NULL
								      : "letters, digits and '-'";
}

const char *mpijob__job_syntax_sysctl(const char *text)
{
	static const char inside[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t len = strlen(text);
	int good = len <= SUBDOMAIN_LENGTH;

	while (good) {
		size_t part = strcspn(text, "./");

		good = has_ends(text, part, lower_digits, inside);
		if (!text[part])
			break;
		text += part + 1;
	}
	return good ? NULL : "a sysctl such as net.core.somaxconn";
}

/* Skip four decimal numbers up to 255 without leading zeros. Returns the end, or NULL. */
static const char *skip_ipv4(const char *text)
{
	for (int i = 0; i < 4; i++) {
		size_t len = strspn(text, digits);
		int value = 0;

		if (!len || len > 3 || (len > 1 && text[0] == '0'))
			return NULL;
		for (size_t k = 0; k < len; k++)
			value = value * 10 + (text[k] - '0');
		text += len;
		if (value > 255 || (i < 3 && *text++ != '.'))
			return NULL;
	}
	return text;
}

struct ipv6 {
	unsigned int group[8];
	int count;
	int gap; /* Index of "::", or -1. */
};

/* Parse one group of an address, or IPv4 at its end, and advance; 0 on failure. */
static int take_group(struct ipv6 *out, const char **at)
{
	size_t len = strspn(*at, "0123456789abcdefABCDEF");

	if ((*at)[len] == '.') {
		const char *end = skip_ipv4(*at);

		if (!end || *end || out->count > 6)
			return 0;
		out->group[out->count++] = 1;
		out->group[out->count++] = 1;
		*at = end;
		return 1;
	}
	if (!len || len > 4 || out->count > 7)
		return 0;
	out->group[out->count] = 0;
	for (size_t i = 0; i < len; i++)
		out->group[out->count] =
		    out->group[out->count] * 16 + (unsigned int)mpijob__base_hex_value((*at)[i]);
	out->count++;
	*at += len;
	return 1;
}

static int take_gap(struct ipv6 *out, const char **at)
{
	if ((*at)[0] != ':' || (*at)[1] != ':' || out->gap >= 0)
		return 0;
	out->gap = out->count;
	*at += 2;
	return 1;
}

/* IPv4-mapped addresses (::ffff:a.b.c.d) are rejected. */
static int is_mapped(const struct ipv6 *ip)
{
	unsigned int full[8] = { 0 };
	int tail = ip->gap < 0 ? 0 : ip->count - ip->gap;

	for (int i = 0; i < ip->count - tail; i++)
		full[i] = ip->group[i];
	for (int i = 0; i < tail; i++)
		full[8 - tail + i] = ip->group[ip->count - tail + i];
	for (int i = 0; i < 5; i++) {
		if (full[i])
			return 0;
	}
	return full[5] == 0xffff;
}

static int is_ipv6(const char *text)
{
	struct ipv6 ip = { .gap = -1 };
	const char *at = text;

	take_gap(&ip, &at);
	while (*at) {
		if (!take_group(&ip, &at))
			return 0;
		if (!*at || take_gap(&ip, &at))
			continue;
		if (*at++ != ':' || !*at)
			return 0;
	}
	return (ip.gap < 0 ? ip.count == 8 : ip.count < 8) && !is_mapped(&ip);
}

const char *mpijob__job_syntax_address(const char *text)
{
	const char *end = skip_ipv4(text);

	if ((end && !*end) || is_ipv6(text))
		return NULL;
	return "an IP address such as 10.9.8.7 or 2001:db8::ffff";
}

/* Characters that Go trims: Unicode's white space. */
static int is_space(uint32_t point)
{
	return (point >= 0x09 && point <= 0x0d) || point == 0x20 || point == 0x85 ||
	       point == 0xa0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200a) ||
	       point == 0x2028 || point == 0x2029 || point == 0x202f || point == 0x205f ||
	       point == 0x3000;
}

/* The character of valid UTF-8 that begins at `at`. */
static uint32_t point_at(const char *at)
{
	const unsigned char *byte = (const unsigned char *)at;
	uint32_t point = byte[0];
	int more = byte[0] < 0xc0 ? 0 : byte[0] < 0xe0 ? 1 : byte[0] < 0xf0 ? 2 : 3;

	if (more)
		point &= 0x3fu >> more;
	for (int i = 1; i <= more && byte[i]; i++)
		point = (point << 6) | (byte[i] & 0x3fu);
	return point;
}

const char *mpijob__job_syntax_image(const char *text)
{
	const char *last = text + strlen(text);

	if (last == text)
		return NULL;
	for (last--; last > text && ((unsigned char)*last & 0xc0) == 0x80;)
		last--;
	return is_space(point_at(text)) || is_space(point_at(last)) ? "without space around it"
								    : NULL;
}

const char *mpijob__job_syntax_no_dotdot(const char *text)
{
	for (;;) {
		size_t len = strcspn(text, "/");

		if (len == 2 && strncmp(text, "..", 2) == 0)
			return "a path without '..'";
		if (!text[len])
			return NULL;
		text += len + 1;
	}
}

const char *mpijob__job_syntax_absolute(const char *text)
{
	return *text == '/' ? NULL : "an absolute path";
}

const char *mpijob__job_syntax_relative(const char *text)
{
	return *text == '/' ? "a relative path" : mpijob__job_syntax_no_dotdot(text);
}

const char *mpijob__job_syntax_projected(const char *text)
{
	return strncmp(text, "..", 2) == 0 ? "a path that does not begin with '..'"
					   : mpijob__job_syntax_relative(text);
}

/* iqn.2001-04.com.example:name */
static int is_iqn(const char *text)
{
	static const char host[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.";
	size_t len;

	if (strncmp(text, "iqn.", 4) != 0)
		return 0;
	text += 4;
	if (strspn(text, digits) != 4 || text[4] != '-' || strspn(text + 5, digits) != 2 ||
	    text[7] != '.')
		return 0;
	text += 8;
	len = strspn(text, host);
	return len && text[len] == ':' && text[len + 1] &&
	       !text[len + 1 + strcspn(text + len + 1, ",;*&$| \t\n\f\r")];
}

const char *mpijob__job_syntax_iscsi(const char *text)
{
	size_t len = strlen(text);
	int good = 0;

	/* The regular expression of Kubernetes is not anchored: the name may begin later. */
	for (const char *at = strncmp(text, "iqn", 3) == 0 ? text : NULL; at && !good;
	     at = strstr(at + 1, "iqn."))
		good = is_iqn(at);
	if (strncmp(text, "eui", 3) == 0)
		good = len == 20 && all_in(text + 4, 16, alphanumeric);
	if (strncmp(text, "naa", 3) == 0)
		good = len == 36 && all_in(text + 4, 32, alphanumeric);
	return good ? NULL
		    : "a name such as iqn.2001-04.com.example:storage, or one that begins with eui "
		      "or naa";
}

/* A DNS name with parts of at most 63 letters, digits and dashes; or a NetBIOS name of at most 15
 * characters. */
static int is_windows_domain(const char *text, size_t len)
{
	static const char forbidden[] = "\\/:*?\"<>|";
	size_t first = 0;
	int dns = len > 0, netbios = len > 0 && len <= 15 && text[0] != '.';

	for (size_t i = 0; i <= len && dns; i++) {
		if (i < len && text[i] != '.')
			continue;
		dns = i - first <= LABEL_LENGTH &&
		      has_ends(text + first, i - first, alphanumeric, alphanumeric_dash);
		first = i + 1;
	}
	for (size_t i = 0; i < len && netbios; i++)
		netbios = !strchr(forbidden, text[i]);
	return (dns || netbios) && len < 256;
}

const char *mpijob__job_syntax_windows_user(const char *text)
{
	const char *slash = strchr(text, '\\');
	const char *user = slash ? slash + 1 : text;
	int good = *user && strlen(user) <= 104 && !strpbrk(user, "\"/\\:;|=,+*?<>@[]") &&
		   user[strspn(user, ". ")];

	if (slash)
		good = good && is_windows_domain(text, (size_t)(slash - text));
	for (const char *at = text; *at; at++)
		good = good && (unsigned char)*at >= ' ' && *at != 0x7f;
	return good ? NULL : "a Windows user such as name or DOMAIN\\name";
}

const char *mpijob__job_syntax_credential(const char *text)
{
	return *text && strlen(text) <= 64 * 1024 ? NULL : "1 byte to 64 KiB long";
}

const char *mpijob__job_syntax_no_slash(const char *text)
{
	return strchr(text, '/') ? "without '/'" : NULL;
}

/* As net.SplitHostPort of Go: an address with colons is in brackets. */
static int is_host_port(const char *text, size_t len)
{
	size_t colon = len;

	while (colon > 0 && text[colon - 1] != ':')
		colon--;
	if (colon == 0)
		return 0;
	colon--;
	if (text[0] == '[')
		return colon > 1 && memchr(text, ']', len) == text + colon - 1 &&
		       !memchr(text + 1, '[', len - 1);
	return !memchr(text, ':', colon) && !memchr(text, '[', len) && !memchr(text, ']', len);
}

const char *mpijob__job_syntax_registry(const char *text)
{
	for (;;) {
		size_t len = strcspn(text, ",");

		if (!is_host_port(text, len))
			return "host:port, or several of them with commas";
		if (!text[len])
			return NULL;
		text += len + 1;
	}
}

const char *mpijob__job_syntax_tenant(const char *text)
{
	return strlen(text) < 65 ? NULL : "at most 64 characters long";
}
