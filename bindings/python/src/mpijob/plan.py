# SPDX-License-Identifier: Apache-2.0
"""The controller as a function: a job and what is observed of its children go in, what to do next comes out.

Nothing here talks to a cluster. Facts take objects or watch events, as dicts or JSON text; MPIJob.plan() makes the plan;
each action has its body as a dict when it is asked for.
"""
from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from ctypes import byref, c_void_p, pointer

from . import _abi
from ._arguments import checked_class
from ._hints import Any
from ._library import core, decoded, encoded, finaliser
from ._text import written
from .document import Document, Source, json_text, node_value
from .errors import check, owned
from .findings import Diag
from .render import Options, entropy

VERBS = {_abi.MPIJOB_ACTION_CREATE: "create", _abi.MPIJOB_ACTION_PATCH: "patch", _abi.MPIJOB_ACTION_PATCH_STATUS: "patch-status",
         _abi.MPIJOB_ACTION_DELETE: "delete", _abi.MPIJOB_ACTION_EVENT: "event"}
_TRANSITIONS = {_abi.MPIJOB_TRANSITION_CREATED: "created", _abi.MPIJOB_TRANSITION_SUCCEEDED: "succeeded",
                _abi.MPIJOB_TRANSITION_FAILED: "failed"}


@checked_class
class Facts:
    """All that is known of one job's children; used by one thread at a time."""

    handle: int | None = None
    _observation: int | None = None

    def __init__(self, observed: Any = ()) -> None:
        self.handle = owned(core.mpijob_facts_new())
        self._observation = owned(core.mpijob_observation_new())
        for thing in observed:
            self.apply(thing)

    def apply(self, thing: Source) -> bool:
        """Take in an object, or a watch event around one ({"type": "DELETED", "object": ...}); true when that is news.

        The object must be one of this job's children: a watch of a namespace tells of others' too.
        """
        if isinstance(thing, str):
            text = thing.encode()
        elif isinstance(thing, bytes):
            text = thing
        else:
            text = thing.to_json(indent=False).encode() if isinstance(thing, Document) else json_text(thing)
        with Diag() as diag:
            observed = pointer(_abi.mpijob_observed())
            check(core.mpijob_observe(self._observation, text, len(text), byref(observed), diag.handle), diag)
        return bool(check(core.mpijob_facts_apply(self.handle, observed)))

    def forget(self, uid: str) -> bool:
        """Forget an object; true when it was known."""
        return bool(core.mpijob_facts_forget(self.handle, encoded(uid)))

    def _drop(self) -> None:
        core.mpijob_facts_free(self.handle)
        core.mpijob_observation_free(self._observation)

    __del__ = finaliser(_drop)


class _Made:
    """The library's plan, which goes with the last that needs it: the plan, or one of its actions."""

    __slots__ = ("handle",)

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def _drop(self) -> None:
        core.mpijob_plan_free(self.handle)

    __del__ = finaliser(_drop)


class Action:
    """One thing to do.

    verb      'create', 'patch' (a JSON merge patch), 'patch-status' (likewise), 'delete', 'event'
    stage     from 0; actions of one stage are independent, and a stage begins when the one before it is done
    index     of a worker; None for all else
    api_version, kind, name   of the object; for an event of the MPIJob
    uid       that the object must have; None for a create
    why       one sentence
    event_type, event_reason, event_message   of an event, or of the one to report after the action; else None
    """

    __slots__ = ("verb", "stage", "index", "api_version", "kind", "name", "uid", "why", "event_type", "event_reason",
                 "event_message", "_made", "_at")

    def __init__(self, made: _Made, at: int) -> None:
        struct = core.mpijob_plan_at(made.handle, at).contents
        self._made, self._at = made, at
        self.verb = VERBS.get(struct.verb, str(struct.verb))
        self.stage: int = struct.stage
        self.index: int | None = struct.index if struct.index >= 0 else None
        self.api_version = decoded(struct.api_version) or ""
        self.kind = decoded(struct.kind) or ""
        self.name = decoded(struct.name) or ""
        self.uid = decoded(struct.uid)
        self.why = decoded(struct.why) or ""
        self.event_type = decoded(struct.event_type)
        self.event_reason = decoded(struct.event_reason)
        self.event_message = decoded(struct.event_message)

    def body(self) -> dict[str, Any]:
        """The object to create, or the patch to send, rendered now. The Secret's has a new private key: handle it with care.
        NotFoundError for an action that has none."""
        drawn = entropy()
        text = written(lambda sink, user: core.mpijob_plan_write_body(self._made.handle, self._at, drawn, len(drawn), sink, user))
        return json.loads(text)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        what = self.event_reason if self.verb == "event" else f"{self.kind} {self.name}"
        return f"<Action {self.stage}: {self.verb} {what}: {self.why}>"


class Plan:
    """What to do next about one job: `actions`, `status` (what it is once all is done, as a dict), `next` (when the plan could
    differ though nothing happens, or None), `transitions` ('created', 'succeeded', 'failed') and `findings`."""

    def __init__(self, job: int, facts: Facts, now: datetime.datetime | float, options: Options, max_workers: int = 0) -> None:
        seconds = now.timestamp() if isinstance(now, datetime.datetime) else now
        struct = _abi.mpijob_plan_options(now_ms=round(seconds * 1000), render=pointer(options.struct), max_workers=max_workers)
        out = c_void_p()
        with Diag() as diag:
            check(core.mpijob_plan_new(job, facts.handle, byref(struct), byref(out), diag.handle), diag)
        self._made = _Made(owned(out.value))
        self.findings = diag.findings
        result = core.mpijob_plan_get_result(self.handle).contents
        self.actions = [Action(self._made, i) for i in range(result.actions_count)]
        next_ms = result.next_ms
        self.next = datetime.datetime.fromtimestamp(next_ms / 1000, datetime.timezone.utc) if next_ms else None
        self.transitions = [word for bit, word in _TRANSITIONS.items() if result.transitions & bit]
        self.status = self._status(job, result.status)

    def _status(self, job: int, status: Any) -> dict[str, Any]:
        copy = owned(core.mpijob_clone(job))
        try:
            check(core.mpijob_status_set(copy, status, None))
            node = core.mpijob_node_find(core.mpijob_doc_root(core.mpijob_document(copy)), b"status")
            return {} if node is None else node_value(node)
        finally:
            core.mpijob_free(copy)

    @property
    def handle(self) -> int:
        """The library's plan, for calls of its functions; good as long as this object."""
        return self._made.handle

    def __len__(self) -> int:
        return len(self.actions)

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __repr__(self) -> str:
        return f"<Plan {self.actions}>"
