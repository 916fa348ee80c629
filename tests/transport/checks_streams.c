/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of streams and of the transport itself. Nothing is expected at a moment: what must
 * come is waited for, and what must not come is looked for at the end, so that a recording, which
 * tells the future at once, passes as well.
 */
#include "suite.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY    500
#define CHANGES 100

static size_t count_of(const struct reply *reply, const char *piece)
{
	const char *at = mpijob_text_data(reply->stream);
	size_t count = 0;

	for (; (at = strstr(at, piece)) != NULL; at += strlen(piece))
		count++;
	return count;
}

/* Poll until a piece came so often. */
static int comes(struct suite_run *run, const struct reply *reply, const char *piece, size_t times)
{
	int64_t end = clock_ms() + PATIENCE_MS;

	while (count_of(reply, piece) < times && !reply->done && clock_ms() < end)
		if (mpijob_client_poll(run->client, 100))
			break;
	return count_of(reply, piece) >= times;
}

static void poll_for(struct suite_run *run, int ms)
{
	int64_t end = clock_ms() + ms;

	while (clock_ms() < end)
		(void)mpijob_client_poll(run->client, 10);
}

static const char *watch_path(struct suite_run *run, char path[256], const char *more,
    char version[128])
{
	const char *why = expect(run, "GET", MAPS "?labelSelector=suite%3D1", NULL, NULL, 200,
	    "metadata.resourceVersion", version);

	snprintf(path, 256, MAPS "?watch=1&labelSelector=suite%%3D1&resourceVersion=%.100s%s",
	    version, more);
	return why;
}

/* A life: created, changed, deleted. */
static const char *live(struct suite_run *run, const char *name)
{
	char path[256], body[256];
	const char *why;

	snprintf(path, sizeof(path), MAPS "/%s", name);
	snprintf(body, sizeof(body),
	    "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"suite\":\"1\"}}}", name);
	why = simple(run, "POST", MAPS, JSON, body, 201);
	why = first_of(why, simple(run, "PATCH", path, MERGE, "{\"data\":{\"k\":\"1\"}}", 200));
	return first_of(why, simple(run, "DELETE", path, NULL, NULL, 200));
}

/* Each of the three once, in their order. */
static const char *check_story(struct suite_run *run, struct reply *watch)
{
	static const char *const types[] = { "\"type\":\"ADDED\"", "\"type\":\"MODIFIED\"",
		"\"type\":\"DELETED\"" };
	const char *at;

	if (!comes(run, watch, types[2], 1))
		return wrong(run, "the deletion is not told; code %s, status %d",
		    mpijob_error_name(watch->code), watch->status);
	at = mpijob_text_data(watch->stream);
	for (int i = 0; i < 3; i++) {
		at = strstr(at, types[i]);
		if (!at || count_of(watch, types[i]) != 1)
			return wrong(run, "%s: %zu times", types[i], count_of(watch, types[i]));
	}
	return watch->strange ? wrong(run, "told on another thread") : NULL;
}

const char *watch_story(struct suite_run *run)
{
	char path[256], version[128];
	const char *why = watch_path(run, path, "", version);
	struct reply watch;

	begin(run, &watch, 1, "GET", path, NULL, NULL);
	why = first_of(why, live(run, "suite-w"));
	why = first_of(why, check_story(run, &watch));
	drop(&watch);
	return why;
}

/* What happened before the watch began is told from the version on. */
const char *watch_resumes(struct suite_run *run)
{
	char path[256], version[128], second[128];
	const char *why = watch_path(run, path, "", version);
	struct reply watch;

	why = first_of(why, expect(run, "POST", MAPS, JSON, MAP("suite-r", ""), 201,
				"metadata.resourceVersion", second));
	why = first_of(why,
	    simple(run, "PATCH", MAPS "/suite-r", MERGE, "{\"data\":{\"k\":\"1\"}}", 200));
	why = first_of(why, simple(run, "DELETE", MAPS "/suite-r", NULL, NULL, 200));
	begin(run, &watch, 1, "GET", path, NULL, NULL);
	why = first_of(why, check_story(run, &watch));
	drop(&watch);
	if (why)
		return why;
	snprintf(path, sizeof(path),
	    MAPS "?watch=1&labelSelector=suite%%3D1&resourceVersion=%.100s", second);
	begin(run, &watch, 1, "GET", path, NULL, NULL);
	if (!comes(run, &watch, "\"type\":\"DELETED\"", 1) ||
	    count_of(&watch, "\"type\":\"MODIFIED\"") != 1 ||
	    count_of(&watch, "\"type\":\"ADDED\"") != 0)
		why = wrong(run, "from the second version: %s", mpijob_text_data(watch.stream));
	drop(&watch);
	return why;
}

/* Servers forget at their own time; the embedded one after as many changes as it was told to
 * remember. */
const char *watch_forgotten(struct suite_run *run)
{
	char path[256], version[128], body[64];
	const char *why = watch_path(run, path, "", version);
	struct reply watch;

	why = first_of(why, simple(run, "POST", MAPS, JSON, MAP("suite-f", ""), 201));
	for (int i = 0; !why && i < CHANGES; i++) {
		snprintf(body, sizeof(body), "{\"data\":{\"k\":\"%d\"}}", i);
		why = simple(run, "PATCH", MAPS "/suite-f", MERGE, body, 200);
	}
	why = first_of(why, simple(run, "DELETE", MAPS "/suite-f", NULL, NULL, 200));
	begin(run, &watch, 1, "GET", path, NULL, NULL);
	if (!why && comes(run, &watch, "\"type\":\"DELETED\"", 1))
		why = "everything is remembered";
	else if (!why && !strstr(mpijob_text_data(watch.stream), "\"code\":410") &&
		 watch.status != 410)
		why = wrong(run, "status %d, told: %.100s", watch.status,
		    mpijob_text_data(watch.stream));
	drop(&watch);
	return why;
}

const char *watch_ends(struct suite_run *run)
{
	char path[256], version[128];
	const char *why = watch_path(run, path, "&timeoutSeconds=1", version);
	struct reply watch;

	begin(run, &watch, 1, "GET", path, NULL, NULL);
	wait_for(run, &watch);
	if (!why && (!watch.done || watch.code || watch.status != 200))
		why = wrong(run, "done %d, %s, status %d", watch.done,
		    mpijob_error_name(watch.code), watch.status);
	drop(&watch);
	return why;
}

/* --- the transport itself --- */

const char *cancel_stream(struct suite_run *run)
{
	char path[256], version[128];
	const char *why = watch_path(run, path, "", version);
	size_t told;
	struct reply watch;

	why = first_of(why, simple(run, "POST", MAPS, JSON, MAP("suite-c", ""), 201));
	begin(run, &watch, 1, "GET", path, NULL, NULL);
	if (!why && !comes(run, &watch, "\"type\":\"ADDED\"", 1))
		why = wrong(run, "nothing came");
	told = mpijob_text_len(watch.stream);
	if (!watch.done)
		mpijob_call_cancel(watch.call);
	watch.call = NULL;
	why = first_of(why, simple(run, "DELETE", MAPS "/suite-c", NULL, NULL, 200));
	poll_for(run, 50);
	if (!why && (watch.done || mpijob_text_len(watch.stream) != told))
		why = wrong(run, "it was told after it was cancelled");
	drop(&watch);
	return why;
}

const char *cancel_before_poll(struct suite_run *run)
{
	struct reply first, second;
	const char *why = NULL;

	begin(run, &first, 0, "GET", MAPS "?labelSelector=suite%3Dx", NULL, NULL);
	begin(run, &second, 0, "GET", MAPS "?labelSelector=suite%3Dy", NULL, NULL);
	if (first.call)
		mpijob_call_cancel(first.call);
	first.call = NULL;
	wait_for(run, &second);
	poll_for(run, 30);
	if (first.done || second.status != 200)
		why = wrong(run, "first done %d, second status %d", first.done, second.status);
	drop(&first);
	drop(&second);
	return why;
}

const char *pause_stream(struct suite_run *run)
{
	char path[256], version[128];
	const char *why = watch_path(run, path, "", version);
	struct reply watch;

	begin(run, &watch, 1, "GET", path, NULL, NULL);
	if (watch.call)
		mpijob_call_pause(watch.call, 1);
	why = first_of(why, live(run, "suite-p"));
	poll_for(run, 100);
	if (!why && mpijob_text_len(watch.stream) > 0)
		why = wrong(run, "it was told while it was paused");
	if (!watch.done)
		mpijob_call_pause(watch.call, 0);
	why = first_of(why, check_story(run, &watch));
	drop(&watch);
	return why;
}

static void *wake_soon(void *client)
{
	(void)poll(NULL, 0, 30);
	mpijob_client_wake(client);
	return NULL;
}

const char *wake_poll(struct suite_run *run)
{
	int64_t begun = clock_ms();
	pthread_t thread;
	int code, rounds = 0;

	if (pthread_create(&thread, NULL, wake_soon, run->client))
		return wrong(run, "no thread");
	/* Some leftover may end a poll early, but not again and again. */
	do {
		code = mpijob_client_poll(run->client, PATIENCE_MS);
	} while (code == 0 && clock_ms() - begun < 25 && ++rounds < 20);
	pthread_join(thread, NULL);
	if (code || rounds >= 20 || clock_ms() - begun > PATIENCE_MS / 2)
		return wrong(run, "%s after %lld ms, %d rounds", mpijob_error_name(code),
		    (long long)(clock_ms() - begun), rounds);
	return NULL;
}

const char *host_loop(struct suite_run *run)
{
	int64_t end = clock_ms() + PATIENCE_MS, deadline;
	struct pollfd wait = { -1, POLLIN, 0 };
	const char *why = NULL;
	struct reply reply;
	int64_t left;

	begin(run, &reply, 0, "GET", MAPS "?labelSelector=suite%3Dz", NULL, NULL);
	while (!why && !reply.done && clock_ms() < end) {
		if (mpijob_client_interest(run->client, &wait.fd, &deadline))
			why = SUITE_UNSUPPORTED;
		left = deadline < 0 ? end - clock_ms() : deadline - clock_ms();
		if (!why && poll(&wait, 1, left < 0 ? 0 : (int)left) >= 0 &&
		    mpijob_client_poll(run->client, 0))
			why = wrong(run, "poll failed");
	}
	if (!why && reply.status != 200)
		why = wrong(run,
		    "nothing came while only the descriptor and the deadline were waited for");
	drop(&reply);
	return why;
}

const char *many_at_once(struct suite_run *run)
{
	struct reply *replies = calloc(MANY, sizeof(*replies));
	const char *why = NULL;
	char path[128];
	int good = 0;

	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), MAPS "/suite-many-%d", i);
		if (begin(run, &replies[i], 0, "GET", path, NULL, NULL))
			why = wrong(run, "number %d cannot be started: %s", i,
			    mpijob_error_name(replies[i].code));
	}
	for (int i = 0; i < MANY; i++) {
		wait_for(run, &replies[i]);
		good += replies[i].done && replies[i].status == 404 && !replies[i].strange;
		drop(&replies[i]);
	}
	free(replies);
	return why || good == MANY ? why : wrong(run, "%d of %d were answered", good, MANY);
}

struct chain {
	struct suite_run *run;
	int left, failed;
};

static void next_link(void *user, const struct mpijob_answer *answer)
{
	struct chain *chain = user;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, next_link, chain };

	if (answer && answer->status != 404)
		chain->failed = 1;
	if (--chain->left < 0)
		return;
	request.method = "GET";
	request.path = MAPS "/suite-chain";
	if (mpijob_client_start(chain->run->client, &request, &callbacks, NULL))
		chain->failed = 1;
}

const char *start_in_callback(struct suite_run *run)
{
	struct chain chain = { run, 10, 0 };
	int64_t end = clock_ms() + PATIENCE_MS;

	next_link(&chain, NULL);
	while (chain.left >= 0 && !chain.failed && clock_ms() < end)
		(void)mpijob_client_poll(run->client, 100);
	return chain.left < 0 && !chain.failed ? NULL : wrong(run, "%d were left", chain.left + 1);
}

const char *log_of_pod(struct suite_run *run)
{
	static const char pod[] =
	    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"suite-pod\"},"
	    "\"spec\":{\"containers\":"
	    "[{\"name\":\"c\",\"image\":\"i\"}],\"nodeSelector\":{\"suite\":\"nowhere\"}}}";
	const char *why = simple(run, "POST", PODS, JSON, pod, 201);
	struct reply log;

	begin(run, &log, 1, "GET",
	    PODS "/suite-pod/log?follow=true&timestamps=true&sinceTime=2026-11-21T12%3A00%3A00Z",
	    NULL, NULL);
	wait_for(run, &log);
	if (!why && (!log.done || log.status != 400))
		why = wrong(run, "status %d", log.status);
	drop(&log);
	(void)simple(run, "DELETE", PODS "/suite-pod", JSON, "{\"gracePeriodSeconds\":0}", 200);
	return why;
}
