# SPDX-License-Identifier: Apache-2.0
"""What the tests of the HTTP transport share: the driver as an object, and checks that count."""
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD") or SOURCE / "build/release")
DRIVER = pathlib.Path(os.environ.get("MPIJOB_HTTP_DRIVER") or BUILD / "tests/http/http_driver")
IO, TIMEOUT, AUTH, SPEC, UNSUPPORTED, UNREACHABLE = -5, -6, -8, -4, -13, -14

checks = 0
faults = []


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def check(truth, what, *seen):
    global checks
    checks += 1
    if not truth:
        faults.append(what)
        print(f"FAULT: {what}", *seen, flush=True)


def report():
    print(f"{checks} checks, {len(faults)} faults")
    sys.exit(1 if faults or not checks else 0)


class Driver:
    """tests/http/driver.c; options by name: server, ca, cert, key, token, tls_server_name, http1, max, idle, connect, foreign."""

    def __init__(self, env=None, wrapper=(), **options):
        if not DRIVER.exists():
            skip(f"{DRIVER.name} is not built")
        arguments = []
        for name, value in options.items():
            if value is not None:
                arguments += ["--" + name.replace("_", "-"), str(value)]
        # The home is empty: nothing of the one who runs the tests may leak in.
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "KUBECONFIG": "/dev/null"}
        environment.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        environment.update(env or {})
        self.process = subprocess.Popen([*wrapper, str(DRIVER), *arguments], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.done = {}
        first = self._line()
        self.opened, self.findings = first["open"], first["findings"]

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the driver ended with {self.process.wait()}")
        return json.loads(line)

    def do(self, command):
        """Run one command; gives what it said, answers are kept in `done`."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        said = {}
        while "ok" not in (line := self._line()):
            if "done" in line:
                self.done[line["done"]] = line
            said.update(line)
        return said

    def ask(self, rest, name="x"):
        """Start an exchange and wait for its end."""
        self.do(f"start {name} {rest}")
        self.do(f"wait {name}")
        return self.done.pop(name)

    def echo(self, rest="GET /echo"):
        return json.loads(self.ask(rest)["body"])

    def close(self):
        """The driver must leave in good order: nothing leaked, nothing broken."""
        self.process.stdin.close()
        code = self.process.wait(timeout=30)
        check(code == 0, f"the driver ends with 0, not {code}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.process.kill()
        else:
            self.close()
