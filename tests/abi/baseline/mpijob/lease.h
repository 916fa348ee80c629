/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LEASE_H
#define MPIJOB_LEASE_H
#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_lease mpijob_lease;
struct mpijob_lease_options {
	size_t size;
	const char *namespace_;
	const char *name;
	const char *identity;
	const char *component;
	int32_t lease_ms;
	int32_t renew_ms;
	int32_t retry_ms;
	uint64_t seed;
	void (*changed)(void *user, int leading, const char *holder);
	void (*log)(void *user, const struct mpijob_finding *finding);
	void *user;
};
#define MPIJOB_LEASE_OPTIONS_INIT { sizeof(struct mpijob_lease_options), NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL }
MPIJOB_API int mpijob_lease_new(mpijob_client *client, const struct mpijob_lease_options *options, mpijob_lease **out);
MPIJOB_API void mpijob_lease_free(mpijob_lease *lease);
MPIJOB_API int mpijob_lease_leading(const mpijob_lease *lease);
MPIJOB_API const char *mpijob_lease_holder(const mpijob_lease *lease);
MPIJOB_API int mpijob_lease_healthy(const mpijob_lease *lease, int64_t tolerance_ms);
MPIJOB_API void mpijob_lease_release(mpijob_lease *lease);
MPIJOB_API int mpijob_lease_busy(const mpijob_lease *lease);
#ifdef __cplusplus
}
#endif
#endif
