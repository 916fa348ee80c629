# SPDX-License-Identifier: Apache-2.0
"""Findings: everything that the library has to say about an input, as objects."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from ctypes import byref

from . import _abi
from ._arguments import checked
from ._hints import Any
from ._library import core, decoded, encoded, entries, finaliser
from ._text import written
from .errors import check, owned

SEVERITIES = {_abi.MPIJOB_SEVERITY_ERROR: "error", _abi.MPIJOB_SEVERITY_WARNING: "warning", _abi.MPIJOB_SEVERITY_INFO: "info"}
_NUMBERS = {word: number for number, word in SEVERITIES.items()}


def severity_number(word: str) -> int:
    """The constant for 'error', 'warning' or 'info'; 0 for 'silent'."""
    if word == "silent":
        return 0
    if word not in _NUMBERS:
        raise ValueError(f"no severity {word!r}; there are error, warning, info and silent")
    return _NUMBERS[word]


class Finding:
    """One finding. Printed, it is one line that says what would be accepted.

    severity  'error' (the input is refused), 'warning' (probably not what you mean) or 'info'
    id        stable identifier, "unsupported-value"; `mpijob.finding_kinds()` explains it
    reason    Kubernetes' own word ("NotSupported"), or None
    field     path as Kubernetes prints it ("spec.runPolicy.cleanPodPolicy"), or None
    message   one line
    source    name of the file or other source, or None
    line      from 1; 0 when there is no place
    column    in bytes, from 1; 0 when there is no place
    """

    __slots__ = ("severity", "id", "reason", "field", "message", "source", "line", "column")

    def __init__(self, severity: str, id: str, reason: str | None, field: str | None, message: str,  # noqa: A002
                 source: str | None = None, line: int = 0, column: int = 0) -> None:
        self.severity = severity
        self.id = id
        self.reason = reason
        self.field = field
        self.message = message
        self.source = source
        self.line = line
        self.column = column

    @classmethod
    def of(cls, struct: Any) -> Finding:
        """A copy of a struct mpijob_finding."""
        return cls(SEVERITIES.get(struct.severity, str(struct.severity)), decoded(struct.id) or "", decoded(struct.reason),
                   decoded(struct.field), decoded(struct.message) or "", decoded(struct.source), struct.line, struct.column)

    def struct(self) -> _abi.mpijob_finding:
        """This finding as a struct of the library."""
        return _abi.mpijob_finding(severity=_NUMBERS.get(self.severity, 0), line=self.line, column=self.column,
                                   id=encoded(self.id), reason=encoded(self.reason), field=encoded(self.field),
                                   message=encoded(self.message), source=encoded(self.source))

    def to_dict(self) -> dict[str, Any]:
        """The finding as a dict, for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        struct = self.struct()
        return written(lambda sink, user: core.mpijob_finding_write(byref(struct), sink, user)).decode("utf-8", "replace")

    def __repr__(self) -> str:
        return f"<Finding {self.severity} {self.id}: {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finding) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(tuple(self.to_dict().values()))

    def __getstate__(self) -> dict[str, Any]:
        return self.to_dict()

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)


class Diag:
    """A list of findings of the library, for the last parameter of its functions.

        with Diag() as diag:
            check(core.mpijob_validate(job, None, diag.handle), diag)

    `severities` maps identifiers of findings to 'error', 'warning', 'info' or 'silent'.
    `findings` holds, also after the end, what was found.
    """

    handle: int | None = None

    def __init__(self, severities: Mapping[str, str] | None = None) -> None:
        self.handle = owned(core.mpijob_diag_new())
        self._kept: list[Finding] | None = None
        try:
            for name, severity in (severities or {}).items():
                check(core.mpijob_diag_set_severity(self.handle, encoded(name), severity_number(severity)))
        except BaseException:
            self.close()
            raise

    @property
    def findings(self) -> list[Finding]:
        """All findings up to now, in the order in which they were found."""
        if self._kept is not None:
            return self._kept
        return [Finding.of(finding.contents) for finding in entries(core.mpijob_diag_at, self.handle)]

    @property
    def dropped(self) -> int:
        """How many findings were not kept, because there were too many."""
        return int(core.mpijob_diag_dropped(self.handle))

    def add(self, finding: Finding) -> None:
        """Append a finding of your own."""
        struct = finding.struct()
        check(core.mpijob_diag_add(self.handle, byref(struct)))

    def close(self) -> None:
        """Free the list; `findings` stays."""
        if self.handle is not None:
            self._kept = self.findings
            self._drop()

    def __enter__(self) -> Diag:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def _drop(self) -> None:
        core.mpijob_diag_free(self.handle)
        self.handle = None

    __del__ = finaliser(_drop)


class FindingKind:
    """What all findings with one identifier have in common: `id`, `severity` as a rule, and `advice`.

    docs/findings.md and `mpijob explain ID` explain each kind.
    """

    __slots__ = ("id", "severity", "advice")

    def __init__(self, struct: Any) -> None:
        self.id = decoded(struct.id) or ""
        self.severity = SEVERITIES.get(struct.severity, "")
        self.advice = decoded(struct.advice) or ""

    def __repr__(self) -> str:
        return f"<FindingKind {self.id}: {self.advice}>"


def finding_kinds() -> list[FindingKind]:
    """All kinds of findings of libmpijob, in the order of their identifiers."""
    kinds = (FindingKind(kind.contents) for kind in entries(core.mpijob_finding_kind_at))
    return sorted(kinds, key=lambda kind: kind.id)


@checked
def finding_kind(identifier: str) -> FindingKind | None:
    """The kind with this identifier; None when there is none."""
    found = core.mpijob_finding_kind_find(encoded(identifier))
    return FindingKind(found.contents) if found else None
