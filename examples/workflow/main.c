/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest engine: one step, the job on standard input. `workflow local` runs it on this
 * machine, `workflow cluster` on that of the kubeconfig; with a second word, "abort", the step is
 * aborted once it runs. Exit code: 0 done, 1 failed, 2 aborted.
 */
#include "step.h"

#include <mpijob/http.h>
#include <mpijob/local.h>
#include <mpijob/operator.h>
#include <stdio.h>
#include <string.h>

static mpijob_diag *diag;
static mpijob_operator *operator_; /* an embedded cluster brings none along */
static mpijob_http_config *config;

static int connect_to(const char *where, mpijob_client **client)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_local *local = NULL;
	mpijob_http *http = NULL;
	int code;

	if (strcmp(where, "local") == 0) {
		code = mpijob_local_new(NULL, &transport, &local, diag);
		if (code == 0)
			code = mpijob_client_new(&transport, local, client);
		return code == 0 ? mpijob_operator_new(*client, NULL, &operator_, diag) : code;
	}
	code = mpijob_http_config_load(NULL, &config, diag);
	if (code == 0)
		code = mpijob_http_new(config, NULL, &transport, &http, diag);
	return code == 0 ? mpijob_client_new(&transport, http, client) : code;
}

/* The engine's loop: tell each new phase, and abort when it was asked for. */
static int run(struct step *step, int abort_it, mpijob_client *client, int *result)
{
	static const char *const words[] = { "waiting", "running", "done", "failed", "aborted" };
	enum step_phase told = STEP_ABORTED;
	int code = 0;
	while (code == 0) {
		if (told != step->phase)
			printf("%s%s%s\n", words[step->phase], *step->why ? ": " : "", step->why),
			    fflush(stdout);
		told = step->phase;
		if (told >= STEP_DONE)
			return *result = (int)told - STEP_DONE, 0;
		if (abort_it && told == STEP_RUNNING)
			code = step_abort(step, diag), abort_it = 0;
		else
			code = operator_ ? mpijob_operator_step(operator_, 1000)
					 : mpijob_client_poll(client, 1000);
	}
	return code;
}

int main(int argc, char **argv)
{
	static char text[1 << 20];
	struct step step = { 0 };
	mpijob_client *client = NULL;
	mpijob *job = NULL;
	int result = 3;
	diag = mpijob_diag_new();
	size_t len = fread(text, 1, sizeof(text), stdin); /* a full buffer may lack the rest */
	int code = len == sizeof(text) || ferror(stdin) ? MPIJOB_ERR_IO
							: mpijob_parse(text, len, NULL, &job, diag);
	if (code == 0 && argc > 1)
		code = connect_to(argv[1], &client);
	if (code == 0)
		code = step_start(&step, client, job, "default", diag);
	if (code == 0)
		code = run(&step, argc > 2 && strcmp(argv[2], "abort") == 0, client, &result);
	if (code != 0)
		fprintf(stderr, "%s\n", mpijob_error_text(code));
	for (size_t i = 0; code != 0 && mpijob_diag_at(diag, i); i++)
		fprintf(stderr, "%s\n", mpijob_diag_at(diag, i)->message);
	step_end(&step), mpijob_operator_free(operator_), mpijob_client_free(client);
	mpijob_free(job), mpijob_http_config_free(config), mpijob_diag_free(diag);
	return result;
}
