/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a request for a container or an exec. Texts stay in the received message, which is wiped
 * when the container is freed: environments may contain passwords.
 */
#include "node.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_text(char ***list, size_t *count, const struct node_field *field)
{
	const char *text = mpijob__local_node_message_text(field);

	if (!text)
		return;
	*list = must_grow(*list, *count + 1, sizeof(**list)); /* + 1 for the NULL at the end */
	(*list)[(*count)++] = (char *)(uintptr_t)text;
	(*list)[*count] = NULL;
}

/* Clean an absolute path in place, as container runtimes do: without "//", "." and "..". NULL: the
 * path is not absolute. */
static const char *clean_path(const struct node_field *field)
{
	char *path = (char *)(uintptr_t)mpijob__local_node_message_text(field);
	const char *from = path;
	char *to = path;

	if (!path || path[0] != '/')
		return NULL;
	while (*from) {
		size_t len = strcspn(from += strspn(from, "/"), "/");

		if (len == 2 && from[0] == '.' && from[1] == '.') {
			while (to > path && *--to != '/')
				;
		} else if (len > 0 && !(len == 1 && from[0] == '.')) {
			*to++ = '/';
			memmove(to, from, len);
			to += len;
		}
		from += len;
	}
	if (to == path)
		*to++ = '/';
	*to = 0;
	return path;
}

static bool read_mount(struct spec *spec, const struct node_field *field)
{
	struct node_reader inside = mpijob__local_node_message_inside(field);
	struct mount_spec m = { 0 };
	struct node_field f;

	while (mpijob__local_node_message_next(&inside, &f) == 1) {
		if (f.tag == NODE_F_VOLUME)
			m.volume = mpijob__local_node_message_number(&f);
		else if (f.tag == NODE_F_HOST_PATH)
			m.host_path = clean_path(&f);
		else if (f.tag == NODE_F_PATH)
			m.path = clean_path(&f);
		else if (f.tag == NODE_F_SUB_PATH)
			m.sub_path = mpijob__local_node_message_text(&f);
		else if (f.tag == NODE_F_READ_ONLY)
			m.read_only = mpijob__local_node_message_number(&f) != 0;
	}
	if (m.sub_path && !*m.sub_path)
		m.sub_path = NULL;
	spec->mounts = must_grow(spec->mounts, spec->mount_count, sizeof(*spec->mounts));
	spec->mounts[spec->mount_count++] = m;
	return m.path && (m.volume || m.host_path) && !(m.sub_path && m.sub_path[0] == '/');
}

static void take_fds(struct spec *spec, uint64_t bits)
{
	int next = 0;

	for (int i = 0; i < 3; i++)
		spec->fds[i] =
		    (bits >> i) & 1 && next < NODE_MAX_FDS ? spec->message.fds[next++] : -1;
}

static void add_group(struct spec *spec, uint64_t group)
{
	spec->groups = must_grow(spec->groups, spec->group_count, sizeof(*spec->groups));
	spec->groups[spec->group_count++] = (gid_t)group;
}

static bool read_field(struct spec *spec, const struct node_field *f)
{
	switch (f->tag) {
	case NODE_F_ID: spec->id = mpijob__local_node_message_number(f); return true;
	case NODE_F_SANDBOX: spec->sandbox = mpijob__local_node_message_number(f); return true;
	case NODE_F_ARG: add_text(&spec->argv, &spec->argc, f); return true;
	case NODE_F_ENV: add_text(&spec->env, &spec->env_count, f); return true;
	case NODE_F_CWD: spec->cwd = clean_path(f); return spec->cwd != NULL;
	case NODE_F_UID:
		spec->uid = (int64_t)mpijob__local_node_message_number(f);
		return spec->uid < UINT32_MAX;
	case NODE_F_GID:
		spec->gid = (int64_t)mpijob__local_node_message_number(f);
		return spec->gid < UINT32_MAX;
	case NODE_F_SUPPLEMENTARY:
		add_group(spec, mpijob__local_node_message_number(f));
		return true;
	case NODE_F_MOUNT: return read_mount(spec, f);
	case NODE_F_READ_ONLY:
		spec->read_only = mpijob__local_node_message_number(f) != 0;
		return true;
	case NODE_F_CAPABILITIES:
		spec->capabilities = mpijob__local_node_message_number(f);
		return true;
	case NODE_F_CONFINE: spec->confine = mpijob__local_node_message_number(f); return true;
	case NODE_F_SSH_PATH: spec->ssh_path = clean_path(f); return spec->ssh_path != NULL;
	case NODE_F_STDIO: take_fds(spec, mpijob__local_node_message_number(f)); return true;
	default: return true;
	}
}

bool spec_read(struct spec *spec, struct node_incoming *in)
{
	struct node_reader fields = { in->payload, in->payload + in->frame.length };
	struct node_field f;
	bool ok = true;

	memset(spec, 0, sizeof(*spec));
	spec->uid = spec->gid = -1;
	take_fds(spec, 0);
	spec->message = *in;
	while (ok && mpijob__local_node_message_next(&fields, &f) == 1)
		ok = read_field(spec, &f);
	in->payload = NULL;
	for (int i = 0; i < NODE_MAX_FDS; i++)
		in->fds[i] = -1;
	return ok && spec->argc > 0;
}

void spec_free(struct spec *spec)
{
	mpijob__local_node_message_incoming_free(&spec->message);
	free(spec->argv);
	free(spec->env);
	free(spec->groups);
	free(spec->mounts);
	memset(spec, 0, sizeof(*spec));
}

static void set_variable(char ***env, size_t *count, char *variable)
{
	size_t name = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < *count; i++) {
		if (strncmp((*env)[i], variable, name) == 0) {
			(*env)[i] = variable;
			return;
		}
	}
	*env = must_grow(*env, *count + 1, sizeof(**env));
	(*env)[(*count)++] = variable;
	(*env)[*count] = NULL;
}

static void set_variables(char ***env, size_t *count, const struct spec *spec)
{
	for (size_t i = 0; spec && i < spec->env_count; i++)
		set_variable(env, count, spec->env[i]);
}

char **spec_environment(const struct spec *spec, const struct spec *extra, const char *home,
    const char *hostname)
{
	const char *const *image;
	size_t image_count = image_environment(&image);
	char **env = NULL;
	size_t count = 0;

	for (size_t i = 0; i < image_count; i++)
		set_variable(&env, &count, (char *)(uintptr_t)image[i]);
	set_variable(&env, &count, format_text("HOME=%s", home));
	set_variable(&env, &count, format_text("HOSTNAME=%s", hostname));
	set_variables(&env, &count, spec);
	set_variables(&env, &count, extra);
	return env;
}
