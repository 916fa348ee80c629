/* SPDX-License-Identifier: Apache-2.0 */
/* The kubeconfig files, and their entries by name. */
#ifndef MPIJOB__HTTP_KUBECONFIG_H
#define MPIJOB__HTTP_KUBECONFIG_H

#include "http/report.h"

/* One file. `root` is NULL when the file is empty. */
struct mpijob__http_kubeconfig_file {
	char *name;      /* as the caller gave it */
	char *directory; /* absolute; relative paths in the file start here */
	mpijob_docs *docs;
	const mpijob_node *root;
};

struct mpijob__http_kubeconfig {
	struct mpijob__http_kubeconfig_file *files; /* existing files; the first takes precedence */
	size_t count;
	char *missing; /* names of missing files, "a, b"; NULL: all exist */
	int explicit_; /* the caller named the file */
};

/* An entry of "contexts", "clusters" or "users". All zero: the entry is absent. */
struct mpijob__http_kubeconfig_entry {
	const struct mpijob__http_kubeconfig_file *file;
	const char *list;         /* "clusters" */
	const char *inner;        /* "cluster" */
	size_t index;             /* in the file's list */
	const mpijob_node *item;  /* the list's item */
	const mpijob_node *value; /* the value of `inner`; NULL when absent */
};

/*
 * Read `path`; when it is NULL, the files of $KUBECONFIG, else ~/.kube/config. Errors are reported.
 * The caller releases the kubeconfig also after an error.
 */
void mpijob__http_kubeconfig_read(struct mpijob__http_kubeconfig *kubeconfig, const char *path,
    struct mpijob__http_report *report);
/* Wipe the secrets and free all files. */
void mpijob__http_kubeconfig_release(struct mpijob__http_kubeconfig *kubeconfig);

/* Find the entry of this name: 1 and the entry, or 0. */
int mpijob__http_kubeconfig_find(const struct mpijob__http_kubeconfig *kubeconfig, const char *list,
    const char *inner, const char *name, struct mpijob__http_kubeconfig_entry *entry);
/* The value of current-context, and its position in *file and *node; NULL: it is not set. */
const char *mpijob__http_kubeconfig_current(const struct mpijob__http_kubeconfig *kubeconfig,
    const struct mpijob__http_kubeconfig_file **file, const mpijob_node **node);
/* The names of a list as the end of a message: "; there are dev, prod and test" or "; there is
 * none". The caller frees it; NULL when memory ran out. */
char *mpijob__http_kubeconfig_names(const struct mpijob__http_kubeconfig *kubeconfig,
    const char *list);
/* A string of an entry; NULL when it is empty or absent. The entry may be absent, too. */
const char *mpijob__http_kubeconfig_string(const struct mpijob__http_kubeconfig_entry *entry,
    const char *key);

#endif
