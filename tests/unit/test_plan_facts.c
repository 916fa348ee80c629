/* SPDX-License-Identifier: Apache-2.0 */
/* Facts: their order, news of the same and of others, what is stale, and that they do not grow with
 * a job's history. */
#include "../support/plan_cluster.h"

#include "plan/facts.h"
#include "plan/host_lines.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static struct mpijob_pod_facts pod_of(int32_t role, int32_t index, char name[32], char uid[40],
    int number)
{
	struct mpijob_pod_facts pod = MPIJOB_POD_FACTS_INIT;

	if (role == MPIJOB_ROLE_WORKER)
		snprintf(name, 32, "pi-worker-%d", index);
	else
		snprintf(name, 32, "pi-launcher-%05d", number);
	snprintf(uid, 40, "uid-%d", number);
	pod.name = name;
	pod.uid = uid;
	pod.owner_uid = "job";
	pod.role = role;
	pod.index = role == MPIJOB_ROLE_WORKER ? index : -1;
	pod.phase = MPIJOB_POD_RUNNING;
	return pod;
}

static int put_pod(mpijob_facts *facts, const struct mpijob_pod_facts *pod)
{
	struct mpijob_observed observed = { .size = sizeof(observed), .pod = pod };

	return mpijob_facts_apply(facts, &observed);
}

static int put_launcher(mpijob_facts *facts, const struct mpijob_launcher_facts *launcher)
{
	struct mpijob_observed observed = { .size = sizeof(observed), .launcher = launcher };

	return mpijob_facts_apply(facts, &observed);
}

static int put(mpijob_facts *facts, int32_t index, int number, int64_t created_ms)
{
	char name[32], uid[40];
	struct mpijob_pod_facts pod = pod_of(MPIJOB_ROLE_WORKER, index, name, uid, number);

	pod.created_ms = created_ms;
	return put_pod(facts, &pod);
}

static void test_order(void **state)
{
	enum { COUNT = 10007 };
	mpijob_facts *facts = mpijob_facts_new();
	char name[32], uid[40];

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		int32_t index = (int32_t)((int64_t)i * 5003 % COUNT);

		assert_int_equal(put(facts, index, index, 0), 1);
	}
	for (int i = 0; i < 3; i++) {
		struct mpijob_pod_facts pod =
		    pod_of(MPIJOB_ROLE_LAUNCHER, -1, name, uid, 20003 - i);

		assert_int_equal(put_pod(facts, &pod), 1);
	}
	assert_int_equal(facts->pods.count, COUNT + 3);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(mpijob_facts_pod_at(facts, (size_t)i)->index, i);
	assert_string_equal(mpijob_facts_pod_at(facts, COUNT)->name, "pi-launcher-20001");
	assert_string_equal(mpijob_facts_pod_at(facts, COUNT + 2)->name, "pi-launcher-20003");
	assert_null(mpijob_facts_pod_at(facts, COUNT + 3));
	for (int i = 0; i < COUNT; i += 2) {
		snprintf(uid, sizeof(uid), "uid-%d", i);
		assert_int_equal(mpijob_facts_forget(facts, uid), 1);
		assert_int_equal(mpijob_facts_forget(facts, uid), 0);
	}
	assert_int_equal(facts->pods.count, COUNT / 2 + 3);
	for (int i = 0; i < COUNT / 2; i++)
		assert_int_equal(mpijob_facts_pod_at(facts, (size_t)i)->index, 2 * i + 1);
	mpijob_facts_free(facts);
}

static void test_find(void **state)
{
	mpijob_facts *facts = mpijob_facts_new();
	char name[32], uid[40];
	struct mpijob_pod_facts launcher = pod_of(MPIJOB_ROLE_LAUNCHER, -1, name, uid, 7);
	size_t at = 99;

	(void)state;
	for (int32_t i = 0; i < 12; i++)
		assert_int_equal(put(facts, i, i + 100, 0), 1);
	assert_int_equal(put_pod(facts, &launcher), 1);
	assert_int_equal(mpijob_facts_pod_find(facts, MPIJOB_ROLE_WORKER, 11, "pi-worker-11", &at),
	    1);
	assert_string_equal(mpijob_facts_pod_at(facts, at)->uid, "uid-111");
	assert_int_equal(mpijob_facts_pod_find(facts, MPIJOB_ROLE_LAUNCHER, -1, "pi-launcher-00007",
			     &at),
	    1);
	assert_int_equal(at, 12);
	assert_int_equal(mpijob_facts_pod_find(facts, MPIJOB_ROLE_WORKER, 11, "pi-worker-1", &at),
	    0);
	assert_int_equal(mpijob_facts_pod_find(facts, MPIJOB_ROLE_WORKER, 12, "pi-worker-12", &at),
	    0);
	assert_int_equal(at, 12);
	assert_int_equal(mpijob_facts_pod_find(facts, MPIJOB_ROLE_WORKER, 1, NULL, &at),
	    MPIJOB_ERR_USAGE);
	mpijob_facts_free(facts);
}

static void test_news(void **state)
{
	mpijob_facts *facts = mpijob_facts_new();
	char name[32], uid[40];
	struct mpijob_pod_facts pod = pod_of(MPIJOB_ROLE_WORKER, 3, name, uid, 1);

	(void)state;
	assert_int_equal(put_pod(facts, &pod), 1);
	assert_int_equal(put_pod(facts, &pod), 0);
	pod.message = "said";
	assert_int_equal(put_pod(facts, &pod), 1);
	assert_int_equal(put_pod(facts, mpijob_facts_pod_at(facts, 0)), 0);
	pod.exit_code = 1;
	pod.reason = "Error";
	assert_int_equal(put_pod(facts, &pod), 1);
	assert_int_equal(facts->pods.count, 1);
	assert_string_equal(mpijob_facts_pod_at(facts, 0)->message, "said");
	/* Its label was changed: it is in one place still. */
	pod.role = MPIJOB_ROLE_LAUNCHER;
	assert_int_equal(put_pod(facts, &pod), 1);
	assert_int_equal(facts->pods.count, 1);
	assert_int_equal(mpijob_facts_pod_at(facts, 0)->role, MPIJOB_ROLE_LAUNCHER);
	pod.role = MPIJOB_ROLE_SECRET;
	assert_int_equal(put_pod(facts, &pod), MPIJOB_ERR_USAGE);
	pod.role = MPIJOB_ROLE_WORKER;
	pod.uid = NULL;
	assert_int_equal(put_pod(facts, &pod), MPIJOB_ERR_USAGE);
	assert_int_equal(put_pod(facts, NULL), 0); /* nothing is observed */
	mpijob_facts_free(facts);
	mpijob_facts_free(NULL);
}

static void test_made_again(void **state)
{
	mpijob_facts *facts = mpijob_facts_new();
	char name[32], uid[40];
	struct mpijob_pod_facts going = pod_of(MPIJOB_ROLE_WORKER, 0, name, uid, 1);

	(void)state;
	assert_int_equal(put(facts, 0, 1, 1000), 1);
	assert_int_equal(put(facts, 0, 2, 2000), 1);
	assert_int_equal(facts->pods.count, 1);
	/* Late news of the first one, and of its end. */
	assert_int_equal(put(facts, 0, 1, 1000), 0);
	assert_int_equal(mpijob_facts_forget(facts, "uid-1"), 0);
	assert_string_equal(mpijob_facts_pod_at(facts, 0)->uid, "uid-2");
	/* Made in the same second: the one that is going is the older one. */
	assert_int_equal(put(facts, 0, 3, 2000), 1);
	going.created_ms = 2000;
	going.deleting = 1;
	going.uid = "uid-2";
	assert_int_equal(put_pod(facts, &going), 0);
	assert_string_equal(mpijob_facts_pod_at(facts, 0)->uid, "uid-3");
	assert_int_equal(mpijob_facts_forget(facts, "uid-3"), 1);
	assert_int_equal(facts->pods.count, 0);
	mpijob_facts_free(facts);
}

static void test_launcher_made_again(void **state)
{
	struct mpijob_launcher_facts job = MPIJOB_LAUNCHER_FACTS_INIT;
	mpijob_facts *facts = mpijob_facts_new();

	(void)state;
	job.name = "pi-launcher";
	job.uid = "new";
	job.resource_version = "1000";
	assert_int_equal(put_launcher(facts, &job), 1);
	assert_int_equal(put_launcher(facts, &job), 0);
	job.uid = "old";
	job.resource_version = "999";
	assert_int_equal(put_launcher(facts, &job), 0);
	assert_int_equal(mpijob_facts_forget(facts, "old"), 0);
	assert_string_equal(mpijob_facts_launcher(facts)->uid, "new");
	assert_int_equal(mpijob_facts_forget(facts, "new"), 1);
	assert_null(mpijob_facts_launcher(facts));
	mpijob_facts_free(facts);
}

/* Deleted is deleted, also when the plan still has to say how it ended. */
static void test_launcher_ended(void **state)
{
	struct mpijob_launcher_facts job = MPIJOB_LAUNCHER_FACTS_INIT;
	mpijob_facts *facts = mpijob_facts_new();

	(void)state;
	job.name = "pi-launcher";
	job.uid = "old";
	job.complete = 1;
	assert_int_equal(put_launcher(facts, &job), 1);
	assert_int_equal(mpijob_facts_forget(facts, "old"), 1);
	assert_int_equal(mpijob_facts_forget(facts, "old"), 0);
	assert_null(mpijob_facts_launcher(facts));
	/* News of it, though it is the same, says that it is there after all. */
	assert_int_equal(put_launcher(facts, &job), 1);
	assert_string_equal(mpijob_facts_launcher(facts)->uid, "old");
	assert_int_equal(mpijob_facts_forget(facts, "old"), 1);
	job.uid = "new";
	job.complete = 0;
	assert_int_equal(put_launcher(facts, &job), 1);
	assert_string_equal(mpijob_facts_launcher(facts)->uid, "new");
	mpijob_facts_free(facts);
}

/* A job that lives for months sees many pods, nodes and reasons; its facts hold those of today. */
static void test_growth(void **state)
{
	mpijob_facts *facts = mpijob_facts_new();
	char name[32], uid[40], node[40], reason[40];
	size_t slots = 0;

	(void)state;
	for (int round = 0; round < 300; round++) {
		for (int32_t i = 0; i < 50; i++) {
			struct mpijob_pod_facts pod =
			    pod_of(MPIJOB_ROLE_WORKER, i, name, uid, round * 50 + i);

			snprintf(node, sizeof(node), "node-%d", round * 50 + i);
			snprintf(reason, sizeof(reason), "Reason%d", round);
			pod.node = node;
			pod.reason = reason;
			pod.created_ms = round + 1;
			assert_int_equal(put_pod(facts, &pod), 1);
			if (round % 3 == 0)
				assert_int_equal(mpijob_facts_forget(facts, uid), 1);
		}
		assert_true(facts->pods.count <= 50);
		/* nodes, a reason, an owner, the beginning of the names */
		assert_true(facts->pods.strings.table.count <= 50 + 1 + 1 + 1);
		if (round == 3)
			slots = facts->pods.slots;
		if (round > 3)
			assert_int_equal(facts->pods.slots, slots);
	}
	mpijob_facts_free(facts);
}

/* Names are kept in parts, uids packed: what is shown is what was given, and may be given back. */
static void test_shown(void **state)
{
	static const struct {
		const char *name, *uid;
		int32_t index;
	} rows[] = {
		{ "pi-worker-7", "7f3e5a34-1c2d-4000-8abc-0123456789ab", 7 },
		{ "pi-worker-07", "u7", 7 },
		{ "7", "u-7", 7 },
		{ "q-worker-7", "", 7 },
		{ "pi-worker-17", "u17", 7 },
		{ "pi-worker-0", "u0", 0 },
		{ "0", "u-0", 0 },
		{ "pi", "u", 3 },
		{ "pi-worker-2147483647", "most", INT32_MAX },
		{ "pi-5", "none", -1 },
	};
	const size_t count = sizeof(rows) / sizeof(*rows);
	mpijob_facts *facts = mpijob_facts_new();

	(void)state;
	for (size_t i = 0; i < count; i++) {
		struct mpijob_pod_facts pod = MPIJOB_POD_FACTS_INIT;

		pod.name = rows[i].name;
		pod.uid = rows[i].uid;
		pod.index = rows[i].index;
		pod.role = MPIJOB_ROLE_WORKER;
		assert_int_equal(put_pod(facts, &pod), 1);
		assert_int_equal(put_pod(facts, &pod), 0);
	}
	assert_int_equal(facts->pods.count, count);
	for (size_t i = 0; i + 1 < count; i++) {
		const struct mpijob_pod_facts *one = mpijob_facts_pod_at(facts, i),
					      *next = mpijob_facts_pod_at(facts, i + 1);

		assert_true(one->index < next->index ||
			    (one->index == next->index && strcmp(one->name, next->name) < 0));
		assert_ptr_equal(one, mpijob_facts_pod_at(facts, i));
	}
	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		while (strcmp(mpijob_facts_pod_at(facts, at)->name, rows[i].name) != 0)
			at++;
		assert_string_equal(mpijob_facts_pod_at(facts, at)->uid, rows[i].uid);
		assert_int_equal(mpijob_facts_pod_at(facts, at)->index, rows[i].index);
	}
	for (size_t i = 0; i < count; i++) {
		struct mpijob_pod_facts pod = *mpijob_facts_pod_at(facts, i);

		assert_int_equal(put_pod(facts, &pod), 0);
		pod.ended_ms = 77;
		assert_int_equal(put_pod(facts, &pod), 1);
		pod = *mpijob_facts_pod_at(facts, i);
		assert_int_equal(pod.ended_ms, 77);
		assert_int_equal(put_pod(facts, &pod), 0);
		pod.message = pod.name;
		pod.index = -1; /* its place changes, its strings are those that were shown */
		assert_int_equal(put_pod(facts, &pod), 1);
	}
	assert_int_equal(facts->pods.count, count);
	while (facts->pods.count) {
		assert_string_equal(mpijob_facts_pod_at(facts, 0)->name,
		    mpijob_facts_pod_at(facts, 0)->message);
		assert_int_equal(mpijob_facts_forget(facts, mpijob_facts_pod_at(facts, 0)->uid), 1);
	}
	assert_null(mpijob_facts_pod_at(facts, 0));
	mpijob_facts_free(facts);
}

static int apply(mpijob_facts *facts, const char *json)
{
	mpijob_observation *observation = mpijob_observation_new();
	const struct mpijob_observed *observed;
	int code;

	NEED(!mpijob_observe(observation, json, strlen(json), &observed, NULL));
	code = mpijob_facts_apply(facts, observed);
	mpijob_observation_free(observation);
	return code;
}

#define OWNED(name)                                                                     \
	"\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-" name                         \
	"\",\"ownerReferences\":[{\"kind\":\"MPIJob\",\"name\":\"pi\",\"uid\":\"job\"," \
	"\"controller\":true}]}}"

static void test_apply(void **state)
{
	mpijob_facts *facts = mpijob_facts_new();

	(void)state;
	assert_int_equal(apply(facts,
			     "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"," OWNED("pi-config")),
	    1);
	assert_int_equal(apply(facts,
			     "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"," OWNED("pi-config")),
	    0);
	/* The user's own, tied to the job so that it goes with it. */
	assert_int_equal(apply(facts,
			     "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"," OWNED("input")),
	    0);
	assert_int_equal(apply(facts,
			     "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\"," OWNED("after")),
	    0);
	assert_string_equal(mpijob_facts_child(facts, MPIJOB_ROLE_CONFIG_MAP)->name, "pi-config");
	assert_int_equal(apply(facts, "{\"apiVersion\":\"v1\",\"kind\":\"Node\"," OWNED("n")), 0);
	assert_int_equal(apply(facts, "{\"type\":\"DELETED\",\"object\":{\"apiVersion\":\"v1\","
				      "\"kind\":\"ConfigMap\"," OWNED("input") "}"),
	    0);
	assert_int_equal(apply(facts, "{\"type\":\"DELETED\",\"object\":{\"apiVersion\":\"v1\","
				      "\"kind\":\"ConfigMap\"," OWNED("pi-config") "}"),
	    1);
	assert_null(mpijob_facts_child(facts, MPIJOB_ROLE_CONFIG_MAP));
	assert_null(mpijob_facts_child(facts, 99));
	/* A controller without a name has no children. */
	assert_int_equal(apply(facts, "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{"
				      "\"name\":\"pi\",\"uid\":\"u\","
				      "\"ownerReferences\":[{\"kind\":\"MPIJob\",\"name\":\"\","
				      "\"uid\":\"job\",\"controller\":"
				      "true}]}}"),
	    0);
	assert_int_equal(mpijob_facts_apply(facts, NULL), MPIJOB_ERR_USAGE);
	mpijob_facts_free(facts);
}

/* Structs of an older, shorter version, in memory of exactly that size; and of a newer one. */
static void test_sizes(void **state)
{
	struct mpijob_pod_facts pod = MPIJOB_POD_FACTS_INIT;
	struct {
		struct mpijob_pod_facts pod;
		uint64_t more;
	} newer = { MPIJOB_POD_FACTS_INIT, 0 };
	size_t older = offsetof(struct mpijob_pod_facts, phase);
	mpijob_facts *facts = mpijob_facts_new();
	char *exact = malloc(older);

	(void)state;
	pod.size = older;
	pod.name = "pi-worker-0";
	pod.uid = "u";
	pod.role = MPIJOB_ROLE_WORKER;
	pod.index = 0;
	NEED(exact);
	memcpy(exact, &pod, older);
	assert_int_equal(put_pod(facts, (const struct mpijob_pod_facts *)(void *)exact), 1);
	newer.pod = pod;
	newer.pod.size = sizeof(newer);
	newer.pod.phase = MPIJOB_POD_RUNNING;
	assert_int_equal(put_pod(facts, &newer.pod), 1);
	newer.more = 1;
	assert_int_equal(put_pod(facts, &newer.pod), MPIJOB_ERR_UNSUPPORTED);
	newer.pod.size = 4;
	assert_int_equal(put_pod(facts, &newer.pod), MPIJOB_ERR_USAGE);
	free(exact);
	mpijob_facts_free(facts);
}

static mpijob *job_of(const char *metadata)
{
	char text[512];
	mpijob *job = NULL;

	snprintf(text, sizeof(text),
	    "{\"apiVersion\":\"kubeflow.org/"
	    "v2beta1\",\"kind\":\"MPIJob\",\"metadata\":%s,\"spec\":{\"mpiReplicaSpecs\":{"
	    "\"Launcher\":"
	    "{\"template\":{\"spec\":{\"containers\":[{\"name\":\"l\",\"image\":\"i\"}]}}}}}}",
	    metadata);
	NEED(!mpijob_parse(text, strlen(text), NULL, &job, NULL));
	return job;
}

static uint64_t digest_of(const char *hostfile)
{
	return mpijob__plan_host_lines_observed(hostfile, strlen(hostfile));
}

static void test_hostfile(void **state)
{
	int32_t slots = 2, works = 1, replicas = 3;
	struct mpijob_spec spec = MPIJOB_SPEC_INIT;
	struct mpijob_replica_spec worker = MPIJOB_REPLICA_SPEC_INIT;
	struct mpijob__render_subject subject = { .name = "pi",
		.namespace_ = "ns",
		.uid = "u",
		.spec = &spec };
	uint64_t wanted;

	(void)state;
	assert_true(mpijob__plan_host_lines_wanted(&subject) == digest_of(""));
	spec.slots_per_worker = &slots;
	spec.mpi_implementation = MPIJOB_OPENMPI;
	spec.worker = &worker;
	worker.replicas = &replicas;
	wanted = mpijob__plan_host_lines_wanted(&subject);
	assert_true(wanted == digest_of("pi-worker-0.pi.ns.svc slots=2\npi-worker-1.pi.ns.svc "
					"slots=2\npi-worker-2.pi.ns.svc slots=2\n"));
	/* The operator that began the job may have known another domain. */
	assert_true(
	    wanted == digest_of("pi-worker-0.pi.ns.svc.x.y slots=2\npi-worker-1.pi.ns.svc.x.y "
				"slots=2\npi-worker-2.pi.ns.svc.x.y slots=2\n"));
	assert_true(
	    wanted != digest_of("pi-worker-0.pi.ns.svc slots=2\npi-worker-1.pi.ns.svc slots=2\n"));
	assert_true(wanted != digest_of("pi-worker-0.pi.ns.svc slots=2\npi-worker-1.pi.ns.svc "
					"slots=3\npi-worker-2.pi.ns.svc slots=2\n"));
	assert_true(wanted != digest_of("pi-worker-0.pi.ns.svc slots=4\npi-worker-1.pi.ns.svc "
					"slots=4\npi-worker-2.pi.ns.svc slots=4\n"));
	assert_true(wanted != digest_of("pi-worker-1.pi.ns.svc slots=2\npi-worker-0.pi.ns.svc "
					"slots=2\npi-worker-2.pi.ns.svc slots=2\n"));
	assert_true(wanted != digest_of("po-worker-0.pi.ns.svc slots=2\npo-worker-1.pi.ns.svc "
					"slots=2\npo-worker-2.pi.ns.svc slots=2\n"));
	assert_true(wanted != digest_of("pi-worker-0.pi.ns.svc slots=2\npi-worker-1.pi.ns.svc "
					"slots=2\npi-worker-2.pi.ns.svc slots=2"));
	assert_true(
	    wanted !=
	    digest_of(
		"pi-worker-0.pi.ns.svc:2\npi-worker-1.pi.ns.svc:2\npi-worker-2.pi.ns.svc:2\n"));
	spec.mpi_implementation = MPIJOB_INTEL;
	assert_true(
	    mpijob__plan_host_lines_wanted(&subject) ==
	    digest_of(
		"pi-worker-0.pi.ns.svc:2\npi-worker-1.pi.ns.svc:2\npi-worker-2.pi.ns.svc:2\n"));
	spec.run_launcher_as_worker = &works;
	replicas = 1;
	assert_true(mpijob__plan_host_lines_wanted(&subject) ==
		    digest_of("pi-launcher.pi.ns.svc:2\npi-worker-0.pi.ns.svc:2\n"));
	/* As Intel MPI is told its own name. */
	assert_true(mpijob__plan_host_lines_wanted(&subject) ==
		    digest_of("pi-launcher:2\npi-worker-0.pi.ns.svc:2\n"));
	assert_true(mpijob__plan_host_lines_wanted(&subject) !=
		    digest_of("pi-launcher\npi-worker-0.pi.ns.svc:2\n"));
	assert_true(
	    mpijob__plan_host_lines_wanted(&subject) != digest_of("pi-worker-0.pi.ns.svc:2\n"));
	spec.worker = NULL;
	assert_true(
	    mpijob__plan_host_lines_wanted(&subject) == digest_of("pi-launcher.pi.ns.svc:2\n"));
}

static int count_bytes(void *user, const char *data, size_t len)
{
	(void)data;
	*(size_t *)user += len;
	return 0;
}

/* Times that nobody can mean, and that could not be written into a status, or would overflow. */
static void test_times(void **state)
{
	static const int64_t wrong[] = { -1, INT64_MIN, INT64_C(253402300800000), INT64_MAX };
	static const int64_t right[] = { 0, INT64_C(253402300799999) };
	struct mpijob_launcher_facts launcher = MPIJOB_LAUNCHER_FACTS_INIT;
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	mpijob *job = job_of("{\"name\":\"pi\",\"uid\":\"u\"}");
	mpijob_facts *facts = mpijob_facts_new();
	mpijob_plan *plan = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		options.now_ms = wrong[i];
		assert_int_equal(mpijob_plan_new(job, facts, &options, &plan, NULL),
		    MPIJOB_ERR_USAGE);
	}
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		options.now_ms = right[i];
		assert_int_equal(mpijob_plan_new(job, facts, &options, &plan, NULL), 0);
		assert_int_equal(*mpijob_plan_get_result(plan)->status->start_time,
		    right[i] / 1000);
		mpijob_plan_free(plan);
	}
	assert_int_equal(put(facts, 0, 1, INT64_MAX), MPIJOB_ERR_USAGE);
	assert_int_equal(put(facts, 0, 1, INT64_MIN), MPIJOB_ERR_USAGE);
	launcher.name = launcher.uid = "l";
	launcher.completion_ms = INT64_MAX;
	assert_int_equal(put_launcher(facts, &launcher), MPIJOB_ERR_USAGE);
	launcher.completion_ms = 0;
	launcher.start_ms = INT64_MIN;
	assert_int_equal(put_launcher(facts, &launcher), MPIJOB_ERR_USAGE);
	mpijob_facts_free(facts);
	mpijob_free(job);
}

static const char *last_message(const mpijob_diag *diag)
{
	assert_true(mpijob_diag_count(diag, 0) > 0);
	return mpijob_diag_at(diag, mpijob_diag_count(diag, 0) - 1)->message;
}

static void test_calls(void **state)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	struct {
		struct mpijob_plan_options options;
		int64_t newer;
	} longer = { MPIJOB_PLAN_OPTIONS_INIT, 1 };
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job = job_of("{\"name\":\"pi\",\"uid\":\"u\"}"),
	       *nobody = job_of("{\"name\":\"pi\"}");
	mpijob_facts *facts = mpijob_facts_new();
	uint8_t entropy[MPIJOB_SSH_ENTROPY] = { 1 };
	mpijob_plan *plan = NULL;
	size_t bytes = 0;

	(void)state;
	assert_int_equal(mpijob_plan_new(nobody, facts, &options, &plan, diag), MPIJOB_ERR_USAGE);
	assert_non_null(strstr(last_message(diag), "metadata.uid"));
	assert_int_equal(mpijob_plan_new(job, facts, NULL, &plan, NULL), MPIJOB_ERR_USAGE);
	options.now_ms = -1;
	assert_int_equal(mpijob_plan_new(job, facts, &options, &plan, diag), MPIJOB_ERR_USAGE);
	assert_non_null(strstr(last_message(diag), "out of its bounds"));
	options.now_ms = 0;
	longer.options.size = sizeof(longer);
	assert_int_equal(mpijob_plan_new(job, facts, &longer.options, &plan, diag),
	    MPIJOB_ERR_UNSUPPORTED);
	assert_non_null(strstr(last_message(diag), "this version of the library does not know"));
	render.cluster_domain = "a b";
	options.render = &render;
	assert_int_equal(mpijob_plan_new(job, facts, &options, &plan, diag), MPIJOB_ERR_USAGE);
	assert_non_null(strstr(last_message(diag), "cluster_domain"));
	options.render = NULL;
	mpijob_diag_free(diag);
	assert_null(plan);
	assert_int_equal(mpijob_plan_new(job, facts, &options, &plan, NULL), 0);
	assert_null(mpijob_plan_at(plan, mpijob_plan_get_result(plan)->actions_count));
	assert_int_equal(mpijob_plan_write_body(plan, 1000, NULL, 0, count_bytes, &bytes),
	    MPIJOB_ERR_NOT_FOUND);
	for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++) {
		const struct mpijob_action *action = mpijob_plan_at(plan, i);
		int code = mpijob_plan_write_body(plan, i, NULL, 0, count_bytes, &bytes);

		assert_int_equal(action->size, sizeof(*action));
		assert_non_null(action->why);
		if (action->verb == MPIJOB_ACTION_EVENT)
			assert_int_equal(code, MPIJOB_ERR_NOT_FOUND);
		else if (action->role != MPIJOB_ROLE_SECRET)
			assert_int_equal(code, 0);
		if (action->role != MPIJOB_ROLE_SECRET)
			continue;
		assert_int_equal(code, MPIJOB_ERR_USAGE);
		assert_int_equal(mpijob_plan_write_body(plan, i, entropy, sizeof(entropy) - 1,
				     count_bytes, &bytes),
		    MPIJOB_ERR_USAGE);
		assert_int_equal(mpijob_plan_write_body(plan, i, entropy, sizeof(entropy),
				     count_bytes, &bytes),
		    0);
	}
	mpijob_plan_free(plan);
	mpijob_plan_free(NULL);
	mpijob_facts_free(facts);
	mpijob_free(job);
	mpijob_free(nobody);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_news),
		cmocka_unit_test(test_made_again),
		cmocka_unit_test(test_launcher_made_again),
		cmocka_unit_test(test_launcher_ended),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_apply),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_hostfile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
