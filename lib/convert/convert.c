/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob_convert(): which versions can be converted to which. Every conversion is reversible: the
 * result is converted back immediately, without findings, and the trail records where this does not
 * give the original.
 */
#include "base/api.h"
#include "convert/conversion.h"

#include <string.h>

#include "base/struct.h"
#include "base/text.h"
#include "convert/trail.h"

#include <mpijob/job.h>

static const struct {
	const char *version;
	const char *nickname;
} targets[] = { { MPIJOB__BASE_API_V1, "v1" }, { MPIJOB__BASE_API_VERSION, "v2beta1" },
	{ MPIJOB__BASE_API_TRAINJOB, "TrainJob" } };

static const char *target_of(const char *version)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (strcmp(targets[i].version, version) == 0 ||
		    strcmp(targets[i].nickname, version) == 0)
			return targets[i].version;
	}
	return NULL;
}

mpijob_node *mpijob__convert_get(mpijob_node *map, const char *key)
{
	mpijob_node *node = mpijob_node_edit(map, key);

	return mpijob_node_kind(node) == MPIJOB_NODE_NULL ? NULL : node;
}

mpijob_node *mpijob__convert_find(const struct mpijob__convert_conversion *conversion,
    const char *path)
{
	mpijob_node *node = mpijob_doc_edit(conversion->doc, path);

	return mpijob_node_kind(node) == MPIJOB_NODE_NULL ? NULL : node;
}

const char *mpijob__convert_text(const struct mpijob__convert_conversion *conversion,
    const char *path)
{
	return mpijob_node_string(mpijob__convert_find(conversion, path));
}

MPIJOB__BASE_PRINTF(6, 0)
static void add_finding(struct mpijob__convert_conversion *conversion, int32_t severity,
    const char *id, const char *field, const mpijob_node *node, const char *format, va_list args)
{
	struct mpijob__core_place place = { .source = conversion->source };

	mpijob_node_place(node, &place.line, &place.column);
	if (mpijob__core_diag_vaddf(conversion->diag, severity, id, NULL, field, &place, format,
		args))
		conversion->code = MPIJOB_ERR_NOMEM;
}

void mpijob__convert_loss(struct mpijob__convert_conversion *conversion, const char *field,
    const mpijob_node *node, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_finding(conversion, MPIJOB_SEVERITY_WARNING, "conversion-loss", field, node, format,
	    args);
	va_end(args);
}

void mpijob__convert_change(struct mpijob__convert_conversion *conversion, const char *field,
    const mpijob_node *node, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_finding(conversion, MPIJOB_SEVERITY_INFO, "conversion-change", field, node, format,
	    args);
	va_end(args);
}

/* The result code of a completed conversion. */
static int result_of(const struct mpijob__convert_conversion *conversion)
{
	int code = mpijob_doc_error(conversion->doc);

	if (conversion->code)
		return conversion->code;
	return code == MPIJOB_ERR_USAGE ? MPIJOB_ERR_SPEC : code;
}

static void apply_moves(struct mpijob__convert_conversion *conversion, const char *target,
    const struct mpijob__convert_move *moves)
{
	mpijob_node_put_string(conversion->doc, mpijob_doc_edit(conversion->doc, ""), "apiVersion",
	    target);
	mpijob__convert_moves_apply(conversion, moves);
}

static void convert_with_moves(struct mpijob__convert_conversion *conversion, const char *target)
{
	apply_moves(conversion, target,
	    strcmp(target, MPIJOB__BASE_API_V1) == 0 ? mpijob__convert_moves_to_v1
						     : mpijob__convert_moves_to_v2beta1);
}

/* Pass on the findings about fields that were not restored. */
static int copy_findings(const mpijob_diag *collected, const mpijob_doc *trail, mpijob_diag *diag)
{
	if (mpijob_diag_dropped(collected))
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; mpijob_diag_at(collected, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(collected, i);

		if (trail && mpijob__convert_trail_restored(trail, finding->field))
			continue;
		if (diag && mpijob_diag_add(diag, finding))
			return MPIJOB_ERR_NOMEM;
	}
	return 0;
}

/* Convert a copy back, and record in the trail what differs from the original. */
static void write_trail(struct mpijob__convert_conversion *result, const char *version,
    const mpijob_node *original)
{
	struct mpijob__convert_conversion back = { 0 };

	back.doc = mpijob_doc_from_node(mpijob_doc_root(result->doc), NULL);
	if (back.doc)
		convert_with_moves(&back, version);
	result->code = back.doc ? result_of(&back) : MPIJOB_ERR_NOMEM;
	if (!result->code)
		mpijob__convert_trail_write(result, version, original, mpijob_doc_root(back.doc));
	mpijob_doc_free(back.doc);
}

/* Convert between v1 and v2beta1. The original does not contain the trail that is restored. */
static int convert(struct mpijob__convert_conversion *conversion, const char *version,
    const char *target, int no_annotation)
{
	mpijob_diag *user_diag = conversion->diag;
	mpijob_diag *collected = mpijob_diag_new();
	mpijob_doc *original = NULL, *trail = NULL;
	int code =
	    collected ? mpijob__convert_trail_remove(conversion, target, &trail) : MPIJOB_ERR_NOMEM;

	if (collected)
		mpijob_diag_set_limit(collected, SIZE_MAX);
	if (!code)
		original = mpijob_doc_from_node(mpijob_doc_root(conversion->doc), NULL);
	if (!code && !original)
		code = MPIJOB_ERR_NOMEM;
	if (!code) {
		conversion->diag = collected;
		convert_with_moves(conversion, target);
		if (trail)
			mpijob__convert_trail_restore(conversion, trail);
		code = result_of(conversion);
	}
	if (!code && !no_annotation) {
		write_trail(conversion, version, mpijob_doc_root(original));
		code = result_of(conversion);
	}
	if (!code)
		code = copy_findings(collected, trail, user_diag);
	conversion->diag = user_diag;
	mpijob_doc_free(original);
	mpijob_doc_free(trail);
	mpijob_diag_free(collected);
	return code;
}

/* Replace the document of the conversion by the TrainJob. */
static int to_trainjob(struct mpijob__convert_conversion *conversion, const char *version)
{
	mpijob_doc *made;
	int code = 0;

	if (strcmp(version, MPIJOB__BASE_API_V1) == 0)
		code = convert(conversion, version, MPIJOB__BASE_API_VERSION, 1);
	if (code)
		return code;
	made = mpijob__convert_trainjob_make(conversion);
	mpijob_doc_free(conversion->doc);
	conversion->doc = made;
	return result_of(conversion);
}

static int unsupported(mpijob_diag *diag, const struct mpijob__core_place *place,
    const char *format, ...) MPIJOB__BASE_PRINTF(3, 4);

static int unsupported(mpijob_diag *diag, const struct mpijob__core_place *place,
    const char *format, ...)
{
	va_list args;
	int code;

	va_start(args, format);
	code = mpijob__core_diag_vaddf(diag, MPIJOB_SEVERITY_ERROR, "unsupported-version",
	    "NotSupported", "apiVersion", place, format, args);
	va_end(args);
	return code ? code : MPIJOB_ERR_UNSUPPORTED;
}

/* Check that the version of the object can be converted. */
static int check_source(const mpijob_node *object, const char *source, const char *version,
    mpijob_diag *diag)
{
	const mpijob_node *value = mpijob_node_get(object, "apiVersion");
	struct mpijob__core_place place = { .source = source };

	mpijob_node_place(value, &place.line, &place.column);
	if (!mpijob_is_job(object))
		return unsupported(diag, &place,
		    "not an MPIJob of kubeflow.org, so there is nothing to convert");
	if (strcmp(version, MPIJOB__BASE_API_V1) != 0 &&
	    strcmp(version, MPIJOB__BASE_API_VERSION) != 0 && !mpijob__convert_alpha_moves(version))
		return unsupported(diag, &place, "not a known version of MPIJob: '%s'", version);
	return 0;
}

int mpijob_convert(const mpijob_node *object, const char *source, const char *version,
    const struct mpijob_convert_options *options, mpijob_doc **out, mpijob_diag *diag)
{
	struct mpijob_convert_options known;
	struct mpijob__convert_conversion conversion = { .diag = diag, .source = source };
	const char *target, *own;
	int code;

	if (!object || !version || !out)
		return MPIJOB_ERR_USAGE;
	code = mpijob__base_struct_check(&known, sizeof(known), options);
	if (code == 0 && !mpijob__base_struct_is_flag(known.no_annotation))
		code = MPIJOB_ERR_USAGE;
	if (code)
		return code;
	conversion.runtime = known.runtime;
	own = mpijob_node_string(mpijob_node_get(object, "apiVersion"));
	code = check_source(object, source, own, diag);
	if (code)
		return code;
	target = target_of(version);
	if (!target)
		return unsupported(diag, NULL,
		    "cannot convert to '%s'; use v1, v2beta1 or TrainJob", version);
	conversion.doc = mpijob_doc_from_node(object, NULL);
	if (!conversion.doc)
		return MPIJOB_ERR_NOMEM;
	if (mpijob__convert_alpha_moves(own)) {
		apply_moves(&conversion, MPIJOB__BASE_API_VERSION,
		    mpijob__convert_alpha_moves(own));
		code = result_of(&conversion);
		own = MPIJOB__BASE_API_VERSION;
	}
	if (code)
		;
	else if (strcmp(target, MPIJOB__BASE_API_TRAINJOB) == 0)
		code = to_trainjob(&conversion, own);
	else if (strcmp(target, own) != 0)
		code = convert(&conversion, own, target, known.no_annotation);
	if (code)
		mpijob_doc_free(conversion.doc);
	else
		*out = conversion.doc;
	return code;
}
