/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of the cluster's DNS: does a name exist? */
#ifndef MPIJOB_OPERATOR_NAMES_H
#define MPIJOB_OPERATOR_NAMES_H

struct names;

/*
 * Read a resolv.conf. `domain` is the DNS domain of the cluster; NULL or "": that of the search
 * list. Returns NULL after logging the reason: the file is not that of a pod that uses the DNS of
 * its cluster, or no socket can be opened.
 */
struct names *names_new(const char *path, const char *domain);
void names_free(struct names *names);
/* The callback `resolve` of struct mpijob_operator_options; `user` is a struct names. */
int names_resolve(void *user, const char *name);

#endif
