# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes control plane for test scripts: see README.md in this folder.

	import controlplane
	controlplane.in_namespace()
	with controlplane.ControlPlane(nodes=2, operator=True) as cp:
		cp.kubectl("apply", "-f", "job.yaml")
		cp.wait_for_job("pi", "Succeeded")
"""

import collections
import fcntl
import http.client
import itertools
import json
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import certificates
import testscript

HERE = os.path.dirname(os.path.abspath(__file__))
RUN_FOLDER = "mpijob-controlplane-"
OPERATOR_USER = "system:serviceaccount:mpi-operator:mpi-operator"
BUILT_VERSION = "v1.36.3"
# Who may come with a bearer token, and the groups they are in.
USERS = {
    "admin": ["system:masters"],
    "limited": [],  # sees the MPIJobs of the namespace default
    "nobody": [],  # may do nothing
    "controllers": ["system:masters"],
    "scheduler": ["system:masters"],
    "kwok": ["system:masters"],
    OPERATOR_USER: ["system:serviceaccounts", "system:serviceaccounts:mpi-operator"],
}
_count = itertools.count()


class Failed(Exception):
    """Something of the control plane did not do what it should; the text ends with the log of who knows why."""


def binaries():
    """The folder with the programs. They are built first when they are stale; skip the script when that cannot be."""
    done = subprocess.run([os.path.join(HERE, "build")], stdout=subprocess.PIPE, text=True)
    last = done.stdout.strip().rsplit("\n", 1)[-1]
    if done.returncode == 77:
        print(last, flush=True)
        sys.exit(77)
    if done.returncode != 0:
        raise Failed("tests/controlplane/build failed")
    return last


def version(folder):
    """The version of Kubernetes that FOLDER is to have: what build makes, or what somebody put there as it is."""
    try:
        with open(os.path.join(folder, ".as-is")) as file:
            return file.read().strip()
    except FileNotFoundError:
        return BUILT_VERSION


def in_namespace():
    """testscript.in_namespace, but have the programs first: inside there is no network to build them with."""
    os.environ["MPIJOB_CONTROLPLANE"] = binaries()
    testscript.in_namespace()


def wait(condition, timeout=60, what="the condition", every=0.05):
    """Call CONDITION until it returns something true, and return that."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"waited {timeout:g} s in vain for {what}")
        time.sleep(every)


class Server:
    """A process with a log."""

    def __init__(self, name, argv, folder, environment=None):
        self.name = name
        self.log = os.path.join(folder, name + ".log")
        with open(self.log, "ab") as log:
            self.process = testscript.start(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder,
                                           env=environment)

    @property
    def pid(self):
        return self.process.pid

    def running(self):
        return self.process.poll() is None

    def kill(self, number=signal.SIGKILL):
        """End it with the signal NUMBER, and return its exit code as subprocess tells it."""
        if self.running():
            self.process.send_signal(number)
            self.process.send_signal(signal.SIGCONT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()

    def last_lines(self, count=12):
        with open(self.log, errors="replace") as log:
            lines = collections.deque(log, count)
        return "".join("  | " + line[:400].rstrip("\n") + "\n" for line in lines)

    def peak_memory(self):
        """The most resident memory it has had, in KiB."""
        with open(f"/proc/{self.pid}/status") as status:
            return int(next(line for line in status if line.startswith("VmHWM")).split()[1])

    def cpu_seconds(self):
        """The CPU time that it has used."""
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _free_address(ports):
    """An address of the loopback network on which PORTS are free; it differs from process to process."""
    for _ in range(100):
        number = (os.getpid() * 8 + next(_count)) % (1 << 23)
        address = f"127.{64 + (number >> 16)}.{number >> 8 & 255}.{number & 255 or 1}"
        try:
            for port in ports:
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind((address, port))
            return address
        except OSError:
            continue
    raise Failed("no address of the loopback network is free")


def _run_folder(parent):
    """A new folder under PARENT, and a lock that says it is in use. What killed processes left there is removed."""
    for name in os.listdir(parent):
        if name.startswith(RUN_FOLDER):
            try:
                with open(os.path.join(parent, name, "lock")) as lock:
                    # A very young one may be about to be locked.
                    if os.fstat(lock.fileno()).st_mtime < time.time() - 60:
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
            except OSError:
                pass
    folder = tempfile.mkdtemp(prefix=f"{RUN_FOLDER}{os.getpid()}-", dir=parent)
    lock = open(os.path.join(folder, "lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return folder, lock


class ControlPlane:
    """etcd and an API server, and what else is asked for.

    controllers     the controller manager. Without it, nobody plays the Job controller, garbage is not collected, and
                    pods need no service account
    scheduler       kube-scheduler (default: if there are nodes)
    nodes           so many nodes played by kwok
    operator        the reference mpi-operator, or a list of its flags
    crd             the CRD of the MPIJob
    gang            the CRDs of PodGroups: a list of "scheduler-plugins", "volcano"
    audit           log every request: see requests()
    extra_api_args  more flags for the API server, last
    users           more users with bearer tokens: {name: [group, ...]}
    folder          where logs and configuration go; default: a temporary folder, removed at the end unless the
                    environment has MPIJOB_KEEP

    Of a started one: version (of Kubernetes: "v1.36.3"), server (URL), address, port, folder, ca_file, cert_file and
    key_file (of the administrator), kubeconfig (the same), token and tokens[user], api, etcd, controller_manager,
    scheduler, kwok, operator (Servers).
    """

    def __init__(self, controllers=True, scheduler=None, nodes=0, operator=False, crd=True, gang=(), audit=False,
                 extra_api_args=(), users=None, folder=None):
        self.wants = {"controllers": controllers, "scheduler": bool(nodes) if scheduler is None else scheduler,
                      "nodes": nodes, "operator": operator, "crd": crd, "gang": gang, "audit": audit}
        self.extra_api_args = list(extra_api_args)
        self.users = dict(USERS, **(users or {}))
        self.folder = folder
        self.etcd = self.api = self.controller_manager = self.scheduler = self.kwok = self.operator = None
        self.servers, self.locks, self.folders = [], [], []

    # Life

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Start everything that was asked for; what fails is a Failed, and nothing is left behind."""
        self.bin = binaries()
        self.version = version(self.bin)
        testscript.at_end(self.stop)
        try:
            self._prepare()
            self._start_etcd()
            self.start_api()
            self._start_rest()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self):
        """Kill everything and remove the folders. It may be called twice."""
        testscript.forget(self.stop)
        for server in reversed(self.servers):
            if server.running():
                server.process.kill()
        for server in self.servers:
            server.process.wait()
        self.servers = []
        for folder in self.folders:
            if not os.environ.get("MPIJOB_KEEP") or folder != self.folder:
                shutil.rmtree(folder, ignore_errors=True)
        for lock in self.locks:
            lock.close()
        self.folders, self.locks = [], []

    def _new_folder(self, parent):
        folder, lock = _run_folder(parent)
        self.folders.append(folder)
        self.locks.append(lock)
        return folder

    def _prepare(self):
        if self.folder is None:
            self.folder = self._new_folder(tempfile.gettempdir())
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        memory = "/dev/shm"
        usable = os.path.isdir(memory) and os.access(memory, os.W_OK | os.X_OK)
        self.data = self._new_folder(memory if usable else self.folder)
        self.port = 6443
        self.address = _free_address((2379, 2380, 2381, self.port))
        self.server = f"https://{self.address}:{self.port}"
        certificates.make_authority(self.folder)
        certificates.make_certificate(self.folder, "server", "kube-apiserver",
                                      addresses=(self.address, "127.0.0.1", "10.96.0.1"),
                                      hosts=("localhost", "kubernetes.default.svc"))
        certificates.make_certificate(self.folder, "admin", "admin", "system:masters")
        certificates.make_key(self.folder, "service-accounts")
        certificates.make_public_key(self.folder, "service-accounts")
        self.ca_file, self.cert_file, self.key_file = map(self.path, ("ca.crt", "admin.crt", "admin.key"))
        self.tokens = {user: secrets.token_hex(16) for user in self.users}
        self.token = self.tokens["admin"]
        self._write("tokens.csv", "".join(f'{token},"{user}","{user}","{",".join(self.users[user])}"\n'
                                          for user, token in self.tokens.items()))
        self.kubeconfig = self.write_kubeconfig("admin", {"client-certificate": self.cert_file,
                                                          "client-key": self.key_file})
        self._tls = ssl.create_default_context(cafile=self.ca_file)

    def path(self, name):
        """A file of the folder."""
        return os.path.join(self.folder, name)

    def _write(self, name, text):
        with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        return self.path(name)

    def write_kubeconfig(self, name, user, server=None):
        """Write a kubeconfig for USER, the fields of its users[].user, to NAME.kubeconfig, and return its path."""
        one = {"name": "test", "cluster": {"server": server or self.server, "certificate-authority": self.ca_file}}
        return self._write(name + ".kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test", "clusters": [one],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}]}, indent=1))

    def user_kubeconfig(self, user):
        """The kubeconfig of one of the users, with its bearer token."""
        return self.write_kubeconfig(user.replace(":", "-"), {"token": self.tokens[user]})

    # Servers

    def run(self, name, *argv, environment=None):
        """Start one more program of the folder with the binaries, or of anywhere; it ends with the rest."""
        program = os.path.join(self.bin, argv[0]) if os.sep not in argv[0] else argv[0]
        if environment is None:
            environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
        server = Server(name, [program] + list(argv[1:]), self.folder, environment)
        self.servers.append(server)
        return server

    def _until(self, server, condition, what, timeout=90):
        """Wait for CONDITION, but not longer than SERVER lives."""
        def alive():
            if not server.running():
                raise Failed(f"{server.name} ended with {server.process.returncode}; its log:\n{server.last_lines()}")
            return condition()
        try:
            return wait(alive, timeout, what)
        except Failed as failure:
            if "its log" in str(failure):
                raise
            raise Failed(f"{failure}; the log of {server.name}:\n{server.last_lines()}") from None

    def _start_etcd(self):
        url, peer, plain = (f"http://{self.address}:{port}" for port in (2379, 2380, 2381))
        self.etcd = self.run("etcd", "etcd", "--name=test", "--data-dir=" + os.path.join(self.data, "etcd"),
                             "--unsafe-no-fsync", "--listen-client-urls=" + url, "--advertise-client-urls=" + url,
                             "--listen-client-http-urls=" + plain,
                             "--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
                             "--initial-cluster=test=" + peer, "--log-level=warn", "--quota-backend-bytes=4294967296")

    def start_api(self):
        """Start the API server, again with the same data if it was stopped, and wait until it is ready."""
        args = {
            "etcd-servers": f"http://{self.address}:2379", "bind-address": self.address, "secure-port": self.port,
            "advertise-address": self.address, "endpoint-reconciler-type": "none",
            "service-cluster-ip-range": "10.96.0.0/12", "authorization-mode": "RBAC",
            "client-ca-file": self.ca_file, "token-auth-file": self.path("tokens.csv"),
            "tls-cert-file": self.path("server.crt"), "tls-private-key-file": self.path("server.key"),
            "service-account-issuer": "https://kubernetes.default.svc", "api-audiences": "https://kubernetes.default.svc",
            "service-account-key-file": self.path("service-accounts.pub"),
            "service-account-signing-key-file": self.path("service-accounts.key"),
        }
        if not self.wants["controllers"]:
            args["disable-admission-plugins"] = "ServiceAccount,TaintNodesByCondition"
        if self.wants["audit"]:
            args["audit-policy-file"] = self._write("audit-policy.json", json.dumps({
                "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}))
            args["audit-log-path"] = self.path("audit.log")
            args["audit-log-maxsize"] = 10000
        self.api = self.run("kube-apiserver", "kube-apiserver", *(f"--{flag}={value}" for flag, value in args.items()),
                            *self.extra_api_args)
        self._until(self.api, self._ready, "the API server")

    def _ready(self):
        try:
            return self.request("GET", "/readyz", timeout=5)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def stop_api(self):
        """Kill the API server as a crash would; start_api brings it back."""
        self.api.kill()

    def pause_etcd(self):
        """Let every request that needs the data hang, until resume_etcd."""
        self.etcd.process.send_signal(signal.SIGSTOP)

    def resume_etcd(self):
        self.etcd.process.send_signal(signal.SIGCONT)

    def _start_rest(self):
        if self.wants["controllers"]:
            self.start_controllers()
        if self.wants["scheduler"]:
            self.start_scheduler()
        if self.wants["crd"]:
            self.create_crd("crd-mpijob.yaml")
        for kind in self.wants["gang"]:
            self.create_crd(f"crd-{kind}.yaml")
        self._until(self.api, lambda: self.get("/api/v1/namespaces/default", none=True), "the namespace default")
        self.grant("limited", ["get", "list", "watch"], ["mpijobs"], "kubeflow.org", "default")
        if self.wants["nodes"]:
            self.start_kwok(self.wants["nodes"])
        if self.wants["controllers"]:
            account = "/api/v1/namespaces/default/serviceaccounts/default"
            self._until(self.controller_manager, lambda: self.get(account, none=True), "the first service account")
        if self.wants["operator"]:
            self.start_operator(*(self.wants["operator"] if self.wants["operator"] is not True else ()))

    def start_controllers(self):
        """Start kube-controller-manager."""
        self.controller_manager = self.run(
            "kube-controller-manager", "kube-controller-manager", "--kubeconfig=" + self.user_kubeconfig("controllers"),
            "--leader-elect=false", "--secure-port=0", "--use-service-account-credentials=false",
            "--service-account-private-key-file=" + self.path("service-accounts.key"),
            "--root-ca-file=" + self.ca_file, "--kube-api-qps=1000", "--kube-api-burst=2000")

    def start_scheduler(self):
        """Start kube-scheduler."""
        config = self._write("scheduler.json", json.dumps({
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": self.user_kubeconfig("scheduler"), "qps": 1000, "burst": 2000}}))
        self.scheduler = self.run("kube-scheduler", "kube-scheduler", "--config=" + config, "--secure-port=0")

    def start_kwok(self, nodes=1):
        """Have so many nodes, whose pods behave as stages.yaml says, and wait until they are ready."""
        if self.kwok is None or not self.kwok.running():
            # The Leases of one that was killed would keep its nodes from this one.
            self.delete("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")
            self.kwok = self.run("kwok", "kwok", "--kubeconfig=" + self.user_kubeconfig("kwok"),
                                 "--config=" + os.path.join(HERE, "stages.yaml"), "--manage-all-nodes=true",
                                 "--node-lease-duration-seconds=40", "--node-ip=" + self.address)
        for number in range(nodes):
            self.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {
                "name": f"node-{number}", "labels": {"kubernetes.io/hostname": f"node-{number}"}}}, exists=True)
        self._until(self.kwok, lambda: self._ready_nodes() >= nodes, f"{nodes} nodes")

    def _ready_nodes(self):
        return sum(1 for node in self.get("/api/v1/nodes")["items"] if not node["spec"].get("taints") and any(
            one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions", ())))

    def start_operator(self, *flags, lock_namespace=None):
        """Start the reference with FLAGS and the rights it is shipped with; wait until it leads."""
        for document in self._documents("mpi-operator.yaml"):
            kind = document.split("\nkind: ", 1)[1].split("\n", 1)[0] if "\nkind: " in document else ""
            paths = {"ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
                     "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"}
            if kind in paths:
                self.create(paths[kind], document, exists=True)
        # Its Lease outlives it for up to 15 s, so each run has one of its own.
        lock = lock_namespace or f"mpi-operator-{next(_count)}"
        self.create_namespace(lock)
        self.operator = self.run("mpi-operator", "mpi-operator", "-alsologtostderr",
                                 "--kubeConfig=" + self.user_kubeconfig(OPERATOR_USER), "--lock-namespace=" + lock, *flags)
        lease = f"/apis/coordination.k8s.io/v1/namespaces/{lock}/leases/mpi-operator"
        self._until(self.operator, lambda: (self.get(lease, none=True) or {}).get("spec", {}).get("holderIdentity"),
                    "the operator's Lease")
        return self.operator

    def stop_operator(self, number=signal.SIGTERM):
        """End the reference, and return its exit code as subprocess tells it."""
        return self.operator.kill(number)

    # Requests

    def request(self, method, path, body=None, content_type="application/json", token=None, timeout=60, headers=None):
        """One request, as the administrator or with TOKEN: its status, and the document or text of the answer."""
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        headers = dict(headers or {}, Authorization="Bearer " + (token or self.token))
        if body is not None:
            headers["Content-Type"] = content_type
        connection = http.client.HTTPSConnection(self.address, self.port, timeout=timeout, context=self._tls)
        try:
            connection.request(method, path, body.encode() if isinstance(body, str) else body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if (answer.getheader("Content-Type") or "").startswith("application/json"):
                return answer.status, json.loads(text)
            return answer.status, text.decode(errors="replace")
        finally:
            connection.close()

    def _expect(self, method, path, body=None, allowed=(), **options):
        def answered():
            got = self.request(method, path, body, **options)
            return None if got[0] == 429 else got
        status, answer = wait(answered, 30, f"{method} {path}, which is put off")
        if status >= 300 and status not in allowed:
            message = answer.get("message") if isinstance(answer, dict) else answer
            raise Failed(f"{method} {path}: {status}: {message}")
        return status, answer

    def get(self, path, none=False):
        """The document at PATH. With none=True: None if there is none."""
        status, answer = self._expect("GET", path, allowed=(404,) if none else ())
        return answer if status < 300 else None

    def create(self, path, document, exists=False):
        """POST a document, or YAML text, to PATH. With exists=True it may be there already."""
        kind = "application/yaml" if isinstance(document, str) else "application/json"
        return self._expect("POST", path, document, allowed=(409,) if exists else (), content_type=kind)[1]

    def patch(self, path, document, kind="application/merge-patch+json"):
        """PATCH what is at PATH."""
        return self._expect("PATCH", path, document, content_type=kind)[1]

    def delete(self, path, options=None):
        """DELETE what is at PATH; it may be gone already."""
        return self._expect("DELETE", path, options, allowed=(404,))[1]

    def create_namespace(self, name):
        self.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
                    exists=True)

    def _documents(self, name):
        with open(os.path.join(self.bin, name)) as file:
            return [part for part in ("\n" + file.read()).split("\n---\n") if "\nkind: " in "\n" + part]

    def create_crd(self, name):
        """Create the CRD in the file NAME of the folder with the binaries, and wait until it is served."""
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        for document in self._documents(name):
            crd = self.create(crds, document, exists=True)
            if crd["kind"] == "Status":
                continue
            spec = crd["spec"]
            version = next(one["name"] for one in spec["versions"] if one["served"])
            path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
            self._until(self.api, lambda path=path: self.request("GET", path)[0] == 200, "the CRD " + crd["metadata"]["name"])

    def grant(self, user, verbs, resources, group, where=None):
        """Let USER do VERBS to RESOURCES of the API group GROUP, in the namespace WHERE or everywhere.

        A service account is the user system:serviceaccount:NAMESPACE:NAME.
        """
        rbac = "rbac.authorization.k8s.io"
        base = f"/apis/{rbac}/v1/" + (f"namespaces/{where}/" if where else "")
        role = "Role" if where else "ClusterRole"
        metadata = {"name": f"test-{next(_count)}"}
        self.create(base + role.lower() + "s", {
            "apiVersion": rbac + "/v1", "kind": role, "metadata": metadata,
            "rules": [{"verbs": verbs, "resources": resources, "apiGroups": [group]}]})
        self.create(base + role.lower() + "bindings", {
            "apiVersion": rbac + "/v1", "kind": role + "Binding", "metadata": metadata,
            "roleRef": {"apiGroup": rbac, "kind": role, "name": metadata["name"]},
            "subjects": [{"apiGroup": rbac, "kind": "User", "name": user}]})

    def make_service_account_token(self, name, where="default", seconds=3600):
        """A token of the service account NAME, which is created if need be."""
        path = f"/api/v1/namespaces/{where}/serviceaccounts"
        self.create(path, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}, exists=True)
        answer = self.create(f"{path}/{name}/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": seconds}})
        return answer["status"]["token"]

    def environment(self):
        """The environment for a command that talks to this control plane: KUBECONFIG, and the programs on the path."""
        return dict(os.environ, KUBECONFIG=self.kubeconfig, PATH=self.bin + os.pathsep + os.environ.get("PATH", ""))

    def kubectl(self, *args, stdin=None, check=True, kubeconfig=None):
        """Run kubectl; what it prints, or with check=False a subprocess.CompletedProcess."""
        done = subprocess.run([os.path.join(self.bin, "kubectl"), "--kubeconfig=" + (kubeconfig or self.kubeconfig)] +
                              list(args), input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not check:
            return done
        if done.returncode != 0:
            raise Failed(f"kubectl {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    # What happened

    wait = staticmethod(wait)

    def job_path(self, name, where="default"):
        return f"/apis/kubeflow.org/v2beta1/namespaces/{where}/mpijobs/{name}"

    def job_condition(self, name, kind, where="default"):
        """Whether the MPIJob has the condition KIND with the status True."""
        status = (self.get(self.job_path(name, where), none=True) or {}).get("status") or {}
        return any(one["type"] == kind and one["status"] == "True" for one in status.get("conditions") or ())

    def wait_for_job(self, name, kind, where="default", timeout=60):
        """Wait until the MPIJob has the condition KIND, and return it."""
        try:
            wait(lambda: self.job_condition(name, kind, where), timeout, f"{kind} of the job {name}")
        except Failed as failure:
            job = self.get(self.job_path(name, where), none=True) or {}
            log = "\nthe log of mpi-operator:\n" + self.operator.last_lines() if self.operator else ""
            raise Failed(f"{failure}; its status: {json.dumps(job.get('status'))}{log}") from None
        return self.get(self.job_path(name, where))

    def requests(self, user=None, agent=None):
        """The audit log's last word about each request, of the user and of agents that begin so; needs audit=True."""
        found = {}
        with open(self.path("audit.log")) as log:
            for line in log:
                if not line.endswith("\n"):
                    break
                event = json.loads(line)
                if user in (None, event["user"].get("username")) and (event.get("userAgent") or "").startswith(agent or ""):
                    found[event["auditID"]] = event
        return list(found.values())

    def request_count(self, user=None, agent=None):
        """How many requests the API server has got."""
        return len(self.requests(user, agent))
