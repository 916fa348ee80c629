/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_ROUTE_H
#define MPIJOB_LOCAL_ROUTE_H

#include "store.h"

struct parameter {
	char *name;
	char *value;
};

/* What a path and query mean. */
struct route {
	const struct kind *kind; /* NULL: there is nothing at this path */
	char *namespace_;        /* NULL: all, or the kind has none */
	char *name;              /* NULL: the collection */
	char *subresource;       /* NULL: the object itself */
	struct parameter *parameters;
	size_t parameter_count;
};

/* 0; MPIJOB_ERR_SYNTAX (a bad escape); MPIJOB_ERR_NOMEM. Clear it in any case. */
int mpijob__local_route_parse(struct route *route, const char *path);
void mpijob__local_route_clear(struct route *route);

/* NULL when absent. */
const char *mpijob__local_route_parameter(const struct route *route, const char *name);
/* 1 for "true" and "1". */
int mpijob__local_route_flag(const struct route *route, const char *name);
/* The first parameter that is not in a list closed by NULL; NULL when all are. */
const char *mpijob__local_route_stranger(const struct route *route, const char *const *known);

#endif
