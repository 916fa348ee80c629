/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analyses the evidence and reports the causes in order: root causes first, then their
 * consequences; symptoms only if no cause explains them. Each cause is reported once, with the
 * number of affected pods. Text from the cluster is escaped and shortened before it becomes part of
 * a message.
 */
#include "diagnose/diagnose.h"

#include "core/diag.h"
#include "base/struct.h"
#include "base/utf8.h"
#include "job/job.h"
#include "base/time.h"

#include <stdlib.h>
#include <string.h>

#define MOST_MESSAGE 600 /* bytes in a message */

const char *mpijob__diagnose_case_text(const mpijob_node *node, const char *path)
{
	const char *text = mpijob_node_string(mpijob_node_find(node, path));

	return text ? text : "";
}

int mpijob__diagnose_case_role(const struct mpijob__diagnose_case *this, const char *pod)
{
	size_t len = strlen(this->name);

	if (strncmp(pod, this->name, len) != 0)
		return 0;
	if (strncmp(pod + len, "-worker-", 8) == 0)
		return MPIJOB__DIAGNOSE_WORKER_POD;
	return strncmp(pod + len, "-launcher", 9) == 0 ? MPIJOB__DIAGNOSE_LAUNCHER_POD : 0;
}

const mpijob_node *mpijob__diagnose_case_pod(const struct mpijob__diagnose_case *this,
    const char *name)
{
	for (size_t i = 0; i < mpijob_node_count(this->pods); i++)
		if (strcmp(mpijob__diagnose_case_text(mpijob_node_at(this->pods, i),
			       "metadata.name"),
			name) == 0)
			return mpijob_node_at(this->pods, i);
	return NULL;
}

int64_t mpijob__diagnose_case_age(const struct mpijob__diagnose_case *this, const mpijob_node *node,
    const char *path)
{
	int64_t seconds;

	if (this->evidence.now_ms <= 0 ||
	    !mpijob__base_time_parse(mpijob__diagnose_case_text(node, path), &seconds))
		return -1;
	int64_t age = this->evidence.now_ms / 1000 - seconds;
	return age < 0 ? 0 : age;
}

int mpijob__diagnose_case_has(const struct mpijob__diagnose_case *this, const char *id)
{
	for (size_t i = 0; i < this->found_count; i++)
		if (strcmp(this->found[i].id, id) == 0)
			return 1;
	return 0;
}

int mpijob__diagnose_case_before(const struct mpijob__diagnose_case *this, int rank)
{
	for (size_t i = 0; i < this->found_count; i++)
		if (this->found[i].rank < rank)
			return 1;
	return 0;
}

/* ---- causes ---- */

/* Append any bytes as one line of printable text. */
static int put_escaped(struct mpijob_text *out, const char *data, size_t len)
{
	const char *end = data + len;
	int code = 0;

	while (data < end && code == 0) {
		uint32_t character = 0;
		size_t bytes = mpijob__base_utf8_read(data, end, &character);
		if (out->len >= MOST_MESSAGE)
			return mpijob__base_text_puts(out, "...");
		if (bytes == 1 && (character == '\n' || character == '\t' || character == '\r')) {
			code = mpijob__base_text_puts(out, " ");
		} else {
			code =
			    mpijob_escaped_write(data, bytes ? bytes : 1, mpijob_text_write, out);
		}
		data += bytes ? bytes : 1;
	}
	return code;
}

static int escaped(char **out, const char *format, va_list values) MPIJOB__BASE_PRINTF(2, 0);
static int escaped(char **out, const char *format, va_list values)
{
	struct mpijob_text raw = { 0 }, clean = { 0 };
	int code = mpijob__base_text_vprintf(&raw, format, values);

	if (code == 0)
		code = put_escaped(&clean, raw.data ? raw.data : "", raw.len);
	if (code == 0)
		code = mpijob__base_text_reserve(&clean, 1);
	if (code == 0) {
		clean.data[clean.len] = '\0';
		*out = strdup(clean.data);
		code = *out ? 0 : MPIJOB_ERR_NOMEM;
	}
	mpijob__base_text_release(&raw);
	mpijob__base_text_release(&clean);
	return code;
}

static int is_among(const char *others, const char *subject)
{
	size_t len = strlen(subject);

	for (const char *at = others; at; at = strchr(at + 1, '\n'))
		if (strncmp(at + 1, subject, len) == 0 &&
		    (at[1 + len] == '\n' || at[1 + len] == '\0'))
			return 1;
	return 0;
}

static int add_other(struct mpijob__diagnose_found *found, const char *subject)
{
	struct mpijob_text text = { 0 };

	if (!subject || !found->subject || strcmp(subject, found->subject) == 0 ||
	    is_among(found->others, subject))
		return 0;
	int code =
	    mpijob__base_text_printf(&text, "%s\n%s", found->others ? found->others : "", subject);
	if (code == 0) {
		char *others = strdup(text.data);
		if (others) {
			free(found->others);
			found->others = others;
			found->others_count++;
		} else {
			code = MPIJOB_ERR_NOMEM;
		}
	}
	mpijob__base_text_release(&text);
	return code;
}

static struct mpijob__diagnose_found *find_same(struct mpijob__diagnose_case *this, const char *id)
{
	for (size_t i = 0; i < this->found_count; i++)
		if (strcmp(this->found[i].id, id) == 0)
			return &this->found[i];
	return NULL;
}

static struct mpijob__diagnose_found *append(struct mpijob__diagnose_case *this)
{
	if (this->found_count == this->found_cap) {
		size_t cap = this->found_cap ? 2 * this->found_cap : 16;
		struct mpijob__diagnose_found *found = realloc(this->found, cap * sizeof(*found));
		if (!found)
			return NULL;
		this->found = found;
		this->found_cap = cap;
	}
	struct mpijob__diagnose_found *found = &this->found[this->found_count];
	memset(found, 0, sizeof(*found));
	found->order = this->found_count++;
	return found;
}

void mpijob__diagnose_case_add(struct mpijob__diagnose_case *this, const char *id, int32_t severity,
    int rank, const char *subject, const char *field, const char *format, ...)
{
	struct mpijob__diagnose_found *found = this->code ? NULL : find_same(this, id);
	va_list values;

	if (this->code)
		return;
	if (found) {
		if (severity < found->severity)
			found->severity = severity;
		this->code = add_other(found, subject);
		return;
	}
	found = append(this);
	if (!found) {
		this->code = MPIJOB_ERR_NOMEM;
		return;
	}
	found->id = id;
	found->field = field;
	found->severity = severity;
	found->rank = rank;
	if (subject && !(found->subject = strdup(subject))) {
		this->code = MPIJOB_ERR_NOMEM;
		return;
	}
	va_start(values, format);
	this->code = escaped(&found->message, format, values);
	va_end(values);
}

static void found_release(struct mpijob__diagnose_found *found)
{
	free(found->subject);
	free(found->others);
	free(found->message);
}

void mpijob__diagnose_case_drop(struct mpijob__diagnose_case *this, int from, int to)
{
	size_t kept = 0;

	for (size_t i = 0; i < this->found_count; i++) {
		if (this->found[i].rank >= from && this->found[i].rank < to)
			found_release(&this->found[i]);
		else
			this->found[kept++] = this->found[i];
	}
	this->found_count = kept;
}

static int compare(const void *left, const void *right)
{
	const struct mpijob__diagnose_found *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static int add_findings(struct mpijob__diagnose_case *this, mpijob_diag *diag)
{
	if (this->found_count)
		qsort(this->found, this->found_count, sizeof(*this->found), compare);
	for (size_t i = 0; i < this->found_count; i++) {
		const struct mpijob__diagnose_found *found = &this->found[i];
		int code = found->others_count == 0
			       ? mpijob__core_diag_addf(diag, found->severity, found->id, NULL,
				     found->field, NULL, "%s", found->message)
			       : mpijob__core_diag_addf(diag, found->severity, found->id, NULL,
				     found->field, NULL, "%s (and %zu more)", found->message,
				     found->others_count);
		if (code)
			return code;
	}
	return (int)this->found_count;
}

/* ---- the case ---- */

static const mpijob_node *items_of(const mpijob_node *node)
{
	const mpijob_node *items = mpijob_node_get(node, "items");

	return mpijob_node_kind(node) == MPIJOB_NODE_LIST    ? node
	       : mpijob_node_kind(items) == MPIJOB_NODE_LIST ? items
							     : NULL;
}

static void read_end(struct mpijob__diagnose_case *this)
{
	const mpijob_node *failed = mpijob_condition_find(this->root, "Failed", "True");
	int suspend = 0;

	/* A job that is Failed because of an eviction may become Succeeded later. */
	this->succeeded = mpijob_condition_find(this->root, "Succeeded", "True") != NULL;
	this->failed = !this->succeeded &&
		       (failed || mpijob_condition_find(this->evidence.launcher, "Failed", "True"));
	mpijob_node_bool(mpijob_node_find(this->root, "spec.runPolicy.suspend"), &suspend);
	this->suspended = suspend && !this->succeeded && !this->failed;
	this->fail_reason = mpijob__diagnose_case_text(failed, "reason");
	this->fail_message = mpijob__diagnose_case_text(failed, "message");
}

/* Copy the list of logs, whose structs may be of another version. */
static int read_logs(struct mpijob__diagnose_case *this)
{
	const struct mpijob_evidence *evidence = &this->evidence;
	int rc = evidence->logs_count && !evidence->logs ? MPIJOB_ERR_USAGE : 0;

	if (rc || evidence->logs_count == 0)
		return rc;
	this->logs = calloc(evidence->logs_count, sizeof(*this->logs));
	if (!this->logs)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < evidence->logs_count && rc == 0; i++) {
		struct mpijob_log_tail *log = &this->logs[i];

		rc = mpijob__base_struct_check(log, sizeof(*log), evidence->logs[i]);
		if (rc == 0 && (!log->pod || (log->len && !log->text)))
			rc = MPIJOB_ERR_USAGE;
	}
	return rc;
}

static void check_all(struct mpijob__diagnose_case *this)
{
	if (this->succeeded) {
		mpijob__diagnose_check_success(this);
	} else {
		mpijob__diagnose_check_job(this);
		mpijob__diagnose_check_pods(this);
		mpijob__diagnose_check_events(this);
		mpijob__diagnose_check_logs(this);
	}
	mpijob__diagnose_check_end(this);
}

int mpijob_diagnose(const struct mpijob_evidence *evidence, mpijob_diag *diag)
{
	struct mpijob__diagnose_case this = { 0 };

	if (!evidence || !diag)
		return MPIJOB_ERR_USAGE;
	int code = mpijob__base_struct_check(&this.evidence, sizeof(this.evidence), evidence);
	if (code)
		return code;
	code = this.evidence.job ? read_logs(&this) : MPIJOB_ERR_USAGE;
	if (code) {
		free(this.logs);
		return code;
	}
	this.root = mpijob__job_node(this.evidence.job);
	this.name = mpijob__diagnose_case_text(this.root, "metadata.name");
	this.pods = items_of(this.evidence.pods);
	this.events = items_of(this.evidence.events);
	read_end(&this);
	check_all(&this);
	code = this.code ? this.code : add_findings(&this, diag);
	for (size_t i = 0; i < this.found_count; i++)
		found_release(&this.found[i]);
	free(this.found);
	free(this.logs);
	return code;
}
