/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_ROUTE_H
#define MPIJOB_LOCAL_ROUTE_H

#include "local/store.h"

struct mpijob__local_parameter {
	char *name;
	char *value;
};

/* A parsed path and query. */
struct mpijob__local_route {
	const struct mpijob__local_kind *kind; /* NULL: there is no resource at this path */
	char *namespace_;                      /* NULL: all namespaces, or a cluster-scoped kind */
	char *name;                            /* NULL: the collection */
	char *subresource;                     /* NULL: the object itself */
	struct mpijob__local_parameter *parameters;
	size_t parameter_count;
};

/* Parse a path. 0; MPIJOB_ERR_SYNTAX (an invalid escape, too many segments); MPIJOB_ERR_NOMEM. The
 * caller clears the route also after an error. */
int mpijob__local_route_parse(struct mpijob__local_route *route, const char *path);
void mpijob__local_route_clear(struct mpijob__local_route *route);

/* The value of a parameter; NULL when absent. */
const char *mpijob__local_route_parameter(const struct mpijob__local_route *route,
    const char *name);
/* Whether the value is "true" or "1". */
int mpijob__local_route_flag(const struct mpijob__local_route *route, const char *name);
/* The first parameter that is not in `known`, which ends with NULL; NULL when all are. */
const char *mpijob__local_route_unknown_parameter(const struct mpijob__local_route *route,
    const char *const *known);

#endif
