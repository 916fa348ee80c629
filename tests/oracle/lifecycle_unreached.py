# SPDX-License-Identifier: Apache-2.0
"""What of mpi-operator's code no lifecycle reaches, by function and how the line begins that leads there (None: all of it),
and why."""

START = "how the operator starts and listens: test-lifecycles calls its sync itself"
FAILING = "an API server or a cache that fails: the plan has no part in it, tests/operator has"
DEFAULTED = "defaults come before: test-jobs compares validation without them"
NEVER = "not reached by any job that passes validation"

UNREACHED = {
    ("NewMPIJobController", None): START,
    ("NewMPIJobControllerWithClock", None): START,
    ("Run", None): START,
    ("runWorker", None): START,
    ("processNextWorkItem", None): START,
    ("addMPIJob", None): START,
    ("enqueueMPIJob", None): START,
    ("handleObject", None): START,
    ("handleObjectUpdate", None): START,
    ("ownerReferenceAndGVK", None): START,
    ("NewVolcanoCtrl", None): START,
    ("NewSchedulerPluginsCtrl", None): START,
    ("PodGroupSharedIndexInformer", None): START,
    ("StartInformerFactory", None): START,
    ("doUpdateJobStatus", None): "the status is written to the stores of test-lifecycles",
    ("syncHandler", "if err != nil {"): FAILING,
    ("syncHandler", "if apierrors.IsNotFound(err) {"): "a job that is gone: there is nothing to compare",
    ("syncHandler", 'return fmt.Errorf("obtaining job: %w", err)'): FAILING,
    ("syncHandler", "if launcherCopy, err = c.kubeClient"): FAILING,
    ("getLauncherJob", "if err != nil {"): FAILING,
    ("getOrCreatePodGroups", "if err != nil {"): FAILING,
    ("deletePodGroups", "return err"): FAILING,
    ("deletePodGroups", "if err != nil {"): FAILING,
    ("getRunningWorkerPods", "if err != nil {"): FAILING,
    ("getOrCreateConfigMap", "if err != nil {"): FAILING,
    ("getOrCreateService", "if err != nil {"): FAILING,
    ("getOrCreateSSHAuthSecret", "if err != nil {"): FAILING,
    ("getOrCreateWorker", "if err != nil {"): FAILING,
    ("deleteWorkerPods", "if err != nil && !apierrors.IsNotFound(err) {"): FAILING,
    ("updateMPIJobStatus", "if err != nil {"): FAILING,
    ("newSSHAuthSecret", "if err != nil {"): "a source of random numbers that fails",
    ("jobPods", "if err != nil {"): FAILING,
    ("setRestartPolicy", "if spec.RestartPolicy == kubeflow.RestartPolicyExitCode {"): NEVER,
    ("filterOutCondition", "if condType == kubeflow.JobRestarting && c.Type == kubeflow.JobRunning {"): "Restarting is never set",
    ("filterOutCondition", "if condType == kubeflow.JobRunning && c.Type == kubeflow.JobRestarting {"): "Restarting is never set",
    ("newPodGroup", "if mpiJob == nil {"): NEVER,
    ("decoratePodTemplateSpec", "if pts.Labels == nil {"): "labels are set before",
    ("calPGMinResource", "if wIndex == -1 {"): NEVER,
    ("calPGMinResource", "if rp.Replicas == nil {"): NEVER,
    ("getWorkerIndex", "return -1"): NEVER,
    ("validateMPIJobSpec", "if spec.SlotsPerWorker == nil {"): DEFAULTED,
    ("validateMPIJobSpec", 'if spec.SSHAuthMountPath == "" {'): DEFAULTED,
    ("validateRunPolicy", "if policy.CleanPodPolicy == nil {"): DEFAULTED,
    ("validateRunPolicy", "if !validManagedBy.Has(*policy.ManagedBy) {"): "a job that another manages is left alone before: "
                                                                      "test-jobs compares its validation",
    ("validateReplicaSpec", "if spec.Replicas == nil {"): DEFAULTED,
}
