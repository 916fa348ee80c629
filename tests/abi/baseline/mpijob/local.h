/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_H
#define MPIJOB_LOCAL_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/transport.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_local mpijob_local;
struct mpijob_local_options {
	size_t size;
	const char *node_program;
	const char *cluster_domain;
	int32_t no_node;
	int32_t allow_host_path;
	int32_t backoff_base_ms;
	void (*notice)(void *user, const struct mpijob_finding *finding);
	void *notice_user;
	int32_t names_delay_ms;
	int32_t reserved;
};
#define MPIJOB_LOCAL_OPTIONS_INIT { sizeof(struct mpijob_local_options), NULL, NULL, 0, 0, 0, NULL, NULL, 0, 0 }
MPIJOB_API int mpijob_local_new(const struct mpijob_local_options *options, struct mpijob_transport *transport, mpijob_local **out, mpijob_diag *diag);
struct mpijob_local_exec_options {
	size_t size;
	const char *namespace_;
	const char *pod;
	const char *container;
	const char *const *argv;
	int fds[3];
	int32_t reserved;
};
#define MPIJOB_LOCAL_EXEC_OPTIONS_INIT { sizeof(struct mpijob_local_exec_options), NULL, NULL, NULL, NULL, { 0, 1, 2 }, 0 }
MPIJOB_API int mpijob_local_exec(const struct mpijob_local_exec_options *exec, int *exit_code, mpijob_diag *diag);
#ifdef __cplusplus
}
#endif
#endif
