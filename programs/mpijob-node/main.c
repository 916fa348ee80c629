/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry point of mpijob-node. lib/local/node_client.c starts it with one end of a socket pair
 * as descriptor 3, the requested identity as the first argument, and an optional working directory
 * as the second.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int usage(void)
{
	fputs("mpijob-node runs the pods of a local MPIJob. It is started by 'mpijob run', not by "
	      "hand.\n",
	    stderr);
	return 2;
}

static bool called_by_library(int argc, char **argv)
{
	int type;
	socklen_t len = sizeof(type);

	return argc >= 2 && argv[1][0] >= '0' && argv[1][0] <= '0' + NODE_IDENTITY_SINGLE &&
	       argv[1][1] == 0 && getsockopt(NODE_FD, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       type == SOCK_STREAM;
}

/* Close the descriptors of the host, so that pods do not inherit them. stderr stays open for
 * messages of libraries and sanitizers. */
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

/*
 * Run from a sealed copy in memory: a container can open /proc/self/exe of a process that is about
 * to execute its command, and as root could overwrite the program (CVE-2019-5736).
 */
static void run_from_sealed_copy(char **argv)
{
	int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int copy = memfd_create("mpijob-node", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct stat st;
	off_t at = 0;

	if (program < 0 || copy < 0 || fstat(program, &st))
		die(MPIJOB_ERR_IO, "cannot copy mpijob-node into memory: %m");
	if (fcntl(program, F_GET_SEALS) > 0 && fcntl(program, F_GET_SEALS) & F_SEAL_WRITE) {
		close(copy);
		close(program);
		prctl(PR_SET_NAME, "mpijob-node");
		return;
	}
	while (at < st.st_size) {
		if (sendfile(copy, program, &at, (size_t)(st.st_size - at)) <= 0)
			die(MPIJOB_ERR_IO, "cannot copy mpijob-node into memory: %m");
	}
	if (fcntl(copy, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
		fexecve(copy, argv, environ);
	die(MPIJOB_ERR_IO, "cannot run mpijob-node from memory: %m");
}

int main(int argc, char **argv)
{
	int identity;
	int lifeline;

	if (!called_by_library(argc, argv))
		return usage();
	report_to_parent(NODE_FD);
	run_from_sealed_copy(argv);
	close_inherited();
	if (argc > 2 && chdir(argv[2]))
		die(MPIJOB_ERR_IO, "cannot enter the working directory %s: %m", argv[2]);
	lifeline = supervisor_run(argv[1][0] - '0', &identity);
	node_run(lifeline, identity);
}
