/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an object begins and ends in a stream of JSON, and the few fields of it that a watch needs.
 *
 * This is not a JSON parser: it follows strings and brackets only, and leaves validation to the
 * reader of the whole object; only the strings that it extracts are checked to be UTF-8. It keeps
 * one object in memory, however long the list is. An object over the limit is skipped and reported
 * without its text, so that one huge object does not stop the others.
 */
#include "base/split.h"

#include "base/utf8.h"

#include <string.h>

/* The known keys, by position: see path_of(). */
enum { NOTHING, TYPE, OBJECT, METADATA, API_VERSION, KIND, UID, NAME, NAMESPACE, VERSION, ITEMS };
enum {
	SEEN_TYPE,
	SEEN_UID,
	SEEN_NAME,
	SEEN_NAMESPACE,
	SEEN_VERSION,
	SEEN_API_VERSION,
	SEEN_KIND,
	SEEN_COUNT
};

#define OUTER_LIMIT ((size_t)1 << 20)
#define KEEP_LIMIT  ((size_t)256 << 10)
#define SEEN_LIMIT  4096 /* a longer key is not a known one */

int mpijob__base_split_init(struct mpijob__base_split *split, int mode, const char *api_version,
    const char *kind, size_t limit)
{
	memset(split, 0, sizeof(*split));
	split->mode = mode;
	split->limit = limit;
	split->catching = -1;
	if (mode == MPIJOB__BASE_SPLIT_EVENTS)
		return 0;
	return mpijob__base_text_printf(&split->prefix, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",",
	    api_version, kind);
}

void mpijob__base_split_release(struct mpijob__base_split *split)
{
	mpijob__base_text_release(&split->prefix);
	mpijob__base_text_release(&split->value);
	mpijob__base_text_release(&split->outer);
	for (int i = 0; i < SEEN_COUNT; i++)
		mpijob__base_text_release(&split->seen[i]);
}

static int is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static int key_is(const struct mpijob__base_split *split, const char *key)
{
	return strlen(key) == split->key_len && memcmp(split->key, key, split->key_len) == 0;
}

/* Which known key was read at this position. */
static unsigned char path_of(const struct mpijob__base_split *split)
{
	size_t top = split->mode == MPIJOB__BASE_SPLIT_EVENTS ? 1 : 0;
	size_t depth = split->depth;

	if (!split->in_value)
		return depth == 1 && key_is(split, "items") ? ITEMS : NOTHING;
	if (top && depth == 1)
		return key_is(split, "type") ? TYPE : key_is(split, "object") ? OBJECT : NOTHING;
	if (top && split->path[1] != OBJECT)
		return NOTHING;
	if (depth == top + 1) {
		if (key_is(split, "kind"))
			return KIND;
		if (key_is(split, "apiVersion"))
			return API_VERSION;
		return key_is(split, "metadata") ? METADATA : NOTHING;
	}
	if (depth != top + 2 || split->path[top + 1] != METADATA)
		return NOTHING;
	if (key_is(split, "uid"))
		return UID;
	if (key_is(split, "name"))
		return NAME;
	if (key_is(split, "namespace"))
		return NAMESPACE;
	return key_is(split, "resourceVersion") ? VERSION : NOTHING;
}

/* Which of `seen` the string that begins here is; -1: none. */
static int catch_of(const struct mpijob__base_split *split)
{
	if (!split->in_value || split->depth > 3 || split->depth == 0 ||
	    !split->is_map[split->depth])
		return -1;
	switch (split->path[split->depth]) {
	case TYPE: return SEEN_TYPE;
	case UID: return SEEN_UID;
	case NAME: return SEEN_NAME;
	case NAMESPACE: return SEEN_NAMESPACE;
	case VERSION: return SEEN_VERSION;
	case API_VERSION: return SEEN_API_VERSION;
	case KIND: return SEEN_KIND;
	default: return -1;
	}
}

static void begin_string(struct mpijob__base_split *split)
{
	split->in_string = 1;
	split->is_key = split->key_next && split->depth <= 3;
	split->key_next = 0;
	split->key_len = 0;
	split->catching = split->is_key ? -1 : catch_of(split);
	if (split->catching >= 0)
		split->seen[split->catching].len = 0;
}

static int string_bytes(struct mpijob__base_split *split, const char *data, size_t len)
{
	if (split->is_key) {
		size_t room = sizeof(split->key) - split->key_len;
		size_t part = len < room ? len : room;

		memcpy(split->key + split->key_len, data, part);
		split->key_len += part;
	} else if (split->catching >= 0 && split->seen[split->catching].len + len <= SEEN_LIMIT) {
		return mpijob_text_write(&split->seen[split->catching], data, len);
	}
	return 0;
}

static void end_string(struct mpijob__base_split *split)
{
	split->in_string = 0;
	if (!split->is_key || split->depth == 0)
		return;
	split->path[split->depth] = path_of(split);
	if (split->path[split->depth] == KIND || split->path[split->depth] == API_VERSION)
		split->has_kind = 1;
}

static void open_bracket(struct mpijob__base_split *split, int map)
{
	split->depth++;
	if (split->depth <= 3) {
		split->is_map[split->depth] = (unsigned char)map;
		split->path[split->depth] = NOTHING;
	}
	split->key_next = map;
}

static void note_object(struct mpijob__base_split *split, size_t from, size_t to)
{
	if (split->mode == MPIJOB__BASE_SPLIT_EVENTS && split->in_value && split->depth == 1 &&
	    split->path[1] == OBJECT) {
		if (from)
			split->object_start = from - 1;
		if (to)
			split->object_end = to;
	}
}

/* Follow one byte outside of strings. `at`: its index in the value. */
static int structure(struct mpijob__base_split *split, char c, size_t at)
{
	switch (c) {
	case '"': begin_string(split); break;
	case '{':
	case '[':
		note_object(split, at + 1, 0);
		open_bracket(split, c == '{');
		break;
	case '}':
	case ']':
		if (split->depth == 0)
			return MPIJOB_ERR_SYNTAX;
		split->depth--;
		split->key_next = 0;
		note_object(split, 0, at + 1);
		break;
	case ',':
		split->key_next =
		    split->depth >= 1 && split->depth <= 3 && split->is_map[split->depth];
		break;
	default: break;
	}
	return 0;
}

/* The bytes with a meaning: 1 outside of strings, 2 inside, where control characters have one, too.
 */
static const unsigned char marks[256] = { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, ['"'] = 3, ['\\'] = 2, ['{'] = 1, ['['] = 1, ['}'] = 1, [']'] = 1, [','] = 1 };

/* Follow bytes up to `len`, at most to the end of the value or to the bracket of the items. Returns
 * how many. */
static int follow(struct mpijob__base_split *split, const char *data, size_t len, size_t base,
    size_t *used)
{
	size_t i = 0;

	while (i < len) {
		if (split->in_string) {
			size_t from = i;

			if (split->escaped) {
				split->escaped = 0;
				i++;
			}
			while (i < len && !(marks[(unsigned char)data[i]] & 2))
				i++;
			if (i < len && (unsigned char)data[i] < ' ')
				return MPIJOB_ERR_SYNTAX; /* a NUL would truncate the string */
			if (i > from && string_bytes(split, data + from, i - from))
				return MPIJOB_ERR_NOMEM;
			if (i == len)
				break;
			if (data[i++] == '"')
				end_string(split);
			else if (string_bytes(split, "\\", 1))
				return MPIJOB_ERR_NOMEM;
			else
				split->escaped = 1;
			continue;
		}
		if (!(marks[(unsigned char)data[i]] & 1)) {
			i++;
			continue;
		}
		if (!split->in_value && data[i] == '[' && split->depth == 1 &&
		    split->path[1] == ITEMS) {
			split->in_items = 1;
			i++;
			break;
		}
		if (structure(split, data[i], base + i))
			return MPIJOB_ERR_SYNTAX;
		i++;
		if (split->depth == 0)
			break;
	}
	*used = i;
	return 0;
}

/* Empty a text without wiping it, unlike mpijob_text_clear(). */
static void empty(mpijob_text *text)
{
	text->len = 0;
	if (text->data)
		text->data[0] = 0;
}

static void begin_value(struct mpijob__base_split *split)
{
	empty(&split->value);
	for (int i = 0; i < SEEN_COUNT; i++)
		empty(&split->seen[i]);
	split->in_value = 1;
	split->has_kind = 0;
	split->depth = 0;
	split->key_next = 0;
	split->in_string = split->escaped = 0;
	split->whole = 0;
	split->object_start = split->object_end = 0;
}

static int is_readable(const struct mpijob__base_split *split)
{
	for (int i = 0; i < SEEN_COUNT; i++)
		if (!mpijob__base_utf8_valid(mpijob_text_data(&split->seen[i]), split->seen[i].len,
			NULL))
			return 0;
	return 1;
}

static int report(struct mpijob__base_split *split, mpijob__base_split_fn fn, void *user)
{
	struct mpijob__base_split_object object = { 0 };
	const char *data = mpijob_text_data(&split->value);
	size_t skip = split->prefix.len; /* an item follows, without its brace */

	object.type = mpijob_text_data(&split->seen[SEEN_TYPE]);
	object.uid = mpijob_text_data(&split->seen[SEEN_UID]);
	object.name = mpijob_text_data(&split->seen[SEEN_NAME]);
	object.namespace_ = mpijob_text_data(&split->seen[SEEN_NAMESPACE]);
	object.resource_version = mpijob_text_data(&split->seen[SEEN_VERSION]);
	object.api_version = mpijob_text_data(&split->seen[SEEN_API_VERSION]);
	object.kind = mpijob_text_data(&split->seen[SEEN_KIND]);
	object.whole = split->whole;
	if (split->whole <= split->limit) {
		object.json = data;
		object.len = split->value.len;
		if (split->mode == MPIJOB__BASE_SPLIT_EVENTS) {
			object.json = split->object_end ? data + split->object_start : NULL;
			object.len =
			    split->object_end ? split->object_end - split->object_start : 0;
		} else if (split->has_kind) {
			split->value.data[skip - 1] = '{';
			object.json = data + skip - 1;
			object.len = split->value.len - (skip - 1);
		}
	}
	split->in_value = 0;
	split->depth = split->mode == MPIJOB__BASE_SPLIT_LIST; /* back in the list */
	split->is_map[1] = 1;
	return fn(user, &object);
}

static int value_bytes(struct mpijob__base_split *split, const char *data, size_t len)
{
	size_t skip = 0;

	if (split->mode == MPIJOB__BASE_SPLIT_LIST && split->whole == 0) {
		if (mpijob_text_write(&split->value, split->prefix.data, split->prefix.len))
			return MPIJOB_ERR_NOMEM;
		skip = 1;
	}
	split->whole += len;
	if (split->whole > split->limit) {
		empty(&split->value);
		return 0;
	}
	return mpijob_text_write(&split->value, data + skip, len - skip);
}

/* Continue inside of a value. */
static int feed_value(struct mpijob__base_split *split, const char *data, size_t len, size_t *used,
    mpijob__base_split_fn fn, void *user)
{
	int rc = follow(split, data, len, split->whole, used);

	if (rc == 0)
		rc = value_bytes(split, data, *used);
	if (rc || split->depth)
		return rc;
	return is_readable(split) ? report(split, fn, user) : MPIJOB_ERR_SYNTAX;
}

/* Continue between values: white space, and in a list commas and its end. */
static int feed_between(struct mpijob__base_split *split, const char *data, size_t *used)
{
	*used = 1;
	if (is_blank(*data) || (split->in_items && *data == ','))
		return 0;
	if (split->in_items && *data == ']') {
		split->in_items = 0;
		split->items_done = 1;
		split->key_next = 0;
		split->path[1] = NOTHING;
		return mpijob_text_write(&split->outer, "]", 1);
	}
	if (*data != '{')
		return MPIJOB_ERR_SYNTAX;
	begin_value(split);
	*used = 0;
	return 0;
}

/* Continue in a list, outside of its items. */
static int feed_outer(struct mpijob__base_split *split, const char *data, size_t len, size_t *used)
{
	int rc;

	if (split->ended || (!split->started && is_blank(*data))) {
		*used = 1;
		return is_blank(*data) ? 0 : MPIJOB_ERR_SYNTAX;
	}
	if (!split->started && *data != '{')
		return MPIJOB_ERR_SYNTAX;
	split->started = 1;
	rc = follow(split, data, len, 0, used);
	if (rc)
		return rc;
	if (*used > OUTER_LIMIT - split->outer.len)
		return MPIJOB_ERR_SYNTAX;
	if (split->depth == 0)
		split->ended = 1;
	return mpijob_text_write(&split->outer, data, *used);
}

int mpijob__base_split_feed(struct mpijob__base_split *split, const char *data, size_t len,
    mpijob__base_split_fn fn, void *user)
{
	while (len > 0) {
		size_t used = 0;
		int rc;

		if (split->in_value)
			rc = feed_value(split, data, len, &used, fn, user);
		else if (split->mode == MPIJOB__BASE_SPLIT_EVENTS || split->in_items)
			rc = feed_between(split, data, &used);
		else
			rc = feed_outer(split, data, len, &used);
		if (rc)
			return rc;
		data += used;
		len -= used;
	}
	/* Keep a large buffer when more bytes have arrived: the next value needs it at once. */
	if (!split->in_value && split->value.cap > KEEP_LIMIT)
		mpijob__base_text_release(&split->value);
	return 0;
}

int mpijob__base_split_complete(const struct mpijob__base_split *split)
{
	return split->mode == MPIJOB__BASE_SPLIT_EVENTS ? !split->in_value : split->ended;
}
