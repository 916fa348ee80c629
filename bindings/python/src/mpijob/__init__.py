# SPDX-License-Identifier: Apache-2.0
"""Kubeflow MPIJobs: read, check, complete, convert and render them, and run them on a cluster or on this machine.

    import mpijob

    job = mpijob.load("job.yaml")
    job.default()
    for finding in job.validate():
        print(finding)
    for thing in job.render():
        print(thing["kind"], thing["metadata"]["name"])

**Threads.** An object is used by one thread at a time, different objects by any threads; calls into the library give the
interpreter lock back. **Fork.** Documents, jobs and plans are memory and nothing else: a child uses its copies as it likes.
What talks to a server (Client and all of its kin) belongs to the process that made it: a child makes its own.
"""
from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import (aio as aio, client as client, document as document, errors as errors, fields as fields, findings as findings,
                   job as job, launch as launch, local as local, plan as plan, rank as rank, render as render,
                   transport as transport)
    from .document import Document as Document, loads_all as loads_all, to_model as to_model
    from .client import Cause as Cause, Client as Client, Event as Event, LogLine as LogLine
    from .errors import (AuthError as AuthError, CancelledError as CancelledError, ConflictError as ConflictError,
                         Error as Error, InputOutputError as InputOutputError, NoMemoryError as NoMemoryError,
                         NotFoundError as NotFoundError, ParseError as ParseError, RejectedError as RejectedError,
                         ServerError as ServerError, SpecError as SpecError, TimeoutError as TimeoutError,
                         UnreachableError as UnreachableError, UnsupportedError as UnsupportedError, UsageError as UsageError)
    from .fields import Field as Field, explain as explain
    from .findings import (Finding as Finding, FindingKind as FindingKind, finding_kind as finding_kind,
                           finding_kinds as finding_kinds)
    from .job import MPIJob as MPIJob, Converted as Converted, convert as convert, load as load, loads as loads
    from .local import LocalCluster as LocalCluster
    from .plan import Action as Action, Facts as Facts, Plan as Plan
    from .render import Feature as Feature, Host as Host, Hostfile as Hostfile, Objects as Objects, features as features
    from ._run import Result as Result, RunError as RunError, run as run

    __version__: str

# Where each name is; a module is imported when a name of it is first asked for, so that what is not used costs no time.
_NAMES = {
    "client": "Cause Client Event LogLine",
    "document": "Document loads_all to_model",
    "errors": "AuthError CancelledError ConflictError Error InputOutputError NoMemoryError NotFoundError ParseError RejectedError "
              "ServerError SpecError TimeoutError UnreachableError UnsupportedError UsageError",
    "fields": "Field explain",
    "findings": "Finding FindingKind finding_kind finding_kinds",
    "local": "LocalCluster",
    "_run": "Result RunError run",
    "job": "Converted MPIJob convert load loads",
    "plan": "Action Facts Plan",
    "render": "Feature Host Hostfile Objects features",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_MODULES)


def _attribute(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("._abi", __name__).VERSION
    elif name in _MODULES:
        value = getattr(import_module("." + _MODULES[name], __name__), name)
    else:
        try:
            return import_module("." + name, __name__)  # a module of the package: mpijob.launch
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # a type checker would accept every name
    __getattr__ = _attribute


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
