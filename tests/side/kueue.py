# SPDX-License-Identifier: Apache-2.0
"""Kueue's own controller beside an operator: what it takes to run it, and the queues that the jobs stand in."""
import base64
import json
import os
import socket

import certificates
import side

PORT = 9443
PRIORITIES = "/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
FLAVORS = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
LOCAL = "/apis/kueue.x-k8s.io/v1beta2/namespaces/{}/localqueues"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/{}/workloads"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/"
# The rest of its webhooks is about kinds that are not here, and refuses what it cannot be asked about.
ASKED = ("mpijob.kb.io", "clusterqueue.kb.io", "resourceflavor.kb.io", "workload.kb.io")
CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")


class Kueue:
    """Kueue over PLANE, a side.Plane. Its webhooks are reached by address: there is no network of Services here."""

    def __init__(self, plane):
        self.plane = plane
        self.authority = {"caBundle": _base64(plane.ca_file)}

    def start(self):
        certificates.make_certificate(self.plane.folder, "kueue", "kueue", addresses=(self.plane.address,))
        self.plane.create_namespace("kueue-system")
        self._create_kinds()
        server = self._run()
        self.plane._until(server, lambda: "Starting workers" in _text(server.log) and self._listens(), "Kueue")
        self._create_webhooks()
        return server

    def _url(self, path):
        return dict(self.authority, url=f"https://{self.plane.address}:{PORT}{path}")

    def _create_kinds(self):
        """Its CRDs; what differs between two versions is converted by Kueue itself."""
        self.plane.create_crd("crd-kueue.yaml")
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        for crd in self.plane.get(crds)["items"]:
            if crd["spec"]["names"]["plural"] in CONVERTED and crd["spec"]["group"] == "kueue.x-k8s.io":
                self.plane.patch(f"{crds}/{crd['metadata']['name']}", {"spec": {"conversion": {
                    "strategy": "Webhook", "webhook": {"clientConfig": self._url("/convert"),
                                                       "conversionReviewVersions": ["v1"]}}}})

    def _create_webhooks(self):
        text = self.plane.kubectl("create", "--dry-run=client", "-o", "json", "-f",
                                  os.path.join(self.plane.bin, "webhooks-kueue.yaml"))
        for one in side.documents(text):
            one["webhooks"] = [hook for hook in one["webhooks"] if hook["name"][1:] in ASKED]
            for hook in one["webhooks"]:
                hook["clientConfig"] = self._url(hook["clientConfig"]["service"]["path"])
            self.plane.create(WEBHOOKS + one["kind"].lower() + "s", one)

    def _run(self):
        config = self.plane.path("kueue.json")
        certs = self.plane.path("kueue-certs")
        os.makedirs(certs, exist_ok=True)
        for have, want in (("kueue.crt", "tls.crt"), ("kueue.key", "tls.key")):
            os.link(self.plane.path(have), os.path.join(certs, want))
        with open(config, "w") as file:
            json.dump({
                "apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "namespace": "kueue-system",
                "health": {"healthProbeBindAddress": self.plane.address + ":8081"},
                "metrics": {"bindAddress": "0"}, "leaderElection": {"leaderElect": False},
                "webhook": {"host": self.plane.address, "port": PORT, "certDir": certs},
                "internalCertManagement": {"enable": False},
                "clientConnection": {"qps": 500, "burst": 1000},
                "integrations": {"frameworks": ["kubeflow.org/mpijob"]}}, file)
        # It insists on a certificate for its metrics in one place of the file system: in a view of its own.
        script = ('mount -t tmpfs none /etc && mkdir -p /etc/kueue/metrics && cp -r "$1" /etc/kueue/metrics/certs && '
                  'shift && exec "$@"')
        return self.plane.run("kueue", "/usr/bin/unshare", "--mount", "sh", "-c", script, "sh", certs,
                              os.path.join(self.plane.bin, "kueue"), "--config=" + config,
                              "--kubeconfig=" + self.plane.user_kubeconfig("controllers"),
                              "--feature-gates=VisibilityOnDemand=false")

    def _listens(self):
        try:
            socket.create_connection((self.plane.address, PORT), timeout=1).close()
            return True
        except OSError:
            return False

    # Queues

    def make_queue(self, namespace, cpus, labels):
        """A queue "main" of NAMESPACE with so many CPUs, on nodes with these labels; who matters more takes them away."""
        kueue = "kueue.x-k8s.io/v1beta2"
        self.plane.create(FLAVORS, {"apiVersion": kueue, "kind": "ResourceFlavor", "metadata": {"name": "some"},
                                    "spec": {"nodeLabels": labels}}, exists=True)
        self.plane.create(QUEUES, {
            "apiVersion": kueue, "kind": "ClusterQueue", "metadata": {"name": "all"}, "spec": {
                "namespaceSelector": {}, "preemption": {"withinClusterQueue": "LowerPriority"},
                "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{
                    "name": "some", "resources": [{"name": "cpu", "nominalQuota": str(cpus)}]}]}]}}, exists=True)
        self.plane.create(LOCAL.format(namespace), {
            "apiVersion": kueue, "kind": "LocalQueue", "metadata": {"name": "main", "namespace": namespace},
            "spec": {"clusterQueue": "all"}}, exists=True)

    def make_priority(self, name, value):
        self.plane.create(PRIORITIES, {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass",
                                       "metadata": {"name": name}, "value": value, "description": ""}, exists=True)

    def admitted(self, namespace, job):
        """Whether Kueue lets JOB run."""
        for one in self.plane.get(WORKLOADS.format(namespace))["items"]:
            if one["metadata"]["ownerReferences"][0]["name"] == job:
                return any(c["type"] == "Admitted" and c["status"] == "True"
                           for c in one.get("status", {}).get("conditions", ()))
        return False


def _text(path):
    with open(path, errors="replace") as file:
        return file.read()


def _base64(path):
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode()
