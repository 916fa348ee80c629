/* SPDX-License-Identifier: Apache-2.0 */
/* A candidate for a Lease: lease.c decides, lease_record.c reads and writes the object. */
#ifndef MPIJOB__OPERATOR_LEASE_H
#define MPIJOB__OPERATOR_LEASE_H

#include "base/api.h"
#include "base/text.h"

#include <mpijob/doc.h>
#include <mpijob/lease.h>

#define MPIJOB__OPERATOR_LEASE_API_VERSION MPIJOB__BASE_API_LEASE

enum {
	MPIJOB__OPERATOR_LEASE_LEADS,
	MPIJOB__OPERATOR_LEASE_STOPPED,
	MPIJOB__OPERATOR_LEASE_EVENTS
};

enum mpijob__operator_lease_request {
	MPIJOB__OPERATOR_LEASE_NONE,
	MPIJOB__OPERATOR_LEASE_FAST_PUT,
	MPIJOB__OPERATOR_LEASE_GET,
	MPIJOB__OPERATOR_LEASE_PUT,
	MPIJOB__OPERATOR_LEASE_POST,
	MPIJOB__OPERATOR_LEASE_RELEASE
};

struct mpijob__operator_lease_event {
	mpijob_lease *lease;
	mpijob_call *call;
	int waiting; /* to be sent */
};

struct mpijob_lease {
	mpijob_client *client;
	struct mpijob_lease_options options;
	char *namespace_, *name, *identity, *component;
	uint64_t random;
	int64_t (*clock)(void); /* monotonic milliseconds; tests replace it */
	mpijob_timer *timer;    /* for the earlier one of these two */
	int64_t next_ms;        /* the next attempt; INT64_MAX: none */
	int64_t deadline_ms;    /* for renewing, or for the release; INT64_MAX: none */
	mpijob_call *call;
	enum mpijob__operator_lease_request request; /* of `call` */
	int64_t begun_ms;                            /* when the attempt began */
	int64_t written_ms;                          /* when the write of `call` began */
	mpijob_doc *doc;                             /* the last observed Lease; NULL: none */
	mpijob_text observed;                        /* its fields that a renewal changes */
	char *holder;                                /* of `doc`; never NULL */
	int64_t observed_ms;     /* when `observed` last changed; only with `doc` */
	int64_t holds_ms;        /* its leaseDurationSeconds */
	int64_t (*asleep)(void); /* the time that the machine was suspended; tests replace it */
	int64_t asleep_ms, renewed_asleep_ms; /* its values at `written_ms` and at `renewed_ms` */
	/* when our last successful write began; only while leading */
	int64_t renewed_ms;
	int leading, released;
	int32_t logged_code, logged_status; /* of the last failure, which is logged once */
	struct mpijob__operator_lease_event events[MPIJOB__OPERATOR_LEASE_EVENTS];
};

/* 1 when this candidate was the last observed holder. */
int mpijob__operator_lease_is_ours(const mpijob_lease *lease);
/* 44 random bits. */
uint64_t mpijob__operator_lease_random(mpijob_lease *lease);

/*
 * Store the Lease of a response. `observed_ms` is its time if a renewal changed it, or if it is
 * `ours`, just written. 0; on MPIJOB_ERR_NOMEM or MPIJOB_ERR_SYNTAX nothing changes.
 */
int mpijob__operator_lease_store(mpijob_lease *lease, const struct mpijob_answer *answer,
    int64_t observed_ms, int ours);
/* Write the Lease with us as its holder, or with `release` without one. Other fields stay. 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__operator_lease_write(const mpijob_lease *lease, int release, mpijob_text *body);
/* Send an Event, MPIJOB__OPERATOR_LEASE_LEADS or _STOPPED; one at a time, in this order. */
void mpijob__operator_lease_send_event(mpijob_lease *lease, int number);

#endif
