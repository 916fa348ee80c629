/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How Flyte's webhook learns which secrets a task needs: one annotation for each, which contains a
 * message in protobuf's text format, encoded in a base 32 alphabet that is valid in names, and a
 * label that the webhook requires. The secrets themselves are not part of it.
 */
#include "flyte/flyte.h"

#include <string.h>

#define MOST_BYTES (256 * 1024) /* limit of the API server for all annotations of an object */

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz123456";

/* Base 32 without padding. */
static int spell(const char *data, size_t len, struct mpijob_text *out)
{
	uint32_t bits = 0;
	int have = 0, rc = 0;

	for (size_t i = 0; i < len && !rc; i++) {
		bits = bits << 8 | (unsigned char)data[i];
		for (have += 8; have >= 5 && !rc; have -= 5)
			rc = mpijob_text_write(out, &alphabet[bits >> (have - 5) & 31], 1);
	}
	if (!rc && have)
		rc = mpijob_text_write(out, &alphabet[bits << (5 - have) & 31], 1);
	return rc;
}

/* A quoted string of protobuf's text format. */
static int quote(struct mpijob_text *text, const char *value)
{
	static const char special[] = "\n\r\t\"\\", letters[] = "nrt\"\\";
	int rc = mpijob__base_text_puts(text, "\"");

	for (; *value && !rc; value++) {
		const char *found = strchr(special, *value);
		unsigned char byte = (unsigned char)*value;

		if (found)
			rc = mpijob__base_text_printf(text, "\\%c", letters[found - special]);
		else if (byte < ' ' || byte > '~')
			rc = mpijob__base_text_printf(text, "\\%03o", byte);
		else
			rc = mpijob_text_write(text, value, 1);
	}
	return rc ? rc : mpijob__base_text_puts(text, "\"\n");
}

/* The message of one secret, without the fields that are not given. */
static int describe(struct mpijob__flyte *f, const mpijob_node *secret, struct mpijob_text *text)
{
	static const char *const mounts[] = { "ANY", "ENV_VAR", "FILE" };
	static const struct {
		const char *field, *name;
	} strings[] = { { "group", "group" }, { "groupVersion", "group_version" }, { "key", "key" },
		{ "envVar", "env_var" } };
	const char *mount = mpijob__flyte_proto_word(secret, "mountRequirement", mounts, 3);
	int rc = 0;

	if (!mount)
		return mpijob__flyte_task_refuse(f, "securityContext.secrets", secret,
		    "mountRequirement must be ANY, ENV_VAR or FILE");
	for (size_t i = 0; i < 4 && !rc; i++) {
		const char *value = mpijob__flyte_proto_text(secret, strings[i].field);

		if (i == 3 && mount != mounts[0])
			rc = mpijob__base_text_printf(text, "mount_requirement: %s\n", mount);
		if (!value)
			return mpijob__flyte_task_refuse(f, "securityContext.secrets", secret,
			    "%s must be a string", strings[i].field);
		if (!rc && *value)
			rc = mpijob__base_text_printf(text, "%s: ", strings[i].name);
		if (!rc && *value)
			rc = quote(text, value);
	}
	return rc;
}

static int add(struct mpijob__flyte *f, mpijob_node *annotations, const mpijob_node *secret,
    size_t index)
{
	struct mpijob_text text = { 0 }, spelled = { 0 }, key = { 0 };
	int rc = describe(f, secret, &text);

	if (!rc)
		rc = spell(mpijob_text_data(&text), text.len, &spelled);
	if (!rc)
		rc = mpijob__base_text_printf(&key, "flyte.secrets/s%zu", index);
	if (!rc && spelled.len > MOST_BYTES)
		rc = mpijob__flyte_task_refuse(f, "securityContext.secrets", secret,
		    "takes more than %d bytes", MOST_BYTES);
	if (!rc)
		mpijob_node_put_string(f->doc, annotations, key.data, mpijob_text_data(&spelled));
	mpijob__base_text_release(&text);
	mpijob__base_text_release(&spelled);
	mpijob__base_text_release(&key);
	return rc;
}

int mpijob__flyte_secrets_add(struct mpijob__flyte *f, mpijob_node *labels,
    mpijob_node *annotations)
{
	const mpijob_node *secrets =
	    mpijob__flyte_proto_get(mpijob__flyte_proto_get(f->task, "securityContext"), "secrets");
	int rc = 0;

	for (size_t i = 0; !rc && i < mpijob_node_count(secrets); i++)
		rc = add(f, annotations, mpijob_node_at(secrets, i), i);
	if (mpijob_node_count(secrets))
		mpijob_node_put_string(f->doc, labels, "inject-flyte-secrets", "true");
	return rc;
}
