# SPDX-License-Identifier: Apache-2.0
"""Lives of jobs: scripts, made from a seed, and what a step of one does to a cluster before a controller looks at it.

A script is {"job", "options", "graceful", "steps"}; a step is {"wait": MS, "take": "ours" or "theirs", "do": [OP, ...]}:
what happens, and with whose cluster the life goes on where the two differ on purpose. An op about an object that is not
there does nothing, so any step can be left out of a script.
"""
import copy
import datetime
import random
import re

START_MS = 1577836800000
JOB_UID = "uid-of-the-job"
LABEL = "training.kubeflow.org/"
CLASSES = {"low": -5, "middle": 0, "high": 1000}


def time_of(ms):
    return datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def ms_of(time):
    return int(datetime.datetime.strptime(time, "%Y-%m-%dT%H:%M:%S%z").timestamp()) * 1000


# --- Scripts ---

class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, p):
        return self.random.random() < p

    def pick(self, *values):
        return self.random.choice(values)

    def weighted(self, **weights):
        return self.random.choices(list(weights), list(weights.values()))[0]

    def put(self, p, target, key, *values):
        if self.chance(p):
            target[key] = copy.deepcopy(self.pick(*values))

    def container(self, name):
        made = {"name": name, "image": "image:1"}
        self.put(0.4, made, "command", ["sh", "-c", "x"])
        self.put(0.2, made, "args", ["a"])
        self.put(0.3, made, "env", [{"name": "A", "value": "b"}], [{"name": "PRTE_MCA_plm_ssh_args", "value": "-v"}],
                 [{"name": "HYDRA_LAUNCHER_EXTRA_ARGS", "value": "-v"}])
        self.put(0.4, made, "resources", {"requests": {"cpu": "2", "memory": "1Gi"}}, {"limits": {"nvidia.com/gpu": "1"}},
                 {"limits": {"cpu": "4"}, "requests": {"cpu": "1"}})
        return made

    def template(self, role):
        spec = {"containers": [self.container(role + str(i)) for i in range(self.pick(1, 1, 1, 2))]}
        if self.chance(0.1):
            spec["initContainers"] = [self.container("init")]
        self.put(0.2, spec, "hostNetwork", True)
        self.put(0.2, spec, "dnsConfig", {"searches": ["a.example"]}, {"nameservers": ["10.0.0.1"]})
        self.put(0.1, spec, "schedulerName", "mine", "volcano", "default-scheduler")
        self.put(0.4, spec, "priorityClassName", "unknown", *CLASSES)
        self.put(0.1, spec, "restartPolicy", "Always", "Never")
        self.put(0.2, spec, "nodeSelector", {"zone": "a"})
        self.put(0.2, spec, "tolerations", [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}])
        self.put(0.1, spec, "schedulingGates", [{"name": "kueue.x-k8s.io/topology"}])
        made = {"spec": spec}
        if self.chance(0.3):
            made["metadata"] = {}
            self.put(0.7, made["metadata"], "labels", {"a": "b"}, {LABEL + "job-role": "x"})
            self.put(0.7, made["metadata"], "annotations", {"sidecar.istio.io/inject": "false"})
        return made

    def scheduling(self, workers):
        made = {}
        self.put(0.6, made, "minAvailable", 0, 1, 2, max(workers, 1), workers + 1)
        self.put(0.3, made, "queue", "gold")
        self.put(0.3, made, "priorityClass", "high")
        self.put(0.3, made, "minResources", {"cpu": "3"})
        self.put(0.3, made, "scheduleTimeoutSeconds", 30)
        return made

    def run_policy(self, workers):
        made = {}
        self.put(0.7, made, "cleanPodPolicy", "None", "Running", "All")
        self.put(0.6, made, "backoffLimit", 0, 1, 2)
        self.put(0.2, made, "ttlSecondsAfterFinished", 0, 30)
        self.put(0.1, made, "activeDeadlineSeconds", 60)
        self.put(0.5, made, "suspend", True, False)
        self.put(0.08, made, "managedBy", "kubeflow.org/mpi-operator", "kueue.x-k8s.io/multikueue")
        if self.chance(0.5):
            made["schedulingPolicy"] = self.scheduling(workers)
        return made

    def job(self):
        workers = self.pick(1, 2, 2, 3, 3, 4, 8, 12)
        launcher = {"template": self.template("l")}
        self.put(0.2, launcher, "replicas", 1)
        self.put(0.3, launcher, "restartPolicy", "Never", "OnFailure")
        worker = {"replicas": workers, "template": self.template("w")}
        if self.chance(0.2):
            worker["template"]["spec"]["priorityClassName"] = "high"
            launcher["template"]["spec"].pop("priorityClassName", None)
        self.put(0.3, worker, "restartPolicy", "Never", "OnFailure")
        spec = {"mpiReplicaSpecs": {"Launcher": launcher, "Worker": worker}}
        self.put(0.4, spec, "runLauncherAsWorker", True, False)
        if spec.get("runLauncherAsWorker") and self.chance(0.15):
            del spec["mpiReplicaSpecs"]["Worker"]
            workers = 0
        self.put(0.3, spec, "slotsPerWorker", 1, 4)
        self.put(0.6, spec, "mpiImplementation", "OpenMPI", "Intel", "MPICH")
        self.put(0.3, spec, "sshAuthMountPath", "/root/.ssh", "/home/mpiuser/.ssh")
        self.put(0.5, spec, "launcherCreationPolicy", "AtStartup", "WaitForWorkersReady", "WaitForWorkersReady")
        if self.chance(0.8):
            spec["runPolicy"] = self.run_policy(workers)
        metadata = {"name": "pi", "namespace": "ns", "uid": JOB_UID}
        self.put(0.1, metadata, "annotations", {"scheduling.volcano.sh/queue-name": "silver"})
        return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": metadata, "spec": spec}

    def options(self):
        made = {"reference": self.chance(0.6)}
        self.put(0.3, made, "clusterDomain", "cluster.local", "example.org")
        self.put(0.5, made, "gangScheduler", "volcano", "scheduler-plugins-scheduler")
        self.put(0.6, made, "priorityClasses", CLASSES)
        return made

    def worker(self):
        return self.random.randrange(self.pick(4, 4, 12))

    def failure(self):
        return self.pick(
            {"reason": "Error", "exit": 1}, {"exit": 137, "reason": "OOMKilled", "message": "out of memory"},
            {"pod": "NodeLost", "podMessage": "the node is gone"}, {"pod": "Evicted", "podMessage": "low on memory"},
            {"pod": "Long", "podMessage": "x" * 1100}, {"exit": 7, "message": "words " * 120}, {"exit": 9, "message": "ä" * 200})

    def op(self):
        kind = self.weighted(
            run_all=8, run_some=3, run=4, run_launcher=9, unready=1, worker_fails=2, worker_evicted=1.5, worker_succeeds=1,
            launcher_fails=3, launcher_succeeds=3, job_fails=1, almost=0.7, suspend=3, resume=3, scale=3, directives=1.5,
            template=0.5, delete=2, foreign=1, replace=1, remove_foreign=1, tamper=1.5, fill=1, managed=0.7, going=0.3, invalid=0.7,
            valid=0.7, ttl=2, condition=0.4, unlabel=0.4, forget_status=0.3, nothing=1)
        if kind in ("run", "unready", "worker_succeeds", "unlabel", "worker_evicted"):
            return [kind, self.worker()]
        if kind == "run_some":
            return [kind, self.random.randrange(4), self.pick(2, 3, 5, 9)]
        if kind == "worker_fails":
            return [kind, self.worker(), self.failure()]
        if kind == "launcher_fails":
            return [kind, self.failure()]
        if kind == "job_fails":
            return [kind, self.pick("DeadlineExceeded", "", "PodFailurePolicy", "BackoffLimitExceeded"),
                    self.pick("", "it was too long", "ü" * 700)]
        if kind == "scale":
            return [kind, self.pick(1, 2, 3, 4, 5)]
        if kind in ("delete", "foreign", "replace"):
            return [kind, self.pick("Service/pi", "ConfigMap/pi-config", "Secret/pi-ssh", "Job/pi-launcher",
                                    "Pod/pi-worker-0", "Pod/pi-worker-1", "PodGroup/pi")]
        if kind == "tamper":
            return [kind, self.pick("Service/pi", "ConfigMap/pi-config", "ConfigMap/order", "ConfigMap/script", "ConfigMap/domain", "Secret/pi-ssh",
                                    "Secret/more", "PodGroup/pi", "Job/suspend")]
        if kind == "template":
            return [kind, self.pick("Launcher", "Worker"), "image:2"]
        if kind == "managed":
            return [kind, self.pick(None, None, "kueue.x-k8s.io/multikueue", "kubeflow.org/mpi-operator")]
        if kind == "invalid":
            return [kind, self.random.randrange(len(MISTAKES))]
        return [kind]

    def script(self):
        steps = [{"wait": 0, "take": "ours", "do": []}]
        for _ in range(self.pick(6, 10, 14)):
            step = {"wait": self.pick(200, 1000, 3000, 20000), "take": self.pick("ours", "theirs"), "do": []}
            if self.chance(0.85):
                step["do"].append(["controllers"])
            for _ in range(self.pick(1, 1, 1, 2)):
                step["do"].append(self.op())
            steps.append(step)
        if self.chance(0.05):
            steps[0]["do"].append(["invalid", self.random.randrange(len(MISTAKES))])
        if self.chance(0.05):
            steps[0]["do"].append(["foreign", self.pick("Service/pi", "ConfigMap/pi-config", "Secret/pi-ssh", "PodGroup/pi")])
        return {"job": self.job(), "options": self.options(), "graceful": self.chance(0.4), "steps": steps}


# Each makes a job invalid in one way.
MISTAKES = [
    ("spec.slotsPerWorker", -1), ("spec.sshAuthMountPath", ""), ("spec.mpiImplementation", "LAM"),
    ("spec.runPolicy.cleanPodPolicy", "Sometimes"), ("spec.runPolicy.ttlSecondsAfterFinished", -1),
    ("spec.runPolicy.activeDeadlineSeconds", -1), ("spec.runPolicy.backoffLimit", -1),
    ("spec.runPolicy.managedBy", "somebody"), ("spec.mpiReplicaSpecs.Launcher.replicas", 2),
    ("spec.mpiReplicaSpecs.Launcher.restartPolicy", "Always"), ("spec.mpiReplicaSpecs.Worker.restartPolicy", "ExitCode"),
    ("spec.mpiReplicaSpecs.Worker.replicas", 0), ("spec.mpiReplicaSpecs.Launcher", None),
    ("spec.mpiReplicaSpecs", None), ("spec.mpiReplicaSpecs.Launcher.template.spec.containers", []),
    ("spec.mpiReplicaSpecs.Worker.template.spec.containers", []), ("spec.mpiReplicaSpecs.Worker", None),
    ("metadata.name", "a.b"), ("spec.mpiReplicaSpecs.Worker.replicas", None), ("spec.launcherCreationPolicy", "Sometimes"),
]


# --- Objects ---

def prune(value):
    """What is empty is as if it were not there; versions are the server's."""
    if isinstance(value, dict):
        made = {}
        for key, entry in value.items():
            if key == "resourceVersion":
                continue
            entry = prune(entry)
            if entry is not None and entry != "":
                made[key] = entry
        return made or None
    if isinstance(value, list):
        return [prune(entry) for entry in value] or None
    return value


def canonical(objects):
    """Objects by KIND/NAME."""
    made = {}
    for entry in objects:
        if entry["kind"] == "PodGroup" and (entry.get("spec") or {}).get("minMember") == 0:
            entry = dict(entry, spec={key: value for key, value in entry["spec"].items() if key != "minMember"})
        tree = prune(entry)
        name = tree["metadata"]["name"]
        if tree["kind"] == "Secret":
            for key in tree.get("data") or {}:
                tree["data"][key] = "cmFuZG9t"
        roles = (entry.get("status") or {}).get("replicaStatuses")
        if tree["kind"] == "MPIJob" and roles:
            tree["status"]["replicaStatuses"] = {role: prune(counts) or {} for role, counts in roles.items()}
        made["MPIJob" if tree["kind"] == "MPIJob" else f"{tree['kind']}/{name}"] = tree
    return made


# --- What happens in a cluster ---

class World:
    """All objects, by KIND/NAME, at one time."""

    def __init__(self, objects, now, graceful):
        self.objects, self.now, self.graceful = objects, now, graceful

    @property
    def job(self):
        return self.objects["MPIJob"]

    def get(self, key):
        return self.objects.get(key)

    def condition(self, kind, status="True"):
        found = [c for c in (self.job.get("status") or {}).get("conditions") or [] if c["type"] == kind]
        return bool(found) and found[0]["status"] == status

    def workers(self):
        spec = (self.job["spec"].get("mpiReplicaSpecs") or {}).get("Worker")
        return 0 if spec is None else spec.get("replicas")

    def suspended(self):
        return bool((self.job["spec"].get("runPolicy") or {}).get("suspend"))

    def owned(self, key, uid=JOB_UID):
        found = self.get(key)
        owners = (found or {}).get("metadata", {}).get("ownerReferences") or []
        return any(owner["uid"] == uid and owner.get("controller") for owner in owners)

    def worker_pods(self):
        """The pods of this job's workers, by index."""
        return {i: self.get(f"Pod/pi-worker-{i}") for i in range(13) if self.owned(f"Pod/pi-worker-{i}")}

    def launcher(self):
        return self.get("Job/pi-launcher") if self.owned("Job/pi-launcher") else None

    def launcher_pod(self):
        job = self.launcher()
        for key, pod in self.objects.items():
            if job and key.startswith("Pod/pi-launcher") and self.owned(key, job["metadata"]["uid"]) and \
                    pod["status"]["phase"] in ("Pending", "Running"):
                return pod
        return None


def job_ended(job):
    return any(c["type"] in ("Complete", "Failed") for c in (job.get("status") or {}).get("conditions") or [])


def set_path(target, path, value):
    *folders, last = path.split(".")
    for name in folders:
        target = target.get(name)
        if target is None:
            return
    if value is None:
        target.pop(last, None)
    else:
        target[last] = value


def phase(world, pod, name, ready=False, **status):
    pod["status"].update({"phase": name, "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}, **status)


def ended(world, pod, failure):
    state = {"exitCode": failure.get("exit", 1)}
    if failure.get("reason"):
        state["reason"] = failure["reason"]
    if failure.get("message"):
        state["message"] = failure["message"]
    more = {}
    if "pod" in failure:
        more = {"reason": failure["pod"], "message": failure["podMessage"]}
    phase(world, pod, "Failed", containerStatuses=[{"name": "main", "state": {"terminated": state}, "ready": False, "restartCount": 0,
                                                    "image": "", "imageID": ""}], **more)


def run_pod(world, pod):
    if pod and pod["status"]["phase"] == "Pending":
        now = time_of(world.now)
        pod["spec"]["nodeName"] = "node-1"
        phase(world, pod, "Running", True, startTime=now, containerStatuses=[
            {"name": "main", "state": {"running": {"startedAt": now}}, "ready": True, "restartCount": 0, "image": "", "imageID": ""}])


def remove(world, key):
    """Delete an object, and what it owns."""
    gone = world.objects.pop(key, None)
    if gone:
        for other in [k for k in world.objects if world.owned(k, gone["metadata"]["uid"])]:
            del world.objects[other]


class Ops:
    """One function an op."""

    def nothing(world):
        pass

    def controllers(world):
        """The Job controller, and the kubelets that let go of pods."""
        for key in [k for k, o in world.objects.items() if k.startswith("Pod/") and o["metadata"].get("deletionTimestamp")]:
            del world.objects[key]
        job = world.launcher()
        if not job or job_ended(job):
            return
        pod, status = world.launcher_pod(), job.setdefault("status", {})
        if job["spec"].get("suspend"):
            if pod:
                del world.objects["Pod/" + pod["metadata"]["name"]]
            status.pop("startTime", None)
            return
        if pod:
            return
        if any(o["metadata"].get("creationTimestamp") == time_of(world.now) for k, o in world.objects.items()
               if k.startswith("Pod/pi-launcher")):
            world.now += 1000 # so that one is the last
        status.setdefault("startTime", time_of(world.now))
        name = f"pi-launcher-{status.get('failed', 0)}x{world.now // 1000 % 100000}"
        template = copy.deepcopy(job["spec"]["template"])
        metadata = template.get("metadata", {})
        metadata.update({"name": name, "namespace": "ns", "uid": "uid-" + name, "creationTimestamp": time_of(world.now),
                         "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "pi-launcher",
                                              "uid": job["metadata"]["uid"], "controller": True}]})
        world.objects["Pod/" + name] = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"],
                                        "status": {"phase": "Pending"}}

    def run_all(world):
        for pod in world.worker_pods().values():
            run_pod(world, pod)

    def run_some(world, first, count):
        for index, pod in world.worker_pods().items():
            if first <= index < first + count:
                run_pod(world, pod)

    def run(world, index):
        run_pod(world, world.worker_pods().get(index))

    def run_launcher(world):
        run_pod(world, world.launcher_pod())

    def unready(world, index):
        pod = world.worker_pods().get(index)
        if pod and pod["status"]["phase"] == "Running":
            pod["status"]["conditions"] = [{"type": "Ready", "status": "False"}]

    def worker_fails(world, index, failure):
        pod = world.worker_pods().get(index)
        if pod and pod["status"]["phase"] in ("Running", "Pending"):
            ended(world, pod, failure)

    def worker_evicted(world, index):
        Ops.worker_fails(world, index, {"pod": "Evicted", "podMessage": "low on memory"})

    def worker_succeeds(world, index):
        pod = world.worker_pods().get(index)
        if pod and pod["status"]["phase"] == "Running":
            phase(world, pod, "Succeeded")

    def launcher_fails(world, failure):
        job, pod = world.launcher(), world.launcher_pod()
        if not pod or job_ended(job):
            return
        ended(world, pod, failure)
        failed = job.setdefault("status", {}).get("failed", 0) + 1
        job["status"]["failed"] = failed
        if failed > job["spec"].get("backoffLimit", 6):
            job["status"]["conditions"] = [
                {"type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded"},
                {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
                 "message": "Job has reached the specified backoff limit"}]

    def job_fails(world, reason, message):
        job = world.launcher()
        if job and not job_ended(job):
            job.setdefault("status", {})["conditions"] = [{"type": "Failed", "status": "True", "reason": reason, "message": message}]

    def launcher_succeeds(world):
        job, pod = world.launcher(), world.launcher_pod()
        if pod and not job_ended(job):
            phase(world, pod, "Succeeded")
            job.setdefault("status", {}).update({"succeeded": 1, "completionTime": time_of(world.now), "conditions": [
                {"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}]})

    def almost(world):
        """A Job that is about to end, and conditions that are not true, are no end."""
        job = world.launcher()
        if job and not job_ended(job):
            job.setdefault("status", {})["conditions"] = [{"type": "FailureTarget", "status": "True", "reason": "x"},
                                                          {"type": "Suspended", "status": "False"}]

    def suspend(world):
        world.job["spec"].setdefault("runPolicy", {})["suspend"] = True

    def resume(world):
        world.job["spec"].setdefault("runPolicy", {})["suspend"] = False

    def scale(world, replicas):
        specs = world.job["spec"].get("mpiReplicaSpecs") or {}
        if "Worker" in specs:
            specs["Worker"]["replicas"] = replicas

    def directives(world):
        """What Kueue does to a job that it admits."""
        specs = world.job["spec"].get("mpiReplicaSpecs") or {}
        for replica in specs.values():
            spec = replica["template"]["spec"]
            spec["nodeSelector"] = {"pool": f"p{world.now // 1000 % 7}"}
            spec["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
            spec.pop("schedulingGates", None)
            metadata = replica["template"].setdefault("metadata", {})
            metadata["labels"] = {"admitted": "yes"}
            metadata["annotations"] = {"flavor": "x"}

    def template(world, role, image):
        replica = (world.job["spec"].get("mpiReplicaSpecs") or {}).get(role)
        if replica and replica["template"]["spec"]["containers"]:
            replica["template"]["spec"]["containers"][0]["image"] = image

    def delete(world, key):
        if world.owned(key):
            remove(world, key)

    def foreign(world, key):
        """Somebody else takes a name that is free."""
        if key in world.objects:
            return
        kind, name = key.split("/")
        group = "scheduling.volcano.sh/v1beta1" if world.gang == "volcano" else "scheduling.x-k8s.io/v1alpha1"
        if kind == "PodGroup" and not world.gang:
            return
        made = {"apiVersion": {"Job": "batch/v1", "PodGroup": group}.get(kind, "v1"), "kind": kind,
                "metadata": {"name": name, "namespace": "ns", "uid": f"foreign-{name}-{world.now}", "annotations": {"foreign": "yes"}}}
        if world.now // 1000 % 2:
            made["metadata"]["ownerReferences"] = [{"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "name": "pi",
                                                    "uid": "a former job", "controller": True}]
        if kind == "Pod":
            made.update({"spec": {"containers": [{"name": "c", "image": "i"}]}, "status": {"phase": "Running"}})
        if kind == "Job":
            made["spec"] = {"template": {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}}
        world.objects[key] = made

    def replace(world, key):
        Ops.delete(world, key)
        Ops.foreign(world, key)

    def remove_foreign(world):
        for key in [k for k, o in world.objects.items() if (o["metadata"].get("annotations") or {}).get("foreign")]:
            del world.objects[key]

    def tamper(world, what):
        kind, how = what.split("/")
        key = {"ConfigMap": "ConfigMap/pi-config", "Secret": "Secret/pi-ssh", "Job": "Job/pi-launcher"}.get(kind, what)
        found = world.get(key)
        if not found or not world.owned(key):
            return
        if kind == "Service":
            found["spec"]["selector"] = {"x": "y"}
            if not found["spec"].pop("publishNotReadyAddresses", False):
                found["spec"]["publishNotReadyAddresses"] = True
        elif how == "order":
            first, *hosts = found["data"]["discover_hosts.sh"].rstrip("\n").split("\n")
            found["data"]["discover_hosts.sh"] = "\n".join([first, *reversed(hosts)]) + "\n"
        elif how == "domain":
            for name in found["data"]:
                found["data"][name] = re.sub(r"\.svc[^: \n]*", ".svc.old.example", found["data"][name])
        elif how == "script":
            found["data"]["discover_hosts.sh"] = "#!/bin/sh\necho elsewhere\n"
        elif kind == "ConfigMap":
            found["data"]["hostfile"] = "elsewhere slots=1\n"
        elif how == "more":
            found["data"]["more"] = "eA=="
        elif kind == "Secret":
            found["data"].pop("ssh-publickey", None)
        elif kind == "PodGroup":
            found.setdefault("spec", {})["minMember"] = 77
        elif not job_ended(found):
            found["spec"]["suspend"] = True

    def fill(world):
        """What servers and schedulers fill in."""
        service, group, job = world.get("Service/pi"), world.get("PodGroup/pi"), world.launcher()
        if service and world.owned("Service/pi"):
            service["spec"].update({"type": "ClusterIP", "sessionAffinity": "None", "clusterIPs": ["None"]})
        if group and world.owned("PodGroup/pi") and world.gang == "volcano":
            group.setdefault("spec", {}).setdefault("queue", "default")
            group["status"] = {"phase": "Pending"}
        if job:
            job["spec"].update({"completions": 1, "parallelism": 1, "completionMode": "NonIndexed", "manualSelector": False})

    def managed(world, name):
        set_path(world.job, "spec.runPolicy.managedBy", name)

    def going(world):
        world.job["metadata"]["deletionTimestamp"] = time_of(world.now)

    def invalid(world, number):
        if world.valid is None:
            world.valid = copy.deepcopy(world.job["spec"]), world.job["metadata"]["name"]
        path, value = MISTAKES[number]
        if path != "metadata.name":
            set_path(world.job, path, copy.deepcopy(value))
        elif len(world.objects) == 1 and not world.job.get("status"):
            world.job["metadata"]["name"] = value

    def valid(world):
        if world.valid is not None:
            world.job["spec"], world.job["metadata"]["name"] = world.valid
            world.valid = None

    def ttl(world):
        """The Job controller deletes a Job some time after its end."""
        job = world.launcher()
        if job and job_ended(job) and "ttlSecondsAfterFinished" in job["spec"]:
            world.now += job["spec"]["ttlSecondsAfterFinished"] * 1000 + 5000
            remove(world, "Job/pi-launcher")

    def condition(world):
        status = world.job.get("status")
        if status and all(c["type"] != "Mine" for c in status.get("conditions") or []):
            status.setdefault("conditions", []).append({"type": "Mine", "status": "True", "reason": "Because", "message": "so"})

    def unlabel(world, index):
        pod = world.worker_pods().get(index)
        if pod:
            pod["metadata"]["labels"].pop(LABEL + "replica-index", None)

    def forget_status(world):
        """A job that was restored from a backup."""
        world.job.pop("status", None)


def serve(world):
    """What the API server fills into a Job before its controller can see it."""
    job = world.launcher()
    if job and "selector" not in job["spec"]:
        label = {"batch.kubernetes.io/controller-uid": job["metadata"]["uid"]}
        job["spec"]["selector"] = {"matchLabels": label}
        template = job["spec"]["template"].setdefault("metadata", {})
        template["labels"] = dict(template.get("labels") or {}, **label)


def apply(world, ops):
    serve(world)
    for name, *values in ops:
        getattr(Ops, name)(world, *values)
