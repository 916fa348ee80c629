/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings about environment variables that do not have the expected value: the operator sets them
 * too (see injected.c), or they contain references that are not expanded. Kubernetes expands only
 * $(NAME) where NAME is defined before; $$ is a dollar.
 */
#include "doc/names.h"
#include "job/advice.h"
#include "job/injected.h"

#include <string.h>

#define ENV      ".spec.containers[0].env"
#define ENV_FROM ".spec.containers[0].envFrom"

/* ---- variables of the operator ---- */

/* The operator's variable comes later and overrides the user's. */
static void overridden(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role, const char *name)
{
	const mpijob_node *env = mpijob_node_get(role->main, "env");
	const mpijob_node *entry = mpijob__job_injected_in_env(env, mpijob_node_count(env), name);

	if (entry)
		mpijob__job_advice_warn(a, role->template, ENV, entry, "variable-overridden",
		    "%s is set by the operator; the value given here has no effect", name);
}

/* This library does not set its variable if the user's environment may set it. */
static void left_to_user(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role, const char *name)
{
	const mpijob_node *env = mpijob_node_get(role->main, "env");
	const mpijob_node *entry = mpijob__job_injected_in_env(env, mpijob_node_count(env), name);
	const mpijob_node *source =
	    mpijob__job_injected_in_source(mpijob_node_get(role->main, "envFrom"), name);

	if (entry)
		mpijob__job_advice_note(a, role->template, ENV, entry, "variable-left-to-user",
		    "%s is set here, so the operator does not set it", name);
	else if (source)
		mpijob__job_advice_warn(a, role->template, ENV_FROM, source,
		    "variable-left-to-user",
		    "the operator does not set %s, because this source may contain it; set it in "
		    "env, or give the source a prefix",
		    name);
}

static void rule_injected(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role)
{
	const struct mpijob__job_injected *row;

	for (size_t i = 0; (row = mpijob__job_injected_at(i)) != NULL; i++) {
		if (!mpijob__job_injected_applies(row, role->is_worker, a->mpi,
			a->launcher_has_ranks))
			continue;
		if (row->origin == INJECTED_BY_REFERENCE)
			overridden(a, role, row->name);
		else
			left_to_user(a, role, row->name);
	}
}

/* ---- references ---- */

/* A reference to another variable inside a value. */
struct reference {
	const char *at; /* the dollar */
	const char *name;
	size_t name_len;
	size_t len; /* with dollar and brackets */
	char open;  /* '(', '{' or 0 */
};

static size_t name_length(const char *text)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789";

	return *text >= '0' && *text <= '9' ? 0 : strspn(text, letters);
}

/* Find the next reference at or after `at`; 0 if no reference follows. */
static int next_reference(const char *at, struct reference *out)
{
	for (at = strchr(at, '$'); at; at = strchr(at, '$')) {
		char open = at[1] == '(' || at[1] == '{' ? at[1] : '\0';
		const char *name = at + 1 + (open != '\0');
		size_t len = name_length(name);
		char end = open == '(' ? ')' : '}';

		if (at[1] == '$') {
			at += 2;
			continue;
		}
		if (len && (!open || name[len] == end)) {
			*out = (struct reference){ at, name, len, len + (open ? 3 : 1), open };
			return 1;
		}
		at++;
	}
	return 0;
}

static int is_named(const struct reference *reference, const char *name)
{
	return strncmp(name, reference->name, reference->name_len) == 0 &&
	       !name[reference->name_len];
}

/* $NAME or ${NAME}: only the variable itself, PATH and LD_LIBRARY_PATH, which are often extended. A
 * program may expand other references. */
static int is_shell_reference(const struct reference *reference, const char *own)
{
	return !reference->open || reference->open == '{'
		   ? is_named(reference, own) || is_named(reference, "PATH") ||
			 is_named(reference, "LD_LIBRARY_PATH")
		   : 0;
}

static int ends_in(const struct reference *reference, const char *end)
{
	size_t len = strlen(end);

	return reference->name_len >= len &&
	       memcmp(reference->name + reference->name_len - len, end, len) == 0;
}

/* Whether the name of a reference contains a text. */
static int has_part(const struct reference *reference, const char *part)
{
	size_t len = strlen(part);

	for (size_t i = 0; i + len <= reference->name_len; i++)
		if (memcmp(reference->name + i, part, len) == 0)
			return 1;
	return 0;
}

/* $(PATH), if Kubernetes does not know such a variable: neither an earlier one, nor one of a
 * Service. */
static int is_unknown(const struct reference *reference, const mpijob_node *container,
    const struct mpijob__doc_names *before)
{
	static const char *const of_services[] = { "_HOST", "_PORT", "_TCP", "_UDP", "_ADDR",
		"_PROTO" };

	if (reference->open != '(' || mpijob_node_count(mpijob_node_get(container, "envFrom")))
		return 0;
	for (size_t i = 0; i < sizeof(of_services) / sizeof(of_services[0]); i++) {
		if (ends_in(reference, of_services[i]))
			return 0;
	}
	if (has_part(reference, "_SERVICE_PORT_") ||
	    mpijob__doc_names_find(before, reference->name, reference->name_len, NULL))
		return 0;
	for (size_t i = 0; i < reference->name_len; i++) {
		if (reference->name[i] >= 'a' && reference->name[i] <= 'z')
			return 0; /* $(hostname): meant for a shell */
	}
	return 1;
}

static void check_value(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role, const char *below, const mpijob_node *container,
    const mpijob_node *entry, const struct mpijob__doc_names *before)
{
	const mpijob_node *node = mpijob_node_get(entry, "value");
	const char *name = mpijob_node_string(mpijob_node_get(entry, "name")),
		   *at = mpijob_node_string(node);
	struct reference found;

	for (; name && at && next_reference(at, &found); at = found.at + found.len) {
		if (!is_shell_reference(&found, name) && !is_unknown(&found, container, before))
			continue;
		if (found.open == '(')
			mpijob__job_advice_warn(a, role->template, below, node,
			    "variable-not-expanded",
			    "%s: '%.*s' is not expanded, because no earlier variable has this "
			    "name; a value that the image sets cannot be extended here",
			    name, (int)found.len, found.at);
		else
			mpijob__job_advice_warn(a, role->template, below, node,
			    "variable-not-expanded",
			    "%s: '%.*s' is not expanded: Kubernetes expands only $(NAME) of "
			    "earlier variables; write the whole value, or set it in a shell",
			    name, (int)found.len, found.at);
		return;
	}
}

static void check_env(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role, const char *below, const mpijob_node *container)
{
	const mpijob_node *env = mpijob_node_get(container, "env");
	struct mpijob__doc_names before = { 0 };

	for (size_t i = 0; i < mpijob_node_count(env); i++) {
		const char *name =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(env, i), "name"));

		check_value(a, role, below, container, mpijob_node_at(env, i), &before);
		if (name && mpijob__doc_names_add(&before, name, strlen(name), 0, NULL) < 0)
			a->report->code = MPIJOB_ERR_NOMEM;
	}
	mpijob__doc_names_release(&before);
}

static void rule_expansion(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role, const char *list)
{
	const mpijob_node *containers = mpijob_node_get(role->pod, list);

	for (size_t i = 0; i < mpijob_node_count(containers); i++) {
		const mpijob_node *container = mpijob_node_at(containers, i);
		struct mpijob_text below = { 0 };

		if (!mpijob_node_count(mpijob_node_get(container, "env")))
			continue;
		if (mpijob__base_text_printf(&below, ".spec.%s[%zu].env", list, i))
			a->report->code = MPIJOB_ERR_NOMEM;
		check_env(a, role, mpijob_text_data(&below), container);
		mpijob__base_text_release(&below);
	}
}

void mpijob__job_advice_environment(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role)
{
	rule_injected(a, role);
	rule_expansion(a, role, "initContainers");
	rule_expansion(a, role, "containers");
}
