/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that contain secrets. */
#ifndef MPIJOB__HTTP_TREE_H
#define MPIJOB__HTTP_TREE_H

#include <mpijob/doc.h>

/* Limit of nesting for documents with secrets. */
#define MPIJOB__HTTP_TREE_DEPTH 100

/* Overwrite all strings below a value, which is freed next. NULL does nothing. */
void mpijob__http_tree_wipe(const mpijob_node *node);

#endif
