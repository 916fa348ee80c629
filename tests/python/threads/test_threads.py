# SPDX-License-Identifier: Apache-2.0
"""Many clients on many threads, forks, and what comes up in callbacks."""
import gc
import logging
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import flood
import pytest

import mpijob
from mpijob import _abi, _calls, _signals, transport

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "faults"))
from server import Server, event, half_close, normal, on_watch, pod, stream  # noqa: E402

JOB = """
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: pi}
spec:
  runPolicy: {suspend: true}
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: i}]}}}
"""
KINDS = ("http", "kubernetes")


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def threads():
    return len(os.listdir("/proc/self/task"))


def settles(count, most):
    """Whether it comes down to that."""
    end = time.monotonic() + 10
    while count() > most and time.monotonic() < end:
        time.sleep(0.02)
    return count() <= most


# ---- threads ----

def use_cluster(number):
    """A life in a cluster of its own."""
    with mpijob.LocalCluster(node=False) as cluster:
        job = mpijob.loads(JOB)
        job.metadata.name = f"pi-{number}"
        cluster.submit(job)
        with cluster.watch(timeout=5) as watch:
            assert next(watch).name == f"pi-{number}"
        for workers in range(3, 13):
            cluster.scale(f"pi-{number}", workers)
            assert cluster.get(f"pi-{number}").spec.mpi_replica_specs["Worker"].replicas == workers
        with pytest.raises(mpijob.NotFoundError):
            cluster.get("pi-other")
        cluster.delete(f"pi-{number}")


def use_server(kind, url):
    """Requests and a stream, of a client of its own."""
    with flood.client(kind, url) as client:
        for _ in range(20):
            assert client.get_object("v1", "Pod", "b")["metadata"]["name"] == "b"
            with pytest.raises(mpijob.NotFoundError):
                client.get_object("v1", "Pod", "none")
        with client.watch(api_version="v1", kind="Pod") as watch:
            seen = [next(watch).name for _ in range(3)]
        assert sorted(seen) == ["a", "b", "c"]


def test_many_clients_on_many_threads():
    server = Server([normal])
    before, faults = (descriptors(), threads()), []

    def guarded(work, *arguments):
        try:
            work(*arguments)
        except BaseException as error:
            faults.append(error)

    all_of_them = [threading.Thread(target=guarded, args=(use_cluster, n)) for n in range(6)]
    all_of_them += [threading.Thread(target=guarded, args=(use_server, kind, server.url)) for kind in KINDS for _ in range(6)]
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join(60)
    assert not any(thread.is_alive() for thread in all_of_them)
    assert faults == []
    server.close()
    assert settles(threads, before[1])
    assert settles(descriptors, before[0])
    assert not _calls._live
    assert not transport._live


def test_a_client_goes_from_thread_to_thread():
    with mpijob.LocalCluster(node=False) as cluster:
        cluster.submit(JOB)
        found = []
        for _ in range(10):
            thread = threading.Thread(target=lambda: found.append(cluster.get("pi").name))
            thread.start()
            thread.join()
        assert found == ["pi"] * 10


@pytest.mark.parametrize("kind", KINDS)
def test_cancelling_from_another_thread(kind):
    server = Server([flood.pour])
    with flood.client(kind, server.url) as client, client.watch(api_version="v1", kind="Pod") as watch:
        timer = threading.Timer(0.2, client.cancel)
        timer.start()
        with pytest.raises(mpijob.CancelledError):
            for _ in watch:
                pass
        timer.join()
        assert [job.name for job in client.list()] == []
    server.close()


# ---- fork ----

def forked(work):
    """Do something in a child that ends as Python does; its exit code."""
    number = os.fork()
    if number:
        return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    code = 1
    try:
        code = work()
    finally:
        sys.stderr.flush()
        os._exit(code)


@pytest.mark.parametrize("kind", [*KINDS, "local"])
def test_a_child_makes_its_own(kind):
    server = Server([flood.pour])
    parent = mpijob.LocalCluster(node=False) if kind == "local" else flood.client(kind, server.url)
    watch = parent.watch() if kind == "local" else parent.watch(api_version="v1", kind="Pod")
    if kind == "local":
        parent.submit(JOB)
    assert next(watch).name
    job = mpijob.loads(JOB)
    kept = [parent, watch]
    del parent, watch

    def work():
        assert job.default().validate() == []
        with pytest.raises(mpijob.UsageError):
            kept[0].list()
        kept.clear()
        gc.collect()
        use_cluster(1)
        if kind != "local":
            with flood.client(kind, server.url) as own:
                assert own.list() == []
        return 0

    result = []
    assert forked(work) == 0
    thread = threading.Thread(target=lambda: result.append(forked(work)))  # the one thread of that child
    thread.start()
    thread.join(30)
    assert result == [0]
    assert next(kept[1]).name if kind != "local" else kept[0].get("pi").name
    kept[1].close()
    kept[0].close()
    server.close()


def test_a_child_ends_as_python_ends():
    code = """if True:
        import os, sys, flood, mpijob
        server = flood.sys.modules["server"].Server([flood.pour])
        kept = [flood.client(kind, server.url) for kind in ("http", "kubernetes")] + [mpijob.LocalCluster(node=False)]
        watches = [client.watch(api_version="v1", kind="Pod") for client in kept[:2]]
        for watch in watches:
            next(watch)
        number = os.fork()
        if number == 0:
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 7
        for watch in watches:
            next(watch)
    """
    done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", code], capture_output=True, text=True, timeout=60, check=False,
                          cwd=pathlib.Path(__file__).parent)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---- signals, while more comes than can be read ----

@pytest.fixture(scope="module")
def pouring():
    server = Server([flood.pour])
    yield server
    server.close()


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize(("kind", "what", "number"), [
    ("http", "watch", signal.SIGINT), ("http", "logs", signal.SIGINT), ("kubernetes", "watch", signal.SIGINT),
    ("kubernetes", "logs", signal.SIGINT), ("http", "watch", signal.SIGALRM), ("aio", "watch", signal.SIGINT)])
def test_a_signal_is_never_lost(pouring, kind, what, number, turn):
    with subprocess.Popen([sys.executable, flood.__file__, kind, what, pouring.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            assert child.stdout.readline() == "reading\n"
            time.sleep(random.random() * 0.1)
            begun = time.monotonic()
            child.send_signal(number)
            out, err = child.communicate(timeout=10)
        finally:
            child.kill()
    name = "Alarm" if number == signal.SIGALRM else "KeyboardInterrupt"
    assert (out, err, child.returncode) == (name + "\n", "", 0)
    assert time.monotonic() - begun < 5  # with the end of the process


def test_what_comes_up_in_a_callback_is_raised():
    """The same without chance: the exception is there before the callback's first line."""
    def called(user, data, length):
        raise KeyboardInterrupt

    callback = _abi.mpijob_write_fn(called)
    usual = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt):
        _signals.call(callback, None, b"", 0)
    assert sys.unraisablehook is usual
    other = []
    sys.unraisablehook = other.append
    try:
        thread = threading.Thread(target=lambda: _signals.call(callback, None, b"", 0))
        thread.start()
        thread.join()
    finally:
        sys.unraisablehook = usual
    assert len(other) == 1  # no signal handler runs there: a mistake, shown as ever


# ---- exceptions in callbacks ----

class Bad(logging.Handler):
    """A handler of what the library warns of, with a mistake in it."""

    def emit(self, record):
        raise ZeroDivisionError(record.getMessage())


@pytest.fixture
def bad_log():
    logger, handler = logging.getLogger("mpijob"), Bad()
    logger.addHandler(handler)
    yield
    logger.removeHandler(handler)


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_of_a_log_handler_comes_out_of_the_iterator(bad_log, kind):
    server = Server(on_watch(half_close, half_close, half_close))
    with flood.client(kind, server.url) as client, client.watch(api_version="v1", kind="Pod", timeout=15) as watch:
        with pytest.raises(ZeroDivisionError):
            for _ in watch:
                pass
        assert client.get_object("v1", "Pod", "b")["metadata"]["name"] == "b"  # it is as good as new
    server.close()
    assert not _calls._live


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_of_the_reader(kind):
    server = Server(on_watch(stream(event("ADDED", "d", 11), then="silence")))
    server.pods["d"] = pod("d", 11)
    with flood.client(kind, server.url) as client:
        with pytest.raises(ZeroDivisionError), client.watch(api_version="v1", kind="Pod") as watch:
            for found in watch:
                raise ZeroDivisionError(found.name)
        assert client.get_object("v1", "Pod", "b")["metadata"]["name"] == "b"
    server.close()
    assert not _calls._live
