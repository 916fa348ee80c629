/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command run: which job of the files is meant, whether it runs on this machine or on a
 * cluster, and which options are for which of the two.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/api.h"
#include "base/clock.h"
#include "findings.h"
#include "print.h"
#include "run.h"
#include "sending.h"

void run_place(const struct run *run, struct mpijob_finding *finding)
{
	const mpijob_node *node = mpijob_node_find(run->object->node, finding->field);

	if (!node)
		return;
	finding->source = run->object->source;
	mpijob_node_place(node, &finding->line, &finding->column);
}

/* Separated by commas; NULL without memory. */
static char *names_of_jobs(const struct run *run)
{
	char *names = NULL;

	for (size_t i = 0; i < run->input.count; i++) {
		const mpijob_node *node = run->input.objects[i].node;
		const char *name = mpijob_node_string(mpijob_node_find(node, "metadata.name"));
		char *longer = NULL;
		if (!mpijob_is_job(node) || !name)
			continue;
		if (asprintf(&longer, "%s%s%s", names ? names : "", names ? ", " : "", name) < 0)
			longer = NULL;
		free(names);
		names = longer;
	}
	return names;
}

static int choose_job(struct run *run)
{
	const char *wanted = run->arguments->job;
	const struct input_object *found = NULL;
	size_t jobs = 0;

	for (size_t i = 0; i < run->input.count; i++) {
		const struct input_object *object = &run->input.objects[i];
		const char *name =
		    mpijob_node_string(mpijob_node_find(object->node, "metadata.name"));
		if (!mpijob_is_job(object->node))
			continue;
		jobs++;
		if (!wanted || (name && strcmp(name, wanted) == 0))
			found = object;
	}
	run->object = found;
	const char *source = run->arguments->operands.items[0];
	char *names = jobs > 1 && !wanted ? names_of_jobs(run) : NULL;
	if (jobs == 0)
		return findings_add(run->diag, MPIJOB_ERR_NOT_FOUND, source, "no-job",
		    "no MPIJob in here");
	if (!found)
		return findings_add(run->diag, MPIJOB_ERR_NOT_FOUND, source, "no-job",
		    "no MPIJob is called '%s'", wanted);
	if (jobs > 1 && !wanted) {
		findings_add(run->diag, MPIJOB_ERR_USAGE, source, "several-jobs",
		    "%zu MPIJobs in here; choose one with --job NAME: %s", jobs,
		    names ? names : "out of memory");
		free(names);
		return MPIJOB_ERR_USAGE;
	}
	return 0;
}

/* An error at a field of the job; returns `code`. */
static int refuse(struct run *run, int code, const char *id, const char *field, const char *format,
    ...) __attribute__((format(printf, 5, 6)));
static int refuse(struct run *run, int code, const char *id, const char *field, const char *format,
    ...)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	va_list values;

	finding.id = id;
	finding.field = field;
	run_place(run, &finding);
	va_start(values, format);
	code = findings_vadd(run->diag, code, &finding, format, values);
	va_end(values);
	return code;
}

/* A job of another controller would wait forever. */
static int check_manager(struct run *run, const struct mpijob_spec *spec)
{
	const char *manager = spec->run_policy ? spec->run_policy->managed_by : NULL;

	if (!manager || strcmp(manager, MPIJOB__BASE_API_MANAGER) == 0)
		return 0;
	return refuse(run, MPIJOB_ERR_SPEC, "managed-elsewhere", "spec.runPolicy.managedBy",
	    "this leaves the job to '%s', so nothing would run it here; remove the field", manager);
}

/* A suspended job would wait forever: nothing resumes it on this machine. */
static int check_suspended(struct run *run, const struct mpijob_spec *spec)
{
	if (!spec->run_policy || !spec->run_policy->suspend || !*spec->run_policy->suspend)
		return 0;
	if (run->arguments->resume)
		return 0;
	return refuse(run, MPIJOB_ERR_SPEC, "job-suspended", "spec.runPolicy.suspend",
	    "the job is suspended, and nothing on this machine resumes it; run it with --resume, "
	    "or set false");
}

int run_load_job(struct run *run)
{
	struct mpijob_validate_options options = MPIJOB_VALIDATE_OPTIONS_INIT;
	const struct mpijob_spec *spec;

	int code = input_read(&run->arguments->operands, &run->input, run->diag);
	sending_sort(&run->input);
	if (code == 0)
		code = choose_job(run);
	if (code == 0)
		code = input_job(run->object, run->arguments, &run->job, run->diag);
	/* On a cluster the API server generates it. */
	if (code == 0 && !run->is_cluster)
		code = input_generate_name(run->job, 0);
	options.reference = run->arguments->reference;
	if (code == 0)
		code = mpijob_validate(run->job, &options, run->diag);
	if (code == 0)
		code = mpijob_spec_get(run->job, &spec, run->diag);
	if (code == 0 && !run->is_cluster)
		code = check_manager(run, spec);
	if (code == 0 && !run->is_cluster)
		code = check_suspended(run, spec);
	if (code)
		return code;
	run->workers = spec->worker && spec->worker->replicas ? *spec->worker->replicas : 0;
	run->name = mpijob_name(run->job) ? strdup(mpijob_name(run->job)) : NULL;
	if (mpijob_name(run->job) && !run->name)
		return MPIJOB_ERR_NOMEM;
	run->progress.name = run->name;
	run->namespace_ = mpijob_namespace(run->job);
	return 0;
}

/* Whether the command line means a cluster. */
static int means_cluster(const struct arguments *arguments)
{
	const struct connection_words *words = &arguments->connection;

	if (arguments->local)
		return 0;
	return arguments->kubectl || words->kubeconfig || words->context || words->cluster ||
	       words->server;
}

/* The first option that has no meaning where the job runs; NULL if not found. */
static const char *stray_option(const struct arguments *arguments, int is_cluster)
{
	struct stray {
		int given;
		const char *name;
	};
	const struct stray of_local[] = {
		{ arguments->keep, "keep" },
		{ arguments->resume, "resume" },
		{ arguments->allow_host_path, "allow-host-path" },
		{ arguments->backoff_base_ms != 0, "backoff-base" },
		{ arguments->late_names_ms != 0, "late-names" },
		{ arguments->cluster_domain != NULL, "cluster-domain" },
		{ arguments->reference, "reference" },
	};
	const struct stray of_cluster[] = {
		{ arguments->rm, "rm" },
		{ arguments->detach, "detach" },
		{ arguments->server_side, "server-side" },
	};

	for (size_t i = 0; is_cluster && i < sizeof(of_local) / sizeof(of_local[0]); i++)
		if (of_local[i].given)
			return of_local[i].name;
	for (size_t i = 0; is_cluster && mpijob_feature_at(i); i++)
		if (mpijob_features_get(&arguments->features, mpijob_feature_at(i)->name))
			return mpijob_feature_at(i)->name;
	for (size_t i = 0; !is_cluster && i < sizeof(of_cluster) / sizeof(of_cluster[0]); i++)
		if (of_cluster[i].given)
			return of_cluster[i].name;
	return NULL;
}

static int check(const struct arguments *arguments, int is_cluster)
{
	const char *stray = stray_option(arguments, is_cluster);

	if (arguments->operands.count == 0)
		fputs("mpijob: name a file, a directory, or - for standard input\n", stderr);
	else if (stray)
		print_to(stderr, "mpijob: --%s is for runs %s%s\n", stray,
		    is_cluster ? "on this machine" : "on a cluster",
		    is_cluster ? "" : ": add --context NAME or --kubeconfig FILE");
	else if (arguments->rm && arguments->detach)
		fputs("mpijob: --rm deletes the job at its end, so the command has to stay; leave "
		      "--detach out\n",
		    stderr);
	else
		return 0;
	return EXIT_USAGE;
}

static void run_free(struct run *run)
{
	mpijob_free(run->job);
	input_free(&run->input);
	mpijob_diag_free(run->diag);
	free(run->name);
	free(run->uid);
	run_output_free(run);
}

static int locally(struct run *run)
{
	int code = run_load_job(run);

	if (code == 0)
		return run_exit_code(run, run_local(run));
	findings_print(run->diag, stderr);
	failure_print(run->diag, code);
	return run_exit_code(run, code);
}

int run_command(const struct arguments *arguments)
{
	struct run run = { .arguments = arguments,
		.phase = "starting",
		.is_cluster = means_cluster(arguments) };

	int result = check(arguments, run.is_cluster);
	if (result)
		return result;
	run.begun_ms = mpijob__base_clock_monotonic_ms();
	run.progress.begun_ms = run.begun_ms;
	run.progress.terminal = isatty(STDERR_FILENO);
	run.diag = mpijob_diag_new();
	int has_memory = run.diag && run_output_begin(&run) == 0;
	if (!has_memory)
		fputs("mpijob: out of memory\n", stderr);
	result = !has_memory      ? EXIT_OWN_FAILURE
		 : run.is_cluster ? run_cluster(&run)
				  : locally(&run);
	run_free(&run);
	return result;
}
