/* SPDX-License-Identifier: Apache-2.0 */
/* Strings that many facts share, kept once and counted. */
#ifndef MPIJOB__PLAN_INTERN_H
#define MPIJOB__PLAN_INTERN_H

#include "base/table.h"

/* All zeros is an empty table. */
struct mpijob__plan_intern {
	struct mpijob__base_table table;
};

/* Get the one copy of a string and count one use; NULL when memory ran out. `text` not NULL. */
const char *mpijob__plan_intern_get(struct mpijob__plan_intern *intern, const char *text);
/* Take back one use; the last one frees the copy. `kept` came from mpijob__plan_intern_get(), or is
 * NULL. */
void mpijob__plan_intern_put(struct mpijob__plan_intern *intern, const char *kept);
/* Free the table with all that is in it. */
void mpijob__plan_intern_free(struct mpijob__plan_intern *intern);

#endif
