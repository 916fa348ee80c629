/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Lease object: the fields that the election uses, how they are written without a change of the
 * others, and the Events about it.
 */
#include "operator/lease.h"

#include "base/clock.h"
#include "base/time.h"
#include "operator/request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the object ---- */

static const char *string_at(const mpijob_node *spec, const char *key)
{
	const mpijob_node *node = mpijob_node_get(spec, key);
	const char *text = node ? mpijob_node_text(node) : NULL;

	return text ? text : "";
}

static int64_t number_at(const mpijob_node *spec, const char *key)
{
	int64_t number = 0;

	return mpijob_node_int(mpijob_node_get(spec, key), &number) == 1 ? number : 0;
}

/* The fields that a renewal changes. */
static int write_observed(const mpijob_node *spec, mpijob_text *observed)
{
	return mpijob__base_text_printf(observed, "%s\n%s\n%s\n%s\n%s",
	    string_at(spec, "holderIdentity"), string_at(spec, "leaseDurationSeconds"),
	    string_at(spec, "leaseTransitions"), string_at(spec, "acquireTime"),
	    string_at(spec, "renewTime"));
}

int mpijob__operator_lease_store(mpijob_lease *lease, const struct mpijob_answer *answer,
    int64_t observed_ms, int ours)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	const mpijob_node *spec;
	mpijob_doc *doc = NULL;
	mpijob_text observed = { 0 };
	char *holder = NULL;
	int64_t seconds;
	int rc;

	options.format = MPIJOB_FORMAT_JSON;
	rc = mpijob_doc_parse(answer->body, answer->body_len, &options, &doc, NULL);
	if (rc)
		return rc;
	spec = mpijob_node_get(mpijob_doc_root(doc), "spec");
	rc = write_observed(spec, &observed);
	if (rc == 0)
		holder = strdup(string_at(spec, "holderIdentity"));
	if (rc || !holder) {
		mpijob__base_text_release(&observed);
		mpijob_doc_free(doc);
		return MPIJOB_ERR_NOMEM;
	}
	if (ours || !lease->doc ||
	    strcmp(mpijob_text_data(&observed), mpijob_text_data(&lease->observed)) != 0)
		lease->observed_ms = observed_ms;
	seconds = number_at(spec, "leaseDurationSeconds");
	lease->holds_ms = seconds < 0           ? 0
			  : seconds > INT32_MAX ? INT64_C(1000) * INT32_MAX
						: seconds * 1000;
	mpijob_doc_free(lease->doc);
	lease->doc = doc;
	mpijob__base_text_release(&lease->observed);
	lease->observed = observed;
	free(lease->holder);
	lease->holder = holder;
	return 0;
}

/* Write a time with microseconds, the format of a Lease. */
static int put_micro(mpijob_doc *doc, mpijob_node *spec, const char *key)
{
	int64_t now_ms = mpijob__base_clock_wall_ms();
	char second[MPIJOB__BASE_TIME_SIZE];
	mpijob_text text = { 0 };
	int rc = 0;

	if (!mpijob__base_time_format(now_ms / 1000, second))
		return 0;
	rc = mpijob__base_text_printf(&text, "%.*s.%03d000Z", (int)strlen(second) - 1, second,
	    (int)(now_ms % 1000));
	mpijob_node_put_string(doc, spec, key, mpijob_text_data(&text));
	mpijob__base_text_release(&text);
	return rc;
}

static mpijob_node *map_of(mpijob_doc *doc, const char *key)
{
	mpijob_node *map = mpijob_doc_edit(doc, key);

	return map && mpijob_node_kind(map) == MPIJOB_NODE_MAP
		   ? map
		   : mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), key);
}

int mpijob__operator_lease_write(const mpijob_lease *lease, int release, mpijob_text *body)
{
	mpijob_doc *doc =
	    lease->doc ? mpijob_doc_from_node(mpijob_doc_root(lease->doc), NULL) : mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, ""), *spec = map_of(doc, "spec"),
		    *metadata = map_of(doc, "metadata");
	int64_t transitions = number_at(spec, "leaseTransitions");
	int rc = 0;

	mpijob_node_put_string(doc, root, "apiVersion", MPIJOB__OPERATOR_LEASE_API_VERSION);
	mpijob_node_put_string(doc, root, "kind", "Lease");
	mpijob_node_put_string(doc, metadata, "name", lease->name);
	mpijob_node_put_string(doc, metadata, "namespace", lease->namespace_);
	if (release || !mpijob__operator_lease_is_ours(lease))
		rc = put_micro(doc, spec, "acquireTime");
	if (!release && lease->doc && !mpijob__operator_lease_is_ours(lease))
		transitions++;
	mpijob_node_put_string(doc, spec, "holderIdentity", release ? "" : lease->identity);
	mpijob_node_put_int(doc, spec, "leaseDurationSeconds",
	    release ? 1 : lease->options.lease_ms / 1000);
	if (rc == 0)
		rc = put_micro(doc, spec, "renewTime");
	mpijob_node_put_int(doc, spec, "leaseTransitions", transitions);
	if (rc == 0)
		rc = mpijob_doc_error(doc);
	if (rc == 0)
		rc = mpijob_node_write(root, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, body);
	mpijob_doc_free(doc);
	return rc;
}

/* ---- Events about the Lease ---- */

static void event_sent(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__operator_lease_event *event = user;

	(void)answer; /* an Event that fails is not sent again */
	event->call = NULL;
	for (int i = 0; i < MPIJOB__OPERATOR_LEASE_EVENTS; i++)
		if (event->lease->events[i].waiting)
			mpijob__operator_lease_send_event(event->lease, i);
}

static void put_now(mpijob_doc *doc, mpijob_node *map, const char *key)
{
	char text[MPIJOB__BASE_TIME_SIZE];

	if (mpijob__base_time_format(mpijob__base_clock_wall_ms() / 1000, text))
		mpijob_node_put_string(doc, map, key, text);
}

static void copy_string(mpijob_doc *doc, mpijob_node *to, const mpijob_node *from, const char *key)
{
	mpijob_node_put_string(doc, to, key, mpijob_node_string(mpijob_node_get(from, key)));
}

static int write_event(mpijob_lease *lease, int number, mpijob_text *body)
{
	static const char *const words[MPIJOB__OPERATOR_LEASE_EVENTS] = { "became leader",
		"stopped leading" };
	const mpijob_node *about = mpijob_node_get(mpijob_doc_root(lease->doc), "metadata");
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, ""), *map;
	mpijob_text text = { 0 };
	uint64_t serial =
	    mpijob__operator_lease_random(lease) ^ (uint64_t)mpijob__base_clock_wall_ms() << 20;
	int rc = mpijob__base_text_printf(&text, "%s.%016" PRIx64, lease->name, serial);

	mpijob_node_put_string(doc, root, "apiVersion", "v1");
	mpijob_node_put_string(doc, root, "kind", "Event");
	map = mpijob_node_put_map(doc, root, "metadata");
	mpijob_node_put_string(doc, map, "name", mpijob_text_data(&text));
	mpijob_node_put_string(doc, map, "namespace", lease->namespace_);
	map = mpijob_node_put_map(doc, root, "involvedObject");
	mpijob_node_put_string(doc, map, "apiVersion", MPIJOB__OPERATOR_LEASE_API_VERSION);
	mpijob_node_put_string(doc, map, "kind", "Lease");
	mpijob_node_put_string(doc, map, "namespace", lease->namespace_);
	mpijob_node_put_string(doc, map, "name", lease->name);
	copy_string(doc, map, about, "uid");
	copy_string(doc, map, about, "resourceVersion");
	mpijob_node_put_string(doc, root, "reason", "LeaderElection");
	mpijob_node_put_string(doc, root, "type", "Normal");
	mpijob_node_put_string(doc, mpijob_node_put_map(doc, root, "source"), "component",
	    lease->component);
	mpijob_node_put_string(doc, root, "reportingComponent", lease->component);
	mpijob_node_put_string(doc, root, "reportingInstance", "");
	mpijob_node_put_int(doc, root, "count", 1);
	put_now(doc, root, "firstTimestamp");
	put_now(doc, root, "lastTimestamp");
	mpijob_text_clear(&text);
	if (rc == 0)
		rc = mpijob__base_text_printf(&text, "%s %s", lease->identity, words[number]);
	mpijob_node_put_string(doc, root, "message", mpijob_text_data(&text));
	if (rc == 0)
		rc = mpijob_doc_error(doc);
	if (rc == 0)
		rc = mpijob_node_write(root, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, body);
	mpijob__base_text_release(&text);
	mpijob_doc_free(doc);
	return rc;
}

void mpijob__operator_lease_send_event(mpijob_lease *lease, int number)
{
	struct mpijob__operator_lease_event *event = &lease->events[number];
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, event_sent, event };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text body = { 0 };

	if (!lease->component || !lease->doc)
		return;
	event->waiting = 1;
	for (int i = 0; i < MPIJOB__OPERATOR_LEASE_EVENTS; i++)
		if (lease->events[i].call)
			return;
	event->waiting = 0;
	target.api_version = "v1";
	target.kind = "Event";
	target.namespace_ = lease->namespace_;
	if (write_event(lease, number, &body) == 0)
		(void)mpijob__operator_request_send(lease->client, "POST", &target, &body,
		    &callbacks, &event->call);
	mpijob__base_text_release(&body);
}
