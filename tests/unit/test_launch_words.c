/* SPDX-License-Identifier: Apache-2.0 */
/* The words of every tool, what is refused, and that validation has nothing to say about any of
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/mpijob.h>

#include "base/text.h"

static const char job_form[] =
    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: j, namespace: team}\n"
    "spec:\n  mpiImplementation: %s\n  slotsPerWorker: %d\n  runLauncherAsWorker: %s\n  "
    "mpiReplicaSpecs:\n"
    "    Launcher: {template: {spec: {%scontainers: [{name: l, image: i, %s"
    "env: [{name: PRE_A, value: a}, {name: PRE_B, value: b}, {name: Q, value: q}]}]}}}\n"
    "    Worker: {replicas: %d, template: {spec: {containers: [{name: w, image: i}]}}}\n";

struct job {
	const char *mpi;
	int workers;
	int slots;
	int launcher_works;
	const char *pod; /* of the launcher's spec; NULL: nothing */
	const char *command;
};

static mpijob *make_job(const struct job *like)
{
	struct mpijob_text text = { 0 };
	mpijob *job = NULL;

	assert_int_equal(mpijob__base_text_printf(&text, job_form, like->mpi, like->slots,
			     like->launcher_works ? "true" : "false", like->pod ? like->pod : "",
			     like->command ? like->command : "", like->workers),
	    0);
	assert_int_equal(mpijob_parse(mpijob_text_data(&text), mpijob_text_len(&text), NULL, &job,
			     NULL),
	    0);
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	mpijob__base_text_release(&text);
	return job;
}

static const char *const program[] = { "python", "t.py" };

/* The words with spaces between them. */
static int words(const struct job *like, const struct mpijob_launch_options *options,
    struct mpijob_text *out, mpijob_diag *diag)
{
	mpijob *job = make_job(like);
	mpijob_launch *launch = NULL;
	const char *const *word;
	int code = mpijob_launch_new(job, program, 2, options, &launch, diag);

	mpijob_text_clear(out);
	word = mpijob_launch_words(launch);
	for (size_t i = 0; code == 0 && word[i]; i++)
		assert_int_equal(mpijob__base_text_printf(out, "%s%s", i ? " " : "", word[i]), 0);
	if (code == 0) {
		assert_true(mpijob_launch_ranks(launch) > 0);
	} else {
		assert_null(launch);
	}
	mpijob_launch_free(launch);
	mpijob_free(job);
	return code;
}

static void expect(const struct job *like, struct mpijob_launch_options options, const char *want)
{
	struct mpijob_text text = { 0 };
	mpijob_diag *diag = mpijob_diag_new();

	options.size = sizeof(options);
	if (words(like, &options, &text, diag) != 0)
		fail_msg("%s\nfor: %s",
		    mpijob_diag_at(diag, 0) ? mpijob_diag_at(diag, 0)->message : "refused", want);
	assert_string_equal(mpijob_text_data(&text), want);
	mpijob__base_text_release(&text);
	mpijob_diag_free(diag);
}

static void refuse(const struct job *like, struct mpijob_launch_options options, int want,
    const char *message)
{
	struct mpijob_text text = { 0 };
	mpijob_diag *diag = mpijob_diag_new();

	options.size = sizeof(options);
	assert_int_equal(words(like, &options, &text, diag), want);
	if (message) {
		assert_true(mpijob_diag_count(diag, 0) > 0);
		assert_string_equal(mpijob_diag_at(diag, 0)->id, "launch-option");
		if (!strstr(mpijob_diag_at(diag, 0)->message, message))
			fail_msg("'%s' is not in '%s'", message, mpijob_diag_at(diag, 0)->message);
	}
	mpijob__base_text_release(&text);
	mpijob_diag_free(diag);
}

#define OPTIONS(...)                   \
	(struct mpijob_launch_options) \
	{                              \
		__VA_ARGS__            \
	}
#define ENV(...)                                     \
	.env = (const char *const[]){ __VA_ARGS__ }, \
	.env_count = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)

static const struct job openmpi = { "OpenMPI", 4, 8, 0, NULL, NULL };
static const struct job intel = { "Intel", 4, 8, 0, NULL, NULL };
static const struct job mpich = { "MPICH", 4, 8, 0, NULL, NULL };

static void openmpi_words(void **state)
{
	struct job user = openmpi, works = openmpi;

	(void)state;
	user.pod = "securityContext: {runAsUser: 1000}, ";
	works.launcher_works = 1;
	expect(&openmpi, OPTIONS(0), "mpirun --allow-run-as-root -np 32 python t.py");
	expect(&works, OPTIONS(0), "mpirun --allow-run-as-root -np 40 python t.py");
	expect(&user, OPTIONS(0), "mpirun -np 32 python t.py");
	expect(&user, OPTIONS(.allow_run_as_root = 1),
	    "mpirun --allow-run-as-root -np 32 python t.py");
	expect(&openmpi, OPTIONS(.allow_run_as_root = -1, .tool = MPIJOB_LAUNCH_MPIEXEC),
	    "mpiexec -np 32 python t.py");
	user.pod = "securityContext: {runAsNonRoot: true}, ";
	expect(&user, OPTIONS(.np = 3, .executable = "/opt/bin/mpirun"),
	    "/opt/bin/mpirun -np 3 python t.py");
	expect(&user, OPTIONS(.ranks_per_host = 2, .bind_to = "core", .hostfile = "/h"),
	    "mpirun -np 8 --hostfile /h --bind-to core --map-by ppr:2:node python t.py");
	expect(&user, OPTIONS(.np = 40, .oversubscribe = 1),
	    "mpirun -np 40 --map-by slot:OVERSUBSCRIBE python t.py");
	expect(&user, OPTIONS(.np = 40, .oversubscribe = 1, .map_by = "node"),
	    "mpirun -np 40 --map-by node:OVERSUBSCRIBE python t.py");
	expect(&user, OPTIONS(.np = 40, .oversubscribe = 1, .map_by = "slot:PE=2,OVERSUBSCRIBE"),
	    "mpirun -np 40 --map-by slot:PE=2,OVERSUBSCRIBE python t.py");
	expect(&user, OPTIONS(.np = 40, .oversubscribe = 1, .map_by = "slot:Oversubscribe:PE=2"),
	    "mpirun -np 40 --map-by slot:Oversubscribe:PE=2 python t.py");
	expect(&user, OPTIONS(.map_by = "slot:PE=2"),
	    "mpirun -np 32 --map-by slot:PE=2 python t.py");
	expect(&user, OPTIONS(.ranks_per_host = 9, .oversubscribe = 1),
	    "mpirun -np 36 --map-by ppr:9:node:OVERSUBSCRIBE python t.py");
	expect(&user, OPTIONS(.map_by = "node", .verbose = 1),
	    "mpirun -np 32 --map-by node --display-map python t.py");
	expect(&user, OPTIONS(ENV("A=b c", "Q", "PRE_*", "PRE_A")),
	    "mpirun -np 32 -x Q -x PRE_A -x PRE_B -x A=b c python t.py");
	expect(&user,
	    OPTIONS(ENV("PRE_A=1", "PRE_*"),
		.known = (const char *const[]){ "PRE_C=3*", "PRE_", "PR", "PRE_D,E", "PRE_*" },
		.known_count = 5),
	    "mpirun -np 32 -x PRE_B -x PRE_C -x PRE_ -x PRE_A=1 python t.py");
	expect(&user,
	    OPTIONS(.args = (const char *const[]){ "--mca", "pml", "ob1" }, .args_count = 3),
	    "mpirun -np 32 --mca pml ob1 python t.py");
}

static void hydra_words(void **state)
{
	(void)state;
	expect(&mpich, OPTIONS(0), "mpirun -n 32 python t.py");
	expect(&intel, OPTIONS(0), "mpiexec.hydra -n 32 python t.py");
	expect(&intel, OPTIONS(.tool = MPIJOB_LAUNCH_MPIEXEC), "mpiexec -n 32 python t.py");
	expect(&mpich, OPTIONS(.ranks_per_host = 2, .bind_to = "none", .hostfile = "/h"),
	    "mpirun -n 8 -f /h -ppn 2 -bind-to none python t.py");
	expect(&intel, OPTIONS(.map_by = "node", .bind_to = "none"),
	    "mpiexec.hydra -n 32 -ppn 1 -genv I_MPI_PIN 0 python t.py");
	expect(&intel, OPTIONS(.map_by = "slot", .bind_to = "numa"),
	    "mpiexec.hydra -n 32 -genv I_MPI_PIN_DOMAIN numa python t.py");
	expect(&mpich, OPTIONS(ENV("A=b c", "E=", "Q", "PRE_*")),
	    "mpirun -n 32 -genvall -genv A b c -genv E  python t.py");
	expect(&mpich, OPTIONS(ENV("A=b"), .verbose = 1),
	    "mpirun -n 32 -verbose -genv A b python t.py");
	expect(&mpich, OPTIONS(ENV("A=b", "Q", "PRE_*"), .env_only = 1),
	    "mpirun -n 32 -genvlist Q,PRE_A,PRE_B -genv A b python t.py");
	expect(&intel, OPTIONS(.env_only = 1), "mpiexec.hydra -n 32 -genvnone python t.py");
	expect(&mpich, OPTIONS(.oversubscribe = 1, .np = 33), "mpirun -n 33 python t.py");
	expect(&mpich, OPTIONS(.allow_run_as_root = -1), "mpirun -n 32 python t.py");
}

static void horovod_words(void **state)
{
	(void)state;
	expect(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN),
	    "horovodrun -np 32 --hostfile /etc/mpi/hostfile python t.py");
	expect(&openmpi,
	    OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .backend = "gloo", .start_timeout = 60,
		.network_interface = "eth0,eth1", .log_level = "INFO", .verbose = 1,
		ENV("A=b", "Q")),
	    "horovodrun -np 32 --hostfile /etc/mpi/hostfile --gloo --start-timeout 60 "
	    "--network-interfaces eth0,eth1 "
	    "--log-level INFO --verbose env A=b python t.py");
	expect(&openmpi,
	    OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .backend = "mpi", .bind_to = "none",
		.map_by = "slot"),
	    "horovodrun -np 32 --hostfile /etc/mpi/hostfile --mpi --binding-args=--bind-to none "
	    "--map-by slot python t.py");
	expect(&intel, OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .elastic = 1),
	    "horovodrun -np 32 --min-np 8 --max-np 32 --host-discovery-script "
	    "/etc/mpi/discover_hosts.sh --slots-per-host 8 "
	    "python t.py");
	expect(&openmpi,
	    OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .elastic = 1, .np = 4, .min_np = 2,
		.max_np = 64, .elastic_timeout = 30, .reset_limit = 3, .ranks_per_host = 1),
	    "horovodrun -np 4 --min-np 2 --max-np 64 --host-discovery-script "
	    "/etc/mpi/discover_hosts.sh --slots-per-host 1 "
	    "--elastic-timeout 30 --reset-limit 3 python t.py");
}

static void deepspeed_words(void **state)
{
	struct job one = openmpi;

	(void)state;
	one.workers = 1;
	expect(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_DEEPSPEED),
	    "deepspeed --hostfile /etc/mpi/hostfile python t.py");
	expect(&one,
	    OPTIONS(.tool = MPIJOB_LAUNCH_DEEPSPEED, .ranks_per_host = 4, .bind_to = "core",
		ENV("NCCL_DEBUG", "UCX_*")),
	    "deepspeed --hostfile /etc/mpi/hostfile --force_multi --num_gpus 4 "
	    "--bind_cores_to_rank python t.py");
	expect(&openmpi,
	    OPTIONS(.tool = MPIJOB_LAUNCH_DEEPSPEED, .backend = "openmpi", .bind_to = "none",
		ENV("A=it's", "PRE_*")),
	    "deepspeed --hostfile /etc/mpi/hostfile --launcher openmpi "
	    "--launcher_args=--allow-run-as-root --bind-to none "
	    "-x 'PRE_A' -x 'PRE_B' -x 'A=it'\"'\"'s' python t.py");
}

static void what_cannot_be_is_refused(void **state)
{
	const int no = MPIJOB_ERR_UNSUPPORTED;
	struct job none = openmpi, many = openmpi;

	(void)state;
	none.workers = 0;
	many.workers = 2147483647;
	refuse(&none, OPTIONS(0), MPIJOB_ERR_SPEC, "no slot");
	refuse(&many, OPTIONS(0), MPIJOB_ERR_SPEC, "more slots than");
	refuse(&openmpi, OPTIONS(.np = 33), no,
	    "33 ranks, but the job has 4 hosts with 8 slots each");
	refuse(&openmpi, OPTIONS(.ranks_per_host = 9), no, "oversubscribe");
	refuse(&openmpi, OPTIONS(.ranks_per_host = 2, .np = 9), no,
	    "more than 2 on each of 4 hosts");
	refuse(&openmpi, OPTIONS(.ranks_per_host = 2147483647, .oversubscribe = 1), no,
	    "more ranks than MPI");
	refuse(&openmpi, OPTIONS(.map_by = "slot:PE=2", .oversubscribe = 1), no,
	    "'slot:PE=2,OVERSUBSCRIBE' or 'slot:PE=2:OVERSUBSCRIBE'");
	refuse(&openmpi, OPTIONS(.map_by = "slot:NOOVERSUBSCRIBE", .oversubscribe = 1), no,
	    "its own qualifier");
	refuse(&openmpi, OPTIONS(.map_by = "slot:", .oversubscribe = 1), no, "its own qualifier");
	refuse(&openmpi, OPTIONS(.map_by = "slot;id"), MPIJOB_ERR_USAGE,
	    "'slot;id' is not a mapping");
	refuse(&openmpi, OPTIONS(.map_by = ""), MPIJOB_ERR_USAGE, "not a mapping");
	refuse(&openmpi,
	    OPTIONS(.tool = MPIJOB_LAUNCH_DEEPSPEED, .backend = "openmpi", .map_by = "slot -x A=b"),
	    MPIJOB_ERR_USAGE, "map_by");
	refuse(&openmpi,
	    OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .backend = "mpi", .map_by = "$(id)"),
	    MPIJOB_ERR_USAGE, "map_by");
	refuse(&openmpi,
	    OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .backend = "mpi", .allow_run_as_root = -1),
	    no, "always lets root run");
	refuse(&openmpi, OPTIONS(.allow_run_as_root = 5), MPIJOB_ERR_USAGE, NULL);
	refuse(&openmpi, OPTIONS(.allow_run_as_root = -2), MPIJOB_ERR_USAGE, NULL);
	refuse(&openmpi, OPTIONS(.executable = ""), MPIJOB_ERR_USAGE, NULL);
	refuse(&openmpi, OPTIONS(.bind_to = "moon"), no, "none, hwthread, core, socket or numa");
	refuse(&openmpi, OPTIONS(.ranks_per_host = 2, .map_by = "node"), no, "map_by");
	refuse(&mpich, OPTIONS(.ranks_per_host = 2, .map_by = "node"), no, "map_by");
	refuse(&mpich, OPTIONS(.map_by = "socket"), no, "use slot or node");
	refuse(&intel, OPTIONS(.bind_to = "hwthread"), no, "Intel MPI pins");
	refuse(&openmpi, OPTIONS(.elastic = 1), no, "only for horovodrun");
	refuse(&openmpi, OPTIONS(.backend = "gloo"), no, "backend");
	refuse(&openmpi, OPTIONS(ENV("A B")), MPIJOB_ERR_USAGE, "not a variable");
	refuse(&openmpi, OPTIONS(ENV("*")), MPIJOB_ERR_USAGE, "not a variable");
	refuse(&openmpi, OPTIONS(ENV("=x")), MPIJOB_ERR_USAGE, "not a variable");
	refuse(&openmpi, OPTIONS(ENV("A*B")), MPIJOB_ERR_USAGE, "not a variable");
	refuse(&openmpi, OPTIONS(.np = -1), MPIJOB_ERR_USAGE, NULL);
	refuse(&openmpi, OPTIONS(.tool = 5), MPIJOB_ERR_USAGE, NULL);
	refuse(&openmpi, OPTIONS(.args_count = 1), MPIJOB_ERR_USAGE, NULL);
	refuse(&openmpi, OPTIONS(ENV("A", NULL)), MPIJOB_ERR_USAGE, NULL);
	refuse(&intel, OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN), no, "or run it elastic");
	refuse(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .min_np = 1), no,
	    "only for an elastic");
	refuse(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .elastic = 1, .min_np = 33), no,
	    "not between");
	refuse(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .elastic = 1, .backend = "mpi"),
	    no, "use gloo");
	refuse(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .log_level = "loud"), no,
	    "TRACE");
	refuse(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_HOROVODRUN, .bind_to = "core"), no,
	    "backend mpi");
	refuse(&mpich, OPTIONS(.tool = MPIJOB_LAUNCH_DEEPSPEED), no, "mpiImplementation");
	refuse(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_DEEPSPEED, .np = 3), no, "the same number");
	refuse(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_DEEPSPEED, ENV("A")), no, "and not 'A'");
	refuse(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_DEEPSPEED, ENV("NCCL_DEBUG=1")), no,
	    "and not 'NCCL_DEBUG=1'");
	refuse(&openmpi, OPTIONS(.tool = MPIJOB_LAUNCH_DEEPSPEED, .backend = "slurm"), no,
	    "pdsh or openmpi");
}

static void programs_and_arguments(void **state)
{
	static const char *const option[] = { "-x" }, *const colon[] = { "a", ":", "b" },
				 *const empty[] = { "" };
	mpijob *job = make_job(&openmpi);
	mpijob_launch *launch = NULL;
	struct mpijob_launch_options small = { .size = 1 };

	(void)state;
	assert_int_equal(mpijob_launch_new(job, option, 1, NULL, &launch, NULL),
	    MPIJOB_ERR_UNSUPPORTED);
	assert_int_equal(mpijob_launch_new(job, colon, 3, NULL, &launch, NULL),
	    MPIJOB_ERR_UNSUPPORTED);
	assert_int_equal(mpijob_launch_new(job, empty, 1, NULL, &launch, NULL),
	    MPIJOB_ERR_UNSUPPORTED);
	assert_int_equal(mpijob_launch_new(job, program, 0, NULL, &launch, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_launch_new(NULL, program, 2, NULL, &launch, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_launch_new(job, program, 2, NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_launch_new(job, program, 2, &small, &launch, NULL),
	    MPIJOB_ERR_USAGE);
	assert_null(launch);
	assert_int_equal(mpijob_launch_new(job, program, 2, NULL, &launch, NULL), 0);
	assert_int_equal(mpijob_launch_ranks(launch), 32);
	mpijob_launch_free(launch);
	mpijob_launch_free(NULL);
	mpijob_free(job);
}

static void an_unknown_prefix_is_told(void **state)
{
	struct mpijob_launch_options options = OPTIONS(.size = sizeof(options), ENV("NO_*"));
	struct mpijob_text text = { 0 };
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(words(&openmpi, &options, &text, diag), 0);
	assert_int_equal(mpijob_diag_count(diag, 0), 1);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "nothing-forwarded");
	assert_int_equal(mpijob_diag_at(diag, 0)->severity, MPIJOB_SEVERITY_WARNING);
	mpijob__base_text_release(&text);
	mpijob_diag_free(diag);
}

/* The same job with the words as its launcher's command has no warning. */
static int validate_with(const struct job *like, const struct mpijob_launch_options *options)
{
	struct mpijob_text text = { 0 };
	struct job with = *like;
	mpijob *job = make_job(like);
	mpijob_launch *launch = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	const char *const *word;
	int made = mpijob_launch_new(job, program, 2, options, &launch, NULL) == 0;

	mpijob_free(job);
	if (made) {
		assert_int_equal(mpijob__base_text_puts(&text, "command: ["), 0);
		word = mpijob_launch_words(launch);
		for (size_t i = 0; word[i]; i++)
			assert_int_equal(mpijob__base_text_printf(&text, "%s\"%s\"", i ? ", " : "",
					     word[i]),
			    0);
		assert_int_equal(mpijob__base_text_puts(&text, "], "), 0);
		with.command = mpijob_text_data(&text);
		job = make_job(&with);
		assert_int_equal(mpijob_validate(job, NULL, diag), 0);
		if (mpijob_diag_count(diag, MPIJOB_SEVERITY_WARNING))
			fail_msg("%s\n%s", mpijob_diag_at(diag, 0)->message, with.command);
		mpijob_free(job);
	}
	mpijob_launch_free(launch);
	mpijob_diag_free(diag);
	mpijob__base_text_release(&text);
	return made;
}

static void validation_agrees(void **state)
{
	static const char *const mpis[] = { "OpenMPI", "Intel", "MPICH" };
	static const char *const binds[] = { NULL, "none", "core" }, *const maps[] = { NULL, "slot",
		"node" };
	int made = 0;

	(void)state;
	for (int n = 0; n < 3 * 3 * 3 * 4 * 2 * 3 * 2; n++) {
		struct job like = { mpis[n % 3], 3, 2, n / 108 % 2, NULL, NULL };
		struct mpijob_launch_options options = MPIJOB_LAUNCH_OPTIONS_INIT;

		options.bind_to = binds[n / 3 % 3];
		options.map_by = maps[n / 9 % 3];
		options.tool = n / 27 % 4 + 1;
		options.ranks_per_host = n / 216 % 3;
		options.elastic = n / 648 % 2;
		options.env = (const char *const[]){ "Q", "PRE_*", "A=b" };
		options.env_count = options.tool == MPIJOB_LAUNCH_DEEPSPEED ? 0 : 3;
		made += validate_with(&like, &options);
	}
	assert_true(made > 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(openmpi_words),
		cmocka_unit_test(hydra_words),
		cmocka_unit_test(horovod_words),
		cmocka_unit_test(deepspeed_words),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(programs_and_arguments),
		cmocka_unit_test(an_unknown_prefix_is_told),
		cmocka_unit_test(validation_agrees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
