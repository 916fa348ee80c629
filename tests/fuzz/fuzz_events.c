/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a watch tells, one event on a line: from the events to facts, to a plan, to
 * what would be sent. A tenant writes most of it. Whatever he writes: each body is JSON, what it
 * names is named as the plan says, no Event is longer than one may be, discover_hosts.sh holds
 * nothing but names, and the same facts give the same plan.
 *
 * A line {"options": {...}} says with which options is planned: `now`, `reference`, `gang`, and
 * features by their members.
 */
#include "base/text.h"
#include "base/utf8.h"

#include <mpijob/mpijob.h>

#include <stdlib.h>
#include <string.h>

#define NOW_MS     INT64_C(1795262400000)
#define MOST_SAID  1024
#define MOST_LINES 64
#define MOST_DONE  12 /* bodies of one verb and kind that are looked at: workers are alike */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct scene {
	mpijob *job;
	mpijob_facts *facts;
	mpijob_observation *observation;
	mpijob_doc *options; /* keeps the strings of `render` */
	struct mpijob_features features;
	struct mpijob_render_options render;
	struct mpijob_plan_options plan;
};

static void need(int ok)
{
	if (!ok)
		abort();
}

/* --- options --- */

static void read_number(const mpijob_node *map, const char *key, int32_t *out)
{
	int64_t value = 0;

	if (mpijob_node_int(mpijob_node_get(map, key), &value) && value >= 0 && value < 100000)
		*out = (int32_t)value;
}

static void read_features(const mpijob_node *map, struct mpijob_features *features)
{
	read_number(map, "ttl_deletes_job", &features->ttl_deletes_job);
	read_number(map, "clean_launcher", &features->clean_launcher);
	read_number(map, "replace_workers", &features->replace_workers);
	read_number(map, "restart_gang", &features->restart_gang);
	read_number(map, "fail_invalid", &features->fail_invalid);
	read_number(map, "gang_safe_wait", &features->gang_safe_wait);
	read_number(map, "worker_readiness", &features->worker_readiness);
	read_number(map, "ssh_port", &features->ssh_port);
	read_number(map, "user_variables", &features->user_variables);
	read_number(map, "user_dns_policy", &features->user_dns_policy);
	read_number(map, "private_keys", &features->private_keys);
	read_number(map, "wait_for_hosts", &features->wait_for_hosts);
	read_number(map, "compact_hosts", &features->compact_hosts);
	read_number(map, "network_policy", &features->network_policy);
}

static void read_options(struct scene *scene, mpijob_doc *doc)
{
	const mpijob_node *map = mpijob_node_get(mpijob_doc_root(doc), "options");
	int64_t now = 0;

	mpijob_doc_free(scene->options);
	scene->options = doc;
	if (mpijob_node_int(mpijob_node_get(map, "now"), &now))
		scene->plan.now_ms = now;
	read_number(map, "reference", &scene->render.reference);
	scene->render.gang_scheduler = mpijob_node_string(mpijob_node_get(map, "gang"));
	read_features(map, &scene->features);
}

/* --- events --- */

static void take_job(struct scene *scene, const mpijob_doc *doc)
{
	const mpijob_node *root = mpijob_doc_root(doc), *object = mpijob_node_get(root, "object");
	mpijob *job = NULL;

	if (mpijob_from_node(object ? object : root, NULL, &job, NULL))
		return;
	mpijob_free(scene->job);
	scene->job = job;
}

/* 1 when it is an option or a job, and was used up. */
static int take_other(struct scene *scene, const char *text, size_t len, int is_job)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;

	options.format = MPIJOB_FORMAT_JSON;
	if (mpijob_doc_parse(text, len, &options, &doc, NULL))
		return 0;
	if (is_job)
		take_job(scene, doc);
	else if (mpijob_node_get(mpijob_doc_root(doc), "options")) {
		read_options(scene, doc);
		return 1;
	}
	mpijob_doc_free(doc);
	return is_job;
}

static void take_line(struct scene *scene, const char *text, size_t len)
{
	const struct mpijob_observed *observed;

	if (len > 11 && memcmp(text, "{\"options\":", 11) == 0 && take_other(scene, text, len, 0))
		return;
	if (mpijob_observe(scene->observation, text, len, &observed, NULL))
		return;
	if (observed->kind && strcmp(observed->kind, "MPIJob") == 0) {
		(void)take_other(scene, text, len, 1);
		return;
	}
	(void)mpijob_facts_apply(scene->facts, observed);
}

/* --- what is planned --- */

static int is_name(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_';
}

/* A tenant cannot choose what API servers refuse for every namespace. */
static int is_plain(const char *namespace_)
{
	for (; namespace_ && *namespace_; namespace_++)
		if (!is_name((unsigned char)*namespace_))
			return 0;
	return 1;
}

/* "#!/bin/sh", "echo NAME" and what counts hosts; no other word of a tenant's. */
static void check_script(const char *script, int counts)
{
	need(strncmp(script, "#!/bin/sh\n", 10) == 0);
	for (const char *at = script + 10; *at && !counts; at++) {
		need(strncmp(at, "echo ", 5) == 0);
		for (at += 5; *at && *at != '\n'; at++)
			need(is_name((unsigned char)*at) || *at == ':');
		need(*at == '\n');
	}
}

static void check_body(const struct scene *scene, const struct mpijob_action *action,
    const mpijob_text *body)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	const mpijob_node *root, *script;
	const char *name, *uid;
	mpijob_doc *doc = NULL;

	options.format = MPIJOB_FORMAT_JSON;
	need(mpijob_doc_parse(mpijob_text_data(body), mpijob_text_len(body), &options, &doc,
		 NULL) == 0);
	root = mpijob_doc_root(doc);
	name = mpijob_node_string(mpijob_node_find(root, "metadata.name"));
	uid = mpijob_node_string(mpijob_node_find(root, "metadata.uid"));
	if (action->verb == MPIJOB_ACTION_CREATE)
		need(name && strcmp(name, action->name) == 0);
	else
		need(uid && action->uid && strcmp(uid, action->uid) == 0);
	script = mpijob_node_get(mpijob_node_get(root, "data"), "discover_hosts.sh");
	if (action->role == MPIJOB_ROLE_CONFIG_MAP && mpijob_node_string(script) &&
	    is_plain(mpijob_namespace(scene->job)))
		check_script(mpijob_node_string(script), scene->features.compact_hosts);
	mpijob_doc_free(doc);
}

static void check_event(const struct mpijob_action *action)
{
	size_t len = strlen(action->event_message);

	need(len <= MOST_SAID && mpijob__base_utf8_valid(action->event_message, len, NULL));
	need(strcmp(action->event_type, "Normal") == 0 ||
	     strcmp(action->event_type, "Warning") == 0);
}

static void check_action(const struct scene *scene, const mpijob_plan *plan, size_t index)
{
	static const uint8_t entropy[MPIJOB_SSH_ENTROPY] = { 7 };
	const struct mpijob_action *action = mpijob_plan_at(plan, index);
	mpijob_text *body;
	int code;

	need(action->name && action->kind && action->api_version && action->why);
	if (action->verb == MPIJOB_ACTION_EVENT) {
		check_event(action);
		return;
	}
	need((action->verb == MPIJOB_ACTION_CREATE) == (action->uid == NULL));
	/* To draw a key is slow, and says nothing of what was observed. */
	if (action->verb == MPIJOB_ACTION_DELETE || action->role == MPIJOB_ROLE_SECRET)
		return;
	body = mpijob_text_new();
	need(body != NULL);
	code =
	    mpijob_plan_write_body(plan, index, entropy, sizeof(entropy), mpijob_text_write, body);
	need(code == 0 || code == MPIJOB_ERR_SPEC);
	if (code == 0)
		check_body(scene, action, body);
	mpijob_text_free(body);
}

static int same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void check_same(const mpijob_plan *a, const mpijob_plan *b)
{
	need(mpijob_plan_get_result(a)->actions_count == mpijob_plan_get_result(b)->actions_count &&
	     mpijob_plan_get_result(a)->next_ms == mpijob_plan_get_result(b)->next_ms);
	for (size_t i = 0; i < mpijob_plan_get_result(a)->actions_count; i++) {
		const struct mpijob_action *x = mpijob_plan_at(a, i), *y = mpijob_plan_at(b, i);

		need(x->verb == y->verb && x->stage == y->stage && same_text(x->name, y->name) &&
		     same_text(x->uid, y->uid) && same_text(x->event_message, y->event_message));
	}
}

static void check_plan(const struct scene *scene)
{
	mpijob_plan *plan = NULL, *again = NULL;
	size_t done = 0;
	int code = mpijob_plan_new(scene->job, scene->facts, &scene->plan, &plan, NULL);

	need(code == 0 || code == MPIJOB_ERR_USAGE || code == MPIJOB_ERR_UNSUPPORTED);
	if (code)
		return;
	need(mpijob_plan_new(scene->job, scene->facts, &scene->plan, &again, NULL) == 0);
	check_same(plan, again);
	for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++) {
		const struct mpijob_action *action = mpijob_plan_at(plan, i);

		if (action->role == MPIJOB_ROLE_WORKER && ++done > MOST_DONE)
			continue;
		check_action(scene, plan, i);
	}
	mpijob_plan_free(plan);
	mpijob_plan_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scene scene = { .features = MPIJOB_FEATURES_INIT,
		.render = MPIJOB_RENDER_OPTIONS_INIT,
		.plan = MPIJOB_PLAN_OPTIONS_INIT };
	const char *text = (const char *)data, *end = text + size;

	scene.facts = mpijob_facts_new();
	scene.observation = mpijob_observation_new();
	need(scene.facts && scene.observation);
	scene.plan.now_ms = NOW_MS;
	scene.plan.render = &scene.render;
	scene.render.features = &scene.features;
	for (int lines = 0; text < end && lines < MOST_LINES; lines++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((stop ? stop : end) - text);

		take_line(&scene, text, len);
		text += len + 1;
	}
	if (scene.job)
		check_plan(&scene);
	mpijob_free(scene.job);
	mpijob_facts_free(scene.facts);
	mpijob_observation_free(scene.observation);
	mpijob_doc_free(scene.options);
	return 0;
}
