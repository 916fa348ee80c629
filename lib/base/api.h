/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of Kubernetes APIs that more than one file needs: groups, versions, kinds, labels,
 * annotations, reasons. tests/lint/test-names rejects them as literals elsewhere; the text of
 * messages may contain them.
 */
#ifndef MPIJOB__BASE_API_H
#define MPIJOB__BASE_API_H

/* ---- MPIJobs ---- */

#define MPIJOB__BASE_API_GROUP    "kubeflow.org"
#define MPIJOB__BASE_API_VERSION  MPIJOB__BASE_API_GROUP "/v2beta1"
#define MPIJOB__BASE_API_V1       MPIJOB__BASE_API_GROUP "/v1" /* of the training operator */
#define MPIJOB__BASE_API_V1ALPHA1 MPIJOB__BASE_API_GROUP "/v1alpha1"
#define MPIJOB__BASE_API_V1ALPHA2 MPIJOB__BASE_API_GROUP "/v1alpha2"
#define MPIJOB__BASE_API_KIND     "MPIJob"
#define MPIJOB__BASE_API_PLURAL   "mpijobs"
#define MPIJOB__BASE_API_RESOURCE MPIJOB__BASE_API_PLURAL "." MPIJOB__BASE_API_GROUP
#define MPIJOB__BASE_API_TRAINJOB "trainer." MPIJOB__BASE_API_GROUP "/v1alpha1"

/* Values of spec.runPolicy.managedBy. */
#define MPIJOB__BASE_API_MANAGER          MPIJOB__BASE_API_GROUP "/mpi-operator"
#define MPIJOB__BASE_API_TRAINING_MANAGER MPIJOB__BASE_API_GROUP "/training-operator"
#define MPIJOB__BASE_API_TRAINER_MANAGER  "trainer." MPIJOB__BASE_API_GROUP "/trainjob-controller"

#define MPIJOB__BASE_API_LABELS              "training." MPIJOB__BASE_API_GROUP "/"
#define MPIJOB__BASE_API_LABEL_OPERATOR      MPIJOB__BASE_API_LABELS "operator-name"
#define MPIJOB__BASE_API_LABEL_JOB_NAME      MPIJOB__BASE_API_LABELS "job-name"
#define MPIJOB__BASE_API_LABEL_JOB_ROLE      MPIJOB__BASE_API_LABELS "job-role"
#define MPIJOB__BASE_API_LABEL_REPLICA_INDEX MPIJOB__BASE_API_LABELS "replica-index"

#define MPIJOB__BASE_API_OPERATOR_NAME "mpi-operator" /* LABEL_OPERATOR's value; the Lease */

/* Reasons of conditions and Events. */
#define MPIJOB__BASE_API_REASON_FAILED        "MPIJobFailed"
#define MPIJOB__BASE_API_REASON_EVICTED       "MPIJobEvicted"
#define MPIJOB__BASE_API_REASON_LAUNCHER_GONE "MPIJobLauncherGone"
#define MPIJOB__BASE_API_REASON_INVALID       "ValidationError"
#define MPIJOB__BASE_API_REASON_EXISTS        "ErrResourceExists"
#define MPIJOB__BASE_API_REASON_BACKOFF       "BackoffLimitExceeded" /* of the launcher's Job */
#define MPIJOB__BASE_API_REASON_DEADLINE      "DeadlineExceeded"

/* ---- Kubernetes ---- */

#define MPIJOB__BASE_API_BATCH           "batch/v1"
#define MPIJOB__BASE_API_CRD             "apiextensions.k8s.io/v1"
#define MPIJOB__BASE_API_NETWORK         "networking.k8s.io/v1"
#define MPIJOB__BASE_API_LEASE           "coordination.k8s.io/v1"
#define MPIJOB__BASE_API_LEASES          "leases.coordination.k8s.io"
#define MPIJOB__BASE_API_BATCH_UID       "batch.kubernetes.io/controller-uid"
#define MPIJOB__BASE_API_BATCH_NAME      "batch.kubernetes.io/job-name"
#define MPIJOB__BASE_API_CONTAINER       "kubectl.kubernetes.io/default-container"
#define MPIJOB__BASE_API_SECCOMP         "container.seccomp.security.alpha.kubernetes.io/"
#define MPIJOB__BASE_API_APPARMOR        "container.apparmor.security.beta.kubernetes.io/"
#define MPIJOB__BASE_API_LIST_END        "k8s.io/initial-events-end" /* of a streamed list */
#define MPIJOB__BASE_API_EXEC_CREDENTIAL "client.authentication.k8s.io/exec"

/* ---- gang schedulers ---- */

#define MPIJOB__BASE_API_VOLCANO       "scheduling.volcano.sh/v1beta1"
#define MPIJOB__BASE_API_VOLCANO_QUEUE "scheduling.volcano.sh/queue-name"
#define MPIJOB__BASE_API_VOLCANO_GROUP "scheduling.k8s.io/group-name"
#define MPIJOB__BASE_API_COSCHEDULING  "scheduling.x-k8s.io/v1alpha1"
#define MPIJOB__BASE_API_POD_GROUP     "scheduling.x-k8s.io/pod-group"

#endif
