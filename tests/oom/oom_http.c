/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation fails, alone or with all after it, while a rich kubeconfig is read, copied, and
 * used: token and certificate files, basic credentials, a plugin that is run. Each step is done or
 * says that memory ran out, and nothing leaks.
 */
#include "failing_malloc.h"

#include "http/credentials.h"
#include "http/plugin_reply.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *problem;
static char folder[] = "/tmp/mpijob-oom-http-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		exit(2);
}

static void put_pair(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = X509_new();
	FILE *file;

	ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
	X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
	X509_set_pubkey(certificate, key);
	X509_sign(certificate, key, EVP_sha256());
	file = fopen(path_of("crt"), "w");
	PEM_write_X509(file, certificate);
	fclose(file);
	file = fopen(path_of("key"), "w");
	PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL);
	fclose(file);
	X509_free(certificate);
	EVP_PKEY_free(key);
}

#define REPLY                                                                              \
	"{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\"," \
	"\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"2999-01-01T00:00:00Z\"}}"

static void put_files(void)
{
	put("token", "abc\n");
	put("plugin", "#!/bin/sh\necho '" REPLY "'\n");
	chmod(path_of("plugin"), 0755);
	put_pair();
	put("one", "apiVersion: v1\nkind: Config\ncurrent-context: files\n"
		   "contexts:\n"
		   "- {name: files, context: {cluster: c, user: files, namespace: ns}}\n"
		   "- {name: basic, context: {cluster: c, user: basic}}\n"
		   "- {name: plugin, context: {cluster: d, user: plugin}}\n"
		   "- {name: broken, context: {cluster: e, user: broken}}\n"
		   "clusters:\n"
		   "- name: c\n  cluster: {server: 'https://h:6443/p', certificate-authority: crt, "
		   "tls-server-name: sni, "
		   "proxy-url: 'http://u:p@proxy'}\n");
	put("two",
	    "clusters:\n"
	    "- name: d\n  cluster:\n    server: https://d\n    certificate-authority-data: cGVt\n"
	    "    extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: [a, "
	    "b]}}]\n"
	    "- {name: e, cluster: {server: 'ftp://e', proxy-url: 'x'}}\n"
	    "users:\n"
	    "- name: files\n  user: {tokenFile: token, client-certificate: crt, client-key: key, "
	    "as: me, as-uid: '1', "
	    "as-groups: [g, h], as-user-extra: {k: [v, w]}}\n"
	    "- {name: basic, user: {username: me, password: pw}}\n"
	    "- name: plugin\n  user:\n    exec: {apiVersion: client.authentication.k8s.io/v1, "
	    "command: ./plugin, "
	    "args: [a, b], env: [{name: A, value: b}], interactiveMode: IfAvailable, "
	    "provideClusterInfo: true, "
	    "installHint: \"get\\tit\\e\"}\n"
	    "- {name: broken, user: {exec: {env: [{}]}, token: t, password: p, client-certificate: "
	    "none, as-uid: "
	    "'1'}}\n");
}

static int judge(int code, int expected)
{
	if (code != expected && code != MPIJOB_ERR_NOMEM)
		problem = mpijob_error_name(code);
	return code == expected ? 0 : -1;
}

static int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int drive(mpijob__http_credentials *credentials)
{
	const char *message = NULL;
	int code;

	while ((code = mpijob__http_credentials_prepare(credentials, clock_ms(), &message)) == 0) {
		do {
			struct pollfd watch = { mpijob__http_credentials_fd(credentials), POLLIN,
				0 };

			poll(&watch, watch.fd >= 0, 10);
		} while (!mpijob__http_credentials_step(credentials, clock_ms()));
	}
	return code;
}

/* Out of memory may only show as such: what is wrong with the files is another matter. */
static void use(const mpijob_http_config *config, const char *authorization)
{
	mpijob__http_credentials *credentials = NULL;
	const struct mpijob__http_identity *identity;
	int code = mpijob__http_credentials_new(config, 0, NULL, NULL, &credentials);

	if (judge(code, 0) == 0) {
		code = drive(credentials);
		identity = mpijob__http_credentials_identity(credentials);
		if (judge(code, 1) == 0 && (!identity->authorization ||
					       strcmp(identity->authorization, authorization) != 0))
			problem = "another authorization";
	}
	mpijob__http_credentials_free(credentials);
}

static void load(const char *context, int expected, const char *authorization)
{
	struct mpijob_http_config_options options = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	mpijob_http_config *config = NULL, *copy = NULL;
	mpijob_diag *diag = mpijob_diag_new();

	options.context = context;
	options.namespace_ = "Bad";
	if (judge(mpijob__http_config_load(&options, folder, &config, diag), expected) == 0 &&
	    expected == 0) {
		copy = mpijob__http_config_clone(config);
		if (copy)
			use(copy, authorization);
	}
	mpijob_http_config_free(copy);
	mpijob_http_config_free(config);
	mpijob_diag_free(diag);
}

static void reply(void)
{
	struct mpijob__http_plugin_reply reply = { 0 };
	const char *why;

	judge(mpijob__http_plugin_reply_read(&reply, REPLY, strlen(REPLY),
		  "client.authentication.k8s.io/v1", &why),
	    0);
	mpijob__http_plugin_reply_clear(&reply);
}

static void plain_things(void)
{
	load("basic", 0, "Basic bWU6cHc=");
	load("plugin", 0, "Bearer t");
	load("broken", MPIJOB_ERR_SPEC, NULL);
	load("nowhere", MPIJOB_ERR_NOT_FOUND, NULL);
	reply();
}

/* Nearly all allocations here are OpenSSL's. */
static void certificates(void)
{
	load(NULL, 0, "Bearer abc");
}

static size_t disturb(void (*scenario)(void), size_t fail_at, int persistent)
{
	oom_start(fail_at, persistent);
	scenario();
	/* What OpenSSL keeps of its errors belongs to the thread. */
	OPENSSL_thread_stop();
	return oom_stop();
}

/* Fail the first 1000 allocations, and then each so many. */
static int sweep(const char *name, void (*scenario)(void), size_t step)
{
	/* Once before, so that OpenSSL has what it keeps for ever. */
	size_t count = disturb(scenario, 0, 0), tried = 0;

	count = disturb(scenario, 0, 0);
	if (problem || oom_live()) {
		printf("%s without a failure: %s, %ld blocks left\n", name,
		    problem ? problem : "ok", oom_live());
		return 1;
	}
	for (size_t i = 1; i <= count; i += i < 1000 ? 1 : step) {
		for (int persistent = 0; persistent < 2; persistent++, tried++) {
			disturb(scenario, i, persistent);
			if (!problem && !oom_live())
				continue;
			printf("%s: allocation %zu of %zu%s: %s, %ld blocks left, the oldest %zu\n",
			    name, i, count, persistent ? " and all after it" : "",
			    problem ? problem : "ok", oom_live(), oom_oldest());
			return 1;
		}
	}
	printf("%s: %zu allocations, %zu runs\n", name, count, tried);
	return 0;
}

int main(void)
{
	char list[256], command[128];
	int code;

#ifdef __SANITIZE_ADDRESS__
	puts("skipped: the sanitizer brings an allocator of its own");
	return 77;
#endif
	if (!mkdtemp(folder))
		return 2;
	put_files();
	snprintf(list, sizeof(list), "%s/one:%s/two", folder, folder);
	setenv("KUBECONFIG", list, 1);
	unsetenv("KUBERNETES_SERVICE_HOST");
	code = sweep("plain things", plain_things, 1);
	if (code == 0)
		code = sweep("certificates", certificates, 37);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command) ? 2 : code;
}
