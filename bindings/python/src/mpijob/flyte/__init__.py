# SPDX-License-Identifier: Apache-2.0
"""MPI tasks for Flyte: what flytekitplugins.kfmpi has, over this package.

Importing it loads no shared library, so the image of a task needs flytekit and these few Python files only.
"""
from .local import RankError, local_ranks
from .task import (
    CleanPodPolicy,
    HorovodFunctionTask,
    HorovodJob,
    Launcher,
    MPIFunctionTask,
    MPIJob,
    RestartPolicy,
    RunPolicy,
    Worker,
)

__all__ = [
    "CleanPodPolicy",
    "HorovodFunctionTask",
    "HorovodJob",
    "Launcher",
    "MPIFunctionTask",
    "MPIJob",
    "RankError",
    "RestartPolicy",
    "RunPolicy",
    "Worker",
    "local_ranks",
]
