/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover_hosts.sh with compact_hosts: a shell function that counts, and one line for each range
 * of running workers. It prints the same as the long form. Code that reads the script of a
 * ConfigMap converts it to the long form first, so only this file knows the compact form.
 */
#include "render/build.h"

#include "base/text.h"

#include <string.h>

/* limit when converting a script: no ConfigMap can contain more */
#define MAX_HOSTS (1 << 20)

static const char before_name[] = "hosts() { i=$1; while [ \"$i\" -le \"$2\" ]; do echo \"";
static const char number[] = "$i";
static const char after_name[] = "\"; i=$((i+1)); done; }\n";
static const char range[] = "hosts ";

#define LEN(text) (sizeof(text) - 1)

static int write_text(struct mpijob_text *text, int code, mpijob_write_fn write, void *user)
{
	if (code == 0)
		code = write(user, text->data, text->len);
	mpijob_text_clear(text);
	return code;
}

static int write_ranges(const struct mpijob__render_subject *subject, struct mpijob_text *text,
    mpijob_write_fn write, void *user)
{
	int32_t workers = mpijob__render_subject_workers(subject), first = -1;
	int code = 0;

	for (int32_t i = 0; code == 0 && i <= workers; i++) {
		int is_on = i < workers && mpijob__render_hostfile_runs(subject, i);

		if (is_on && first < 0)
			first = i;
		if (is_on || first < 0)
			continue;
		code = mpijob__base_text_printf(text, "%s%d %d\n", range, (int)first, (int)i - 1);
		code = write_text(text, code, write, user);
		first = -1;
	}
	return code;
}

int mpijob__render_host_ranges_write(const struct mpijob__render_subject *subject,
    mpijob_write_fn write, void *user)
{
	const char *name = subject->name;
	struct mpijob_text text = { 0 };
	int code = mpijob__base_text_printf(&text, "#!/bin/sh\n%s%s-worker-%s.%s%s", before_name,
	    name, number, name, after_name);

	code = write_text(&text, code, write, user);
	if (code == 0 && mpijob__render_subject_launcher_has_ranks(subject))
		code = write_text(&text,
		    mpijob__base_text_printf(&text, "echo %s-launcher.%s\n", name, name), write,
		    user);
	if (code == 0)
		code = write_ranges(subject, &text, write, user);
	mpijob__base_text_release(&text);
	return code;
}

/* ---- conversion to the long form ---- */

/* The text before and after the number in a host name. */
struct name {
	const char *before;
	size_t before_len;
	const char *after;
	size_t after_len;
};

static int read_name(const char *line, size_t len, struct name *out)
{
	const char *end = line + len - LEN(after_name), *at;

	if (len < LEN(before_name) + LEN(number) + LEN(after_name) ||
	    memcmp(line, before_name, LEN(before_name)) != 0 ||
	    memcmp(end, after_name, LEN(after_name)) != 0)
		return 0;
	out->before = line + LEN(before_name);
	for (at = out->before; at + LEN(number) <= end; at++) {
		if (memcmp(at, number, LEN(number)) != 0)
			continue;
		out->before_len = (size_t)(at - out->before);
		out->after = at + LEN(number);
		out->after_len = (size_t)(end - out->after);
		return 1;
	}
	return 0;
}

static const char *read_number(const char *at, int32_t *out)
{
	const char *from = at;

	for (*out = 0; *at >= '0' && *at <= '9' && *out < MAX_HOSTS; at++)
		*out = *out * 10 + (*at - '0');
	return at > from ? at : NULL;
}

static int read_range(const char *line, size_t len, int32_t *first, int32_t *last)
{
	const char *at =
	    len > LEN(range) && memcmp(line, range, LEN(range)) == 0 ? line + LEN(range) : NULL;

	at = at != NULL ? read_number(at, first) : NULL;
	at = at != NULL && *at == ' ' ? read_number(at + 1, last) : NULL;
	return at != NULL && at == line + len - 1 && *last < MAX_HOSTS;
}

static int expand_line(const char *line, size_t len, struct name *name, struct mpijob_text *out)
{
	int32_t first, last;
	int code = 0;

	if (read_name(line, len, name))
		return 0;
	if (name->before == NULL || !read_range(line, len, &first, &last))
		return mpijob_text_write(out, line, len);
	for (; code == 0 && first <= last; first++)
		code = mpijob__base_text_printf(out, "echo %.*s%d%.*s\n", (int)name->before_len,
		    name->before, (int)first, (int)name->after_len, name->after);
	return code;
}

int mpijob__render_hosts_expand(struct mpijob_text *script)
{
	struct mpijob_text out = { 0 };
	struct name name = { 0 };
	size_t at = 0;
	int code = 0;

	if (script->len == 0 || strstr(script->data, before_name) == NULL)
		return 0;
	while (code == 0 && at < script->len && out.len < (size_t)MAX_HOSTS * 64) {
		const char *line = script->data + at;
		const char *end = memchr(line, '\n', script->len - at);
		size_t len = end != NULL ? (size_t)(end - line) + 1 : script->len - at;

		code = expand_line(line, len, &name, &out);
		at += len;
	}
	if (code != 0) {
		mpijob__base_text_release(&out);
		return code;
	}
	mpijob__base_text_release(script);
	*script = out;
	return 0;
}
