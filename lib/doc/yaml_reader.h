/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of YAML, in three files: events and documents, values, anchors and merging. */
#ifndef MPIJOB__DOC_YAML_READER_H
#define MPIJOB__DOC_YAML_READER_H

#include "doc/read.h"
#include "doc/scalar.h"
#include "doc/yaml_place.h"

#include <yaml.h>

/* A value that `*name` may stand for. */
struct mpijob__doc_anchor {
	struct mpijob_node *node;
	/* when it is one: a number has another spelling as a key */
	struct mpijob__doc_scalar scalar;
	int open; /* it is still being read */
	/* What one use of it costs. While it is open: the counters at its beginning. */
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
	int empty; /* the root is nothing at all */
	/* The anchors of this document: names to numbers, and what they stand for. */
	struct mpijob__base_arena scratch;
	struct mpijob_node *names;
	struct mpijob__doc_stack anchors;
	/* Counters of this document. */
	uint64_t decoded; /* steps that Kubernetes' decoder would take */
	uint64_t aliased; /* those of them inside aliases */
	size_t bytes;     /* of scalars */
	/* Counters of the whole text. */
	size_t alias_count;
	size_t anchor_count;
	size_t expanded; /* bytes of scalars that aliases copied */
	uint64_t work;   /* events inside [] and {}, times how deep they stand */
	uint32_t flow;   /* how deep that is now */
	/* Of the event at hand. */
	int32_t line;
	int32_t column;
};

/* yaml_value.c: one event each. 0 or a negative code. */
int mpijob__doc_yaml_scalar(struct mpijob__doc_yaml *y);
int mpijob__doc_yaml_open(struct mpijob__doc_yaml *y, int kind, const char *anchor);
int mpijob__doc_yaml_close(struct mpijob__doc_yaml *y);
/* Report an error that ends the reading, at the event. */
int mpijob__doc_yaml_stop(struct mpijob__doc_yaml *y, const char *id, const char *message);
/* Take a key that is settled; `key` lies in the arena. */
int mpijob__doc_yaml_key(struct mpijob__doc_yaml *y, const char *key, size_t len);
/* Take the text of a number, boolean or string as a key. */
int mpijob__doc_yaml_scalar_key(struct mpijob__doc_yaml *y, const struct mpijob__doc_scalar *scalar,
    const char *text, size_t len);
/* Put a value where it belongs. */
int mpijob__doc_yaml_attach(struct mpijob__doc_yaml *y, struct mpijob_node *node);
/* The innermost list or map, or NULL. */
struct mpijob__doc_frame *mpijob__doc_yaml_top(const struct mpijob__doc_yaml *y);
/* Whether the next event is a key. */
int mpijob__doc_yaml_wants_key(const struct mpijob__doc_yaml *y);

/* yaml_anchor.c */
int mpijob__doc_yaml_alias(struct mpijob__doc_yaml *y);
/* Remember a value under a name; `number` (may be NULL) is set to 1 + its number. */
int mpijob__doc_yaml_anchor(struct mpijob__doc_yaml *y, const char *name, struct mpijob_node *node,
    const struct mpijob__doc_scalar *scalar, size_t *number);
/* The list or map of this anchor is complete. */
void mpijob__doc_yaml_anchor_close(struct mpijob__doc_yaml *y, size_t number);
/* Put the entries of a map into the innermost open map. */
int mpijob__doc_yaml_merge(struct mpijob__doc_yaml *y, const struct mpijob_node *from);
/* Forget all anchors. */
int mpijob__doc_yaml_anchors_reset(struct mpijob__doc_yaml *y);

#endif
