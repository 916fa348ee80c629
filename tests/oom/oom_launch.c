/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of making launch commands, and of refusing them and ranks, fails once, and from
 * one point on. What does not say that memory ran out must give byte for byte what an undisturbed
 * run gives, findings included; nothing may leak.
 */
#include "failing_malloc.h"

#include <mpijob/mpijob.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 16384

static const char job_form[] =
    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: j}, spec: "
    "{mpiImplementation: %s, slotsPerWorker: 2,"
    " mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{name: l, image: i, env: [{name: "
    "PRE_A}, {name: PRE_B}]}]}}},"
    " Worker: {replicas: 3, template: {spec: {containers: [{name: w, image: i}]}}}}}}";
static const char *const program[] = { "python", "train.py" };
static const char *const env[] = { "A=it's", "Q", "PRE_*", "NONE_*" };

struct sink {
	size_t len;
	char data[ROOM];
};

static struct sink expected, got;
static struct sink *sink; /* where the present run writes */

static int keep(void *user, const char *data, size_t len)
{
	(void)user;
	if (len > ROOM - sink->len)
		return MPIJOB_ERR_USAGE;
	memcpy(sink->data + sink->len, data, len);
	sink->len += len;
	return 0;
}

static int keep_findings(const mpijob_diag *diag)
{
	int code = mpijob_diag_dropped(diag) ? MPIJOB_ERR_USAGE : 0;

	for (size_t i = 0; !code && mpijob_diag_at(diag, i); i++)
		code = mpijob_finding_write(mpijob_diag_at(diag, i), keep, NULL);
	return code;
}

static int make(const mpijob *job, struct mpijob_launch_options *options, int want)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_launch *launch = NULL;
	int code =
	    diag ? mpijob_launch_new(job, program, 2, options, &launch, diag) : MPIJOB_ERR_NOMEM;

	for (const char *const *word = mpijob_launch_words(launch); !code && *word; word++)
		code = keep(NULL, *word, strlen(*word));
	if (code != MPIJOB_ERR_NOMEM)
		code = code == want ? keep_findings(diag) : MPIJOB_ERR_USAGE;
	mpijob_launch_free(launch);
	mpijob_diag_free(diag);
	return code;
}

static int make_for(const char *mpi, const struct mpijob_launch_options *options, size_t count,
    int want)
{
	char text[sizeof(job_form) + 16];
	mpijob *job = NULL;
	int len = snprintf(text, sizeof(text), job_form, mpi);
	int code = mpijob_parse(text, (size_t)len, NULL, &job, NULL);

	if (!code)
		code = mpijob_default(job, NULL, NULL);
	for (size_t i = 0; !code && i < count; i++) {
		struct mpijob_launch_options one = options[i];

		one.size = sizeof(one);
		one.env = env;
		one.env_count = sizeof(env) / sizeof(env[0]);
		code = make(job, &one, want);
	}
	mpijob_free(job);
	return code;
}

static int refuse_ranks(void)
{
	static const char *const environments[][3] = { { "PMI_RANK=2", "PMI_SIZE=1", NULL },
		{ "PMI_RANK=1", "OMPI_COMM_WORLD_RANK=0", NULL } };
	mpijob_diag *diag = mpijob_diag_new();
	int code = diag ? MPIJOB_ERR_SPEC : MPIJOB_ERR_NOMEM;

	for (size_t i = 0; code == MPIJOB_ERR_SPEC && i < 2; i++) {
		struct mpijob_rank rank = MPIJOB_RANK_INIT;

		code = mpijob_rank_read(environments[i], &rank, diag);
	}
	if (code == MPIJOB_ERR_SPEC)
		code = keep_findings(diag);
	mpijob_diag_free(diag);
	return code;
}

static int make_all(void)
{
	static const struct mpijob_launch_options tools[] = {
		{ .ranks_per_host = 1, .bind_to = "none" },
		{ .tool = MPIJOB_LAUNCH_HOROVODRUN,
		    .backend = "mpi",
		    .bind_to = "core",
		    .map_by = "slot" },
		{ .tool = MPIJOB_LAUNCH_HOROVODRUN, .elastic = 1 },
		{ .tool = MPIJOB_LAUNCH_DEEPSPEED, .backend = "openmpi", .bind_to = "none" },
	};
	static const struct mpijob_launch_options hydra[] = { { .env_only = 1 },
		{ .map_by = "node" } };
	static const struct mpijob_launch_options wrong[] = { { .np = 99 }, { .bind_to = "x" },
		{ .map_by = "node", .ranks_per_host = 1 } };
	int code = make_for("OpenMPI", tools, 4, 0);

	if (!code)
		code = make_for("MPICH", hydra, 2, 0);
	if (!code)
		code = make_for("OpenMPI", wrong, 3, MPIJOB_ERR_UNSUPPORTED);
	return code ? code : refuse_ranks();
}

static const char *problem;

static size_t scenario(size_t fail_at, int persistent)
{
	size_t count;
	int code;

	sink = expected.len ? &got : &expected;
	sink->len = 0;
	oom_start(fail_at, persistent);
	code = make_all();
	count = oom_stop();
	if (code && (code != MPIJOB_ERR_NOMEM || !fail_at))
		problem = mpijob_error_name(code);
	if (!code && sink == &got &&
	    (got.len != expected.len || memcmp(got.data, expected.data, got.len) != 0))
		problem = "it gave something else, and called it done";
	return count;
}

int main(int argc, char **argv)
{
	return oom_each(argc, argv, 1, scenario, &problem);
}
