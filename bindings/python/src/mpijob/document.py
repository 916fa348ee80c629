# SPDX-License-Identifier: Apache-2.0
"""Documents: any Kubernetes object as an ordered tree that loses nothing, made from whatever Python has for one."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping
from ctypes import byref, c_int32, c_void_p

from . import _abi
from ._arguments import checked, checked_class
from ._hints import Any, Union
from ._library import core, decoded, encoded, entries, finaliser
from ._text import written
from .errors import UsageError, check, owned
from .findings import Diag

FORMATS = {"yaml": _abi.MPIJOB_FORMAT_YAML, "json": _abi.MPIJOB_FORMAT_JSON, "compact": _abi.MPIJOB_FORMAT_JSON_COMPACT}


# Text that a program made: of any size, and nobody looks for a line in it.
PROGRAM_TEXT = {"format": _abi.MPIJOB_FORMAT_JSON, "max_bytes": 1 << 30, "max_values": 1 << 31, "no_places": 1}
_program_text: Any = None


def plain(value: Any) -> Any:
    """One level of an object that is no JSON value, as one: models of the package `kubernetes` and of kubeflow's SDK,
    models of pydantic, dates, what has `to_dict()`. TypeError for anything else."""
    names = getattr(value, "attribute_map", None)
    if isinstance(names, dict):
        return {name: member for key, name in names.items() if (member := getattr(value, key)) is not None}
    for method, options in (("model_dump", {"by_alias": True, "exclude_none": True}), ("to_dict", {})):
        convert = getattr(value, method, None)
        if callable(convert):
            return convert(**options)
    if hasattr(value, "isoformat"):
        text: str = value.isoformat()
        return text[:-6] + "Z" if text.endswith("+00:00") else text
    if hasattr(value, "items"):
        return dict(value.items())
    raise TypeError(f"{type(value).__name__} is no Kubernetes object: give a dict, YAML, a path or a model")


@checked
def to_model(value: Any, kind: str) -> Any:
    """A dict, or a Document, as a model of the package `kubernetes`: to_model(template, "V1PodTemplateSpec").

    Needs that package; fields that it does not know are lost.
    """
    from kubernetes import client  # type: ignore[import-not-found,import-untyped,unused-ignore]

    family = getattr(client, kind)
    if hasattr(family, "from_dict"):  # models of pydantic
        return family.from_dict(json.loads(json_text(value)))

    class Answer:
        """What deserialize() wants of an HTTP answer."""

        data = json_text(value).decode("utf-8", "surrogateescape")

    with client.ApiClient() as api:
        return api.deserialize(Answer, kind)


def json_text(value: Any) -> bytes:
    """A dict or model as compact JSON; ValueError for numbers that JSON does not have."""
    return json.dumps(value, default=plain, ensure_ascii=False, allow_nan=False,
                      separators=(",", ":")).encode("utf-8", "surrogateescape")


def parse_options(source: str | None = None, limits: Mapping[str, int] | None = None) -> Any:
    """How to read text, for a parameter: a name for findings, and limits by their names in struct mpijob_parse_options."""
    global _program_text
    if limits is PROGRAM_TEXT and source is None:
        if _program_text is None:
            _program_text = _abi.mpijob_parse_options(**PROGRAM_TEXT)  # only read, so one is enough
        return byref(_program_text)
    return byref(_abi.mpijob_parse_options(source=encoded(source), **limits or {})) if source or limits else None


@checked_class
class Document:
    """Any Kubernetes object, with the order of its keys, unknown fields, and the line and column of each value.

    A document is used by one thread at a time; different documents by any threads.
    """

    handle: int | None = None
    _is_copy = False  # of a job: a change would be lost

    def __init__(self, value: Source = None) -> None:
        self.handle = _document(value)

    @classmethod
    def take(cls, handle: int) -> Document:
        """The owner of a mpijob_doc that the library gave away."""
        made = cls.__new__(cls)
        made.handle = handle
        return made

    @classmethod
    def loads(cls, text: str | bytes, source: str | None = None, **limits: int) -> Document:
        """Read one document from YAML or JSON text. `source` is its name in findings."""
        return cls.take(_parsed(text, source, limits))

    @classmethod
    def load(cls, path: str | os.PathLike[str], **limits: int) -> Document:
        """Read one document from a file."""
        with open(path, "rb") as file:
            return cls.loads(file.read(), os.fspath(path), **limits)

    @property
    def root(self) -> int:
        """The root as a mpijob_node, for functions of the library; borrowed from the document."""
        if self.handle is None:
            raise ValueError("the document is closed")
        return int(core.mpijob_doc_root(self.handle))

    def to_dict(self) -> dict[str, Any]:
        """The document as a dict (a list or another value when it is no object)."""
        return node_value(self.root)  # type: ignore[no-any-return]

    def to_json(self, indent: bool = True) -> str:
        """The document as JSON text."""
        return node_text(self.root, "json" if indent else "compact")

    def to_yaml(self) -> str:
        """The document as YAML text."""
        return node_text(self.root, "yaml")

    def merge(self, patch: Source) -> None:
        """Apply a JSON merge patch (RFC 7396): None removes, dicts merge, all else replaces.

        UsageError for `job.document`, which is a copy: use `job.merge()`, or `copy.copy()` for a document of your own.
        """
        if self._is_copy:
            raise UsageError("job.document is a copy: use job.merge() to change the job, or copy.copy(job.document)")
        root, other = self.root, Document(patch)
        del root
        check(core.mpijob_doc_merge(self.handle, other.root))

    def find(self, path: str) -> Any:
        """The value at a path ("spec.template.spec.containers[0].name"), None when it is absent or null."""
        node = core.mpijob_node_find(self.root, encoded(path))
        return None if node is None else node_value(node)

    def place(self, path: str) -> tuple[int, int]:
        """Line and column of the value at a path; (0, 0) when there is none or it was not read from text."""
        node = core.mpijob_node_find(self.root, encoded(path))
        line, column = c_int32(), c_int32()
        core.mpijob_node_place(node, byref(line), byref(column))
        return line.value, column.value

    @property
    def source(self) -> str | None:
        """The name that was given to the source."""
        return decoded(core.mpijob_doc_source(self.handle)) if self.root else None

    def close(self) -> None:
        """Free the document."""
        if self.handle is not None:
            core.mpijob_doc_free(self.handle)
            self.handle = None

    def __enter__(self) -> Document:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    __del__ = finaliser(close)

    def __copy__(self) -> Document:
        if self.handle is None:
            raise ValueError("the document is closed")
        return Document.take(_copied(self.handle))

    def __deepcopy__(self, memo: object) -> Document:
        return self.__copy__()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and bool(core.mpijob_node_equal(self.root, other.root))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return _restored, (self.to_json(indent=False),)

    def __repr__(self) -> str:
        if self.handle is None:
            return "<Document closed>"
        kind, name = self.find("kind"), self.find("metadata.name")
        return f"<Document {kind or ''} {name or ''}>".replace("  ", " ").replace(" >", ">")


# A Kubernetes object: YAML or JSON text, a dict, a Document, the path of a file, or a model of the package kubernetes.
Source = Union[str, bytes, os.PathLike[str], Mapping[str, Any], Document, Any]


def _copied(doc: int) -> int:
    """A copy of a mpijob_doc, with the name of its source."""
    return owned(core.mpijob_doc_from_node(core.mpijob_doc_root(doc), core.mpijob_doc_source(doc)))


def _restored(text: str) -> Document:
    """A document that was pickled; its places in a file are gone."""
    return Document.take(_parsed(text, None, PROGRAM_TEXT))


@checked
def loads_all(text: str | bytes, source: str | None = None, **limits: int) -> list[Document]:
    """Read all documents of a YAML or JSON text, empty ones left out."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
    out = c_void_p()
    with Diag() as diag:
        check(core.mpijob_docs_parse(data, len(data), parse_options(source, limits), byref(out), diag.handle), diag)
    try:
        return [Document.take(_copied(doc)) for doc in entries(core.mpijob_docs_at, out)]
    finally:
        core.mpijob_docs_free(out)


def node_text(node: int, form: str) -> str:
    """A mpijob_node as text: 'yaml', 'json' or 'compact'."""
    number = FORMATS[form]
    return written(lambda sink, user: core.mpijob_node_write(node, number, sink, user)).decode("utf-8", "surrogateescape")


def node_value(node: int) -> Any:
    """A mpijob_node as Python's values."""
    return json.loads(written(lambda sink, user: core.mpijob_node_write(node, _abi.MPIJOB_FORMAT_JSON_COMPACT, sink, user)))


def _parsed(text: str | bytes, source: str | None, limits: Mapping[str, int]) -> int:
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
    out = c_void_p()
    with Diag() as diag:
        check(core.mpijob_doc_parse(data, len(data), parse_options(source, limits), byref(out), diag.handle), diag)
    return owned(out.value)


def _document(value: Any) -> int:
    """A new mpijob_doc of anything that is a Kubernetes object."""
    if value is None:
        return owned(core.mpijob_doc_new())
    if isinstance(value, (str, bytes)):
        return _parsed(value, None, {})
    if isinstance(value, os.PathLike):
        with open(value, "rb") as file:
            return _parsed(file.read(), os.fspath(value), {})
    document = getattr(value, "document", value)  # of an MPIJob
    if isinstance(document, Document):
        return owned(core.mpijob_doc_from_node(document.root, None))
    return _parsed(json_text(value), None, PROGRAM_TEXT)
