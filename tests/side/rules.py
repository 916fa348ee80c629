# SPDX-License-Identifier: Apache-2.0
"""Which row of docs/differences.md explains that a job has ended otherwise under ours than under the reference.

Each rule bears the id of a row, says when the row applies, and where that can be worked out, what the right outcome is.
"""
import dataclasses
import re

RULES = {}


@dataclasses.dataclass
class Difference:
    where: str  # KIND/NAME or "event"
    path: str
    theirs: object
    ours: object

    def __str__(self):
        words = [text if len(text) < 300 else text[:140] + " [...] " + text[-140:]
                 for text in (self.path, repr(self.theirs), repr(self.ours))]
        return f"{self.where} {words[0]}: {words[1]} there, {words[2]} here"


class Case:
    """What became of one job under both: spec, and the objects and events of each in canonical form."""

    def __init__(self, name, theirs, ours, events):
        self.name, self.theirs, self.ours, self.events = name, theirs, ours, events
        self.spec = (theirs.get(f"MPIJob/{name}") or {}).get("spec", {})
        self.policy = self.spec.get("runPolicy") or {}
        self.launcher_works = bool(self.spec.get("runLauncherAsWorker"))
        self.implementation = self.spec.get("mpiImplementation", "OpenMPI")

    def explain(self, difference):
        return next((name for name, rule in RULES.items() if rule(self, difference)), None)

    def conditions(self, side):
        job = side.get(f"MPIJob/{self.name}") or {}
        return {c["type"]: c for c in (job.get("status") or {}).get("conditions") or ()}

    def template(self, role):
        return (self.spec.get("mpiReplicaSpecs") or {}).get(role, {}).get("template", {}).get("spec", {})


def row(name):
    def add(rule):
        RULES[name] = rule
        return rule
    return add


def launcher_env(case, d, name):
    """A variable of the launcher's first container that they do not set."""
    first = (case.template("Launcher").get("containers") or [{}])[0].get("name")
    place = rf"\.spec(\.template\.spec)?\.containers\[{re.escape(first or '')}\]\.env\[{name}\]"
    return (re.fullmatch(rf"(Job/{re.escape(case.name)}-launcher|Pod/{re.escape(case.name)}-launcher-\*(#\d+)?)", d.where) and
            re.fullmatch(place, d.path) and d.theirs is None)


@row("openmpi5-variables")
def openmpi5(case, d):
    values = {"PRTE_MCA_prte_default_hostfile": "/etc/mpi/hostfile", "PRTE_MCA_plm_ssh_args": "-o ConnectionAttempts=10",
              "PRTE_MCA_prte_set_default_slots": str(case.spec.get("slotsPerWorker", 1))}
    return case.implementation == "OpenMPI" and launcher_env(case, d, r"PRTE_MCA_\w+") and values.get(d.ours["name"]) == d.ours["value"]


@row("mpich-launcher-args")
def mpich(case, d):
    return case.implementation == "MPICH" and launcher_env(case, d, "HYDRA_LAUNCHER_EXTRA_ARGS") and \
        d.ours["value"] == "-o ConnectionAttempts=10"


@row("intel-launcher-name")
def intel(case, d):
    return (case.implementation == "Intel" and case.launcher_works and (d.where, d.path) == (
        f"ConfigMap/{case.name}-config", ".data.hostfile") and
        d.ours == re.sub(rf"^{re.escape(case.name)}-launcher\.[^:]*", f"{case.name}-launcher", d.theirs))


@row("discover-hosts-order")
def discover_order(case, d):
    if (d.where, d.path) != (f"ConfigMap/{case.name}-config", '.data["discover_hosts.sh"]'.replace('["', ".").replace('"]', "")):
        return False
    theirs, ours = d.theirs.split("\n"), d.ours.split("\n")
    numbers = [int(found) for found in re.findall(r"-worker-(\d+)\.", d.ours)]
    return len(numbers) > 10 and sorted(theirs) == sorted(ours) and numbers == sorted(numbers)


@row("gang-priority")
def gang_priority(case, d):
    """By value tests/oracle/test-render checks it."""
    least = (case.policy.get("schedulingPolicy") or {}).get("minAvailable")
    return (d.where.startswith("PodGroup/") and d.path.startswith(".spec.minResources") and least is not None and
            bool(case.template("Worker").get("priorityClassName")) and not case.template("Launcher").get("priorityClassName"))


@row("gang-init-containers")
def gang_init(case, d):
    return d.where.startswith("PodGroup/") and d.path.startswith(".spec.minResources") and any(
        case.template(role).get("initContainers") for role in ("Launcher", "Worker"))


@row("events-once")
def events_once(case, d):
    """They tell it more often than we do; we tell it as often as it became true."""
    if d.where != "event" or not d.theirs or not d.ours or d.ours >= d.theirs:
        return False
    if " MPIJobRunning:" in d.path or " MPIJobEvicted:" in d.path:
        return True
    # A conflict about the status: they plan and tell once more, by chance.
    return d.theirs - d.ours <= 2 and re.search(r" (SetPodTemplateRestartPolicy|MPIJob(Created|Resumed|Suspended|Succeeded|Failed)):", d.path)


@row("scale-down-event")
def scale_down_event(case, d):
    return d.where == "event" and not d.theirs and " SuccessfulDelete: " in d.path and "Pod " in d.path


@row("failure-names-pods")
def failure_names(case, d):
    if d.where == "event":
        # One event is replaced by another, whose message goes on after theirs.
        kind, text = d.path.split(": ", 1)
        others = [other.split(": ", 1) for other in case.events[1 if d.theirs else 0]]
        pairs = [((kind, text), other) if d.theirs else (other, (kind, text)) for other in others]
        return any(kinds_match(theirs[0], ours[0]) and ours[1].startswith(theirs[1]) and names_pod(case, ours[1][len(theirs[1]):])
                   for theirs, ours in pairs)
    if d.where != f"MPIJob/{case.name}":
        return False
    if d.path == ".status.conditions[Failed].reason":
        return kinds_match(d.theirs, d.ours) and d.theirs != d.ours
    return d.path == ".status.conditions[Failed].message" and d.ours.startswith(d.theirs) and names_pod(case, d.ours[len(d.theirs):])


def kinds_match(theirs, ours):
    """The same reason, or what a pod says itself or through its container behind theirs."""
    if theirs == ours:
        return re.search(r"(MPIJobFailed|BackoffLimitExceeded(/\w*)?|DeadlineExceeded|PodFailurePolicy)$", ours)
    return re.search(r"BackoffLimitExceeded/?$", theirs) and re.fullmatch(re.escape(theirs.rstrip("/")) + r"/\w+", ours)


def names_pod(case, text):
    return re.match(rf".*\b{re.escape(case.name)}-(worker-\d+|launcher-\*)", text, re.S)


@row("validation-words")
def validation_words(case, d):
    if d.where != "event" or " ValidationError:" not in d.path:
        return False
    fields = [set(re.findall(r"spec[\w.\[\]]*", text)) for side in case.events for text in side if " ValidationError:" in text]
    return len(fields) >= 2 and all(one and one == fields[0] for one in fields)


@row("taken-names")
def taken(case, d):
    foreign = [key for key, one in case.theirs.items() if "controller" not in str(one["metadata"].get("ownerReferences"))
               and key != f"MPIJob/{case.name}"]
    if not foreign:
        return False
    if d.where == "event":
        return " ErrResourceExists:" in d.path or " MPIJobCreated:" in d.path
    if d.where != f"MPIJob/{case.name}":
        return False
    # We write that the job was seen; they never come to that.
    return d.path.startswith(".status") and d.theirs is None and set(case.conditions(case.ours)) == {"Created"}
