/* SPDX-License-Identifier: Apache-2.0 */
/* What the writers of YAML and JSON share. */
#ifndef MPIJOB__DOC_WRITE_H
#define MPIJOB__DOC_WRITE_H

#include "doc/node.h"
#include "doc/stack.h"

/* Text on its way to the sink. The first failure stays; after it nothing more is passed on. */
struct mpijob__doc_out {
	mpijob_write_fn write;
	void *user;
	int rc;
	size_t len;
	char data[1024];
};

void mpijob__doc_out_put(struct mpijob__doc_out *out, const char *data, size_t len);
void mpijob__doc_out_puts(struct mpijob__doc_out *out, const char *string);
void mpijob__doc_out_spaces(struct mpijob__doc_out *out, size_t count);
/* Pass on what is left; returns the first failure. */
int mpijob__doc_out_finish(struct mpijob__doc_out *out);

/* A list or map that is being written. */
struct mpijob__doc_writing {
	const struct mpijob_node *node;
	uint32_t next;
	uint32_t indent;
};

/* How JSON is laid out. */
#define MPIJOB__DOC_JSON_COMPACT  0 /* no space at all */
#define MPIJOB__DOC_JSON_INDENTED 1 /* two spaces a level */
#define MPIJOB__DOC_JSON_FLOW     2 /* on one line, in a way that is YAML too */

/* Write a tree as JSON, without a line end behind it. 0 or MPIJOB_ERR_NOMEM; the sink's failures
 * stay in `out`. */
int mpijob__doc_write_json(struct mpijob__doc_out *out, const struct mpijob_node *node, int layout);
/* Write a string in double quotes that both JSON and YAML read. */
void mpijob__doc_write_quoted(struct mpijob__doc_out *out, const char *text, size_t len);
/* Write a tree as YAML, with a line end behind it. */
int mpijob__doc_write_yaml(struct mpijob__doc_out *out, const struct mpijob_node *node);

#endif
