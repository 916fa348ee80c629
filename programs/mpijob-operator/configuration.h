/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of --config: read at the start, and again when it changes or somebody asks for it.
 */
#ifndef MPIJOB_OPERATOR_CONFIGURATION_H
#define MPIJOB_OPERATOR_CONFIGURATION_H

#include <stddef.h>
#include <stdint.h>

#include <mpijob/base.h>
#include <mpijob/operator.h>

struct configuration {
	const char *path; /* NULL: there is none */
	/* tells that something happened where the file is; -1: nothing tells */
	int fd;
	char *text; /* that was read last, good or bad */
	size_t len;
	mpijob_operator_config *config; /* that holds */
	mpijob_operator *operator_;     /* who is told; NULL: nobody yet */
	int text_good;                  /* it was good */
	int good;                       /* the last reading was */
	int64_t read_s;                 /* when the last good one was */
};

/* Read it. 0, or why it cannot be used, after having said so. `path` may be NULL. */
int configuration_begin(struct configuration *configuration, const char *path);
/* Tell the operator, now and after each change. 0 or MPIJOB_ERR_NOMEM. */
int configuration_apply(struct configuration *configuration, mpijob_operator *operator_);
/* Something happened where the file is, or `asked` for: read it if it is another; what is wrong
 * changes nothing. */
void configuration_look(struct configuration *configuration, int asked);
int configuration_write_metrics(const struct configuration *configuration, mpijob_text *out);
void configuration_end(struct configuration *configuration);

#endif
