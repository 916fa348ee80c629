/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows kubectl's ways to select objects, for MPIJobs: NAME, mpijob/NAME (as -o name prints it), -f
 * FILE, -l LABELS, --all, and -A.
 */
#include <stdlib.h>
#include <string.h>

#include "chosen.h"
#include "base/api.h"
#include "findings.h"
#include "input.h"
#include "print.h"

static int add(struct chosen *chosen, const char *namespace_, const char *name, const char *uid)
{
	struct chosen_job *jobs = chosen->jobs;

	if ((chosen->count & (chosen->count - 1)) == 0)
		jobs = realloc(jobs, (chosen->count ? 2 * chosen->count : 1) * sizeof(*jobs));
	if (!jobs)
		return MPIJOB_ERR_NOMEM;
	chosen->jobs = jobs;
	struct chosen_job *job = &jobs[chosen->count++];
	*job = (struct chosen_job){ strdup(namespace_), strdup(name), uid ? strdup(uid) : NULL };
	return job->namespace_ && job->name && (job->uid || !uid) ? 0 : MPIJOB_ERR_NOMEM;
}

void chosen_free(struct chosen *chosen)
{
	for (size_t i = 0; i < chosen->count; i++) {
		free(chosen->jobs[i].namespace_);
		free(chosen->jobs[i].name);
		free(chosen->jobs[i].uid);
	}
	free(chosen->jobs);
	*chosen = (struct chosen){ 0 };
}

/* NAME of NAME or TYPE/NAME; NULL for another type or an invalid name. */
static const char *name_of(const char *word)
{
	static const char *const types[] = { "mpijob", MPIJOB__BASE_API_PLURAL,
		"mpijob." MPIJOB__BASE_API_GROUP, MPIJOB__BASE_API_RESOURCE };
	const char *slash = strchr(word, '/'), *name = slash ? NULL : word;

	for (size_t i = 0; slash && i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i]) == (size_t)(slash - word) &&
		    strncmp(types[i], word, strlen(types[i])) == 0)
			name = slash + 1;
	if (!name || !*name || strchr(name, '/') || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0)
		return NULL;
	return name;
}

static int take_names(const struct connection *connection, const struct words *words,
    struct chosen *chosen)
{
	for (size_t i = 0; i < words->count; i++) {
		if (add(chosen, connection->namespace_, name_of(words->items[i]), NULL)) {
			failure_print(NULL, MPIJOB_ERR_NOMEM);
			return EXIT_FINDINGS;
		}
	}
	return 0;
}

static int take_object(struct connection *connection, const struct arguments *arguments,
    const struct input_object *object, struct chosen *chosen)
{
	const char *name = mpijob_node_string(mpijob_node_find(object->node, "metadata.name"));
	const char *has = mpijob_node_string(mpijob_node_find(object->node, "metadata.namespace"));

	if (!name)
		return findings_add(connection->diag, MPIJOB_ERR_SPEC, object->source, "no-name",
		    "an MPIJob without metadata.name cannot be found again");
	if (has && arguments->namespace_ && strcmp(has, arguments->namespace_) != 0)
		return findings_add(connection->diag, MPIJOB_ERR_SPEC, object->source,
		    "other-namespace",
		    "MPIJob '%s' is of namespace '%s', not of '%s' as --namespace says", name, has,
		    arguments->namespace_);
	return add(chosen, has ? has : connection->namespace_, name, NULL);
}

static int take_files(struct connection *connection, const struct arguments *arguments,
    struct chosen *chosen)
{
	struct input input;
	size_t before = chosen->count;

	if (arguments->files.count == 0)
		return 0;
	int code = input_read(&arguments->files, &input, connection->diag);
	for (size_t i = 0; i < input.count && code == 0; i++)
		if (mpijob_is_job(input.objects[i].node))
			code = take_object(connection, arguments, &input.objects[i], chosen);
	if (code == 0 && chosen->count == before)
		code = findings_add(connection->diag, MPIJOB_ERR_NOT_FOUND,
		    arguments->files.items[0], "no-job", "no MPIJob in here");
	connection_report(connection, code);
	input_free(&input);
	return code ? EXIT_FINDINGS : 0;
}

int chosen_check(const struct arguments *arguments)
{
	int many = arguments->selector || arguments->all || arguments->all_namespaces;

	if ((arguments->operands.count || arguments->files.count) && many) {
		fputs("mpijob: name jobs, or choose them with -l, --all or -A; not both\n", stderr);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < arguments->operands.count; i++) {
		if (!name_of(arguments->operands.items[i])) {
			print_to(stderr,
			    "mpijob: '%s' is not the name of an MPIJob; for files use -f\n",
			    arguments->operands.items[i]);
			return EXIT_USAGE;
		}
	}
	return 0;
}

int chosen_check_some(const struct arguments *arguments)
{
	if (arguments->operands.count || arguments->files.count || arguments->selector ||
	    arguments->all)
		return chosen_check(arguments);
	fputs("mpijob: name a job, or choose with -l LABELS or --all\n", stderr);
	return EXIT_USAGE;
}

int chosen_names(struct connection *connection, const struct arguments *arguments,
    struct chosen *chosen)
{
	*chosen = (struct chosen){ 0 };
	connection->by_name = arguments->operands.count > 0;
	chosen->by_name = arguments->operands.count || arguments->files.count;
	int code = take_names(connection, &arguments->operands, chosen);
	return code ? code : take_files(connection, arguments, chosen);
}

int jobs_list(struct connection *connection, const char *namespace_, const char *selector,
    mpijob_doc **out)
{
	const char *query[] = { "labelSelector", selector };
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = MPIJOB__BASE_API_VERSION;
	target.kind = MPIJOB__BASE_API_KIND;
	target.namespace_ = namespace_;
	target.query = query;
	target.query_count = selector ? 2 : 0;
	return mpijob_client_list(connection->client, &target, 0, out, connection->diag);
}

static int take_listed(struct connection *connection, const struct arguments *arguments,
    struct chosen *chosen)
{
	mpijob_doc *list = NULL;
	int code = jobs_list(connection, arguments->all_namespaces ? NULL : connection->namespace_,
	    arguments->selector, &list);
	const mpijob_node *items =
	    code == 0 ? mpijob_node_get(mpijob_doc_root(list), "items") : NULL;

	for (size_t i = 0; i < mpijob_node_count(items) && code == 0; i++) {
		const mpijob_node *metadata = mpijob_node_get(mpijob_node_at(items, i), "metadata");
		const char *name = mpijob_node_string(mpijob_node_get(metadata, "name"));
		const char *namespace_ = mpijob_node_string(mpijob_node_get(metadata, "namespace"));
		if (name && namespace_)
			code = add(chosen, namespace_, name,
			    mpijob_node_string(mpijob_node_get(metadata, "uid")));
	}
	mpijob_doc_free(list);
	connection_report(connection, code);
	return code ? connection_exit(connection, code) : 0;
}

int chosen_find(struct connection *connection, const struct arguments *arguments,
    struct chosen *chosen)
{
	int code = chosen_names(connection, arguments, chosen);

	return code || chosen->by_name ? code : take_listed(connection, arguments, chosen);
}

void chosen_target(struct mpijob_target *target, const struct chosen_job *job)
{
	target->api_version = MPIJOB__BASE_API_VERSION;
	target->kind = MPIJOB__BASE_API_KIND;
	target->namespace_ = job->namespace_;
	target->name = job->name;
}
