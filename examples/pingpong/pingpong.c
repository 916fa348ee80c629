/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends messages to and fro between each pair of hosts, one pair after the other, and names the
 * slowest: pingpong [FACTOR]. Exit code 1 when a pair is more than FACTOR (3) times slower than the
 * median pair, 2 when there is only one host.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 8
#define LARGE (1 << 20)

struct pair {
	int a, b;
	double latency, bandwidth; /* microseconds one way, megabytes a second */
};

static char message[LARGE], (*names)[MPI_MAX_PROCESSOR_NAME];

/* Seconds of one way, the least of some rounds: what else the hosts do only adds to it. */
static double one_way(int peer, int begins, int len, int times)
{
	double least = 1e9;

	for (int round = 0; round < 10; round++) {
		double begun = MPI_Wtime();
		for (int i = 0; i < times; i++) {
			if (begins)
				MPI_Send(message, len, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
			MPI_Recv(message, len, MPI_CHAR, peer, 0, MPI_COMM_WORLD,
			    MPI_STATUS_IGNORE);
			if (!begins)
				MPI_Send(message, len, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
		}
		double took = (MPI_Wtime() - begun) / (2.0 * times);
		least = took < least ? took : least;
	}
	return least;
}

static struct pair measure(int rank, int a, int b)
{
	double times[2] = { 0, 0 };

	if (rank == a || rank == b) {
		times[0] = one_way(rank == a ? b : a, rank == a, SMALL, 100);
		times[1] = one_way(rank == a ? b : a, rank == a, LARGE, 2);
	}
	MPI_Bcast(times, 2, MPI_DOUBLE, a, MPI_COMM_WORLD); /* the others wait here */
	return (struct pair){ a, b, times[0] * 1e6, LARGE / times[1] / 1e6 };
}

static int by_latency(const void *a, const void *b)
{
	double x = ((const struct pair *)a)->latency, y = ((const struct pair *)b)->latency;
	return (x > y) - (x < y);
}

static int by_bandwidth(const void *a, const void *b)
{
	double x = ((const struct pair *)a)->bandwidth, y = ((const struct pair *)b)->bandwidth;
	return (x < y) - (x > y);
}

/* The host whose pairs are the slowest on average. */
static int slowest_host(const struct pair *pairs, int count, int size)
{
	double worst = 0;
	int host = 0;

	for (int h = 0; h < size; h++) {
		double sum = 0, n = 0;
		for (int i = 0; i < count; i++)
			if (pairs[i].a == h || pairs[i].b == h)
				sum += pairs[i].latency + LARGE / pairs[i].bandwidth, n++;
		if (n > 0 && sum / n > worst) {
			worst = sum / n;
			host = h;
		}
	}
	return host;
}

static int report(struct pair *pairs, int count, int hosts, int size, double factor)
{
	struct pair late, thin, middle = { 0 };

	for (int i = 0; i < count; i++)
		printf("%s %s: %.2f us, %.1f MB/s\n", names[pairs[i].a], names[pairs[i].b],
		    pairs[i].latency, pairs[i].bandwidth);
	int host = slowest_host(pairs, count, size);
	qsort(pairs, (size_t)count, sizeof(*pairs), by_latency);
	late = pairs[count - 1];
	middle.latency = pairs[(count - 1) / 2].latency;
	qsort(pairs, (size_t)count, sizeof(*pairs), by_bandwidth);
	thin = pairs[count - 1];
	middle.bandwidth = pairs[(count - 1) / 2].bandwidth;
	int slow =
	    late.latency > factor * middle.latency || thin.bandwidth * factor < middle.bandwidth;
	printf("median: %.2f us, %.1f MB/s\n", middle.latency, middle.bandwidth);
	printf("%s: %d hosts, slowest host %s; latency %.2f us between %s and %s; bandwidth %.1f "
	       "MB/s between %s and %s\n",
	    slow ? "SLOW" : "ok", hosts, names[host], late.latency, names[late.a], names[late.b],
	    thin.bandwidth, names[thin.a], names[thin.b]);
	return slow;
}

/* Whether a rank is the first one of its host. */
static int speaks(int rank)
{
	for (int i = 0; i < rank; i++)
		if (strcmp(names[i], names[rank]) == 0)
			return 0;
	return 1;
}

/* Each pair of hosts by the first rank of each; the number of pairs. */
static int measure_all(int rank, int size, const char *first, struct pair *pairs)
{
	int count = 0;

	for (int b = 0; b < size; b++)
		for (int a = 0; a < b; a++)
			if (first[a] && first[b])
				pairs[count++] = measure(rank, a, b);
	return count;
}

int main(int argc, char **argv)
{
	char name[MPI_MAX_PROCESSOR_NAME] = "";
	int rank, size, len, hosts = 0, code = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Get_processor_name(name, &len);
	names = calloc((size_t)size, sizeof(*names));
	char *first = calloc((size_t)size, 1);
	if (!names || !first)
		MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_Allgather(name, sizeof(name), MPI_CHAR, names, sizeof(name), MPI_CHAR, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++) {
		first[i] = (char)speaks(i);
		hosts += first[i];
	}
	struct pair *pairs = calloc((size_t)hosts * (size_t)hosts, sizeof(*pairs));
	if (!pairs)
		MPI_Abort(MPI_COMM_WORLD, 3);
	int count = measure_all(rank, size, first, pairs);
	if (rank == 0 && count > 0)
		code = report(pairs, count, hosts, size, argc > 1 ? atof(argv[1]) : 3);
	else if (rank == 0 && (code = 2))
		printf("FAILED: all %d ranks are on %s, so there is nothing to measure\n", size,
		    name);
	fflush(stdout);
	free(names);
	free(first);
	free(pairs);
	MPI_Finalize();
	return code;
}
