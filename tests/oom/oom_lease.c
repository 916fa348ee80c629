/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of a candidate for a Lease fails once, or from one point on for a while: it
 * takes the Lease all the same when memory is back, never leads while another holds it, gives it
 * up, and nothing leaks. The server behind the transport allocates nothing.
 */
#include "failing_malloc.h"

#include "client/client.h"
#include "operator/lease.h"

#include <mpijob/lease.h>
#include <mpijob/mpijob.h>

#include <stdio.h>
#include <string.h>

#define MOST  8
#define STEPS 400
#define BACK  120 /* step from which on memory is there again */

static struct {
	mpijob_exchange *exchanges[MOST];
	int status[MOST];
	char text[MOST][4096];
	char lease[4096]; /* "" without one */
	unsigned version;
	int64_t now_ms;
} server;

static int64_t clock_ms(void)
{
	return server.now_ms;
}

/* Store the body with the next version in it; what it held before is overwritten behind
 * `"metadata":{`. */
static void store(const char *body)
{
	const char *metadata = strstr(body, "\"metadata\":{");
	const char *behind = metadata ? metadata + 12 : body;
	const char *old =
	    strncmp(behind, "\"resourceVersion\":", 18) == 0 ? strchr(behind, ',') + 1 : behind;

	snprintf(server.lease, sizeof(server.lease), "%.*s\"resourceVersion\":\"%u\",%s",
	    (int)(behind - body), body, ++server.version, old);
}

static int is_current(const char *body)
{
	char version[64];

	snprintf(version, sizeof(version), "\"resourceVersion\":\"%u\"", server.version);
	return strstr(body, version) != NULL;
}

static int start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	int i = 0;

	(void)self;
	while (i < MOST && server.exchanges[i])
		i++;
	if (i == MOST)
		return MPIJOB_ERR_IO;
	server.exchanges[i] = exchange;
	server.status[i] = 200;
	if (strstr(request->path, "/events")) {
		server.status[i] = 201;
	} else if (strcmp(request->method, "POST") == 0 && !*server.lease) {
		store(request->body);
		server.status[i] = 201;
	} else if (strcmp(request->method, "POST") == 0 ||
		   (strcmp(request->method, "PUT") == 0 && !is_current(request->body))) {
		server.status[i] = 409;
	} else if (strcmp(request->method, "PUT") == 0) {
		store(request->body);
	} else if (!*server.lease) {
		server.status[i] = 404;
	}
	snprintf(server.text[i], sizeof(server.text[i]), "%s",
	    server.status[i] < 300 ? server.lease : "{}");
	return 0;
}

static int poll(void *self, int timeout_ms)
{
	(void)self;
	(void)timeout_ms;
	for (int i = 0; i < MOST; i++) {
		mpijob_exchange *exchange = server.exchanges[i];

		if (!exchange)
			continue;
		server.exchanges[i] = NULL;
		mpijob_exchange_status(exchange, server.status[i]);
		mpijob_exchange_data(exchange, server.text[i], strlen(server.text[i]));
		mpijob_exchange_end(exchange, 0, NULL);
	}
	return 0;
}

static void cancel(void *self, mpijob_exchange *exchange)
{
	(void)self;
	for (int i = 0; i < MOST; i++)
		if (server.exchanges[i] == exchange)
			server.exchanges[i] = NULL;
}

static void nothing(void *self)
{
	(void)self;
}

static int wrong(const char *what)
{
	printf("%s\n", what);
	return 1;
}

/* Stand, lead, renew, give up. 0, or 1 and a line about it. */
static int live(mpijob_client *client, const struct mpijob_lease_options *options)
{
	mpijob_lease *lease = NULL;
	int code = mpijob_lease_new(client, options, &lease);
	int bad = 0;

	if (code) {
		oom_stop();
		return code == MPIJOB_ERR_NOMEM ? 0 : wrong("it could not be made");
	}
	lease->clock = clock_ms;
	for (int i = 0; i < STEPS && !bad; i++) {
		server.now_ms += 100;
		if (mpijob_client_poll(client, 0))
			bad = wrong("a poll failed");
		if (mpijob_lease_leading(lease) &&
		    !strstr(server.lease, "\"holderIdentity\":\"me\""))
			bad = wrong("it leads without the Lease");
		if (i == BACK)
			oom_stop();
	}
	if (!bad && !mpijob_lease_leading(lease))
		bad = wrong("it does not lead");
	mpijob_lease_release(lease);
	for (int i = 0; i < 100 && mpijob_lease_busy(lease); i++)
		(void)mpijob_client_poll(client, 0);
	if (!bad && !strstr(server.lease, "\"holderIdentity\":\"\""))
		bad = wrong("it was not given up");
	mpijob_lease_free(lease);
	return bad;
}

static int scenario(size_t fail_at, int persistent, size_t *count)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct mpijob_lease_options options = MPIJOB_LEASE_OPTIONS_INIT;
	mpijob_client *client = NULL;
	int bad;

	memset(&server, 0, sizeof(server));
	server.version = 100;
	transport.start = start;
	transport.poll = poll;
	transport.cancel = cancel;
	transport.wake = nothing;
	transport.destroy = nothing;
	options.namespace_ = "ops";
	options.name = "boss";
	options.identity = "me";
	options.component = "test";
	if (mpijob_client_new(&transport, NULL, &client))
		return wrong("there is no client");
	client->clock = clock_ms;
	oom_start(fail_at, persistent);
	bad = live(client, &options);
	*count = oom_stop();
	mpijob_client_free(client);
	if (!bad && oom_live())
		bad = wrong("something leaks");
	if (bad)
		printf("... with allocation %zu failing%s\n", fail_at,
		    persistent ? " and those after it" : "");
	return bad;
}

int main(void)
{
	size_t count = 0, unused;
	int faults;

#ifdef __SANITIZE_ADDRESS__
	puts("skipped: the sanitizer brings an allocator of its own");
	return 77;
#endif
	faults = scenario(0, 0, &count);
	if (count < 20)
		faults += wrong("there are hardly any allocations: the test looks at nothing");
	for (size_t i = 1; i <= count; i++)
		faults += scenario(i, 0, &unused) + scenario(i, 1, &unused);
	printf("a Lease: %zu allocations, each failing once and for a while; %d faults\n", count,
	    faults);
	return faults != 0;
}
