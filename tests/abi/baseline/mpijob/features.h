/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_FEATURES_H
#define MPIJOB_FEATURES_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#ifdef __cplusplus
extern "C" {
#endif
struct mpijob_features {
	size_t size;
	int32_t ttl_deletes_job;
	int32_t clean_launcher;
	int32_t replace_workers;
	int32_t restart_gang;
	int32_t fail_invalid;
	int32_t gang_safe_wait;
	int32_t worker_readiness;
	int32_t ssh_port;
	int32_t user_variables;
	int32_t user_dns_policy;
	int32_t private_keys;
	int32_t wait_for_hosts;
	int32_t compact_hosts;
	int32_t network_policy;
	int32_t fail_lost_worker;
	int32_t reserved;
};
#define MPIJOB_FEATURES_INIT { sizeof(struct mpijob_features), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define MPIJOB_FEATURE_SWITCH 1
#define MPIJOB_FEATURE_COUNT 2
#define MPIJOB_FEATURE_DURATION 3
struct mpijob_feature {
	size_t size;
	const char *name;
	int32_t kind;
	int32_t minimum;
	int32_t maximum;
	int32_t defect;
	const char *summary;
};
MPIJOB_API const struct mpijob_feature *mpijob_feature_at(size_t index);
MPIJOB_API const struct mpijob_feature *mpijob_feature_find(const char *name);
MPIJOB_API int mpijob_features_set(struct mpijob_features *features, const char *name, const char *value, mpijob_diag *diag);
MPIJOB_API int32_t mpijob_features_get(const struct mpijob_features *features, const char *name);
#ifdef __cplusplus
}
#endif
#endif
