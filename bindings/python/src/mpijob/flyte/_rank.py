# SPDX-License-Identifier: Apache-2.0
"""What runs on each rank of a local run, as a program of its own: `_rank.py FOLDER`. This file knows how a rank takes its
request, puts its number before each line of output, and writes down how it failed.

The process that MPI started stays and passes output on; its child runs the task. So the last lines of a rank that crashes
are not lost, and somebody is left to say that it did.
"""
from __future__ import annotations

import base64
import json
import os
import signal
import sys
import threading
import time
from typing import Any, Dict, Optional

NUMBERS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")


def rank_number() -> int:
    for name in NUMBERS:
        if name in os.environ:
            return int(os.environ[name])
    raise SystemExit(f"none of {', '.join(NUMBERS)} is set: not started by an mpirun that is known here")


def write_failure(folder: str, rank: int, kind: str, what: str, traceback: str = "",
                  exception: Optional[str] = None) -> None:
    """Write it down unless something was before: a file in place of one half written."""
    path = os.path.join(folder, f"failed-{rank}.json")
    if os.path.exists(path):
        return
    record = {"rank": rank, "kind": kind, "what": what, "traceback": traceback, "exception": exception,
              "time": time.time()}
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(record, file)
    os.rename(f"{path}.new", path)


def pass_on(source: int, target: int, rank: int) -> None:
    """Each line at once and in one piece, so that those of several ranks do not mix."""
    prefix = b"[rank %d] " % rank
    with os.fdopen(source, "rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                line += b"\n"
            os.write(target, prefix + line)


def watch(folder: str, rank: int) -> None:
    """Start the child; in this process pass its output on and end as it did. Only the child returns."""
    pipes = [os.pipe(), os.pipe()]
    child = os.fork()
    if child == 0:
        for target, (reader, writer) in enumerate(pipes, 1):
            os.close(reader)
            os.dup2(writer, target)
            os.close(writer)
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: os.kill(child, number))
    threads = []
    for target, (reader, writer) in enumerate(pipes, 1):
        os.close(writer)
        threads.append(threading.Thread(target=pass_on, args=(reader, target, rank), daemon=True))
        threads[-1].start()
    status = os.waitpid(child, 0)[1]
    for thread in threads:
        thread.join(timeout=5)
    if os.WIFSIGNALED(status):
        write_failure(folder, rank, "ended", f"was killed by {signal.Signals(os.WTERMSIG(status)).name}")
        os._exit(128 + os.WTERMSIG(status))
    code = os.WEXITSTATUS(status)
    if code:
        write_failure(folder, rank, "ended", f"ended with exit code {code}")
    os._exit(code)


def load(request: Dict[str, Any]) -> Any:
    """The task, as the container of a cluster would find it."""
    from flytekit.tools.module_loader import load_object_from_module

    resolver = load_object_from_module(request["resolver"])
    return resolver.load_task(loader_args=request["loader_args"])


def run(folder: str, rank: int, request: Dict[str, Any]) -> None:
    from flyteidl.core import literals_pb2
    from flytekit.core.context_manager import ExecutionState, FlyteContextManager
    from flytekit.core.data_persistence import FileAccessProvider
    from flytekit.core.type_engine import TypeEngine
    from flytekit.core.utils import load_proto_from_file, write_proto_to_file
    from flytekit.exceptions.base import FlyteException
    from flytekit.extend import IgnoreOutputs
    from flytekit.models.literals import LiteralMap

    task = load(request)
    outer = FlyteContextManager.current_context()
    access = FileAccessProvider(os.path.join(request["raw"], f"rank-{rank}"), request["raw"])
    state = outer.new_execution_state().with_params(mode=ExecutionState.Mode.TASK_EXECUTION)
    builder = outer.with_file_access(access).with_execution_state(state)
    with FlyteContextManager.with_context(builder) as context:
        literals = LiteralMap.from_flyte_idl(
            load_proto_from_file(literals_pb2.LiteralMap, os.path.join(folder, "inputs.pb")))
        inputs = TypeEngine.literal_map_to_kwargs(context, literals, task.python_interface.inputs)
        try:
            result = task.execute(**inputs)
        except IgnoreOutputs:
            if rank == 0:
                raise
            return
        if rank:
            return
        interface = task.python_interface
        values = dict(zip(interface.outputs, result if is_several(interface) else (result,)))
        outputs = TypeEngine.dict_to_literal_map(context, values, type_hints=interface.outputs)
        write_proto_to_file(outputs.to_flyte_idl(), os.path.join(folder, "outputs.pb"))


def is_several(interface: Any) -> bool:
    return len(interface.outputs) > 1 or bool(interface.output_tuple_name)


def pickled(error: BaseException) -> Optional[str]:
    import cloudpickle

    try:
        return base64.b64encode(cloudpickle.dumps(error)).decode()
    except Exception:  # an exception may hold anything; without it there is still its text
        return None


def text_of(error: BaseException) -> str:
    """The traceback from where the task's own code begins."""
    import traceback

    import flytekit

    machinery = (os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.abspath(flytekit.__file__)))
    place = error.__traceback__
    while place and place.tb_next and os.path.abspath(place.tb_frame.f_code.co_filename).startswith(machinery):
        place = place.tb_next
    return "".join(traceback.format_exception(type(error), error, place))


def main() -> None:
    folder, rank = sys.argv[1], rank_number()
    watch(folder, rank)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # a crash must not take lines along
    with open(os.path.join(folder, "request.json"), encoding="utf-8") as file:
        request = json.load(file)
    sys.path[:] = request["path"]
    for name, value in request["environment"].items():
        os.environ.setdefault(name, value)
    os.environ["MPIJOB_FLYTE_RANK"] = str(rank)
    try:
        run(folder, rank, request)
    except Exception as error:
        write_failure(folder, rank, "raised", f"{type(error).__name__}: {error}", text_of(error), pickled(error))
        # At a regular exit MPI_Finalize would wait for ranks that wait for this one.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    main()
