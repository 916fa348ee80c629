# SPDX-License-Identifier: Apache-2.0
"""Single requests that a job's life does not make, or seldom: refusals above all. ASK asks both and compares."""

JOBS = "/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs"
BATCH = "/apis/batch/v1/namespaces/default/jobs"
MERGE = "application/merge-patch+json"


def core(plural):
    return f"/api/v1/namespaces/default/{plural}"


def pod(name, **metadata):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": dict(metadata, name=name),
            "spec": {"containers": [{"name": "one", "image": "none"}]}}


def config(name, data=None, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": dict(metadata, name=name), "data": data or {"a": "1"}}


def launcher(name, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": dict({
        "suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "one", "image": "none"}]}}},
        **spec)}


def mpijob(name, **policy):
    spec = {"template": {"spec": {"containers": [{"name": "one", "image": "none"}]}}}
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": name},
            "spec": {"runPolicy": policy, "mpiReplicaSpecs": {"Launcher": dict(spec), "Worker": dict(spec, replicas=1)}}}


def absent(ask):
    for path in (JOBS, BATCH, core("pods"), core("configmaps"), core("services"), core("secrets")):
        ask("GET", path + "/none")
        ask("DELETE", path + "/none")
        ask("PATCH", path + "/none", {"metadata": {"labels": {"a": "b"}}})
    ask("PUT", core("configmaps") + "/other", config("none"))
    ask("PUT", JOBS + "/none", dict(mpijob("none")))
    ask("PUT", JOBS + "/none/status", dict(mpijob("none")))
    ask("GET", "/api/v1/namespaces/none/pods")
    ask("GET", "/api/v1/namespaces/none/pods/none")
    ask("POST", "/api/v1/namespaces/none/configmaps", config("a"))
    ask("GET", "/api/v1/namespaces/default/nothings")
    ask("GET", "/apis/nothing/v1/things")
    ask("GET", "/api/v1/namespaces/none")
    ask("GET", core("configmaps") + "/none/status")


def changes(ask):
    path = core("configmaps")
    first = ask("POST", path, config("a", {"a": "1", "b": "2"}, labels={"x": "1"}))
    ask("POST", path, config("a"))
    ask("PATCH", path + "/a", {"data": {"a": None, "c": "3"}, "metadata": {"labels": {"x": None, "y": "2"}}})
    ask("PATCH", path + "/a", {"data": {"nothing": None}})
    ask("PUT", path + "/a", first)
    ask("PATCH", path + "/a", {"metadata": {"resourceVersion": first["metadata"]["resourceVersion"]}, "data": {"d": "4"}})
    ask("PATCH", path + "/a", {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}})
    ask("PATCH", path + "/a", {"metadata": {"name": "b"}})
    ask("PATCH", path + "/a", {"metadata": {"namespace": "other"}})
    ask("PATCH", path + "/a", {"metadata": None})
    ask("PATCH", path + "/a", {"data": None})
    ask("PATCH", path + "/a", "[]", MERGE)
    ask("PATCH", path + "/a", "{", MERGE)
    ask("PATCH", path + "/a", "{}", "text/plain")
    ask("PUT", path + "/b", config("a"))
    now = ask("GET", path + "/a")
    ask("PUT", path + "/a", dict(now, data={"e": "5"}))
    ask("PUT", path + "/a", dict(config("a"), metadata={"name": "a", "uid": "00000000-0000-0000-0000-000000000000"}))
    ask("PUT", path + "/a", config("a", {"whole": "new"}))
    ask("PATCH", path + "/a", {"immutable": True})
    ask("PATCH", path + "/a", {"data": {"whole": "changed"}})
    ask("POST", path, config("A_b"))
    ask("POST", path, {"metadata": {}})
    ask("POST", path, "{", "application/json")
    ask("POST", path, "[]", "application/json")
    ask("POST", path, config("c", resourceVersion="5"))
    ask("POST", path, config("c", namespace="other"))
    ask("POST", path, dict(config("c"), kind="Secret"))
    ask("POST", path, dict(config("c"), apiVersion="v2"))
    ask("POST", path, dict(config("bin"), binaryData={"x": "%%%"}))
    ask("POST", core("secrets"), {"metadata": {"name": "s"}, "stringData": {"a": "b"}})
    ask("POST", core("secrets"), {"metadata": {"name": "t"}, "data": {"a": "%%%"}})
    ask("DELETE", path + "/a", {"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}})
    ask("DELETE", path + "/a", {"preconditions": {"resourceVersion": first["metadata"]["resourceVersion"]}})
    ask("DELETE", path + "/a", {"propagationPolicy": "Sometimes"})
    ask("DELETE", path + "/a", {"preconditions": {"uid": now["metadata"]["uid"]}, "propagationPolicy": "Background"})
    ask("DELETE", path + "/a")


def jobs(ask):
    made = ask("POST", JOBS, mpijob("m", suspend=True))
    ask("POST", JOBS, mpijob("m"))
    ask("POST", JOBS, dict(mpijob("n"), spec={}))
    ask("POST", JOBS, mpijob("Bad_Name"))
    ask("PATCH", JOBS + "/m", {"status": {"startTime": "2026-01-01T00:00:00Z"}})
    ask("PATCH", JOBS + "/m/status", {"status": {"startTime": "2026-01-01T00:00:00Z"}, "spec": {"slotsPerWorker": 4},
                                     "metadata": {"labels": {"not": "here"}}})
    ask("PATCH", JOBS + "/m/status", {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]},
                                      "status": {"startTime": "2026-01-01T00:00:00Z"}})
    ask("PATCH", JOBS + "/m/status", {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}, "status": {}})
    ask("PATCH", JOBS + "/m", {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}})
    ask("DELETE", JOBS + "/m", {"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}})
    ask("PATCH", JOBS + "/m", {"spec": {"slotsPerWorker": 3}})
    ask("PATCH", JOBS + "/m", {"spec": {"slotsPerWorker": 3}})
    ask("PATCH", JOBS + "/m", {"metadata": {"annotations": {"a": "b"}}})
    ask("PATCH", JOBS + "/m", {"metadata": {"finalizers": ["example.com/wait"]}})
    ask("PUT", JOBS + "/m", dict(mpijob("m")))
    now = ask("GET", JOBS + "/m")
    ask("PUT", JOBS + "/m", dict(now, spec=dict(now["spec"], slotsPerWorker=5), status={}))
    ask("PUT", JOBS + "/m/status", dict(ask("GET", JOBS + "/m"), status={}))
    ask("DELETE", JOBS + "/m", {"propagationPolicy": "Background"})
    ask("DELETE", JOBS + "/m", {"propagationPolicy": "Background"})
    ask("PATCH", JOBS + "/m", {"metadata": {"finalizers": None}})
    ask("GET", JOBS + "/m")


def launchers(ask):
    ask("POST", BATCH, launcher("l"))
    ask("POST", BATCH, launcher("l"))
    ask("POST", BATCH, launcher("k", template={"spec": {"containers": [{"name": "one", "image": "none"}]}}))
    ask("POST", BATCH, launcher("k", template={"spec": {"restartPolicy": "Never", "containers": []}}))
    ask("POST", BATCH, launcher("k", template={"spec": {"restartPolicy": "Never", "containers": [
        {"name": "one", "image": "none"}, {"name": "one", "image": "none"}]}}))
    ask("POST", BATCH, launcher("k", template={"spec": {"restartPolicy": "Never", "containers": [
        {"name": "Not_One", "image": "none"}]}}))
    ask("POST", BATCH, launcher("k", template={"spec": {"restartPolicy": "Never", "containers": [
        {"name": "one", "image": "none", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}}))
    ask("PATCH", BATCH + "/l", {"spec": {"completions": 2}})
    ask("PATCH", BATCH + "/l", {"spec": {"backoffLimit": 3}})
    ask("PATCH", BATCH + "/l", {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}})
    ask("PATCH", BATCH + "/l/status", {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}, "status": {}})
    ask("DELETE", BATCH + "/l", {"propagationPolicy": "Foreground"})


def pods(ask):
    path = core("pods")
    for name, label in (("p", "1"), ("q", "2"), ("r", None)):
        ask("POST", path, pod(name, labels={"x": label, "all": "y"} if label else {"all": "y"}))
    for selector in ("x%3D1", "x%3D%3D2", "x", "%21x", "x%21%3D1", "x+in+%281%2C2%29", "x+notin+%281%29", "all%3Dy%2Cx%3D2",
                     "", "x%3D%3D%3D", "x+in+%28"):
        ask("GET", f"{path}?labelSelector={selector}")
    ask("GET", path + "?fieldSelector=metadata.name%3Dq")
    ask("GET", path + "?resourceVersion=0")
    ask("GET", path + "?resourceVersion=abc")
    ask("POST", path, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "s"}, "spec": {"containers": []}})
    ask("PATCH", path + "/p/status", {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
    ask("PATCH", path + "/p/status", {"status": {"conditions": None, "phase": "Failed", "reason": "Evicted"}})
    ask("PUT", path + "/none", pod("none"))
    ask("DELETE", path + "/p")
    ask("DELETE", path + "/q", {"gracePeriodSeconds": 0})
    ask("DELETE", path + "/r?propagationPolicy=Foreground")
    ask("POST", path, path)


def services(ask):
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"},
               "spec": {"clusterIP": "None", "selector": {"a": "b"}}}
    ask("POST", core("services"), service)
    ask("POST", core("services"), service)
    ask("POST", core("services"), dict(service, metadata={"name": "1svc"}))
    ask("PATCH", core("services") + "/svc", {"spec": {"selector": {"c": "d"}}})
    ask("DELETE", core("services") + "/svc", {"propagationPolicy": "Background"})


def leases(ask):
    path = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    lease = {"metadata": {"name": "lock"}, "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}}
    made = ask("POST", path, lease)
    ask("PUT", path + "/lock", dict(made, spec={"holderIdentity": "you"}))
    ask("PUT", path + "/lock", dict(made, spec={"holderIdentity": "they"}))
    ask("GET", path + "/lock")


def run(ask):
    for group in (absent, changes, jobs, launchers, pods, services, leases):
        group(ask)
