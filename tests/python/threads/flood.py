# SPDX-License-Identifier: Apache-2.0
"""An API server that tells more than anybody can read, clients of each kind, and a child process that reads."""
import asyncio
import collections
import json
import pathlib
import signal
import sys

import mpijob

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "faults"))
from server import event, normal  # noqa: E402

MUCH = b"".join(json.dumps(event("MODIFIED", f"p{i % 50}", 20 + i)).encode() + b"\n" for i in range(400))
LINES = b"".join(b"2026-11-21T12:00:00.%09dZ line %d\n" % (i, i) for i in range(2000))
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {
    "name": "pi-launcher-x", "namespace": "t", "uid": "u", "resourceVersion": "5",
    "labels": {"training.kubeflow.org/job-name": "pi", "training.kubeflow.org/job-role": "launcher"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
    "status": {"phase": "Running", "containerStatuses": [{"name": "c", "restartCount": 0, "state": {"running": {}}}]}}

JOB = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "pi", "namespace": "t", "uid": "j",
                                                                              "resourceVersion": "5"}}


def pour(conn, request):
    """Watches of pods and logs that never end; jobs that never change."""
    if request.path.endswith("/log"):
        conn.raw("HTTP/1.1 200 X\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            conn.chunk(LINES)
    elif "mpijobs" in request.path or "labelSelector" in request.query:
        if request.is_watch:
            if "sendInitialEvents" in request.query:
                normal(conn, request)
                return
            conn.begin_stream()
            conn.linger(60)
        else:
            items = [JOB] if "fieldSelector" in request.query else [POD] if "role=launcher" in str(request.query) else []
            conn.answer(200, {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "10"}, "items": items})
    elif request.is_watch and "sendInitialEvents" not in request.query:
        conn.begin_stream()
        while True:
            conn.chunk(MUCH)
    else:
        normal(conn, request)


def over_package(url):
    """A transport over the package `kubernetes`, which takes a second to be imported."""
    import kubernetes
    from mpijob.kubernetes_transport import KubernetesTransport
    configuration = kubernetes.client.Configuration()
    configuration.host = url
    return KubernetesTransport(kubernetes.client.ApiClient(configuration))


def client(kind, url):
    """A client of a kind: over HTTP, or over the package."""
    return mpijob.Client(server=url, namespace="t") if kind == "http" else mpijob.Client(transport=over_package(url), namespace="t")


class Alarm(Exception):
    """Raised by a signal handler."""


def alarm(number, frame):
    raise Alarm


async def read_in_a_loop(url):
    import mpijob.aio
    async with mpijob.aio.Client(server=url, namespace="t") as one:
        print("reading", flush=True)
        async for _ in one.watch(api_version="v1", kind="Pod"):
            pass


def read(kind, what, url):
    """Read for ever; the exit code tells what ended it, and whether the client ended well."""
    signal.signal(signal.SIGALRM, alarm)
    try:
        print("ready", flush=True)
        if kind == "aio":
            asyncio.run(read_in_a_loop(url))
            return 1
        with client(kind, url) as one:
            stream = one.logs("pi", follow=True) if what == "logs" else one.watch(api_version="v1", kind="Pod")
            for _ in range(50):
                next(stream)
            print("reading", flush=True)
            collections.deque(stream, maxlen=0)
        return 1
    except (KeyboardInterrupt, Alarm) as error:
        print(type(error).__name__, flush=True)
        return 0


if __name__ == "__main__":
    sys.exit(read(*sys.argv[1:]))
