# SPDX-License-Identifier: Apache-2.0
"""Random lifecycles on a real control plane: the acts that a script is drawn from, a watchman who sees each change of a job, of
its launcher and of their pods, and what a job must have when all is quiet."""
import collections
import datetime
import http.client
import json
import random
import ssl
import threading
import time

from scenarios import mpijob, over
from side import KINDS, LABEL, OUR_USER, Failed, View, equal, holds, wait

SLOTS = 10
NAMESPACES = ("lifecycles-0", "lifecycles-1")
STILL, WINDOW = 1.0, 1.5  # seconds without a change, and then without a request

Act = collections.namedtuple("Act", "pause name slot first second")
ACTS = {}


# --- Scripts ---

def act(often, first=(0, 0), second=(0, 0)):
    """One row: how often it is drawn, and the ranges of its numbers."""
    def add(made):
        ACTS[made.__name__] = (often, first, second, made)
        return made
    return add


def draw(seed, count):
    """A script. It does not depend on what the cluster does: an act that does not apply does nothing."""
    luck, there = random.Random(seed), set()
    names, often = list(ACTS), [row[0] for row in ACTS.values()]
    for _ in range(count):
        name = luck.choices(names, often)[0]
        fitting = sorted(set(range(SLOTS)) - there if name == "create" else there)
        slot = luck.choice(fitting) if fitting and luck.random() < 0.9 else luck.randrange(SLOTS)
        there = there | {slot} if name == "create" else there - {slot} if name == "delete" else there
        yield Act(luck.choice((0, 0, 0.05, 0.2, 0.5)), name, slot, luck.randint(*ACTS[name][1]), luck.randint(*ACTS[name][2]))


def write(script):
    return "".join(f"{one.pause} {one.name} {one.slot} {one.first} {one.second}\n" for one in script)


def read(text):
    """The acts among the lines of TEXT."""
    for line in text.splitlines():
        words = line.split()
        if len(words) == 5 and words[1] in ACTS:
            yield Act(float(words[0]), words[1], *map(int, words[2:]))


# --- Acts: each says whether it applied ---

@act(14, (2, 4), (0, 255))
def create(world, slot, workers, flags):
    policy = {"suspend": flags & 132 == 132, "backoffLimit": flags >> 5 & 1}
    if flags & 3:
        policy["cleanPodPolicy"] = ("None", "Running", "All")[(flags & 3) - 1]
    more = {"launcherCreationPolicy": "WaitForWorkersReady"} if flags & 8 else {}
    spec = mpijob(workers, policy=policy, runLauncherAsWorker=bool(flags & 16), restart="Never" if flags & 64 else "OnFailure", **more)
    return world.ask("POST", world.path("MPIJob", slot), {
        "apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": f"s{slot}"}, "spec": spec})


@act(4)
def suspend(world, slot, *_):
    return world.change(slot, {"runPolicy": {"suspend": True}})


@act(10)
def resume(world, slot, *_):
    return world.change(slot, {"runPolicy": {"suspend": False}})


@act(16, (1, 5))
def scale(world, slot, workers, _):
    """Up or down, as it comes."""
    return world.change(slot, {"mpiReplicaSpecs": {"Worker": {"replicas": workers}}})


@act(3)
def succeed(world, slot, *_):
    return world.end_launcher(slot, "0")


@act(3)
def fail(world, slot, *_):
    return world.end_launcher(slot, "3")


@act(5, (0, 1))
def lose_worker(world, slot, index, _):
    """Somebody deletes one of its pods."""
    return world.ask("DELETE", f"{world.path('Pod', slot)}/s{slot}-worker-{index}")


@act(6, (0, 1))
def delete(world, slot, how, _):
    return world.ask("DELETE", f"{world.path('MPIJob', slot)}/s{slot}", {
        "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": ("Background", "Foreground")[how]})


# --- The watchman ---

class Launcher:
    """A launcher's pod, which is live from one change to another."""

    def __init__(self, pod, began):
        self.name, self.job, self.began, self.ended = pod["metadata"]["name"], owner(pod), began, None


class Watchman:
    """Sees each change in the order in which it came about, and keeps what must not have happened."""

    def __init__(self, cp):
        self.cp, self.lock, self.count, self.faults = cp, threading.Lock(), 0, []
        self.objects = {kind: {} for kind in ("MPIJob", "Job", "Pod")}
        self.ends, self.runs, self.launchers = {}, {}, {}
        for kind in self.objects:
            path = KINDS[kind].replace("/namespaces/{}", "")
            found = cp.get(path)
            for one in found["items"]:
                self.changed(kind, "ADDED", one)
            threading.Thread(target=self.watch, args=(kind, path, found["metadata"]["resourceVersion"]), daemon=True).start()

    def watch(self, kind, path, version):
        context = ssl.create_default_context(cafile=self.cp.ca_file)
        connection = http.client.HTTPSConnection(self.cp.address, self.cp.port, context=context)
        connection.request("GET", f"{path}?watch=1&resourceVersion={version}", headers={"Authorization": "Bearer " + self.cp.token})
        for line in connection.getresponse():
            news = json.loads(line)
            self.changed(kind, news["type"], news["object"])
        self.faults.append(f"the watch of {kind}s has ended")

    def changed(self, kind, what, one):
        with self.lock:
            self.count += 1
            if kind == "MPIJob":
                self.job_changed(one)
            elif kind == "Job" and owner(one):
                self.runs.setdefault(owner(one), {})[one["metadata"]["uid"]] = one["metadata"]["name"]
            elif kind == "Pod" and role(one) == "launcher":
                self.launcher_changed(what, one)
            self.objects[kind][one["metadata"]["uid"]] = one
            if what == "DELETED":
                del self.objects[kind][one["metadata"]["uid"]]

    def job_changed(self, job):
        uid = job["metadata"]["uid"]
        now = [c["type"] for c in (job.get("status") or {}).get("conditions") or ()
               if c["type"] in ("Succeeded", "Failed") and c["status"] == "True"]
        if len(now) > 1:
            self.faults.append(f"{title(job)} is Succeeded and Failed")
        if uid in self.ends and now != self.ends[uid]:
            self.faults.append(f"{title(job)} was {self.ends[uid]}, and is {now}: an end is for ever")
        if now:
            self.ends[uid] = now

    def launcher_changed(self, what, pod):
        uid = pod["metadata"]["uid"]
        if what != "DELETED" and not pod["metadata"].get("deletionTimestamp") and \
                pod["status"].get("phase") not in ("Succeeded", "Failed"):
            self.launchers.setdefault(uid, Launcher(pod, self.count))
        elif uid in self.launchers and self.launchers[uid].ended is None:
            self.launchers[uid].ended = self.count

    def found(self):
        """What must not have happened."""
        with self.lock:
            wrong, of_job = list(self.faults), {run: job for job, runs in self.runs.items() for run in runs}
            wrong += [f"launcher {name} was made anew" for runs in self.runs.values() if len(runs) > 1 for name in set(runs.values())]
            by_job = collections.defaultdict(list)
            for pod in self.launchers.values():
                by_job[of_job.get(pod.job, pod.job)].append(pod)
        for pods in by_job.values():
            pods.sort(key=lambda pod: pod.began)
            wrong += [f"two launchers at a time: {one.name} and {other.name}" for one, other in zip(pods, pods[1:])
                      if one.ended is None or one.ended > other.began]
        return wrong

    def check(self):
        equal(self.found(), [], "what the watchman saw")

    def has_seen(self, shots):
        """Nothing of SHOTS is yet to come."""
        there = {kind: {one["metadata"]["uid"]: one["metadata"]["resourceVersion"] for shot in shots for one in shot.objects[kind]}
                 for kind in self.objects}
        with self.lock:
            return there == {kind: {uid: one["metadata"]["resourceVersion"] for uid, one in found.items()
                                    if one["metadata"].get("namespace") in NAMESPACES} for kind, found in self.objects.items()}

    def launcher_of(self, namespace, name):
        """The name of the launcher's pod that runs, if there is one."""
        with self.lock:
            return next((one["metadata"]["name"] for one in self.objects["Pod"].values()
                         if one["metadata"]["namespace"] == namespace and role(one) == "launcher" and
                         one["metadata"]["labels"].get(LABEL + "job-name") == name and
                         one["status"].get("phase") == "Running" and not one["metadata"].get("deletionTimestamp")), None)


def owner(one):
    return next((ref["uid"] for ref in one["metadata"].get("ownerReferences") or () if ref.get("controller")), None)


def role(pod):
    return (pod["metadata"].get("labels") or {}).get(LABEL + "job-role")


def title(one):
    return f"{one.get('kind', 'MPIJob')} {one['metadata']['namespace']}/{one['metadata']['name']}"


# --- What a job needs when all is quiet ---

def unsettled(view):
    """What the job of VIEW lacks, or has and should not."""
    uid, name = view.job["metadata"]["uid"], view.name
    if view.job["metadata"].get("deletionTimestamp"):
        return ["it is going"]
    wrong = [f"no {kind} of its own" for kind, child in (("Service", name), ("ConfigMap", name + "-config"), ("Secret", name + "-ssh"))
             if owner(view.snapshot.named(kind, child) or {"metadata": {}}) != uid]
    if view.launcher and owner(view.launcher) != uid:
        wrong.append("the launcher is another's")
    wrong += [f"worker {pod['metadata']['name']} is another's" for pod in view.pods("worker") if owner(pod) != uid]
    return wrong + rest(view)(view)


def rest(view):
    """How the job is to come to rest."""
    if over(view):
        return ended
    return suspended if view.job["spec"]["runPolicy"].get("suspend") else running


def unlike(**pairs):
    """Which of these (have, want) differ."""
    return [f"{what.replace('_', ' ')}: {have!r}, not {want!r}" for what, (have, want) in pairs.items() if have != want]


def live_launchers(view):
    return len(view.pods("launcher", "Running")) + len(view.pods("launcher", "Pending"))


def active(view, which):
    return ((view.status.get("replicaStatuses") or {}).get(which) or {}).get("active", 0)


def numbers(view):
    return sorted(int(pod["metadata"]["name"].rsplit("-", 1)[1]) for pod in view.pods("worker"))


def ended(view):
    policy = view.job["spec"]["runPolicy"].get("cleanPodPolicy", "None")
    left = {"None": [], "Running": view.pods("worker", "Running") + view.pods("worker", "Pending"), "All": view.pods("worker")}[policy]
    return unlike(workers_to_be_gone=(len(left), 0), launchers=(live_launchers(view), 0),
                  condition_Running=(view.condition("Running"), False), completion_time=(bool(view.status.get("completionTime")), True))


def suspended(view):
    launcher = view.launcher or {"spec": {"suspend": True}}
    return unlike(workers=(numbers(view), []), launchers=(live_launchers(view), 0),
                  launcher_suspended=(launcher["spec"].get("suspend"), True),
                  condition_Suspended=(view.condition("Suspended"), True), condition_Running=(view.condition("Running"), False),
                  active_workers=(active(view, "Worker"), 0))


def running(view):
    spec = view.job["spec"]
    count, hosts = spec["mpiReplicaSpecs"]["Worker"]["replicas"], view.snapshot.named("ConfigMap", view.name + "-config")
    extra = bool(spec.get("runLauncherAsWorker"))
    return unlike(workers=(numbers(view), list(range(count))), workers_that_run=(view.workers(), count),
                  launchers=(len(view.pods("launcher", "Running")), 1), live_launchers=(live_launchers(view), 1),
                  launcher_suspended=(((view.launcher or {}).get("spec") or {}).get("suspend"), False),
                  hostfile=(len(((hosts or {}).get("data") or {}).get("hostfile", "").splitlines()), count + extra),
                  hosts_to_discover=(view.hosts(), count + extra), condition_Running=(view.condition("Running"), True),
                  condition_Suspended=(view.condition("Suspended"), False),
                  active_workers=(active(view, "Worker"), count), active_launchers=(active(view, "Launcher"), 1))


def orphans(shot):
    """What nobody owns, or somebody who is not there."""
    there = {one["metadata"]["uid"] for found in shot.objects.values() for one in found}
    return [f"{title(dict(one, kind=kind))} is an orphan" for kind, found in shot.objects.items() for one in found
            if kind != "MPIJob" and one["metadata"]["name"] != "kube-root-ca.crt" and owner(one) not in there]


def views(shots):
    return [View(shot, job["metadata"]["name"]) for shot in shots for job in shot.objects["MPIJob"]]


# --- The world ---

class World:
    """The namespaces with their jobs under our operator, and who watches over them."""

    def __init__(self, cp):
        self.cp, self.watchman, self.done = cp, Watchman(cp), []
        self.applied, self.rested = collections.Counter(), collections.Counter()

    def path(self, kind, slot):
        return KINDS[kind].format(NAMESPACES[slot % 2])

    def ask(self, method, path, body=None, content_type="application/json"):
        """A request that may come too late, or for something that is there; True if it did something."""
        status, answer = self.cp.request(method, path, body, content_type)
        holds(status in (200, 201, 202, 404, 409), f"{method} {path}: {status}: {answer}")
        return status < 300

    def patch(self, path, document):
        return self.ask("PATCH", path, document, "application/merge-patch+json")

    def change(self, slot, spec):
        return self.patch(f"{self.path('MPIJob', slot)}/s{slot}", {"spec": spec})

    def end_launcher(self, slot, code):
        name = self.watchman.launcher_of(NAMESPACES[slot % 2], f"s{slot}")
        return bool(name) and self.patch(f"{self.path('Pod', slot)}/{name}", {"metadata": {"annotations": {
            "mpijob.test/exit-code": code, "mpijob.test/run-for": "100ms"}}})

    def play(self, script, rest_every=30):
        """Carry out a script, and let all settle now and then, and at its end."""
        for one in script:
            time.sleep(one.pause)
            self.done.append(one)
            self.applied[one.name] += ACTS[one.name][3](self, one.slot, one.first, one.second)
            self.watchman.check()
            if len(self.done) % rest_every == 0:
                self.settle()
        self.settle()

    def shots(self):
        return [self.cp.snapshot(namespace) for namespace in NAMESPACES]

    def wrong(self, shots):
        return [text for shot in shots for text in orphans(shot)] + \
            [f"{title(view.job)}: {text}" for view in views(shots) for text in unsettled(view)]

    def settle(self, timeout=45, meanwhile=lambda: None):
        """Wait until every job has what it needs and nothing changes; then the operator has nothing to ask."""
        last, since, end = None, time.monotonic(), time.monotonic() + timeout
        while time.monotonic() - since < STILL:
            shots = self.shots()
            wrong, now = self.wrong(shots), [shot.versions() for shot in shots]
            if wrong or now != last:
                last, since = now, time.monotonic()
            if time.monotonic() > end:
                raise Failed(f"it does not settle in {timeout} s: " + ("; ".join(wrong) or "there are changes without end"))
            time.sleep(0.1)
        began = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")
        meanwhile()
        time.sleep(WINDOW)
        equal(self.requests(began), [], "requests of the operator while nothing happens")
        wait(lambda: self.watchman.has_seen(self.shots()), 10, "the watchman to have seen all")
        self.watchman.check()
        self.rested.update(rest(view).__name__ for view in views(shots))

    def requests(self, since):
        """What the operator asked for; a Lease is renewed, and a watch taken up, for no job's sake."""
        return [f"{one['verb']} {one['requestURI']}" for one in self.cp.requests(OUR_USER)
                if one["requestReceivedTimestamp"] >= since and one["verb"] != "watch" and
                (one.get("objectRef") or {}).get("resource") != "leases"]

    def clear(self):
        """Delete every job: nothing is left."""
        for slot in range(SLOTS):
            delete(self, slot, slot % 2, 0)
        wait(lambda: not any(shot.objects[kind] for shot in self.shots() for kind in ("MPIJob", "Job", "Pod", "Service", "Secret")), 60,
             "what is left of deleted jobs to go")
        self.settle()
