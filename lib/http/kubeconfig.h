/* SPDX-License-Identifier: Apache-2.0 */
/* The kubeconfig files of a user, read and checked, and their entries by name. */
#ifndef MPIJOB__HTTP_KUBECONFIG_H
#define MPIJOB__HTTP_KUBECONFIG_H

#include "http/report.h"

/* One file. `root` is NULL when it is empty. */
struct mpijob__http_kubeconfig_file {
	char *name;   /* as the caller gave it */
	char *folder; /* absolute: the base of relative names in the file */
	mpijob_docs *docs;
	const mpijob_node *root;
};

struct mpijob__http_kubeconfig {
	struct mpijob__http_kubeconfig_file
	    *files; /* those that exist; the first takes precedence */
	size_t count;
	char *missing; /* names of those that do not exist, "a, b"; NULL: none */
	int explicit_; /* the caller named the file */
};

/* An entry of "contexts", "clusters" or "users". All zero: none. */
struct mpijob__http_kubeconfig_entry {
	const struct mpijob__http_kubeconfig_file *file;
	const char *list;         /* "clusters" */
	const char *inner;        /* "cluster" */
	size_t index;             /* in the file's list */
	const mpijob_node *item;  /* the list's item */
	const mpijob_node *value; /* what is under `inner`; NULL when absent */
};

/*
 * Read `path` alone; when it is NULL, the files of $KUBECONFIG, or the one in the home directory.
 * Errors are reported; continue unless the report has an error. Free it in any case.
 */
void mpijob__http_kubeconfig_read(struct mpijob__http_kubeconfig *kubeconfig, const char *path,
    struct mpijob__http_report *report);
/* Free all, and wipe the secrets. */
void mpijob__http_kubeconfig_release(struct mpijob__http_kubeconfig *kubeconfig);

/* Find the entry of this name: 1 and the entry, or 0. */
int mpijob__http_kubeconfig_find(const struct mpijob__http_kubeconfig *kubeconfig, const char *list,
    const char *inner, const char *name, struct mpijob__http_kubeconfig_entry *entry);
/* The current-context; NULL: none is set. `file` and `node`: its position. */
const char *mpijob__http_kubeconfig_current(const struct mpijob__http_kubeconfig *kubeconfig,
    const struct mpijob__http_kubeconfig_file **file, const mpijob_node **node);
/* List the existing names: "; there are dev, prod and test"; the caller frees it; NULL when there
 * is none. */
char *mpijob__http_kubeconfig_names(const struct mpijob__http_kubeconfig *kubeconfig,
    const char *list);
/* A non-empty string of an entry, or NULL; the entry may be absent. */
const char *mpijob__http_kubeconfig_string(const struct mpijob__http_kubeconfig_entry *entry,
    const char *key);

#endif
