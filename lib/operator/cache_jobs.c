/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MPIJobs that exist: one record each, found by uid and by namespace and name.
 *
 * An MPIJob that cannot be read keeps a record without a job: it is set aside until somebody mends
 * it, and is no burden to the others. One that was deleted and made again under its name is another
 * one.
 */
#include "operator/operator.h"

#include "client/jobs.h"

#include <stdlib.h>
#include <string.h>

#define LOSSES_FREE         6 /* each child once */
#define LOSSES_STEPS        7
#define LOSS_FIRST_MS       100 /* doubled up to 12.8 s */
#define LOSSES_FORGOTTEN_MS 60000
#define BYTES_PER_US        20 /* of a job, while it is read: an estimate */

#define UID_RECORD(link)                           \
	((struct mpijob__operator_job *)(void *)(( \
	    char *)(link)-offsetof(struct mpijob__operator_job, by_uid)))
#define NAME_RECORD(link)                          \
	((struct mpijob__operator_job *)(void *)(( \
	    char *)(link)-offsetof(struct mpijob__operator_job, by_name)))

struct mpijob__operator_job *mpijob__operator_job_find(const mpijob_operator *operator_,
    const char *uid)
{
	const struct mpijob__operator_table *table = &operator_->jobs_by_uid;
	uint64_t hash = mpijob__operator_table_hash(table, uid, "");
	struct mpijob__operator_table_link *link = mpijob__operator_table_next(table, hash, NULL);

	while (link && strcmp(UID_RECORD(link)->uid, uid) != 0)
		link = mpijob__operator_table_next(table, hash, link);
	return link ? UID_RECORD(link) : NULL;
}

static struct mpijob__operator_job *by_name(const mpijob_operator *operator_,
    const char *namespace_, const char *name)
{
	const struct mpijob__operator_table *table = &operator_->jobs_by_name;
	uint64_t hash = mpijob__operator_table_hash(table, namespace_, name);
	struct mpijob__operator_table_link *link = mpijob__operator_table_next(table, hash, NULL);

	while (link && (strcmp(NAME_RECORD(link)->namespace_, namespace_) != 0 ||
			   strcmp(NAME_RECORD(link)->name, name) != 0))
		link = mpijob__operator_table_next(table, hash, link);
	return link ? NAME_RECORD(link) : NULL;
}

static void free_record(struct mpijob__operator_job *record)
{
	mpijob_free(record->job);
	free(record->unread);
	mpijob_facts_free(record->facts);
	mpijob__operator_configure_forget_findings(record);
	free(record->namespace_);
	free(record->name);
	free(record->uid);
	free(record->aside);
	free(record);
}

static int make_record(mpijob_operator *operator_, const struct mpijob_watch_event *object,
    struct mpijob__operator_job **out)
{
	struct mpijob__operator_job *record = calloc(1, sizeof(*record));

	if (!record)
		return MPIJOB_ERR_NOMEM;
	record->operator_ = operator_;
	record->namespace_ = strdup(object->namespace_);
	record->name = strdup(object->name);
	record->uid = strdup(object->uid);
	record->facts = mpijob_facts_new();
	if (!record->namespace_ || !record->name || !record->uid || !record->facts)
		goto nomem;
	if (mpijob__operator_queue_join(&operator_->queue, &record->item, record->namespace_))
		goto nomem;
	if (mpijob__operator_table_add(&operator_->jobs_by_uid, &record->by_uid,
		mpijob__operator_table_hash(&operator_->jobs_by_uid, record->uid, "")))
		goto leave;
	if (mpijob__operator_table_add(&operator_->jobs_by_name, &record->by_name,
		mpijob__operator_table_hash(&operator_->jobs_by_name, record->namespace_,
		    record->name))) {
		mpijob__operator_table_remove(&operator_->jobs_by_uid, &record->by_uid);
		goto leave;
	}
	*out = record;
	return 0;
leave:
	mpijob__operator_queue_leave(&operator_->queue, &record->item);
nomem:
	free_record(record);
	return MPIJOB_ERR_NOMEM;
}

void mpijob__operator_job_remove(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	mpijob__operator_rights_set_waiting(operator_, record, 0);
	mpijob__operator_reconcile_cancel(operator_, record);
	mpijob__operator_shadow_forget(operator_, record);
	mpijob__operator_children_release(record, operator_);
	mpijob__operator_queue_leave(&operator_->queue, &record->item);
	mpijob__operator_table_remove(&operator_->jobs_by_uid, &record->by_uid);
	mpijob__operator_table_remove(&operator_->jobs_by_name, &record->by_name);
	operator_->dead[operator_->dead_at] = record->by_uid.hash;
	operator_->dead_at = (operator_->dead_at + 1) % MPIJOB__OPERATOR_REMOVED_UIDS;
	free_record(record);
}

void mpijob__operator_jobs_each(mpijob_operator *operator_,
    void (*visit)(mpijob_operator *operator_, struct mpijob__operator_job *record, void *user),
    void *user)
{
	struct mpijob__operator_table *table = &operator_->jobs_by_uid;
	struct mpijob__operator_table_link *next;

	for (size_t i = 0; i < table->slot_count; i++)
		for (struct mpijob__operator_table_link *link = table->slots[i]; link;
		     link = next) {
			next = link->next;
			visit(operator_, UID_RECORD(link), user);
		}
}

static void sweep_one(mpijob_operator *operator_, struct mpijob__operator_job *record,
    void *generation)
{
	if (record->generation != *(const uint32_t *)generation)
		mpijob__operator_job_remove(operator_, record);
}

void mpijob__operator_jobs_sweep(mpijob_operator *operator_, uint32_t generation)
{
	mpijob__operator_jobs_each(operator_, sweep_one, &generation);
}

static void remove_one(mpijob_operator *operator_, struct mpijob__operator_job *record,
    void *unused)
{
	(void)unused;
	mpijob__operator_job_remove(operator_, record);
}

void mpijob__operator_jobs_release(mpijob_operator *operator_)
{
	mpijob__operator_jobs_each(operator_, remove_one, NULL);
	mpijob__operator_table_release(&operator_->jobs_by_uid);
	mpijob__operator_table_release(&operator_->jobs_by_name);
}

void mpijob__operator_jobs_visit(const mpijob_operator *operator_,
    void (*visit)(void *user, const struct mpijob__operator_job *record), void *user)
{
	const struct mpijob__operator_table *table = &operator_->jobs_by_uid;

	for (size_t i = 0; i < table->slot_count; i++)
		for (struct mpijob__operator_table_link *link = table->slots[i]; link;
		     link = link->next)
			visit(user, UID_RECORD(link));
}

static void switch_one(mpijob_operator *operator_, struct mpijob__operator_job *record,
    void *unused)
{
	(void)unused;
	/* Another one acted meanwhile. */
	memset(record->known_ms, 0, sizeof(record->known_ms));
	if (operator_->acting)
		mpijob__operator_job_enqueue(operator_, record);
	else
		mpijob__operator_reconcile_stop(operator_, record);
}

void mpijob__operator_jobs_leadership_changed(mpijob_operator *operator_)
{
	mpijob__operator_jobs_each(operator_, switch_one, NULL);
}

static void touch_one(mpijob_operator *operator_, struct mpijob__operator_job *record, void *unused)
{
	(void)unused;
	mpijob__operator_job_enqueue(operator_, record);
}

void mpijob__operator_jobs_enqueue(mpijob_operator *operator_)
{
	mpijob__operator_jobs_each(operator_, touch_one, NULL);
}

void mpijob__operator_job_enqueue(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	record->rounds = 0;
	record->news_ms = operator_->now_ms;
	mpijob__operator_queue_add(&operator_->queue, &record->item);
}

/* Who undoes what we do, again and again, may be right: the garbage collector knows of a deletion
 * before we do. */
void mpijob__operator_job_child_lost(mpijob_operator *operator_,
    struct mpijob__operator_job *record)
{
	int64_t now_ms = operator_->now_ms;

	if (now_ms - record->lost_ms > LOSSES_FORGOTTEN_MS)
		record->losses = 0;
	record->lost_ms = now_ms;
	if (record->losses < LOSSES_FREE + LOSSES_STEPS)
		record->losses++;
	if (record->losses > LOSSES_FREE)
		record->hold_ms =
		    now_ms + ((int64_t)LOSS_FIRST_MS << (record->losses - LOSSES_FREE));
}

int mpijob__operator_job_has_status(const struct mpijob__operator_job *record)
{
	const mpijob_node *root =
	    record->job ? mpijob_doc_root(mpijob_document(record->job)) : NULL;

	return mpijob_node_count(mpijob_node_get(root, "status")) > 0;
}

/* --- what a job says of itself --- */

static unsigned char read_phase(const mpijob_node *job, size_t conditions)
{
	static const struct {
		const char *type;
		unsigned char phase;
	} rows[] = {
		{ "Failed", MPIJOB__OPERATOR_PHASE_FAILED },
		{ "Succeeded", MPIJOB__OPERATOR_PHASE_SUCCEEDED },
		{ "Suspended", MPIJOB__OPERATOR_PHASE_SUSPENDED },
		{ "Running", MPIJOB__OPERATOR_PHASE_RUNNING },
		{ "Created", MPIJOB__OPERATOR_PHASE_CREATED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (mpijob__client_jobs_condition(job, rows[i].type))
			return rows[i].phase;
	return conditions ? MPIJOB__OPERATOR_PHASE_CREATED : MPIJOB__OPERATOR_PHASE_NEW;
}

/* Whoever wrote the status: while we act it is us, and an answer that was lost counts, too. */
static void follow(mpijob_operator *operator_, struct mpijob__operator_job *record, int is_news)
{
	const mpijob_node *root = mpijob_doc_root(mpijob_document(record->job));
	size_t conditions = mpijob_node_count(mpijob_node_find(root, "status.conditions"));
	unsigned char phase = read_phase(root, conditions), was_created = record->was_created;
	struct mpijob__operator_metrics *metrics = &operator_->metrics;

	record->was_created = conditions > 0;
	if (is_news && operator_->acting) {
		metrics->created += record->was_created && !was_created;
		metrics->succeeded +=
		    phase == MPIJOB__OPERATOR_PHASE_SUCCEEDED && record->phase != phase;
		metrics->failed += phase == MPIJOB__OPERATOR_PHASE_FAILED && record->phase != phase;
	}
	record->phase = phase;
}

int mpijob__operator_job_phase(const struct mpijob__operator_job *record)
{
	if ((!record->job && !record->unread) ||
	    (record->invalid && record->phase < MPIJOB__OPERATOR_PHASE_SUCCEEDED))
		return MPIJOB__OPERATOR_PHASE_SKIPPED;
	return record->phase;
}

/* Set a job aside that cannot be read, and say so once for each version of it. 0 or
 * MPIJOB_ERR_NOMEM. */
static int set_aside(mpijob_operator *operator_, struct mpijob__operator_job *record,
    const char *why)
{
	char *copy = strdup(why);

	if (!copy)
		return MPIJOB_ERR_NOMEM;
	mpijob_free(record->job);
	record->job = NULL;
	mpijob__operator_configure_forget_findings(record);
	free(record->aside);
	record->aside = copy;
	operator_->metrics.set_aside[mpijob__operator_metrics_kind("MPIJob")]++;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "job-set-aside",
	    "MPIJob %s/%s is set aside: %s", record->namespace_, record->name, why);
	return 0;
}

/* Who set which field is as large as the rest of a job, and of no use here: a copy without it is
 * what is kept. */
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
	(void)mpijob_node_remove(mpijob_node_edit(mpijob_doc_edit(doc), "metadata"),
	    "managedFields");
	rc = mpijob_from_node(mpijob_doc_root(doc), NULL, out, diag);
	mpijob_doc_free(doc);
	return rc;
}

/* Whether nothing changed that validation depends on: the rest is the status, and what servers note
 * in metadata. */
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

static void forget_unread(struct mpijob__operator_job *record)
{
	free(record->unread);
	record->unread = NULL;
	record->unread_len = 0;
}

int mpijob__operator_job_parse(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	mpijob_diag *diag;
	mpijob *job = NULL;
	int rc;

	if (!record->unread)
		return 0;
	diag = mpijob_diag_new();
	if (!diag)
		return MPIJOB_ERR_NOMEM;
	rc = parse(record->unread, record->unread_len, &job, diag);
	if (rc == 0) {
		if (!is_valid_as_before(record->job, job))
			mpijob__operator_configure_forget_findings(record);
		mpijob_free(record->job);
		record->job = job;
		free(record->aside);
		record->aside = NULL;
		follow(operator_, record, record->was_read);
	} else if (rc != MPIJOB_ERR_NOMEM) {
		rc = set_aside(operator_, record,
		    mpijob_diag_count(diag) ? mpijob_diag_at(diag, 0)->message
					    : mpijob_error_text(rc));
	}
	mpijob_diag_free(diag);
	if (rc)
		return rc;
	record->was_read = 1;
	forget_unread(record);
	return 0;
}

/*
 * Keep the bytes of a job until its turn, since reading all of a burst here would delay what came
 * behind it. What that will cost counts for its namespace from now on, by its size. 0 or
 * MPIJOB_ERR_NOMEM.
 */
static int keep(mpijob_operator *operator_, struct mpijob__operator_job *record,
    const struct mpijob_watch_event *object)
{
	char *copy;
	int rc;

	if (!object->json) {
		rc = set_aside(operator_, record, "it is larger than this operator reads");
		if (rc == 0)
			forget_unread(record);
		return rc;
	}
	copy = malloc(object->json_len + 1);
	if (!copy)
		return MPIJOB_ERR_NOMEM;
	memcpy(copy, object->json, object->json_len);
	forget_unread(record);
	record->unread = copy;
	record->unread_len = object->json_len;
	mpijob__operator_queue_charge(&operator_->queue, &record->item,
	    (int64_t)(object->json_len / BYTES_PER_US));
	return 0;
}

int mpijob__operator_job_update(mpijob_operator *operator_, const struct mpijob_watch_event *object)
{
	struct mpijob__operator_job *record = mpijob__operator_job_find(operator_, object->uid);
	uint64_t version = mpijob__operator_version_parse(object->resource_version);
	uint32_t generation = operator_->sources[MPIJOB__OPERATOR_INFORMER_JOBS].generation;
	int rc;

	if (object->event == MPIJOB_WATCH_DELETED) {
		if (record)
			mpijob__operator_job_remove(operator_, record);
		return record != NULL;
	}
	if (!*object->uid || !*object->name || !*object->namespace_) {
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "job-set-aside",
		    "an MPIJob without uid, name or namespace is left out");
		return 0;
	}
	if (record) {
		record->generation = generation;
		/* Also our own write, which its answer told us before. */
		if (version && version <= record->version)
			return 0;
		rc = keep(operator_, record, object);
		if (rc == 0)
			record->version = version;
		return rc ? rc : 1;
	}
	record = by_name(operator_, object->namespace_, object->name);
	if (record && version && version < record->version)
		return 0; /* an old server remembers who had this name before */
	if (record)
		mpijob__operator_job_remove(operator_, record);
	rc = make_record(operator_, object, &record);
	if (rc)
		return rc;
	record->generation = generation;
	rc = keep(operator_, record, object);
	if (rc) {
		mpijob__operator_job_remove(operator_, record);
		return rc;
	}
	record->version = version;
	mpijob__operator_orphans_adopt(operator_, record->uid);
	return 1;
}
