/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 of secrets. */
#ifndef MPIJOB__HTTP_BASE64_H
#define MPIJOB__HTTP_BASE64_H

#include "http/secret.h"

/* 1 when `text` is base64 as Go reads it: the standard alphabet, padded, line breaks anywhere; else
 * 0. */
int mpijob__http_base64_check(const char *text, size_t len);
/* Replace the content by the decoded `text`. 0, MPIJOB_ERR_SYNTAX, MPIJOB_ERR_NOMEM. */
int mpijob__http_base64_decode(const char *text, size_t len, mpijob__http_secret *out);
/* Replace the content by the base64 of `data`, without line breaks. 0, MPIJOB_ERR_NOMEM. */
int mpijob__http_base64_encode(const char *data, size_t len, mpijob__http_secret *out);

#endif
