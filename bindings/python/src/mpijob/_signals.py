# SPDX-License-Identifier: Apache-2.0
"""What comes up in callbacks and has nowhere to go from there.

Signal handlers run between two steps of Python. While the library is at work that is inside of a callback, often before its
first line, where no `try` of its own can catch what the handler raises. ctypes then hands the exception to the interpreter as
one that cannot be raised, which prints and forgets it; here it is kept, and raised when the library has returned. That of
Ctrl-C does not even come up there: while the library is at work, clients put it off.
"""
from __future__ import annotations

import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the library that may call back; raise afterwards what came up in its callbacks."""
    if threading.get_ident() != threading.main_thread().ident:  # no signal handler runs there
        return function(*arguments)
    kept: list[BaseException] = []
    usual = sys.unraisablehook

    def keep(unraisable: Any) -> None:
        if "ctypes callback" in (unraisable.err_msg or "") and unraisable.exc_value is not None:
            kept.append(unraisable.exc_value)
        else:
            usual(unraisable)

    sys.unraisablehook = keep
    try:
        result = function(*arguments)
    finally:
        if sys.unraisablehook is keep:
            sys.unraisablehook = usual
    if kept:
        raise kept.pop()
    return result
