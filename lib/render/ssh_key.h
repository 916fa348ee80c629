/* SPDX-License-Identifier: Apache-2.0 */
/* Inside lib/render: the private key as a Secret contains it. */
#ifndef MPIJOB_RENDER_SSH_KEY_H
#define MPIJOB_RENDER_SSH_KEY_H

#include <mpijob/render.h>

/* The PEM text of the private key in base64; borrowed; wiped with the key. */
const char *mpijob__render_ssh_key_private_base64(const mpijob_ssh_key *key);

#endif /* MPIJOB_RENDER_SSH_KEY_H */
