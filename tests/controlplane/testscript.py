# SPDX-License-Identifier: Apache-2.0
"""What a test script needs: a network namespace, children that end with it, checks in order, a reason for skipping."""

import atexit
import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback

_MARK = "MPIJOB_TEST_OUTER_NET"
_libc = ctypes.CDLL(None, use_errno=True)


def skip(reason):
    """End the script as skipped; the reason is its last line."""
    print("skipped: " + reason, flush=True)
    sys.exit(77)


def _loopback_up():
    SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(sock, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def in_namespace():
    """Go on in a network namespace that holds nothing but a loopback interface, or end the script as skipped.

    Call it first: the script starts again from the top, with the same process id. A script that is already in such a
    namespace, made by its caller, stays there.
    """
    here = os.readlink("/proc/self/ns/net")
    outer = os.environ.get(_MARK)
    if outer and outer != here:
        _loopback_up()
        return
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    try:
        tried = subprocess.run(unshare + ["true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    except OSError as error:
        skip("no network namespace can be made: " + str(error))
    if tried.returncode != 0:
        skip("no network namespace can be made: " + (tried.stderr.strip() or "unshare failed"))
    os.environ[_MARK] = here
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvp(unshare[0], unshare + [sys.executable] + sys.argv)


def _die_with(parent):
    def in_child():
        PR_SET_PDEATHSIG = 1
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
    return in_child


def start(argv, **options):
    """subprocess.Popen for a child that is killed when the thread that started it ends, however that happens."""
    return subprocess.Popen(argv, preexec_fn=_die_with(os.getpid()), start_new_session=True, **options)


_cleanups = []


def _clean():
    while _cleanups:
        _cleanups.pop()()


def _interrupted(number, _frame):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(128 + number)


def at_end(function):
    """Call FUNCTION when the script ends: at its end, by an exception, by SIGTERM or SIGINT."""
    if not _cleanups:
        atexit.register(_clean)
        for number, untouched in ((signal.SIGTERM, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler)):
            # Only the main thread may set them.
            if signal.getsignal(number) == untouched and threading.current_thread() is threading.main_thread():
                signal.signal(number, _interrupted)
    _cleanups.append(function)


def forget(function):
    """Take back what at_end was told."""
    if function in _cleanups:
        _cleanups.remove(function)


def run_checks(scope, *args):
    """Call every check_* of SCOPE, or those that the command line names, with ARGS; print a line for each, and end the script."""
    chosen = [word for word in sys.argv[1:] if word.startswith("check_")]
    failed = passed = 0
    for name, check in list(scope.items()):
        if not name.startswith("check_") or (chosen and name not in chosen):
            continue
        begun = time.monotonic()
        try:
            check(*args)
            passed, word = passed + 1, "ok"
        except Exception:  # pylint: disable=broad-except
            failed, word = failed + 1, "FAILED"
            traceback.print_exc()
        print(f"{name[6:]}: {word} ({time.monotonic() - begun:.2f} s)", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def equal(have, want, what="value"):
    if have != want:
        raise AssertionError(f"{what}: {have!r}, not {want!r}")


def holds(true, what):
    if not true:
        raise AssertionError(what)
