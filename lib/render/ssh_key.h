/* SPDX-License-Identifier: Apache-2.0 */
/* An ECDSA P-521 key pair from the caller's entropy. It is wiped when it is freed. */
#ifndef MPIJOB_RENDER_SSH_KEY_H
#define MPIJOB_RENDER_SSH_KEY_H

#include <mpijob/render.h>

struct mpijob__render_ssh_key {
	char pem[366];         /* the private key: "EC PRIVATE KEY", SEC1 */
	char pem_base64[489];  /* as a Secret contains it */
	char line[254];        /* the public key for authorized_keys, with the line end */
	char line_base64[341]; /* as a Secret contains it */
};

/*
 * Make a key pair from at least MPIJOB_SSH_ENTROPY bytes; further bytes are ignored. `diag` may be
 * NULL. Returns 0; MPIJOB_ERR_USAGE (NULL, too few bytes); MPIJOB_ERR_UNSUPPORTED (libcrypto has no
 * P-521); MPIJOB_ERR_NOMEM.
 */
int mpijob__render_ssh_key_new(const uint8_t *entropy, size_t len,
    struct mpijob__render_ssh_key **out, mpijob_diag *diag);
/* Wipe and free; NULL does nothing. */
void mpijob__render_ssh_key_free(struct mpijob__render_ssh_key *key);

#endif /* MPIJOB_RENDER_SSH_KEY_H */
