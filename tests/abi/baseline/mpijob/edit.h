/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_EDIT_H
#define MPIJOB_EDIT_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>
#ifdef __cplusplus
extern "C" {
#endif
struct mpijob_edit {
	size_t size;
	const char *path;
	const char *yaml;
	const mpijob_node *node;
};
#define MPIJOB_EDIT_INIT { sizeof(struct mpijob_edit), NULL, NULL, NULL }
MPIJOB_API int mpijob_edit_job(mpijob *job, const struct mpijob_edit *const *edits, size_t count, mpijob_diag *diag);
MPIJOB_API int mpijob_edit_text(const char *text, size_t len, const char *name, const struct mpijob_parse_options *options, const struct mpijob_edit *const *edits, size_t count, mpijob_write_fn write, void *user, mpijob_diag *diag);
#ifdef __cplusplus
}
#endif
#endif
