/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses, defaults, validates and renders a job of N workers with a template of about 4 kB, and
 * streams all objects as JSON into a counter. Prints the median and the range of some runs, and the
 * process' peak memory.
 *
 *     bench-render [WORKERS] [RUNS]
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <mpijob/mpijob.h>

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int count(void *user, const char *data, size_t len)
{
	(void)data;
	*(size_t *)user += len;
	return 0;
}

__attribute__((format(printf, 2, 3))) static void put(mpijob_text *text, const char *format, ...)
{
	char line[1024];
	va_list values;

	va_start(values, format);
	int len = vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	if (len < 0 || (size_t)len >= sizeof(line) || mpijob_text_write(text, line, (size_t)len))
		exit(1);
}

/* A worker template with the variables, mounts and rules that real training jobs have: about 4 kB
 * as JSON. */
static void write_job(mpijob_text *text, int workers)
{
	put(text, "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: bench, "
		  "namespace: team, uid: 1c5b470f}\n"
		  "spec:\n  slotsPerWorker: 8\n  mpiReplicaSpecs:\n    Launcher:\n      "
		  "template:\n        spec:\n"
		  "          containers:\n          - {name: main, image: "
		  "registry.example/train:1, command: [mpirun, train]}\n");
	put(text,
	    "    Worker:\n      replicas: %d\n      template:\n        metadata:\n          "
	    "labels: {team: vision}\n"
	    "        spec:\n          nodeSelector: {accelerator: a100}\n          containers:\n"
	    "          - name: main\n            image: registry.example/train:1\n            "
	    "resources:\n"
	    "              limits: {cpu: '96', memory: 1000Gi, nvidia.com/gpu: '8'}\n            "
	    "env:\n",
	    workers);
	for (int i = 0; i < 40; i++)
		put(text,
		    "            - {name: SETTING_NUMBER_%02d, value: "
		    "some-value-of-this-setting-%02d}\n",
		    i, i);
	put(text, "            volumeMounts:\n");
	for (int i = 0; i < 8; i++)
		put(text,
		    "            - {name: data-%d, mountPath: /mnt/data/%d, readOnly: true}\n", i,
		    i);
	put(text, "          volumes:\n");
	for (int i = 0; i < 8; i++)
		put(text,
		    "          - {name: data-%d, persistentVolumeClaim: {claimName: "
		    "training-data-%d}}\n",
		    i, i);
}

static int print(void *user, const char *data, size_t len)
{
	fwrite(data, 1, len, user);
	return 0;
}

static void refused(const mpijob_diag *diag)
{
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		mpijob_finding_write(mpijob_diag_at(diag, i), print, stderr);
		fputc('\n', stderr);
	}
	fputs("bench-render: the library refuses the job\n", stderr);
	exit(1);
}

static size_t work(const mpijob_text *text)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job = NULL;
	mpijob_objects *objects = NULL;
	size_t bytes = 0;

	if (mpijob_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &job, diag) ||
	    mpijob_default(job, NULL, diag) || mpijob_validate(job, NULL, diag) ||
	    mpijob_render(job, NULL, &objects, diag) ||
	    mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL, MPIJOB_FORMAT_JSON_COMPACT, 0, count,
		&bytes))
		refused(diag);
	mpijob_objects_free(objects);
	mpijob_free(job);
	mpijob_diag_free(diag);
	return bytes;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int workers = argc > 1 ? atoi(argv[1]) : 10000;
	int runs = argc > 2 ? atoi(argv[2]) : 7;
	mpijob_text *text = mpijob_text_new();
	double *times = calloc((size_t)runs, sizeof(*times));
	struct rusage usage;
	size_t bytes = 0;

	if (!text || !times || workers < 1 || runs < 1)
		return 1;
	write_job(text, workers);
	for (int i = 0; i < runs; i++) {
		double begun = now_ms();
		bytes = work(text);
		times[i] = now_ms() - begun;
	}
	qsort(times, (size_t)runs, sizeof(*times), compare);
	getrusage(RUSAGE_SELF, &usage);
	printf(
	    "%d workers, %.1f MB of JSON: %.1f ms (%.1f to %.1f, %d runs), peak memory %.1f MiB\n",
	    workers, (double)bytes / 1e6, times[runs / 2], times[0], times[runs - 1], runs,
	    (double)usage.ru_maxrss / 1024.0);
	free(times);
	mpijob_text_free(text);
	return 0;
}
