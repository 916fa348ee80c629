/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of YAML and JSON share: limits, findings, and the tree that grows. */
#ifndef MPIJOB__DOC_READ_H
#define MPIJOB__DOC_READ_H

#include "base/text.h"
#include "doc/node.h"
#include "doc/stack.h"

#define MPIJOB__DOC_DEEPEST 10000 /* nesting that no option can exceed; Kubernetes' own limit */

/* What a list or map is to the one around it. */
enum mpijob__doc_role {
	MPIJOB__DOC_ROLE_VALUE, /* a value in it */
	/* YAML: its entries go into the map around it, through the key `<<` */
	MPIJOB__DOC_ROLE_MERGE_MAP,
	MPIJOB__DOC_ROLE_MERGE_LIST /* YAML: so do the entries of its maps */
};

/* A list or map that is being read. */
struct mpijob__doc_frame {
	struct mpijob_node *node;
	const char *key; /* of a map: the newest key; NULL at its beginning */
	uint32_t key_len;
	int32_t key_line;
	int32_t key_column;
	uint8_t role;
	uint8_t wants_value; /* YAML: the key is read, its value comes next */
	uint8_t merging;     /* YAML: that key is `<<` */
	size_t anchor;       /* YAML: 1 + number of its anchor; 0 for none */
};

struct mpijob__doc_reader {
	struct mpijob_parse_options options; /* defaults filled in */
	const char *text;
	size_t len;
	mpijob_diag *diag;
	mpijob_docs *docs;
	const char *source; /* copy in the arena; may be NULL */
	struct mpijob__base_arena *arena;
	struct mpijob__doc_stack frames;
	size_t values;
	size_t findings;
	int failed;   /* an error was found; reading may go on to find more */
	int not_json; /* JSON: the text broke its grammar, before anything else was wrong */
};

/*
 * Report an error at a place, with the path of the value that is being read (`inside`: the path of
 * the list or map around it). Returns MPIJOB_ERR_SYNTAX when reading should stop, 0 when it may go
 * on (after max_findings it must not).
 */
int mpijob__doc_read_error(struct mpijob__doc_reader *r, const char *id, int32_t line,
    int32_t column, const char *format, ...) MPIJOB__BASE_PRINTF(5, 6);
int mpijob__doc_read_warning(struct mpijob__doc_reader *r, const char *id, int32_t line,
    int32_t column, const char *format, ...) MPIJOB__BASE_PRINTF(5, 6);
/*
 * How many bytes of a text from the document to show in a message: `"%.*s",
 * mpijob__doc_read_shown(text), text`. Input may be long, and a hundred findings may quote it.
 */
int mpijob__doc_read_shown(const char *text);
/* Report a key that is given twice. */
int mpijob__doc_read_duplicate(struct mpijob__doc_reader *r, const struct mpijob__doc_entry *first,
    const char *key, int32_t line, int32_t column);
/* Count one value against max_values. 0 or MPIJOB_ERR_SYNTAX. */
int mpijob__doc_read_count(struct mpijob__doc_reader *r, size_t values, int32_t line,
    int32_t column);
/* Report that max_depth is passed. */
int mpijob__doc_read_too_deep(struct mpijob__doc_reader *r, int32_t line, int32_t column);
/* Add a document with this root. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__doc_read_add(struct mpijob__doc_reader *r, struct mpijob_node *root);

/* The two readers: read everything into r->docs. 0, MPIJOB_ERR_SYNTAX or MPIJOB_ERR_NOMEM. */
int mpijob__doc_read_json(struct mpijob__doc_reader *r);
int mpijob__doc_read_yaml(struct mpijob__doc_reader *r);

#endif
