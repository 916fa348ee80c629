/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a container: env and envFrom with all their sources, and Kubernetes' rules for
 * $(NAME): `$$` is a dollar sign, and an unknown reference is left unchanged. A value may refer to
 * variables of envFrom and to earlier ones of env; command and args may refer to all.
 */
#include "base/base64.h"
#include "base/secret.h"
#include "base/text.h"
#include "local/pod.h"

#include <stdlib.h>
#include <string.h>

void mpijob__local_environment_clear(struct mpijob__local_environment *environment)
{
	for (size_t i = 0; i < environment->count; i++)
		mpijob__base_secret_free_text(environment->entries[i]);
	free(environment->entries);
	free(environment->missing);
	memset(environment, 0, sizeof(*environment));
}

static int has_name(const char *entry, const char *name, size_t len)
{
	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

static const char *find_value(const struct mpijob__local_environment *environment, const char *name,
    size_t len)
{
	for (size_t i = environment->count; i-- > 0;) {
		if (has_name(environment->entries[i], name, len))
			return environment->entries[i] + len + 1;
	}
	return NULL;
}

/* Append a variable. find_value() returns the last one of a name, as the shell does. */
static int add(struct mpijob__local_environment *environment, const char *prefix, const char *name,
    const char *value)
{
	char *entry = mpijob__base_text_format("%s%s=%s", prefix, name, value);
	char **entries;

	if (!entry)
		return MPIJOB_ERR_NOMEM;
	entries = realloc(environment->entries, (environment->count + 2) * sizeof(*entries));
	if (!entries) {
		mpijob__base_secret_free_text(entry);
		return MPIJOB_ERR_NOMEM;
	}
	environment->entries = entries;
	entries[environment->count++] = entry;
	entries[environment->count] = NULL;
	return 0;
}

/* $(NAME) */

struct expansion {
	char *data;
	size_t len;
	int failed;
};

static void put(struct expansion *expansion, const char *text, size_t len)
{
	char *data = expansion->failed ? NULL : malloc(expansion->len + len + 1);

	if (!data) {
		expansion->failed = 1;
		return;
	}
	if (expansion->len)
		memcpy(data, expansion->data, expansion->len);
	memcpy(data + expansion->len, text, len);
	mpijob__base_secret_free(expansion->data, expansion->len);
	expansion->data = data;
	expansion->len += len;
	data[expansion->len] = 0;
}

/* Expand the reference at the dollar sign `at`; returns the text after it. */
static const char *expand_reference(struct expansion *expansion,
    const struct mpijob__local_environment *environment, const char *at)
{
	const char *end = at[1] == '(' ? strchr(at, ')') : NULL;
	const char *value = end ? find_value(environment, at + 2, (size_t)(end - at) - 2) : NULL;

	if (at[1] == '$') {
		put(expansion, "$", 1);
		return at + 2;
	}
	if (value)
		put(expansion, value, strlen(value));
	else if (end)
		put(expansion, at, (size_t)(end - at) + 1);
	else
		put(expansion, at, 1);
	return end ? end + 1 : at + 1;
}

char *mpijob__local_environment_expand(const struct mpijob__local_environment *environment,
    const char *text)
{
	struct expansion expansion = { NULL, 0, 0 };

	put(&expansion, "", 0);
	while (*text) {
		size_t len = strcspn(text, "$");

		put(&expansion, text, len);
		text += len;
		if (*text)
			text = expand_reference(&expansion, environment, text);
	}
	if (expansion.failed) {
		mpijob__base_secret_free(expansion.data, expansion.len);
		return NULL;
	}
	return expansion.data;
}

/* ---- sources ---- */

static int is_optional(const mpijob_node *reference)
{
	int optional = 0;

	mpijob_node_bool(mpijob_node_get(reference, "optional"), &optional);
	return optional;
}

static int note_missing(struct mpijob__local_environment *environment, const char *kind,
    const char *name, const char *key)
{
	if (environment->missing)
		return 0;
	environment->missing =
	    key ? mpijob__base_text_format("key %s of %s \"%s\" not found", key, kind, name)
		: mpijob__base_text_format("%s \"%s\" not found", kind, name);
	return environment->missing ? 0 : MPIJOB_ERR_NOMEM;
}

static const mpijob_node *source_root(const struct mpijob__local_pod *pod,
    enum mpijob__local_kind_id kind, const char *name)
{
	const struct mpijob__local_object *object =
	    name ? mpijob__local_store_find(&pod->local->store, kind, pod->namespace_, name) : NULL;

	return object ? mpijob_doc_root(object->doc) : NULL;
}

/* The value of one key, decoded. 1, and the caller wipes *out; 0: it is not a string;
 * MPIJOB_ERR_NOMEM.
 */
static int decode_key(enum mpijob__local_kind_id kind, const mpijob_node *value, char **out)
{
	const char *text = mpijob_node_string(value);
	char *bytes = NULL;
	size_t len = 0;
	int rc = 0;

	if (!text)
		return 0;
	if (kind == MPIJOB__LOCAL_KIND_SECRET)
		rc = mpijob__base_base64_decode_new(text, mpijob_node_length(value), &bytes, &len);
	*out = kind == MPIJOB__LOCAL_KIND_SECRET ? bytes : strdup(text);
	return *out ? 1 : rc == MPIJOB_ERR_SYNTAX ? 0 : MPIJOB_ERR_NOMEM;
}

static int add_key(struct mpijob__local_environment *environment,
    const struct mpijob__local_pod *pod, enum mpijob__local_kind_id kind, const char *variable,
    const mpijob_node *reference)
{
	const char *name = mpijob_node_string(mpijob_node_get(reference, "name"));
	const char *key = mpijob_node_string(mpijob_node_get(reference, "key"));
	const mpijob_node *root = source_root(pod, kind, name);
	const mpijob_node *value = key ? mpijob_node_get(mpijob_node_get(root, "data"), key) : NULL;
	char *text = NULL;
	int rc;

	if (!value && is_optional(reference))
		return 0;
	if (!value)
		return note_missing(environment,
		    kind == MPIJOB__LOCAL_KIND_SECRET ? "secret" : "configmap", name ? name : "",
		    root ? (key ? key : "") : NULL);
	rc = decode_key(kind, value, &text);
	if (rc == 1) {
		rc = add(environment, "", variable, text);
		mpijob__base_secret_free_text(text);
	}
	return rc;
}

int mpijob__local_environment_field(const struct mpijob__local_pod *pod, const char *path,
    char **out)
{
	const struct mpijob__local_object *object =
	    mpijob__local_store_by_uid(&pod->local->store, pod->uid);
	const mpijob_node *root = object ? mpijob_doc_root(object->doc) : mpijob_doc_root(pod->doc);
	const char *key = strchr(path, '[');
	const char *text = NULL;

	if (strcmp(path, "metadata.name") == 0)
		text = pod->name;
	else if (strcmp(path, "metadata.namespace") == 0)
		text = pod->namespace_;
	else if (strcmp(path, "metadata.uid") == 0)
		text = pod->uid;
	else if (strcmp(path, "spec.nodeName") == 0)
		text = MPIJOB__LOCAL_NODE_NAME;
	else if (strcmp(path, "spec.serviceAccountName") == 0)
		text = mpijob_node_string(mpijob_node_find(root, path))
			   ? mpijob_node_string(mpijob_node_find(root, path))
			   : "default";
	else if (strcmp(path, "status.podIP") == 0 || strcmp(path, "status.podIPs") == 0)
		text = pod->address;
	else if (strcmp(path, "status.hostIP") == 0 || strcmp(path, "status.hostIPs") == 0)
		text = MPIJOB__LOCAL_NODE_ADDRESS;
	else if (key && (strncmp(path, "metadata.labels[", 16) == 0 ||
			    strncmp(path, "metadata.annotations[", 21) == 0)) {
		size_t len = strlen(key);
		char *inner = len > 4 && key[1] == '\'' ? strndup(key + 2, len - 4)
							: strndup(key + 1, len > 2 ? len - 2 : 0);
		const mpijob_node *map = mpijob_node_find(root,
		    path[9] == 'l' ? "metadata.labels" : "metadata.annotations");

		if (!inner)
			return MPIJOB_ERR_NOMEM;
		text = mpijob_node_string(mpijob_node_get(map, inner));
		text = text ? text : "";
		free(inner);
	}
	if (!text)
		return 0;
	*out = strdup(text);
	return *out ? 1 : MPIJOB_ERR_NOMEM;
}

static int add_field(struct mpijob__local_environment *environment,
    const struct mpijob__local_pod *pod, const char *variable, const char *path)
{
	char *text = NULL;
	int found = path ? mpijob__local_environment_field(pod, path, &text) : 0;

	if (found == 1)
		found = add(environment, "", variable, text);
	free(text);
	return found;
}

static int add_value(struct mpijob__local_environment *environment, const char *variable,
    const char *text)
{
	char *value = mpijob__local_environment_expand(environment, text);
	int rc = value ? add(environment, "", variable, value) : MPIJOB_ERR_NOMEM;

	if (value)
		mpijob__base_secret_free_text(value);
	return rc;
}

static int add_variable(struct mpijob__local_environment *environment,
    const struct mpijob__local_pod *pod, const mpijob_node *entry)
{
	const char *name = mpijob_node_string(mpijob_node_get(entry, "name"));
	const char *value = mpijob_node_text(mpijob_node_get(entry, "value"));
	const mpijob_node *from = mpijob_node_get(entry, "valueFrom");

	if (!name || !*name)
		return 0;
	if (mpijob_node_kind(from) != MPIJOB_NODE_MAP)
		return add_value(environment, name, value ? value : "");
	if (mpijob_node_get(from, "configMapKeyRef"))
		return add_key(environment, pod, MPIJOB__LOCAL_KIND_CONFIG_MAP, name,
		    mpijob_node_get(from, "configMapKeyRef"));
	if (mpijob_node_get(from, "secretKeyRef"))
		return add_key(environment, pod, MPIJOB__LOCAL_KIND_SECRET, name,
		    mpijob_node_get(from, "secretKeyRef"));
	return add_field(environment, pod, name,
	    mpijob_node_string(mpijob_node_find(from, "fieldRef.fieldPath")));
}

static int add_all_keys(struct mpijob__local_environment *environment,
    const struct mpijob__local_pod *pod, enum mpijob__local_kind_id kind, const char *prefix,
    const mpijob_node *reference)
{
	const char *name = mpijob_node_string(mpijob_node_get(reference, "name"));
	const mpijob_node *root = source_root(pod, kind, name);
	const mpijob_node *data = mpijob_node_get(root, "data");

	if (!root)
		return is_optional(reference)
			   ? 0
			   : note_missing(environment,
				 kind == MPIJOB__LOCAL_KIND_SECRET ? "secret" : "configmap",
				 name ? name : "", NULL);
	for (size_t i = 0; i < mpijob_node_count(data); i++) {
		char *text = NULL;
		int rc = decode_key(kind, mpijob_node_at(data, i), &text);

		if (rc == 1) {
			rc = add(environment, prefix, mpijob_node_key(data, i), text);
			mpijob__base_secret_free_text(text);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_env_from(struct mpijob__local_environment *environment,
    const struct mpijob__local_pod *pod, const mpijob_node *entry)
{
	const char *prefix = mpijob_node_string(mpijob_node_get(entry, "prefix"));
	const mpijob_node *map = mpijob_node_get(entry, "configMapRef");
	const mpijob_node *secret = mpijob_node_get(entry, "secretRef");
	int rc = map ? add_all_keys(environment, pod, MPIJOB__LOCAL_KIND_CONFIG_MAP,
			   prefix ? prefix : "", map)
		     : 0;

	if (!rc && secret)
		rc = add_all_keys(environment, pod, MPIJOB__LOCAL_KIND_SECRET, prefix ? prefix : "",
		    secret);
	return rc;
}

int mpijob__local_environment_make(struct mpijob__local_environment *environment,
    struct mpijob__local_container *container)
{
	const mpijob_node *from = mpijob_node_get(container->spec, "envFrom");
	const mpijob_node *list = mpijob_node_get(container->spec, "env");
	int rc = 0;

	memset(environment, 0, sizeof(*environment));
	environment->entries = calloc(1, sizeof(*environment->entries));
	if (!environment->entries)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < mpijob_node_count(from) && !rc; i++)
		rc = add_env_from(environment, container->pod, mpijob_node_at(from, i));
	for (size_t i = 0; i < mpijob_node_count(list) && !rc; i++)
		rc = add_variable(environment, container->pod, mpijob_node_at(list, i));
	if (rc)
		mpijob__local_environment_clear(environment);
	return rc < 0 ? rc : 0;
}
