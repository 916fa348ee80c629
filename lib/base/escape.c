/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only list of characters that are not printed as they are: terminals act on control
 * characters, C1 as single bytes too, and the bidirectional controls reorder a line so that it
 * reads as another one (CVE-2021-42574).
 */
#include "base/escape.h"

int mpijob__base_escape_needed(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}
