/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Secret with the SSH key pair. Its document never contains the private key but a placeholder;
 * the writer (stream.c) inserts the key. Without a key pair the public key is a placeholder too.
 */
#include "base/base64.h"
#include "render/build.h"

#include <string.h>

/* Put a key that is in base64; NULL: put a placeholder. */
static void put_key(struct mpijob__render_build *b, mpijob_node *map, const char *name,
    const char *base64, const char *placeholder)
{
	char coded[MPIJOB__BASE_BASE64_LEN(64)];
	size_t len = strlen(placeholder);

	if (base64) {
		mpijob_node_put_string(b->doc, map, name, base64);
		return;
	}
	mpijob__base_base64_encode((const unsigned char *)placeholder, len, coded);
	mpijob_node_put(b->doc, map, name,
	    mpijob_node_new_text(b->doc, MPIJOB_NODE_STRING, coded, MPIJOB__BASE_BASE64_LEN(len)));
}

void mpijob__render_secret_build(struct mpijob__render_build *b, const char *private_base64,
    const char *public_base64)
{
	mpijob_node *root = mpijob__render_build_head(b, MPIJOB_ROLE_SECRET, 0, 1);
	mpijob_node *data;

	mpijob_node_put_string(b->doc, root, "type", "kubernetes.io/ssh-auth");
	data = mpijob_node_put_map(b->doc, root, "data");
	put_key(b, data, MPIJOB__RENDER_KEY_SSH_PRIVATE, private_base64,
	    "placeholder: the private key is not shown\n");
	put_key(b, data, MPIJOB__RENDER_KEY_SSH_PUBLIC, public_base64,
	    "placeholder: the key pair is made when the job is created\n");
}
