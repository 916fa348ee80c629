# SPDX-License-Identifier: Apache-2.0
"""How a value of Python gets into a document of the library: only what differs is written, so that all else keeps its place
(line and column) in the file that it came from."""
from __future__ import annotations

import json
from . import _abi
from ._library import core, encoded
from .document import json_text, node_value
from .errors import SpecError, failure, owned
from .views import is_null

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .views import Steps


def path_text(steps: Steps) -> str:
    """Steps as Kubernetes prints a path."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) or "." in step else f".{step}" if text else step
    return text


def find(root: int | None, steps: Steps) -> int | None:
    """The node at these steps below a root; None when there is none."""
    node = root
    for step in steps:
        get = core.mpijob_node_at if isinstance(step, int) else core.mpijob_node_get
        node = get(node, step if isinstance(step, int) else encoded(step))
        if node is None:
            return None
    return node


def write(doc: int, steps: Steps, value: Any) -> None:
    """Set the value at these steps of a document; None removes it, maps on the way are made."""
    root = core.mpijob_doc_edit(doc, b"")
    if value is None:
        _remove(root, steps)
        return
    if not isinstance(value, (str, bool, int, float)) and not is_null(value):
        value = json.loads(json_text(value))
    parent = _parent(doc, root, steps)
    old = find(root, steps)
    _put(doc, root, steps, parent, _node(doc, value, old, None if old is None else node_value(old)))
    code = core.mpijob_doc_error(doc)
    if code:
        raise failure(code, None, path_text(steps))


def _remove(root: int, steps: Steps) -> None:
    parent = find(root, steps[:-1])
    if isinstance(steps[-1], int):
        core.mpijob_node_remove_at(parent, steps[-1])
    else:
        core.mpijob_node_remove(parent, encoded(steps[-1]))


def _parent(doc: int, root: int, steps: Steps) -> int:
    """The map or list that the last step is in; maps are made where there is nothing yet."""
    node = root
    for at, step in enumerate(steps[:-1]):
        child = find(node, (step,))
        if core.mpijob_node_kind(child) in (_abi.MPIJOB_NODE_NONE, _abi.MPIJOB_NODE_NULL) and not isinstance(step, int):
            child = core.mpijob_node_put_map(doc, node, encoded(step))
        wanted = _abi.MPIJOB_NODE_LIST if isinstance(steps[at + 1], int) else _abi.MPIJOB_NODE_MAP
        if core.mpijob_node_kind(child) != wanted:
            raise SpecError(f"{path_text(steps[:at + 1])} is no {'list' if isinstance(steps[at + 1], int) else 'object'}")
        node = owned(child)
    return node


def _put(doc: int, root: int, steps: Steps, parent: int, node: int | None) -> None:
    step = steps[-1]
    if not isinstance(step, int):
        core.mpijob_node_put(doc, parent, encoded(step), node)
        return
    entries = core.mpijob_node_new(doc, _abi.MPIJOB_NODE_LIST)  # an entry of a list cannot be replaced: the list is
    for index in range(core.mpijob_node_count(parent)):
        entry = core.mpijob_node_at(parent, index)
        core.mpijob_node_append(doc, entries, node if index == step else core.mpijob_node_copy(doc, entry))
    _put(doc, root, steps[:-1], owned(find(root, steps[:-2])), entries)


def _node(doc: int, value: Any, old: int | None, old_value: Any) -> int | None:
    """A node of the document for a value; what is as it was in the old node is copied with its place."""
    if old is not None and _same(value, old_value):
        node = core.mpijob_node_copy(doc, old)
    elif isinstance(value, str):
        data = value.encode("utf-8", "surrogateescape")
        node = core.mpijob_node_new_text(doc, _abi.MPIJOB_NODE_STRING, data, len(data))
    elif isinstance(value, bool):
        node = core.mpijob_node_new_bool(doc, int(value))
    elif isinstance(value, (int, float)):
        data = json.dumps(value, allow_nan=False).encode()
        node = core.mpijob_node_new_text(doc, _abi.MPIJOB_NODE_NUMBER, data, len(data))
    elif isinstance(value, list):
        node = core.mpijob_node_new(doc, _abi.MPIJOB_NODE_LIST)
        before = old_value if isinstance(old_value, list) else []
        for index, member in enumerate(value):
            known = index < len(before)
            core.mpijob_node_append(doc, node, _node(doc, member, find(old, (index,)) if known else None,
                                                     before[index] if known else None))
    elif isinstance(value, dict):
        node = core.mpijob_node_new(doc, _abi.MPIJOB_NODE_MAP)
        had = old_value if isinstance(old_value, dict) else {}
        for key, member in value.items():
            core.mpijob_node_put(doc, node, encoded(key),
                                 _node(doc, member, find(old, (key,)) if key in had else None, had.get(key)))
    else:
        node = core.mpijob_node_new(doc, _abi.MPIJOB_NODE_NULL)
    return node if node is None else int(node)


def _same(a: Any, b: Any) -> bool:
    """Equal, and of equal types at every level: 1 is neither True nor 1.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)
