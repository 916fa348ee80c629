/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of mpirun (Open MPI, PRRTE and Hydra) and of horovodrun, with the number of their
 * values. A command line is read with this table: the first word that is neither an option nor a
 * value is the user's program.
 */
#include "base/mpirun.h"

#include <string.h>

/* Without their dashes; each list ends with NULL. */
static const char *const *const options[] = {
	[MPIJOB__BASE_MPIRUN_COUNT] = (const char *const[]){ "n", "np", "c", "num-proc", NULL },
	[MPIJOB__BASE_MPIRUN_HOSTFILE] =
	    (const char *const[]){ "hostfile", "machinefile", "f", "default-hostfile", NULL },
	[MPIJOB__BASE_MPIRUN_OWN_HOSTS] = (const char *const[]){ "H", "host", "hosts", "machine",
	    "rankfile", "rf", "configfile", "min-np", "max-np", "host-discovery-script",
	    "slots-per-host", "min-num-proc", "max-num-proc", "app", NULL },
	[MPIJOB__BASE_MPIRUN_FLAG] = (const char *const[]){ "allow-run-as-root", "tag-output",
	    "timestamp-output", "v", "verbose", "q", "quiet", "d", "debug-devel", "debug-daemons",
	    "report-bindings", "display-map", "display-allocation", "enable-recovery",
	    "disable-recovery", "continuous", "bynode", "byslot", "bycore", "nolocal",
	    "nooversubscribe", "novm", "bind-to-core", "bind-to-none", "bind-to-socket", "mpi",
	    "gloo", "disable-cache", "no-stall-check", "autotune", "l", "prepend-rank",
	    "print-all-exitcodes", "genvall", "genvnone", "envall", "envnone", "rr",
	    "leave-session-attached", "get-stdin-all", "V", "use-hwthread-cpus", NULL },
	[MPIJOB__BASE_MPIRUN_VALUE] = (const char *const[]){ "x", "bind-to", "map-by", "rank-by",
	    "wdir", "wd", "path", "prefix", "tune", "am", "output", "output-filename", "stdin",
	    "report-uri", "launch-agent", "cpu-set", "cpu-list", "timeout", "personality", "ppn",
	    "perhost", "grr", "genvlist", "envlist", "iface", "launcher", "rmk", "bootstrap",
	    "bootstrap-exec", "launcher-exec", "N", "npernode", "p", "ssh-port", "start-timeout",
	    "network-interface", "network-interfaces", "log-level", "mpi-args", "config-file",
	    "timeline-filename", "fusion-threshold-mb", "cycle-time-ms", "cpus-per-proc",
	    "cpus-per-rank", "npersocket", "display", "pmi-port", "outfile-pattern",
	    "errfile-pattern", "binding", "umask", "report-pid", "ompi-server", "preload-files",
	    "tmpdir", "xterm", "max-restarts", "pset", "runtime-options", "dvm", "dvm-uri", NULL },
	[MPIJOB__BASE_MPIRUN_TWO_VALUES] = (const char *const[]){ "mca", "gmca", "omca", "gomca",
	    "prtemca", "gprtemca", "pmixmca", "gpmixmca", "genv", "env", NULL },
};
#define KINDS (sizeof(options) / sizeof(options[0]))

enum mpijob__base_mpirun_option mpijob__base_mpirun_option(const char *option)
{
	const char *name = option + 1 + (option[1] == '-');

	for (size_t kind = MPIJOB__BASE_MPIRUN_FLAG; kind < KINDS; kind++) {
		for (const char *const *known = options[kind]; *known; known++) {
			if (strcmp(name, *known) == 0)
				return (enum mpijob__base_mpirun_option)kind;
		}
	}
	return MPIJOB__BASE_MPIRUN_UNKNOWN;
}

size_t mpijob__base_mpirun_values(const char *option)
{
	enum mpijob__base_mpirun_option kind = mpijob__base_mpirun_option(option);

	return kind == MPIJOB__BASE_MPIRUN_TWO_VALUES ? 2 : kind > MPIJOB__BASE_MPIRUN_FLAG;
}
