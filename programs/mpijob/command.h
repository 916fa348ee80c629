/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command is: its place in the table of commands, and the arguments that it gets.
 */
#ifndef MPIJOB_PROGRAM_COMMAND_H
#define MPIJOB_PROGRAM_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include <mpijob/features.h>

/* Exit codes that every command shares; run and exec pass on those of the job. */
#define EXIT_FINDINGS    1   /* the input is refused, or something could not be done */
#define EXIT_USAGE       2   /* the command line is wrong */
#define EXIT_TIMED_OUT   124 /* run, wait, submit --wait: --timeout passed */
#define EXIT_OWN_FAILURE 125 /* run, exec: what failed is this program, not the job */
/* run and all that talks to a cluster: plus the number of the signal that interrupted it */
#define EXIT_SIGNALLED 128

/* Words of the command line; they live as long as the program. */
struct words {
	const char **items;
	size_t count;
};

/* A number, or a length of time in milliseconds, that 0 may be given for. */
struct given {
	int is;
	int64_t value;
};

/* What create is told; NULL and 0 when not given. */
struct create_words {
	const char *image;
	const char *template_;
	const char *mpi;
	const char *tool;
	const char *backend;
	struct words env; /* "NAME=value", "NAME", "PREFIX*" */
	struct given workers;
	struct given slots;
	struct given gpus; /* of each worker */
	int launcher_works;
	int elastic;
};

/* Which server, as whom: kubectl's options; NULL and 0 when not given. */
struct connection_words {
	const char *kubeconfig;
	const char *context;
	const char *cluster;
	const char *user;
	const char *server;
	const char *token;
	const char *certificate_authority;
	const char *client_certificate;
	const char *client_key;
	const char *tls_server_name;
	const char *as;
	const char *as_uid;
	struct words as_groups;
	int insecure;
	struct given request_timeout_ms; /* 0: no limit */
};

struct arguments {
	int kubectl; /* called as kubectl-mpijob, by kubectl */
	/* files and directories; of exec the pod, of explain fields; elsewhere names of jobs */
	struct words operands;
	struct words files; /* -f of commands whose operands are names */
	struct connection_words connection;
	struct create_words create;
	char **program; /* what stands behind --, closed by NULL; NULL without one */
	const char *output;
	const char *operator_config;
	const char *namespace_;
	const char *job;
	const char *container;
	const char *cluster_domain;
	const char *gang_scheduling;
	const char *uid;
	const char *to; /* convert, flyte: the version */
	const char *flyte_config;
	const char *flyte_execution;
	const char *repairs;  /* flyte: names with commas between them */
	const char *runtime;  /* convert: of a TrainJob */
	const char *observed; /* plan: a file with what is in the cluster */
	const char *now;      /* plan: RFC 3339 */
	struct words priority_classes;
	int64_t timeout_ms;      /* 0: none */
	int64_t backoff_base_ms; /* 0: as Kubernetes */
	int64_t late_names_ms;   /* 0: at once */
	struct words silence;    /* findings by their identifiers */
	struct words error;
	struct mpijob_features features;
	int with_key;
	int no_annotation;
	int reference;
	int strict;
	int keep;
	int resume;
	int allow_host_path;
	int timings;
	int roff;
	int full; /* crd: with descriptions */

	/* Of commands that talk to a cluster. */
	const char *selector;
	const char *field_manager;
	const char *for_;      /* wait: condition=TYPE, Running, Finished, delete */
	int dry_run;           /* DRY_RUN_* */
	int validate;          /* VALIDATE_* */
	int cascade;           /* CASCADE_* */
	const char *pod;       /* logs */
	struct given limit_ms; /* wait, submit, delete: --timeout */
	struct given replicas;
	struct given current_replicas;
	struct given tail;     /* logs */
	struct given since_ms; /* logs */
	int all;               /* wait, suspend, resume, delete: every job; logs: every pod */
	int all_namespaces;
	int watch;
	int watch_only;
	int no_headers;
	int show_labels;
	int ignore_not_found;
	int wait; /* -1: --wait=false */
	int server_side;
	int force_conflicts;
	int warnings_as_errors;
	int local;          /* run: on this machine although a cluster could be meant */
	int rm;             /* run on a cluster: delete the job at the end */
	int detach;         /* run on a cluster: do not stay */
	int follow;         /* logs */
	int workers;        /* logs: of the workers */
	int previous;       /* logs */
	int timestamps;     /* logs */
	int all_containers; /* logs */
	int prefix;         /* logs; -1: --prefix=false */
	int show_events;    /* describe; -1: --show-events=false */
};

/* What options with choices become, in the order of the choices; 0: not given. */
enum { DRY_RUN_CLIENT = 1, DRY_RUN_SERVER, DRY_RUN_NONE };
enum { VALIDATE_STRICT = 1, VALIDATE_WARN, VALIDATE_IGNORE, VALIDATE_TRUE, VALIDATE_FALSE };
enum { CASCADE_BACKGROUND = 1, CASCADE_FOREGROUND, CASCADE_ORPHAN };

/* One bit for each command, for the table of options. */
enum {
	COMMAND_VALIDATE = 1 << 0,
	COMMAND_DEFAULT = 1 << 1,
	COMMAND_RENDER = 1 << 2,
	COMMAND_RUN = 1 << 3,
	COMMAND_EXEC = 1 << 4,
	COMMAND_VERSION = 1 << 5,
	COMMAND_HELP = 1 << 6,
	COMMAND_COMPLETION = 1 << 7,
	COMMAND_CONVERT = 1 << 8,
	COMMAND_EXPLAIN = 1 << 9,
	COMMAND_PLAN = 1 << 10,
	COMMAND_DIFF = 1 << 11,
	COMMAND_SUBMIT = 1 << 12,
	COMMAND_GET = 1 << 13,
	COMMAND_DESCRIBE = 1 << 14,
	COMMAND_LOGS = 1 << 15,
	COMMAND_WAIT = 1 << 16,
	COMMAND_SUSPEND = 1 << 17,
	COMMAND_RESUME = 1 << 18,
	COMMAND_SCALE = 1 << 19,
	COMMAND_DELETE = 1 << 20,
	COMMAND_DOCTOR = 1 << 21,
	COMMAND_SHADOW_REPORT = 1 << 22,
	COMMAND_CRD = 1 << 23,
	COMMAND_CREATE = 1 << 24,
	COMMAND_FLYTE = 1 << 25,
	/* none: marks options that all commands of a cluster share, explained at one place */
	COMMAND_CONNECTION = 1 << 30,
};

struct command {
	const char *name;
	unsigned bit;
	const char *operands; /* for the usage line */
	const char *summary;  /* one line */
	const char *text;     /* paragraphs of the help, separated by empty lines */
	int (*run)(const struct arguments *arguments);
};

/* The table of commands, closed by a row without a name. */
extern const struct command commands[];

/* Find a command by its name; NULL when there is none. */
const struct command *command_find(const char *name);

int validate_command(const struct arguments *arguments);
int default_command(const struct arguments *arguments);
int render_command(const struct arguments *arguments);
int convert_command(const struct arguments *arguments);
int flyte_command(const struct arguments *arguments);
int explain_command(const struct arguments *arguments);
int crd_command(const struct arguments *arguments);
int create_command(const struct arguments *arguments);
int plan_command(const struct arguments *arguments);
int diff_command(const struct arguments *arguments);
int run_command(const struct arguments *arguments);
int exec_command(const struct arguments *arguments);
int submit_command(const struct arguments *arguments);
int get_command(const struct arguments *arguments);
int describe_command(const struct arguments *arguments);
int logs_command(const struct arguments *arguments);
int wait_command(const struct arguments *arguments);
int suspend_command(const struct arguments *arguments);
int resume_command(const struct arguments *arguments);
int scale_command(const struct arguments *arguments);
int delete_command(const struct arguments *arguments);
int shadow_report_command(const struct arguments *arguments);
int doctor_command(const struct arguments *arguments);
int version_command(const struct arguments *arguments);
int help_command(const struct arguments *arguments);
int completion_command(const struct arguments *arguments);

/* guard.c: no core file of this program; while it pauses, children are started with the limit as it
 * was */

void guard_memory(void);
void guard_pause(void);
void guard_resume(void);

#endif
