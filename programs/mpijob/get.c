/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command get: the columns of the table, and how a list follows a watch. NAME and AGE are
 * kubectl's columns for MPIJobs; the others show what users ask for next.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "base/clock.h"
#include "chosen.h"
#include "findings.h"
#include "objects.h"
#include "print.h"
#include "table.h"
#include "when.h"

#define TURN_MS 500 /* interval at which a closed standard output is noticed */

enum form { FORM_TABLE, FORM_WIDE, FORM_YAML, FORM_JSON, FORM_NAME };

/* A job that the watch has reported, and its last state. */
struct seen {
	char *uid;
	char *version;
};

struct get {
	struct connection connection;
	const struct arguments *arguments;
	enum form form;
	struct table table;
	int64_t now_s;
	mpijob_doc *list;  /* the jobs, as a v1 List */
	size_t printed;    /* documents */
	struct seen *seen; /* a hash table by UID */
	size_t seen_count;
	size_t seen_size; /* a power of two, or 0 */
	mpijob_watch *watching;
	const char *named; /* the one job that is watched; NULL for all */
	int listed;        /* the first list is printed */
	int code;          /* the failure that ends the watch */
};

static int form_read(const char *name, enum form *form)
{
	static const char *const names[] = { "", "wide", "yaml", "json", "name" };

	for (size_t i = FORM_WIDE; name && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0) {
			*form = (enum form)i;
			return 0;
		}
	}
	if (!name)
		return 0;
	print_to(stderr, "mpijob: -o %s: unknown format; use wide, yaml, json or name\n", name);
	return EXIT_USAGE;
}

/* ---- the columns ---- */

static void columns_make(struct get *get)
{
	get->table.no_headers = get->arguments->no_headers;
	if (get->arguments->all_namespaces)
		table_column(&get->table, "NAMESPACE");
	table_column(&get->table, "NAME");
	table_column(&get->table, "AGE");
	table_column(&get->table, "STATE");
	if (get->form == FORM_WIDE) {
		table_column(&get->table, "WORKERS");
		table_column(&get->table, "LAUNCHER");
		table_column(&get->table, "MESSAGE");
	}
	if (get->arguments->show_labels)
		table_column(&get->table, "LABELS");
}

/* The newest condition that is true; NULL without one. */
static const mpijob_node *state_of(const mpijob_node *job)
{
	const mpijob_node *conditions = mpijob_node_find(job, "status.conditions");

	for (size_t i = mpijob_node_count(conditions); i-- > 0;)
		if (strcmp(text_at(mpijob_node_at(conditions, i), "status"), "True") == 0)
			return mpijob_node_at(conditions, i);
	return NULL;
}

static int64_t number_at(const mpijob_node *node, const char *path)
{
	int64_t number = 0;

	return mpijob_node_int(mpijob_node_find(node, path), &number) && number > 0 ? number : 0;
}

static void put_workers(struct get *get, const mpijob_node *job)
{
	char text[48];

	snprintf(text, sizeof(text), "%lld/%lld",
	    (long long)number_at(job, "status.replicaStatuses[Worker].active"),
	    (long long)number_at(job, "spec.mpiReplicaSpecs[Worker].replicas"));
	table_cell(&get->table, text);
}

static void put_launcher(struct get *get, const mpijob_node *job)
{
	const mpijob_node *launcher = mpijob_node_find(job, "status.replicaStatuses[Launcher]");
	int64_t failed = number_at(launcher, "failed");
	char text[64] = "";

	if (number_at(launcher, "succeeded"))
		strcpy(text, "Succeeded");
	else if (number_at(launcher, "active"))
		strcpy(text, "Running");
	else if (failed)
		strcpy(text, "Failed");
	if (failed > 1 || (failed && strcmp(text, "Failed") != 0))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " (%lld failed)",
		    (long long)failed);
	table_cell(&get->table, text);
}

static void put_message(struct get *get, const mpijob_node *condition)
{
	const char *reason = text_at(condition, "reason"), *message = text_at(condition, "message");
	char *text = NULL;

	if (asprintf(&text, "%s%s%s", reason, *reason && *message ? ": " : "", message) < 0) {
		get->table.failed = 1;
		return;
	}
	table_cell(&get->table, text);
	free(text);
}

static void put_labels(struct get *get, const mpijob_node *labels)
{
	mpijob_text *text = mpijob_text_new();
	int code = text ? 0 : MPIJOB_ERR_NOMEM;

	for (size_t i = 0; i < mpijob_node_count(labels) && code == 0; i++) {
		const char *pieces[] = { i ? "," : "", mpijob_node_key(labels, i), "=",
			mpijob_node_string(mpijob_node_at(labels, i)) };
		for (size_t j = 0; j < 4 && code == 0; j++)
			code = mpijob_text_write(text, pieces[j] ? pieces[j] : "",
			    pieces[j] ? strlen(pieces[j]) : 0);
	}
	if (code)
		get->table.failed = 1;
	else
		table_cell(&get->table, mpijob_text_len(text) ? mpijob_text_data(text) : "<none>");
	mpijob_text_free(text);
}

static void put_row(struct get *get, const mpijob_node *job)
{
	char age[AGE_SIZE];

	if (get->arguments->all_namespaces)
		table_cell(&get->table, text_at(job, "metadata.namespace"));
	table_cell(&get->table, text_at(job, "metadata.name"));
	table_cell(&get->table,
	    age_text(text_at(job, "metadata.creationTimestamp"), get->now_s, age));
	table_cell(&get->table, text_at(state_of(job), "type"));
	if (get->form == FORM_WIDE) {
		put_workers(get, job);
		put_launcher(get, job);
		put_message(get, state_of(job));
	}
	if (get->arguments->show_labels)
		put_labels(get, mpijob_node_find(job, "metadata.labels"));
}

/* ---- the list ---- */

static int list_begin(struct get *get)
{
	get->list = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(get->list, "");

	mpijob_node_put_string(get->list, root, "apiVersion", "v1");
	mpijob_node_put_list(get->list, root, "items");
	mpijob_node_put_string(get->list, root, "kind", "List");
	mpijob_node_put_string(get->list, mpijob_node_put_map(get->list, root, "metadata"),
	    "resourceVersion", "");
	return mpijob_doc_error(get->list);
}

/* As kubectl, without managedFields. */
static int list_add(struct get *get, const mpijob_node *job)
{
	mpijob_node *copy = mpijob_node_copy(get->list, job);
	mpijob_node *metadata = mpijob_node_edit(copy, "metadata");

	if (metadata)
		mpijob_node_remove(metadata, "managedFields");
	mpijob_node_append(get->list, mpijob_doc_edit(get->list, "items"), copy);
	return mpijob_doc_error(get->list);
}

static int by_name(const void *left, const void *right)
{
	const mpijob_node *a = *(const mpijob_node *const *)left,
			  *b = *(const mpijob_node *const *)right;
	int order = strcmp(text_at(a, "metadata.namespace"), text_at(b, "metadata.namespace"));

	return order ? order : strcmp(text_at(a, "metadata.name"), text_at(b, "metadata.name"));
}

static int print_document(struct get *get, const mpijob_node *node)
{
	if (get->form == FORM_YAML && get->printed++)
		puts("---");
	int code = mpijob_node_write(node,
	    get->form == FORM_JSON ? MPIJOB_FORMAT_JSON : MPIJOB_FORMAT_YAML, file_write, stdout);
	fflush(stdout);
	return code;
}

/* Print one job as a line; table_print() prints lines of a table. */
static void print_line(struct get *get, const mpijob_node *job)
{
	if (get->form == FORM_NAME)
		print_out(JOB_RESOURCE "/%s\n", text_at(job, "metadata.name"));
	else
		put_row(get, job);
}

static int print_sorted(struct get *get, const mpijob_node *items)
{
	size_t count = mpijob_node_count(items);
	const mpijob_node **jobs = calloc(count + 1, sizeof(const mpijob_node *));

	if (!jobs)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < count; i++)
		jobs[i] = mpijob_node_at(items, i);
	qsort(jobs, count, sizeof(const mpijob_node *), by_name);
	for (size_t i = 0; i < count; i++)
		print_line(get, jobs[i]);
	free(jobs);
	fflush(stdout); /* --watch shows each line at once */
	return get->form == FORM_NAME ? 0 : table_print(&get->table);
}

/* `alone`: one job was named; it is printed without a List. */
static int print_list(struct get *get, int alone)
{
	const mpijob_node *root = mpijob_doc_root(get->list),
			  *items = mpijob_node_get(root, "items");

	if (get->form == FORM_YAML || get->form == FORM_JSON)
		return print_document(get, alone ? mpijob_node_at(items, 0) : root);
	return print_sorted(get, items);
}

static void say_nothing_found(const struct get *get)
{
	if (get->form != FORM_TABLE && get->form != FORM_WIDE)
		return;
	if (get->arguments->ignore_not_found)
		return;
	if (get->arguments->all_namespaces)
		fputs("No resources found\n", stderr);
	else
		print_to(stderr, "No resources found in %s namespace.\n",
		    get->connection.namespace_);
}

static int get_all(struct get *get)
{
	mpijob_doc *found = NULL;
	int code = jobs_list(&get->connection,
	    get->arguments->all_namespaces ? NULL : get->connection.namespace_,
	    get->arguments->selector, &found);
	const mpijob_node *items =
	    code == 0 ? mpijob_node_get(mpijob_doc_root(found), "items") : NULL;

	for (size_t i = 0; i < mpijob_node_count(items) && code == 0; i++)
		code = list_add(get, mpijob_node_at(items, i));
	if (code == 0 && mpijob_node_count(items) == 0)
		say_nothing_found(get);
	if (code == 0)
		code = print_list(get, 0);
	mpijob_doc_free(found);
	return connection_report(&get->connection, code);
}

static int get_one(struct get *get, const struct chosen_job *job)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_doc *found = NULL;

	target.api_version = MPIJOB__BASE_API_VERSION;
	target.kind = MPIJOB__BASE_API_KIND;
	target.namespace_ = job->namespace_;
	target.name = job->name;
	int code = mpijob_client_get(get->connection.client, &target, &found, get->connection.diag);
	if (code == 0)
		code = list_add(get, mpijob_doc_root(found));
	mpijob_doc_free(found);
	if (code == MPIJOB_ERR_NOT_FOUND && get->arguments->ignore_not_found) {
		mpijob_diag_clear(get->connection.diag);
		return 0;
	}
	return connection_report(&get->connection, code);
}

/* Get each name separately: jobs that exist are printed even if others do not. */
static int get_named(struct get *get, const struct chosen *chosen)
{
	int result = 0;

	for (size_t i = 0; i < chosen->count; i++) {
		int code = get_one(get, &chosen->jobs[i]);
		result = result ? result : code;
		if (code && code != MPIJOB_ERR_NOT_FOUND)
			return result; /* the next request would fail in the same way */
	}
	size_t found = mpijob_node_count(mpijob_node_get(mpijob_doc_root(get->list), "items"));
	int code = found ? print_list(get, chosen->count == 1) : 0;
	connection_report(&get->connection, code);
	return result ? result : code;
}

/* ---- watching ---- */

/* The entry of a job in the hash table, or the free entry for it. */
static struct seen *find_entry(struct seen *table, size_t size, const char *uid)
{
	size_t hash = 5381;

	for (const char *at = uid; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	while (table[hash & (size - 1)].uid && strcmp(table[hash & (size - 1)].uid, uid) != 0)
		hash++;
	return &table[hash & (size - 1)];
}

/* At most half of the entries are used. */
static int make_room(struct get *get)
{
	size_t size = get->seen_size ? 2 * get->seen_size : 64;

	if (2 * get->seen_count < get->seen_size)
		return 0;
	struct seen *table = calloc(size, sizeof(*table));
	if (!table)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < get->seen_size; i++)
		if (get->seen[i].uid)
			*find_entry(table, size, get->seen[i].uid) = get->seen[i];
	free(get->seen);
	get->seen = table;
	get->seen_size = size;
	return 0;
}

/* Remember this state of a job; returns 1 when it was not known, 0 when it was, or a code. */
static int remember(struct get *get, const struct mpijob_watch_event *event)
{
	if (make_room(get))
		return MPIJOB_ERR_NOMEM;
	struct seen *seen = find_entry(get->seen, get->seen_size, event->uid);
	if (seen->uid && strcmp(seen->version, event->resource_version) == 0)
		return 0;
	char *version = strdup(event->resource_version);
	char *uid = seen->uid ? seen->uid : strdup(event->uid);
	if (!version || !uid) {
		free(version);
		if (uid != seen->uid)
			free(uid);
		return MPIJOB_ERR_NOMEM;
	}
	get->seen_count += !seen->uid;
	free(seen->version);
	*seen = (struct seen){ uid, version };
	return 1;
}

static int print_change(struct get *get, const mpijob_node *job)
{
	if (get->form == FORM_YAML || get->form == FORM_JSON) {
		if (get->list)
			mpijob_doc_free(get->list);
		int code = list_begin(get);
		if (code == 0)
			code = list_add(get, job);
		return code ? code
			    : print_document(get,
				  mpijob_node_at(mpijob_node_get(mpijob_doc_root(get->list),
						     "items"),
				      0));
	}
	print_line(get, job);
	fflush(stdout);
	return get->form == FORM_NAME ? 0 : table_print(&get->table);
}

/* The jobs of a list arrive unsorted: they are kept until the list is complete. */
static int print_or_keep(struct get *get, const mpijob_node *job)
{
	if (!get->listed && get->arguments->watch_only)
		return 0;
	get->now_s = mpijob__base_clock_wall_ms() / 1000;
	return get->listed ? print_change(get, job) : list_add(get, job);
}

static int on_object(void *user, const struct mpijob_watch_event *event)
{
	struct get *get = user;
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;

	options.format = MPIJOB_FORMAT_JSON;
	int code =
	    event->json ? mpijob_doc_parse(event->json, event->json_len, &options, &doc, NULL) : 0;
	if (code)
		return code;
	int fresh = remember(get, event);
	if (fresh < 0)
		code = fresh;
	else if (fresh > 0 && doc)
		code = print_or_keep(get, mpijob_doc_root(doc));
	mpijob_doc_free(doc);
	return code;
}

static int on_listed(void *user, const char *resource_version)
{
	struct get *get = user;
	const mpijob_node *items = mpijob_node_get(mpijob_doc_root(get->list), "items");
	int code = 0;

	(void)resource_version;
	if (get->listed)
		return 0;
	get->listed = 1;
	if (get->named && get->seen_count == 0) {
		get->code = findings_add(get->connection.diag, MPIJOB_ERR_NOT_FOUND, NULL,
		    "server-not-found", "there is no MPIJob '%s' to watch", get->named);
		return 0;
	}
	if (get->form == FORM_YAML || get->form == FORM_JSON)
		for (size_t i = 0; i < mpijob_node_count(items) && code == 0; i++)
			code = print_document(get, mpijob_node_at(items, i));
	else if (mpijob_node_count(items))
		code = print_list(get, 0);
	return code;
}

/* A permanent failure ends the command. Other failures are reported, and the watch retries. */
static void on_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct get *get = user;
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	char *message = NULL;

	int final = mpijob_watch_health_get(get->watching)->hopeless ||
		    (!get->listed && answer->code == MPIJOB_ERR_UNREACHABLE);
	int len = final ? asprintf(&message, "%s", answer->message)
			: asprintf(&message, "%s: %s; trying again", what, answer->message);
	finding.severity = final ? MPIJOB_SEVERITY_ERROR : MPIJOB_SEVERITY_WARNING;
	finding.id = "server-refused";
	finding.reason = answer->reason;
	finding.message = len < 0 ? mpijob_error_text(answer->code) : message;
	if (final)
		mpijob_diag_add(get->connection.diag, &finding);
	else
		finding_print(&finding, stderr);
	if (len >= 0)
		free(message);
	if (final)
		get->code = answer->code;
}

static int watch(struct get *get, const struct chosen *chosen)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	options.api_version = MPIJOB__BASE_API_VERSION;
	options.kind = MPIJOB__BASE_API_KIND;
	options.namespace_ = get->arguments->all_namespaces ? NULL : get->connection.namespace_;
	options.label_selector = get->arguments->selector;
	if (chosen->count) {
		options.namespace_ = chosen->jobs[0].namespace_;
		options.name = get->named = chosen->jobs[0].name;
	}
	options.object = on_object;
	options.listed = on_listed;
	options.failed = on_failed;
	options.user = get;
	int code = mpijob_watch_new(get->connection.client, &options, &get->watching);
	while (code == 0 && get->code == 0 && !connection_signal() && output_is_read())
		code = mpijob_client_poll(get->connection.client, TURN_MS);
	mpijob_watch_free(get->watching);
	if (code == 0)
		code = get->code;
	if (code == 0 && !connection_signal())
		return EXIT_FINDINGS; /* as when a write fails */
	return connection_report(&get->connection,
	    code == 0 && connection_signal() ? MPIJOB_ERR_CANCELLED : code);
}

static int run(struct get *get)
{
	struct chosen chosen;
	int code = chosen_names(&get->connection, get->arguments, &chosen);
	int watching = get->arguments->watch || get->arguments->watch_only;

	if (code == 0 && watching && chosen.count > 1) {
		fputs("mpijob: --watch follows one job, or all that -l and -A choose\n", stderr);
		code = EXIT_USAGE;
	} else if (code == 0) {
		columns_make(get);
		connection_catch_signals(&get->connection);
		code = list_begin(get);
		if (code == 0)
			code = watching         ? watch(get, &chosen)
			       : chosen.by_name ? get_named(get, &chosen)
						: get_all(get);
		code = connection_exit(&get->connection, code);
	}
	chosen_free(&chosen);
	return code;
}

int get_command(const struct arguments *arguments)
{
	struct get get = { .arguments = arguments, .now_s = mpijob__base_clock_wall_ms() / 1000 };

	if (form_read(arguments->output, &get.form) || chosen_check(arguments))
		return EXIT_USAGE;
	if ((arguments->watch || arguments->watch_only) && arguments->operands.count > 1) {
		fputs("mpijob: --watch follows one job, or all that -l and -A choose\n", stderr);
		return EXIT_USAGE;
	}
	int code = connection_open(&get.connection, arguments);
	if (code == 0)
		code = run(&get);
	connection_close(&get.connection);
	table_free(&get.table);
	mpijob_doc_free(get.list);
	for (size_t i = 0; i < get.seen_size; i++) {
		free(get.seen[i].uid);
		free(get.seen[i].version);
	}
	free(get.seen);
	return code;
}
