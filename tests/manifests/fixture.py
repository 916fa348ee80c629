# SPDX-License-Identifier: Apache-2.0
"""A control plane whose nodes are played, and the operator as a Deployment would have it: its arguments, its account's rights."""
import json
import os
import sys

from manifests import BUILD, SOURCE, build, expanded

sys.path.insert(0, str(SOURCE / "tests/controlplane"))
sys.dont_write_bytecode = True
import controlplane  # noqa: E402
from testscript import equal, holds, run_checks, skip  # noqa: E402,F401

OPERATOR = str(BUILD / "bin/mpijob-operator")
ENDED = ("Succeeded", "Failed")


def user(where="mpi-operator", account="mpijob-operator"):
    return f"system:serviceaccount:{where}:{account}"


def arguments(deployment, where):
    """The arguments of the Deployment's container, as a kubelet expands them."""
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    return [word.replace("$(POD_NAMESPACE)", where) for word in container["args"]]


def account_kubeconfig(cp, where, account):
    """A kubeconfig with a token of a service account that the manifests made."""
    token = cp.make_service_account_token(account, where)
    return cp.write_kubeconfig(f"{where}-{account}", {"token": token})


def rules_of(documents, account):
    """(namespace or None, rule) for each rule that roles of the documents give to an account."""
    roles = {(d["kind"], d["metadata"]["name"]): d.get("rules", []) for d in documents if d["kind"] in ("Role", "ClusterRole")}
    return [(d["metadata"].get("namespace"), rule) for d in documents if d["kind"] in ("RoleBinding", "ClusterRoleBinding")
            if any(s["name"] == account for s in d["subjects"]) for rule in roles[d["roleRef"]["kind"], d["roleRef"]["name"]]]


def may(cp, name, namespace, rule):
    """Whether the API server lets a user do all that a rule says. The administrator asks: the user's own requests are counted."""
    for group, resource, verb in expanded([rule]):
        resource, _, part = resource.partition("/")
        asked = {"group": group, "resource": resource, "subresource": part, "verb": verb, "namespace": namespace or "",
                 "name": rule.get("resourceNames", [""])[0]}
        answer = cp.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": name, "resourceAttributes": asked}})
        if not answer["status"]["allowed"]:
            return False
    return True


def wait_for_rights(cp, documents, where, account):
    """An API server hears of roles a moment after they are made."""
    for namespace, rule in rules_of(documents, account):
        cp.wait(lambda: may(cp, user(where, account), namespace, rule), what=f"the rights {rule} in {namespace}")


def start_operator(cp, name, overlay, *more, where="mpi-operator", health=18080):
    """Start the operator as the Deployment of an overlay, with the rights of its account; MORE are further flags."""
    documents = build(overlay)
    deployment = next(d for d in documents if d["kind"] == "Deployment")
    account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
    wait_for_rights(cp, documents, where, account)
    environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    return cp.run(name, OPERATOR, "--kubeconfig=" + account_kubeconfig(cp, where, account), *arguments(deployment, where),
                  f"--health-address=127.0.0.1:{health}", *more, environment=environment)


def wait_for_lease(cp, where="mpi-operator", not_=None):
    """Wait until somebody, or somebody else, holds the Lease; its name."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{where}/leases/mpi-operator"

    def holder():
        name = ((cp.get(path, none=True) or {}).get("spec") or {}).get("holderIdentity")
        return name if name and name != not_ else None
    return cp.wait(holder, 40, "the Lease")


def job(name, workers=2, launcher=None, worker=None, **policy):
    """An MPIJob; LAUNCHER and WORKER are annotations that tell kwok how its pods behave."""
    def role(replicas, annotations):
        prefixed = {f"mpijob.test/{key.replace('_', '-')}": value for key, value in (annotations or {}).items()}
        return {"replicas": replicas, "template": {
            "metadata": {"annotations": prefixed}, "spec": {"containers": [{"name": "main", "image": "mpijob-example:pi"}]}}}
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": name}, "spec": {
        "runPolicy": policy, "mpiReplicaSpecs": {"Launcher": role(1, launcher), "Worker": role(workers, worker)}}}


def create(cp, document, where="default"):
    return cp.create(f"/apis/kubeflow.org/v2beta1/namespaces/{where}/mpijobs", document)


def wait_for_running(cp, name, where="default"):
    cp.wait_for_job(name, "Running", where)


def rights_used(requests):
    """(group, resource, verb) of each request that named a resource."""
    used = set()
    for event in requests:
        ref = event.get("objectRef")
        if ref and ref.get("resource"):
            resource = ref["resource"] + ("/" + ref["subresource"] if ref.get("subresource") else "")
            used.add((ref.get("apiGroup", ""), resource, event["verb"]))
    return used


def refused(requests):
    """What was answered 401 or 403."""
    return [f"{event['verb']} {event['requestURI']}: {json.dumps(event['responseStatus'].get('message'))}" for event in requests
            if (event.get("responseStatus") or {}).get("code") in (401, 403)]
