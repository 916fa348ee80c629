/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anchors, aliases and the merge key.
 *
 * An alias is a copy, so a small text can need much memory. The cost of a copy is recorded when the
 * anchor is read. All limits are checked before a copy is made, including the rule of Kubernetes.
 */
#include "doc/yaml_reader.h"

#include "doc/index.h"

#include <string.h>

int mpijob__doc_yaml_anchors_reset(struct mpijob__doc_yaml *y)
{
	mpijob__base_arena_free(&y->scratch);
	y->names = NULL;
	y->anchors.count = 0;
	y->decoded = 1;
	y->aliased = 0;
	y->bytes = 0;
	return 0;
}

static int add_anchor(struct mpijob__doc_yaml *y, const char *name,
    const struct mpijob__doc_anchor *anchor)
{
	size_t len = strlen(name);
	struct mpijob_node *number;
	const char *copy;
	uint32_t at;

	if (!y->names) {
		y->names = mpijob__doc_node_new(&y->scratch, MPIJOB_NODE_MAP);
		if (!y->names)
			return MPIJOB_ERR_NOMEM;
	}
	if (!mpijob__doc_stack_push(&y->anchors, anchor))
		return MPIJOB_ERR_NOMEM;
	at = mpijob__doc_map_find(y->names, name, len);
	if (at != MPIJOB__DOC_INDEX_NONE) {
		y->names->in.entries[at].value->count = (uint32_t)y->anchors.count - 1;
		return 0;
	}
	copy = mpijob__base_arena_copy(&y->scratch, name, len);
	number = mpijob__doc_node_new(&y->scratch, MPIJOB_NODE_NUMBER);
	if (!copy || !number)
		return MPIJOB_ERR_NOMEM;
	number->count = (uint32_t)y->anchors.count - 1;
	return mpijob__doc_map_append(&y->scratch, y->names, copy, len, number) ? 0
										: MPIJOB_ERR_NOMEM;
}

int mpijob__doc_yaml_anchor(struct mpijob__doc_yaml *y, const char *name, struct mpijob_node *node,
    const struct mpijob__doc_scalar *scalar, size_t *number)
{
	struct mpijob__doc_anchor anchor = { .node = node, .decoded = 1, .values = 1 };
	int rc;

	if (++y->anchor_count > y->r->options.max_aliases) {
		rc = mpijob__doc_read_error(y->r, "limit-aliases", y->line, y->column,
		    "more than %zu anchors; leave out those that no alias uses, or raise "
		    "max_aliases",
		    y->r->options.max_aliases);
		return rc ? rc : MPIJOB_ERR_SYNTAX;
	}
	if (scalar) {
		anchor.scalar = *scalar;
		anchor.bytes = y->event.data.scalar.length;
	} else {
		anchor.open = 1;
		anchor.decoded = y->decoded;
		anchor.values = y->r->values - 1;
		anchor.bytes = y->bytes;
	}
	rc = add_anchor(y, name, &anchor);
	if (rc == 0 && number)
		*number = y->anchors.count;
	return rc;
}

void mpijob__doc_yaml_anchor_close(struct mpijob__doc_yaml *y, size_t number)
{
	struct mpijob__doc_anchor *anchor = mpijob__doc_stack_at(&y->anchors, number - 1);

	anchor->open = 0;
	anchor->decoded = y->decoded - anchor->decoded;
	anchor->values = y->r->values - anchor->values;
	anchor->bytes = y->bytes - anchor->bytes;
}

/*
 * Kubernetes' rule against documents that are mostly aliases: of up to 400,000 decoding steps 99 %
 * may be in aliases, of 4,000,000 and more 10 %; in between the share decreases linearly.
 */
static int too_much_aliasing(uint64_t aliased, uint64_t decoded)
{
	double share = 0.99;

	if (aliased <= 100 || decoded <= 1000)
		return 0;
	if (decoded >= 4000000)
		share = 0.10;
	else if (decoded > 400000)
		share = 0.99 - 0.89 * ((double)(decoded - 400000) / 3600000.0);
	return (double)aliased / (double)decoded > share;
}

static int over_limit(struct mpijob__doc_yaml *y, const char *what, const char *option,
    size_t limit)
{
	int rc = mpijob__doc_read_error(y->r, "limit-aliases", y->line, y->column,
	    "%s (%zu); write the values out, or raise %s", what, limit, option);

	return rc ? rc : MPIJOB_ERR_SYNTAX;
}

static int account(struct mpijob__doc_yaml *y, const struct mpijob__doc_anchor *anchor)
{
	struct mpijob__doc_reader *r = y->r;

	if (++y->alias_count > r->options.max_aliases)
		return over_limit(y, "too many aliases", "max_aliases", r->options.max_aliases);
	if (anchor->bytes > r->options.max_expanded - y->expanded)
		return over_limit(y, "aliases repeat too many bytes", "max_expanded",
		    r->options.max_expanded);
	y->expanded += anchor->bytes;
	y->bytes += anchor->bytes;
	y->decoded += 1 + anchor->decoded;
	y->aliased += anchor->decoded;
	if (too_much_aliasing(y->aliased, y->decoded))
		return mpijob__doc_yaml_stop(y, "limit-aliases",
		    "nearly all of this document would come from aliases, which Kubernetes "
		    "refuses; write the values out");
	return mpijob__doc_read_count(r, anchor->values, y->line, y->column);
}

static struct mpijob__doc_anchor *find_anchor(const struct mpijob__doc_yaml *y, const char *name)
{
	uint32_t at =
	    y->names ? mpijob__doc_map_find(y->names, name, strlen(name)) : MPIJOB__DOC_INDEX_NONE;

	return at == MPIJOB__DOC_INDEX_NONE
		   ? NULL
		   : mpijob__doc_stack_at(&y->anchors, y->names->in.entries[at].value->count);
}

static int alias_key(struct mpijob__doc_yaml *y, const struct mpijob__doc_anchor *anchor)
{
	const struct mpijob_node *node = anchor->node;

	if (node->kind == MPIJOB_NODE_LIST || node->kind == MPIJOB_NODE_MAP)
		return mpijob__doc_yaml_stop(y, "bad-key",
		    "a key is a single value, not a list or map");
	return mpijob__doc_yaml_scalar_key(y, &anchor->scalar, node->in.text,
	    node->kind == MPIJOB_NODE_STRING ? node->count : 0);
}

static int alias_value(struct mpijob__doc_yaml *y, const struct mpijob__doc_anchor *anchor)
{
	struct mpijob__doc_frame *top = mpijob__doc_yaml_top(y);
	int merging = top && top->wants_value && top->merging;
	int in_merge_list = top && top->role == MPIJOB__DOC_ROLE_MERGE_LIST;
	struct mpijob_node *copy;

	if ((merging || in_merge_list) && anchor->node->kind != MPIJOB_NODE_MAP)
		return mpijob__doc_yaml_stop(y, "bad-merge",
		    "only a map can be merged by '<<', but this alias is not a map");
	if (anchor->scalar.is_special)
		return mpijob__doc_yaml_stop(y, "number-range",
		    "Kubernetes supports neither infinite numbers nor .nan; write a number, or put "
		    "the "
		    "text in quotes");
	copy = mpijob__doc_node_copy(y->r->arena, anchor->node, 1);
	if (!copy)
		return MPIJOB_ERR_NOMEM;
	if (!y->r->options.no_places) {
		copy->line = y->line;
		copy->column = y->column;
	}
	return merging ? mpijob__doc_yaml_merge(y, copy) : mpijob__doc_yaml_attach(y, copy);
}

int mpijob__doc_yaml_alias(struct mpijob__doc_yaml *y)
{
	const char *name = (const char *)y->event.data.alias.anchor;
	const struct mpijob__doc_anchor *anchor = find_anchor(y, name);
	int rc;

	if (!anchor) {
		rc = mpijob__doc_read_error(y->r, "unknown-anchor", y->line, y->column,
		    "there is no anchor '&%.*s' before this alias in the same document",
		    mpijob__doc_read_shown(name), name);
		return rc ? rc : MPIJOB_ERR_SYNTAX;
	}
	if (anchor->open) {
		rc = mpijob__doc_read_error(y->r, "alias-cycle", y->line, y->column,
		    "this alias is inside its own anchor '&%.*s'; write the value out",
		    mpijob__doc_read_shown(name), name);
		return rc ? rc : MPIJOB_ERR_SYNTAX;
	}
	rc = account(y, anchor);
	if (rc)
		return rc;
	return mpijob__doc_yaml_wants_key(y) ? alias_key(y, anchor) : alias_value(y, anchor);
}

static int merge_entry(struct mpijob__doc_yaml *y, const struct mpijob__doc_frame *top,
    const struct mpijob__doc_entry *from)
{
	uint32_t at = mpijob__doc_map_find(top->node, from->key, from->key_len);
	struct mpijob__doc_entry *entry;
	int rc = 0;

	if (at == MPIJOB__DOC_INDEX_NONE) {
		entry = mpijob__doc_map_append(y->r->arena, top->node, from->key, from->key_len,
		    from->value);
		if (!entry)
			return MPIJOB_ERR_NOMEM;
		entry->line = from->line;
		entry->column = from->column;
		entry->merged = 1;
		return 0;
	}
	entry = &top->node->in.entries[at];
	entry->value = from->value;
	mpijob__doc_node_adopt(top->node, from->value);
	if (!entry->merged)
		rc = mpijob__doc_read_warning(y->r, "merge-order", top->key_line, top->key_column,
		    "'<<' replaces the '%.*s' of line %ld, as it does for kubectl; put '<<' first "
		    "to keep the key",
		    mpijob__doc_read_shown(entry->key), entry->key, (long)entry->line);
	return rc;
}

int mpijob__doc_yaml_merge(struct mpijob__doc_yaml *y, const struct mpijob_node *from)
{
	struct mpijob__doc_frame *top = mpijob__doc_yaml_top(y);
	int rc = 0;

	top->wants_value = 0;
	for (uint32_t i = 0; rc == 0 && i < from->count; i++)
		rc = merge_entry(y, top, &from->in.entries[i]);
	return rc;
}
