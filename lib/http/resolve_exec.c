/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the exec entry of a user: supported API versions, required fields, and the install hint,
 * whose unprintable characters are escaped because it reaches a terminal.
 */
#include "http/resolve_exec.h"

#include "base/api.h"
#include "base/text.h"
#include "base/utf8.h"
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

static void report_error(struct mpijob__http_resolve *resolve, const char *key, const char *id,
    const char *reason, const char *message)
{
	struct mpijob__http_setting setting = { NULL, &resolve->user, key };

	mpijob__http_resolve_report(resolve, &setting, MPIJOB_ERR_SPEC, id, reason, "%s", message);
}

static void resolve_version(struct mpijob__http_resolve *resolve, const char *version)
{
	if (!version)
		report_error(resolve, "exec.apiVersion", "config-required", "Required",
		    "must be given: " GROUP "v1");
	else if (strcmp(version, GROUP "v1alpha1") == 0)
		report_error(resolve, "exec.apiVersion", "config-value", "NotSupported",
		    "v1alpha1 is no longer supported; use " GROUP
		    "v1 and a plugin that supports it");
	else if (strcmp(version, GROUP "v1") != 0 && strcmp(version, GROUP "v1beta1") != 0)
		report_error(resolve, "exec.apiVersion", "config-value", "NotSupported",
		    "must be " GROUP "v1 or " GROUP "v1beta1");
	mpijob__http_resolve_copy(resolve, &resolve->config->exec.api_version, version);
}

static void resolve_mode(struct mpijob__http_resolve *resolve, const char *mode,
    const char *version)
{
	/* in the order of MPIJOB__HTTP_EXEC_* */
	static const char *const names[] = { "Never", "IfAvailable", "Always" };

	/* v1 requires the field. resolve_version() rejects v1alpha1. */
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
		report_error(resolve, "exec.interactiveMode", "config-value", "NotSupported",
		    "must be Never, IfAvailable or Always");
	else
		report_error(resolve, "exec.interactiveMode", "config-required", "Required",
		    "must be given: Never, IfAvailable or Always");
}

static void resolve_command(struct mpijob__http_resolve *resolve, const char *command)
{
	struct mpijob__http_setting setting = { command, &resolve->user, "exec.command" };
	struct mpijob__http_exec_plugin *exec = &resolve->config->exec;

	if (!command)
		report_error(resolve, "exec.command", "config-required", "Required",
		    "must be given: the plugin's program");
	else if (strchr(command, '/'))
		exec->command = mpijob__http_resolve_path(resolve, &setting);
	else
		mpijob__http_resolve_copy(resolve, &exec->command, command);
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

		mpijob__http_resolve_copy(resolve, &list[i], text ? text : "");
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
			report_error(resolve, key, "config-required", "Required",
			    "must be given: the variable's name");
		else if (strchr(name, '='))
			report_error(resolve, key, "config-value", "Invalid",
			    "must not contain '='");
		free(key);
		mpijob__http_resolve_copy(resolve, &exec->env[i].name, name ? name : "");
		mpijob__http_resolve_copy(resolve, &exec->env[i].value, value ? value : "");
	}
}

/* Control characters, invisible characters, those that change the writing direction, private use.
 */
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

/* Write the hint as one printable line: line breaks and tabs become spaces, unprintable characters
 * U+XXXX. The text is valid UTF-8, because the parser checked it. */
static int write_hint(mpijob_text *text, const char *hint)
{
	const char *end = hint + strlen(hint);
	int rc = 0;

	while (hint < end && rc == 0) {
		uint32_t number = 0xfffd;
		size_t len = mpijob__base_utf8_read(hint, end, &number);
		char *escaped = NULL;

		len += !len;

		if (number >= '\t' && number <= '\r') {
			rc = mpijob_text_write(text, " ", 1);
		} else if (is_unprintable(number)) {
			escaped = mpijob__base_text_format("U+%04X", (unsigned)number);
			rc = escaped ? mpijob_text_write(text, escaped, strlen(escaped))
				     : MPIJOB_ERR_NOMEM;
		} else {
			rc = mpijob_text_write(text, hint, len);
		}
		free(escaped);
		hint += len;
	}
	return rc;
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
		mpijob__http_resolve_copy(resolve, &resolve->config->exec.install_hint,
		    mpijob_text_data(text));
	mpijob_text_free(text);
}

/* Copy the plugin's configuration from the extensions of the cluster entry, as JSON. */
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
			mpijob__http_resolve_copy(resolve, &resolve->config->exec.cluster_extension,
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
