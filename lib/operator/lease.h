/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a candidate for a Lease: lease.c decides, lease_record.c reads and writes what is
 * on the wire. */
#ifndef MPIJOB__OPERATOR_LEASE_H
#define MPIJOB__OPERATOR_LEASE_H

#include "base/text.h"
#include "client/timer.h"

#include <mpijob/doc.h>
#include <mpijob/lease.h>

#define MPIJOB__OPERATOR_LEASE_API_VERSION "coordination.k8s.io/v1"

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
	MPIJOB__OPERATOR_LEASE_LET_GO
};

struct mpijob__operator_lease_event {
	mpijob_lease *lease;
	mpijob_call *call;
	int waits; /* to be sent */
};

struct mpijob_lease {
	mpijob_client *client;
	struct mpijob_lease_options options;
	char *namespace_, *name, *identity, *component;
	uint64_t dice;
	struct mpijob__client_timer next;     /* attempt */
	struct mpijob__client_timer deadline; /* of renewing, or of giving up */
	mpijob_call *call;
	enum mpijob__operator_lease_request request; /* that `call` is */
	int64_t begun_ms;                            /* when the attempt began */
	int64_t written_ms;                          /* when the write of `call` began */
	mpijob_doc *doc;                      /* the Lease as it was seen last; NULL: never */
	mpijob_text record;                   /* what the election is about, of it */
	char *holder;                         /* of `doc`; never NULL */
	int64_t observed_ms;                  /* when `record` was new; meaningful with `doc` */
	int64_t holds_ms;                     /* the time that it says */
	int64_t (*asleep)(void);              /* tests put another one here */
	int64_t asleep_ms, renewed_asleep_ms; /* as it was at `written_ms`, at `renewed_ms` */
	/* when the last write of ours that succeeded began; meaningful while leading */
	int64_t renewed_ms;
	int leading, released;
	int32_t told_code, told_status;
	struct mpijob__operator_lease_event events[MPIJOB__OPERATOR_LEASE_EVENTS];
};

/* 1 when this one is the holder, as was seen last. */
int mpijob__operator_lease_is_ours(const mpijob_lease *lease);
/* Throw dice: 44 bits. */
uint64_t mpijob__operator_lease_random(mpijob_lease *lease);

/*
 * Take the Lease as the server gave it. `observed_ms` is when its record was new, if it is another
 * than the one that is known, or `ours`, just written. 0, MPIJOB_ERR_NOMEM or MPIJOB_ERR_SYNTAX,
 * with nothing changed.
 */
int mpijob__operator_lease_store(mpijob_lease *lease, const struct mpijob_answer *answer,
    int64_t observed_ms, int ours);
/* Write the Lease as it is to be: ours, or with `let_go` nobody's. What else it holds stays. 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__operator_lease_write(const mpijob_lease *lease, int let_go, mpijob_text *body);
/* Send an Event about it, MPIJOB__OPERATOR_LEASE_LEADS or _STOPPED; one at a time, in their
 * order. */
void mpijob__operator_lease_send_event(mpijob_lease *lease, int number);

#endif
