/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a value, for findings of other rooms. */
#ifndef MPIJOB__PLACE_H
#define MPIJOB__PLACE_H

#include "base/diag.h"

#include <mpijob/doc.h>

/* Where a value stood; `doc` (may be NULL) gives the name of the source, `node` (may be NULL) the rest. */
struct mpijob__place mpijob__doc_place(const mpijob_doc *doc, const mpijob_node *node);
/* Where the key of a map's entry stood. */
struct mpijob__place mpijob__doc_key_place(const mpijob_doc *doc, const mpijob_node *map, size_t index);

#endif
