/* SPDX-License-Identifier: Apache-2.0 */
/* The DNS of the cluster, asked whether a name exists. */
#ifndef MPIJOB_OPERATOR_NAMES_H
#define MPIJOB_OPERATOR_NAMES_H

struct names;

/*
 * Read a resolv.conf. `domain`: of the cluster; NULL or "": the one in its search list. NULL, and a
 * line in the log, when that is not the resolv.conf of a pod that uses the DNS of its cluster, or a
 * socket cannot be made.
 */
struct names *names_new(const char *path, const char *domain);
void names_free(struct names *names);
/* As `resolve` of struct mpijob_operator_options; `user` is a struct names. */
int names_resolve(void *user, const char *name);

#endif
