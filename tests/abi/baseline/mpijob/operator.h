/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_OPERATOR_H
#define MPIJOB_OPERATOR_H
#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/operator_config.h>
#include <mpijob/render.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_operator mpijob_operator;
#define MPIJOB_OPERATOR_WATCHES 0
#define MPIJOB_OPERATOR_ACTS 1
#define MPIJOB_OPERATOR_ENDS 2
struct mpijob_operator_options {
	size_t size;
	const char *namespace_;
	const struct mpijob_render_options *render;
	int32_t max_writes;
	void (*log)(void *user, const struct mpijob_finding *finding);
	void *log_user;
	int32_t shadow;
	int32_t standby;
	int64_t shadow_grace_ms;
	int64_t launcher_hold_ms;
	int (*resolve)(void *user, const char *name);
	void *resolve_user;
	int32_t log_actions;
	int32_t reserved;
};
#define MPIJOB_OPERATOR_OPTIONS_INIT { sizeof(struct mpijob_operator_options), NULL, NULL, 0, NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0, 0 }
MPIJOB_API int mpijob_operator_new(mpijob_client *client, const struct mpijob_operator_options *options, mpijob_operator **out, mpijob_diag *diag);
MPIJOB_API void mpijob_operator_free(mpijob_operator *operator_);
MPIJOB_API int mpijob_operator_step(mpijob_operator *operator_, int timeout_ms);
MPIJOB_API int mpijob_operator_synced(const mpijob_operator *operator_);
MPIJOB_API void mpijob_operator_act(mpijob_operator *operator_, int part);
MPIJOB_API int mpijob_operator_configure(mpijob_operator *operator_, const mpijob_operator_config *config);
MPIJOB_API size_t mpijob_operator_busy(const mpijob_operator *operator_);
MPIJOB_API int mpijob_operator_interest(mpijob_operator *operator_, int *fd, int64_t *deadline_ms);
MPIJOB_API int mpijob_operator_metrics(const mpijob_operator *operator_, mpijob_write_fn write, void *user);
MPIJOB_API int mpijob_operator_shadow_report(const mpijob_operator *operator_, mpijob_write_fn write, void *user);
#ifdef __cplusplus
}
#endif
#endif
