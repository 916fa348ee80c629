/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster that the command line selects: its client, and the report of its failures.
 */
#ifndef MPIJOB_PROGRAM_CONNECT_H
#define MPIJOB_PROGRAM_CONNECT_H

#include <mpijob/http.h>
#include <mpijob/mpijob.h>

#include "command.h"

struct connection {
	mpijob_client *client;
	mpijob_diag *diag;      /* for the calls; connection_report() prints and clears it */
	const char *namespace_; /* the namespace to use; not NULL once connected */
	const char *server;     /* URL */
	const char *context;    /* NULL without one */
	const char *user;       /* name of the kubeconfig's entry; NULL without one */
	size_t warnings;        /* number of different warnings of the server */
	/* Called before something is printed on standard error (to erase a progress line); may be
	 * NULL. */
	void (*before_print)(void *user);
	void *before_print_user;
	/* the operands are names of jobs: if one is not found, connection_report() guesses what the
	 * user meant */
	int by_name;

	/* Private. */
	const struct arguments *arguments;
	void *library;
	mpijob_http_config *config;
	struct words warned;
};

/*
 * Create the client; no request is sent yet. Returns 0, or prints an error and returns the exit
 * code. Close the connection in either case.
 */
int connection_open(struct connection *connection, const struct arguments *arguments);

void connection_close(struct connection *connection);

/*
 * Print the findings of a call and, if `code` is a failure, the server, the user and advice. Clears
 * the findings. Returns `code`.
 */
int connection_report(struct connection *connection, int code);

/* The exit code of a command that ended with `code` (of the library) after connection_report(). */
int connection_exit(const struct connection *connection, int code);

/*
 * After this call, SIGINT, SIGTERM and SIGHUP cancel a blocking call of the client, which returns
 * MPIJOB_ERR_CANCELLED. A second signal ends the program. Only for one connection at a time.
 */
void connection_catch_signals(struct connection *connection);

/* The signal that was caught, or 0. */
int connection_signal(void);

/* 0 if standard output is a pipe without a reader. For commands that rarely write. */
int output_is_read(void);

#endif
