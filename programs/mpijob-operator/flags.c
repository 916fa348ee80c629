/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of all flags of the daemon. Flags of mpi-operator v0.8.2 keep their names, defaults and
 * meaning, so that a Deployment for it still works. A flag without a meaning here is accepted and
 * reported once. A flag has one dash or two, and its value follows after '=' or as the next word,
 * as in Go's flag package.
 */
#include "flags.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpijob/mpijob.h>

#include "address.h"
#include "base/api.h"
#include "base/duration.h"

#define A_DAY_MS   86400000
#define AT(member) offsetof(struct settings, member)

const struct flag_row flag_rows[] = {
	{ "kubeConfig", "kubeconfig", "FILE", FLAG_TEXT, NULL, AT(kubeconfig),
	    "Kubeconfig to read; $KUBECONFIG wins over it. Without both, and without --master, "
	    "the service account of the operator's pod is used." },
	{ "master", NULL, "URL", FLAG_TEXT, NULL, AT(master),
	    "Address of the API server; wins over that of the kubeconfig." },
	{ "namespace", NULL, "NAMESPACE", FLAG_TEXT, "$KUBEFLOW_NAMESPACE", AT(namespace_),
	    "The namespace whose MPIJobs are reconciled; empty: all." },
	{ "lock-namespace", NULL, "NAMESPACE", FLAG_TEXT, MPIJOB__BASE_API_OPERATOR_NAME,
	    AT(lock_namespace),
	    "Namespace of the Lease mpi-operator, which decides which operator leads." },
	{ "leader-elect", NULL, NULL, FLAG_SWITCH, "true", AT(leader_elect),
	    "Reconcile only while holding the Lease. If false, nothing prevents two operators "
	    "from reconciling at the same time." },
	{ "gang-scheduling", NULL, "NAME", FLAG_TEXT, NULL, AT(gang_scheduling),
	    "Gang scheduler: volcano, or the scheduler name of scheduler-plugins." },
	{ "cluster-domain", NULL, "DOMAIN", FLAG_TEXT, NULL, AT(cluster_domain),
	    "DNS domain of the cluster for host names; by default they end with .svc." },
	{ "kube-api-qps", NULL, "NUMBER", FLAG_NUMBER, NULL, AT(qps),
	    "Maximum number of requests per second, without watches and the requests for the "
	    "Lease. By default there is no limit, and the server's priority and fairness "
	    "applies. As in other clients of Kubernetes, 0 is 5, and a negative number means no "
	    "limit." },
	{ "kube-api-burst", NULL, "NUMBER", FLAG_NUMBER, NULL, AT(burst),
	    "With --kube-api-qps: number of requests that may be sent at once after an idle "
	    "time; default, and for 0: 10." },
	{ "launcher-hold", NULL, "DURATION", FLAG_DURATION, "4s", AT(launcher_hold_ms),
	    "A launcher starts when the DNS names of its workers resolve, at the latest this "
	    "time after all workers are ready, or 10s after they were created if they are not "
	    "ready by then; 0: at once." },
	{ "max-writes", NULL, "NUMBER", FLAG_NUMBER, "16", AT(max_writes),
	    "Maximum number of concurrent writes." },
	{ "monitoring-port", NULL, "PORT", FLAG_NUMBER, "0", AT(monitoring_port),
	    "Port of /metrics and /shadow; 0: none, unless --monitoring-address has a port." },
	{ "monitoring-address", NULL, "HOST[:PORT]", FLAG_TEXT, NULL, AT(monitoring_address),
	    "Address for --monitoring-port; default: all addresses." },
	{ "health-address", NULL, "[HOST]:PORT", FLAG_TEXT, ":8080", AT(health_address),
	    "Address of /healthz and /readyz; empty: none." },
	{ "shadow", NULL, NULL, FLAG_SWITCH, "false", AT(shadow),
	    "Plan every job, execute nothing, and report the planned actions at /shadow. Needs "
	    "no Lease, and only read rights." },
	{ "config", NULL, "FILE", FLAG_TEXT, NULL, AT(config),
	    "Defaults and limits for each namespace, and the annotations that tenants may use: "
	    "docs/operator-config.md. The file is read again when it changes, and after SIGHUP." },
	{ "grace-period", NULL, "DURATION", FLAG_DURATION, "25s", AT(grace_ms),
	    "At the end, wait at most this time for writes in flight." },
	{ "log-format", NULL, "FORMAT", FLAG_TEXT, "text", AT(log_format),
	    "text, or json with one object per line." },
	{ "version", NULL, NULL, FLAG_SWITCH, "false", AT(version), "Print the version." },
	{ "man", NULL, NULL, FLAG_SWITCH, "false", AT(man), "Print the manual page in roff." },
	{ "help", "h", NULL, FLAG_SWITCH, "false", AT(help), "Print this help." },
	{ "threadiness", NULL, "NUMBER", FLAG_IGNORED, NULL, 0, "The operator has one thread." },
	{ "controller-queue-rate-limit", NULL, "NUMBER", FLAG_IGNORED, NULL, 0,
	    "The queue has no rate limit." },
	{ "controller-queue-burst", NULL, "NUMBER", FLAG_IGNORED, NULL, 0,
	    "The queue has no rate limit." },
	{ "v", NULL, "LEVEL", FLAG_NUMBER, "0", AT(verbosity),
	    "4 and above: log each action with its reason." },
	{ "vmodule", NULL, "PATTERNS", FLAG_IGNORED, NULL, 0,
	    "The log has no such patterns; see --v." },
	{ "stderrthreshold", NULL, "LEVEL", FLAG_IGNORED, NULL, 0,
	    "The log is written to standard error." },
	{ "alsologtostderrthreshold", NULL, "LEVEL", FLAG_IGNORED, NULL, 0,
	    "The log is written to standard error." },
	{ "log_backtrace_at", NULL, "PLACE", FLAG_IGNORED, NULL, 0,
	    "The log has no stack traces." },
	{ "log_dir", NULL, "DIRECTORY", FLAG_IGNORED, NULL, 0,
	    "The log is written to standard error." },
	{ "log_file", NULL, "FILE", FLAG_IGNORED, NULL, 0,
	    "The log is written to standard error." },
	{ "log_file_max_size", NULL, "MEGABYTES", FLAG_IGNORED, NULL, 0,
	    "The log is written to standard error." },
	{ "logtostderr", NULL, NULL, FLAG_IGNORED_SWITCH, NULL, 0,
	    "The log is written to standard error." },
	{ "alsologtostderr", NULL, NULL, FLAG_IGNORED_SWITCH, NULL, 0,
	    "The log is written to standard error." },
	{ "legacy_stderr_threshold_behavior", NULL, NULL, FLAG_IGNORED_SWITCH, NULL, 0,
	    "The log is written to standard error." },
	{ "one_output", NULL, NULL, FLAG_IGNORED_SWITCH, NULL, 0,
	    "The log is written to standard error." },
	{ "add_dir_header", NULL, NULL, FLAG_IGNORED_SWITCH, NULL, 0,
	    "Log lines contain no source files." },
	{ "skip_headers", NULL, NULL, FLAG_IGNORED_SWITCH, NULL, 0, "See --log-format." },
	{ "skip_log_headers", NULL, NULL, FLAG_IGNORED_SWITCH, NULL, 0, "See --log-format." },
	{ NULL, NULL, NULL, FLAG_SWITCH, NULL, 0, NULL },
};

/* ---- values ---- */

static int read_switch(const char *text, int64_t *out)
{
	static const char *const words[2][7] = { { "0", "f", "F", "false", "FALSE", "False", NULL },
		{ "1", "t", "T", "true", "TRUE", "True", NULL } };

	for (int value = 0; value < 2; value++)
		for (const char *const *word = words[value]; *word; word++)
			if (strcmp(text, *word) == 0) {
				*out = value;
				return 0;
			}
	return -1;
}

static int read_number(const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	long long number = strtoll(text, &end, 0);
	if (errno || end == text || *end || *text == ' ' || number < INT32_MIN ||
	    number > INT32_MAX)
		return -1;
	*out = number;
	return 0;
}

static int read_duration(const char *text, int64_t *out)
{
	int64_t ms;

	if (mpijob__base_duration_parse(text, &ms) || ms > INT64_C(1000) * INT32_MAX)
		return -1;
	*out = ms;
	return 0;
}

static const char *kind_word(enum flag_kind kind)
{
	return kind == FLAG_NUMBER     ? "a number"
	       : kind == FLAG_DURATION ? "a duration as 90s or 5m"
				       : "true or false";
}

static int ignore(struct settings *settings, char *word)
{
	char **more = realloc(settings->ignored, (settings->ignored_count + 1) * sizeof(*more));

	if (!more) {
		fputs("mpijob-operator: out of memory\n", stderr);
		return -1;
	}
	settings->ignored = more;
	more[settings->ignored_count++] = word;
	return 0;
}

static int read_value(const struct flag_row *row, const char *text, struct settings *settings)
{
	char *place = (char *)settings + row->offset;
	int64_t *number = (int64_t *)(void *)place;

	switch (row->kind) {
	case FLAG_TEXT: *(const char **)(void *)place = text; return 0;
	case FLAG_SWITCH: return read_switch(text, number);
	case FLAG_NUMBER: return read_number(text, number);
	case FLAG_DURATION: return read_duration(text, number);
	default: return 0;
	}
}

/* ---- the command line ---- */

static const struct flag_row *find_flag(const char *name, size_t len)
{
	for (const struct flag_row *row = flag_rows; row->name; row++)
		if ((strlen(row->name) == len && memcmp(row->name, name, len) == 0) ||
		    (row->alias && strlen(row->alias) == len && memcmp(row->alias, name, len) == 0))
			return row;
	return NULL;
}

static int is_switch(const struct flag_row *row)
{
	return row->kind == FLAG_SWITCH || row->kind == FLAG_IGNORED_SWITCH;
}

static void set_defaults(struct settings *settings)
{
	settings->qps = settings->burst = NOT_GIVEN;
	for (const struct flag_row *row = flag_rows; row->name; row++)
		if (row->default_ && row->default_[0] != '$')
			(void)read_value(row, row->default_, settings);
		else if (row->default_)
			(void)read_value(row, getenv(row->default_ + 1), settings);
}

static int put(void *stream, const char *data, size_t len)
{
	return fwrite(data, 1, len, stream) == len ? 0 : MPIJOB_ERR_IO;
}

/* Print one line to standard error; text from the command line is escaped. */
__attribute__((format(printf, 1, 2))) static void print_error(const char *format, ...)
{
	char *text = NULL;
	va_list values;

	va_start(values, format);
	int len = vasprintf(&text, format, values);
	va_end(values);
	fputs("mpijob-operator: ", stderr);
	if (len >= 0)
		(void)mpijob_escaped_write(text, (size_t)len, put, stderr);
	fputc('\n', stderr);
	if (len >= 0)
		free(text);
}

/* A flag with the name of a feature. */
static int set_feature(const struct mpijob_feature *feature, const char *value,
    struct settings *settings)
{
	mpijob_diag *diag = mpijob_diag_new();
	int rc = diag ? mpijob_features_set(&settings->features, feature->name, value, diag)
		      : MPIJOB_ERR_NOMEM;

	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		print_error("--%s: %s", feature->name, mpijob_diag_at(diag, i)->message);
	if (rc && mpijob_diag_count(diag, 0) == 0)
		print_error("--%s: %s", feature->name, mpijob_error_text(rc));
	mpijob_diag_free(diag);
	return rc;
}

/* Find a feature; the name has no terminating zero. */
static const struct mpijob_feature *find_feature(const char *name, size_t len)
{
	for (size_t i = 0; mpijob_feature_at(i); i++) {
		const struct mpijob_feature *feature = mpijob_feature_at(i);
		if (strlen(feature->name) == len && memcmp(feature->name, name, len) == 0)
			return feature;
	}
	return NULL;
}

/* Parse the flag at argv[i]. Returns the number of words that it used, or -1. */
static int parse_flag(char **argv, int i, struct settings *settings)
{
	char *word = argv[i];
	const char *name = word + (word[1] == '-' ? 2 : 1);
	size_t len = strcspn(name, "=");
	const struct flag_row *row = find_flag(name, len);
	const struct mpijob_feature *feature = row ? NULL : find_feature(name, len);
	const char *value = name[len] ? name + len + 1 : NULL;
	int words = 1;

	if (!row && !feature) {
		print_error("unknown flag %s; see mpijob-operator --help", word);
		return -1;
	}
	if (!value && (row ? is_switch(row) : feature->kind == MPIJOB_FEATURE_SWITCH))
		value = "true";
	if (!value) {
		value = argv[i + 1];
		words = 2;
	}
	if (!value) {
		print_error("%s: a value is missing", word);
		return -1;
	}
	if (feature)
		return set_feature(feature, value, settings) ? -1 : words;
	if (row->kind == FLAG_IGNORED || row->kind == FLAG_IGNORED_SWITCH)
		return ignore(settings, word) ? -1 : words;
	if (read_value(row, value, settings)) {
		print_error("--%s: '%s' is not %s", row->name, value, kind_word(row->kind));
		return -1;
	}
	return words;
}

/* The port must be in exactly one of two flags. NULL, or the error. */
static const char *check_monitoring(const struct settings *settings)
{
	const char *address = settings->monitoring_address ? settings->monitoring_address : "";

	if (settings->monitoring_port < 0 || settings->monitoring_port > 65535)
		return "--monitoring-port: use 0 to 65535";
	if (settings->monitoring_port && address_has_port(address))
		return "--monitoring-address: it has a port; omit it or --monitoring-port";
	if (*address && !settings->monitoring_port && !address_has_port(address))
		return "--monitoring-address: it has no port: write HOST:PORT, or give "
		       "--monitoring-port";
	return NULL;
}

static int check(const struct settings *settings)
{
	const char *error = check_monitoring(settings);

	if (strcmp(settings->log_format, "text") != 0 && strcmp(settings->log_format, "json") != 0)
		error = "--log-format: use text or json";
	else if (settings->max_writes < 1)
		error = "--max-writes: use 1 or more";
	else if (settings->launcher_hold_ms < 0 || settings->launcher_hold_ms > A_DAY_MS)
		error = "--launcher-hold: use 0 to 24h";
	else if (settings->burst < 0 && settings->burst != NOT_GIVEN)
		error = "--kube-api-burst: use 0 or more";
	else if (settings->leader_elect && !settings->shadow && !*settings->lock_namespace)
		error = "--lock-namespace: name a namespace";
	if (error)
		print_error("%s", error);
	return error ? -1 : 0;
}

int flags_parse(int argc, char **argv, struct settings *settings)
{
	*settings = (struct settings){ .features = MPIJOB_FEATURES_INIT };
	set_defaults(settings);
	for (int i = 1; i < argc;) {
		if (argv[i][0] != '-' || !argv[i][1] || strcmp(argv[i], "--") == 0) {
			print_error("%s: only flags are allowed", argv[i]);
			return -1;
		}
		int words = parse_flag(argv, i, settings);
		if (words < 0)
			return -1;
		i += words;
	}
	return settings->help || settings->man || settings->version ? 0 : check(settings);
}

void flags_free(struct settings *settings)
{
	free(settings->ignored);
	settings->ignored = NULL;
	settings->ignored_count = 0;
}

/* ---- help ---- */

static int is_ignored(const struct flag_row *row)
{
	return row->kind == FLAG_IGNORED || row->kind == FLAG_IGNORED_SWITCH;
}

static void wrap(const char *text, size_t indent, size_t width)
{
	size_t column = indent;

	printf("%*s", (int)indent, "");
	while (*text) {
		size_t word = strcspn(text, " ");
		if (column > indent && column + 1 + word > width) {
			printf("\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)word, text);
		column += word;
		text += word + (text[word] == ' ');
	}
	putchar('\n');
}

static void print_flag(const struct flag_row *row)
{
	printf("  --%s%s%s%s", row->name, row->alias ? ", --" : "", row->alias ? row->alias : "",
	    row->value ? " " : "");
	printf("%s", row->value ? row->value : "");
	if (row->default_ && !is_switch(row))
		printf(" (%s)", row->default_);
	else if (row->default_ && strcmp(row->default_, "true") == 0)
		printf(" (true)");
	putchar('\n');
	wrap(row->help, 6, 100);
}

static const char *feature_value(const struct mpijob_feature *feature)
{
	return feature->kind == MPIJOB_FEATURE_SWITCH     ? ""
	       : feature->kind == MPIJOB_FEATURE_DURATION ? " DURATION"
							  : " NUMBER";
}

void flags_print_help(void)
{
	puts("mpijob-operator: runs the MPIJobs (kubeflow.org/v2beta1) of a Kubernetes "
	     "cluster\n\nUsage: mpijob-operator [FLAG...]\n\nFlags have one dash or two. The "
	     "value follows after '=' or as the next word. Defaults are in parentheses:");
	for (const struct flag_row *row = flag_rows; row->name; row++)
		if (!is_ignored(row))
			print_flag(row);
	puts("\nOptional features; see docs/options.md:");
	for (size_t i = 0; mpijob_feature_at(i); i++) {
		const struct mpijob_feature *feature = mpijob_feature_at(i);
		printf("  --%s%s\n", feature->name, feature_value(feature));
		wrap(feature->summary, 6, 100);
	}
	puts("\nAccepted for compatibility with Deployments of mpi-operator, without effect:");
	for (const struct flag_row *row = flag_rows; row->name; row++)
		if (is_ignored(row))
			print_flag(row);
}

/* Print text for roff. */
static void roff(const char *text)
{
	for (const char *at = text; *at; at++) {
		if (*at == '\\')
			fputs("\\e", stdout);
		else if (*at == '-')
			fputs("\\-", stdout);
		else if ((*at == '.' || *at == '\'') && at == text)
			printf("\\&%c", *at);
		else
			putchar(*at);
	}
}

static void roff_flag(const struct flag_row *row)
{
	fputs(".TP\n.B \\-\\-", stdout);
	roff(row->name);
	if (row->alias) {
		fputs(", \\-\\-", stdout);
		roff(row->alias);
	}
	if (row->value)
		printf(" \\fI%s\\fR", row->value);
	putchar('\n');
	roff(row->help);
	if (row->default_ && strcmp(row->default_, "false") != 0) {
		fputs(" Default: ", stdout);
		roff(row->default_);
		putchar('.');
	}
	putchar('\n');
}

void flags_print_manual(void)
{
	printf(".TH MPIJOB\\-OPERATOR 8 \"\" \"libmpijob %s\" \"System Administration\"\n",
	    mpijob_version());
	puts(".SH NAME\nmpijob\\-operator \\- run the MPIJobs of a Kubernetes cluster");
	puts(".SH SYNOPSIS\n.B mpijob\\-operator\n[\\fIFLAG\\fR...]");
	puts(".SH DESCRIPTION\nWatches the MPIJobs (kubeflow.org/v2beta1) of a cluster, and "
	     "creates, observes and cleans up the objects that they own.\nIt is a drop\\-in "
	     "replacement for mpi\\-operator v0.8.2: flags, Lease, health check, metrics, "
	     "objects, conditions and Events\nare the same, so that each operator can replace "
	     "the other while jobs run.");
	puts(".PP\nSeveral replicas may run at once. One holds the Lease\n.B "
	     "mpi\\-operator\nand reconciles. The others watch, and take over when it stops.");
	puts(".SH FLAGS\nFlags have one dash or two. The value follows after '=' or as the next "
	     "word.");
	for (const struct flag_row *row = flag_rows; row->name; row++)
		if (!is_ignored(row) && row->offset != AT(help))
			roff_flag(row);
	puts(".SH FEATURES\nThese features are off by default. Each has a flag with its name.");
	for (size_t i = 0; mpijob_feature_at(i); i++) {
		const struct mpijob_feature *feature = mpijob_feature_at(i);
		fputs(".TP\n.B \\-\\-", stdout);
		roff(feature->name);
		printf("\\fI%s\\fR\n", feature_value(feature));
		roff(feature->summary);
		putchar('\n');
	}
	puts(".SH FLAGS WITHOUT EFFECT\nAccepted for compatibility with Deployments of "
	     "mpi\\-operator. Each is reported once in the log.");
	for (const struct flag_row *row = flag_rows; row->name; row++)
		if (is_ignored(row))
			roff_flag(row);
	puts(".SH ENVIRONMENT\n.TP\n.B KUBECONFIG\nKubeconfig files, separated by colons; wins "
	     "over\n.BR \\-\\-kubeConfig .\n"
	     ".TP\n.B KUBEFLOW_NAMESPACE\nDefault of\n.BR \\-\\-namespace .");
	puts(".SH ENDPOINTS\n.TP\n.B /healthz\nFails if this operator leads and has not renewed "
	     "the Lease for 20 seconds longer than the Lease duration.\n.TP\n.B /readyz\nFails "
	     "until the first lists have arrived.\n.TP\n.B /metrics\nFor Prometheus; on "
	     "\\-\\-monitoring\\-port.\n.TP\n.B /shadow\nOne JSON object per line for each "
	     "action that \\-\\-shadow planned; see\n.BR mpijob (1),\nshadow\\-report.");
	puts(".SH SIGNALS\n.TP\n.B SIGTERM, SIGINT\nStop reconciling, wait for writes in "
	     "flight, release the Lease, and exit with 0. A second signal ends the process at "
	     "once.\n.TP\n.B SIGHUP\nRead the file of \\-\\-config again.");
	puts(".SH EXIT STATUS\n0 after SIGTERM or SIGINT; 1 if the operator could not start: no "
	     "configuration, no CRD, an address in use; 2 if a flag is invalid.");
	puts(".SH SEE ALSO\n.BR mpijob (1)");
}
