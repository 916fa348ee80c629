# SPDX-License-Identifier: Apache-2.0
"""Task types whose function runs on every rank of an MPIJob. This file knows what flytekitplugins.kfmpi.task writes into a
task's template: its arguments, its `custom`, and which configurations it refuses in which words.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Callable, Dict, List, Optional, Type, TypeVar, Union

from flyteidl.plugins.kubeflow import common_pb2, mpi_pb2
from flytekit import PythonFunctionTask, Resources
from flytekit.configuration import SerializationSettings
from flytekit.core.resources import convert_resources_to_resource_model
from flytekit.extend import TaskPlugins
from google.protobuf.json_format import MessageToDict

from . import local
from .mode import KFMPI, REPAIRED, mode

__all__ = [
    "CleanPodPolicy",
    "HorovodFunctionTask",
    "HorovodJob",
    "Launcher",
    "MPIFunctionTask",
    "MPIJob",
    "RestartPolicy",
    "RunPolicy",
    "Worker",
]

_Choice = TypeVar("_Choice", bound=Enum)


def _as_kfmpi(choice: Type[_Choice]) -> Type[_Choice]:
    """There all members of an enum compare equal and cannot be hashed; programs that saw it may ask for it."""
    return dataclass(choice) if mode() == KFMPI else choice


@_as_kfmpi
class RestartPolicy(Enum):
    """When a replica's pod is started again."""

    ALWAYS = common_pb2.RESTART_POLICY_ALWAYS
    FAILURE = common_pb2.RESTART_POLICY_ON_FAILURE
    NEVER = common_pb2.RESTART_POLICY_NEVER


@_as_kfmpi
class CleanPodPolicy(Enum):
    """Which pods are deleted when the job has ended."""

    NONE = common_pb2.CLEANPOD_POLICY_NONE
    ALL = common_pb2.CLEANPOD_POLICY_ALL
    RUNNING = common_pb2.CLEANPOD_POLICY_RUNNING


@dataclass
class RunPolicy:
    """How long the job may run, how often it is tried, and what stays of it.

    Args:
        clean_pod_policy: which pods are deleted when the job has ended.
        ttl_seconds_after_finished: after so many seconds the ended job itself is deleted.
        active_deadline_seconds: the job fails after so many seconds.
        backoff_limit: how often the launcher may fail before the job has.
    """

    clean_pod_policy: Optional[CleanPodPolicy] = None
    ttl_seconds_after_finished: Optional[int] = None
    active_deadline_seconds: Optional[int] = None
    backoff_limit: Optional[int] = None


@dataclass
class Worker:
    """The pods that run the ranks.

    Args:
        command: what they run, in place of the task's arguments.
        image: their image, in place of the task's.
        requests: what they need, in place of the task's.
        limits: what they get at most, in place of the task's.
        replicas: how many they are.
        restart_policy: when one of them is started again.
    """

    command: Optional[List[str]] = None
    image: Optional[str] = None
    requests: Optional[Resources] = None
    limits: Optional[Resources] = None
    replicas: Optional[int] = None
    restart_policy: Optional[RestartPolicy] = None


@dataclass
class Launcher:
    """The pod that runs mpirun or horovodrun. `replicas` is 1 unless given; the other arguments are those of Worker."""

    command: Optional[List[str]] = None
    image: Optional[str] = None
    requests: Optional[Resources] = None
    limits: Optional[Resources] = None
    replicas: Optional[int] = None
    restart_policy: Optional[RestartPolicy] = None


@dataclass
class MPIJob:
    """The configuration of a task that mpirun starts.

    Args:
        launcher: the launcher's pod.
        worker: the workers' pods.
        run_policy: how long, how often, and what stays.
        slots: how many ranks each worker runs.
        num_launcher_replicas: deprecated; launcher.replicas.
        num_workers: deprecated; worker.replicas.
    """

    launcher: Launcher = field(default_factory=Launcher)
    worker: Worker = field(default_factory=Worker)
    run_policy: Optional[RunPolicy] = None
    slots: int = 1
    num_launcher_replicas: Optional[int] = None
    num_workers: Optional[int] = None


@dataclass
class HorovodJob:
    """The configuration of a task that horovodrun starts.

    Args:
        worker: the workers' pods.
        launcher: the launcher's pod.
        run_policy: how long, how often, and what stays.
        slots: how many ranks each worker runs.
        verbose: whether horovodrun says more.
        log_level: how much Horovod says.
        discovery_script_path: the script that prints the hosts.
        elastic_timeout: how many seconds Horovod waits for enough hosts.
        num_launcher_replicas: deprecated; launcher.replicas.
        num_workers: deprecated; worker.replicas.
    """

    worker: Worker = field(default_factory=Worker)
    launcher: Launcher = field(default_factory=Launcher)
    run_policy: Optional[RunPolicy] = None
    slots: int = 1
    verbose: Optional[bool] = False
    log_level: Optional[str] = "INFO"
    discovery_script_path: Optional[str] = "/etc/mpi/discover_hosts.sh"
    elastic_timeout: Optional[int] = 1200
    num_launcher_replicas: Optional[int] = None
    num_workers: Optional[int] = None


_Config = Union[MPIJob, HorovodJob]

_BOTH = "Cannot specify both `num_workers` and `{new}`. Please use `{new}` as `{old}` is depreacated."
_NEITHER = "Must specify either `num_workers` or `{new}`. Please use `{new}` as `{old}` is depreacated."


def _check_count(old: str, old_count: Optional[int], new: str, count: Optional[int], is_needed: bool = True) -> None:
    if old_count and count:
        raise ValueError(_BOTH.format(old=old, new=new))
    if is_needed and old_count is None and count is None:
        raise ValueError(_NEITHER.format(old=old, new=new))


def _check_at_least_one(count: Optional[int], name: str) -> None:
    if count is not None and count < 1:
        raise ValueError(f"`{name}` must be at least 1, not {count}")


def _check(config: _Config) -> None:
    how = mode()
    _check_count("num_workers", config.num_workers, "worker.replicas", config.worker.replicas)
    _check_count("num_launcher_replicas", config.num_launcher_replicas, "launcher.replicas", config.launcher.replicas,
                 how == KFMPI)
    if how == REPAIRED:
        _check_at_least_one(config.num_workers or config.worker.replicas or 0, "worker.replicas")
        _check_at_least_one(config.slots, "slots")


def _launchers(config: _Config) -> Optional[int]:
    """How many launchers the template names; none given is one, and a given zero is left to the backend."""
    if config.num_launcher_replicas:
        return config.num_launcher_replicas
    if config.launcher.replicas is None and config.num_launcher_replicas is None:
        return 1
    return config.launcher.replicas


def _value(choice: Optional[Enum]) -> Any:
    return choice.value if choice else None


def _keep(into: Dict[str, Any], **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            into.setdefault(name, value)


def _keep_zeroes(custom: Dict[str, Any], config: _Config) -> None:
    """A message's JSON has no zeroes: what was given and is not there was one."""
    for key, replica in (("workerReplicas", config.worker), ("launcherReplicas", config.launcher)):
        _keep(custom[key], replicas=replica.replicas, restartPolicy=replica.restart_policy and "RESTART_POLICY_NEVER")
    policy = config.run_policy
    if policy:
        _keep(
            custom["runPolicy"],
            cleanPodPolicy=policy.clean_pod_policy and "CLEANPOD_POLICY_NONE",
            ttlSecondsAfterFinished=policy.ttl_seconds_after_finished,
            activeDeadlineSeconds=policy.active_deadline_seconds,
            backoffLimit=policy.backoff_limit,
        )


class MPIFunctionTask(PythonFunctionTask[MPIJob]):
    """A function that mpirun runs on every rank: `@task(task_config=MPIJob(...))`."""

    _MPI_JOB_TASK_TYPE = "mpi"
    _MPI_BASE_COMMAND = (
        "mpirun --allow-run-as-root -bind-to none -map-by slot -x LD_LIBRARY_PATH -x PATH -x NCCL_DEBUG=INFO"
        " -mca pml ob1 -mca btl ^openib"
    ).split()

    def __init__(self, task_config: MPIJob, task_function: Callable[..., Any], **kwargs: Any):
        _check(task_config)
        # The backend reads `custom` by this version.
        super().__init__(task_config=task_config, task_function=task_function, task_type=self._MPI_JOB_TASK_TYPE,
                         task_type_version=1, **kwargs)

    def _workers(self) -> Any:
        return self.task_config.num_workers or self.task_config.worker.replicas

    def _mpirun(self) -> List[str]:
        return [*self._MPI_BASE_COMMAND, "-np", f"{self._workers() * self.task_config.slots}"]

    def _get_base_command(self, settings: SerializationSettings) -> List[str]:
        base: List[str] = super().get_command(settings)
        return base

    def get_command(self, settings: SerializationSettings) -> List[str]:
        """The container's arguments; the hosts come from the file that the operator's environment names."""
        base = self._get_base_command(settings)
        return [*self._mpirun(), "python", settings.entrypoint_settings.path, *base]

    def _convert_replica_spec(self, replica: Union[Launcher, Worker]) -> mpi_pb2.DistributedMPITrainingReplicaSpec:
        resources = convert_resources_to_resource_model(requests=replica.requests, limits=replica.limits)
        return mpi_pb2.DistributedMPITrainingReplicaSpec(
            command=replica.command,
            replicas=replica.replicas,
            image=replica.image,
            resources=resources.to_flyte_idl(),
            restart_policy=_value(replica.restart_policy),
        )

    def _convert_run_policy(self, run_policy: RunPolicy) -> common_pb2.RunPolicy:
        return common_pb2.RunPolicy(
            clean_pod_policy=_value(run_policy.clean_pod_policy),
            ttl_seconds_after_finished=run_policy.ttl_seconds_after_finished,
            active_deadline_seconds=run_policy.active_deadline_seconds,
            backoff_limit=run_policy.backoff_limit,
        )

    def get_custom(self, settings: SerializationSettings) -> Dict[str, Any]:
        """What the backend makes the job from: flyteidl.plugins.kubeflow.DistributedMPITrainingTask as JSON."""
        config = self.task_config
        worker = self._convert_replica_spec(config.worker)
        if config.num_workers:
            worker.replicas = config.num_workers
        launcher = self._convert_replica_spec(config.launcher)
        launchers = _launchers(config)
        if launchers:
            launcher.replicas = launchers
        message = mpi_pb2.DistributedMPITrainingTask(
            worker_replicas=worker,
            launcher_replicas=launcher,
            slots=config.slots,
            run_policy=self._convert_run_policy(config.run_policy) if config.run_policy else None,
        )
        custom: Dict[str, Any] = MessageToDict(message)
        if mode() == REPAIRED:
            _keep_zeroes(custom, config)
        return custom

    def execute(self, **kwargs: Any) -> Any:
        """Run the function: on this rank, or, where a local run is asked for, on as many as the job has."""
        if local.is_wanted():
            return local.run(self, self._mpirun(), kwargs)
        return super().execute(**kwargs)


class HorovodFunctionTask(MPIFunctionTask):
    """A function that horovodrun runs on every rank: `@task(task_config=HorovodJob(...))`."""

    def get_command(self, settings: SerializationSettings) -> List[str]:
        """The container's arguments."""
        base = self._get_base_command(settings)
        return self._get_horovod_prefix() + base

    def _get_horovod_prefix(self) -> List[str]:
        config = self.task_config
        workers = self._workers() if mode() == REPAIRED else config.worker.replicas
        ranks = f"{workers * config.slots}"
        options = {
            "-np": ranks,
            "--log-level": f"{config.log_level}",
            "--network-interface": "eth0",
            "--min-np": ranks,
            "--max-np": ranks,
            "--slots-per-host": f"{config.slots}",
            "--host-discovery-script": config.discovery_script_path,
            "--elastic-timeout": f"{config.elastic_timeout}",
        }
        words = [word for option in options.items() for word in option]
        return ["horovodrun", *words, *(["--verbose"] if config.verbose else [])]


TaskPlugins.register_pythontask_plugin(MPIJob, MPIFunctionTask)
TaskPlugins.register_pythontask_plugin(HorovodJob, HorovodFunctionTask)
