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
	char *text; /* what was read last, valid or not */
	size_t len;
	mpijob_operator_config *config; /* the last valid one */
	mpijob_operator *operator_;     /* gets each valid one; NULL: not made yet */
	int text_good;                  /* it was valid */
	int good;                       /* the last reading succeeded */
	int64_t read_s;                 /* when the last valid one was read */
};

/* Read it. 0, or a MPIJOB_ERR_* after having logged the reason. `path` may be NULL. */
int configuration_begin(struct configuration *configuration, const char *path);
/* Configure the operator, now and after each change. 0 or MPIJOB_ERR_NOMEM. */
int configuration_apply(struct configuration *configuration, mpijob_operator *operator_);
/* The directory of the file changed, or a reload was `asked` for: read the file if it differs. An
 * invalid file changes nothing. */
void configuration_look(struct configuration *configuration, int asked);
int configuration_write_metrics(const struct configuration *configuration, mpijob_text *out);
void configuration_end(struct configuration *configuration);

#endif
