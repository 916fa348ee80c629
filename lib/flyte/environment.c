/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables that Flyte gives to every container of a task, and how they reach ranks on other hosts: kubectl exec
 * entered a worker's container and found them there; an SSH session does not, so mpirun has to pass them.
 */
#include "flyte/flyte.h"

#include <string.h>

#define LAUNCHER_CONTAINER "spec.mpiReplicaSpecs[Launcher].template.spec.containers[0]"

static char *print_int(int32_t value, char out[16])
{
	uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
	char *at = out + 15;

	*at = 0;
	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--at = '-';
	return at;
}

static mpijob_node *list_of(struct mpijob__flyte *f, mpijob_node *map, const char *key)
{
	mpijob_node *list = mpijob_node_edit(map, key);

	return mpijob_node_kind(list) == MPIJOB_NODE_LIST ? list : mpijob_node_put_list(f->doc, map, key);
}

static void add(struct mpijob__flyte *f, mpijob_node *env, const char *name, const char *value)
{
	mpijob_node *entry = mpijob_node_append_map(f->doc, env);

	mpijob_node_put_string(f->doc, entry, "name", name);
	if (value && *value)
		mpijob_node_put_string(f->doc, entry, "value", value);
}

static void add_map(struct mpijob__flyte *f, mpijob_node *env, const mpijob_node *map)
{
	for (size_t i = 0; i < mpijob_node_count(map); i++)
		add(f, env, mpijob_node_key(map, i), mpijob_node_text(mpijob_node_at(map, i)));
}

static int add_url(struct mpijob__flyte *f, mpijob_node *env)
{
	const struct mpijob_flyte_execution *e = &f->execution;
	size_t len = e->console_url ? strlen(e->console_url) : 0;
	struct mpijob_text url = { 0 };
	int code;

	while (len > 0 && e->console_url[len - 1] == '/')
		len--;
	if (!e->console_url || !*e->console_url || !mpijob__proto_get(f->task_config, "link_type"))
		return 0;
	code = mpijob__text_printf(&url, "%.*s/projects/%s/domains/%s/executions/%s/nodeId/%s/nodes", (int)len,
				   e->console_url, e->project ? e->project : "", e->domain ? e->domain : "",
				   e->execution_name, e->node_id ? e->node_id : "");
	if (!code)
		add(f, env, "FLYTE_EXECUTION_URL", url.data);
	mpijob__text_release(&url);
	return code;
}

static int add_execution(struct mpijob__flyte *f, mpijob_node *env)
{
	const struct mpijob_flyte_execution *e = &f->execution;
	const mpijob_node *id = mpijob__proto_get(f->task, "id");
	const char *name = e->task_name ? e->task_name : mpijob__proto_text(id, "name");
	char attempt[16];
	int code;

	if (!e->execution_name)
		return 0;
	add(f, env, "FLYTE_INTERNAL_EXECUTION_ID", e->execution_name);
	add(f, env, "FLYTE_INTERNAL_EXECUTION_PROJECT", e->project);
	add(f, env, "FLYTE_INTERNAL_EXECUTION_DOMAIN", e->domain);
	add(f, env, "FLYTE_ATTEMPT_NUMBER", print_int(e->attempt, attempt));
	code = add_url(f, env);
	if (code || !name || !*name)
		return code;
	add(f, env, "FLYTE_INTERNAL_TASK_PROJECT", e->task_name ? e->task_project : mpijob__proto_text(id, "project"));
	add(f, env, "FLYTE_INTERNAL_TASK_DOMAIN", e->task_name ? e->task_domain : mpijob__proto_text(id, "domain"));
	add(f, env, "FLYTE_INTERNAL_TASK_NAME", name);
	add(f, env, "FLYTE_INTERNAL_TASK_VERSION", e->task_name ? e->task_version : mpijob__proto_text(id, "version"));
	return 0;
}

static void add_sources(struct mpijob__flyte *f, mpijob_node *container, const mpijob_node *names, const char *kind)
{
	for (size_t i = 0; i < mpijob_node_count(names); i++) {
		mpijob_node *entry = mpijob_node_append_map(f->doc, list_of(f, container, "envFrom"));
		mpijob_node *reference = mpijob_node_put_map(f->doc, entry, kind);

		mpijob_node_put_string(f->doc, reference, "name", mpijob_node_text(mpijob_node_at(names, i)));
		mpijob_node_put_bool(f->doc, reference, "optional", 1);
	}
}

int mpijob__environment_add(struct mpijob__flyte *f, mpijob_node *container)
{
	mpijob_node *env = list_of(f, container, "env");
	int code;

	if (f->execution.workflow && *f->execution.workflow)
		add(f, env, "FLYTE_INTERNAL_EXECUTION_WORKFLOW", f->execution.workflow);
	code = add_execution(f, env);
	add_map(f, env, f->execution.environment);
	add_map(f, env, f->config.default_env_vars);
	if (mpijob_node_count(env) == 0)
		mpijob_node_remove(container, "env");
	add_sources(f, container, f->config.default_env_from_secrets, "secretRef");
	add_sources(f, container, f->config.default_env_from_config_maps, "configMapRef");
	return code;
}

/* ---- forwarding ---- */

static int is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; word && i < count; i++) {
		if (strcmp(word, words[i]) == 0)
			return 1;
	}
	return 0;
}

static const char *base_name(const char *word)
{
	const char *slash = word ? strrchr(word, '/') : NULL;

	return slash ? slash + 1 : word;
}

/* The list that holds one of these programs as a word, and the position there; NULL without one. */
static mpijob_node *find_program(mpijob_node *container, const char *const *programs, size_t count, size_t *at)
{
	static const char *const lists[] = { "command", "args" };

	for (size_t k = 0; k < 2; k++) {
		mpijob_node *list = mpijob_node_edit(container, lists[k]);

		for (*at = 0; *at < mpijob_node_count(list); ++*at) {
			if (is_one_of(base_name(mpijob_node_string(mpijob_node_at(list, *at))), programs, count))
				return list;
		}
	}
	return NULL;
}

static int is_passed(const mpijob_node *words, size_t from, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = from; i + 1 < mpijob_node_count(words); i++) {
		const char *word = mpijob_node_string(mpijob_node_at(words, i));
		const char *next = mpijob_node_string(mpijob_node_at(words, i + 1));

		if (word && next && strcmp(word, "-x") == 0 && strncmp(next, name, len) == 0 &&
		    (next[len] == '\0' || next[len] == '='))
			return 1;
	}
	return 0;
}

static int is_hydra(const mpijob_node *implementation)
{
	const char *name = mpijob_node_string(implementation);

	return name && strcmp(name, "OpenMPI") != 0;
}

/* What mpirun passes by itself, or must not pass. */
static int is_own(const char *name)
{
	return strncmp(name, "OMPI_", 5) == 0 || strncmp(name, "PRTE_", 5) == 0 || strncmp(name, "PMIX_", 5) == 0;
}

/* The words with `-x NAME` behind the program for each variable; how many were added. */
static size_t pass(struct mpijob__flyte *f, mpijob_node *words, size_t at, const mpijob_node *env, mpijob_node *made)
{
	size_t passed = 0;

	for (size_t i = 0; i <= at; i++)
		mpijob_node_append(f->doc, made, mpijob_node_copy(f->doc, mpijob_node_at(words, i)));
	for (size_t i = 0; i < mpijob_node_count(env); i++) {
		const char *name = mpijob_node_string(mpijob_node_get(mpijob_node_at(env, i), "name"));

		if (!name || !*name || is_own(name) || is_passed(words, at, name) || is_passed(made, at, name))
			continue;
		mpijob_node_append_string(f->doc, made, "-x");
		mpijob_node_append_string(f->doc, made, name);
		passed++;
	}
	for (size_t i = at + 1; i < mpijob_node_count(words); i++)
		mpijob_node_append(f->doc, made, mpijob_node_copy(f->doc, mpijob_node_at(words, i)));
	return passed;
}

int mpijob__environment_forward(struct mpijob__flyte *f)
{
	static const char *const mpirun[] = { "mpirun", "mpiexec", "orterun", "prterun" };
	static const char *const horovodrun[] = { "horovodrun" };
	mpijob_node *container = mpijob_doc_find(f->doc, LAUNCHER_CONTAINER), *words, *made;
	const mpijob_node *env = mpijob_node_get(container, "env");
	size_t at = 0, passed;
	int code = 0;

	/* Both pass everything by themselves. */
	if (find_program(container, horovodrun, 1, &at) || is_hydra(mpijob_doc_find(f->doc, "spec.mpiImplementation")))
		return 1;
	words = find_program(container, mpirun, sizeof(mpirun) / sizeof(mpirun[0]), &at);
	if (!words) {
		code = mpijob_node_count(env)
			       ? mpijob__task_ignore(f, LAUNCHER_CONTAINER ".args", mpijob_node_get(container, "args"),
						     "no mpirun in here: its variables do not reach remote ranks")
			       : 0;
		return code;
	}
	if (mpijob_node_count(mpijob_node_get(container, "envFrom")))
		code = mpijob__task_ignore(f, LAUNCHER_CONTAINER ".envFrom", mpijob_node_get(container, "envFrom"),
					   "these variables do not reach remote ranks: their names are not known here");
	made = mpijob_node_new_list(f->doc);
	passed = pass(f, words, at, env, made);
	mpijob_node_put(f->doc, container, words == mpijob_node_edit(container, "args") ? "args" : "command", made);
	if (!code && passed)
		code = mpijob__repair_say(f, MPIJOB_FLYTE_ENVIRONMENT, LAUNCHER_CONTAINER,
					  "mpirun passes its variables to remote ranks: %zu", passed);
	return code ? code : 1;
}
