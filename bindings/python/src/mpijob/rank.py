# SPDX-License-Identifier: Apache-2.0
"""Which rank this process is, before or without MPI_Init: from the variables that whoever started it has set.

    if mpijob.rank.read().rank == 0:
        write_results()

Open MPI, MPICH, Intel MPI, MVAPICH, horovodrun, torchrun, deepspeed, Slurm, Flux and PMIx are known. A value that makes no sense,
and launchers that contradict each other, are a SpecError: a guess would be worse.
"""
from __future__ import annotations

import os
from collections.abc import Mapping
from ctypes import byref, c_char_p, cast
from typing import NamedTuple

from . import _abi
from ._library import core, decoded
from .errors import check
from .findings import Diag

SOURCES = {value: name[len("MPIJOB_RANK_"):].lower() for name, value in vars(_abi).items()
           if name.startswith("MPIJOB_RANK_") and isinstance(value, int)}


class Rank(NamedTuple):
    """Which one of how many; None for what the launcher does not tell."""

    rank: int
    size: int | None
    local_rank: int | None
    local_size: int | None
    source: str           # "openmpi", "hydra", ...; "none": nobody has told, so it is rank 0 of 1
    variable: str | None  # that the rank is from

    @property
    def is_first(self) -> bool:
        """Whether this is rank 0, as a process that runs alone is."""
        return self.rank == 0


def read(environment: Mapping[str, str] | None = None) -> Rank:
    """Which rank this process is, or one with another environment."""
    given = os.environ if environment is None else environment
    entries = [os.fsencode(f"{name}={value}") for name, value in given.items() if "\0" not in name + value]
    array = (c_char_p * (len(entries) + 1))(*entries, None)
    out = _abi.mpijob_rank()
    with Diag() as diag:
        check(core.mpijob_rank_read(cast(array, core.mpijob_rank_read.argtypes[0]), byref(out), diag.handle), diag)

    def known(number: int) -> int | None:
        return None if number < 0 else number

    return Rank(out.rank, known(out.world_size), known(out.local_rank), known(out.local_size), SOURCES[out.source],
                decoded(out.variable))
