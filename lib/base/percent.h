/* SPDX-License-Identifier: Apache-2.0 */
/* Percent encoding (RFC 3986) of URLs and header names. */
#ifndef MPIJOB__BASE_PERCENT_H
#define MPIJOB__BASE_PERCENT_H

#include "base/text.h"

#define MPIJOB__BASE_PERCENT_UNRESERVED "-._~" /* for a segment of a path or a query */

/* Append `text`. Letters, digits and the characters of `plain` are not encoded; `plain` must not
 * contain `%`. Returns 0 or MPIJOB_ERR_NOMEM. */
int mpijob__base_percent_encode(struct mpijob_text *out, const char *text, const char *plain);

#endif
