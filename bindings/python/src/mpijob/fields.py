# SPDX-License-Identifier: Apache-2.0
"""The table of all fields of an MPIJob, as objects; no field is known here by its name."""
from __future__ import annotations

import re

from . import _abi
from ._arguments import checked
from ._hints import Any
from ._library import core, decoded, encoded, entries

KINDS = {_abi.MPIJOB_KIND_STRING: "string", _abi.MPIJOB_KIND_INT32: "int32", _abi.MPIJOB_KIND_INT64: "int64",
         _abi.MPIJOB_KIND_BOOL: "boolean", _abi.MPIJOB_KIND_CHOICE: "choice", _abi.MPIJOB_KIND_TIME: "time",
         _abi.MPIJOB_KIND_OBJECT: "object", _abi.MPIJOB_KIND_LIST: "list", _abi.MPIJOB_KIND_DOCUMENT: "document"}
_SHAPES = {_abi.MPIJOB_SHAPE_LIST: "list of {}", _abi.MPIJOB_SHAPE_MAP: "map from string to {}"}


def snake(name: str) -> str:
    """The name of a field as Python spells it: runPolicy becomes run_policy."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


class Field:
    """One field of an MPIJob, or of a pod template below one.

    path      "spec.runPolicy.suspend"
    name      its last part, as Python spells it: "suspend"
    kind      'string', 'int32', 'int64', 'boolean', 'choice', 'time', 'object', 'list', 'document'; of a template's field
              the name of its type in Kubernetes
    default   what it is when absent, as text; None when there is no such value
    choices   the accepted words; empty: any
    minimum   the least accepted number, or None
    since     the first release of mpi-operator that knows it; None for a template's field
    summary   one sentence; "" for a template's field
    """

    __slots__ = ("path", "name", "kind", "default", "choices", "minimum", "since", "summary")

    def __init__(self, path: str, kind: str, default: str | None = None, choices: tuple[str, ...] = (),
                 minimum: int | None = None, since: str | None = None, summary: str = "") -> None:
        self.path = path
        self.name = snake(re.split(r"[.\[]", path.replace("[]", "").rstrip("]"))[-1])
        self.kind = kind
        self.default = default
        self.choices = choices
        self.minimum = minimum
        self.since = since
        self.summary = summary

    def describe(self) -> str:
        """All that is known of the field, in a few lines."""
        lines = [self.summary] if self.summary else []
        if self.choices:
            lines.append("One of " + ", ".join(self.choices) + ".")
        if self.default is not None:
            lines.append(f"Default: {self.default}.")
        if self.minimum is not None:
            lines.append(f"At least {self.minimum}.")
        lines.append(f"{self.path} ({self.kind}" + (f", since {self.since})" if self.since else ")"))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Field {self.path}: {self.kind}>"

    def __str__(self) -> str:
        return self.describe()


def _row(struct: Any) -> Field:
    choices: list[str] = []
    while struct.choices and struct.choices[len(choices)] is not None:
        choices.append(struct.choices[len(choices)].decode())
    return Field(struct.path.decode(), KINDS.get(struct.kind, str(struct.kind)), decoded(struct.default_text), tuple(choices),
                 struct.minimum[0] if struct.minimum else None, decoded(struct.since), decoded(struct.summary) or "")


def fields() -> list[Field]:
    """All fields of an MPIJob, parents before their children."""
    return [_row(row.contents) for row in entries(core.mpijob_field_at)]


def _steps(path: str) -> list[str]:
    """The parts of a path however it is written: with dots or brackets, as in Kubernetes or in Python, indices left out."""
    return [step for step in re.split(r"[.\[\]]+", path) if step and not step.isdigit()]


@checked
def explain(path: str) -> Field:
    """Tell what is known of a field: explain("spec.runPolicy"), explain("spec.run_policy.suspend"),
    explain("spec.mpiReplicaSpecs[Worker].template.spec.containers"). KeyError when there is no such field."""
    wanted = _steps(path)
    best: tuple[Field, list[str]] | None = None
    rows = fields()
    for row in rows:
        steps = _steps(row.path)
        head = wanted[:len(steps)]
        fits = len(head) == len(steps) and all(w in (s, snake(s), s.lower()) for w, s in zip(head, steps))
        if fits and (best is None or len(steps) > len(_steps(best[0].path))):
            best = row, wanted[len(steps):]
    if best is not None and not best[1]:
        return best[0]
    found = _template_field(best[0], best[1]) if best is not None and best[0].kind == "document" else None
    if found is None:
        near = nearest(path, [row.path for row in rows])
        raise KeyError(f"no field {path}" + (f"; did you mean {near}?" if near else ""))
    return found


def _template_field(row: Field, steps: list[str]) -> Field | None:
    """A field below a pod template, its steps as Kubernetes or as Python spells them."""
    if row.name != "template":
        return None
    at = ""
    for step in steps:
        name = next((n for n in _template_names(at) if step in (n, snake(n))), step)
        at = f"{at}.{name}" if at else name
    out = _abi.mpijob_template_field()
    if core.mpijob_template_field_find(encoded(at), out) != 1:
        return None
    kind = _SHAPES.get(out.shape, "{}").format(decoded(out.type))
    return Field(f"{row.path}.{at}", kind, decoded(out.default_text))


def _template_names(path: str) -> list[str]:
    names: list[str] = []
    out = _abi.mpijob_template_field()
    while core.mpijob_template_field_at(encoded(path), len(names), out) == 1:
        names.append(decoded(out.name) or "")
    return names


def _edits(a: bytes, b: bytes) -> int:
    """How many letters are added, removed, replaced or swapped with their neighbour; case is ignored."""
    a, b = a.lower(), b.lower()
    before, last = [0], list(range(len(b) + 1))
    for i, letter in enumerate(a):
        now = [i + 1]
        for j, other in enumerate(b):
            now.append(min(last[j] + (letter != other), last[j + 1] + 1, now[j] + 1))
            if i and j and letter == b[j - 1] and a[i - 1] == other:
                now[-1] = min(now[-1], before[j - 1] + 1)
        before, last = last, now
    return last[-1]


def nearest(word: str, words: list[str]) -> str | None:
    """The word that was probably meant: at most one edit for every three letters, and nearer than all others."""
    data = word.encode("utf-8", "surrogateescape")
    found: dict[int, list[str]] = {}
    for other in {*words} - {word} if len(data) <= 64 else ():
        found.setdefault(_edits(data, other.encode()), []).append(other)
    best = min(found, default=len(data) + 1)
    return found[best][0] if best <= len(data) // 3 and len(found[best]) == 1 else None
