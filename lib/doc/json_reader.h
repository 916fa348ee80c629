/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pull reader for JSON text that lies in memory. It allocates nothing.
 *
 * It reads RFC 8259 and nothing more: no comments, no trailing commas, no lone surrogates, no
 * invalid UTF-8. Everything that it passes over is checked, skipped values too. Duplicate keys are
 * not its business.
 *
 * To project a document straight into a struct, ask for one token after another and skip what is
 * not wanted:
 *
 *	struct mpijob__doc_json r;
 *
 *	mpijob__doc_json_init(&r, text, len, 0);
 *	if (mpijob__doc_json_next(&r) != MPIJOB__DOC_JSON_MAP)
 *		return refuse(&r);
 *	while (mpijob__doc_json_key(&r)) {                   // false at the end of the map, and on
 *an error if (mpijob__doc_json_is(&r, "status")) read_status(&r);                 // does the same
 *for the value of this key else mpijob__doc_json_skip(&r);
 *	}
 *	if (r.token == MPIJOB__DOC_JSON_ERROR)
 *		return refuse(&r);
 *
 * The rule for a function such as read_status(): it is called when the current token is the key,
 * and takes exactly one value: by mpijob__doc_json_next() and, for a list or map, reading on to its
 * end. So every function that reads a value leaves the reader behind that value, whatever it was,
 * if it starts like this:
 *
 *	if (mpijob__doc_json_next(r) != MPIJOB__DOC_JSON_MAP) {
 *		mpijob__doc_json_finish(r);                  // another kind: leave it behind
 *		return;
 *	}
 *	while (mpijob__doc_json_key(r)) { ... }
 *
 * Lists work alike: `while (mpijob__doc_json_item(&r)) { ... mpijob__doc_json_finish(&r); }`; there
 * the current token is the item itself.
 *
 * After an error every call returns MPIJOB__DOC_JSON_ERROR (or 0), so one check at the end is
 * enough.
 */
#ifndef MPIJOB__DOC_JSON_READER_H
#define MPIJOB__DOC_JSON_READER_H

#include <stddef.h>
#include <stdint.h>

#define MPIJOB__DOC_JSON_DEEPEST 10000 /* No max_depth can be higher. */

enum mpijob__doc_json_token {
	MPIJOB__DOC_JSON_ERROR = -1,
	MPIJOB__DOC_JSON_END = 0,  /* nothing but space is left */
	MPIJOB__DOC_JSON_MAP,      /* { */
	MPIJOB__DOC_JSON_MAP_END,  /* } */
	MPIJOB__DOC_JSON_LIST,     /* [ */
	MPIJOB__DOC_JSON_LIST_END, /* ] */
	MPIJOB__DOC_JSON_KEY,      /* a key, its colon included */
	MPIJOB__DOC_JSON_STRING,
	MPIJOB__DOC_JSON_NUMBER,
	MPIJOB__DOC_JSON_TRUE,
	MPIJOB__DOC_JSON_FALSE,
	MPIJOB__DOC_JSON_NULL
};

struct mpijob__doc_json {
	/* The current token; read only. */
	int token;
	/* key, string: what stands between the quotes, escapes and all; else the token itself */
	const char *text;
	size_t len;    /* bytes of it */
	int escaped;   /* key, string: holds a backslash, so `text` is not yet the value */
	int32_t depth; /* lists and maps around; MAP and LIST count themselves */
	int32_t line;  /* where the token begins, from 1 */
	/* Set with MPIJOB__DOC_JSON_ERROR: what is wrong, for a finding. Constant strings. */
	const char *error_id;
	const char *error;

	/* Its own business. */
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
 * Begin. Any number of values may follow each other in the text. The text is borrowed for as long
 * as the reader is used; it needs no final NUL.
 *
 * max_depth  lists and maps inside each other; 0 for 500.
 */
void mpijob__doc_json_init(struct mpijob__doc_json *r, const char *text, size_t len,
    int32_t max_depth);

/* Go to the next token and return it (it is in r->token too). */
int mpijob__doc_json_next(struct mpijob__doc_json *r);

/* Inside a map: go to the next key. 1, or 0 at the map's end or on an error. All of the last value
 * must have been read. */
int mpijob__doc_json_key(struct mpijob__doc_json *r);

/* Inside a list: go to the next item's first token. 1, or 0 at the list's end or on an error. */
int mpijob__doc_json_item(struct mpijob__doc_json *r);

/* On a key: go past its value. 1, or 0 on an error. */
int mpijob__doc_json_skip(struct mpijob__doc_json *r);

/* On the first token of a value: go to its last one (for a list or map its end; else nothing is to
 * be done). 1, or 0 on an error. */
int mpijob__doc_json_finish(struct mpijob__doc_json *r);

/* Tell whether the current key or string is this one. */
int mpijob__doc_json_is(const struct mpijob__doc_json *r, const char *string);

/*
 * Decode the current key or string.
 *
 * into  room for r->len + 1 bytes; a NUL is put behind.
 *
 * Returns the bytes of the value, never more than r->len. The value may hold NUL bytes (from
 * \u0000).
 */
size_t mpijob__doc_json_decode(const struct mpijob__doc_json *r, char *into);

/* Read the current token as a whole number, also `1.0` and `1e3`. 1 and sets `out`, or 0 when it is
 * no such number. */
int mpijob__doc_json_int(const struct mpijob__doc_json *r, int64_t *out);

/* The column in bytes, from 1, of the current token, or of the error. r->line is its line. */
int32_t mpijob__doc_json_column(const struct mpijob__doc_json *r);

/* First byte of the current token, in the text: to cut a value out of it. */
const char *mpijob__doc_json_from(const struct mpijob__doc_json *r);
/* First byte behind the current token. */
const char *mpijob__doc_json_until(const struct mpijob__doc_json *r);

#endif
