/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as YAML: a finding or a tree, and a tree that survives being written and read. */
#include "documents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_document((const char *)data, size, MPIJOB_FORMAT_YAML);
}
