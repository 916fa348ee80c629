/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command describe: prints metadata, spec (defaults are marked), status, pods and Events of a
 * job on a cluster, and at the end why it does not work and what to do about it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "chosen.h"
#include "effective.h"
#include "objects.h"
#include "findings.h"
#include "print.h"
#include "table.h"
#include "when.h"

struct described {
	const struct arguments *arguments;
	struct connection *connection;
	const mpijob_operator_config *config; /* NULL: none was given */
	mpijob *job;
	mpijob_doc *evidence; /* of mpijob_run_diagnose() */
	mpijob *defaulted;
	int64_t now_s;
	mpijob_diag *causes;
};

/* The items of a list of the evidence; NULL if it could not be read. */
static const mpijob_node *items_of(const struct described *this, const char *list)
{
	return mpijob_node_get(mpijob_node_get(mpijob_doc_root(this->evidence), list), "items");
}

/* The first line of a text from the cluster. */
static void put_text(const char *text)
{
	print_out("%.*s", (int)strcspn(text, "\n"), text);
}

static void put_row(const char *name, const char *value)
{
	print_out("%-16s ", name);
	put_text(value);
	putchar('\n');
}

static void put_map(const char *name, const mpijob_node *map)
{
	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		const char *value = mpijob_node_text(mpijob_node_at(map, i));
		/* This annotation of kubectl apply contains the whole job again. */
		if (strcmp(mpijob_node_key(map, i),
			"kubectl.kubernetes.io/last-applied-configuration") == 0)
			continue;
		print_out("%-16s ", i == 0 ? name : "");
		put_text(mpijob_node_key(map, i));
		putchar('=');
		put_text(value ? value : "");
		putchar('\n');
	}
}

static void put_age(const struct described *this, const char *name, const char *time)
{
	char age[AGE_SIZE];

	if (*time)
		print_out("%-16s %s (%s ago)\n", name, time, age_text(time, this->now_s, age));
}

static void put_metadata(const struct described *this, const mpijob_node *root)
{
	put_row("Name:", text_at(root, "metadata.name"));
	put_row("Namespace:", text_at(root, "metadata.namespace"));
	put_map("Labels:", mpijob_node_find(root, "metadata.labels"));
	put_map("Annotations:", mpijob_node_find(root, "metadata.annotations"));
	put_row("UID:", text_at(root, "metadata.uid"));
	put_age(this, "Created:", text_at(root, "metadata.creationTimestamp"));
	put_age(this, "Deleting since:", text_at(root, "metadata.deletionTimestamp"));
}

/* ---- spec ---- */

static const struct {
	const char *name;
	const char *path;
} spec_rows[] = {
	{ "Slots/worker:", "spec.slotsPerWorker" },
	{ "MPI:", "spec.mpiImplementation" },
	{ "Launcher made:", "spec.launcherCreationPolicy" },
	{ "SSH keys:", "spec.sshAuthMountPath" },
	{ "Clean pods:", "spec.runPolicy.cleanPodPolicy" },
	{ "Suspend:", "spec.runPolicy.suspend" },
	{ "Backoff limit:", "spec.runPolicy.backoffLimit" },
	{ "Deadline (s):", "spec.runPolicy.activeDeadlineSeconds" },
	{ "TTL (s):", "spec.runPolicy.ttlSecondsAfterFinished" },
	{ "Managed by:", "spec.runPolicy.managedBy" },
	{ "Gang size:", "spec.runPolicy.schedulingPolicy.minAvailable" },
	{ "Queue:", "spec.runPolicy.schedulingPolicy.queue" },
	{ "Priority class:", "spec.runPolicy.schedulingPolicy.priorityClass" },
};

static const char *scalar(const mpijob_node *node)
{
	int value = 0;

	if (mpijob_node_bool(node, &value))
		return value ? "true" : "false";
	return mpijob_node_text(node);
}

static void put_replicas(const struct described *this, const char *name, const char *role)
{
	const mpijob_node *given =
	    mpijob_node_find(mpijob_doc_root(mpijob_document(this->job)), "spec.mpiReplicaSpecs");
	const mpijob_node *whole =
	    mpijob_node_find(mpijob_doc_root(mpijob_document(this->defaulted)),
		"spec.mpiReplicaSpecs");
	const mpijob_node *spec = mpijob_node_get(whole, role),
			  *chosen = mpijob_node_get(given, role);
	const char *replicas = mpijob_node_text(mpijob_node_get(spec, "replicas"));

	if (!spec)
		return;
	print_out("%-16s %s%s, restartPolicy %s%s, image ", name, replicas ? replicas : "?",
	    mpijob_node_get(chosen, "replicas") ? "" : " (default)", text_at(spec, "restartPolicy"),
	    mpijob_node_get(chosen, "restartPolicy") ? "" : " (default)");
	put_text(text_at(spec, "template.spec.containers[0].image"));
	const mpijob_node *limits =
	    mpijob_node_find(spec, "template.spec.containers[0].resources.limits");
	for (size_t i = 0; i < mpijob_node_count(limits); i++) {
		printf(", ");
		put_text(mpijob_node_key(limits, i));
		putchar(' ');
		put_text(mpijob_node_text(mpijob_node_at(limits, i))
			     ? mpijob_node_text(mpijob_node_at(limits, i))
			     : "");
	}
	putchar('\n');
}

static void put_spec(const struct described *this)
{
	const mpijob_node *given = mpijob_doc_root(mpijob_document(this->job));
	const mpijob_node *whole = mpijob_doc_root(mpijob_document(this->defaulted));

	put_replicas(this, "Launcher:", "Launcher");
	put_replicas(this, "Workers:", "Worker");
	for (size_t i = 0; i < sizeof(spec_rows) / sizeof(spec_rows[0]); i++) {
		const char *value = scalar(mpijob_node_find(whole, spec_rows[i].path));
		if (!value)
			continue;
		print_out("%-16s ", spec_rows[i].name);
		put_text(value);
		puts(mpijob_node_find(given, spec_rows[i].path) ? "" : " (default)");
	}
}

/* ---- status ---- */

static void put_counts(const mpijob_node *root, const char *role, const char *name)
{
	const mpijob_node *statuses = mpijob_node_find(root, "status.replicaStatuses");
	const mpijob_node *counts = mpijob_node_get(statuses, role);
	int64_t active = 0, succeeded = 0, failed = 0;

	mpijob_node_int(mpijob_node_get(counts, "active"), &active);
	mpijob_node_int(mpijob_node_get(counts, "succeeded"), &succeeded);
	mpijob_node_int(mpijob_node_get(counts, "failed"), &failed);
	if (counts)
		print_out("%-16s active %lld, succeeded %lld, failed %lld\n", name,
		    (long long)active, (long long)succeeded, (long long)failed);
}

static int put_conditions(const struct described *this, const mpijob_node *root)
{
	static const char *const headers[] = { "CONDITION", "STATUS", "AGE", "REASON", "MESSAGE" };
	const mpijob_node *conditions = mpijob_node_find(root, "status.conditions");
	struct table table = { 0 };
	char age[AGE_SIZE];

	if (mpijob_node_count(conditions) == 0)
		return 0;
	putchar('\n');
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(&table, headers[i]);
	for (size_t i = 0; i < mpijob_node_count(conditions); i++) {
		const mpijob_node *condition = mpijob_node_at(conditions, i);
		table_cell(&table, text_at(condition, "type"));
		table_cell(&table, text_at(condition, "status"));
		table_cell(&table,
		    age_text(text_at(condition, "lastTransitionTime"), this->now_s, age));
		table_cell(&table, text_at(condition, "reason"));
		table_cell(&table, text_at(condition, "message"));
	}
	int code = table_print(&table);
	table_free(&table);
	return code;
}

static int put_status(const struct described *this, const mpijob_node *root)
{
	int64_t begin, end;
	char length[AGE_SIZE];

	put_age(this, "Started:", text_at(root, "status.startTime"));
	put_age(this, "Completed:", text_at(root, "status.completionTime"));
	if (when_parse(text_at(root, "status.startTime"), &begin) == 0 &&
	    when_parse(text_at(root, "status.completionTime"), &end) == 0)
		put_row("Duration:", age_of_seconds(end - begin, length));
	put_counts(root, "Launcher", "Launcher pods:");
	put_counts(root, "Worker", "Worker pods:");
	return put_conditions(this, root);
}

/* ---- pods ---- */

/* Why the pod waits or has ended, as kubectl shows it. */
static const char *pod_reason(const mpijob_node *pod)
{
	const mpijob_node *statuses = mpijob_node_find(pod, "status.containerStatuses");
	const char *reason = text_at(pod, "status.reason");

	for (size_t i = 0; i < mpijob_node_count(statuses) && !*reason; i++) {
		reason = text_at(mpijob_node_at(statuses, i), "state.waiting.reason");
		if (!*reason)
			reason = text_at(mpijob_node_at(statuses, i), "state.terminated.reason");
	}
	return mpijob_node_find(pod, "metadata.deletionTimestamp") ? "Terminating" : reason;
}

static void pod_row(struct table *table, const struct described *this, const mpijob_node *pod)
{
	const mpijob_node *status = mpijob_node_find(pod, "status.containerStatuses[0]");
	int64_t restarts = 0, code = 0;
	char number[32], age[AGE_SIZE];

	table_cell(table, text_at(pod, "metadata.name"));
	table_cell(table, text_at(pod, "spec.nodeName"));
	table_cell(table, text_at(pod, "status.phase"));
	table_cell(table, mpijob_condition_find(pod, "Ready", "True") ? "yes" : "no");
	mpijob_node_int(mpijob_node_get(status, "restartCount"), &restarts);
	snprintf(number, sizeof(number), "%lld", (long long)restarts);
	table_cell(table, number);
	snprintf(number, sizeof(number), "%s", "");
	if (mpijob_node_int(mpijob_node_find(status, "state.terminated.exitCode"), &code) ||
	    mpijob_node_int(mpijob_node_find(status, "lastState.terminated.exitCode"), &code))
		snprintf(number, sizeof(number), "%lld", (long long)code);
	table_cell(table, number);
	table_cell(table, pod_reason(pod));
	table_cell(table, age_text(text_at(pod, "metadata.creationTimestamp"), this->now_s, age));
}

static int put_pods(const struct described *this)
{
	static const char *const headers[] = { "POD", "NODE", "PHASE", "READY", "RESTARTS", "EXIT",
		"REASON", "AGE" };
	const mpijob_node *items = items_of(this, "pods");
	struct table table = { 0 };

	if (!items)
		return 0;
	if (mpijob_node_count(items) == 0) {
		puts("\nNo pods.");
		return 0;
	}
	putchar('\n');
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(&table, headers[i]);
	for (size_t i = 0; i < mpijob_node_count(items); i++)
		pod_row(&table, this, mpijob_node_at(items, i));
	int code = table_print(&table);
	table_free(&table);
	return code;
}

/* ---- events ---- */

static const char *event_time(const mpijob_node *event)
{
	static const char *const paths[] = { "series.lastObservedTime", "lastTimestamp",
		"eventTime", "firstTimestamp" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (*text_at(event, paths[i]))
			return text_at(event, paths[i]);
	return "";
}

static int64_t event_count(const mpijob_node *event)
{
	int64_t count = 1;

	if (!mpijob_node_int(mpijob_node_find(event, "series.count"), &count))
		mpijob_node_int(mpijob_node_get(event, "count"), &count);
	return count;
}

static int is_same(const mpijob_node *a, const mpijob_node *b)
{
	return strcmp(text_at(a, "reason"), text_at(b, "reason")) == 0 &&
	       strcmp(text_at(a, "message"), text_at(b, "message")) == 0;
}

/* Equal Events about several pods are one row. */
static void event_row(struct table *table, const struct described *this, const mpijob_node *items,
    size_t at)
{
	const mpijob_node *event = mpijob_node_at(items, at), *last = event;
	int64_t count = event_count(event);
	size_t others = 0;
	char number[48], age[AGE_SIZE], *about = NULL;

	for (size_t i = 0; i < at; i++)
		if (is_same(mpijob_node_at(items, i), event))
			return;
	for (size_t i = at + 1; i < mpijob_node_count(items); i++) {
		if (!is_same(mpijob_node_at(items, i), event))
			continue;
		last = mpijob_node_at(items, i);
		count += event_count(last);
		others += strcmp(text_at(last, "involvedObject.name"),
			      text_at(event, "involvedObject.name")) != 0;
	}
	table_cell(table, age_text(event_time(last), this->now_s, age));
	snprintf(number, sizeof(number), "%lld", (long long)count);
	table_cell(table, number);
	table_cell(table, text_at(event, "type"));
	table_cell(table, text_at(event, "reason"));
	snprintf(number, sizeof(number), others ? " and %zu more" : "%.0zu", others);
	if (asprintf(&about, "%s/%s%s", text_at(event, "involvedObject.kind"),
		text_at(event, "involvedObject.name"), number) < 0)
		about = NULL;
	table_cell(table, about ? about : "");
	table_cell(table, text_at(event, "message"));
	free(about);
}

static int put_events(const struct described *this)
{
	static const char *const headers[] = { "LAST", "COUNT", "TYPE", "REASON", "ABOUT",
		"MESSAGE" };
	const mpijob_node *items = items_of(this, "events");
	struct table table = { 0 };

	if (!items || this->arguments->show_events < 0)
		return 0;
	if (mpijob_node_count(items) == 0) {
		puts("\nNo events.");
		return 0;
	}
	putchar('\n');
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(&table, headers[i]);
	for (size_t i = 0; i < mpijob_node_count(items); i++)
		event_row(&table, this, items, i);
	int code = table_print(&table);
	table_free(&table);
	return code;
}

/* ---- causes ---- */

static void put_causes(const struct described *this)
{
	puts(mpijob_diag_at(this->causes, 0) ? "\nCauses:" : "\nNothing seems to be wrong.");
	for (size_t i = 0; mpijob_diag_at(this->causes, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(this->causes, i);
		const struct mpijob_finding_kind *kind = mpijob_finding_kind_find(finding->id);
		fputs("  ", stdout);
		mpijob_finding_write(finding, file_write, stdout);
		print_out(" [%s]\n", finding->id);
		if (kind)
			print_out("    %s\n", kind->advice);
	}
}

static void put_missing(const struct described *this)
{
	const mpijob_node *missing = mpijob_node_get(mpijob_doc_root(this->evidence), "missing");

	if (mpijob_node_count(missing))
		puts("\nWhat could not be read:");
	for (size_t i = 0; i < mpijob_node_count(missing); i++) {
		print_out("  %s: ", mpijob_node_key(missing, i));
		put_text(mpijob_node_string(mpijob_node_at(missing, i)));
		putchar('\n');
	}
}

static int put_all(const struct described *this)
{
	const mpijob_node *root = mpijob_doc_root(mpijob_document(this->job));

	put_metadata(this, root);
	put_spec(this);
	int code = this->config ? effective_print(this->config, this->job) : 0;
	if (code == 0)
		code = put_status(this, root);
	if (code == 0)
		code = put_pods(this);
	if (code == 0)
		code = put_events(this);
	put_causes(this);
	put_missing(this);
	return code;
}

static int describe(struct described *this, const struct chosen_job *job)
{
	struct connection *connection = this->connection;

	this->now_s = mpijob__base_clock_wall_ms() / 1000;
	this->causes = mpijob_diag_new();
	int code = this->causes ? mpijob_run_diagnose(connection->client, job->namespace_,
				      job->name, NULL, &this->job, &this->evidence, this->causes)
				: MPIJOB_ERR_NOMEM;
	if (code < 0) { /* the findings are why the call failed, not causes about the job */
		mpijob_diag *failure = this->causes;
		this->causes = connection->diag;
		connection->diag = failure;
	} else {
		this->defaulted = mpijob_clone(this->job);
		code = this->defaulted ? 0 : MPIJOB_ERR_NOMEM;
	}
	/* A job that cannot be defaulted is shown as it is. */
	if (code == 0 && mpijob_default(this->defaulted, NULL, NULL) == MPIJOB_ERR_NOMEM)
		code = MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = this->arguments->output ? findings_print_json(this->causes) : put_all(this);
	mpijob_doc_free(this->evidence);
	mpijob_free(this->job);
	mpijob_free(this->defaulted);
	mpijob_diag_free(this->causes);
	return connection_report(connection, code);
}

static int describe_all(const struct arguments *arguments, struct connection *connection,
    const struct chosen *chosen, const mpijob_operator_config *config)
{
	int code = 0;

	for (size_t i = 0; i < chosen->count; i++) {
		struct described this = { .arguments = arguments,
			.connection = connection,
			.config = config };
		if (i > 0 && !arguments->output)
			puts("\n");
		int one = describe(&this, &chosen->jobs[i]);
		code = code ? code : one;
		if (one == MPIJOB_ERR_CANCELLED || one == MPIJOB_ERR_NOMEM)
			break;
	}
	return connection_exit(connection, code);
}

static int check(const struct arguments *arguments)
{
	if (!arguments->output)
		return chosen_check_some(arguments);
	if (strcmp(arguments->output, "json") == 0 &&
	    arguments->operands.count + arguments->files.count == 1)
		return chosen_check_some(arguments);
	print_to(stderr, "mpijob: -o %s: describe prints the findings of one job as json\n",
	    arguments->output);
	return EXIT_USAGE;
}

static int read_config(const char *path, mpijob_operator_config **out)
{
	mpijob_diag *diag = mpijob_diag_new();
	int code = diag ? effective_read(path, out, diag) : MPIJOB_ERR_NOMEM;

	findings_print(diag, stderr);
	if (code)
		failure_print(diag, code);
	mpijob_diag_free(diag);
	return code ? EXIT_FINDINGS : 0;
}

int describe_command(const struct arguments *arguments)
{
	struct connection connection = { 0 };
	struct chosen chosen = { 0 };
	mpijob_operator_config *config = NULL;

	int code = check(arguments);
	if (code == 0 && arguments->operator_config)
		code = read_config(arguments->operator_config, &config);
	if (code == 0)
		code = connection_open(&connection, arguments);
	if (code == 0) {
		connection_catch_signals(&connection);
		code = chosen_find(&connection, arguments, &chosen);
	}
	if (code == 0)
		code = describe_all(arguments, &connection, &chosen, config);
	mpijob_operator_config_free(config);
	chosen_free(&chosen);
	connection_close(&connection);
	return code;
}
