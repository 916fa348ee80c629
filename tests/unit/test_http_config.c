/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations from kubeconfigs, options and service accounts: each rule of kubectl, and what is
 * said when it is broken. */
#include "http/config.h"

#include "../support/http_folder.h"

static struct mpijob_http_config_options options;
static mpijob_http_config *config;
static mpijob_diag *diag;
static char service_account[128];

/* Every test begins without a configuration anywhere. */
static int begin(void **state)
{
	if (scratch_begin(state))
		return -1;
	options = (struct mpijob_http_config_options)MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	config = NULL;
	diag = mpijob_diag_new();
	snprintf(service_account, sizeof(service_account), "%s/serviceaccount", scratch);
	unsetenv("KUBECONFIG");
	unsetenv("KUBERNETES_SERVICE_HOST");
	unsetenv("KUBERNETES_SERVICE_PORT");
	unsetenv("POD_NAMESPACE");
	return setenv("HOME", in_scratch("home"), 1);
}

static int end(void **state)
{
	mpijob_http_config_free(config);
	mpijob_diag_free(diag);
	return scratch_end(state);
}

static int load(void)
{
	mpijob_http_config_free(config);
	config = NULL;
	mpijob_diag_clear(diag);
	return mpijob__http_config_load(&options, service_account, &config, diag);
}

/* Load it from one file's text. */
static int load_text(const char *text)
{
	options.kubeconfig = put("config", text);
	return load();
}

/* All findings, each on a line. */
static const char *findings(void)
{
	static char all[16384];
	mpijob_text *text = mpijob_text_new();

	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		mpijob_finding_write(mpijob_diag_at(diag, i), mpijob_text_write, text);
		mpijob_text_write(text, "\n", 1);
	}
	snprintf(all, sizeof(all), "%s", mpijob_text_data(text));
	mpijob_text_free(text);
	return all;
}

static void assert_said(const char *part)
{
	if (!strstr(findings(), part))
		fail_msg("'%s' is not said, but:\n%s", part, findings());
}

static void assert_refused(int code, const char *text, const char *part)
{
	int found = load_text(text);

	if (found != code)
		fail_msg("%s, not %s:\n%s", mpijob_error_name(found), mpijob_error_name(code),
		    findings());
	assert_null(config);
	assert_said(part);
}

static void assert_loads(const char *text)
{
	if (load_text(text) != 0)
		fail_msg("it is refused:\n%s", findings());
}

/* The head of a configuration whose only cluster and user can be appended: "- name: c", and so
 * on. */
#define HEAD    "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
#define CLUSTER "clusters: [{name: c, cluster: {server: 'https://h:6443'}}]\n"
#define USER    "users: [{name: u, user: {token: t}}]\n"

static void test_k1_precedence(void **state)
{
	char list[512];

	(void)state;
	assert_int_equal(load(), MPIJOB_ERR_NOT_FOUND);
	assert_said(".kube/config does not exist, and this process does not run in a pod");
	put("home/.kube/config", "clusters: [{cluster: {server: 'https://home'}}]");
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_server(config), "https://home");
	put("a", "clusters: [{cluster: {server: 'https://a'}}]");
	put("b", "clusters: [{cluster: {server: 'https://b'}}]");
	/* Missing files are passed over, and so are empty parts and those that came before. */
	snprintf(list, sizeof(list), "%s::%s:%s:%s", in_scratch("none"), in_scratch("b"),
	    in_scratch("b"), in_scratch("a"));
	setenv("KUBECONFIG", list, 1);
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_server(config), "https://b");
	options.kubeconfig = in_scratch("a");
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_server(config), "https://a");
	options.kubeconfig = in_scratch("none");
	assert_int_equal(load(), MPIJOB_ERR_IO);
	assert_said("none: the kubeconfig cannot be read: the file does not exist");
	options.kubeconfig = in_scratch("home");
	assert_int_equal(load(), MPIJOB_ERR_IO);
	assert_said("it is a directory");
	/* An empty file is an empty configuration, and hides that of the home. */
	setenv("KUBECONFIG", put("empty", ""), 1);
	options.kubeconfig = NULL;
	assert_int_equal(load(), MPIJOB_ERR_NOT_FOUND);
	assert_said("no current-context");
	/* A broken file in the list is an error even when another one would do. */
	put("broken", "a: [");
	snprintf(list, sizeof(list), "%s:%s", in_scratch("a"), in_scratch("broken"));
	setenv("KUBECONFIG", list, 1);
	assert_int_equal(load(), MPIJOB_ERR_SYNTAX);
	assert_said("broken:1:");
}

static void test_k1_path_with_colon(void **state)
{
	(void)state;
	setenv("KUBECONFIG", put("a:b", "clusters: [{cluster: {server: 'https://colon'}}]"), 1);
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_server(config), "https://colon");
}

static void test_k2_merge(void **state)
{
	char list[512];

	(void)state;
	put("one", "current-context: ''\n"
		   "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
		   "clusters: [{name: c, cluster: {server: 'https://one'}}]\n"
		   "users: [{name: other, user: {}}]\n");
	put("two", "current-context: x\n"
		   "contexts: [{name: x, context: {cluster: d, user: u, namespace: two}}]\n"
		   "clusters: [{name: c, cluster: {server: 'https://two', tls-server-name: two}}]\n"
		   "users: [{name: u, user: {token: t}}]\n");
	put("three", "current-context: z\n");
	snprintf(list, sizeof(list), "%s:%s:%s", in_scratch("one"), in_scratch("two"),
	    in_scratch("three"));
	setenv("KUBECONFIG", list, 1);
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_context(config), "x");
	assert_string_equal(mpijob_http_config_server(config), "https://one");
	assert_string_equal(mpijob_http_config_namespace(config), "default");
	assert_string_equal(mpijob_http_config_user(config), "u");
	assert_null(config->tls_server_name);
	assert_string_equal(config->token.data, "t");
}

static void test_k3_relative_paths(void **state)
{
	char *certificate, *key, expected[256];

	(void)state;
	make_pair(&certificate, &key);
	put("ca.crt", certificate);
	put("sub/client.crt", certificate);
	put("sub/client.key", key);
	put("sub/token", "t\n");
	options.kubeconfig =
	    put("sub/config", HEAD "clusters: [{name: c, cluster: {server: 'https://h', "
				   "certificate-authority: .././x/../ca.crt}}]\n"
				   "users: [{name: u, user: {client-certificate: client.crt, "
				   "client-key: ./client.key}}]\n");
	assert_int_equal(load(), 0);
	assert_string_equal(config->ca.file, in_scratch("ca.crt"));
	assert_string_equal(config->certificate.file, in_scratch("sub/client.crt"));
	assert_string_equal(config->key.file, in_scratch("sub/client.key"));
	put("sub/config", HEAD CLUSTER "users: [{name: u, user: {tokenFile: token}}]\n");
	assert_int_equal(load(), 0);
	assert_string_equal(config->token_file, in_scratch("sub/token"));
#define PLUGIN(command)                                                   \
	HEAD CLUSTER "users: [{name: u, user: {exec: {apiVersion: "       \
		     "client.authentication.k8s.io/v1, interactiveMode: " \
		     "Never, "                                            \
		     "command: " command "}}}]\n"
	put("sub/config", PLUGIN("../bin/plugin"));
	assert_int_equal(load(), 0);
	assert_string_equal(config->exec.command, in_scratch("bin/plugin"));
	put("sub/config", PLUGIN("plugin"));
	assert_int_equal(load(), 0);
	assert_string_equal(config->exec.command, "plugin");
	put("sub/config", PLUGIN("/opt/plugin"));
	assert_int_equal(load(), 0);
	assert_string_equal(config->exec.command, "/opt/plugin");
	/* An option is seen from the working directory. */
	put("sub/config", HEAD CLUSTER "users: [{name: u, user: {}}]");
	assert_int_equal(chdir(scratch), 0);
	options.certificate_authority = "sub/client.crt";
	assert_int_equal(load(), 0);
	assert_string_equal(config->ca.file, in_scratch("sub/client.crt"));
	assert_int_equal(chdir("/"), 0);
	snprintf(expected, sizeof(expected), "'/sub/client.crt' cannot be read");
	assert_int_equal(load(), MPIJOB_ERR_IO);
	assert_said(expected);
	free(certificate);
	free(key);
}

static void test_k4_data_and_files(void **state)
{
	(void)state;
	put("ca", "pem");
	put("empty", "");
	assert_loads(HEAD USER "clusters: [{name: c, cluster: {server: 'https://h', "
			       "certificate-authority-data: \"cGV\\nt\\r\"}}]");
	assert_string_equal(config->ca.data.data, "pem");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD USER
	    "clusters: [{name: c, cluster: {server: 'https://h', certificate-authority: ca, "
	    "certificate-authority-data: cGVt}}]",
	    "clusters[0].cluster.certificate-authority-data: certificate-authority is given too");
	assert_refused(MPIJOB_ERR_IO,
	    HEAD USER
	    "clusters: [{name: c, cluster: {server: 'https://h', certificate-authority: nope}}]",
	    "clusters[0].cluster.certificate-authority: the file '");
	assert_said("nope' cannot be read: the file does not exist");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD USER
	    "clusters: [{name: c, cluster: {server: 'https://h', certificate-authority: empty}}]",
	    "empty' is empty");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER
	    "users: [{name: u, user: {client-certificate-data: cGVt, client-certificate: ca, "
	    "client-key-data: cGVt, "
	    "client-key: ca}}]",
	    "users[0].user.client-key-data: client-key is given too");
	assert_said("users[0].user.client-certificate-data: client-certificate is given too");
	assert_refused(MPIJOB_ERR_IO, HEAD CLUSTER "users: [{name: u, user: {tokenFile: nope}}]",
	    "users[0].user.tokenFile");
	assert_refused(MPIJOB_ERR_SPEC, HEAD CLUSTER "users: [{name: u, user: {tokenFile: empty}}]",
	    "is empty");
	/* Beside a token the file may come later. */
	assert_loads(HEAD CLUSTER "users: [{name: u, user: {token: t, tokenFile: nope}}]");
	/* The unused entry may name what it likes, but must be readable as such. */
	assert_loads(HEAD CLUSTER
	    "users: [{name: u, user: {token: t}}, {name: v, user: {client-certificate: nope}}]");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users: [{name: u}, {name: v, user: {client-key-data: '#'}}]",
	    "config:4:54: users[1].user.client-key-data: must be base64");
}

static void test_k5_identities(void **state)
{
	(void)state;
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users: [{name: u, user: {client-certificate-data: cGVt}}]",
	    "users[0].user.client-certificate-data: needs client-key");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users: [{name: u, user: {token: t, username: me, password: p}}]",
	    "users[0].user.username: a token is given too");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users: [{name: u, user: {token: t, password: p}}]",
	    "users[0].user.password: a token is given too");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users: [{name: u, user: {auth-provider: {name: gcp}, exec: {command: c, "
			 "interactiveMode: Never, "
			 "apiVersion: client.authentication.k8s.io/v1}}}]",
	    "users[0].user.auth-provider: exec is given too");
	assert_refused(MPIJOB_ERR_SPEC, HEAD CLUSTER "users: [{name: u, user: {as-uid: '5'}}]",
	    "users[0].user.as: must be given");
	assert_refused(MPIJOB_ERR_SPEC, HEAD CLUSTER "users: [{name: u, user: {as-groups: [g]}}]",
	    "users[0].user.as:");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users: [{name: u, user: {as-user-extra: {a: [b]}}}]",
	    "users[0].user.as:");
	assert_loads(HEAD CLUSTER "users: [{name: u, user: {client-key-data: cGVt, token: t}}]");
	assert_said("users[0].user.client-key-data: the key is not used");
	assert_refused(MPIJOB_ERR_SPEC, HEAD CLUSTER "users: [{name: u, user: {token: \"a\\nb\"}}]",
	    "users[0].user.token: must not contain control characters");
	/* Token and certificate together are fine. */
	assert_loads(HEAD CLUSTER "users: [{name: u, user: {token: t, client-certificate-data: "
				  "cGVt, client-key-data: cGVt}}]");
	/* A password alone is no identity. */
	assert_loads(HEAD CLUSTER "users: [{name: u, user: {password: p}}]");
	assert_null(config->username);
}

static void test_k5_exec_fields(void **state)
{
	(void)state;
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users: [{name: u, user: {exec: {env: [{value: v}, {name: 'a=b'}]}}}]",
	    "users[0].user.exec.command: must be given");
	assert_said(
	    "users[0].user.exec.apiVersion: must be given: client.authentication.k8s.io/v1");
	assert_said(
	    "users[0].user.exec.interactiveMode: must be given: Never, IfAvailable or Always");
	assert_said("users[0].user.exec.env[0].name: must be given");
	assert_said("users[0].user.exec.env[1].name: must not contain '='");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users: [{name: u, user: {exec: {command: c, apiVersion: "
			 "client.authentication.k8s.io/v1alpha1}}}]",
	    "v1alpha1 is no longer supported");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users: [{name: u, user: {exec: {command: c, apiVersion: v1, "
			 "interactiveMode: Sometimes}}}]",
	    "must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1");
	assert_said("config:4:78: users[0].user.exec.interactiveMode: must be Never, IfAvailable "
		    "or Always");
	assert_loads(
	    HEAD "clusters: [{name: c, cluster: {server: 'https://h', extensions: [{name: other, "
		 "extension: 1}, "
		 "{name: client.authentication.k8s.io/exec, extension: {audience: [x, 0.10]}}]}}]\n"
		 "users: [{name: u, user: {exec: {command: c, apiVersion: "
		 "client.authentication.k8s.io/v1beta1, "
		 "args: [a, null, ''], env: [{name: A, value: b}], installHint: \"get \\e[1m it\\n "
		 "at \\u202ehome é\", "
		 "provideClusterInfo: true}}}]");
	assert_int_equal(config->exec.interactive_mode, MPIJOB__HTTP_EXEC_IF_AVAILABLE);
	assert_string_equal(config->exec.args[0], "a");
	assert_string_equal(config->exec.args[1], "");
	assert_string_equal(config->exec.args[2], "");
	assert_null(config->exec.args[3]);
	assert_string_equal(config->exec.env[0].value, "b");
	assert_string_equal(config->exec.install_hint, "get U+001B[1m it  at U+202Ehome é");
	assert_int_equal(config->exec.provide_cluster_info, 1);
	assert_string_equal(config->exec.cluster_extension, "{\"audience\":[\"x\",0.1]}");
}

static void test_k6_insecure_and_authority(void **state)
{
	static const char *const text =
	    HEAD USER "clusters: [{name: c, cluster: {server: 'https://h', "
		      "certificate-authority-data: cGVt}}]";

	(void)state;
	put("ca", "other");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD USER
	    "clusters: [{name: c, cluster: {server: 'https://h', insecure-skip-tls-verify: true, "
	    "certificate-authority-data: cGVt}}]",
	    "clusters[0].cluster.insecure-skip-tls-verify: a certificate authority is given too");
	options.insecure_skip_tls_verify = 1;
	assert_loads(text);
	assert_int_equal(config->insecure, 1);
	assert_int_equal(config->ca.data.len, 0);
	options.insecure_skip_tls_verify = 0;
	options.certificate_authority = in_scratch("ca");
	assert_loads(HEAD USER
	    "clusters: [{name: c, cluster: {server: 'https://h', insecure-skip-tls-verify: true, "
	    "certificate-authority-data: cGVt}}]");
	assert_int_equal(config->insecure, 0);
	assert_int_equal(config->ca.data.len, 0);
	assert_string_equal(config->ca.file, in_scratch("ca"));
	options.insecure_skip_tls_verify = 1;
	assert_int_equal(load_text(text), MPIJOB_ERR_USAGE);
	assert_said("exclude each other");
}

static void test_k7_tls_server_name(void **state)
{
	static const char *const text =
	    HEAD USER "clusters: [{name: c, cluster: {server: 'https://h', tls-server-name: sni}}]";

	(void)state;
	assert_loads(text);
	assert_string_equal(config->tls_server_name, "sni");
	options.server = "https://other";
	assert_loads(text);
	assert_null(config->tls_server_name);
	assert_string_equal(mpijob_http_config_server(config), "https://other");
	assert_string_equal(config->token.data, "t");
	options.tls_server_name = "m";
	assert_loads(text);
	assert_string_equal(config->tls_server_name, "m");
	options.server = NULL;
	assert_loads(text);
	assert_string_equal(config->tls_server_name, "m");
}

static void test_k8_proxy(void **state)
{
	(void)state;
	assert_loads(HEAD USER "clusters: [{name: c, cluster: {server: 'https://h', proxy-url: "
			       "'http://me:pw@p:3128'}}]");
	assert_string_equal(config->proxy_url, "http://me:pw@p:3128");
	options.proxy_url = "https://q";
	assert_loads(HEAD USER
	    "clusters: [{name: c, cluster: {server: 'https://h', proxy-url: 'ftp://p'}}]");
	assert_string_equal(config->proxy_url, "https://q");
	options.proxy_url = NULL;
	assert_refused(MPIJOB_ERR_UNSUPPORTED,
	    HEAD USER
	    "clusters: [{name: c, cluster: {server: 'https://h', proxy-url: 'socks5://p:1'}}]",
	    "clusters[0].cluster.proxy-url: SOCKS proxies are not supported; use an HTTP proxy");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD USER
	    "clusters: [{name: c, cluster: {server: 'https://h', proxy-url: 'ftp://u:secret@p'}}]",
	    "the proxy's address must begin with http:// or https://");
	assert_null(strstr(findings(), "secret"));
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD USER "clusters: [{name: c, cluster: {server: 'https://h', proxy-url: 'p:3128'}}]",
	    "must begin with");
}

static void test_k10_only_with_tls(void **state)
{
	static const char *const plain =
	    HEAD "clusters: [{name: c, cluster: {server: 'http://h:8080/', tls-server-name: sni, "
		 "certificate-authority-data: cGVt}}]\n"
		 "users: [{name: u, user: {token: t, as: me, exec: {command: c, interactiveMode: "
		 "Never, apiVersion: "
		 "client.authentication.k8s.io/v1}}}]";

	(void)state;
	assert_loads(plain);
	assert_string_equal(mpijob_http_config_server(config), "http://h:8080");
	assert_int_equal(config->tls, 0);
	assert_int_equal(config->token.len, 0);
	assert_null(config->exec.command);
	assert_null(config->tls_server_name);
	assert_int_equal(config->ca.data.len, 0);
	assert_string_equal(config->as, "me");
	assert_said("warning: clusters[0].cluster.server: the credentials are not sent");
	assert_loads(HEAD "clusters: [{name: c, cluster: {server: 'h:1'}}]\nusers: [{name: u}]");
	assert_string_equal(mpijob_http_config_server(config), "http://h:1");
	assert_loads(HEAD USER
	    "clusters: [{name: c, cluster: {server: 'h:1', insecure-skip-tls-verify: true}}]");
	assert_string_equal(mpijob_http_config_server(config), "https://h:1");
	assert_int_equal(config->tls, 1);
	assert_string_equal(config->token.data, "t");
	assert_loads(HEAD USER "clusters: [{name: c, cluster: {server: 'https://h/a/b//?x=y#z'}}]");
	assert_string_equal(mpijob_http_config_server(config), "https://h/a/b");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD USER "clusters: [{name: c, cluster: {server: 'https://a:hidden@h'}}]",
	    "the server's address contains credentials");
	assert_null(strstr(findings(), "hidden"));
}

static void test_k13_auth_providers(void **state)
{
	(void)state;
	assert_refused(MPIJOB_ERR_UNSUPPORTED,
	    HEAD CLUSTER "users: [{name: u, user: {auth-provider: {name: gcp}}}]",
	    "users[0].user.auth-provider: auth-provider 'gcp' is not supported; use exec with "
	    "gke-gcloud-auth-plugin");
	assert_refused(MPIJOB_ERR_UNSUPPORTED,
	    HEAD CLUSTER "users: [{name: u, user: {auth-provider: {name: azure}}}]",
	    "use exec with kubelogin");
	assert_refused(MPIJOB_ERR_UNSUPPORTED,
	    HEAD CLUSTER "users: [{name: u, user: {auth-provider: {name: oidc}}}]",
	    "OpenID Connect");
	assert_refused(MPIJOB_ERR_UNSUPPORTED,
	    HEAD CLUSTER "users: [{name: u, user: {auth-provider: {}}}]",
	    "use exec with a plugin of your provider");
}

/* What a pod finds. */
static void be_in_a_pod(void)
{
	setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
	setenv("KUBERNETES_SERVICE_PORT", "443", 1);
	put("serviceaccount/token", "sa-token\n");
	put("serviceaccount/ca.crt", "-----BEGIN CERTIFICATE-----\n");
	put("serviceaccount/namespace", "\npod-ns \n");
}

static void test_k14_namespace(void **state)
{
	(void)state;
	assert_loads(HEAD CLUSTER USER);
	assert_string_equal(mpijob_http_config_namespace(config), "default");
	assert_loads("current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u, "
		     "namespace: ns}}]\n" CLUSTER USER);
	assert_string_equal(mpijob_http_config_namespace(config), "ns");
	options.namespace_ = "o";
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_namespace(config), "o");
	options.namespace_ = "No Name";
	assert_int_equal(load(), 0);
	assert_said("'No Name' cannot be the name of a namespace");
	options.namespace_ = NULL;
	be_in_a_pod();
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_namespace(config), "ns");
	/* As in client-go, a pod's namespace also stands behind a kubeconfig that names none. */
	assert_loads(HEAD CLUSTER USER);
	assert_string_equal(mpijob_http_config_namespace(config), "pod-ns");
	setenv("POD_NAMESPACE", "from-env", 1);
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_namespace(config), "from-env");
	unsetenv("POD_NAMESPACE");
	unlink(in_scratch("serviceaccount/namespace"));
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_namespace(config), "default");
}

static void test_in_cluster(void **state)
{
	(void)state;
	options.in_cluster = 1;
	assert_int_equal(load(), MPIJOB_ERR_NOT_FOUND);
	assert_said("this process does not run in a pod: KUBERNETES_SERVICE_HOST");
	options.in_cluster = 0;
	be_in_a_pod();
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_server(config), "https://[fd00::1]:443");
	assert_string_equal(mpijob_http_config_namespace(config), "pod-ns");
	assert_string_equal(mpijob_http_config_user(config), "service account");
	assert_null(mpijob_http_config_context(config));
	assert_string_equal(config->token_file, in_scratch("serviceaccount/token"));
	assert_string_equal(config->ca.file, in_scratch("serviceaccount/ca.crt"));
	assert_int_equal(config->in_cluster, 1);
	options.token = "mine";
	assert_int_equal(load(), 0);
	assert_null(config->token_file);
	assert_string_equal(config->token.data, "mine");
	options.token = NULL;
	put("serviceaccount/ca.crt", "nothing");
	assert_int_equal(load(), 0);
	assert_null(config->ca.file);
	assert_said(
	    "contains no certificate (it contains no PEM); the system's certificates are used");
}

static void test_k15_falls_back_to_the_cluster(void **state)
{
	(void)state;
	be_in_a_pod();
	put("serviceaccount/ca.crt", "nothing");
	/* A kubeconfig that names a server wins, one that names none does not. */
	setenv("KUBECONFIG", put("one", HEAD CLUSTER USER), 1);
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_server(config), "https://h:6443");
	options.in_cluster = 1;
	assert_int_equal(load(), 0);
	assert_string_equal(mpijob_http_config_server(config), "https://[fd00::1]:443");
	options.context = "x";
	assert_int_equal(load(), MPIJOB_ERR_USAGE);
	options.context = NULL;
	options.in_cluster = 0;
	put("one", CLUSTER USER);
	assert_int_equal(load(), 0);
	assert_int_equal(config->in_cluster, 1);
	unlink(in_scratch("serviceaccount/token"));
	assert_int_equal(load(), MPIJOB_ERR_NOT_FOUND);
	options.in_cluster = 1;
	assert_int_equal(load(), MPIJOB_ERR_NOT_FOUND);
	assert_said("the service account's token");
	put("serviceaccount/token", " \n");
	assert_int_equal(load(), MPIJOB_ERR_SPEC);
	assert_said("is empty");
	/* Credentials do not go to a server without TLS. */
	options.server = "http://plain:8001";
	options.token = "mine";
	assert_int_equal(load(), 0);
	assert_int_equal(config->token.len, 0);
}

static void test_names_that_are_not_there(void **state)
{
	static const char *const text =
	    "current-context: prod\n"
	    "contexts:\n- name: dev\n  context: {cluster: c, user: u}\n- name: test\n  "
	    "context: {cluster: d, user: v}\n" CLUSTER USER;

	(void)state;
	assert_refused(MPIJOB_ERR_NOT_FOUND, text,
	    "config:1:18: current-context: no context 'prod'; there are dev and test");
	options.context = "stage";
	assert_refused(MPIJOB_ERR_NOT_FOUND, text,
	    "context: no context 'stage'; there are dev and test");
	options.context = "test";
	assert_refused(MPIJOB_ERR_NOT_FOUND, text,
	    "config:6:22: contexts[1].context.cluster: no cluster 'd'; there is only c");
	assert_said("contexts[1].context.user: no user 'v'; there is only u");
	options.cluster = "c";
	options.user = "w";
	assert_refused(MPIJOB_ERR_NOT_FOUND, text, "user: no user 'w'; there is only u");
	options.user = "u";
	assert_loads(text);
	assert_string_equal(mpijob_http_config_user(config), "u");
	options.context = options.cluster = options.user = NULL;
	assert_refused(MPIJOB_ERR_NOT_FOUND, "contexts: [{name: a}, {name: b}, {name: c}]\n",
	    "no current-context, so name a context; there are a, b and c");
	/* A server of the caller makes up for a cluster that is missing. */
	options.server = "https://s";
	assert_loads("{}");
	assert_null(mpijob_http_config_context(config));
	assert_null(mpijob_http_config_user(config));
}

static void test_wrong_types(void **state)
{
	(void)state;
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users:\n- name: u\n  user:\n    password: 123456\n    token: true\n",
	    "config:7:15: users[0].user.password: must be a string, not a number; put it in "
	    "quotes");
	assert_said("config:8:12: users[0].user.token: must be a string, not true or false; put it "
		    "in quotes");
	assert_null(strstr(findings(), "123456"));
	assert_refused(MPIJOB_ERR_SPEC, HEAD CLUSTER "users: {u: {token: t}}\n",
	    "users: must be a list, not a map");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD USER "clusters: [{name: c, cluster: {insecure-skip-tls-verify: 'true'}}]",
	    "clusters[0].cluster.insecure-skip-tls-verify: must be true or false, not a string");
	assert_refused(MPIJOB_ERR_SPEC, "- a\n", "config:1:1: must be a map, not a list");
	assert_refused(MPIJOB_ERR_SPEC, "kind: Pod\napiVersion: v2\n",
	    "kind: 'Pod' is not valid in a kubeconfig");
	assert_said("apiVersion: 'v2' is not valid in a kubeconfig; it must be v1");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users:\n- {name: u}\n- {name: v}\n- {name: u}\n",
	    "users[2].name: 'u' is already the name of entry 0, in line 5");
	assert_refused(MPIJOB_ERR_SPEC,
	    HEAD CLUSTER "users: [{name: u, user: {as-user-extra: {k: v}, as-groups: [1]}}]",
	    "users[0].user.as-user-extra.k: must be a list, not a string");
	assert_said("users[0].user.as-groups[0]: must be a string, not a number");
	/* Unknown fields, null and comments are nothing. */
	assert_loads("preferences: {}\nnovel: [1]\ncontexts: null\nkind: Config\napiVersion: "
		     "v1\ncurrent-context:\n"
		     "clusters: [{cluster: {server: 'https://h', novel: 1, tls-server-name: "
		     "sniull}}]\n---\nanother: "
		     "document\n");
	assert_loads("{\"clusters\": [{\"cluster\": {\"server\": \"https://json\"}}]}");
	assert_string_equal(mpijob_http_config_server(config), "https://json");
}

static void test_servers(void **state)
{
	static const struct {
		const char *server, *becomes, *why;
	} rows[] = {
		{ "https://h", "https://h", NULL },
		{ "HTTPS://H:1/", "https://H:1", NULL },
		{ "https://[::1]:6443/p", "https://[::1]:6443/p", NULL },
		{ "https://h:", "https://h", NULL },
		{ "10.0.0.1", "https://10.0.0.1", NULL },
		{ "[fd00::2]", "https://[fd00::2]", NULL },
		{ "ftp://h", NULL, "must begin with https://" },
		{ "https://", NULL, "has no host" },
		{ "https://:1", NULL, "has no host" },
		{ "https:///p", NULL, "has no host" },
		{ "https://h:99999", NULL, "has an invalid port" },
		{ "https://h:0", NULL, "has an invalid port" },
		{ "https://h:x", NULL, "has an invalid port" },
		{ "https://fd00::1", NULL, "has more than one ':'" },
		{ "https://[fd00::1", NULL, "has a '[' without its ']'" },
		{ "https://[fd00::1]x", NULL, "has something other than a port" },
		{ "https://[zz]", NULL, "is not an IPv6 address" },
		{ "https://a b", NULL, "contains a space" },
		{ "https://a\r\nb", NULL, "contains a space" },
		{ "h/path", NULL, "has a path and therefore needs a scheme" },
	};

	(void)state;
	options.kubeconfig = put("config", "{}");
	options.insecure_skip_tls_verify = 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		options.server = rows[i].server;
		assert_int_equal(load(), rows[i].becomes ? 0 : MPIJOB_ERR_SPEC);
		if (rows[i].becomes)
			assert_string_equal(mpijob_http_config_server(config), rows[i].becomes);
		else
			assert_said(rows[i].why);
	}
}

static void test_options(void **state)
{
	static const char *const groups[] = { "g", "h" };
	static const char *const text =
	    HEAD CLUSTER "users: [{name: u, user: {as: a, as-uid: '1', as-groups: [x], "
			 "as-user-extra: {k: [v, w], l: [z]}, tokenFile: nope, username: me}}]";
	struct {
		struct mpijob_http_config_options options;
		int more;
	} longer;
	char *certificate, *key;

	(void)state;
	make_pair(&certificate, &key);
	assert_refused(MPIJOB_ERR_SPEC, text, "users[0].user.username: a token is given too");
	options.kubeconfig = put("config",
	    HEAD CLUSTER "users: [{name: u, user: {as: a, as-uid: '1', as-groups: [x], "
			 "as-user-extra: {k: [v, w], l: [z]}, tokenFile: nope}}]");
	options.token = "mine";
	assert_int_equal(load(), 0);
	assert_string_equal(config->token.data, "mine");
	assert_null(config->token_file);
	assert_string_equal(config->as, "a");
	assert_string_equal(config->as_uid, "1");
	assert_string_equal(config->as_groups[0], "x");
	assert_null(config->as_groups[1]);
	assert_int_equal(config->as_extra_count, 3);
	assert_string_equal(config->as_extra[2].name, "l");
	assert_string_equal(config->as_extra[1].value, "w");
	options.as_user = "b";
	options.as_groups = groups;
	options.as_groups_count = 2;
	options.client_certificate = put("crt", certificate);
	options.client_key = put("key", key);
	assert_int_equal(load(), 0);
	assert_string_equal(config->as, "b");
	assert_string_equal(config->as_groups[1], "h");
	assert_string_equal(config->certificate.file, in_scratch("crt"));
	assert_string_equal(config->key.file, in_scratch("key"));
	put("config", HEAD CLUSTER USER);
	options.as_user = "";
	assert_int_equal(load(), MPIJOB_ERR_USAGE);
	assert_said("as: must be given with as_uid and as_groups");
	/* Structs of other sizes. */
	memset(&longer, 0, sizeof(longer));
	longer.options = options;
	longer.options.as_user = "b";
	longer.options.size = sizeof(longer);
	mpijob_http_config_free(config);
	config = NULL;
	assert_int_equal(mpijob__http_config_load(&longer.options, service_account, &config, NULL),
	    0);
	mpijob_http_config_free(config);
	config = NULL;
	longer.more = 1;
	assert_int_equal(mpijob__http_config_load(&longer.options, service_account, &config, NULL),
	    MPIJOB_ERR_UNSUPPORTED);
	/* Cut off before the options that would be refused. */
	longer.options.as_user = NULL;
	longer.options.size = offsetof(struct mpijob_http_config_options, context);
	assert_int_equal(mpijob__http_config_load(&longer.options, service_account, &config, NULL),
	    0);
	longer.options.size = 1;
	mpijob_http_config_free(config);
	config = NULL;
	assert_int_equal(mpijob__http_config_load(&longer.options, service_account, &config, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_http_config_load(NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	free(certificate);
	free(key);
}

static void test_clone(void **state)
{
	mpijob_http_config *copy;

	(void)state;
	assert_loads(HEAD
	    "clusters: [{name: c, cluster: {server: 'https://h', tls-server-name: sni, proxy-url: "
	    "'http://p', "
	    "certificate-authority-data: cGVt, extensions: [{name: "
	    "client.authentication.k8s.io/exec, "
	    "extension: 1}]}}]\n"
	    "users: [{name: u, user: {username: me, password: p, as: a, as-uid: '1', as-groups: "
	    "[x, z], "
	    "as-user-extra: {k: [v, w]}, exec: {command: c, args: [a], env: [{name: A, value: b}], "
	    "interactiveMode: Always, "
	    "installHint: h, apiVersion: client.authentication.k8s.io/v1}}}]");
	copy = mpijob__http_config_clone(config);
	mpijob_http_config_free(config);
	config = copy;
	assert_string_equal(config->server, "https://h");
	assert_string_equal(config->proxy_url, "http://p");
	assert_string_equal(config->ca.data.data, "pem");
	assert_string_equal(config->password.data, "p");
	assert_string_equal(config->as_groups[1], "z");
	assert_string_equal(config->as_extra[1].value, "w");
	assert_string_equal(config->exec.args[0], "a");
	assert_string_equal(config->exec.env[0].name, "A");
	assert_string_equal(config->exec.cluster_extension, "1");
	assert_int_equal(config->exec.interactive_mode, MPIJOB__HTTP_EXEC_ALWAYS);
	assert_int_equal(config->tls, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_k1_precedence),
		TEST(test_k1_path_with_colon),
		TEST(test_k2_merge),
		TEST(test_k3_relative_paths),
		TEST(test_k4_data_and_files),
		TEST(test_k5_identities),
		TEST(test_k5_exec_fields),
		TEST(test_k6_insecure_and_authority),
		TEST(test_k7_tls_server_name),
		TEST(test_k8_proxy),
		TEST(test_k10_only_with_tls),
		TEST(test_k13_auth_providers),
		TEST(test_k14_namespace),
		TEST(test_in_cluster),
		TEST(test_k15_falls_back_to_the_cluster),
		TEST(test_names_that_are_not_there),
		TEST(test_wrong_types),
		TEST(test_servers),
		TEST(test_options),
		TEST(test_clone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
