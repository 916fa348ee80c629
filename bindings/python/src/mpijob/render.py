# SPDX-License-Identifier: Apache-2.0
"""What the children of a job depend on besides the job, as keyword arguments; the children and the hostfile as lists."""
from __future__ import annotations

import ctypes
import datetime
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from ctypes import byref, c_void_p

from . import _abi
from ._arguments import checked_class
from ._hints import Any, Union
from ._library import core, decoded, encoded, entries
from ._text import written
from .document import FORMATS
from .errors import check
from .fields import nearest
from .findings import Diag, Finding

FeatureValue = Union[bool, int, str, datetime.timedelta]


class Feature:
    """One thing that is done only when it is asked for: `name` and `summary`; docs/options.md has details."""

    __slots__ = ("name", "summary", "minimum", "maximum")

    def __init__(self, struct: Any) -> None:
        self.name = (decoded(struct.name) or "").replace("-", "_")
        self.summary = decoded(struct.summary) or ""
        self.minimum: int = struct.minimum
        self.maximum: int = struct.maximum

    def __repr__(self) -> str:
        return f"<Feature {self.name}: {self.summary}>"


def features() -> list[Feature]:
    """All features; each is a keyword argument of render(), hostfile() and plan()."""
    return [Feature(row.contents) for row in entries(core.mpijob_feature_at)]


def _feature_text(value: FeatureValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value / datetime.timedelta(milliseconds=1):.0f}ms" if isinstance(value, datetime.timedelta) else str(value)


class Options:
    """A struct mpijob_render_options, and all that it points to."""

    def __init__(self, reference: bool = False, cluster_domain: str | None = None, gang_scheduler: str | None = None,
                 priority_classes: Mapping[str, int] | None = None, running: Iterable[object] | None = None,
                 entropy: bytes | None = None, features: Mapping[str, FeatureValue] | None = None) -> None:
        self._entropy = self._running = None
        self.struct = _abi.mpijob_render_options(reference=int(reference), cluster_domain=encoded(cluster_domain),
                                                 gang_scheduler=encoded(gang_scheduler))
        if features:
            self._features = _abi.mpijob_features()
            self._set_features(features)
            self.struct.features = ctypes.pointer(self._features)
        if priority_classes:
            self._classes = [_abi.mpijob_priority_class(name=encoded(name), value=value)
                             for name, value in priority_classes.items()]
            pointers = (ctypes.POINTER(_abi.mpijob_priority_class) * len(self._classes))(*map(ctypes.pointer, self._classes))
            self.struct.priority_classes, self.struct.priority_classes_count = pointers, len(self._classes)
        if running is not None:
            bits = bytes(1 if runs else 0 for runs in running)
            self._running = ctypes.create_string_buffer(bits, len(bits) or 1)
            self.struct.running, self.struct.running_count = ctypes.addressof(self._running), len(bits)
        if entropy is not None:
            self._entropy = ctypes.create_string_buffer(entropy, len(entropy) or 1)
            self.struct.entropy, self.struct.entropy_len = ctypes.addressof(self._entropy), len(entropy)

    def _set_features(self, given: Mapping[str, FeatureValue]) -> None:
        for name, value in given.items():
            option = name.replace("_", "-")
            if not core.mpijob_feature_find(encoded(option)):
                near = nearest(name, [feature.name for feature in features()])
                raise TypeError(f"no option {name}" + (f"; did you mean {near}?" if near else ""))
            with Diag() as diag:
                check(core.mpijob_features_set(byref(self._features), encoded(option), encoded(_feature_text(value)),
                                               diag.handle), diag)

    def wipe(self) -> None:
        """Overwrite the entropy."""
        if self._entropy is not None:
            ctypes.memset(self._entropy, 0, len(self._entropy))


@checked_class
class Objects(list):  # type: ignore[type-arg]
    """The children of a job as dicts, in their order; `findings` holds what there is to say about them."""

    findings: list[Finding] = []

    def find(self, kind: str, name: str | None = None) -> dict[str, Any]:
        """The first child of a kind, and with a name when one is given; KeyError when there is none."""
        for thing in self:
            if thing["kind"] == kind and name in (None, thing["metadata"]["name"]):
                return thing  # type: ignore[no-any-return]
        raise KeyError(kind if name is None else f"{kind} {name}")


def rendered(job: int, options: Options, with_key: bool, form: str, diag: Diag) -> bytes:
    """All children of a job as text, for the functions of MPIJob."""
    out, number = c_void_p(), FORMATS[form]
    check(core.mpijob_render(job, byref(options.struct), byref(out), diag.handle), diag)
    options.wipe()
    try:
        return written(lambda sink, user: core.mpijob_objects_write(out, _abi.MPIJOB_OBJECTS_ALL, number, int(with_key), sink, user), diag)
    finally:
        core.mpijob_objects_free(out)


def objects(text: bytes, findings: list[Finding]) -> Objects:
    """The items of a List."""
    made = Objects(json.loads(text)["items"])
    made.findings = findings
    return made


def entropy() -> bytes:
    """Random bytes for one key pair. The library wipes its own copies; what Python has held it cannot wipe."""
    return os.urandom(_abi.MPIJOB_SSH_ENTROPY)


class Host:
    """One line of a hostfile: `name`, `slots`, and `worker`, its index, or None for the launcher."""

    __slots__ = ("name", "slots", "worker")

    def __init__(self, name: str, slots: int, worker: int | None) -> None:
        self.name, self.slots, self.worker = name, slots, worker

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Host) and (self.name, self.slots, self.worker) == (other.name, other.slots, other.worker)

    def __hash__(self) -> int:
        return hash((self.name, self.slots, self.worker))

    def __repr__(self) -> str:
        return f"Host({self.name!r}, {self.slots}, {self.worker})"


class Hostfile:
    """The hosts of a job, in order; str() is the text as the job's MPI reads it."""

    def __init__(self, job: int, options: Options) -> None:
        out = c_void_p()
        with Diag() as diag:
            check(core.mpijob_hostfile_new(job, byref(options.struct), byref(out), diag.handle), diag)
        self.findings = diag.findings
        try:
            self._hosts: list[Host] = []
            while row := core.mpijob_hostfile_at(out, len(self._hosts)):
                host = row.contents
                self._hosts.append(Host(decoded(host.name) or "", host.slots, host.worker if host.worker >= 0 else None))
            self._text = written(lambda sink, user: core.mpijob_hostfile_write(out, sink, user)).decode()
        finally:
            core.mpijob_hostfile_free(out)

    @property
    def slots(self) -> int:
        """How many ranks all hosts together offer."""
        return sum(host.slots for host in self._hosts)

    def __len__(self) -> int:
        return len(self._hosts)

    def __getitem__(self, index: int) -> Host:
        return self._hosts[index]

    def __iter__(self) -> Iterator[Host]:
        return iter(self._hosts)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Hostfile {len(self)} hosts, {self.slots} slots>"
