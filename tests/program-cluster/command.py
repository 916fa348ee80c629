# SPDX-License-Identifier: Apache-2.0
"""The command mpijob against a control plane, for the scripts of this folder."""
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD") or SOURCE / "build/release")
sys.path.insert(0, str(SOURCE / "tests/controlplane"))
sys.dont_write_bytecode = True

PI = SOURCE / "examples/pi/pi.yaml"
LAUNCHER = "      template:\n        spec:\n"  # first the launcher's


def with_annotations(text, lines):
    """The job with annotations for its launcher's pod, as YAML lines."""
    return text.replace(LAUNCHER, f"      template:\n        metadata:\n          annotations:\n{lines}        spec:\n", 1)


def pi(name, code="0", more="", workers=2, namespace=None, annotations=""):
    """The example as the job NAME; CODE is that of its launcher, "none": it runs until it is deleted."""
    text = PI.read_text().replace("  name: pi\n", f"  name: {name}\n" + (f"  namespace: {namespace}\n" if namespace else "")
                                  + more)
    text = text.replace("replicas: 2", f"replicas: {workers}")
    return with_annotations(text, f"            mpijob.test/exit-code: \"{code}\"\n{annotations}")


class Command:
    """mpijob with the environment of a control plane."""

    def __init__(self, cp, kubeconfig=None):
        self.environment = dict(cp.environment(), LC_ALL="C.UTF-8", KUBECONFIG=kubeconfig or cp.kubeconfig)

    def start(self, *arguments, program=None, **options):
        return subprocess.Popen([program or BUILD / "bin/mpijob", *map(str, arguments)], env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def __call__(self, *arguments, stdin=None, program=None, timeout=120, environment=None):
        return subprocess.run([program or BUILD / "bin/mpijob", *map(str, arguments)], input=stdin or "",
                              env=dict(self.environment, **(environment or {})), capture_output=True, text=True,
                              check=False, timeout=timeout)

    def ok(self, *arguments, **options):
        """What it prints; it must succeed."""
        done = self(*arguments, **options)
        if done.returncode != 0:
            raise AssertionError(f"mpijob {' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout
