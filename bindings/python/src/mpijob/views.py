# SPDX-License-Identifier: Apache-2.0
"""Views: the fields of an MPIJob as properties of objects; model.py makes them from the library's table of fields.

For each object of the table there is a class, named after its path (`SpecRunPolicy`), with a property for each of its fields.
A view holds no value: it reads and writes the job's document, and is false where that has no
such object. An absent field is None, and zero is zero. Setting None, or `del`, removes a field.

What Kubernetes itself defines (templates, labels) is read as dicts and lists that write through: a change in one is a
change of the job.
"""
from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from os import PathLike

from .document import Document
from .fields import Field, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Tuple, Union

    Steps = Tuple[Union[str, int], ...]


class Tree:
    """What views need of the document behind them; steps are keys and indices from its root."""

    def _read(self, steps: Steps) -> Any:
        """The value there; None when it is absent or null."""
        raise NotImplementedError

    def _write(self, steps: Steps, value: Any) -> None:
        """Set the value there; maps on the way are made; None removes it."""
        raise NotImplementedError

    def _entries(self, steps: Steps) -> list[str] | int | None:
        """The keys of a map, the length of a list, None for anything else."""
        raise NotImplementedError


class Live:
    """A dict or list of a job's document whose changes are changes of the job.

    It holds what was read; it writes one by one what is changed in it. One that was taken out of its parent writes nothing.
    """

    _parent: Live | None = None
    _tree: Tree | None = None
    _steps: Steps = ()

    def _place(self) -> tuple[Tree, Steps] | None:
        """Where this is now: None when it was taken out of the job."""
        if self._parent is None:
            return (self._tree, self._steps) if self._tree is not None else None
        above = self._parent._place()
        key = self._parent._key_of(self)
        return None if above is None or key is None else (above[0], (*above[1], key))

    def _key_of(self, child: Live) -> str | int | None:
        raise NotImplementedError

    def _told(self, key: str | int | None, value: Any) -> None:
        """Write one entry, or all of this when the key is None."""
        place = self._place()
        if place is not None:
            place[0]._write(place[1] if key is None else (*place[1], key), value)

    def _taken(self, value: Any) -> Any:
        """A value as it is kept in here: dicts and lists live too."""
        if isinstance(value, Mapping):
            return LiveDict._made(value, self)
        if isinstance(value, (list, tuple)):
            return LiveList._made(value, self)
        return value


class LiveDict(dict, Live):  # type: ignore[type-arg]
    """A dict of a job's document; see Live."""

    @classmethod
    def _made(cls, value: Mapping[str, Any], parent: Live | None) -> LiveDict:
        made = cls()
        made._parent = parent
        for key, member in value.items():
            dict.__setitem__(made, key, made._taken(member))
        return made

    def _key_of(self, child: Live) -> str | int | None:
        return next((key for key, value in self.items() if value is child), None)

    def __setitem__(self, key: str, value: Any) -> None:
        self._told(key, _Null if value is None else value)
        dict.__setitem__(self, key, self._taken(value))

    def __delitem__(self, key: str) -> None:
        dict.__getitem__(self, key)
        self._told(key, None)
        dict.__delitem__(self, key)

    def update(self, *others: Any, **members: Any) -> None:
        for key, value in dict(*others, **members).items():
            self[key] = value

    def __ior__(self, other: Any) -> LiveDict:  # type: ignore[misc]
        self.update(other)
        return self

    def setdefault(self, key: str, value: Any = None) -> Any:
        if key not in self:
            self[key] = value
        return self[key]

    def pop(self, key: str, *default: Any) -> Any:
        value = dict.get(self, key, *default) if default or key in self else dict.__getitem__(self, key)
        if key in self:
            del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        key = next(reversed(list(self)), None)
        if key is None:
            raise KeyError("the dict is empty")
        return key, self.pop(key)

    def clear(self) -> None:
        for key in list(self):
            del self[key]

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def __deepcopy__(self, memo: Any) -> Any:
        from copy import deepcopy

        return {key: deepcopy(value, memo) for key, value in self.items()}

    def copy(self) -> dict[str, Any]:
        return dict(self)


class LiveList(list, Live):  # type: ignore[type-arg]
    """A list of a job's document; see Live."""

    @classmethod
    def _made(cls, value: Any, parent: Live | None) -> LiveList:
        made = cls()
        made._parent = parent
        for member in value:
            list.append(made, made._taken(member))
        return made

    def _key_of(self, child: Live) -> str | int | None:
        return next((index for index, value in enumerate(self) if value is child), None)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            self._change("__setitem__", key, [self._taken(member) for member in value])
            return
        index = range(len(self))[key]
        self._told(index, _Null if value is None else value)
        list.__setitem__(self, index, self._taken(value))

    def _change(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Write the list as it would be afterwards, then change it: what is refused changes nothing."""
        place = self._place()
        if place is not None and place[0]._read(place[1]) != self:
            raise RuntimeError("the job's list was changed by other means since this one was read: read it again")
        wanted = list(self)
        getattr(list, method)(wanted, *arguments, **options)
        self._told(None, wanted)
        return getattr(list, method)(self, *arguments, **options)

    def append(self, value: Any) -> None:
        self._change("append", self._taken(value))

    def insert(self, index: Any, value: Any) -> None:
        self._change("insert", index, self._taken(value))

    def extend(self, values: Any) -> None:
        self._change("extend", [self._taken(value) for value in values])

    def __iadd__(self, values: Any) -> LiveList:  # type: ignore[misc]
        self.extend(values)
        return self

    def __reduce__(self) -> Any:
        return list, (list(self),)

    def __deepcopy__(self, memo: Any) -> Any:
        from copy import deepcopy

        return [deepcopy(value, memo) for value in self]

    def copy(self) -> list[Any]:
        return list(self)


def _and_told(name: str) -> Callable[..., Any]:
    """A method of list that changes the list, which then is written as a whole."""
    def changing(self: LiveList, *arguments: Any, **options: Any) -> Any:
        return self._change(name, *arguments, **options)

    changing.__name__, changing.__doc__ = name, getattr(list, name).__doc__
    return changing


for _name in ("__delitem__", "pop", "remove", "clear", "sort", "reverse", "__imul__"):
    setattr(LiveList, _name, _and_told(_name))


class _NullType:
    """JSON's null where None would remove."""


_Null = _NullType()


def is_null(value: Any) -> bool:
    """Whether a value for Tree._write() is JSON's null."""
    return value is _Null


def live(tree: Tree, steps: Steps, value: Any) -> Any:
    """A value of the document at these steps, living if it is a dict or list."""
    if isinstance(value, dict):
        made: LiveDict | LiveList = LiveDict._made(value, None)
    elif isinstance(value, list):
        made = LiveList._made(value, None)
    else:
        return value
    made._tree, made._steps = tree, steps
    return made


class View:
    """An object of a job; true when the job's document has it."""

    __slots__ = ("_tree", "_steps")
    _tree: Tree
    _steps: Steps
    _fields: Mapping[str, Field] = {}  # by the names of the properties
    _roles: Mapping[str, type[View]] = {}  # by keys of the map

    def __init__(self, tree: Tree, steps: Steps) -> None:
        object.__setattr__(self, "_tree", tree)
        object.__setattr__(self, "_steps", steps)

    def __bool__(self) -> bool:
        return self._tree._entries(self._steps) is not None

    def __getitem__(self, key: str) -> Any:
        if key in self._roles:
            return self._roles[key](self._tree, (*self._steps, key))
        if self._roles or key not in self:
            raise KeyError(key)
        return live(self._tree, (*self._steps, key), self._tree._read((*self._steps, key)))

    def __setitem__(self, key: str, value: Any) -> None:
        self._tree._write((*self._steps, key), value)

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._tree._write((*self._steps, key), None)

    def __contains__(self, key: object) -> bool:
        entries = self._tree._entries(self._steps)
        return isinstance(entries, list) and key in entries

    def __iter__(self) -> Iterator[str]:
        entries = self._tree._entries(self._steps)
        return iter(entries if isinstance(entries, list) else ())

    def __len__(self) -> int:
        return len(list(iter(self)))

    def to_dict(self) -> dict[str, Any] | None:
        """The object as in the document; None when it is absent."""
        value: dict[str, Any] | None = self._tree._read(self._steps)
        return value

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == (other.to_dict() if isinstance(other, View) else other)

    __hash__ = None  # type: ignore[assignment]

    if not TYPE_CHECKING:  # a type checker knows the fields from model.pyi
        def __getattr__(self, name: str) -> Any:
            raise AttributeError(_unknown(self, name))

        def __setattr__(self, name: str, value: Any) -> None:
            if name not in self._fields:
                raise AttributeError(_unknown(self, name))
            object.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.to_dict()}>"


class Views:
    """A list of objects of a job."""

    __slots__ = ("_tree", "_steps", "_of")

    def __init__(self, tree: Tree, steps: Steps, of: type[View]) -> None:
        self._tree, self._steps, self._of = tree, steps, of

    def __len__(self) -> int:
        entries = self._tree._entries(self._steps)
        return entries if isinstance(entries, int) else 0

    def __getitem__(self, index: int) -> View:
        return self._of(self._tree, (*self._steps, range(len(self))[index]))

    def __iter__(self) -> Iterator[View]:
        return (self[index] for index in range(len(self)))

    def to_dict(self) -> list[Any]:
        """The list as in the document."""
        return self._tree._read(self._steps) or []

    def __repr__(self) -> str:
        return f"<{self._of.__name__} {self.to_dict()}>"


def _unknown(view: View, name: str) -> str:
    near = nearest(name, list(view._fields)) if not name.startswith("_") else None
    return f"{type(view).__name__} has no field {name}" + (f"; did you mean {near}?" if near else "")


def time_text(value: Any) -> Any:
    """A datetime as RFC 3339 text in UTC, to the second; anything else as it is."""
    if not isinstance(value, datetime.datetime):
        return value
    if value.tzinfo is None:
        raise ValueError("a time needs its time zone: datetime.now(timezone.utc)")
    return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def time_value(text: Any) -> Any:
    """RFC 3339 text as a datetime."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) if isinstance(text, str) else text


def _property(row: Field, step: str, made: Mapping[str, type[View]], absolute: bool) -> property:
    """The property of one row in the view of its parent, or of the job itself."""
    def where(view: Any) -> tuple[Tree, Steps]:
        return (view, (step,)) if absolute else (view._tree, (*view._steps, step))

    def get(view: Any) -> Any:
        tree, steps = where(view)
        if row.kind == "object":
            return made[row.path](tree, steps)
        if row.kind == "list":
            return Views(tree, steps, made[row.path])
        value = tree._read(steps)
        return time_value(value) if row.kind == "time" else live(tree, steps, value)

    def put(view: Any, value: Any) -> None:
        tree, steps = where(view)
        if row.kind == "time":
            value = time_text(value)
        elif row.kind in ("document", "object", "list") and isinstance(value, (str, bytes, PathLike)):
            value = Document(value)  # YAML, or the path of a file
        tree._write(steps, value)

    def remove(view: Any) -> None:
        put(view, None)

    return property(get, put, remove, row.describe())


def _parent(path: str) -> tuple[str, str]:
    """The path of a row's parent, and the row's own step."""
    if path.endswith("]"):
        head, _, role = path[:-1].rpartition("[")
        return head, role
    head, _, step = path.rpartition(".")
    return (head[:-2] if head.endswith("[]") else head), step


def class_name(path: str) -> str:
    """The name of the class for an object of the table: SpecRunPolicy."""
    words = path.replace("]", "").replace("[", ".").split(".")
    return "".join(word[:1].upper() + word[1:] for word in words)


def build(rows: list[Field], module: str) -> tuple[dict[str, type[View]], dict[str, property]]:
    """The classes of all objects of the table by their paths, and the properties of the job itself."""
    made: dict[str, type[View]] = {}
    top: dict[str, property] = {}
    for row in rows:
        if row.kind in ("object", "list"):
            made[row.path] = type(class_name(row.path), (View,), {"__slots__": (), "__doc__": row.describe(), "_fields": {},
                                                                  "_roles": {}, "__module__": module})
    for row in rows:
        parent, step = _parent(row.path)
        if not parent:
            top[row.name] = _property(row, step, made, True)
            continue
        view = made[parent]
        view._fields[row.name] = row  # type: ignore[index]
        setattr(view, row.name, _property(row, step, made, False))
        if row.path.endswith("]"):
            view._roles[step] = made[row.path]  # type: ignore[index]
    return made, top
