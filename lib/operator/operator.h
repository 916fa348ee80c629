/* SPDX-License-Identifier: Apache-2.0 */
/* The operator: the state that its files share, each part declared by the file that owns it. */
#ifndef MPIJOB__OPERATOR_OPERATOR_H
#define MPIJOB__OPERATOR_OPERATOR_H

#include "base/text.h"
#include "operator/cache_classes.h"
#include "operator/cache_index.h"
#include "operator/cache_jobs.h"
#include "operator/events.h"
#include "operator/informer.h"
#include "operator/metrics.h"
#include "operator/orphans.h"
#include "operator/queue.h"
#include "operator/rights.h"
#include "operator/shadow.h"
#include "base/table.h"

#include <mpijob/operator.h>
#include <mpijob/operator_config.h>

#define MPIJOB__OPERATOR_REMOVED_UIDS 256
#define MPIJOB__OPERATOR_DELETED_UIDS 2048 /* more than are deleted during one request */

/* The caller's options, copied. */
struct mpijob__operator_options {
	char *namespace_, *cluster_domain, *gang_scheduler;
	struct mpijob_features features; /* of `render` */
	struct mpijob_render_options render;
	mpijob_operator_config *config; /* NULL: none */
	size_t max_writes;
	int64_t launcher_hold_ms;
	int (*resolve)(void *user, const char *name); /* NULL: names cannot be resolved */
	void *resolve_user;
	void (*log)(void *user, const struct mpijob_finding *finding);
	void *log_user;
	int log_actions; /* with severity debug */
};

struct mpijob__operator_deleted_child {
	uint64_t hash; /* of its UID */
	uint64_t version;
};

/* Job entries, and the index of their children. */
struct mpijob__operator_cache {
	struct mpijob__base_table by_uid, by_name;
	struct mpijob__operator_index children;
	mpijob_observation *observation;                 /* of the object that is processed */
	const struct mpijob_observed *observed;          /* its contents; NULL: not parsed */
	uint64_t removed[MPIJOB__OPERATOR_REMOVED_UIDS]; /* hashes of UIDs of removed jobs */
	size_t removed_at;
	/* children whose last event has arrived */
	struct mpijob__operator_deleted_child deleted[MPIJOB__OPERATOR_DELETED_UIDS];
	size_t deleted_at;
	size_t validations; /* how many times a job was validated */
};

struct mpijob_operator {
	mpijob_client *client;
	struct mpijob__operator_options options;
	struct mpijob__operator_informer informers[MPIJOB__OPERATOR_INFORMER_COUNT];
	struct mpijob__operator_cache cache;
	struct mpijob__operator_orphans orphans;
	struct mpijob__operator_classes classes;
	struct mpijob__operator_queue queue;
	struct mpijob__operator_rights rights;
	struct mpijob__operator_events *events;
	struct mpijob__operator_metrics metrics;
	struct mpijob__operator_shadow shadow;

	int part;              /* MPIJOB_OPERATOR_*: what it may do; a shadow never writes */
	size_t writes;         /* requests in flight, those of Events too */
	int64_t now_ms;        /* the monotonic time of this step */
	int64_t hold_until_ms; /* the API server asked all clients to wait */
	int nomem;             /* memory ran out in a callback; the step returns it */
};

/* Whether it may execute plans. */
int mpijob__operator_is_leading(const mpijob_operator *operator_);
/* Log a message. `id` is constant. */
void mpijob__operator_log(mpijob_operator *operator_, int32_t severity, const char *id,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);
/* Whether another request may be sent: there are not too many in flight, and the API server did not
 * ask to wait. */
int mpijob__operator_may_write(const mpijob_operator *operator_);
/* The time that a response asks to wait, within bounds. If it asks all clients, no write is sent
 * until then. */
int64_t mpijob__operator_retry_after(mpijob_operator *operator_,
    const struct mpijob_answer *answer);

#endif
