# SPDX-License-Identifier: Apache-2.0
"""What the library writes, as bytes: its own growing text is the sink, so that no callback enters Python."""
from __future__ import annotations

import ctypes

from . import _abi
from ._library import core
from .errors import check, owned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .findings import Diag

_sink: Any = None


def written(write: Callable[[Any, int], int], diag: Diag | None = None) -> bytes:
    """The bytes that `write(sink, user)` writes, a call of a function that takes a mpijob_write_fn and its user."""
    global _sink
    if _sink is None:
        _sink = ctypes.cast(core.mpijob_text_write, _abi.mpijob_write_fn)
    text = owned(core.mpijob_text_new())
    try:
        check(write(_sink, text), diag)
        data: bytes = core.mpijob_text_data(text)
        return data
    finally:
        core.mpijob_text_free(text)
