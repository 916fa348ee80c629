/* SPDX-License-Identifier: Apache-2.0 */
/* What every transport must do, as checks of one client. */
#ifndef TESTS_TRANSPORT_SUITE_H
#define TESTS_TRANSPORT_SUITE_H

#include <mpijob/mpijob.h>

#include <pthread.h>

#define SUITE_CHECKS_MOST 64
#define SUITE_UNSUPPORTED "unsupported"
/* Transports that the reasons for differences are about. */
#define SUITE_LOCAL     "embedded, record, replay, blocking"
#define SUITE_IN_PYTHON "python, python-blocking"

struct suite_run {
	mpijob_client *client;
	char why[512];
};

struct suite_check {
	const char *name;
	/* NULL: as it should be; SUITE_UNSUPPORTED; else what is wrong. */
	const char *(*run)(struct suite_run *run);
};

#define MAPS        "/api/v1/namespaces/default/configmaps"
#define JOBS        "/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs"
#define PODS        "/api/v1/namespaces/default/pods"
#define JSON        "application/json"
#define MERGE       "application/merge-patch+json"
#define PATIENCE_MS 20000
#define MAP(name, more)                                                                \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name \
	"\",\"labels\":{\"suite\":\"1\"}" more "}}"

struct reply {
	int done, code, status;
	mpijob_doc *doc;
	mpijob_text *stream;
	mpijob_call *call;
	pthread_t thread;
	int strange; /* told on another thread, or twice */
};

int64_t clock_ms(void);
/* Say what is wrong; for returning. */
__attribute__((format(printf, 2, 3))) const char *wrong(struct suite_run *run, const char *format,
    ...);
/* Start a request; a streamed one fills `stream`. */
int begin(struct suite_run *run, struct reply *reply, int stream, const char *method,
    const char *path, const char *type, const char *body);
/* Give up, if need be, and free. */
void drop(struct reply *reply);
/* Until it is done, but not for ever. */
void wait_for(struct suite_run *run, const struct reply *reply);
struct reply ask(struct suite_run *run, const char *method, const char *path, const char *type,
    const char *body);
/* Ask, and compare the status; a text of the answer goes to `out` when that is given. */
const char *expect(struct suite_run *run, const char *method, const char *path, const char *type,
    const char *body, int status, const char *field, char out[128]);
const char *simple(struct suite_run *run, const char *method, const char *path, const char *type,
    const char *body, int status);
const char *first_of(const char *a, const char *b);

/* checks_streams.c */
const char *watch_story(struct suite_run *run);
const char *watch_resumes(struct suite_run *run);
const char *watch_forgotten(struct suite_run *run);
const char *watch_ends(struct suite_run *run);
const char *cancel_stream(struct suite_run *run);
const char *cancel_before_poll(struct suite_run *run);
const char *pause_stream(struct suite_run *run);
const char *wake_poll(struct suite_run *run);
const char *host_loop(struct suite_run *run);
const char *many_at_once(struct suite_run *run);
const char *start_in_callback(struct suite_run *run);
const char *log_of_pod(struct suite_run *run);

/* checks_jobs.c */
const char *jobs_life(struct suite_run *run);
const char *jobs_apply(struct suite_run *run);
const char *jobs_refusal(struct suite_run *run);

/* suite.c: how many checks fail over that client, except for known reasons. `quiet`: print
 * nothing. */
int suite_run_checks(const char *name, mpijob_client *client, int quiet);
/* How many reasons for those transports, listed as above, no run so far needed. */
int suite_check_reasons(const char *transports);

/* loaded.c: what a program in another language calls. */
int transport_suite_checks(void);
int transport_suite_run(const char *name, mpijob_client *client, int quiet);
int transport_suite_reasons(const char *transports);

extern const struct suite_check suite_checks[];
extern const size_t suite_check_count;

#endif
