/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_FIELDS_H
#define MPIJOB_FIELDS_H
#include <mpijob/base.h>
#include <mpijob/doc.h>
#ifdef __cplusplus
extern "C" {
#endif
#define MPIJOB_KIND_STRING 1
#define MPIJOB_KIND_INT32 2
#define MPIJOB_KIND_INT64 3
#define MPIJOB_KIND_BOOL 4
#define MPIJOB_KIND_CHOICE 5
#define MPIJOB_KIND_TIME 6
#define MPIJOB_KIND_OBJECT 7
#define MPIJOB_KIND_LIST 8
#define MPIJOB_KIND_DOCUMENT 9
struct mpijob_field {
	size_t size;
	const char *path;
	int32_t kind;
	const char *default_text;
	const char *const *choices;
	const int64_t *minimum;
	const char *since;
	const char *summary;
};
MPIJOB_API const struct mpijob_field *mpijob_field_at(size_t index);
MPIJOB_API const struct mpijob_field *mpijob_field_find(const char *path);
#define MPIJOB_SHAPE_ONE 0
#define MPIJOB_SHAPE_LIST 1
#define MPIJOB_SHAPE_MAP 2
struct mpijob_template_field {
	size_t size;
	const char *name;
	const char *type;
	int32_t shape;
	int32_t is_object;
	int32_t required;
	int32_t in_crd;
	int32_t in_kubernetes;
	const char *default_text;
	const char *choices;
};
#define MPIJOB_TEMPLATE_FIELD_INIT { sizeof(struct mpijob_template_field), NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL }
MPIJOB_API int mpijob_template_field_find(const char *path, struct mpijob_template_field *out);
MPIJOB_API int mpijob_template_field_at(const char *path, size_t index, struct mpijob_template_field *out);
struct mpijob_crd_options {
	size_t size;
	int32_t descriptions;
	int32_t reserved;
};
#define MPIJOB_CRD_OPTIONS_INIT { sizeof(struct mpijob_crd_options), 0, 0 }
MPIJOB_API int mpijob_crd_new(const struct mpijob_crd_options *options, mpijob_doc **out);
#ifdef __cplusplus
}
#endif
#endif
