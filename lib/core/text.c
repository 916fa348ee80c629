/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions on text: mpijob_text, escaping, the nearest word. They check the arguments
 * of callers; the work is done in base/text.c, base/escape.c and base/near.c.
 */
#include "base/escape.h"
#include "base/hex.h"
#include "base/secret.h"
#include "base/text.h"
#include "base/utf8.h"

#include <stdlib.h>

mpijob_text *mpijob_text_new(void)
{
	return calloc(1, sizeof(struct mpijob_text));
}

void mpijob_text_free(mpijob_text *text)
{
	if (!text)
		return;
	mpijob__base_text_release(text);
	free(text);
}

int mpijob_text_write(void *user, const char *data, size_t len)
{
	if (!user || (!data && len))
		return MPIJOB_ERR_USAGE;
	return mpijob__base_text_append(user, data, len);
}

const char *mpijob_text_data(const mpijob_text *text)
{
	if (!text)
		return NULL;
	return text->data ? text->data : "";
}

size_t mpijob_text_len(const mpijob_text *text)
{
	return text ? text->len : 0;
}

void mpijob_text_clear(mpijob_text *text)
{
	if (!text || !text->data)
		return;
	mpijob__base_secret_wipe(text->data, text->cap + 1);
	text->len = 0;
}

/* \xNN for a byte, \uNNNN for a longer character. */
static int write_escape(uint32_t code, int is_byte, mpijob_write_fn write, void *user)
{
	char escape[6] = { '\\', is_byte ? 'x' : 'u' };
	size_t count = is_byte ? 2 : 4;

	mpijob__base_hex_write(code, count, escape + 2);
	return write(user, escape, count + 2);
}

int mpijob_escaped_write(const char *text, size_t len, mpijob_write_fn write, void *user)
{
	const char *at = text, *from = text, *end = text ? text + len : NULL;
	int rc = 0;

	if (!write || (!text && len))
		return MPIJOB_ERR_USAGE;
	while (at < end && rc == 0) {
		uint32_t code = 0;
		size_t step = mpijob__base_utf8_read(at, end, &code);

		if (step && !mpijob__base_escape_needed(code)) {
			at += step;
			continue;
		}
		if (at > from)
			rc = write(user, from, (size_t)(at - from));
		if (rc == 0)
			rc = write_escape(step ? code : (unsigned char)*at, step < 2, write, user);
		at += step ? step : 1;
		from = at;
	}
	return rc == 0 && at > from ? write(user, from, (size_t)(at - from)) : rc;
}
