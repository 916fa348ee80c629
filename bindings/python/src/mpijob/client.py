# SPDX-License-Identifier: Apache-2.0
"""A client of a cluster: submit jobs, look at them, wait, read their logs; over HTTP, a transport of yours, or in this process.

    with mpijob.Client() as client:                        # as kubectl finds its cluster
        client.submit("job.yaml")
        for line in client.logs("pi", follow=True):
            print(line.pod, line.text)
        print(client.wait("pi").status.conditions)

Each call sleeps in poll(2) while it waits, so Ctrl-C ends it with KeyboardInterrupt, other threads run, and signal handlers are
called. A client, with its watches and logs, is used by one thread at a time; `cancel()` alone may come from any thread. It
belongs to the process that made it: the child of a fork makes its own.

What a server warns of goes to the logger "mpijob". Failures are exceptions of `mpijob.errors`, with all findings.
"""
from __future__ import annotations

import collections
import contextlib
import os
import select
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, List, Literal  # a method is called list

from . import _channel
from ._arguments import checked_class
from ._channel import Channel
from ._library import encoded, finaliser
from ._operations import VERSION, Cause, Operations
from ._streams import Event, LogLine, LogStream, Stream, WatchStream
from .errors import CancelledError, UsageError, failure
from .job import MPIJob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar, overload

    from ._calls import Operation, Pending, Raw

    T = TypeVar("T")
    S = TypeVar("S", bound="Client")

__all__ = ["Cause", "Client", "Event", "LogLine", "Logs", "Watch"]

SLICE = 0.05  # seconds after which signals are looked for while a transport that has no descriptor waits


def _shielded(poll: Callable[[int], int], timeout_ms: int) -> int:
    """Poll; Ctrl-C is dealt with afterwards: raised inside of a callback of the library it would be lost."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        return poll(timeout_ms)
    caught: list[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: caught.append(frame))
    try:
        code = poll(timeout_ms)
    finally:
        signal.signal(signal.SIGINT, handler)
    if caught:
        handler(signal.SIGINT, caught[0])
    return code


class Owner(Operations):
    """What both kinds of clients have in common: they own a channel, with calls, watches and logs under way."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._process = os.getpid()
        self.namespace = channel.namespace
        self._streams: weakref.WeakSet[Stream] = weakref.WeakSet()
        self._calls: set[Pending | Raw] = set()
        self._abandoned: collections.deque[Stream] = collections.deque()

    @property
    def server(self) -> str | None:
        """The URL of the API server; None when there is no such thing."""
        return self._channel.server

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return not self._channel.client

    @property
    def _client(self) -> int:
        self._check()
        return self._channel.client

    def _check(self) -> None:
        if not self._channel.client:
            raise UsageError("the client is closed")
        if self._process != os.getpid():
            raise UsageError("this client belongs to the process that made it: make another one here")

    def _abandon(self, stream: Stream) -> None:
        """Nobody reads it any more. Whatever thread collects garbage may come here, while another one moves calls on."""
        if not stream.closed:
            self._abandoned.append(stream)

    def _close(self, stream: Stream) -> None:
        """Its reader has enough."""
        stream.close()

    def _step(self, longest: float = 0) -> None:
        """Move all calls on, waiting so many seconds at most."""
        while self._abandoned:
            self._abandoned.popleft().close()
        code = _shielded(self._channel.poll, round(longest * 1000))
        if self._channel.python is not None:
            self._channel.python._mpijob_raise()
        if code < 0:
            raise failure(code, what="the transport")

    def _release(self) -> None:
        """Free it; in a child of its process nothing is touched, since the parent's connections go on."""
        channel = self._channel
        if not channel.client or self._process != os.getpid():
            return
        if sys.is_finalizing():  # threads of a transport in Python could not end any more; the process takes it all with it
            return
        for stream in list(self._streams):
            stream.lost()
        for call in list(self._calls):
            call.cancel()
        self._calls.clear()
        channel.free()


@checked_class
class Client(Owner):
    """A client of a cluster.

    Without arguments the cluster is found as kubectl finds it: $KUBECONFIG, ~/.kube/config, else the service account of the
    pod. `namespace` is that of the kubeconfig's context, and may be assigned.

    kubeconfig, context, cluster, user, namespace, server, tls_server_name, certificate_authority, client_certificate, client_key,
    token, proxy_url, as_user, as_uid, as_groups, insecure_skip_tls_verify    as kubectl's options
    in_cluster          the service account of the pod, and nothing else
    interactive         a credential plugin may ask on standard input
    request_timeout, connect_timeout    seconds
    qps, burst          how many requests may leave each second; 0: any number
    retries             how often a request is sent again after 429 and the like; 0: 10; negative: never
    transport           an object of `mpijob.transport`, in place of all that is about HTTP; the client owns it
    """

    def __init__(self, kubeconfig: str | os.PathLike[str] | None = None, *, transport: Any = None, **options: Any) -> None:
        self._begin(_channel.chosen(kubeconfig, transport, options))

    _ears = -1

    def _begin(self, channel: Channel) -> None:
        super().__init__(channel)
        self._cancelled = False
        self._mutex = threading.RLock()
        self._busy = False
        self._ears, self._mouth = os.pipe()
        for end in (self._ears, self._mouth):
            os.set_blocking(end, False)

    # --- driving ---

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """The library takes nothing from one thread while it works for another."""
        self._check()
        if not self._mutex.acquire(blocking=False):
            raise UsageError("a client is used by one thread at a time")
        try:
            yield
        finally:
            self._mutex.release()

    def _close(self, stream: Stream) -> None:
        if not self._mutex.acquire(blocking=False):
            self._abandon(stream)
            return
        try:
            stream.close()
        finally:
            self._mutex.release()

    def _rest(self, longest: float | None) -> None:
        """Wait for something to happen, `longest` seconds at most."""
        interest = self._channel.interest()
        if interest is None:
            self._step(SLICE if longest is None else max(0.0, min(SLICE, longest)))
            return
        descriptor, deadline = interest
        if deadline is not None:
            left = deadline - time.monotonic()
            longest = left if longest is None else min(longest, left)
        poller = select.poll()
        poller.register(self._ears, select.POLLIN)
        if descriptor >= 0:
            poller.register(descriptor, select.POLLIN)
        poller.poll(None if longest is None else max(0, round(longest * 1000 + 0.5)))

    def _until(self, done: Callable[[], bool], deadline: float | None = None, patience: Callable[[], float | None] | None = None) -> bool:
        """Turn until it is done; False when the time is over. CancelledError when somebody cancels."""
        with self._alone():
            if self._busy:
                raise UsageError("a client is not used from inside of its own callbacks")
            self._busy = True
            try:
                return self._turn(done, deadline, patience)
            finally:
                self._busy = False

    def _turn(self, done: Callable[[], bool], deadline: float | None, patience: Callable[[], float | None] | None) -> bool:
        while not done():
            if self._cancelled:
                self._hear()
                raise CancelledError("the call was cancelled")
            self._step()
            if done():
                break
            longest = patience() if patience else None
            if deadline is not None:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                longest = left if longest is None else min(left, longest)
            self._rest(longest)
        return True

    def _hear(self) -> None:
        self._cancelled = False
        try:
            while os.read(self._ears, 4096):
                pass
        except BlockingIOError:
            pass

    def _run(self, operation: Operation[T]) -> T:
        """Carry an operation out."""
        with self._alone():
            return self._carry_out(operation)

    def _carry_out(self, operation: Operation[T]) -> T:
        try:
            call = next(operation)
            while True:
                try:
                    self._await(call)
                    result = call.finish()
                except BaseException as error:
                    call = operation.throw(self._channel.named(error))
                else:
                    call = operation.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    def _await(self, call: Pending | Raw) -> None:
        self._calls.add(call)
        try:
            self._until(lambda: call.over)
        except BaseException:
            call.cancel()
            raise
        finally:
            self._calls.discard(call)

    def cancel(self) -> None:
        """Make the call that waits, or the next one, end with CancelledError. From any thread, and from signal handlers."""
        try:
            os.write(self._mouth, b"!")
        except OSError:  # full, or closed
            pass
        self._cancelled = True  # who hears of it finds the byte to take away

    # --- jobs ---

    def submit(self, job: Any, namespace: str | None = None, *, apply: bool = False, force: bool = False, dry_run: bool = False,
               field_manager: str | None = None, field_validation: Literal["Strict", "Warn", "Ignore"] | None = None) -> MPIJob:
        """Send a job, as it is: nothing is defaulted; gives it as the server stored it.

        job               an MPIJob, the path of a file, YAML or JSON text, a dict, or a model
        apply             server-side apply, which also changes a job that exists; else it is created
        force             with `apply`: take fields over that others own
        dry_run           the server checks and answers, and stores nothing
        field_validation  'Strict', 'Warn' or 'Ignore'; None: strict where the server can

        An answer that is lost is resolved by looking. RejectedError has a finding for each refused field, with its line.
        """
        return self._run(self._submit(job, namespace, **_sending(apply, force, dry_run, field_manager, field_validation)))

    def get(self, name: str, namespace: str | None = None) -> MPIJob:
        """Get a job. NotFoundError when there is none."""
        return self._run(self._get(name, namespace))

    def list(self, namespace: str | None = None, *, all_namespaces: bool = False, labels: str | None = None) -> List[MPIJob]:
        """All jobs of a namespace, or of all; `labels` as kubectl's -l."""
        return self._run(self._list(None if all_namespaces else namespace or self.namespace, labels))

    if TYPE_CHECKING:
        @overload
        def wait(self, name: str, condition: Literal["Deleted"], timeout: float | None = None,  # type: ignore[overload-overlap]
                 namespace: str | None = None) -> None: ...
        @overload
        def wait(self, name: str, condition: str = "Finished", timeout: float | None = None,
                 namespace: str | None = None) -> MPIJob: ...

    def wait(self, name: str, condition: str = "Finished", timeout: float | None = None,
             namespace: str | None = None) -> MPIJob | None:
        """Wait until a condition of a job is true; gives the job as it then is, None for "Deleted".

        condition  a type ("Running", "Succeeded", "Failed", "Suspended", ...); "Finished": Succeeded or Failed, whichever
                   comes; "Deleted": it does not exist
        timeout    seconds; 0: look once; None: no limit

        TimeoutError; SpecError when the job has ended another way; NotFoundError when it is not there, or not any more.
        """
        return self._run(self._wait(name, condition, timeout, namespace))

    def suspend(self, name: str, namespace: str | None = None) -> None:
        """Suspend a job. RejectedError when it has ended."""
        self._run(self._suspend(name, True, namespace))

    def resume(self, name: str, namespace: str | None = None) -> None:
        """Let a suspended job go on."""
        self._run(self._suspend(name, False, namespace))

    def scale(self, name: str, workers: int, expected: int | None = None, namespace: str | None = None) -> None:
        """Set the number of workers; with `expected` only while there are so many, else ConflictError."""
        self._run(self._scale(name, workers, expected, namespace))

    def delete(self, name: str, namespace: str | None = None, *, uid: str | None = None, propagation: Literal["Background", "Foreground", "Orphan"] | None = None) -> None:
        """Delete a job, and with it all that it owns; `propagation` is 'Background' (None), 'Foreground' or 'Orphan'."""
        self._run(self._delete(name, uid, propagation, namespace))

    def events(self, name: str | None = None, kind: str | None = "MPIJob", uid: str | None = None,
               namespace: str | None = None) -> List[dict[str, Any]]:
        """The Events about a job, oldest first; about another object with `kind`; None: any name, any kind."""
        return self._run(self._events(name, kind, uid, namespace))

    def can(self, verb: str, resource: str = "mpijobs", group: str = "kubeflow.org", *, subresource: str | None = None,
            name: str | None = None, namespace: str | None = None, all_namespaces: bool = False) -> bool:
        """Whether this user may do something: can("create"), can("get", "pods", "", subresource="log")."""
        return self._run(self._can(verb, resource, group, subresource, name, None if all_namespaces else namespace or self.namespace))

    def diagnose(self, name: str, namespace: str | None = None) -> List[Cause]:
        """What is wrong with a job: causes, most telling first, each with `advice`; nothing when all looks well."""
        return self._run(self._diagnose(name, namespace))

    # --- objects of any kind ---

    def get_object(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
        """Get any object; for kinds without a namespace say namespace="" ."""
        space = (namespace if namespace is not None else self.namespace) or None
        with self._run(self._get_object(api_version, kind, name, space)) as found:
            return found.to_dict()

    def list_objects(self, api_version: str, kind: str, namespace: str | None = None, labels: str | None = None) -> List[dict[str, Any]]:
        """All objects of any kind; namespace="": of all namespaces."""
        space = (namespace if namespace is not None else self.namespace) or None
        with self._run(self._list_objects(api_version, kind, space, labels)) as found:
            items: List[dict[str, Any]] = found.to_dict()["items"]
            return items

    def create_object(self, value: Any, namespace: str | None = None) -> dict[str, Any]:
        """Create any object; for kinds without a namespace say namespace="" ."""
        return self._run(self._create_object(value, (namespace if namespace is not None else self.namespace) or None))

    # --- as it happens ---

    def watch(self, name: str | None = None, namespace: str | None = None, *, api_version: str = VERSION, kind: str = "MPIJob",
              all_namespaces: bool = False, labels: str | None = None, timeout: float | None = None,
              object_limit: int = 0) -> Watch:
        """What is there, then every change, as an iterator of `Event`, for as long as it takes.

        name          this object alone; None: all
        api_version, kind    of what is watched; MPIJobs
        timeout       seconds after which the iterator ends; None: never

        Broken connections are mended: after each, what is there is told again, and what vanished meanwhile is DELETED.
        """
        space = None if all_namespaces else namespace if namespace is not None else self.namespace
        with self._alone():
            stream = WatchStream(self._channel, api_version, kind, space or None, name, labels, object_limit)
            return Watch(self, stream, timeout)

    def logs(self, name: str, namespace: str | None = None, *, role: Literal["launcher", "worker"] | None = None, follow: bool = False,
             container: str | None = None, all_containers: bool = False, previous: bool = False, timestamps: bool = False,
             tail: int | None = None, since: float | None = None, timeout: float | None = None) -> Logs:
        """What the containers of a job's pods print, as an iterator of `LogLine`.

        role        'launcher' or 'worker'; None: both
        follow      go on until the job has ended, also with pods that come later
        container   None: the first one, or that which the pod names its default
        previous    of the run before the last restart
        timestamps  the server's time in front of each line
        tail        only the last so many lines of what is there
        since       only what was printed in the last so many seconds
        timeout     seconds after which the iterator ends
        """
        with self._alone():
            stream = LogStream(self._channel, namespace or self.namespace, name, role, follow, container, all_containers, previous,
                               timestamps, tail, since)
            return Logs(self, stream, timeout)

    # --- life ---

    def close(self) -> None:
        """Free it; what is under way is given up."""
        if not self._mutex.acquire(blocking=False):
            raise UsageError("the client is in use by another thread: cancel() first")
        try:
            if self._busy:
                raise UsageError("a client is not closed from inside of its own callbacks")
            self._dispose()
        finally:
            self._mutex.release()

    def _dispose(self) -> None:
        self._release()
        ears, self._ears = self._ears, -1
        mouth, self._mouth = self._mouth, -1
        for end in (ears, mouth):
            if end >= 0:
                os.close(end)

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    __del__ = finaliser(lambda self: self._dispose() if self._ears >= 0 else None)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'closed' if self.closed else self.server or ''}>".replace(" >", ">")


class Reader:
    """Who reads a stream, in both kinds of clients."""

    _stream: Any = None

    def __init__(self, client: Any, stream: Stream, timeout: float | None) -> None:
        self._client = client
        self._stream = stream
        self._deadline = None if timeout is None else time.monotonic() + timeout
        client._streams.add(stream)

    def close(self) -> None:
        """Stop; the iterator is at its end."""
        self._stream.queue.clear()
        if os.getpid() == self._client._process:
            self._client._close(self._stream)

    __del__ = finaliser(lambda self: self._client._abandon(self._stream) if self._stream is not None else None)


class _Iterator(Reader):
    """A stream that is read by waiting."""

    def _next(self) -> Any:
        stream = self._stream
        if not stream.queue and not stream.closed:
            self._client._until(lambda: bool(stream.queue) or stream.error is not None or stream.is_over(), self._deadline,
                                stream.patience)
        if stream.queue and not stream.closed:
            with self._client._alone():  # a stream that was held back goes on
                return stream.take()
        error = stream.error
        stream.error = None
        self._client._close(stream)
        if error is not None:
            raise error
        raise StopIteration

    def __exit__(self, *error: object) -> None:
        self.close()


class Watch(_Iterator):
    """An iterator of `Event`. Closing it, or the client, ends it."""

    _stream: WatchStream

    @property
    def synced(self) -> bool:
        """Whether a first list has arrived whole."""
        return self._stream.synced

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> Event:
        found: Event = self._next()
        return found

    def __enter__(self) -> Watch:
        return self


class Logs(_Iterator):
    """An iterator of `LogLine`. Closing it, or the client, ends it."""

    def __iter__(self) -> Logs:
        return self

    def __next__(self) -> LogLine:
        found: LogLine = self._next()
        return found

    def __enter__(self) -> Logs:
        return self


def _sending(apply: bool, force: bool, dry_run: bool, field_manager: str | None, field_validation: str | None) -> dict[str, Any]:
    """Members of struct mpijob_submit_options."""
    return {"apply": int(apply), "force": int(force), "dry_run": int(dry_run), "field_manager": encoded(field_manager),
            "field_validation": encoded(field_validation)}
