/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sizes of the public structs of this library, by name. In the highest directory, because it
 * includes all of their headers.
 */
#include <mpijob/mpijob.h>

#include <string.h>

/* tests/unit/test_abi_sizes.c finds a struct that is missing here. */
#define STRUCTS(X)              \
	X(access)               \
	X(action)               \
	X(answer)               \
	X(blocking)             \
	X(callbacks)            \
	X(child_facts)          \
	X(client_observer)      \
	X(client_options)       \
	X(condition)            \
	X(convert_options)      \
	X(crd_options)          \
	X(default_options)      \
	X(delete_options)       \
	X(evidence)             \
	X(feature)              \
	X(features)             \
	X(field)                \
	X(finding)              \
	X(finding_kind)         \
	X(fresh_read)           \
	X(host)                 \
	X(launch_options)       \
	X(launcher_facts)       \
	X(log_line)             \
	X(log_tail)             \
	X(logs_options)         \
	X(object_head)          \
	X(observed)             \
	X(parse_options)        \
	X(plan_options)         \
	X(plan_result)          \
	X(pod_facts)            \
	X(priority_class)       \
	X(rank)                 \
	X(render_options)       \
	X(replica_spec)         \
	X(replica_status)       \
	X(request)              \
	X(request_stats)        \
	X(run_diagnose_options) \
	X(run_event)            \
	X(run_options)          \
	X(run_policy)           \
	X(run_result)           \
	X(scheduling_policy)    \
	X(spec)                 \
	X(status)               \
	X(submit_options)       \
	X(target)               \
	X(task_callbacks)       \
	X(template_field)       \
	X(transport)            \
	X(validate_options)     \
	X(watch_event)          \
	X(watch_health)         \
	X(watch_options)        \
	X(write_options)

#define NAME(name) #name "\0"
#define SIZE(name) sizeof(struct mpijob_##name),

size_t mpijob_struct_size(const char *name)
{
	static const char names[] = STRUCTS(NAME);
	static const unsigned short sizes[] = { STRUCTS(SIZE) };
	const char *known = names;

	if (!name || strncmp(name, "mpijob_", 7) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (strcmp(known, name + 7) == 0)
			return sizes[i];
		known += strlen(known) + 1;
	}
	return 0;
}
