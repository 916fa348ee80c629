/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How mpijob-node is called: by lib/local/node_client.c, with its end of a socket pair as descriptor
 * 3, the wanted identity as the first argument and, perhaps, a working directory as the second.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int usage(void)
{
	fputs("mpijob-node runs the pods of a local MPIJob. It is started by 'mpijob run', not by hand.\n", stderr);
	return 2;
}

static bool called_by_library(int argc, char **argv)
{
	int type;
	socklen_t len = sizeof(type);

	return argc >= 2 && argv[1][0] >= '0' && argv[1][0] <= '0' + NODE_IDENTITY_SINGLE && argv[1][1] == 0 &&
	       getsockopt(NODE_FD, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM;
}

/* Nothing that the host had open goes on into pods; stderr stays for what should never be said. */
static void close_inherited(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, 0);
		dup2(null, 1);
	}
	fcntl(NODE_FD, F_SETFD, FD_CLOEXEC);
	syscall(SYS_close_range, NODE_FD + 1, ~0U, 0);
}

int main(int argc, char **argv)
{
	int identity;
	int life;

	if (!called_by_library(argc, argv))
		return usage();
	close_inherited();
	report_to_parent(NODE_FD);
	if (argc > 2 && chdir(argv[2]))
		die(MPIJOB_ERR_IO, "cannot enter the working directory %s: %m", argv[2]);
	life = outer_run(argv[1][0] - '0', &identity);
	node_run(life, identity);
}
