# SPDX-License-Identifier: Apache-2.0
"""Templates of tasks, configurations, executions and statuses, always the same for a seed."""
import random

CPU = ["1", "500m", "2", "1500m", "0.5", "4", "0", "1e1", "3000m"]
MEMORY = ["1Gi", "512Mi", "1024Mi", "2G", "1500M", "0", "1e9", "4096Ki"]
GPU = ["1", "2", "8", "0"]
STORAGE = ["10Gi", "1000Mi", "5G"]
DEVICES = ["nvidia-tesla-v100", "nvidia-a100-80gb"]
WORDS = ["a", "train", "{{.input}}", "{{ .OutputPrefix }}", "--in={{$inputPrefix}}", "{{.rawOutputDataPrefix}}/x", "{{.prevCheckpointPrefix}}",
         "{{.checkpointOutputPrefix}}", "{{ .perRetryUniqueKey }}", "{{.taskTemplatePath}}", "{{.namespace}}", "{{.unknown}}", "{{ input }}",
         "{{.INPUT }}{{.input}}", "a b", "", "é{{.input}}", "{{.inputs.x}}", "{{ .Inputs.y }}-{{.inputs.x}}", "{{", "}}", "{{.input"]


class Generator:
    def __init__(self, seed):
        self.dice = random.Random(seed)

    def maybe(self, chance=0.5):
        return self.dice.random() < chance

    def some(self, values, most=4):
        return [self.dice.choice(values) for _ in range(self.dice.randint(0, most))]

    # ---- the task

    def entries(self):
        kinds = {"CPU": CPU, "MEMORY": MEMORY, "GPU": GPU, "EPHEMERAL_STORAGE": STORAGE}
        chosen = [name for name in kinds if self.maybe(0.4)]
        entries = [{"name": name, "value": self.dice.choice(kinds[name])} for name in chosen]
        if self.maybe(0.02):
            entries.append({"name": "CPU", "value": self.dice.choice(["x", "", "1Q"])})
        if self.maybe(0.05):
            entries.append({"name": "STORAGE", "value": "1Gi"})
        return entries

    def resources(self):
        made = {}
        if self.maybe():
            made["requests"] = self.entries()
        if self.maybe():
            made["limits"] = self.entries()
        return made

    def role(self):
        made = {"replicas": self.dice.choice([1, 2, 3, 10, 1, 2, 4, 0, -1] if self.maybe(0.1) else [1, 2, 3, 4])}
        if self.maybe(0.8):
            made["resources"] = self.resources() if self.maybe(0.6) else {}
        if self.maybe(0.4):
            made["image"] = self.dice.choice(["registry.example/other:2", "busybox", ""])
        if self.maybe(0.4):
            made["restartPolicy"] = self.dice.choice(["RESTART_POLICY_NEVER", "RESTART_POLICY_ON_FAILURE", "RESTART_POLICY_ALWAYS", 0, 1, 2])
        if self.maybe(0.3):
            made["command"] = self.some(["/usr/sbin/sshd", "-De", "run", "{{.input}}"], 3)
        if self.maybe(0.15):
            made["common"] = {key: made[key] for key in list(made) if key != "command"}
            if self.maybe():
                made["common"]["replicas"] = 2
        return made

    def number(self, value):
        """As flytekit's doubles, or as other writers of protobuf's JSON."""
        return self.dice.choice([value, float(value), str(value)])

    def policy(self):
        made = {}
        if self.maybe(0.6):
            made["cleanPodPolicy"] = self.dice.choice(["CLEANPOD_POLICY_NONE", "CLEANPOD_POLICY_RUNNING", "CLEANPOD_POLICY_ALL", 1, 2])
        for key in ("backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"):
            if self.maybe(0.4):
                made[key] = self.number(self.dice.choice([0, 1, 3, 3600, 2147483647]))
        return made

    def custom(self, version):
        if version == 0:
            made = {}
            for key, values in (("numWorkers", [1, 2, 5, 0, -1] if self.maybe(0.1) else [1, 2, 5]), ("numLauncherReplicas", [0, 1, 1, 2]),
                                ("slots", [0, 1, 2, 8])):
                if self.maybe(0.9):
                    made[key] = self.dice.choice(values)
            return made
        made = {}
        if self.maybe(0.95):
            made["workerReplicas"] = self.role()
        if self.maybe(0.9):
            made["launcherReplicas"] = self.role()
        if self.maybe():
            made["runPolicy"] = self.policy()
        if self.maybe(0.9):
            made["slots"] = self.dice.choice([0, 1, 2, 8])
        if self.maybe(0.02):
            made["runPolicy"] = {"cleanPodPolicy": "SOMETIMES"}
        elif self.maybe(0.02):
            made["slots"] = self.dice.choice(["x", 1.5, True, [1]])
        if self.maybe(0.05):
            made["unknown"] = {"a": [1]}
        if self.maybe(0.1):
            made = {"worker_replicas" if key == "workerReplicas" else key: value for key, value in made.items()}
        return made

    def words(self):
        return self.some(WORDS, 6)

    def container(self):
        made = {"image": "registry.example/task:1", "args": self.words()}
        if self.maybe(0.2):
            made["command"] = self.words()
        if self.maybe(0.7):
            made["resources"] = self.resources()
        if self.maybe(0.6):
            made["env"] = [{"key": self.dice.choice(["A", "FLYTE_X", "PATH"]), "value": self.dice.choice(["1", "", "$(A)"])}
                           for _ in range(self.dice.randint(0, 3))]
        return made

    def quantities(self):
        made = {}
        for name, values in (("cpu", CPU), ("memory", MEMORY), ("gpu", GPU), ("nvidia.com/gpu", GPU), ("ephemeral-storage", STORAGE),
                             ("example.com/rdma", ["1"]), ("hugepages-2Mi", ["4Mi"])):
            if self.maybe(0.25):
                made[name] = self.dice.choice(values)
        return made

    def pod_quantities(self):
        return self.quantities() | ({"cpu": "1e3m"} if self.maybe(0.005) else {})

    def pod_container(self, name):
        made = {"name": name, "image": f"registry.example/{name}:1"}
        if self.maybe(0.7):
            made["args"] = self.words()
        if self.maybe(0.4):
            made["command"] = self.words()
        if self.maybe(0.6):
            made["resources"] = {key: self.pod_quantities() for key in ("requests", "limits") if self.maybe(0.7)}
        if self.maybe():
            made["env"] = [{"name": "B", "value": "2"}, {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
        if self.maybe(0.3):
            made["envFrom"] = [{"configMapRef": {"name": "c"}}]
        if self.maybe(0.3):
            made["volumeMounts"] = [{"name": "scratch", "mountPath": self.dice.choice(["/scratch", "/dev/shm"])}]
        if self.maybe(0.3):
            made["securityContext"] = {"runAsUser": 1000}
        if self.maybe(0.2):
            made["ports"] = [{"containerPort": 80}]
        return made

    def affinity(self):
        terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]} for zone in ("a", "b")[:self.dice.randint(1, 2)]]
        made = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
        if self.maybe(0.3):
            made = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                                        [{"topologyKey": "host", "labelSelector": {"matchLabels": {"a": "b"}}}]}}
        return made

    def toleration(self):
        made = {"key": self.dice.choice(["spot", "nvidia.com/gpu", "example.com/rdma"]), "operator": self.dice.choice(["Exists", "Equal"]),
                "effect": self.dice.choice(["NoSchedule", "NoExecute"])}
        if made["operator"] == "Equal":
            made["value"] = "yes"
        return made

    def pod_spec(self, primary):
        names = [primary] if self.maybe(0.96) else ["main"]
        names += [name for name in ("sidecar", "logger", "mpi") if name != primary and self.maybe(0.25)]
        self.dice.shuffle(names)
        made = {"containers": [self.pod_container(name) for name in names]}
        if self.maybe(0.25):
            made["initContainers"] = [self.pod_container("prepare")]
        for key, chance, value in (("restartPolicy", 0.2, "OnFailure"), ("serviceAccountName", 0.2, "own"), ("schedulerName", 0.2, "own-scheduler"),
                                   ("nodeSelector", 0.3, {"pool": "own", "disk": "ssd"}), ("hostNetwork", 0.1, True),
                                   ("dnsConfig", 0.2, {"searches": ["own.example"]}), ("securityContext", 0.2, {"fsGroup": 5}),
                                   ("volumes", 0.4, [{"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}}]),
                                   ("priorityClassName", 0.2, "high"), ("terminationGracePeriodSeconds", 0.2, 30)):
            if self.maybe(chance):
                made[key] = value
        if self.maybe(0.3):
            made["affinity"] = self.affinity()
        if self.maybe(0.3):
            made["tolerations"] = [self.toleration() for _ in range(self.dice.randint(1, 2))]
        return made

    def k8s_pod(self, primary):
        made = {"podSpec": self.pod_spec(primary)}
        if self.maybe():
            made["metadata"] = {"labels": {"own": "label", "shared": "pod"}, "annotations": {"own": "annotation"}}
        return made

    def secret(self):
        made = {"group": self.dice.choice(["g", 'quote" and \\ back', "é\n\t", "a" * 40])}
        for key, chance, values in (("groupVersion", 0.3, ["v1", ""]), ("key", 0.8, ["password", "k"]), ("envVar", 0.2, ["PASSWORD"]),
                                    ("mountRequirement", 0.6, ["ANY", "ENV_VAR", "FILE", 1, 2])):
            if self.maybe(chance):
                made[key] = self.dice.choice(values)
        return made

    def extended(self):
        made = {}
        if self.maybe(0.7):
            made["gpuAccelerator"] = {}
            if self.maybe(0.8):
                made["gpuAccelerator"]["device"] = self.dice.choice(DEVICES)
            what = self.dice.randint(0, 3)
            if what == 1:
                made["gpuAccelerator"]["unpartitioned"] = self.maybe(0.8)
            if what == 2:
                made["gpuAccelerator"]["partitionSize"] = "1g.10gb"
        if self.maybe(0.4):
            made["sharedMemory"] = {"mountName": self.dice.choice(["shm", "scratch"]), "mountPath": "/dev/shm"}
            if self.maybe():
                made["sharedMemory"]["sizeLimit"] = self.dice.choice(["2Gi", "1024Mi", "x"])
            if self.maybe(0.05):
                del made["sharedMemory"]["mountName"]
        return made

    def task(self, execution):
        version = self.dice.choice([1, 1, 1, 1, 0]) if self.maybe(0.99) else 2
        made = {"type": "mpi", "taskTypeVersion": version, "custom": self.custom(min(version, 1)), "config": {}}
        if "taskName" in execution:
            made["id"] = {"resourceType": "TASK", "name": execution["taskName"], "project": execution["taskProject"],
                          "domain": execution["taskDomain"], "version": execution["taskVersion"]}
        if self.maybe(0.6):
            made["container"] = self.container()
        elif self.maybe(0.99):
            primary = self.dice.choice(["primary", "main", "task"])
            made["k8sPod"] = self.k8s_pod(primary)
            if self.maybe(0.97) or "1e3m" in str(made):  # one fault at a time
                made["config"]["primary_container_name"] = primary
        if version == 0 and self.maybe(0.4):
            made["config"]["worker_spec_command"] = self.dice.choice(["/usr/sbin/sshd -De -f /etc/ssh/own_config", "", "a  b", "run"])
        if self.maybe(0.1):
            made["config"]["link_type"] = "vscode"
        if self.maybe(0.3):
            made["extendedResources"] = self.extended()
        if self.maybe(0.2):
            made["securityContext"] = {"secrets": [self.secret() for _ in range(self.dice.randint(0, 3))]}
        if self.maybe(0.3):
            made["metadata"] = {"metadata": {"labels": {"task": "label", "shared": "task"}, "annotations": {"task": "annotation", "shared": "task"}}}
        if self.maybe(0.01) and ("container" in made or "k8sPod" in made):
            made["metadata"] = {"podTemplateName": "big"}
        elif self.maybe(0.01):
            del made["custom"]
        return made

    # ---- what the backend knows

    def config(self):
        requirement = {"key": "spot", "operator": "In", "values": ["true"]}
        pool = [("default-annotations", {"team": "a", "shared": "config"}), ("default-labels", {"from": "config", "shared": "config"}),
                ("default-env-vars", {"FROM_CONFIG": "1", "EMPTY": ""}), ("default-env-from-configmaps", ["settings"]),
                ("default-env-from-secrets", ["token", "other"]), ("default-cpus", "250m"), ("default-memory", "300Mi"),
                ("default-tolerations", [self.toleration()]), ("default-node-selector", {"pool": "flyte", "arch": "amd64"}),
                ("default-affinity", self.affinity()), ("scheduler-name", "flyte-scheduler"), ("interruptible-tolerations", [self.toleration()]),
                ("interruptible-node-selector", {"pool": "spot"}), ("interruptible-node-selector-requirement", requirement),
                ("non-interruptible-node-selector-requirement", {"key": "spot", "operator": "DoesNotExist"}),
                ("resource-tolerations", {"nvidia.com/gpu": [self.toleration()], "ephemeral-storage": [self.toleration()]}),
                ("image-pull-policy", "Always"), ("gpu-device-node-label", "gpu.example/device"),
                ("gpu-partition-size-node-label", "gpu.example/size"), ("gpu-resource-name", "amd.com/gpu"),
                ("gpu-unpartitioned-node-selector-requirement", {"key": "whole", "operator": "Exists"}),
                ("gpu-unpartitioned-toleration", {"key": "whole", "operator": "Exists"}),
                ("default-pod-security-context", {"runAsNonRoot": True}), ("default-security-context", {"allowPrivilegeEscalation": False}),
                ("default-pod-dns-config", {"searches": ["config.example"]}), ("enable-host-networking-pod", self.maybe()),
                ("inject-finalizer", self.maybe()),
                ("add-tolerations-for-extended-resources", ["nvidia.com/gpu", "example.com/rdma", "hugepages-2Mi"])]
        share = self.dice.choice([0, 0, 0.1, 0.4, 0.9])
        return {key: value for key, value in pool if self.maybe(share)}

    def execution(self):
        made = {"name": self.dice.choice(["f1a2-n0-0", "Not_A_Label", "9-x.y", "-a-B.", "aBC9D"]), "namespace": "team-development",
                "inputPath": "s3://data/in/inputs.pb", "inputPrefix": "s3://data/in", "outputPrefix": "s3://data/out/{{.namespace}}",
                "rawOutputPrefix": "s3://raw/0", "checkpointPrefix": "s3://raw/cp", "previousCheckpointPrefix": self.dice.choice(["", "s3://raw/old"]),
                "taskTemplatePath": "s3://data/task.pb", "interruptible": self.maybe(), "attempt": self.dice.choice([0, 1, 7])}
        if self.maybe(0.8):
            made |= {"executionName": "f1a2", "project": "team", "domain": "development", "nodeId": "n0"}
        if self.maybe(0.8):
            made |= {"taskName": "wf.train", "taskProject": "team", "taskDomain": "development", "taskVersion": "v1"}
        pool = [("workflow", "team:development:wf"), ("consoleUrl", "https://flyte.example/console/"), ("serviceAccount", "flyte"),
                ("image", "registry.example/override:3"), ("labels", {"execution": "f1a2", "shared": "execution"}),
                ("annotations", {"execution": "f1a2", "shared": "execution"}), ("environment", {"FROM_EXECUTION": "x", "ALSO": "y"}),
                ("resources", {key: self.quantities() for key in ("requests", "limits")}),
                ("platformResources", {"requests": {"cpu": "2", "memory": "200Mi", "ephemeral-storage": "1Gi"},
                                       "limits": {"cpu": self.dice.choice(["3", "16"]), "memory": "3Gi", "nvidia.com/gpu": "4"}}),
                ("extendedResources", self.extended())]
        made |= {key: value for key, value in pool if self.maybe(0.3)}
        made["owner"] = {"apiVersion": "flyte.lyft.com/v1alpha1", "kind": "FlyteWorkflow", "name": "f1a2", "uid": "u", "controller": True}
        if self.maybe(0.9):
            made["inputs"] = {"x": "5", "y": "text"} if self.maybe(0.95) else {"x": "5"}
        if self.maybe(0.05):
            made["podTemplate"] = self.k8s_pod("other") | {"primaryContainerName": "other"}
        return made

    def build(self):
        execution = self.execution()
        return {"task": self.task(execution), "config": self.config(), "execution": execution}

    # ---- statuses

    def conditions(self, version):
        types = ["Created", "Running", "Restarting", "Succeeded", "Failed", "Suspended"] + (["Odd"] if self.maybe(0.1) else [])
        chosen = self.dice.sample(types, self.dice.randint(0, 4))
        made = []
        for kind in chosen:
            made.append({"type": kind, "status": self.dice.choice(["True", "True", "True", "False", "Unknown"]),
                         "reason": self.dice.choice(["MPIJob" + kind, "MPIJobMPIJobFailed", "BackoffLimitExceeded/Error", ""]),
                         "message": self.dice.choice([f"MPIJob x is {kind}", "", "two\nlines é"]),
                         "lastTransitionTime": f"2026-11-21T12:00:0{self.dice.randint(0, 3)}Z",
                         "lastUpdateTime": "2026-11-21T12:00:09Z"})
        return made

    def look(self, version, now):
        job = {"apiVersion": version, "kind": "MPIJob",
               "metadata": {"name": self.dice.choice(["f1a2-n0-0", "x"]), "namespace": "team-development", "creationTimestamp": "2026-11-21T12:00:00Z"},
               "spec": {"mpiReplicaSpecs": {"Launcher": {"replicas": 1, "template": {"spec": {"containers": []}}},
                                            "Worker": {"replicas": self.dice.randint(0, 4), "template": {"spec": {"containers": []}}}}},
               "status": {}}
        if self.maybe(0.1):
            del job["spec"]["mpiReplicaSpecs"]["Worker"]
        if self.maybe(0.9):
            job["status"]["conditions"] = self.conditions(version)
        if self.maybe(0.7):
            job["status"]["startTime"] = "2026-11-21T12:00:01Z"
        if self.maybe(0.3):
            job["spec"]["runPolicy"] = {"suspend": self.maybe()}
        if self.maybe(0.05):
            job["metadata"]["creationTimestamp"] = None
        execution = self.execution()
        made = {"job": job, "task": {"type": "mpi", "taskTypeVersion": 1, "config": {}}, "execution": execution, "now": now}
        if self.maybe():
            made["timeout"] = self.dice.choice([1, 60, 1000000000])
        if self.maybe(0.4) and job["metadata"]["creationTimestamp"]:
            uris = ["https://logs.example/{{ .namespace }}/{{.podName}}?c={{ .containerName }}&start={{ .podUnixStartTime }}",
                    "https://l.example/{{ .podRFC3339StartTime }}/{{.PODNAME}}/{{ .nodeID }}/{{.generatedName}}/{{ .taskRetryAttempt }}",
                    "https://l.example/{{.taskID}}/{{.taskVersion}}/{{.taskProject}}/{{.taskDomain}}/{{ .unknown }}/{{ podName }}",
                    "https://l.example/{{.executionName}}/{{.executionProject}}/{{.executionDomain}}/{{.podUID}}/{{.logName}}"]
            made["logs"] = [{"name": self.dice.choice(["Logs", "Logs of {{ .podName }}"]), "uris": self.dice.sample(uris, self.dice.randint(0, 3))}
                            for _ in range(self.dice.randint(0, 2))]
        return made
