/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file convert.h
 * Conversion of an MPIJob to another API version.
 *
 * | from | to |
 * |---|---|
 * | `kubeflow.org/v1` of the training operator (also created by Flyte) | `kubeflow.org/v2beta1` |
 * | `kubeflow.org/v2beta1` | `kubeflow.org/v1` |
 * | `kubeflow.org/v1alpha1`, `v1alpha2` of mpi-operator 0.1 and 0.2 | `kubeflow.org/v2beta1` |
 * | any of these | `TrainJob` of `trainer.kubeflow.org/v1alpha1` (Trainer 2.2) |
 *
 * The versions have different fields. A finding names each field that the target does not have or
 * treats differently: "conversion-loss" (a warning) if a value is lost, "conversion-change" (an
 * information) if it is written differently or has a different effect.
 *
 * Converting from v1 to v2beta1 and back, or the other way around, gives the original. The
 * annotation `MPIJOB_CONVERT_ANNOTATION` stores as compact JSON what the target version cannot
 * express. Changes that are made between the two conversions are kept: a stored value is restored
 * only if the converted field still has the value that the first conversion gave it.
 *
 * From `v1alpha1` and `v1alpha2`, and to a TrainJob, there is no annotation and no way back. The
 * operators of these two versions start ranks with kubectl exec; a finding says what the image
 * needs for ssh.
 *
 * @par Stability
 * May change in a minor version.
 */
#ifndef MPIJOB_CONVERT_H
#define MPIJOB_CONVERT_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The annotation of a converted job that the conversion back reads: `{"from": VERSION, "restore":
 * [...]}`. */
#define MPIJOB_CONVERT_ANNOTATION "mpijob.libmpijob/converted"

/** Options of mpijob_convert(). */
struct mpijob_convert_options {
	size_t size; /**< `sizeof` this struct. */
	/** 1: without the annotation, so that the conversion back is not exact. */
	int32_t no_annotation;
	/** To TrainJob: name of the ClusterTrainingRuntime; NULL: "mpi-distributed", with a
	 * finding. */
	const char *runtime;
};
#define MPIJOB_CONVERT_OPTIONS_INIT { sizeof(struct mpijob_convert_options), 0, NULL }

/**
 * Convert a job to another version.
 *
 * The job is neither defaulted nor validated. An absent field stays absent if it means the same in
 * both versions.
 *
 * @param object   an MPIJob of any version as a map; not NULL; unchanged.
 * @param source   name of the source for findings; may be NULL.
 * @param version  "kubeflow.org/v1" or "v1", "kubeflow.org/v2beta1" or "v2beta1",
 *                 "trainer.kubeflow.org/v1alpha1" or "TrainJob"; not NULL. If it is the version of
 *                 the object, the result is a copy.
 * @param options  NULL for the defaults.
 * @param out      not NULL; receives the converted job, yours.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_UNSUPPORTED` (not an MPIJob, a version that cannot be converted, an
 *         unknown target, options); `MPIJOB_ERR_SPEC` (the parent of a field that must be written
 *         is not a map); `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_convert(const mpijob_node *object, const char *source, const char *version,
    const struct mpijob_convert_options *options, mpijob_doc **out, mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_CONVERT_H */
