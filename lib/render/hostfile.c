/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts of a job, in the order in which ranks are placed: the launcher first if it runs ranks,
 * then the workers by index. Knows the line of each MPI ("host slots=n" for Open MPI, "host:n" for
 * Intel MPI and MPICH), the form of a host name, the name that Intel MPI recognizes as its own, and
 * that mpi-operator sorts discover_hosts.sh as text, so that worker 10 comes before worker 2.
 */
#include "render/build.h"

#include "core/diag.h"
#include "base/text.h"
#include "render/differences.h"

#include <stdlib.h>
#include <string.h>

struct mpijob_hostfile {
	struct mpijob_host *hosts;
	size_t count;
	int32_t mpi;
	struct mpijob_text names;
};

int mpijob__render_hostfile_suffix(const struct mpijob__render_subject *subject,
    struct mpijob_text *text)
{
	const char *domain = subject->options.cluster_domain;

	if (mpijob__render_subject_compact(subject))
		return mpijob__base_text_printf(text, ".%s", subject->name);
	return mpijob__base_text_printf(text, ".%s.%s.svc%s%s", subject->name, subject->namespace_,
	    domain != NULL ? "." : "", domain != NULL ? domain : "");
}

/* A line that differs between workers only in the index. */
struct line {
	mpijob_write_fn write;
	void *user;
	struct mpijob_text text; /* "echo J-worker-17.J.NAMESPACE.svc\n" */
	size_t index_at;         /* offset of the index */
	size_t index_len;
};

/* Complete the line: the text so far comes before the index, `after` behind it. */
static int end_line(struct line *line, const struct mpijob_text *after)
{
	line->index_at = line->text.len;
	line->index_len = 0;
	return mpijob_text_write(&line->text, after->data, after->len);
}

static int write_worker(struct line *line, int32_t index)
{
	struct mpijob_text *text = &line->text;
	char digits[MPIJOB__RENDER_NUMBER_SIZE];
	size_t len = mpijob__render_number((size_t)index, digits);
	char *at;

	if (len > line->index_len && mpijob__base_text_reserve(text, len - line->index_len))
		return MPIJOB_ERR_NOMEM;
	at = text->data + line->index_at;
	if (len != line->index_len) {
		memmove(at + len, at + line->index_len,
		    text->len - line->index_at - line->index_len + 1);
		text->len = text->len - line->index_len + len;
		line->index_len = len;
	}
	memcpy(at, digits, len);
	return line->write(line->user, text->data, text->len);
}

/* Whether Intel MPI needs the short name: it treats a name that ends in ".svc" as another host.
 * With a cluster domain the full name is the one in /etc/hosts. */
static int launcher_is_short(const struct mpijob__render_subject *subject)
{
	return subject->spec->mpi_implementation == MPIJOB_INTEL &&
	       (subject->options.cluster_domain == NULL ||
		   mpijob__render_subject_compact(subject)) &&
	       mpijob__render_difference_holds(MPIJOB__RENDER_DIFFERENCE_INTEL_LAUNCHER_NAME,
		   subject->options.reference);
}

static int write_launcher(const struct mpijob__render_subject *subject, const struct line *line,
    const char *before, const char *after)
{
	struct mpijob_text text = { 0 };
	int code = mpijob__base_text_printf(&text, "%s%s-launcher%s", before, subject->name, after);

	if (code == 0)
		code = line->write(line->user, text.data, text.len);
	mpijob__base_text_release(&text);
	return code;
}

static int slots_text(int32_t mpi, int32_t slots, struct mpijob_text *text)
{
	return mpijob__base_text_printf(text,
	    mpi == MPIJOB_INTEL || mpi == MPIJOB_MPICH ? ":%d\n" : " slots=%d\n", (int)slots);
}

/* Check that so many hosts can fit into a ConfigMap, to avoid writing for minutes. */
static int check_count(const struct mpijob__render_subject *subject, size_t workers)
{
	size_t least = 2 * strlen(subject->name) + strlen("-worker-0.:1\n");

	if (!mpijob__render_subject_compact(subject))
		least += strlen(subject->namespace_);
	return workers > MPIJOB__RENDER_CONFIG_MAP_LIMIT / least ? MPIJOB_ERR_SPEC : 0;
}

int mpijob__render_hostfile_write(const struct mpijob__render_subject *subject,
    mpijob_write_fn write, void *user)
{
	struct line line = { write, user, { 0 }, 0, 0 };
	struct mpijob_text after = { 0 }; /* ".J.NAMESPACE.svc slots=2\n" */
	int32_t workers = mpijob__render_subject_workers(subject);
	int code = check_count(subject, (size_t)workers);
	size_t suffix_len;

	if (code == 0)
		code = mpijob__base_text_printf(&line.text, "%s-worker-", subject->name);
	if (code == 0)
		code = mpijob__render_hostfile_suffix(subject, &after);
	suffix_len = after.len;
	if (code == 0)
		code = slots_text(subject->spec->mpi_implementation,
		    mpijob__render_subject_slots(subject), &after);
	if (code == 0 && mpijob__render_subject_launcher_has_ranks(subject))
		code = write_launcher(subject, &line, "",
		    after.data + (launcher_is_short(subject) ? suffix_len : 0));
	if (code == 0)
		code = end_line(&line, &after);
	for (int32_t i = 0; code == 0 && i < workers; i++)
		code = write_worker(&line, i);
	mpijob__base_text_release(&line.text);
	mpijob__base_text_release(&after);
	return code;
}

int mpijob__render_hostfile_runs(const struct mpijob__render_subject *subject, int32_t index)
{
	const struct mpijob_render_options *options = &subject->options;

	return options->running == NULL ||
	       ((size_t)index < options->running_count && options->running[index] != 0);
}

/* The number of workers for which `running` has an entry. */
static int32_t known_workers(const struct mpijob__render_subject *subject)
{
	int32_t workers = mpijob__render_subject_workers(subject);
	size_t known = subject->options.running_count;

	return subject->options.running != NULL && known < (size_t)workers ? (int32_t)known
									   : workers;
}

/* Visit the indices below `count` in the order of their texts: 0, 1, 10, 100, ..., 11, ..., 2. */
static int write_by_text(const struct mpijob__render_subject *subject, struct line *line,
    int32_t count, int64_t first)
{
	int code = 0;

	for (int64_t i = first; code == 0 && i < first + 10 && i < count; i++) {
		if (mpijob__render_hostfile_runs(subject, (int32_t)i))
			code = write_worker(line, (int32_t)i);
		if (code == 0 && i > 0)
			code = write_by_text(subject, line, count, i * 10);
	}
	return code;
}

static int write_by_number(const struct mpijob__render_subject *subject, struct line *line,
    int32_t count)
{
	int code = 0;

	for (int32_t i = 0; code == 0 && i < count; i++)
		if (mpijob__render_hostfile_runs(subject, i))
			code = write_worker(line, i);
	return code;
}

int mpijob__render_discover_hosts_write(const struct mpijob__render_subject *subject,
    mpijob_write_fn write, void *user)
{
	int code;

	if (!mpijob__render_subject_compact(subject))
		return mpijob__render_discover_hosts_lines(subject, write, user);
	code = check_count(subject, (size_t)known_workers(subject));
	return code != 0 ? code : mpijob__render_host_ranges_write(subject, write, user);
}

int mpijob__render_discover_hosts_lines(const struct mpijob__render_subject *subject,
    mpijob_write_fn write, void *user)
{
	static const char shell[] = "#!/bin/sh\n";
	struct line line = { write, user, { 0 }, 0, 0 };
	struct mpijob_text after = { 0 };
	int32_t workers = known_workers(subject);
	int code = check_count(subject, (size_t)workers);

	if (code == 0)
		code = mpijob__base_text_printf(&line.text, "echo %s-worker-", subject->name);
	if (code == 0)
		code = mpijob__render_hostfile_suffix(subject, &after);
	if (code == 0)
		code = mpijob__base_text_puts(&after, "\n");
	if (code == 0)
		code = write(user, shell, sizeof(shell) - 1);
	if (code == 0 && mpijob__render_subject_launcher_has_ranks(subject))
		code = write_launcher(subject, &line, "echo ", after.data);
	if (code == 0)
		code = end_line(&line, &after);
	if (code == 0 &&
	    mpijob__render_difference_holds(MPIJOB__RENDER_DIFFERENCE_DISCOVER_HOSTS_ORDER,
		subject->options.reference))
		code = write_by_number(subject, &line, workers);
	else if (code == 0)
		code = write_by_text(subject, &line, workers, 0);
	mpijob__base_text_release(&line.text);
	mpijob__base_text_release(&after);
	return code;
}

/* Write all names one after the other, each with its NUL. The hosts point to them after the last
 * reallocation. */
static int list_names(const struct mpijob__render_subject *subject, struct mpijob_text *names)
{
	struct mpijob_text suffix = { 0 };
	int32_t workers = mpijob__render_subject_workers(subject);
	int code = mpijob__render_hostfile_suffix(subject, &suffix);

	if (code == 0 && mpijob__render_subject_launcher_has_ranks(subject))
		code = mpijob__base_text_printf(names, "%s-launcher%s%c", subject->name,
		    launcher_is_short(subject) ? "" : suffix.data, '\0');
	for (int32_t i = 0; code == 0 && i < workers; i++)
		code = mpijob__base_text_printf(names, "%s-worker-%d%s%c", subject->name, (int)i,
		    suffix.data, '\0');
	mpijob__base_text_release(&suffix);
	return code;
}

static int list_hosts(const struct mpijob__render_subject *subject, mpijob_hostfile *hostfile)
{
	int32_t worker = mpijob__render_subject_launcher_has_ranks(subject) ? -1 : 0;
	size_t count = (size_t)(mpijob__render_subject_workers(subject) - worker);
	int code = list_names(subject, &hostfile->names);
	const char *name = hostfile->names.data;

	if (code != 0)
		return code;
	hostfile->mpi = subject->spec->mpi_implementation;
	hostfile->hosts = calloc(count > 0 ? count : 1, sizeof(hostfile->hosts[0]));
	if (hostfile->hosts == NULL)
		return MPIJOB_ERR_NOMEM;
	for (; hostfile->count < count; hostfile->count++, worker++) {
		struct mpijob_host *host = &hostfile->hosts[hostfile->count];

		*host = (struct mpijob_host){ sizeof(*host), name,
			mpijob__render_subject_slots(subject), worker };
		name += strlen(name) + 1;
	}
	return 0;
}

int mpijob_hostfile_new(const mpijob *job, const struct mpijob_render_options *options,
    mpijob_hostfile **out, mpijob_diag *diag)
{
	struct mpijob__render_subject subject;
	mpijob_hostfile *hostfile;
	int code;

	if (job == NULL || out == NULL)
		return MPIJOB_ERR_USAGE;
	code = mpijob__render_subject_valid(job, options, &subject, diag);
	if (code != 0)
		return code;
	hostfile = calloc(1, sizeof(*hostfile));
	if (hostfile == NULL)
		return MPIJOB_ERR_NOMEM;
	code = check_count(&subject, (size_t)mpijob__render_subject_workers(&subject));
	if (code != 0)
		mpijob__render_config_map_too_large(&subject, diag);
	else
		code = list_hosts(&subject, hostfile);
	if (code != 0) {
		mpijob_hostfile_free(hostfile);
		return code;
	}
	*out = hostfile;
	return 0;
}

void mpijob_hostfile_free(mpijob_hostfile *hostfile)
{
	if (hostfile == NULL)
		return;
	mpijob__base_text_release(&hostfile->names);
	free(hostfile->hosts);
	free(hostfile);
}

const struct mpijob_host *mpijob_hostfile_at(const mpijob_hostfile *hostfile, size_t index)
{
	return hostfile && index < hostfile->count ? &hostfile->hosts[index] : NULL;
}

int mpijob_hostfile_write(const mpijob_hostfile *hostfile, mpijob_write_fn write, void *user)
{
	struct mpijob_text slots = { 0 };
	int code = 0;

	if (hostfile == NULL || write == NULL)
		return MPIJOB_ERR_USAGE;
	if (hostfile->count > 0)
		code = slots_text(hostfile->mpi, hostfile->hosts[0].slots, &slots);
	for (size_t i = 0; code == 0 && i < hostfile->count; i++) {
		code = write(user, hostfile->hosts[i].name, strlen(hostfile->hosts[i].name));
		if (code == 0)
			code = write(user, slots.data, slots.len);
	}
	mpijob__base_text_release(&slots);
	return code;
}
