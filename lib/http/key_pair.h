/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a certificate and a key are such, and belong together. */
#ifndef MPIJOB__HTTP_KEY_PAIR_H
#define MPIJOB__HTTP_KEY_PAIR_H

#include "http/secret.h"

/* 0; MPIJOB_ERR_SPEC and in `why` a sentence's end: "holds no certificate". Never asks for a pass phrase. */
int mpijob__key_pair_check(const mpijob__secret *certificate, const mpijob__secret *key, const char **why);

#endif
