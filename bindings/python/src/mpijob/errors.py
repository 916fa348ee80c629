# SPDX-License-Identifier: Apache-2.0
"""Exceptions, one family for each kind of failure that a caller may want to tell apart.

Each has `code`, the library's result code, and `findings`, the list of all that the library had to say. Where Python has a
class of its own for such a failure, the family belongs to it too: `except TimeoutError` catches ours as well.
"""
from __future__ import annotations

import builtins
from collections.abc import Sequence

from . import _abi
from ._hints import Any
from ._library import core, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .findings import Diag, Finding


class Error(Exception):
    """A call into the library failed."""

    code: int = 0

    def __init__(self, message: str, code: int | None = None, findings: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.findings: list[Finding] = list(findings)
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:
        return type(self), (self.message, self.code, self.findings)


class ParseError(Error):
    """The text is not YAML or JSON, or goes over a limit."""

    code = _abi.MPIJOB_ERR_SYNTAX


class SpecError(Error):
    """The document is well formed, its content is refused."""

    code = _abi.MPIJOB_ERR_SPEC


class UsageError(Error, ValueError):
    """The call itself is wrong."""

    code = _abi.MPIJOB_ERR_USAGE


class UnsupportedError(Error):
    """Valid, but not something this library or server does."""

    code = _abi.MPIJOB_ERR_UNSUPPORTED


class InputOutputError(Error, OSError):
    """A file, socket or process failed. Of a request it is not known whether it was carried out."""

    code = _abi.MPIJOB_ERR_IO


class TimeoutError(Error, builtins.TimeoutError):  # noqa: A001 (the family's name in the standard library)
    """A deadline passed."""

    code = _abi.MPIJOB_ERR_TIMEOUT


class CancelledError(Error):
    """The caller asked to stop."""

    code = _abi.MPIJOB_ERR_CANCELLED


class AuthError(Error):
    """Credentials are missing or refused."""

    code = _abi.MPIJOB_ERR_AUTH


class NotFoundError(Error):
    """What was named is not there."""

    code = _abi.MPIJOB_ERR_NOT_FOUND


class ConflictError(Error):
    """Somebody else changed or owns it."""

    code = _abi.MPIJOB_ERR_CONFLICT


class RejectedError(Error):
    """The server understood and refused."""

    code = _abi.MPIJOB_ERR_REJECTED


class ServerError(Error):
    """The server failed or is overloaded; try later."""

    code = _abi.MPIJOB_ERR_SERVER


class UnreachableError(Error):
    """No connection to the server could be made: the request was never sent."""

    code = _abi.MPIJOB_ERR_UNREACHABLE


class NoMemoryError(Error, MemoryError):
    """Memory ran out; nothing was changed."""

    code = _abi.MPIJOB_ERR_NOMEM


FAMILIES: dict[int, type[Error]] = {family.code: family for family in Error.__subclasses__()}


def failure(code: int, diag: Diag | None = None, what: str = "") -> Error:
    """The exception for a result code; its message is that of the findings of severity error, else the code's own text."""
    findings = diag.findings if diag is not None else []
    lines = [str(f) for f in findings if f.severity == "error"]
    text = "\n".join(lines) or decoded(core.mpijob_error_text(code)) or ""
    return FAMILIES.get(code, Error)(f"{what}: {text}" if what else text, code, findings)


def check(code: int, diag: Diag | None = None, what: str = "") -> int:
    """Give a result code back when it is not negative; else raise the exception of its family, with the diag's findings.

    `what` says in a few words what failed, for the message.
    """
    if code < 0:
        raise failure(code, diag, what)
    return code


def owned(pointer: int | None) -> int:
    """Give a pointer back that a constructor of the library returned; NULL is want of memory."""
    if not pointer:
        raise failure(_abi.MPIJOB_ERR_NOMEM)
    return pointer
