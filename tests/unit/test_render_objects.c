/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All children of a job through the public functions: counting, finding, heads of any size of
 * struct, the key's way into the Secret, options that are wrong, the hostfile, and a stream of many
 * workers in constant memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "render/render.h"
#include "render/ssh_key.h"

static mpijob *make_job(int workers, const char *more)
{
	char *text = NULL;
	mpijob *job = NULL;
	int len = asprintf(&text,
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: pi, namespace: team, "
	    "uid: u-1}\n"
	    "spec:\n%s  mpiReplicaSpecs:\n    Launcher:\n      template:\n        spec:\n          "
	    "containers:\n"
	    "          - {name: l, image: i}\n    Worker:\n      replicas: %d\n      template:\n   "
	    "     spec:\n"
	    "          containers:\n          - {name: w, image: pi-worker-1, args: ['1', '2', "
	    "pi-worker-2]}\n",
	    more, workers);

	assert_true(len > 0);
	assert_int_equal(mpijob_parse(text, (size_t)len, NULL, &job, NULL), 0);
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	free(text);
	return job;
}

static mpijob_objects *render(const mpijob *job, const struct mpijob_render_options *options)
{
	mpijob_objects *objects = NULL;

	assert_int_equal(mpijob_render(job, options, &objects, NULL), 0);
	return objects;
}

static void counts_and_finds(void **state)
{
	static const int32_t roles[] = { MPIJOB_ROLE_SERVICE, MPIJOB_ROLE_CONFIG_MAP,
		MPIJOB_ROLE_SECRET, MPIJOB_ROLE_POD_GROUP, MPIJOB_ROLE_WORKER, MPIJOB_ROLE_WORKER,
		MPIJOB_ROLE_WORKER, MPIJOB_ROLE_LAUNCHER };
	static const char *const names[] = { "pi", "pi-config", "pi-ssh", "pi", "pi-worker-0",
		"pi-worker-1", "pi-worker-2", "pi-launcher" };
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob *job = make_job(3, "");
	mpijob_objects *objects;
	struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
	size_t found = 99;

	(void)state;
	options.gang_scheduler = "volcano";
	objects = render(job, &options);
	mpijob_free(job); /* it may go */
	assert_int_equal(mpijob_objects_count(objects), 8);
	for (size_t i = 0; i < 8; i++) {
		int32_t worker = roles[i] == MPIJOB_ROLE_WORKER ? (int32_t)i - 4 : -1;

		assert_int_equal(mpijob_objects_head(objects, i, &head), 0);
		assert_int_equal(head.role, roles[i]);
		assert_int_equal(head.index, worker);
		assert_string_equal(head.name, names[i]);
		assert_int_equal(mpijob_objects_find(objects, roles[i], worker, &found), 1);
		assert_int_equal(found, i);
	}
	assert_string_equal(head.api_version, "batch/v1");
	assert_string_equal(head.kind, "Job");
	assert_int_equal(mpijob_objects_head(objects, 8, &head), MPIJOB_ERR_NOT_FOUND);
	assert_int_equal(mpijob_objects_find(objects, MPIJOB_ROLE_WORKER, 3, &found), 0);
	assert_int_equal(mpijob_objects_find(objects, MPIJOB_ROLE_WORKER, -1, &found), 0);
	assert_int_equal(mpijob_objects_find(objects, 0, 0, &found), 0);
	assert_int_equal(mpijob_objects_find(objects, 7, 0, &found), 0);
	mpijob_objects_free(objects);
}

static void child_names(void **state)
{
	static const struct {
		int32_t role, index;
		const char *name;
	} cases[] = {
		{ MPIJOB_ROLE_SERVICE, -1, "pi" },
		{ MPIJOB_ROLE_CONFIG_MAP, -1, "pi-config" },
		{ MPIJOB_ROLE_SECRET, 7, "pi-ssh" },
		{ MPIJOB_ROLE_WORKER, 12, "pi-worker-12" },
		{ MPIJOB_ROLE_LAUNCHER, -1, "pi-launcher" },
	};
	mpijob_text *text = mpijob_text_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mpijob_text_clear(text);
		assert_int_equal(mpijob_child_name_write("pi", cases[i].role, cases[i].index,
				     mpijob_text_write, text),
		    0);
		assert_string_equal(mpijob_text_data(text), cases[i].name);
	}
	assert_int_equal(mpijob_child_name_write("pi", 0, 0, mpijob_text_write, text),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_child_name_write("pi", MPIJOB_ROLE_WORKER, -1, mpijob_text_write,
			     text),
	    MPIJOB_ERR_USAGE);
	mpijob_text_free(text);
}

/* A caller that was compiled for an older library gets what its struct has, and not a byte more. */
static void head_of_an_older_size(void **state)
{
	mpijob *job = make_job(1, "");
	mpijob_objects *objects = render(job, NULL);
	size_t old = offsetof(struct mpijob_object_head, api_version);
	void *volatile bytes = malloc(old); /* else the compiler sees how short it is */
	struct mpijob_object_head *head = bytes;

	(void)state;
	assert_non_null(head);
	head->size = old;
	assert_int_equal(mpijob_objects_head(objects, 3, head), 0);
	assert_int_equal(head->role, MPIJOB_ROLE_WORKER);
	assert_int_equal(head->size, old);
	head->size = 3;
	assert_int_equal(mpijob_objects_head(objects, 3, head), MPIJOB_ERR_USAGE);
	free(head);
	mpijob_objects_free(objects);
	mpijob_free(job);
}

static void no_gang_no_pod_group(void **state)
{
	mpijob *job = make_job(1, "");
	mpijob_objects *objects = render(job, NULL);
	size_t found;

	(void)state;
	assert_int_equal(mpijob_objects_find(objects, MPIJOB_ROLE_POD_GROUP, 0, &found), 0);
	mpijob_objects_free(objects);
	mpijob_free(job);
}

/* The PodGroup, which follows Service, ConfigMap and Secret. */
static mpijob_doc *pod_group(const mpijob *job, const char *scheduler, const char *api_version)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
	mpijob_objects *objects;
	mpijob_doc *doc = NULL;
	size_t at;

	options.gang_scheduler = scheduler;
	objects = render(job, &options);
	assert_int_equal(mpijob_objects_find(objects, MPIJOB_ROLE_POD_GROUP, 0, &at), 1);
	assert_int_equal(mpijob_objects_head(objects, at, &head), 0);
	assert_string_equal(head.api_version, api_version);
	assert_int_equal(mpijob_objects_at(objects, at, &doc), 0);
	mpijob_objects_free(objects);
	assert_string_equal(mpijob_node_string(
				mpijob_node_find(mpijob_doc_root(doc), "apiVersion")),
	    api_version);
	return doc;
}

static void pod_group_of_each_scheduler(void **state)
{
	mpijob *job = make_job(2,
	    "  runPolicy:\n    schedulingPolicy: {queue: q, priorityClass: high, minAvailable: 2, "
	    "scheduleTimeoutSeconds: 7, minResources: {cpu: '3'}}\n");
	mpijob_doc *doc = pod_group(job, "volcano", "scheduling.volcano.sh/v1beta1");
	int64_t number;

	(void)state;
	assert_int_equal(mpijob_node_int(mpijob_node_find(mpijob_doc_root(doc), "spec.minMember"),
			     &number),
	    1);
	assert_int_equal(number, 2);
	assert_string_equal(mpijob_node_string(
				mpijob_node_find(mpijob_doc_root(doc), "spec.queue")),
	    "q");
	assert_string_equal(mpijob_node_string(
				mpijob_node_find(mpijob_doc_root(doc), "spec.priorityClassName")),
	    "high");
	assert_null(mpijob_node_find(mpijob_doc_root(doc), "spec.scheduleTimeoutSeconds"));
	assert_string_equal(mpijob_node_string(
				mpijob_node_find(mpijob_doc_root(doc), "spec.minResources.cpu")),
	    "3");
	mpijob_doc_free(doc);

	doc = pod_group(job, "coscheduling", "scheduling.x-k8s.io/v1alpha1");
	assert_null(mpijob_node_find(mpijob_doc_root(doc), "spec.queue"));
	assert_null(mpijob_node_find(mpijob_doc_root(doc), "spec.priorityClassName"));
	assert_int_equal(mpijob_node_int(mpijob_node_find(mpijob_doc_root(doc),
					     "spec.scheduleTimeoutSeconds"),
			     &number),
	    1);
	assert_int_equal(number, 7);
	mpijob_doc_free(doc);
	mpijob_free(job);
}

/* The base64 of a text of the Secret's, as written in some format. */
static char *secret_text(const mpijob_objects *objects, int32_t format, int32_t with_key,
    const char *key)
{
	mpijob_text *text = mpijob_text_new();
	mpijob_doc *doc = NULL;
	const char *found;
	char *copy;

	assert_int_equal(mpijob_objects_write(objects, 2, format, with_key, mpijob_text_write,
			     text),
	    0);
	assert_int_equal(mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &doc,
			     NULL),
	    0);
	found =
	    mpijob_node_string(mpijob_node_get(mpijob_node_get(mpijob_doc_root(doc), "data"), key));
	assert_non_null(found);
	copy = strdup(found);
	mpijob_doc_free(doc);
	mpijob_text_free(text);
	return copy;
}

/* Decode base64; the result is a string. */
static char *decode(const char *text)
{
	static const char alphabet[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *out = calloc(1, strlen(text) + 1), *at = out;
	unsigned bits = 0, count = 0;

	assert_int_equal(strlen(text) % 4, 0);
	for (; *text != '\0' && *text != '='; text++) {
		const char *found = strchr(alphabet, *text);

		assert_non_null(found);
		bits = bits << 6 | (unsigned)(found - alphabet);
		count += 6;
		if (count >= 8)
			*at++ = (char)(bits >> (count -= 8));
	}
	return out;
}

static void check_secret(const mpijob_objects *objects, int32_t format, int32_t with_key,
    const char *key, const char *expected)
{
	char *coded = secret_text(objects, format, with_key, key), *text = decode(coded);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_memory_equal(text, "placeholder: ", 13);
	free(text);
	free(coded);
}

static void key_only_where_asked_for(void **state)
{
	static const int32_t formats[] = { MPIJOB_FORMAT_YAML, MPIJOB_FORMAT_JSON,
		MPIJOB_FORMAT_JSON_COMPACT };
	uint8_t entropy[MPIJOB_SSH_ENTROPY] = { 1, 2, 3 };
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob *job = make_job(1, "");
	mpijob_objects *keyless = render(job, NULL), *objects;
	struct mpijob__render_ssh_key *key = NULL;
	mpijob_doc *doc = NULL;

	(void)state;
	assert_int_equal(mpijob__render_ssh_key_new(entropy, sizeof(entropy), &key, NULL), 0);
	options.entropy = entropy;
	options.entropy_len = sizeof(entropy);
	objects = render(job, &options);
	memset(entropy, 0, sizeof(entropy)); /* ours again */
	for (size_t i = 0; i < 3; i++) {
		check_secret(objects, formats[i], 1, "ssh-privatekey", key->pem);
		check_secret(objects, formats[i], 1, "ssh-publickey", key->line);
		check_secret(objects, formats[i], 0, "ssh-privatekey", NULL);
		check_secret(objects, formats[i], 0, "ssh-publickey", key->line);
		check_secret(keyless, formats[i], 1, "ssh-privatekey", NULL);
		check_secret(keyless, formats[i], 1, "ssh-publickey", NULL);
	}
	/* Not in the stream unless asked for, never in a document. */
	for (size_t i = 0; i < 3; i++) {
		mpijob_text *without = mpijob_text_new(), *with = mpijob_text_new();
		char *coded = secret_text(objects, formats[i], 1, "ssh-privatekey");

		assert_int_equal(mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL, formats[i], 0,
				     mpijob_text_write, without),
		    0);
		assert_int_equal(mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL, formats[i], 1,
				     mpijob_text_write, with),
		    0);
		assert_null(strstr(mpijob_text_data(without), coded));
		assert_non_null(strstr(mpijob_text_data(with), coded));
		free(coded);
		mpijob_text_free(without);
		mpijob_text_free(with);
	}
	assert_int_equal(mpijob_objects_at(objects, 2, &doc), 0);
	assert_memory_equal(mpijob_node_string(
				mpijob_node_find(mpijob_doc_root(doc), "data.ssh-privatekey")),
	    "cGxhY2Vob2xkZXI6", 16);
	mpijob_doc_free(doc);
	mpijob__render_ssh_key_free(key);
	mpijob_objects_free(objects);
	mpijob_objects_free(keyless);
	mpijob_free(job);
}

/* Render with options that are refused: the code; a finding names the reason. */
static int refused(const mpijob *job, const struct mpijob_render_options *options,
    mpijob_diag *diag)
{
	mpijob_objects *objects = NULL;
	int code;

	mpijob_diag_clear(diag);
	code = mpijob_render(job, options, &objects, diag);
	assert_null(objects);
	assert_int_equal(mpijob_diag_count(diag, 0), 1);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "bad-options");
	return code;
}

static void wrong_options(void **state)
{
	const struct mpijob_priority_class nameless = MPIJOB_PRIORITY_CLASS_INIT,
					   *pointers[] = { &nameless, NULL };
	uint8_t entropy[MPIJOB_SSH_ENTROPY] = { 0 };
	struct {
		struct mpijob_render_options options;
		int64_t newer;
	} longer = { MPIJOB_RENDER_OPTIONS_INIT, 1 };
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	struct mpijob_features features = MPIJOB_FEATURES_INIT;
	mpijob *job = make_job(1, "");
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_objects *objects = NULL;

	(void)state;
	options.entropy = entropy;
	features.wait_for_hosts = -1;
	options.features = &features;
	assert_int_equal(refused(job, &options, diag), MPIJOB_ERR_USAGE);
	options.features = NULL;
	options.entropy_len = sizeof(entropy) - 1;
	assert_int_equal(refused(job, &options, diag), MPIJOB_ERR_USAGE);
	options = (struct mpijob_render_options)MPIJOB_RENDER_OPTIONS_INIT;
	options.priority_classes_count = 1;
	assert_int_equal(refused(job, &options, diag), MPIJOB_ERR_USAGE);
	options.priority_classes = pointers;
	assert_int_equal(refused(job, &options, diag), MPIJOB_ERR_USAGE);
	options = (struct mpijob_render_options)MPIJOB_RENDER_OPTIONS_INIT;
	options.cluster_domain = "a b";
	assert_int_equal(refused(job, &options, diag), MPIJOB_ERR_USAGE);
	longer.options.size = sizeof(longer);
	assert_int_equal(refused(job, &longer.options, diag), MPIJOB_ERR_UNSUPPORTED);
	longer.newer = 0;
	assert_int_equal(mpijob_render(job, &longer.options, &objects, NULL), 0);
	assert_int_equal(mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL, 9, 0, mpijob_text_write,
			     NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_objects_write(objects, 99, MPIJOB_FORMAT_YAML, 0, mpijob_text_write,
			     NULL),
	    MPIJOB_ERR_NOT_FOUND);
	mpijob_objects_free(objects);
	mpijob_free(job);
	mpijob_objects_free(NULL);
	mpijob_diag_free(diag);
}

static void invalid_job(void **state)
{
	mpijob *job = make_job(0, "");
	mpijob_objects *objects = NULL;
	mpijob_hostfile *hostfile = NULL;
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_render(job, NULL, &objects, diag), MPIJOB_ERR_SPEC);
	assert_true(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR) > 0);
	assert_int_equal(mpijob_hostfile_new(job, NULL, &hostfile, NULL), MPIJOB_ERR_SPEC);
	assert_null(objects);
	assert_null(hostfile);
	mpijob_diag_free(diag);
	mpijob_free(job);
}

/* A number that nobody can have is refused at once, wherever hosts are listed. */
static void far_too_many_workers(void **state)
{
	mpijob *job = make_job(2147483647, "");
	mpijob_objects *objects = NULL;
	mpijob_hostfile *hostfile = NULL;
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_render(job, NULL, &objects, diag), MPIJOB_ERR_SPEC);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "config-map-too-large");
	mpijob_diag_clear(diag);
	assert_int_equal(mpijob_hostfile_new(job, NULL, &hostfile, diag), MPIJOB_ERR_SPEC);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "config-map-too-large");
	mpijob_diag_free(diag);
	mpijob_free(job);
}

/* A ConfigMap that is small enough only while few workers run is told of before they all do. */
static void too_large_later(void **state)
{
	const uint8_t none = 0;
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob *job = make_job(18000, "");
	mpijob_objects *objects = NULL;
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_render(job, NULL, &objects, NULL), MPIJOB_ERR_SPEC);
	options.running = &none;
	options.running_count = 1;
	assert_int_equal(mpijob_render(job, &options, &objects, diag), 0);
	assert_int_equal(mpijob_diag_count(diag, 0), 1);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "config-map-will-be-too-large");
	assert_int_equal(mpijob_objects_count(objects), 18004);
	mpijob_objects_free(objects);
	mpijob_diag_free(diag);
	mpijob_free(job);
}

/* A plan asks that all must fit before it makes the first worker. */
static void must_fit_later(void **state)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	struct mpijob__render_subject subject;
	mpijob *job = make_job(18000, "");
	mpijob_objects *objects = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	const uint8_t none = 0;

	(void)state;
	options.running = &none;
	options.running_count = 1;
	for (int32_t reference = 0; reference < 2; reference++) {
		options.reference = reference;
		assert_int_equal(mpijob__render_subject_make(job, &options, &subject, NULL), 0);
		subject.all_must_fit = 1;
		assert_int_equal(mpijob__render_objects_new(&subject, &objects), 0);
		assert_int_equal(mpijob__render_objects_make(objects, diag), MPIJOB_ERR_SPEC);
		assert_int_equal(mpijob_diag_count(diag, 0), 1);
		assert_string_equal(mpijob_diag_at(diag, 0)->id, "config-map-too-large");
		mpijob_diag_clear(diag);
		mpijob_objects_free(objects);
	}
	mpijob_diag_free(diag);
	mpijob_free(job);
}

/* Made one by one, in any order, children are what they are when all are made. */
static void child_by_child(void **state)
{
	(void)state;
	for (int workers = 1; workers < 4; workers++) {
		mpijob *job = make_job(workers, "");
		mpijob_objects *all = render(job, NULL), *few = NULL;
		mpijob_text *wanted = mpijob_text_new(), *found = mpijob_text_new();
		struct mpijob__render_subject subject;
		const mpijob_doc *doc = NULL;

		assert_int_equal(mpijob__render_subject_make(job, NULL, &subject, NULL), 0);
		assert_int_equal(mpijob__render_objects_new(&subject, &few), 0);
		assert_int_equal(mpijob__render_objects_child(few, MPIJOB_ROLE_POD_GROUP, &doc),
		    MPIJOB_ERR_NOT_FOUND);
		for (size_t i = mpijob_objects_count(all); i-- > 0;) {
			struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;

			assert_int_equal(mpijob_objects_head(all, i, &head), 0);
			mpijob_text_clear(wanted);
			mpijob_text_clear(found);
			assert_int_equal(mpijob_objects_write(all, i, MPIJOB_FORMAT_JSON_COMPACT, 0,
					     mpijob_text_write, wanted),
			    0);
			assert_int_equal(mpijob__render_objects_write_child(few, head.role,
					     head.index, mpijob_text_write, found),
			    0);
			assert_string_equal(mpijob_text_data(found), mpijob_text_data(wanted));
		}
		mpijob_text_free(wanted);
		mpijob_text_free(found);
		mpijob_objects_free(few);
		mpijob_objects_free(all);
		mpijob_free(job);
	}
}

static void lists_hosts(void **state)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob *job = make_job(2,
	    "  runLauncherAsWorker: true\n  slotsPerWorker: 3\n  mpiImplementation: Intel\n");
	mpijob_text *text = mpijob_text_new();
	mpijob_hostfile *hostfile = NULL;

	(void)state;
	options.cluster_domain = "example.org";
	assert_int_equal(mpijob_hostfile_new(job, &options, &hostfile, NULL), 0);
	assert_int_equal(mpijob_hostfile_at(hostfile, 0)->worker, -1);
	assert_string_equal(mpijob_hostfile_at(hostfile, 0)->name,
	    "pi-launcher.pi.team.svc.example.org");
	assert_int_equal(mpijob_hostfile_at(hostfile, 2)->worker, 1);
	assert_int_equal(mpijob_hostfile_at(hostfile, 2)->slots, 3);
	assert_null(mpijob_hostfile_at(hostfile, 3));
	assert_int_equal(mpijob_hostfile_write(hostfile, mpijob_text_write, text), 0);
	assert_string_equal(mpijob_text_data(text), "pi-launcher.pi.team.svc.example.org:3\n"
						    "pi-worker-0.pi.team.svc.example.org:3\n"
						    "pi-worker-1.pi.team.svc.example.org:3\n");
	mpijob_hostfile_free(hostfile);
	mpijob_hostfile_free(NULL);
	mpijob_text_free(text);
	mpijob_free(job);
}

struct stream {
	size_t bytes;
	size_t stop_at; /* 0: never */
	size_t largest;
};

static int count(void *user, const char *data, size_t len)
{
	struct stream *stream = user;

	(void)data;
	stream->bytes += len;
	stream->largest = len > stream->largest ? len : stream->largest;
	return stream->stop_at > 0 && stream->bytes >= stream->stop_at ? MPIJOB_ERR_CANCELLED : 0;
}

/* The template holds texts that look like names and indices; the stream must still be each child as
 * it is alone. */
static void streams_many_workers(void **state)
{
	mpijob *job = make_job(1200, "");
	mpijob_objects *objects = render(job, NULL);
	mpijob_text *all = mpijob_text_new(), *one = mpijob_text_new();
	struct stream stream = { 0, 0, 0 };
	const char *at;

	(void)state;
	assert_int_equal(mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL,
			     MPIJOB_FORMAT_JSON_COMPACT, 0, mpijob_text_write, all),
	    0);
	at = mpijob_text_data(all);
	for (size_t i = 0; i < mpijob_objects_count(objects); i++) {
		mpijob_text_clear(one);
		assert_int_equal(mpijob_objects_write(objects, i, MPIJOB_FORMAT_JSON_COMPACT, 0,
				     mpijob_text_write, one),
		    0);
		at = strchr(at, i == 0 ? '[' : ',') + 1;
		assert_memory_equal(at, mpijob_text_data(one), mpijob_text_len(one));
		at += mpijob_text_len(one);
	}
	assert_string_equal(at, "]}");
	/* What the sink returns ends the stream, wherever it is. */
	assert_int_equal(mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL,
			     MPIJOB_FORMAT_JSON_COMPACT, 0, count, &stream),
	    0);
	assert_int_equal(stream.bytes, mpijob_text_len(all));
	for (stream.stop_at = 1; stream.stop_at < mpijob_text_len(all); stream.stop_at += 40009) {
		stream.bytes = 0;
		assert_int_equal(mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL,
				     MPIJOB_FORMAT_JSON_COMPACT, 0, count, &stream),
		    MPIJOB_ERR_CANCELLED);
	}
	mpijob_text_free(all);
	mpijob_text_free(one);
	mpijob_objects_free(objects);
	mpijob_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_and_finds),
		cmocka_unit_test(child_names),
		cmocka_unit_test(head_of_an_older_size),
		cmocka_unit_test(no_gang_no_pod_group),
		cmocka_unit_test(pod_group_of_each_scheduler),
		cmocka_unit_test(key_only_where_asked_for),
		cmocka_unit_test(wrong_options),
		cmocka_unit_test(invalid_job),
		cmocka_unit_test(lists_hosts),
		cmocka_unit_test(far_too_many_workers),
		cmocka_unit_test(too_large_later),
		cmocka_unit_test(must_fit_later),
		cmocka_unit_test(child_by_child),
		cmocka_unit_test(streams_many_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
