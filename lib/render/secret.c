/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Secret with the SSH key pair. Its document never contains the private key but a placeholder;
 * the writer (stream.c) inserts the key. Without a key pair the public key is a placeholder too.
 */
#include "base/base64.h"
#include "render/build.h"

#include "base/text.h"

#include <string.h>

static void put_base64(struct mpijob__render_build *b, mpijob_node *map, const char *key,
    const char *text)
{
	size_t len = strlen(text), coded = MPIJOB__BASE_BASE64_LEN(len);
	int code;

	mpijob_text_clear(&b->scratch);
	code = mpijob__base_text_reserve(&b->scratch, coded);
	if (code != 0) {
		b->code = b->code != 0 ? b->code : code;
		return;
	}
	mpijob__base_base64_encode((const unsigned char *)text, len, b->scratch.data);
	mpijob_node_put(b->doc, map, key,
	    mpijob_node_new_text(b->doc, MPIJOB_NODE_STRING, b->scratch.data, coded));
}

void mpijob__render_secret_build(struct mpijob__render_build *b, const char *private_base64,
    const char *public_line)
{
	mpijob_node *root = mpijob__render_build_head(b, MPIJOB_ROLE_SECRET, 0, 1);
	mpijob_node *data;

	mpijob_node_put_string(b->doc, root, "type", "kubernetes.io/ssh-auth");
	data = mpijob_node_put_map(b->doc, root, "data");
	if (private_base64 != NULL)
		mpijob_node_put_string(b->doc, data, MPIJOB__RENDER_KEY_SSH_PRIVATE,
		    private_base64);
	else
		put_base64(b, data, MPIJOB__RENDER_KEY_SSH_PRIVATE,
		    "placeholder: the private key is not shown\n");
	put_base64(b, data, MPIJOB__RENDER_KEY_SSH_PUBLIC,
	    public_line != NULL ? public_line
				: "placeholder: the key pair is made when the job is created\n");
}
