/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flags of the daemon: parsing, help and manual page all read one table.
 */
#ifndef MPIJOB_OPERATOR_FLAGS_H
#define MPIJOB_OPERATOR_FLAGS_H

#include <stddef.h>
#include <stdint.h>

#include <mpijob/features.h>

enum flag_kind {
	FLAG_SWITCH,   /* an int64_t, 1 or 0 */
	FLAG_NUMBER,   /* an int64_t */
	FLAG_TEXT,     /* a const char * */
	FLAG_DURATION, /* an int64_t of milliseconds */
	FLAG_IGNORED,  /* has a value, which is ignored */
	FLAG_IGNORED_SWITCH,
};

struct flag_row {
	const char *name;
	const char *alias; /* another spelling, or NULL */
	const char *value; /* placeholder of the value in the help; NULL for a switch */
	enum flag_kind kind;
	const char *default_; /* as text; NULL: none */
	size_t offset;        /* in struct settings */
	const char *help;
};

/* The table; it ends with a row without a name. */
extern const struct flag_row flag_rows[];

#define NOT_GIVEN INT64_MIN

/* The settings. Strings are borrowed from the command line and the environment; NULL: not given. */
struct settings {
	const char *kubeconfig, *master;
	const char *namespace_, *lock_namespace;
	const char *gang_scheduling, *cluster_domain;
	const char *monitoring_address, *health_address;
	const char *log_format;
	const char *config;
	int64_t monitoring_port;
	int64_t qps, burst; /* or NOT_GIVEN */
	int64_t max_writes;
	int64_t grace_ms;
	int64_t launcher_hold_ms;
	int64_t shadow;
	int64_t leader_elect;
	int64_t verbosity; /* as in klog; 4 and above log debug messages */
	int64_t version, help, man;
	struct mpijob_features features;
	char **ignored; /* flags without effect, as written on the command line */
	size_t ignored_count;
};

/* Parse the command line. 0, or -1 after printing the error to standard error. */
int flags_parse(int argc, char **argv, struct settings *settings);
void flags_free(struct settings *settings);

void flags_print_help(void);
void flags_print_manual(void);

#endif
