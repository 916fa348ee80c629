# SPDX-License-Identifier: Apache-2.0
"""Pi by the midpoint rule, as pi.c computes it, with mpi4py: each rank says on which host it added up its strips."""
from mpi4py import MPI

STRIPS = 200_000


def share(rank, size):
    """The part of the sum that belongs to one rank."""
    return sum(4.0 / (1.0 + ((strip + 0.5) / STRIPS) ** 2) for strip in range(rank, STRIPS, size)) / STRIPS


def main():
    world = MPI.COMM_WORLD
    print(f"rank {world.rank} of {world.size} on {MPI.Get_processor_name()}", flush=True)
    pi = world.reduce(share(world.rank, world.size))
    if world.rank == 0:
        print(f"pi is approximately {pi:.15f}")


main()
