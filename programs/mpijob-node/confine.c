/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default confinement of container runtimes: a capability bounding set and a seccomp filter.
 * The allowed system calls are those of containerd v2.3.7 (contrib/seccomp/seccomp_default.go),
 * including those that depend on a capability. Names that this libseccomp does not know are
 * omitted, and so denied. One deviation: every process may set its NUMA memory policy, which
 * containerd allows only with CAP_SYS_NICE. MPICH binds ranks that way, and the default of a
 * kubelet is to use no filter.
 */
#include "node.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>

void confine_capabilities(uint64_t bounding)
{
	for (int i = 0; i < 64 && prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++) {
		if (!(bounding >> i & 1) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0))
			die(MPIJOB_ERR_IO, "cannot drop capability %d: %m", i);
	}
}

void confine_privileges(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die(MPIJOB_ERR_IO, "cannot set no_new_privs: %m");
}

#ifdef MPIJOB_SECCOMP

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	    CLONE_NEWCGROUP)

static const char *const always[] = { "_llseek", "_newselect", "accept", "accept4", "access",
	"adjtimex", "alarm", "bind", "brk", "cachestat", "capget", "capset", "chdir", "chmod",
	"chown", "chown32", "clock_adjtime", "clock_adjtime64", "clock_getres",
	"clock_getres_time64", "clock_gettime", "clock_gettime64", "clock_nanosleep",
	"clock_nanosleep_time64", "close", "close_range", "connect", "copy_file_range", "creat",
	"dup", "dup2", "dup3", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old",
	"epoll_pwait", "epoll_pwait2", "epoll_wait", "epoll_wait_old", "eventfd", "eventfd2",
	"execve", "execveat", "exit", "exit_group", "faccessat", "faccessat2", "fadvise64",
	"fadvise64_64", "fallocate", "fanotify_mark", "fchdir", "fchmod", "fchmodat", "fchmodat2",
	"fchown", "fchown32", "fchownat", "fcntl", "fcntl64", "fdatasync", "fgetxattr",
	"flistxattr", "flock", "fork", "fremovexattr", "fsetxattr", "fstat", "fstat64", "fstatat64",
	"fstatfs", "fstatfs64", "fsync", "ftruncate", "ftruncate64", "futex", "futex_requeue",
	"futex_time64", "futex_wait", "futex_waitv", "futex_wake", "futimesat", "get_robust_list",
	"get_thread_area", "getcpu", "getcwd", "getdents", "getdents64", "getegid", "getegid32",
	"geteuid", "geteuid32", "getgid", "getgid32", "getgroups", "getgroups32", "getitimer",
	"getpeername", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom",
	"getresgid", "getresgid32", "getresuid", "getresuid32", "getrlimit", "getrusage", "getsid",
	"getsockname", "getsockopt", "gettid", "gettimeofday", "getuid", "getuid32", "getxattr",
	"getxattrat", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch",
	"io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_pgetevents_time64",
	"io_setup", "io_submit", "ioctl", "ioprio_get", "ioprio_set", "ipc", "kill",
	"landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "lchown",
	"lchown32", "lgetxattr", "link", "linkat", "listen", "listmount", "listxattr",
	"listxattrat", "llistxattr", "lremovexattr", "lseek", "lsetxattr", "lsm_get_self_attr",
	"lsm_list_modules", "lsm_set_self_attr", "lstat", "lstat64", "madvise", "map_shadow_stack",
	"membarrier", "memfd_create", "memfd_secret", "mincore", "mkdir", "mkdirat", "mknod",
	"mknodat", "mlock", "mlock2", "mlockall", "mmap", "mmap2", "mprotect", "mq_getsetattr",
	"mq_notify", "mq_open", "mq_timedreceive", "mq_timedreceive_time64", "mq_timedsend",
	"mq_timedsend_time64", "mq_unlink", "mremap", "mseal", "msgctl", "msgget", "msgrcv",
	"msgsnd", "msync", "munlock", "munlockall", "munmap", "name_to_handle_at", "nanosleep",
	"newfstatat", "open", "openat", "openat2", "pause", "pidfd_open", "pidfd_send_signal",
	"pipe", "pipe2", "pkey_alloc", "pkey_free", "pkey_mprotect", "poll", "ppoll",
	"ppoll_time64", "prctl", "pread64", "preadv", "preadv2", "prlimit64", "process_mrelease",
	"process_vm_readv", "process_vm_writev", "pselect6", "pselect6_time64", "ptrace",
	"pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink", "readlinkat", "readv",
	"recv", "recvfrom", "recvmmsg", "recvmmsg_time64", "recvmsg", "remap_file_pages",
	"removexattr", "removexattrat", "rename", "renameat", "renameat2", "restart_syscall",
	"rmdir", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo",
	"rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "rt_sigtimedwait_time64",
	"rt_tgsigqueueinfo", "sched_get_priority_max", "sched_get_priority_min",
	"sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler",
	"sched_rr_get_interval", "sched_rr_get_interval_time64", "sched_setaffinity",
	"sched_setattr", "sched_setparam", "sched_setscheduler", "sched_yield", "seccomp", "select",
	"semctl", "semget", "semop", "semtimedop", "semtimedop_time64", "send", "sendfile",
	"sendfile64", "sendmmsg", "sendmsg", "sendto", "set_robust_list", "set_thread_area",
	"set_tid_address", "setfsgid", "setfsgid32", "setfsuid", "setfsuid32", "setgid", "setgid32",
	"setgroups", "setgroups32", "setitimer", "setpgid", "setpriority", "setregid", "setregid32",
	"setresgid", "setresgid32", "setresuid", "setresuid32", "setreuid", "setreuid32",
	"setrlimit", "setsid", "setsockopt", "setuid", "setuid32", "setxattr", "setxattrat",
	"shmat", "shmctl", "shmdt", "shmget", "shutdown", "sigaltstack", "signalfd", "signalfd4",
	"sigprocmask", "sigreturn", "socketcall", "socketpair", "splice", "stat", "stat64",
	"statfs", "statfs64", "statmount", "statx", "symlink", "symlinkat", "sync",
	"sync_file_range", "syncfs", "sysinfo", "tee", "tgkill", "time", "timer_create",
	"timer_delete", "timer_getoverrun", "timer_gettime", "timer_gettime64", "timer_settime",
	"timer_settime64", "timerfd_create", "timerfd_gettime", "timerfd_gettime64",
	"timerfd_settime", "timerfd_settime64", "times", "tkill", "truncate", "truncate64",
	"ugetrlimit", "umask", "uname", "unlink", "unlinkat", "uretprobe", "utime", "utimensat",
	"utimensat_time64", "utimes", "vfork", "vmsplice", "wait4", "waitid", "waitpid", "write",
	"writev" };

/* How MPI libraries bind memory to processors. */
static const char *const of_memory[] = { "get_mempolicy", "mbind", "set_mempolicy",
	"set_mempolicy_home_node" };

#if defined(__x86_64__)
static const char *const of_machine[] = { "arch_prctl", "modify_ldt" };
static const uint32_t compatible[] = { SCMP_ARCH_X86, SCMP_ARCH_X32 };
#elif defined(__aarch64__)
static const char *const of_machine[] = { "arm_fadvise64_64", "arm_sync_file_range",
	"sync_file_range2", "breakpoint", "cacheflush", "set_tls" };
static const uint32_t compatible[] = { SCMP_ARCH_ARM };
#else
static const char *const of_machine[] = { "arch_prctl" };
static const uint32_t compatible[] = { SCMP_ARCH_NATIVE };
#endif

/* System calls that are allowed only with a capability. */
static const struct {
	int capability;
	const char *name;
} with_capability[] = {
	{ CAP_DAC_READ_SEARCH, "open_by_handle_at" },
	{ CAP_SYS_ADMIN, "bpf" },
	{ CAP_SYS_ADMIN, "clone" },
	{ CAP_SYS_ADMIN, "clone3" },
	{ CAP_SYS_ADMIN, "fanotify_init" },
	{ CAP_SYS_ADMIN, "fsconfig" },
	{ CAP_SYS_ADMIN, "fsmount" },
	{ CAP_SYS_ADMIN, "fsopen" },
	{ CAP_SYS_ADMIN, "fspick" },
	{ CAP_SYS_ADMIN, "lookup_dcookie" },
	{ CAP_SYS_ADMIN, "mount" },
	{ CAP_SYS_ADMIN, "mount_setattr" },
	{ CAP_SYS_ADMIN, "move_mount" },
	{ CAP_SYS_ADMIN, "open_tree" },
	{ CAP_SYS_ADMIN, "perf_event_open" },
	{ CAP_SYS_ADMIN, "quotactl" },
	{ CAP_SYS_ADMIN, "quotactl_fd" },
	{ CAP_SYS_ADMIN, "setdomainname" },
	{ CAP_SYS_ADMIN, "sethostname" },
	{ CAP_SYS_ADMIN, "setns" },
	{ CAP_SYS_ADMIN, "syslog" },
	{ CAP_SYS_ADMIN, "umount" },
	{ CAP_SYS_ADMIN, "umount2" },
	{ CAP_SYS_ADMIN, "unshare" },
	{ CAP_SYS_BOOT, "reboot" },
	{ CAP_SYS_CHROOT, "chroot" },
	{ CAP_SYS_MODULE, "delete_module" },
	{ CAP_SYS_MODULE, "finit_module" },
	{ CAP_SYS_MODULE, "init_module" },
	{ CAP_SYS_PACCT, "acct" },
	{ CAP_SYS_PTRACE, "kcmp" },
	{ CAP_SYS_PTRACE, "pidfd_getfd" },
	{ CAP_SYS_PTRACE, "process_madvise" },
	{ CAP_SYS_RAWIO, "ioperm" },
	{ CAP_SYS_RAWIO, "iopl" },
	{ CAP_SYS_TIME, "clock_settime" },
	{ CAP_SYS_TIME, "clock_settime64" },
	{ CAP_SYS_TIME, "settimeofday" },
	{ CAP_SYS_TIME, "stime" },
	{ CAP_SYS_TTY_CONFIG, "vhangup" },
	{ CAP_SYSLOG, "syslog" },
	{ CAP_BPF, "bpf" },
	{ CAP_PERFMON, "perf_event_open" },
};

static void must(int result)
{
	if (result < 0)
		die_errno(-result, MPIJOB_ERR_IO,
		    "cannot build the filter of system calls: error %d", -result);
}

static void allow(scmp_filter_ctx filter, const char *name)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number != __NR_SCMP_ERROR)
		must(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, 0, NULL));
}

static void allow_if(scmp_filter_ctx filter, int number, struct scmp_arg_cmp condition)
{
	must(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, 1, &condition));
}

/* All address families except AF_ALG (38) and AF_VSOCK (40). */
static void allow_sockets(scmp_filter_ctx filter)
{
	static const unsigned domains[] = { 39, 41, 42, 43, 44, 45 };

	allow_if(filter, SCMP_SYS(socket), SCMP_A0_64(SCMP_CMP_LT, 38));
	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++)
		allow_if(filter, SCMP_SYS(socket), SCMP_A0_64(SCMP_CMP_EQ, domains[i]));
}

static void allow_personalities(scmp_filter_ctx filter)
{
	static const unsigned personalities[] = { 0, 0x8, 0x20000, 0x20008, 0xffffffff };

	for (size_t i = 0; i < sizeof(personalities) / sizeof(personalities[0]); i++)
		allow_if(filter, SCMP_SYS(personality), SCMP_A0_64(SCMP_CMP_EQ, personalities[i]));
}

/* clone() without CAP_SYS_ADMIN must not create namespaces. clone3() fails with ENOSYS, because
 * seccomp cannot check its flags; C libraries then use clone(). */
static void limit_clone(scmp_filter_ctx filter)
{
	allow_if(filter, SCMP_SYS(clone), SCMP_A0_64(SCMP_CMP_MASKED_EQ, NAMESPACES, 0));
	must(seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, NULL));
}

static scmp_filter_ctx build(uint64_t bounding)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));

	if (!filter)
		die(MPIJOB_ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < sizeof(compatible) / sizeof(compatible[0]); i++) {
		int result = seccomp_arch_add(filter, compatible[i]);

		must(result == -EEXIST ? 0 : result);
	}
	must(seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP,
	    0)); /* no_new_privs only if the pod requests it */
	/* a binary tree, if this libseccomp supports it */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		allow(filter, always[i]);
	for (size_t i = 0; i < sizeof(of_memory) / sizeof(of_memory[0]); i++)
		allow(filter, of_memory[i]);
	for (size_t i = 0; i < sizeof(of_machine) / sizeof(of_machine[0]); i++)
		allow(filter, of_machine[i]);
	for (size_t i = 0; i < sizeof(with_capability) / sizeof(with_capability[0]); i++) {
		if (bounding >> with_capability[i].capability & 1)
			allow(filter, with_capability[i].name);
	}
	allow_sockets(filter);
	allow_personalities(filter);
	if (!(bounding >> CAP_SYS_ADMIN & 1))
		limit_clone(filter);
	return filter;
}

void confine_prepare(struct filter *filter, uint64_t bounding)
{
	scmp_filter_ctx built;
	struct stat st;
	int fd;

	if (filter->program && filter->bounding == bounding)
		return;
	built = build(bounding);
	fd = memfd_create("filter", MFD_CLOEXEC);
	if (fd < 0 || seccomp_export_bpf(built, fd) || fstat(fd, &st))
		die(MPIJOB_ERR_IO, "cannot build the filter of system calls: %m");
	seccomp_release(built);
	free(filter->program);
	filter->program = must_alloc((size_t)st.st_size);
	filter->size = (size_t)st.st_size;
	filter->bounding = bounding;
	if (pread(fd, filter->program, filter->size, 0) != st.st_size)
		die(MPIJOB_ERR_IO, "cannot read the filter of system calls: %m");
	close(fd);
}

void confine_calls(const struct filter *filter)
{
	struct sock_fprog program = { .len = (unsigned short)(filter->size /
							      sizeof(struct sock_filter)),
		.filter = filter->program };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		die(MPIJOB_ERR_IO, "cannot filter system calls: %m");
}

#else

void confine_prepare(struct filter *filter, uint64_t bounding)
{
	(void)filter;
	(void)bounding;
}

void confine_calls(const struct filter *filter)
{
	(void)filter;
}

#endif
