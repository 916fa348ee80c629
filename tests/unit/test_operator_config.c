/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator's configuration: what a file with mistakes is told, which section wins, what limits
 * do, what is left alone. docs/operator-config.md is what the table of keys says; UPDATE_CASES=1
 * writes it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/operator_config.h>

#include "../support/printed_page.h"
#include "base/text.h"
#include "operator/config.h"

#define HEAD "apiVersion: libmpijob/v1alpha1\nkind: OperatorConfig\n"

static mpijob_operator_config *read_config(const char *text)
{
	struct mpijob_text whole = { 0 };
	mpijob_operator_config *config = NULL, *copy;
	mpijob_diag *diag = mpijob_diag_new();
	int code;

	mpijob__base_text_printf(&whole, "%s%s", HEAD, text);
	code = mpijob_operator_config_parse(whole.data, whole.len, NULL, &config, diag);
	if (code)
		fail_msg("%s: %s", mpijob_error_text(code),
		    mpijob_diag_at(diag, 0) ? mpijob_diag_at(diag, 0)->message : "no finding");
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	mpijob_diag_free(diag);
	mpijob__base_text_release(&whole);
	/* A copy is as good as what it was made of. */
	copy = mpijob_operator_config_clone(config);
	assert_non_null(copy);
	mpijob_operator_config_free(config);
	return copy;
}

/* A job of a namespace; `policy` is the inside of runPolicy, `workers` the Worker, `more` what is
 * put under metadata. */
static mpijob *read_job(const char *namespace_, const char *policy, const char *worker,
    const char *more)
{
	struct mpijob_text text = { 0 };
	mpijob *job = NULL;

	mpijob__base_text_printf(&text,
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: pi, namespace: "
	    "%s%s}\n"
	    "spec:\n  runPolicy: {%s}\n  mpiReplicaSpecs: {Launcher: {}, %s}\n",
	    namespace_, more, policy, worker);
	assert_int_equal(mpijob_parse(text.data, text.len, NULL, &job, NULL), 0);
	mpijob__base_text_release(&text);
	return job;
}

static const struct mpijob_effective_value *value_of(const mpijob_effective *effective,
    const char *field)
{
	for (size_t i = 0; i < mpijob_effective_count(effective); i++)
		if (strcmp(mpijob_effective_at(effective, i)->field, field) == 0)
			return mpijob_effective_at(effective, i);
	fail_msg("no value %s", field);
	return NULL;
}

static void check(const mpijob_effective *effective, const char *field, const char *value,
    int32_t origin, int32_t rule, const char *wanted)
{
	const struct mpijob_effective_value *is = value_of(effective, field);

	assert_int_equal(is->size, sizeof(*is));
	if (value)
		assert_string_equal(is->value ? is->value : "(none)", value);
	else
		assert_null(is->value);
	assert_int_equal(is->origin, origin);
	assert_int_equal(is->rule, rule);
	if (wanted)
		assert_string_equal(is->wanted ? is->wanted : "(no limit)", wanted);
	else
		assert_null(is->wanted);
}

static mpijob_effective *work_out(const mpijob_operator_config *config, const mpijob *job)
{
	mpijob_effective *effective = NULL;
	mpijob_diag *diag = mpijob_diag_new();

	assert_int_equal(mpijob_effective_new(config, job, NULL, &effective, diag), 0);
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	mpijob_diag_free(diag);
	return effective;
}

#define CLEAN    "spec.runPolicy.cleanPodPolicy"
#define TTL      "spec.runPolicy.ttlSecondsAfterFinished"
#define DEADLINE "spec.runPolicy.activeDeadlineSeconds"
#define WORKERS  "spec.mpiReplicaSpecs[Worker].replicas"

/* --- reading --- */

/* Text behind HEAD, and what is said: "line:column: field: message", one for each line. */
static const struct {
	const char *text;
	const char *said;
} mistakes[] = {
	{ "limit: {}\n", "3:1: limit: there is no such key; did you mean limits?\n" },
	{ "limits: {worker: {max: 3}}\n",
	    "3:10: limits.worker: there is no such key; did you mean workers?\n" },
	{ "zebra: 1\n", "3:1: zebra: there is no such key\n" },
	{ "defaults: {cleanPodPolicy: all}\n",
	    "3:28: defaults.cleanPodPolicy: unsupported value 'all'; did you mean All?\n" },
	{ "defaults: {ttlSecondsAfterFinished: soon}\n",
	    "3:37: defaults.ttlSecondsAfterFinished: must be a whole number of 32 bits, not the "
	    "string \"soon\"\n" },
	{ "defaults: {ttlSecondsAfterFinished: -1}\n",
	    "3:37: defaults.ttlSecondsAfterFinished: must be at least 0, not -1\n" },
	{ "defaults: [1]\n", "3:11: defaults: must be a map, not a list\n" },
	{ "defaults:\n  features: {wait-for-host: 60s}\n",
	    "4:14: defaults.features.wait-for-host: there is no such feature; did you mean "
	    "wait-for-hosts?\n" },
	{ "defaults:\n  features: {wait-for-hosts: soon}\n",
	    "4:30: defaults.features.wait-for-hosts: 'soon' is not accepted; use a duration as "
	    "90s, 5m or 1h30m, at most 86400 s, or "
	    "0\n" },
	{ "defaults: {features: {clean-launcher: [1]}}\n",
	    "3:39: defaults.features.clean-launcher: must be true, false, a number or a duration, "
	    "not a list\n" },
	{ "annotations: [ssh-prot]\n",
	    "3:15: annotations[0]: there is no such feature; did you mean ssh-port?\n" },
	{ "annotations: yes\n", "3:14: annotations: must be a list of names, not true\n" },
	{ "namespaces:\n- {}\n", "4:3: namespaces[0].names: a value is required\n" },
	{ "namespaces:\n- names: []\n",
	    "4:10: namespaces[0].names: must be a list with at least one name, not a list\n" },
	{ "namespaces:\n- names: [Team-a]\n",
	    "4:11: namespaces[0].names[0]: 'Team-a' matches no namespace: their names have lower "
	    "case letters, digits and '-'; '*' "
	    "stands for any\n" },
	{ "namespaces:\n- names: [a]\n  namespaces: []\n",
	    "5:3: namespaces[0].namespaces: there is no such key\n" },
	{ "namespaces: {names: [a]}\n", "3:13: namespaces: must be a list, not a map\n" },
	{ "namespaces: [7]\n", "3:14: namespaces[0]: must be a map, not the number 7\n" },
	{ "limits: {ttlSecondsAfterFinished: {min: 9, max: 8}}\n",
	    "3:41: limits.ttlSecondsAfterFinished.min: 9 is more than max, 8\n" },
	{ "namespaces:\n- names: [a]\n  limits: {workers: {max: 3}}\n  defaults: {workers: 4}\n",
	    "6:23: namespaces[0].defaults.workers: 4 is more than the limit of this section, 3\n" },
	{ "limits: {ttlSecondsAfterFinished: {min: 9}}\ndefaults: {ttlSecondsAfterFinished: 3}\n",
	    "4:37: defaults.ttlSecondsAfterFinished: 3 is less than the limit of this section, "
	    "9\n" },
	{ "limits: {cleanPodPolicy: {allowed: [All, Some]}}\n",
	    "3:42: limits.cleanPodPolicy.allowed[1]: unsupported value 'Some'\n" },
	{ "limits: {cleanPodPolicy: {allowed: []}}\n",
	    "3:36: limits.cleanPodPolicy.allowed: must be a list with at least one entry, not a "
	    "list\n" },
	{ "limits: {cleanPodPolicy: {allowed: [All]}}\ndefaults: {cleanPodPolicy: None}\n",
	    "4:28: defaults.cleanPodPolicy: is not one of those that limits.cleanPodPolicy.allowed "
	    "lists\n" },
	/* all at once */
	{ "limits: {worker: 1}\ndefaults: {workers: 0}\n",
	    "3:10: limits.worker: there is no such key; did you mean workers?\n4:21: "
	    "defaults.workers: must be at least 1, not 0\n" },
};

static void tell(struct mpijob_text *out, const mpijob_diag *diag)
{
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);

		mpijob__base_text_printf(out, "%d:%d: %s: %s\n", (int)finding->line,
		    (int)finding->column, finding->field ? finding->field : "", finding->message);
	}
}

static void mistakes_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct mpijob_text text = { 0 }, said = { 0 };
		mpijob_operator_config *config = NULL;
		mpijob_diag *diag = mpijob_diag_new();

		mpijob__base_text_printf(&text, "%s%s", HEAD, mistakes[i].text);
		assert_int_equal(mpijob_operator_config_parse(text.data, text.len, NULL, &config,
				     diag),
		    MPIJOB_ERR_SPEC);
		assert_null(config);
		tell(&said, diag);
		assert_string_equal(mpijob_text_data(&said), mistakes[i].said);
		/* Also without anybody to tell. */
		assert_int_equal(mpijob_operator_config_parse(text.data, text.len, NULL, &config,
				     NULL),
		    MPIJOB_ERR_SPEC);
		mpijob_diag_free(diag);
		mpijob__base_text_release(&text);
		mpijob__base_text_release(&said);
	}
}

static int parse(const char *text)
{
	mpijob_operator_config *config = NULL;
	int code = mpijob_operator_config_parse(text, strlen(text), NULL, &config, NULL);

	mpijob_operator_config_free(config);
	return code;
}

static void identity_is_asked_for(void **state)
{
	(void)state;
	assert_int_equal(parse(HEAD), 0);
	assert_int_equal(parse(
			     "{\"apiVersion\":\"libmpijob/v1alpha1\",\"kind\":\"OperatorConfig\"}"),
	    0);
	assert_int_equal(parse(""), MPIJOB_ERR_SYNTAX);
	assert_int_equal(parse("kind: OperatorConfig\n"), MPIJOB_ERR_SPEC);
	assert_int_equal(parse("apiVersion: libmpijob/v1\nkind: OperatorConfig\n"),
	    MPIJOB_ERR_SPEC);
	assert_int_equal(parse("apiVersion: libmpijob/v1alpha1\nkind: Config\n"), MPIJOB_ERR_SPEC);
	assert_int_equal(parse("[]\n"), MPIJOB_ERR_SPEC);
	assert_int_equal(parse(HEAD "---\n" HEAD), MPIJOB_ERR_SYNTAX);
	assert_int_equal(parse(HEAD "limits:\nlimits:\n"), MPIJOB_ERR_SYNTAX);
	assert_int_equal(mpijob_operator_config_parse("x", 1, NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	assert_null(mpijob_operator_config_clone(NULL));
	mpijob_operator_config_free(NULL);
}

/* Keys without values say nothing, values that are null say "none". */
static void nulls_are_nothing(void **state)
{
	mpijob_operator_config *config =
	    read_config("defaults:\nlimits: {workers: null}\nannotations:\nnamespaces:\n");
	mpijob *job = read_job("a", "", "Worker: {replicas: 9}", "");
	mpijob_effective *effective = work_out(config, job);

	(void)state;
	assert_ptr_equal(mpijob_effective_job(effective), job);
	check(effective, WORKERS, "9", MPIJOB_ORIGIN_JOB, -1, NULL);
	mpijob_effective_free(effective);
	mpijob_free(job);
	mpijob_operator_config_free(config);
}

/* --- what holds --- */

/* Nobody said anything: the job itself, and what v0.8.2 does. */
static void nothing_configured_changes_nothing(void **state)
{
	mpijob *job = read_job("a", "", "Worker: {}", "");
	struct mpijob_features flags = MPIJOB_FEATURES_INIT;
	mpijob_effective *effective = NULL;

	(void)state;
	flags.compact_hosts = 1;
	flags.wait_for_hosts = 90;
	assert_int_equal(mpijob_effective_new(NULL, job, &flags, &effective, NULL), 0);
	assert_ptr_equal(mpijob_effective_job(effective), job);
	check(effective, CLEAN, "None", MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	check(effective, TTL, NULL, MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	check(effective, DEADLINE, NULL, MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	check(effective, WORKERS, "1", MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	check(effective, "compact-hosts", "true", MPIJOB_ORIGIN_FLAG, -1, NULL);
	check(effective, "wait-for-hosts", "90", MPIJOB_ORIGIN_FLAG, -1, NULL);
	check(effective, "ssh-port", NULL, MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	check(effective, "clean-launcher", "false", MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	assert_int_equal(mpijob_effective_max_workers(effective), 0);
	assert_null(mpijob_effective_at(effective, mpijob_effective_count(effective)));
	mpijob_effective_free(effective);

	flags.ssh_port = 70000;
	assert_int_equal(mpijob_effective_new(NULL, job, &flags, &effective, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_effective_new(NULL, NULL, NULL, &effective, NULL),
	    MPIJOB_ERR_USAGE);
	mpijob_effective_free(NULL);
	mpijob_free(job);
}

static void defaults_fill_what_is_absent(void **state)
{
	mpijob_operator_config *config =
	    read_config("defaults: {cleanPodPolicy: All, ttlSecondsAfterFinished: 60, "
			"activeDeadlineSeconds: 5000000000, workers: 3}\n");
	mpijob *bare = read_job("a", "", "Worker: {}", ""), *full;
	mpijob_effective *effective = work_out(config, bare);
	const mpijob_node *root = mpijob_doc_root(mpijob_document(mpijob_effective_job(effective)));
	int64_t number;

	(void)state;
	assert_ptr_not_equal(mpijob_effective_job(effective), bare);
	check(effective, CLEAN, "All", MPIJOB_ORIGIN_DEFAULTS, -1, NULL);
	check(effective, TTL, "60", MPIJOB_ORIGIN_DEFAULTS, -1, NULL);
	check(effective, DEADLINE, "5000000000", MPIJOB_ORIGIN_DEFAULTS, -1, NULL);
	check(effective, WORKERS, "3", MPIJOB_ORIGIN_DEFAULTS, -1, NULL);
	assert_string_equal(mpijob_node_string(mpijob_node_find(root, CLEAN)), "All");
	assert_true(mpijob_node_int(mpijob_node_find(root, TTL), &number) && number == 60);
	assert_true(
	    mpijob_node_int(mpijob_node_find(root, DEADLINE), &number) && number == 5000000000);
	assert_true(mpijob_node_int(mpijob_node_find(root, WORKERS), &number) && number == 3);
	/* What was given stays as it was. */
	assert_null(mpijob_node_find(mpijob_doc_root(mpijob_document(bare)), CLEAN));
	mpijob_effective_free(effective);
	mpijob_free(bare);

	full = read_job("a",
	    "cleanPodPolicy: None, ttlSecondsAfterFinished: 1, activeDeadlineSeconds: 2",
	    "Worker: {replicas: 7}", "");
	effective = work_out(config, full);
	assert_ptr_equal(mpijob_effective_job(effective), full);
	check(effective, CLEAN, "None", MPIJOB_ORIGIN_JOB, -1, NULL);
	check(effective, TTL, "1", MPIJOB_ORIGIN_JOB, -1, NULL);
	check(effective, DEADLINE, "2", MPIJOB_ORIGIN_JOB, -1, NULL);
	check(effective, WORKERS, "7", MPIJOB_ORIGIN_JOB, -1, NULL);
	mpijob_effective_free(effective);
	mpijob_free(full);
	mpijob_operator_config_free(config);
}

/* A job that has no workers at all is not given any. */
static void no_worker_stays_no_worker(void **state)
{
	mpijob_operator_config *config = read_config(
	    "defaults: {workers: 3, ttlSecondsAfterFinished: 9}\nlimits: {workers: {max: 3}}\n");
	mpijob *job = read_job("a", "", "Other: {}", "");
	mpijob_effective *effective = work_out(config, job);

	(void)state;
	check(effective, WORKERS, NULL, MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	check(effective, TTL, "9", MPIJOB_ORIGIN_DEFAULTS, -1, NULL);
	assert_null(
	    mpijob_node_find(mpijob_doc_root(mpijob_document(mpijob_effective_job(effective))),
		"spec.mpiReplicaSpecs[Worker]"));
	mpijob_effective_free(effective);
	mpijob_free(job);
	mpijob_operator_config_free(config);
}

static void limits_hold(void **state)
{
	mpijob_operator_config *config =
	    read_config("limits:\n  cleanPodPolicy: {allowed: [Running, All]}\n  "
			"ttlSecondsAfterFinished: {min: 10, max: 100}\n"
			"  activeDeadlineSeconds: {max: 1000}\n  workers: {max: 8}\n");
	mpijob *job = read_job("a", "", "Worker: {replicas: 8}", "");
	mpijob_effective *effective = work_out(config, job);

	(void)state;
	/* None is for ever, and that is over any limit. */
	check(effective, CLEAN, "Running", MPIJOB_ORIGIN_LIMIT, -1, "None");
	check(effective, TTL, "100", MPIJOB_ORIGIN_LIMIT, -1, "none");
	check(effective, DEADLINE, "1000", MPIJOB_ORIGIN_LIMIT, -1, "none");
	check(effective, WORKERS, "8", MPIJOB_ORIGIN_JOB, -1, NULL);
	assert_int_equal(value_of(effective, WORKERS)->refused, 0);
	assert_int_equal(mpijob_effective_max_workers(effective), 8);
	mpijob_effective_free(effective);
	mpijob_free(job);

	job = read_job("a",
	    "cleanPodPolicy: All, ttlSecondsAfterFinished: 0, activeDeadlineSeconds: 9999999999",
	    "Worker: {replicas: 9}", "");
	effective = work_out(config, job);
	check(effective, CLEAN, "All", MPIJOB_ORIGIN_JOB, -1, NULL);
	check(effective, TTL, "10", MPIJOB_ORIGIN_LIMIT, -1, "0");
	check(effective, DEADLINE, "1000", MPIJOB_ORIGIN_LIMIT, -1, "9999999999");
	/* Of its number of workers nothing is taken away: the job is told no. */
	check(effective, WORKERS, "8", MPIJOB_ORIGIN_LIMIT, -1, "9");
	assert_int_equal(value_of(effective, WORKERS)->refused, 1);
	{
		int64_t workers;

		assert_true(mpijob_node_int(mpijob_node_find(mpijob_doc_root(mpijob_document(
								 mpijob_effective_job(effective))),
						WORKERS),
		    &workers));
		assert_int_equal(workers, 9);
	}
	mpijob_effective_free(effective);
	mpijob_free(job);

	/* A value that cannot be is refused by the check, not mended by a limit. */
	job = read_job("a", "ttlSecondsAfterFinished: -5, cleanPodPolicy: Often",
	    "Worker: {replicas: many}", "");
	effective = work_out(config, job);
	check(effective, TTL, "-5", MPIJOB_ORIGIN_JOB, -1, NULL);
	check(effective, CLEAN, "Often", MPIJOB_ORIGIN_JOB, -1, NULL);
	check(effective, WORKERS, "many", MPIJOB_ORIGIN_JOB, -1, NULL);
	assert_ptr_equal(mpijob_effective_job(effective), job);
	mpijob_effective_free(effective);
	mpijob_free(job);
	mpijob_operator_config_free(config);
}

/* max is the stronger of the two where sections disagree. */
static void most_wins_over_least(void **state)
{
	mpijob_operator_config *config = read_config(
	    "limits: {ttlSecondsAfterFinished: {max: 100}}\n"
	    "namespaces: [{names: [a], limits: {ttlSecondsAfterFinished: {min: 500}}}]\n");
	mpijob *job = read_job("a", "ttlSecondsAfterFinished: 7", "Worker: {}", "");
	mpijob_effective *effective = work_out(config, job);

	(void)state;
	check(effective, TTL, "100", MPIJOB_ORIGIN_LIMIT, -1, "7");
	mpijob_effective_free(effective);
	mpijob_free(job);
	mpijob_operator_config_free(config);
}

/* For each field by itself the first section that names the namespace and says anything. */
static void first_section_wins_field_by_field(void **state)
{
	static const struct {
		const char *namespace_, *ttl, *deadline;
		int32_t ttl_rule, deadline_rule, max;
	} rows[] = {
		/* ttl of the first; deadline of the second; no limit there either: the top */
		{ "team-a", "1", "20", 0, 1, 5 },
		{ "team-b", "2", "20", 1, 1, 5 },
		{ "team-", "2", "20", 1, 1, 5 },
		{ "other", "4", "40", -1, -1, 5 },
		{ "xteam-a", "4", "40", -1, -1, 5 },
		{ "x-big-y", "4", "40", -1, -1, 0 }, /* the limit lifted, all else from the top */
		{ "big", "4", "40", -1, -1, 5 },
	};
	mpijob_operator_config *config =
	    read_config("defaults: {ttlSecondsAfterFinished: 4, activeDeadlineSeconds: "
			"40}\nlimits: {workers: {max: 5}}\n"
			"namespaces:\n"
			"- {names: [team-a], defaults: {ttlSecondsAfterFinished: 1}}\n"
			"- {names: ['team-*'], defaults: {ttlSecondsAfterFinished: 2, "
			"activeDeadlineSeconds: 20}}\n"
			"- {names: [team-b], defaults: {ttlSecondsAfterFinished: 3}}\n"
			"- {names: [none, '*-big-*'], limits: {workers: {max: null}}}\n");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpijob *job = read_job(rows[i].namespace_, "", "Worker: {}", "");
		mpijob_effective *effective = work_out(config, job);

		check(effective, TTL, rows[i].ttl,
		    rows[i].ttl_rule < 0 ? MPIJOB_ORIGIN_DEFAULTS : MPIJOB_ORIGIN_NAMESPACE,
		    rows[i].ttl_rule, NULL);
		check(effective, DEADLINE, rows[i].deadline,
		    rows[i].deadline_rule < 0 ? MPIJOB_ORIGIN_DEFAULTS : MPIJOB_ORIGIN_NAMESPACE,
		    rows[i].deadline_rule, NULL);
		assert_int_equal(mpijob_effective_max_workers(effective), rows[i].max);
		mpijob_effective_free(effective);
		mpijob_free(job);
	}
	mpijob_operator_config_free(config);
}

static void limits_name_their_section(void **state)
{
	mpijob_operator_config *config = read_config(
	    "limits: {workers: {max: 9}}\nnamespaces:\n- {names: [b]}\n"
	    "- {names: ['*'], limits: {workers: {max: 2}, activeDeadlineSeconds: {max: 6}}}\n");
	mpijob *job = read_job("a", "", "Worker: {replicas: 3}", "");
	mpijob_effective *effective = work_out(config, job);

	(void)state;
	check(effective, WORKERS, "2", MPIJOB_ORIGIN_LIMIT, 1, "3");
	check(effective, DEADLINE, "6", MPIJOB_ORIGIN_LIMIT, 1, "none");
	mpijob_effective_free(effective);
	mpijob_free(job);
	mpijob_operator_config_free(config);
}

/* --- features and annotations --- */

static void features_come_from_the_nearest(void **state)
{
	mpijob_operator_config *config = read_config(
	    "defaults: {features: {wait-for-hosts: 60s, compact-hosts: false, ssh-port: 2222}}\n"
	    "annotations: [wait-for-hosts, ssh-port]\n"
	    "namespaces:\n"
	    "- {names: [hpc], defaults: {features: {wait-for-hosts: 2m, user-variables: true, "
	    "ssh-port: 0}}}\n");
	mpijob *job = read_job("hpc", "", "Worker: {}",
	    ", annotations: {libmpijob/wait-for-hosts: '1h', other/ssh-port: '1'}");
	struct mpijob_features flags = MPIJOB_FEATURES_INIT;
	const struct mpijob_features *features;
	mpijob_effective *effective = NULL;

	(void)state;
	flags.compact_hosts = 1;
	flags.private_keys = 1;
	assert_int_equal(mpijob_effective_new(config, job, &flags, &effective, NULL), 0);
	check(effective, "wait-for-hosts", "3600", MPIJOB_ORIGIN_ANNOTATION, -1, NULL);
	check(effective, "user-variables", "true", MPIJOB_ORIGIN_NAMESPACE, 0, NULL);
	check(effective, "ssh-port", NULL, MPIJOB_ORIGIN_NAMESPACE, 0, NULL);
	check(effective, "compact-hosts", "false", MPIJOB_ORIGIN_DEFAULTS, -1, NULL);
	check(effective, "private-keys", "true", MPIJOB_ORIGIN_FLAG, -1, NULL);
	features = mpijob_effective_features(effective);
	assert_int_equal(features->size, sizeof(*features));
	assert_int_equal(features->wait_for_hosts, 3600);
	assert_int_equal(features->user_variables, 1);
	assert_int_equal(features->ssh_port, 0);
	assert_int_equal(features->compact_hosts, 0);
	assert_int_equal(features->private_keys, 1);
	assert_ptr_equal(mpijob_effective_job(effective), job);
	mpijob_effective_free(effective);
	mpijob_free(job);
	mpijob_operator_config_free(config);
}

static void annotations_need_leave(void **state)
{
	static const char annotations[] =
	    ", annotations: {libmpijob/ssh-port: '2222', libmpijob/wait-for-hosts: soon, "
	    "libmpijob/wait-for-host: 60s, libmpijob/clean-launcher: 'true'}";
	static const char said[] =
	    "0:0: metadata.annotations: the annotation libmpijob/ssh-port "
	    "has no effect: the configuration of the operator does "
	    "not allow it in a\n"
	    "0:0: metadata.annotations: the annotation "
	    "libmpijob/wait-for-hosts has no effect: its value is not valid for "
	    "wait-for-hosts\n"
	    "0:0: metadata.annotations: the annotation "
	    "libmpijob/wait-for-host has no effect: there is no feature "
	    "wait-for-host\n";
	mpijob_operator_config *config =
	    read_config("annotations: [ssh-port]\n"
			"namespaces: [{names: [a], annotations: [wait-for-hosts, clean-launcher]}, "
			"{names: [b], annotations: []}]\n");
	mpijob *job = read_job("a", "", "Worker: {}", annotations);
	struct mpijob_text text = { 0 };
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_effective *effective = NULL;

	(void)state;
	assert_int_equal(mpijob_effective_new(config, job, NULL, &effective, diag), 0);
	tell(&text, diag);
	assert_string_equal(mpijob_text_data(&text), said);
	assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_WARNING), 3);
	check(effective, "ssh-port", NULL, MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	check(effective, "wait-for-hosts", NULL, MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	check(effective, "clean-launcher", "true", MPIJOB_ORIGIN_ANNOTATION, -1, NULL);
	mpijob_effective_free(effective);
	mpijob_free(job);
	mpijob__base_text_release(&text);

	/* A list of the section stands for itself: an empty one takes everything back. */
	job = read_job("b", "", "Worker: {}", ", annotations: {libmpijob/ssh-port: '2222'}");
	assert_int_equal(mpijob_effective_new(config, job, NULL, &effective, NULL), 0);
	check(effective, "ssh-port", NULL, MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	mpijob_effective_free(effective);
	/* Nobody configured anything: tenants may nothing. */
	assert_int_equal(mpijob_effective_new(NULL, job, NULL, &effective, NULL), 0);
	check(effective, "ssh-port", NULL, MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	mpijob_effective_free(effective);
	mpijob_free(job);
	job = read_job("c", "", "Worker: {}", ", annotations: {libmpijob/ssh-port: '2222'}");
	assert_int_equal(mpijob_effective_new(config, job, NULL, &effective, NULL), 0);
	check(effective, "ssh-port", "2222", MPIJOB_ORIGIN_ANNOTATION, -1, NULL);
	mpijob_effective_free(effective);
	mpijob_free(job);
	mpijob_diag_free(diag);
	mpijob_operator_config_free(config);
}

/* A tenant's own text cannot make this slow, or more than it is. */
static void hostile_annotations_are_left_out(void **state)
{
	mpijob_operator_config *config = read_config("annotations: [wait-for-hosts]\n");
	struct mpijob_text more = { 0 };
	mpijob_effective *effective = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job;

	(void)state;
	mpijob__base_text_puts(&more, ", annotations: {libmpijob/: x, libmpijob/wait-for-hosts: "
				      "\"60s\\0\", 'libmpijob/$(reboot)': y, "
				      "libmpijob/Wait-For-Hosts: 60s");
	for (int i = 0; i < 500; i++)
		mpijob__base_text_printf(&more, ", libmpijob/x%d: '%d'", i, i);
	mpijob__base_text_puts(&more, "}");
	job = read_job("a", "", "Worker: {}", mpijob_text_data(&more));
	assert_int_equal(mpijob_effective_new(config, job, NULL, &effective, diag), 0);
	for (size_t i = 4; i < mpijob_effective_count(effective); i++)
		assert_int_equal(mpijob_effective_at(effective, i)->origin, MPIJOB_ORIGIN_BUILT_IN);
	assert_true(mpijob_diag_count(diag, 0) >= 503);
	mpijob_effective_free(effective);
	mpijob_free(job);
	mpijob_diag_free(diag);
	mpijob__base_text_release(&more);
	mpijob_operator_config_free(config);
}

/* Patterns with many stars take no exponential time. */
static void patterns_are_cheap(void **state)
{
	mpijob_operator_config *config = read_config(
	    "namespaces: [{names: ['a*a*a*a*a*a*a*a*a*a*a*a*a*a*b'], defaults: {workers: 2}}]\n");
	mpijob *job = read_job("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "", "Worker: {}", "");
	mpijob_effective *effective = work_out(config, job);

	(void)state;
	check(effective, WORKERS, "1", MPIJOB_ORIGIN_BUILT_IN, -1, NULL);
	mpijob_effective_free(effective);
	mpijob_free(job);
	mpijob_operator_config_free(config);
}

/* --- the page --- */

static const char example[] = HEAD "defaults:\n"
				   "  cleanPodPolicy: Running\n"
				   "  ttlSecondsAfterFinished: 604800       # a week\n"
				   "  features:\n"
				   "    wait-for-hosts: 60s\n"
				   "limits:\n"
				   "  ttlSecondsAfterFinished: {max: 2592000}\n"
				   "  activeDeadlineSeconds: {max: 172800}  # two days\n"
				   "  workers: {max: 64}\n"
				   "annotations: [wait-for-hosts, ssh-port]\n"
				   "namespaces:\n"
				   "- names: [hpc, hpc-*]\n"
				   "  limits:\n"
				   "    workers: {max: 1024}\n"
				   "    activeDeadlineSeconds: {max: null}  # no limit here\n"
				   "- names: ['*-test']\n"
				   "  defaults: {activeDeadlineSeconds: 3600}\n"
				   "  annotations: []                       # none of them here\n";

static const char page_head[] =
    "# The operator's configuration\n\n`mpijob-operator --config FILE` reads the "
    "administrator's settings for all jobs: defaults and limits,\nfor all namespaces or "
    "for some, and the features that tenants may choose. This page is printed "
    "from\n`lib/operator/config_keys.c`, the table that the code reads: change it "
    "there.\n\n```yaml\n";

static const char page_rules[] =
    "```\n\n## Precedence\n\n- The settings are never written into an MPIJob. The operator "
    "applies them to a copy in memory each\n  time that it plans the job. `mpijob describe "
    "--operator-config FILE JOB` shows the effective values\n  and where they come "
    "from.\n- The spec of a job wins over a default. An annotation `libmpijob/NAME` wins "
    "over a default of the same\n  feature, if `annotations` allows it.\n- Each key is "
    "looked up separately. The first entry of `namespaces` wins that matches the job's\n  "
    "namespace and has the key; if none has it, the top of the file. Each feature is a key "
    "of its own. The\n  list under `annotations` is one key.\n- Features that the file "
    "does not mention keep the values of the operator's flags.\n- `null` means none: no "
    "default, no limit, no annotation. So an entry can remove a setting of the top\n  of "
    "the file.\n- Limits are applied last. They also apply to defaults.\n- A limit on "
    "times or on `cleanPodPolicy` changes the effective value. The job starts, and an "
    "Event\n  (`LimitApplied`) tells the user if the job requested another value.\n- A "
    "limit on `workers` changes nothing in a job, because a program rarely works with "
    "fewer workers than\n  it expects. The job does not start. The Event is "
    "`ValidationError`. With `fail-invalid` the job is\n  Failed until it requests fewer "
    "workers or the limit is raised.\n- Existing children are not changed. "
    "`activeDeadlineSeconds` and `ttlSecondsAfterFinished` are in the\n  launcher Job, "
    "which does not change after its creation. Existing pods keep a feature that shapes "
    "pods\n  (`ssh-port`), and new pods get the current value. A NetworkPolicy stays with "
    "its job. Everything else\n  applies from the next plan on.\n- The settings also apply "
    "to existing and finished jobs. A default `cleanPodPolicy: All` deletes the\n  workers "
    "of finished jobs without a policy of their own. With `ttl-deletes-job`, a default "
    "time\n  deletes old jobs.\n- A shadow operator plans with its configuration too. To "
    "compare with mpi-operator, start it without\n  one.\n- Jobs of another controller "
    "(`managedBy`) are not affected.\n\n## The file\n\nThe file is one document, YAML or "
    "JSON. Unknown keys are errors, and so are values that the field of the\nsame name "
    "does not accept. All errors are reported at once. With errors the operator does not "
    "start. It\nreads the file again after SIGHUP, and when the file changes. If the new "
    "file is invalid, the old\nconfiguration stays in effect, the log contains the reason, "
    "and the metric\n`mpi_operator_config_last_reload_successful` is 0. After a change the "
    "operator plans every job again.\n\n| key | value | meaning |\n|---|---|---|\n";

static const char *value_text(const struct mpijob__operator_config_key *key, char *buffer,
    size_t size)
{
	const struct mpijob_field *field = key->field ? mpijob_field_find(key->field) : NULL;
	size_t len = 0;

	if (key->kind == CONFIG_IDENTITY) {
		snprintf(buffer, size, "`%s`, required", key->word);
	} else if (field && field->choices) {
		len = (size_t)snprintf(buffer, size, "%s",
		    key->kind == CONFIG_VALUES ? "list of " : "");
		for (int i = 0; field->choices[i]; i++)
			len += (size_t)snprintf(buffer + len, size - len, "%s`%s`",
			    i == 0                  ? ""
			    : field->choices[i + 1] ? ", "
						    : " or ",
			    field->choices[i]);
	} else if (field) {
		snprintf(buffer, size, "number from %lld",
		    field->minimum ? (long long)*field->minimum : 0LL);
	} else {
		static const char *const words[] = {
			[CONFIG_MAP] = "map",
			[CONFIG_FEATURES] = "map from features to values",
			[CONFIG_NAMES] = "list of features",
			[CONFIG_PATTERNS] = "list of names, required",
			[CONFIG_SECTIONS] = "list of maps",
		};

		snprintf(buffer, size, "%s", words[key->kind]);
	}
	return buffer;
}

static char *print_page(void)
{
	struct mpijob_text out = { 0 };
	char buffer[256], *page;

	mpijob__base_text_printf(&out, "%s%s%s", page_head, example, page_rules);
	for (size_t i = 0; i < mpijob__operator_config_key_count(); i++) {
		const struct mpijob__operator_config_key *key = mpijob__operator_config_key_at(i);

		mpijob__base_text_printf(&out, "| `%s%s` | %s | %s |\n",
		    key->where & CONFIG_TOP ? "" : "namespaces[].", key->path,
		    value_text(key, buffer, sizeof(buffer)), key->summary);
	}
	mpijob__base_text_puts(&out, "\nThe features are listed in [options.md](options.md).\n");
	page = strdup(out.data);
	mpijob__base_text_release(&out);
	return page;
}

static void page_is_current(void **state)
{
	(void)state;
	assert_int_equal(parse(example), 0);
	printed_page_check("docs/operator-config.md", print_page());
}

static void table_is_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < mpijob__operator_config_key_count(); i++) {
		const struct mpijob__operator_config_key *key = mpijob__operator_config_key_at(i);
		size_t parent = strlen(key->parent);

		assert_true(key->summary && key->summary[strlen(key->summary) - 1] == '.');
		/* The path is that of the parent and the key. */
		assert_int_equal(strlen(key->path), parent + (parent > 0) + strlen(key->key));
		assert_memory_equal(key->path, key->parent, parent);
		assert_string_equal(key->path + parent + (parent > 0), key->key);
		assert_ptr_equal(mpijob__operator_config_key_find(key->parent, key->key,
				     key->where & CONFIG_ANY),
		    key);
		if (key->kind == CONFIG_VALUE || key->kind == CONFIG_VALUES)
			assert_true(mpijob_field_find(key->field) && key->slot < CONFIG_SLOTS);
	}
	assert_null(mpijob__operator_config_key_at(mpijob__operator_config_key_count()));
	assert_null(mpijob__operator_config_key_find("", "names", CONFIG_TOP));
	assert_null(mpijob__operator_config_key_find("", "namespaces", CONFIG_ENTRY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_are_told),
		cmocka_unit_test(identity_is_asked_for),
		cmocka_unit_test(nulls_are_nothing),
		cmocka_unit_test(nothing_configured_changes_nothing),
		cmocka_unit_test(defaults_fill_what_is_absent),
		cmocka_unit_test(no_worker_stays_no_worker),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(most_wins_over_least),
		cmocka_unit_test(first_section_wins_field_by_field),
		cmocka_unit_test(limits_name_their_section),
		cmocka_unit_test(features_come_from_the_nearest),
		cmocka_unit_test(annotations_need_leave),
		cmocka_unit_test(hostile_annotations_are_left_out),
		cmocka_unit_test(patterns_are_cheap),
		cmocka_unit_test(table_is_sound),
		cmocka_unit_test(page_is_current),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
