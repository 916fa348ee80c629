/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The placeholders in commands and in addresses of logs: `{{ .name }}` or `{{ $name }}`, in upper
 * or lower case, with optional space on both sides. They are replaced one after the other, so that
 * a value may contain placeholders that come later, as in Flyte.
 */
#include "flyte/flyte.h"

#include <string.h>

static const char *skip_space(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\f' || *at == '\r')
		at++;
	return at;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The end of the name, if the placeholder that opens at `at` begins with it; else NULL. */
static const char *name_at(const char *at, const char *name)
{
	if (at[0] != '{' || at[1] != '{')
		return NULL;
	at = skip_space(at + 2);
	if (*at != '.' && *at != '$')
		return NULL;
	for (at++; *name; at++, name++) {
		if (lower(*at) != lower(*name))
			return NULL;
	}
	return at;
}

/* The end of the braces that close a placeholder, or NULL. */
static const char *closed(const char *at)
{
	if (!at)
		return NULL;
	at = skip_space(at);
	return at[0] == '}' && at[1] == '}' ? at + 2 : NULL;
}

/* Replace the text by `made`, unless `rc` is a failure. */
static int take(struct mpijob_text *text, struct mpijob_text *made, int rc)
{
	struct mpijob_text old = *text;

	if (!rc) {
		*text = *made;
		*made = old;
	}
	mpijob__base_text_release(made);
	return rc;
}

int mpijob__flyte_placeholder_replace(struct mpijob_text *text, const char *name, const char *value)
{
	struct mpijob_text made = { 0 };
	const char *at = text->data, *from = at, *end;
	int rc = 0, found = 0;

	if (!value || !at)
		return 0;
	while (!rc && *at) {
		end = closed(name_at(at, name));
		if (!end) {
			at++;
			continue;
		}
		rc = mpijob_text_write(&made, from, (size_t)(at - from));
		if (!rc)
			rc = mpijob__base_text_puts(&made, value);
		from = at = end;
		found = 1;
	}
	if (!found)
		return 0;
	if (!rc)
		rc = mpijob__base_text_puts(&made, from);
	return take(text, &made, rc);
}

/* Is there `{{ .inputs.NAME }}`? 1, and its name and end; else 0. */
static int input_at(const char *at, const char **name, size_t *len, const char **end)
{
	const char *from = name_at(at, "inputs.");

	if (!from)
		return 0;
	*name = from;
	*len = strcspn(from, "} \t\n\f\r");
	*end = closed(from + *len);
	return *len > 0 && *end;
}

static const mpijob_node *input_of(const mpijob_node *inputs, const char *name, size_t len)
{
	for (size_t i = 0; i < mpijob_node_count(inputs); i++) {
		const char *key = mpijob_node_key(inputs, i);

		if (strlen(key) == len && memcmp(key, name, len) == 0)
			return mpijob_node_at(inputs, i);
	}
	return NULL;
}

static int put_value(struct mpijob_text *made, const mpijob_node *value)
{
	int truth = 0;

	if (mpijob_node_bool(value, &truth))
		return mpijob__base_text_puts(made, truth ? "true" : "false");
	return mpijob_text_write(made, mpijob_node_text(value) ? mpijob_node_text(value) : "",
	    mpijob_node_length(value));
}

static int replace_inputs(struct mpijob__flyte *f, struct mpijob_text *text, const char *field)
{
	struct mpijob_text made = { 0 };
	const char *at = text->data, *from = at, *name, *end;
	size_t len;
	int rc = 0;

	if (!f->execution.inputs || !at)
		return 0;
	while (!rc && *at) {
		const mpijob_node *value;

		if (!input_at(at, &name, &len, &end)) {
			at++;
			continue;
		}
		value = input_of(f->execution.inputs, name, len);
		rc = value ? mpijob_text_write(&made, from, (size_t)(at - from))
			   : mpijob__flyte_task_refuse(f, field, NULL,
				 "requested input is not found [%.*s]",
				 (int)(len < 200 ? len : 200), name);
		if (!rc)
			rc = put_value(&made, value);
		from = at = end;
	}
	if (!rc)
		rc = mpijob__base_text_puts(&made, from);
	return take(text, &made, rc);
}

/* A key of letters, digits and underscores that is unique to this attempt. */
static int unique_key(const char *name, struct mpijob_text *out)
{
	int rc = 0, gap = 0, leading = 1;

	for (; name && *name && !rc; name++) {
		int alpha = (lower(*name) >= 'a' && lower(*name) <= 'z') || *name == '_';
		int digit = *name >= '0' && *name <= '9';

		if (leading && !alpha) {
			if (out->len == 0)
				rc = mpijob__base_text_puts(out, "a");
			continue;
		}
		leading = 0;
		if (alpha || digit)
			rc = mpijob_text_write(out, name, 1);
		else if (!gap)
			rc = mpijob__base_text_puts(out, "_");
		gap = !alpha && !digit;
	}
	return rc;
}

static int replace_all(struct mpijob__flyte *f, struct mpijob_text *text, const char *key,
    const char *field)
{
	const struct mpijob_flyte_execution *e = &f->execution;
	const char *previous = e->previous_checkpoint_prefix && !*e->previous_checkpoint_prefix
				   ? "\"\""
				   : e->previous_checkpoint_prefix;
	const struct {
		const char *name, *value;
	} known[] = {
		{ "Input", e->input_path },
		{ "OutputPrefix", e->output_prefix },
		{ "InputPrefix", e->input_prefix },
		{ "RawOutputDataPrefix", e->raw_output_prefix },
		{ "PrevCheckpointPrefix", previous },
		{ "CheckpointOutputPrefix", e->checkpoint_prefix },
		{ "PerRetryUniqueKey", key },
		{ "TaskTemplatePath", e->task_template_path },
		{ "Namespace", e->namespace_ },
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].value) {
			rc = mpijob__flyte_placeholder_replace(text, known[i].name, known[i].value);
			continue;
		}
		for (const char *at = text->data; at && *at && !rc; at++) {
			if (!f->placeholders_reported && closed(name_at(at, known[i].name))) {
				rc = mpijob__flyte_task_ignore(f, field, NULL,
				    "{{.%s}} stays as it is: the execution does not say its value",
				    known[i].name);
				f->placeholders_reported = 1;
			}
		}
	}
	return rc ? rc : replace_inputs(f, text, field);
}

int mpijob__flyte_placeholder_words(struct mpijob__flyte *f, mpijob_node *container,
    const char *key)
{
	const mpijob_node *words = mpijob_node_get(container, key);
	mpijob_node *made = mpijob_node_new(f->doc, MPIJOB_NODE_LIST);
	struct mpijob_text unique = { 0 };
	int rc = unique_key(f->execution.name, &unique);

	for (size_t i = 0; !rc && i < mpijob_node_count(words); i++) {
		struct mpijob_text text = { 0 };
		const char *word = mpijob_node_string(mpijob_node_at(words, i));

		rc = word ? mpijob__base_text_puts(&text, word)
			  : mpijob__flyte_task_refuse(f, key, words, "must be a list of strings");
		if (!rc)
			rc = replace_all(f, &text,
			    f->execution.name ? mpijob_text_data(&unique) : NULL, key);
		if (!rc)
			mpijob_node_append(f->doc, made,
			    mpijob_node_new_text(f->doc, MPIJOB_NODE_STRING,
				mpijob_text_data(&text), text.len));
		mpijob__base_text_release(&text);
	}
	mpijob__base_text_release(&unique);
	if (!rc && mpijob_node_count(made))
		mpijob_node_put(f->doc, container, key, made);
	else
		mpijob_node_remove(container, key);
	return rc;
}
