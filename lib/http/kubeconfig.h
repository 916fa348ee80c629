/* SPDX-License-Identifier: Apache-2.0 */
/* The kubeconfig files of a user, read and checked, and what is found in them by name. */
#ifndef MPIJOB__HTTP_KUBECONFIG_H
#define MPIJOB__HTTP_KUBECONFIG_H

#include "http/report.h"

/* One file. `root` is NULL when it is empty. */
struct mpijob__http_kubeconfig_file {
	char *name;   /* as it was given */
	char *folder; /* absolute: what relative names in it are seen from */
	mpijob_docs *docs;
	const mpijob_node *root;
};

struct mpijob__http_kubeconfig {
	struct mpijob__http_kubeconfig_file *files; /* those that exist, the first wins */
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
 * Read `path` alone, or when it is NULL what $KUBECONFIG and the home folder say. What is wrong is
 * reported; go on unless the report holds an error. Free it in any case.
 */
void mpijob__http_kubeconfig_read(struct mpijob__http_kubeconfig *kubeconfig, const char *path,
    struct mpijob__http_report *report);
/* Free all; secrets in it are wiped. */
void mpijob__http_kubeconfig_release(struct mpijob__http_kubeconfig *kubeconfig);

/* Report what cannot be decoded in one file: wrong types, broken base64, duplicate names. */
void mpijob__http_kubeconfig_check(const struct mpijob__http_kubeconfig_file *file,
    struct mpijob__http_report *report);

/* Find the entry of this name: 1 and the entry, or 0. */
int mpijob__http_kubeconfig_find(const struct mpijob__http_kubeconfig *kubeconfig, const char *list,
    const char *inner, const char *name, struct mpijob__http_kubeconfig_entry *entry);
/* The current-context; NULL: none says one. `file` and `node`: where it stands. */
const char *mpijob__http_kubeconfig_current(const struct mpijob__http_kubeconfig *kubeconfig,
    const struct mpijob__http_kubeconfig_file **file, const mpijob_node **node);
/* Say which names there are: "; there are dev, prod and test"; memory of its own, or NULL when
 * there is none. */
char *mpijob__http_kubeconfig_names(const struct mpijob__http_kubeconfig *kubeconfig,
    const char *list);
/* A non-empty string of an entry, or NULL; the entry may be none. */
const char *mpijob__http_kubeconfig_string(const struct mpijob__http_kubeconfig_entry *entry,
    const char *key);

#endif
