# SPDX-License-Identifier: Apache-2.0
"""Both operators over one real control plane: how each is started, what a namespace holds, and its canonical form."""
import collections
import http.client
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import time

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD", SOURCE / "build/release"))
OURS = os.environ.get("MPIJOB_OPERATOR", str(BUILD / "bin/mpijob-operator"))
MPIJOB = str(BUILD / "bin/mpijob")
sys.path.insert(0, str(SOURCE / "tests/controlplane"))
sys.dont_write_bytecode = True
import controlplane  # noqa: E402
from controlplane import Failed, wait  # noqa: E402,F401
from testscript import equal, holds, run_checks, skip  # noqa: E402,F401

# Ours has a name of its own, so that the audit log tells who did what.
OUR_USER = "system:serviceaccount:mpi-operator:mpijob-operator"
SHADOW_USER = "system:serviceaccount:mpi-operator:shadow"
USERS = {user: ["system:serviceaccounts", "system:serviceaccounts:mpi-operator"] for user in (OUR_USER, SHADOW_USER)}
GANGS = {"volcano": "volcano", "scheduler-plugins": "scheduler-plugins-scheduler"}
HEALTH, METRICS = 8180, 9180
FAST = ("--kube-api-qps=1000", "--kube-api-burst=2000", "--controller-queue-rate-limit=1000", "--controller-queue-burst=2000")
RBAC = "/apis/rbac.authorization.k8s.io/v1/"
KINDS = {  # what is looked at, and where
    "MPIJob": "/apis/kubeflow.org/v2beta1/namespaces/{}/mpijobs", "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "Pod": "/api/v1/namespaces/{}/pods", "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "Secret": "/api/v1/namespaces/{}/secrets", "Service": "/api/v1/namespaces/{}/services",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
}
GROUPS = {"volcano": "/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups",
          "scheduler-plugins": "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{}/podgroups"}
LABEL = "training.kubeflow.org/"
# What the operator may do: read from the manifests, so that the tests run with exactly that.
MANIFESTS = SOURCE / "manifests"
REFERENCE_ACCOUNT = ("mpi-operator", "mpi-operator")  # namespace and name of the ServiceAccount in the reference's manifest
# What ours asks for first, and the reference's manifest does not grant: by the first refusal it learns to list or update.
LEARNED = [(verb, resource) for verb in ("get", "patch") for resource in ("configmaps", "jobs", "secrets", "services")]
UNDER_WAY = 24  # requests about objects at a time: so many may be refused before the first refusal is read


class Plane(controlplane.ControlPlane):
    """A control plane that knows both operators. `gang` names the kinds of PodGroups that there are. `rights` says what our
    operator may do: "reference", the rules of the reference's ServiceAccount, or "ours", those of our manifests. The default is
    the environment's MPIJOB_SIDE_RIGHTS, else "reference"."""

    def __init__(self, gang=(), audit=True, nodes=3, rights=None, **wants):
        super().__init__(nodes=nodes, gang=gang, audit=audit, users=USERS, **wants)
        self.rights = rights or os.environ.get("MPIJOB_SIDE_RIGHTS", "reference")
        self.granted = None
        self.ours = {}
        self.number = 0
        self.reader = None

    def start(self):
        super().start()
        self.kinds = dict(KINDS)
        for kind in self.wants["gang"]:
            self.kinds["PodGroup"] = GROUPS[kind]
        self.create_namespace("mpi-operator")
        self.allow()
        return self

    def start_scheduler(self):
        """One that also plays the gang schedulers, so that their pods start."""
        super().start_scheduler()
        if self.wants["gang"]:
            self.scheduler.kill()
            path = self.path("scheduler.json")
            config = json.loads(pathlib.Path(path).read_text())
            config["profiles"] = [{"schedulerName": name} for name in ("default-scheduler", *GANGS.values())]
            pathlib.Path(path).write_text(json.dumps(config))
            self.scheduler = self.run("kube-scheduler", "kube-scheduler", "--config=" + path, "--secure-port=0")

    # Rights

    def rules(self, file):
        """The rules in this file of our manifests."""
        return [rule for one in self.roles(MANIFESTS / file) for rule in one["rules"]]

    def roles(self, path, kinds=("ClusterRole", "Role")):
        done = self.kubectl("create", "--dry-run=client", "-o", "json", "-f", "-", stdin="\n---\n".join(
            part for part in ("\n" + pathlib.Path(path).read_text()).split("\n---\n")
            if any(f"\nkind: {kind}\n" in part for kind in kinds)))
        return documents(done)

    def reference_rules(self):
        """The rules that the reference's manifest binds to its ServiceAccount, and nothing else."""
        path = pathlib.Path(self.bin, "mpi-operator.yaml")
        bound = {(one["roleRef"]["kind"], one["roleRef"]["name"])
                 for one in self.roles(path, ("ClusterRoleBinding", "RoleBinding"))
                 if REFERENCE_ACCOUNT in [(subject.get("namespace"), subject["name"]) for subject in one["subjects"]
                                          if subject["kind"] == "ServiceAccount"]}
        rules = [rule for one in self.roles(path) if (one["kind"], one["metadata"]["name"]) in bound for rule in one["rules"]]
        holds(rules, f"{path} binds rules to the ServiceAccount {REFERENCE_ACCOUNT}")
        return rules

    def bind(self, user, name, rules):
        """Let USER do what RULES say, in the ClusterRole NAME."""
        rbac = "rbac.authorization.k8s.io"
        made = self.create(RBAC + "clusterroles", {"apiVersion": rbac + "/v1", "kind": "ClusterRole", "metadata": {"name": name},
                                                   "rules": rules}, exists=True)
        if made["kind"] == "Status":
            self.patch(RBAC + "clusterroles/" + name, {"rules": rules})
        self.create(RBAC + "clusterrolebindings", {
            "apiVersion": rbac + "/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": rbac, "kind": "User", "name": user}]}, exists=True)

    def unbind(self, name):
        self.delete(RBAC + "clusterrolebindings/" + name)

    def forbid(self, name, group, resource, *verbs):
        """Take VERBS on RESOURCE, and nothing else, out of the ClusterRole NAME."""
        rules = []
        for rule in self.get(RBAC + "clusterroles/" + name)["rules"]:
            hit = [resource] if group in rule["apiGroups"] and resource in rule["resources"] else []
            for resources, left in ((hit, set(rule["verbs"]) - set(verbs)), (set(rule["resources"]) - set(hit), rule["verbs"])):
                if resources and left:
                    rules.append(dict(rule, resources=list(resources), verbs=list(left)))
        self.patch(RBAC + "clusterroles/" + name, {"rules": rules})

    def allow(self, rights=None):
        """Give our operator its rights, again after forbid(), or from now on others."""
        if rights:
            self.rights, self.granted = rights, None
        if self.granted is None:
            holds(self.rights in ("reference", "ours"), f"MPIJOB_SIDE_RIGHTS={self.rights}: use reference or ours")
            self.granted = self.reference_rules() if self.rights == "reference" else self.rules("operator/role.yaml")
        self.bind(OUR_USER, "side-ours", self.granted)

    def allow_options(self):
        self.bind(OUR_USER, "side-options", self.rules("components/options/role.yaml"))

    def allow_shadow(self):
        """Reading, and nothing else."""
        self.bind(SHADOW_USER, "side-shadow", self.rules("overlays/shadow/role.yaml"))

    # Operators

    def reference(self, *flags, lock=None):
        return self.start_operator(*FAST, *flags, lock_namespace=lock)

    def our_operator(self, *flags, lock=None, name="ours", user=OUR_USER, server=None, leads=True, ready=True, program=OURS):
        """Start ours, and wait until it is ready and leads. `server` is a URL between it and the API server."""
        self.number += 1
        lock = lock or f"ours-{self.number}"
        self.create_namespace(lock)
        config = self.write_kubeconfig(f"{name}-{self.number}", {"token": self.tokens[user]}, server)
        # Where a test does not say otherwise, launchers start at once, as those of the reference.
        one = self.run(f"{name}-{self.number}", program, "--launcher-hold=0", "--kubeconfig=" + config, "--lock-namespace=" + lock,
                       f"--health-address={self.address}:{HEALTH + self.number}",
                       f"--monitoring-address={self.address}", f"--monitoring-port={METRICS + self.number}", *flags)
        one.lock, one.health, one.metrics = lock, HEALTH + self.number, METRICS + self.number
        self.ours[name] = one
        if ready:
            self._until(one, lambda: self.ready(one), "our operator to be ready")
        if leads:
            self._until(one, lambda: self.holder(lock) not in (None, ""), "our operator's Lease")
        return one

    def lease(self, lock):
        return f"/apis/coordination.k8s.io/v1/namespaces/{lock}/leases/mpi-operator"

    def holder(self, lock):
        return (self.get(self.lease(lock), none=True) or {}).get("spec", {}).get("holderIdentity")

    def ready(self, one):
        try:
            return self.page(one.health, "/readyz")[0] == 200
        except OSError:
            return False

    def refused(self, user, since=0):
        """Requests of USER that were forbidden, as (verb, resource), without what one process learns its rights by."""
        found = collections.Counter((one["verb"], one["objectRef"]["resource"]) for one in self.requests(user)[since:]
                                    if one["responseStatus"].get("code") == 403)
        return sorted((found - collections.Counter(LEARNED * UNDER_WAY if self.rights == "reference" else [])).elements())

    def page(self, port, path):
        """What a page of ours says: its status and text."""
        connection = http.client.HTTPConnection(self.address, port, timeout=10)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    # What there is

    def request(self, method, path, body=None, content_type="application/json", token=None, timeout=10, headers=None):
        """As there, but an API server that has lost its etcd for a moment may leave a request without an answer."""
        return super().request(method, path, body, content_type, token, timeout, headers)

    def look(self, path):
        """GET over a connection that stays; it goes on when the API server comes back."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if self.reader is None:
                context = ssl.create_default_context(cafile=self.ca_file)
                self.reader = http.client.HTTPSConnection(self.address, self.port, timeout=10, context=context)
            try:
                self.reader.request("GET", path, headers={"Authorization": "Bearer " + self.token})
                answer = self.reader.getresponse()
                text = answer.read()
                if answer.status == 200:
                    return json.loads(text)
                if answer.status == 404:
                    return {"items": []}
            except (OSError, http.client.HTTPException):
                self.reader.close()
                self.reader = None
            time.sleep(0.3)
        raise Failed(f"GET {path} fails")

    def snapshot(self, namespace):
        return Snapshot({kind: self.look(path.format(namespace))["items"] for kind, path in self.kinds.items()})

    def events(self, namespace):
        return self.look(f"/api/v1/namespaces/{namespace}/events")["items"]

    def writes(self, user, since=0):
        """What USER wrote: (verb, resource, namespace, name, code), Leases left out. `since` counts requests of before."""
        found = []
        for one in self.requests(user)[since:]:
            what = one.get("objectRef") or {}
            if one["verb"] in ("get", "list", "watch") or what.get("resource") == "leases":
                continue
            resource = what.get("resource", "") + ("/" + what["subresource"] if what.get("subresource") else "")
            found.append((one["verb"], resource, what.get("namespace"), what.get("name"), one["responseStatus"].get("code")))
        return found


class Snapshot:
    """All objects of a namespace at one time."""

    def __init__(self, objects):
        self.objects = objects

    def named(self, kind, name):
        return next((one for one in self.objects[kind] if one["metadata"]["name"] == name), None)

    def versions(self):
        return {(kind, one["metadata"]["name"]): (one["metadata"]["uid"], one["metadata"]["resourceVersion"])
                for kind, found in self.objects.items() for one in found
                if one["metadata"]["name"] != "kube-root-ca.crt"}


class View:
    """One job of a snapshot."""

    def __init__(self, snapshot, name):
        self.snapshot, self.name = snapshot, name
        self.job = snapshot.named("MPIJob", name)
        self.status = (self.job or {}).get("status") or {}
        self.launcher = snapshot.named("Job", name + "-launcher")

    def condition(self, kind, status="True"):
        return any(c["type"] == kind and c["status"] == status for c in self.status.get("conditions") or ())

    def pods(self, role, phase=None):
        return [pod for pod in self.snapshot.objects["Pod"]
                if (pod["metadata"].get("labels") or {}).get(LABEL + "job-name") == self.name and
                pod["metadata"]["labels"].get(LABEL + "job-role") == role and phase in (None, pod["status"].get("phase"))]

    def workers(self, phase="Running"):
        return len([pod for pod in self.pods("worker", phase) if not pod["metadata"].get("deletionTimestamp")])

    def hosts(self):
        """How many hosts discover_hosts.sh lists."""
        found = self.snapshot.named("ConfigMap", self.name + "-config")
        return found["data"].get("discover_hosts.sh", "").count("echo ") if found else 0


def documents(text):
    """The JSON documents of TEXT, one after another or in a list."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        at += len(text[at:]) - len(text[at:].lstrip())
        document, at = decoder.raw_decode(text, at)
        found += document["items"] if document.get("kind") == "List" else [document]
    return found


def upstream_folder():
    """Where the Go module of the reference is, or None. Ask before in_namespace()."""
    if "MPIJOB_UPSTREAM" not in os.environ:
        go = shutil.which("go") or "/usr/local/go/bin/go"
        try:
            done = subprocess.run([go, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", "github.com/kubeflow/mpi-operator"],
                                  cwd=SOURCE / "tests/controlplane/operator", stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
            os.environ["MPIJOB_UPSTREAM"] = done.stdout.strip()
        except OSError:
            os.environ["MPIJOB_UPSTREAM"] = ""
    return os.environ["MPIJOB_UPSTREAM"] or None


def begin():
    """What every script does first."""
    if not os.access(OURS, os.X_OK):
        skip(f"{OURS} is not built")
    upstream_folder()
    controlplane.in_namespace()


# --- Canonical form ---

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
SERVERS = ("uid", "resourceVersion", "generation", "managedFields", "creationTimestamp", "selfLink", "deletionTimestamp",
           "deletionGracePeriodSeconds", "generateName")
# What schedulers, kubelets and the Job controller note in passing.
PASSING = {"Pod": {"spec": ("nodeName",), "status": ("podIP", "podIPs", "hostIP", "hostIPs", "startTime", "conditions", "qosClass")},
           "Job": {"spec": (), "status": ("uncountedTerminatedPods", "ready", "terminating")}}


def prune(value):
    """What is empty is as if it were not there."""
    if isinstance(value, dict):
        made = {key: prune(entry) for key, entry in value.items()}
        made = {key: entry for key, entry in made.items() if entry not in (None, "")}
        return made or None
    if isinstance(value, list):
        return [prune(entry) for entry in value] or None
    return value


def canonical(snapshot, namespace, name):
    """The objects of the job NAME by KIND/NAME, without what no two runs have in common."""
    uids = {one["metadata"]["uid"]: f"uid-of-{kind}/{plain(one['metadata']['name'], name)}"
            for kind, found in snapshot.objects.items() for one in found}
    made = {}
    for kind, found in snapshot.objects.items():
        for one in sorted(found, key=lambda one: (one["metadata"]["creationTimestamp"], one["metadata"]["name"])):
            if belongs(one, name):
                key = f"{kind}/{plain(one['metadata']['name'], name)}"
                count = sum(1 for other in made if other.split("#")[0] == key)
                made[key + (f"#{count}" if count else "")] = tidy(kind, one, uids, namespace, name)
    return made


def belongs(one, name):
    metadata = one["metadata"]
    owners = [owner["name"] for owner in metadata.get("ownerReferences") or ()]
    return metadata["name"] == name or name in owners or name + "-launcher" in owners or \
        (metadata.get("labels") or {}).get("side-of") == name


def plain(text, name):
    return re.sub(re.escape(name) + r"-launcher-[a-z0-9]{5}\b", name + "-launcher-*", text)


def tidy(kind, one, uids, namespace, name):
    one = json.loads(json.dumps(one))
    for key in SERVERS:
        one["metadata"].pop(key, None)
    for part, keys in PASSING.get(kind, {}).items():
        for key in keys:
            one.get(part, {}).pop(key, None)
    if kind == "Pod":
        states = one.get("status", {}).pop("containerStatuses", None) or []
        one["status"].pop("initContainerStatuses", None)
        one["status"]["ends"] = [state["state"]["terminated"]["exitCode"] for state in states if "terminated" in state.get("state", {})]
    if kind == "Secret":
        one["data"] = {key: "random" for key in one.get("data") or {}}
    text = json.dumps(one)
    for uid, word in uids.items():
        text = text.replace(uid, word)
    text = plain(TIME.sub("TIME", text), name)
    text = re.sub(r"kube-api-access-[a-z0-9]{5}\b", "kube-api-access-*", text)
    text = re.sub(r"\bnode-\d+\b", "node-*", text)
    return prune(json.loads(re.sub(rf"\b{re.escape(namespace)}\b", "NAMESPACE", text)))


def canonical_events(events, namespace, name):
    """How often each event of an operator about the job NAME, or what is its own, was told."""
    found = collections.Counter()
    for one in events:
        about = one["involvedObject"]
        source = (one.get("source") or {}).get("component") or one.get("reportingComponent")
        if source != "mpi-job-controller" or not re.fullmatch(re.escape(name) + r"(-worker-\d+|-launcher(-\w+)?|-config|-ssh)?", about["name"]):
            continue
        message = re.sub(rf"\b{re.escape(namespace)}\b", "NAMESPACE", plain(TIME.sub("TIME", one.get("message", "")), name))
        message = re.sub(r"\bnode-\d+\b", "node-*", message)
        found[f"{about['kind']}/{plain(about['name'], name)} {one['type']} {one['reason']}: {message}"] += one.get("count") or 1
    return found


def differences(theirs, ours, path=""):
    """(path, theirs, ours) wherever two trees differ; lists of named things go by name."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted({*theirs, *ours}):
            yield from differences(theirs.get(key), ours.get(key), f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and all(
            isinstance(one, dict) and ("name" in one or "type" in one) for one in theirs + ours):
        tables = [{one.get("name") or one["type"]: one for one in side} for side in (theirs, ours)]
        if any(len(table) != len(side) for table, side in zip(tables, (theirs, ours))):
            if theirs != ours:
                yield path, theirs, ours
            return
        for key in sorted({*tables[0], *tables[1]}):
            yield from differences(tables[0].get(key), tables[1].get(key), f"{path}[{key}]")
        # An order says when things happened, or which variable may refer to which.
        common = [[key for key in table if key in other] for table, other in (tables, tables[::-1])]
        if common[0] != common[1]:
            yield path + ".order", common[0], common[1]
    elif theirs != ours:
        yield path, theirs, ours
