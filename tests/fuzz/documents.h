/* SPDX-License-Identifier: Apache-2.0 */
/* The property that both fuzz targets of documents check: a written document is parsed to the same
 * tree. */
#ifndef FUZZ_DOC_H
#define FUZZ_DOC_H

#include <mpijob/doc.h>

#include <stdio.h>
#include <stdlib.h>

int fuzz_document(const char *data, size_t len, int32_t format);
#endif
