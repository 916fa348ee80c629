/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands, and the arguments of a command.
 */
#ifndef MPIJOB_PROGRAM_COMMAND_H
#define MPIJOB_PROGRAM_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include <mpijob/features.h>

/* Exit codes that every command shares; run and exec pass on those of the job. */
#define EXIT_FINDINGS    1   /* the input is rejected, or an operation failed */
#define EXIT_USAGE       2   /* the command line is wrong */
#define EXIT_TIMED_OUT   124 /* run, wait, submit --wait: --timeout passed */
#define EXIT_OWN_FAILURE 125 /* run, exec: this program failed, not the job */
/* run, and all commands for a cluster: plus the number of the signal that interrupted them */
#define EXIT_SIGNALLED 128

/* Arguments of the command line. They are valid until the program ends. */
struct words {
	const char **items;
	size_t count;
};

/* An optional number, or duration in milliseconds. `is`: it was given; 0 is a valid value. */
struct given {
	int is;
	int64_t value;
};

/* Options of create; NULL and 0 when not given. */
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

/* kubectl's options for the server and the user; NULL and 0 when not given. */
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
	/* files and directories; exec: the pod; explain: fields; otherwise names of jobs */
	struct words operands;
	struct words files; /* -f of commands whose operands are names */
	struct connection_words connection;
	struct create_words create;
	char **program; /* the arguments after --; ends with NULL; NULL without -- */
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
	const char *repairs;  /* flyte: names, separated by commas */
	const char *runtime;  /* convert: of a TrainJob */
	const char *observed; /* plan: a file with the objects in the cluster */
	const char *now;      /* plan: RFC 3339 */
	struct words priority_classes;
	int64_t timeout_ms;      /* 0: none */
	int64_t backoff_base_ms; /* 0: as Kubernetes */
	int64_t late_names_ms;   /* 0: at once */
	struct words silence;    /* identifiers of findings */
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

	/* set */
	struct words removed; /* paths */
	struct words printed; /* paths */
	int diff;
	int force;

	/* Commands for a cluster. */
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
	int local;          /* run: on this machine, even if other options select a cluster */
	int rm;             /* run on a cluster: delete the job at the end */
	int detach;         /* run on a cluster: return when the job is submitted */
	int follow;         /* logs */
	int workers;        /* logs: of the workers */
	int previous;       /* logs */
	int timestamps;     /* logs */
	int all_containers; /* logs */
	int prefix;         /* logs; -1: --prefix=false */
	int show_events;    /* describe; -1: --show-events=false */
};

/* Values of options with choices, in the order of the choices; 0: not given. */
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
	COMMAND_SET = 1 << 26,
	/* not a command: marks options of all commands for a cluster, which help explains once */
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

/* The table of commands; ends with a row without a name. */
extern const struct command commands[];

/* Find a command by its name; NULL if not found. */
const struct command *command_find(const char *name);

int validate_command(const struct arguments *arguments);
int default_command(const struct arguments *arguments);
int render_command(const struct arguments *arguments);
int convert_command(const struct arguments *arguments);
int flyte_command(const struct arguments *arguments);
int explain_command(const struct arguments *arguments);
int crd_command(const struct arguments *arguments);
int set_command(const struct arguments *arguments);
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

/* guard.c: prevent core files of this program. Between pause and resume, children inherit the
 * original limit. */

void guard_memory(void);
void guard_pause(void);
void guard_resume(void);

#endif
