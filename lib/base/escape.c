/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only list of characters that are escaped in output: terminals execute control characters,
 * also C1 as single bytes, and the bidirectional controls change the visible order of a line
 * (CVE-2021-42574).
 */
#include "base/escape.h"

int mpijob__base_escape_needed(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}
