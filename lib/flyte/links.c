/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links to the logs of a job's pods: templates of names and addresses, filled in like by Flyte's
 * log plugins. As there, an empty value leaves its placeholder unchanged. The creation of the job
 * is used as the start of its pods, and the current time as their end.
 */
#include "flyte/flyte.h"

#include "base/struct.h"
#include "base/time.h"

#include <stdlib.h>
#include <string.h>

static const struct mpijob_flyte_log_template dashboard = { sizeof(dashboard), "Kubernetes Logs",
	"http://localhost:30082/#!/log/{{ .namespace }}/{{ .podName }}/pod?namespace={{ .namespace "
	"}}" };

/* One value after the other, because a value may contain the placeholder of a later one. */
static int fill(const struct mpijob__flyte_links *links, const char *pod, struct mpijob_text *text)
{
	const struct mpijob_flyte_execution *e = &links->execution;
	const mpijob_node *metadata = mpijob_node_get(links->job, "metadata");
	const char *created = mpijob_node_string(mpijob_node_get(metadata, "creationTimestamp"));
	char start[MPIJOB__BASE_TIME_SIZE] = "", finish[MPIJOB__BASE_TIME_SIZE] = "";
	struct mpijob_text numbers[3] = { { 0 }, { 0 }, { 0 } };
	int64_t start_s = 0;
	int rc = 0;

	if (created && mpijob__base_time_parse(created, &start_s)) {
		mpijob__base_time_format(start_s, start);
		rc = mpijob__base_text_printf(&numbers[0], "%lld", (long long)start_s);
	}
	if (!rc && links->options.now_s) {
		mpijob__base_time_format(links->options.now_s, finish);
		rc = mpijob__base_text_printf(&numbers[1], "%lld", (long long)links->options.now_s);
	}
	if (!rc)
		rc = mpijob__base_text_printf(&numbers[2], "%d", (int)e->attempt);
	const struct {
		const char *name, *value;
	} known[] = {
		{ "podName", pod },
		{ "namespace", mpijob_node_string(mpijob_node_get(metadata, "namespace")) },
		{ "containerName", FLYTE_CONTAINER },
		{ "nodeID", e->node_id },
		{ "generatedName", e->name },
		{ "taskRetryAttempt", links->options.execution ? numbers[2].data : NULL },
		{ "taskID", e->task_name },
		{ "taskVersion", e->task_version },
		{ "taskProject", e->task_project },
		{ "taskDomain", e->task_domain },
		{ "executionName", e->execution_name },
		{ "executionProject", e->project },
		{ "executionDomain", e->domain },
		{ "podRFC3339StartTime", start },
		{ "podRFC3339FinishTime", finish },
		{ "podUnixStartTime", numbers[0].data },
		{ "podUnixFinishTime", numbers[1].data },
	};
	for (size_t i = 0; !rc && i < sizeof(known) / sizeof(known[0]); i++)
		rc = mpijob__flyte_placeholder_replace(text, known[i].name,
		    known[i].value && *known[i].value ? known[i].value : NULL);
	for (size_t i = 0; i < 3; i++)
		mpijob__base_text_release(&numbers[i]);
	return rc;
}

/* A copy that is filled in; NULL when memory runs out. */
static char *filled(const struct mpijob__flyte_links *links, const char *pod, const char *template)
{
	struct mpijob_text text = { 0 };
	int rc = mpijob__base_text_puts(&text, template);
	char *copy;

	if (!rc && template[0])
		rc = fill(links, pod, &text);
	copy = rc ? NULL : strdup(text.data ? text.data : "");
	mpijob__base_text_release(&text);
	return copy;
}

static int grow(struct mpijob__flyte_links *links)
{
	size_t cap = links->cap ? links->cap * 2 : 8;
	struct mpijob_flyte_link *items;

	if (links->count < links->cap)
		return 0;
	items = realloc(links->items, cap * sizeof(*items));
	if (!items)
		return MPIJOB_ERR_NOMEM;
	links->items = items;
	links->cap = cap;
	return 0;
}

static void drop(struct mpijob_flyte_link *link)
{
	free((char *)link->name);
	free((char *)link->uri);
	free((char *)link->pod);
}

static int add_one(struct mpijob__flyte_links *links, const char *pod,
    const struct mpijob_flyte_log_template *template)
{
	struct mpijob_flyte_link link = { sizeof(link), NULL, NULL, NULL };
	int rc = grow(links);

	if (rc)
		return rc;
	link.name = filled(links, pod, template->name);
	link.uri = filled(links, pod, template->uri);
	link.pod = strdup(pod);
	if (!link.name || !link.uri || !link.pod) {
		drop(&link);
		return MPIJOB_ERR_NOMEM;
	}
	links->items[links->count++] = link;
	return 0;
}

int mpijob__flyte_links_template(const struct mpijob__flyte_links *links, size_t i,
    struct mpijob_flyte_log_template *out)
{
	int rc = mpijob__base_struct_check(out, sizeof(*out), links->options.templates[i]);

	return rc || (out->name && out->uri) ? rc : MPIJOB_ERR_USAGE;
}

int mpijob__flyte_links_add(struct mpijob__flyte_links *links, const char *pod)
{
	int rc = 0;

	if (!links->options.templates)
		return add_one(links, pod, &dashboard);
	for (size_t i = 0; !rc && i < links->options.templates_count; i++) {
		struct mpijob_flyte_log_template template;

		rc = mpijob__flyte_links_template(links, i, &template);
		if (!rc)
			rc = add_one(links, pod, &template);
	}
	return rc;
}

void mpijob__flyte_links_free(struct mpijob__flyte_links *links)
{
	for (size_t i = 0; i < links->count; i++)
		drop(&links->items[i]);
	free(links->items);
}
