/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI program that knows its rank before MPI_Init() from its environment, and compares it with
 * what MPI says then. Prints both and the variables that it is asked for: rank_helper [NAME...].
 * Tests build it with the compiler of each MPI.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mpijob/rank.h>

extern char **environ;

int main(int argc, char **argv)
{
	struct mpijob_rank told = MPIJOB_RANK_INIT;
	int code = mpijob_rank_read((const char *const *)environ, &told, NULL);
	char host[MPI_MAX_PROCESSOR_NAME];
	int rank, size, local_rank, local_size, len;
	MPI_Comm here;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
	MPI_Comm_rank(here, &local_rank);
	MPI_Comm_size(here, &local_size);
	MPI_Get_processor_name(host, &len);
	int agree = code == 1 && told.rank == rank && told.world_size == size &&
		    told.local_rank == local_rank && told.local_size == local_size;
	/* One write, so that lines of several ranks do not mix. */
	char line[4096];
	len = snprintf(line, sizeof(line),
	    "rank %d of %d on %s, local %d of %d, told %d: %d of %d, local %d of %d by %s, %s",
	    rank, size, host, local_rank, local_size, code, (int)told.rank, (int)told.world_size,
	    (int)told.local_rank, (int)told.local_size, told.variable ? told.variable : "nobody",
	    agree ? "agree" : "DIFFER");
	for (int i = 1; i < argc && len < (int)sizeof(line); i++)
		len += snprintf(line + len, sizeof(line) - (size_t)len, " <%s=%s>", argv[i],
		    getenv(argv[i]) ? getenv(argv[i]) : "(none)");
	len = len < (int)sizeof(line) - 1 ? len : (int)sizeof(line) - 1;
	line[len] = '\n';
	agree &= write(STDOUT_FILENO, line, (size_t)len + 1) == len + 1;
	MPI_Finalize();
	return !agree;
}
