# SPDX-License-Identifier: Apache-2.0
"""What the tests of mpijob.flyte share: the environment with the real flytekit, and checks that count."""
import importlib.util
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD") or SOURCE / "build/release").resolve()
PACKAGE = SOURCE / "bindings/python/src"
os.environ.setdefault("FLYTE_SDK_RICH_TRACEBACKS", "0")


def within_environment(library=False):
    """Go on in the environment that has flytekit. The package comes from the sources, where no library is, or with them."""
    if importlib.util.find_spec("flytekit") and importlib.util.find_spec("flytekitplugins"):
        return
    for name in ("MPIJOB_FLYTE_LOCAL", "MPIJOB_FLYTE_MODE", "MPIJOB_FLYTE_RANK"):
        os.environ.pop(name, None)
    os.environ.update(MPIJOB_BUILD=str(BUILD), PYTHONPATH=str(SOURCE / "tests/flyte-python"))
    if library:
        run = SOURCE / "tests/python/run"
        os.execv(run, [run, "flyte", *sys.argv])
    python = pathlib.Path(printed(SOURCE / "tests/python/environment", "flyte")) / "bin/python"
    os.environ["PYTHONPATH"] += os.pathsep + str(PACKAGE)
    os.execv(python, [python, *sys.argv])


def printed(*command):
    """What a command prints; when it cannot do its work, this test ends as it did."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip())
        sys.exit(done.returncode)
    return done.stdout.strip()


def equal(got, wanted, what=""):
    if got != wanted:
        raise AssertionError(f"{what}\n  got    {got!r}\n  wanted {wanted!r}")


def main(names):
    """Call all check_* in order, one line for each."""
    failed = 0
    for name, check in list(names.items()):
        if not name.startswith("check_"):
            continue
        try:
            said = check()
        except AssertionError as error:
            failed += 1
            print(f"FAILED {name[6:]}: {error}")
        else:
            print(f"ok     {name[6:]}{': ' + said if said else ''}")
    sys.exit(1 if failed else 0)
