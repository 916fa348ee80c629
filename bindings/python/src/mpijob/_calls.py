# SPDX-License-Identifier: Apache-2.0
"""Calls under way: what the library tells of them in its callbacks, and who is told then.

The library gets numbers, never pointers into Python: a callback that comes for what is gone finds nothing. What an operation
needs of its driver is one thing: wait for a `Pending`. So an operation is a generator that yields them, and one driver sleeps
in poll(2) between two of them, another one in asyncio.
"""
from __future__ import annotations

import ctypes
import itertools
from ctypes import byref, c_void_p

from . import _abi
from ._library import core, decoded, encoded, finaliser
from ._text import written
from .document import Document, json_text
from .errors import check, failure
from .findings import Diag, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from typing import Any, TypeVar, Union

    from .job import MPIJob

    T = TypeVar("T")
    Operation = Generator[Union["Pending", "Raw"], Any, T]

_numbers = itertools.count(1)
_live: dict[int, Any] = {}


def warn(findings: Iterable[Finding]) -> None:
    """Findings that no exception carries go to the logger "mpijob", at the level of their severity."""
    for finding in findings:
        import logging
        level = {"error": logging.ERROR, "warning": logging.WARNING}.get(finding.severity, logging.INFO)
        logging.getLogger("mpijob").log(level, "%s", finding)


class _Told:
    """Something of which a callback will tell, by its number."""

    def __init__(self) -> None:
        self.number = next(_numbers)
        self.over = False
        self.told: Callable[[], None] | None = None

    def _expect(self) -> None:
        """It was started: its callback will come, and not before its client is moved on."""
        _live[self.number] = self

    def _tell(self) -> None:
        if self.told is not None:
            self.told()

    def forget(self) -> None:
        """Nothing is told any more."""
        _live.pop(self.number, None)


class Pending(_Told):
    """A task of the library: one of the functions mpijob_client_*_start. `kept` lives until it is over."""

    job: int | None = None
    doc: int | None = None

    def __init__(self, function: Any, client: int, *arguments: Any, kept: Any = None,
                 severities: Mapping[str, str] | None = None, quiet: bool = False) -> None:
        super().__init__()
        self.diag = Diag(severities)
        self.kept = kept
        self.quiet = quiet  # the findings are the result
        self.code = 0
        self._task = c_void_p()
        callbacks = _abi.mpijob_task_callbacks(done=_task_done, user=self.number)
        code = function(client, *arguments, byref(callbacks), byref(self._task), self.diag.handle)
        if code:
            with self.diag:
                raise failure(code, self.diag)
        self._expect()

    def ended(self, code: int, job: int | None, doc: int | None) -> None:
        """The library's callback."""
        self.forget()
        self.code, self.job, self.doc, self.over = code, job, doc, True
        self._task = c_void_p()
        self._tell()

    def cancel(self) -> None:
        """Give it up; what was sent may happen all the same."""
        self.forget()
        if self._task:
            core.mpijob_task_cancel(self._task)
            self._task = c_void_p()
        self.diag.close()

    def finish(self) -> Pending:
        """Raise what it failed with; else it holds what came out."""
        self.kept = None
        with self.diag:
            pass
        try:
            check(self.code, self.diag)
        except BaseException:
            self.drop()
            raise
        if not self.quiet:
            warn(f for f in self.diag.findings if f.id != "server-warning")  # which were told when they came
        return self

    def drop(self) -> None:
        """Free what came out."""
        core.mpijob_free(self.job)
        core.mpijob_doc_free(self.doc)
        self.job = self.doc = None

    def take_job(self) -> MPIJob:
        """The job that came out."""
        from .job import MPIJob
        if self.job is None:
            raise failure(_abi.MPIJOB_ERR_NOT_FOUND)
        handle, self.job = self.job, None
        return MPIJob.take(handle)

    def take_document(self) -> Document:
        """The document that came out."""
        if self.doc is None:
            raise failure(_abi.MPIJOB_ERR_NOT_FOUND)
        handle, self.doc = self.doc, None
        return Document.take(handle)

    __del__ = finaliser(drop)


class Raw(_Told):
    """One request whose answer is taken as it comes."""

    def __init__(self, client: int, method: str, target: _abi.mpijob_target, body: bytes | None = None,
                 content_type: str = "application/json") -> None:
        super().__init__()
        self.code = 0
        self.body = b""
        self.message: str | None = None
        self._call = c_void_p()
        path = written(lambda sink, user: core.mpijob_target_write(byref(target), sink, user))
        request = _abi.mpijob_request(method=method.encode(), path=path)
        if body is not None:
            request.content_type, request.body_len = content_type.encode(), len(body)
            request.body = ctypes.cast(ctypes.c_char_p(body), c_void_p).value
        callbacks = _abi.mpijob_callbacks(done=_call_done, user=self.number)
        code = core.mpijob_client_start(client, byref(request), byref(callbacks), byref(self._call))
        if code:
            raise failure(code)
        self._expect()

    def answered(self, answer: Any) -> None:
        """The library's callback."""
        self.forget()
        self._call = c_void_p()
        self.code, self.over = answer.code, True
        self.message = decoded(answer.message)
        self.body = ctypes.string_at(answer.body, answer.body_len) if answer.body_len else b""
        self._tell()

    def cancel(self) -> None:
        """Give it up."""
        self.forget()
        if self._call:
            core.mpijob_call_cancel(self._call)
            self._call = c_void_p()

    def finish(self) -> Raw:
        """Raise what it failed with."""
        if self.code:
            error = failure(self.code)
            if self.message:
                error.message = self.message
                error.args = (self.message,)
            raise error
        return self


def target(api_version: str, kind: str, namespace: str | None = None, name: str | None = None, subresource: str | None = None,
           **query: str | None) -> _abi.mpijob_target:
    """Which object or collection; names in the query with their own spelling, None is left out."""
    words = [encoded(word) for pair in query.items() if pair[1] is not None for word in pair]
    made = _abi.mpijob_target(api_version=encoded(api_version), kind=encoded(kind), namespace_=encoded(namespace),
                              name=encoded(name), subresource=encoded(subresource))
    if words:
        made.query = (ctypes.c_char_p * len(words))(*words)
        made.query_count = len(words)
    return made


def body_of(value: Any) -> bytes:
    """An object as the body of a request."""
    if isinstance(value, Document):
        return value.to_json(indent=False).encode("utf-8", "surrogateescape")
    return json_text(value)


def _when_task_done(number: int, code: int, job: int | None, doc: int | None) -> None:
    pending = _live.get(number)
    if pending is None:
        core.mpijob_free(job)
        core.mpijob_doc_free(doc)
    else:
        pending.ended(code, job, doc)


def _when_call_done(number: int, answer: Any) -> None:
    call = _live.get(number)
    if call is not None:
        call.answered(answer.contents)


_task_done = _abi.mpijob_task_callbacks_done_fn(_when_task_done)
_call_done = _abi.mpijob_callbacks_done_fn(_when_call_done)
