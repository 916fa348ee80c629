/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the document of a child: the metadata of every child, access to parts of the user's
 * template that may be absent, null or of a wrong kind, and the first failure of several steps.
 */
#include "render/build.h"

#include "base/api.h"
#include "core/diag.h"

#include <string.h>

void mpijob__render_build_start(struct mpijob__render_build *build,
    const struct mpijob__render_subject *subject, mpijob_diag *diag)
{
	*build = (struct mpijob__render_build){ .subject = subject,
		.diag = diag,
		.doc = mpijob_doc_new() };
}

static void keep_error(struct mpijob__render_build *build, int code)
{
	if (build->code == 0)
		build->code = code;
}

int mpijob__render_build_discard(struct mpijob__render_build *build)
{
	keep_error(build, mpijob_doc_error(build->doc));
	mpijob_doc_free(build->doc);
	build->doc = NULL;
	mpijob__base_text_release(&build->scratch);
	return build->code;
}

int mpijob__render_build_finish(struct mpijob__render_build *build, mpijob_doc **out)
{
	mpijob_doc *doc = build->doc;

	keep_error(build, mpijob_doc_error(doc));
	if (build->code != 0)
		return mpijob__render_build_discard(build);
	mpijob__base_text_release(&build->scratch);
	build->doc = NULL;
	*out = doc;
	return 0;
}

void mpijob__render_build_name(struct mpijob__render_build *build, mpijob_node *map,
    const char *key, int32_t role, int32_t index)
{
	mpijob_text_clear(&build->scratch);
	keep_error(build, mpijob__render_name(build->subject->name, role, index, &build->scratch));
	mpijob_node_put_string(build->doc, map, key, mpijob_text_data(&build->scratch));
}

void mpijob__render_build_printf(struct mpijob__render_build *build, mpijob_node *map,
    const char *key, const char *format, ...)
{
	va_list args;

	mpijob_text_clear(&build->scratch);
	va_start(args, format);
	keep_error(build, mpijob__base_text_vprintf(&build->scratch, format, args));
	va_end(args);
	mpijob_node_put_string(build->doc, map, key, mpijob_text_data(&build->scratch));
}

void mpijob__render_build_owner(struct mpijob__render_build *build, mpijob_node *metadata)
{
	mpijob_node *owners = mpijob_node_put_list(build->doc, metadata, "ownerReferences");
	mpijob_node *owner = mpijob_node_append_map(build->doc, owners);

	mpijob_node_put_string(build->doc, owner, "apiVersion", MPIJOB__BASE_API_VERSION);
	mpijob_node_put_string(build->doc, owner, "kind", MPIJOB__BASE_API_KIND);
	mpijob_node_put_string(build->doc, owner, "name", build->subject->name);
	mpijob_node_put_string(build->doc, owner, "uid", build->subject->uid);
	mpijob_node_put_bool(build->doc, owner, "controller", 1);
	mpijob_node_put_bool(build->doc, owner, "blockOwnerDeletion", 1);
}

mpijob_node *mpijob__render_build_head(struct mpijob__render_build *build, int32_t role,
    int32_t index, int labels)
{
	int volcano = mpijob__render_subject_gang(build->subject) == MPIJOB__RENDER_GANG_VOLCANO;
	mpijob_node *root = mpijob_doc_edit(build->doc, "");
	mpijob_node *metadata;

	mpijob_node_put_string(build->doc, root, "apiVersion",
	    mpijob__render_api_version(role, volcano));
	mpijob_node_put_string(build->doc, root, "kind", mpijob__render_kind(role));
	metadata = mpijob_node_put_map(build->doc, root, "metadata");
	mpijob__render_build_name(build, metadata, "name", role, index);
	mpijob_node_put_string(build->doc, metadata, "namespace", build->subject->namespace_);
	if (labels) {
		mpijob_node *map = mpijob_node_put_map(build->doc, metadata, "labels");

		mpijob_node_put_string(build->doc, map, "app", build->subject->name);
	}
	if (role != MPIJOB_ROLE_WORKER) /* a worker's comes after its labels */
		mpijob__render_build_owner(build, metadata);
	return root;
}

void mpijob__render_build_report(struct mpijob__render_build *build, int32_t severity,
    const char *id, const char *reason, const char *field, const mpijob_node *at,
    const char *format, ...)
{
	struct mpijob__core_place place = { .source = build->subject->source };
	va_list args;

	mpijob_node_place(at, &place.line, &place.column);
	if (severity != MPIJOB_SEVERITY_ERROR && build->subject->options.reference)
		return;
	if (severity == MPIJOB_SEVERITY_ERROR || mpijob__core_diag_raised(build->diag, id))
		keep_error(build, MPIJOB_ERR_SPEC);
	if (build->diag == NULL)
		return;
	mpijob_text_clear(&build->scratch);
	keep_error(build, mpijob__base_text_printf(&build->scratch,
			      "spec.mpiReplicaSpecs[%s].template.%s", build->role, field));
	va_start(args, format);
	keep_error(build, mpijob__core_diag_vaddf(build->diag, severity, id, reason,
			      mpijob_text_data(&build->scratch), &place, format, args));
	va_end(args);
}

static const char *last_step(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot != NULL ? dot + 1 : path;
}

static const char *kind_name(int32_t kind)
{
	static const char *const words[] = { "nothing", "null", "true or false", "a number",
		"a string", "a list", "a map" };

	return words[kind];
}

/* The value at a path; NULL when it is absent, null, or of another kind, which is a failure. */
static mpijob_node *existing(struct mpijob__render_build *build, mpijob_node *map, const char *path,
    int32_t kind)
{
	mpijob_node *found = mpijob_node_edit(map, last_step(path));
	int32_t is = mpijob_node_kind(found);

	if (is == kind)
		return found;
	if (is != MPIJOB_NODE_NONE && is != MPIJOB_NODE_NULL)
		mpijob__render_build_report(build, MPIJOB_SEVERITY_ERROR, "wrong-type",
		    "TypeInvalid", path, found, "must be %s, not %s", kind_name(kind),
		    kind_name(is));
	return NULL;
}

mpijob_node *mpijob__render_build_map(struct mpijob__render_build *build, mpijob_node *map,
    const char *path)
{
	mpijob_node *found = existing(build, map, path, MPIJOB_NODE_MAP);

	return found != NULL ? found : mpijob_node_put_map(build->doc, map, last_step(path));
}

mpijob_node *mpijob__render_build_list(struct mpijob__render_build *build, mpijob_node *map,
    const char *path)
{
	mpijob_node *found = existing(build, map, path, MPIJOB_NODE_LIST);

	return found != NULL ? found : mpijob_node_put_list(build->doc, map, last_step(path));
}
