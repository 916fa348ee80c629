/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result codes with their names and messages.
 *
 * The codes are also in the public header; a unit test compares the numbers of codes.
 */
#include <mpijob/base.h>

#define CODES(X)                                                    \
	X(MPIJOB_OK, "done")                                        \
	X(MPIJOB_ERR_NOMEM, "out of memory")                        \
	X(MPIJOB_ERR_USAGE, "the call is wrong")                    \
	X(MPIJOB_ERR_SYNTAX, "the text cannot be read")             \
	X(MPIJOB_ERR_SPEC, "the document is refused")               \
	X(MPIJOB_ERR_IO, "input or output failed")                  \
	X(MPIJOB_ERR_TIMEOUT, "the deadline passed")                \
	X(MPIJOB_ERR_CANCELLED, "cancelled by the caller")          \
	X(MPIJOB_ERR_AUTH, "credentials are missing or refused")    \
	X(MPIJOB_ERR_NOT_FOUND, "not found")                        \
	X(MPIJOB_ERR_CONFLICT, "another client changed or owns it") \
	X(MPIJOB_ERR_REJECTED, "the server refused the request")    \
	X(MPIJOB_ERR_SERVER, "the server failed or is overloaded")  \
	X(MPIJOB_ERR_UNSUPPORTED, "not supported here")             \
	X(MPIJOB_ERR_UNREACHABLE, "the server cannot be reached")

#define STRING(x) #x
#define NUMBER(x) STRING(x)

const char *mpijob_version(void)
{
	return NUMBER(MPIJOB_VERSION_MAJOR) "." NUMBER(MPIJOB_VERSION_MINOR) "." NUMBER(
	    MPIJOB_VERSION_PATCH);
}

_Static_assert(MPIJOB_VERSION_NUMBER == MPIJOB_VERSION_MAJOR * 1000000 +
					    MPIJOB_VERSION_MINOR * 1000 + MPIJOB_VERSION_PATCH,
    "base.h has two versions");

int32_t mpijob_version_number(void)
{
	return MPIJOB_VERSION_NUMBER;
}

const char *mpijob_error_name(int code)
{
	switch (code) {
#define NAME(code, text) \
	case code: return #code;
		CODES(NAME)
#undef NAME
	default: return "unknown";
	}
}

const char *mpijob_error_text(int code)
{
	switch (code) {
#define TEXT(code, text) \
	case code: return text;
		CODES(TEXT)
#undef TEXT
	default: return "unknown result code";
	}
}
