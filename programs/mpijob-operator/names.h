/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of the cluster's DNS: does a name exist? */
#ifndef MPIJOB_OPERATOR_NAMES_H
#define MPIJOB_OPERATOR_NAMES_H

struct names;

/*
 * Read a resolv.conf. `domain`: of the cluster; NULL or "": the one in its search list. Returns
 * NULL, and logs the reason, when it is not the resolv.conf of a pod that uses the DNS of its
 * cluster, or when there is no socket.
 */
struct names *names_new(const char *path, const char *domain);
void names_free(struct names *names);
/* As `resolve` of struct mpijob_operator_options; `user` is a struct names. */
int names_resolve(void *user, const char *name);

#endif
