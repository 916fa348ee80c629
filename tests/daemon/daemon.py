# SPDX-License-Identifier: Apache-2.0
"""What the tests of the daemon share: one of ours at a control plane, its pages, and what it wrote."""
import http.client
import itertools
import json
import os
import pathlib
import re
import socket
import sys

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD") or SOURCE / "build/release")
PROGRAM = BUILD / "bin/mpijob-operator"
sys.path.insert(0, str(SOURCE / "tests/controlplane"))
sys.dont_write_bytecode = True
import testscript  # noqa: E402

LOCK = "ops"
_count = itertools.count()


def need_program():
    """End the script as skipped where the daemon is not built."""
    if not PROGRAM.exists():
        testscript.skip("mpijob-operator is not built here: libcurl or libmicrohttpd is missing")


def page(port, path, host="127.0.0.1", method="GET", source=None):
    """The status, and the text, of one page."""
    connection = http.client.HTTPConnection(host, port, timeout=20, source_address=(source, 0) if source else None)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def metrics(text):
    """{name: type} and {sample: value} of a scrape."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    return types, {name: float(value) for name, value in re.findall(r"^([^#\s]\S*(?: \S+=\S+)*) (\S+)$", text, re.M)}


class Ours:
    """A daemon of ours, as the user NAME of the control plane; it ends with that."""

    def __init__(self, cp, name, *flags, lock=LOCK):
        self.cp, self.name = cp, name
        number = next(_count)
        self.health, self.monitoring = 20000 + 2 * number, 20001 + 2 * number
        self.server = cp.run(f"ours-{name}-{number}", str(PROGRAM), "--kubeconfig", cp.user_kubeconfig(name),
                             f"--lock-namespace={lock}", f"-health-address=127.0.0.1:{self.health}",
                             f"--monitoring-address=127.0.0.1:{self.monitoring}", *flags)

    def log(self):
        with open(self.server.log, errors="replace") as log:
            return log.read()

    def page(self, path, **options):
        port = self.monitoring if path in ("/metrics", "/shadow") else self.health
        try:
            return page(port, path, **options)
        except (OSError, http.client.HTTPException):
            if not self.server.running():
                raise AssertionError(f"{self.name} has ended; its log:\n{self.server.last_lines()}") from None
            return 0, ""

    def leads(self):
        return "\nmpi_operator_is_leader 1\n" in self.page("/metrics")[1]

    def ready(self):
        return self.page("/readyz")[0] == 200

    def wait_until(self, what, timeout=30):
        """Wait until it is ready, or leads."""
        try:
            return self.cp.wait(getattr(self, what), timeout, f"{self.name}: {what}")
        except Exception as failure:
            raise AssertionError(f"{failure}; its log:\n{self.server.last_lines(30)}") from None

    def private_memory(self):
        """KiB that are its own: written to. Whether pages of program files are shared depends on who else runs them."""
        text = pathlib.Path(f"/proc/{self.server.pid}/smaps_rollup").read_text()
        return sum(int(number) for number in re.findall(r"^Private_Dirty:\s+(\d+) kB", text, re.M))


def job(name, workers=1):
    """A job that does nothing."""
    def role(command):
        return {"template": {"spec": {"containers": [{"name": "c", "image": "i:1", "command": [command]}]}}}
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": name, "namespace": "default"},
            "spec": {"slotsPerWorker": 1, "mpiReplicaSpecs": {"Launcher": role("mpirun"),
                                                              "Worker": dict(role("sshd"), replicas=workers)}}}


def submit(cp, name, workers=1):
    return cp.create("/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs", job(name, workers))


def writes(cp, since=""):
    """What was written by whom: (time, user, agent, resource, status), in the order of the answers."""
    found = []
    for event in cp.requests():
        if event["verb"] in ("create", "update", "patch", "delete") and event["requestReceivedTimestamp"] >= since:
            found.append((event["stageTimestamp"], event["user"]["username"], event.get("userAgent", ""),
                          event["objectRef"]["resource"], (event.get("responseStatus") or {}).get("code", 0)))
    return sorted(found)


def drip(port, count, source="127.0.0.9"):
    """Connections that have begun a request and do not end it."""
    held = []
    for _ in range(count):
        one = socket.create_connection(("127.0.0.1", port), 5, (source, 0))
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        held.append(one)
    return held


def lines(text):
    return [json.loads(line) for line in text.splitlines()]
