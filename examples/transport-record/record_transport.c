/* SPDX-License-Identifier: Apache-2.0 */
/* The rest of the recording transport hands everything on. */
#include "record.h"

#include <stdlib.h>

static int poll_inner(void *self, int timeout_ms)
{
	return mpijob_client_poll(((struct recorder *)self)->inner, timeout_ms);
}

static int interest(void *self, int *fd, int64_t *deadline_ms)
{
	return mpijob_client_interest(((struct recorder *)self)->inner, fd, deadline_ms);
}

static void hold(void *self, mpijob_exchange *exchange, int on)
{
	(void)self;
	mpijob_call_pause(((struct tape *)mpijob_exchange_slot(exchange))->call, on);
}

static void cancel(void *self, mpijob_exchange *exchange)
{
	struct tape *tape = mpijob_exchange_slot(exchange);

	mpijob_call_cancel(tape->call);
	(void)tape_write(tape, ((struct recorder *)self)->file);
	tape_free(tape);
}

static void wake(void *self)
{
	mpijob_client_wake(((struct recorder *)self)->inner);
}

static void destroy(void *self)
{
	mpijob_client_free(((struct recorder *)self)->inner);
	free(self);
}

int record_new(mpijob_client *inner, FILE *file, struct mpijob_transport *transport, void **self)
{
	static const struct mpijob_transport functions = {
		sizeof(functions),
		record_start,
		poll_inner,
		interest,
		hold,
		cancel,
		wake,
		destroy,
	};
	struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;
	struct recorder *recorder = malloc(sizeof(*recorder));

	options.retries = -1; /* the outer client tries again */
	if (!recorder || mpijob_client_set_options(inner, &options)) {
		mpijob_client_free(inner);
		free(recorder);
		return MPIJOB_ERR_NOMEM;
	}
	*recorder = (struct recorder){ inner, file };
	*transport = functions;
	*self = recorder;
	return 0;
}
