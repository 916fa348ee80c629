# SPDX-License-Identifier: Apache-2.0
"""Arguments of public functions: refused before a call does anything when they are not of the type that the signature gives.

The annotations of a signature are the only place where types are written. A part of one that is not in the table below, such
as `Any` or a name of this package, accepts everything: whoever reads that value checks it.
"""
from __future__ import annotations

import re
from functools import wraps
from os import PathLike

from .errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])
    C = TypeVar("C", bound=type)
    Test = Callable[[Any], bool]


def _has(method: str) -> Test:
    return lambda value: hasattr(value, method)


def _is_iterable(value: Any) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, (str, bytes))


# How an annotation begins: what is accepted, and what a message calls it. Numbers of numpy are numbers, too.
_TYPES: dict[str, tuple[Test, str]] = {
    "None": (lambda value: value is None, "None"),
    "str": (lambda value: isinstance(value, str), "a str"),
    "bytes": (lambda value: isinstance(value, (bytes, bytearray, memoryview)), "bytes"),
    "bool": (_has("__bool__"), "a bool"),
    "int": (_has("__index__"), "an int"),
    "float": (lambda value: hasattr(value, "__float__") or hasattr(value, "__index__"), "a number"),
    "os.PathLike": (lambda value: isinstance(value, PathLike), "a path"),
    "Mapping": (_has("items"), "a dict"),
    "Iterable": (_is_iterable, "a list"),
    "Sequence": (_is_iterable, "a list"),
    "Callable": (callable, "a function"),
}
_rules: dict[str, Any] = {}


def _parts(annotation: str) -> list[str]:
    """The members of a union, split at each "|" outside of brackets."""
    return [part.strip() for part in re.split(r"\|(?![^\[]*\])", annotation)]


def _rule(annotation: str) -> Any:
    """Tests of an annotation, of which one must hold, their words, and the texts of a Literal; None: everything is accepted."""
    if annotation not in _rules:
        tests: list[Test] = []
        words: list[str] = []
        literals: list[str] = []
        for part in _parts(annotation):
            head = part.partition("[")[0]
            if head == "Literal":
                literals += re.findall(r"[\"']([^\"']+)[\"']", part)
            elif head in _TYPES:
                tests.append(_TYPES[head][0])
                words.append(_TYPES[head][1])
            else:
                tests.append(lambda value: True)
        _rules[annotation] = tests, words, literals
    return _rules[annotation]


def _listed(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _refuse(function: str, name: str, annotation: str, value: Any) -> None:
    tests, words, literals = _rule(annotation)
    if any(test(value) for test in tests) or (isinstance(value, str) and value in literals):
        return
    if literals and isinstance(value, str):
        raise UsageError(f"{function}(): {name} is {value!r}; use {_listed([repr(word) for word in literals])}")
    raise TypeError(f"{function}(): {name} must be {_listed(words or ['a str'])}, not {type(value).__name__}")


def checked(function: F) -> F:
    """The function, which refuses arguments that its annotations exclude before it does anything."""
    code = function.__code__
    name = function.__qualname__.replace(".__init__", "")
    hints = {key: text for key, text in function.__annotations__.items() if key != "return"}
    places = [(at, key) for at, key in enumerate(code.co_varnames[:code.co_argcount]) if key in hints]
    known = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    rest = hints.get(code.co_varnames[len(known)]) if code.co_flags & 0x08 and not code.co_flags & 0x04 else None  # **options

    def check(arguments: Any, options: Any) -> None:
        for at, key in places:
            if at >= len(arguments):
                break
            _refuse(name, key, hints[key], arguments[at])
        for key, value in options.items():
            hint = hints.get(key) if key in known else rest
            if hint is not None:
                _refuse(name, key, hint, value)

    if code.co_flags & 0x80:  # a coroutine, which `inspect` and frameworks are to see
        async def waiting(*arguments: Any, **options: Any) -> Any:
            check(arguments, options)
            return await function(*arguments, **options)

        return wraps(function)(waiting)  # type: ignore[return-value]

    def calling(*arguments: Any, **options: Any) -> Any:
        check(arguments, options)
        return function(*arguments, **options)

    return wraps(function)(calling)  # type: ignore[return-value]


def checked_class(family: C) -> C:
    """The class, whose public methods and constructor are `checked`."""
    for name, member in list(vars(family).items()):
        if name.startswith("_") and name != "__init__":
            continue
        inner = getattr(member, "__func__", member)
        if not hasattr(inner, "__code__"):
            continue
        setattr(family, name, checked(inner) if inner is member else type(member)(checked(inner)))
    return family
