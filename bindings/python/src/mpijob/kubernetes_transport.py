# SPDX-License-Identifier: Apache-2.0
"""A transport over the official `kubernetes` package: its configuration, its credentials, its connections.

    kubernetes.config.load_kube_config()
    client = mpijob.Client(transport=KubernetesTransport(kubernetes.client.ApiClient()))

For programs that have such an ApiClient already, or credentials that only that package knows how to get. Who has a
kubeconfig and nothing else is better off without: `mpijob.Client()` has HTTP/2, no threads and no Python on the way.

Requests go around the package's models, as bytes, through a connection pool that the package makes from the same
configuration. None is sent twice, and no redirection is followed: second tries are the client's business.
"""
from __future__ import annotations

import http.client
import importlib
import math
import os
import socket
import ssl
import threading
import time

import urllib3  # type: ignore[import-not-found,unused-ignore]

from .errors import AuthError, CancelledError, Error, InputOutputError, NoMemoryError, TimeoutError, UnreachableError
from .transport import BlockingTransport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .transport import Answer, Request

__all__ = ["KubernetesTransport"]

PIECE = 65536
#: A connection that says nothing for so long is asked whether it is still there, and given up after three times as long.
SILENCE = 15
KEEP_ALIVE = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
              (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENCE), (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, SILENCE),
              (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)]
FAILURES = (OSError, urllib3.exceptions.HTTPError, http.client.HTTPException)
REFUSALS = ("CERTIFICATE_REQUIRED", "ALERT_BAD_CERTIFICATE", "ALERT_CERTIFICATE", "ALERT_UNKNOWN_CA", "ALERT_ACCESS_DENIED",
            "ALERT_UNSUPPORTED_CERTIFICATE")


class _Call(threading.local):
    """Which call this thread is in."""

    now: _Running | None = None


_call = _Call()


class _Running:
    """One call under way, and a hold on its socket: a descriptor of our own, so that nobody else's is ever shut down."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor = -1
        self._broken = False
        self.connected = False
        self.late = False

    def hold(self, descriptor: int) -> None:
        """Take hold of the socket that this call uses from now on."""
        with self._lock:
            self._let_go()
            if self._broken:
                raise ConnectionAbortedError("given up")
            self._descriptor = os.dup(descriptor)

    def break_off(self) -> None:
        """Make whatever waits for the socket return, in whichever thread."""
        with self._lock:
            self._broken = True
            if self._descriptor < 0:
                return
            # By a socket without TLS: that of ssl would touch what the other thread is using.
            plain = socket.socket(fileno=self._descriptor)
            try:
                plain.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is not connected any more
            finally:
                plain.detach()

    def too_late(self) -> None:
        """The time that the request had is over."""
        self.late = True
        self.break_off()

    def end(self) -> None:
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class _Limits:
    """The limits of all calls, in one thread: those of sockets begin anew with each byte that comes."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ends: dict[_Running, float] = {}
        self._next = math.inf
        self._thread: threading.Thread | None = None
        self._closed = False

    def set(self, running: _Running, seconds: float) -> None:
        """End a call after so many seconds."""
        with self._changed:
            end = self._ends[running] = time.monotonic() + seconds
            if self._thread is None:
                self._thread = threading.Thread(target=self._keep, name="mpijob-limits", daemon=True)
                self._thread.start()
            elif end < self._next:
                self._changed.notify()

    def drop(self, running: _Running) -> None:
        """The call has ended."""
        with self._changed:
            self._ends.pop(running, None)

    def close(self) -> None:
        """End the thread, soon: nobody waits for it, since it may be that the interpreter ends and it never runs again."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _keep(self) -> None:
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                for running in [one for one, end in self._ends.items() if end <= now]:
                    del self._ends[running]
                    running.too_late()
                self._next = min(self._ends.values(), default=math.inf)
                self._changed.wait(None if self._next == math.inf else self._next - now)


class _Held:
    """Mixed into the package's connections: the call of this thread has hold of their socket, also while it connects."""

    def connect(self) -> None:
        super().connect()  # type: ignore[misc]
        self._hold()

    def request(self, *args: Any, **kwargs: Any) -> Any:
        if getattr(self, "sock", None) is not None:
            self._hold()
        return super().request(*args, **kwargs)  # type: ignore[misc]

    def _hold(self) -> None:
        running = _call.now
        if running is not None:
            running.hold(self.sock.fileno())  # type: ignore[attr-defined]
            running.connected = True

    def _new_conn(self) -> Any:
        running, usual = _call.now, super()._new_conn  # type: ignore[misc]
        connection: Any = self
        if running is None or usual.__func__ is not urllib3.connection.HTTPConnection._new_conn:
            return usual()  # another way to connect: SOCKS
        try:
            return _connected(running, connection)
        except OSError as error:
            raise urllib3.exceptions.NewConnectionError(connection, str(error)) from error


def _connected(running: _Running, to: Any) -> socket.socket:
    """What urllib3 does, with the call's hold on each socket before it is connected."""
    host = to.host.strip("[]")
    failure: OSError = OSError("the name has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(host, to.port, 0, socket.SOCK_STREAM):
        made = socket.socket(family, kind, protocol)
        try:
            for option in to.socket_options or ():
                made.setsockopt(*option)
            made.settimeout(to.timeout)
            if to.source_address:
                made.bind(to.source_address)
            running.hold(made.fileno())
            made.connect(address)
            return made
        except OSError as error:
            made.close()
            failure = error
    raise failure


def _holding(manager: Any) -> None:
    """Make the connections of a pool manager such that a call can be broken off."""
    pools = {}
    for scheme, pool in manager.pool_classes_by_scheme.items():
        connection = type(pool.ConnectionCls.__name__, (_Held, pool.ConnectionCls), {})
        pools[scheme] = type(pool.__name__, (pool,), {"ConnectionCls": connection})
    manager.pool_classes_by_scheme = pools


class KubernetesTransport(BlockingTransport):
    """Requests by a `kubernetes.client.ApiClient`; without one, by a new one of the package's default configuration.

    `connect_timeout` is for a connection with its TLS handshake, `request_timeout` for requests that name no limit themselves
    and do not stream; both in seconds. A request can be given up at any moment but two: while a host name is looked up, and
    while the package gets a token, by a plugin for example.
    """

    def __init__(self, api_client: Any = None, *, max_threads: int = 8, connect_timeout: float = 30.0,
                 request_timeout: float = 60.0) -> None:
        super().__init__()
        if api_client is None:
            api_client = importlib.import_module("kubernetes.client").ApiClient()
        self.max_threads = max_threads
        self.connect_timeout = connect_timeout
        self.request_timeout = request_timeout
        self._api_client = api_client
        self._configuration = api_client.configuration
        self._host = self._configuration.host.rstrip("/")
        self._manager = type(api_client.rest_client)(self._configuration).pool_manager
        self._manager.connection_pool_kw["maxsize"] = max_threads + 8
        self._manager.connection_pool_kw.setdefault("socket_options", KEEP_ALIVE)
        _holding(self._manager)
        self._token = threading.Lock()
        self._limits = _Limits()
        self._calls: dict[Answer, _Running] = {}

    def perform(self, request: Request, answer: Answer) -> None:
        """Carry out one exchange."""
        running = _Running()
        self._calls[answer] = _call.now = running
        limit = self.request_timeout if request.timeout is None else request.timeout
        try:
            if answer.cancelled:  # before it could be found
                raise CancelledError("given up")
            if not request.streaming:
                self._limits.set(running, limit)
            self._exchange(request, answer, limit)
        except FAILURES as error:
            if isinstance(error, Error):
                raise
            raise self._failure(error, running, answer, limit) from error
        finally:
            _call.now = None
            self._limits.drop(running)
            del self._calls[answer]
            running.end()

    def abort(self, answer: Answer) -> None:
        """Break a call off."""
        running = self._calls.get(answer)
        if running is not None:
            running.break_off()

    def close(self) -> None:
        """Close all connections; the ApiClient stays as it is."""
        self._limits.close()
        self._manager.clear()

    def _exchange(self, request: Request, answer: Answer, limit: float) -> None:
        connect = self.connect_timeout if request.streaming else min(self.connect_timeout, limit)
        timeout = urllib3.Timeout(connect=connect, read=None)
        response = self._manager.urlopen(request.method, self._host + request.path, body=request.body or None,
                                         headers=self._headers(request), timeout=timeout, retries=False, redirect=False,
                                         preload_content=False, decode_content=False, enforce_content_length=True)
        whole = False
        try:
            # http.client takes a connection that ends within the headers for an answer that ends there.
            if not request.streaming and not response.chunked and response.length_remaining is None:
                raise urllib3.exceptions.ProtocolError("the answer does not say where it ends")
            for name, value in response.headers.items():
                answer.header(name, value.encode("latin-1").decode("utf-8", "surrogateescape"))  # bytes, as they came
            answer.status(response.status)
            for piece in response.stream(PIECE, decode_content=False):
                answer.data(piece)
            whole = True
        finally:
            if whole:
                response.release_conn()
            else:
                response.close()

    def _headers(self, request: Request) -> dict[str, str]:
        headers = dict(self._api_client.default_headers)
        headers["Accept"] = "application/json, */*"
        if request.content_type:
            headers["Content-Type"] = request.content_type
        if getattr(self._api_client, "cookie", None):
            headers["Cookie"] = self._api_client.cookie
        try:
            with self._token:  # getting a new one is not made for several threads
                for setting in self._configuration.auth_settings().values():
                    if setting["in"] == "header" and setting["value"]:
                        headers[setting["key"]] = setting["value"]
        except Exception as error:
            raise AuthError(f"{self._host}: no credentials: {error or type(error).__name__}") from error
        return headers

    def _failure(self, error: BaseException, running: _Running, answer: Answer, limit: float) -> Error:
        """What a failure of the package means here. Before there is a connection nothing was sent; one that was made and then
        reset is another matter, since to read again may help."""
        if answer.cancelled:
            return CancelledError("given up")
        causes = list(_causes(error))
        if any(isinstance(cause, MemoryError) for cause in causes):
            return NoMemoryError("memory ran out")
        if running.late:
            return TimeoutError(f"{self._host}: no answer within {limit:g} s")
        refusal = next((c for c in causes if isinstance(c, ssl.SSLError) and any(r in str(c) for r in REFUSALS)), None)
        if refusal is not None:
            return AuthError(f"{self._host}: the client certificate is refused: {refusal.reason}")
        if not running.connected and not any(isinstance(cause, ConnectionResetError) for cause in causes):
            return UnreachableError(f"cannot connect to {self._host}: {_said(causes)}")
        return InputOutputError(f"{self._host}: the connection broke: {_said(causes)}")


def _causes(error: BaseException | None) -> Any:
    """An exception and what it comes from, in the order from the outside to the inside."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        reason = getattr(error, "reason", None)
        inner = next((a for a in error.args if isinstance(a, BaseException)), error.__context__)
        error = reason if isinstance(reason, BaseException) else error.__cause__ or inner


def _said(causes: list[BaseException]) -> str:
    """What the innermost cause says, without the objects of the package around it."""
    inner = causes[-1]
    return getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
