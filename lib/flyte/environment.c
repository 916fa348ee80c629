/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables that Flyte gives to every container of a task, and how they reach ranks on other
 * hosts: kubectl exec starts a process in a worker's container, which has them; an SSH session
 * does not, so mpirun has to pass them.
 */
#include "flyte/flyte.h"

#include "base/mpirun.h"

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
	int rc;

	while (len > 0 && e->console_url[len - 1] == '/')
		len--;
	if (!e->console_url || !*e->console_url ||
	    !mpijob__flyte_proto_get(f->task_config, "link_type"))
		return 0;
	rc = mpijob__base_text_printf(&url,
	    "%.*s/projects/%s/domains/%s/executions/%s/nodeId/%s/nodes", (int)len, e->console_url,
	    e->project ? e->project : "", e->domain ? e->domain : "", e->execution_name,
	    e->node_id ? e->node_id : "");
	if (!rc)
		add(f, env, "FLYTE_EXECUTION_URL", url.data);
	mpijob__base_text_release(&url);
	return rc;
}

static int add_execution(struct mpijob__flyte *f, mpijob_node *env)
{
	const struct mpijob_flyte_execution *e = &f->execution;
	const mpijob_node *id = mpijob__flyte_proto_get(f->task, "id");
	const char *name = e->task_name ? e->task_name : mpijob__flyte_proto_text(id, "name");
	char attempt[16];
	int rc;

	if (!e->execution_name)
		return 0;
	add(f, env, "FLYTE_INTERNAL_EXECUTION_ID", e->execution_name);
	add(f, env, "FLYTE_INTERNAL_EXECUTION_PROJECT", e->project);
	add(f, env, "FLYTE_INTERNAL_EXECUTION_DOMAIN", e->domain);
	add(f, env, "FLYTE_ATTEMPT_NUMBER", print_int(e->attempt, attempt));
	rc = add_url(f, env);
	if (rc || !name || !*name)
		return rc;
	add(f, env, "FLYTE_INTERNAL_TASK_PROJECT",
	    e->task_name ? e->task_project : mpijob__flyte_proto_text(id, "project"));
	add(f, env, "FLYTE_INTERNAL_TASK_DOMAIN",
	    e->task_name ? e->task_domain : mpijob__flyte_proto_text(id, "domain"));
	add(f, env, "FLYTE_INTERNAL_TASK_NAME", name);
	add(f, env, "FLYTE_INTERNAL_TASK_VERSION",
	    e->task_name ? e->task_version : mpijob__flyte_proto_text(id, "version"));
	return 0;
}

static void add_sources(struct mpijob__flyte *f, mpijob_node *container, const mpijob_node *names,
    const char *kind)
{
	for (size_t i = 0; i < mpijob_node_count(names); i++) {
		mpijob_node *entry =
		    mpijob_node_append_map(f->doc, mpijob__flyte_list(f, container, "envFrom"));
		mpijob_node *reference = mpijob_node_put_map(f->doc, entry, kind);

		mpijob_node_put_string(f->doc, reference, "name",
		    mpijob_node_text(mpijob_node_at(names, i)));
		mpijob_node_put_bool(f->doc, reference, "optional", 1);
	}
}

int mpijob__flyte_environment_add(struct mpijob__flyte *f, mpijob_node *container)
{
	mpijob_node *env = mpijob__flyte_list(f, container, "env");
	int rc;

	if (f->execution.workflow && *f->execution.workflow)
		add(f, env, "FLYTE_INTERNAL_EXECUTION_WORKFLOW", f->execution.workflow);
	rc = add_execution(f, env);
	add_map(f, env, f->execution.environment);
	add_map(f, env, f->config.default_env_vars);
	if (mpijob_node_count(env) == 0)
		mpijob_node_remove(container, "env");
	add_sources(f, container, f->config.default_env_from_secrets, "secretRef");
	add_sources(f, container, f->config.default_env_from_config_maps, "configMapRef");
	return rc;
}

/* ---- forwarding ---- */

/* Is the word at `at` a program? After an option it may be the value of the option. */
static int is_run(const mpijob_node *words, size_t at)
{
	const char *before = at ? mpijob_node_string(mpijob_node_at(words, at - 1)) : NULL;

	return !before || before[0] != '-' || strcmp(before, "--") == 0;
}

/* Find the word that runs one of these programs: 1, or 0. */
static int find_program(const mpijob_node *words, const char *const *programs, size_t *at)
{
	for (*at = 0; *at < mpijob_node_count(words); ++*at) {
		if (is_run(words, *at) &&
		    mpijob__base_text_is_one_of(mpijob__base_text_file_name(
						    mpijob_node_string(mpijob_node_at(words, *at))),
			programs))
			return 1;
	}
	return 0;
}

/* Does mpirun, the word at `at`, pass the variable? The words after its program belong to the
 * program. */
static int is_passed(const mpijob_node *words, size_t at, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = at + 1; i + 1 < mpijob_node_count(words); i++) {
		const char *word = mpijob_node_string(mpijob_node_at(words, i));
		const char *next = mpijob_node_string(mpijob_node_at(words, i + 1));

		if (!word || word[0] != '-')
			return 0;
		if (next && strcmp(word, "-x") == 0 && strncmp(next, name, len) == 0 &&
		    (next[len] == '\0' || next[len] == '='))
			return 1;
		i += mpijob__base_mpirun_values(word);
	}
	return 0;
}

static int is_hydra(const mpijob_node *implementation)
{
	const char *name = mpijob_node_string(implementation);

	return name && strcmp(name, "OpenMPI") != 0;
}

/* Does an earlier variable have this name? */
static int is_given(const mpijob_node *env, size_t before, const char *name)
{
	for (size_t i = 0; i < before; i++) {
		const char *other =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(env, i), "name"));

		if (other && strcmp(other, name) == 0)
			return 1;
	}
	return 0;
}

/* Variables that mpirun passes by itself, or must not pass. */
static int is_own(const char *name)
{
	return strncmp(name, "OMPI_", 5) == 0 || strncmp(name, "PRTE_", 5) == 0 ||
	       strncmp(name, "PMIX_", 5) == 0;
}

static void append_words(struct mpijob__flyte *f, mpijob_node *made, const mpijob_node *words,
    size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		mpijob_node_append(f->doc, made,
		    mpijob_node_copy(f->doc, mpijob_node_at(words, i)));
}

/* Append `-x NAME` for each variable that mpirun does not pass. Returns their number. */
static size_t pass(struct mpijob__flyte *f, const mpijob_node *words, size_t at,
    const mpijob_node *env, mpijob_node *made)
{
	size_t passed = 0;

	for (size_t i = 0; i < mpijob_node_count(env); i++) {
		const char *name =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(env, i), "name"));

		if (!name || !*name || is_own(name) || is_passed(words, at, name) ||
		    is_given(env, i, name))
			continue;
		mpijob_node_append_string(f->doc, made, "-x");
		mpijob_node_append_string(f->doc, made, name);
		passed++;
	}
	return passed;
}

int mpijob__flyte_environment_forward(struct mpijob__flyte *f)
{
	static const char *const mpirun[] = { "mpirun", "mpiexec", "orterun", "prterun", NULL };
	static const char *const horovodrun[] = { "horovodrun", NULL };
	mpijob_node *container = mpijob_doc_edit(f->doc, LAUNCHER_CONTAINER), *made;
	const mpijob_node *env = mpijob_node_get(container, "env"), *list;
	const mpijob_node *command = mpijob_node_get(container, "command"),
			  *args = mpijob_node_get(container, "args");
	mpijob_node *words = mpijob_node_new(f->doc, MPIJOB_NODE_LIST);
	size_t count = mpijob_node_count(command), at = 0, first, passed;
	int rc = 0;

	append_words(f, words, command, 0, count);
	append_words(f, words, args, 0, mpijob_node_count(args));
	/* Both forward all variables by default. */
	if (find_program(words, horovodrun, &at) ||
	    is_hydra(mpijob_doc_edit(f->doc, "spec.mpiImplementation")))
		return 1;
	if (!find_program(words, mpirun, &at))
		return mpijob_node_count(env)
			   ? mpijob__flyte_task_ignore(f, LAUNCHER_CONTAINER ".args", args,
				 "no mpirun in here: its variables do not reach remote ranks")
			   : 0;
	if (mpijob_node_count(mpijob_node_get(container, "envFrom")))
		rc = mpijob__flyte_task_ignore(f, LAUNCHER_CONTAINER ".envFrom",
		    mpijob_node_get(container, "envFrom"),
		    "these variables do not reach remote ranks: their names are not known here");
	list = at < count ? command : args;
	first = at < count ? at : at - count;
	made = mpijob_node_new(f->doc, MPIJOB_NODE_LIST);
	append_words(f, made, list, 0, first + 1);
	passed = pass(f, words, at, env, made);
	append_words(f, made, list, first + 1, mpijob_node_count(list));
	mpijob_node_put(f->doc, container, at < count ? "command" : "args", made);
	if (!rc && passed)
		rc = mpijob__flyte_repair_report(f, MPIJOB_FLYTE_ENVIRONMENT, LAUNCHER_CONTAINER,
		    "mpirun passes its variables to remote ranks: %zu", passed);
	return rc ? rc : 1;
}
