/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LAUNCH_H
#define MPIJOB_LAUNCH_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/job.h>
#ifdef __cplusplus
extern "C" {
#endif
#define MPIJOB_LAUNCH_MPIRUN 1
#define MPIJOB_LAUNCH_MPIEXEC 2
#define MPIJOB_LAUNCH_HOROVODRUN 3
#define MPIJOB_LAUNCH_DEEPSPEED 4
struct mpijob_launch_options {
	size_t size;
	int32_t tool;
	int32_t np;
	int32_t ranks_per_host;
	int32_t allow_run_as_root;
	int32_t oversubscribe;
	const char *executable;
	const char *hostfile;
	const char *bind_to;
	const char *map_by;
	const char *const *env;
	size_t env_count;
	const char *const *known;
	size_t known_count;
	int32_t env_only;
	const char *const *args;
	size_t args_count;
	int32_t elastic;
	int32_t min_np;
	int32_t max_np;
	int32_t elastic_timeout;
	int32_t start_timeout;
	int32_t reset_limit;
	int32_t verbose;
	const char *log_level;
	const char *network_interface;
	const char *backend;
};
#define MPIJOB_LAUNCH_OPTIONS_INIT { sizeof(struct mpijob_launch_options), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL }
typedef struct mpijob_launch mpijob_launch;
MPIJOB_API int mpijob_launch_new(const mpijob *job, const char *const *program, size_t program_count, const struct mpijob_launch_options *options, mpijob_launch **out, mpijob_diag *diag);
MPIJOB_API void mpijob_launch_free(mpijob_launch *launch);
MPIJOB_API const char *const *mpijob_launch_words(const mpijob_launch *launch);
MPIJOB_API int32_t mpijob_launch_ranks(const mpijob_launch *launch);
#ifdef __cplusplus
}
#endif
#endif
