/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The position in a job's document of a field that a server rejects.
 *
 * Only this file knows how servers write the path of a field, and that strict validation names
 * unknown fields inside of a sentence.
 */
#include "client/jobs_findings.h"

#include "client/jobs.h"

#include "core/diag.h"
#include "base/text.h"
#include "job/job.h"

#include <string.h>

/* Where the last step of a path begins. Dots inside of brackets separate no steps. */
static size_t last_step(const char *path, size_t len)
{
	int inside = 0;

	for (size_t i = len; i > 0; i--) {
		if (path[i - 1] == ']')
			inside = 1;
		else if (path[i - 1] == '[')
			return i - 1;
		else if (path[i - 1] == '.' && !inside)
			return i - 1;
	}
	return 0;
}

/* The position of a field; of an absent field, its parent's. Zeros if that is absent, too. */
static int find_place(const mpijob *job, const char *field, struct mpijob__core_place *place)
{
	const mpijob_node *node = NULL;
	mpijob_text path = { 0 };
	int rc;

	memset(place, 0, sizeof(*place));
	if (!job)
		return 0;
	rc = mpijob__base_text_puts(&path, field);
	while (rc == 0 && path.len > 0) {
		node = mpijob_node_find(mpijob__job_node(job), path.data);
		mpijob_node_place(node, &place->line, &place->column);
		if (place->line)
			break;
		path.len = last_step(path.data, path.len);
		path.data[path.len] = 0;
	}
	if (place->line)
		place->source = mpijob__job_source(job);
	mpijob__base_text_release(&path);
	return rc;
}

static int hand_on(const mpijob *job, const struct mpijob_finding *finding, const char *field,
    mpijob_diag *to)
{
	struct mpijob__core_place place = { finding->source, finding->line, finding->column };
	int rc = 0;

	/* Conflicts of server-side apply name their fields like this. */
	if (field && field[0] == '.')
		field++;
	if (field && !finding->line)
		rc = find_place(job, field, &place);
	if (mpijob__core_diag_addf(to, finding->severity, finding->id, finding->reason, field,
		&place, "%s", finding->message))
		rc = MPIJOB_ERR_NOMEM;
	return rc;
}

/* The path of the next `unknown field "a.b"` or `duplicate field "a.b"` in a sentence; 0 if no
 * field follows. */
static int next_field(const char **at, int *unknown, mpijob_text *path)
{
	static const char words[] = " field \"";
	const char *begin = *at, *found, *end;

	while ((found = strstr(begin, words)) != NULL) {
		begin = found + strlen(words);
		end = strchr(begin, '"');
		*unknown = found - *at >= 7 && memcmp(found - 7, "unknown", 7) == 0;
		if (!end ||
		    (!*unknown && (found - *at < 9 || memcmp(found - 9, "duplicate", 9) != 0)))
			continue;
		*at = end + 1;
		mpijob_text_clear(path);
		return mpijob_text_write(path, begin, (size_t)(end - begin)) ? MPIJOB_ERR_NOMEM : 1;
	}
	return 0;
}

/* An error becomes one finding for each field that it names; a warning keeps its text. */
static int hand_on_sentence(const mpijob *job, const struct mpijob_finding *finding,
    mpijob_diag *to)
{
	struct mpijob__core_place place;
	const char *at = finding->message;
	int count = 0, unknown = 0, found, rc = 0;
	mpijob_text path = { 0 };

	while (rc == 0 && (found = next_field(&at, &unknown, &path)) != 0) {
		if (found < 0) {
			rc = found;
			break;
		}
		count++;
		if (finding->severity != MPIJOB_SEVERITY_ERROR) {
			rc = hand_on(job, finding, path.data, to);
			break;
		}
		rc = find_place(job, mpijob_text_data(&path), &place);
		if (rc == 0 && unknown)
			rc = mpijob__core_diag_addf(to, finding->severity, "server-unknown-field",
			    "Invalid", mpijob_text_data(&path), &place,
			    "the server does not know this field");
		else if (rc == 0)
			rc = mpijob__core_diag_addf(to, finding->severity, "server-duplicate",
			    "Duplicate", mpijob_text_data(&path), &place,
			    "the field is there twice");
	}
	mpijob__base_text_release(&path);
	return rc || count ? rc : hand_on(job, finding, NULL, to);
}

int mpijob__client_jobs_place_findings(const mpijob *job, const mpijob_diag *from, mpijob_diag *to)
{
	int rc = 0;

	if (!from || !to)
		return 0;
	/* An error without a text is not reported. */
	if (!mpijob_diag_at(from, 0) && mpijob_diag_dropped(from) > 0)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; mpijob_diag_at(from, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(from, i);
		int code = finding->field ? hand_on(job, finding, finding->field, to)
					  : hand_on_sentence(job, finding, to);

		rc = rc ? rc : code;
	}
	return rc;
}
