/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values in messages. A long string or number is cut between two characters, so that a message
 * stays readable and valid UTF-8.
 */
#include "doc/write.h"

#include <string.h>

#define SHOWN 60 /* bytes of a string or number */

static void put_cut(struct mpijob__doc_out *out, const char *text)
{
	size_t len = strlen(text), shown = len;

	if (len > SHOWN)
		for (shown = SHOWN; shown && ((unsigned char)text[shown] & 0xc0) == 0x80; shown--)
			;
	mpijob__doc_out_put(out, text, shown);
	mpijob__doc_out_puts(out, shown < len ? "..." : "");
}

int mpijob_node_describe(const mpijob_node *node, mpijob_write_fn write, void *user)
{
	struct mpijob__doc_out out;
	int value;

	if (!write)
		return MPIJOB_ERR_USAGE;
	out.write = write;
	out.user = user;
	out.rc = 0;
	out.len = 0;
	switch (mpijob_node_kind(node)) {
	case MPIJOB_NODE_STRING:
		mpijob__doc_out_puts(&out, "the string \"");
		put_cut(&out, mpijob_node_text(node));
		mpijob__doc_out_puts(&out, "\"");
		break;
	case MPIJOB_NODE_NUMBER:
		mpijob__doc_out_puts(&out, "the number ");
		put_cut(&out, mpijob_node_text(node));
		break;
	case MPIJOB_NODE_BOOL:
		mpijob__doc_out_puts(&out,
		    mpijob_node_bool(node, &value) && value ? "true" : "false");
		break;
	case MPIJOB_NODE_LIST: mpijob__doc_out_puts(&out, "a list"); break;
	case MPIJOB_NODE_MAP: mpijob__doc_out_puts(&out, "a map"); break;
	default: mpijob__doc_out_puts(&out, "null");
	}
	return mpijob__doc_out_finish(&out);
}
