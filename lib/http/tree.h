/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that contain secrets. */
#ifndef MPIJOB__HTTP_TREE_H
#define MPIJOB__HTTP_TREE_H

#include <mpijob/doc.h>

/* The nesting limit of documents with secrets: wiping is recursive. */
#define MPIJOB__HTTP_TREE_DEPTH 100

/* Overwrite all strings below a node that the caller frees next. NULL does nothing. */
void mpijob__http_tree_wipe(const mpijob_node *node);

#endif
