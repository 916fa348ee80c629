/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever stands in a file: as a Flyte task it gives a job that is one, or an error with a
 * finding; as configuration and execution it is read or refused; as a job its phase can be told.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpijob/flyte.h>
#include <mpijob/mpijob.h>

static void need(int holds, const char *what)
{
	if (holds)
		return;
	(void)fprintf(stderr, "%s\n", what);
	abort();
}

static void make(const mpijob_node *root, const char *version,
    const struct mpijob_flyte_options *options)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *job = NULL;
	int code = mpijob_flyte_job(root, version, options, &job, diag);

	need(!code == !!job, "a job without success, or the other way round");
	need(code == 0 || mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR) > 0,
	    "refused without a word");
	need(code == 0 || code == MPIJOB_ERR_SPEC || code == MPIJOB_ERR_UNSUPPORTED, "an odd code");
	need(!job || mpijob_is_job(mpijob_doc_root(job)), "what is made is no job");
	mpijob_doc_free(job);
	mpijob_diag_free(diag);
}

static void look(const mpijob_node *root)
{
	struct mpijob_flyte_status_options options = MPIJOB_FLYTE_STATUS_OPTIONS_INIT;
	const mpijob_node *workers =
	    mpijob_node_find(root, "spec.mpiReplicaSpecs[Worker].replicas");
	mpijob_flyte_status *status = NULL;
	int64_t count = 0;

	options.now_s = 1795262400;
	if (mpijob_node_int(workers, &count) && count > 1000)
		return; /* as many links as workers */
	if (mpijob_flyte_status_read(root, &options, &status) == 0)
		need(mpijob_flyte_status_phase(status)->name != NULL, "a phase without name");
	mpijob_flyte_status_free(status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mpijob_flyte_config config = MPIJOB_FLYTE_CONFIG_INIT;
	struct mpijob_flyte_execution execution = MPIJOB_FLYTE_EXECUTION_INIT;
	struct mpijob_flyte_options options = MPIJOB_FLYTE_OPTIONS_INIT;
	const mpijob_node *root, *section;
	mpijob_doc *doc = NULL;

	if (mpijob_doc_parse((const char *)data, size, NULL, &doc, NULL) != 0)
		return 0;
	root = mpijob_doc_root(doc);
	section = mpijob_node_find(root, "plugins.k8s");
	if (mpijob_flyte_config_read(section ? section : root, &config, NULL) == 0)
		options.config = &config;
	if (mpijob_flyte_execution_read(root, &execution, NULL) == 0)
		options.execution = &execution;
	make(root, "v1", &options);
	make(root, "v2beta1", &options);
	execution.inputs = execution.labels = execution.environment = execution.resources =
	    execution.pod_template = root;
	options.execution = &execution;
	make(root, "v2beta1", &options);
	look(root);
	mpijob_doc_free(doc);
	return 0;
}
