/* SPDX-License-Identifier: Apache-2.0 */
/* The service account of a pod. */
#ifndef MPIJOB__HTTP_IN_CLUSTER_H
#define MPIJOB__HTTP_IN_CLUSTER_H

#include "http/resolve.h"

/* Whether this process runs in a pod with a service account. */
int mpijob__http_in_cluster_possible(const char *service_account);
/* Read the namespace of the pod; the caller frees it. NULL: it is unknown, or memory ran out and
 * *nomem is set. */
char *mpijob__http_in_cluster_namespace(const char *service_account, int *nomem);
/* Fill the configuration from the service account and the options; report errors. */
void mpijob__http_resolve_in_cluster(struct mpijob__http_resolve *resolve);

#endif
