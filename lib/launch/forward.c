/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environment variables for the ranks. The variables of the launcher's container are not set on
 * other hosts, because sshd starts sessions with a new environment. Open MPI forwards the variables
 * of -x; Hydra all, or a list of names; neither supports prefixes, which are expanded to the known
 * names. horovodrun forwards all variables but has no option for new values, so env(1) before the
 * program sets them.
 */
#include "launch/launch.h"

#include "core/diag.h"

#include <string.h>

const char *mpijob__launch_forward_value(const char *entry)
{
	const char *equals = strchr(entry, '=');

	return equals != NULL ? equals + 1 : NULL;
}

int mpijob__launch_forward_is_prefix(const char *entry)
{
	size_t len = strlen(entry);

	return mpijob__launch_forward_value(entry) == NULL && len > 0 && entry[len - 1] == '*';
}

static int is_name(const char *entry)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789.-";
	size_t len = strspn(entry, letters);

	if (len == 0 || (entry[0] >= '0' && entry[0] <= '9') || entry[0] == '-')
		return 0;
	return entry[len] == '\0' || entry[len] == '=' ||
	       (entry[len] == '*' && entry[len + 1] == '\0');
}

void mpijob__launch_forward_check(struct mpijob__launch_command *c)
{
	for (size_t i = 0; i < c->options.env_count; i++) {
		if (!is_name(c->options.env[i]))
			mpijob__launch_error(c, MPIJOB_ERR_USAGE,
			    "env: '%s' is not a variable; write NAME, PREFIX* or NAME=value",
			    c->options.env[i]);
	}
}

void mpijob__launch_forward_by_env(struct mpijob__launch_command *c)
{
	int begun = 0;

	for (size_t i = 0; i < c->options.env_count; i++) {
		if (mpijob__launch_forward_value(c->options.env[i]) == NULL)
			continue;
		if (!begun)
			mpijob__launch_add(c, "env");
		begun = 1;
		mpijob__launch_add(c, c->options.env[i]);
	}
}

/* ---- names ---- */

/* A list of unique names, separated by commas. */
struct names {
	struct mpijob__launch_command *c;
	struct mpijob_text text;
	size_t count;
};

static int is_listed(const struct names *names, const char *name, size_t len)
{
	const char *at = mpijob_text_data(&names->text);

	while (*at != '\0') {
		size_t here = strcspn(at, ",");

		if (here == len && memcmp(at, name, len) == 0)
			return 1;
		at += here + (at[here] == ',');
	}
	return 0;
}

static int has_value(const struct mpijob__launch_command *c, const char *name, size_t len)
{
	for (size_t i = 0; i < c->options.env_count; i++) {
		if (strncmp(c->options.env[i], name, len) == 0 && c->options.env[i][len] == '=')
			return 1;
	}
	return 0;
}

static void list_name(struct names *names, const char *name)
{
	size_t len = strcspn(name, "=");

	if (is_listed(names, name, len) || has_value(names->c, name, len))
		return;
	if (mpijob__base_text_printf(&names->text, "%s%.*s", names->count > 0 ? "," : "", (int)len,
		name) != 0)
		names->c->launch->code = MPIJOB_ERR_NOMEM;
	names->count++;
}

/* Whether a name has a prefix, and is valid in a comma-separated list. */
static int fits(const char *name, const char *prefix, size_t len)
{
	return strncmp(name, prefix, len) == 0 && strcspn(name, "=") >= len && is_name(name) &&
	       !mpijob__launch_forward_is_prefix(name);
}

/* Append the names with a prefix: variables of the launcher's container, and those in
 * options.known. */
static void list_prefix(struct names *names, const char *prefix)
{
	const struct mpijob_launch_options *o = &names->c->options;
	size_t len = strlen(prefix) - 1, found = 0;

	for (size_t i = 0; i < mpijob_node_count(names->c->env); i++) {
		const char *name =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(names->c->env, i), "name"));

		if (name == NULL || !fits(name, prefix, len))
			continue;
		list_name(names, name);
		found++;
	}
	for (size_t i = 0; i < o->known_count; i++) {
		if (!fits(o->known[i], prefix, len))
			continue;
		list_name(names, o->known[i]);
		found++;
	}
	if (found == 0 &&
	    mpijob__core_diag_addf(names->c->diag, MPIJOB_SEVERITY_WARNING, "nothing-forwarded",
		NULL, NULL, NULL,
		"env: no known variable begins with '%.*s', so '%s' forwards none to the ranks",
		(int)len, prefix, prefix) != 0)
		names->c->launch->code = MPIJOB_ERR_NOMEM;
}

static void list_all(struct names *names)
{
	const struct mpijob_launch_options *o = &names->c->options;

	for (size_t i = 0; i < o->env_count; i++) {
		if (mpijob__launch_forward_is_prefix(o->env[i]))
			list_prefix(names, o->env[i]);
		else if (mpijob__launch_forward_value(o->env[i]) == NULL)
			list_name(names, o->env[i]);
	}
}

/* ---- each tool ---- */

void mpijob__launch_forward_each(struct mpijob__launch_command *c, mpijob__launch_forward_fn take,
    void *user)
{
	struct names names = { .c = c };
	struct mpijob_text name = { 0 };

	list_all(&names);
	for (const char *at = mpijob_text_data(&names.text); *at != '\0';) {
		size_t len = strcspn(at, ",");

		mpijob_text_clear(&name);
		if (mpijob_text_write(&name, at, len) != 0)
			c->launch->code = MPIJOB_ERR_NOMEM;
		take(c, mpijob_text_data(&name), user);
		at += len + (at[len] == ',');
	}
	for (size_t i = 0; i < c->options.env_count; i++) {
		if (mpijob__launch_forward_value(c->options.env[i]) != NULL)
			take(c, c->options.env[i], user);
	}
	mpijob__base_text_release(&name);
	mpijob__base_text_release(&names.text);
}

static void add_openmpi(struct mpijob__launch_command *c, const char *word, void *user)
{
	(void)user;
	mpijob__launch_add_pair(c, "-x", word);
}

void mpijob__launch_forward_openmpi(struct mpijob__launch_command *c)
{
	mpijob__launch_forward_each(c, add_openmpi, NULL);
}

static void add_list(struct mpijob__launch_command *c)
{
	struct names names = { .c = c };

	list_all(&names);
	if (names.count > 0)
		mpijob__launch_add_text(c, "-genvlist", &names.text);
	else
		mpijob__launch_add(c, "-genvnone");
	mpijob__base_text_release(&names.text);
}

static void add_value(struct mpijob__launch_command *c, const char *entry)
{
	struct mpijob_text name = { 0 };

	if (mpijob_text_write(&name, entry, strcspn(entry, "=")) != 0)
		c->launch->code = MPIJOB_ERR_NOMEM;
	mpijob__launch_add_text(c, "-genv", &name);
	mpijob__launch_add(c, mpijob__launch_forward_value(entry));
	mpijob__base_text_release(&name);
}

void mpijob__launch_forward_hydra(struct mpijob__launch_command *c)
{
	size_t values = 0;

	for (size_t i = 0; i < c->options.env_count; i++)
		values += mpijob__launch_forward_value(c->options.env[i]) != NULL;
	if (c->options.env_only != 0)
		add_list(c);
	else if (values < c->options.env_count)
		mpijob__launch_add(c, "-genvall");
	for (size_t i = 0; i < c->options.env_count; i++) {
		if (mpijob__launch_forward_value(c->options.env[i]) != NULL)
			add_value(c, c->options.env[i]);
	}
}
