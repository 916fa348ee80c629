/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the request of a task for secrets to Flyte's webhook: one annotation for each secret, a
 * message in protobuf's text format in base 32 with Flyte's alphabet, and the label that makes the
 * webhook handle the pod. The secrets themselves are not included.
 */
#include "flyte/flyte.h"

#include <string.h>

#define MOST_BYTES (256 * 1024) /* limit of the API server for annotations */

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz123456";

/* Base 32 without padding. */
static int spell(const char *data, size_t len, struct mpijob_text *out)
{
	uint32_t bits = 0;
	int have = 0, code = 0;

	for (size_t i = 0; i < len && !code; i++) {
		bits = bits << 8 | (unsigned char)data[i];
		for (have += 8; have >= 5 && !code; have -= 5)
			code = mpijob_text_write(out, &alphabet[bits >> (have - 5) & 31], 1);
	}
	if (!code && have)
		code = mpijob_text_write(out, &alphabet[bits << (5 - have) & 31], 1);
	return code;
}

/* Write a string with the quotes of protobuf's text format. */
static int quote(struct mpijob_text *text, const char *value)
{
	static const char special[] = "\n\r\t\"\\", letters[] = "nrt\"\\";
	int code = mpijob__base_text_puts(text, "\"");

	for (; *value && !code; value++) {
		const char *found = strchr(special, *value);
		unsigned char byte = (unsigned char)*value;

		if (found)
			code = mpijob__base_text_printf(text, "\\%c", letters[found - special]);
		else if (byte < ' ' || byte > '~')
			code = mpijob__base_text_printf(text, "\\%03o", byte);
		else
			code = mpijob_text_write(text, value, 1);
	}
	return code ? code : mpijob__base_text_puts(text, "\"\n");
}

/* Write the message of one secret, without absent fields. */
static int describe(struct mpijob__flyte *f, const mpijob_node *secret, struct mpijob_text *text)
{
	static const char *const mounts[] = { "ANY", "ENV_VAR", "FILE" };
	static const struct {
		const char *field, *name;
	} strings[] = { { "group", "group" }, { "groupVersion", "group_version" }, { "key", "key" },
		{ "envVar", "env_var" } };
	const char *mount = mpijob__flyte_proto_word(secret, "mountRequirement", mounts, 3);
	int code = 0;

	if (!mount)
		return mpijob__flyte_task_refuse(f, "securityContext.secrets", secret,
		    "mountRequirement must be ANY, ENV_VAR or FILE");
	for (size_t i = 0; i < 4 && !code; i++) {
		const char *value = mpijob__flyte_proto_text(secret, strings[i].field);

		if (i == 3 && mount != mounts[0])
			code = mpijob__base_text_printf(text, "mount_requirement: %s\n", mount);
		if (!value)
			return mpijob__flyte_task_refuse(f, "securityContext.secrets", secret,
			    "%s must be a string", strings[i].field);
		if (!code && *value)
			code = mpijob__base_text_printf(text, "%s: ", strings[i].name);
		if (!code && *value)
			code = quote(text, value);
	}
	return code;
}

static int add(struct mpijob__flyte *f, mpijob_node *annotations, const mpijob_node *secret,
    size_t index)
{
	struct mpijob_text text = { 0 }, spelled = { 0 }, key = { 0 };
	int code = describe(f, secret, &text);

	if (!code)
		code = spell(mpijob_text_data(&text), text.len, &spelled);
	if (!code)
		code = mpijob__base_text_printf(&key, "flyte.secrets/s%zu", index);
	if (!code && spelled.len > MOST_BYTES)
		code = mpijob__flyte_task_refuse(f, "securityContext.secrets", secret,
		    "takes more than %d bytes", MOST_BYTES);
	if (!code)
		mpijob_node_put_string(f->doc, annotations, key.data, mpijob_text_data(&spelled));
	mpijob__base_text_release(&text);
	mpijob__base_text_release(&spelled);
	mpijob__base_text_release(&key);
	return code;
}

int mpijob__flyte_secrets_add(struct mpijob__flyte *f, mpijob_node *labels,
    mpijob_node *annotations)
{
	const mpijob_node *secrets =
	    mpijob__flyte_proto_get(mpijob__flyte_proto_get(f->task, "securityContext"), "secrets");
	int code = 0;

	for (size_t i = 0; !code && i < mpijob_node_count(secrets); i++)
		code = add(f, annotations, mpijob_node_at(secrets, i), i);
	if (mpijob_node_count(secrets))
		mpijob_node_put_string(f->doc, labels, "inject-flyte-secrets", "true");
	return code;
}
