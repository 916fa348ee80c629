# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a cluster, once for both kinds of clients: each operation is a generator that yields what it waits for."""
from __future__ import annotations

import os
import time
from ctypes import POINTER, byref, c_char_p, c_void_p, cast

from . import _abi
from ._calls import Pending, Raw, body_of, target, warn
from ._library import core, encoded
from .document import Document
from .errors import CancelledError, Error, NoMemoryError, NotFoundError, UsageError, check
from .findings import Diag, Finding, finding_kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._calls import Operation
    from ._channel import Channel
    from .job import MPIJob

VERSION = "kubeflow.org/v2beta1"
_MOST_LOGS = 4
_NAME = "training.kubeflow.org/job-name"
_ROLE = "training.kubeflow.org/job-role"


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
    _tail: dict[str, str | None] = {"limitBytes": "65536", "tailLines": "200"}
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

    def _evidence(self, operation: Operation[Any]) -> Operation[Any]:
        """What could not be had is missing, and no failure."""
        try:
            return (yield from operation)
        except (NoMemoryError, CancelledError, UsageError):
            raise
        except Error as error:
            if not isinstance(error, NotFoundError):
                warn([Finding("warning", "request-failed", None, None, str(error))])
            return None

    def _log_tail(self, pod: dict[str, Any], namespace: str, previous: bool = False) -> Operation[bytes]:
        name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]["name"]
        done = yield Raw(self._client, "GET", target("v1", "Pod", namespace, name, "log", container=container,
                                                     previous="true" if previous else None, **self._tail))
        return done.body  # type: ignore[no-any-return]

    def _tails(self, pods: list[dict[str, Any]], namespace: str) -> Operation[list[tuple[dict[str, Any], bytes]]]:
        """The last lines of some launchers and workers, those first that failed."""
        order = {"Failed": 0, "Running": 1, "Succeeded": 2}
        found = []
        for role in ("launcher", "worker"):
            chosen = [p for p in pods if p["metadata"].get("labels", {}).get(_ROLE) == role
                      and p.get("status", {}).get("phase") in order and _has_started(p)]
            chosen.sort(key=lambda p: order[p["status"]["phase"]])
            for pod in chosen[:_MOST_LOGS]:
                again = any(status.get("restartCount") for status in pod["status"].get("containerStatuses", []))
                for previous in (False, True) if again else (False,):
                    text = yield from self._evidence(self._log_tail(pod, namespace, previous))
                    if text:
                        found.append((pod, text))
        return found

    def _diagnose(self, name: str, namespace: str | None, kept: tuple[str, str, bytes] | None = None,
                  last: dict[str, Any] | None = None) -> Operation[list[Cause]]:
        """`kept`: pod, container and last lines of a launcher that may be gone; `last`: a launcher's pod as it was seen last."""
        space = namespace or self.namespace
        job = yield from self._get(name, namespace)
        pods = yield from self._evidence(self._list_objects("v1", "Pod", space, f"{_NAME}={name}"))
        launcher = yield from self._evidence(self._get_object("batch/v1", "Job", f"{name}-launcher", space))
        events = yield from self._evidence(self._events(None, None, None, namespace))
        mine = [p for p in pods.to_dict().get("items", []) if _owned(p, job, launcher)] if pods else []
        tails = yield from self._tails(mine, space)
        if last is not None and last["metadata"]["name"] not in [pod["metadata"]["name"] for pod in mine]:
            mine.append(last)
        if kept is not None and kept[0] not in [pod["metadata"]["name"] for pod, _ in tails]:
            tails.append(({"metadata": {"name": kept[0]}, "spec": {"containers": [{"name": kept[1]}]}}, kept[2]))
        own = [e for e in events or [] if _about(e, name)]
        with Document({"items": mine}) as seen, Document({"items": own}) as news:
            return _causes(job, launcher, seen if pods else None, news if events is not None else None, tails)


def _has_started(pod: dict[str, Any]) -> bool:
    """Whether the first container has a log: one that never ran has none."""
    status = (pod["status"].get("containerStatuses") or [{}])[0]
    return "waiting" not in status.get("state", {}) or bool(status.get("lastState"))


def _owned(pod: dict[str, Any], job: MPIJob, launcher: Document | None) -> bool:
    """A pod of an older job of the same name is not of this one."""
    owners = pod.get("metadata", {}).get("ownerReferences", [])
    uids = {job.uid, launcher.find("metadata.uid") if launcher else None}
    return not owners or any(owner.get("uid") in uids for owner in owners)


def _about(event: dict[str, Any], name: str) -> bool:
    about = event.get("involvedObject", {}).get("name", "")
    return bool(about == name) or bool(about.startswith((f"{name}-launcher", f"{name}-worker-")))


def _causes(job: MPIJob, launcher: Document | None, pods: Document | None, events: Document | None,
            tails: list[tuple[dict[str, Any], bytes]]) -> list[Cause]:
    logs = [_abi.mpijob_log_tail(pod=encoded(pod["metadata"]["name"]), container=encoded(pod["spec"]["containers"][0]["name"]))
            for pod, _ in tails]
    for tail, (_, text) in zip(logs, tails):
        tail.text, tail.len = cast(c_char_p(text), c_void_p).value, len(text)
    evidence = _abi.mpijob_evidence(job=job.handle, now_ms=int(time.time() * 1000), logs_count=len(logs))
    for member, document in (("launcher", launcher), ("pods", pods), ("events", events)):
        if document is not None:
            setattr(evidence, member, document.root)
    if logs:
        pointer = POINTER(_abi.mpijob_log_tail)
        evidence.logs = (pointer * len(logs))(*(cast(byref(tail), pointer) for tail in logs))
    with Diag() as diag:
        check(core.mpijob_diagnose(byref(evidence), diag.handle), diag)
    return [Cause(**found.to_dict()) for found in diag.findings]
