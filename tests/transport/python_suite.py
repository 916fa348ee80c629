# SPDX-License-Identifier: Apache-2.0
"""The suite of all transports over one that is written in Python, and two such over the embedded cluster."""
import ctypes
import os
import pathlib
import select
import threading

from mpijob import _abi
from mpijob._library import core, local
from mpijob.errors import failure
from mpijob.transport import BlockingTransport, Transport

SUITE = pathlib.Path(os.environ["MPIJOB_BUILD"], "tests/transport/transport-suite.so")


def client_of(transport):
    """A client as the library makes it: its pointer."""
    struct, taken = transport._mpijob_transport()
    client = ctypes.c_void_p()
    code = core.mpijob_client_new(ctypes.byref(struct), taken, ctypes.byref(client))
    if code:
        raise failure(code)
    return client


def loaded():
    """The suite, beside the library that the package has loaded."""
    core.load()
    return ctypes.CDLL(str(SUITE))


def run(name, transport, quiet=False):
    """How many checks fail, except for known reasons; the client and the transport are gone afterwards."""
    suite, client = loaded(), client_of(transport)
    try:
        return suite.transport_suite_run(name.encode(), client, quiet)
    finally:
        core.mpijob_client_free(client)


def unneeded(transports):
    """How many of the reasons for these transports were not needed."""
    return loaded().transport_suite_reasons(transports.encode())


def count():
    return loaded().transport_suite_checks()


def embedded():
    """A client of an embedded cluster without a node."""
    options = _abi.mpijob_local_options(no_node=1)
    transport, cluster, client = _abi.mpijob_transport(), ctypes.c_void_p(), ctypes.c_void_p()
    code = local().mpijob_local_new(ctypes.byref(options), ctypes.byref(transport), ctypes.byref(cluster), None)
    code = code or core.mpijob_client_new(ctypes.byref(transport), cluster, ctypes.byref(client))
    if code:
        raise failure(code)
    return client


class Silent(Transport):
    """Answers nothing."""

    def __init__(self):
        super().__init__()
        self._woken = threading.Event()

    def start(self, exchange):
        raise ConnectionRefusedError("nobody is here")

    def poll(self, timeout):
        self._woken.wait(timeout)
        self._woken.clear()

    def cancel(self, exchange):
        raise AssertionError("nothing was started")

    def wake(self):
        self._woken.set()


class Inner:
    """A request to the cluster behind: what comes is kept until somebody takes it."""

    def __init__(self, client, request):
        self.pieces, self.status, self.code, self.message, self.done, self.paused = [], 0, 0, None, False, False
        self._given = ctypes.create_string_buffer(bytes(request.body), len(request.body)) if request.body else None
        given = _abi.mpijob_request(method=request.method.encode(), path=request.path.encode(), streaming=request.streaming,
                                    content_type=request.content_type.encode() if request.content_type else None,
                                    body=ctypes.addressof(self._given) if self._given else None,
                                    body_len=len(request.body or b""))
        self._data = _abi.mpijob_callbacks_data_fn(self._take)
        self._done = _abi.mpijob_callbacks_done_fn(self._end)
        callbacks = _abi.mpijob_callbacks(data=self._data, done=self._done) if request.streaming else \
            _abi.mpijob_callbacks(done=self._done)
        self._call = ctypes.c_void_p()
        code = core.mpijob_client_start(client, ctypes.byref(given), ctypes.byref(callbacks), ctypes.byref(self._call))
        if code:
            raise failure(code)

    def _take(self, user, data, length):
        self.status = 200
        self.pieces.append(ctypes.string_at(data, length))
        return 0

    def _end(self, user, answer):
        answer = answer.contents
        self.done, self.status = True, answer.status
        if answer.body_len:
            self.pieces.append(ctypes.string_at(answer.body, answer.body_len))
        if answer.code and not answer.reason:
            self.code, self.message = answer.code, (answer.message or b"").decode()

    def error(self):
        return failure(self.code, what=self.message) if self.code else None

    def cancel(self):
        if not self.done:
            core.mpijob_call_cancel(self._call)


class Forwarding(Transport):
    """Hands everything to another client, on the same thread."""

    def __init__(self):
        super().__init__()
        self._inner = embedded()
        self._calls = {}
        self._told = set()
        self._rung, self._bell = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def start(self, exchange):
        self._calls[exchange] = Inner(self._inner, exchange.request)

    def poll(self, timeout):
        core.mpijob_client_poll(self._inner, 0)
        if not self._tell() and timeout != 0:
            fd, deadline = ctypes.c_int(), ctypes.c_int64()
            core.mpijob_client_interest(self._inner, ctypes.byref(fd), ctypes.byref(deadline))
            waits = select.poll()
            waits.register(fd.value, select.POLLIN)
            waits.register(self._rung, select.POLLIN)
            waits.poll(10 if timeout is None else min(timeout * 1000, 10))
            core.mpijob_client_poll(self._inner, 0)
            self._tell()
        try:
            os.read(self._rung, 64)
        except BlockingIOError:
            pass

    def _tell(self):
        told = False
        for exchange, call in list(self._calls.items()):
            if exchange.over or call.paused or not (call.pieces or call.done):
                continue
            told = True
            if call.status and exchange not in self._told:
                self._told.add(exchange)
                exchange.status(call.status)
            pieces, call.pieces = call.pieces, []
            for piece in pieces:
                if not exchange.over:
                    exchange.data(piece)
            if call.done and not exchange.over:
                self._forget(exchange)
                exchange.end(call.error())
        return told

    def _forget(self, exchange):
        self._told.discard(exchange)
        return self._calls.pop(exchange)

    def interest(self):
        fd, deadline = ctypes.c_int(), ctypes.c_int64()
        core.mpijob_client_interest(self._inner, ctypes.byref(fd), ctypes.byref(deadline))
        return fd.value, None if deadline.value < 0 else deadline.value / 1000

    def pause(self, exchange, on):
        self._calls[exchange].paused = on

    def cancel(self, exchange):
        self._forget(exchange).cancel()

    def wake(self):
        os.write(self._bell, b"!")

    def close(self):
        core.mpijob_client_free(self._inner)
        os.close(self._rung)
        os.close(self._bell)


class ForwardingByCalls(BlockingTransport):
    """The same through calls that block; whoever has the lock polls for all."""

    def __init__(self):
        super().__init__()
        self._inner = embedded()
        self._lock = threading.Lock()
        self._given_up = set()

    def perform(self, request, answer):
        with self._lock:
            call = Inner(self._inner, request)
        told = done = False
        try:
            while not done and answer not in self._given_up:
                with self._lock:
                    core.mpijob_client_poll(self._inner, 0)
                    pieces, call.pieces, done = call.pieces, [], call.done
                if call.status and not told:
                    told = True
                    answer.status(call.status)
                for piece in pieces:
                    answer.data(piece)
                if not done:
                    select.select([], [], [], 0.002)
        finally:
            self._given_up.discard(answer)
            with self._lock:
                call.cancel()
        if call.error():
            raise call.error()

    def abort(self, answer):
        self._given_up.add(answer)

    def close(self):
        core.mpijob_client_free(self._inner)
