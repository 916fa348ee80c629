/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requirements for the entry of a credential plugin: its versions, its required fields, and the
 * characters of its install hint, because that text reaches a terminal.
 */
#include "http/resolve_exec.h"

#include "base/api.h"
#include "base/text.h"
#include "http/resolve.h"

#include "http/path.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GROUP     "client.authentication.k8s.io/"
#define EXTENSION MPIJOB__BASE_API_EXEC_CREDENTIAL

static const char *field(const mpijob_node *exec, const char *key)
{
	const char *text = mpijob_node_string(mpijob_node_get(exec, key));

	return text && *text ? text : NULL;
}

static void say(struct mpijob__http_resolve *resolve, const char *key, const char *id,
    const char *reason, const char *message)
{
	struct mpijob__http_setting place = { NULL, &resolve->user, key };

	mpijob__http_resolve_say(resolve, &place, MPIJOB_ERR_SPEC, id, reason, "%s", message);
}

static void resolve_version(struct mpijob__http_resolve *resolve, const char *version)
{
	if (!version)
		say(resolve, "exec.apiVersion", "config-required", "Required",
		    "must be given: " GROUP "v1");
	else if (strcmp(version, GROUP "v1alpha1") == 0)
		say(resolve, "exec.apiVersion", "config-value", "NotSupported",
		    "v1alpha1 is not supported any more; use " GROUP
		    "v1, with a plugin that knows it");
	else if (strcmp(version, GROUP "v1") != 0 && strcmp(version, GROUP "v1beta1") != 0)
		say(resolve, "exec.apiVersion", "config-value", "NotSupported",
		    "must be " GROUP "v1 or " GROUP "v1beta1");
	mpijob__http_resolve_keep(resolve, &resolve->config->exec.api_version, version);
}

static void resolve_mode(struct mpijob__http_resolve *resolve, const char *mode,
    const char *version)
{
	/* in the order of MPIJOB__EXEC_* */
	static const char *const names[] = { "Never", "IfAvailable", "Always" };

	/* v1 requires it; v1alpha1 is rejected elsewhere. */
	if (!mode && version &&
	    (strcmp(version, GROUP "v1beta1") == 0 || strcmp(version, GROUP "v1alpha1") == 0))
		mode = "IfAvailable";
	for (int i = 0; mode && i < 3; i++) {
		if (strcmp(mode, names[i]) == 0) {
			resolve->config->exec.interactive_mode = i;
			return;
		}
	}
	if (mode)
		say(resolve, "exec.interactiveMode", "config-value", "NotSupported",
		    "must be Never, IfAvailable or Always");
	else
		say(resolve, "exec.interactiveMode", "config-required", "Required",
		    "must be given: Never, IfAvailable or Always");
}

static void resolve_command(struct mpijob__http_resolve *resolve, const char *command)
{
	struct mpijob__http_setting setting = { command, &resolve->user, "exec.command" };
	struct mpijob__http_exec_plugin *exec = &resolve->config->exec;

	if (!command)
		say(resolve, "exec.command", "config-required", "Required",
		    "must be given: the plugin's program");
	else if (strchr(command, '/'))
		exec->command = mpijob__http_resolve_path(resolve, &setting);
	else
		mpijob__http_resolve_keep(resolve, &exec->command, command);
}

static void resolve_args(struct mpijob__http_resolve *resolve, const mpijob_node *args)
{
	size_t count = mpijob_node_count(args);
	char **list;

	if (!count)
		return;
	list = calloc(count + 1, sizeof(*list));
	resolve->config->exec.args = list;
	if (!list)
		mpijob__http_report_nomem(resolve->report);
	for (size_t i = 0; list && i < count; i++) {
		const char *text = mpijob_node_string(mpijob_node_at(args, i));

		mpijob__http_resolve_keep(resolve, &list[i], text ? text : "");
		if (!list[i])
			return;
	}
}

static void resolve_env(struct mpijob__http_resolve *resolve, const mpijob_node *env)
{
	struct mpijob__http_exec_plugin *exec = &resolve->config->exec;
	size_t count = mpijob_node_count(env);

	if (!count)
		return;
	exec->env = calloc(count, sizeof(*exec->env));
	if (!exec->env) {
		mpijob__http_report_nomem(resolve->report);
		return;
	}
	exec->env_count = count;
	for (size_t i = 0; i < count; i++) {
		const char *name = field(mpijob_node_at(env, i), "name");
		const char *value = field(mpijob_node_at(env, i), "value");
		char *key = mpijob__base_text_format("exec.env[%zu].name", i);

		if (!key)
			mpijob__http_report_nomem(resolve->report);
		else if (!name)
			say(resolve, key, "config-required", "Required",
			    "must be given: the variable's name");
		else if (strchr(name, '='))
			say(resolve, key, "config-value", "Invalid", "must not hold '='");
		free(key);
		mpijob__http_resolve_keep(resolve, &exec->env[i].name, name ? name : "");
		mpijob__http_resolve_keep(resolve, &exec->env[i].value, value ? value : "");
	}
}

/* The bytes and the code point of one UTF-8 character. The text was validated when it was read. */
static size_t character(const unsigned char *p, uint32_t *number)
{
	size_t len = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;

	*number = len == 1 ? *p : *p & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return i;
		*number = *number << 6 | (p[i] & 0x3fu);
	}
	return len;
}

/* Control characters, invisible ones, those that change the direction of writing, private ones. */
static int is_unprintable(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {
		{ 0x00, 0x1f },
		{ 0x7f, 0x9f },
		{ 0xad, 0xad },
		{ 0x600, 0x605 },
		{ 0x61c, 0x61c },
		{ 0x6dd, 0x6dd },
		{ 0x70f, 0x70f },
		{ 0x180e, 0x180e },
		{ 0x200b, 0x200f },
		{ 0x202a, 0x202e },
		{ 0x2060, 0x206f },
		{ 0xd800, 0xf8ff },
		{ 0xfeff, 0xfeff },
		{ 0xfff0, 0xfffb },
		{ 0xfffe, 0xffff },
		{ 0xe0000, 0x10ffff },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (c >= ranges[i].from && c <= ranges[i].to)
			return 1;
	}
	return 0;
}

/* One printable line; other characters become U+XXXX, line ends and tabs a space. */
static int write_hint(mpijob_text *text, const char *hint)
{
	const unsigned char *p = (const unsigned char *)hint;
	int code = 0;

	while (*p && code == 0) {
		uint32_t number;
		size_t len = character(p, &number);
		char *escaped = NULL;

		if (number >= '\t' && number <= '\r') {
			code = mpijob_text_write(text, " ", 1);
		} else if (is_unprintable(number)) {
			escaped = mpijob__base_text_format("U+%04X", (unsigned)number);
			code = escaped ? mpijob_text_write(text, escaped, strlen(escaped))
				       : MPIJOB_ERR_NOMEM;
		} else {
			code = mpijob_text_write(text, (const char *)p, len);
		}
		free(escaped);
		p += len;
	}
	return code;
}

static void resolve_hint(struct mpijob__http_resolve *resolve, const char *hint)
{
	mpijob_text *text;

	if (!hint)
		return;
	text = mpijob_text_new();
	if (!text || write_hint(text, hint))
		mpijob__http_report_nomem(resolve->report);
	else
		mpijob__http_resolve_keep(resolve, &resolve->config->exec.install_hint,
		    mpijob_text_data(text));
	mpijob_text_free(text);
}

/* The configuration for the plugin in the cluster's entry, as JSON. */
static void resolve_extension(struct mpijob__http_resolve *resolve)
{
	const mpijob_node *list = mpijob_node_get(resolve->cluster.value, "extensions");
	mpijob_text *text;

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *item = mpijob_node_at(list, i);
		const mpijob_node *value = mpijob_node_get(item, "extension");
		const char *name = mpijob_node_string(mpijob_node_get(item, "name"));

		if (mpijob_node_kind(value) <= MPIJOB_NODE_NULL || !name ||
		    strcmp(name, EXTENSION) != 0)
			continue;
		text = mpijob_text_new();
		if (!text ||
		    mpijob_node_write(value, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, text))
			mpijob__http_report_nomem(resolve->report);
		else
			mpijob__http_resolve_keep(resolve, &resolve->config->exec.cluster_extension,
			    mpijob_text_data(text));
		mpijob_text_free(text);
		return;
	}
}

void mpijob__http_resolve_exec(struct mpijob__http_resolve *resolve, const mpijob_node *exec)
{
	const char *version = field(exec, "apiVersion");

	resolve_command(resolve, field(exec, "command"));
	resolve_version(resolve, version);
	resolve_mode(resolve, field(exec, "interactiveMode"), version);
	resolve_args(resolve, mpijob_node_get(exec, "args"));
	resolve_env(resolve, mpijob_node_get(exec, "env"));
	resolve_hint(resolve, field(exec, "installHint"));
	(void)mpijob_node_bool(mpijob_node_get(exec, "provideClusterInfo"),
	    &resolve->config->exec.provide_cluster_info);
	resolve_extension(resolve);
}
