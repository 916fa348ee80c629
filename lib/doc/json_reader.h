/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pull reader for JSON text in memory. It allocates nothing.
 *
 * It accepts exactly RFC 8259: no comments, no trailing commas, no lone surrogates, no invalid
 * UTF-8. Skipped values are checked too. It does not check for duplicate keys.
 *
 * To read a document directly into a struct, read one token after another and skip unneeded values:
 *
 *	struct mpijob__doc_json r;
 *
 *	mpijob__doc_json_init(&r, text, len, 0);
 *	if (mpijob__doc_json_next(&r) != MPIJOB__DOC_JSON_MAP)
 *		return refuse(&r);
 *	while (mpijob__doc_json_key(&r)) {   // 0 at the end of the map, and on an error
 *		if (mpijob__doc_json_is(&r, "status"))
 *			read_status(&r);     // reads the value of this key
 *		else
 *			mpijob__doc_json_skip(&r);
 *	}
 *	if (r.token == MPIJOB__DOC_JSON_ERROR)
 *		return refuse(&r);
 *
 * A function such as read_status() is called when the current token is the key, and must read
 * exactly one value: with mpijob__doc_json_next(), and for a list or map until its end. A function
 * that begins like this leaves the reader after the value, whatever its kind is:
 *
 *	if (mpijob__doc_json_next(r) != MPIJOB__DOC_JSON_MAP) {
 *		mpijob__doc_json_finish(r);                  // another kind: leave it behind
 *		return;
 *	}
 *	while (mpijob__doc_json_key(r)) { ... }
 *
 * Lists are read with `while (mpijob__doc_json_item(&r)) { ... mpijob__doc_json_finish(&r); }`; the
 * current token is then the first token of the item.
 *
 * After an error all functions return MPIJOB__DOC_JSON_ERROR or 0, so one check at the end is
 * enough.
 */
#ifndef MPIJOB__DOC_JSON_READER_H
#define MPIJOB__DOC_JSON_READER_H

#include <stddef.h>
#include <stdint.h>

#define MPIJOB__DOC_JSON_DEEPEST 10000 /* No max_depth can be higher. */

enum mpijob__doc_json_token {
	MPIJOB__DOC_JSON_ERROR = -1,
	MPIJOB__DOC_JSON_END = 0,  /* only white space is left */
	MPIJOB__DOC_JSON_MAP,      /* { */
	MPIJOB__DOC_JSON_MAP_END,  /* } */
	MPIJOB__DOC_JSON_LIST,     /* [ */
	MPIJOB__DOC_JSON_LIST_END, /* ] */
	MPIJOB__DOC_JSON_KEY,      /* a key with its colon */
	MPIJOB__DOC_JSON_STRING,
	MPIJOB__DOC_JSON_NUMBER,
	MPIJOB__DOC_JSON_TRUE,
	MPIJOB__DOC_JSON_FALSE,
	MPIJOB__DOC_JSON_NULL
};

struct mpijob__doc_json {
	/* The current token; read only. */
	int token;
	/* key, string: the text between the quotes, not decoded; otherwise the token itself */
	const char *text;
	size_t len;    /* bytes of `text` */
	int escaped;   /* key, string: contains a backslash, so `text` must be decoded */
	int32_t depth; /* number of open lists and maps, including the current MAP or LIST */
	int32_t line;  /* where the token begins, from 1 */
	/* Set with MPIJOB__DOC_JSON_ERROR: what is wrong, for a finding. Constant strings. */
	const char *error_id;
	const char *error;

	/* Private. */
	const char *at;
	const char *end;
	const char *from;
	const char *line_start; /* of the token's line */
	const char *now_start;  /* of the line of `at` */
	int32_t now_line;
	int32_t max_depth;
	int state;
	uint8_t in_map[MPIJOB__DOC_JSON_DEEPEST / 8 + 1];
};

/*
 * Initialise a reader. The text may contain any number of values in sequence. It is borrowed while
 * the reader is used; it needs no final NUL.
 *
 * max_depth nesting of lists and maps; 0 for 500.
 */
void mpijob__doc_json_init(struct mpijob__doc_json *r, const char *text, size_t len,
    int32_t max_depth);

/* Go to the next token and return it (it is in r->token too). */
int mpijob__doc_json_next(struct mpijob__doc_json *r);

/* Inside a map: go to the next key. Returns 1, or 0 at the end of the map or on an error. The last
 * value must have been read completely. */
int mpijob__doc_json_key(struct mpijob__doc_json *r);

/* Inside a list: go to the first token of the next item. Returns 1, or 0 at the end of the list or
 * on an error. */
int mpijob__doc_json_item(struct mpijob__doc_json *r);

/* On a key: skip its value. Returns 1, or 0 on an error. */
int mpijob__doc_json_skip(struct mpijob__doc_json *r);

/* On the first token of a value: go to its last token, which is the end of a list or map. Returns
 * 1, or 0 on an error. */
int mpijob__doc_json_finish(struct mpijob__doc_json *r);

/* Whether the current key or string is equal to `string`. */
int mpijob__doc_json_is(const struct mpijob__doc_json *r, const char *string);

/*
 * Decode the current key or string.
 *
 * into memory for r->len + 1 bytes; the result is NUL-terminated.
 *
 * Returns the number of bytes, at most r->len. The value may contain NUL bytes (from \u0000).
 */
size_t mpijob__doc_json_decode(const struct mpijob__doc_json *r, char *into);

/* Read the current token as a whole number, also `1.0` and `1e3`. Returns 1 and sets `out`, or 0
 * when it is not one. */
int mpijob__doc_json_int(const struct mpijob__doc_json *r, int64_t *out);

/* The column in bytes, from 1, of the current token, or of the error. r->line is its line. */
int32_t mpijob__doc_json_column(const struct mpijob__doc_json *r);

/* First byte of the current token in the text. */
const char *mpijob__doc_json_from(const struct mpijob__doc_json *r);
/* First byte after the current token. */
const char *mpijob__doc_json_until(const struct mpijob__doc_json *r);

#endif
