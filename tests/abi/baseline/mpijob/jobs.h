/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_JOBS_H
#define MPIJOB_JOBS_H
#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>
#ifdef __cplusplus
extern "C" {
#endif
struct mpijob_submit_options {
	size_t size;
	const char *namespace_;
	int32_t apply;
	int32_t force;
	int32_t dry_run;
	const char *field_manager;
	const char *field_validation;
};
#define MPIJOB_SUBMIT_OPTIONS_INIT { sizeof(struct mpijob_submit_options), NULL, 0, 0, 0, NULL, NULL }
MPIJOB_API int mpijob_client_submit(mpijob_client *client, const mpijob *job, const struct mpijob_submit_options *options, mpijob **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_get_job(mpijob_client *client, const char *namespace_, const char *name, mpijob **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_suspend(mpijob_client *client, const char *namespace_, const char *name, int on, mpijob_diag *diag);
MPIJOB_API int mpijob_client_scale(mpijob_client *client, const char *namespace_, const char *name, int32_t workers, int32_t expected, mpijob_diag *diag);
MPIJOB_API int mpijob_client_delete_job(mpijob_client *client, const char *namespace_, const char *name, const char *uid, const char *propagation, mpijob_diag *diag);
MPIJOB_API int mpijob_client_wait_job(mpijob_client *client, const char *namespace_, const char *name, const char *condition, int64_t timeout_ms, mpijob **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_events(mpijob_client *client, const char *namespace_, const char *kind, const char *name, const char *uid, mpijob_doc **out, mpijob_diag *diag);
#ifdef __cplusplus
}
#endif
#endif
