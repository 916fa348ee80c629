/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which options of curl make an exchange with an API server what it must be: nothing of the user's home is read,
 * nothing written, no signal used, no redirect followed; a CA that was given is the only one that counts; a peer that
 * went away without a word is noticed. CURLOPT_CAPATH is why "the only one" needs care: curl's own default folder of
 * certificates would be trusted beside the blob.
 */
#include "http/easy.h"

#include "http/pool.h"
#include "http/receive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LEAST_CURL     0x075800 /* 7.88.0: TLS is written without a signal when the peer is gone */
#define SESSIONS_CURL  0x080800 /* 8.8.0: a session for which there is no memory is not freed twice */
#define RECEIVE_BUFFER 16384L
#define SEND_BUFFER    16384L
#define DEAD_PROBES    3

static int seconds(int64_t ms)
{
	int64_t number = ms / 1000;

	if (number < 1)
		return 1;
	return number > 30000 ? 30000 : (int)number;
}

static void set_number(int fd, int level, int name, int number)
{
	setsockopt(fd, level, name, &number, sizeof(number));
}

/* Probes begin after two thirds of the time in which a sign of life must come; what is not acknowledged counts too. */
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct call *call = user;
	int64_t idle = call->http->idle_timeout_ms;
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

	(void)purpose;
	if (fd < 0)
		return CURL_SOCKET_BAD;
	call->failure = mpijob__pool_opened(call, fd);
	if (call->failure) {
		close(fd);
		return CURL_SOCKET_BAD;
	}
	if (address->family == AF_INET || address->family == AF_INET6) {
		set_number(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
		set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds(idle * 2 / 3));
		set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds(idle / (3 * DEAD_PROBES)));
		set_number(fd, IPPROTO_TCP, TCP_KEEPCNT, DEAD_PROBES);
		set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, idle > 86400000 ? 86400000 : (int)idle);
	}
	return fd;
}

/* Collects the first failure of many setopt calls. */
struct setter {
	CURL *easy;
	CURLcode bad;
};

#define SET(setter, option, value)                                                                                     \
	do {                                                                                                           \
		if ((setter)->bad == CURLE_OK)                                                                         \
			(setter)->bad = curl_easy_setopt((setter)->easy, option, value);                               \
	} while (0)

static int result(const struct setter *setter)
{
	if (setter->bad == CURLE_OK)
		return 0;
	return setter->bad == CURLE_OUT_OF_MEMORY ? MPIJOB_ERR_NOMEM : MPIJOB_ERR_UNSUPPORTED;
}

static struct curl_blob blob_of(const mpijob__secret *secret)
{
	struct curl_blob blob = { secret->data, secret->len, CURL_BLOB_NOCOPY };

	return blob;
}

static long keeps_sessions(void)
{
	return curl_version_info(CURLVERSION_NOW)->version_num >= SESSIONS_CURL;
}

static void set_tls(struct setter *setter, const struct mpijob_http *http, const struct mpijob__pool_identity *identity)
{
	const mpijob_http_config *config = http->config;
	struct curl_blob certificate = blob_of(&identity->certificate);
	struct curl_blob key = blob_of(&identity->key);
	struct curl_blob ca = blob_of(&identity->ca);

	SET(setter, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(setter, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(setter, CURLOPT_SSL_SESSIONID_CACHE, keeps_sessions());
	SET(setter, CURLOPT_SSL_VERIFYPEER, config->insecure ? 0L : 1L);
	SET(setter, CURLOPT_SSL_VERIFYHOST, config->insecure ? 0L : 2L);
	if (certificate.len)
		SET(setter, CURLOPT_SSLCERT_BLOB, &certificate);
	if (key.len) {
		SET(setter, CURLOPT_SSLKEY_BLOB, &key);
		/* Without one, OpenSSL would ask the terminal. */
		SET(setter, CURLOPT_KEYPASSWD, "");
	}
	if (ca.len) {
		SET(setter, CURLOPT_CAINFO, NULL);
		SET(setter, CURLOPT_CAPATH, NULL);
		SET(setter, CURLOPT_CAINFO_BLOB, &ca);
		SET(setter, CURLOPT_PROXY_CAINFO, NULL);
		SET(setter, CURLOPT_PROXY_CAPATH, NULL);
		SET(setter, CURLOPT_PROXY_CAINFO_BLOB, &ca);
	} else if (http->authorities) {
		SET(setter, CURLOPT_CAINFO, http->authorities);
		SET(setter, CURLOPT_PROXY_CAINFO, http->authorities);
	}
}

static int wants_http2(const struct mpijob_http *http)
{
	return http->server.tls && !http->http1;
}

static void set_way(struct setter *setter, struct mpijob_http *http)
{
	SET(setter, CURLOPT_PROTOCOLS_STR, "http,https");
	SET(setter, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	SET(setter, CURLOPT_FOLLOWLOCATION, 0L);
	SET(setter, CURLOPT_HTTP_VERSION, wants_http2(http) ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
	/* "" keeps curl from reading the environment itself. */
	SET(setter, CURLOPT_PROXY, http->proxy ? http->proxy : "");
	SET(setter, CURLOPT_NOPROXY, "");
	SET(setter, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(setter, CURLOPT_CONNECTTIMEOUT_MS, (long)http->connect_timeout_ms);
	SET(setter, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(setter, CURLOPT_TCP_KEEPALIVE, 0L);
	if (http->connect_to)
		SET(setter, CURLOPT_CONNECT_TO, http->connect_to);
}

static void set_habits(struct setter *setter, CURLSH *share)
{
	SET(setter, CURLOPT_NOSIGNAL, 1L);
	SET(setter, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(setter, CURLOPT_VERBOSE, 0L);
	SET(setter, CURLOPT_NOPROGRESS, 1L);
	SET(setter, CURLOPT_PATH_AS_IS, 1L);
	/* A handle keeps both for good. */
	SET(setter, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER);
	SET(setter, CURLOPT_UPLOAD_BUFFERSIZE, SEND_BUFFER);
	/* A call that is given up while a name is looked up does not wait for that. */
	SET(setter, CURLOPT_QUICK_EXIT, 1L);
	SET(setter, CURLOPT_SHARE, share);
	SET(setter, CURLOPT_PREREQFUNCTION, mpijob__receive_begin);
	SET(setter, CURLOPT_HEADERFUNCTION, mpijob__receive_header);
	SET(setter, CURLOPT_WRITEFUNCTION, mpijob__receive_data);
}

int mpijob__easy_new(struct mpijob_http *http, const struct mpijob__pool_identity *identity, CURLSH *share, CURL **out)
{
	struct setter setter = { curl_easy_init(), CURLE_OK };

	if (!setter.easy)
		return MPIJOB_ERR_NOMEM;
	set_habits(&setter, share);
	set_way(&setter, http);
	if (http->server.tls)
		set_tls(&setter, http, identity);
	if (setter.bad) {
		curl_easy_cleanup(setter.easy);
		return result(&setter);
	}
	*out = setter.easy;
	return 0;
}

static void set_method(struct setter *setter, const struct call *call)
{
	int get = strcmp(call->method, "GET") == 0;
	int bare = get || (strcmp(call->method, "DELETE") == 0 && !call->has_body);

	if (bare) {
		SET(setter, CURLOPT_POSTFIELDS, NULL);
		SET(setter, CURLOPT_HTTPGET, 1L);
	} else {
		SET(setter, CURLOPT_POST, 1L);
		SET(setter, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
		SET(setter, CURLOPT_POSTFIELDS, call->body.data ? call->body.data : "");
	}
	SET(setter, CURLOPT_CUSTOMREQUEST, get ? NULL : call->method);
}

int mpijob__easy_prepare(CURL *easy, struct call *call, struct curl_slist *headers)
{
	struct setter setter = { easy, CURLE_OK };

	call->error[0] = 0;
	SET(&setter, CURLOPT_URL, call->url);
	/* For a connection that is being made: it may be for several. */
	SET(&setter, CURLOPT_PIPEWAIT, wants_http2(call->http) && !call->http->http1_seen ? 1L : 0L);
	set_method(&setter, call);
	SET(&setter, CURLOPT_HTTPHEADER, headers);
	/* Lists are large, and servers pack them only then; a stream must not be held back. */
	SET(&setter, CURLOPT_ACCEPT_ENCODING, call->packed ? "gzip" : NULL);
	SET(&setter, CURLOPT_FRESH_CONNECT, (long)call->fresh);
	SET(&setter, CURLOPT_FORBID_REUSE, 0L);
	SET(&setter, CURLOPT_ERRORBUFFER, call->error);
	SET(&setter, CURLOPT_PRIVATE, call);
	SET(&setter, CURLOPT_PREREQDATA, call);
	SET(&setter, CURLOPT_OPENSOCKETDATA, call);
	SET(&setter, CURLOPT_HEADERDATA, call);
	SET(&setter, CURLOPT_WRITEDATA, call);
	return result(&setter);
}

void mpijob__easy_hurry(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 0L);
}

void mpijob__easy_distrust(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
}

int mpijob__easy_forget(CURL *easy)
{
	struct setter setter = { easy, CURLE_OK };

	SET(&setter, CURLOPT_HTTPHEADER, NULL);
	SET(&setter, CURLOPT_POSTFIELDS, NULL);
	SET(&setter, CURLOPT_ERRORBUFFER, NULL);
	SET(&setter, CURLOPT_PRIVATE, NULL);
	SET(&setter, CURLOPT_PREREQDATA, NULL);
	SET(&setter, CURLOPT_OPENSOCKETDATA, NULL);
	SET(&setter, CURLOPT_HEADERDATA, NULL);
	SET(&setter, CURLOPT_WRITEDATA, NULL);
	return result(&setter);
}

/* GnuTLS and others cannot take a key from memory; a libcurl without an atomic start cannot be started by a library. */
const char *mpijob__easy_lacking(void)
{
	const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);

	if (info->version_num < LEAST_CURL)
		return "libcurl is older than 7.88";
	if (!(info->features & CURL_VERSION_THREADSAFE))
		return "libcurl was built so that several threads cannot start it";
	if (!(info->features & CURL_VERSION_SSL) || !info->ssl_version || !strstr(info->ssl_version, "OpenSSL"))
		return "libcurl was not built with OpenSSL";
	return NULL;
}
