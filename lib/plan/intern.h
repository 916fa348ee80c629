/* SPDX-License-Identifier: Apache-2.0 */
/* Shared strings with reference counts. */
#ifndef MPIJOB__PLAN_INTERN_H
#define MPIJOB__PLAN_INTERN_H

#include "base/table.h"

/* All zeros is an empty table. */
struct mpijob__plan_intern {
	struct mpijob__base_table table;
};

/* Get the shared copy of a string and increment its count; NULL when memory ran out. `text` not
 * NULL. */
const char *mpijob__plan_intern_get(struct mpijob__plan_intern *intern, const char *text);
/* Decrement the count; at 0 the copy is freed. `kept` came from mpijob__plan_intern_get(), or is
 * NULL. */
void mpijob__plan_intern_put(struct mpijob__plan_intern *intern, const char *kept);
/* Free the table and all its strings. */
void mpijob__plan_intern_free(struct mpijob__plan_intern *intern);

#endif
