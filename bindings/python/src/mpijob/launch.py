# SPDX-License-Identifier: Apache-2.0
"""Launch commands: what the launcher of a job has to run so that a program's ranks start on all hosts.

    command = mpijob.launch.mpirun(job, ["python", "train.py"], env=["NCCL_DEBUG=INFO", "TRAIN_*"])
    job.spec.mpi_replica_specs["Launcher"].template["spec"]["containers"][0]["command"] = command

As many ranks are asked for as the job has slots, those of the launcher too when it is a worker; `mpijob validate` has nothing
to say about such a command. What a tool or the job's MPI cannot be told is refused with an UnsupportedError that says
what it can. All options are those of struct mpijob_launch_options in mpijob/launch.h; what is left out is as the tool has it.

`env` lists variables that the ranks get: "NAME" and "PREFIX*" as the launcher has them, or "NAME=value"; a dict gives
values. A prefix stands for the names that are known here: those in the launcher's template, and in `known`.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ctypes import byref, c_char_p, c_void_p, cast
from itertools import takewhile
from typing import Any, Union

from . import _abi
from ._arguments import checked
from ._library import core, encoded
from .errors import UsageError, check
from .findings import Diag, Finding
from .job import MPIJob

Env = Union[Iterable[str], Mapping[str, str]]


class Command(list):  # type: ignore[type-arg]
    """The words of a command; `ranks` is how many it asks for, `findings` what there is to say about it."""

    ranks: int = 0
    findings: list[Finding] = []


class _Words:
    """A list of strings for the library, and what keeps it alive."""

    def __init__(self, words: Iterable[str]) -> None:
        if isinstance(words, (str, bytes)):
            raise TypeError(f"a list of words is wanted, not the text {words!r}")
        texts = [encoded(word) for word in words]
        self.count = len(texts)
        self._array = (c_char_p * (self.count + 1))(*texts, None)
        self.pointer = cast(self._array, c_void_p)

    def set(self, struct: Any, name: str) -> None:
        """Make them a member of a struct, with its count."""
        kind = dict(struct._fields_)[name]
        setattr(struct, name, cast(self._array, kind) if kind is not c_void_p else self.pointer)
        setattr(struct, f"{name}_count", self.count)


def _env_words(env: Env) -> list[str]:
    if isinstance(env, str):
        raise TypeError("env is a list of variables, or a dict")
    return [f"{name}={value}" for name, value in env.items()] if isinstance(env, Mapping) else list(env)


def _command(job: MPIJob, program: str | Sequence[str], tool: int, env: Env, known: Iterable[str], args: Iterable[str],
             **more: Any) -> Command:
    lists = {"env": _Words(_env_words(env)), "known": _Words(known), "args": _Words(args)}
    words = _Words([program] if isinstance(program, str) else program)
    struct = _abi.mpijob_launch_options(tool=tool)
    for name, value in more.items():
        if value is not None:
            given = encoded(value) if isinstance(value, str) else int(value)
            setattr(struct, name, given)
            if getattr(struct, name) != given:
                raise UsageError(f"{name} is too large: {value}")
    for name, entries in lists.items():
        entries.set(struct, name)
    out = c_void_p()
    with Diag() as diag:
        kind = core.mpijob_launch_new.argtypes[1]
        check(core.mpijob_launch_new(job.handle, cast(words.pointer, kind), words.count, byref(struct), byref(out), diag.handle), diag)
    try:
        command = Command(word.decode("utf-8", "surrogateescape")
                          for word in takewhile(lambda word: word is not None, core.mpijob_launch_words(out)))
        command.ranks = core.mpijob_launch_ranks(out)
        command.findings = diag.findings
    finally:
        core.mpijob_launch_free(out)
    return command


def _root(allow: bool | None) -> int:
    return 0 if allow is None else 1 if allow else -1


@checked
def mpirun(job: MPIJob, program: str | Sequence[str], *, np: int = 0, ranks_per_host: int = 0, env: Env = (),
           env_only: bool = False, known: Iterable[str] = (), bind_to: str | None = None, map_by: str | None = None,
           hostfile: str | None = None, allow_run_as_root: bool | None = None, oversubscribe: bool = False,
           verbose: bool = False, executable: str | None = None, args: Iterable[str] = (),
           _tool: int = _abi.MPIJOB_LAUNCH_MPIRUN) -> Command:
    """The words of mpirun of the job's MPI: Open MPI 4 and 5, MPICH, or Intel MPI (mpiexec.hydra).

    np                 ranks; without it one for each slot of the job
    ranks_per_host     ranks on each host
    env, known         variables for the ranks: see this module
    env_only           Intel MPI and MPICH: only `env` goes to the ranks, and not all that the launcher has
    bind_to            "none", "hwthread", "core", "socket" or "numa"
    map_by             "slot" fills one host after the other, "node" lets them take turns; with Open MPI all that it knows
    hostfile           another one than the operator's
    allow_run_as_root  Open MPI; None: unless the launcher's template names a user
    oversubscribe      more ranks than slots may be started
    executable         what is run in place of the tool's name
    args               more words, before the program
    """
    return _command(job, program, _tool, env, known, args, np=np, ranks_per_host=ranks_per_host,
                    env_only=env_only, bind_to=bind_to, map_by=map_by, hostfile=hostfile, oversubscribe=oversubscribe,
                    verbose=verbose, executable=executable, allow_run_as_root=_root(allow_run_as_root))


@checked
def mpiexec(job: MPIJob, program: str | Sequence[str], **options: Any) -> Command:
    """The words of mpiexec, with the options of mpirun()."""
    return mpirun(job, program, _tool=_abi.MPIJOB_LAUNCH_MPIEXEC, **options)


@checked
def horovodrun(job: MPIJob, program: str | Sequence[str], *, np: int = 0, elastic: bool = False, min_np: int = 0, max_np: int = 0,
               ranks_per_host: int = 0, elastic_timeout: int = 0, reset_limit: int = 0, start_timeout: int = 0,
               backend: str | None = None, network_interface: str | None = None, log_level: str | None = None,
               verbose: bool = False, env: Env = (), bind_to: str | None = None, map_by: str | None = None,
               hostfile: str | None = None, executable: str | None = None, args: Iterable[str] = ()) -> Command:
    """The words of horovodrun; with `elastic` hosts come and go, and discover_hosts.sh of the operator tells which there are.

    np                       ranks; elastic: to begin with
    min_np, max_np           elastic: bounds; the slots of one host, and np, without them
    ranks_per_host           elastic: ranks on each host
    elastic_timeout          elastic: seconds to wait for ranks after a change
    reset_limit              elastic: changes after which it gives up
    start_timeout            seconds until all ranks must have started
    backend                  "gloo" or "mpi"; the latter takes bind_to and map_by too
    network_interface        "eth0,eth1"
    log_level                "TRACE", "DEBUG", "INFO", "WARNING", "ERROR" or "FATAL"
    """
    return _command(job, program, _abi.MPIJOB_LAUNCH_HOROVODRUN, env, (), args, np=np, elastic=elastic, min_np=min_np, max_np=max_np,
                    ranks_per_host=ranks_per_host, elastic_timeout=elastic_timeout, reset_limit=reset_limit,
                    start_timeout=start_timeout, backend=backend, network_interface=network_interface, log_level=log_level,
                    verbose=verbose, bind_to=bind_to, map_by=map_by, hostfile=hostfile, executable=executable)


@checked
def deepspeed(job: MPIJob, program: str | Sequence[str], *, ranks_per_host: int = 0, backend: str | None = None, env: Env = (),
              known: Iterable[str] = (), bind_to: str | None = None, map_by: str | None = None, hostfile: str | None = None,
              allow_run_as_root: bool | None = None, executable: str | None = None, args: Iterable[str] = ()) -> Command:
    """The words of deepspeed: a Python script and its arguments, or any program with args=["--no_python"].

    backend   its --launcher: "pdsh" (which sends only NCCL*, PYTHON*, UCX*, MV2* and MLFLOW*) or "openmpi"
    """
    return _command(job, program, _abi.MPIJOB_LAUNCH_DEEPSPEED, env, known, args, ranks_per_host=ranks_per_host, backend=backend,
                    bind_to=bind_to, map_by=map_by, hostfile=hostfile, executable=executable,
                    allow_run_as_root=_root(allow_run_as_root))
