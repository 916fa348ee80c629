/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the error codes of curl and OpenSSL mean for a connection to a Kubernetes API server, and
 * what the user can do about it. Where a code is too general, this file searches curl's error text;
 * it quotes that text only when it has no better sentence.
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

static int text_contains(const struct mpijob__http_failure *failure, const char *words)
{
	return failure->text && strstr(failure->text, words) != NULL;
}

static char *quote_curl(const struct mpijob__http_failure *failure, const char *what)
{
	if (failure->text && *failure->text)
		return mpijob__base_text_format("%s: %s (%s)", failure->server, what,
		    failure->text);
	return mpijob__base_text_format("%s: %s (%s)", failure->server, what,
	    curl_easy_strerror(failure->code));
}

static char *describe_certificate(const struct mpijob__http_failure *failure)
{
	const char *server = failure->server;

	switch (failure->verify_result) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return mpijob__base_text_format("the certificate of %s has expired", server);
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return mpijob__base_text_format(
		    "the certificate of %s is not valid yet; check the clocks of both machines",
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
	if (text_contains(failure, "subject name") || text_contains(failure, "hostname mismatch") ||
	    text_contains(failure, "target host name"))
		return mpijob__base_text_format(
		    "the certificate of %s is for other host names; name one of them in "
		    "tls-server-name, or use it in the server's URL",
		    server);
	return quote_curl(failure, "its certificate was rejected");
}

/* The server sent a TLS alert about our certificate, in the handshake or later (TLS 1.3). */
static int is_client_certificate_alert(const struct mpijob__http_failure *failure)
{
	return text_contains(failure, "alert bad certificate") ||
	       text_contains(failure, "alert certificate") ||
	       text_contains(failure, "certificate required") ||
	       text_contains(failure, "alert unknown ca") ||
	       text_contains(failure, "alert unsupported certificate") ||
	       text_contains(failure, "alert access denied");
}

static char *describe_handshake(const struct mpijob__http_failure *failure, int *code)
{
	if (text_contains(failure, "wrong version number") ||
	    text_contains(failure, "http request") ||
	    text_contains(failure, "packet length too long"))
		return mpijob__base_text_format(
		    "%s does not speak TLS; if it is plain HTTP, its URL begins with http://",
		    failure->server);
	if (is_client_certificate_alert(failure)) {
		*code = MPIJOB_ERR_AUTH;
		return mpijob__base_text_format("%s refused the client certificate",
		    failure->server);
	}
	if (text_contains(failure, "unsupported protocol") ||
	    text_contains(failure, "alert protocol version"))
		return mpijob__base_text_format("%s speaks only versions of TLS older than 1.2",
		    failure->server);
	if (text_contains(failure, "SSL_ERROR_SYSCALL") || text_contains(failure, "unexpected eof"))
		return mpijob__base_text_format("%s closed the connection during the TLS handshake",
		    failure->server);
	return quote_curl(failure, "the TLS handshake failed");
}

static char *describe_connect(const struct mpijob__http_failure *failure)
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

static char *describe_closed(const struct mpijob__http_failure *failure)
{
	return failure->answered
		   ? mpijob__base_text_format(
			 "%s: the connection ended in the middle of the answer", failure->server)
		   : mpijob__base_text_format("%s closed the connection without an answer",
			 failure->server);
}

static char *describe_receive(const struct mpijob__http_failure *failure, int *code)
{
	if (failure->proxy && failure->connect_status >= 300)
		return mpijob__base_text_format(
		    "the proxy %s answered %ld to the request for a tunnel to %s%s", failure->proxy,
		    failure->connect_status, failure->server,
		    failure->connect_status == 407 ? "; add a user name and password to its URL"
						   : "");
	if (is_client_certificate_alert(failure)) {
		*code = MPIJOB_ERR_AUTH;
		return mpijob__base_text_format("%s refused the client certificate",
		    failure->server);
	}
	/* Often only curl's text contains the errno. */
	if (failure->os_errno == ETIMEDOUT || text_contains(failure, "errno 110") ||
	    text_contains(failure, "timed out"))
		return mpijob__base_text_format("%s: no response for %lld s", failure->server,
		    (long long)(failure->idle_timeout_ms + 999) / 1000);
	/* The peer closed TLS without a closing alert; older versions of curl report this as the
	 * end of the connection. */
	if (text_contains(failure, "unexpected eof"))
		return describe_closed(failure);
	return mpijob__base_text_format("%s: the connection broke", failure->server);
}

static char *describe_proxy(const struct mpijob__http_failure *failure)
{
	return mpijob__base_text_format("the proxy %s cannot be used: %s",
	    failure->proxy ? failure->proxy : "?",
	    failure->text && *failure->text ? failure->text : curl_easy_strerror(failure->code));
}

/* Failures with a fixed sentence. */
static char *describe_other(const struct mpijob__http_failure *failure)
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
	case CURLE_GOT_NOTHING: return describe_closed(failure);
	case CURLE_HTTP2_STREAM:
	case CURLE_HTTP2: return quote_curl(failure, "the server broke off");
	case CURLE_BAD_CONTENT_ENCODING:
		return mpijob__base_text_format("%s: the compressed answer is damaged", server);
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return mpijob__base_text_format("%s does not speak HTTP%s", server,
		    failure->tls ? "" : "; if it expects TLS, its URL begins with https://");
	case CURLE_SSL_CACERT_BADFILE:
		return mpijob__base_text_format(
		    "the CA for %s cannot be used; it must be certificates in PEM", server);
	default: return quote_curl(failure, "the exchange failed");
	}
}

static char *describe(const struct mpijob__http_failure *failure, int *code)
{
	if (failure->replayed)
		return mpijob__base_text_format("%s: the connection broke after the request was "
						"sent; whether it was carried out is not known",
		    failure->server);
	switch (failure->code) {
	case CURLE_PEER_FAILED_VERIFICATION: return describe_certificate(failure);
	case CURLE_SSL_CONNECT_ERROR: return describe_handshake(failure, code);
	case CURLE_SSL_CERTPROBLEM:
		*code = MPIJOB_ERR_AUTH;
		return quote_curl(failure, "the client certificate or its key cannot be used");
	case CURLE_COULDNT_CONNECT: return describe_connect(failure);
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR: return describe_receive(failure, code);
	case CURLE_PROXY: return describe_proxy(failure);
	case CURLE_OPERATION_TIMEDOUT:
		*code = MPIJOB_ERR_TIMEOUT;
		return mpijob__base_text_format("%s%s%s: no connection within %lld s",
		    failure->server, failure->proxy ? " through the proxy " : "",
		    failure->proxy ? failure->proxy : "",
		    (long long)(failure->connect_timeout_ms + 999) / 1000);
	case CURLE_NOT_BUILT_IN:
	case CURLE_UNKNOWN_OPTION:
		*code = MPIJOB_ERR_UNSUPPORTED;
		return quote_curl(failure, "this libcurl does not support it");
	default: return describe_other(failure);
	}
}

int mpijob__http_failure_describe(const struct mpijob__http_failure *failure, char **message)
{
	int rc = MPIJOB_ERR_IO;

	*message = NULL;
	/* "malloc failure" is from OpenSSL; curl returns another code for it. */
	if (failure->code == CURLE_OUT_OF_MEMORY || text_contains(failure, "malloc failure"))
		return MPIJOB_ERR_NOMEM;
	*message = describe(failure, &rc);
	return *message ? rc : MPIJOB_ERR_NOMEM;
}
