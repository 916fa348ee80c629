/* SPDX-License-Identifier: Apache-2.0 */
/* The YAML reader, in three files: read_yaml.c (events and documents), yaml_value.c (values),
 * yaml_anchor.c (anchors and merging). */
#ifndef MPIJOB__DOC_YAML_READER_H
#define MPIJOB__DOC_YAML_READER_H

#include "doc/read.h"
#include "doc/scalar.h"
#include "doc/yaml_place.h"

#include <yaml.h>

/* A value that an alias `*name` refers to. */
struct mpijob__doc_anchor {
	struct mpijob_node *node;
	/* if the value is a scalar, because numbers are spelled differently as keys */
	struct mpijob__doc_scalar scalar;
	int open; /* the value is not complete yet */
	/* The cost of one alias. While it is open: the counters at its beginning. */
	uint64_t decoded;
	size_t values;
	size_t bytes;
};

struct mpijob__doc_yaml {
	struct mpijob__doc_reader *r;
	yaml_parser_t parser;
	yaml_event_t event;
	struct mpijob__doc_yaml_place place;
	struct mpijob_node *root;
	int empty; /* the document is empty */
	/* The anchors of this document: a map from names to indices, and the anchors. */
	struct mpijob__base_arena scratch;
	struct mpijob_node *names;
	struct mpijob__doc_stack anchors;
	/* Counters of this document. */
	uint64_t decoded; /* steps of Kubernetes' decoder */
	uint64_t aliased; /* steps inside aliases */
	size_t bytes;     /* of scalars */
	/* Counters of the whole text. */
	size_t alias_count;
	size_t anchor_count;
	size_t expanded; /* bytes of scalars copied by aliases */
	uint64_t work;   /* sum of `flow` over all events */
	uint32_t flow;   /* current nesting of [] and {} */
	/* Position of the current event. */
	int32_t line;
	int32_t column;
};

/* yaml_value.c: process one event. 0 or a negative code. */
int mpijob__doc_yaml_scalar(struct mpijob__doc_yaml *y);
int mpijob__doc_yaml_open(struct mpijob__doc_yaml *y, int kind, const char *anchor);
int mpijob__doc_yaml_close(struct mpijob__doc_yaml *y);
/* Report an error at the current event; reading stops. */
int mpijob__doc_yaml_stop(struct mpijob__doc_yaml *y, const char *id, const char *message);
/* Process a key; `key` is in the arena. */
int mpijob__doc_yaml_key(struct mpijob__doc_yaml *y, const char *key, size_t len);
/* Process a number, boolean or string as a key. */
int mpijob__doc_yaml_scalar_key(struct mpijob__doc_yaml *y, const struct mpijob__doc_scalar *scalar,
    const char *text, size_t len);
/* Add a value to the innermost list or map, or as the root. */
int mpijob__doc_yaml_attach(struct mpijob__doc_yaml *y, struct mpijob_node *node);
/* The innermost list or map, or NULL. */
struct mpijob__doc_frame *mpijob__doc_yaml_top(const struct mpijob__doc_yaml *y);
/* Whether the next event is a key. */
int mpijob__doc_yaml_wants_key(const struct mpijob__doc_yaml *y);

/* yaml_anchor.c */
int mpijob__doc_yaml_alias(struct mpijob__doc_yaml *y);
/* Store an anchor; `number` (may be NULL) receives 1 + its index. */
int mpijob__doc_yaml_anchor(struct mpijob__doc_yaml *y, const char *name, struct mpijob_node *node,
    const struct mpijob__doc_scalar *scalar, size_t *number);
/* The list or map of an anchor is complete. */
void mpijob__doc_yaml_anchor_close(struct mpijob__doc_yaml *y, size_t number);
/* Add the entries of a map to the innermost open map. */
int mpijob__doc_yaml_merge(struct mpijob__doc_yaml *y, const struct mpijob_node *from);
/* Remove all anchors. */
int mpijob__doc_yaml_anchors_reset(struct mpijob__doc_yaml *y);

#endif
