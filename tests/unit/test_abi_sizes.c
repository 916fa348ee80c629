/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of every public struct, as compiled programs rely on it: a struct only grows at its
 * end. Whoever appends a member changes the row here, and thereby sees that only the last member
 * and the size changed. Where int is 32 and a pointer 64 bits wide, these numbers hold for every
 * architecture. Neither list can miss a struct: the headers are read.
 */
#include <mpijob/flyte.h>
#include <mpijob/http.h>
#include <mpijob/lease.h>
#include <mpijob/local.h>
#include <mpijob/mpijob.h>
#include <mpijob/operator.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

/* Structs that callers fill or have filled: name, last member, size, offset of that member,
 * initialiser. */
#define FILLED(X)                                                                             \
	X(target, reserved, 80, 76, MPIJOB_TARGET_INIT)                                       \
	X(callbacks, user, 32, 24, MPIJOB_CALLBACKS_INIT)                                     \
	X(client_options, warning_user, 48, 40, MPIJOB_CLIENT_OPTIONS_INIT)                   \
	X(client_observer, user, 32, 24, MPIJOB_CLIENT_OBSERVER_INIT)                         \
	X(write_options, reserved, 32, 28, MPIJOB_WRITE_OPTIONS_INIT)                         \
	X(delete_options, grace_seconds, 40, 32, MPIJOB_DELETE_OPTIONS_INIT)                  \
	X(access, name, 56, 48, MPIJOB_ACCESS_INIT)                                           \
	X(watch_options, reserved, 120, 116, MPIJOB_WATCH_OPTIONS_INIT)                       \
	X(finding, source, 64, 56, MPIJOB_FINDING_INIT)                                       \
	X(flyte_config, inject_finalizer, 224, 220, MPIJOB_FLYTE_CONFIG_INIT)                 \
	X(flyte_execution, interruptible, 256, 252, MPIJOB_FLYTE_EXECUTION_INIT)              \
	X(flyte_options, repairs, 40, 32, MPIJOB_FLYTE_OPTIONS_INIT)                          \
	X(flyte_log_template, uri, 24, 16, MPIJOB_FLYTE_LOG_TEMPLATE_INIT)                    \
	X(flyte_status_options, repairs, 64, 56, MPIJOB_FLYTE_STATUS_OPTIONS_INIT)            \
	X(parse_options, reserved, 72, 68, MPIJOB_PARSE_OPTIONS_INIT)                         \
	X(default_options, reserved, 16, 12, MPIJOB_DEFAULT_OPTIONS_INIT)                     \
	X(validate_options, strict, 16, 12, MPIJOB_VALIDATE_OPTIONS_INIT)                     \
	X(convert_options, runtime, 24, 16, MPIJOB_CONVERT_OPTIONS_INIT)                      \
	X(template_field, choices, 64, 56, MPIJOB_TEMPLATE_FIELD_INIT)                        \
	X(crd_options, reserved, 16, 12, MPIJOB_CRD_OPTIONS_INIT)                             \
	X(http_config_options, reserved, 176, 172, MPIJOB_HTTP_CONFIG_OPTIONS_INIT)           \
	X(http_options, notice_user, 72, 64, MPIJOB_HTTP_OPTIONS_INIT)                        \
	X(local_options, reserved, 64, 60, MPIJOB_LOCAL_OPTIONS_INIT)                         \
	X(local_exec_options, reserved, 56, 52, MPIJOB_LOCAL_EXEC_OPTIONS_INIT)               \
	X(operator_options, reserved, 96, 92, MPIJOB_OPERATOR_OPTIONS_INIT)                   \
	X(run_options, user, 56, 48, MPIJOB_RUN_OPTIONS_INIT)                                 \
	X(run_diagnose_options, pod, 24, 16, MPIJOB_RUN_DIAGNOSE_OPTIONS_INIT)                \
	X(lease_options, user, 88, 80, MPIJOB_LEASE_OPTIONS_INIT)                             \
	X(pod_facts, ended_ms, 104, 96, MPIJOB_POD_FACTS_INIT)                                \
	X(launcher_facts, node_selector, 120, 112, MPIJOB_LAUNCHER_FACTS_INIT)                \
	X(child_facts, owned, 96, 88, MPIJOB_CHILD_FACTS_INIT)                                \
	X(plan_options, reserved, 64, 60, MPIJOB_PLAN_OPTIONS_INIT)                           \
	X(launch_options, backend, 176, 168, MPIJOB_LAUNCH_OPTIONS_INIT)                      \
	X(rank, variable, 40, 32, MPIJOB_RANK_INIT)                                           \
	X(priority_class, reserved, 24, 20, MPIJOB_PRIORITY_CLASS_INIT)                       \
	X(render_options, features, 88, 80, MPIJOB_RENDER_OPTIONS_INIT)                       \
	X(features, reserved, 72, 68, MPIJOB_FEATURES_INIT)                                   \
	X(object_head, name, 40, 32, MPIJOB_OBJECT_HEAD_INIT)                                 \
	X(host, worker, 24, 20, MPIJOB_HOST_INIT)                                             \
	X(scheduling_policy, schedule_timeout_seconds, 48, 40, MPIJOB_SCHEDULING_POLICY_INIT) \
	X(run_policy, managed_by, 64, 56, MPIJOB_RUN_POLICY_INIT)                             \
	X(replica_spec, reserved, 32, 28, MPIJOB_REPLICA_SPEC_INIT)                           \
	X(spec, mpi_implementation, 64, 60, MPIJOB_SPEC_INIT)                                 \
	X(condition, last_transition_time, 56, 48, MPIJOB_CONDITION_INIT)                     \
	X(replica_status, reserved, 24, 20, MPIJOB_REPLICA_STATUS_INIT)                       \
	X(status, completion_time, 56, 48, MPIJOB_STATUS_INIT)                                \
	X(request, target, 88, 80, MPIJOB_REQUEST_INIT)                                       \
	X(transport, destroy, 64, 56, MPIJOB_TRANSPORT_INIT)                                  \
	X(blocking, reserved, 40, 36, MPIJOB_BLOCKING_INIT)                                   \
	X(submit_options, field_validation, 48, 40, MPIJOB_SUBMIT_OPTIONS_INIT)               \
	X(task_callbacks, user, 24, 16, MPIJOB_TASK_CALLBACKS_INIT)                           \
	X(log_tail, len, 40, 32, MPIJOB_LOG_TAIL_INIT)                                        \
	X(evidence, now_ms, 64, 56, MPIJOB_EVIDENCE_INIT)                                     \
	X(logs_options, role, 128, 120, MPIJOB_LOGS_OPTIONS_INIT)

/* Structs that only the library fills. */
#define GIVEN(X)                                 \
	X(answer, retry_after_ms, 56, 48)        \
	X(watch_event, resource_version, 72, 64) \
	X(watch_health, hopeless, 32, 28)        \
	X(request_stats, took_ms, 40, 32)        \
	X(field, summary, 64, 56)                \
	X(finding_kind, advice, 32, 24)          \
	X(flyte_repair, why, 40, 32)             \
	X(run_event, finding, 96, 88)            \
	X(run_result, ended_ms, 88, 80)          \
	X(flyte_phase, error, 56, 48)            \
	X(flyte_link, pod, 32, 24)               \
	X(log_line, attempt, 48, 44)             \
	X(effective_value, reserved, 48, 44)     \
	X(feature, summary, 40, 32)              \
	X(observed, reserved, 168, 164)          \
	X(fresh_read, uid, 48, 40)               \
	X(action, difference, 112, 104)          \
	X(plan_result, transitions, 40, 36)

#ifdef __LP64__
#define LAYOUT(name, last, bytes, offset, ...)                                                   \
	_Static_assert(sizeof(struct mpijob_##name) == (bytes), "size of struct mpijob_" #name); \
	_Static_assert(offsetof(struct mpijob_##name, last) == (offset),                         \
	    "mpijob_" #name "." #last);                                                          \
	_Static_assert((offset) + sizeof(((struct mpijob_##name *)0)->last) == (bytes),          \
	    "padding at the end of struct mpijob_" #name);
FILLED(LAYOUT)
GIVEN(LAYOUT)
#endif

#define SIZE_FIRST(name, ...) \
	_Static_assert(offsetof(struct mpijob_##name, size) == 0, "mpijob_" #name ".size");
FILLED(SIZE_FIRST)
GIVEN(SIZE_FIRST)

#define COUNT(...)      +1
#define NAME(name, ...) "mpijob_" #name,
static const char *const names[] = { FILLED(NAME) GIVEN(NAME) };

/* Static, so that padding is zero too. */
#define STATIC(name, last, bytes, offset, init)               \
	static const struct mpijob_##name init_##name = init; \
	static struct mpijob_##name zero_##name;
FILLED(STATIC)

/* Where 0 is something, the initialisers say what "nothing given" is. */
static void expect_exceptions(void)
{
	assert_int_equal(init_pod_facts.index, -1);
	assert_int_equal(init_pod_facts.exit_code, -1);
	zero_pod_facts.index = -1;
	zero_pod_facts.exit_code = -1;
	for (int fd = 0; fd < 3; fd++)
		zero_local_exec_options.fds[fd] = fd;
}

static void test_init_sets_the_size_alone(void **state)
{
	(void)state;
	expect_exceptions();
#define CHECK(name, ...)                                         \
	assert_int_equal(init_##name.size, sizeof(init_##name)); \
	zero_##name.size = sizeof(zero_##name);                  \
	assert_memory_equal(&init_##name, &zero_##name, sizeof(init_##name));
	FILLED(CHECK)
}

/* The structs of the other libraries, which libmpijob does not know. */
static int is_of_another_library(const char *name)
{
	static const char *const prefixes[] = { "mpijob_flyte_", "mpijob_http_", "mpijob_local_",
		"mpijob_operator_", "mpijob_lease_", "mpijob_effective_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return 1;
	return 0;
}

static void test_sizes_by_name(void **state)
{
#define SIZE_OF(name, ...) sizeof(struct mpijob_##name),
	static const size_t sizes[] = { FILLED(SIZE_OF) GIVEN(SIZE_OF) };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(mpijob_struct_size(names[i]),
		    is_of_another_library(names[i]) ? 0 : sizes[i]);
	assert_int_equal(mpijob_struct_size("mpijob_"), 0);
	assert_int_equal(mpijob_struct_size("access"), 0);
	assert_int_equal(mpijob_struct_size("mpijob_acces"), 0);
	assert_int_equal(mpijob_struct_size("xpijob_access"), 0);
	assert_int_equal(mpijob_struct_size(NULL), 0);
}

static int listed(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return 1;
	}
	return 0;
}

/* How many structs a header defines; each must be listed. */
static size_t check_header(const char *file)
{
	char path[4096], line[1024];
	size_t count = 0;
	FILE *header;

	assert_true((size_t)snprintf(path, sizeof(path), "%s/include/mpijob/%s", MPIJOB_TEST_SOURCE,
			file) < sizeof(path));
	header = fopen(path, "r");
	assert_non_null(header);
	while (fgets(line, sizeof(line), header)) {
		const char *name = line + strlen("struct ");
		size_t len = strcspn(name, " ");

		if (strncmp(line, "struct mpijob_", strlen("struct mpijob_")) != 0 ||
		    strcmp(name + len, " {\n") != 0)
			continue;
		count++;
		if (!listed(name, len))
			fail_msg("%s: struct %.*s is not in this test", file, (int)len, name);
	}
	fclose(header);
	return count;
}

static void test_every_struct_is_listed(void **state)
{
	DIR *folder = opendir(MPIJOB_TEST_SOURCE "/include/mpijob");
	const struct dirent *entry;
	size_t count = 0;

	(void)state;
	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL) {
		if (strstr(entry->d_name, ".h"))
			count += check_header(entry->d_name);
	}
	closedir(folder);
	assert_int_equal(count, 0 FILLED(COUNT) GIVEN(COUNT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init_sets_the_size_alone),
		cmocka_unit_test(test_every_struct_is_listed),
		cmocka_unit_test(test_sizes_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
