/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of logs. */
#ifndef MPIJOB__CLIENT_LOG_PODS_H
#define MPIJOB__CLIENT_LOG_PODS_H

#include "client/log_source.h"

#include <mpijob/watch.h>

struct mpijob__client_log_pod {
	struct mpijob_logs *logs;
	struct mpijob__client_log_pod *next;
	char *name, *uid;
	struct mpijob__client_log_source *sources;
	unsigned round; /* the last list that contained it */
	int deleted;
	int ended; /* its phase is final */
};

/* Take over the state of a pod. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__client_log_take_pod(struct mpijob_logs *logs, const struct mpijob_watch_event *event);
/* A list is complete: pods that were not in it are deleted. */
void mpijob__client_log_drop_unlisted(struct mpijob_logs *logs);
/* Free the deleted pods of which all is read. */
void mpijob__client_log_sweep_pods(struct mpijob_logs *logs);
void mpijob__client_log_free_pods(struct mpijob_logs *logs);

#endif
