/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_TRANSPORT_H
#define MPIJOB_TRANSPORT_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#ifdef __cplusplus
extern "C" {
#endif
struct mpijob_target;
struct mpijob_request {
	size_t size;
	const char *method;
	const char *path;
	const char *content_type;
	const char *body;
	size_t body_len;
	int32_t streaming;
	int64_t timeout_ms;
	int32_t fresh;
	int32_t once;
	int32_t urgent;
	const struct mpijob_target *target;
};
#define MPIJOB_REQUEST_INIT { sizeof(struct mpijob_request), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL }
typedef struct mpijob_exchange mpijob_exchange;
struct mpijob_transport {
	size_t size;
	int (*start)(void *self, const struct mpijob_request *request, mpijob_exchange *exchange);
	int (*poll)(void *self, int timeout_ms);
	int (*interest)(void *self, int *fd, int64_t *deadline_ms);
	void (*pause)(void *self, mpijob_exchange *exchange, int on);
	void (*cancel)(void *self, mpijob_exchange *exchange);
	void (*wake)(void *self);
	void (*destroy)(void *self);
};
#define MPIJOB_TRANSPORT_INIT { sizeof(struct mpijob_transport), NULL, NULL, NULL, NULL, NULL, NULL, NULL }
MPIJOB_API void mpijob_exchange_header(mpijob_exchange *exchange, const char *name, const char *value);
MPIJOB_API void mpijob_exchange_status(mpijob_exchange *exchange, int status);
MPIJOB_API void mpijob_exchange_data(mpijob_exchange *exchange, const char *data, size_t len);
MPIJOB_API void mpijob_exchange_end(mpijob_exchange *exchange, int code, const char *message);
MPIJOB_API void mpijob_exchange_set_slot(mpijob_exchange *exchange, void *slot);
MPIJOB_API void *mpijob_exchange_slot(const mpijob_exchange *exchange);
#ifdef __cplusplus
}
#endif
#endif
