/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of test-replay. It knows which transports there are:
 *   replay ask local|http            requests as lines of JSON on standard input, answers on
 *   standard output replay run TAPE JOB.json STEP... a job with our operator on an embedded
 *   cluster, recorded (see job.c)
 */
#include "replay.h"

#include <mpijob/http.h>
#include <mpijob/local.h>

#include <string.h>
#include <time.h>

int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int open_local(struct mpijob_transport *transport, void **self)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	mpijob_local *local = NULL;
	int code;

	options.no_node = 1;
	code = mpijob_local_new(&options, transport, &local, NULL);
	*self = local;
	return code;
}

static int open_http(struct mpijob_transport *transport, void **self)
{
	mpijob_http_config *config = NULL;
	mpijob_http *http = NULL;
	int code = mpijob_http_config_load(NULL, &config, NULL);

	if (code == 0)
		code = mpijob_http_new(config, NULL, transport, &http, NULL);
	mpijob_http_config_free(config);
	*self = http;
	return code;
}

static int ask_which(const char *which)
{
	struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_client *client = NULL;
	void *self = NULL;
	int code = strcmp(which, "local") == 0 ? open_local(&transport, &self)
					       : open_http(&transport, &self);

	options.retries = -1; /* what was answered is what is compared */
	if (code == 0)
		code = mpijob_client_new(&transport, self, &client);
	if (code == 0)
		code = mpijob_client_set_options(client, &options);
	if (code) {
		fprintf(stderr, "%s: %s\n", which, mpijob_error_text(code));
		mpijob_client_free(client);
		return 1;
	}
	return ask(client);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "ask") == 0)
		return ask_which(argv[2]);
	if (argc > 4 && strcmp(argv[1], "run") == 0)
		return run_job(argv[2], argv[3], argv + 4);
	return 2;
}
