/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_JOB_H
#define MPIJOB_JOB_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/spec.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob mpijob;
MPIJOB_API int mpijob_parse(const char *text, size_t len, const struct mpijob_parse_options *options, mpijob **out, mpijob_diag *diag);
MPIJOB_API int mpijob_from_node(const mpijob_node *node, const char *source, mpijob **out, mpijob_diag *diag);
MPIJOB_API int mpijob_is_job(const mpijob_node *node);
MPIJOB_API int mpijob_new(const char *name, const char *namespace_, const struct mpijob_spec *spec, mpijob **out, mpijob_diag *diag);
MPIJOB_API mpijob *mpijob_clone(const mpijob *job);
MPIJOB_API void mpijob_free(mpijob *job);
MPIJOB_API const mpijob_doc *mpijob_document(const mpijob *job);
MPIJOB_API const char *mpijob_name(const mpijob *job);
MPIJOB_API const char *mpijob_namespace(const mpijob *job);
MPIJOB_API const char *mpijob_uid(const mpijob *job);
MPIJOB_API int mpijob_spec_get(mpijob *job, const struct mpijob_spec **out, mpijob_diag *diag);
MPIJOB_API int mpijob_status_get(mpijob *job, const struct mpijob_status **out, mpijob_diag *diag);
MPIJOB_API int mpijob_identify(mpijob *job, const char *name, const char *namespace_, const char *uid);
MPIJOB_API int mpijob_spec_set(mpijob *job, const struct mpijob_spec *spec, mpijob_diag *diag);
MPIJOB_API int mpijob_status_set(mpijob *job, const struct mpijob_status *status, mpijob_diag *diag);
struct mpijob_default_options {
	size_t size;
	int32_t reference;
	int32_t reserved;
};
#define MPIJOB_DEFAULT_OPTIONS_INIT { sizeof(struct mpijob_default_options), 0, 0 }
MPIJOB_API int mpijob_default(mpijob *job, const struct mpijob_default_options *options, mpijob_diag *diag);
struct mpijob_validate_options {
	size_t size;
	int32_t reference;
	int32_t strict;
};
#define MPIJOB_VALIDATE_OPTIONS_INIT { sizeof(struct mpijob_validate_options), 0, 0 }
MPIJOB_API int mpijob_validate(const mpijob *job, const struct mpijob_validate_options *options, mpijob_diag *diag);
MPIJOB_API int mpijob_object_validate(const mpijob_node *object, const char *source, mpijob_diag *diag);
MPIJOB_API const mpijob_node *mpijob_condition_find(const mpijob_node *object, const char *type, const char *status);
#ifdef __cplusplus
}
#endif
#endif
