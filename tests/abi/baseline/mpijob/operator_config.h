/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_OPERATOR_CONFIG_H
#define MPIJOB_OPERATOR_CONFIG_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/features.h>
#include <mpijob/job.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_operator_config mpijob_operator_config;
MPIJOB_API int mpijob_operator_config_parse(const char *text, size_t len, const struct mpijob_parse_options *options, mpijob_operator_config **out, mpijob_diag *diag);
MPIJOB_API mpijob_operator_config *mpijob_operator_config_clone(const mpijob_operator_config *config);
MPIJOB_API void mpijob_operator_config_free(mpijob_operator_config *config);
#define MPIJOB_ORIGIN_BUILT_IN 1
#define MPIJOB_ORIGIN_FLAG 2
#define MPIJOB_ORIGIN_DEFAULTS 3
#define MPIJOB_ORIGIN_NAMESPACE 4
#define MPIJOB_ORIGIN_JOB 5
#define MPIJOB_ORIGIN_ANNOTATION 6
#define MPIJOB_ORIGIN_LIMIT 7
struct mpijob_effective_value {
	size_t size;
	const char *field;
	const char *value;
	int32_t origin;
	int32_t rule;
	const char *wanted;
	int32_t refused;
	int32_t reserved;
};
typedef struct mpijob_effective mpijob_effective;
MPIJOB_API int mpijob_effective_new(const mpijob_operator_config *config, const mpijob *job, const struct mpijob_features *flags, mpijob_effective **out, mpijob_diag *diag);
MPIJOB_API void mpijob_effective_free(mpijob_effective *effective);
MPIJOB_API const mpijob *mpijob_effective_job(const mpijob_effective *effective);
MPIJOB_API const struct mpijob_features *mpijob_effective_features(const mpijob_effective *effective);
MPIJOB_API int32_t mpijob_effective_max_workers(const mpijob_effective *effective);
MPIJOB_API size_t mpijob_effective_count(const mpijob_effective *effective);
MPIJOB_API const struct mpijob_effective_value * mpijob_effective_at(const mpijob_effective *effective, size_t index);
#ifdef __cplusplus
}
#endif
#endif
