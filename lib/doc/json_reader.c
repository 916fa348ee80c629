/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON tokenizer.
 *
 * Strings are most of every document; they are scanned eight bytes at a time until a quote, a
 * backslash, a control character or a non-ASCII byte. Line ends occur only between tokens, so lines
 * are counted only there.
 */
#include "doc/json_reader.h"

#include "base/hex.h"
#include "base/utf8.h"
#include "doc/number.h"

#include <string.h>

#define DEFAULT_DEPTH 500

enum state {
	STATE_TOP,        /* a value or the end of the text */
	STATE_VALUE,      /* a value */
	STATE_FIRST_ITEM, /* a value or ] */
	STATE_FIRST_KEY,  /* a key or } */
	STATE_KEY,        /* a key */
	STATE_AFTER       /* a comma or the end of the list or map */
};

void mpijob__doc_json_init(struct mpijob__doc_json *r, const char *text, size_t len,
    int32_t max_depth)
{
	memset(r, 0, offsetof(struct mpijob__doc_json, in_map));
	if (max_depth <= 0)
		max_depth = DEFAULT_DEPTH;
	r->max_depth = max_depth < MPIJOB__DOC_JSON_DEEPEST ? max_depth : MPIJOB__DOC_JSON_DEEPEST;
	r->text = r->at = r->from = r->line_start = r->now_start = text;
	r->end = text + len;
	r->line = r->now_line = 1;
}

static int fail(struct mpijob__doc_json *r, const char *at, const char *id, const char *error)
{
	r->token = MPIJOB__DOC_JSON_ERROR;
	r->error_id = id;
	r->error = error;
	r->from = r->text = at;
	r->line = r->now_line;
	r->line_start = r->now_start;
	r->len = 0;
	r->at = r->end;
	return MPIJOB__DOC_JSON_ERROR;
}

static int syntax(struct mpijob__doc_json *r, const char *error)
{
	return fail(r, r->at, "syntax", error);
}

static void skip_space(struct mpijob__doc_json *r)
{
	const char *at = r->at;
	const char *end = r->end;

	for (; at < end; at++) {
		if (*at == ' ' || *at == '\t')
			continue;
		if (*at == '\n') {
			r->now_line++;
			r->now_start = at + 1;
		} else if (*at == '\r') {
			if (at + 1 < end && at[1] == '\n')
				at++;
			r->now_line++;
			r->now_start = at + 1;
		} else {
			break;
		}
	}
	r->at = at;
}

/* Sets bit 7 of each byte of the result where the byte is a quote, a backslash, a control character
 * or above 0x7F. */
static uint64_t special_bytes(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const uint64_t quote = word ^ (ones * '"');
	const uint64_t slash = word ^ (ones * '\\');

	return ((word - ones * 0x20) | (quote - ones) | (slash - ones) | word) & (ones * 0x80);
}

static const char *skip_ordinary(const char *at, const char *end)
{
	while (end - at >= 8) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		if (special_bytes(word))
			break;
		at += 8;
	}
	while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20 &&
	       (unsigned char)*at < 0x80)
		at++;
	return at;
}

/* Four hexadecimal digits, or -1. */
static int32_t hex4(const char *at, const char *end)
{
	int32_t value = 0;

	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = mpijob__base_hex_value(at[i]);

		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

/* Scan an escape that begins at `at`. Returns its end, or NULL with the error set. */
static const char *scan_escape(struct mpijob__doc_json *r, const char *at)
{
	int32_t code;

	if (r->end - at >= 2 && at[1] != 'u') {
		if (at[1] && strchr("\"\\/bfnrt", at[1]))
			return at + 2;
		fail(r, at, "syntax",
		    "unknown escape in a string; use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX");
		return NULL;
	}
	code = r->end - at >= 2 ? hex4(at + 2, r->end) : -1;
	if (code < 0) {
		fail(r, at, "syntax", "an escape \\u needs four hexadecimal digits");
		return NULL;
	}
	if (code < 0xd800 || code > 0xdfff)
		return at + 6;
	if (code < 0xdc00 && r->end - at >= 8 && at[6] == '\\' && at[7] == 'u') {
		int32_t low = hex4(at + 8, r->end);

		if (low >= 0xdc00 && low <= 0xdfff)
			return at + 12;
	}
	fail(r, at, "encoding",
	    "one half of a surrogate pair is missing; write \\uD800-\\uDBFF and \\uDC00-\\uDFFF in "
	    "pairs");
	return NULL;
}

/* Scan a string from its opening quote. Returns 1, or 0 with the error set. */
static int scan_string(struct mpijob__doc_json *r)
{
	const char *at = r->at + 1;

	r->text = at;
	r->escaped = 0;
	for (;;) {
		size_t len;

		at = skip_ordinary(at, r->end);
		if (at == r->end) {
			fail(r, r->at, "syntax", "this string has no closing quote");
			return 0;
		}
		if (*at == '"')
			break;
		if (*at == '\\') {
			r->escaped = 1;
			at = scan_escape(r, at);
			if (!at)
				return 0;
			continue;
		}
		if ((unsigned char)*at < 0x20) {
			fail(r, at, "syntax",
			    "a string cannot contain a line end or another control character; "
			    "write "
			    "\\n, \\t or \\uXXXX");
			return 0;
		}
		len = mpijob__base_utf8_read(at, r->end, NULL);
		if (len == 0) {
			fail(r, at, "encoding", "this byte is not UTF-8; save the text as UTF-8");
			return 0;
		}
		at += len;
	}
	r->len = (size_t)(at - r->text);
	r->at = at + 1;
	return 1;
}

static int is_digit(const char *at, const char *end)
{
	return at < end && *at >= '0' && *at <= '9';
}

static int ends_token(const char *at, const char *end)
{
	return at == end || *at == ',' || *at == '}' || *at == ']' || *at == ' ' || *at == '\n' ||
	       *at == '\r' || *at == '\t' || *at == ':';
}

static int scan_number(struct mpijob__doc_json *r)
{
	const char *at = mpijob__doc_number_end(r->at, r->end);

	if (!at || !ends_token(at, r->end)) {
		const char *bad = *r->at == '-' ? r->at + 1 : r->at;

		if (is_digit(bad, r->end) && *bad == '0' && is_digit(bad + 1, r->end))
			return syntax(r, "a number cannot begin with 0; leave the zero out, or put "
					 "the value in quotes");
		if (*r->at == '.' || *r->at == '+' || mpijob__doc_number_digits(bad, r->end) == bad)
			return syntax(r, "a number begins with a digit or with '-' and a digit");
		return syntax(r, "this is not a number; a number looks like 12, -0.5 or 1e3");
	}
	r->text = r->at;
	r->len = (size_t)(at - r->at);
	r->at = at;
	return r->token = MPIJOB__DOC_JSON_NUMBER;
}

static int scan_word(struct mpijob__doc_json *r, const char *word, int token)
{
	size_t len = strlen(word);

	if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0 ||
	    !ends_token(r->at + len, r->end))
		return syntax(r, "expected a value; text must be in double quotes, and the words "
				 "are true, false and null");
	r->text = r->at;
	r->len = len;
	r->at += len;
	return r->token = token;
}

static void after_value(struct mpijob__doc_json *r)
{
	r->state = r->depth ? STATE_AFTER : STATE_TOP;
}

static int innermost_is_map(const struct mpijob__doc_json *r)
{
	return r->in_map[r->depth >> 3] >> (r->depth & 7) & 1;
}

static int open_container(struct mpijob__doc_json *r, int token)
{
	uint8_t bit;

	if (r->depth >= r->max_depth)
		return fail(r, r->at, "limit-depth", NULL);
	r->depth++;
	bit = (uint8_t)(1u << (r->depth & 7));
	if (token == MPIJOB__DOC_JSON_MAP) {
		r->in_map[r->depth >> 3] |= bit;
		r->state = STATE_FIRST_KEY;
	} else {
		r->in_map[r->depth >> 3] &= (uint8_t)~bit;
		r->state = STATE_FIRST_ITEM;
	}
	r->text = r->at++;
	r->len = 1;
	return r->token = token;
}

static int close_container(struct mpijob__doc_json *r)
{
	int map = innermost_is_map(r);

	if (*r->at != (map ? '}' : ']'))
		return syntax(r, map ? "expected ',' or '}'" : "expected ',' or ']'");
	r->text = r->at++;
	r->len = 1;
	r->depth--;
	after_value(r);
	return r->token = map ? MPIJOB__DOC_JSON_MAP_END : MPIJOB__DOC_JSON_LIST_END;
}

static int scan_value(struct mpijob__doc_json *r)
{
	int token;

	switch (*r->at) {
	case '{': return open_container(r, MPIJOB__DOC_JSON_MAP);
	case '[': return open_container(r, MPIJOB__DOC_JSON_LIST);
	case '"':
		token =
		    scan_string(r) ? r->token = MPIJOB__DOC_JSON_STRING : MPIJOB__DOC_JSON_ERROR;
		break;
	case 't': token = scan_word(r, "true", MPIJOB__DOC_JSON_TRUE); break;
	case 'f': token = scan_word(r, "false", MPIJOB__DOC_JSON_FALSE); break;
	case 'n': token = scan_word(r, "null", MPIJOB__DOC_JSON_NULL); break;
	case '-':
	case '+':
	case '.':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9': token = scan_number(r); break;
	case ',': return syntax(r, "expected a value before this ','");
	case ']':
		return syntax(r, r->depth && !innermost_is_map(r)
				     ? "expected a value after the ','; leave the last ',' out"
				     : "expected a value, not ']'");
	case '}': return syntax(r, "expected a value, not '}'");
	default: token = scan_word(r, "true", MPIJOB__DOC_JSON_TRUE); break;
	}
	if (token != MPIJOB__DOC_JSON_ERROR)
		after_value(r);
	return token;
}

static int scan_key(struct mpijob__doc_json *r)
{
	if (*r->at != '"')
		return syntax(r, *r->at == '}'
				     ? "expected a key after the ','; leave the last ',' out"
				     : "expected a key in double quotes");
	if (!scan_string(r))
		return MPIJOB__DOC_JSON_ERROR;
	skip_space(r);
	if (r->at == r->end || *r->at != ':')
		return syntax(r, "expected ':' after the key");
	r->at++;
	r->state = STATE_VALUE;
	return r->token = MPIJOB__DOC_JSON_KEY;
}

/* Scan what follows a value inside a list or map. */
static int scan_after(struct mpijob__doc_json *r)
{
	if (*r->at != ',')
		return close_container(r);
	r->at++;
	skip_space(r);
	r->state = innermost_is_map(r) ? STATE_KEY : STATE_VALUE;
	if (r->at == r->end)
		return syntax(r, "the text ends in the middle");
	r->from = r->at;
	r->line = r->now_line;
	r->line_start = r->now_start;
	return r->state == STATE_KEY ? scan_key(r) : scan_value(r);
}

int mpijob__doc_json_next(struct mpijob__doc_json *r)
{
	if (r->token == MPIJOB__DOC_JSON_ERROR)
		return MPIJOB__DOC_JSON_ERROR;
	skip_space(r);
	r->from = r->at;
	r->line = r->now_line;
	r->line_start = r->now_start;
	r->escaped = 0;
	if (r->at == r->end) {
		if (r->state != STATE_TOP)
			return syntax(r, "the text ends in the middle");
		r->text = r->at;
		r->len = 0;
		return r->token = MPIJOB__DOC_JSON_END;
	}
	switch (r->state) {
	case STATE_FIRST_KEY: return *r->at == '}' ? close_container(r) : scan_key(r);
	case STATE_FIRST_ITEM: return *r->at == ']' ? close_container(r) : scan_value(r);
	case STATE_KEY: return scan_key(r);
	case STATE_AFTER: return scan_after(r);
	default: return scan_value(r);
	}
}

int mpijob__doc_json_key(struct mpijob__doc_json *r)
{
	return mpijob__doc_json_next(r) == MPIJOB__DOC_JSON_KEY;
}

int mpijob__doc_json_item(struct mpijob__doc_json *r)
{
	int token = mpijob__doc_json_next(r);

	return token != MPIJOB__DOC_JSON_LIST_END && token != MPIJOB__DOC_JSON_ERROR;
}

int mpijob__doc_json_finish(struct mpijob__doc_json *r)
{
	int32_t depth = r->depth - 1;

	if (r->token != MPIJOB__DOC_JSON_MAP && r->token != MPIJOB__DOC_JSON_LIST)
		return r->token != MPIJOB__DOC_JSON_ERROR;
	while (r->depth > depth)
		if (mpijob__doc_json_next(r) == MPIJOB__DOC_JSON_ERROR)
			return 0;
	return 1;
}

int mpijob__doc_json_skip(struct mpijob__doc_json *r)
{
	return mpijob__doc_json_next(r) != MPIJOB__DOC_JSON_ERROR && mpijob__doc_json_finish(r);
}

/* Decode one character or escape of a scanned string and advance `*at`. Returns the number of
 * bytes. */
static size_t decode_one(const char **at, char into[4])
{
	const char *from = *at;
	static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	uint32_t code;

	if (*from != '\\') {
		into[0] = *from;
		*at = from + 1;
		return 1;
	}
	if (from[1] != 'u') {
		for (const char *e = escapes; *e; e += 2)
			if (*e == from[1])
				into[0] = e[1];
		*at = from + 2;
		return 1;
	}
	code = (uint32_t)hex4(from + 2, from + 6);
	*at = from + 6;
	if (code >= 0xd800 && code < 0xdc00) {
		code = 0x10000 + ((code - 0xd800) << 10) +
		       ((uint32_t)hex4(from + 8, from + 12) - 0xdc00);
		*at = from + 12;
	}
	return mpijob__base_utf8_write(into, code);
}

int mpijob__doc_json_is(const struct mpijob__doc_json *r, const char *string)
{
	const char *at = r->text;
	const char *end = r->text + r->len;
	size_t len = strlen(string);

	if (r->token != MPIJOB__DOC_JSON_KEY && r->token != MPIJOB__DOC_JSON_STRING)
		return 0;
	if (!r->escaped)
		return r->len == len && memcmp(r->text, string, len) == 0;
	while (at < end) {
		char piece[4];
		size_t step = decode_one(&at, piece);

		if (step > len || memcmp(piece, string, step) != 0)
			return 0;
		string += step;
		len -= step;
	}
	return len == 0;
}

size_t mpijob__doc_json_decode(const struct mpijob__doc_json *r, char *into)
{
	const char *at = r->text;
	const char *end = r->text + r->len;
	char *to = into;

	if (!r->escaped) {
		memcpy(into, r->text, r->len);
		into[r->len] = 0;
		return r->len;
	}
	while (at < end) {
		char piece[4];
		size_t step = decode_one(&at, piece);

		memcpy(to, piece, step);
		to += step;
	}
	*to = 0;
	return (size_t)(to - into);
}

int mpijob__doc_json_int(const struct mpijob__doc_json *r, int64_t *out)
{
	return r->token == MPIJOB__DOC_JSON_NUMBER && mpijob__doc_number_int(r->text, r->len, out);
}

int32_t mpijob__doc_json_column(const struct mpijob__doc_json *r)
{
	return (int32_t)(r->from - r->line_start) + 1;
}

const char *mpijob__doc_json_from(const struct mpijob__doc_json *r)
{
	return r->from;
}

const char *mpijob__doc_json_until(const struct mpijob__doc_json *r)
{
	return r->at;
}
