/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children of a job and their order; of the workers only one is made. mpijob_render() makes all
 * children, so that all errors are known before the first child is used. A plan makes only the
 * children that it needs.
 */
#include "render/objects.h"

#include "render/ssh_key.h"

#include <stdlib.h>
#include <string.h>

int mpijob__render_objects_locate(const mpijob_objects *objects, size_t index, int32_t *role,
    int32_t *worker)
{
	int32_t next;

	for (size_t i = 0; (next = mpijob__render_role(i)) != 0; i++) {
		if (index < objects->counts[next]) {
			*role = next;
			*worker = (int32_t)index;
			return 1;
		}
		index -= objects->counts[next];
	}
	return 0;
}

static void build_role(struct mpijob__render_build *b, const mpijob_objects *objects, int32_t role)
{
	switch (role) {
	case MPIJOB_ROLE_SERVICE: mpijob__render_service_build(b); break;
	case MPIJOB_ROLE_NETWORK_POLICY: mpijob__render_network_policy_build(b); break;
	case MPIJOB_ROLE_CONFIG_MAP: mpijob__render_config_map_build(b); break;
	case MPIJOB_ROLE_SECRET:
		mpijob__render_secret_build(b, NULL,
		    objects->key != NULL ? objects->key->line_base64 : NULL);
		break;
	case MPIJOB_ROLE_POD_GROUP: mpijob__render_pod_group_build(b); break;
	case MPIJOB_ROLE_WORKER: mpijob__render_worker_pod_build(b, 0); break;
	default: mpijob__render_launcher_job_build(b);
	}
}

static void count_children(mpijob_objects *objects)
{
	int gang = mpijob__render_subject_gang(&objects->subject);

	for (int32_t role = MPIJOB_ROLE_SERVICE; role < MPIJOB__RENDER_ROLES; role++)
		objects->counts[role] = 1;
	if (objects->subject.features.network_policy == 0)
		objects->counts[MPIJOB_ROLE_NETWORK_POLICY] = 0;
	if (gang == MPIJOB__RENDER_GANG_NONE)
		objects->counts[MPIJOB_ROLE_POD_GROUP] = 0;
	objects->volcano = gang == MPIJOB__RENDER_GANG_VOLCANO;
	objects->counts[MPIJOB_ROLE_WORKER] =
	    (size_t)mpijob__render_subject_workers(&objects->subject);
}

/* Make a child, unless it was made before. */
static int make_child(mpijob_objects *objects, int32_t role, mpijob_diag *diag)
{
	struct mpijob__render_build b;

	if (objects->docs[role] != NULL)
		return 0;
	mpijob__render_build_start(&b, &objects->subject, diag);
	build_role(&b, objects, role);
	return mpijob__render_build_finish(&b, &objects->docs[role]);
}

int mpijob__render_objects_make(mpijob_objects *objects, mpijob_diag *diag)
{
	int32_t role;
	int first = 0;

	for (size_t i = 0; (role = mpijob__render_role(i)) != 0; i++) {
		int code = objects->counts[role] > 0 ? make_child(objects, role, diag) : 0;

		if (code == MPIJOB_ERR_NOMEM)
			return code;
		first = first != 0 ? first : code;
	}
	return first;
}

int mpijob__render_objects_child(mpijob_objects *objects, int32_t role, const mpijob_doc **out)
{
	int code =
	    objects->counts[role] > 0 ? make_child(objects, role, NULL) : MPIJOB_ERR_NOT_FOUND;

	if (code == 0)
		*out = objects->docs[role];
	return code;
}

/* Drop pointers to the caller's options; keep only what mpijob_objects_at() and _write() need. */
static void drop_options(mpijob_objects *objects)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;

	options.reference = objects->subject.options.reference;
	objects->subject.options = options;
}

static int make_all(mpijob_objects *objects, const struct mpijob_render_options *options,
    mpijob_diag *diag)
{
	const struct mpijob__render_subject *subject = &objects->subject;
	int code = mpijob__render_subject_valid(objects->job, options, &objects->subject, diag);

	if (code != 0)
		return code;
	count_children(objects);
	if (subject->options.entropy != NULL)
		code = mpijob__render_ssh_key_new(subject->options.entropy,
		    subject->options.entropy_len, &objects->key, diag);
	if (code == 0)
		code = mpijob__render_objects_make(objects, diag);
	drop_options(objects);
	return code;
}

static mpijob_objects *new_objects(void)
{
	mpijob_objects *objects = calloc(1, sizeof(*objects));

	if (objects == NULL)
		return NULL;
	objects->stencils = mpijob__render_stencils_new();
	if (objects->stencils != NULL)
		return objects;
	mpijob_objects_free(objects);
	return NULL;
}

int mpijob__render_objects_new(const struct mpijob__render_subject *subject, mpijob_objects **out)
{
	mpijob_objects *objects = new_objects();

	if (objects == NULL)
		return MPIJOB_ERR_NOMEM;
	objects->subject = *subject;
	count_children(objects);
	*out = objects;
	return 0;
}

int mpijob_render(const mpijob *job, const struct mpijob_render_options *options,
    mpijob_objects **out, mpijob_diag *diag)
{
	mpijob_objects *objects;
	int code = MPIJOB_ERR_NOMEM;

	if (job == NULL || out == NULL)
		return MPIJOB_ERR_USAGE;
	objects = new_objects();
	if (objects == NULL)
		return code;
	objects->job = mpijob_clone(job);
	if (objects->job != NULL)
		code = make_all(objects, options, diag);
	if (code != 0) {
		mpijob_objects_free(objects);
		return code;
	}
	*out = objects;
	return 0;
}

void mpijob_objects_free(mpijob_objects *objects)
{
	if (objects == NULL)
		return;
	for (int32_t role = MPIJOB_ROLE_SERVICE; role < MPIJOB__RENDER_ROLES; role++)
		mpijob_doc_free(objects->docs[role]);
	mpijob__render_ssh_key_free(objects->key);
	mpijob__base_text_release(&objects->name);
	mpijob__render_stencils_free(objects->stencils);
	mpijob_free(objects->job);
	free(objects);
}

size_t mpijob_objects_count(const mpijob_objects *objects)
{
	size_t count = 0;

	if (!objects)
		return 0;
	for (int32_t role = MPIJOB_ROLE_SERVICE; role < MPIJOB__RENDER_ROLES; role++)
		count += objects->counts[role];
	return count;
}

/* Copy the members that the caller's struct has. */
static void copy_head(struct mpijob_object_head *out, const struct mpijob_object_head *head)
{
	size_t size = out->size < sizeof(*head) ? out->size : sizeof(*head);

	memcpy((char *)out + sizeof(size), (const char *)head + sizeof(size), size - sizeof(size));
}

int mpijob_objects_head(mpijob_objects *objects, size_t index, struct mpijob_object_head *out)
{
	struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
	int32_t role, worker;
	int code;

	if (objects == NULL || out == NULL || out->size < sizeof(out->size))
		return MPIJOB_ERR_USAGE;
	if (!mpijob__render_objects_locate(objects, index, &role, &worker))
		return MPIJOB_ERR_NOT_FOUND;
	mpijob_text_clear(&objects->name);
	code = mpijob__render_name(objects->subject.name, role, worker, &objects->name);
	if (code != 0)
		return code;
	head.role = role;
	head.index = role == MPIJOB_ROLE_WORKER ? worker : -1;
	head.api_version = mpijob__render_api_version(role, objects->volcano);
	head.kind = mpijob__render_kind(role);
	head.name = mpijob_text_data(&objects->name);
	copy_head(out, &head);
	return 0;
}

int mpijob_objects_find(const mpijob_objects *objects, int32_t role, int32_t worker, size_t *out)
{
	size_t before = 0;

	if (objects == NULL || out == NULL || role < MPIJOB_ROLE_SERVICE ||
	    role >= MPIJOB__RENDER_ROLES || objects->counts[role] == 0)
		return 0;
	if (role == MPIJOB_ROLE_WORKER && (worker < 0 || (size_t)worker >= objects->counts[role]))
		return 0;
	for (size_t i = 0; mpijob__render_role(i) != role; i++)
		before += objects->counts[mpijob__render_role(i)];
	*out = before + (role == MPIJOB_ROLE_WORKER ? (size_t)worker : 0);
	return 1;
}

int mpijob_objects_at(const mpijob_objects *objects, size_t index, mpijob_doc **out)
{
	int32_t role, worker;
	mpijob_doc *doc;
	int code = 0;

	if (objects == NULL || out == NULL)
		return MPIJOB_ERR_USAGE;
	if (!mpijob__render_objects_locate(objects, index, &role, &worker))
		return MPIJOB_ERR_NOT_FOUND;
	doc = mpijob_doc_from_node(mpijob_doc_root(objects->docs[role]), NULL);
	if (doc == NULL)
		return MPIJOB_ERR_NOMEM;
	if (role == MPIJOB_ROLE_WORKER && worker > 0)
		code = mpijob__render_worker_pod_renumber(&objects->subject, doc, worker);
	if (code != 0) {
		mpijob_doc_free(doc);
		return code;
	}
	*out = doc;
	return 0;
}
