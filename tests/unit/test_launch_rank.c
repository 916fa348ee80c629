/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks from the variables of every launcher; several at once, and values that make no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/rank.h>

#define MOST 16

/* "A=1 B=2" as an environment. */
static int read_words(const char *words, struct mpijob_rank *out, mpijob_diag *diag)
{
	const char *entries[MOST + 1] = { NULL };
	char *text = strdup(words), *rest = NULL;
	size_t count = 0;

	for (char *word = strtok_r(text, " ", &rest); word && count < MOST;
	     word = strtok_r(NULL, " ", &rest))
		entries[count++] = word;
	int code = mpijob_rank_read(entries, out, diag);
	free(text);
	return code;
}

static void expect(const char *words, int32_t source, int32_t rank, int32_t size,
    int32_t local_rank, int32_t local_size)
{
	struct mpijob_rank out = MPIJOB_RANK_INIT;

	if (read_words(words, &out, NULL) != 1)
		fail_msg("not read: %s", words);
	assert_int_equal(out.source, source);
	assert_int_equal(out.rank, rank);
	assert_int_equal(out.world_size, size);
	assert_int_equal(out.local_rank, local_rank);
	assert_int_equal(out.local_size, local_size);
	assert_non_null(strstr(words, out.variable));
}

static void refuse(const char *words, const char *message)
{
	struct mpijob_rank out = MPIJOB_RANK_INIT, before = out;
	mpijob_diag *diag = mpijob_diag_new();

	if (read_words(words, &out, diag) != MPIJOB_ERR_SPEC)
		fail_msg("not refused: %s", words);
	assert_memory_equal(&out, &before, sizeof(out));
	assert_true(mpijob_diag_count(diag, 0) > 0);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "rank-variable");
	if (!strstr(mpijob_diag_at(diag, 0)->message, message))
		fail_msg("'%s' is not in '%s'", message, mpijob_diag_at(diag, 0)->message);
	mpijob_diag_free(diag);
}

#define OMPI                                                                          \
	"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 " \
	"OMPI_COMM_WORLD_LOCAL_SIZE=2"
#define PMI "PMI_RANK=3 PMI_SIZE=8 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2"

static void every_launcher(void **state)
{
	(void)state;
	expect(OMPI, MPIJOB_RANK_OPENMPI, 3, 8, 1, 2);
	expect(OMPI " PMIX_RANK=3", MPIJOB_RANK_OPENMPI, 3, 8, 1, 2);
	expect(PMI, MPIJOB_RANK_HYDRA, 3, 8, 1, 2);
	expect("PMI_RANK=0 PMI_SIZE=1 PMI_LOCAL_RANK=0 PMI_LOCAL_SIZE=1", MPIJOB_RANK_HYDRA, 0, 1,
	    0, 1);
	expect("PMI_RANK=5", MPIJOB_RANK_HYDRA, 5, -1, -1, -1);
	expect("MV2_COMM_WORLD_RANK=3 MV2_COMM_WORLD_SIZE=8 MV2_COMM_WORLD_LOCAL_RANK=1 "
	       "MV2_COMM_WORLD_LOCAL_SIZE=2 " PMI,
	    MPIJOB_RANK_MVAPICH, 3, 8, 1, 2);
	expect("MVP_COMM_WORLD_RANK=3 MVP_COMM_WORLD_SIZE=8 MVP_COMM_WORLD_LOCAL_RANK=1 "
	       "MVP_COMM_WORLD_LOCAL_SIZE=2",
	    MPIJOB_RANK_MVAPICH, 3, 8, 1, 2);
	expect("HOROVOD_RANK=3 HOROVOD_SIZE=8 HOROVOD_LOCAL_RANK=1 HOROVOD_LOCAL_SIZE=2",
	    MPIJOB_RANK_HOROVOD, 3, 8, 1, 2);
	expect("RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2", MPIJOB_RANK_TORCH, 3, 8, 1,
	    2);
	expect("RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_SIZE=2", MPIJOB_RANK_TORCH, 3, 8, 1, 2);
	expect("FLUX_TASK_RANK=3 FLUX_JOB_SIZE=8 FLUX_TASK_LOCAL_ID=1", MPIJOB_RANK_FLUX, 3, 8, 1,
	    -1);
	expect("PMIX_RANK=3", MPIJOB_RANK_PMIX, 3, -1, -1, -1);
}

#define SLURM                                                                                     \
	"SLURM_STEP_ID=0 SLURM_PROCID=9 SLURM_STEP_NUM_TASKS=11 SLURM_NTASKS=40 SLURM_LOCALID=1 " \
	"SLURM_NODEID=2 "

static void slurm(void **state)
{
	(void)state;
	expect(SLURM "SLURM_STEP_TASKS_PER_NODE=4(x2),3", MPIJOB_RANK_SLURM, 9, 11, 1, 3);
	expect(SLURM "SLURM_TASKS_PER_NODE=4(x3)", MPIJOB_RANK_SLURM, 9, 11, 1, 4);
	expect(SLURM "SLURM_TASKS_PER_NODE=4(x2)", MPIJOB_RANK_SLURM, 9, 11, 1, -1);
	expect(SLURM "SLURM_TASKS_PER_NODE=4(x2,3", MPIJOB_RANK_SLURM, 9, 11, 1, -1);
	expect(SLURM "SLURM_TASKS_PER_NODE=,", MPIJOB_RANK_SLURM, 9, 11, 1, -1);
	expect(SLURM "PMIX_RANK=9", MPIJOB_RANK_SLURM, 9, 11, 1, -1);
}

static void nobody(void **state)
{
	struct mpijob_rank out = MPIJOB_RANK_INIT;

	(void)state;
	for (int i = 0; i < 4; i++) {
		static const char *const words[] = { "", "HOME=/ RANKS=3 RANK=3",
			"PMI_RANK= OMPI_COMM_WORLD_SIZE=3", "SLURM_PROCID=0" };
		assert_int_equal(read_words(words[i], &out, NULL), 0);
		assert_int_equal(out.source, MPIJOB_RANK_NONE);
		assert_int_equal(out.rank, 0);
		assert_int_equal(out.world_size, 1);
		assert_int_equal(out.local_rank, 0);
		assert_int_equal(out.local_size, 1);
		assert_null(out.variable);
	}
	assert_int_equal(mpijob_rank_read(NULL, &out, NULL), 0);
}

static void several_at_once(void **state)
{
	(void)state;
	/* mpirun or torchrun inside of Slurm's. */
	expect(OMPI " SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=1", MPIJOB_RANK_OPENMPI, 3, 8, 1,
	    2);
	expect("RANK=1 WORLD_SIZE=2 SLURM_STEP_ID=0 SLURM_PROCID=7", MPIJOB_RANK_TORCH, 1, 2, -1,
	    -1);
	/* deepspeed over mpirun. */
	expect(OMPI " RANK=3 WORLD_SIZE=8 LOCAL_RANK=1", MPIJOB_RANK_OPENMPI, 3, 8, 1, 2);
	expect("PMI_RANK=3 RANK=3 WORLD_SIZE=8", MPIJOB_RANK_HYDRA, 3, -1, -1, -1);
	expect(PMI " RANK=4", MPIJOB_RANK_HYDRA, 3, 8, 1, 2);
	/* torchrun inside of mpirun, and the reverse. */
	refuse("PMI_RANK=1 PMI_SIZE=2 RANK=3 WORLD_SIZE=4",
	    "PMI_RANK says rank 1 of 2, RANK says rank 3 of 4");
	refuse("PMI_RANK=1 PMI_SIZE=2 RANK=1 WORLD_SIZE=4",
	    "PMI_RANK says rank 1 of 2, RANK says rank 1 of 4");
	refuse(OMPI " RANK=0 WORLD_SIZE=1",
	    "OMPI_COMM_WORLD_RANK says rank 3 of 8, RANK says rank 0 of 1");
	refuse("HOROVOD_RANK=1 HOROVOD_SIZE=2 RANK=0 WORLD_SIZE=2", "RANK says rank 0 of 2");
	refuse(OMPI " RANK=x WORLD_SIZE=1", "RANK=x: is not a rank");
	expect(OMPI " " PMI, MPIJOB_RANK_OPENMPI, 3, 8, 1, 2);
	expect(OMPI " PMI_RANK=3", MPIJOB_RANK_OPENMPI, 3, 8, 1, 2);
	refuse(OMPI " PMI_RANK=2 PMI_SIZE=8",
	    "OMPI_COMM_WORLD_RANK says rank 3 of 8, PMI_RANK says rank 2 of 8");
	refuse(OMPI " PMI_RANK=3 PMI_SIZE=4", "unset the inherited");
	refuse("SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2 PMIX_RANK=0",
	    "PMIX_RANK says rank 0");
}

static void nonsense(void **state)
{
	(void)state;
	refuse("PMI_RANK=x", "PMI_RANK=x: is not a rank");
	refuse("PMI_RANK=-1", "is not a rank");
	refuse("PMI_RANK=1.0", "is not a rank");
	refuse("PMI_RANK=99999999999999999999", "is not a rank");
	refuse("PMI_RANK=1 PMI_SIZE=two", "PMI_SIZE=two: is not a rank");
	refuse("PMI_RANK=8 PMI_SIZE=8", "not less than the number of ranks");
	refuse("PMI_RANK=1 PMI_SIZE=0", "not less than the number of ranks");
	refuse("PMI_RANK=3 PMI_SIZE=8 MPI_LOCALRANKID=2 MPI_LOCALNRANKS=2", "on this host");
	refuse("PMI_RANK=3 PMI_SIZE=8 MPI_LOCALNRANKS=9", "more ranks on this host");
	refuse("PMI_RANK=3 PMI_SIZE=8 MPI_LOCALRANKID=4", "greater than its rank");
}

static void environments_and_sizes(void **state)
{
	static const char *const twice[] = { "PMI_RANK=1", "PMI_RANK=2", "PMI_SIZE=4", NULL };
	struct {
		struct mpijob_rank rank;
		int64_t more;
	} longer = { { sizeof(longer), 0, 0, 0, 0, 0, NULL }, 0 };
	struct mpijob_rank out = MPIJOB_RANK_INIT;

	(void)state;
	assert_int_equal(mpijob_rank_read(twice, &out, NULL), 1);
	assert_int_equal(out.rank, 1);
	assert_int_equal(mpijob_rank_read(twice, &longer.rank, NULL), 1);
	assert_int_equal(longer.rank.size, sizeof(longer));
	longer.more = 1;
	assert_int_equal(mpijob_rank_read(twice, &longer.rank, NULL), MPIJOB_ERR_UNSUPPORTED);
	out = (struct mpijob_rank)MPIJOB_RANK_INIT;
	out.size = offsetof(struct mpijob_rank, world_size);
	out.world_size = 77;
	assert_int_equal(mpijob_rank_read(twice, &out, NULL), 1);
	assert_int_equal(out.world_size, 77);
	out.size = 1;
	assert_int_equal(mpijob_rank_read(twice, &out, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_rank_read(twice, NULL, NULL), MPIJOB_ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_launcher),
		cmocka_unit_test(slurm),
		cmocka_unit_test(nobody),
		cmocka_unit_test(several_at_once),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(environments_and_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
