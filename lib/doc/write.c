/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes trees: collects small pieces for the sink, and returns the first failure of the sink.
 */
#include "doc/write.h"

#include <string.h>

static void flush(struct mpijob__doc_out *out)
{
	if (out->rc == 0 && out->len)
		out->rc = out->write(out->user, out->data, out->len);
	out->len = 0;
}

void mpijob__doc_out_put(struct mpijob__doc_out *out, const char *data, size_t len)
{
	if (len > sizeof(out->data) - out->len)
		flush(out);
	if (out->rc)
		return;
	if (len > sizeof(out->data)) {
		out->rc = out->write(out->user, data, len);
		return;
	}
	memcpy(out->data + out->len, data, len);
	out->len += len;
}

void mpijob__doc_out_puts(struct mpijob__doc_out *out, const char *string)
{
	mpijob__doc_out_put(out, string, strlen(string));
}

void mpijob__doc_out_spaces(struct mpijob__doc_out *out, size_t count)
{
	static const char spaces[] = "                                ";

	for (; count && out->rc == 0; count -= count < 32 ? count : 32)
		mpijob__doc_out_put(out, spaces, count < 32 ? count : 32);
}

int mpijob__doc_out_finish(struct mpijob__doc_out *out)
{
	flush(out);
	return out->rc;
}

int mpijob_node_write(const mpijob_node *node, int32_t format, mpijob_write_fn write, void *user)
{
	struct mpijob__doc_out out;
	int rc;

	if (!node || !write)
		return MPIJOB_ERR_USAGE;
	out.write = write;
	out.user = user;
	out.rc = 0;
	out.len = 0;
	switch (format) {
	case MPIJOB_FORMAT_YAML: rc = mpijob__doc_write_yaml(&out, node); break;
	case MPIJOB_FORMAT_JSON:
		rc = mpijob__doc_write_json(&out, node, MPIJOB__DOC_JSON_INDENTED);
		mpijob__doc_out_put(&out, "\n", 1);
		break;
	case MPIJOB_FORMAT_JSON_COMPACT:
		rc = mpijob__doc_write_json(&out, node, MPIJOB__DOC_JSON_COMPACT);
		break;
	default: return MPIJOB_ERR_USAGE;
	}
	if (rc == 0 || out.rc)
		rc = mpijob__doc_out_finish(&out);
	return rc;
}
