/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOGS_H
#define MPIJOB_LOGS_H
#include <mpijob/base.h>
#include <mpijob/client.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_logs mpijob_logs;
struct mpijob_log_line {
	size_t size;
	const char *pod;
	const char *container;
	const char *text;
	size_t len;
	int32_t whole;
	int32_t attempt;
};
struct mpijob_logs_options {
	size_t size;
	const char *namespace_;
	const char *label_selector;
	const char *const *pods;
	size_t pods_count;
	const char *container;
	int32_t all_containers;
	int32_t follow;
	int32_t previous;
	int32_t timestamps;
	const int64_t *tail_lines;
	const int64_t *since_seconds;
	int32_t max_streams;
	int (*line)(void *user, const struct mpijob_log_line *line);
	void (*failed)(void *user, const char *pod, const char *container, int code, const char *message, int again);
	void *user;
	const char *job;
	const char *role;
};
#define MPIJOB_LOGS_OPTIONS_INIT { sizeof(struct mpijob_logs_options), NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL }
MPIJOB_API int mpijob_logs_new(mpijob_client *client, const struct mpijob_logs_options *options, mpijob_logs **out);
MPIJOB_API void mpijob_logs_free(mpijob_logs *logs);
MPIJOB_API void mpijob_logs_pause(mpijob_logs *logs, int on);
MPIJOB_API int mpijob_logs_state(const mpijob_logs *logs, size_t *unread);
#ifdef __cplusplus
}
#endif
#endif
