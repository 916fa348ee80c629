/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of tests/oracle/test-lifecycles: requests and answers as in main.go, of the kind that
 * lifecycle.go describes. All objects that there are go in; plans are made and carried out until
 * nothing is left to do; all objects that there are then, what was reported and what was counted
 * come out. Besides: when to look again, and what discover_hosts.sh says then.
 */
#include "../support/plan_cluster.h"
#include "../support/render_options.h"

#define MOST_PLANS 12

struct told {
	mpijob_text *events;
	int counters[3]; /* jobs created, successful, failed */
	int plans;
	int64_t next_ms;
};

static void put(mpijob_text *text, const char *data)
{
	NEED(!mpijob_text_write(text, data, strlen(data)));
}

static void put_string(mpijob_text *text, const char *value)
{
	put(text, "\"");
	for (const char *at = value; *at; at++) {
		char escaped[8];

		if (*at == '"' || *at == '\\')
			snprintf(escaped, sizeof(escaped), "\\%c", *at);
		else if ((unsigned char)*at < ' ')
			snprintf(escaped, sizeof(escaped), "\\u%04x", (unsigned)*at);
		else
			snprintf(escaped, sizeof(escaped), "%c", *at);
		put(text, escaped);
	}
	put(text, "\"");
}

static void put_node(mpijob_text *text, const mpijob_node *node)
{
	NEED(!mpijob_node_write(node, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, text));
}

static void begin(struct plan_cluster *cluster, const mpijob_node *request,
    const struct mpijob_render_options *render)
{
	const mpijob_node *world = mpijob_node_get(request, "world");
	int graceful = 0;

	memset(cluster, 0, sizeof(*cluster));
	cluster->facts = mpijob_facts_new();
	cluster->observation = mpijob_observation_new();
	cluster->objects = calloc(mpijob_node_count(world) + 1, sizeof(*cluster->objects));
	NEED(cluster->facts && cluster->observation && cluster->objects);
	cluster->render = *render;
	cluster->version = 1000;
	mpijob_node_int(mpijob_node_get(request, "now"), &cluster->now_ms);
	mpijob_node_bool(mpijob_node_get(request, "graceful"), &graceful);
	cluster->graceful = graceful;
	for (size_t i = 0; i < mpijob_node_count(world); i++) {
		mpijob_doc *doc = mpijob_doc_from_node(mpijob_node_at(world, i), NULL);

		NEED(doc);
		if (strcmp(plan_cluster_text(doc, "kind"), "MPIJob") == 0)
			cluster->job = doc;
		else
			cluster->objects[cluster->count++].doc = doc;
	}
	NEED(cluster->job);
	plan_cluster_feed_all(cluster, cluster->facts);
}

static void note(struct told *told, const mpijob_plan *plan)
{
	static const int32_t transitions[] = { MPIJOB_TRANSITION_CREATED,
		MPIJOB_TRANSITION_SUCCEEDED, MPIJOB_TRANSITION_FAILED };

	for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++) {
		const struct mpijob_action *action = mpijob_plan_at(plan, i);

		if (action->verb != MPIJOB_ACTION_EVENT)
			continue;
		put(told->events, mpijob_text_len(told->events) ? ",[" : "[");
		put_string(told->events, action->event_type);
		put(told->events, ",");
		put_string(told->events, action->event_reason);
		put(told->events, ",");
		put_string(told->events, action->event_message);
		put(told->events, "]");
	}
	for (int i = 0; i < 3; i++)
		told->counters[i] +=
		    (mpijob_plan_get_result(plan)->transitions & transitions[i]) != 0;
	told->next_ms = mpijob_plan_get_result(plan)->next_ms;
	told->plans++;
}

static void settle(struct plan_cluster *cluster, struct told *told)
{
	int acts = 1;

	while (acts && told->plans < MOST_PLANS) {
		mpijob_plan *plan = plan_cluster_plan(cluster, cluster->facts);

		acts = 0;
		for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++)
			acts |= mpijob_plan_at(plan, i)->verb != MPIJOB_ACTION_EVENT;
		note(told, plan);
		plan_cluster_act_all(cluster, plan);
		mpijob_plan_free(plan);
	}
}

/* What this library made here has a uid as the controller's stores give it. */
static void name_uids(struct plan_cluster *cluster, int64_t tick)
{
	static const char *const resources[][2] = {
		{ "Pod", "pods" },
		{ "Service", "services" },
		{ "ConfigMap", "configmaps" },
		{ "Secret", "secrets" },
		{ "Job", "jobs" },
		{ "PodGroup", "podgroups" },
	};

	for (size_t i = 0; i < cluster->count; i++) {
		mpijob_doc **doc = &cluster->objects[i].doc;

		if (strncmp(plan_cluster_text(*doc, "metadata.uid"), "00000000-", 9) != 0)
			continue;
		for (size_t k = 0; k < sizeof(resources) / sizeof(resources[0]); k++)
			if (strcmp(plan_cluster_text(*doc, "kind"), resources[k][0]) == 0)
				plan_cluster_set(doc, "{metadata: {uid: %s-%s-%d}}",
				    resources[k][1], plan_cluster_text(*doc, "metadata.name"),
				    (int)tick);
	}
}

static void put_later(mpijob_text *out, const struct plan_cluster *cluster, int64_t next_ms)
{
	struct told told = { mpijob_text_new(), { 0 }, 0, 0 };
	struct plan_cluster later;
	const char *hosts = NULL;

	NEED(told.events);
	plan_cluster_copy(&later, cluster);
	later.now_ms = next_ms;
	settle(&later, &told);
	for (size_t i = 0; i < later.count; i++)
		if (strcmp(plan_cluster_text(later.objects[i].doc, "kind"), "ConfigMap") == 0)
			hosts = mpijob_node_string(
			    mpijob_node_get(mpijob_node_find(mpijob_doc_root(later.objects[i].doc),
						"data"),
				"discover_hosts.sh"));
	put(out, ",\"later\":");
	if (hosts)
		put_string(out, hosts);
	else
		put(out, "null");
	plan_cluster_end(&later);
	mpijob_text_free(told.events);
}

static void answer(const mpijob_node *request, mpijob_text *out)
{
	struct told told = { mpijob_text_new(), { 0 }, 0, 0 };
	struct read_options read;
	struct plan_cluster cluster;
	int64_t tick = 0;
	char line[160];

	NEED(told.events);
	read_options(mpijob_node_get(request, "options"), &read);
	begin(&cluster, request, &read.options);
	mpijob_node_int(mpijob_node_get(request, "tick"), &tick);
	settle(&cluster, &told);
	name_uids(&cluster, tick);
	put(out, "{\"world\":[");
	put_node(out, mpijob_doc_root(cluster.job));
	for (size_t i = 0; i < cluster.count; i++) {
		put(out, ",");
		put_node(out, mpijob_doc_root(cluster.objects[i].doc));
	}
	put(out, "],\"events\":[");
	put(out, mpijob_text_len(told.events) ? mpijob_text_data(told.events) : "");
	snprintf(line, sizeof(line), "],\"counters\":[%d,%d,%d],\"plans\":%d,\"next\":%lld",
	    told.counters[0], told.counters[1], told.counters[2], told.plans,
	    (long long)told.next_ms);
	put(out, line);
	if (told.next_ms > cluster.now_ms)
		put_later(out, &cluster, told.next_ms);
	put(out, "}");
	plan_cluster_end(&cluster);
	free_options(&read);
	mpijob_text_free(told.events);
}

int main(void)
{
	size_t len;

	while (scanf("%zu", &len) == 1) {
		char *text = malloc(len + 1);
		mpijob_text *out = mpijob_text_new();
		mpijob_doc *doc = NULL;

		NEED(text && out && getchar() == '\n' && fread(text, 1, len, stdin) == len);
		NEED(!mpijob_doc_parse(text, len, NULL, &doc, NULL));
		answer(mpijob_doc_root(doc), out);
		printf("ok %zu\n", mpijob_text_len(out));
		fwrite(mpijob_text_data(out), 1, mpijob_text_len(out), stdout);
		mpijob_doc_free(doc);
		mpijob_text_free(out);
		free(text);
	}
	return 0;
}
