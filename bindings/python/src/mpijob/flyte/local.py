# SPDX-License-Identifier: Apache-2.0
"""A task's ranks as real processes on this machine, before anything is registered. This file knows the job that runs them,
the private directory through which they get inputs and give results, and how one failure becomes one exception.

MPIJOB_FLYTE_LOCAL=mpi in the environment, or `with local_ranks():`, makes every local call of an MPI task such a run.
"""
from __future__ import annotations

import base64
import contextlib
import contextvars
import json
import os
import pathlib
import pickle
import re
import sys
import tempfile
from typing import Any, Dict, Iterator, List, Optional

from flytekit import FlyteContextManager
from flytekit.configuration import Image, ImageConfig, SerializationSettings
from flytekit.core.tracker import extract_task_module
from flytekit.core.type_engine import TypeEngine
from flytekit.core.utils import load_proto_from_file, write_proto_to_file
from flytekit.exceptions.user import FlyteValueException
from flytekit.models.literals import LiteralMap
from flyteidl.core import literals_pb2

VARIABLE = "MPIJOB_FLYTE_LOCAL"
_RANK_PROGRAM = pathlib.Path(__file__).with_name("_rank.py")
_asked: contextvars.ContextVar[Optional[bool]] = contextvars.ContextVar("mpijob_flyte_local", default=None)


class RankError(Exception):
    """A rank failed. `rank` is its number, None when no rank could be blamed; `ranks` how many there were; `traceback` the
    text of its own traceback; `__cause__` its exception, where it could be brought here."""

    def __init__(self, message: str, rank: Optional[int] = None, ranks: int = 0, traceback: str = "") -> None:
        super().__init__(message)
        self.rank = rank
        self.ranks = ranks
        self.traceback = traceback


@contextlib.contextmanager
def local_ranks(wanted: bool = True) -> Iterator[None]:
    """Within it, calling an MPI task locally starts all its ranks (or, with False, runs the function once as usual)."""
    token = _asked.set(wanted)
    try:
        yield
    finally:
        _asked.reset(token)


def is_wanted() -> bool:
    """Whether this call of a task is to start its ranks: asked for, local, and not itself on a rank."""
    if "MPIJOB_FLYTE_RANK" in os.environ:
        return False
    asked = _asked.get()
    if asked is None:
        value = os.environ.get(VARIABLE, "")
        if value not in ("", "mpi"):
            raise ValueError(f"{VARIABLE} is '{value}'; it may be 'mpi' or unset")
        asked = value == "mpi"
    state = FlyteContextManager.current_context().execution_state
    return asked and state is not None and state.is_local_execution()


def run(task: Any, mpirun: List[str], inputs: Dict[str, Any]) -> Any:
    """Run the task's function on all ranks that `mpirun` starts; rank 0's result is the result."""
    context = FlyteContextManager.current_context()
    ranks = int(mpirun[-1])
    raw = pathlib.Path(context.file_access.get_random_local_directory())
    with tempfile.TemporaryDirectory(prefix="mpijob-flyte-") as name:
        folder = pathlib.Path(name)
        literals = TypeEngine.dict_to_literal_map(context, inputs, type_hints=task.python_interface.inputs)
        write_proto_to_file(literals.to_flyte_idl(), str(folder / "inputs.pb"))
        _write_request(task, folder, raw)
        code = _run_job(_job(task, mpirun, folder, raw))
        failure = _failure(folder, ranks)
        if failure:
            raise failure
        if code:
            raise RankError(f"{mpirun[0]} ended with exit code {code}; no rank says why", ranks=ranks)
        return _outputs(task, folder)


def _write_request(task: Any, folder: pathlib.Path, raw: pathlib.Path) -> None:
    settings = SerializationSettings(image_config=ImageConfig(Image("default", "local", "0")))
    request = {
        "resolver": task.task_resolver.location,
        "loader_args": task.task_resolver.loader_args(settings, task),
        "path": [*(os.path.abspath(entry) for entry in sys.path), _root(task)],
        "environment": {**os.environ, **(task.environment or {})},
        "raw": str(raw),
    }
    (folder / "request.json").write_text(json.dumps(request))


def _root(task: Any) -> str:
    """The folder from which the task's module is imported, also when it was run as a program or found by flytekit itself."""
    _, module, _, file = extract_task_module(task)
    path = pathlib.Path(file)
    if not module or not path.is_file():
        raise ValueError(f"{task.name} is in no file, so its ranks cannot find it; put it into a module")
    levels = len(module.split(".")) - (path.name != "__init__.py")
    return str(path.parents[min(levels, len(path.parents) - 1)])


def _job(task: Any, mpirun: List[str], folder: pathlib.Path, raw: pathlib.Path) -> Dict[str, Any]:
    """The job: pods see this machine's files, but what they write stays only where it is mounted."""
    config = task.task_config
    shared = {"folder": str(folder), "raw": str(raw)}
    volumes = [{"name": name, "hostPath": {"path": path}} for name, path in shared.items()]
    mounts = [{"name": name, "mountPath": path} for name, path in shared.items()]
    exported = [{"name": name, "value": os.environ.get(name, "")} for name in ("PATH", "LD_LIBRARY_PATH")]

    def replica(role: str, replicas: int, *args: str) -> Dict[str, Any]:
        container = {"name": role, "image": "local", "env": exported, "volumeMounts": mounts}
        if args:
            container["args"] = list(args)
        return {"replicas": replicas, "restartPolicy": "Never",
                "template": {"spec": {"containers": [container], "volumes": volumes}}}

    words = re.sub("[^a-z0-9]+", "-", task.name.lower()).strip("-")[-40:].strip("-")
    launcher = replica("launcher", 1, *mpirun, sys.executable, str(_RANK_PROGRAM), str(folder))
    worker = replica("worker", config.num_workers or config.worker.replicas)
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": f"flyte-{words or 'task'}"},
        "spec": {
            "slotsPerWorker": config.slots,
            "runPolicy": {"cleanPodPolicy": "All", "backoffLimit": 0},
            "mpiReplicaSpecs": {"Launcher": launcher, "Worker": worker},
        },
    }


def _run_job(job: Dict[str, Any]) -> int:
    """Run it, passing its output on; the launcher's exit code. Only here a shared library is needed."""
    import mpijob

    result = mpijob.run(job, output=_write, progress=False, check=False, allow_host_path=True)
    if result.succeeded:
        return 0
    if result.exit_code is None:
        causes = "".join(f"\n{cause}" for cause in result.causes)
        raise RankError(f"the ranks never ran: {result.message or result.reason}{causes}")
    return result.exit_code or 1


def _write(line: Any) -> None:
    sys.stdout.write(f"{line.text}\n")
    sys.stdout.flush()


def _failure(folder: pathlib.Path, ranks: int) -> Optional[RankError]:
    """The failure that came first: those that follow are mostly its consequences."""
    records = [json.loads(file.read_text()) for file in folder.glob("failed-*.json")]
    if not records:
        return None
    first = min(records, key=lambda record: (record["kind"] == "ended", record["time"]))
    rank = first["rank"]
    message = f"rank {rank} of {ranks}: {first['what']}"
    if first["traceback"]:
        message += "\n" + first["traceback"].rstrip()
    error = RankError(message, rank, ranks, first["traceback"])
    error.__cause__ = _unpickled(first.get("exception"))
    return error


def _unpickled(text: Optional[str]) -> Optional[BaseException]:
    if not text:
        return None
    try:
        value = pickle.loads(base64.b64decode(text))
    except Exception:  # whatever a class of somebody's does when it is made anew; its text is there already
        return None
    return value if isinstance(value, BaseException) else None


def _outputs(task: Any, folder: pathlib.Path) -> Any:
    """Rank 0's outputs, as the function returned them."""
    file = folder / "outputs.pb"
    if not file.exists():
        raise FlyteValueException(task.name, "rank 0 ended well, but left no outputs")
    literals = LiteralMap.from_flyte_idl(load_proto_from_file(literals_pb2.LiteralMap, str(file)))
    interface = task.python_interface
    values = TypeEngine.literal_map_to_kwargs(FlyteContextManager.current_context(), literals, interface.outputs)
    ordered = tuple(values[name] for name in interface.outputs)
    if len(ordered) == 1 and not interface.output_tuple_name:
        return ordered[0]
    return ordered or None
