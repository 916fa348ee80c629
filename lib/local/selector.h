/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_SELECTOR_H
#define MPIJOB_LOCAL_SELECTOR_H

#include "local/store.h"

struct mpijob__local_requirement {
	int negated; /* for "!=", "notin" and "!" */
	char *key;
	char **values; /* without values the key must exist */
	size_t count;
};

struct mpijob__local_selector {
	struct mpijob__local_requirement *requirements;
	size_t count;
	char *name;       /* metadata.name of the field selector; NULL: any */
	char *namespace_; /* NULL: all */
};

void mpijob__local_selector_clear(struct mpijob__local_selector *selector);

/* Parse a selector and add it. 0; MPIJOB_ERR_SYNTAX; MPIJOB_ERR_UNSUPPORTED ("<" and ">"; a field
 * other than metadata.name); MPIJOB_ERR_NOMEM. */
int mpijob__local_selector_labels(struct mpijob__local_selector *selector, const char *text);
int mpijob__local_selector_fields(struct mpijob__local_selector *selector, const char *text);

int mpijob__local_selector_matches(const struct mpijob__local_selector *selector,
    const struct mpijob__local_revision *revision);

#endif
