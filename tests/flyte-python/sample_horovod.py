# SPDX-License-Identifier: Apache-2.0
"""The second sample of Flyte's page on kfmpi; only its imports are others."""
from flytekit import Resources, task
from mpijob.flyte.task import HorovodFunctionTask, HorovodJob, Launcher, RestartPolicy, Worker


@task
def my_horovod_training_job(epochs: int) -> float:
    """
    This function will be executed by each Horovod process.
    Your Horovod training code should be placed here.
    """
    import horovod.tensorflow as hvd
    hvd.init() # Initialize Horovod
    print(f"Running Horovod training for {epochs} epochs on rank {hvd.rank()} of {hvd.size()}")
    # Example: Simulate training
    return 0.9 # Example metric

# Define the Horovod task
horovod_task = HorovodFunctionTask(
    task_config=HorovodJob(
        worker=Worker(
            replicas=4,
            requests=Resources(cpu="2", mem="4Gi", gpu="1"), # Requesting 1 GPU per worker
            image="my-horovod-gpu-image:latest", # Image must have Horovod and GPU drivers
            restart_policy=RestartPolicy.FAILURE,
        ),
        launcher=Launcher(
            requests=Resources(cpu="1", mem="2Gi"),
            image="my-horovod-gpu-image:latest",
        ),
        slots=1,
        verbose=True,
        log_level="DEBUG",
        elastic_timeout=1800, # 30 minutes
    ),
    task_function=my_horovod_training_job,
)
