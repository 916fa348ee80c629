/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file convert.h
 * Conversion: an MPIJob of one API version written as another one.
 *
 * | from | to |
 * |---|---|
 * | `kubeflow.org/v1`, the training operator's (it is what Flyte emits) | `kubeflow.org/v2beta1` |
 * | `kubeflow.org/v2beta1` | `kubeflow.org/v1` |
 * | `kubeflow.org/v1alpha1`, `kubeflow.org/v1alpha2`, of mpi-operator 0.1 and 0.2 | as v2beta1, one
 * way | | any | `TrainJob` of `trainer.kubeflow.org/v1alpha1` (Trainer 2.2), one way |
 *
 * The versions do not hold the same things. Whatever the target cannot hold, and whatever it holds
 * but does otherwise, is a finding that names the field: "conversion-loss" (a warning) where
 * something is lost, "conversion-change" (an information) where it is written or done otherwise.
 *
 * Between v1 and v2beta1 the way back gives the original: what would not come back by itself is
 * kept in the annotation `MPIJOB_CONVERT_ANNOTATION`, as compact JSON. What was changed in between
 * stays changed: a field comes back as it was only while the conversion gives for it what it gave
 * before the change.
 *
 * `kubeflow.org/v1alpha1` and `v1alpha2` are converted one way: there is no annotation and no way
 * back. Their operators start ranks with kubectl exec; a finding says what the image needs for ssh.
 */
#ifndef MPIJOB_CONVERT_H
#define MPIJOB_CONVERT_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The annotation of a converted job that the way back reads: `{"from": VERSION, "restore":
 * [...]}`. */
#define MPIJOB_CONVERT_ANNOTATION "mpijob.libmpijob/converted"

/** How to convert. */
struct mpijob_convert_options {
	size_t size; /**< `sizeof` this struct. */
	/** 1: do not keep what the target cannot hold; 0: keep it in an annotation. */
	int32_t no_annotation;
	/** To TrainJob: name of the ClusterTrainingRuntime; NULL: "mpi-distributed", and a
	 * finding. */
	const char *runtime;
};
#define MPIJOB_CONVERT_OPTIONS_INIT { sizeof(struct mpijob_convert_options), 0, NULL }

/**
 * Convert a job to another version.
 *
 * The job is neither defaulted nor validated, before or after: what is absent stays absent where it
 * means the same.
 *
 * @param object   an MPIJob of any version as a map; not NULL; unchanged.
 * @param source   name for findings; NULL when there is none.
 * @param version  "kubeflow.org/v1" or "v1", "kubeflow.org/v2beta1" or "v2beta1",
 *                 "trainer.kubeflow.org/v1alpha1" or "TrainJob"; not NULL. The object's own version
 *                 gives a copy.
 * @param options  NULL for the defaults.
 * @param out      not NULL; the converted job, yours.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_UNSUPPORTED` (not an MPIJob, a version that cannot be converted, an
 *         unknown target, options); `MPIJOB_ERR_SPEC` (a map on the way to a field that must be
 *         written is no map); `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_convert(const mpijob_node *object, const char *source, const char *version,
    const struct mpijob_convert_options *options, mpijob_doc **out, mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_CONVERT_H */
