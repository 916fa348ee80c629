/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank a process is. Knows the variables by which each launcher tells (THE table), who may
 * run inside of whom, and how Slurm writes the tasks of its nodes ("4(x2),3").
 */
#include "core/diag.h"
#include "base/struct.h"

#include <mpijob/rank.h>

#include <string.h>

#define WORDS 3 /* most names for one number */

/* A batch system runs launchers, and is asked only when none of them has told. */
enum kind { OF_LAUNCHER, OF_BATCH };

struct row {
	int32_t source;
	enum kind kind;
	const char *rank;
	const char *world_size[WORDS]; /* the first that is set counts */
	const char *local_rank[WORDS];
	const char *local_size[WORDS];
	const char *needs; /* counts only when this is set too; NULL: nothing */
};

static const struct row rows[] = {
	{ MPIJOB_RANK_OPENMPI, OF_LAUNCHER, "OMPI_COMM_WORLD_RANK", { "OMPI_COMM_WORLD_SIZE" },
	    { "OMPI_COMM_WORLD_LOCAL_RANK" }, { "OMPI_COMM_WORLD_LOCAL_SIZE" }, NULL },
	{ MPIJOB_RANK_MVAPICH, OF_LAUNCHER, "MV2_COMM_WORLD_RANK", { "MV2_COMM_WORLD_SIZE" },
	    { "MV2_COMM_WORLD_LOCAL_RANK" }, { "MV2_COMM_WORLD_LOCAL_SIZE" }, NULL },
	{ MPIJOB_RANK_MVAPICH, OF_LAUNCHER, "MVP_COMM_WORLD_RANK", { "MVP_COMM_WORLD_SIZE" },
	    { "MVP_COMM_WORLD_LOCAL_RANK" }, { "MVP_COMM_WORLD_LOCAL_SIZE" }, NULL },
	{ MPIJOB_RANK_HOROVOD, OF_LAUNCHER, "HOROVOD_RANK", { "HOROVOD_SIZE" },
	    { "HOROVOD_LOCAL_RANK" }, { "HOROVOD_LOCAL_SIZE" }, NULL },
	{ MPIJOB_RANK_HYDRA, OF_LAUNCHER, "PMI_RANK", { "PMI_SIZE" },
	    { "MPI_LOCALRANKID", "PMI_LOCAL_RANK" }, { "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE" },
	    NULL },
	{ MPIJOB_RANK_TORCH, OF_LAUNCHER, "RANK", { "WORLD_SIZE" }, { "LOCAL_RANK" },
	    { "LOCAL_WORLD_SIZE", "LOCAL_SIZE" }, "WORLD_SIZE" },
	{ MPIJOB_RANK_SLURM, OF_BATCH, "SLURM_PROCID",
	    { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS" }, { "SLURM_LOCALID" },
	    { NULL }, "SLURM_STEP_ID" },
	{ MPIJOB_RANK_FLUX, OF_BATCH, "FLUX_TASK_RANK", { "FLUX_JOB_SIZE" },
	    { "FLUX_TASK_LOCAL_ID" }, { NULL }, NULL },
	{ MPIJOB_RANK_PMIX, OF_BATCH, "PMIX_RANK", { NULL }, { NULL }, { NULL }, NULL },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

struct question {
	mpijob_lookup_fn lookup;
	void *user;
	mpijob_diag *diag;
	int code;
};

static const char *ask(const struct question *q, const char *name)
{
	const char *value = name != NULL ? q->lookup(q->user, name) : NULL;

	return value != NULL && *value != '\0' ? value : NULL;
}

static void refuse(struct question *q, const char *name, const char *value, const char *why)
{
	int code = mpijob__core_diag_addf(q->diag, MPIJOB_SEVERITY_ERROR, "rank-variable", NULL,
	    NULL, NULL, "%s=%s: %s", name, value, why);

	q->code = code != 0 ? code : MPIJOB_ERR_SPEC;
}

/* Digits alone; -1 for anything else. */
static int32_t number(const char *text, size_t len)
{
	int64_t value = 0;

	if (len == 0)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = value * 10 + (text[i] - '0');
		if (value > INT32_MAX)
			return -1;
	}
	return (int32_t)value;
}

/* The number of the first variable that is set; -1 when none is. */
static int32_t take(struct question *q, const char *const *names)
{
	for (size_t i = 0; i < WORDS && names[i] != NULL; i++) {
		const char *value = ask(q, names[i]);

		if (value == NULL)
			continue;
		if (number(value, strlen(value)) < 0)
			refuse(q, names[i], value, "is no number of a rank or of ranks");
		return number(value, strlen(value));
	}
	return -1;
}

/* The entry of a node in "4(x2),3"; -1 when there is none. */
static int32_t tasks_of_node(const char *text, int32_t node)
{
	while (*text != '\0') {
		size_t len = strspn(text, "0123456789");
		int32_t tasks = number(text, len), times = 1;

		text += len;
		if (strncmp(text, "(x", 2) == 0) {
			len = strspn(text + 2, "0123456789");
			times = number(text + 2, len);
			text += 2 + len;
			if (*text++ != ')')
				return -1;
		}
		if (tasks < 0 || times < 0 || (*text != '\0' && *text++ != ','))
			return -1;
		if (node < times)
			return tasks;
		node -= times;
	}
	return -1;
}

static int32_t slurm_local_size(struct question *q)
{
	static const char *const names[] = { "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE" };
	const char *node = ask(q, "SLURM_NODEID");

	for (size_t i = 0; node != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *tasks = ask(q, names[i]);
		int32_t index = number(node, strlen(node));

		if (tasks != NULL)
			return index < 0 ? -1 : tasks_of_node(tasks, index);
	}
	return -1;
}

static void check(struct question *q, const struct row *row, const struct mpijob_rank *rank)
{
	const char *value = ask(q, row->rank);

	if (rank->world_size >= 0 && rank->rank >= rank->world_size)
		refuse(q, row->rank, value, "there are not so many ranks");
	else if (rank->world_size >= 0 && rank->local_size > rank->world_size)
		refuse(q, row->rank, value, "more ranks are on this host than there are");
	else if (rank->local_size >= 0 && rank->local_rank >= rank->local_size)
		refuse(q, row->rank, value,
		    "its rank on this host is greater than there are ranks on it");
	else if (rank->local_rank > rank->rank)
		refuse(q, row->rank, value, "its rank on this host is greater than its rank");
}

/* 1 when this launcher has set its variables. */
static int read_row(struct question *q, const struct row *row, struct mpijob_rank *out)
{
	const char *names[WORDS] = { row->rank };
	struct mpijob_rank rank = { .size = sizeof(rank),
		.source = row->source,
		.variable = row->rank };

	if (ask(q, row->rank) == NULL || (row->needs != NULL && ask(q, row->needs) == NULL))
		return 0;
	rank.rank = take(q, names);
	rank.world_size = take(q, row->world_size);
	rank.local_rank = take(q, row->local_rank);
	rank.local_size =
	    row->source == MPIJOB_RANK_SLURM ? slurm_local_size(q) : take(q, row->local_size);
	if (q->code == 0)
		check(q, row, &rank);
	*out = rank;
	return 1;
}

/* Two that are there at once have to mean the same: deepspeed over MPI does, torchrun inside of
 * mpirun does not. */
static void compare(struct question *q, const struct mpijob_rank *a, const struct mpijob_rank *b)
{
	int code;

	if (a->rank == b->rank &&
	    (a->world_size == b->world_size || a->world_size < 0 || b->world_size < 0))
		return;
	code = mpijob__core_diag_addf(q->diag, MPIJOB_SEVERITY_ERROR, "rank-variable", NULL, NULL,
	    NULL,
	    "%s says rank %d of %d, %s says rank %d of %d; take the variables away that were "
	    "inherited",
	    a->variable, (int)a->rank, (int)a->world_size, b->variable, (int)b->rank,
	    (int)b->world_size);
	q->code = code != 0 ? code : MPIJOB_ERR_SPEC;
}

static int read_all(struct question *q, struct mpijob_rank *out)
{
	struct mpijob_rank next = { 0 };
	enum kind kind = OF_LAUNCHER;
	int found = 0;

	for (size_t i = 0; i < ROWS && q->code == 0; i++) {
		if ((found && rows[i].kind != kind) || !read_row(q, &rows[i], &next))
			continue;
		if (found && q->code == 0)
			compare(q, out, &next);
		if (!found)
			*out = next;
		kind = rows[i].kind;
		found = 1;
	}
	return found;
}

int mpijob_rank_lookup(mpijob_lookup_fn lookup, void *user, struct mpijob_rank *out,
    mpijob_diag *diag)
{
	struct mpijob_rank local, rank = { sizeof(rank), 0, 1, 0, 1, MPIJOB_RANK_NONE, NULL };
	struct question q = { lookup, user, diag, 0 };
	int code, found;

	if (lookup == NULL || out == NULL)
		return MPIJOB_ERR_USAGE;
	code = mpijob__base_struct_check(&local, sizeof(local), out);
	if (code != 0)
		return code;
	found = read_all(&q, &rank);
	if (q.code != 0)
		return q.code;
	rank.size = out->size;
	memcpy(out, &rank, out->size < sizeof(rank) ? out->size : sizeof(rank));
	return found;
}

static const char *look(void *user, const char *name)
{
	const char *const *entries = user;
	size_t len = strlen(name);

	for (; *entries != NULL; entries++) {
		if (strncmp(*entries, name, len) == 0 && (*entries)[len] == '=')
			return *entries + len + 1;
	}
	return NULL;
}

int mpijob_rank_read(const char *const *environment, struct mpijob_rank *out, mpijob_diag *diag)
{
	static const char *const nothing[] = { NULL };
	const char *const *entries = environment != NULL ? environment : nothing;

	return mpijob_rank_lookup(look, (void *)(uintptr_t)entries, out, diag);
}
