# SPDX-License-Identifier: Apache-2.0
"""The first sample of Flyte's page on kfmpi; only its imports are others."""
from flytekit import Resources, task
from mpijob.flyte.task import Launcher, MPIFunctionTask, MPIJob, Worker


@task
def my_mpi_training_job(epochs: int) -> float:
    """
    This function will be executed by each MPI process.
    Your MPI training code should be placed here.
    """
    import os
    # Example: Accessing MPI rank (requires MPI to be initialized in the container)
    # This is a placeholder, actual MPI initialization depends on your library (e.g., mpi4py)
    rank = os.environ.get("OMPI_COMM_WORLD_RANK", "0")
    size = os.environ.get("OMPI_COMM_WORLD_SIZE", "1")
    print(f"Running MPI training for {epochs} epochs on rank {rank} of {size}")
    return 0.5 # Example metric

# Define the MPI task
mpi_task = MPIFunctionTask(
    task_config=MPIJob(
        worker=Worker(
            replicas=2,
            requests=Resources(cpu="1", mem="2Gi"),
            image="my-custom-mpi-image:latest", # Image must have MPI installed
        ),
        launcher=Launcher(
            requests=Resources(cpu="0.5", mem="1Gi"),
            image="my-custom-mpi-image:latest",
        ),
        slots=1,
    ),
    task_function=my_mpi_training_job,
)
