# SPDX-License-Identifier: Apache-2.0
"""MPI tasks for local runs: one that works, one that fails as it is told to."""
import os
import sys
import typing

from flytekit import PodTemplate, current_context, task
from flytekit.types.file import FlyteFile
from kubernetes.client import V1Container, V1HostPathVolumeSource, V1PodSpec, V1Volume, V1VolumeMount
from mpijob.flyte.task import HorovodJob, MPIJob, Worker

Found = typing.NamedTuple("Found", [("total", float), ("names", typing.List[str]), ("report", FlyteFile)])


@task(task_config=MPIJob(worker=Worker(replicas=2), slots=2), environment={"GREETING": "good day"})
def add(values: typing.List[int], factor: FlyteFile) -> Found:
    """Each rank adds up its share; rank 0 knows all."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    with open(factor) as file:
        times = int(file.read())
    print(os.environ["GREETING"], "from", world.rank, flush=True)
    print("a complaint", file=sys.stderr, flush=True)
    total = world.allreduce(sum(values[world.rank::world.size]) * times)
    names = world.gather(os.uname().nodename) or []
    path = os.path.join(current_context().working_directory, "report.txt")
    if world.rank == 0:
        with open(path, "w") as file:
            file.write(f"total {total}\n")
    return Found(total=float(total), names=sorted(names), report=FlyteFile(path if world.rank == 0 else __file__))


class Odd(ValueError):
    """An exception of somebody's."""

    def __init__(self, number: int):
        super().__init__(f"{number} is odd")
        self.number = number


@task(task_config=MPIJob(worker=Worker(replicas=2)))
def fail(rank: int, how: str) -> int:
    """The other rank waits for the one that fails."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    if world.rank == rank:
        if how == "raise":
            raise Odd(2 * rank + 1)
        if how == "kill":
            os.kill(os.getpid(), 9)
        os._exit(7)
    world.barrier()
    return 1


@task(task_config=HorovodJob(worker=Worker(replicas=2)))
def horovod() -> str:
    """Horovod's tasks run here as MPI's do."""
    return os.environ["OMPI_COMM_WORLD_SIZE"]


def shared_pods():
    """Pods that share the folder which the test names."""
    path = os.environ.get("MPIJOB_TEST_FOLDER", "/")
    spec = V1PodSpec(volumes=[V1Volume(name="shared", host_path=V1HostPathVolumeSource(path=path))],
                     containers=[V1Container(name="primary", volume_mounts=[V1VolumeMount(name="shared", mount_path=path)])])
    return PodTemplate(pod_spec=spec, primary_container_name="primary")


def as_in_an_image():
    """Variables with which Python and this module are found."""
    places = [os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH", "")]
    return {"PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(places),
            "LD_LIBRARY_PATH": ""}


@task(task_config=MPIJob(worker=Worker(replicas=2), slots=2), pod_template=shared_pods(), environment=as_in_an_image())
def sums(number: int) -> int:
    """What a container's ranks do."""
    from mpi4py import MPI

    print("here is", MPI.COMM_WORLD.rank, flush=True)
    return MPI.COMM_WORLD.allreduce(number + MPI.COMM_WORLD.rank)
