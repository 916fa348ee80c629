# SPDX-License-Identifier: Apache-2.0
"""Jobs and what happens to them: each scenario makes a job and is a generator, which goes on when what it yielded holds."""
import copy
import json
import pathlib
import subprocess

from side import SOURCE, Failed, View, upstream_folder

PLAIN, GANG = {}, {}
QUIET = 2.5  # seconds without any change, after which nothing more is to come


def container(name, annotations, **spec):
    return {"metadata": {"annotations": {f"mpijob.test/{key.replace('_', '-')}": value for key, value in annotations.items()}},
            "spec": {"containers": [{"name": name, "image": "mpi:1", "command": ["sh", "-c", "true"]}], **spec}}


def mpijob(workers=2, run_for="900s", launcher=None, worker=None, policy=None, launcher_spec=None, worker_spec=None,
           restart=None, **spec):
    """A job whose pods kwok plays as `launcher` and `worker` say."""
    made = {"runPolicy": policy or {}, "mpiReplicaSpecs": {
        "Launcher": {"template": container("launcher", dict({"run_for": run_for}, **(launcher or {})), **(launcher_spec or {}))},
        "Worker": {"replicas": workers, "template": container("worker", worker or {}, **(worker_spec or {}))}}}
    if restart:
        made["mpiReplicaSpecs"]["Launcher"]["restartPolicy"] = restart
    made.update(spec)
    return made


class Lifecycle:
    """One scenario in one namespace."""

    def __init__(self, cp, namespace, name, scenario):
        self.cp, self.namespace, self.name = cp, namespace, name
        self.steps = scenario(self)
        self.until, self.where, self.view = None, "its start", None

    def advance(self, snapshot):
        """Go on if what is waited for holds; True at the end."""
        self.view = View(snapshot, self.name)
        while self.until is None or self.until(self.view):
            try:
                self.until = next(self.steps)
                self.where = f"step {self.steps.gi_frame.f_lineno}"
                return False  # news are needed to say whether it holds
            except StopIteration:
                return True
        return False

    def __str__(self):
        """How far it is, and by whom it is held up."""
        view = self.view
        pods = [f"{pod['metadata']['name']} {pod['status'].get('phase')} on {pod['spec'].get('nodeName')}"
                for pod in view.pods("launcher") + view.pods("worker")]
        job = ((view.launcher or {}).get("status") or {}).get("conditions") or []
        conditions = [f"{c['type']} {c['status']}" for c in view.status.get("conditions") or ()]
        return (f"{self.name} in {self.namespace} at {self.where}: {', '.join(conditions)}; pods: {', '.join(pods)}; "
                f"launcher Job: {[c['type'] for c in job if c['status'] == 'True']}")

    def then(self, scenario):
        """Go on with another one."""
        self.steps, self.until = scenario(self), None

    # What a scenario does

    def create(self, spec, **metadata):
        self.cp.create(f"/apis/kubeflow.org/v2beta1/namespaces/{self.namespace}/mpijobs", {
            "apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": dict({"name": self.name}, **metadata), "spec": spec})

    def patch(self, spec):
        self.cp.patch(self.cp.job_path(self.name, self.namespace), {"spec": spec})

    def scale(self, workers):
        self.patch({"mpiReplicaSpecs": {"Worker": {"replicas": workers}}})

    def suspend(self, on=True):
        self.patch({"runPolicy": {"suspend": on}})

    def pod_path(self, pod):
        return f"/api/v1/namespaces/{self.namespace}/pods/{pod['metadata']['name']}"

    def play(self, pod, **annotations):
        """Change how kwok plays a pod."""
        self.cp.patch(self.pod_path(pod), {"metadata": {"annotations": {
            f"mpijob.test/{key.replace('_', '-')}": value for key, value in annotations.items()}}})

    def make_ready(self):
        """Do what kwok would do later: let the workers run, and be ready."""
        for pod in self.view.pods("worker"):
            self.cp.patch(self.pod_path(pod) + "/status", {"status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": "True"}, {"type": "ContainersReady", "status": "True"}]}})

    def finish(self, code="0"):
        """Let the launcher end; it has to run."""
        running = self.view.pods("launcher", "Running")
        if not running:
            raise Failed(f"no launcher pod of {self.name} runs: {self.view.status}")
        for pod in running:
            self.play(pod, exit_code=code, run_for="200ms")

    def evict(self, pod):
        self.cp.patch(self.pod_path(pod) + "/status", {"status": {
            "phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"}})

    def delete_pod(self, index):
        self.cp.delete(f"/api/v1/namespaces/{self.namespace}/pods/{self.name}-worker-{index}")

    def delete_job(self):
        self.cp.delete(self.cp.job_path(self.name, self.namespace))


def scenario(where=PLAIN, name=None):
    def add(made):
        where[(name or made.__name__).replace("_", "-")] = made
        return made
    return add


def over(view):
    return view.condition("Succeeded") or view.condition("Failed")


# --- Ends ---

def all_run(view):
    """It runs, and its hosts are listed."""
    return view.condition("Running") and view.pods("launcher", "Running") and view.hosts() == view.workers() + bool(view.job["spec"].get("runLauncherAsWorker"))


def ending(policy, code="0", workers=2, **more):
    """A job that ends once all of it runs: what comes of it does not depend on who was faster."""
    def life(job):
        job.create(mpijob(workers, policy=policy, **more))
        yield all_run
        job.finish(code)
        yield over
    return life


for clean in ("None", "Running", "All"):
    scenario(name=f"succeeds-{clean.lower()}")(ending({"cleanPodPolicy": clean}))
    scenario(name=f"fails-{clean.lower()}")(ending({"cleanPodPolicy": clean, "backoffLimit": 0}, "3",
                                                   restart="Never"))


@scenario()
def ttl(job):
    yield from ending({"cleanPodPolicy": "Running", "ttlSecondsAfterFinished": 6})(job)
    yield lambda v: v.launcher is None and not v.pods("launcher")



scenario(name="twelve-workers")(ending({"cleanPodPolicy": "Running"}, workers=12))
scenario(name="launcher-works")(ending({"cleanPodPolicy": "Running"}, runLauncherAsWorker=True))
scenario(name="launcher-works-intel")(ending({"cleanPodPolicy": "All"}, runLauncherAsWorker=True, mpiImplementation="Intel"))
scenario(name="waits-for-workers")(ending({"cleanPodPolicy": "Running"}, worker={"start_after": "2s"},
                                          launcherCreationPolicy="WaitForWorkersReady"))
scenario(name="late-workers")(ending({"cleanPodPolicy": "Running"}, worker={"start_after": "3s"}))


@scenario()
def deadline(job):
    """It comes once all of it runs: the launcher Job's deadline may be changed, the job's own counts from its start."""
    job.create(mpijob(2, policy={"activeDeadlineSeconds": 600, "cleanPodPolicy": "All"}))
    yield all_run
    job.cp.patch(f"/apis/batch/v1/namespaces/{job.namespace}/jobs/{job.name}-launcher", {"spec": {"activeDeadlineSeconds": 1}})
    yield over


@scenario()
def restarts_on_failure(job):
    job.create(mpijob(1, policy={"backoffLimit": 0, "cleanPodPolicy": "Running"}, restart="OnFailure"))
    yield all_run
    job.finish("7")
    yield over


@scenario()
def worker_fails(job):
    """A failed worker stays as it is, and the job is resumed."""
    job.create(mpijob(2, policy={"cleanPodPolicy": "Running"}))
    yield lambda v: v.condition("Running")
    job.play(job.view.pods("worker", "Running")[1], exit_code="9", run_for="100ms")
    yield lambda v: len(v.pods("worker", "Failed")) == 1
    job.finish()
    yield over


@scenario()
def worker_deleted(job):
    job.create(mpijob(3, policy={"cleanPodPolicy": "All"}))
    yield lambda v: v.condition("Running")
    uid = job.view.snapshot.named("Pod", job.name + "-worker-1")["metadata"]["uid"]
    job.delete_pod(1)
    yield lambda v: v.workers() == 3 and v.snapshot.named("Pod", v.name + "-worker-1")["metadata"]["uid"] != uid
    yield lambda v: v.hosts() == 3
    job.finish()
    yield over


@scenario()
def deleted(job):
    job.create(mpijob(2))
    yield lambda v: v.condition("Running")
    job.delete_job()
    yield lambda v: v.job is None and not v.pods("worker") and not v.launcher and \
        not v.snapshot.named("ConfigMap", v.name + "-config")


# --- Suspended ---

@scenario()
def stays_suspended(job):
    job.create(mpijob(2, policy={"suspend": True}))
    yield lambda v: v.condition("Suspended") and v.launcher


@scenario()
def resumed(job):
    job.create(mpijob(2, policy={"suspend": True, "cleanPodPolicy": "Running"}))
    yield lambda v: v.condition("Suspended") and v.launcher
    job.suspend(False)
    yield all_run
    job.finish()
    yield over


@scenario()
def suspended_while_it_runs(job):
    job.create(mpijob(2, policy={"cleanPodPolicy": "Running"}))
    yield lambda v: v.condition("Running")
    job.suspend()
    yield lambda v: v.condition("Suspended") and not v.pods("worker") and not v.pods("launcher", "Running")
    job.suspend(False)
    yield all_run
    job.finish()
    yield over


@scenario()
def suspended_at_last(job):
    job.create(mpijob(2, policy={"cleanPodPolicy": "Running"}))
    yield lambda v: v.condition("Running")
    job.suspend()
    yield lambda v: v.condition("Suspended") and not v.pods("worker") and not v.pods("launcher", "Running")


@scenario()
def resumed_and_waits_for_workers(job):
    job.create(mpijob(2, policy={"suspend": True, "cleanPodPolicy": "Running"}, worker={"start_after": "1s"},
                      launcherCreationPolicy="WaitForWorkersReady"))
    yield lambda v: v.condition("Suspended")
    job.suspend(False)
    yield all_run
    job.finish()
    yield over


# --- Elastic ---

@scenario()
def scaled(job):
    job.create(mpijob(2, policy={"cleanPodPolicy": "Running"}))
    yield all_run
    job.scale(4)
    yield lambda v: v.workers() == 4 and v.hosts() == 4
    job.scale(1)
    yield lambda v: len(v.pods("worker")) == 1 and v.hosts() == 1
    job.finish()
    yield over


@scenario()
def scaled_and_runs(job):
    job.create(mpijob(3))
    yield lambda v: v.condition("Running") and v.hosts() == 3
    job.scale(2)
    yield lambda v: len(v.pods("worker")) == 2 and v.hosts() == 2


@scenario()
def launcher_works_and_scaled_up(job):
    job.create(mpijob(1, runLauncherAsWorker=True))
    yield all_run
    job.scale(3)
    yield lambda v: v.workers() == 3 and v.hosts() == 4


# --- Jobs of another kind ---

@scenario()
def managed_by_another(job):
    job.create(mpijob(2, policy={"managedBy": "kueue.x-k8s.io/multikueue"}))
    yield lambda v: v.job is not None


@scenario()
def refused(job):
    spec = mpijob(2)
    spec["mpiReplicaSpecs"]["Launcher"]["replicas"] = 2
    job.create(spec)
    yield lambda v: v.job is not None


@scenario()
def name_taken(job):
    job.cp.create(f"/api/v1/namespaces/{job.namespace}/services", {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": job.name, "labels": {"side-of": job.name}},
        "spec": {"clusterIP": "None", "selector": {"a": "b"}}})
    job.create(mpijob(1))
    yield lambda v: v.job is not None


@scenario()
def dressed(job):
    """Much of what a template may say."""
    spec = mpijob(2, policy={"cleanPodPolicy": "None", "backoffLimit": 2}, slotsPerWorker=4, sshAuthMountPath="/keys/.ssh",
                  mpiImplementation="OpenMPI", launcher_spec={"hostNetwork": True, "initContainers": [{"name": "i", "image": "i:1"}]},
                  worker_spec={"dnsConfig": {"searches": ["a.example"]}, "tolerations": [{"key": "k", "operator": "Exists"}],
                               "securityContext": {"runAsUser": 1000}, "terminationGracePeriodSeconds": 5})
    for role in spec["mpiReplicaSpecs"].values():
        role["template"]["metadata"]["labels"] = {"mine": "yes"}
        role["template"]["spec"]["containers"][0].update(
            env=[{"name": "A", "value": "b"}], resources={"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}},
            volumeMounts=[{"name": "v", "mountPath": "/v"}])
        role["template"]["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    job.create(spec, labels={"job": "label"}, annotations={"job": "annotation"})
    yield all_run
    job.finish()
    yield over


# --- Gangs ---

def gang(policy=None, scheduling=None, **more):
    def life(job):
        job.create(mpijob(2, policy=dict(policy or {}, **({"schedulingPolicy": scheduling} if scheduling else {})), **more))
        yield all_run
        job.finish()
        yield over
    return life


for clean in ("None", "All"):
    scenario(GANG, f"gang-{clean.lower()}")(gang({"cleanPodPolicy": clean}))
scenario(GANG, "gang-least")(gang({"cleanPodPolicy": "None"}, {"minAvailable": 2, "queue": "q", "scheduleTimeoutSeconds": 30,
                                                              "minResources": {"cpu": "3"}}))
scenario(GANG, "gang-class")(gang({"cleanPodPolicy": "None"}, {"priorityClass": "side-high"}))
scenario(GANG, "gang-worker-class")(gang({"cleanPodPolicy": "None"}, worker_spec={"priorityClassName": "side-high"}))
scenario(GANG, "gang-launcher-works")(gang({"cleanPodPolicy": "None"}, runLauncherAsWorker=True))


@scenario(GANG)
def gang_resources(job):
    spec = mpijob(2)
    for role, cpu in (("Launcher", "1"), ("Worker", "2")):
        spec["mpiReplicaSpecs"][role]["template"]["spec"]["containers"][0]["resources"] = {
            "requests": {"cpu": cpu, "memory": "64Mi"}, "limits": {"memory": "64Mi"}}
    job.create(spec)
    yield all_run
    job.finish()
    yield over


@scenario(GANG)
def gang_suspended(job):
    job.create(mpijob(2, policy={"suspend": True, "cleanPodPolicy": "None"}))
    yield lambda v: v.condition("Suspended") and v.launcher
    job.suspend(False)
    yield lambda v: v.condition("Running")
    job.suspend()
    yield lambda v: v.condition("Suspended") and not v.pods("worker") and not v.snapshot.objects["PodGroup"] or \
        v.condition("Suspended") and not v.pods("worker") and not v.snapshot.named("PodGroup", v.name)


@scenario(GANG)
def gang_scaled(job):
    job.create(mpijob(2))
    yield all_run
    job.scale(3)
    yield lambda v: v.workers() == 3 and v.hosts() == 3 and v.snapshot.named("PodGroup", v.name)["spec"]["minMember"] == 4


def prepare_gang(cp):
    cp.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "side-high"}, "value": 1000},
        exists=True)


# --- Examples ---

def examples(cp):
    """The reference's examples and ours, as scenarios by name."""
    files = {}
    if upstream_folder():
        for path in sorted(pathlib.Path(upstream_folder(), "examples/v2beta1").glob("*/*.yaml")):
            files["upstream-" + path.stem] = path
    for path in sorted(SOURCE.glob("examples/pi/*.yaml")):
        files["our-" + path.stem] = path
    for name in ("failing-never-0", "failing-on-failure-0"):
        files["our-" + name] = SOURCE / f"examples/jobs/{name}.yaml"
    return {name: example(cp, path) for name, path in files.items()}


def example(cp, path):
    done = subprocess.run([cp.bin + "/kubectl", "--kubeconfig=" + cp.kubeconfig, "create", "--dry-run=client", "-o", "json",
                           "-f", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failed(f"{path}: {done.stderr}")
    spec = json.loads(done.stdout)["spec"]

    def life(job):
        mine = copy.deepcopy(spec)
        if "ttlSecondsAfterFinished" in mine.get("runPolicy", {}):
            mine["runPolicy"]["ttlSecondsAfterFinished"] = 3600  # the scenario "ttl" is about that
        template = mine["mpiReplicaSpecs"]["Launcher"]["template"]
        template["metadata"] = dict(template.get("metadata") or {}, annotations={"mpijob.test/run-for": "900s"})
        job.create(mine)
        if "nvidia.com/gpu" in json.dumps(mine):
            yield lambda v: v.pods("launcher", "Running") and len(v.pods("worker")) == 2  # no node has such a device
        else:
            yield all_run
        job.finish("7" if path.stem.startswith("failing") else "0")
        yield over
    return life
