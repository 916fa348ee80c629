/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of YAML and JSON: limits, findings, and the tree that is being built. */
#ifndef MPIJOB__DOC_READ_H
#define MPIJOB__DOC_READ_H

#include "base/text.h"
#include "doc/layout.h"
#include "doc/node.h"
#include "doc/stack.h"

#define MPIJOB__DOC_DEEPEST 10000 /* maximum of max_depth; the limit of Kubernetes */

/* The role of a list or map in its parent. */
enum mpijob__doc_role {
	MPIJOB__DOC_ROLE_VALUE, /* an entry */
	/* YAML: the value of the key `<<`; its entries are added to the parent */
	MPIJOB__DOC_ROLE_MERGE_MAP,
	/* YAML: a list as the value of `<<`; the entries of its maps are added */
	MPIJOB__DOC_ROLE_MERGE_LIST
};

/* A list or map that is being read. */
struct mpijob__doc_frame {
	struct mpijob_node *node;
	const char *key; /* map: the last key; NULL at the beginning */
	uint32_t key_len;
	int32_t key_line;
	int32_t key_column;
	uint8_t role;
	uint8_t wants_value; /* YAML: the key was read, its value comes next */
	uint8_t merging;     /* YAML: that key is `<<` */
	size_t anchor;       /* YAML: 1 + index of its anchor; 0: none */
};

struct mpijob__doc_reader {
	struct mpijob_parse_options options; /* with defaults */
	const char *text;
	size_t len;
	mpijob_diag *diag;
	mpijob_docs *docs;
	const char *source; /* copy in the arena; may be NULL */
	struct mpijob__base_arena *arena;
	struct mpijob__doc_stack frames;
	struct mpijob__doc_layout *layout; /* NULL: not recorded */
	size_t values;
	size_t findings;
	int failed;   /* an error was reported; reading may continue to find more */
	int not_json; /* JSON: the first error was a syntax error */
};

/*
 * Report an error with line, column and the path of the value that is being read. Returns 0 if
 * reading can continue; MPIJOB_ERR_SYNTAX if it must stop, after max_findings; MPIJOB_ERR_NOMEM.
 */
int mpijob__doc_read_error(struct mpijob__doc_reader *r, const char *id, int32_t line,
    int32_t column, const char *format, ...) MPIJOB__BASE_PRINTF(5, 6);
int mpijob__doc_read_warning(struct mpijob__doc_reader *r, const char *id, int32_t line,
    int32_t column, const char *format, ...) MPIJOB__BASE_PRINTF(5, 6);
/*
 * The number of bytes of a document's text that a message shows: `"%.*s",
 * mpijob__doc_read_shown(text), text`. The text may be long, and a hundred findings may quote it.
 */
int mpijob__doc_read_shown(const char *text);
/* Report a duplicate key. */
int mpijob__doc_read_duplicate(struct mpijob__doc_reader *r, const struct mpijob__doc_entry *first,
    const char *key, int32_t line, int32_t column);
/* Count values and check max_values. Returns 0, MPIJOB_ERR_SYNTAX or MPIJOB_ERR_NOMEM. */
int mpijob__doc_read_count(struct mpijob__doc_reader *r, size_t values, int32_t line,
    int32_t column);
/* Report that max_depth is exceeded. */
int mpijob__doc_read_too_deep(struct mpijob__doc_reader *r, int32_t line, int32_t column);
/* Add a document with this root. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__doc_read_add(struct mpijob__doc_reader *r, struct mpijob_node *root);

/*
 * As mpijob_docs_parse(). `layout` receives where the values are in the text; NULL: nowhere. It has
 * as many roots as there are documents.
 */
int mpijob__doc_read(const char *text, size_t len, const struct mpijob_parse_options *options,
    struct mpijob__doc_layout *layout, mpijob_docs **out, mpijob_diag *diag);

/* The two readers: read everything into r->docs. 0, MPIJOB_ERR_SYNTAX or MPIJOB_ERR_NOMEM. */
int mpijob__doc_read_json(struct mpijob__doc_reader *r);
int mpijob__doc_read_yaml(struct mpijob__doc_reader *r);

#endif
