/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a client and of its calls, for the files of this room. */
#ifndef MPIJOB__CLUSTER_CLIENT_H
#define MPIJOB__CLUSTER_CLIENT_H

#include "base/text.h"

#include <mpijob/client.h>

#define MPIJOB__CLIENT_BODY_LIMIT ((size_t)64 << 20) /* of an answer that is not streamed */
#define MPIJOB__CLIENT_ERROR_LIMIT ((size_t)1 << 20) /* of the body of a failure: the rest is dropped */

/* One call; an exchange is the same thing seen by the transport. */
struct mpijob_exchange {
	mpijob_client *client;
	struct mpijob_exchange *prev, *next; /* in the client's list of calls, or of ended ones */
	struct mpijob_callbacks callbacks;
	void *slot;          /* the transport's */
	int is_post;
	int status;          /* 0 until told */
	int told;            /* the transport ended it */
	int dead;            /* cancelled by its owner: no callback any more */
	int stopped;         /* code that stopped the stream from our side; 0 while it goes on */
	int cut;             /* the body went over a limit */
	int64_t retry_after_ms;
	mpijob_text body;
	mpijob_text warnings; /* texts of Warning headers, each closed by NUL */
};

/* The public name of the same. */
struct mpijob_call {
	struct mpijob_exchange exchange;
};

struct mpijob_client {
	struct mpijob_transport transport;
	void *self;
	struct mpijob_exchange *calls; /* under way */
	int polling;                   /* inside of the transport's poll */
	int sweep;                     /* a call was given up meanwhile */
};

/*
 * Send a request to a target. `method` and `content_type` as in struct mpijob_request; `body` may be NULL.
 * Returns as mpijob_client_start(), and MPIJOB_ERR_USAGE for a bad target.
 */
int mpijob__request_start(mpijob_client *client, const char *method, const struct mpijob_target *target,
			  const char *content_type, const mpijob_text *body, const struct mpijob_callbacks *callbacks,
			  mpijob_call **out);
/* Write the body of a DELETE; `uid` and `propagation` may be NULL. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__request_delete_options(const char *uid, const char *propagation, mpijob_text *out);

#endif
