/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded cluster behind calls that block, as a library without callbacks would look: each
 * call asks, and whoever has the lock polls for all. What comes is kept until the call that asked
 * hands it on, with the lock open.
 */
#include "transports.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

struct cluster {
	mpijob_client *inner;
	pthread_mutex_t lock;
};

struct asked {
	mpijob_call *call;
	mpijob_text *kept;
	int done, status, code;
};

static int keep(void *user, const char *data, size_t len)
{
	struct asked *asked = user;

	asked->status = 200;
	return mpijob_text_write(asked->kept, data, len);
}

static void end(void *user, const struct mpijob_answer *answer)
{
	struct asked *asked = user;

	asked->done = 1;
	asked->call = NULL;
	asked->status = answer->status;
	asked->code = answer->reason ? 0 : answer->code;
	if (mpijob_text_write(asked->kept, answer->body, answer->body_len))
		asked->code = MPIJOB_ERR_NOMEM;
}

/* With the lock held; opens it while something is handed on. */
static int hand_on(struct cluster *cluster, struct asked *asked, mpijob_blocking_answer *answer,
    int *told)
{
	mpijob_text *kept = asked->kept;
	int code = 0, status = asked->status;

	if (mpijob_text_len(kept) == 0 && !asked->done)
		return 0;
	asked->kept = mpijob_text_new();
	pthread_mutex_unlock(&cluster->lock);
	if (!*told && status)
		mpijob_blocking_status(answer, status);
	*told = 1;
	code = mpijob_blocking_data(answer, mpijob_text_data(kept), mpijob_text_len(kept));
	mpijob_text_free(kept);
	pthread_mutex_lock(&cluster->lock);
	return asked->kept ? code : MPIJOB_ERR_NOMEM;
}

static int perform(void *self, const struct mpijob_request *request, mpijob_blocking_answer *answer)
{
	struct cluster *cluster = self;
	struct asked asked = { NULL, mpijob_text_new(), 0, 0, 0 };
	struct mpijob_callbacks callbacks = { sizeof(callbacks), request->streaming ? keep : NULL,
		end, &asked };
	int code, told = 0, done = 0;

	pthread_mutex_lock(&cluster->lock);
	code = asked.kept ? mpijob_client_start(cluster->inner, request, &callbacks, &asked.call)
			  : MPIJOB_ERR_NOMEM;
	while (code == 0 && !done && !mpijob_blocking_cancelled(answer)) {
		code = mpijob_client_poll(cluster->inner, 0);
		done = asked.done;
		if (code == 0)
			code = hand_on(cluster, &asked, answer, &told);
		pthread_mutex_unlock(&cluster->lock);
		if (!done)
			(void)poll(NULL, 0, 1);
		pthread_mutex_lock(&cluster->lock);
	}
	if (asked.call && !asked.done)
		mpijob_call_cancel(asked.call);
	pthread_mutex_unlock(&cluster->lock);
	mpijob_text_free(asked.kept);
	return code ? code : asked.code;
}

static void destroy(void *self)
{
	struct cluster *cluster = self;

	mpijob_client_free(cluster->inner);
	pthread_mutex_destroy(&cluster->lock);
	free(cluster);
}

int open_blocking(mpijob_client **out)
{
	struct mpijob_blocking blocking = { sizeof(blocking), perform, NULL, destroy, 0, 0 };
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct cluster *cluster = calloc(1, sizeof(*cluster));
	void *self;
	int code = cluster ? open_embedded(&cluster->inner) : MPIJOB_ERR_NOMEM;

	if (code) {
		free(cluster);
		return code;
	}
	pthread_mutex_init(&cluster->lock, NULL);
	code = mpijob_blocking_new(&blocking, cluster, &transport, &self);
	if (code) {
		destroy(cluster);
		return code;
	}
	return mpijob_client_new(&transport, self, out);
}
