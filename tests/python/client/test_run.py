# SPDX-License-Identifier: Apache-2.0
"""Jobs that really run: pods of this machine, with sshd and mpirun where it has them."""
import asyncio
import contextlib
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import mpijob
import mpijob.aio

TEXT = """apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: pi}}
spec:
  runPolicy: {{backoffLimit: 0}}
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          terminationGracePeriodSeconds: {grace}
          containers: [{{name: l, image: i, command: {command}}}]
"""
WORKERS = """    Worker:
      replicas: 2
      template: {spec: {containers: [{name: w, image: i}]}}
"""
STOPPED = """
import sys, mpijob
try:
    mpijob.run(sys.argv[1], output=lambda line: print(line.text, flush=True))
except KeyboardInterrupt:
    from mpijob import _calls
    print("interrupted", len(_calls._live), flush=True)
"""


COUNTED = """
import sys, mpijob
with mpijob.LocalCluster() as cluster:
    cluster.submit(sys.argv[1])
    logs = cluster.logs("pi", role="launcher", follow=True)
    next(logs)
    for _ in range(20):
        try:
            print("ready", flush=True)
            for line in logs:
                pass
        except KeyboardInterrupt:
            print("interrupted", flush=True)
"""


def job(*command, grace=5, workers=False):
    return TEXT.format(command=json.dumps(command), grace=grace) + WORKERS * workers


def shell(words, **options):
    return job("sh", "-c", words, **options)


def children():
    """The library's own among this process' children. (No ps: under a preloaded AddressSanitizer it may hang.)"""
    names = []
    for task in os.scandir("/proc/self/task"):
        for child in pathlib.Path(task.path, "children").read_text(encoding="ascii").split():
            with contextlib.suppress(OSError):
                names.append(pathlib.Path("/proc", child, "comm").read_text(encoding="ascii").strip())
    return [name for name in names if name.startswith("mpijob")]


def setUpModule():
    try:
        mpijob.LocalCluster().close()
    except (mpijob.UnsupportedError, mpijob.InputOutputError) as error:
        raise unittest.SkipTest(f"this machine runs no pods: {error}") from None


class Runs(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(children(), [])

    @unittest.skipUnless(shutil.which("mpirun") and shutil.which("sshd") or os.path.exists("/usr/sbin/sshd"), "no mpirun or sshd")
    def test_ranks(self):
        lines = []
        text = job("mpirun", "--allow-run-as-root", "-n", "2", "hostname", workers=True)
        text = text.replace("backoffLimit: 0", "backoffLimit: 9")  # a first attempt may come before the workers' sshd
        result = mpijob.run(text, output=lambda line: lines.append(line.text), progress=False, backoff_base=0.2)
        self.assertEqual((result.succeeded, result.exit_code, result.causes), (True, 0, []))
        self.assertEqual(sorted(line for line in lines if line.startswith("pi-worker")), ["pi-worker-0", "pi-worker-1"])

    def test_standard_output_and_progress(self):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            result = mpijob.run(shell("echo one; printf two"))
        self.assertEqual(out.getvalue(), "one\ntwo")
        self.assertIn("mpijob: pi succeeded after ", err.getvalue())
        self.assertIn("starting", err.getvalue())
        self.assertEqual((result.reason, result.job.name), ("MPIJobSucceeded", "pi"))

    def test_where_output_goes(self):
        """To a path, to files of bytes and of text; what can take no line is refused before the job starts."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.log"
            for output in (str(path), path):
                mpijob.run(shell("echo one; printf two"), output=output, progress=False)
                self.assertEqual(path.read_bytes(), b"one\ntwo")
            with open(path, "wb") as file:
                mpijob.run(shell("echo bytes"), output=file, progress=False)
            self.assertEqual(path.read_bytes(), b"bytes\n")
            with open(path, "w", encoding="utf-8") as file:
                mpijob.run(shell("echo text"), output=file, progress=False)
            self.assertEqual(path.read_bytes(), b"text\n")
            made = pathlib.Path(folder) / "made"
            for wrong in ({"output": 5}, {"timeout": "5"}, {"check": "no"}, {"backoff_base": "1"}, {"workers": 2}):
                with self.subTest(wrong), self.assertRaisesRegex(TypeError, next(iter(wrong))):
                    mpijob.run(shell(f"touch {made}"), progress=False, **wrong)
            with self.assertRaises(mpijob.UsageError):
                mpijob.run(shell(f"touch {made}"), progress=False, timeout=-1)
            self.assertFalse(made.exists())

    def test_no_command(self):
        """The reason is reported at each attempt, and named by the timeout, the error and diagnose()."""
        text = job().replace(", command: []", "")
        cause = "container l has neither command nor args"
        for limit, options, family in ((9, {"timeout": 4}, mpijob.TimeoutError), (1, {"backoff_base": 0.1}, mpijob.RunError)):
            with self.assertLogs("mpijob") as logs, self.assertRaisesRegex(family, cause) as raised:
                mpijob.run(text.replace("backoffLimit: 0", f"backoffLimit: {limit}"), progress=False, **options)
            self.assertIn(cause, "".join(logs.output))
            self.assertIn("pod-failed", [finding.id for finding in raised.exception.findings])
        self.assertEqual(sum(cause in line for line in logs.output), 2, logs.output)
        with mpijob.LocalCluster() as cluster, self.assertLogs("mpijob"):
            cluster.submit(text.replace("backoffLimit: 0", "backoffLimit: 9"))
            until = time.monotonic() + 20
            while not (causes := cluster.diagnose("pi")) and time.monotonic() < until:
                cluster.wait("pi", "Created")
            self.assertEqual([c.id for c in causes], ["pod-failed"])
            self.assertIn(cause, causes[0].message)

    def test_no_such_program(self):
        """Also what only the caller has: a pod's PATH is its own."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "nosuch"
            program.write_text("#!/bin/sh\n", encoding="utf-8")
            program.chmod(0o755)
            before = os.environ["PATH"]
            for path, advice in ((before, "Give the whole path"), (f"{folder}:{before}", f"Here nosuch is {program}: give that path")):
                os.environ["PATH"] = path
                try:
                    with self.assertLogs("mpijob"), self.assertRaises(mpijob.RunError) as raised:
                        mpijob.run(job("nosuch", "train.py"), progress=False)
                finally:
                    os.environ["PATH"] = before
                said = str(raised.exception)
                self.assertIn("cannot run nosuch: No such file or directory", said)
                self.assertIn("that of the caller and its virtual environment are not used", said)
                self.assertIn(advice, said)
                self.assertNotIn("before this finding", said)

    def test_failures(self):
        with self.assertRaises(mpijob.RunError) as raised:
            mpijob.run(shell("exit 7"), progress=False)
        error = raised.exception
        self.assertEqual(error.result.exit_code, 7)
        self.assertIn("BackoffLimitExceeded", str(error))
        self.assertIn("exit code is 7", str(error))
        result = mpijob.run(shell("exit 9"), progress=False, check=False)
        self.assertEqual((result.succeeded, result.exit_code), (False, 9))
        with self.assertRaises(mpijob.SpecError) as raised:
            mpijob.run(shell("true").replace("backoffLimit: 0", "backoffLimit: -1"), progress=False)
        self.assertTrue(raised.exception.findings)
        with self.assertRaises(mpijob.SpecError):
            mpijob.run(shell("true").replace("backoffLimit: 0", "managedBy: kueue.x-k8s.io/multikueue"), progress=False)

    def test_causes(self):
        """Also those that only a launcher that is gone has printed."""
        said = "ssh: Could not resolve hostname pi-worker-0.pi: Name or service not known"
        stays = shell(f"echo '{said}' >&2; exit 255").replace("Launcher:\n", "Launcher:\n      restartPolicy: Never\n")
        for text in (stays, shell(f"echo '{said}' >&2; sleep 1; exit 255")):
            with self.assertRaises(mpijob.RunError) as raised:
                mpijob.run(text, progress=False, output=lambda line: None)
            causes = [cause for cause in raised.exception.result.causes if "pi-worker-0" in str(cause)]
            self.assertTrue(causes, raised.exception.findings)
            self.assertIn(causes[0].advice, str(raised.exception))

    def test_diagnosis_reads_logs(self):
        with mpijob.LocalCluster() as cluster:
            cluster.submit(shell("echo 'bash: mpirun: command not found'; sleep 60"))
            next(cluster.logs("pi", role="launcher", follow=True))
            self.assertIn("mpirun-not-found", [cause.id for cause in cluster.diagnose("pi")])

    def test_what_else_is_in_the_file(self):
        text = ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: words}\ndata: {a: hello}\n---\n"
                + shell("echo $A", grace=1).replace("name: pi", "name: pi, namespace: team")
                .replace("image: i,", "image: i, envFrom: [{configMapRef: {name: words}}], env: [{name: A, "
                         "valueFrom: {configMapKeyRef: {name: words, key: a}}}],"))
        lines = []
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            mpijob.run(file.name, output=lambda line: lines.append(str(line)), progress=False)
        self.assertEqual(lines, ["hello"])

    def test_time_is_over(self):
        lines, begun = [], time.monotonic()
        with self.assertRaises(mpijob.TimeoutError):
            mpijob.run(shell("trap 'echo bye; exit' TERM; echo up; sleep 100 & wait"), output=lambda line: lines.append(line.text),
                       timeout=3, progress=False)
        self.assertLess(time.monotonic() - begun, 12)
        self.assertEqual(lines, ["up", "bye"])  # it was asked to end before it was ended

    def test_interrupted(self):
        text = shell("trap 'echo bye; exit' TERM; echo up; sleep 100 & wait")
        with subprocess.Popen([sys.executable, "-c", STOPPED, text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "up\n")
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=20)
        self.assertEqual((out, child.returncode), ("bye\ninterrupted 0\n", 0), err)
        # Who does not end is ended by a second one, at once.
        text = shell("trap '' TERM; echo up; while :; do sleep 1; done", grace=60)
        with subprocess.Popen([sys.executable, "-c", STOPPED, text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "up\n")
            child.send_signal(signal.SIGINT)
            time.sleep(1)
            self.assertIsNone(child.poll())
            begun = time.monotonic()
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=20)
        self.assertEqual((out, child.returncode), ("interrupted 0\n", 0), err)
        self.assertLess(time.monotonic() - begun, 3)

    def test_logs_as_they_come(self):
        with mpijob.LocalCluster() as cluster:
            cluster.submit(shell("echo one; sleep 1; echo two"))
            times = {line.text: time.monotonic() for line in cluster.logs("pi", role="launcher", follow=True)}
            self.assertEqual(list(times), ["one", "two"])
            self.assertGreater(times["two"] - times["one"], 0.7)
            self.assertEqual(cluster.wait("pi", "Succeeded", 10).status.conditions[-1].type, "Succeeded")
            self.assertEqual([line.text for line in cluster.logs("pi", tail=1)], ["two"])

    def test_much_output(self):
        count = 0
        with mpijob.LocalCluster() as cluster:
            cluster.submit(shell("seq 1 100000"))
            for line in cluster.logs("pi", role="launcher", follow=True):
                count += 1
                self.assertEqual(line.text, str(count))
                if count == 1:
                    time.sleep(0.5)  # a reader that is behind
        self.assertEqual(count, 100000)

    def test_interrupted_while_much_comes(self):
        """Most of the time is spent in callbacks then, where an exception would be lost."""
        begun = time.monotonic()
        with subprocess.Popen([sys.executable, "-c", COUNTED, shell("yes")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as child:
            for _ in range(20):
                self.assertEqual(child.stdout.readline(), "ready\n")
                child.send_signal(signal.SIGINT)
                self.assertEqual(child.stdout.readline(), "interrupted\n")
            out, err = child.communicate(timeout=20)
        self.assertEqual((out, err, child.returncode), ("", "", 0))
        self.assertLess(time.monotonic() - begun, 30)

    def test_asyncio(self):
        async def life():
            async with mpijob.aio.LocalCluster() as cluster:
                await cluster.submit(shell("echo one; sleep 0.3; echo two"))
                lines = [line.text async for line in cluster.logs("pi", role="launcher", follow=True)]
                await cluster.wait("pi", "Succeeded", 10)
                return lines

        self.assertEqual(asyncio.run(life()), ["one", "two"])


class Progress(unittest.TestCase):
    def test_bars(self):
        from mpijob import _progress
        for name in ("rich", "tqdm"):
            with self.subTest(name), contextlib.redirect_stderr(io.StringIO()) as err:
                try:
                    shown = _progress.progress(name, "pi", 2)
                except ImportError:
                    self.skipTest(f"no {name} here")
                shown.show("starting", 1)
                shown.hide()
                shown.hide()
                shown.show("running", 2)
                shown.say("over")
                self.assertTrue(err.getvalue().endswith("mpijob: over\n"))
        with self.assertRaises(ValueError):
            _progress.progress("ansi", "pi", 2)
        self.assertIs(type(_progress.progress(False, "pi", 2)), _progress.Silent)


if __name__ == "__main__":
    unittest.main()
