# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio: every call a coroutine, watches and logs asynchronous iterators; no thread, and no call that blocks.

    async with mpijob.aio.Client() as client:
        await client.submit("job.yaml")
        async for line in client.logs("pi", follow=True):
            print(line.pod, line.text)

The library tells which descriptor to watch and when to be called (`interest`); the event loop does both. So hundreds of calls
may be under way at a time on one client. Cancelling a task gives its call up. A client belongs to the loop in which it is first
used, and to one thread and process, as that does. Reading a kubeconfig and looking up a host name are done by the library
itself: the former is quick, the latter has a thread of libcurl's.
"""
from __future__ import annotations

import asyncio
import os
import time
from typing import Any, List, Literal  # a method is called list

from . import _channel
from ._arguments import checked_class
from ._channel import Channel
from ._library import finaliser
from ._operations import VERSION, Cause, Operations
from ._streams import Event, LogLine, LogStream, Stream, WatchStream
from .client import Owner, Reader, _sending
from .errors import CancelledError, UnsupportedError, UsageError
from .job import MPIJob
from .local import SILENT, channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar, overload

    from ._calls import Operation, Pending, Raw

    T = TypeVar("T")
    S = TypeVar("S", bound="Client")

__all__ = ["Cause", "Client", "Event", "LocalCluster", "LogLine", "Logs", "Operations", "Watch"]


@checked_class
class Client(Owner):
    """As `mpijob.Client`, with the same arguments, for asyncio."""

    def __init__(self, kubeconfig: str | os.PathLike[str] | None = None, *, transport: Any = None, **options: Any) -> None:
        self._begin(_channel.chosen(kubeconfig, transport, options))

    def _begin(self, made: Channel) -> None:
        super().__init__(made)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._descriptor = -1
        self._timer: asyncio.TimerHandle | None = None
        self._soon: asyncio.Handle | None = None
        self._waiters: dict[asyncio.Future[None], None] = {}
        if made.interest() is None:
            self._release()
            raise UnsupportedError("this transport has no `interest`, which an event loop needs: use mpijob.Client")

    # --- driving ---

    def _moving(self) -> None:
        """Something was started: be called soon, and from then on whenever there is something to do."""
        self._check()
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise UsageError("a client belongs to the event loop in which it was first used")
        if self._soon is None:
            self._soon = loop.call_soon(self._pump)

    def _pump(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        if self.closed or self._process != os.getpid():
            self._unwatch()
            return
        try:
            self._step()
            self._watch_descriptor()
        except Exception as error:  # the transport as a whole: all that wait hear of it
            for waiter in list(self._waiters):
                if not waiter.done():
                    waiter.set_exception(error)
            self._unwatch()

    def _watch_descriptor(self) -> None:
        loop = self._loop
        if loop is None or self.closed:
            return
        descriptor, deadline = self._channel.interest() or (-1, None)
        if descriptor != self._descriptor:
            if self._descriptor >= 0:
                loop.remove_reader(self._descriptor)
            if descriptor >= 0:
                loop.add_reader(descriptor, self._pump)
            self._descriptor = descriptor
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if deadline is None else loop.call_later(max(0.0, deadline - time.monotonic()), self._pump)

    def _unwatch(self) -> None:
        # In a child of its process the loop's descriptors are those of the parent, too.
        if self._loop is not None and not self._loop.is_closed() and self._process == os.getpid():
            if self._descriptor >= 0:
                self._loop.remove_reader(self._descriptor)
            for handle in (self._timer, self._soon):
                if handle is not None:
                    handle.cancel()
        self._descriptor, self._timer, self._soon = -1, None, None

    async def _told(self, source: Pending | Raw | Stream, seconds: float | None) -> None:
        """Wait until the source is told something, or the time is over."""
        self._moving()
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def tell() -> None:
            if not waiter.done():
                waiter.set_result(None)

        before, source.told = source.told, tell
        self._waiters[waiter] = None
        try:
            if seconds is None:
                await waiter
            else:
                await asyncio.wait([waiter], timeout=max(seconds, 0.0))
        finally:
            source.told = before
            self._waiters.pop(waiter, None)
            if waiter.done() and not waiter.cancelled():
                error = waiter.exception()
                if error is not None and seconds is not None:
                    raise error
            else:
                waiter.cancel()

    async def _run(self, operation: Operation[T]) -> T:
        try:
            call = next(operation)
            while True:
                try:
                    await self._await(call)
                    result = call.finish()
                except BaseException as error:
                    call = operation.throw(self._channel.named(error))
                else:
                    call = operation.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    async def _await(self, call: Pending | Raw) -> None:
        self._calls.add(call)
        try:
            while not call.over:
                await self._told(call, None)
        except BaseException:
            if not self.closed:
                call.cancel()
            raise
        finally:
            self._calls.discard(call)

    # --- jobs ---

    async def submit(self, job: Any, namespace: str | None = None, *, apply: bool = False, force: bool = False,
                     dry_run: bool = False, field_manager: str | None = None, field_validation: Literal["Strict", "Warn", "Ignore"] | None = None) -> MPIJob:
        """As `mpijob.Client.submit`."""
        return await self._run(self._submit(job, namespace, **_sending(apply, force, dry_run, field_manager, field_validation)))

    async def get(self, name: str, namespace: str | None = None) -> MPIJob:
        """As `mpijob.Client.get`."""
        return await self._run(self._get(name, namespace))

    async def list(self, namespace: str | None = None, *, all_namespaces: bool = False, labels: str | None = None) -> List[MPIJob]:
        """As `mpijob.Client.list`."""
        return await self._run(self._list(None if all_namespaces else namespace or self.namespace, labels))

    if TYPE_CHECKING:
        @overload
        async def wait(self, name: str, condition: Literal["Deleted"], timeout: float | None = None,  # type: ignore[overload-overlap]
                       namespace: str | None = None) -> None: ...
        @overload
        async def wait(self, name: str, condition: str = "Finished", timeout: float | None = None,
                       namespace: str | None = None) -> MPIJob: ...

    async def wait(self, name: str, condition: str = "Finished", timeout: float | None = None,
                   namespace: str | None = None) -> MPIJob | None:
        """As `mpijob.Client.wait`."""
        return await self._run(self._wait(name, condition, timeout, namespace))

    async def suspend(self, name: str, namespace: str | None = None) -> None:
        """As `mpijob.Client.suspend`."""
        await self._run(self._suspend(name, True, namespace))

    async def resume(self, name: str, namespace: str | None = None) -> None:
        """As `mpijob.Client.resume`."""
        await self._run(self._suspend(name, False, namespace))

    async def scale(self, name: str, workers: int, expected: int | None = None, namespace: str | None = None) -> None:
        """As `mpijob.Client.scale`."""
        await self._run(self._scale(name, workers, expected, namespace))

    async def delete(self, name: str, namespace: str | None = None, *, uid: str | None = None,
                     propagation: Literal["Background", "Foreground", "Orphan"] | None = None) -> None:
        """As `mpijob.Client.delete`."""
        await self._run(self._delete(name, uid, propagation, namespace))

    async def events(self, name: str | None = None, kind: str | None = "MPIJob", uid: str | None = None,
                     namespace: str | None = None) -> List[dict[str, Any]]:
        """As `mpijob.Client.events`."""
        return await self._run(self._events(name, kind, uid, namespace))

    async def can(self, verb: str, resource: str = "mpijobs", group: str = "kubeflow.org", *, subresource: str | None = None,
                  name: str | None = None, namespace: str | None = None, all_namespaces: bool = False) -> bool:
        """As `mpijob.Client.can`."""
        return await self._run(self._can(verb, resource, group, subresource, name,
                                         None if all_namespaces else namespace or self.namespace))

    async def diagnose(self, name: str, namespace: str | None = None) -> List[Cause]:
        """As `mpijob.Client.diagnose`."""
        return await self._run(self._diagnose(name, namespace))

    # --- objects of any kind ---

    async def get_object(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
        """As `mpijob.Client.get_object`."""
        space = (namespace if namespace is not None else self.namespace) or None
        with await self._run(self._get_object(api_version, kind, name, space)) as found:
            return found.to_dict()

    async def list_objects(self, api_version: str, kind: str, namespace: str | None = None,
                           labels: str | None = None) -> List[dict[str, Any]]:
        """As `mpijob.Client.list_objects`."""
        space = (namespace if namespace is not None else self.namespace) or None
        with await self._run(self._list_objects(api_version, kind, space, labels)) as found:
            items: List[dict[str, Any]] = found.to_dict()["items"]
            return items

    async def create_object(self, value: Any, namespace: str | None = None) -> dict[str, Any]:
        """As `mpijob.Client.create_object`."""
        return await self._run(self._create_object(value, (namespace if namespace is not None else self.namespace) or None))

    # --- as it happens ---

    def watch(self, name: str | None = None, namespace: str | None = None, *, api_version: str = VERSION, kind: str = "MPIJob",
              all_namespaces: bool = False, labels: str | None = None, timeout: float | None = None,
              object_limit: int = 0) -> Watch:
        """As `mpijob.Client.watch`."""
        space = None if all_namespaces else namespace if namespace is not None else self.namespace
        self._check()
        return Watch(self, WatchStream(self._channel, api_version, kind, space or None, name, labels, object_limit), timeout)

    def logs(self, name: str, namespace: str | None = None, *, role: Literal["launcher", "worker"] | None = None, follow: bool = False,
             container: str | None = None, all_containers: bool = False, previous: bool = False, timestamps: bool = False,
             tail: int | None = None, since: float | None = None, timeout: float | None = None) -> Logs:
        """As `mpijob.Client.logs`."""
        self._check()
        stream = LogStream(self._channel, namespace or self.namespace, name, role, follow, container, all_containers, previous,
                           timestamps, tail, since)
        return Logs(self, stream, timeout)

    # --- life ---

    def close(self) -> None:
        """Free it. Calls under way end with CancelledError of `mpijob`."""
        self._unwatch()
        self._release()
        for waiter in list(self._waiters):
            if not waiter.done():
                waiter.set_exception(CancelledError("the client was closed"))

    async def __aenter__(self: S) -> S:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()

    __del__ = finaliser(lambda self: self.close() if getattr(self, "_waiters", None) is not None and not self.closed else None)


@checked_class
class LocalCluster(Client):
    """As `mpijob.LocalCluster`, for asyncio: its jobs go on while the loop runs. Making and closing it block for a moment."""

    _severities = SILENT

    def __init__(self, *, node: bool = True, operator: bool = True, namespace: str | None = None, reference: bool = False,
                 cluster_domain: str | None = None, allow_host_path: bool = False, backoff_base: float | None = None,
                 node_program: str | None = None) -> None:
        self._begin(channel({"node": node, "operator": operator, "namespace": namespace, "reference": reference,
                             "cluster_domain": cluster_domain, "allow_host_path": allow_host_path,
                             "backoff_base": backoff_base, "node_program": node_program}))


class _Iterator(Reader):
    """A stream that is read by awaiting."""

    def _left(self) -> float | None:
        patience: float | None = self._stream.patience()
        if self._deadline is None:
            return patience
        left = self._deadline - time.monotonic()
        return left if patience is None else min(left, patience)

    async def _next(self) -> Any:
        stream = self._stream
        while not (stream.queue or stream.error is not None or stream.is_over()):
            if self._deadline is not None and time.monotonic() >= self._deadline:
                break
            await self._client._told(stream, self._left())
        if stream.queue and not stream.closed:
            return stream.take()
        error = stream.error
        stream.error = None
        stream.close()
        if error is not None:
            raise error
        raise StopAsyncIteration

    async def __aexit__(self, *error: object) -> None:
        self.close()


class Watch(_Iterator):
    """An asynchronous iterator of `Event`."""

    _stream: WatchStream

    @property
    def synced(self) -> bool:
        """Whether a first list has arrived whole."""
        return self._stream.synced

    def __aiter__(self) -> Watch:
        return self

    async def __anext__(self) -> Event:
        found: Event = await self._next()
        return found

    async def __aenter__(self) -> Watch:
        return self


class Logs(_Iterator):
    """An asynchronous iterator of `LogLine`."""

    def __aiter__(self) -> Logs:
        return self

    async def __anext__(self) -> LogLine:
        found: LogLine = await self._next()
        return found

    async def __aenter__(self) -> Logs:
        return self
