# SPDX-License-Identifier: Apache-2.0
"""Which row of docs/differences.md explains a difference between mpi-operator's and our way with a job.

Each rule bears the id of a row. It says under which circumstances the row applies, which differences it then covers, and
where that can be worked out, what the right outcome is.
"""
import dataclasses
import re

import lifecycles

RULES = {}
TERMINAL = ("Succeeded", "Failed")


@dataclasses.dataclass
class Difference:
    where: str  # an object, "status", "event" or "counter"
    path: str
    theirs: object
    ours: object

    def __str__(self):
        words = [text if len(text) < 300 else text[:100] + " [...] " + text[-100:]
                 for text in (self.path, repr(self.theirs), repr(self.ours))]
        return f"{self.where} {words[0]}: {words[1]} there, {words[2]} here"


def row(name):
    def add(rule):
        RULES[name] = rule
        return rule
    return add


def conditions(job):
    return {c["type"]: c for c in (job.get("status") or {}).get("conditions") or []}


def ends(job):
    """The types of conditions that ended a job."""
    return [kind for kind, found in conditions(job).items() if kind in TERMINAL and found["status"] == "True"]


def hosts(text):
    """The workers that a discover_hosts.sh lists, without their domains, and the launcher."""
    return [line.split(" ")[1].split(".")[0] for line in (text or "").strip().split("\n")[1:]]


class Moment:
    """A step of a lifecycle: what was there before, and what both made of it."""

    def __init__(self, before, clusters, answers, script, found):
        self.before, self.theirs, self.ours = before, clusters[0], clusters[1]
        self.answers, self.found = answers, found
        self.options = script["options"]
        self.reference = self.options["reference"]
        self.spec = before.job["spec"]
        self.policy = self.spec.get("runPolicy") or {}
        self.wait = self.spec.get("launcherCreationPolicy", "AtStartup") != "AtStartup"
        self.launcher_works = bool(self.spec.get("runLauncherAsWorker"))
        self.clean = self.policy.get("cleanPodPolicy", "None")
        self.suspended = before.suspended()
        self.wanted = before.workers()
        if self.wanted is None:
            self.wanted = 0 if self.reference else 1
        self.pods = before.worker_pods()

    def explain(self, difference):
        for name, rule in RULES.items():
            if rule(self, difference):
                return name
        return None

    def made(self, key):
        """Whether both made this object just now."""
        return key not in self.before.objects and key in self.theirs and key in self.ours

    def ended_before(self):
        return ends(self.before.job)

    def job_ended(self):
        """The launcher's Job came to its end."""
        job = self.before.launcher()
        found = (job or {}).get("status", {}).get("conditions") or []
        return any(c["type"] in ("Complete", "Failed") and c["status"] == "True" for c in found)

    def evicted(self):
        """A worker of a job that goes on was evicted."""
        return not self.suspended and not self.job_ended() and any(
            pod["status"]["phase"] == "Failed" and pod["status"].get("reason") == "Evicted"
            for index, pod in self.pods.items() if index < self.wanted)

    def foreign(self):
        """Children whose names somebody else took."""
        names = ["Service/pi", "ConfigMap/pi-config", "Secret/pi-ssh", "Job/pi-launcher"]
        if self.options.get("gangScheduler"):
            names.append("PodGroup/pi")
        names += [f"Pod/pi-worker-{i}" for i in range(self.wanted)]
        return [key for key in names if self.before.get(key) and not self.before.owned(key)]

    def leaving(self):
        """Names of workers that were being deleted before, or are now."""
        return {key[4:] for objects in (self.before.objects, self.theirs, self.ours) for key, entry in objects.items()
                if key.startswith("Pod/pi-worker-") and entry["metadata"].get("deletionTimestamp")}

    def emptied(self):
        """Of a job that is suspended, no worker of its own and no PodGroup stays."""
        mine = [f"Pod/pi-worker-{i}" for i in self.pods] + ["PodGroup/pi"] * bool(self.options.get("gangScheduler"))
        left = [self.ours[key] for key in mine if self.before.owned(key) and key in self.ours]
        return all(entry["metadata"].get("deletionTimestamp") for entry in left)

    def untouched(self, key):
        """We left an object as it was, or absent."""
        known = self.before.get(key)
        return self.ours.get(key) == (lifecycles.canonical([known]).popitem()[1] if known else None)

    def unchanged(self, key):
        """They left an object as it was, or absent."""
        known = self.before.get(key)
        return self.theirs.get(key) == (lifecycles.canonical([known]).popitem()[1] if known else None)

    def unchanged_status(self, job):
        return lifecycles.prune(job.get("status")) == lifecycles.prune(self.before.job.get("status"))

    def cleaned(self):
        """Of a job that ended, we left exactly the workers that the policy keeps, and no PodGroup that it does not."""
        for index, pod in self.pods.items():
            now = self.ours.get(f"Pod/pi-worker-{index}")
            gone = now is None or "deletionTimestamp" in now["metadata"]
            keep = self.clean == "None" or (self.clean == "Running" and pod["status"]["phase"] not in ("Running", "Pending"))
            if gone == keep and not pod["metadata"].get("deletionTimestamp"):
                return False
        group = self.options.get("gangScheduler") and self.before.owned("PodGroup/pi")
        return not group or ("PodGroup/pi" in self.ours) == (self.clean == "None")

    def stopped(self):
        """We let the launcher rest."""
        job = self.ours.get("Job/pi-launcher")
        return job is None or self.job_ended() or bool(job["spec"].get("suspend")) or not self.before.owned("Job/pi-launcher")


# --- What is refused ---

def refused(answer):
    return [e[2] for e in answer["events"] or [] if e[1] == "ValidationError"]


@row("worker-replicas")
def worker_replicas(moment, d):
    """We make one worker; they refuse the job, and leave all as it is."""
    worker = (moment.spec.get("mpiReplicaSpecs") or {}).get("Worker")
    return (not moment.reference and worker and "replicas" not in worker and not refused(moment.answers[1]) and
            any("mpiReplicaSpecs[Worker].replicas" in text for text in refused(moment.answers[0])) and
            (d.where in ("event", "counter", "status") or moment.unchanged(d.where)))


@row("launcher-creation-policy")
def launcher_creation_policy(moment, d):
    """We refuse a word that they do not know either, and leave all as it is."""
    return (not moment.reference and moment.spec.get("launcherCreationPolicy") == "Sometimes" and
            any("spec.launcherCreationPolicy" in text for text in refused(moment.answers[1])) and
            (d.where in ("event", "counter", "status") or moment.untouched(d.where)))


# --- What is rendered ---

@row("openmpi5-variables")
def openmpi5(moment, d):
    return (not moment.reference and moment.made("Job/pi-launcher") and d.where == "Job/pi-launcher" and d.theirs is None and
            re.fullmatch(r"\.spec\.template\.spec\.containers\[0\]\.env\[\d+\]", d.path) and d.ours["name"].startswith("PRTE_MCA_"))


@row("mpich-launcher-args")
def mpich(moment, d):
    return (not moment.reference and moment.made("Job/pi-launcher") and d.where == "Job/pi-launcher" and d.theirs is None and
            re.fullmatch(r"\.spec\.template\.spec\.containers\[0\]\.env\[\d+\]", d.path) and
            d.ours == {"name": "HYDRA_LAUNCHER_EXTRA_ARGS", "value": "-o ConnectionAttempts=10"})


@row("intel-launcher-name")
def intel_launcher(moment, d):
    return (not moment.reference and d.where == "ConfigMap/pi-config" and d.path == ".data.hostfile" and moment.launcher_works and
            moment.spec.get("mpiImplementation") == "Intel" and not moment.options.get("clusterDomain") and
            d.ours == re.sub(r"^pi-launcher\.[^:]*", "pi-launcher", d.theirs))


@row("search-domain")
def search_domain(moment, d):
    return (not moment.reference and moment.made(d.where) and d.where.startswith("Pod/pi-worker-") and
            re.fullmatch(r"\.spec\.dnsConfig\.searches\[\d+\]", d.path) and d.theirs == "pi.ns.svc.cluster.local" and
            d.ours == "pi.ns.svc." + moment.options["clusterDomain"])


@row("gang-priority")
def gang_priority(moment, d):
    """By value tests/oracle/test-render checks it."""
    specs = moment.spec.get("mpiReplicaSpecs") or {}
    least = (moment.policy.get("schedulingPolicy") or {}).get("minAvailable")
    classes = moment.options.get("priorityClasses") or {}
    values = [classes.get(replica["template"]["spec"].get("priorityClassName"), 0) for replica in specs.values()]
    return (not moment.reference and d.where == "PodGroup/pi" and d.path.startswith(".spec.minResources") and
            least is not None and least <= moment.wanted and len(values) == 2 and values[1] > values[0])


@row("gang-init-containers")
def gang_init(moment, d):
    return (not moment.reference and d.where == "PodGroup/pi" and d.path.startswith(".spec.minResources") and
            any(replica["template"]["spec"].get("initContainers") for replica in moment.spec["mpiReplicaSpecs"].values()))


# --- discover_hosts.sh ---

def is_script(d):
    return d.where == "ConfigMap/pi-config" and d.path == ".data.discover_hosts.sh"


@row("discover-hosts-order")
def hosts_order(moment, d):
    if moment.reference or not is_script(d):
        return False
    order = sorted(hosts(d.theirs), key=lambda name: int(name.rsplit("-", 1)[1]) if "-worker-" in name else -1)
    return hosts(d.ours) == order and hosts(d.theirs) == sorted(hosts(d.theirs)[:moment.launcher_works]) + sorted(
        hosts(d.theirs)[moment.launcher_works:])


@row("same-hosts-stay")
def same_hosts(moment, d):
    if d.path == ".data.hostfile" and d.where == "ConfigMap/pi-config":
        # The same job, workers and slots behind other domains.
        said = [re.sub(r"(-\w+)\.[^: \n]*", r"\1", text) for text in (d.theirs, d.ours)]
        return moment.before.get(d.where)["data"].get("hostfile") == d.ours and said[0] == said[1]
    return (is_script(d) and moment.before.owned(d.where) and moment.before.get(d.where)["data"].get("discover_hosts.sh") == d.ours and
            sorted(hosts(d.theirs)) == sorted(hosts(d.ours)))


def starts_end(moment):
    """When starts are gathered no longer: workers have paused for as long as their starts took, 1 to 30 s."""
    times = [lifecycles.ms_of(pod["status"]["startTime"]) for index, pod in moment.pods.items() if index < moment.wanted and
             pod["status"]["phase"] == "Running" and not pod["metadata"].get("deletionTimestamp")]
    return max(times) + min(30000, max(1000, max(times) - min(times)))


@row("hosts-gathered")
def hosts_gathered(moment, d):
    """Some that run are not listed yet; at the time that the plan gives they are, unless it looks before for a name that is taken."""
    answer = moment.answers[1]
    if not is_script(d) or "later" not in answer:
        return False
    steady = {f"pi-worker-{i}" for i, pod in moment.pods.items() if i < moment.wanted and pod["status"]["phase"] == "Running" and
              not pod["metadata"].get("deletionTimestamp")}
    listed = {name for name in hosts(d.ours) if "-worker-" in name}
    if not (listed < steady and len(steady) < moment.wanted and len(steady) < 2 * len(listed)):
        return False
    if reported(answer) and answer["next"] == moment.before.now + 60000 < starts_end(moment):
        return hosts(answer["later"]) == hosts(d.ours)
    return {name for name in hosts(answer["later"]) if "-worker-" in name} == steady


# --- The lifecycle of a job ---

def event(d):
    """(type, reason, message) of an event."""
    return d.path.split("|", 2) if d.where == "event" else (None, None, None)


def about_worker(d):
    return re.fullmatch(r"Pod/pi-worker-\d+", d.where)


def running(d):
    """The part of a status, or the event, that says that a job runs."""
    return (d.where == "status" and (d.path.startswith(".conditions.Running") or d.path == ".order")) or \
        event(d)[1] == "MPIJobRunning"


@row("events-once")
def events_once(moment, d):
    kind, reason, _ = event(d)
    if reason == "MPIJobRunning":
        known = moment.before.condition("Running") and conditions(moment.before.job)["Running"]["reason"] == "MPIJobRunning"
        return moment.theirs["MPIJob"].get("status", {}) and d.theirs > d.ours == (0 if known else 1)
    if reason == "SetPodTemplateRestartPolicy":
        # They tell again when a launcher goes on, we when it is made.
        job = moment.before.launcher()
        return d.ours == 0 and job and bool(job["spec"].get("suspend")) and not moment.suspended
    return False


@row("evicted-job-ends")
def evicted_ends(moment, d):
    if conditions(moment.before.job).get("Failed", {}).get("reason") == "MPIJobEvicted" and moment.ended_before():
        # The launcher that was stopped is counted once more when its pods are gone.
        pod = moment.before.launcher_pod()
        runs = bool(pod) and pod["status"]["phase"] == "Running"
        return d.where == "status" and d.path == ".replicas.Launcher.active" and d.ours == runs and moment.stopped()
    if not moment.evicted() or moment.ended_before():
        return False
    status = moment.ours["MPIJob"].get("status", {})
    end = conditions(moment.ours["MPIJob"]).get("Failed", {})
    if end.get("reason") != "MPIJobEvicted" or "completionTime" not in status or not moment.cleaned() or not moment.stopped():
        return False
    if d.where == "counter":
        return d.path == "failed" and (d.theirs, d.ours) == (0, 1)
    gone = sum(pod["status"]["phase"] == "Failed" and pod["status"].get("reason") == "Evicted"
               for index, pod in moment.pods.items() if index < moment.wanted)
    words = f"{gone}/{moment.wanted} workers are evicted"
    if d.where == "event":
        _, reason, message = event(d)
        if reason == "MPIJobEvicted":
            return d.ours == (message == end["message"]) and (d.ours or message == words)
        # They do what a job that goes on needs, and say so.
        return d.ours == 0 and reason in ("SetPodTemplateRestartPolicy", "MPIJobResumed")
    if d.where == "status":
        if d.path == ".completionTime":
            return (d.theirs, d.ours) == (None, lifecycles.time_of(moment.before.now))
        if d.path == ".conditions.Failed.message":
            return d.theirs == words and d.ours.startswith(words + "; worker pod pi-worker-")
        # Workers of a job that ended are counted no more once they are cleaned up.
        return moment.clean != "None" and d.path.startswith(".replicas.Worker.") and d.ours == 0
    if d.path == "" and d.theirs == "there" and d.where not in moment.before.objects:
        return d.ours is None # made for a job that goes on
    if d.where == "Job/pi-launcher" and not moment.untouched(d.where):
        return d.path == ".spec.suspend" and d.ours is True and not d.theirs
    if about_worker(d) or (d.where == "PodGroup/pi" and not moment.untouched(d.where)):
        return d.path in ("", ".metadata.deletionTimestamp") # what stays was looked at above
    return moment.untouched(d.where)


def failed_pods(moment, message):
    """Whether a message names pods, and only such that failed."""
    named = re.findall(r"(?:worker|launcher) pod (pi-[a-z0-9-]+)(?: on node [a-z0-9-]+)? failed", message)
    pods = [moment.before.get("Pod/" + name) for name in named]
    return bool(pods) and all(pod and pod["status"]["phase"] == "Failed" for pod in pods)


@row("failure-names-pods")
def failure_names_pods(moment, d):
    ours, theirs = (conditions(cluster["MPIJob"]).get("Failed") for cluster in (moment.ours, moment.theirs))
    if not ours or not theirs or moment.ended_before() or not failed_pods(moment, ours["message"]):
        return False
    said = theirs["message"][:-3] if theirs["message"].endswith("...") else theirs["message"]
    said = said.rstrip("\ufffd")
    words = re.split("; (?:launcher|worker) pod ", ours["message"])[0]
    words = words[:-3] if words.endswith("...") else words
    if not words.startswith(said[:len(words)]) or not said[:len(words)] or not ours["reason"].startswith(theirs["reason"]):
        return False
    if d.where == "status":
        return d.path == ".conditions.Failed.message" or (
            d.path == ".conditions.Failed.reason" and theirs["reason"] == "BackoffLimitExceeded/")
    if event(d)[0] == "Warning":
        return event(d)[1:] in ([theirs["reason"], theirs["message"]], [ours["reason"], ours["message"]])
    return False


@row("validation-words")
def validation_words(moment, d):
    """Others words about the same fields."""
    def fields(message):
        return re.findall(r"(?:^|[ \[])((?:spec|metadata)[A-Za-z0-9_.\[\]]*): ", message)
    _, reason, message = event(d)
    if reason != "ValidationError" or {d.theirs, d.ours} != {0, 1}:
        return False
    told = [[e[2] for e in answer["events"] if e[1] == reason] for answer in moment.answers]
    if len(told[0]) != 1 or len(told[1]) != 1:
        return False
    theirs = fields(told[0][0])
    worker = (moment.spec.get("mpiReplicaSpecs") or {}).get("Worker")
    if not moment.reference and worker and "replicas" not in worker:
        theirs.remove("spec.mpiReplicaSpecs[Worker].replicas") # that is row worker-replicas
    ours = fields(told[1][0])
    if not moment.reference and moment.spec.get("launcherCreationPolicy") == "Sometimes":
        ours.remove("spec.launcherCreationPolicy") # and that is row launcher-creation-policy
    return sorted(theirs) == sorted(ours) != []


def cut(text):
    """The longest beginning of whole characters that fits with the dots."""
    return text.encode()[:1021].decode(errors="ignore") + "..."


@row("messages-cut")
def messages_cut(moment, d):
    theirs, ours = (conditions(cluster["MPIJob"]).get("Failed") for cluster in (moment.theirs, moment.ours))
    if not theirs or not ours or theirs["reason"] != ours["reason"]:
        return False
    # Where they cut, too, we name the pod behind that.
    if len(theirs["message"].encode()) <= 1024 or ours["message"] != cut(theirs["message"]):
        return False
    if event(d)[0] == "Warning":
        return (event(d)[1:], d.ours) in (([ours["reason"], ours["message"]], 1), ([theirs["reason"], theirs["message"]], 0))
    return (d.where, d.path) == ("status", ".conditions.Failed.message")


@row("finished-stays-finished")
def finished_stays(moment, d):
    """Left by the reference: a job that is Failed has no completion time, and goes on."""
    status = moment.before.job.get("status") or {}
    if not moment.ended_before() and moment.job_ended() and moment.before.launcher():
        # Its launcher's Job has ended: to suspend it, or let it go on, does nothing to its children.
        return (moment.suspended and (about_worker(d) or d.where == "PodGroup/pi") and moment.cleaned() and (
            d.theirs is None or (d.path == ".metadata.deletionTimestamp" and d.ours is None)) or
                d.where == "Job/pi-launcher" and moment.untouched(d.where) or
                d.where == "event" and event(d)[1] == "SetPodTemplateRestartPolicy" and d.ours == 0)
    if not moment.ended_before() or "completionTime" in status:
        return False
    now = moment.ours["MPIJob"]
    if ends(now) != moment.ended_before() or "completionTime" not in now.get("status", {}) or not moment.cleaned() or not moment.stopped():
        return False
    if d.where == "status":
        ours = conditions(now)
        return d.path == ".completionTime" or d.path.startswith(".replicas.") or all(
            ours.get(kind) == found for kind, found in conditions(moment.before.job).items())
    if d.where in ("event", "counter"):
        return d.ours == 0
    return moment.untouched(d.where) or d.path in (".spec.suspend", ".metadata.deletionTimestamp") or d.ours is None


def reported(answer):
    """(name, kind) of each report that a name is taken."""
    return [re.fullmatch(r'Resource "(\S+)" of Kind "(\w*)" already exists and is not managed by MPIJob', e[2]).groups()
            for e in answer["events"] or [] if e[1] == "ErrResourceExists"]


def new_condition(moment, kind, status, reason):
    """Whether we set a condition just now."""
    known, found = conditions(moment.before.job).get(kind, {}), conditions(moment.ours["MPIJob"]).get(kind, {})
    now = lifecycles.time_of(moment.before.now)
    return (found.get("status"), found.get("reason")) == (status, reason) and found.get("lastUpdateTime") == now and \
        found.get("lastTransitionTime") == (now if known.get("status") != status else known.get("lastTransitionTime"))


def seen_first(moment, d):
    """They begin again each time, since they stop before the status is written: we write that the job was seen."""
    if conditions(moment.before.job) or not new_condition(moment, "Created", "True", "MPIJobCreated"):
        return False
    if event(d)[1] == "MPIJobCreated" or (d.where, d.path) == ("counter", "created"):
        return (d.theirs, d.ours) == (3, 1)
    return d.where == "status" and d.theirs is None and d.path == ".conditions.Created"


def ends_evicted(moment):
    """We end a job just now because workers were evicted."""
    return moment.evicted() and not moment.ended_before() and new_condition(moment, "Failed", "True", "MPIJobEvicted")


def passed_over(moment, d):
    """A name that is taken keeps us neither from suspending nor from ending a job."""
    evicted, now = ends_evicted(moment), lifecycles.time_of(moment.before.now)
    ended = moment.ended_before() or moment.job_ended() or evicted
    if not (moment.cleaned() if ended else moment.emptied()) or not moment.stopped():
        return False
    if about_worker(d) or d.where == "PodGroup/pi":
        return moment.before.owned(d.where) and (d.path, d.theirs, d.ours) in (
            ("", "there", None), (".metadata.deletionTimestamp", None, now))
    if d.where == "Job/pi-launcher":
        return evicted and (d.path, bool(d.theirs), d.ours) == (".spec.suspend", False, True)
    if is_script(d):
        # Those of us run no more.
        running = [{key[4:] for key, pod in cluster.items() if key.startswith("Pod/pi-worker-") and
                    pod["status"]["phase"] == "Running" and not pod["metadata"].get("deletionTimestamp")}
                   for cluster in (moment.theirs, moment.ours)]
        listed = [{name for name in hosts(text) if "-worker-" in name} for text in (d.theirs, d.ours)]
        return listed[1] == running[1] & set(listed[0]) and listed[0] <= running[0]
    fresh = [c for c in conditions(moment.ours["MPIJob"]).values() if c.get("lastUpdateTime") == now]
    if d.where == "event":
        kind, reason, message = event(d)
        return (d.theirs, d.ours) == (0, 1) and any(c["reason"] == reason for c in fresh) and (
            reason == "MPIJobSuspended" or any(c["message"] == message for c in fresh))
    if d.where == "counter":
        end = {"Failed": "failed", "Succeeded": "successful"}
        return (d.theirs, d.ours) == (0, 1) and d.path in [end.get(c["type"]) for c in fresh]
    if d.where != "status":
        return False
    if d.path.startswith(".conditions."):
        kind = d.path.split(".")[2]
        if kind in TERMINAL:
            return (moment.job_ended() or evicted) and kind in [c["type"] for c in fresh]
        if kind == "Suspended" and moment.suspended and not moment.ended_before():
            return new_condition(moment, "Suspended", "True", "MPIJobSuspended") # told beside an end, as they tell both
        if evicted and d.path == ".conditions.Running.status":
            return (d.theirs, d.ours) == ("True", "False") # as it becomes when a job ends, and nothing else of it
        if ended:
            return kind == "Running" and "Running" in [c["type"] for c in fresh]
        return moment.suspended and kind in ("Suspended", "Running") and new_condition(
            moment, kind, "True" if kind == "Suspended" else "False", "MPIJobSuspended")
    if d.path == ".completionTime":
        return (moment.job_ended() or evicted) and d.theirs is None and d.ours is not None
    if d.path.startswith(".replicas.Worker"):
        phases = [pod["status"]["phase"] for index, pod in moment.pods.items()
                  if index < moment.wanted and evicted and moment.clean == "None"]
        right = {"active": phases.count("Running"), "succeeded": phases.count("Succeeded"), "failed": phases.count("Failed")}
        return d.ours == (right if d.theirs is None else right.get(d.path.rsplit(".", 1)[1]))
    if d.path.startswith(".replicas.Launcher"):
        job, pod = moment.before.launcher() or {}, moment.before.launcher_pod()
        right = {"active": int(bool(pod) and pod["status"]["phase"] == "Running" and not moment.job_ended()),
                 "succeeded": int("Succeeded" in ends(moment.ours["MPIJob"])), "failed": job.get("status", {}).get("failed", 0)}
        return d.ours == (right if d.theirs is None else right.get(d.path.rsplit(".", 1)[1]))
    return d.path == ".order"


def launcher_news(moment):
    """When we look for a launcher that was there and may be gone for good (launcher-not-made-twice), or None."""
    status = moment.before.job.get("status") or {}
    if ("ttlSecondsAfterFinished" not in moment.policy or moment.before.get("Job/pi-launcher") or
            "Launcher" not in (status.get("replicaStatuses") or {}) or moment.before.condition("Suspended")):
        return None
    causes = [status.get("startTime") or lifecycles.time_of(moment.before.now)] + [
        pod["status"]["startTime"] for index, pod in moment.pods.items() if index < moment.wanted and
        pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]]
    return lifecycles.ms_of(max(causes)) + 10000


@row("taken-names")
def taken_names(moment, d):
    theirs, ours = (reported(answer) for answer in moment.answers)
    # They stop at one name, and try three times.
    if len(theirs) != 3 or len(set(theirs)) != 1 or moment.answers[0].get("error") is None:
        return False
    name = theirs[0][0]
    taken = [key for key in moment.foreign() if key.split("/")[1] == name and
             theirs[0][1] == ("PodGroup" if key.startswith("PodGroup/") else "")]
    if len(taken) != 1:
        return False
    # No status is written any more, other than that a job ended whose children they then cannot clean up.
    if not moment.unchanged_status(moment.theirs["MPIJob"]) and not (moment.job_ended() and ends(moment.theirs["MPIJob"])):
        return False
    kind, index = taken[0].split("/")[0], int(name.rsplit("-", 1)[1]) if "-worker-" in name else 0
    ended = moment.ended_before() or moment.job_ended()
    if not ours:
        if not ends_evicted(moment) and (kind not in ("Pod", "PodGroup") or not (moment.suspended or ended)):
            return False
        return event(d)[1] == "ErrResourceExists" or seen_first(moment, d) or passed_over(moment, d)
    # We stop at the same name, tell its kind with each plan, and look again in a minute, or when another row says so.
    if set(ours) != {(name, kind)} or len(ours) != moment.answers[1]["plans"]:
        return False
    if moment.answers[1]["next"] not in (moment.before.now + 60000, launcher_news(moment)) and not any(
            hosts_gathered(moment, other) for other in moment.found):
        return False
    if event(d)[1] == "ErrResourceExists" or seen_first(moment, d):
        return True
    if d.where == "status":
        return (d.path == ".startTime" and not moment.suspended and (d.theirs, d.ours) == (None, lifecycles.time_of(moment.before.now))) or \
            (d.path == ".order" and (d.theirs, d.ours) == ("", "Created"))
    if kind != "Pod" or not about_worker(d):
        return False
    # They make the workers before the one whose name is taken; we make none, and delete none that is too much.
    if int(d.where.rsplit("-", 1)[1]) < index:
        return (d.path, d.theirs, d.ours) == ("", "there", None) and d.where not in moment.before.objects
    return (int(d.where.rsplit("-", 1)[1]) >= moment.wanted and moment.before.owned(d.where) and moment.untouched(d.where) and
            (d.path, d.theirs) in (("", None), (".metadata.deletionTimestamp", lifecycles.time_of(moment.before.now))))


@row("resume-waits-for-workers")
def resume_waits(moment, d):
    job = moment.before.launcher()
    if not moment.wait or moment.suspended or not job or not job["spec"].get("suspend") or d.where != "Job/pi-launcher":
        return False
    ready = [pod for key, pod in moment.ours.items() if re.fullmatch(r"Pod/pi-worker-\d+", key) and
             {"type": "Ready", "status": "True"} in (pod.get("status") or {}).get("conditions", []) and
             not pod["metadata"].get("deletionTimestamp")]
    return len(ready) < moment.wanted and moment.untouched(d.where) and not moment.theirs[d.where]["spec"].get("suspend")


@row("launcher-start-time")
def launcher_start(moment, d):
    """They clear the startTime of each launcher that goes on; we do when its template has to change."""
    job = moment.before.launcher()
    return (d.where == "Job/pi-launcher" and d.path in (".status", ".status.startTime") and job and job["spec"].get("suspend") and
            not moment.ours[d.where]["spec"].get("suspend") and
            moment.ours[d.where]["spec"]["template"] == lifecycles.prune(job["spec"]["template"]))


@row("leaving-workers")
def leaving_workers(moment, d):
    leaving = moment.leaving()
    if not leaving:
        return False
    if is_script(d):
        return set(hosts(d.theirs)) - set(hosts(d.ours)) <= leaving and not set(hosts(d.ours)) & leaving
    if running(d):
        return moment.theirs["MPIJob"].get("status", {}) and not any(
            c["type"] == "Running" and c["status"] == "True" and c["lastTransitionTime"] == lifecycles.time_of(moment.before.now)
            for c in conditions(moment.ours["MPIJob"]).values())
    if moment.wait and "Job/pi-launcher" not in moment.before.objects and "Job/pi-launcher" not in moment.ours:
        # One of those that we wait for leaves.
        if all("deletionTimestamp" not in moment.ours.get(f"Pod/pi-worker-{i}", {"metadata": {}})["metadata"] for i in range(moment.wanted)):
            return False
        return ((d.where, d.path) == ("Job/pi-launcher", "") or event(d)[1] == "SetPodTemplateRestartPolicy" and d.ours == 0 or
                (d.where, d.path, d.ours) == ("status", ".replicas.Launcher", None))
    return False


def ready(cluster, index):
    pod = cluster.get(f"Pod/pi-worker-{index}", {})
    return {"type": "Ready", "status": "True"} in pod.get("status", {}).get("conditions", []) and \
        "deletionTimestamp" not in pod["metadata"]


def waits_for_last(moment, last):
    """They made the last worker anew and let the launcher wait for it; all of ours are ready, so we made the launcher."""
    return (moment.wait and "Job/pi-launcher" not in moment.before.objects and moment.untouched(f"Pod/pi-worker-{last}") and
            not moment.unchanged(f"Pod/pi-worker-{last}") and all(ready(moment.ours, i) for i in range(moment.wanted)))


@row("scale-down-by-name")
def scale_down(moment, d):
    named = moment.pods
    if "Worker" not in (moment.spec.get("mpiReplicaSpecs") or {}):
        # All are surplus when the job has no workers any more.
        return about_worker(d) and d.ours in (None, lifecycles.time_of(moment.before.now)) or is_script(d) and not hosts(d.ours)[
            moment.launcher_works:]
    if about_worker(d) and int(d.where.rsplit("-", 1)[1]) >= moment.wanted and d.ours in (None, lifecycles.time_of(moment.before.now)):
        # They delete it only while there are more pods than wanted, and not at all when they clean up.
        if moment.suspended or moment.ended_before() or moment.job_ended() or len(named) <= moment.wanted:
            return True
    unlabelled = [i for i, pod in named.items() if lifecycles.LABEL + "replica-index" not in (pod["metadata"].get("labels") or {})]
    surplus = {f"pi-worker-{i}" for i in named if i >= moment.wanted}
    if is_script(d) and surplus and set(hosts(d.ours)) < set(hosts(d.theirs)) <= set(hosts(d.ours)) | surplus:
        return True # nor do they list it as gone
    there = {key for key in moment.theirs if key.startswith("Pod/pi-worker-")} | {f"Pod/pi-worker-{i}" for i in named}
    if len(there) <= moment.wanted or moment.suspended or moment.ended_before() or moment.job_ended():
        return False
    if not (moment.launcher_works or unlabelled):
        return False
    last = moment.wanted - 1
    if unlabelled:
        # Which of the others they deleted before they stopped is by chance.
        if about_worker(d):
            kept = int(d.where.rsplit("-", 1)[1]) < moment.wanted
            return moment.untouched(d.where) or (d.theirs is None if kept else d.ours in (None, lifecycles.time_of(moment.before.now)))
        if moment.wait and d.ours is None and (d.where == "Job/pi-launcher" or d.path == ".replicas.Launcher"):
            return True # no worker, so none that is not ready
        return is_script(d) or running(d) or d.path.startswith(".replicas.Worker")
    if d.where == f"Pod/pi-worker-{last}":
        return moment.untouched(d.where) or (d.path == ".metadata.deletionTimestamp" and d.ours is None)
    if is_script(d):
        return set(hosts(d.ours)) - set(hosts(d.theirs)) <= {f"pi-worker-{last}"}
    if waits_for_last(moment, last):
        if (d.where, d.path) in (("Job/pi-launcher", ""), ("status", ".replicas.Launcher")):
            return d.theirs is None
        if event(d)[1] == "SetPodTemplateRestartPolicy":
            return (d.theirs, d.ours) == (0, 1)
    return d.path.startswith(".replicas.Worker") or running(d)


@row("launcher-not-made-twice")
def launcher_once(moment, d):
    status = moment.before.job.get("status") or {}
    if ("ttlSecondsAfterFinished" not in moment.policy or moment.before.get("Job/pi-launcher") or
            "Launcher" not in (status.get("replicaStatuses") or {}) or moment.ended_before() or moment.before.condition("Suspended")):
        return False
    now = moment.ours["MPIJob"]
    end = conditions(now).get("Failed", conditions(now).get("Succeeded", {}))
    if d.where == "Job/pi-launcher":
        return d.ours is None and d.theirs == "there"
    if (d.where, d.path) == ("status", ".replicas.Launcher.active") and not end:
        # We wait for news of it.
        return d.ours == status["replicaStatuses"]["Launcher"].get("active", 0) and moment.answers[1]["next"] > moment.before.now
    if moment.suspended and not end and (event(d)[1] == "MPIJobSuspended" or
                                         (d.where == "status" and d.path.startswith((".conditions.Suspended", ".order")))):
        # Nor is it said that a job is suspended that may have ended.
        return not d.ours or d.path == ".order"
    if event(d)[1] == "SetPodTemplateRestartPolicy":
        return d.ours == 0 and "Job/pi-launcher" not in moment.ours
    if end.get("reason") not in ("MPIJobLauncherGone", "MPIJobSucceeded"):
        return False
    if d.where == "event":
        return event(d)[2] == end["message"] or d.ours == 0
    if d.where == "counter":
        return (d.path, d.theirs, d.ours) == ("failed" if end["type"] == "Failed" else "successful", 0, 1)
    if d.where == "status":
        return d.path in (".completionTime", ".order") or \
            d.path.startswith((".replicas.", ".conditions.Running", ".conditions." + end["type"])) or \
            (moment.suspended and d.path.startswith(".conditions.Suspended") and d.ours is None)
    return moment.cleaned() and (d.ours is None or moment.untouched(d.where) or d.path == ".metadata.deletionTimestamp")


@row("own-fields-only")
def own_fields(moment, d):
    if not moment.before.owned(d.where):
        return False
    if d.where == "PodGroup/pi" and d.path in (".spec.queue", ".spec.priorityClassName"):
        return d.theirs is None and d.ours == moment.before.get(d.where)["spec"].get(d.path.rsplit(".", 1)[1])
    return (d.where, d.path) == ("Secret/pi-ssh", ".data.more") and moment.untouched(d.where)
