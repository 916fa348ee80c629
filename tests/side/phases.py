# SPDX-License-Identifier: Apache-2.0
"""Jobs in every phase that one operator can leave to another, and what must not happen to them when it does."""
import time

import scenarios
from scenarios import Lifecycle, mpijob
from side import OUR_USER, equal, holds

NAMESPACE = "default"
STILL = {}  # they stay as they are until somebody does something
GANG = {}   # likewise, with a gang scheduler


def phase(made):
    STILL[made.__name__.replace("_", "-")] = made
    return made


def running(**more):
    def lifecycle(job):
        job.create(mpijob(policy={"cleanPodPolicy": "Running"}, **more))
        yield lambda v: v.condition("Running") and v.hosts() == v.workers() + bool(more.get("runLauncherAsWorker"))
    return lifecycle


STILL["running"] = running()
STILL["running-too"] = running()
STILL["running-intel"] = running(mpiImplementation="Intel")
STILL["running-mpich"] = running(mpiImplementation="MPICH", runLauncherAsWorker=True)
STILL["running-twelve"] = running(workers=12)


@phase
def starting(job):
    """One worker runs, one does not yet."""
    job.create(mpijob(2, worker={"start_after": "900s"}))
    yield lambda v: len(v.pods("launcher", "Running")) == 1 and len(v.pods("worker")) == 2


@phase
def waiting(job):
    """The launcher is yet to be made."""
    job.create(mpijob(2, worker={"start_after": "900s"}, launcherCreationPolicy="WaitForWorkersReady"))
    yield lambda v: len(v.pods("worker")) == 2


def lasting(name):
    """A scenario of the comparison that ends with a job that is still there."""
    STILL["was-" + name] = scenarios.PLAIN[name]


for one in ("succeeds-none", "succeeds-running", "succeeds-all", "fails-none", "fails-all", "ttl", "deadline", "stays-suspended",
            "suspended-at-last", "scaled-and-runs", "managed-by-another", "refused", "launcher-works-and-scaled-up"):
    lasting(one)


@phase
def worker_failed(job):
    job.create(mpijob(2))
    yield lambda v: v.condition("Running")
    job.play(job.view.pods("worker", "Running")[1], exit_code="9", run_for="100ms")
    yield lambda v: len(v.pods("worker", "Failed")) == 1


def gang(policy=None, launcher_spec=None, **worker_spec):
    """A job with a PodGroup, which the two make otherwise when more than containers and equal classes count."""
    def lifecycle(job):
        spec = mpijob(2, policy=policy, launcher_spec=launcher_spec, worker_spec=worker_spec)
        for role, cpu in (("Launcher", "100m"), ("Worker", "1")):
            spec["mpiReplicaSpecs"][role]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
        job.create(spec)
        yield lambda v: v.condition("Running") and v.hosts() == 2 and v.snapshot.named("PodGroup", v.name)
    return lifecycle


FETCH = [{"name": "fetch", "image": "fetch:1", "resources": {"requests": {"cpu": "2"}}}]
HEAVY = {"runtimeClassName": "side-heavy", "overhead": {"cpu": "250m"}}
GANG["gang"] = gang()
GANG["gang-that-fetches"] = gang(initContainers=FETCH)
GANG["gang-with-overhead"] = gang(launcher_spec=HEAVY, **HEAVY)
GANG["gang-of-higher-workers"] = gang({"schedulingPolicy": {"minAvailable": 2}}, priorityClassName="side-high")


def prepare_gang(cp):
    scenarios.prepare_gang(cp)
    cp.create("/apis/node.k8s.io/v1/runtimeclasses", {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "side-heavy"}, "handler": "heavy",
        "overhead": {"podFixed": HEAVY["overhead"]}}, exists=True)


def reach(cp, chosen, timeout=90):
    """Have a job in each of these phases, under whoever leads."""
    lifecycles = {name: Lifecycle(cp, NAMESPACE, name, one) for name, one in chosen.items()}
    move(cp, lifecycles, timeout)
    return lifecycles


def move(cp, lifecycles, timeout=60):
    """Let lifecycles go on to their ends."""
    left, end = list(lifecycles.values()), time.monotonic() + timeout
    while left:
        shot = cp.snapshot(NAMESPACE)
        left = [lifecycle for lifecycle in left if not lifecycle.advance(shot)]
        holds(time.monotonic() < end, "every job gets on; stuck: " + "; ".join(map(str, left)))
        time.sleep(0.15)
    return settle(cp)


def settle(cp, quiet=1.5, timeout=60):
    """Wait until nothing changes any more; what there is then."""
    last, since, end = None, time.monotonic(), time.monotonic() + timeout
    while time.monotonic() - since < quiet:
        now = cp.snapshot(NAMESPACE)
        if last is None or now.versions() != last.versions():
            last, since = now, time.monotonic()
        holds(time.monotonic() < end, "it becomes quiet")
        time.sleep(0.2)
    return last


def same_objects(before, after, what):
    """No object was made, removed or made anew."""
    ids = [{key: version[0] for key, version in shot.versions().items()} for shot in (before, after)]
    wrong = sorted("/".join(key) for key in {*ids[0], *ids[1]} if ids[0].get(key) != ids[1].get(key))
    equal(wrong, [], f"objects that are not the same after {what}")


def unchanged(cp, before, user, since, what, again=()):
    """Nothing came of a change of leaders; statuses that only the reference writes again are counted. What it also writes
    AGAIN, as it was, is to be looked at by the caller."""
    after = settle(cp)
    same_objects(before, after, what)
    equal(restarts(after), restarts(before), f"restarts after {what}")
    written = [one for one in cp.writes(user, since) if one[2] == NAMESPACE]
    children = [one for one in written if one[1].split("/")[0] not in ("mpijobs", "events", *again)]
    equal(children, [], f"writes to children after {what}")
    return written


def untouched(cp, before, since, what):
    """The same of ours, which writes nothing at all about a job that did not change. That a job is refused stands in no
    status: the next leader tells it once more."""
    written = unchanged(cp, before, OUR_USER, since, what)
    again = [one for one in written if one[:3] == ("create", "events", NAMESPACE) and one[3].startswith("was-refused.")]
    holds(len(again) <= 1, f"what is told again after {what}: {again}")
    equal([one for one in written if one not in again], [], f"writes about jobs that did not change after {what}")


def restarts(shot):
    """How often containers of launchers were started again."""
    return {pod["metadata"]["name"]: sum(c.get("restartCount", 0) for c in pod["status"].get("containerStatuses") or ())
            for pod in shot.objects["Pod"]}
