/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the operator: one attempt each, with a JSON body.
 *
 * Only this file knows the content types.
 */
#include "operator/request.h"

#include <string.h>

int mpijob__operator_request_send(mpijob_client *client, const char *method,
    const struct mpijob_target *target, const mpijob_text *body,
    const struct mpijob_callbacks *callbacks, mpijob_call **out)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;

	request.method = method;
	request.target = target;
	request.once = 1;
	if (body) {
		request.content_type = strcmp(method, "PATCH") == 0 ? "application/merge-patch+json"
								    : "application/json";
		request.body = mpijob_text_data(body);
		request.body_len = mpijob_text_len(body);
	}
	return mpijob_client_start(client, &request, callbacks, out);
}
