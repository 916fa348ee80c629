/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job entries: one for each MPIJob, found by UID and by namespace and name.
 *
 * The bytes of an MPIJob are kept until its turn, and parsed then. An MPIJob that cannot be parsed
 * has an entry without a document: it is skipped until it changes, and does not delay the others.
 * One that was deleted and recreated under its name has another entry.
 */
#include "operator/cache_jobs.h"

#include "base/api.h"
#include "operator/cache_children.h"
#include "operator/configure.h"
#include "operator/operator.h"

#include <stdlib.h>
#include <string.h>

#define LOSSES_FREE         6 /* without a delay: each child once */
#define LOSSES_STEPS        7
#define LOSS_FIRST_MS       100 /* doubled up to 12.8 s */
#define LOSSES_FORGOTTEN_MS 60000
#define BYTES_PER_US        20 /* of a job while it is parsed: an estimate */

#define UID_JOB(link)                              \
	((struct mpijob__operator_job *)(void *)(( \
	    char *)(link)-offsetof(struct mpijob__operator_job, by_uid)))
#define NAME_JOB(link)                             \
	((struct mpijob__operator_job *)(void *)(( \
	    char *)(link)-offsetof(struct mpijob__operator_job, by_name)))

struct mpijob__operator_job *mpijob__operator_job_find(const mpijob_operator *operator_,
    const char *uid)
{
	const struct mpijob__base_table *table = &operator_->cache.by_uid;
	uint64_t hash = mpijob__base_table_hash(table, uid, "");
	struct mpijob__base_table_link *link = mpijob__base_table_next(table, hash, NULL);

	while (link && strcmp(UID_JOB(link)->uid, uid) != 0)
		link = mpijob__base_table_next(table, hash, link);
	return link ? UID_JOB(link) : NULL;
}

static struct mpijob__operator_job *by_name(const mpijob_operator *operator_,
    const char *namespace_, const char *name)
{
	const struct mpijob__base_table *table = &operator_->cache.by_name;
	uint64_t hash = mpijob__base_table_hash(table, namespace_, name);
	struct mpijob__base_table_link *link = mpijob__base_table_next(table, hash, NULL);

	while (link && (strcmp(NAME_JOB(link)->namespace_, namespace_) != 0 ||
			   strcmp(NAME_JOB(link)->name, name) != 0))
		link = mpijob__base_table_next(table, hash, link);
	return link ? NAME_JOB(link) : NULL;
}

static void free_job(struct mpijob__operator_job *job)
{
	mpijob_free(job->cache.mpijob);
	free(job->cache.raw);
	mpijob_facts_free(job->cache.facts);
	mpijob__operator_configure_forget_findings(job);
	free(job->namespace_);
	free(job->name);
	free(job->uid);
	free(job->cache.rejection);
	free(job);
}

static int make_job(mpijob_operator *operator_, const struct mpijob_watch_event *object,
    struct mpijob__operator_job **out)
{
	struct mpijob__operator_job *job = calloc(1, sizeof(*job));

	if (!job)
		return MPIJOB_ERR_NOMEM;
	job->operator_ = operator_;
	job->namespace_ = strdup(object->namespace_);
	job->name = strdup(object->name);
	job->uid = strdup(object->uid);
	job->cache.facts = mpijob_facts_new();
	if (!job->namespace_ || !job->name || !job->uid || !job->cache.facts)
		goto nomem;
	if (mpijob__operator_queue_join(&operator_->queue, &job->item, job->namespace_))
		goto nomem;
	if (mpijob__base_table_add(&operator_->cache.by_uid, &job->by_uid,
		mpijob__base_table_hash(&operator_->cache.by_uid, job->uid, "")))
		goto leave;
	if (mpijob__base_table_add(&operator_->cache.by_name, &job->by_name,
		mpijob__base_table_hash(&operator_->cache.by_name, job->namespace_, job->name))) {
		mpijob__base_table_remove(&operator_->cache.by_uid, &job->by_uid);
		goto leave;
	}
	*out = job;
	return 0;
leave:
	mpijob__operator_queue_leave(&operator_->queue, &job->item);
nomem:
	free_job(job);
	return MPIJOB_ERR_NOMEM;
}

void mpijob__operator_job_remove(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	mpijob__operator_rights_set_waiting(operator_, job, 0);
	mpijob__operator_reconcile_cancel(job);
	mpijob__operator_shadow_forget(operator_, job);
	mpijob__operator_children_release(job, operator_);
	mpijob__operator_queue_leave(&operator_->queue, &job->item);
	mpijob__base_table_remove(&operator_->cache.by_uid, &job->by_uid);
	mpijob__base_table_remove(&operator_->cache.by_name, &job->by_name);
	operator_->cache.removed[operator_->cache.removed_at] = job->by_uid.hash;
	operator_->cache.removed_at =
	    (operator_->cache.removed_at + 1) % MPIJOB__OPERATOR_REMOVED_UIDS;
	free_job(job);
}

void mpijob__operator_jobs_each(mpijob_operator *operator_,
    void (*visit)(mpijob_operator *operator_, struct mpijob__operator_job *job, void *user),
    void *user)
{
	struct mpijob__base_table *table = &operator_->cache.by_uid;
	struct mpijob__base_table_link *next;

	for (size_t i = 0; i < table->slot_count; i++)
		for (struct mpijob__base_table_link *link = table->slots[i]; link; link = next) {
			next = link->next;
			visit(operator_, UID_JOB(link), user);
		}
}

static void sweep_one(mpijob_operator *operator_, struct mpijob__operator_job *job,
    void *generation)
{
	if (job->cache.generation != *(const uint32_t *)generation)
		mpijob__operator_job_remove(operator_, job);
}

void mpijob__operator_jobs_sweep(mpijob_operator *operator_, uint32_t generation)
{
	mpijob__operator_jobs_each(operator_, sweep_one, &generation);
}

static void remove_one(mpijob_operator *operator_, struct mpijob__operator_job *job, void *unused)
{
	(void)unused;
	mpijob__operator_job_remove(operator_, job);
}

void mpijob__operator_jobs_release(mpijob_operator *operator_)
{
	mpijob__operator_jobs_each(operator_, remove_one, NULL);
	mpijob__base_table_release(&operator_->cache.by_uid);
	mpijob__base_table_release(&operator_->cache.by_name);
}

void mpijob__operator_jobs_visit(const mpijob_operator *operator_,
    void (*visit)(void *user, const struct mpijob__operator_job *job), void *user)
{
	const struct mpijob__base_table *table = &operator_->cache.by_uid;

	for (size_t i = 0; i < table->slot_count; i++)
		for (struct mpijob__base_table_link *link = table->slots[i]; link;
		     link = link->next)
			visit(user, UID_JOB(link));
}

static void leadership_changed_one(mpijob_operator *operator_, struct mpijob__operator_job *job,
    void *unused)
{
	(void)unused;
	/* Another operator was leading meanwhile. */
	memset(&job->fresh, 0, sizeof(job->fresh));
	if (mpijob__operator_is_leading(operator_))
		mpijob__operator_job_enqueue(operator_, job);
	else
		mpijob__operator_reconcile_stop(operator_, job);
}

void mpijob__operator_jobs_leadership_changed(mpijob_operator *operator_)
{
	mpijob__operator_jobs_each(operator_, leadership_changed_one, NULL);
}

static void enqueue_one(mpijob_operator *operator_, struct mpijob__operator_job *job, void *unused)
{
	(void)unused;
	mpijob__operator_job_enqueue(operator_, job);
}

void mpijob__operator_jobs_enqueue(mpijob_operator *operator_)
{
	mpijob__operator_jobs_each(operator_, enqueue_one, NULL);
}

void mpijob__operator_job_enqueue(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	job->backoff.rounds = 0;
	job->cache.changed_ms = operator_->now_ms;
	mpijob__operator_queue_add(&operator_->queue, &job->item);
}

/* A client that deletes a child repeatedly may be right: the garbage collector may learn before us
 * that the job is deleted. */
void mpijob__operator_job_child_lost(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	int64_t now_ms = operator_->now_ms;

	if (now_ms - job->backoff.lost_ms > LOSSES_FORGOTTEN_MS)
		job->backoff.losses = 0;
	job->backoff.lost_ms = now_ms;
	if (job->backoff.losses < LOSSES_FREE + LOSSES_STEPS)
		job->backoff.losses++;
	if (job->backoff.losses > LOSSES_FREE)
		job->backoff.hold_until_ms =
		    now_ms + ((int64_t)LOSS_FIRST_MS << (job->backoff.losses - LOSSES_FREE));
}

int mpijob__operator_job_has_status(const struct mpijob__operator_job *job)
{
	const mpijob_node *root =
	    job->cache.mpijob ? mpijob_doc_root(mpijob_document(job->cache.mpijob)) : NULL;

	return mpijob_node_count(mpijob_node_get(root, "status")) > 0;
}

/* ---- the status ---- */

static int read_phase(const mpijob_node *job, size_t conditions)
{
	static const struct {
		const char *type;
		int phase;
	} rows[] = {
		{ "Failed", MPIJOB__OPERATOR_PHASE_FAILED },
		{ "Succeeded", MPIJOB__OPERATOR_PHASE_SUCCEEDED },
		{ "Suspended", MPIJOB__OPERATOR_PHASE_SUSPENDED },
		{ "Running", MPIJOB__OPERATOR_PHASE_RUNNING },
		{ "Created", MPIJOB__OPERATOR_PHASE_CREATED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (mpijob_condition_find(job, rows[i].type, "True"))
			return rows[i].phase;
	return conditions ? MPIJOB__OPERATOR_PHASE_CREATED : MPIJOB__OPERATOR_PHASE_NEW;
}

/* Count the conditions of a new version of a job. While we lead the status is our own write, also
 * if the response to it was lost. */
static void note_phase(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	const mpijob_node *root = mpijob_doc_root(mpijob_document(job->cache.mpijob));
	int phase =
	    read_phase(root, mpijob_node_count(mpijob_node_find(root, "status.conditions")));
	struct mpijob__operator_metrics *metrics = &operator_->metrics;

	if (job->cache.state != MPIJOB__OPERATOR_JOB_NEW &&
	    mpijob__operator_is_leading(operator_) && job->cache.phase != phase) {
		metrics->created += job->cache.phase == MPIJOB__OPERATOR_PHASE_NEW;
		metrics->succeeded += phase == MPIJOB__OPERATOR_PHASE_SUCCEEDED;
		metrics->failed += phase == MPIJOB__OPERATOR_PHASE_FAILED;
	}
	job->cache.phase = phase;
}

int mpijob__operator_job_phase(const struct mpijob__operator_job *job)
{
	const struct mpijob__operator_job_cache *cache = &job->cache;

	if ((!cache->mpijob && !cache->raw) || (cache->state == MPIJOB__OPERATOR_JOB_REFUSED &&
						   cache->phase < MPIJOB__OPERATOR_PHASE_SUCCEEDED))
		return MPIJOB__OPERATOR_PHASE_SKIPPED;
	return cache->phase;
}

/* Skip a job that cannot be parsed, and report that once for each version of it. 0 or
 * MPIJOB_ERR_NOMEM. */
static int skip(mpijob_operator *operator_, struct mpijob__operator_job *job, const char *why)
{
	char *copy = strdup(why);

	if (!copy)
		return MPIJOB_ERR_NOMEM;
	mpijob_free(job->cache.mpijob);
	job->cache.mpijob = NULL;
	mpijob__operator_configure_forget_findings(job);
	free(job->cache.rejection);
	job->cache.rejection = copy;
	operator_->metrics.skipped[mpijob__operator_metrics_kind(MPIJOB__BASE_API_KIND)]++;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "job-set-aside",
	    "MPIJob %s/%s is skipped: %s", job->namespace_, job->name, why);
	return 0;
}

/* managedFields are as large as the rest of a job and not used: the cache drops them. */
static int parse(const char *json, size_t len, mpijob **out, mpijob_diag *diag)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;
	int rc;

	options.format = MPIJOB_FORMAT_JSON;
	options.no_places = 1;
	rc = mpijob_doc_parse(json, len, &options, &doc, diag);
	if (rc)
		return rc;
	(void)mpijob_node_remove(mpijob_node_edit(mpijob_doc_edit(doc, ""), "metadata"),
	    "managedFields");
	rc = mpijob_from_node(mpijob_doc_root(doc), NULL, out, diag);
	mpijob_doc_free(doc);
	return rc;
}

/* Whether all that validation depends on is unchanged. Status and other metadata do not matter. */
static int is_valid_as_before(const mpijob *before, const mpijob *now)
{
	static const char *const paths[] = { "spec", "metadata.labels", "metadata.annotations" };

	for (size_t i = 0; before && i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!mpijob_node_equal(mpijob_node_find(mpijob_doc_root(mpijob_document(before)),
					   paths[i]),
			mpijob_node_find(mpijob_doc_root(mpijob_document(now)), paths[i])))
			return 0;
	return before != NULL;
}

static void free_raw(struct mpijob__operator_job *job)
{
	free(job->cache.raw);
	job->cache.raw = NULL;
	job->cache.raw_len = 0;
}

int mpijob__operator_job_parse(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	mpijob_diag *diag;
	mpijob *parsed = NULL;
	int rc;

	if (!job->cache.raw)
		return 0;
	diag = mpijob_diag_new();
	if (!diag)
		return MPIJOB_ERR_NOMEM;
	rc = parse(job->cache.raw, job->cache.raw_len, &parsed, diag);
	if (rc == 0) {
		if (!is_valid_as_before(job->cache.mpijob, parsed))
			mpijob__operator_configure_forget_findings(job);
		mpijob_free(job->cache.mpijob);
		job->cache.mpijob = parsed;
		free(job->cache.rejection);
		job->cache.rejection = NULL;
		note_phase(operator_, job);
	} else if (rc != MPIJOB_ERR_NOMEM) {
		rc = skip(operator_, job,
		    mpijob_diag_at(diag, 0) ? mpijob_diag_at(diag, 0)->message
					    : mpijob_error_text(rc));
	}
	mpijob_diag_free(diag);
	if (rc)
		return rc;
	if (job->cache.state == MPIJOB__OPERATOR_JOB_NEW)
		job->cache.state = MPIJOB__OPERATOR_JOB_PARSED;
	free_raw(job);
	return 0;
}

/*
 * Keep the bytes of a job until its turn: parsing a burst of jobs here would delay the events
 * behind it. The time to parse it is charged to its namespace now, estimated by the size. 0 or
 * MPIJOB_ERR_NOMEM.
 */
static int keep(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const struct mpijob_watch_event *object)
{
	char *copy;
	int rc;

	if (!object->json) {
		rc = skip(operator_, job, "it is larger than this operator reads");
		if (rc == 0)
			free_raw(job);
		return rc;
	}
	copy = malloc(object->json_len + 1);
	if (!copy)
		return MPIJOB_ERR_NOMEM;
	memcpy(copy, object->json, object->json_len);
	free_raw(job);
	job->cache.raw = copy;
	job->cache.raw_len = object->json_len;
	mpijob__operator_queue_charge(&operator_->queue, &job->item,
	    (int64_t)(object->json_len / BYTES_PER_US));
	return 0;
}

int mpijob__operator_job_update(mpijob_operator *operator_, const struct mpijob_watch_event *object)
{
	struct mpijob__operator_job *job = mpijob__operator_job_find(operator_, object->uid);
	uint64_t version = mpijob__operator_version_parse(object->resource_version);
	uint32_t generation = operator_->informers[MPIJOB__OPERATOR_INFORMER_JOBS].generation;
	int rc;

	if (object->event == MPIJOB_WATCH_DELETED) {
		if (job)
			mpijob__operator_job_remove(operator_, job);
		return job != NULL;
	}
	if (!*object->uid || !*object->name || !*object->namespace_) {
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "job-set-aside",
		    "an MPIJob without uid, name or namespace is skipped");
		return 0;
	}
	if (job) {
		job->cache.generation = generation;
		/* Events of our own writes are not newer than their responses. */
		if (version && version <= job->cache.version)
			return 0;
		rc = keep(operator_, job, object);
		if (rc == 0)
			job->cache.version = version;
		return rc ? rc : 1;
	}
	job = by_name(operator_, object->namespace_, object->name);
	if (job && version && version < job->cache.version)
		return 0; /* a server with an old state lists the job before this one */
	if (job)
		mpijob__operator_job_remove(operator_, job);
	rc = make_job(operator_, object, &job);
	if (rc)
		return rc;
	job->cache.generation = generation;
	rc = keep(operator_, job, object);
	if (rc) {
		mpijob__operator_job_remove(operator_, job);
		return rc;
	}
	job->cache.version = version;
	mpijob__operator_orphans_adopt(operator_, job->uid);
	return 1;
}
