/* SPDX-License-Identifier: Apache-2.0 */
/* An operator over the API server of fake_cluster.h, and checks of its objects, log and metrics. */
#ifndef MPIJOB_TEST_OPERATOR_FIXTURE_H
#define MPIJOB_TEST_OPERATOR_FIXTURE_H

#include "fake_cluster.h"

#include "client/client.h"
#include "operator/operator.h"

#include <setjmp.h>

#include <cmocka.h>

#define JOBS        "/apis/kubeflow.org/v2beta1/mpijobs"
#define PODS        "/api/v1/pods"
#define LAUNCHERS   "/apis/batch/v1/jobs"
#define SERVICES    "/api/v1/services"
#define CONFIG_MAPS "/api/v1/configmaps"
#define SECRETS     "/api/v1/secrets"
#define EVENTS      "/api/v1/events"

struct operator_fixture {
	struct fake fake;
	mpijob_client *client;
	mpijob_operator *operator_;
	struct mpijob_operator_options options;
	int logged;
	char *last_log;
	char *last_action; /* the last message of severity debug */
	const char *last_id;
};

/* Create the operator with fixture->options. */
void start_operator(struct operator_fixture *fixture);
extern int64_t clients_ms; /* the clock of clients after pace() */
/* Limit the rate of requests; clients_ms is their clock. */
void pace(struct operator_fixture *fixture, int32_t qps, int32_t burst);
extern int streams; /* whether servers set up from now on support streamed lists */
/* The server and client only, so that the test can change fixture->options. */
void set_up_server(struct operator_fixture *fixture);
void operator_set_up(struct operator_fixture *fixture);
void operator_tear_down(struct operator_fixture *fixture);
void operator_run(struct operator_fixture *fixture, int steps);
struct fake_object *put_job(struct operator_fixture *fixture, const char *namespace_,
    const char *name, int workers, const char *policy);
/* The operator's state of the job team/pi. */
struct mpijob__operator_job *entry_of(struct operator_fixture *fixture);
/* Set all pods to Running. */
void run_pods(struct operator_fixture *fixture);
/* The status of a condition; "absent" when it is missing. */
const char *condition(const struct fake_object *job, const char *type);
int is_true(const struct fake_object *job, const char *type);
int has_children(const struct operator_fixture *fixture, size_t jobs, size_t workers);
void expect_children(const struct operator_fixture *fixture, size_t jobs, size_t workers);
/* The operator's metrics page, yours. */
char *metrics(const struct operator_fixture *fixture);
#endif
