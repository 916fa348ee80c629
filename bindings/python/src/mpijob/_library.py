# SPDX-License-Identifier: Apache-2.0
"""The shared libraries: where they are found, and their functions with the types that the public headers give them.

`core`, `flyte`, `operator`, `http()` and `local()` have the functions as attributes. A library is loaded when its first function is used, from
the package's own folder `_lib` if there is one, else as the system's loader finds it. ctypes gives the interpreter lock back
during every call, and takes it again in callbacks.
"""
from __future__ import annotations

import ctypes
import itertools
import os
import sys

from . import _abi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

FOLDER = os.path.join(os.path.dirname(__file__), "_lib")


class Library:
    """A shared library; its attributes are the functions that the headers declare."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._functions = _abi.FUNCTIONS[name]
        self._loaded: ctypes.CDLL | None = None

    def load(self) -> ctypes.CDLL:
        """Load the library unless it is; an ImportError says where it was looked for."""
        if self._loaded is None:
            file = f"lib{self._name}{_abi.SONAME}"
            own = os.path.join(FOLDER, file)
            try:
                self._loaded = ctypes.CDLL(own if os.path.exists(own) else file)
            except OSError as error:
                raise ImportError(f"{file} is neither in {FOLDER} nor where the system's loader looks: {error}") from error
        return self._loaded

    def __getattr__(self, name: str) -> Any:
        words = self._functions.get(name)
        if words is None:
            raise AttributeError(f"lib{self._name} has no function {name}")
        function = self.load()[name]  # by index: an object of its own, no other user of the library sets its types
        returns, *takes = words.split()
        function.argtypes = [_abi.type_of(word) for word in takes]
        function.restype = _abi.type_of(returns)
        setattr(self, name, function)
        return function

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]


core = Library("mpijob")
flyte = Library("mpijob-flyte")
operator = Library("mpijob-operator")
_http = Library("mpijob-http")
_local = Library("mpijob-local")


def http() -> Library:
    """libmpijob-http; loads libcurl."""
    _http.load()
    return _http


def local() -> Library:
    """libmpijob-local."""
    _local.load()
    return _local


def finaliser(free: Callable[[Any], None]) -> Callable[[Any], None]:
    """A method `__del__` that calls `free`. At the interpreter's exit it does nothing: the modules that `free` needs may be gone,
    and the memory goes with the process."""
    def __del__(self: Any, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not ending():
            free(self)

    return __del__


def encoded(text: str | None) -> bytes | None:
    """Text for a parameter `const char *`; None stays None. A NUL inside would cut it, and is refused."""
    if text is None:
        return None
    data = text.encode("utf-8", "surrogateescape")
    if b"\0" in data:
        raise ValueError("text for the library holds a NUL character")
    return data


def entries(at: Callable[..., Any], *owner: Any) -> Iterator[Any]:
    """What a function `_at` of the library returns for 0, 1, and so on, before NULL."""
    return itertools.takewhile(bool, (at(*owner, index) for index in itertools.count()))


def decoded(data: bytes | None) -> str | None:
    """Text of a `const char *`; None stays None."""
    return None if data is None else data.decode("utf-8", "surrogateescape")
