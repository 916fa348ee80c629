/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_BLOCKING_H
#define MPIJOB_BLOCKING_H
#include <mpijob/base.h>
#include <mpijob/transport.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_blocking_answer mpijob_blocking_answer;
struct mpijob_blocking {
	size_t size;
	int (*perform)(void *self, const struct mpijob_request *request, mpijob_blocking_answer *answer);
	void (*abort)(void *self, mpijob_blocking_answer *answer);
	void (*destroy)(void *self);
	int32_t max_threads;
	int32_t reserved;
};
#define MPIJOB_BLOCKING_INIT { sizeof(struct mpijob_blocking), NULL, NULL, NULL, 0, 0 }
MPIJOB_API int mpijob_blocking_new(const struct mpijob_blocking *blocking, void *self, struct mpijob_transport *transport, void **out);
MPIJOB_API void mpijob_blocking_header(mpijob_blocking_answer *answer, const char *name, const char *value);
MPIJOB_API void mpijob_blocking_status(mpijob_blocking_answer *answer, int status);
MPIJOB_API int mpijob_blocking_data(mpijob_blocking_answer *answer, const char *data, size_t len);
MPIJOB_API void mpijob_blocking_message(mpijob_blocking_answer *answer, const char *message);
MPIJOB_API int mpijob_blocking_cancelled(const mpijob_blocking_answer *answer);
#ifdef __cplusplus
}
#endif
#endif
