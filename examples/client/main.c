/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the job on standard input to the cluster of the kubeconfig, prints its launcher's output;
 * Ctrl-C deletes it. */
#include <mpijob/http.h>
#include <mpijob/mpijob.h>
#include <signal.h>
#include <stdio.h>

static mpijob_client *client;
static mpijob_diag *diag;
static volatile sig_atomic_t interrupted, unreadable;

static void on_signal(int number)
{
	interrupted = number;
	mpijob_client_cancel(client);
}

static int print_line(void *user, const struct mpijob_log_line *line)
{
	(void)user;
	fwrite(line->text, 1, line->len, stdout);
	return line->whole && putchar('\n') == EOF ? MPIJOB_ERR_IO : 0;
}

static void print_failure(void *user, const char *pod, const char *container, int code,
    const char *message, int again)
{
	(void)user, (void)container;
	unreadable |= !again;
	fprintf(stderr, "logs of %s: %s\n", pod ? pod : "pods",
	    message ? message : mpijob_error_text(code));
}

/* The client moves the logs on while somebody waits on it; what the launcher wrote last comes after
 * the job's end. */
static int follow(const char *namespace_, const char *name)
{
	struct mpijob_logs_options options = MPIJOB_LOGS_OPTIONS_INIT;
	mpijob_logs *logs = NULL;
	size_t unread = 0;
	options.namespace_ = namespace_;
	options.job = name;
	options.role = "launcher";
	options.follow = 1;
	options.line = print_line;
	options.failed = print_failure;
	int code = mpijob_logs_new(client, &options, &logs);
	if (code == 0)
		code =
		    mpijob_client_wait_job(client, namespace_, name, "Succeeded", -1, NULL, diag);
	while (logs && !interrupted && !unreadable && mpijob_logs_state(logs, &unread) == 1 &&
	       unread > 0)
		mpijob_client_poll(client, 1000);
	mpijob_logs_free(logs);
	if (code == MPIJOB_ERR_CANCELLED)
		mpijob_client_delete_job(client, namespace_, name, NULL, NULL, diag);
	return code;
}

int main(void)
{
	static char text[1 << 20];
	struct mpijob_submit_options options = MPIJOB_SUBMIT_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_http_config *config = NULL;
	mpijob_http *http = NULL;
	mpijob *job = NULL, *stored = NULL;
	diag = mpijob_diag_new();
	int code = mpijob_parse(text, fread(text, 1, sizeof(text), stdin), NULL, &job, diag);
	if (code == 0 && (code = mpijob_http_config_load(NULL, &config, diag)) == 0 &&
	    (code = mpijob_http_new(config, NULL, &transport, &http, diag)) == 0 &&
	    (code = mpijob_client_new(&transport, http, &client)) == 0) {
		options.namespace_ = mpijob_namespace(job) ? mpijob_namespace(job)
							   : mpijob_http_config_namespace(config);
		code = mpijob_client_submit(client, job, &options, &stored, diag);
	}
	if (code == 0 && signal(SIGINT, on_signal) != SIG_ERR)
		code = follow(mpijob_namespace(stored), mpijob_name(stored));
	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		fprintf(stderr, "%s\n", mpijob_diag_at(diag, i)->message);
	mpijob_free(stored), mpijob_free(job), mpijob_client_free(client),
	    mpijob_http_config_free(config), mpijob_diag_free(diag);
	return code != 0;
}
