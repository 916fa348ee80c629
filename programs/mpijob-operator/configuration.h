/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of --config: read at the start, when it changes, and at SIGHUP.
 */
#ifndef MPIJOB_OPERATOR_CONFIGURATION_H
#define MPIJOB_OPERATOR_CONFIGURATION_H

#include <stddef.h>
#include <stdint.h>

#include <mpijob/base.h>
#include <mpijob/operator.h>

struct configuration {
	const char *path; /* NULL: no configuration */
	/* inotify on the directory of the file; -1: not available */
	int fd;
	char *text; /* the last content that was read, valid or not */
	size_t len;
	mpijob_operator_config *config; /* the last valid one */
	mpijob_operator *operator_;     /* gets each valid configuration; NULL: not created yet */
	int text_valid;                 /* `text` is valid */
	int loaded;                     /* the last attempt to read and apply it succeeded */
	int64_t read_s;                 /* when the last valid one was read */
};

/* Read the file, and watch its directory. `path` may be NULL. 0, or an MPIJOB_ERR_* after logging
 * the reason. */
int configuration_begin(struct configuration *configuration, const char *path);
/* Configure the operator, now and after each change. 0 or MPIJOB_ERR_NOMEM. */
int configuration_apply(struct configuration *configuration, mpijob_operator *operator_);
/* The directory of the file changed, or a reload was `requested`: apply the file, in the first case
 * only if its content differs. An invalid file changes nothing. */
void configuration_reload(struct configuration *configuration, int requested);
int configuration_write_metrics(const struct configuration *configuration, mpijob_text *out);
void configuration_end(struct configuration *configuration);

#endif
