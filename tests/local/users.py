# SPDX-License-Identifier: Apache-2.0
"""Ordinary users for tests: root makes them and removes them; anybody else runs as who they are."""
import contextlib
import os
import pathlib
import pwd
import re
import subprocess

from harness import equal, need, skip

NAME = "mpijob-test"
ROOT = os.geteuid() == 0


def call(*command):
    """Run a command of the administrator; it must work."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    equal(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")


def remove_user(name):
    """With its home, its group and its subordinate ids."""
    subprocess.run(["userdel", "--remove", name], capture_output=True, check=False)


def remove_forgotten():
    """Users of a test that was killed."""
    for entry in pwd.getpwall():
        found = re.fullmatch(NAME + r"-(\d+)", entry.pw_name)
        if found and not os.path.exists(f"/proc/{found.group(1)}"):
            remove_user(entry.pw_name)


@contextlib.contextmanager
def user(subordinate):
    """An ordinary user: the one who runs the test, or one made for it."""
    if not ROOT:
        own = pwd.getpwuid(os.geteuid())
        has = re.search(f"^({re.escape(own.pw_name)}|{own.pw_uid}):", pathlib.Path("/etc/subuid").read_text()
                        if os.path.exists("/etc/subuid") else "", re.M)
        if bool(has) != subordinate:
            skip(f"{own.pw_name} has {'' if has else 'no '}subordinate ids")
        yield own
        return
    need("useradd", "userdel")
    remove_forgotten()
    name = f"{NAME}-{os.getpid()}"
    call("useradd", "--create-home", "--shell", "/bin/sh", "-K", "SUB_UID_COUNT=0", "-K", "SUB_GID_COUNT=0", name)
    try:
        if subordinate:
            call("usermod", "--add-subuids", "700000-765535", "--add-subgids", "700000-765535", name)
        assert (name in pathlib.Path("/etc/subuid").read_text()) == subordinate
        yield pwd.getpwnam(name)
    finally:
        remove_user(name)


def as_user(who):
    """How subprocess becomes this user."""
    if not ROOT:
        return {}
    return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
