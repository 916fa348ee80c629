/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the rank of a process. Knows the variables of each launcher (the table), which launcher may
 * run inside which, and how Slurm writes the tasks of its nodes ("4(x2),3").
 */
#include "core/diag.h"
#include "base/struct.h"

#include <mpijob/rank.h>

#include <string.h>

#define WORDS 3 /* maximum number of names for one value */

/* A batch system may run a launcher, so its variables are used only if no launcher has set its own.
 */
enum kind { OF_LAUNCHER, OF_BATCH };

struct row {
	int32_t source;
	enum kind kind;
	const char *rank;
	const char *world_size[WORDS]; /* the first one that is set is used */
	const char *local_rank[WORDS];
	const char *local_size[WORDS];
	const char *needs; /* the row is used only if this is set too; may be NULL */
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

struct lookup_state {
	const char *const *environment;
	mpijob_diag *diag;
	int code;
};

/* The first entry of a name counts; an empty value counts as not set. */
static const char *value_of(const struct lookup_state *q, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	for (const char *const *entry = q->environment; name && *entry; entry++)
		if (strncmp(*entry, name, len) == 0 && (*entry)[len] == '=')
			return (*entry)[len + 1] ? *entry + len + 1 : NULL;
	return NULL;
}

static void reject(struct lookup_state *q, const char *name, const char *value, const char *why)
{
	int code = mpijob__core_diag_addf(q->diag, MPIJOB_SEVERITY_ERROR, "rank-variable", NULL,
	    NULL, NULL, "%s=%s: %s", name, value, why);

	q->code = code != 0 ? code : MPIJOB_ERR_SPEC;
}

/* Parse decimal digits; -1 for anything else. */
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

/* The value of the first variable that is set; -1 when none is. */
static int32_t first_number(struct lookup_state *q, const char *const *names)
{
	for (size_t i = 0; i < WORDS && names[i] != NULL; i++) {
		const char *value = value_of(q, names[i]);

		if (value == NULL)
			continue;
		if (number(value, strlen(value)) < 0)
			reject(q, names[i], value, "is not a rank or a number of ranks");
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

static int32_t slurm_local_size(struct lookup_state *q)
{
	static const char *const names[] = { "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE" };
	const char *node = value_of(q, "SLURM_NODEID");

	for (size_t i = 0; node != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *tasks = value_of(q, names[i]);
		int32_t index = number(node, strlen(node));

		if (tasks != NULL)
			return index < 0 ? -1 : tasks_of_node(tasks, index);
	}
	return -1;
}

static void check(struct lookup_state *q, const struct row *row, const struct mpijob_rank *rank)
{
	const char *value = value_of(q, row->rank);

	if (rank->world_size >= 0 && rank->rank >= rank->world_size)
		reject(q, row->rank, value, "the rank is not less than the number of ranks");
	else if (rank->world_size >= 0 && rank->local_size > rank->world_size)
		reject(q, row->rank, value, "more ranks on this host than in total");
	else if (rank->local_size >= 0 && rank->local_rank >= rank->local_size)
		reject(q, row->rank, value,
		    "its rank on this host is not less than the number of ranks on it");
	else if (rank->local_rank > rank->rank)
		reject(q, row->rank, value, "its rank on this host is greater than its rank");
}

/* Returns 1 if this launcher has set its variables. */
static int read_row(struct lookup_state *q, const struct row *row, struct mpijob_rank *out)
{
	const char *names[WORDS] = { row->rank };
	struct mpijob_rank rank = { .size = sizeof(rank),
		.source = row->source,
		.variable = row->rank };

	if (value_of(q, row->rank) == NULL ||
	    (row->needs != NULL && value_of(q, row->needs) == NULL))
		return 0;
	rank.rank = first_number(q, names);
	rank.world_size = first_number(q, row->world_size);
	rank.local_rank = first_number(q, row->local_rank);
	rank.local_size = row->source == MPIJOB_RANK_SLURM ? slurm_local_size(q)
							   : first_number(q, row->local_size);
	if (q->code == 0)
		check(q, row, &rank);
	*out = rank;
	return 1;
}

/* The variables of two launchers must agree: those of deepspeed over MPI do, those of torchrun
 * inside mpirun do not. */
static void compare(struct lookup_state *q, const struct mpijob_rank *a,
    const struct mpijob_rank *b)
{
	int code;

	if (a->rank == b->rank &&
	    (a->world_size == b->world_size || a->world_size < 0 || b->world_size < 0))
		return;
	code = mpijob__core_diag_addf(q->diag, MPIJOB_SEVERITY_ERROR, "rank-variable", NULL, NULL,
	    NULL, "%s says rank %d of %d, %s says rank %d of %d; unset the inherited variables",
	    a->variable, (int)a->rank, (int)a->world_size, b->variable, (int)b->rank,
	    (int)b->world_size);
	q->code = code != 0 ? code : MPIJOB_ERR_SPEC;
}

static int read_all(struct lookup_state *q, struct mpijob_rank *out)
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

int mpijob_rank_read(const char *const *environment, struct mpijob_rank *out, mpijob_diag *diag)
{
	static const char *const nothing[] = { NULL };
	struct mpijob_rank local, rank = { sizeof(rank), 0, 1, 0, 1, MPIJOB_RANK_NONE, NULL };
	struct lookup_state q = { environment ? environment : nothing, diag, 0 };
	int code, found;

	if (out == NULL)
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
