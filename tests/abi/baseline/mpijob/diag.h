/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_DIAG_H
#define MPIJOB_DIAG_H
#include <mpijob/base.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_diag mpijob_diag;
#define MPIJOB_SEVERITY_ERROR 1
#define MPIJOB_SEVERITY_WARNING 2
#define MPIJOB_SEVERITY_INFO 3
#define MPIJOB_SEVERITY_DEBUG 4
struct mpijob_finding {
	size_t size;
	int32_t severity;
	int32_t line;
	int32_t column;
	const char *id;
	const char *reason;
	const char *field;
	const char *message;
	const char *source;
};
#define MPIJOB_FINDING_INIT { sizeof(struct mpijob_finding), 0, 0, 0, NULL, NULL, NULL, NULL, NULL }
MPIJOB_API mpijob_diag *mpijob_diag_new(void);
MPIJOB_API void mpijob_diag_free(mpijob_diag *diag);
MPIJOB_API void mpijob_diag_clear(mpijob_diag *diag);
MPIJOB_API void mpijob_diag_set_limit(mpijob_diag *diag, size_t limit);
MPIJOB_API int mpijob_diag_set_severity(mpijob_diag *diag, const char *id, int32_t severity);
MPIJOB_API size_t mpijob_diag_count(const mpijob_diag *diag, int32_t severity);
MPIJOB_API size_t mpijob_diag_dropped(const mpijob_diag *diag);
MPIJOB_API const struct mpijob_finding *mpijob_diag_at(const mpijob_diag *diag, size_t index);
MPIJOB_API int mpijob_diag_add(mpijob_diag *diag, const struct mpijob_finding *finding);
MPIJOB_API int mpijob_finding_write(const struct mpijob_finding *finding, mpijob_write_fn write, void *user);
struct mpijob_finding_kind {
	size_t size;
	const char *id;
	int32_t severity;
	const char *advice;
};
MPIJOB_API const struct mpijob_finding_kind *mpijob_finding_kind_at(size_t index);
MPIJOB_API const struct mpijob_finding_kind *mpijob_finding_kind_find(const char *id);
#ifdef __cplusplus
}
#endif
#endif
