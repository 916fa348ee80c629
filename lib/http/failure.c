/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What curl's and OpenSSL's error codes mean to somebody who wants to reach a Kubernetes API
 * server, and what he can do about it. Where a code says too little, curl's own words are looked
 * at; they are quoted only when nothing better is known.
 */
#include "http/failure.h"

#include "base/text.h"
#include "http/report.h"

#include <mpijob/base.h>

#include <errno.h>
#include <openssl/x509_vfy.h>
#include <string.h>

static const char *errno_text(long number)
{
	switch (number) {
	case ECONNREFUSED: return "connection refused; is it running, and is the port right";
	case ECONNRESET:
	case EPIPE: return "the connection was reset";
	case ENETUNREACH: return "the network is unreachable";
	case EHOSTUNREACH: return "no route to the host";
	case ETIMEDOUT: return "no answer to the connection";
	case EACCES:
	case EPERM: return "this machine does not permit the connection";
	case EMFILE:
	case ENFILE: return "no descriptor is left in this process or machine";
	case EADDRNOTAVAIL: return "no local address or port is left";
	default: return NULL;
	}
}

static int has(const struct mpijob__http_failure *failure, const char *words)
{
	return failure->text && strstr(failure->text, words) != NULL;
}

static char *quoted(const struct mpijob__http_failure *failure, const char *what)
{
	if (failure->text && *failure->text)
		return mpijob__base_text_format("%s: %s (%s)", failure->server, what,
		    failure->text);
	return mpijob__base_text_format("%s: %s (%s)", failure->server, what,
	    curl_easy_strerror(failure->code));
}

static char *certificate_refused(const struct mpijob__http_failure *failure)
{
	const char *server = failure->server;

	switch (failure->verify_result) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return mpijob__base_text_format("the certificate of %s has expired", server);
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return mpijob__base_text_format(
		    "the certificate of %s is not valid yet; look at the clocks of both machines",
		    server);
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_CERT_SIGNATURE_FAILURE:
		return mpijob__base_text_format(
		    failure->has_ca ? "the certificate of %s is signed by an unknown authority, "
				      "not by the CA in certificate-authority"
				    : "the certificate of %s is signed by an unknown authority; "
				      "name its CA in certificate-authority",
		    server);
	default: break;
	}
	if (has(failure, "subject name") || has(failure, "hostname mismatch") ||
	    has(failure, "target host name"))
		return mpijob__base_text_format(
		    "the certificate of %s is for other host names; name one of them in "
		    "tls-server-name, or use it in the server's URL",
		    server);
	return quoted(failure, "its certificate is refused");
}

/* The server ended the handshake, or what followed it, with an alert about us. */
static int refused_us(const struct mpijob__http_failure *failure)
{
	return has(failure, "alert bad certificate") || has(failure, "alert certificate") ||
	       has(failure, "certificate required") || has(failure, "alert unknown ca") ||
	       has(failure, "alert unsupported certificate") || has(failure, "alert access denied");
}

static char *handshake(const struct mpijob__http_failure *failure, int *code)
{
	if (has(failure, "wrong version number") || has(failure, "http request") ||
	    has(failure, "packet length too long"))
		return mpijob__base_text_format(
		    "%s does not speak TLS; if it is plain HTTP, its URL begins with http://",
		    failure->server);
	if (refused_us(failure)) {
		*code = MPIJOB_ERR_AUTH;
		return mpijob__base_text_format("%s refused the client certificate",
		    failure->server);
	}
	if (has(failure, "unsupported protocol") || has(failure, "alert protocol version"))
		return mpijob__base_text_format("%s speaks only versions of TLS older than 1.2",
		    failure->server);
	if (has(failure, "SSL_ERROR_SYSCALL") || has(failure, "unexpected eof"))
		return mpijob__base_text_format("%s closed the connection during the TLS handshake",
		    failure->server);
	return quoted(failure, "the TLS handshake failed");
}

static char *connecting(const struct mpijob__http_failure *failure)
{
	const char *why = errno_text(failure->os_errno);
	const char *server = failure->server;

	if (failure->proxy)
		return why ? mpijob__base_text_format(
				 "cannot connect to the proxy %s on the way to %s: %s",
				 failure->proxy, server, why)
			   : mpijob__base_text_format(
				 "cannot connect to the proxy %s on the way to %s", failure->proxy,
				 server);
	return why ? mpijob__base_text_format("cannot connect to %s: %s", server, why)
		   : mpijob__base_text_format("cannot connect to %s", server);
}

static char *ended(const struct mpijob__http_failure *failure)
{
	return failure->answered
		   ? mpijob__base_text_format(
			 "%s: the connection ended in the middle of the answer", failure->server)
		   : mpijob__base_text_format("%s closed the connection without an answer",
			 failure->server);
}

static char *receiving(const struct mpijob__http_failure *failure, int *code)
{
	if (failure->proxy && failure->connect_status >= 300)
		return mpijob__base_text_format(
		    "the proxy %s answered %ld to the request for a tunnel to %s%s", failure->proxy,
		    failure->connect_status, failure->server,
		    failure->connect_status == 407
			? "; it wants a user name and password in its URL"
			: "");
	if (refused_us(failure)) {
		*code = MPIJOB_ERR_AUTH;
		return mpijob__base_text_format("%s refused the client certificate",
		    failure->server);
	}
	/* Curl passes the number on in words only. */
	if (failure->os_errno == ETIMEDOUT || has(failure, "errno 110") ||
	    has(failure, "timed out"))
		return mpijob__base_text_format("%s: no sign of life for %lld s", failure->server,
		    (long long)(failure->idle_timeout_ms + 999) / 1000);
	/* TLS that ends without its last word; older versions of curl take that for the end of the
	 * connection alone. */
	if (has(failure, "unexpected eof"))
		return ended(failure);
	return mpijob__base_text_format("%s: the connection broke", failure->server);
}

static char *proxy_failed(const struct mpijob__http_failure *failure)
{
	return mpijob__base_text_format("the proxy %s cannot be used: %s",
	    failure->proxy ? failure->proxy : "?",
	    failure->text && *failure->text ? failure->text : curl_easy_strerror(failure->code));
}

/* What is no more than one sentence. */
static char *plain(const struct mpijob__http_failure *failure)
{
	const char *server = failure->server;

	switch (failure->code) {
	case CURLE_COULDNT_RESOLVE_HOST:
		return mpijob__base_text_format("the host name of %s is not known; is it spelled "
						"right, and does name resolution work",
		    server);
	case CURLE_COULDNT_RESOLVE_PROXY:
		return mpijob__base_text_format("the host name of the proxy %s is not known",
		    failure->proxy ? failure->proxy : "?");
	case CURLE_PARTIAL_FILE:
	case CURLE_GOT_NOTHING: return ended(failure);
	case CURLE_HTTP2_STREAM:
	case CURLE_HTTP2: return quoted(failure, "the server broke off");
	case CURLE_BAD_CONTENT_ENCODING:
		return mpijob__base_text_format("%s: the compressed answer is damaged", server);
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return mpijob__base_text_format("%s does not speak HTTP%s", server,
		    failure->tls ? "" : "; if it expects TLS, its URL begins with https://");
	case CURLE_SSL_CACERT_BADFILE:
		return mpijob__base_text_format(
		    "the CA for %s cannot be used; it must be certificates in PEM", server);
	default: return quoted(failure, "the exchange failed");
	}
}

static char *describe(const struct mpijob__http_failure *failure, int *code)
{
	if (failure->replayed)
		return mpijob__base_text_format("%s: the connection broke after the request was "
						"sent; whether it was carried out is not known",
		    failure->server);
	switch (failure->code) {
	case CURLE_PEER_FAILED_VERIFICATION: return certificate_refused(failure);
	case CURLE_SSL_CONNECT_ERROR: return handshake(failure, code);
	case CURLE_SSL_CERTPROBLEM:
		*code = MPIJOB_ERR_AUTH;
		return quoted(failure, "the client certificate or its key cannot be used");
	case CURLE_COULDNT_CONNECT: return connecting(failure);
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR: return receiving(failure, code);
	case CURLE_PROXY: return proxy_failed(failure);
	case CURLE_OPERATION_TIMEDOUT:
		*code = MPIJOB_ERR_TIMEOUT;
		return mpijob__base_text_format("%s%s%s: no connection within %lld s",
		    failure->server, failure->proxy ? " through the proxy " : "",
		    failure->proxy ? failure->proxy : "",
		    (long long)(failure->connect_timeout_ms + 999) / 1000);
	case CURLE_NOT_BUILT_IN:
	case CURLE_UNKNOWN_OPTION:
		*code = MPIJOB_ERR_UNSUPPORTED;
		return quoted(failure, "this libcurl cannot do it");
	default: return plain(failure);
	}
}

int mpijob__http_failure_describe(const struct mpijob__http_failure *failure, char **message)
{
	int code = MPIJOB_ERR_IO;

	*message = NULL;
	/* OpenSSL's words for it; curl then has another code. */
	if (failure->code == CURLE_OUT_OF_MEMORY || has(failure, "malloc failure"))
		return MPIJOB_ERR_NOMEM;
	*message = describe(failure, &code);
	return *message ? code : MPIJOB_ERR_NOMEM;
}
