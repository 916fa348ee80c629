/* SPDX-License-Identifier: Apache-2.0 */
/* The service account of a pod. */
#ifndef MPIJOB__HTTP_IN_CLUSTER_H
#define MPIJOB__HTTP_IN_CLUSTER_H

#include "http/resolve.h"

/* Whether this process runs in a pod with a service account. */
int mpijob__http_in_cluster_possible(const char *service_account);
/* The namespace of the pod; the caller frees it; NULL when there is none or (`nomem` set) memory
 * ran out. */
char *mpijob__http_in_cluster_namespace(const char *service_account, int *nomem);
void mpijob__http_resolve_in_cluster(struct mpijob__http_resolve *resolve);

#endif
