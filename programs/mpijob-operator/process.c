/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the resource usage from /proc, and reports it under the names of Prometheus' process
 * collector, so that existing dashboards and alerts work.
 */
#include "process.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_FILE (64 << 10)

/* Write one metric with a formatted value. */
static int metric(mpijob_text *out, const char *name, const char *type, const char *help,
    const char *format, ...) __attribute__((format(printf, 5, 6)));

static int metric(mpijob_text *out, const char *name, const char *type, const char *help,
    const char *format, ...)
{
	char *value = NULL, *text = NULL;
	va_list values;

	va_start(values, format);
	int len = vasprintf(&value, format, values);
	va_end(values);
	if (len < 0)
		return MPIJOB_ERR_NOMEM;
	len = asprintf(&text, "# HELP %s %s\n# TYPE %s %s\n%s %s\n", name, help, name, type, name,
	    value);
	int rc = len < 0 ? MPIJOB_ERR_NOMEM : mpijob_text_write(out, text, (size_t)len);
	if (len >= 0)
		free(text);
	free(value);
	return rc;
}

/* Read a small file of /proc. The caller frees it; NULL: not available. */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(MAX_FILE) : NULL;

	if (text)
		text[fread(text, 1, MAX_FILE - 1, file)] = '\0';
	if (file)
		(void)fclose(file);
	return text;
}

/* Write a metric in seconds from clock ticks. */
static int seconds(mpijob_text *out, const char *name, const char *type, const char *help,
    uint64_t ticks, uint64_t base)
{
	uint64_t each = (uint64_t)sysconf(_SC_CLK_TCK);

	return metric(out, name, type, help, "%" PRIu64 ".%02" PRIu64, base + ticks / each,
	    ticks % each * 100 / each);
}

static uint64_t boot_time(void)
{
	char *text = read_file("/proc/stat");
	const char *line = text ? strstr(text, "\nbtime ") : NULL;
	uint64_t time = line ? strtoull(line + 7, NULL, 10) : 0;

	free(text);
	return time;
}

/* Metrics from /proc/self/stat, whose fields after the name begin with the third. */
static int write_stat(mpijob_text *out)
{
	char *text = read_file("/proc/self/stat");
	char *at = text ? strrchr(text, ')') : NULL;
	uint64_t fields[25] = { 0 };
	int rc = 0;

	for (int i = 2; at && i < 25; i++) {
		at = strchr(at, ' ');
		if (at)
			fields[i] = strtoull(++at, NULL, 10);
	}
	if (at) {
		rc = seconds(out, "process_cpu_seconds_total", "counter",
		    "Total user and system CPU time spent in seconds.", fields[13] + fields[14], 0);
		if (rc == 0)
			rc = metric(out, "process_virtual_memory_bytes", "gauge",
			    "Virtual memory size in bytes.", "%" PRIu64, fields[22]);
		if (rc == 0)
			rc = metric(out, "process_resident_memory_bytes", "gauge",
			    "Resident memory size in bytes.", "%" PRIu64,
			    fields[23] * (uint64_t)sysconf(_SC_PAGESIZE));
		if (rc == 0)
			rc = seconds(out, "process_start_time_seconds", "gauge",
			    "Start time of the process since unix epoch in seconds.", fields[21],
			    boot_time());
	}
	free(text);
	return rc;
}

static int write_limit(mpijob_text *out, const struct rlimit *limit, const char *name,
    const char *help)
{
	if (limit->rlim_cur == RLIM_INFINITY)
		return metric(out, name, "gauge", help, "1.8446744073709552e+19");
	return metric(out, name, "gauge", help, "%ju", (uintmax_t)limit->rlim_cur);
}

static int write_descriptors(mpijob_text *out)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned count = 0;

	if (!directory)
		return 0;
	for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
		count += entry->d_name[0] != '.';
	(void)closedir(directory);
	/* without the descriptor of this directory */
	return metric(out, "process_open_fds", "gauge", "Number of open file descriptors.", "%u",
	    count - 1);
}

/* Metrics from /proc/self/net/netstat, which has a line of names and a line of numbers per
 * protocol. */
static int write_network(mpijob_text *out)
{
	static const struct {
		const char *word, *name, *help;
	} rows[] = { { "InOctets", "process_network_receive_bytes_total",
			 "Number of bytes received by the process over the network." },
		{ "OutOctets", "process_network_transmit_bytes_total",
		    "Number of bytes sent by the process over the network." } };
	char *text = read_file("/proc/self/net/netstat");
	char *names = text ? strstr(text, "IpExt:") : NULL;
	char *numbers = names ? strstr(names + 1, "IpExt:") : NULL;
	int rc = 0;

	if (numbers)
		numbers[-1] = '\0';
	for (char *saved = NULL, *more = NULL,
		  *name = numbers ? strtok_r(names, " \n", &saved) : NULL,
		  *number = name ? strtok_r(numbers, " \n", &more) : NULL;
	     name && number && rc == 0;
	     name = strtok_r(NULL, " \n", &saved), number = strtok_r(NULL, " \n", &more))
		for (size_t i = 0; i < 2 && rc == 0; i++)
			if (strcmp(name, rows[i].word) == 0)
				rc = metric(out, rows[i].name, "counter", rows[i].help, "%s",
				    number);
	free(text);
	return rc;
}

int process_write(mpijob_text *out)
{
	struct rlimit files, memory;
	int rc = write_stat(out);

	if (rc == 0)
		rc = write_descriptors(out);
	if (rc == 0 && getrlimit(RLIMIT_NOFILE, &files) == 0)
		rc = write_limit(out, &files, "process_max_fds",
		    "Maximum number of open file descriptors.");
	if (rc == 0 && getrlimit(RLIMIT_AS, &memory) == 0)
		rc = write_limit(out, &memory, "process_virtual_memory_max_bytes",
		    "Maximum amount of virtual memory available in bytes.");
	if (rc == 0)
		rc = write_network(out);
	return rc;
}
