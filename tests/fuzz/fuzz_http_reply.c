/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the reply of a credential plugin: refused with words of ours, or a token that fits
 * into a header, or a pair. */
#include "http/plugin_reply.h"
#include "http/request_headers.h"
#include "http/resolve.h"
#include "http/tls.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mpijob__http_plugin_reply reply = { 0 };
	const char *why = NULL;
	int code = mpijob__http_plugin_reply_read(&reply, (const char *)data, size,
	    "client.authentication.k8s.io/v1", &why);

	if (code != 0 && code != MPIJOB_ERR_AUTH)
		abort();
	if ((code == 0) != (why == NULL) ||
	    (code != 0 && (reply.token.len || reply.certificate.len || reply.key.len)))
		abort();
	if (code == 0 && ((!reply.token.len && !reply.certificate.len) ||
			     !reply.certificate.len != !reply.key.len))
		abort();
	if (reply.token.len && mpijob__http_request_headers_has_control(reply.token.data))
		abort();
	if (reply.certificate.len &&
	    mpijob__http_tls_check_pair(&reply.certificate, &reply.key, &why) == 0 && why)
		abort();
	mpijob__http_plugin_reply_clear(&reply);
	return 0;
}
