# SPDX-License-Identifier: Apache-2.0
"""Growth over many calls, and the package's tests under valgrind; see test-memory.

It first proves that a call that leaks is noticed, and a read of memory that was freed.
"""
import ctypes
import gc
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

import mpijob
from mpijob._library import core

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD") or SOURCE / "build/release")
TESTS = SOURCE / "tests/python/core"
TEXT = (SOURCE / "examples/pi/pi.yaml").read_text(encoding="utf-8").replace("  name: pi\n", "  name: pi\n  namespace: default\n  uid: u\n")
BROKEN = TEXT.replace("cleanPodPolicy: Running", "cleanPodPolicy: Sometimes")
WARM = 300           # calls before which nothing is counted: caches of Python's fill
BYTES_EACH = 0.5     # of growth that one call may cause: half of a byte is none
SLACK = 8192         # whatever Python keeps once
RESIDENT = 4 << 20   # the same for resident memory, which comes in pages
# Opens files, forks and starts programs, which take their time under valgrind, or counts on Python's own speed.
SLOW = ("test_threads", "test_abi", "test_launch")
USE_AFTER_FREE = "import mpijob\nfrom mpijob._library import core\nd = core.mpijob_doc_new()\ncore.mpijob_doc_free(d)\ncore.mpijob_doc_root(d)\n"


class Mallinfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                     "uordblks", "fordblks", "keepcost")]


def meter():
    """A function that tells how many bytes are allocated now, and its name."""
    process = ctypes.CDLL(None)
    try:
        sanitizer = process.__sanitizer_get_current_allocated_bytes
    except AttributeError:
        process.mallinfo2.restype = Mallinfo

        def used():
            info = process.mallinfo2()
            return info.uordblks + info.hblkhd

        return used, "mallinfo2"
    sanitizer.restype = ctypes.c_size_t
    return sanitizer, "AddressSanitizer"


USED, METER = meter()


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def grown(call, count):
    """How many bytes more are allocated after so many calls, and how many more are resident."""
    for _ in range(WARM):
        call()
    gc.collect()
    before, pages = USED(), resident()
    for _ in range(count):
        call()
    gc.collect()
    return USED() - before, resident() - pages


def refused(call):
    """A call that is to fail, with all that its exception holds."""
    def again():
        try:
            call()
        except mpijob.Error as error:
            if not error.findings:
                raise
        else:
            raise AssertionError("it did not fail")
    return again


def calls():
    """What is called, by name."""
    whole = mpijob.loads(TEXT).default()
    observed = [action.body() for action in whole.plan(now=1e9) if action.verb == "create"]
    for number, thing in enumerate(observed):
        thing["metadata"]["uid"] = f"u{number}"
    return {
        "load": lambda: mpijob.loads(TEXT, "pi.yaml"),
        "default": lambda: whole.copy().default(),
        "validate": whole.validate,
        "findings": lambda: [str(f) for f in mpijob.loads(BROKEN, "pi.yaml").default().validate()],
        "fields": lambda: setattr(whole.spec, "slots_per_worker", whole.spec.slots_per_worker % 8 + 1),
        "render": whole.render,
        "convert": lambda: whole.convert("v1"),
        "hostfile": lambda: str(whole.hostfile()),
        "plan": lambda: whole.plan(observed, now=1e9).actions,
        "dict": lambda: mpijob.MPIJob.from_dict(whole.to_dict()),
        "refused": refused(lambda: mpijob.loads(BROKEN).default().check()),
        "unreadable": refused(lambda: mpijob.loads("a: [")),
    }


def check_growth(count):
    """Yield what grows over so many calls of each kind."""
    kept = []
    if grown(lambda: core.mpijob_diag_new(), 500)[0] < 500 * 16 or grown(lambda: kept.append(object()), 500)[0] < 500 * 16:
        sys.exit("self-test: a call that leaks was not noticed")
    for name, call in calls().items():
        begun = time.monotonic()
        more, pages = grown(call, count)
        if more > SLACK + BYTES_EACH * count:  # a leak grows in each round, a cache of Python's only in one
            more, pages = grown(call, count)
        print(f"{name:12}{count:>7} calls in {time.monotonic() - begun:5.1f} s: {more:+7} bytes allocated, {pages:+9} resident",
              flush=True)
        if more > SLACK + BYTES_EACH * count:
            yield f"{name}: {more} bytes more after {count} calls"
        if pages > RESIDENT and METER == "mallinfo2":  # AddressSanitizer keeps what was freed for a while
            yield f"{name}: {pages} bytes more are resident after {count} calls"


def valgrind(*arguments):
    """Python under valgrind: its exit code, what is printed, and the errors in which our libraries have a part (Python's own,
    compiled for speed, make some)."""
    done = subprocess.run(["valgrind", "--error-limit=no", "--num-callers=40", sys.executable, *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    errors = re.split(r"^==\d+== *\n", done.stdout, flags=re.M)
    return done.returncode, done.stdout, [e for e in errors if re.search(r"^==\d+==    (?:at|by) 0x\w+: mpijob_", e, flags=re.M)]


def check_valgrind(whole):
    """Yield what valgrind says of the package's tests."""
    if not any("Invalid read" in error for error in valgrind("-c", USE_AFTER_FREE)[2]):
        sys.exit("self-test: a read of memory that was freed was not noticed")
    for file in sorted(TESTS.glob("test_*.py")):
        if not whole and file.stem in SLOW:
            continue
        begun = time.monotonic()
        code, told, errors = valgrind("-m", "unittest", "discover", "-s", TESTS, "-p", file.name)
        print(f"valgrind {file.stem:15} ended with {code} in {time.monotonic() - begun:.0f} s, {len(errors)} errors", flush=True)
        if code or "Ran 0 tests" in told:
            yield f"valgrind: {file.name} ended with {code}\n{told[-6000:]}"
        yield from errors


def main():
    whole = sys.argv[1:] == ["--whole"]
    kinds = len(calls())
    count = 100000 if whole else -(-100000 // kinds) if METER == "mallinfo2" else 2000
    faults, missing = list(check_growth(count)), ""
    if METER != "mallinfo2":
        print("all tests of the package run with AddressSanitizer in this build")
    elif not whole and not list((BUILD / "lib").glob("libmpijob-local.so*")):
        print("valgrind has the build with all libraries alone")
    elif shutil.which("valgrind"):
        faults += check_valgrind(whole)
    else:
        missing = "valgrind is not installed"
    print("\n".join([*faults, f"{kinds * count} calls, counted by {METER}: {len(faults)} faults"]))
    if missing and not faults:
        print(f"skipped: {missing}")
        return 77
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
