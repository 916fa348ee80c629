# SPDX-License-Identifier: Apache-2.0
"""Jobs in every phase that one operator can leave to another, and what must not happen to them when it does."""
import time

import scenarios
from scenarios import Life, mpijob
from side import equal, holds

NAMESPACE = "default"
STILL = {}  # they stay as they are until somebody does something


def phase(made):
    STILL[made.__name__.replace("_", "-")] = made
    return made


def running(**more):
    def life(job):
        job.create(mpijob(policy={"cleanPodPolicy": "Running"}, **more))
        yield lambda v: v.condition("Running") and v.hosts() == v.workers() + bool(more.get("runLauncherAsWorker"))
    return life


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


def reach(cp, chosen, timeout=90):
    """Have a job in each of these phases, under whoever leads."""
    lives = {name: Life(cp, NAMESPACE, name, one) for name, one in chosen.items()}
    move(cp, lives, timeout)
    return lives


def move(cp, lives, timeout=60):
    """Let lives go on to their ends."""
    left, end = list(lives.values()), time.monotonic() + timeout
    while left:
        shot = cp.snapshot(NAMESPACE)
        left = [life for life in left if not life.advance(shot)]
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


def restarts(shot):
    """How often containers of launchers were started again."""
    return {pod["metadata"]["name"]: sum(c.get("restartCount", 0) for c in pod["status"].get("containerStatuses") or ())
            for pod in shot.objects["Pod"]}
