/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file edit.h
 * Edit a job by path: in memory, or in the text of a file, which keeps its comments and layout.
 *
 * doc.h defines paths. Setting a value creates what its path lacks: maps, lists, and the item that
 * `[key=value]` selects. So another image and one more variable are:
 *
 * @code
 * mpijob *job = NULL;
 * int rc = mpijob_parse(text, len, NULL, &job, NULL);
 * struct mpijob_edit image = MPIJOB_EDIT_INIT, variable = MPIJOB_EDIT_INIT;
 * const struct mpijob_edit *edits[] = { &image, &variable };
 *
 * image.path = "spec.mpiReplicaSpecs.Worker.template.spec.containers[0].image";
 * image.yaml = "registry.example/train:2";
 * variable.path = "spec.mpiReplicaSpecs.Worker.template.spec"
 *                 ".containers[name=train].env[name=NCCL_DEBUG].value";
 * variable.yaml = "INFO";
 * if (rc == 0)
 *         rc = mpijob_edit_job(job, edits, 2, NULL);
 * mpijob_free(job);
 * @endcode
 *
 * To read a value, call mpijob_node_find() with the root of mpijob_document().
 *
 * Values are not checked: call mpijob_validate() afterwards. It reports a value of a wrong type,
 * and a field that does not exist with the one that was probably meant. In memory a value that
 * replaces another one has its line and column; a new one has none. After an edit of a text, parse
 * the new text.
 *
 * @par Stability
 * May change in a minor version.
 */
#ifndef MPIJOB_EDIT_H
#define MPIJOB_EDIT_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One edit: the value at a path is set, or removed if neither `yaml` nor `node` is given.
 *
 * Removing a value that does not exist is a warning. Removing the last entry of a list or map
 * leaves it empty.
 */
struct mpijob_edit {
	size_t size;      /**< `sizeof` this struct. */
	const char *path; /**< A path from the root of the job. */
	/** The value as YAML: `4` is a number, `"4"` a string, `[a, b]` a list; "" is the empty
	 * string. For text of a user that must be a string, use `node`. */
	const char *yaml;
	/** The value, from any document; not together with `yaml`. */
	const mpijob_node *node;
};

/** Sets `size`; everything else is not given. */
#define MPIJOB_EDIT_INIT { sizeof(struct mpijob_edit), NULL, NULL, NULL }

/**
 * Edit a job.
 *
 * @param job    not NULL; unchanged on failure.
 * @param edits  not NULL; one after another, on the result of the one before.
 * @param count  how many.
 * @param diag   findings, or NULL.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (the path selects two items, or leads into a value that is
 *         neither a list nor a map); `MPIJOB_ERR_SYNTAX` (the value is not YAML);
 *         `MPIJOB_ERR_UNSUPPORTED` (the result is not an MPIJob of `kubeflow.org/v2beta1`; a
 *         struct's size); `MPIJOB_ERR_USAGE` (also: not a path); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_edit_job(mpijob *job, const struct mpijob_edit *const *edits, size_t count,
    mpijob_diag *diag);

/**
 * Edit a job in a text, which may contain several documents, and Lists.
 *
 * Each edit changes one place: all other bytes stay the same, with comments, order, indentation,
 * quotes, anchors and line ends. A replaced scalar keeps its quotes or its literal block. The new
 * text is parsed and compared with the expected result before it is accepted. A value that belongs
 * to an anchor or alias is not changed if other values would change with it.
 *
 * @param text     the bytes; YAML in UTF-8, or JSON; may be NULL when `len` is 0.
 * @param len      how many bytes.
 * @param name     `metadata.name` of the job; NULL: the text contains one MPIJob.
 * @param options  how to read the text; `source` is its name in findings; NULL for the defaults.
 * @param edits    not NULL; one after another, on the result of the one before.
 * @param count    how many.
 * @param write    the sink, which receives the new text only if all edits succeed; not NULL.
 * @param user     passed to the sink.
 * @param diag     findings, or NULL; lines and columns of the old text.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (also: no such job); `MPIJOB_ERR_SYNTAX` (also: the text is not
 *         YAML or JSON); `MPIJOB_ERR_UNSUPPORTED` (the text cannot be edited in this place; a
 *         struct's size); `MPIJOB_ERR_USAGE` (also: not a path, several jobs); `MPIJOB_ERR_NOMEM`;
 *         what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_edit_text(const char *text, size_t len, const char *name,
    const struct mpijob_parse_options *options, const struct mpijob_edit *const *edits,
    size_t count, mpijob_write_fn write, void *user, mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_EDIT_H */
