/* SPDX-License-Identifier: Apache-2.0 */
/* Usage: transport-record record|replay FILE: asks an empty cluster in this process for Pods, or
 * plays that again. */
#include "record.h"

#include <mpijob/local.h>

#include <stdlib.h>
#include <string.h>

static int recorder(FILE *file, struct mpijob_transport *transport, void **self)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	struct mpijob_transport cluster = MPIJOB_TRANSPORT_INIT;
	struct mpijob_local *local;
	mpijob_client *inner;
	int code;

	options.no_node = 1;
	code = mpijob_local_new(&options, &cluster, &local, NULL);
	if (code == 0)
		code = mpijob_client_new(&cluster, local, &inner);
	return code ? code : record_new(inner, file, transport, self);
}

static int player(FILE *file, struct mpijob_transport *transport, void **self)
{
	mpijob_text *text = mpijob_text_new();
	int code = text ? 0 : MPIJOB_ERR_NOMEM;
	char buffer[4096];
	size_t len;

	while (code == 0 && (len = fread(buffer, 1, sizeof(buffer), file)) > 0)
		code = mpijob_text_write(text, buffer, len);
	if (code == 0)
		code = replay_new(mpijob_text_data(text), mpijob_text_len(text), transport, self);
	mpijob_text_free(text);
	return code;
}

int main(int argc, char **argv)
{
	struct mpijob_target pods = { sizeof(pods), "v1", "Pod", "default", NULL, NULL, NULL, 0,
		NULL, 0, 0 };
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	int replays = argc == 3 && strcmp(argv[1], "replay") == 0;
	FILE *file = argc == 3 ? fopen(argv[2], replays ? "r" : "w") : NULL;
	mpijob_client *client = NULL;
	mpijob_doc *list = NULL;
	void *self;
	int code;

	if (!file)
		return 2;
	code = replays ? player(file, &transport, &self) : recorder(file, &transport, &self);
	if (code == 0)
		code = mpijob_client_new(&transport, self, &client);
	if (code == 0)
		code = mpijob_client_list(client, &pods, 0, &list, NULL);
	if (code)
		printf("%s\n", mpijob_error_text(code));
	else
		printf("%zu pods\n",
		    mpijob_node_count(mpijob_node_find(mpijob_doc_root(list), "items")));
	mpijob_doc_free(list);
	mpijob_client_free(client);
	fclose(file);
	return code != 0;
}
