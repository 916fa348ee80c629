/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of an embedded cluster (without a node) fails, alone or with all after it, while
 * objects are made, watched, changed, listed and deleted and a Job runs to its end. Each step is
 * done or says that memory ran out; afterwards the cluster still answers, what it lists is whole,
 * and nothing leaks.
 */
#include "failing_malloc.h"

#include "../support/writes.h"

#include <mpijob/client.h>
#include <mpijob/local.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *problem;

struct watching {
	mpijob_call *call;
	size_t bytes;
};

static int watch_data(void *user, const char *data, size_t len)
{
	struct watching *watching = user;

	(void)data;
	watching->bytes += len;
	return 0;
}

static void watch_done(void *user, const struct mpijob_answer *answer)
{
	struct watching *watching = user;

	(void)answer;
	watching->call = NULL;
}

/* A failure that is none of memory is one of ours. */
static int judge(int code)
{
	if (code && code != MPIJOB_ERR_NOMEM && code != MPIJOB_ERR_NOT_FOUND &&
	    code != MPIJOB_ERR_CONFLICT)
		problem = mpijob_error_name(code);
	return code;
}

static struct mpijob_target target_of(const char *api_version, const char *kind, const char *name,
    const char *sub)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = api_version;
	target.kind = kind;
	target.namespace_ = "default";
	target.name = name;
	target.subresource = sub;
	return target;
}

static int write_one(mpijob_client *client, const struct mpijob_target *target, const char *text,
    int patch)
{
	mpijob_doc *doc = NULL;
	int code = mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL);

	if (code == 0)
		code = patch ? mpijob_client_write(client, target, mpijob_doc_root(doc),
				   WRITE(PATCH_MERGE), NULL, NULL)
			     : mpijob_client_write(client, target, mpijob_doc_root(doc), NULL, NULL,
				   NULL);
	mpijob_doc_free(doc);
	return judge(code);
}

static void end_pods(mpijob_client *client)
{
	struct mpijob_target all = target_of("v1", "Pod", NULL, NULL);
	mpijob_doc *doc = NULL;
	const mpijob_node *items;

	if (judge(mpijob_client_get(client, &all, &doc, NULL)))
		return;
	items = mpijob_node_get(mpijob_doc_root(doc), "items");
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		const char *name =
		    mpijob_node_string(mpijob_node_find(mpijob_node_at(items, i), "metadata.name"));
		struct mpijob_target one = target_of("v1", "Pod", name, "status");

		if (!name ||
		    !mpijob_node_string(mpijob_node_find(mpijob_node_at(items, i), "metadata.uid")))
			problem = "a pod that is not whole";
		else
			write_one(client, &one, "{\"status\":{\"phase\":\"Succeeded\"}}", 1);
	}
	mpijob_doc_free(doc);
}

static void live(mpijob_client *client)
{
	static const char map[] =
	    "{\"metadata\":{\"name\":\"m\",\"labels\":{\"a\":\"b\"}},\"data\":{\"k\":\"v\"}}";
	static const char job[] =
	    "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"ttlSecondsAfterFinished\":100,\"template\":"
	    "{\"spec\":{"
	    "\"restartPolicy\":\"Never\",\"containers\":[{\"image\":\"i\",\"name\":\"c\"}]}}}}";
	static const char secret[] = "{\"metadata\":{\"name\":\"s\"},\"stringData\":{\"k\":\"v\"}}";
	struct mpijob_target maps = target_of("v1", "ConfigMap", NULL, NULL);
	struct mpijob_target one = target_of("v1", "ConfigMap", "m", NULL);
	struct mpijob_target jobs = target_of("batch/v1", "Job", NULL, NULL);
	struct mpijob_target the_job = target_of("batch/v1", "Job", "j", NULL);
	struct mpijob_target secrets = target_of("v1", "Secret", NULL, NULL);
	struct mpijob_request watch = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	struct watching watching = { NULL, 0 };

	watch.method = "GET";
	watch.path = "/api/v1/configmaps?watch=true&labelSelector=a%3Db&allowWatchBookmarks=true";
	watch.streaming = 1;
	callbacks.data = watch_data;
	callbacks.done = watch_done;
	callbacks.user = &watching;
	judge(mpijob_client_start(client, &watch, &callbacks, &watching.call));
	write_one(client, &maps, map, 0);
	write_one(client, &one, "{\"metadata\":{\"labels\":{\"a\":\"c\"}}}", 1);
	write_one(client, &secrets, secret, 0);
	write_one(client, &jobs, job, 0);
	for (int i = 0; i < 4; i++)
		judge(mpijob_client_poll(client, 0));
	end_pods(client);
	for (int i = 0; i < 4; i++)
		judge(mpijob_client_poll(client, 0));
	judge(mpijob_client_delete(client, &the_job, DELETION(NULL, "Foreground"), NULL));
	judge(mpijob_client_delete(client, &one, NULL, NULL));
	judge(mpijob_client_poll(client, 0));
	if (watching.call)
		mpijob_call_cancel(watching.call);
}

/* Memory is back: what is there can be listed. */
static void look(mpijob_client *client)
{
	struct mpijob_target pods = target_of("v1", "Pod", NULL, NULL);
	struct mpijob_target namespace_ = target_of("v1", "Namespace", "default", NULL);
	mpijob_doc *doc = NULL;

	namespace_.namespace_ = NULL;
	if (mpijob_client_get(client, &namespace_, &doc, NULL))
		problem = "the default namespace is gone";
	mpijob_doc_free(doc);
	doc = NULL;
	if (mpijob_client_get(client, &pods, &doc, NULL))
		problem = "pods cannot be listed";
	mpijob_doc_free(doc);
}

static size_t scenario(size_t fail_at, int persistent)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_local *local = NULL;
	mpijob_client *client = NULL;
	size_t count;
	int code;

	options.no_node = 1;
	oom_start(fail_at, persistent);
	code = mpijob_local_new(&options, &transport, &local, NULL);
	if (code == 0)
		code = mpijob_client_new(&transport, local, &client);
	if (judge(code) == 0)
		live(client);
	count = oom_stop();
	if (client)
		look(client);
	mpijob_client_free(client);
	return count;
}

int main(int argc, char **argv)
{
#ifdef __SANITIZE_ADDRESS__
	puts("skipped: the sanitizer brings an allocator of its own");
	return 77;
#endif
	return oom_each(argc, argv, 1, scenario, &problem);
}
