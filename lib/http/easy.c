/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of curl for requests to an API server: curl must not read files in the user's home,
 * print, use signals or follow redirects; it must trust only the given CA, and detect a dead peer.
 * CURLOPT_CAPATH must be cleared: curl trusts its default directory of certificates in addition to
 * a CA blob.
 */
#include "http/easy.h"

#include "http/pool.h"
#include "http/receive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MIN_CURL 0x075800 /* 7.88.0: no SIGPIPE when TLS writes to a closed connection */
/* 8.8.0: fixes a double free of a TLS session when memory runs out */
#define MIN_CURL_FOR_SESSIONS 0x080800
#define RECEIVE_BUFFER        16384L
#define SEND_BUFFER           16384L
#define KEEPALIVE_PROBES      3

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

/* The kernel drops a dead connection after the idle timeout: keepalive probes begin after two
 * thirds of it, and TCP_USER_TIMEOUT covers unacknowledged data. */
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct mpijob__http_call *call = user;
	int64_t idle = call->http->idle_timeout_ms;
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

	(void)purpose;
	if (fd < 0)
		return CURL_SOCKET_BAD;
	call->failure.code = mpijob__http_pool_socket_opened(call, fd);
	if (call->failure.code) {
		close(fd);
		return CURL_SOCKET_BAD;
	}
	if (address->family == AF_INET || address->family == AF_INET6) {
		set_number(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
		set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds(idle * 2 / 3));
		set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds(idle / (3 * KEEPALIVE_PROBES)));
		set_number(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
		set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
		    idle > 86400000 ? 86400000 : (int)idle);
	}
	return fd;
}

/* Collects the first failure of many setopt calls. */
struct setter {
	CURL *easy;
	CURLcode bad;
};

#define SET(setter, option, value)                                                       \
	do {                                                                             \
		if ((setter)->bad == CURLE_OK)                                           \
			(setter)->bad = curl_easy_setopt((setter)->easy, option, value); \
	} while (0)

static int setter_result(const struct setter *setter)
{
	if (setter->bad == CURLE_OK)
		return 0;
	return setter->bad == CURLE_OUT_OF_MEMORY ? MPIJOB_ERR_NOMEM : MPIJOB_ERR_UNSUPPORTED;
}

static struct curl_blob blob_of(const mpijob__http_secret *secret)
{
	struct curl_blob blob = { secret->data, secret->len, CURL_BLOB_NOCOPY };

	return blob;
}

static long can_cache_sessions(void)
{
	return curl_version_info(CURLVERSION_NOW)->version_num >= MIN_CURL_FOR_SESSIONS;
}

static void set_tls(struct setter *setter, const struct mpijob_http *http,
    const struct mpijob__http_pool_identity *identity)
{
	const mpijob_http_config *config = http->config;
	struct curl_blob certificate = blob_of(&identity->certificate);
	struct curl_blob key = blob_of(&identity->key);
	struct curl_blob ca = blob_of(&identity->ca);

	SET(setter, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(setter, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(setter, CURLOPT_SSL_SESSIONID_CACHE, can_cache_sessions());
	SET(setter, CURLOPT_SSL_VERIFYPEER, config->insecure ? 0L : 1L);
	SET(setter, CURLOPT_SSL_VERIFYHOST, config->insecure ? 0L : 2L);
	if (certificate.len)
		SET(setter, CURLOPT_SSLCERT_BLOB, &certificate);
	if (key.len) {
		SET(setter, CURLOPT_SSLKEY_BLOB, &key);
		/* Otherwise OpenSSL prompts on the terminal for the pass phrase of an encrypted
		 * key. */
		SET(setter, CURLOPT_KEYPASSWD, "");
	}
	if (ca.len) {
		SET(setter, CURLOPT_CAINFO, NULL);
		SET(setter, CURLOPT_CAPATH, NULL);
		SET(setter, CURLOPT_CAINFO_BLOB, &ca);
		SET(setter, CURLOPT_PROXY_CAINFO, NULL);
		SET(setter, CURLOPT_PROXY_CAPATH, NULL);
		SET(setter, CURLOPT_PROXY_CAINFO_BLOB, &ca);
	} else if (http->ca_bundle) {
		SET(setter, CURLOPT_CAINFO, http->ca_bundle);
		SET(setter, CURLOPT_PROXY_CAINFO, http->ca_bundle);
	}
}

static int wants_http2(const struct mpijob_http *http)
{
	return http->server.tls && !http->http1;
}

static void set_connection(struct setter *setter, struct mpijob_http *http)
{
	SET(setter, CURLOPT_PROTOCOLS_STR, "http,https");
	SET(setter, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	SET(setter, CURLOPT_FOLLOWLOCATION, 0L);
	SET(setter, CURLOPT_HTTP_VERSION,
	    wants_http2(http) ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
	/* "" prevents curl from reading the environment. */
	SET(setter, CURLOPT_PROXY, http->proxy ? http->proxy : "");
	SET(setter, CURLOPT_NOPROXY, "");
	SET(setter, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(setter, CURLOPT_CONNECTTIMEOUT_MS, (long)http->connect_timeout_ms);
	SET(setter, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(setter, CURLOPT_TCP_KEEPALIVE, 0L);
	if (http->connect_to)
		SET(setter, CURLOPT_CONNECT_TO, http->connect_to);
}

static void set_common(struct setter *setter, CURLSH *share)
{
	SET(setter, CURLOPT_NOSIGNAL, 1L);
	SET(setter, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(setter, CURLOPT_VERBOSE, 0L);
	SET(setter, CURLOPT_NOPROGRESS, 1L);
	SET(setter, CURLOPT_PATH_AS_IS, 1L);
	/* A handle keeps both buffers until it is freed. */
	SET(setter, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER);
	SET(setter, CURLOPT_UPLOAD_BUFFERSIZE, SEND_BUFFER);
	/* Cancelling a call must not wait for a name lookup. */
	SET(setter, CURLOPT_QUICK_EXIT, 1L);
	SET(setter, CURLOPT_SHARE, share);
	SET(setter, CURLOPT_PREREQFUNCTION, mpijob__http_receive_before_send);
	SET(setter, CURLOPT_HEADERFUNCTION, mpijob__http_receive_header);
	SET(setter, CURLOPT_WRITEFUNCTION, mpijob__http_receive_data);
}

int mpijob__http_easy_new(struct mpijob_http *http,
    const struct mpijob__http_pool_identity *identity, CURLSH *share, CURL **out)
{
	struct setter setter = { curl_easy_init(), CURLE_OK };

	if (!setter.easy)
		return MPIJOB_ERR_NOMEM;
	set_common(&setter, share);
	set_connection(&setter, http);
	if (http->server.tls)
		set_tls(&setter, http, identity);
	if (setter.bad) {
		curl_easy_cleanup(setter.easy);
		return setter_result(&setter);
	}
	*out = setter.easy;
	return 0;
}

static void set_method(struct setter *setter, const struct mpijob__http_call *call)
{
	int get = strcmp(call->request.method, "GET") == 0;
	int bare = get || (strcmp(call->request.method, "DELETE") == 0 && !call->request.has_body);

	if (bare) {
		SET(setter, CURLOPT_POSTFIELDS, NULL);
		SET(setter, CURLOPT_HTTPGET, 1L);
	} else {
		SET(setter, CURLOPT_POST, 1L);
		SET(setter, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->request.body.len);
		SET(setter, CURLOPT_POSTFIELDS,
		    call->request.body.data ? call->request.body.data : "");
	}
	SET(setter, CURLOPT_CUSTOMREQUEST, get ? NULL : call->request.method);
}

int mpijob__http_easy_prepare(CURL *easy, struct mpijob__http_call *call,
    struct curl_slist *headers)
{
	struct setter setter = { easy, CURLE_OK };

	call->transfer.error[0] = 0;
	SET(&setter, CURLOPT_URL, call->request.url);
	/* Wait for a connection in progress: it may serve several requests. */
	SET(&setter, CURLOPT_PIPEWAIT,
	    wants_http2(call->http) && !call->http->http1_applied ? 1L : 0L);
	set_method(&setter, call);
	SET(&setter, CURLOPT_HTTPHEADER, headers);
	/* Servers compress only large answers, such as lists. Compression would delay a stream. */
	SET(&setter, CURLOPT_ACCEPT_ENCODING, call->request.compressed ? "gzip" : NULL);
	SET(&setter, CURLOPT_FRESH_CONNECT, (long)call->request.new_connection);
	SET(&setter, CURLOPT_FORBID_REUSE, 0L);
	SET(&setter, CURLOPT_ERRORBUFFER, call->transfer.error);
	SET(&setter, CURLOPT_PRIVATE, call);
	SET(&setter, CURLOPT_PREREQDATA, call);
	SET(&setter, CURLOPT_OPENSOCKETDATA, call);
	SET(&setter, CURLOPT_HEADERDATA, call);
	SET(&setter, CURLOPT_WRITEDATA, call);
	return setter_result(&setter);
}

void mpijob__http_easy_no_pipewait(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 0L);
}

void mpijob__http_easy_close_after(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
}

int mpijob__http_easy_reset(CURL *easy)
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
	return setter_result(&setter);
}

/* OpenSSL is required because GnuTLS and others cannot read a key from memory. A library may call
 * curl_global_init() only if that is thread-safe. */
const char *mpijob__http_easy_missing_feature(void)
{
	const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);

	if (info->version_num < MIN_CURL)
		return "libcurl is older than 7.88";
	if (!(info->features & CURL_VERSION_THREADSAFE))
		return "the initialisation of this libcurl is not thread-safe";
	if (!(info->features & CURL_VERSION_SSL) || !info->ssl_version ||
	    !strstr(info->ssl_version, "OpenSSL"))
		return "libcurl was not built with OpenSSL";
	return NULL;
}
