# SPDX-License-Identifier: Apache-2.0
"""The client whose calls wait: on a cluster in this process that runs nothing, and with servers that never answer."""
import contextlib
import gc
import http.server
import json
import logging
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import mpijob
from mpijob import _calls
from mpijob.transport import BlockingTransport

JOB = """apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: pi}
spec:
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: i}]}}}
"""


def named(name):
    return JOB.replace("name: pi", f"name: {name}")


def descriptors():
    return len(os.listdir("/proc/self/fd"))


class Page(http.server.BaseHTTPRequestHandler):
    """What is in front of a server sends everybody to a page for people."""

    def do_GET(self):
        body = b"<!DOCTYPE html><title>Sign in</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *words):
        pass


class Pages(unittest.TestCase):
    def test_a_page_in_place_of_an_answer(self):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server, tempfile.NamedTemporaryFile("w") as config:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)
            config.write("{apiVersion: v1, kind: Config}")
            config.flush()
            url = f"http://127.0.0.1:{server.server_port}"
            with mpijob.Client(config.name, server=url) as client:
                for call in (client.list, lambda: client.get("pi"), lambda: list(client.logs("pi")),
                             lambda: list(client.logs("pi", role="launcher")), lambda: client.list_objects("v1", "Pod")):
                    with self.assertRaisesRegex(mpijob.ParseError, f"{url}: .*text/html.*<!DOCTYPE html><title>Sign in"):
                        call()
            server.shutdown()


class Calls(unittest.TestCase):
    def test_logs_of_no_job(self):
        with self.assertRaisesRegex(mpijob.NotFoundError, '"nope" not found'):
            list(self.cluster.logs("nope"))
        self.cluster.submit(named("still"))
        self.assertEqual(list(self.cluster.logs("still")), [])

    def test_words(self):
        with self.assertRaisesRegex(mpijob.UsageError, "role is 'boss'; use 'launcher' or 'worker'"):
            self.cluster.logs("pi", role="boss")
        with self.assertRaisesRegex(mpijob.UsageError, "'Background', 'Foreground' or 'Orphan'"):
            self.cluster.delete("pi", propagation="Sideways")

    def setUp(self):
        self.cluster = mpijob.LocalCluster(node=False)
        self.addCleanup(self.cluster.close)

    def test_life_of_a_job(self):
        cluster = self.cluster
        sent = cluster.submit(JOB)
        self.assertEqual((sent.name, sent.namespace, bool(sent.uid)), ("pi", "default", True))
        with self.assertRaises(mpijob.ConflictError) as raised:
            cluster.submit(JOB)
        self.assertIn("already exists", raised.exception.findings[0].message)
        self.assertEqual([job.name for job in cluster.list()], ["pi"])
        self.assertEqual(cluster.list("other"), [])
        cluster.scale("pi", 3, expected=2)
        with self.assertRaises(mpijob.ConflictError):
            cluster.scale("pi", 4, expected=2)
        self.assertEqual(cluster.get("pi").spec.mpi_replica_specs["Worker"].replicas, 3)
        cluster.suspend("pi")
        self.assertIs(cluster.get("pi").spec.run_policy.suspend, True)
        self.assertIsNotNone(cluster.wait("pi", "Suspended", 5))
        cluster.resume("pi")
        self.assertIs(cluster.get("pi").spec.run_policy.suspend, False)
        cluster.wait("pi", "Created", 5)
        self.assertIn("MPIJobCreated", [event["reason"] for event in cluster.events("pi")])
        self.assertEqual(cluster.get_object("v1", "Namespace", "default", "")["metadata"]["name"], "default")
        cluster.delete("pi")
        self.assertIsNone(cluster.wait("pi", "Deleted", 5))
        with self.assertRaises(mpijob.NotFoundError):
            cluster.get("pi")

    def test_what_a_job_may_be(self):
        names = []
        for value in (named("a"), named("b").encode(), mpijob.loads(named("c")),
                      mpijob.loads(named("d")).to_dict(), mpijob.Document(named("e"))):
            names.append(self.cluster.submit(value).name)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "job.yaml"
            path.write_text(named("f"), encoding="utf-8")
            names.append(self.cluster.submit(path).name)
            path.write_text(named("g"), encoding="utf-8")
            names.append(self.cluster.submit(str(path)).name)
        self.assertEqual(names, list("abcdefg"))

    def test_what_a_server_refuses(self):
        for value in (mpijob.MPIJob("empty"), named("empty").split("spec:")[0] + "spec: {}\n"):
            with self.assertRaises(mpijob.RejectedError) as raised:
                self.cluster.submit(value)
            finding = raised.exception.findings[0]
            self.assertEqual((finding.field, finding.reason), ("spec.mpiReplicaSpecs", "Required"))
        with self.assertRaisesRegex(mpijob.RejectedError, r"(?s)spec.hostname: Invalid value: .* must be"):
            self.cluster.create_object({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {
                "hostname": "a\n10.0.0.1 b", "containers": [{"name": "c", "image": "i"}]}})
        self.assertEqual(self.cluster.list(), [])

    def test_waiting(self):
        self.cluster.submit(JOB)
        begun = time.monotonic()
        with self.assertRaises(TimeoutError) as raised:
            self.cluster.wait("pi", "Running", 0.3)
        self.assertIsInstance(raised.exception, mpijob.TimeoutError)
        self.assertTrue(0.25 < time.monotonic() - begun < 3)
        with self.assertRaises(mpijob.TimeoutError):
            self.cluster.wait("pi", "Running", 0)
        with self.assertRaises(mpijob.NotFoundError):
            self.cluster.wait("other", "Running", 5)
        with self.assertRaises(ValueError):
            self.cluster.wait("pi", timeout=-1)

    def test_waiting_costs_nothing(self):
        self.cluster.submit(JOB)
        self.cluster.wait("pi", "Created", 5)
        begun = time.process_time()
        with self.assertRaises(mpijob.TimeoutError):
            self.cluster.wait("pi", "Running", 1)
        self.assertLess(time.process_time() - begun, 0.3)

    def test_watching(self):
        cluster = self.cluster
        cluster.submit(JOB)
        seen = []
        with cluster.watch(timeout=10) as watch:
            for event in watch:
                seen.append(event.type)
                if event.type == "LISTED":
                    self.assertTrue(watch.synced or event.object.name == "pi")
                    cluster.submit(named("other"))  # on the same client, between two events
                if event.type == "ADDED":
                    self.assertIsInstance(event.object, mpijob.MPIJob)
                    self.assertEqual((event.object.name, event.name, event.namespace), ("other", "other", "default"))
                    cluster.delete("other")
                if event.type == "DELETED":
                    break
        self.assertEqual([seen[0], seen[-1]], ["LISTED", "DELETED"])
        self.assertEqual(list(watch), [])
        pods = {e.name: e.object for e in cluster.watch(api_version="v1", kind="Pod", timeout=0.3)}
        self.assertEqual(pods["pi-worker-1"]["kind"], "Pod")
        with self.assertRaises(mpijob.NotFoundError):
            next(cluster.watch(api_version="example.com/v1", kind="Nothing", timeout=5))

    def test_logs_of_what_does_not_run(self):
        self.cluster.submit(JOB)
        self.assertEqual(list(self.cluster.logs("pi", timeout=5)), [])
        with self.assertRaises(mpijob.NotFoundError):
            list(self.cluster.logs("other", follow=True, timeout=5))

    def test_diagnosing(self):
        job = mpijob.loads(JOB)
        self.cluster.submit(job)
        self.cluster.wait("pi", "Created", 5)
        self.assertEqual([cause for cause in self.cluster.diagnose("pi") if cause.severity == "error"], [])
        bad = mpijob.loads(named("bad"))
        bad.spec.mpi_implementation = "OpenMPI"
        bad.spec.run_policy = {"cleanPodPolicy": "Sometimes"}
        self.cluster.submit(bad)
        for _ in range(100):
            causes = self.cluster.diagnose("bad")
            if causes:
                break
            next(self.cluster.watch(timeout=0.05), None)
        self.assertTrue(causes and causes[0].advice, causes)

    def test_wrong_use(self):
        for call in (lambda: mpijob.Client(transport=BlockingTransport(), context="x"), lambda: mpijob.Client(transport=object()),
                     lambda: self.cluster.scale("pi", -1)):
            with self.assertRaises(mpijob.UsageError):
                call()
        with self.assertRaises(TypeError):
            mpijob.Client(kontext="x")
        with self.assertRaises(ValueError):
            self.cluster.get("a\0b")

    def test_closing(self):
        watch, logs = self.cluster.watch(), self.cluster.logs("pi", follow=True)
        self.assertEqual(next(self.cluster.watch(timeout=0.1), None), None)
        self.cluster.close()
        self.cluster.close()
        self.assertTrue(self.cluster.closed)
        for stream in (watch, logs):
            with self.assertRaises(mpijob.CancelledError):
                next(stream)
        with self.assertRaises(mpijob.UsageError):
            self.cluster.list()

    def test_nothing_is_left(self):
        gc.collect()
        before, live = descriptors(), len(_calls._live)
        for _ in range(20):
            cluster = mpijob.LocalCluster(node=False)
            cluster.submit(JOB)
            watch = cluster.watch()
            next(watch)
            cluster.logs("pi", follow=True)
            del watch, cluster
        gc.collect()
        self.assertEqual((descriptors(), len(_calls._live)), (before, live))

    def test_other_threads(self):
        self.cluster.submit(JOB)
        ticks, refused = [], []

        def other():
            begun = time.monotonic()
            while time.monotonic() - begun < 0.5:
                time.sleep(0.01)
                ticks.append(1)
            for act in (lambda: self.cluster.get("pi"), self.cluster.watch, lambda: self.cluster.logs("pi"), self.cluster.close) * 200:
                try:
                    act()
                except mpijob.UsageError as error:
                    refused.append(error)
            self.cluster.cancel()

        thread = threading.Thread(target=other)
        thread.start()
        begun = time.monotonic()
        with self.assertRaises(mpijob.CancelledError):
            self.cluster.wait("pi", "Running")
        self.assertLess(time.monotonic() - begun, 5)
        thread.join()
        self.assertGreater(len(ticks), 15)  # the interpreter lock is free while it waits
        self.assertEqual(len(refused), 800)
        self.assertEqual(self.cluster.get("pi").name, "pi")  # it is as good as new

    def test_a_client_for_each_thread(self):
        failures = []

        def life():
            try:
                with mpijob.LocalCluster(node=False) as cluster:
                    for i in range(5):
                        cluster.submit(named(f"job-{i}"))
                    assert len(cluster.list()) == 5
                    with cluster.watch() as watch:
                        assert sorted(next(watch).name for _ in range(5)) == [f"job-{i}" for i in range(5)]
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=life) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_what_is_refused_is_forgotten(self):
        before = len(_calls._live)
        for call in (lambda: self.cluster.create_object({"kind": "X"}), lambda: self.cluster.scale("pi", 2.5),
                     lambda: self.cluster.watch("a\0b"), lambda: self.cluster.wait("pi", timeout=-1)):
            with self.assertRaises(Exception):
                call()
        self.assertEqual(len(_calls._live), before)

    def test_many_cancels_are_one(self):
        self.cluster.submit(JOB)
        for _ in range(200):
            self.cluster.cancel()
        with self.assertRaises(mpijob.CancelledError):
            self.cluster.wait("pi", "Succeeded")
        begun = time.process_time()
        with self.assertRaises(mpijob.TimeoutError):
            self.cluster.wait("pi", "Succeeded", 1)
        self.assertLess(time.process_time() - begun, 0.5)

    def test_cancelled_while_evidence_is_gathered(self):
        class Cancels(BlockingTransport):
            asked = 0

            def perform(self, request, answer):
                Cancels.asked += 1
                if "/pods" in request.path:
                    client.cancel()
                    time.sleep(1)
                answer.header("Content-Type", "application/json")
                answer.status(200)
                answer.data(json.dumps(mpijob.loads(JOB).to_dict()).encode())

        with mpijob.Client(transport=Cancels()) as client:
            with self.assertRaises(mpijob.CancelledError):
                client.diagnose("pi")
            self.assertEqual(Cancels.asked, 2)

    def test_garbage_is_closed_by_who_polls(self):
        """A collector may run on any thread; what it finds is closed when calls are moved on."""
        watch = self.cluster.watch()
        stream = watch._stream
        held = [watch]
        del watch
        thread = threading.Thread(target=held.clear)
        thread.start()
        thread.join()
        self.assertFalse(stream.closed)
        self.cluster.list()
        self.assertTrue(stream.closed)

    def test_fork(self):
        self.cluster.submit(JOB)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                try:
                    self.cluster.list()
                except mpijob.UsageError:
                    code = 0
                self.cluster.close()
                own = mpijob.LocalCluster(node=False)
                own.submit(JOB)
                code = code or len(own.list()) - 1
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual([job.name for job in self.cluster.list()], ["pi"])


class Server(http.server.BaseHTTPRequestHandler):
    """An API server that refuses and warns."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or "{}")
        status, said = 200, body
        if "selfsubjectaccessreviews" in self.path:
            said = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": {
                "allowed": body["spec"]["resourceAttributes"]["verb"] == "get", "reason": "no"}}
        elif self.command == "POST":
            status, said = 422, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422,
                                 "message": "m", "details": {"causes": [
                                     {"reason": "FieldValueInvalid", "message": "bad", "field": "spec.mpiReplicaSpecs[Worker].replicas"}]}}
        elif "/nobody/" in self.path:
            status, said = 401, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Unauthorized", "code": 401,
                                 "message": "Unauthorized"}
        else:
            said = {"kind": "MPIJobList", "apiVersion": "kubeflow.org/v2beta1", "metadata": {"resourceVersion": "1"}, "items": []}
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Warning", '299 - "old"')
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer

    def log_message(self, *words):
        pass


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        cls.server.daemon_threads = True
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}"
        cls.folder = tempfile.TemporaryDirectory()
        cls.config = pathlib.Path(cls.folder.name) / "config"
        cls.config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "k", "cluster": {"server": cls.url}}], "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "team"}},
                         {"name": "nobody", "context": {"cluster": "k", "user": "u", "namespace": "nobody"}}]}), encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        cls.folder.cleanup()

    def test_kubeconfig(self):
        with mpijob.Client(self.config) as client:
            self.assertEqual((client.namespace, client.server), ("team", self.url))
            with self.assertLogs("mpijob", logging.WARNING) as logs:
                self.assertEqual(client.list(), [])
            self.assertEqual(len(logs.output), 1)
            self.assertIn("old", logs.output[0])
            logging.getLogger("mpijob").setLevel(logging.ERROR)
            self.addCleanup(logging.getLogger("mpijob").setLevel, logging.NOTSET)
            self.assertIs(client.can("get"), True)
            self.assertIs(client.can("create"), False)
        with mpijob.Client(str(self.config), namespace="mine", context="nobody") as client:
            self.assertEqual(client.namespace, "mine")
        with mpijob.Client(str(self.config), context="nobody") as client:
            with self.assertRaises(mpijob.AuthError):
                client.list()
        with self.assertRaises(mpijob.NotFoundError) as raised:
            mpijob.Client(self.config, context="other")
        self.assertIn("nobody", str(raised.exception))  # what there is

    @unittest.skipIf("KUBERNETES_SERVICE_HOST" in os.environ, "this is a cluster")
    def test_in_a_cluster(self):
        with self.assertRaises(mpijob.NotFoundError):
            mpijob.Client(in_cluster=True)
        with self.assertRaises(mpijob.UsageError):
            mpijob.Client(self.config, in_cluster=True)

    def test_a_refusal_has_a_place(self):
        with mpijob.Client(self.config) as client, self.assertRaises(mpijob.RejectedError) as raised:
            client.submit(mpijob.loads(JOB, "job.yaml"))
        finding = next(f for f in raised.exception.findings if f.severity == "error")
        self.assertEqual((finding.source, finding.line, finding.reason), ("job.yaml", 7, "Invalid"))
        self.assertIn("job.yaml:7:", str(raised.exception))

    def test_nobody_there(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            with mpijob.Client(self.config, server=f"http://127.0.0.1:{taken.getsockname()[1]}", retries=-1) as client:
                with self.assertRaises(mpijob.UnreachableError):
                    client.get("pi")


HANGING = """
import sys, threading, mpijob
from mpijob.transport import BlockingTransport

class Hangs(BlockingTransport):
    def __init__(self):
        super().__init__()
        self.ended = threading.Event()
    def perform(self, request, answer):
        self.ended.wait(60)
        raise OSError("aborted")
    def abort(self, answer):
        self.ended.set()

JOB = sys.argv[3]
kind, call = sys.argv[1:3]
if kind in ("local", "aio"):
    client = mpijob.LocalCluster(node=False)
    client.submit(JOB)
elif kind == "python":
    client = mpijob.Client(transport=Hangs())
else:
    client = mpijob.Client(sys.argv[4], server=kind)
calls = {
    "wait": lambda: client.wait("pi", "Running"),
    "watch": lambda: [None for event in client.watch()],
    "logs": lambda: list(client.logs("pi", follow=True)),
    "submit": lambda: client.submit(JOB),
    "get": lambda: client.get("pi"),
}
async def life():
    async with mpijob.aio.LocalCluster(node=False) as client:
        await client.submit(JOB)
        print("ready", flush=True)
        if call == "wait":
            await client.wait("pi", "Running")
        async for _ in client.logs("pi", follow=True):
            pass
try:
    if kind == "aio":
        import asyncio, mpijob.aio
        with client:
            asyncio.run(life())
    with client:
        print("ready", flush=True)
        calls[call]()
except KeyboardInterrupt:
    from mpijob import _calls
    print("interrupted", client.closed, len(_calls._live), flush=True)
"""


class Interrupts(unittest.TestCase):
    """Ctrl-C, in a process of its own."""

    @classmethod
    def setUpClass(cls):
        cls.socket = socket.socket()
        cls.socket.bind(("127.0.0.1", 0))
        cls.socket.listen(50)  # connections are made, and nobody answers
        cls.folder = tempfile.TemporaryDirectory()
        cls.config = pathlib.Path(cls.folder.name) / "config"
        cls.config.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.socket.close()
        cls.folder.cleanup()

    def interrupt(self, kind, call):
        with subprocess.Popen([sys.executable, "-c", HANGING, kind, call, JOB, str(self.config)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "ready\n")
            time.sleep(0.2)
            self.assertIsNone(child.poll())
            begun = time.monotonic()
            child.send_signal(signal.SIGINT)
            first = child.stdout.readline()
            took = time.monotonic() - begun
            out, err = child.communicate(timeout=20)
        self.assertEqual((first + out, err, child.returncode), ("interrupted True 0\n", "", 0), (kind, call))
        self.assertLess(took, 1, (kind, call))

    def test_over_http(self):
        url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        for call in ("submit", "wait", "watch", "logs"):
            self.interrupt(url, call)

    def test_in_this_process(self):
        for call in ("wait", "watch", "logs"):
            self.interrupt("local", call)

    def test_in_an_event_loop(self):
        for call in ("wait", "logs"):
            self.interrupt("aio", call)

    def test_through_a_transport_in_python(self):
        for call in ("get", "watch"):
            self.interrupt("python", call)


if __name__ == "__main__":
    unittest.main()
