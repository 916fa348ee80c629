/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes pi by the midpoint rule: each rank adds up its share of the strips under 4 / (1 + x^2)
 * between 0 and 1, and says on which host it did so.
 */
#include <mpi.h>
#include <stdio.h>

#define STRIPS 20000000L

static double share(int rank, int size)
{
	double sum = 0.0;

	for (long strip = rank; strip < STRIPS; strip += size) {
		double x = ((double)strip + 0.5) / (double)STRIPS;
		sum += 4.0 / (1.0 + x * x);
	}
	return sum / (double)STRIPS;
}

int main(int argc, char **argv)
{
	char host[MPI_MAX_PROCESSOR_NAME];
	int rank, size, len;
	double pi = 0.0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Get_processor_name(host, &len);
	printf("rank %d of %d on %s\n", rank, size, host);
	fflush(stdout);

	double part = share(rank, size);
	MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("pi is approximately %.15f\n", pi);
	MPI_Finalize();
	return 0;
}
