/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs uids.
 *
 * The uid of an API server is a UUID in lower case with the variant bits 10: 36 characters for 16
 * bytes. Any other uid is stored as a pointer to its text, with the variant bits 11.
 */
#include "base/uid.h"

#include "base/digest.h"
#include "base/hex.h"

#include <mpijob/base.h>

#include <stdlib.h>
#include <string.h>

#define VARIANT 8 /* index of the byte with the variant bits */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int is_dash(size_t at)
{
	return at == 8 || at == 13 || at == 18 || at == 23;
}

/* Pack a uid. Returns 1 if it is a UUID whose text can be restored exactly. */
static int pack(struct mpijob__base_uid *uid, const char *text)
{
	size_t at = 0;

	for (size_t i = 0; i < sizeof(uid->bytes); i++) {
		int high, low;

		if (is_dash(at) && text[at++] != '-')
			return 0;
		high = digit(text[at]);
		low = high < 0 ? -1 : digit(text[at + 1]);
		if (low < 0)
			return 0;
		uid->bytes[i] = (unsigned char)(high << 4 | low);
		at += 2;
	}
	return text[at] == 0 && (uid->bytes[VARIANT] & 0xc0) == 0x80;
}

static int is_text(const struct mpijob__base_uid *uid)
{
	return (uid->bytes[VARIANT] & 0xc0) == 0xc0;
}

static const char *text_of(const struct mpijob__base_uid *uid)
{
	const char *text;

	memcpy(&text, uid->bytes, sizeof(text));
	return text;
}

static void point(struct mpijob__base_uid *uid, const char *text)
{
	memset(uid, 0, sizeof(*uid));
	memcpy(uid->bytes, &text, sizeof(text));
	uid->bytes[VARIANT] = 0xc0;
}

int mpijob__base_uid_set(struct mpijob__base_uid *uid, const char *text)
{
	char *copy;

	if (pack(uid, text))
		return 0;
	copy = strdup(text);
	if (!copy)
		return MPIJOB_ERR_NOMEM;
	point(uid, copy);
	return 0;
}

void mpijob__base_uid_borrow(struct mpijob__base_uid *uid, const char *text)
{
	if (!pack(uid, text))
		point(uid, text);
}

void mpijob__base_uid_clear(struct mpijob__base_uid *uid)
{
	if (is_text(uid))
		free((char *)(uintptr_t)text_of(uid));
	memset(uid, 0, sizeof(*uid));
}

int mpijob__base_uid_same(const struct mpijob__base_uid *a, const struct mpijob__base_uid *b)
{
	if (is_text(a) && is_text(b))
		return strcmp(text_of(a), text_of(b)) == 0;
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

uint64_t mpijob__base_uid_hash(const struct mpijob__base_uid *uid, uint64_t seed)
{
	uint64_t hash = MPIJOB__BASE_DIGEST_START ^ seed;

	if (is_text(uid))
		hash = mpijob__base_digest_add(hash, text_of(uid), strlen(text_of(uid)));
	else
		hash = mpijob__base_digest_add(hash, uid->bytes, sizeof(uid->bytes));
	return hash ^ (hash >> 32);
}

const char *mpijob__base_uid_text(const struct mpijob__base_uid *uid,
    char room[MPIJOB__BASE_UID_ROOM])
{
	size_t at = 0;

	if (is_text(uid))
		return text_of(uid);
	for (size_t i = 0; i < sizeof(uid->bytes); i++) {
		if (is_dash(at))
			room[at++] = '-';
		mpijob__base_hex_write(uid->bytes[i], 2, room + at);
		at += 2;
	}
	room[at] = 0;
	return room;
}
