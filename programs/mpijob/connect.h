/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster that the command line means: its client, and how its failures are told.
 */
#ifndef MPIJOB_PROGRAM_CONNECT_H
#define MPIJOB_PROGRAM_CONNECT_H

#include <mpijob/http.h>
#include <mpijob/mpijob.h>

#include "command.h"

struct connection {
	mpijob_client *client;
	mpijob_diag *diag;      /* for the calls; connection_tell() prints and clears it */
	const char *namespace_; /* to work in; never NULL once connected */
	const char *server;     /* URL */
	const char *context;    /* NULL without one */
	const char *user;       /* name of the kubeconfig's entry; NULL without one */
	size_t warnings;        /* different texts that the server warned of */
	/* Called before something is printed on standard error (to take a live line away); may be
	 * NULL. */
	void (*before_print)(void *user);
	void *before_print_user;
	/* the operands are names of jobs: when one is not found, connection_tell() looks what they
	 * were meant to be */
	int by_name;

	/* Its own. */
	const struct arguments *arguments;
	void *library;
	mpijob_http_config *config;
	struct words warned;
};

/*
 * Connect; nothing is sent yet. Returns 0, or the exit code after having said what is wrong.
 * Close the connection in either case.
 */
int connection_open(struct connection *connection, const struct arguments *arguments);

void connection_close(struct connection *connection);

/*
 * Print the findings of a call, then, when `code` is a failure, which server and user it was and
 * what helps; clear the findings. Returns `code`.
 */
int connection_tell(struct connection *connection, int code);

/* The exit code of a command that ended with `code` (of the library) after connection_tell(). */
int connection_exit(const struct connection *connection, int code);

/*
 * From now on SIGINT, SIGTERM and SIGHUP make a call that waits on the client return
 * MPIJOB_ERR_CANCELLED; a second one ends the program. One connection at a time.
 */
void connection_catch_signals(struct connection *connection);

/* The signal that was caught, or 0. */
int connection_signal(void);

/* 0 when standard output is a pipe whose reader has gone. For who may have nothing to write for
 * long. */
int output_is_read(void);

#endif
