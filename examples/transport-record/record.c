/* SPDX-License-Identifier: Apache-2.0 */
/* A transport reports only to the client that started the exchange. To observe the reports, this
 * transport acts as a client of the inner transport. */
#include "record.h"

#include <stdlib.h>

static int take_data(void *user, const char *data, size_t len)
{
	struct tape *tape = user;

	if (mpijob_text_len(tape->data) == 0)
		mpijob_exchange_status(tape->exchange, 200);
	mpijob_exchange_data(tape->exchange, data, len);
	return mpijob_text_write(tape->data, data, len);
}

static void take_end(void *user, const struct mpijob_answer *answer)
{
	struct tape *tape = user;
	int code =
	    /* with a reason the server said no, without one something broke */
	    answer->reason ? 0 : answer->code;
	char seconds[24];

	if (mpijob_text_write(tape->data, answer->body, answer->body_len))
		code = MPIJOB_ERR_NOMEM;
	tape_end(tape, answer, code);
	(void)tape_write(tape, tape->recorder->file);
	snprintf(seconds, sizeof(seconds), "%lld", (long long)(answer->retry_after_ms / 1000));
	if (answer->retry_after_ms)
		mpijob_exchange_header(tape->exchange, "Retry-After", seconds);
	mpijob_exchange_status(tape->exchange, answer->status);
	mpijob_exchange_data(tape->exchange, answer->body, answer->body_len);
	mpijob_exchange_end(tape->exchange, code, answer->message);
	tape_free(tape);
}

int record_start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	struct tape *tape = tape_new(request);
	struct mpijob_callbacks callbacks = { sizeof(callbacks),
		request->streaming ? take_data : NULL, take_end, tape };
	int code = tape ? 0 : MPIJOB_ERR_NOMEM;

	if (code == 0) {
		tape->recorder = self;
		tape->exchange = exchange;
		mpijob_exchange_set_slot(exchange, tape);
		code = mpijob_client_start(tape->recorder->inner, request, &callbacks, &tape->call);
	}
	if (code && tape)
		tape_free(tape);
	return code;
}
