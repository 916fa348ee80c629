# SPDX-License-Identifier: Apache-2.0
"""Jobs of v1alpha1, v1alpha2, v1 and v2beta1, made at random from a seed, and the program that converts them."""
import json
import os
import pathlib
import random
import subprocess

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD", SOURCE / "build/dev"))
DRIVER = BUILD / "tests/convert/convert-jobs"

ALPHA1 = "kubeflow.org/v1alpha1"
ALPHA2 = "kubeflow.org/v1alpha2"
V1 = "kubeflow.org/v1"
V2 = "kubeflow.org/v2beta1"
TRAINJOB = "trainer.kubeflow.org/v1alpha1"
KUBEXEC = "/etc/mpi/kubexec.sh"


def convert(version, jobs):
    """Convert all; a list of (code, findings, job or None). Jobs are objects, or bytes."""
    texts = [job if isinstance(job, bytes) else json.dumps(job).encode() for job in jobs]
    request = b"".join(b"%d\n%s" % (len(text), text) for text in texts)
    done = subprocess.run([DRIVER, version], input=request, stdout=subprocess.PIPE, check=True).stdout
    answers, at = [], 0
    while at < len(done):
        end = done.index(b"\n", at)
        code, size = (int(word) for word in done[at:end].split())
        answer = json.loads(done[end + 1:end + 1 + size])
        answers.append((code, answer["findings"], answer.get("job")))
        at = end + 1 + size
    assert len(answers) == len(texts), f"{len(answers)} answers to {len(texts)} requests"
    return answers


class Maker:
    """One job for each seed. Odd means: with nulls, empty maps and lists, and fields that no version knows."""

    def __init__(self, seed, version, odd):
        self.dice = random.Random(f"{seed} {version}")
        self.version, self.odd = version, odd

    def some(self, chance, fields):
        made = {}
        for key, make in fields.items():
            if self.dice.random() < chance:
                made[key] = None if self.odd and self.dice.random() < 0.04 else make()
        return made

    def pick(self, *choices):
        return self.dice.choice(choices)

    def words(self, *texts):
        return [self.dice.choice(texts) for _ in range(self.dice.randint(0 if self.odd else 1, 4))]

    def variable(self):
        name, value = self.pick(("A", "1"), ("NCCL_DEBUG", "INFO"), ("OMPI_MCA_plm_rsh_agent", KUBEXEC), ("OMPI_MCA_plm_rsh_agent", "ssh"),
                                ("I_MPI_HYDRA_BOOTSTRAP", "rsh"), ("I_MPI_HYDRA_BOOTSTRAP_EXEC", KUBEXEC), ("I_MPI_DEBUG", "5"),
                                ("EMPTY", ""))
        return {"name": name, "value": value}

    def resources(self):
        return self.some(0.7, {"limits": lambda: self.some(0.4, {"nvidia.com/gpu": lambda: self.pick(1, "2"), "cpu": lambda: "500m",
                                                                 "example.org/gpu-x": lambda: 1}),
                               "requests": lambda: self.some(0.5, {"memory": lambda: "1Gi"})})

    def container(self, index):
        return {"name": self.pick("main", "side", "log") + str(index), "image": self.pick("a/b:1", "c/d")} | self.some(0.4, {
            "command": lambda: self.words("sleep", "mpirun", "/usr/sbin/sshd", "-mca", "plm_rsh_agent", KUBEXEC, "365d"),
            "args": lambda: self.words("-De", "-np", "2", "-mca", "plm_rsh_agent", KUBEXEC, "-launcher-exec", "x " + KUBEXEC),
            "env": lambda: [self.variable() for _ in range(self.dice.randint(0, 3))],
            "resources": self.resources,
            "volumeMounts": lambda: [{"name": "data", "mountPath": "/data"}],
            "workingDir": lambda: "/w", "imagePullPolicy": lambda: "Always",
            "securityContext": lambda: self.some(0.5, {"runAsUser": lambda: self.pick(0, 1000)})})

    def template(self):
        count = self.dice.choice([1, 1, 1, 2, 3])
        spec = {"containers": [self.container(index) for index in range(count)]} | self.some(0.2, {
            "restartPolicy": lambda: self.pick("Never", "OnFailure"), "serviceAccountName": lambda: "sa",
            "nodeSelector": lambda: {"a": "b"}, "tolerations": lambda: [{"operator": "Exists"}],
            "volumes": lambda: [{"name": "data", "emptyDir": {}}], "hostNetwork": lambda: True, "schedulerName": lambda: "volcano",
            "initContainers": lambda: [{"name": "init", "image": "i"}], "priorityClassName": lambda: "high",
            "securityContext": lambda: self.some(0.6, {"runAsUser": lambda: self.pick(0, 1000)})})
        return self.some(0.3, {"metadata": lambda: self.some(0.5, {"labels": lambda: {"l": "m"}, "annotations": lambda: {"x.y/z": "1"}})}) | {
            "spec": spec}

    def replica(self, policies):
        return self.some(0.95, {"template": self.template}) | self.some(0.6, {
            "replicas": lambda: self.dice.choice([0, 1, 1, 2, 8]), "restartPolicy": lambda: self.pick(*policies)}) | self.unknown()

    def unknown(self):
        return self.some(0.05, {"madeUp": lambda: {"a": [1]}}) if self.odd else {}

    def policy(self):
        managers = ("kueue.x-k8s.io/multikueue", "kubeflow.org/training-operator" if self.version == V1 else "kubeflow.org/mpi-operator")
        return self.some(0.4, {
            "cleanPodPolicy": lambda: self.pick("None", "Running", "All"), "ttlSecondsAfterFinished": lambda: self.pick(0, 60),
            "activeDeadlineSeconds": lambda: self.pick(0, 3600), "backoffLimit": lambda: self.pick(0, 1, 6, 2147483647),
            "suspend": lambda: self.pick(True, False), "managedBy": lambda: self.pick(*managers),
            "schedulingPolicy": lambda: self.some(0.5, {
                "minAvailable": lambda: 2, "queue": lambda: self.pick("q", "", "default"), "minResources": lambda: {"cpu": "2"},
                "priorityClass": lambda: "p", "scheduleTimeoutSeconds": lambda: 10})}) | self.unknown()

    def metadata(self):
        return {"name": "job"} | self.some(0.3, {
            "namespace": lambda: "team", "labels": lambda: {"kueue.x-k8s.io/queue-name": "q"},
            "annotations": lambda: self.some(0.5, {"scheduling.volcano.sh/queue-name": lambda: "vq", "note": lambda: "n"})})

    def status(self):
        return self.some(0.6, {
            "conditions": lambda: [{"type": self.pick("Created", "Failed", "Restarting"), "status": "True", "message": "m",
                                    "reason": self.pick("MPIJobMPIJobFailed" if self.version == V1 else "MPIJobFailed", "MPIJobCreated")}],
            "replicaStatuses": lambda: {"Launcher": {"active": 1}}, "startTime": lambda: "2026-01-01T00:00:00Z"})

    def alpha(self):
        """A job of one of the first two versions; the first has one template and counts processing units."""
        common = {"slotsPerWorker": lambda: self.pick(1, 4), "backoffLimit": lambda: self.pick(0, 6),
                  "activeDeadlineSeconds": lambda: 3600}
        if self.version == ALPHA1:
            workers = self.pick({"gpus": self.pick(1, 3, 16)}, {"processingUnits": self.pick(1, 8)}, {"replicas": self.pick(1, 2, 5)})
            spec = workers | {"template": self.template()} | self.some(0.4, common | {
                "gpusPerNode": lambda: self.pick(1, 8), "processingUnitsPerNode": lambda: 4,
                "processingResourceType": lambda: self.pick("gpu", "cpu"), "launcherOnMaster": lambda: self.pick(True, False)})
        else:
            policies = ("Never", "OnFailure", "Always", "ExitCode")
            spec = self.some(0.4, common | {
                "mpiDistribution": lambda: self.pick("OpenMPI", "IntelMPI", "MPICH"), "mainContainer": lambda: self.pick("main0", "log2"),
                "cleanPodPolicy": lambda: self.pick("None", "Running", "All")}) | self.some(0.5, {"runPolicy": self.policy}) | {
                "mpiReplicaSpecs": {"Launcher": self.replica(policies), "Worker": self.replica(policies)}}
        return {"apiVersion": self.version, "kind": "MPIJob", "metadata": self.metadata(), "spec": spec | self.unknown()} | self.some(
            0.2, {"status": self.status})

    def job(self):
        if self.version in (ALPHA1, ALPHA2):
            return self.alpha()
        policies = ("Never", "OnFailure") if self.version == V2 else ("Never", "OnFailure", "Always", "ExitCode")
        own = {"mainContainer": lambda: self.pick("main0", "side1", "main1", "log2"),
               "cleanPodPolicy": lambda: self.pick("None", "Running", "All")} if self.version == V1 else {
                   "runLauncherAsWorker": lambda: self.pick(True, False), "sshAuthMountPath": lambda: self.pick("/root/.ssh", "/keys/.ssh"),
                   "launcherCreationPolicy": lambda: self.pick("AtStartup", "WaitForWorkersReady"),
                   "mpiImplementation": lambda: self.pick("OpenMPI", "Intel", "MPICH")}
        spec = self.some(0.5, own | {"slotsPerWorker": lambda: self.pick(0, 1, 4)}) | self.some(0.8, {"runPolicy": self.policy}) | {
            "mpiReplicaSpecs": self.some(0.97, {"Launcher": lambda: self.replica(policies), "Worker": lambda: self.replica(policies)})}
        return {"apiVersion": self.version, "kind": "MPIJob", "metadata": self.metadata(), "spec": spec | self.unknown()} | self.some(
            0.2, {"status": self.status})


def jobs(version, count, odd):
    return [Maker(seed, version, odd).job() for seed in range(count)]
