# SPDX-License-Identifier: Apache-2.0
"""The job: an MPIJob of kubeflow.org/v2beta1, read from a file or made from nothing."""
from __future__ import annotations

import datetime
import os
import time
from collections.abc import Iterable, Mapping
from ctypes import byref, c_void_p

from . import _abi, _edit
from ._arguments import checked, checked_class
from ._hints import Any, Literal, Union
from ._library import core, decoded, encoded, entries, finaliser
from .document import PROGRAM_TEXT, Document, Source, json_text, node_text, node_value, parse_options
from .errors import SpecError, UsageError, check, failure, owned
from .fields import explain, nearest, snake
from .findings import Diag, Finding
from .model import ROWS, JobFields
from .plan import Facts, Plan
from .render import FeatureValue, Hostfile, Objects, Options, entropy, objects, rendered
from .views import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .views import Steps

Observed = Union[Facts, Iterable[Source]]

_MANY_EDITS = 1024  # a document keeps what was replaced until it is copied


@checked_class
class MPIJob(JobFields):
    """An MPIJob. Its fields are properties: job.spec.run_policy.clean_pod_policy, job.spec.mpi_replica_specs["Worker"].replicas.

        MPIJob("pi", slots_per_worker=2, launcher={"template": ...}, worker={"replicas": 4, "template": ...})

    makes one from nothing: each further argument is a field by its own name, where only one field of the spec has that name.
    MPIJob(document) copies a dict, a Document, a model, or YAML or JSON text: a str that can be no name.

    A job is used by one thread at a time; different jobs by any threads. It frees itself.
    """

    _handle: int | None = None    # of the two one is current: the library's job,
    _doc: int | None = None       # or a document that was changed since
    _source: str | None = None
    _edits = 0

    if not TYPE_CHECKING:  # a type checker knows the arguments from model.pyi
        def __init__(self, name: str | Source | None = None, namespace: str | None = None, **fields: Any) -> None:
            if name is not None and not (isinstance(name, str) and not set(name) & set(":{\n")):
                self._handle = _parse(name, None)
                self._source = _source_of(self._handle)
                if namespace is not None:
                    self._identify(namespace=namespace)
            else:
                if isinstance(name, str) and ("/" in name or name.endswith((".yaml", ".yml", ".json"))):
                    raise UsageError(f"{name!r} is the path of a file and no name: use mpijob.load({name!r})")
                out = c_void_p()
                check(core.mpijob_new(encoded(name) if isinstance(name, str) else b"", encoded(namespace), None, byref(out), None))
                self._handle = owned(out.value)
                if not name:
                    self._write(("metadata", "name"), None)
            for key, value in fields.items():
                self._write(_unique(key), value)

    @classmethod
    def take(cls, handle: int, source: str | None = None) -> MPIJob:
        """The owner of a job that the library gave away."""
        made = cls.__new__(cls)
        made._handle, made._source = handle, source
        return made

    @classmethod
    def loads(cls, text: str | bytes, source: str | None = None, **limits: int) -> MPIJob:
        """Read a job from YAML or JSON text: the only one of several documents, whatever the others are. `source` is its name
        in findings; `limits` are those of struct mpijob_parse_options."""
        return cls.take(_parse(text, source, limits), source)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **limits: int) -> MPIJob:
        """Read a job from a file."""
        with open(path, "rb") as file:
            return cls.loads(file.read(), os.fspath(path), **limits)

    @classmethod
    def from_dict(cls, value: Source) -> MPIJob:
        """A job from a dict, a Document, or a model."""
        handle = _parse(value, None)
        return cls.take(handle, _source_of(handle))

    # The document

    @property
    def handle(self) -> int:
        """The library's job, for calls of its functions; good until the job changes."""
        if self._handle is None:
            out = c_void_p()
            with Diag() as diag:
                check(core.mpijob_from_node(self._root, encoded(self._source), byref(out), diag.handle), diag)
            self._handle = owned(out.value)
            core.mpijob_doc_free(self._doc)
            self._doc = None
        return self._handle

    @property
    def _root(self) -> int:
        doc = self._doc if self._doc is not None else core.mpijob_document(self._handle) if self._handle is not None else None
        if doc is None:
            raise ValueError("the job is closed")
        return int(core.mpijob_doc_root(doc))

    def _editable(self) -> int:
        """The document, for changing it."""
        self._edits += 1
        if self._doc is None or self._edits % _MANY_EDITS == 0:
            copy = owned(core.mpijob_doc_from_node(self._root, None))
            self.close()
            self._doc = copy
        return self._doc

    def _read(self, steps: Steps) -> Any:
        node = _edit.find(self._root, steps)
        return None if node is None else node_value(node)

    def _entries(self, steps: Steps) -> list[str] | int | None:
        node = _edit.find(self._root, steps)
        kind, count = core.mpijob_node_kind(node), core.mpijob_node_count(node)
        if kind == _abi.MPIJOB_NODE_LIST:
            return int(count)
        return [core.mpijob_node_key(node, i).decode() for i in range(count)] if kind == _abi.MPIJOB_NODE_MAP else None

    def _write(self, steps: Steps, value: Any) -> None:
        doc = self._editable()
        try:
            _edit.write(doc, steps, value)
        except BaseException:
            self._doc = owned(core.mpijob_doc_from_node(core.mpijob_doc_root(doc), core.mpijob_doc_source(doc)))  # without the memory of the failure
            core.mpijob_doc_free(doc)
            raise

    def _identify(self, name: str | None = None, namespace: str | None = None) -> None:
        check(core.mpijob_identify(self.handle, encoded(name), encoded(namespace), None))

    @property
    def document(self) -> Document:
        """A copy of the job's document, for reading; `merge()` changes the job."""
        made = Document.take(owned(core.mpijob_doc_from_node(self._root, None)))
        made._is_copy = True
        return made

    def merge(self, patch: Source) -> None:
        """Apply a JSON merge patch (RFC 7396) to the job: None removes, dicts merge, all else replaces."""
        with Document(patch) as other:
            check(core.mpijob_doc_merge(self._editable(), other.root))

    @property
    def name(self) -> str | None:
        """The job's name."""
        return decoded(core.mpijob_name(self.handle))

    @name.setter
    def name(self, name: str | None) -> None:
        if name is None:
            self._write(("metadata", "name"), None)
        else:
            self._identify(name=name)

    @property
    def namespace(self) -> str | None:
        """The job's namespace."""
        return decoded(core.mpijob_namespace(self.handle))

    @namespace.setter
    def namespace(self, namespace: str | None) -> None:
        if namespace is None:
            self._write(("metadata", "namespace"), None)
        else:
            self._identify(namespace=namespace)

    @property
    def uid(self) -> str | None:
        """What the API server called it."""
        return decoded(core.mpijob_uid(self.handle))

    def to_dict(self) -> dict[str, Any]:
        """The job as a dict; all that it was read with is in it."""
        return node_value(self._root)  # type: ignore[no-any-return]

    def to_yaml(self) -> str:
        """The job as YAML."""
        return node_text(self._root, "yaml")

    def to_json(self, indent: bool = True) -> str:
        """The job as JSON."""
        return node_text(self._root, "json" if indent else "compact")

    def copy(self) -> MPIJob:
        """A copy, places in the source included."""
        return MPIJob.take(owned(core.mpijob_clone(self.handle)), self._source)

    # What can be done with it

    def default(self, reference: bool = False, severities: Mapping[str, str] | None = None) -> MPIJob:
        """Fill in what is absent and has a default; gives the job back.

        `reference`: exactly as mpi-operator v0.8.2. SpecError where something on the way to a field is no object.
        """
        options = byref(_abi.mpijob_default_options(reference=1)) if reference else None
        with Diag(severities) as diag:
            check(core.mpijob_default(self.handle, options, diag.handle), diag)
        return self

    def validate(self, strict: bool = False, reference: bool = False,
                 severities: Mapping[str, str] | None = None) -> list[Finding]:
        """Check the job; all findings at once, none when there is nothing to say. Call default() first.

        strict      what nobody knows, and the server drops in silence, is an error and not a warning
        reference   only what mpi-operator v0.8.2 refuses, in its words
        severities  maps identifiers of findings to 'error', 'warning', 'info' or 'silent'
        """
        return self._validated(strict, reference, severities)[0]

    def _validated(self, strict: bool, reference: bool, severities: Mapping[str, str] | None) -> tuple[list[Finding], int]:
        options = None
        if reference or strict:
            options = byref(_abi.mpijob_validate_options(reference=int(reference), strict=int(strict)))
        with Diag(severities) as diag:
            code = core.mpijob_validate(self.handle, options, diag.handle)
            if code not in (0, _abi.MPIJOB_ERR_SPEC):
                raise failure(code, diag)
        return diag.findings, code

    def check(self, strict: bool = False, reference: bool = False, severities: Mapping[str, str] | None = None) -> list[Finding]:
        """As validate(), but errors are raised: a SpecError, with all findings. Gives the others."""
        findings, code = self._validated(strict, reference, severities)
        if code:
            raise SpecError("\n".join(str(f) for f in findings if f.severity == "error"), code, findings)
        return findings

    def render(self, *, reference: bool = False, cluster_domain: str | None = None, gang_scheduler: str | None = None,
               priority_classes: Mapping[str, int] | None = None, running: Iterable[object] | None = None,
               with_key: bool = False, entropy: bytes | None = None, severities: Mapping[str, str] | None = None,
               **features: FeatureValue) -> Objects:
        """The Kubernetes objects of the job, as dicts. The job must be defaulted and valid, else SpecError.

        reference         exactly what mpi-operator v0.8.2 creates
        cluster_domain    DNS domain of the cluster ("cluster.local"); None: host names end in ".svc"
        gang_scheduler    "volcano", or the scheduler name of scheduler-plugins
        priority_classes  values of the cluster's PriorityClasses by their names
        running           for each worker whether it runs: the hosts that discover_hosts.sh prints; None: all
        with_key          the Secret has a private key, new from os.urandom unless `entropy` is given; else a placeholder
        features          see mpijob.features(): wait_for_hosts="60s", compact_hosts=True
        """
        options = Options(reference, cluster_domain, gang_scheduler, priority_classes, running,
                          _drawn(with_key, entropy), features)
        with Diag(severities) as diag:
            text = rendered(self.handle, options, with_key, "compact", diag)
        return objects(text, diag.findings)

    def manifests(self, form: Literal["yaml", "json", "compact"] = "yaml", *, reference: bool = False, cluster_domain: str | None = None,
                  gang_scheduler: str | None = None, priority_classes: Mapping[str, int] | None = None,
                  running: Iterable[object] | None = None, with_key: bool = False, entropy: bytes | None = None,
                  severities: Mapping[str, str] | None = None, **features: FeatureValue) -> str:
        """The same objects as text: 'yaml' (one document each), 'json' or 'compact' (a List)."""
        options = Options(reference, cluster_domain, gang_scheduler, priority_classes, running,
                          _drawn(with_key, entropy), features)
        with Diag(severities) as diag:
            return rendered(self.handle, options, with_key, form, diag).decode("utf-8", "surrogateescape")

    def hostfile(self, *, reference: bool = False, cluster_domain: str | None = None, **features: FeatureValue) -> Hostfile:
        """The hosts of the job; the job must be defaulted and valid."""
        return Hostfile(self.handle, Options(reference, cluster_domain, features=features))

    def convert(self, version: str, *, annotation: bool = True, runtime: str | None = None) -> Converted:
        """The job in another version; see mpijob.convert()."""
        return convert(self, version, annotation=annotation, runtime=runtime)

    def plan(self, observed: Observed = (), now: datetime.datetime | float | None = None, *, reference: bool = False,
             cluster_domain: str | None = None, gang_scheduler: str | None = None,
             priority_classes: Mapping[str, int] | None = None, max_workers: int = 0, **features: FeatureValue) -> Plan:
        """What to do next about the job, as it is stored in a cluster (with uid and namespace).

        observed     the job's children as they are now: dicts, models, JSON text; or Facts
        now          a datetime, or seconds since 1970; None: this machine's clock
        max_workers  a job that wants more is refused; 0: no limit
        """
        facts = observed if isinstance(observed, Facts) else Facts(observed)
        options = Options(reference, cluster_domain, gang_scheduler, priority_classes, features=features)
        return Plan(self.handle, facts, time.time() if now is None else now, options, max_workers)

    # Python's own

    def close(self) -> None:
        """Free the job now."""
        if self._handle is not None:
            core.mpijob_free(self._handle)
        if self._doc is not None:
            core.mpijob_doc_free(self._doc)
        self._handle = self._doc = None

    def __enter__(self) -> MPIJob:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    __del__ = finaliser(close)

    if not TYPE_CHECKING:  # a type checker knows the fields from model.pyi
        def __setattr__(self, name: str, value: Any) -> None:
            if not name.startswith("_") and not hasattr(type(self), name):
                known = [attribute for attribute in dir(type(self)) if not attribute.startswith("_")]
                near = nearest(name, known)
                raise AttributeError(f"a job has no field {name}" + (f"; did you mean {near}?" if near else ""))
            object.__setattr__(self, name, value)

    def __copy__(self) -> MPIJob:
        return self.copy()

    def __deepcopy__(self, memo: object) -> MPIJob:
        return self.copy()

    def __reduce__(self) -> Any:
        return _restored, (self.to_json(indent=False), self._source)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MPIJob) and bool(core.mpijob_node_equal(self._root, other._root))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self._handle is None and self._doc is None:
            return "<MPIJob closed>"
        return f"<MPIJob {'/'.join(part for part in (self.namespace, self.name) if part)}>"


class Converted(Document):
    """A converted job; `findings` tells what the target does not hold, or does otherwise."""

    findings: list[Finding] = []


@checked
def convert(job: Source, version: str, *, annotation: bool = True, runtime: str | None = None) -> Converted:
    """Convert an MPIJob of any version to "kubeflow.org/v1", "kubeflow.org/v2beta1" or "TrainJob"; a short "v1" will do.

    annotation   keep in an annotation what the target cannot hold, so that the way back gives the original
    runtime      to TrainJob: the name of the ClusterTrainingRuntime
    """
    given = job.document if isinstance(job, MPIJob) else job if isinstance(job, Document) else Document(job)
    source = job._source if isinstance(job, MPIJob) else given.source
    options = _abi.mpijob_convert_options(no_annotation=int(not annotation), runtime=encoded(runtime))
    out = c_void_p()
    with Diag() as diag:
        check(core.mpijob_convert(given.root, encoded(source), encoded(version), byref(options), byref(out), diag.handle),
              diag)
    made = Converted.__new__(Converted)
    made.handle, made.findings = owned(out.value), diag.findings
    return made


load = MPIJob.load
loads = MPIJob.loads


def _drawn(with_key: bool, given: bytes | None) -> bytes | None:
    return entropy() if with_key and given is None else given


def _parse(value: Any, source: str | None, limits: Mapping[str, int] | None = None) -> int:
    """A new mpijob of anything that is one."""
    if isinstance(value, os.PathLike):
        source = os.fspath(value)
        with open(value, "rb") as file:
            value = file.read()
    document = getattr(value, "document", value) if isinstance(value, Tree) else value
    out = c_void_p()
    with Diag() as diag:
        if isinstance(document, Document):
            check(core.mpijob_from_node(document.root, encoded(document.source), byref(out), diag.handle), diag)
            return owned(out.value)
        if isinstance(value, str):
            data = value.encode("utf-8", "surrogateescape")
        elif isinstance(value, (bytes, bytearray, memoryview)):
            data = bytes(value)
        else:
            data = json_text(value)
            limits = PROGRAM_TEXT
        job = _only_job(data, source, limits) if b"\n---" in data else None
        if job is not None:
            return job
        check(core.mpijob_parse(data, len(data), parse_options(source, limits), byref(out), diag.handle), diag)
    return owned(out.value)


def _restored(text: str, source: str | None) -> MPIJob:
    """A job that was pickled; its places in a file are gone."""
    return MPIJob.take(_parse(text, source, PROGRAM_TEXT), source)


def _source_of(handle: int) -> str | None:
    """The name of what a job was read from."""
    return decoded(core.mpijob_doc_source(core.mpijob_document(handle)))


def _only_job(data: bytes, source: str | None, limits: Mapping[str, int] | None) -> int | None:
    """The only MPIJob among several documents; None when there is another number of them, or the text cannot be read."""
    docs, out = c_void_p(), c_void_p()
    if core.mpijob_docs_parse(data, len(data), parse_options(source, limits), byref(docs), None):
        return None
    try:
        roots = [core.mpijob_doc_root(doc) for doc in entries(core.mpijob_docs_at, docs)]
        jobs = [root for root in roots if core.mpijob_is_job(root)]
        if len(roots) < 2 or len(jobs) != 1:
            return None
        with Diag() as diag:
            check(core.mpijob_from_node(jobs[0], encoded(source), byref(out), diag.handle), diag)
        return owned(out.value)
    finally:
        core.mpijob_docs_free(docs)


def _unique(name: str) -> tuple[str, ...]:
    """The steps of the one field of spec or metadata that has this name; TypeError when there is none, or several."""
    rows = [row for row in ROWS if not row.path.startswith("status")]
    found = [row.path for row in rows if row.name == name]
    if len(found) != 1:
        near = nearest(name, [row.name for row in rows]) if not found else None
        raise TypeError(f"{', '.join(found)} have that name: {name}" if found else
                        f"an MPIJob has no field {name}" + (f"; did you mean {near}?" if near else ""))
    return tuple(found[0].replace("]", "").replace("[", ".").split("."))


__all__ = ["Converted", "MPIJob", "convert", "explain", "load", "loads", "snake"]
