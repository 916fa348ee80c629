# SPDX-License-Identifier: Apache-2.0
"""Write a transport: the way on which requests reach a cluster. `Client(transport=...)` takes any of these.

Everything in Kubernetes is one HTTP exchange, watches included: a request goes out, a status and a stream of bytes come
back. Who has a call that blocks, as most HTTP packages are, derives from `BlockingTransport` and writes `perform`:

    class Requests(mpijob.transport.BlockingTransport):
        def perform(self, request, answer):
            with requests.request(request.method, BASE + request.path, data=request.body, stream=True) as response:
                answer.status(response.status_code)
                for piece in response.iter_content(None):
                    answer.data(piece)

Who has an event loop of its own derives from `Transport` and moves many exchanges on one thread. An exception in any method
ends the exchange that it is about, with the code of its family (`mpijob.errors`) and its text; it never gets lost in C.

A transport belongs to the client that it was given to, lives until that client is closed, and cannot be used again.
"""
from __future__ import annotations

import atexit
import builtins
import ctypes
import itertools
import math
import os
import socket
import threading
from collections.abc import Callable
from typing import Any

from . import _abi
from ._library import core, decoded
from .errors import CancelledError, Error, UsageError, check

__all__ = ["Answer", "BlockingTransport", "Exchange", "Request", "Transport"]

WAIT_AT_EXIT = 5.0

# What a transport is in C is a number, the key of this table; so C never holds a pointer into Python, and the callbacks below
# are made once and stay. An entry is there from the moment on at which a client may call, until it has destroyed its transport.
_live: dict[int, _Base] = {}
_numbers = itertools.count(1)


class Request:
    """What is asked. `body` is wiped when the exchange is over, since it may hold a private key: do not log or keep it."""

    __slots__ = ("body", "content_type", "method", "path", "streaming", "timeout")

    def __init__(self, method: str, path: str, content_type: str | None = None, body: bytearray | None = None, *,
                 streaming: bool = False, timeout: float | None = None) -> None:
        self.method = method
        #: Path and query, percent-escaped: "/api/v1/namespaces/default/pods?limit=500".
        self.path = path
        self.content_type = content_type
        self.body = body
        #: A watch or a followed log: tell bytes as they come, without a limit on the whole time.
        self.streaming = streaming
        #: Seconds for the whole exchange; None: the transport's own limit.
        self.timeout = timeout

    def __repr__(self) -> str:
        return f"<{self.method} {self.path}>"

    @classmethod
    def _of(cls, pointer: Any) -> Request:
        given = pointer.contents
        body = bytearray(given.body_len) if given.body else None
        if body:
            ctypes.memmove((ctypes.c_char * len(body)).from_buffer(body), given.body, len(body))
        return cls(decoded(given.method) or "", decoded(given.path) or "", decoded(given.content_type), body,
                   streaming=bool(given.streaming), timeout=given.timeout_ms / 1000 if given.timeout_ms > 0 else None)

    def _wipe(self) -> None:
        if self.body:
            self.body[:] = bytes(len(self.body))


class Answer:
    """Where `BlockingTransport.perform` tells what comes back, in this order: headers, the status, data. Only inside of it."""

    __slots__ = ("__weakref__", "_pointer", "_telling")

    def __init__(self, pointer: int) -> None:
        self._pointer: int | None = pointer
        self._telling = False

    def _alive(self) -> int:
        if self._pointer is None:
            raise UsageError("an answer is told of inside of perform() only")
        return self._pointer

    def header(self, name: str, value: str) -> None:
        """Tell a header; `Date`, `Retry-After` and `Warning` matter, others are ignored."""
        core.mpijob_blocking_header(self._alive(), _line(name), _line(value))

    def status(self, status: int) -> None:
        """Tell the HTTP status."""
        core.mpijob_blocking_status(self._alive(), status)

    def data(self, data: bytes | bytearray | memoryview) -> None:
        """Tell bytes of the body. Waits while the reader is behind; CancelledError when nobody wants more."""
        self._telling = True
        try:
            check(core.mpijob_blocking_data(self._alive(), bytes(data), len(data)))
        finally:
            self._telling = False

    @property
    def cancelled(self) -> bool:
        """Whether the exchange was given up."""
        return bool(core.mpijob_blocking_cancelled(self._alive()))


class Exchange:
    """One exchange under way, for `Transport`: tell of it from inside of `poll`: headers, the status, data, the end."""

    __slots__ = ("__weakref__", "_pointer", "_transport", "request")

    def __init__(self, transport: Transport, pointer: int, request: Request) -> None:
        self._transport = transport
        self._pointer: int | None = pointer
        self.request = request

    def _alive(self) -> int:
        if self._pointer is None:
            raise UsageError("nothing more can be told of an exchange that has ended or was cancelled")
        if self._transport._polling != threading.get_ident() or self._transport._starting:
            raise UsageError("an exchange is told of inside of poll() only, by the thread that runs it")
        return self._pointer

    @property
    def over(self) -> bool:
        """It has ended or was cancelled."""
        return self._pointer is None

    def header(self, name: str, value: str) -> None:
        """Tell a header; `Date`, `Retry-After` and `Warning` matter, others are ignored."""
        core.mpijob_exchange_header(self._alive(), _line(name), _line(value))

    def status(self, status: int) -> None:
        """Tell the HTTP status."""
        core.mpijob_exchange_status(self._alive(), status)

    def data(self, data: bytes | bytearray | memoryview) -> None:
        """Tell bytes of the body, split anywhere."""
        core.mpijob_exchange_data(self._alive(), bytes(data), len(data))

    def end(self, error: BaseException | None = None) -> None:
        """Tell that it is over: the answer came whole (whatever its status), or `error` says why it did not."""
        pointer = self._alive()
        self._forget()
        code, message = (0, None) if error is None else _explained(error, self.request)
        core.mpijob_exchange_end(pointer, code, message)

    def _forget(self) -> None:
        if self._pointer is not None:
            self._transport._exchanges.pop(self._pointer, None)
            self._pointer = None
        self.request._wipe()


class _Base:
    """What both kinds have in common: the number that C knows them by, and what must not get lost."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._deferred: BaseException | None = None

    def close(self) -> None:
        """The client is done with it: free what it has. Comes once, after every exchange has ended."""

    def _mpijob_transport(self) -> tuple[Any, int]:
        """The struct mpijob_transport and what goes with it; both belong to whoever asked, who gives them to a client."""
        if getattr(self, "_number", self) is self:
            raise UsageError(f"{type(self).__name__}.__init__ does not call super().__init__()")
        if self._number is not None:
            raise UsageError("a transport belongs to one client; make another one")
        self._number = next(_numbers)
        _live[self._number] = self
        try:
            return self._made(self._number)
        except BaseException:
            del _live[self._number]
            raise

    def _mpijob_raise(self) -> None:
        """Raise what came up in a callback and could not be raised there: Ctrl-C. For the client, after each of its calls."""
        error, self._deferred = self._deferred, None
        if error is not None:
            raise error

    def _made(self, number: int) -> tuple[Any, int]:
        raise NotImplementedError

    def _stop(self) -> None:
        """Nothing may come from other threads any more: the interpreter ends."""

    def _destroyed(self) -> None:
        if self._number is not None:
            _live.pop(self._number, None)
        self.close()


class BlockingTransport(_Base):
    """A transport of calls that block. The library gives ordinary exchanges a pool of threads, and each stream one of its own.

    `perform` is called by several threads at a time. `abort`, by another one, should make it return soon; without it a call
    that was cancelled goes on unseen until it ends by itself, and closing the client waits for it.
    """

    #: Ordinary exchanges at a time, at most 1,024; streams come on top.
    max_threads = 8

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[int, Answer] = {}
        self._changed = threading.Condition()
        self._stopping = False

    def perform(self, request: Request, answer: Answer) -> None:
        """Carry out one exchange; return when it came whole, whatever its status, else raise."""
        raise NotImplementedError

    def abort(self, answer: Answer) -> None:
        """Make the `perform` of this answer end soon. Called by another thread; `perform` may just have ended."""

    def _made(self, number: int) -> tuple[Any, int]:
        blocking = _abi.mpijob_blocking(perform=_perform, destroy=_destroy, max_threads=self.max_threads)
        if type(self).abort is not BlockingTransport.abort:
            blocking.abort = _abort
        transport, out = _abi.mpijob_transport(), ctypes.c_void_p()
        check(core.mpijob_blocking_new(ctypes.byref(blocking), number, ctypes.byref(transport), ctypes.byref(out)))
        return transport, out.value or 0

    def _run(self, given: Any, pointer: int) -> int:
        request, answer = Request._of(given), Answer(pointer)
        with self._changed:
            if self._stopping:
                return _abi.MPIJOB_ERR_CANCELLED
            self._answers[pointer] = answer
        try:
            self.perform(request, answer)
            return 0
        except BaseException as error:  # it has nowhere else to go
            code, message = _explained(error, request)
            core.mpijob_blocking_message(pointer, message)
            return code
        finally:
            request._wipe()
            with self._changed:
                del self._answers[pointer]
                answer._pointer = None
                self._changed.notify_all()

    def _give_up(self, pointer: int) -> None:
        answer = self._answers.get(pointer)
        if answer is not None:
            self.abort(answer)

    def _stop(self) -> None:
        with self._changed:
            self._stopping = True
            answers = list(self._answers.values())
        for answer in answers:
            self.abort(answer)
        # Who waits in C for a reader stays there: it does not come back into Python.
        with self._changed:
            self._changed.wait_for(lambda: all(a._telling for a in self._answers.values()), WAIT_AT_EXIT)


class Transport(_Base):
    """A transport that moves many exchanges on the thread that polls.

    Nothing but `wake` is called from other threads. (A client's wake and cancel may be called in signal handlers that are
    written in Python, as those of the `signal` module are, but not in those of C: `wake` runs Python.)
    """

    def __init__(self) -> None:
        super().__init__()
        self._exchanges: dict[int, Exchange] = {}
        self._polling = 0
        self._starting = False

    def start(self, exchange: Exchange) -> None:
        """Begin an exchange: `exchange.request` says what is asked. Nothing may be told of it before `poll`."""
        raise NotImplementedError

    def poll(self, timeout: float | None) -> None:
        """Move all exchanges on; wait for something to happen, at most `timeout` seconds (None: no limit; 0: do not wait).

        Return early after anything was told, and when woken. An exception ends the transport as a whole.
        """
        raise NotImplementedError

    def cancel(self, exchange: Exchange) -> None:
        """Give an exchange up: nothing can be told of it any more."""
        raise NotImplementedError

    def wake(self) -> None:
        """Make a waiting `poll` return, or the next one when none waits. Called by any thread."""
        raise NotImplementedError

    def interest(self) -> tuple[int, float | None]:
        """For the host's own event loop, when you write it: a descriptor to watch for input, or -1, and the time of
        time.monotonic() at which to call `poll` at the latest, or None."""
        raise NotImplementedError

    def pause(self, exchange: Exchange, on: bool) -> None:
        """Stop or go on telling data of an exchange, when you write it; without it the library keeps what comes meanwhile."""
        raise NotImplementedError

    def _made(self, number: int) -> tuple[Any, int]:
        transport = _abi.mpijob_transport(start=_start, poll=_poll, cancel=_cancel, wake=_wake, destroy=_destroy)
        if type(self).interest is not Transport.interest:
            transport.interest = _interest
        if type(self).pause is not Transport.pause:
            transport.pause = _pause
        return transport, number

    def _begin(self, given: Any, pointer: int) -> int:
        exchange = Exchange(self, pointer, Request._of(given))
        self._exchanges[pointer] = exchange
        before, self._starting = self._starting, True
        try:
            self.start(exchange)
            return 0
        except BaseException as error:
            exchange._forget()
            self._defer(error)
            return _explained(error, exchange.request)[0]
        finally:
            self._starting = before

    def _move(self, timeout_ms: int) -> int:
        self._polling = threading.get_ident()
        try:
            self.poll(None if timeout_ms < 0 else timeout_ms / 1000)
            return 0
        except BaseException as error:
            self._defer(error)
            return _explained(error)[0]
        finally:
            self._polling = 0

    def _drop(self, pointer: int) -> None:
        exchange = self._exchanges.get(pointer)
        if exchange is not None:
            exchange._forget()
            self.cancel(exchange)

    def _defer(self, error: BaseException) -> None:
        if not isinstance(error, Exception):
            self._deferred = error


def _line(text: str) -> bytes:
    """Text for C, whatever a server sent."""
    return text.encode("utf-8", "surrogateescape").replace(b"\0", b"")


def _explained(error: BaseException, request: Request | None = None) -> tuple[int, bytes]:
    """The code of an exception, and its text. One that is no failure of the exchange but a mistake of its author is shown."""
    text = _line(str(error) or type(error).__name__)
    if isinstance(error, Error):
        return error.code or _abi.MPIJOB_ERR_IO, text
    if isinstance(error, (builtins.TimeoutError, socket.timeout)):  # one and the same since Python 3.10
        return _abi.MPIJOB_ERR_TIMEOUT, text
    if isinstance(error, (ConnectionRefusedError, socket.gaierror)):
        return _abi.MPIJOB_ERR_UNREACHABLE, text
    if isinstance(error, MemoryError):
        return _abi.MPIJOB_ERR_NOMEM, text
    if isinstance(error, NotImplementedError):
        return _abi.MPIJOB_ERR_UNSUPPORTED, text
    if isinstance(error, OSError):
        return _abi.MPIJOB_ERR_IO, text
    if not isinstance(error, Exception):
        return _abi.MPIJOB_ERR_CANCELLED, text
    _show(error)
    # Of a write nobody knows whether it happened; to read again would only repeat the mistake.
    code = _abi.MPIJOB_ERR_IO if request is not None and request.method != "GET" else _abi.MPIJOB_ERR_USAGE
    return code, _line(f"{type(error).__name__}: {error}")


def _show(error: BaseException) -> None:
    threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, None)))


def _callback(made: str, otherwise: int | None = None) -> Callable[[Callable[..., int | None]], Any]:
    """Make a callback of a function that gets the transport; whatever it raises ends here."""

    def wrap(function: Callable[..., int | None]) -> Any:
        def call(number: int, *arguments: Any) -> int | None:
            transport = _live.get(number)
            if transport is None:  # it never was, or this process is a child of the one that made it
                return otherwise
            try:
                return function(transport, *arguments)
            except Exception as error:
                if otherwise is not None:
                    return _explained(error)[0]
                _show(error)
            except BaseException as error:
                transport._deferred = error
            return otherwise

        return getattr(_abi, made)(call)

    return wrap


@_callback("mpijob_blocking_perform_fn", _abi.MPIJOB_ERR_CANCELLED)
def _perform(transport: BlockingTransport, request: Any, answer: int) -> int:
    return transport._run(request, answer)


@_callback("mpijob_blocking_abort_fn")
def _abort(transport: BlockingTransport, answer: int) -> None:
    transport._give_up(answer)


@_callback("mpijob_blocking_destroy_fn")
def _destroy(transport: _Base) -> None:
    transport._destroyed()


@_callback("mpijob_transport_start_fn", _abi.MPIJOB_ERR_CANCELLED)
def _start(transport: Transport, request: Any, exchange: int) -> int:
    return transport._begin(request, exchange)


@_callback("mpijob_transport_poll_fn", _abi.MPIJOB_ERR_CANCELLED)
def _poll(transport: Transport, timeout_ms: int) -> int:
    return transport._move(timeout_ms)


@_callback("mpijob_transport_interest_fn", _abi.MPIJOB_ERR_IO)
def _interest(transport: Transport, fd: Any, deadline_ms: Any) -> int:
    descriptor, deadline = transport.interest()
    fd[0] = descriptor
    deadline_ms[0] = -1 if deadline is None else math.ceil(deadline * 1000)
    return 0


@_callback("mpijob_transport_pause_fn")
def _pause(transport: Transport, exchange: int, on: int) -> None:
    found = transport._exchanges.get(exchange)
    if found is not None:
        transport.pause(found, bool(on))


@_callback("mpijob_transport_cancel_fn")
def _cancel(transport: Transport, exchange: int) -> None:
    transport._drop(exchange)


@_callback("mpijob_transport_wake_fn")
def _wake(transport: Transport) -> None:
    transport.wake()


@atexit.register
def _end() -> None:
    for transport in list(_live.values()):
        transport._stop()


os.register_at_fork(after_in_child=_live.clear)
