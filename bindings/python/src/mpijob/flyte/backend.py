# SPDX-License-Identifier: Apache-2.0
"""What Flyte's backend does with an MPI task, by the library: its template becomes a job, the job's state a phase.

This module loads libmpijob-flyte; the image of a task does not need it.
"""
from __future__ import annotations

import ctypes
from ctypes import byref, c_void_p, pointer
from typing import Any, Iterable, List, Mapping, Optional, Tuple

from mpijob import _abi
from mpijob._library import core, decoded, encoded, flyte
from mpijob.document import Document
from mpijob.errors import check
from mpijob.findings import Diag, Finding

DEFAULT_LINKS = object()


class Repair:
    """One thing that Flyte's plugin does and this library, asked for the repair, does not: `name`, `flag`, `what`, `why`."""

    def __init__(self, struct: Any) -> None:
        self.flag: int = struct.flag
        self.name = decoded(struct.name) or ""
        self.what = decoded(struct.what) or ""
        self.why = decoded(struct.why) or ""

    def __repr__(self) -> str:
        return f"<Repair {self.name}: {self.what}>"


def repairs() -> List[Repair]:
    """All of them."""
    return [Repair(flyte.mpijob_flyte_repair_at(index).contents) for index in range(flyte.mpijob_flyte_repair_count())]


def _flags(names: Optional[Iterable[str]]) -> Any:
    """A pointer to the flags of some repairs; None, for the library's own choice, stays None."""
    if names is None:
        return None
    known = {repair.name: repair.flag for repair in repairs()}
    flags = 0
    for name in names:
        if name not in known:
            raise ValueError(f"no repair is called '{name}': {', '.join(known)}")
        flags |= known[name]
    return pointer(ctypes.c_uint32(flags))


class _Known:
    """The structs for what an administrator and an execution know, and the documents that they point into."""

    def __init__(self, config: Any, execution: Any, diag: Diag) -> None:
        self._documents = [Document(config or {}), Document(execution or {})]
        self.config, self.execution = _abi.mpijob_flyte_config(), _abi.mpijob_flyte_execution()
        check(flyte.mpijob_flyte_config_read(self._documents[0].root, byref(self.config), diag.handle), diag)
        check(flyte.mpijob_flyte_execution_read(self._documents[1].root, byref(self.execution), diag.handle), diag)


def job(task: Any, version: str = "v2beta1", *, execution: Optional[Mapping[str, Any]] = None,
        config: Optional[Mapping[str, Any]] = None, repaired: Optional[Iterable[str]] = None) -> Tuple[Document, List[Finding]]:
    """The MPIJob of a task, and what there is to say about it.

    task       a flyteidl.core.TaskTemplate as protobuf's JSON: a dict, or text
    version    "v1" as Flyte's own plugin builds it, or "v2beta1" for mpi-operator and Kueue
    execution  what one execution knows, by the names of struct mpijob_flyte_execution in camelCase
    config     section `plugins.k8s` of propeller's configuration
    repaired   names of repairs(); None: none for v1, all for v2beta1
    """
    out = c_void_p()
    with Diag() as diag:
        known = _Known(config, execution, diag)
        options = _abi.mpijob_flyte_options(config=pointer(known.config), execution=pointer(known.execution),
                                            repairs=_flags(repaired))
        with Document(task) as template:
            check(flyte.mpijob_flyte_job(template.root, encoded(version), byref(options), byref(out), diag.handle), diag)
    return Document.take(out.value or 0), diag.findings


class Link:
    """Where the log of a pod can be read: `name`, `uri`, `pod`."""

    def __init__(self, struct: Any) -> None:
        self.name = decoded(struct.name) or ""
        self.uri = decoded(struct.uri) or ""
        self.pod = decoded(struct.pod) or ""

    def __repr__(self) -> str:
        return f"<Link {self.name} {self.uri}>"


class Status:
    """What Flyte is told of a job.

    phase               "Undefined", "Queued", "Running", "Success" or "RetryableFailure"
    reason, code, message    of the phase; "" where there is none
    error               why no phase can be told; None
    timed_out           whether no operator took the job up in time
    links               of logs, the launcher's first
    """

    def __init__(self, handle: int) -> None:
        phase = flyte.mpijob_flyte_status_phase(handle).contents
        self.phase = decoded(phase.name) or ""
        self.reason = decoded(phase.reason) or ""
        self.code = decoded(phase.code) or ""
        self.message = decoded(phase.message) or ""
        self.error = decoded(phase.error)
        self.timed_out = bool(phase.timed_out)
        self.links = [Link(flyte.mpijob_flyte_status_link_at(handle, index).contents)
                      for index in range(flyte.mpijob_flyte_status_link_count(handle))]

    def __repr__(self) -> str:
        return f"<Status {self.phase} {self.reason or self.code}>".replace(" >", ">")


def status(found: Any, *, now: float = 0, timeout: Optional[int] = None, links: Any = DEFAULT_LINKS,
           launcher_pod: Optional[str] = None, execution: Optional[Mapping[str, Any]] = None,
           repaired: Optional[Iterable[str]] = None) -> Status:
    """Flyte's phase of an MPIJob, of v1 or v2beta1, with links to its logs.

    found         the job as a server gives it
    now           seconds since 1970; 0: nothing is too late
    timeout       seconds that a job may wait for an operator; None: 60
    links         pairs of a name and an address with Flyte's placeholders; as it is: Kubernetes' dashboard
    launcher_pod  its name, which in v2beta1 has a random end; None: not linked there
    execution     for placeholders, as for job()
    repaired      names of repairs(); None: all
    """
    out = c_void_p()
    with Diag() as diag, Document(found) as document:
        known = _Known(None, execution, diag)
        options = _abi.mpijob_flyte_status_options(
            now_s=int(now), launcher_pod=encoded(launcher_pod), execution=pointer(known.execution), repairs=_flags(repaired),
            timeout_s=None if timeout is None else pointer(ctypes.c_int32(timeout)))
        if links is not DEFAULT_LINKS:
            kind = _abi.mpijob_flyte_log_template
            kept = [kind(name=encoded(name), uri=encoded(uri)) for name, uri in links]
            options.templates = (ctypes.POINTER(kind) * len(kept))(*map(pointer, kept))
            options.templates_count = len(kept)
        check(flyte.mpijob_flyte_status_read(document.root, byref(options), byref(out)))
        try:
            return Status(out.value or 0)
        finally:
            flyte.mpijob_flyte_status_free(out)
