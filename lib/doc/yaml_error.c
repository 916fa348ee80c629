/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error messages for libyaml's problems.
 *
 * libyaml describes states of its scanner; these messages say what is accepted. A problem that is
 * not in the table is reported unchanged.
 */
#include "doc/yaml_error.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *problem;
	const char *id;
	const char *text;
} problems[] = {
	{ "control characters are not allowed", "control-character",
	    "a control character is allowed only in double quotes, as an escape such as \\x01" },
	{ "UTF-8", "encoding", "this byte is not UTF-8; save the text as UTF-8" },
	{ "found invalid Unicode character escape code", "encoding",
	    "this escape is not a Unicode character; write one above U+FFFF as \\UXXXXXXXX, not as "
	    "two surrogates" },
	{ "invalid Unicode character", "encoding",
	    "this is not a Unicode character; save the text as UTF-8" },
	{ "mapping values are not allowed in this context", "syntax",
	    "a ':' is not allowed here; put text that holds ': ' in quotes, or check the "
	    "indentation of this line" },
	{ "could not find expected ':'", "syntax",
	    "expected 'key: value'; this line, or the one before it, has no ': '" },
	{ "did not find expected key", "syntax",
	    "expected a key; this line must begin in the same column as the other keys around it" },
	{ "did not find expected '-' indicator", "syntax",
	    "expected '- '; all entries of a list begin in the same column" },
	{ "block sequence entries are not allowed in this context", "syntax",
	    "a list cannot begin here; put '- ' on a line of its own, below the key" },
	{ "block mapping keys are not allowed in this context", "syntax",
	    "a map cannot begin here; put its first key on a line of its own" },
	{ "mapping keys are not allowed in this context", "syntax",
	    "a key cannot begin here; put it on a line of its own" },
	{ "did not find expected ',' or ']'", "syntax", "expected ',' or ']'" },
	{ "did not find expected ',' or '}'", "syntax", "expected ',' or '}'" },
	{ "did not find expected node content", "syntax", "expected a value" },
	{ "did not find expected <document start>", "syntax",
	    "expected the end of the document; another one begins with a line '---'" },
	{ "did not find expected <stream-start>", "syntax", "expected the beginning of the text" },
	{ "found character that cannot start any token", "syntax",
	    "no value begins with this character; indent with spaces, not tabs, and put text that "
	    "begins with '@', '`' or '%' in quotes" },
	{ "found a tab character", "syntax", "indent with spaces, not tabs" },
	{ "found unexpected end of stream", "syntax", "the closing quote is missing" },
	{ "found unexpected document indicator", "syntax",
	    "'---' and '...' end a document; the closing quote is missing" },
	{ "found unknown escape character", "syntax",
	    "unknown escape in double quotes; write a backslash as \\\\, or use single quotes" },
	{ "did not find expected hexdecimal number", "syntax",
	    "this escape needs hexadecimal digits" },
	{ "found unexpected ':'", "syntax", "text that ends in ':' needs quotes inside [] and {}" },
	{ "did not find expected whitespace or line break", "syntax",
	    "expected a space after the tag; put text that begins with '!' in quotes" },
	{ "found undefined tag handle", "syntax",
	    "this tag begins with a handle that no %TAG line defines" },
	{ "found an indentation indicator equal to 0", "syntax",
	    "the indentation after '|' or '>' is 1 to 9" },
	{ "did not find expected comment or line break", "syntax",
	    "only a comment may follow on this line; text begins on the next one" },
	{ "found incompatible YAML document", "unsupported-version",
	    "only YAML 1.1 and 1.2 can be read" },
	{ "found unknown directive name", "syntax",
	    "a line that begins with '%' is a directive, %YAML or %TAG; put the text in quotes" },
	{ "could not find expected directive name", "syntax",
	    "a line that begins with '%' is a directive, %YAML or %TAG; put the text in quotes" },
	{ "found unexpected non-alphabetical character", "syntax",
	    "a line that begins with '%' is a directive, %YAML or %TAG; put the text in quotes" },
	{ "version number", "syntax", "a %YAML line gives a version, 1.1 or 1.2" },
	{ "did not find expected digit or '.' character", "syntax",
	    "a %YAML line gives a version, 1.1 or 1.2" },
	{ "did not find expected tag URI", "syntax",
	    "this tag is not complete; put text that begins with '!' in quotes" },
	{ "did not find expected '!'", "syntax",
	    "this tag is not complete; put text that begins with '!' in quotes" },
	{ "did not find the expected '>'", "syntax", "expected '>' at the end of the tag" },
	{ "did not find URI escaped octet", "syntax",
	    "a '%' in a tag needs two hexadecimal digits" },
	{ "did not find expected alphabetic or numeric character", "syntax",
	    "expected a name after '&' or '*', of letters, digits, '-' and '_'; put other text in "
	    "quotes" },
	{ "found duplicate %TAG directive", "syntax",
	    "the same handle is given by two %TAG lines" },
	{ "found duplicate %YAML directive", "syntax", "there are two %YAML lines; keep one" },
};

const char *mpijob__doc_yaml_error_text(const char *problem, const char **id)
{
	for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++) {
		if (!strstr(problem, problems[i].problem))
			continue;
		*id = problems[i].id;
		return problems[i].text;
	}
	*id = "syntax";
	return problem;
}
