/* SPDX-License-Identifier: Apache-2.0 */
/* How each transport of the suite is put together; the one that blocks stands in
 * blocking_cluster.c. */
#include "transports.h"

#include "record.h"

#include "local/local.h"
#ifdef MPIJOB_TEST_HTTP
#include <mpijob/http.h>
#endif

#include <stdio.h>
#include <stdlib.h>

/* changes that the embedded cluster remembers, so that it forgets within a test */
#define WINDOW 50

static char *recording;
static size_t recording_len;
static FILE *tape;

int open_embedded(mpijob_client **out)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct mpijob_local *local;
	int code;

	options.no_node = 1;
	code = mpijob_local_new(&options, &transport, &local, NULL);
	if (code)
		return code;
	local->store.window = WINDOW;
	return mpijob_client_new(&transport, local, out);
}

int open_recorder(mpijob_client **out)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_client *inner = NULL;
	void *self;
	int code = open_embedded(&inner);

	tape = open_memstream(&recording, &recording_len);
	if (code == 0)
		code = tape ? record_new(inner, tape, &transport, &self) : MPIJOB_ERR_NOMEM;
	return code ? code : mpijob_client_new(&transport, self, out);
}

int open_replay(mpijob_client **out)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	void *self;
	int code;

	if (!tape || fflush(tape))
		return MPIJOB_ERR_USAGE;
	code = replay_new(recording, recording_len, &transport, &self);
	return code ? code : mpijob_client_new(&transport, self, out);
}

int open_silence(mpijob_client **out)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	void *self;
	int code = replay_new("", 0, &transport, &self);

	return code ? code : mpijob_client_new(&transport, self, out);
}

void forget_recording(void)
{
	if (tape)
		fclose(tape);
	free(recording);
}

int open_http(mpijob_client **out)
{
#ifdef MPIJOB_TEST_HTTP
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_http_config *config = NULL;
	mpijob_http *http = NULL;
	int code = mpijob_http_config_load(NULL, &config, NULL);

	if (code == 0)
		code = mpijob_http_new(config, NULL, &transport, &http, NULL);
	mpijob_http_config_free(config);
	return code ? code : mpijob_client_new(&transport, http, out);
#else
	(void)out;
	return MPIJOB_ERR_UNSUPPORTED;
#endif
}
