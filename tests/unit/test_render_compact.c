/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact_hosts: ten thousand workers with ordinary names fit into a ConfigMap, a shell prints from
 * the short script what it prints from the long one, and who observes the script sees the same
 * hosts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/mpijob.h>

#include "base/text.h"
#include "render/render.h"

static const char pattern[] =
    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: bert-large-pretraining, "
    "namespace: research-team},"
    " spec: {slotsPerWorker: 8, mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{name: "
    "l, image: i}]}}},"
    " Worker: {replicas: %d, template: {spec: {containers: [{name: w, image: i}]}}}}}}";

static mpijob *make_job(int workers)
{
	char text[1024];
	mpijob *job = NULL;
	int len = snprintf(text, sizeof(text), pattern, workers);

	assert_int_equal(mpijob_parse(text, (size_t)len, NULL, &job, NULL), 0);
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	return job;
}

static const struct mpijob_features compact_hosts = { .size = sizeof(struct mpijob_features),
	.compact_hosts = 1 };

static struct mpijob_render_options options_of(int compact)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;

	options.cluster_domain = "cluster.local";
	options.features = compact ? &compact_hosts : NULL;
	return options;
}

/* The ConfigMap's text under a key; yours. */
static char *config_text(mpijob_objects *objects, const char *key)
{
	mpijob_doc *doc = NULL;
	const mpijob_node *node;
	size_t at;
	char *text;

	assert_int_equal(mpijob_objects_find(objects, MPIJOB_ROLE_CONFIG_MAP, 0, &at), 1);
	assert_int_equal(mpijob_objects_at(objects, at, &doc), 0);
	node = mpijob_node_get(mpijob_doc_edit(doc, "data"), key);
	assert_non_null(node);
	text = strdup(mpijob_node_string(node));
	mpijob_doc_free(doc);
	return text;
}

static void ten_thousand_fit(void **state)
{
	struct mpijob_render_options options = options_of(0);
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_objects *objects = NULL;
	mpijob *job = make_job(10000);
	mpijob_hostfile *hostfile = NULL;
	const struct mpijob_host *host;
	char *hosts, *script;
	size_t long_bytes = 0;

	(void)state;
	assert_int_equal(mpijob_hostfile_new(job, &options, &hostfile, NULL), 0);
	/* " slots=8\n", and "echo " and "\n" in the script */
	for (size_t i = 0; (host = mpijob_hostfile_at(hostfile, i)); i++)
		long_bytes += 2 * strlen(host->name) + 9 + 6;
	mpijob_hostfile_free(hostfile);
	assert_in_range(long_bytes, 1800000, 2000000);
	assert_int_equal(mpijob_render(job, &options, &objects, diag), MPIJOB_ERR_SPEC);
	assert_int_equal(mpijob_diag_count(diag, 0), 1);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "config-map-too-large");
	assert_non_null(strstr(mpijob_diag_at(diag, 0)->message, "--compact-hosts"));
	mpijob_diag_clear(diag);

	options.features = &compact_hosts;
	assert_int_equal(mpijob_render(job, &options, &objects, diag), 0);
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	hosts = config_text(objects, "hostfile");
	script = config_text(objects, "discover_hosts.sh");
	print_message("10,000 workers: %zu bytes, with compact_hosts %zu + %zu\n", long_bytes,
	    strlen(hosts), strlen(script));
	assert_true(strlen(hosts) + strlen(script) < 700000);
	assert_non_null(
	    strstr(hosts, "\nbert-large-pretraining-worker-9999.bert-large-pretraining slots=8\n"));
	free(hosts);
	free(script);
	mpijob_objects_free(objects);
	mpijob_free(job);
	mpijob_diag_free(diag);
}

/* What a shell prints when it runs a script; yours. */
static char *run_script(const char *script)
{
	char path[] = "/tmp/mpijob-compact-XXXXXX", command[64];
	char *output = calloc(1, 1 << 16);
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	assert_true(file && fputs(script, file) >= 0 && fclose(file) == 0);
	snprintf(command, sizeof(command), "sh %s", path);
	file = popen(command, "r");
	assert_non_null(file);
	assert_true(fread(output, 1, (1 << 16) - 1, file) < (1 << 16) - 1);
	assert_int_equal(pclose(file), 0);
	remove(path);
	return output;
}

/* Some workers run, by the bits of a number. */
static void check_running(const mpijob *job, unsigned bits)
{
	struct mpijob_render_options options = options_of(1);
	struct mpijob__render_subject subject;
	struct mpijob_text script = { 0 }, wanted = { 0 };
	mpijob_objects *objects = NULL;
	uint8_t running[12];
	uint64_t want = 0, have;
	int32_t want_count = 0, have_count = 0;
	char *text, *printed;

	for (unsigned i = 0; i < 12; i++) {
		running[i] = (uint8_t)(bits >> i & 1);
		if (running[i])
			mpijob__base_text_printf(&wanted,
			    "bert-large-pretraining-worker-%u.bert-large-pretraining\n", i);
	}
	options.running = running;
	options.running_count = sizeof(running);
	assert_int_equal(mpijob_render(job, &options, &objects, NULL), 0);
	text = config_text(objects, "discover_hosts.sh");
	printed = run_script(text);
	assert_string_equal(printed, mpijob_text_data(&wanted));

	assert_int_equal(mpijob__base_text_puts(&script, text), 0);
	assert_int_equal(mpijob__render_hosts_expand(&script), 0);
	have = mpijob__render_observed_hosts(mpijob_text_data(&script), script.len, &have_count);
	assert_int_equal(mpijob__render_subject_make(job, &options, &subject, NULL), 0);
	assert_int_equal(mpijob__render_wanted_hosts(&subject, running, sizeof(running), &want,
			     &want_count),
	    0);
	assert_true(have == want);
	assert_int_equal(have_count, want_count);
	assert_int_equal(have_count, __builtin_popcount(bits));
	free(text);
	free(printed);
	mpijob__base_text_release(&script);
	mpijob__base_text_release(&wanted);
	mpijob_objects_free(objects);
}

static void a_shell_prints_the_hosts(void **state)
{
	static const unsigned sets[] = { 0, 1, 0x800, 0xfff, 0xaaa, 0x555, 0x7fe, 0xc03, 0x3f,
		0x90d };
	mpijob *job = make_job(12);

	(void)state;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		check_running(job, sets[i]);
	mpijob_free(job);
}

/* Texts that only begin like ours are not unfolded to anything else, nor to more than memory
 * holds. */
static void other_scripts_stay(void **state)
{
	static const char function[] = "hosts() { i=$1; while [ \"$i\" -le \"$2\" ]; do echo "
				       "\"a-worker-$i.a\"; i=$((i+1)); done; }\n";
	static const struct {
		const char *rest;
		const char *unfolded;
	} cases[] = {
		{ "", "" },
		{ "hosts 3 4\n", "echo a-worker-3.a\necho a-worker-4.a\n" },
		{ "hosts 4 3\n", "" },
		{ "hosts 0 0", "hosts 0 0" },
		{ "hosts 0 x\n", "hosts 0 x\n" },
		{ "hosts 0\n", "hosts 0\n" },
		{ "hosts  0 1\n", "hosts  0 1\n" },
		{ "hosts 0 2000000000\n", "hosts 0 2000000000\n" },
		{ "hosts 0 99999999999999999999\n", "hosts 0 99999999999999999999\n" },
		{ "echo a-launcher.a\nhosts 1 1\n", "echo a-launcher.a\necho a-worker-1.a\n" },
	};
	struct mpijob_text script = { 0 };

	(void)state;
	assert_int_equal(mpijob__render_hosts_expand(&script), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(mpijob__base_text_printf(&script, "%s%s", function, cases[i].rest),
		    0);
		assert_int_equal(mpijob__render_hosts_expand(&script), 0);
		assert_string_equal(mpijob_text_data(&script), cases[i].unfolded);
		mpijob__base_text_release(&script);
	}
	mpijob__base_text_puts(&script, "hosts 3 4\necho a-worker-3.a\n");
	assert_int_equal(mpijob__render_hosts_expand(&script), 0);
	assert_string_equal(mpijob_text_data(&script), "hosts 3 4\necho a-worker-3.a\n");
	mpijob__base_text_release(&script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_thousand_fit),
		cmocka_unit_test(a_shell_prints_the_hosts),
		cmocka_unit_test(other_scripts_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
