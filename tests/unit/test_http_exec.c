/* SPDX-License-Identifier: Apache-2.0 */
/* Exec credential plugins: real child processes, small shell scripts, and what becomes of what they
 * write. */
#include "http/credentials.h"
#include "http/plugin.h"
#include "http/plugin_reply.h"

#include "../support/fake_wait.h"
#include "../support/http_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define V1 "client.authentication.k8s.io/v1"

static mpijob_http_config *config;
static mpijob__http_credentials *credentials;
static const struct mpijob__http_identity *identity;
static const char *message;
static char notices[2048];

static void notice(void *user, const struct mpijob_finding *finding)
{
	assert_ptr_equal(user, notices);
	snprintf(notices + strlen(notices), sizeof(notices) - strlen(notices), "%s: %s\n",
	    finding->id, finding->message);
}

/* How many descriptors are open. */
static size_t descriptors(void)
{
	size_t count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) != -1;
	return count;
}

static size_t descriptors_before;

static int begin(void **state)
{
	notices[0] = 0;
	descriptors_before = descriptors();
	config = calloc(1, sizeof(*config));
	config->server = strdup("https://h:6443");
	config->namespace_ = strdup("default");
	config->tls = 1;
	config->exec.api_version = strdup(V1);
	credentials = NULL;
	return scratch_begin(state);
}

static int end(void **state)
{
	mpijob__http_credentials_free(credentials);
	mpijob_http_config_free(config);
	/* Neither descriptors nor children are left. */
	if (descriptors() != descriptors_before || waitpid(-1, NULL, WNOHANG) != -1)
		return -1;
	return scratch_end(state);
}

/* Use this script as the plugin. */
static void use_script(const char *text)
{
	free(config->exec.command);
	config->exec.command = strdup(put_program("plugin", text));
}

static void use_reply(const char *reply)
{
	char script[16384];

	snprintf(script, sizeof(script), "#!/bin/sh\necho run >>'%s'\ncat <<'EOF'\n%s\nEOF\n",
	    in_scratch("runs"), reply);
	use_script(script);
}

static void begin_credentials(int64_t timeout_ms)
{
	mpijob__http_credentials_free(credentials);
	assert_int_equal(mpijob__http_credentials_new(config, timeout_ms, notice, notices,
			     &credentials),
	    0);
	identity = mpijob__http_credentials_identity(credentials);
}

/* What a transport does until there is an answer; `later` is added to the clock. */
static int prepare_at(int64_t later)
{
	int code;

	message = "";
	while ((code = mpijob__http_credentials_prepare(credentials, fake_clock_ms() + later,
		    &message)) == 0) {
		do {
			struct pollfd watch = { mpijob__http_credentials_fd(credentials), POLLIN,
				0 };
			int64_t wait =
			    mpijob__http_credentials_due_ms(credentials) - fake_clock_ms() - later;

			assert_true(mpijob__http_credentials_due_ms(credentials) >= 0);
			fake_wait_poll(&watch, watch.fd >= 0, wait > 0 ? (int)wait : 0);
		} while (!mpijob__http_credentials_step(credentials, fake_clock_ms() + later));
	}
	return code;
}

static int prepare(void)
{
	return prepare_at(0);
}

static void assert_fails(const char *part)
{
	assert_int_equal(prepare(), MPIJOB_ERR_AUTH);
	if (!strstr(message, part))
		fail_msg("'%s' is not in '%s'", part, message);
}

/* How often the plugin ran. */
static size_t runs(void)
{
	FILE *file = fopen(in_scratch("runs"), "r");
	size_t count = 0;

	for (int c; file && (c = fgetc(file)) != EOF;)
		count += c == '\n';
	if (file)
		fclose(file);
	return count;
}

/* What the plugin left in a file. */
static const char *left(const char *name)
{
	static char text[65536];
	FILE *file = fopen(in_scratch(name), "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	return text;
}

#define REPLY(status) \
	"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{" status "}}"

static void test_e1_version(void **state)
{
	(void)state;
	use_reply("{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
		  "v1beta1\",\"status\":{\"token\":\"t\"}}");
	begin_credentials(0);
	assert_fails("wrote an ExecCredential with another apiVersion");
	free(config->exec.api_version);
	config->exec.api_version = strdup("client.authentication.k8s.io/v1beta1");
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	assert_string_equal(identity->authorization, "Bearer t");
}

static void test_e1_interactive(void **state)
{
	int saved = dup(0), null = open("/dev/null", O_RDONLY);

	(void)state;
	dup2(null, 0);
	use_reply(REPLY("\"token\":\"t\""));
	config->exec.interactive_mode = MPIJOB__HTTP_EXEC_ALWAYS;
	begin_credentials(0);
	assert_fails(
	    "needs to prompt, but this program does not let plugins read its standard input");
	config->interactive = 1;
	begin_credentials(0);
	assert_fails("needs to prompt, but standard input is not a terminal");
	assert_int_equal(runs(), 0);
	config->exec.interactive_mode = MPIJOB__HTTP_EXEC_IF_AVAILABLE;
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	dup2(saved, 0);
	close(saved);
	close(null);
}

/* With a terminal as our standard input, and leave to use it, the plugin reads from there; else
 * from nothing. */
static void test_e2_standard_input(void **state)
{
	int saved = dup(0), master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	(void)state;
	assert_true(master >= 0);
	assert_int_equal(grantpt(master) | unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	dup2(slave, 0);
	config->exec.interactive_mode = MPIJOB__HTTP_EXEC_ALWAYS;
	config->interactive = 1;
	use_script(
	    "#!/bin/sh\nread line\nprintf '%s' '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
	    "\",\"status\":{\"token\":\"'\"$line\"'\"}}'\n");
	assert_int_equal(write(master, "typed\n", 6), 6);
	begin_credentials(10000);
	assert_int_equal(prepare(), 1);
	assert_string_equal(identity->authorization, "Bearer typed");
	config->exec.interactive_mode = MPIJOB__HTTP_EXEC_NEVER;
	assert_int_equal(write(master, "typed\n", 6), 6);
	begin_credentials(10000);
	assert_fails("wrote neither a token nor a certificate");
	dup2(saved, 0);
	close(saved);
	close(slave);
	close(master);
}

static void test_e2_environment(void **state)
{
	char script[1024];

	(void)state;
	setenv("KEPT", "from us", 1);
	setenv("REPLACED", "old", 1);
	setenv("KUBERNETES_EXEC_INFO", "old", 1);
	config->exec.env_count = 3;
	config->exec.env = calloc(3, sizeof(*config->exec.env));
	config->exec.env[0] =
	    (struct mpijob__http_exec_variable){ strdup("REPLACED"), strdup("first") };
	config->exec.env[1] =
	    (struct mpijob__http_exec_variable){ strdup("REPLACED"), strdup("a b='c'") };
	config->exec.env[2] =
	    (struct mpijob__http_exec_variable){ strdup("KUBERNETES_EXEC_INFO"), strdup("theirs") };
	config->exec.args = calloc(3, sizeof(char *));
	config->exec.args[0] = strdup("$(echo no shell); 'x'");
	config->exec.args[1] = strdup("");
	snprintf(script, sizeof(script),
	    "#!/bin/sh\nprintf '%%s|%%s|%%s|%%s|%%s' \"$KEPT\" \"$REPLACED\" \"$1\" \"$#\" \"$(env "
	    "| grep -c "
	    "^REPLACED=)\" >'%s'\n"
	    "printf '%%s' \"$KUBERNETES_EXEC_INFO\" >'%s'\nls /proc/$$/fd | tr '\\n' ' ' >'%s'\n"
	    "echo '" REPLY("\"token\":\"t\"") "'\n",
	    in_scratch("seen"), in_scratch("info"), in_scratch("fds"));
	use_script(script);
	begin_credentials(0);
	assert_int_equal(dup2(0, 77), 77); /* a descriptor that a host forgot to mark */
	assert_int_equal(prepare(), 1);
	close(77);
	assert_string_equal(left("seen"), "from us|a b='c'|$(echo no shell); 'x'|2|1");
	assert_string_equal(left("info"), "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
					  "\",\"spec\":{\"interactive\":false}}");
	assert_null(strstr(left("fds"), "77"));
	config->exec.provide_cluster_info = 1;
	config->exec.cluster_extension = strdup("{\"audience\":\"x\"}");
	config->tls_server_name = strdup("sni");
	config->proxy_url = strdup("http://p");
	assert_int_equal(mpijob__http_secret_set(&config->ca.data, "pem", 3), 0);
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	assert_string_equal(left("info"),
	    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
	    "\",\"spec\":{\"cluster\":{\"server\":"
	    "\"https://"
	    "h:6443\",\"tls-server-name\":\"sni\",\"certificate-authority-data\":\"cGVt\","
	    "\"proxy-url\":\"http://p\",\"config\":{\"audience\":\"x\"}},\"interactive\":false}}");
	unsetenv("KUBERNETES_EXEC_INFO");
}

/* The host's handling of signals is as before, and the child's is as programs expect. */
static void test_e2_signals(void **state)
{
	char script[512];
	sigset_t blocked, before, after;
	struct sigaction ignored = { 0 }, now;

	(void)state;
	ignored.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &ignored, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	sigprocmask(SIG_BLOCK, NULL, &before);
	snprintf(script, sizeof(script),
	    "#!/bin/sh\ngrep -E 'SigBlk|SigIgn' /proc/self/status >'%s'\necho '%s'\n",
	    in_scratch("signals"), REPLY("\"token\":\"t\""));
	use_script(script);
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	sigprocmask(SIG_BLOCK, NULL, &after);
	assert_memory_equal(&before, &after, sizeof(before));
	sigaction(SIGPIPE, NULL, &now);
	assert_true(now.sa_handler == SIG_IGN);
	assert_non_null(strstr(left("signals"), "SigBlk:\t0000000000000000"));
	/* SIGPIPE is bit 12. */
	assert_int_equal(strtoull(strstr(left("signals"), "SigIgn:") + 8, NULL, 16) & (1u << 12),
	    0);
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	ignored.sa_handler = SIG_DFL;
	sigaction(SIGPIPE, &ignored, NULL);
}

static void test_e3_replies(void **state)
{
	static const struct {
		const char *reply, *why;
	} rows[] = {
		{ "", "wrote something that is not JSON" },
		{ "{\"secret-word", "wrote something that is not JSON" },
		{ "secret-word", "is not an ExecCredential" },
		{ "{}", "an ExecCredential with another apiVersion" },
		{ "{\"kind\":\"Secret\",\"apiVersion\":\"" V1 "\"}", "is not an ExecCredential" },
		{ "{\"kind\":5,\"apiVersion\":\"" V1 "\"}", "is not an ExecCredential" },
		{ "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"}", "without status" },
		{ "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":null}",
		    "without status" },
		{ REPLY(""), "wrote neither a token nor a certificate" },
		{ REPLY("\"token\":\"\""), "wrote neither a token nor a certificate" },
		{ REPLY("\"token\":5"), "a field that is not a string" },
		{ REPLY("\"token\":\"a\\u0000b\""), "a field that is not a string" },
		{ REPLY("\"token\":\"a\\nX-Header: b\""),
		    "a token that contains control characters" },
		{ REPLY("\"clientCertificateData\":\"c\",\"token\":\"secret-word\""),
		    "a certificate without its key" },
		{ REPLY("\"clientKeyData\":\"secret-word\""), "a key without its certificate" },
		{ REPLY("\"clientKeyData\":\"k\",\"clientCertificateData\":\"secret-word\""),
		    "returned a certificate that cannot be used: the certificate is not a PEM "
		    "certificate" },
		{ REPLY("\"token\":\"secret-word\",\"expirationTimestamp\":\"soon\""),
		    "not an RFC 3339 time" },
		{ REPLY("\"token\":\"secret-word\",\"expirationTimestamp\":5"),
		    "not an RFC 3339 time" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		use_reply(rows[i].reply);
		begin_credentials(0);
		assert_fails(rows[i].why);
		assert_null(strstr(message, "secret-word"));
	}
	/* YAML is read too, as client-go does. */
	use_reply("kind: ExecCredential\napiVersion: " V1 "\nstatus: {token: t}");
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
}

static void test_e3_bad_ends(void **state)
{
	(void)state;
	use_script("#!/bin/sh\necho '" REPLY("\"token\":\"t\"") "'\nexit 3\n");
	begin_credentials(0);
	assert_fails("plugin' failed with exit code 3");
	use_script("#!/bin/sh\nkill -9 $$\n");
	begin_credentials(0);
	assert_fails("was killed by signal 9");
	use_script("#!/bin/sh\nexec sleep 100\n");
	begin_credentials(200);
	assert_fails("did not exit within 200 ms");
	use_script("#!/bin/sh\nexec cat /dev/zero\n");
	begin_credentials(0);
	assert_fails("wrote more than 1 MiB");
	use_script("no program\n");
	begin_credentials(0);
	assert_fails(
	    "cannot be started: it is not a program; the first line of a script must begin");
	chmod(config->exec.command, 0644);
	begin_credentials(0);
	assert_fails("cannot be started: permission denied");
	/* Given up while it runs. */
	use_script("#!/bin/sh\nexec sleep 100\n");
	begin_credentials(0);
	assert_int_equal(mpijob__http_credentials_prepare(credentials, fake_clock_ms(), &message),
	    0);
	mpijob__http_credentials_free(credentials);
	credentials = NULL;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* A process that the plugin left behind holds the pipe; nobody waits for it. */
static void test_left_behind(void **state)
{
	char script[1024], number[16] = "";
	FILE *file;
	pid_t pid;

	(void)state;
	snprintf(script, sizeof(script),
	    "#!/bin/sh\nsleep 100 2>/dev/null &\necho $! >'%s'\necho '" REPLY(
		"\"token\":\"t\"") "'\n",
	    in_scratch("pid"));
	use_script(script);
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	file = fopen(in_scratch("pid"), "r");
	assert_non_null(file);
	assert_non_null(fgets(number, sizeof(number), file));
	fclose(file);
	pid = (pid_t)strtol(number, NULL, 10);
	assert_true(pid > 1);
	assert_int_equal(kill(pid, SIGKILL), 0); /* it was still there */
}

/* A host without standard input and output, so that the pipe gets their numbers. */
static void test_closed_descriptors(void **state)
{
	int saved[2] = { fcntl(0, F_DUPFD_CLOEXEC, 100), fcntl(1, F_DUPFD_CLOEXEC, 100) };
	int codes[2];

	(void)state;
	use_script("#!/bin/sh\nread line && exit 1\necho '" REPLY("\"token\":\"t\"") "'\n");
	for (int i = 0; i < 2; i++) {
		begin_credentials(5000);
		fflush(stdout);
		close(0);
		if (i)
			close(1);
		codes[i] = prepare();
		dup2(saved[0], 0);
		dup2(saved[1], 1);
	}
	close(saved[0]);
	close(saved[1]);
	assert_int_equal(codes[0], 1);
	assert_int_equal(codes[1], 1);
}

/* More than the system lets one variable hold. */
static void test_too_large(void **state)
{
	char *large = malloc(200001);

	(void)state;
	memset(large, 'x', 200000);
	large[200000] = 0;
	use_reply(REPLY("\"token\":\"t\""));
	config->exec.provide_cluster_info = 1;
	assert_int_equal(mpijob__http_secret_set(&config->ca.data, large, 200000), 0);
	free(large);
	begin_credentials(0);
	assert_fails("cannot be started: arguments and environment are too large");
}

/* A large reply in pieces. */
static void test_large_reply(void **state)
{
	(void)state;
	use_script("#!/bin/sh\nprintf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
		   "\",\"status\":{\"token\":\"'\n"
		   "i=0; while [ $i -lt 500 ]; do printf '%0100d' 7; i=$((i + 1)); done\nsleep "
		   "0.1\nprintf '\"}}'\n");
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	assert_int_equal(strlen(identity->authorization), 7 + 50000);
}

static void ignore_children(int on)
{
	struct sigaction action = { 0 };

	action.sa_handler = on ? SIG_IGN : SIG_DFL;
	sigaction(SIGCHLD, &action, NULL);
}

/* The host ignores SIGCHLD: there is no exit code, and the output decides. */
static void test_no_exit_code(void **state)
{
	static const struct {
		const char *script, *why;
	} rows[] = {
		{ "#!/bin/sh\necho '" REPLY("\"token\":\"t\"") "'\n", NULL },
		{ "#!/bin/sh\nexit 3\n",
		    "wrote something that is not JSON; its exit code is unknown" },
		{ "#!/bin/sh\nexec sleep 100\n", "did not exit within 300 ms" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int code;

		use_script(rows[i].script);
		begin_credentials(300);
		ignore_children(1);
		code = prepare();
		ignore_children(0);
		assert_int_equal(code, rows[i].why ? MPIJOB_ERR_AUTH : 1);
		if (rows[i].why)
			assert_non_null(strstr(message, rows[i].why));
	}
}

static void test_e4_cache_and_expiry(void **state)
{
	uint64_t generation;

	(void)state;
	use_reply(REPLY("\"token\":\"t\",\"expirationTimestamp\":\"2999-01-01T00:00:00Z\""));
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	generation = identity->token_generation;
	assert_int_equal(prepare_at(100000000), 1);
	assert_int_equal(runs(), 1);
	assert_int_equal(identity->token_generation, generation);
	use_reply(REPLY("\"token\":\"u\""));
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	assert_int_equal(prepare_at(100000000), 1);
	assert_int_equal(runs(), 2);
	/* What has expired when it comes serves what waits for it, and no more; it is told once. */
	use_reply(REPLY("\"token\":\"v\",\"expirationTimestamp\":\"2001-01-01T00:00:00+01:00\""));
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	assert_string_equal(identity->authorization, "Bearer v");
	assert_non_null(strstr(notices, "credentials-expired: the credential plugin"));
	notices[0] = 0;
	assert_int_equal(prepare_at(2000), 1);
	assert_int_equal(runs(), 4);
	assert_string_equal(notices, "");
}

static void test_e5_refused(void **state)
{
	uint64_t first;

	(void)state;
	use_reply(REPLY("\"token\":\"t\""));
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	first = identity->token_generation;
	mpijob__http_credentials_refused(credentials, first, identity->tls_generation);
	mpijob__http_credentials_refused(credentials, first, identity->tls_generation);
	assert_int_equal(prepare(), 1);
	assert_int_equal(runs(), 2);
	assert_true(identity->token_generation > first);
	/* A late 401 for the older token changes nothing. */
	mpijob__http_credentials_refused(credentials, first, identity->tls_generation);
	assert_int_equal(prepare(), 1);
	assert_int_equal(runs(), 2);
	/* A plugin that fails then: the error is kept for a second, so that it is not run for each
	 * that waits. */
	use_script("#!/bin/sh\nexit 1\n");
	mpijob__http_credentials_refused(credentials, identity->token_generation,
	    identity->tls_generation);
	assert_fails("failed with exit code 1");
	use_reply(REPLY("\"token\":\"w\""));
	assert_fails("failed with exit code 1");
	assert_int_equal(prepare_at(1100), 1);
	assert_string_equal(identity->authorization, "Bearer w");
}

/* PEM as a JSON string. */
static void escape(char *out, const char *pem)
{
	for (; *pem; pem++) {
		if (*pem == '\n')
			*out++ = '\\';
		*out++ = *pem == '\n' ? 'n' : *pem;
	}
	*out = 0;
}

static void test_e6_certificates(void **state)
{
	char reply[8192], escaped[2][3000], *certificate, *key, *other_certificate, *other_key;
	uint64_t generation;

	(void)state;
	make_pair(&certificate, &key);
	make_pair(&other_certificate, &other_key);
	escape(escaped[0], certificate);
	escape(escaped[1], key);
	snprintf(reply, sizeof(reply),
	    REPLY("\"clientCertificateData\":\"%s\",\"clientKeyData\":\"%s\""), escaped[0],
	    escaped[1]);
	use_reply(reply);
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	assert_null(identity->authorization);
	assert_string_equal(identity->certificate, certificate);
	assert_int_equal(identity->key_len, strlen(key));
	generation = identity->tls_generation;
	/* A token comes along, the certificate stays: connections do too. */
	snprintf(reply, sizeof(reply),
	    REPLY("\"token\":\"t\",\"clientCertificateData\":\"%s\",\"clientKeyData\":\"%s\""),
	    escaped[0], escaped[1]);
	use_reply(reply);
	mpijob__http_credentials_refused(credentials, identity->token_generation,
	    identity->tls_generation);
	assert_int_equal(prepare(), 1);
	assert_string_equal(identity->authorization, "Bearer t");
	assert_int_equal(identity->tls_generation, generation);
	/* A key that is not its own is refused. */
	escape(escaped[1], other_key);
	snprintf(reply, sizeof(reply),
	    REPLY("\"clientCertificateData\":\"%s\",\"clientKeyData\":\"%s\""), escaped[0],
	    escaped[1]);
	use_reply(reply);
	mpijob__http_credentials_refused(credentials, identity->token_generation,
	    identity->tls_generation);
	assert_fails("the key does not belong to the certificate");
	escape(escaped[0], other_certificate);
	snprintf(reply, sizeof(reply),
	    REPLY("\"clientCertificateData\":\"%s\",\"clientKeyData\":\"%s\""), escaped[0],
	    escaped[1]);
	use_reply(reply);
	assert_int_equal(prepare_at(1100), 1);
	assert_true(identity->tls_generation > generation);
	assert_string_equal(identity->certificate, other_certificate);
	generation = identity->tls_generation;
	use_reply(REPLY("\"token\":\"t\""));
	mpijob__http_credentials_refused(credentials, identity->token_generation,
	    identity->tls_generation);
	assert_int_equal(prepare(), 1);
	assert_null(identity->certificate);
	assert_true(identity->tls_generation > generation);
	free(certificate);
	free(key);
	free(other_certificate);
	free(other_key);
}

static void test_e7_other_identities_win(void **state)
{
	(void)state;
	use_reply(REPLY("\"token\":\"plugin\""));
	mpijob__http_secret_set(&config->token, "static", 6);
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	assert_string_equal(identity->authorization, "Bearer static");
	mpijob__http_secret_clear(&config->token);
	config->username = strdup("me");
	mpijob__http_secret_set(&config->password, "p:w", 3);
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	assert_string_equal(identity->authorization, "Basic bWU6cDp3");
	assert_int_equal(runs(), 0);
}

static void test_e8_install_hint(void **state)
{
	size_t hints = 0;

	(void)state;
	config->exec.command = strdup("mpijob-no-such-plugin");
	config->exec.install_hint = strdup("apt install it");
	begin_credentials(0);
	assert_fails(
	    "the credential plugin 'mpijob-no-such-plugin' is not installed: apt install it");
	for (int i = 1; i < 15; i++) {
		assert_int_equal(prepare_at(i * 1100), MPIJOB_ERR_AUTH);
		hints += strstr(message, "apt install it") != NULL;
		assert_non_null(strstr(message, "is not installed"));
	}
	assert_int_equal(hints, 9);
	assert_int_equal(prepare_at(3600000 + 1100), MPIJOB_ERR_AUTH);
	assert_non_null(strstr(message, "apt install it"));
	free(config->exec.command);
	config->exec.command = strdup("/no/such/plugin");
	begin_credentials(0);
	assert_fails("'/no/such/plugin' is not installed: apt install it");
}

/* A bare command is looked up in PATH, whose relative folders are passed over. */
static void test_look_up(void **state)
{
	char path[512], *before = strdup(getenv("PATH"));

	(void)state;
	use_reply(REPLY("\"token\":\"t\""));
	free(config->exec.command);
	config->exec.command = strdup("plugin");
	assert_int_equal(chdir(scratch), 0);
	snprintf(path, sizeof(path), ".::%s", before);
	setenv("PATH", path, 1);
	begin_credentials(0);
	assert_fails("is not installed");
	assert_int_equal(mkdir("plugins", 0755) | mkdir("plugins/plugin", 0755), 0);
	snprintf(path, sizeof(path), "%s/plugins:%s:%s", scratch, scratch, before);
	setenv("PATH", path, 1);
	begin_credentials(0);
	assert_int_equal(prepare(), 1);
	setenv("PATH", before, 1);
	assert_int_equal(chdir("/"), 0);
	free(before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_e1_version),
		TEST(test_e1_interactive),
		TEST(test_e2_standard_input),
		TEST(test_e2_environment),
		TEST(test_e2_signals),
		TEST(test_e3_replies),
		TEST(test_e3_bad_ends),
		TEST(test_left_behind),
		TEST(test_closed_descriptors),
		TEST(test_too_large),
		TEST(test_large_reply),
		TEST(test_no_exit_code),
		TEST(test_e4_cache_and_expiry),
		TEST(test_e5_refused),
		TEST(test_e6_certificates),
		TEST(test_e7_other_identities_win),
		TEST(test_e8_install_hint),
		TEST(test_look_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
