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

from . import _abi
from .document import Document, loads_all
from .errors import (AuthError, CancelledError, ConflictError, Error, InputOutputError, NoMemoryError, NotFoundError, ParseError,
                     RejectedError, ServerError, SpecError, TimeoutError, UnreachableError, UnsupportedError, UsageError)
from .findings import Finding, FindingKind, finding_kind, finding_kinds

__version__ = _abi.VERSION
__all__ = [
    "AuthError", "CancelledError", "ConflictError", "Document", "Error", "Finding", "FindingKind", "InputOutputError",
    "NoMemoryError", "NotFoundError", "ParseError", "RejectedError", "ServerError", "SpecError", "TimeoutError",
    "UnreachableError", "UnsupportedError", "UsageError", "finding_kind", "finding_kinds", "loads_all",
]
