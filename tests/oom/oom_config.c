/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of reading a configuration, and of working out and planning what holds for a
 * job, fails once, and from one point on. Each call must end as it should, or say that memory ran
 * out; a configuration with mistakes must never be taken for a good one; nothing may leak.
 */
#include "failing_malloc.h"

#include <mpijob/mpijob.h>
#include <mpijob/operator_config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char good[] =
    "apiVersion: libmpijob/v1alpha1\n"
    "kind: OperatorConfig\n"
    "defaults: {cleanPodPolicy: All, workers: 3, features: {wait-for-hosts: 60s, compact-hosts: "
    "true}}\n"
    "limits: {ttlSecondsAfterFinished: {min: 5, max: 100}, workers: {max: 9}}\n"
    "annotations: [ssh-port]\n"
    "namespaces:\n"
    "- {names: [a, 'd*'], limits: {activeDeadlineSeconds: {max: 7}, workers: {max: 2}}}\n";
static const char bad[] = "apiVersion: libmpijob/v1alpha1\n"
			  "kind: OperatorConfig\n"
			  "limit: 7\n"
			  "defaults: {workers: none, features: {wait-for-host: 1, ssh-port: x}}\n"
			  "annotations: [ssh-prot]\n"
			  "namespaces: [{}]\n";
static const char text[] =
    "{\"apiVersion\":\"kubeflow.org/"
    "v2beta1\",\"kind\":\"MPIJob\",\"metadata\":{\"name\":\"pi\",\"namespace\":\"d\",\"uid\":\"u\","
    "\"annotations\":{\"libmpijob/ssh-port\":\"2222\",\"libmpijob/"
    "clean-launcher\":\"true\",\"libmpijob/x\":\"y\"}},"
    "\"spec\":{\"runPolicy\":{\"ttlSecondsAfterFinished\":700},\"mpiReplicaSpecs\":{"
    "\"Launcher\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"l\",\"image\":\"i\"}]}}},"
    "\"Worker\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"w\",\"image\":\"i\"}]}}}}}}";

static int is_wrong(int code, int wanted, const char *what)
{
	if (code == wanted || code == MPIJOB_ERR_NOMEM)
		return 0;
	printf("%s ended with %s\n", what, mpijob_error_name(code));
	return 1;
}

/* The job, planned as the operator does: it is refused for its number of workers, which comes from
 * a default. */
static int plan(const mpijob_effective *effective, mpijob_diag *diag)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob_facts *facts = mpijob_facts_new();
	mpijob_plan *made = NULL;
	int wrong = 0, code;

	render.features = mpijob_effective_features(effective);
	options.now_ms = 1000;
	options.render = &render;
	options.max_workers = mpijob_effective_max_workers(effective);
	code = facts
		   ? mpijob_plan_new(mpijob_effective_job(effective), facts, &options, &made, diag)
		   : MPIJOB_ERR_NOMEM;
	wrong = is_wrong(code, 0, "plan");
	if (code == 0 && (mpijob_plan_get_result(made)->actions_count != 1 ||
			     mpijob_plan_at(made, 0)->verb != MPIJOB_ACTION_EVENT)) {
		printf("the limit did not hold\n");
		wrong = 1;
	}
	mpijob_plan_free(made);
	mpijob_facts_free(facts);
	return wrong;
}

static int holds(const mpijob_effective *effective)
{
	static const char *const values[] = { "All", "100", "7", "2" };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (strcmp(mpijob_effective_at(effective, i)->value, values[i]) != 0) {
			printf("%s is %s\n", mpijob_effective_at(effective, i)->field,
			    mpijob_effective_at(effective, i)->value);
			return 0;
		}
	return mpijob_effective_features(effective)->ssh_port == 2222;
}

static int work_out(const mpijob_operator_config *config, mpijob_diag *diag)
{
	mpijob_effective *effective = NULL;
	mpijob *job = NULL;
	int wrong = is_wrong(mpijob_parse(text, strlen(text), NULL, &job, diag), 0, "the job");
	int code =
	    job ? mpijob_effective_new(config, job, NULL, &effective, diag) : MPIJOB_ERR_NOMEM;

	wrong |= is_wrong(code, 0, "what holds");
	if (effective) {
		wrong |= !holds(effective);
		wrong |= plan(effective, diag);
	}
	mpijob_effective_free(effective);
	mpijob_free(job);
	return wrong;
}

static int scenario(void)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_operator_config *config = NULL, *copy = NULL, *none = NULL;
	int wrong = is_wrong(mpijob_operator_config_parse(good, strlen(good), NULL, &config, diag),
	    0, "a good one");

	wrong |= is_wrong(mpijob_operator_config_parse(bad, strlen(bad), NULL, &none, diag),
	    MPIJOB_ERR_SPEC, "a bad one");
	copy = config ? mpijob_operator_config_clone(config) : NULL;
	if (copy)
		wrong |= work_out(copy, diag);
	wrong |= none != NULL;
	mpijob_operator_config_free(copy);
	mpijob_operator_config_free(config);
	mpijob_diag_free(diag);
	return wrong;
}

int main(void)
{
	size_t count, tried = 0;
	int wrong;

#ifdef __SANITIZE_ADDRESS__
	puts("skipped: the sanitizer brings an allocator of its own");
	return 77;
#endif
	oom_start(0, 0);
	wrong = scenario();
	count = oom_stop();
	for (int persistent = 0; persistent < 2 && !wrong; persistent++)
		for (size_t i = 1; i <= count && !wrong; i++) {
			oom_start(i, persistent);
			wrong = scenario();
			oom_stop();
			tried++;
			if (oom_live() != 0) {
				printf("%ld blocks leak, the oldest is number %zu\n", oom_live(),
				    oom_oldest());
				wrong = 1;
			}
			if (wrong)
				printf("allocation %zu%s failed\n", i,
				    persistent ? " and all after it" : "");
		}
	printf("configuration: %zu allocations, %zu failures tried\n", count, tried);
	return wrong;
}
