# SPDX-License-Identifier: Apache-2.0
"""A control plane with the reference operator and kwok, a kubelet for logs, and the command under test."""
import os
import pathlib
import subprocess

import command  # first: it says where the others are
from command import BUILD, SOURCE  # noqa: F401
import controlplane
from kubelet import Kubelet
from testscript import equal, holds, run_checks, skip  # noqa: F401

MPIJOB = str(BUILD / "bin/mpijob")


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __repr__(self):
        return f"exit code {self.code}\n--- out\n{self.out}\n--- err\n{self.err}"


class Fixture:
    """`cp` is the control plane, `kubelet` has the logs; mpijob() runs the command."""

    def __init__(self, cp):
        self.cp, self.kubelet, self.folder = cp, Kubelet(cp), pathlib.Path(cp.folder)

    def words(self, *arguments, kubeconfig=None):
        words = [str(word) for word in arguments]
        return [MPIJOB, words[0], "--kubeconfig", kubeconfig or self.cp.kubeconfig, *words[1:]]

    def mpijob(self, *arguments, kubeconfig=None, timeout=60, text=True):
        environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
        return Result(subprocess.run(self.words(*arguments, kubeconfig=kubeconfig), stdin=subprocess.DEVNULL, text=text,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, env=environment,
                                     check=False))

    def start(self, *arguments, kubeconfig=None):
        return subprocess.Popen(self.words(*arguments, kubeconfig=kubeconfig), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def file(self, name, text):
        path = self.folder / (name + ".yaml")
        path.write_text(text)
        return str(path)

    def submit(self, name, text=None, where="default", **played):
        """Make a job of the example, whose launcher kwok plays as said."""
        self.cp.kubectl("apply", "-n", where, "-f", "-", stdin=text or pi(name, **played))

    def come_back(self):
        """Start the API server again, and what gave up without it."""
        self.cp.start_api()
        for server in (self.cp.controller_manager, self.cp.scheduler, self.cp.kwok):
            holds(server.running(), f"{server.name} has lived through it")
        # The reference ends when it cannot renew its Lease or is refused a watch: at once, or seconds later.
        self.cp.stop_operator()
        self.cp.start_operator()

    def end_launcher(self, job, code=0):
        """Let the launcher end that was submitted with exit_code="none"."""
        pod = next(pod["metadata"]["name"] for pod in self.pods(job) if "launcher" in pod["metadata"]["name"])
        self.cp.patch(f"/api/v1/namespaces/default/pods/{pod}", {"metadata": {"annotations": {"mpijob.test/exit-code": str(code)}}})

    def pods(self, job):
        return self.cp.get(f"/api/v1/namespaces/default/pods?labelSelector=training.kubeflow.org/job-name={job}")["items"]


def pi(name, restart=None, edit=lambda text: text, **played):
    """The example under that name; played: exit_code="3", run_for="10s", start_after="2s" of its launcher."""
    text = command.PI.read_text().replace("  name: pi\n", f"  name: {name}\n")
    if played:
        text = command.with_annotations(text, "".join(f"            mpijob.test/{key.replace('_', '-')}: \"{value}\"\n"
                                                      for key, value in played.items()))
    if restart:
        text = text.replace("    Launcher:\n", f"    Launcher:\n      restartPolicy: {restart}\n")
    return edit(text)


def main(scope, **wants):
    """Bring all up and run the checks of a script, each with the fixture."""
    if not os.access(MPIJOB, os.X_OK):
        skip(f"{MPIJOB} is not built")
    controlplane.in_namespace()
    with controlplane.ControlPlane(**{"nodes": 3, "operator": True, **wants}) as cp:
        run_checks(scope, Fixture(cp))
