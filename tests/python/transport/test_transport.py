# SPDX-License-Identifier: Apache-2.0
"""Transports in Python: exceptions, threads, cancelling, the end of the process."""
import ctypes
import errno
import gc
import os
import pathlib
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest
from driver import Driver

from mpijob import _abi, errors, transport
from mpijob._library import core
from mpijob.transport import BlockingTransport, Transport

PATH = "/api/v1/pods"


class Doing(BlockingTransport):
    """Does what it is given."""

    def __init__(self, do):
        super().__init__()
        self.do = do
        self.closed = 0

    def perform(self, request, answer):
        self.do(request, answer)

    def close(self):
        self.closed += 1


class Breakable(Doing):
    """Waits until it is aborted; then it tells more."""

    def __init__(self):
        super().__init__(self.wait)
        self.aborted, self.after = {}, []

    def wait(self, request, answer):
        aborted = self.aborted.setdefault(answer, threading.Event())
        try:
            answer.status(200)
            answer.data(b"before")
            aborted.wait()
            answer.data(b"after")
        except errors.CancelledError:
            self.after.append(answer.cancelled)
            raise

    def abort(self, answer):
        self.aborted.setdefault(answer, threading.Event()).set()


class Manual(Transport):
    """Its exchanges are in a list; `do` is what a poll does."""

    def __init__(self):
        super().__init__()
        self.exchanges, self.cancelled, self.closed = [], [], 0
        self.do = lambda: None
        self.woken = threading.Event()

    def start(self, exchange):
        self.exchanges.append(exchange)

    def poll(self, timeout):
        self.do()
        self.woken.wait(timeout)
        self.woken.clear()

    def cancel(self, exchange):
        self.cancelled.append(exchange)

    def wake(self):
        self.woken.set()

    def close(self):
        self.closed += 1


def raising(error):
    def perform(request, answer):
        raise error
    return perform


@pytest.fixture
def shown(monkeypatch):
    """What threading.excepthook got."""
    found = []
    monkeypatch.setattr(threading, "excepthook", lambda args: found.append(args.exc_type))
    return found


# ---- exceptions ----

@pytest.mark.parametrize(("error", "code"), [
    (errors.AuthError("no token"), _abi.MPIJOB_ERR_AUTH),
    (errors.UnreachableError("no token"), _abi.MPIJOB_ERR_UNREACHABLE),
    (errors.Error("no token"), _abi.MPIJOB_ERR_IO),
    (TimeoutError("no token"), _abi.MPIJOB_ERR_TIMEOUT),
    (socket.timeout("no token"), _abi.MPIJOB_ERR_TIMEOUT),
    (ConnectionRefusedError(errno.ECONNREFUSED, "no token"), _abi.MPIJOB_ERR_UNREACHABLE),
    (socket.gaierror(-2, "no token"), _abi.MPIJOB_ERR_UNREACHABLE),
    (ConnectionResetError(errno.ECONNRESET, "no token"), _abi.MPIJOB_ERR_IO),
    (MemoryError("no token"), _abi.MPIJOB_ERR_NOMEM),
    (NotImplementedError("no token"), _abi.MPIJOB_ERR_UNSUPPORTED),
    (SystemExit("no token"), _abi.MPIJOB_ERR_CANCELLED),
])
def test_a_failure_has_its_code_and_text(error, code, shown):
    with Driver(Doing(raising(error))) as driver:
        for method in ("GET", "POST"):
            call = driver.ask(method, PATH)
            assert (call.code, call.status) == (code, 0)
            assert "no token" in call.message
    assert shown == []


def test_a_mistake_of_the_author_is_shown_and_of_a_write_nothing_is_known(shown):
    with Driver(Doing(raising(KeyError("x")))) as driver:
        assert driver.ask("GET", PATH).code == _abi.MPIJOB_ERR_USAGE
        call = driver.ask("POST", PATH)
        assert call.code == _abi.MPIJOB_ERR_IO
        assert call.message == "KeyError: 'x'"
    assert shown == [KeyError, KeyError]


def test_text_that_c_cannot_hold():
    def perform(request, answer):
        answer.header("Warning", '299 - "zw\0ei W\u00f6rter \udcff"')
        raise OSError("a\0b \udcff")
    with Driver(Doing(perform)) as driver:
        assert driver.ask("POST", PATH).message == "ab \udcff"
        assert driver.warnings == ["zwei W\u00f6rter \udcff"]


def test_failing_after_the_answer_has_begun():
    def perform(request, answer):
        answer.status(200)
        answer.data(b'{"a":')
        raise ConnectionResetError(errno.ECONNRESET, "gone")
    with Driver(Doing(perform)) as driver:
        call = driver.ask("GET", PATH)
        assert (call.code, call.status, call.message) == (_abi.MPIJOB_ERR_IO, 200, "[Errno 104] gone")


@pytest.mark.parametrize("error", [KeyError("x"), MemoryError(), KeyboardInterrupt()])
def test_exceptions_of_every_method_of_a_transport(error, shown):
    class Bad(Manual):
        bad = ""

        def __getattribute__(self, name):
            if name == object.__getattribute__(self, "bad"):
                raise error
            return super().__getattribute__(name)

        def interest(self):
            return -1, None

        def pause(self, exchange, on):
            pass

    made = Bad()
    driver = Driver(made)
    call = driver.start("GET", PATH, stream=True)
    made.bad = "interest"
    fd, deadline = ctypes.c_int(), ctypes.c_int64()
    assert core.mpijob_client_interest(driver.client, ctypes.byref(fd), ctypes.byref(deadline)) < 0
    made.bad = "start"
    with pytest.raises(errors.Error):
        driver.start("GET", PATH)
    made.bad = "pause"
    call.pause(True)
    driver.poll(0)
    made.bad = "poll"
    assert driver.poll() < 0
    made.bad = "wake"
    core.mpijob_client_wake(driver.client)
    made.bad = "cancel"
    call.cancel()
    made.bad = "close"
    driver.free()
    made.bad = ""
    assert not made._exchanges
    assert not transport._live
    if isinstance(error, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            made._mpijob_raise()
    made._mpijob_raise()
    assert bool(shown) is not isinstance(error, KeyboardInterrupt)


def test_control_c_inside_of_poll_comes_out_of_the_client():
    made = Manual()
    with Driver(made) as driver:
        driver.start("GET", PATH)
        made.do = lambda: os.kill(os.getpid(), signal.SIGINT)
        assert driver.poll(5) == _abi.MPIJOB_ERR_CANCELLED
        with pytest.raises(KeyboardInterrupt):
            made._mpijob_raise()


# ---- what may be told when ----

def test_an_answer_is_dead_after_perform():
    kept = []
    with Driver(Doing(lambda request, answer: (answer.status(200), kept.append(answer)))) as driver:
        driver.ask("GET", PATH)
        for use in (lambda a: a.status(1), lambda a: a.header("a", "b"), lambda a: a.data(b"x"), lambda a: a.cancelled):
            with pytest.raises(errors.UsageError):
                use(kept[0])


def test_an_exchange_is_told_of_inside_of_poll_only():
    made = Manual()
    refused = []

    def tell(exchange):
        try:
            exchange.status(200)
        except errors.UsageError:
            refused.append(exchange)

    with Driver(made) as driver:
        call = driver.start("GET", PATH)
        exchange = made.exchanges[0]
        tell(exchange)
        made.do = lambda: [thread.start() or thread.join() for thread in [threading.Thread(target=tell, args=(exchange,))]]
        driver.poll(0)
        made.start = tell
        made.do = lambda: driver.start("GET", PATH)
        driver.poll(0)
        assert len(refused) == 3
        made.do = lambda: exchange.over or (exchange.status(404), exchange.end(), tell(exchange))
        driver.poll(0)
        assert (call.done, call.status, len(refused), exchange.over) == (True, 404, 4, True)
        second = driver.start("GET", PATH)
        del made.start
        third = driver.start("GET", PATH)
        third.cancel()
        assert made.cancelled[-1].over
        made.do = lambda: tell(made.cancelled[-1])
        driver.poll(0)
        assert len(refused) == 6
        second.cancel()


def test_a_body_comes_as_it_is_and_is_wiped():
    body = bytes(range(256)) * 40
    kept = []

    def perform(request, answer):
        assert (request.method, request.path, request.content_type) == ("POST", PATH, "application/json")
        assert (bytes(request.body), request.streaming, request.timeout) == (body, False, 2.5)
        kept.append(request)
        answer.status(201)
        answer.data(memoryview(request.body))

    with Driver(Doing(perform)) as driver:
        call = driver.ask("POST", PATH, body, timeout=2.5)
        assert (call.status, call.data) == (201, body)
    assert bytes(kept[0].body) == bytes(len(body))
    made = Manual()
    with Driver(made) as driver:
        driver.start("POST", PATH, b"secret").cancel()
    assert bytes(made.cancelled[0].request.body) == bytes(6)


# ---- threads ----

def test_cancelling_aborts():
    made = Breakable()
    with Driver(made) as driver:
        call = driver.start("GET", PATH, stream=True)
        driver.until(lambda: call.data == b"before")
        begun = time.monotonic()
        call.cancel()
        driver.until(lambda: made.after)
        driver.poll(0.05)
        assert (call.data, call.done, made.after) == (b"before", False, [True])
        assert time.monotonic() - begun < 2


def test_freeing_the_client_aborts_all():
    made = Breakable()
    driver = Driver(made)
    calls = [driver.start("GET", PATH, stream=True) for _ in range(20)] + [driver.start("GET", PATH) for _ in range(20)]
    driver.until(lambda: len(made.aborted) == 28)  # 20 streams, 8 of the pool
    driver.free()
    assert not any(call.done for call in calls)
    assert len(made.after) == 28
    assert (made.closed, transport._live) == (1, {})


def test_a_reader_that_is_behind_holds_the_writer_up():
    told = []

    def perform(request, answer):
        answer.status(200)
        for _ in range(200):
            answer.data(b"x" * 100000)
            told.append(1)

    with Driver(Doing(perform)) as driver:
        call = driver.start("GET", PATH, stream=True)
        call.pause(True)
        for _ in range(10):
            driver.poll(0.03)
        assert 0 < len(told) < 50
        call.pause(False)
        driver.until(lambda: call.done)
        assert (len(told), len(call.data)) == (200, 20000000)


def test_many_at_once_from_many_threads():
    inside = []
    most = []

    def perform(request, answer):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.001)
        inside.pop()
        answer.status(404)

    made = Doing(perform)
    made.max_threads = 16
    with Driver(made) as driver:
        calls = [driver.start("GET", f"{PATH}/{i}") for i in range(500)]
        driver.until(lambda: all(call.done for call in calls))
        assert {call.status for call in calls} == {404}
    assert 1 < max(most) <= 16


# ---- life ----

def test_it_belongs_to_one_client_and_goes_with_it():
    made = Doing(lambda request, answer: answer.status(200))
    driver = Driver(made)
    with pytest.raises(errors.UsageError):
        Driver(made)
    for _ in range(200):
        assert driver.ask("GET", PATH).status == 200
    seen = weakref.ref(made)
    del made
    gc.collect()
    assert seen() is not None  # C has it
    driver.free()
    gc.collect()
    assert seen() is None
    assert not transport._live


def resident():
    """KiB."""
    with open("/proc/self/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1])


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer keeps what is freed")
def test_nothing_grows():
    def perform(request, answer):
        answer.header("Content-Type", "application/json")
        answer.status(200)
        answer.data(b"{}")

    def work():
        for _ in range(80):
            calls = [driver.start("GET", PATH) for _ in range(50)]
            driver.until(lambda: all(call.done for call in calls))
        gc.collect()
        return resident()

    with Driver(Doing(perform)) as driver:
        work()
        before = work()
        work()
        assert work() - before < 1024  # 8,000 exchanges


def test_a_client_that_cannot_be_made_destroys_it():
    made = Manual()
    struct, taken = made._mpijob_transport()
    struct.poll = type(struct.poll)()
    client = ctypes.c_void_p()
    assert core.mpijob_client_new(ctypes.byref(struct), taken, ctypes.byref(client)) == _abi.MPIJOB_ERR_USAGE
    assert (made.closed, transport._live) == (1, {})


def test_without_the_constructor_of_the_class():
    class Forgot(BlockingTransport):
        def __init__(self):
            pass
    with pytest.raises(errors.UsageError, match="super"):
        Driver(Forgot())


def test_without_interest_and_pause():
    made = Manual()
    with Driver(made) as driver:
        fd, deadline = ctypes.c_int(), ctypes.c_int64()
        code = core.mpijob_client_interest(driver.client, ctypes.byref(fd), ctypes.byref(deadline))
        assert code == _abi.MPIJOB_ERR_UNSUPPORTED
        call = driver.start("GET", PATH, stream=True)
        call.pause(True)
        made.do = lambda: made.exchanges[0].over or (made.exchanges[0].status(200), made.exchanges[0].data(b"x"),
                                                     made.exchanges[0].end())
        driver.poll(0)
        assert call.data == b""
        call.pause(False)
        driver.until(lambda: call.done, 2)
        assert call.data == b"x"


def child(code, **more):
    """Run Python; its exit code, what it printed, and how long it took."""
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=30, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([os.environ["PYTHONPATH"],
                                                                           str(pathlib.Path(__file__).parent)])}, **more)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - begun


ENDING = """
    import sys, threading, time
    from driver import Driver
    from mpijob.transport import BlockingTransport

    class Made(BlockingTransport):
        def __init__(self):
            super().__init__()
            self.over = threading.Event()

        def perform(self, request, answer):
            if request.path == "/data":
                answer.status(200)
                while True:
                    answer.data(b"x" * 100000)
            self.over.wait()

        def abort(self, answer):
            self.over.set()

    made = Made()
    driver = Driver(made)
    calls = [driver.start("GET", path, stream=True) for path in ("/wait", "/wait", "/data")] + [driver.start("GET", "/wait")]
    time.sleep(0.2)
    print("end", flush=True)
"""


@pytest.mark.parametrize("how", ["", "sys.exit(0)", "driver.free()", "del driver, calls, made", "raise SystemExit(0)"])
def test_the_process_ends_while_calls_are_under_way(how):
    code, out, err, seconds = child(ENDING + "    " + how + "\n")
    assert (code, out, err) == (0, "end\n", "")
    assert seconds < 5


def test_the_process_ends_by_control_c():
    code, out, err, seconds = child(ENDING + "    import os, signal\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(9)\n")
    assert code == -signal.SIGINT
    assert "KeyboardInterrupt" in err
    assert seconds < 5


def test_a_child_has_nothing_of_it():
    made = Doing(lambda request, answer: answer.status(200))
    with Driver(made) as driver:
        assert driver.ask("GET", PATH).status == 200
        number = os.fork()
        if number == 0:
            os._exit(len(transport._live))
        assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 0
        assert driver.ask("GET", PATH).status == 200
