# SPDX-License-Identifier: Apache-2.0
"""What the tests of local runs share: running `mpijob run`, and seeing that nothing is left behind.

Each test is a script of functions named check_*; main() calls them in order and prints one line for each.
"""
import collections
import contextlib
import glob
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD", SOURCE / "build/release"))
MPIJOB = str(BUILD / "bin/mpijob")


class Skipped(Exception):
    """The machine lacks what the check needs."""


def skip(reason):
    raise Skipped(reason)


def need(*programs):
    """Skip unless all programs are there."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    for program in programs:
        if not any(os.access(os.path.join(folder, program), os.X_OK) for folder in path.split(":")):
            skip(f"{program} is not installed")


def example(name):
    """The text of an example, with its programs in this build."""
    text = (SOURCE / "examples" / name).read_text()
    return text.replace("build/release/", f"{BUILD}/")


@contextlib.contextmanager
def job_file(text):
    """A file with this text, gone afterwards."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as file:
        file.write(text)
    try:
        yield file.name
    finally:
        os.unlink(file.name)


def processes():
    """Everything that runs as part of a local run, seen from outside: its own programs and all below them."""
    parents, names = {}, {}
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            stat = pathlib.Path(folder, "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        pid = int(folder[6:])
        names[pid] = stat[stat.index("(") + 1:stat.rindex(")")]
        parents[pid] = int(stat[stat.rindex(")") + 2:].split()[1])
    ours = {pid for pid, name in names.items() if name in ("mpijob", "mpijob-node", "orted", "prted", "sshd", "mpirun")}
    return {(pid, names[pid]) for pid in ours}


def namespaces():
    """The namespaces that processes live in."""
    found = set()
    for link in glob.glob("/proc/[0-9]*/ns/*"):
        with contextlib.suppress(OSError):
            found.add(os.readlink(link))
    return found


def sockets():
    """Abstract sockets of ours."""
    lines = pathlib.Path("/proc/net/unix").read_text().splitlines()
    return {line.split()[-1] for line in lines if "@mpijob" in line}


def state():
    """What a run could leave behind on this machine."""
    files = set()
    compilers = re.compile(r"cc\w+\.\w+|cc\w+\.cdtor\.\w|go-build\d+")  # may run beside the test
    for folder in ("/tmp", "/run", "/var/run", "/dev/shm", os.path.expanduser("~"), str(SOURCE), str(BUILD)):
        with contextlib.suppress(OSError):
            files |= {entry.path for entry in os.scandir(folder) if not compilers.fullmatch(entry.name)}
    return {
        "processes": processes(),
        "mounts": set(pathlib.Path("/proc/self/mountinfo").read_text().splitlines()),
        "links": set(os.listdir("/sys/class/net")),
        "named network namespaces": set(glob.glob("/run/netns/*")),
        "namespaces": namespaces(),
        "cgroups": set(glob.glob("/sys/fs/cgroup/**/", recursive=True)),
        "files": files,
        "sockets": sockets(),
    }


@contextlib.contextmanager
def nothing_left():
    """Fail when something new is there at the end and stays: what other programs make meanwhile comes and goes."""
    before = state()
    yield
    left = None
    for _ in range(60):
        after = state()
        new = {(what, str(item)) for what in before for item in after[what] - before[what]}
        left = new if left is None else left & new
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(f"left behind: {sorted(left)}")


class Result:
    """How a command ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


def start(*arguments, **more):
    """Start `mpijob` with pipes."""
    return subprocess.Popen([MPIJOB, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, cwd=SOURCE, **more)


def finish(process, timeout=120):
    """Wait for a started command."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"no end after {timeout} s\n{Result('none', out, err)}") from None
    return Result(process.returncode, out, err)


def mpijob(*arguments, timeout=120, **more):
    """Run `mpijob` to its end."""
    return finish(start(*arguments, **more), timeout)


def run(text, *options, timeout=120, **more):
    """Run the MPIJob with this text locally; nothing may be left behind."""
    with job_file(text) as name, nothing_left():
        return mpijob("run", *options, name, timeout=timeout, **more)


def ranks(result):
    """How many ranks of examples/pi/pi.c printed from each host."""
    return collections.Counter(re.findall(r"^rank \d+ of \d+ on (\S+)$", result.out, re.M))


def wait_for(what, condition, timeout=30):
    """Wait until the condition gives something true."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {timeout} s for {what}")


def equal(have, want, about=""):
    """Fail with both values when they differ."""
    if have != want:
        raise AssertionError(f"have {have!r}, want {want!r}\n{about}")


def holds(text, part):
    """Fail when the text lacks the part."""
    if part not in text:
        raise AssertionError(f"{part!r} is not in:\n{text}")


def can_run():
    """Skip the whole script where this machine does not let processes have namespaces."""
    probe = subprocess.run(["unshare", "--user", "--map-root-user", "--net", "--mount", "true"], check=False,
                           capture_output=True, text=True)
    if os.geteuid() != 0 and probe.returncode != 0:
        skip(f"no namespaces here: {probe.stderr.strip()}")


def main(scope):
    """Call every check_* of a script in order, or those that the command line names."""
    failed = skipped = passed = 0
    reasons = []
    for name, check in list(scope.items()):
        if not name.startswith("check_") or not callable(check) or (sys.argv[1:] and name not in sys.argv[1:]):
            continue
        begun = time.monotonic()
        try:
            can_run()
            check()
            passed += 1
            word = "ok"
        except Skipped as reason:
            skipped += 1
            reasons.append(str(reason))
            word = f"skipped: {reason}"
        except Exception:  # pylint: disable=broad-except
            failed += 1
            word = "FAILED"
            traceback.print_exc()
        print(f"{name[6:]}: {word} ({time.monotonic() - begun:.2f} s)", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    if failed:
        sys.exit(1)
    if not passed:
        print("skipped: " + "; ".join(reasons))
        sys.exit(77)
