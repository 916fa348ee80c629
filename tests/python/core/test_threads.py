# SPDX-License-Identifier: Apache-2.0
"""Threads, fork, and the end of objects: what the package's documentation promises."""
import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest
import weakref

import mpijob

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE") or pathlib.Path(__file__).resolve().parents[3])
SANITIZED = "libasan" in pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
PI = (SOURCE / "examples/pi/pi.yaml").read_text(encoding="utf-8")


def large():
    """A job whose text takes the library a noticeable time to write."""
    one = mpijob.loads(PI).default()
    one.spec.mpi_replica_specs["Worker"].replicas = 10000
    return one


class Threads(unittest.TestCase):
    def test_different_objects(self):
        faults = []

        def work(number):
            try:
                for turn in range(30):
                    one = mpijob.loads(PI.replace("replicas: 2", f"replicas: {number + 1}")).default()
                    one.metadata.labels = {"turn": str(turn)}
                    if len(one.hostfile()) != number + 1 or one.check() or len(one.render()) != number + 5:
                        faults.append(number)
                    try:
                        mpijob.loads("a: [")
                        faults.append("no error")
                    except mpijob.ParseError as error:
                        if len(error.findings) != 1:
                            faults.append(error)
            except BaseException as error:  # noqa: BLE001 (told by the main thread)
                faults.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(faults, [])

    def test_interpreter_lock_is_released(self):
        """While the library writes, another thread of Python goes on."""
        one, done, turns = large(), threading.Event(), 0

        def work():
            one.manifests("compact")
            done.set()

        before = sys.getswitchinterval()
        sys.setswitchinterval(10)  # who does not give the lock back keeps it to the end
        try:
            thread = threading.Thread(target=work)
            thread.start()
            while not done.is_set():
                time.sleep(0.001)
                turns += 1
            thread.join()
        finally:
            sys.setswitchinterval(before)
        self.assertGreater(turns, 3)


@unittest.skipUnless(hasattr(os, "fork"), "no fork")
class Fork(unittest.TestCase):
    def in_child(self, work):
        child = os.fork()
        if child == 0:
            code = 1
            signal.alarm(60)
            try:
                work()
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_child_uses_and_frees(self):
        one, findings = mpijob.loads(PI).default(), mpijob.loads(PI).validate()

        def work():
            one.spec.slots_per_worker = 5
            assert one.hostfile().slots == 10
            assert one.render() and str(findings[0])
            one.close()
            gc.collect()

        self.in_child(work)
        self.assertEqual(one.hostfile().slots, 4, "the child changed its own")

    def test_fork_while_a_type_is_made(self):
        """A child never finds the lock of the interface's types in the hands of a thread that it does not have."""
        code = ("import os, signal, threading, time\nfrom mpijob import _abi\nheld = threading.Event()\n"
                "def hold():\n    with _abi._lock:\n        held.set()\n        time.sleep(0.2)\n"
                "threading.Thread(target=hold).start()\nheld.wait()\nchild = os.fork()\n"
                "if child == 0:\n    signal.alarm(20)\n    _abi.mpijob_host()\n    os._exit(0)\n"
                "raise SystemExit(os.waitpid(child, 0)[1])\n")
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False)
        self.assertEqual(done.returncode, 0)

    @unittest.skipIf(SANITIZED, "ASan's allocator takes no care of forks")
    def test_fork_under_threads(self):
        """A child of a process whose other threads are in the library works on objects of its own."""
        stop = threading.Event()

        def busy():
            while not stop.is_set():
                mpijob.loads(PI).default().render()

        threads = [threading.Thread(target=busy) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(5):
                self.in_child(lambda: mpijob.loads(PI).default().check())
        finally:
            stop.set()
            for thread in threads:
                thread.join()


class Ends(unittest.TestCase):
    def test_objects_free_themselves(self):
        one = mpijob.loads(PI)
        gone = weakref.ref(one)
        del one
        self.assertIsNone(gone(), "no cycle keeps it")

    def test_views_keep_the_job(self):
        worker = mpijob.loads(PI).spec.mpi_replica_specs["Worker"]
        template = mpijob.loads(PI).spec.mpi_replica_specs["Worker"].template
        gc.collect()
        self.assertEqual(worker.replicas, 2)
        template["spec"]["hostNetwork"] = True
        plan = mpijob.loads(PI)
        plan.metadata.uid, plan.namespace = "u", "n"
        action = plan.plan(now=0).actions[1]
        del plan
        gc.collect()
        self.assertEqual(action.body()["kind"], action.kind)

    def test_at_exit(self):
        """What is left at the interpreter's end does no harm."""
        code = f"import mpijob\nkept = mpijob.loads({PI!r}).default()\nfacts = mpijob.Facts()\nobjects = kept.render()\n" \
               "template = kept.spec.mpi_replica_specs.worker.template\nring = [mpijob.Document({'a': 1})]\nring.append(ring)\n"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_import_is_cheap(self):
        """Importing the package imports none of its modules and loads no library."""
        code = ("import sys\nbefore = set(sys.modules)\nimport mpijob\nnew = set(sys.modules) - before\n"
                "assert 'ctypes' not in new and not [m for m in new if m.startswith('mpijob.')], new\n"
                "mpijob.load\nassert 'libmpijob.so' in open('/proc/self/maps').read()\n"
                "assert 'libmpijob-http' not in open('/proc/self/maps').read()\n"
                "assert not {'typing', 'dataclasses', 'asyncio', 'threading'} & (set(sys.modules) - before), sys.modules\n")
        subprocess.run([sys.executable, "-S", "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()
