/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics: one table of families, each with the function that writes its samples.
 *
 * Counters and histograms are updated when an event occurs; gauges (jobs by phase, the queue, the
 * watches) are computed when the metrics are written. The number of series is bounded, except for
 * mpi_operator_job_info, of which the reference has one series for each job.
 */
#include "operator/metrics.h"

#include "base/api.h"
#include "base/clock.h"
#include "operator/operator.h"
#include "operator/write.h"

#include <inttypes.h>
#include <string.h>

static const char *const kinds[MPIJOB__OPERATOR_METRICS_KINDS] = {
	MPIJOB__BASE_API_KIND,
	"Job",
	"Pod",
	"Service",
	"ConfigMap",
	"PodGroup",
	"PriorityClass",
	"Secret",
	"NetworkPolicy",
	"Event",
	"other",
};

static const char *const actions[MPIJOB__OPERATOR_METRICS_ACTIONS] = {
	[MPIJOB__OPERATOR_ACTION_GET] = "get",
	[MPIJOB_ACTION_CREATE] = "create",
	[MPIJOB_ACTION_PATCH] = "patch",
	[MPIJOB_ACTION_PATCH_STATUS] = "patch status",
	[MPIJOB_ACTION_DELETE] = "delete",
};

static const char *const verbs[MPIJOB__OPERATOR_METRICS_VERBS] = { "GET", "POST", "PATCH", "PUT",
	"DELETE", "WATCH", "other" };

static const char *const phases[MPIJOB__OPERATOR_PHASES] = {
	[MPIJOB__OPERATOR_PHASE_NEW] = "New",
	[MPIJOB__OPERATOR_PHASE_CREATED] = "Created",
	[MPIJOB__OPERATOR_PHASE_SUSPENDED] = "Suspended",
	[MPIJOB__OPERATOR_PHASE_RUNNING] = "Running",
	[MPIJOB__OPERATOR_PHASE_SUCCEEDED] = "Succeeded",
	[MPIJOB__OPERATOR_PHASE_FAILED] = "Failed",
	[MPIJOB__OPERATOR_PHASE_SKIPPED] = "SetAside",
};

static const struct {
	int64_t us;
	const char *text;
} bounds[MPIJOB__OPERATOR_METRICS_BOUNDS] = {
	{ 100, "0.0001" },
	{ 500, "0.0005" },
	{ 1000, "0.001" },
	{ 5000, "0.005" },
	{ 10000, "0.01" },
	{ 50000, "0.05" },
	{ 100000, "0.1" },
	{ 500000, "0.5" },
	{ 1000000, "1" },
	{ 5000000, "5" },
	{ 10000000, "10" },
	{ 30000000, "30" },
};

/* ---- count ---- */

size_t mpijob__operator_metrics_kind(const char *kind)
{
	size_t i = 0;

	while (i < MPIJOB__OPERATOR_METRICS_KINDS - 1 && (!kind || strcmp(kinds[i], kind) != 0))
		i++;
	return i;
}

const char *mpijob__operator_metrics_verb(int32_t action)
{
	return action >= 0 && action < MPIJOB__OPERATOR_METRICS_ACTIONS ? actions[action] : "other";
}

void mpijob__operator_histogram_add(struct mpijob__operator_histogram *histogram, int64_t us)
{
	size_t i = 0;

	while (i < MPIJOB__OPERATOR_METRICS_BOUNDS && us > bounds[i].us)
		i++;
	histogram->buckets[i]++;
	histogram->sum_us += us > 0 ? (uint64_t)us : 0;
}

static void count_failure(struct mpijob__operator_metrics *metrics, const char *verb, int status)
{
	struct mpijob__operator_failure *place = metrics->failures;

	for (size_t i = 0; i < MPIJOB__OPERATOR_METRICS_CODES - 1 && place->verb; i++, place++)
		if (place->status == status && strcmp(place->verb, verb) == 0)
			break;
	if (place == &metrics->failures[MPIJOB__OPERATOR_METRICS_CODES - 1]) {
		verb = "other";
		status = 0;
	}
	place->verb = verb;
	place->status = status;
	place->count++;
}

void mpijob__operator_metrics_request(struct mpijob__operator_metrics *metrics,
    const struct mpijob_request_stats *stats)
{
	const char *verb = stats->streaming ? "WATCH" : stats->method;
	size_t i = 0;

	while (i < MPIJOB__OPERATOR_METRICS_VERBS - 1 && strcmp(verbs[i], verb) != 0)
		i++;
	/* The duration of a watch is not a latency. */
	if (!stats->streaming)
		mpijob__operator_histogram_add(&metrics->requests[i], stats->took_ms * 1000);
	if (stats->code)
		count_failure(metrics, verbs[i], stats->status);
}

/* ---- write ---- */

/* The text of all samples, and the first failure. */
struct sheet {
	const mpijob_operator *operator_;
	const struct mpijob__operator_metrics *metrics;
	mpijob_text text;
	int rc;
};

static void put(struct sheet *sheet, const char *format, ...) MPIJOB__BASE_PRINTF(2, 3);

static void put(struct sheet *sheet, const char *format, ...)
{
	va_list args;

	if (sheet->rc)
		return;
	va_start(args, format);
	sheet->rc = mpijob__base_text_vprintf(&sheet->text, format, args);
	va_end(args);
}

static void put_label(struct sheet *sheet, const char *name, const char *value, const char *behind)
{
	put(sheet, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n')
			put(sheet, "\\n");
		else if (*value == '"' || *value == '\\')
			put(sheet, "\\%c", *value);
		else
			put(sheet, "%c", *value);
	}
	put(sheet, "\"%s", behind);
}

static void put_seconds(struct sheet *sheet, int64_t us)
{
	put(sheet, "%" PRId64 ".%06d\n", us / 1000000, (int)(us % 1000000));
}

/* `labels` is "" or `name="value"`. */
static void put_histogram(struct sheet *sheet, const char *name, const char *labels,
    const struct mpijob__operator_histogram *histogram)
{
	const char *comma = *labels ? "," : "", *open = *labels ? "{" : "",
		   *close = *labels ? "}" : "";
	uint64_t count = 0;

	for (size_t i = 0; i < MPIJOB__OPERATOR_METRICS_BOUNDS; i++) {
		count += histogram->buckets[i];
		put(sheet, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", name, labels, comma,
		    bounds[i].text, count);
	}
	count += histogram->buckets[MPIJOB__OPERATOR_METRICS_BOUNDS];
	put(sheet, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, labels, comma, count);
	put(sheet, "%s_sum%s%s%s ", name, open, labels, close);
	put_seconds(sheet, (int64_t)histogram->sum_us);
	put(sheet, "%s_count%s%s%s %" PRIu64 "\n", name, open, labels, close, count);
}

static void put_number(struct sheet *sheet, const char *name, uint64_t value)
{
	put(sheet, "%s %" PRIu64 "\n", name, value);
}

static void created(struct sheet *sheet, const char *name)
{
	put_number(sheet, name, sheet->metrics->created);
}

static void successful(struct sheet *sheet, const char *name)
{
	put_number(sheet, name, sheet->metrics->succeeded);
}

static void failed(struct sheet *sheet, const char *name)
{
	put_number(sheet, name, sheet->metrics->failed);
}

static void visit_info(void *user, const struct mpijob__operator_job *job)
{
	struct sheet *sheet = user;
	mpijob_text launcher = { 0 };

	if (sheet->rc || !job->cache.had_launcher)
		return;
	sheet->rc = mpijob_child_name_write(job->name, MPIJOB_ROLE_LAUNCHER, -1, mpijob_text_write,
	    &launcher);
	put(sheet, "mpi_operator_job_info{");
	put_label(sheet, "launcher", mpijob_text_data(&launcher), ",");
	put_label(sheet, "namespace", job->namespace_, "} 1\n");
	mpijob__base_text_release(&launcher);
}

static void job_info(struct sheet *sheet, const char *name)
{
	(void)name;
	mpijob__operator_jobs_visit(sheet->operator_, visit_info, sheet);
}

static void visit_phase(void *user, const struct mpijob__operator_job *job)
{
	size_t *counts = user;

	counts[mpijob__operator_job_phase(job)]++;
}

static void jobs(struct sheet *sheet, const char *name)
{
	size_t counts[MPIJOB__OPERATOR_PHASES] = { 0 };

	mpijob__operator_jobs_visit(sheet->operator_, visit_phase, counts);
	for (size_t i = 0; i < MPIJOB__OPERATOR_PHASES; i++)
		put(sheet, "%s{phase=\"%s\"} %zu\n", name, phases[i], counts[i]);
}

static void synced(struct sheet *sheet, const char *name)
{
	put_number(sheet, name, (uint64_t)mpijob_operator_synced(sheet->operator_));
}

static void depth(struct sheet *sheet, const char *name)
{
	put_number(sheet, name, sheet->operator_->queue.queued);
}

static void age(struct sheet *sheet, const char *name)
{
	int64_t now_ms = mpijob__base_clock_monotonic_ms(),
		since = mpijob__operator_queue_oldest_ms(&sheet->operator_->queue);

	put(sheet, "%s ", name);
	put_seconds(sheet, since < now_ms ? (now_ms - since) * 1000 : 0);
}

static void waited(struct sheet *sheet, const char *name)
{
	put_histogram(sheet, name, "", &sheet->metrics->waited);
}

static void planned(struct sheet *sheet, const char *name)
{
	put_histogram(sheet, name, "", &sheet->metrics->planned);
}

static void requests(struct sheet *sheet, const char *name)
{
	static const char *const labels[MPIJOB__OPERATOR_METRICS_VERBS] = {
		"verb=\"GET\"",
		"verb=\"POST\"",
		"verb=\"PATCH\"",
		"verb=\"PUT\"",
		"verb=\"DELETE\"",
		NULL,
		NULL,
	};

	for (size_t i = 0; i < MPIJOB__OPERATOR_METRICS_VERBS; i++)
		if (labels[i])
			put_histogram(sheet, name, labels[i], &sheet->metrics->requests[i]);
}

static void request_errors(struct sheet *sheet, const char *name)
{
	for (size_t i = 0; i < MPIJOB__OPERATOR_METRICS_CODES && sheet->metrics->failures[i].verb;
	     i++) {
		const struct mpijob__operator_failure *failure = &sheet->metrics->failures[i];

		if (failure->status)
			put(sheet, "%s{code=\"%d\",verb=\"%s\"} %" PRIu64 "\n", name,
			    failure->status, failure->verb, failure->count);
		else
			put(sheet, "%s{code=\"none\",verb=\"%s\"} %" PRIu64 "\n", name,
			    failure->verb, failure->count);
	}
}

static void watch_age(struct sheet *sheet, const char *name)
{
	for (int i = 0; i < MPIJOB__OPERATOR_INFORMER_COUNT; i++) {
		const struct mpijob__operator_informer *informer = &sheet->operator_->informers[i];
		int64_t silent_ms =
		    informer->watch ? mpijob_watch_health_get(informer->watch)->silent_ms : -1;

		if (silent_ms < 0)
			continue;
		put(sheet, "%s{kind=\"%s\"} ", name, informer->kind);
		put_seconds(sheet, silent_ms * 1000);
	}
}

static void watch_up(struct sheet *sheet, const char *name)
{
	for (int i = 0; i < MPIJOB__OPERATOR_INFORMER_COUNT; i++) {
		const struct mpijob__operator_informer *informer = &sheet->operator_->informers[i];

		if (informer->kind)
			put(sheet, "%s{kind=\"%s\"} %d\n", name, informer->kind,
			    informer->watch && mpijob_watch_health_get(informer->watch)->synced &&
				!mpijob_watch_health_get(informer->watch)->code);
	}
}

static void skipped(struct sheet *sheet, const char *name)
{
	for (size_t i = 0; i < MPIJOB__OPERATOR_METRICS_KINDS; i++)
		if (sheet->metrics->skipped[i])
			put(sheet, "%s{kind=\"%s\"} %" PRIu64 "\n", name, kinds[i],
			    sheet->metrics->skipped[i]);
}

static void in_flight(struct sheet *sheet, const char *name)
{
	put_number(sheet, name, sheet->operator_->writes);
}

static void denied(struct sheet *sheet, const char *name)
{
	for (int32_t i = 0; i < MPIJOB__OPERATOR_METRICS_ACTIONS; i++)
		for (size_t j = 0; j < MPIJOB__OPERATOR_METRICS_KINDS - 1; j++) {
			size_t count = mpijob__operator_rights_count(sheet->operator_, i, kinds[j]);

			if (count)
				put(sheet, "%s{kind=\"%s\",verb=\"%s\"} %zu\n", name, kinds[j],
				    actions[i], count);
		}
}

static void events_dropped(struct sheet *sheet, const char *name)
{
	put_number(sheet, name, sheet->metrics->events_dropped);
}

static void put_actions(struct sheet *sheet, const char *name,
    const uint64_t counts[][MPIJOB__OPERATOR_METRICS_KINDS])
{
	for (size_t i = 1; i < MPIJOB__OPERATOR_METRICS_ACTIONS; i++)
		for (size_t j = 0; j < MPIJOB__OPERATOR_METRICS_KINDS; j++)
			if (counts[i][j])
				put(sheet, "%s{kind=\"%s\",verb=\"%s\"} %" PRIu64 "\n", name,
				    kinds[j], actions[i], counts[i][j]);
}

static void actions_total(struct sheet *sheet, const char *name)
{
	put_actions(sheet, name, sheet->metrics->actions);
}

static void shadow_actions(struct sheet *sheet, const char *name)
{
	put_actions(sheet, name, sheet->metrics->shadow);
}

#define PREFIX "mpi_operator_"

static const struct {
	const char *name, *type, *help;
	void (*samples)(struct sheet *sheet, const char *name);
} families[] = {
	{ PREFIX "jobs_created_total", "counter", "MPIJobs that got the condition Created.",
	    created },
	{ PREFIX "jobs_successful_total", "counter", "MPIJobs that became Succeeded.", successful },
	{ PREFIX "jobs_failed_total", "counter", "MPIJobs that became Failed.", failed },
	{ PREFIX "job_info", "gauge", "1 for each MPIJob that has, or had, a launcher.", job_info },
	{ PREFIX "jobs", "gauge", "MPIJobs that exist, by phase.", jobs },
	{ PREFIX "synced", "gauge", "1 once all kinds have been listed.", synced },
	{ PREFIX "queue_depth", "gauge", "MPIJobs in the queue.", depth },
	{ PREFIX "queue_oldest_seconds", "gauge",
	    "How long the oldest MPIJob has been in the queue.", age },
	{ PREFIX "queue_wait_seconds", "histogram",
	    "How long MPIJobs waited in the queue for a plan.", waited },
	{ PREFIX "plan_seconds", "histogram", "How long planning an MPIJob took.", planned },
	{ PREFIX "api_request_seconds", "histogram",
	    "How long requests to the API server took, without watches.", requests },
	{ PREFIX "api_errors_total", "counter",
	    "Requests to the API server that failed; code is the HTTP status, or none.",
	    request_errors },
	{ PREFIX "watch_age_seconds", "gauge",
	    "Time since a watch last received a byte from the API server.", watch_age },
	{ PREFIX "watch_up", "gauge", "1 while the watch of a kind works.", watch_up },
	{ PREFIX "objects_set_aside_total", "counter",
	    "Objects that were skipped because they cannot be parsed or are too large.", skipped },
	{ PREFIX "denied_namespaces", "gauge",
	    "Namespaces in which a verb on a kind is refused at present: a right, a quota or the "
	    "kind is missing.",
	    denied },
	{ PREFIX "writes_under_way", "gauge", "Writes in flight, Events included.", in_flight },
	{ PREFIX "actions_total", "counter", "Actions of plans that succeeded.", actions_total },
	{ PREFIX "events_dropped_total", "counter",
	    "Events that were not sent: refused, too many, or after too many attempts.",
	    events_dropped },
	{ PREFIX "shadow_actions_total", "counter",
	    "Actions that a shadow operator would have executed.", shadow_actions },
};

int mpijob_operator_metrics(const mpijob_operator *operator_, mpijob_write_fn write, void *user)
{
	struct sheet sheet = { operator_, NULL, { 0 }, 0 };
	int rc;

	if (!operator_ || !write)
		return MPIJOB_ERR_USAGE;
	sheet.metrics = &operator_->metrics;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		put(&sheet, "# HELP %s %s\n# TYPE %s %s\n", families[i].name, families[i].help,
		    families[i].name, families[i].type);
		families[i].samples(&sheet, families[i].name);
	}
	rc = sheet.rc ? sheet.rc : write(user, mpijob_text_data(&sheet.text), sheet.text.len);
	mpijob__base_text_release(&sheet.text);
	return rc;
}
