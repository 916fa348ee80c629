/* SPDX-License-Identifier: Apache-2.0 */
/* The output of an exec credential plugin. */
#ifndef MPIJOB__HTTP_PLUGIN_REPLY_H
#define MPIJOB__HTTP_PLUGIN_REPLY_H

#include <stdint.h>

#include "http/secret.h"

/* A token, or certificate and key, or both. All zero: empty. */
struct mpijob__http_plugin_reply {
	mpijob__http_secret token;
	mpijob__http_secret certificate;
	mpijob__http_secret key;
	int expires;
	int64_t expires_ms; /* since 1970 */
};

/*
 * Read an ExecCredential of `api_version`. 0; MPIJOB_ERR_NOMEM; MPIJOB_ERR_AUTH, and *why is a
 * constant that completes a sentence, such as "wrote something that is not JSON".
 */
int mpijob__http_plugin_reply_read(struct mpijob__http_plugin_reply *reply, const char *text,
    size_t len, const char *api_version, const char **why);
void mpijob__http_plugin_reply_clear(struct mpijob__http_plugin_reply *reply);

#endif
