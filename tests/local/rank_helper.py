# SPDX-License-Identifier: Apache-2.0
"""tests/local/rank_helper.c in Python: the rank before MPI is there, compared with what mpi4py says then."""
import sys

import mpijob.rank

told = mpijob.rank.read()
from mpi4py import MPI  # noqa: E402  # pylint: disable=wrong-import-position

world = MPI.COMM_WORLD
here = world.Split_type(MPI.COMM_TYPE_SHARED)
have = (world.rank, world.size, here.rank, here.size)
agree = told[:4] == have
sys.stdout.write(f"rank {have[0]} of {have[1]} on {MPI.Get_processor_name()}, local {have[2]} of {have[3]}, told {told[:4]} by "
                 f"{told.variable}, {'agree' if agree else 'DIFFER'}\n")
sys.stdout.flush()
sys.exit(not agree)
