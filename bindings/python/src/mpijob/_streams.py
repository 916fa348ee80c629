# SPDX-License-Identifier: Apache-2.0
"""Watches and logs as queues: what the library tells in its callbacks is copied, and read when its reader comes."""
from __future__ import annotations

import collections
import ctypes
import time
from ctypes import byref, c_int64, c_size_t, c_void_p

from . import _abi
from ._calls import Pending, _live, _numbers, warn
from ._library import core, decoded, encoded
from ._operations import VERSION, job_of_node
from .document import Document
from .errors import Error, NotFoundError, check, failure
from .findings import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Union

    from ._channel import Channel
    from .job import MPIJob

    Thing = Union[MPIJob, dict[str, Any], None]

MUCH, LITTLE = 4096, 512  # lines that wait for their reader: then the server keeps what comes; then it goes on
SETTLE, LAST = 0.5, 10.0  # seconds in which logs still begin, and end, when their job has ended
QUIET = 1.5               # seconds without a line after which kept workers are not waited for
_PASSING = (_abi.MPIJOB_ERR_IO, _abi.MPIJOB_ERR_UNREACHABLE, _abi.MPIJOB_ERR_TIMEOUT, _abi.MPIJOB_ERR_SERVER)
_TYPES = {_abi.MPIJOB_WATCH_LISTED: "LISTED", _abi.MPIJOB_WATCH_ADDED: "ADDED", _abi.MPIJOB_WATCH_MODIFIED: "MODIFIED",
          _abi.MPIJOB_WATCH_DELETED: "DELETED"}


class Event:
    """Something that a watch tells.

    type              'LISTED' (it was there), 'ADDED', 'MODIFIED' or 'DELETED'
    object            an MPIJob, or a dict for other kinds; None when it is larger than the limit, and for what vanished while
                      nobody watched
    name, namespace, uid, resource_version    of the object
    """

    __slots__ = ("type", "name", "namespace", "uid", "resource_version", "_json", "_is_job", "_object")

    def __init__(self, type: str, name: str, namespace: str, uid: str, resource_version: str, json: bytes | None,  # noqa: A002
                 is_job: bool) -> None:
        self.type = type
        self.name = name
        self.namespace = namespace
        self.uid = uid
        self.resource_version = resource_version
        self._json = json
        self._is_job = is_job
        self._object: Thing = None

    @property
    def object(self) -> Thing:
        """The object, made when it is first asked for."""
        if self._object is None and self._json is not None:
            with Document.loads(self._json) as document:
                self._object = job_of_node(document.root) if self._is_job else document.to_dict()
            self._json = None
        return self._object

    def __repr__(self) -> str:
        return f"<Event {self.type} {self.namespace}/{self.name}>"


class LogLine:
    """A line that a container printed.

    pod, container    their names
    text              the line, bytes that are no UTF-8 as lone surrogates; `data` has the bytes
    whole             False: a part of a line longer than 64 KiB, or the end of a log without a line end
    attempt           restarts of the container before this one
    """

    __slots__ = ("pod", "container", "data", "whole", "attempt")

    def __init__(self, pod: str, container: str, data: bytes, whole: bool, attempt: int) -> None:
        self.pod = pod
        self.container = container
        self.data = data
        self.whole = whole
        self.attempt = attempt

    @property
    def text(self) -> str:
        """The line without its end."""
        return self.data.decode("utf-8", "surrogateescape")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<LogLine {self.pod}/{self.container}: {self.text!r}>"


class Stream:
    """A queue that callbacks fill."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.number = next(_numbers)
        self.queue: collections.deque[Any] = collections.deque()
        self.error: BaseException | None = None
        self.told: Callable[[], None] | None = None
        self.closed = False
        self._handle = c_void_p()

    def _expect(self) -> None:
        """It is about to be started: callbacks will come, and not before the client is moved on."""
        _live[self.number] = self

    def _tell(self) -> None:
        if self.told is not None:
            self.told()

    def fail(self, error: BaseException) -> None:
        """End with this."""
        if self.error is None:
            self.error = self.channel.named(error)
        self._tell()

    def take(self) -> Any:
        """The next of the queue, which is not empty."""
        return self.queue.popleft()

    def is_over(self) -> bool:
        """Nothing comes any more."""
        return self.closed

    def patience(self) -> float | None:
        """Seconds after which to look again whether it is over."""
        return None

    def _free(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Stop."""
        if not self.closed:
            self.closed = True
            _live.pop(self.number, None)
            if self.channel.client:
                self._free()
            self._handle = c_void_p()
            self._tell()

    def lost(self) -> None:
        """The client goes."""
        self.fail(failure(_abi.MPIJOB_ERR_CANCELLED))
        self.close()


class WatchStream(Stream):
    """Events of a collection."""

    def __init__(self, channel: Channel, api_version: str, kind: str, namespace: str | None, name: str | None,
                 labels: str | None, object_limit: int) -> None:
        super().__init__(channel)
        self._is_job = api_version == VERSION and kind == "MPIJob"
        self._known: dict[str, tuple[str, str]] = {}
        self._listed: set[str] = set()
        options = _abi.mpijob_watch_options(
            api_version=encoded(api_version), kind=encoded(kind), namespace_=encoded(namespace), name=encoded(name),
            label_selector=encoded(labels), object_limit=object_limit, seed=time.monotonic_ns(), user=self.number,
            begin=_watch_begin, object=_watch_object, listed=_watch_listed, failed=_watch_failed)
        self._expect()
        try:
            check(core.mpijob_watch_new(channel.client, byref(options), byref(self._handle)))
        except BaseException:
            _live.pop(self.number, None)
            raise

    @property
    def synced(self) -> bool:
        """Whether a first list has arrived whole."""
        return bool(self._handle) and bool(core.mpijob_watch_health_get(self._handle).contents.synced)

    def begun(self) -> None:
        """A list begins."""
        self._listed = set()

    def came(self, event: Any) -> None:
        """An object."""
        kind, uid = _TYPES.get(event.event, "MODIFIED"), decoded(event.uid) or ""
        name, namespace = decoded(event.name) or "", decoded(event.namespace_) or ""
        if kind == "DELETED":
            self._known.pop(uid, None)
        else:
            self._known[uid] = namespace, name
            self._listed.add(uid)
        json = ctypes.string_at(event.json, event.json_len) if event.json else None
        self.queue.append(Event(kind, name, namespace, uid, decoded(event.resource_version) or "", json, self._is_job))
        self._tell()

    def listed(self) -> None:
        """A list is complete: what is not in it vanished meanwhile."""
        for uid in [uid for uid in self._known if uid not in self._listed]:
            namespace, name = self._known.pop(uid)
            self.queue.append(Event("DELETED", name, namespace, uid, "", None, self._is_job))
        self._listed = set()
        self._tell()

    def failed(self, answer: Any) -> None:
        """A list or watch failed; what is worth another try is tried by the library."""
        message = decoded(answer.message) or ""
        if answer.code in _PASSING:
            warn([Finding("warning", "request-failed", None, None, f"the connection is lost ({message}); trying again")])
            return
        error = failure(answer.code)
        if message:
            error.message = message
        self.fail(error)

    def _free(self) -> None:
        core.mpijob_watch_free(self._handle)


class LogStream(Stream):
    """Lines of a job's pods."""

    def __init__(self, channel: Channel, namespace: str, name: str, role: str | None, follow: bool, container: str | None,
                 all_containers: bool, previous: bool, timestamps: bool, tail: int | None, since: float | None) -> None:
        super().__init__(channel)
        self._follow = follow
        self._paused = False
        self._last = time.monotonic()
        self._readers: list[tuple[str, c_void_p]] = []
        self._ended: float | None = None
        self._job: Pending | None = None
        self._look: Pending | None = None  # whether there is such a job, when no line came
        self._names = encoded(namespace), encoded(name)
        self._silent = True
        options = _abi.mpijob_logs_options(namespace_=encoded(namespace), job=encoded(name), container=encoded(container),
                                           all_containers=all_containers, follow=follow, previous=previous,
                                           timestamps=timestamps, line=_logs_line, failed=_logs_failed, user=self.number)
        if tail is not None:
            options.tail_lines = ctypes.pointer(c_int64(tail))
        if since is not None:
            options.since_seconds = ctypes.pointer(c_int64(max(1, round(since))))
        self._expect()
        try:
            for each in (role,) if role else ("launcher", "worker"):
                reader = c_void_p()
                options.role = encoded(each)
                check(core.mpijob_logs_new(channel.client, byref(options), byref(reader)))
                self._readers.append((each, reader))
            if follow:
                self._job = Pending(core.mpijob_client_wait_job_start, channel.client, encoded(namespace), encoded(name),
                                    b"Finished", -1)
                self._job.told = self._tell
        except BaseException:
            self.close()
            raise

    def _pause(self, on: bool) -> None:
        self._paused = on
        for _, reader in self._readers:
            core.mpijob_logs_pause(reader, int(on))

    def line(self, line: Any) -> None:
        """A line."""
        self.queue.append(LogLine(decoded(line.pod) or "", decoded(line.container) or "", ctypes.string_at(line.text, line.len),
                                  bool(line.whole), line.attempt))
        self._last = time.monotonic()
        self._silent = False
        if len(self.queue) > MUCH and not self._paused:
            self._pause(True)
        self._tell()

    def take(self) -> Any:
        found = self.queue.popleft()
        if self._paused and len(self.queue) < LITTLE and self.channel.client:
            self._pause(False)
        return found

    def refused(self, pod: str | None, code: int, message: str | None, again: bool) -> None:
        """A log is not available; without a pod, their list is not."""
        if again:
            return
        if pod is not None:
            warn([Finding("warning", "request-failed", None, None, f"the log of pod {pod}: {message}")])
            return
        error = failure(code)
        error.message = f"the list of the job's pods: {message}"
        error.args = (error.message,)
        self.fail(error)

    def is_over(self) -> bool:
        if self.closed or not self.channel.client:
            return True
        states = [core.mpijob_logs_state(reader, None) for _, reader in self._readers]
        if min(states) < 0:
            self.fail(failure(min(states)))
            return True
        if max(states) == 0:
            return not self._silent or self._is_seen()
        if self._job is not None and self._job.over:
            self._job_ended(self._job)
        return self._ended is not None and self._is_read(time.monotonic() - self._ended)

    def _is_seen(self) -> bool:
        """No log was found: ask once whether the job exists. Whoever may not see jobs may still read logs."""
        if self._look is None:
            self._look = Pending(core.mpijob_client_get_job_start, self.channel.client, *self._names)
            self._look.told = self._tell
        if not self._look.over:
            return False
        try:
            self._look.finish().drop()
        except NotFoundError as error:
            self.fail(error)
        except Error:
            pass
        self._silent = False
        return True

    def _is_read(self, since: float) -> bool:
        """All is read, as far as can be known so long after the end of the job. Workers may be kept, and run for ever."""
        unread = {role: _unread(reader) for role, reader in self._readers}
        quiet = time.monotonic() - self._last >= QUIET
        return since >= LAST or (since >= SETTLE and not unread.get("launcher") and (not unread.get("worker") or quiet))

    def _job_ended(self, job: Pending) -> None:
        self._job, self._ended = None, time.monotonic()
        try:
            job.finish().drop()
        except NotFoundError as error:
            if "no such job" in str(error) and not self.queue:
                self.fail(error)
        except Error as error:
            self.fail(error)

    def patience(self) -> float | None:
        return 0.1 if self._ended is not None or not self._follow else None

    def _free(self) -> None:
        for call in (self._job, self._look):
            if call is not None:
                call.cancel()
        self._job = self._look = None
        for _, reader in self._readers:
            core.mpijob_logs_free(reader)
        self._readers.clear()


def _unread(reader: c_void_p) -> int:
    """How many logs are not read to their end."""
    count = c_size_t()
    core.mpijob_logs_state(reader, byref(count))
    return count.value


def _guarded(number: int, act: Callable[[Any], None]) -> int:
    stream = _live.get(number)
    if stream is None:
        return 0
    try:
        act(stream)
        return 0
    except BaseException as error:  # it has nowhere else to go
        stream.fail(error)
        return _abi.MPIJOB_ERR_CANCELLED


def _begin(number: int) -> None:
    _guarded(number, lambda stream: stream.begun())


def _object(number: int, event: Any) -> int:
    return _guarded(number, lambda stream: stream.came(event.contents))


def _listed(number: int, version: bytes) -> int:
    return _guarded(number, lambda stream: stream.listed())


def _failed(number: int, answer: Any, what: bytes) -> None:
    _guarded(number, lambda stream: stream.failed(answer.contents))


def _line(number: int, line: Any) -> int:
    return _guarded(number, lambda stream: stream.line(line.contents))


def _refused(number: int, pod: bytes | None, container: bytes | None, code: int, message: bytes | None, again: int) -> None:
    _guarded(number, lambda stream: stream.refused(decoded(pod), code, decoded(message), bool(again)))


_watch_begin = _abi.mpijob_watch_options_begin_fn(_begin)
_watch_object = _abi.mpijob_watch_options_object_fn(_object)
_watch_listed = _abi.mpijob_watch_options_listed_fn(_listed)
_watch_failed = _abi.mpijob_watch_options_failed_fn(_failed)
_logs_line = _abi.mpijob_logs_options_line_fn(_line)
_logs_failed = _abi.mpijob_logs_options_failed_fn(_refused)
