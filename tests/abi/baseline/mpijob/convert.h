/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_CONVERT_H
#define MPIJOB_CONVERT_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#ifdef __cplusplus
extern "C" {
#endif
#define MPIJOB_CONVERT_ANNOTATION "mpijob.libmpijob/converted"
struct mpijob_convert_options {
	size_t size;
	int32_t no_annotation;
	const char *runtime;
};
#define MPIJOB_CONVERT_OPTIONS_INIT { sizeof(struct mpijob_convert_options), 0, NULL }
MPIJOB_API int mpijob_convert(const mpijob_node *object, const char *source, const char *version, const struct mpijob_convert_options *options, mpijob_doc **out, mpijob_diag *diag);
#ifdef __cplusplus
}
#endif
#endif
