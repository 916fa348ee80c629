# SPDX-License-Identifier: Apache-2.0
"""Run a job on this machine, in a cluster of its own, from its beginning to its end: `mpijob.run()`."""
from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from ctypes import byref
from typing import Any, Literal, Union

from . import _abi
from ._arguments import checked
from ._calls import warn
from ._library import core, decoded, encoded
from ._operations import Cause, job_of, milliseconds
from ._progress import progress as progress_of
from ._streams import LITTLE, MUCH, LogLine, Stream, _guarded
from .document import Document, loads_all
from .errors import Error, SpecError, TimeoutError, UsageError, check, failure  # noqa: A004
from .findings import Finding
from .job import MPIJob
from .local import LocalCluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._channel import Channel
    from ._progress import Silent

Output = Union[Callable[[LogLine], None], Any, None]

MANAGER = "kubeflow.org/mpi-operator"
_TOLD = ("container-failed", "backoff-limit", "job-failed", "launcher-gone")  # what the first line says
_BEFORE = ("Namespace", "PriorityClass", "ConfigMap", "Secret")


class Result:
    """How a run ended.

    job         the MPIJob as it was in the end
    succeeded   whether it has
    exit_code   of the launcher's last attempt; None when it never ended by itself
    reason, message    of the condition Succeeded or Failed
    causes      of a failure, each with `advice`
    seconds     from the beginning to the end
    """

    def __init__(self, job: MPIJob, succeeded: bool, exit_code: int | None, reason: str, message: str, causes: list[Cause],
                 seconds: float) -> None:
        self.job = job
        self.succeeded = succeeded
        self.exit_code = exit_code
        self.reason = reason
        self.message = message
        self.causes = causes
        self.seconds = seconds

    def __repr__(self) -> str:
        return f"<Result {self.job.name} {'succeeded' if self.succeeded else 'failed'} exit_code={self.exit_code}>"


class RunError(Error):
    """A job that was run has failed; `result` tells how, `findings` why."""

    def __init__(self, message: str, code: int | None = None, findings: Iterable[Finding] = (), result: Result | None = None) -> None:
        super().__init__(message, code, list(findings))
        self.result = result

    def __reduce__(self) -> Any:
        return RunError, (self.message, self.code, self.findings, None)


@checked
def run(job: Any, *, output: Output = None, progress: bool | Literal["rich", "tqdm", "lines"] | None = None, check: bool = True,
        timeout: float | None = None, objects: Iterable[Any] = (), reference: bool = False, cluster_domain: str | None = None,
        allow_host_path: bool = False, backoff_base: float | None = None, node_program: str | None = None) -> Result:
    """Run a job on this machine and wait for its end: real pods, sshd and mpirun; the image is this machine's files.

        result = mpijob.run("pi.yaml")

    job        an MPIJob, the path of a file, YAML or JSON text, a dict, or a model. What else is in a file is made too:
               namespaces, priority classes, config maps, secrets
    output     gets each line that the launcher prints: a function of a `LogLine`, a file, or the path of a new file;
               None: standard output
    progress   None: on a terminal as rich or tqdm show it, when one is installed, else in lines on standard error;
               'rich', 'tqdm', 'lines', or False
    check      a job that fails is a RunError, with its causes; else see the result
    timeout    seconds, after which the job is stopped, and TimeoutError raised
    objects    more of what the job needs, as `job`
    reference, cluster_domain, allow_host_path, backoff_base, node_program    as for `LocalCluster`

    A pod that cannot run is reported on the logger "mpijob" (standard error, unless the program configures logging) at each
    attempt. All arguments are checked before the job starts. Ctrl-C stops the job, which has the time to end that its template gives it; a second one ends it at once. Nothing is left
    behind either way.
    """
    begun = time.monotonic()
    milliseconds(timeout)
    sent, needed = _read(job)
    needed += [Document(each) for each in objects]
    _check(sent)
    with _writer(output) as write:
        shown = progress_of(progress, sent.name or "job", _workers(sent))
        try:
            with LocalCluster(namespace=sent.namespace or "default", reference=reference, cluster_domain=cluster_domain,
                              allow_host_path=allow_host_path, backoff_base=backoff_base, node_program=node_program) as cluster:
                return _Run(cluster, sent, write, shown).life(needed, begun, timeout, check)
        finally:
            shown.hide()


def _read(job: Any) -> tuple[MPIJob, list[Document]]:
    """The job, and what stands beside it in its file."""
    if isinstance(job, str) and "\n" not in job and "{" not in job:
        name, text = job, b""
    elif isinstance(job, os.PathLike):
        name, text = os.fspath(job), b""
    elif isinstance(job, (str, bytes)):
        name, text = "", job.encode() if isinstance(job, str) else job
    else:
        return job_of(job), []
    if name:
        with open(name, "rb") as file:
            text = file.read()
    documents = loads_all(text, name or None)
    jobs = [d for d in documents if core.mpijob_is_job(d.root)]
    if len(jobs) != 1:
        raise UsageError(f"{name or 'the text'} holds {len(jobs)} MPIJobs: give one of them" if jobs else
                         f"no MPIJob is in {name or 'the text'}")
    return MPIJob.loads(text, name or None), [d for d in documents if d.find("kind") in _BEFORE]


def _check(job: MPIJob) -> None:
    """Refuse what cannot run, with all findings at once."""
    copy = job.copy().default()
    copy.check()
    with copy.document as document:
        manager = document.find("spec.runPolicy.managedBy")
        if manager not in (None, MANAGER):
            raise SpecError(f"spec.runPolicy.managedBy leaves this job to '{manager}', so nothing would run it here; remove the field")


def _workers(job: MPIJob) -> int:
    with job.copy().default().document as document:
        return int(document.find("spec.mpiReplicaSpecs.Worker.replicas") or 0)


@contextlib.contextmanager
def _writer(output: Output) -> Iterator[Callable[[LogLine], None]]:
    """A function for each line."""
    if callable(output):
        yield output
    elif isinstance(output, (str, os.PathLike)):
        with open(output, "wb") as file:
            yield _lines_to(file)
    else:
        yield _lines_to(sys.stdout if output is None else output)


def _lines_to(file: Any) -> Callable[[LogLine], None]:
    """A function that writes a line to a file, which takes bytes or text."""
    if not callable(getattr(file, "write", None)):
        raise TypeError(f"run(): output must be a function, a file or a path, not {type(file).__name__}")
    raw = getattr(file, "buffer", None)
    is_binary = not hasattr(file, "encoding") and ("b" in getattr(file, "mode", "") or hasattr(file, "readinto"))

    def write(line: LogLine) -> None:
        data = line.data + (b"\n" if line.whole else b"")
        if raw is not None:
            file.flush()
            raw.write(data)
            raw.flush()
            return
        file.write(data if is_binary else data.decode("utf-8", "replace"))
        getattr(file, "flush", int)()

    return write


class _RunStream(Stream):
    """Events of a run of the library: lines of the launcher, and pairs of phase and ready workers."""

    def __init__(self, channel: Channel, job: MPIJob) -> None:
        super().__init__(channel)
        self.causes: list[Cause] = []
        self._paused = False
        options = _abi.mpijob_run_options(namespace_=encoded(job.namespace), name=encoded(job.name), uid=encoded(job.uid),
                                          event=_run_event, user=self.number)
        check(core.mpijob_run_new(channel.client, byref(options), byref(self._handle)))
        self._expect()

    def came(self, event: Any) -> None:
        """An event."""
        if event.kind == _abi.MPIJOB_RUN_STATUS:
            self.queue.append((decoded(event.phase) or "", event.ready))
        elif event.kind == _abi.MPIJOB_RUN_OUTPUT and event.is_main:
            self.queue.append(LogLine(decoded(event.pod) or "", decoded(event.container) or "",
                                      ctypes.string_at(event.data, event.len), bool(event.whole), event.attempt))
            self._pause(len(self.queue) > MUCH or self._paused)
        elif event.kind == _abi.MPIJOB_RUN_FINDING:
            self.causes.append(Cause(**Finding.of(event.finding.contents).to_dict()))
        elif event.kind in (_abi.MPIJOB_RUN_NOTICE, _abi.MPIJOB_RUN_CONNECTION) and event.code < 0:
            warn([Finding("warning", "request-failed", None, None, decoded(event.message) or "")])
        self._tell()

    def _pause(self, on: bool) -> None:
        if on != self._paused and self.channel.client:
            self._paused = on
            core.mpijob_run_pause(self._handle, int(on))

    def take(self) -> Any:
        found = self.queue.popleft()
        self._pause(self._paused and len(self.queue) >= LITTLE)
        return found

    def is_over(self) -> bool:
        state = 0 if self.closed else core.mpijob_run_state(self._handle)
        if state < 0:
            self.fail(failure(state))
        return state <= 0

    def stop(self) -> None:
        """Delete the job, and follow its launcher for the time that its template gives it."""
        check(core.mpijob_run_stop(self._handle, -1))

    def exit_code(self) -> int | None:
        """Of the launcher's last run; None: it has not ended by itself."""
        result = core.mpijob_run_get_result(self._handle).contents
        return result.exit_code if result.has_exit_code else None

    def _free(self) -> None:
        core.mpijob_run_free(self._handle)


def _when_event(number: int, event: Any) -> None:
    _guarded(number, lambda stream: stream.came(event.contents))


_run_event = _abi.mpijob_run_options_event_fn(_when_event)


class _Run:
    """One run under way."""

    def __init__(self, cluster: LocalCluster, job: MPIJob, write: Callable[[LogLine], None], shown: Silent) -> None:
        self.cluster = cluster
        self.job = job
        self.name = job.name or ""
        self.write = write
        self.shown = shown

    def life(self, needed: list[Document], begun: float, timeout: float | None, check: bool) -> Result:
        """Create the job, follow it to its end, and return the result."""
        self._make(needed)
        self.shown.show("starting", 0)
        stored = self.cluster.submit(self.job)
        self.name = stored.name or self.name
        with self.cluster._alone():
            stream = _RunStream(self.cluster._channel, stored)
            self.cluster._streams.add(stream)
        deadline = None if timeout is None else begun + timeout
        try:
            if not self._follow(stream, deadline):
                raise self._late(timeout)
        except (KeyboardInterrupt, TimeoutError):
            stream.stop()
            self._follow(stream, None)
            raise
        return self._judge(stream, time.monotonic() - begun, check)

    def _late(self, timeout: float | None) -> TimeoutError:
        causes = self.cluster.diagnose(self.name)
        text = f"{self.name} did not end within {timeout:g} seconds, and was stopped"
        return TimeoutError("\n".join([text, *self._told(causes, ())]), findings=causes)

    def _make(self, needed: list[Document]) -> None:
        space = self.cluster.namespace
        names = {d.find("metadata.name") for d in needed if d.find("kind") == "Namespace"}
        if space != "default" and space not in names:
            self.cluster.create_object({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}, "")
        for document in sorted(needed, key=lambda each: int(core.mpijob_run_order(each.root))):
            self.cluster._run(self.cluster._create(document))

    def _follow(self, stream: _RunStream, deadline: float | None) -> bool:
        """Pass on all that happens, until the run is over. False: the time was over before that."""
        while True:
            in_time = self.cluster._until(lambda: bool(stream.queue) or stream.is_over(), deadline)
            while stream.queue:
                event = stream.take()
                if isinstance(event, LogLine):
                    self.shown.hide()
                    self.write(event)
                else:
                    self.shown.show(*event)
            if stream.error is not None:
                raise stream.error
            if not in_time or stream.is_over():
                return in_time

    def _told(self, causes: list[Cause], left_out: Iterable[str]) -> list[str]:
        """Lines of a message: each cause, with its advice."""
        lines: list[str] = []
        for cause in causes:
            if cause.id in left_out:
                continue
            lines.append(str(cause))
            if cause.id == "program-not-found":
                lines.append(f"  {self._program_advice(cause)}")
            elif cause.severity != "info":
                lines.append(f"  {cause.advice}")
        return lines

    def _program_advice(self, cause: Cause) -> str:
        """Where the pod looks for its program, and where the caller has it."""
        with self.job.document as document:
            container = document.find("spec.mpiReplicaSpecs.Launcher.template.spec.containers[0]") or {}
        program = (container.get("command") or container.get("args") or [""])[0]
        here = shutil.which(program) if f"cannot run {program}:" in cause.message else None
        return ("A pod has a PATH of its own: that of the caller and its virtual environment are not used. " +
                (f"Here {program} is {os.path.abspath(here)}: give that path." if here else
                 "Give the whole path of a program that this machine has, or set PATH in the container's `env`."))

    def _judge(self, stream: _RunStream, seconds: float, check: bool) -> Result:
        job = self.cluster.get(self.name)
        conditions = {c["type"]: c for c in (job.to_dict().get("status") or {}).get("conditions", []) if c.get("status") == "True"}
        succeeded = "Succeeded" in conditions
        last = conditions.get("Succeeded") or conditions.get("Failed") or {}
        exit_code, causes = stream.exit_code(), [] if succeeded else stream.causes
        if succeeded and exit_code is None:
            exit_code = 0
        result = Result(job, succeeded, exit_code, last.get("reason", ""), last.get("message", ""), causes, seconds)
        self.shown.hide()
        if succeeded:
            self.shown.say(f"{self.name} succeeded after {seconds:.1f} s")
        elif check:
            lines = [f"{self.name} failed: {result.reason}: {result.message}"]
            if result.exit_code is not None:
                lines[0] += f" (the launcher's exit code is {result.exit_code})"
            raise RunError("\n".join([*lines, *self._told(causes, _TOLD)]), findings=causes, result=result)
        return result
