/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The volumes of a pod: which files a configMap, secret, downwardAPI or projected volume is made
 * of, with which modes, when they have to be written again because their source changed, and where
 * each container has them.
 */
#include "base/base64.h"
#include "base/secret.h"
#include "base/text.h"
#include "pod.h"

#include <stdlib.h>
#include <string.h>

struct files {
	struct node_file *list; /* paths and data are ours */
	size_t count;
	char *missing; /* the first source that is not there yet */
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

/* `data` is taken. */
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

static int add_value(struct files *files, const char *path, const mpijob_node *value, int coded,
    int64_t mode)
{
	const char *text = mpijob_node_string(value);
	size_t len = text ? mpijob_node_length(value) : 0;
	char *data = NULL;

	if (!text)
		return 0;
	if (coded && mpijob__base_base64_decode_new(text, len, &data, &len) == MPIJOB_ERR_SYNTAX)
		return 0; /* the store takes no such thing */
	if (!coded) {
		data = malloc(len + 1);
		if (data)
			memcpy(data, text, len + 1);
	}
	return add_file(files, path, data, len, mode);
}

/* One key of a source, wherever it stands there. */
static int add_key(struct files *files, const struct object *source, const char *key,
    const char *path, int64_t mode)
{
	const mpijob_node *root = mpijob_doc_root(source->doc);
	const mpijob_node *value = mpijob_node_get(mpijob_node_get(root, "data"), key);
	int coded = source->kind->id == KIND_SECRET;

	if (!value) {
		value = mpijob_node_get(mpijob_node_get(root, "binaryData"), key);
		coded = 1;
	}
	return value ? add_value(files, path, value, coded, mode) : 0;
}

static int has_key(const struct object *source, const char *key)
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

static int add_items(struct files *files, const struct object *source, const mpijob_node *items,
    int64_t mode, int optional)
{
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		const mpijob_node *item = mpijob_node_at(items, i);
		const char *key = mpijob_node_string(mpijob_node_get(item, "key"));
		const char *path = mpijob_node_string(mpijob_node_get(item, "path"));
		int error = 0;

		if (!key || !path)
			continue;
		if (has_key(source, key))
			error = add_key(files, source, key, path, mode_of(item, "mode", mode));
		else if (!optional)
			error =
			    note_missing(files, mpijob__base_text_format("%s \"%s\" has no key %s",
						    source->kind->name, source->name, key));
		if (error)
			return error;
	}
	return 0;
}

static int add_every(struct files *files, const struct object *source, int64_t mode)
{
	static const char *const maps[] = { "data", "binaryData" };

	for (size_t m = 0; m < 2; m++) {
		const mpijob_node *map = mpijob_node_get(mpijob_doc_root(source->doc), maps[m]);
		int coded = m == 1 || source->kind->id == KIND_SECRET;

		for (size_t i = 0; i < mpijob_node_count(map); i++) {
			int error = add_value(files, mpijob_node_key(map, i),
			    mpijob_node_at(map, i), coded, mode);

			if (error)
				return error;
		}
	}
	return 0;
}

static int add_source(struct files *files, const struct pod *pod, enum kind_id kind,
    const char *name, const mpijob_node *spec, int64_t mode)
{
	const struct object *source =
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
	return add_every(files, source, mode);
}

static int write_map(mpijob_text *text, const mpijob_node *map)
{
	int error = 0;

	for (size_t i = 0; i < mpijob_node_count(map) && !error; i++) {
		error = mpijob_text_write(text, mpijob_node_key(map, i),
		    strlen(mpijob_node_key(map, i)));
		if (!error)
			error = mpijob_text_write(text, "=", 1);
		if (!error)
			error = mpijob_node_write(mpijob_node_at(map, i),
			    MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, text);
		if (!error)
			error = mpijob_text_write(text, "\n", 1);
	}
	return error;
}

/* All labels or annotations as lines of key="value"; else one field. */
static int field_text(const struct pod *pod, const char *path, char **out)
{
	const struct object *object = mpijob__local_store_by_uid(&pod->local->store, pod->uid);
	mpijob_text *text;
	int error;

	if (strcmp(path, "metadata.labels") != 0 && strcmp(path, "metadata.annotations") != 0)
		return mpijob__local_environment_field(pod, path, out);
	text = mpijob_text_new();
	error = text ? write_map(text,
			   object ? mpijob_node_find(mpijob_doc_root(object->doc), path) : NULL)
		     : MPIJOB_ERR_NOMEM;
	*out = error ? NULL : strdup(mpijob_text_data(text));
	mpijob_text_free(text);
	return *out ? 1 : MPIJOB_ERR_NOMEM;
}

static int add_downward(struct files *files, const struct pod *pod, const mpijob_node *spec,
    int64_t mode)
{
	const mpijob_node *items = mpijob_node_get(spec, "items");

	mode = mode_of(spec, "defaultMode", mode);
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		const mpijob_node *item = mpijob_node_at(items, i);
		const char *path = mpijob_node_string(mpijob_node_get(item, "path"));
		const char *field =
		    mpijob_node_string(mpijob_node_find(item, "fieldRef.fieldPath"));
		char *text = NULL;
		int error = path && field ? field_text(pod, field, &text) : 0;

		if (error == 1)
			error =
			    add_file(files, path, text, strlen(text), mode_of(item, "mode", mode));
		if (error)
			return error;
	}
	return 0;
}

static int add_part(struct files *files, const struct pod *pod, const mpijob_node *part,
    const char *secret_key, int64_t mode)
{
	const mpijob_node *map = mpijob_node_get(part, "configMap");
	const mpijob_node *secret = mpijob_node_get(part, "secret");
	const mpijob_node *downward = mpijob_node_get(part, "downwardAPI");

	if (map)
		return add_source(files, pod, KIND_CONFIG_MAP,
		    mpijob_node_string(mpijob_node_get(map, "name")), map, mode);
	if (secret)
		return add_source(files, pod, KIND_SECRET,
		    mpijob_node_string(mpijob_node_get(secret, secret_key)), secret, mode);
	return downward ? add_downward(files, pod, downward, mode) : 0;
}

static int collect(struct files *files, const struct pod *pod, const mpijob_node *spec)
{
	const mpijob_node *projected = mpijob_node_get(spec, "projected");
	const mpijob_node *sources = mpijob_node_get(projected, "sources");
	int64_t mode = mode_of(projected, "defaultMode", 0644);
	int error = 0;

	if (!projected)
		return add_part(files, pod, spec, "secretName", 0644);
	for (size_t i = 0; i < mpijob_node_count(sources) && !error; i++)
		error = add_part(files, pod, mpijob_node_at(sources, i), "name", mode);
	return error;
}

/* FNV-1a. */
static void digest(uint64_t *sum, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++)
		*sum = (*sum ^ bytes[i]) * UINT64_C(0x100000001b3);
}

/* What tells whether the node has these files already: a pod's object changes often, its labels
 * seldom. */
static uint64_t content_of(const struct files *files)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < files->count; i++) {
		const struct node_file *file = &files->list[i];

		digest(&sum, file->path, strlen(file->path) + 1);
		digest(&sum, &file->mode, sizeof(file->mode));
		digest(&sum, &file->len, sizeof(file->len));
		digest(&sum, file->data, file->len);
	}
	return sum;
}

static int is_made_of_files(const mpijob_node *spec)
{
	return mpijob_node_get(spec, "configMap") || mpijob_node_get(spec, "secret") ||
	       mpijob_node_get(spec, "downwardAPI") || mpijob_node_get(spec, "projected");
}

int mpijob__local_pod_volumes_set_up(struct pod *pod)
{
	const mpijob_node *list = mpijob_node_get(pod->spec, "volumes");

	pod->volume_count = mpijob_node_count(list);
	pod->volumes = calloc(pod->volume_count + 1, sizeof(*pod->volumes));
	if (!pod->volumes)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < pod->volume_count; i++) {
		struct volume *volume = &pod->volumes[i];

		volume->spec = mpijob_node_at(list, i);
		volume->name = mpijob_node_string(mpijob_node_get(volume->spec, "name"));
		if (mpijob_node_get(volume->spec, "hostPath"))
			volume->written = 1;
		else
			volume->id = mpijob__local_kubelet_number(pod->kubelet);
	}
	return 0;
}

static int send(struct pod *pod, struct volume *volume, const struct files *files)
{
	struct node_volume request = { 0 };
	uint64_t number = 0;
	int error;

	request.id = volume->id;
	request.kind = is_made_of_files(volume->spec) ? NODE_VOLUME_FILES : NODE_VOLUME_EMPTY;
	request.fs_group = -1;
	mpijob_node_int(mpijob_node_find(pod->spec, "securityContext.fsGroup"), &request.fs_group);
	request.files = files->list;
	request.file_count = files->count;
	error = mpijob__local_node_client_volume_write(mpijob__local_kubelet_node(pod->kubelet),
	    &request, &number);
	if (error)
		return error;
	volume->asked = 1;
	volume->stale = 0;
	return mpijob__local_kubelet_expect(pod->kubelet, number, ASK_VOLUME, pod->id, volume->id);
}

static int rewrite(struct pod *pod, struct volume *volume, const struct files *files)
{
	uint64_t content = content_of(files);
	int error;

	if (volume->asked && volume->content == content)
		return 0;
	error = send(pod, volume, files);
	if (error == MPIJOB_ERR_USAGE &&
	    mpijob__local_pod_volumes_keep(pod, volume->id, "too large for the node"))
		return 0;
	if (!error)
		volume->content = content;
	return error;
}

int mpijob__local_pod_volumes_keep(struct pod *pod, uint64_t id, const char *why)
{
	for (size_t i = 0; i < pod->volume_count; i++) {
		struct volume *volume = &pod->volumes[i];

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

int mpijob__local_pod_volumes_write(struct pod *pod, char **missing)
{
	for (size_t i = 0; i < pod->volume_count; i++) {
		struct volume *volume = &pod->volumes[i];
		struct files files = { NULL, 0, NULL };
		int error;

		if (volume->id == 0 || (volume->asked && !volume->stale))
			continue;
		error = collect(&files, pod, volume->spec);
		/* What runs keeps what it has when a source goes. */
		if (!error && !files.missing)
			error = rewrite(pod, volume, &files);
		if (files.missing && !*missing) {
			*missing =
			    mpijob__base_text_format("volume %s: %s", volume->name, files.missing);
			error = *missing ? error : MPIJOB_ERR_NOMEM;
		}
		volume->stale = 0;
		clear_files(&files);
		if (error)
			return error;
	}
	return 0;
}

static int part_uses(const mpijob_node *part, const char *secret_key, const struct object *source)
{
	const mpijob_node *name = source->kind->id == KIND_SECRET
				      ? mpijob_node_get(mpijob_node_get(part, "secret"), secret_key)
				      : mpijob_node_get(mpijob_node_get(part, "configMap"), "name");
	const char *text = mpijob_node_string(name);

	return text && strcmp(text, source->name) == 0;
}

int mpijob__local_pod_volumes_uses(const struct pod *pod, const struct object *source)
{
	int used = 0;

	for (size_t i = 0; i < pod->volume_count; i++) {
		struct volume *volume = &pod->volumes[i];
		const mpijob_node *sources = mpijob_node_find(volume->spec, "projected.sources");
		int uses = part_uses(volume->spec, "secretName", source);

		for (size_t j = 0; j < mpijob_node_count(sources) && !uses; j++)
			uses = part_uses(mpijob_node_at(sources, j), "name", source);
		if (uses) {
			volume->stale = 1;
			used = 1;
		}
	}
	return used;
}

static int tells_fields(const mpijob_node *spec)
{
	const mpijob_node *sources = mpijob_node_find(spec, "projected.sources");
	int tells = mpijob_node_get(spec, "downwardAPI") != NULL;

	for (size_t i = 0; i < mpijob_node_count(sources) && !tells; i++)
		tells = mpijob_node_get(mpijob_node_at(sources, i), "downwardAPI") != NULL;
	return tells;
}

void mpijob__local_pod_volumes_fields_changed(struct pod *pod)
{
	for (size_t i = 0; i < pod->volume_count; i++) {
		if (tells_fields(pod->volumes[i].spec))
			pod->volumes[i].stale = 1;
	}
}

/* Mounts. */

static char *keep_text(struct mounts *mounts, char *text)
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

static const struct volume *find_volume(const struct pod *pod, const char *name)
{
	for (size_t i = 0; name && i < pod->volume_count; i++) {
		if (pod->volumes[i].name && strcmp(pod->volumes[i].name, name) == 0)
			return &pod->volumes[i];
	}
	return NULL;
}

static int fill_mount(struct mounts *mounts, struct container *container, const mpijob_node *spec,
    const struct environment *environment, struct node_mount *mount)
{
	const char *name = mpijob_node_string(mpijob_node_get(spec, "name"));
	const char *expression = mpijob_node_string(mpijob_node_get(spec, "subPathExpr"));
	const struct volume *volume = find_volume(container->pod, name);

	memset(mount, 0, sizeof(*mount));
	mount->path = mpijob_node_string(mpijob_node_get(spec, "mountPath"));
	mount->sub_path = mpijob_node_string(mpijob_node_get(spec, "subPath"));
	mpijob_node_bool(mpijob_node_get(spec, "readOnly"), &mount->read_only);
	if (mount->sub_path && !*mount->sub_path)
		mount->sub_path = NULL;
	if (expression && *expression) {
		mount->sub_path =
		    keep_text(mounts, mpijob__local_environment_expand(environment, expression));
		if (!mount->sub_path)
			return MPIJOB_ERR_NOMEM;
	}
	if (!volume || !mount->path)
		return 0;
	mount->volume = volume->id;
	if (volume->id == 0)
		mount->host_path =
		    mpijob_node_string(mpijob_node_find(volume->spec, "hostPath.path"));
	if (is_made_of_files(volume->spec))
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

/* What lies inside of another mount comes after it, in whatever order they are listed, as container
 * runtimes do it. */
static void sort_by_depth(struct mounts *mounts)
{
	for (size_t i = 1; i < mounts->count; i++) {
		struct node_mount mount = mounts->list[i];
		size_t at = i;

		for (; at > 0 && depth(mounts->list[at - 1].path) > depth(mount.path); at--)
			mounts->list[at] = mounts->list[at - 1];
		mounts->list[at] = mount;
	}
}

int mpijob__local_pod_volumes_mounts(struct container *container,
    const struct environment *environment, struct mounts *mounts)
{
	const mpijob_node *list = mpijob_node_get(container->spec, "volumeMounts");

	memset(mounts, 0, sizeof(*mounts));
	mounts->list = calloc(mpijob_node_count(list) + 1, sizeof(*mounts->list));
	if (!mounts->list)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		int filled = fill_mount(mounts, container, mpijob_node_at(list, i), environment,
		    &mounts->list[mounts->count]);

		if (filled < 0) {
			mpijob__local_pod_volumes_mounts_clear(mounts);
			return filled;
		}
		mounts->count += (size_t)filled;
	}
	sort_by_depth(mounts);
	return 0;
}

void mpijob__local_pod_volumes_mounts_clear(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->text_count; i++)
		free(mounts->texts[i]);
	free(mounts->texts);
	free(mounts->list);
	memset(mounts, 0, sizeof(*mounts));
}
