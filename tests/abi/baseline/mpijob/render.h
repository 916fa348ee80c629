/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_RENDER_H
#define MPIJOB_RENDER_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/features.h>
#include <mpijob/job.h>
#ifdef __cplusplus
extern "C" {
#endif
#define MPIJOB_SSH_ENTROPY 74
struct mpijob_priority_class {
	size_t size;
	const char *name;
	int32_t value;
	int32_t reserved;
};
#define MPIJOB_PRIORITY_CLASS_INIT { sizeof(struct mpijob_priority_class), NULL, 0, 0 }
struct mpijob_render_options {
	size_t size;
	int32_t reference;
	const char *cluster_domain;
	const char *gang_scheduler;
	const struct mpijob_priority_class *const *priority_classes;
	size_t priority_classes_count;
	const uint8_t *entropy;
	size_t entropy_len;
	const uint8_t *running;
	size_t running_count;
	const struct mpijob_features *features;
};
#define MPIJOB_RENDER_OPTIONS_INIT { sizeof(struct mpijob_render_options), 0, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, NULL }
typedef struct mpijob_objects mpijob_objects;
#define MPIJOB_ROLE_SERVICE 1
#define MPIJOB_ROLE_CONFIG_MAP 2
#define MPIJOB_ROLE_SECRET 3
#define MPIJOB_ROLE_POD_GROUP 4
#define MPIJOB_ROLE_WORKER 5
#define MPIJOB_ROLE_LAUNCHER 6
#define MPIJOB_ROLE_NETWORK_POLICY 7
MPIJOB_API int mpijob_render(const mpijob *job, const struct mpijob_render_options *options, mpijob_objects **out, mpijob_diag *diag);
MPIJOB_API void mpijob_objects_free(mpijob_objects *objects);
MPIJOB_API size_t mpijob_objects_count(const mpijob_objects *objects);
struct mpijob_object_head {
	size_t size;
	int32_t role;
	int32_t index;
	const char *api_version;
	const char *kind;
	const char *name;
};
#define MPIJOB_OBJECT_HEAD_INIT { sizeof(struct mpijob_object_head), 0, 0, NULL, NULL, NULL }
MPIJOB_API int mpijob_objects_head(mpijob_objects *objects, size_t index, struct mpijob_object_head *out);
MPIJOB_API int mpijob_objects_find(const mpijob_objects *objects, int32_t role, int32_t worker, size_t *out);
MPIJOB_API int mpijob_objects_at(const mpijob_objects *objects, size_t index, mpijob_doc **out);
#define MPIJOB_OBJECTS_ALL 0x7fffffff
MPIJOB_API int mpijob_objects_write(const mpijob_objects *objects, size_t index, int32_t format, int32_t with_key, mpijob_write_fn write, void *user);
MPIJOB_API int mpijob_child_name_write(const char *job, int32_t role, int32_t index, mpijob_write_fn write, void *user);
struct mpijob_host {
	size_t size;
	const char *name;
	int32_t slots;
	int32_t worker;
};
#define MPIJOB_HOST_INIT { sizeof(struct mpijob_host), NULL, 0, 0 }
typedef struct mpijob_hostfile mpijob_hostfile;
MPIJOB_API int mpijob_hostfile_new(const mpijob *job, const struct mpijob_render_options *options, mpijob_hostfile **out, mpijob_diag *diag);
MPIJOB_API void mpijob_hostfile_free(mpijob_hostfile *hostfile);
MPIJOB_API const struct mpijob_host *mpijob_hostfile_at(const mpijob_hostfile *hostfile, size_t index);
MPIJOB_API int mpijob_hostfile_write(const mpijob_hostfile *hostfile, mpijob_write_fn write, void *user);
#ifdef __cplusplus
}
#endif
#endif
