# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a cluster, once for both kinds of clients: each operation is a generator that yields what it waits for."""
from __future__ import annotations

import os
from ctypes import byref, c_void_p

from . import _abi
from ._calls import Pending, Raw, body_of, target, warn
from ._library import core, encoded
from .document import Document
from .errors import UsageError, check
from .findings import Diag, Finding, finding_kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._calls import Operation
    from ._channel import Channel
    from .job import MPIJob

VERSION = "kubeflow.org/v2beta1"


class Cause(Finding):
    """A cause of what goes wrong with a job: a finding, and what to do about it."""

    __slots__ = ()

    @property
    def advice(self) -> str:
        """One or two sentences: what to do."""
        kind = finding_kind(self.id)
        return kind.advice if kind else ""


def milliseconds(seconds: float | None) -> int:
    """A limit of the library: None is none."""
    if seconds is None or seconds == float("inf"):
        return -1
    if not seconds >= 0:
        raise UsageError("a timeout is a number of seconds, 0 or more, or None")
    return round(seconds * 1000)


def job_of(value: Any) -> MPIJob:
    """An MPIJob of anything that is one: itself, a path, YAML or JSON text, a dict, a Document, a model."""
    from .job import MPIJob
    if isinstance(value, MPIJob):
        return value
    if isinstance(value, str) and "\n" not in value and "{" not in value:
        return MPIJob.load(value)
    if isinstance(value, os.PathLike):
        return MPIJob.load(value)
    if isinstance(value, (str, bytes)):
        return MPIJob.loads(value)
    with Document(value) as document:
        return job_of_node(document.root)


def job_of_node(node: int) -> MPIJob:
    """The MPIJob that a mpijob_node is."""
    from .job import MPIJob
    out = c_void_p()
    with Diag() as diag:
        check(core.mpijob_from_node(node, None, byref(out), diag.handle), diag)
    return MPIJob.take(out.value or 0)


class Operations:
    """The operations of a client; `_client` and `namespace` are its own."""

    _channel: Channel
    _severities: Mapping[str, str] | None = None
    namespace: str

    @property
    def _client(self) -> int:
        raise NotImplementedError

    def _space(self, namespace: str | None) -> bytes | None:
        return encoded(namespace or self.namespace)

    def _submit(self, job: Any, namespace: str | None, **options: Any) -> Operation[MPIJob]:
        sent = job_of(job)
        sent = sent.copy() if sent is job else sent  # its owner may change it meanwhile
        if namespace is None and not core.mpijob_namespace(sent.handle):
            namespace = self.namespace
        settings = _abi.mpijob_submit_options(namespace_=encoded(namespace), **options)
        done = yield Pending(core.mpijob_client_submit_start, self._client, sent.handle, byref(settings), kept=sent,
                             severities=self._severities)
        return done.take_job()  # type: ignore[no-any-return]

    def _get(self, name: str, namespace: str | None) -> Operation[MPIJob]:
        done = yield Pending(core.mpijob_client_get_job_start, self._client, self._space(namespace), encoded(name))
        return done.take_job()  # type: ignore[no-any-return]

    def _list_objects(self, api_version: str, kind: str, namespace: str | None, labels: str | None = None) -> Operation[Document]:
        wanted = target(api_version, kind, namespace, labelSelector=labels)
        done = yield Pending(core.mpijob_client_list_start, self._client, byref(wanted), 0)
        return done.take_document()  # type: ignore[no-any-return]

    def _list(self, namespace: str | None, labels: str | None) -> Operation[list[MPIJob]]:
        with (yield from self._list_objects(VERSION, "MPIJob", namespace, labels)) as found:
            items = core.mpijob_node_get(found.root, b"items")
            return [job_of_node(core.mpijob_node_at(items, i)) for i in range(core.mpijob_node_count(items))]

    def _get_object(self, api_version: str, kind: str, name: str, namespace: str | None) -> Operation[Document]:
        wanted = target(api_version, kind, namespace, name)
        done = yield Pending(core.mpijob_client_get_start, self._client, byref(wanted))
        return done.take_document()  # type: ignore[no-any-return]

    def _create_object(self, value: Any, namespace: str | None) -> Operation[dict[str, Any]]:
        with Document(value) as document:
            given = document.to_dict()
            wanted = target(given.get("apiVersion", ""), given.get("kind", ""), namespace)
            done = yield Raw(self._client, "POST", wanted, body_of(document))
        with Document.loads(done.body) as stored:
            return stored.to_dict()

    def _create(self, document: Document) -> Operation[None]:
        """What a job needs, unless it exists already."""
        options = _abi.mpijob_submit_options(namespace_=encoded(self.namespace), field_validation=b"Ignore")
        done = yield Pending(core.mpijob_run_create_start, self._client, document.root, byref(options))
        done.drop()

    def _wait(self, name: str, condition: str, timeout: float | None, namespace: str | None) -> Operation[MPIJob | None]:
        done = yield Pending(core.mpijob_client_wait_job_start, self._client, self._space(namespace), encoded(name),
                             encoded(condition), milliseconds(timeout))
        return done.take_job() if done.job else None

    def _suspend(self, name: str, on: bool, namespace: str | None) -> Operation[None]:
        yield Pending(core.mpijob_client_suspend_start, self._client, self._space(namespace), encoded(name), int(on))

    def _scale(self, name: str, workers: int, expected: int | None, namespace: str | None) -> Operation[None]:
        if not 0 <= workers < 1 << 31:
            raise UsageError("the number of workers is 0 or more")
        yield Pending(core.mpijob_client_scale_start, self._client, self._space(namespace), encoded(name), workers,
                      -1 if expected is None else expected)

    def _delete(self, name: str, uid: str | None, propagation: str | None, namespace: str | None) -> Operation[None]:
        yield Pending(core.mpijob_client_delete_job_start, self._client, self._space(namespace), encoded(name), encoded(uid),
                      encoded(propagation))

    def _events(self, name: str | None, kind: str | None, uid: str | None, namespace: str | None) -> Operation[list[dict[str, Any]]]:
        done = yield Pending(core.mpijob_client_events_start, self._client, self._space(namespace), encoded(kind), encoded(name),
                             encoded(uid))
        with done.take_document() as found:
            return found.to_dict()["items"]  # type: ignore[no-any-return]

    def _can(self, verb: str, resource: str, group: str, subresource: str | None, name: str | None,
             namespace: str | None) -> Operation[bool]:
        access = _abi.mpijob_access(verb=encoded(verb), resource=encoded(resource), group=encoded(group),
                                    subresource=encoded(subresource), name=encoded(name), namespace_=encoded(namespace))
        done = yield Pending(core.mpijob_client_can_start, self._client, byref(access))
        return bool(done.code)

    # --- causes ---

    def _diagnose(self, name: str, namespace: str | None) -> Operation[list[Cause]]:
        done = yield Pending(core.mpijob_run_diagnose_start, self._client, self._space(namespace), encoded(name), None, quiet=True)
        with done.take_document() as evidence:
            missing: dict[str, str] = evidence.to_dict()["missing"]
        warn(Finding("warning", "request-failed", None, None, f"{what}: {why}") for what, why in missing.items())
        return [Cause(**found.to_dict()) for found in done.diag.findings]
