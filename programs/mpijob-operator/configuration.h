/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of --config: read at the start, after each change, and after SIGHUP.
 */
#ifndef MPIJOB_OPERATOR_CONFIGURATION_H
#define MPIJOB_OPERATOR_CONFIGURATION_H

#include <stddef.h>
#include <stdint.h>

#include <mpijob/base.h>
#include <mpijob/operator.h>

struct configuration {
	const char *path; /* NULL: no file */
	/* inotify descriptor of the file's directory, or -1 */
	int fd;
	char *text; /* last content, valid or not */
	size_t len;
	mpijob_operator_config *config; /* in effect */
	mpijob_operator *operator_;     /* gets each new configuration; NULL: not yet set */
	int text_good;                  /* the last content was valid */
	int good;                       /* the last read succeeded */
	int64_t read_s;                 /* time of the last successful read */
};

/* Read the file. 0, or an error after logging it. `path` may be NULL. */
int configuration_begin(struct configuration *configuration, const char *path);
/* Configure the operator, now and after each change. 0 or MPIJOB_ERR_NOMEM. */
int configuration_apply(struct configuration *configuration, mpijob_operator *operator_);
/* Something changed in the file's directory, or SIGHUP arrived (`asked`): apply the file if its
 * content is new and valid. */
void configuration_look(struct configuration *configuration, int asked);
int configuration_write_metrics(const struct configuration *configuration, mpijob_text *out);
void configuration_end(struct configuration *configuration);

#endif
