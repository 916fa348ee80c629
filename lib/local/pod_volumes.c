/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The volumes of a pod: the files and modes of configMap, secret, downwardAPI and projected
 * volumes, when they are updated because a source changed, and the mounts of each container.
 */
#include "base/base64.h"
#include "base/digest.h"
#include "base/secret.h"
#include "base/text.h"
#include "local/pod.h"

#include <stdlib.h>
#include <string.h>

struct files {
	struct node_file *list; /* paths and data are owned */
	size_t count;
	char *missing; /* message about the first missing source */
};

static void clear_files(struct files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free((char *)(uintptr_t)files->list[i].path);
		mpijob__base_secret_free((void *)(uintptr_t)files->list[i].data,
		    files->list[i].len);
	}
	free(files->list);
	free(files->missing);
	memset(files, 0, sizeof(*files));
}

/* Add a file. Takes ownership of `data`; NULL means that memory ran out. */
static int add_file(struct files *files, const char *path, void *data, size_t len, int64_t mode)
{
	struct node_file *list = realloc(files->list, (files->count + 1) * sizeof(*list));
	char *copy = strdup(path);

	if (list)
		files->list = list;
	if (!list || !copy || !data) {
		free(copy);
		mpijob__base_secret_free(data, len);
		return MPIJOB_ERR_NOMEM;
	}
	memset(&list[files->count], 0, sizeof(*list));
	list[files->count].path = copy;
	list[files->count].data = data;
	list[files->count].len = len;
	list[files->count].mode = (uint32_t)(mode & 0777);
	files->count++;
	return 0;
}

static int64_t mode_of(const mpijob_node *map, const char *key, int64_t absent)
{
	mpijob_node_int(mpijob_node_get(map, key), &absent);
	return absent;
}

static int add_value(struct files *files, const char *path, const mpijob_node *value, int is_base64,
    int64_t mode)
{
	const char *text = mpijob_node_string(value);
	size_t len = text ? mpijob_node_length(value) : 0;
	char *data = NULL;

	if (!text)
		return 0;
	if (is_base64 &&
	    mpijob__base_base64_decode_new(text, len, &data, &len) == MPIJOB_ERR_SYNTAX)
		return 0; /* cannot happen: rules.c checks it */
	if (!is_base64) {
		data = malloc(len + 1);
		if (data)
			memcpy(data, text, len + 1);
	}
	return add_file(files, path, data, len, mode);
}

/* Add one key of a source, from data or binaryData. */
static int add_key(struct files *files, const struct mpijob__local_object *source, const char *key,
    const char *path, int64_t mode)
{
	const mpijob_node *root = mpijob_doc_root(source->doc);
	const mpijob_node *value = mpijob_node_get(mpijob_node_get(root, "data"), key);
	int is_base64 = source->kind->id == MPIJOB__LOCAL_KIND_SECRET;

	if (!value) {
		value = mpijob_node_get(mpijob_node_get(root, "binaryData"), key);
		is_base64 = 1;
	}
	return value ? add_value(files, path, value, is_base64, mode) : 0;
}

static int has_key(const struct mpijob__local_object *source, const char *key)
{
	const mpijob_node *root = mpijob_doc_root(source->doc);

	return mpijob_node_get(mpijob_node_get(root, "data"), key) ||
	       mpijob_node_get(mpijob_node_get(root, "binaryData"), key);
}

static int note_missing(struct files *files, char *message)
{
	if (!message)
		return MPIJOB_ERR_NOMEM;
	if (files->missing)
		free(message);
	else
		files->missing = message;
	return 0;
}

static int add_items(struct files *files, const struct mpijob__local_object *source,
    const mpijob_node *items, int64_t mode, int optional)
{
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		const mpijob_node *item = mpijob_node_at(items, i);
		const char *key = mpijob_node_string(mpijob_node_get(item, "key"));
		const char *path = mpijob_node_string(mpijob_node_get(item, "path"));
		int rc = 0;

		if (!key || !path)
			continue;
		if (has_key(source, key))
			rc = add_key(files, source, key, path, mode_of(item, "mode", mode));
		else if (!optional)
			rc = note_missing(files, mpijob__base_text_format("%s \"%s\" has no key %s",
						     source->kind->name, source->name, key));
		if (rc)
			return rc;
	}
	return 0;
}

static int add_all_keys(struct files *files, const struct mpijob__local_object *source,
    int64_t mode)
{
	static const char *const maps[] = { "data", "binaryData" };

	for (size_t m = 0; m < 2; m++) {
		const mpijob_node *map = mpijob_node_get(mpijob_doc_root(source->doc), maps[m]);
		int is_base64 = m == 1 || source->kind->id == MPIJOB__LOCAL_KIND_SECRET;

		for (size_t i = 0; i < mpijob_node_count(map); i++) {
			int rc = add_value(files, mpijob_node_key(map, i), mpijob_node_at(map, i),
			    is_base64, mode);

			if (rc)
				return rc;
		}
	}
	return 0;
}

static int add_source(struct files *files, const struct mpijob__local_pod *pod,
    enum mpijob__local_kind_id kind, const char *name, const mpijob_node *spec, int64_t mode)
{
	const struct mpijob__local_object *source =
	    name ? mpijob__local_store_find(&pod->local->store, kind, pod->namespace_, name) : NULL;
	int optional = 0;

	mpijob_node_bool(mpijob_node_get(spec, "optional"), &optional);
	mode = mode_of(spec, "defaultMode", mode);
	if (!source)
		return optional ? 0
				: note_missing(files,
				      mpijob__base_text_format("%s \"%s\" not found",
					  mpijob__local_store_kind(kind)->name, name ? name : ""));
	if (mpijob_node_count(mpijob_node_get(spec, "items")) > 0)
		return add_items(files, source, mpijob_node_get(spec, "items"), mode, optional);
	return add_all_keys(files, source, mode);
}

static int write_map(mpijob_text *text, const mpijob_node *map)
{
	int rc = 0;

	for (size_t i = 0; i < mpijob_node_count(map) && !rc; i++) {
		rc = mpijob_text_write(text, mpijob_node_key(map, i),
		    strlen(mpijob_node_key(map, i)));
		if (!rc)
			rc = mpijob_text_write(text, "=", 1);
		if (!rc)
			rc = mpijob_node_write(mpijob_node_at(map, i), MPIJOB_FORMAT_JSON_COMPACT,
			    mpijob_text_write, text);
		if (!rc)
			rc = mpijob_text_write(text, "\n", 1);
	}
	return rc;
}

/* The value of a downwardAPI field; all labels or annotations become lines of key="value". */
static int field_text(const struct mpijob__local_pod *pod, const char *path, char **out)
{
	const struct mpijob__local_object *object =
	    mpijob__local_store_by_uid(&pod->local->store, pod->uid);
	mpijob_text *text;
	int rc;

	if (strcmp(path, "metadata.labels") != 0 && strcmp(path, "metadata.annotations") != 0)
		return mpijob__local_environment_field(pod, path, out);
	text = mpijob_text_new();
	rc = text ? write_map(text,
			object ? mpijob_node_find(mpijob_doc_root(object->doc), path) : NULL)
		  : MPIJOB_ERR_NOMEM;
	*out = rc ? NULL : strdup(mpijob_text_data(text));
	mpijob_text_free(text);
	return *out ? 1 : MPIJOB_ERR_NOMEM;
}

static int add_downward_api(struct files *files, const struct mpijob__local_pod *pod,
    const mpijob_node *spec, int64_t mode)
{
	const mpijob_node *items = mpijob_node_get(spec, "items");

	mode = mode_of(spec, "defaultMode", mode);
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		const mpijob_node *item = mpijob_node_at(items, i);
		const char *path = mpijob_node_string(mpijob_node_get(item, "path"));
		const char *field =
		    mpijob_node_string(mpijob_node_find(item, "fieldRef.fieldPath"));
		char *text = NULL;
		int rc = path && field ? field_text(pod, field, &text) : 0;

		if (rc == 1)
			rc = add_file(files, path, text, strlen(text), mode_of(item, "mode", mode));
		if (rc)
			return rc;
	}
	return 0;
}

static int add_projection(struct files *files, const struct mpijob__local_pod *pod,
    const mpijob_node *part, const char *secret_key, int64_t mode)
{
	const mpijob_node *map = mpijob_node_get(part, "configMap");
	const mpijob_node *secret = mpijob_node_get(part, "secret");
	const mpijob_node *downward = mpijob_node_get(part, "downwardAPI");

	if (map)
		return add_source(files, pod, MPIJOB__LOCAL_KIND_CONFIG_MAP,
		    mpijob_node_string(mpijob_node_get(map, "name")), map, mode);
	if (secret)
		return add_source(files, pod, MPIJOB__LOCAL_KIND_SECRET,
		    mpijob_node_string(mpijob_node_get(secret, secret_key)), secret, mode);
	return downward ? add_downward_api(files, pod, downward, mode) : 0;
}

static int collect_files(struct files *files, const struct mpijob__local_pod *pod,
    const mpijob_node *spec)
{
	const mpijob_node *projected = mpijob_node_get(spec, "projected");
	const mpijob_node *sources = mpijob_node_get(projected, "sources");
	int64_t mode = mode_of(projected, "defaultMode", 0644);
	int rc = 0;

	if (!projected)
		return add_projection(files, pod, spec, "secretName", 0644);
	for (size_t i = 0; i < mpijob_node_count(sources) && !rc; i++)
		rc = add_projection(files, pod, mpijob_node_at(sources, i), "name", mode);
	return rc;
}

/* A digest to detect whether the node already has these files: a pod's object changes often, its
 * labels rarely. */
static uint64_t digest_of(const struct files *files)
{
	uint64_t digest = MPIJOB__BASE_DIGEST_START;

	for (size_t i = 0; i < files->count; i++) {
		const struct node_file *file = &files->list[i];

		digest = mpijob__base_digest_add(digest, file->path, strlen(file->path) + 1);
		digest = mpijob__base_digest_add(digest, &file->mode, sizeof(file->mode));
		digest = mpijob__base_digest_add(digest, &file->len, sizeof(file->len));
		digest = mpijob__base_digest_add(digest, file->data, file->len);
	}
	return digest;
}

static int is_file_volume(const mpijob_node *spec)
{
	return mpijob_node_get(spec, "configMap") || mpijob_node_get(spec, "secret") ||
	       mpijob_node_get(spec, "downwardAPI") || mpijob_node_get(spec, "projected");
}

int mpijob__local_pod_volumes_set_up(struct mpijob__local_pod *pod)
{
	const mpijob_node *list = mpijob_node_get(pod->spec, "volumes");

	pod->volume_count = mpijob_node_count(list);
	pod->volumes = calloc(pod->volume_count + 1, sizeof(*pod->volumes));
	if (!pod->volumes)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < pod->volume_count; i++) {
		struct mpijob__local_volume *volume = &pod->volumes[i];

		volume->spec = mpijob_node_at(list, i);
		volume->name = mpijob_node_string(mpijob_node_get(volume->spec, "name"));
		if (mpijob_node_get(volume->spec, "hostPath"))
			volume->written = 1;
		else
			volume->id = mpijob__local_kubelet_new_id(pod->kubelet);
	}
	return 0;
}

static int send_volume(struct mpijob__local_pod *pod, struct mpijob__local_volume *volume,
    const struct files *files)
{
	struct node_volume request = { 0 };
	uint64_t number = 0;
	int rc;

	request.id = volume->id;
	request.kind = is_file_volume(volume->spec) ? NODE_VOLUME_FILES : NODE_VOLUME_EMPTY;
	request.fs_group = -1;
	mpijob_node_int(mpijob_node_find(pod->spec, "securityContext.fsGroup"), &request.fs_group);
	request.files = files->list;
	request.file_count = files->count;
	rc = mpijob__local_node_client_volume_write(mpijob__local_kubelet_node(pod->kubelet),
	    &request, &number);
	if (rc)
		return rc;
	volume->requested = 1;
	volume->stale = 0;
	return mpijob__local_kubelet_await(pod->kubelet, number, MPIJOB__LOCAL_REQUEST_VOLUME,
	    pod->id, volume->id);
}

static int update_volume(struct mpijob__local_pod *pod, struct mpijob__local_volume *volume,
    const struct files *files)
{
	uint64_t content = digest_of(files);
	int rc;

	if (volume->requested && volume->content == content)
		return 0;
	rc = send_volume(pod, volume, files);
	if (rc == MPIJOB_ERR_USAGE &&
	    mpijob__local_pod_volumes_write_failed(pod, volume->id, "too large for the node"))
		return 0;
	if (!rc)
		volume->content = content;
	return rc;
}

int mpijob__local_pod_volumes_write_failed(struct mpijob__local_pod *pod, uint64_t id,
    const char *why)
{
	for (size_t i = 0; i < pod->volume_count; i++) {
		struct mpijob__local_volume *volume = &pod->volumes[i];

		if (volume->id != id || !volume->written)
			continue;
		volume->content = 0;
		mpijob__local_notice(pod->local, MPIJOB_SEVERITY_WARNING, "local-volume", NULL,
		    mpijob__base_text_format("pod %s: volume %s keeps its old files: %s", pod->name,
			volume->name, why ? why : "the node cannot write them"));
		return 1;
	}
	return 0;
}

int mpijob__local_pod_volumes_write(struct mpijob__local_pod *pod, char **missing)
{
	for (size_t i = 0; i < pod->volume_count; i++) {
		struct mpijob__local_volume *volume = &pod->volumes[i];
		struct files files = { NULL, 0, NULL };
		int rc;

		if (volume->id == 0 || (volume->requested && !volume->stale))
			continue;
		rc = collect_files(&files, pod, volume->spec);
		/* If a source was deleted, running containers keep the old files. */
		if (!rc && !files.missing)
			rc = update_volume(pod, volume, &files);
		if (files.missing && !*missing) {
			*missing =
			    mpijob__base_text_format("volume %s: %s", volume->name, files.missing);
			rc = *missing ? rc : MPIJOB_ERR_NOMEM;
		}
		volume->stale = 0;
		clear_files(&files);
		if (rc)
			return rc;
	}
	return 0;
}

static int projection_uses(const mpijob_node *part, const char *secret_key,
    const struct mpijob__local_object *source)
{
	const mpijob_node *name = source->kind->id == MPIJOB__LOCAL_KIND_SECRET
				      ? mpijob_node_get(mpijob_node_get(part, "secret"), secret_key)
				      : mpijob_node_get(mpijob_node_get(part, "configMap"), "name");
	const char *text = mpijob_node_string(name);

	return text && strcmp(text, source->name) == 0;
}

int mpijob__local_pod_volumes_source_changed(const struct mpijob__local_pod *pod,
    const struct mpijob__local_object *source)
{
	int used = 0;

	for (size_t i = 0; i < pod->volume_count; i++) {
		struct mpijob__local_volume *volume = &pod->volumes[i];
		const mpijob_node *sources = mpijob_node_find(volume->spec, "projected.sources");
		int uses = projection_uses(volume->spec, "secretName", source);

		for (size_t j = 0; j < mpijob_node_count(sources) && !uses; j++)
			uses = projection_uses(mpijob_node_at(sources, j), "name", source);
		if (uses) {
			volume->stale = 1;
			used = 1;
		}
	}
	return used;
}

static int has_downward_api(const mpijob_node *spec)
{
	const mpijob_node *sources = mpijob_node_find(spec, "projected.sources");
	int found = mpijob_node_get(spec, "downwardAPI") != NULL;

	for (size_t i = 0; i < mpijob_node_count(sources) && !found; i++)
		found = mpijob_node_get(mpijob_node_at(sources, i), "downwardAPI") != NULL;
	return found;
}

void mpijob__local_pod_volumes_fields_changed(struct mpijob__local_pod *pod)
{
	for (size_t i = 0; i < pod->volume_count; i++) {
		if (has_downward_api(pod->volumes[i].spec))
			pod->volumes[i].stale = 1;
	}
}

/* ---- mounts ---- */

static char *own_text(struct mpijob__local_mounts *mounts, char *text)
{
	char **texts =
	    text ? realloc(mounts->texts, (mounts->text_count + 1) * sizeof(*texts)) : NULL;

	if (!texts) {
		free(text);
		return NULL;
	}
	mounts->texts = texts;
	texts[mounts->text_count++] = text;
	return text;
}

static const struct mpijob__local_volume *find_volume(const struct mpijob__local_pod *pod,
    const char *name)
{
	for (size_t i = 0; name && i < pod->volume_count; i++) {
		if (pod->volumes[i].name && strcmp(pod->volumes[i].name, name) == 0)
			return &pod->volumes[i];
	}
	return NULL;
}

static int fill_mount(struct mpijob__local_mounts *mounts,
    struct mpijob__local_container *container, const mpijob_node *spec,
    const struct mpijob__local_environment *environment, struct node_mount *mount)
{
	const char *name = mpijob_node_string(mpijob_node_get(spec, "name"));
	const char *expression = mpijob_node_string(mpijob_node_get(spec, "subPathExpr"));
	const struct mpijob__local_volume *volume = find_volume(container->pod, name);

	memset(mount, 0, sizeof(*mount));
	mount->path = mpijob_node_string(mpijob_node_get(spec, "mountPath"));
	mount->sub_path = mpijob_node_string(mpijob_node_get(spec, "subPath"));
	mpijob_node_bool(mpijob_node_get(spec, "readOnly"), &mount->read_only);
	if (mount->sub_path && !*mount->sub_path)
		mount->sub_path = NULL;
	if (expression && *expression) {
		mount->sub_path =
		    own_text(mounts, mpijob__local_environment_expand(environment, expression));
		if (!mount->sub_path)
			return MPIJOB_ERR_NOMEM;
	}
	if (!volume || !mount->path)
		return 0;
	mount->volume = volume->id;
	if (volume->id == 0)
		mount->host_path =
		    mpijob_node_string(mpijob_node_find(volume->spec, "hostPath.path"));
	if (is_file_volume(volume->spec))
		mount->read_only = 1;
	if (strcmp(name, "ssh-auth") == 0 && strcmp(mount->path, "/root/.ssh") != 0)
		mounts->ssh_path = mount->path;
	return 1;
}

static size_t depth(const char *path)
{
	size_t parts = 0;

	for (; *path; path++)
		parts += *path != '/' && (path[1] == '/' || path[1] == 0);
	return parts;
}

/* As in container runtimes, nested mounts come after the outer ones, whatever their order in the
 * template. */
static void sort_by_depth(struct mpijob__local_mounts *mounts)
{
	for (size_t i = 1; i < mounts->count; i++) {
		struct node_mount mount = mounts->list[i];
		size_t at = i;

		for (; at > 0 && depth(mounts->list[at - 1].path) > depth(mount.path); at--)
			mounts->list[at] = mounts->list[at - 1];
		mounts->list[at] = mount;
	}
}

int mpijob__local_pod_volumes_mounts(struct mpijob__local_container *container,
    const struct mpijob__local_environment *environment, struct mpijob__local_mounts *mounts)
{
	const mpijob_node *list = mpijob_node_get(container->spec, "volumeMounts");

	memset(mounts, 0, sizeof(*mounts));
	mounts->list = calloc(mpijob_node_count(list) + 1, sizeof(*mounts->list));
	if (!mounts->list)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		int added = fill_mount(mounts, container, mpijob_node_at(list, i), environment,
		    &mounts->list[mounts->count]);

		if (added < 0) {
			mpijob__local_pod_volumes_mounts_clear(mounts);
			return added;
		}
		mounts->count += (size_t)added;
	}
	sort_by_depth(mounts);
	return 0;
}

void mpijob__local_pod_volumes_mounts_clear(struct mpijob__local_mounts *mounts)
{
	for (size_t i = 0; i < mounts->text_count; i++)
		free(mounts->texts[i]);
	free(mounts->texts);
	free(mounts->list);
	memset(mounts, 0, sizeof(*mounts));
}
