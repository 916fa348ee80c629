/* SPDX-License-Identifier: Apache-2.0 */
/* The least MPI program that shows where its ranks run and that they talk to each other. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	char host[MPI_MAX_PROCESSOR_NAME];
	int rank;
	int size;
	int sum;
	int len;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Get_processor_name(host, &len);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d on %s, sum %d\n", rank, size, host, sum);
	MPI_Finalize();
	return 0;
}
