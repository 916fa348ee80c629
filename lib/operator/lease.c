/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leader election by a Lease, as client-go's leaderelection does it.
 *
 * One attempt is: PUT, when we hold it and it holds; if that fails, or we do not, GET, and PUT or POST by what
 * was found. While standing, attempts follow each other after retry_ms times 1 to 2.2; while leading, every retry_ms,
 * and when none has succeeded for renew_ms after the first that was due, leading ends and standing begins anew.
 * What is compared with the clock is when a record was first seen, and of our own when we began to write it.
 */
#include "base/text.h"
#include "base/struct.h"
#include "cluster/client.h"
#include "cluster/clock.h"
#include "cluster/timer.h"
#include "job/time.h"

#include <mpijob/doc.h>
#include <mpijob/lease.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_MS       15000
#define RENEW_MS       5000
#define RETRY_MS       3000
#define LEAST_LIMIT_MS 1000
#define API_VERSION    "coordination.k8s.io/v1"

enum request { REQUEST_NONE, REQUEST_FAST_PUT, REQUEST_GET, REQUEST_PUT, REQUEST_POST, REQUEST_LET_GO };
enum event { EVENT_LEADS, EVENT_STOPPED, EVENTS };

struct event_call {
	mpijob_lease *lease;
	mpijob_call *call;
	int waits; /* to be sent */
};

struct mpijob_lease {
	mpijob_client *client;
	struct mpijob_lease_options options;
	char *namespace_, *name, *identity, *component;
	uint64_t dice;
	struct mpijob__timer next;     /* attempt */
	struct mpijob__timer deadline; /* of renewing, or of giving up */
	mpijob_call *call;
	enum request request;          /* that `call` is */
	int64_t begun_ms;              /* when the attempt began */
	int64_t written_ms;            /* when the write of `call` began */
	mpijob_doc *doc;               /* the Lease as it was seen last; NULL: never */
	mpijob_text record;            /* what the election is about, of it */
	char *holder;                  /* of `doc`; never NULL */
	int64_t observed_ms;           /* when `record` was new; meaningful with `doc` */
	int64_t holds_ms;              /* the time that it says */
	int64_t renewed_ms;            /* when the last write of ours that succeeded began; meaningful while leading */
	int leading, released;
	int32_t told_code, told_status;
	struct event_call events[EVENTS];
};

static void attempt(void *user);
static void give_up(void *user);

/* --- make and free --- */

static int64_t now_of(const mpijob_lease *lease)
{
	return lease->client->clock();
}

static uint64_t roll(mpijob_lease *lease)
{
	/* The upper bits of a linear congruential generator: good enough to spread. */
	lease->dice = lease->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return lease->dice >> 20;
}

static int check_times(struct mpijob_lease_options *options)
{
	options->lease_ms = options->lease_ms ? options->lease_ms : LEASE_MS;
	options->renew_ms = options->renew_ms ? options->renew_ms : RENEW_MS;
	options->retry_ms = options->retry_ms ? options->retry_ms : RETRY_MS;
	if (options->retry_ms < 0 || options->lease_ms < 1000 || options->lease_ms % 1000 != 0 ||
	    options->lease_ms <= options->renew_ms || options->renew_ms <= options->retry_ms * INT64_C(12) / 10)
		return MPIJOB_ERR_USAGE;
	return 0;
}

static int check_options(struct mpijob_lease_options *options)
{
	if (!options->namespace_ || !*options->namespace_ || !options->name || !*options->name || !options->identity ||
	    !*options->identity)
		return MPIJOB_ERR_USAGE;
	return check_times(options);
}

static void destroy(mpijob_lease *lease)
{
	mpijob_doc_free(lease->doc);
	mpijob__text_release(&lease->record);
	free(lease->holder);
	free(lease->namespace_);
	free(lease->name);
	free(lease->identity);
	free(lease->component);
	free(lease);
}

static int copy_options(mpijob_lease *lease, const struct mpijob_lease_options *options)
{
	lease->options = *options;
	lease->namespace_ = strdup(options->namespace_);
	lease->name = strdup(options->name);
	lease->identity = strdup(options->identity);
	lease->component = options->component ? strdup(options->component) : NULL;
	lease->holder = strdup("");
	return lease->namespace_ && lease->name && lease->identity && lease->holder &&
			       (lease->component || !options->component)
		       ? 0
		       : MPIJOB_ERR_NOMEM;
}

int mpijob_lease_new(mpijob_client *client, const struct mpijob_lease_options *options, mpijob_lease **out)
{
	struct mpijob_lease_options known;
	mpijob_lease *lease;
	int rc = client && options && out ? mpijob__struct_check(&known, sizeof(known), options) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = check_options(&known);
	if (rc)
		return rc;
	lease = calloc(1, sizeof(*lease));
	if (!lease)
		return MPIJOB_ERR_NOMEM;
	if (copy_options(lease, &known)) {
		destroy(lease);
		return MPIJOB_ERR_NOMEM;
	}
	lease->client = client;
	lease->dice = known.seed;
	for (int i = 0; i < EVENTS; i++)
		lease->events[i].lease = lease;
	lease->next = (struct mpijob__timer){ .client = client, .fire = attempt, .user = lease };
	lease->deadline = (struct mpijob__timer){ .client = client, .fire = give_up, .user = lease };
	mpijob__timer_set(&lease->next, INT64_MIN);
	*out = lease;
	return 0;
}

static void cancel(mpijob_lease *lease)
{
	if (lease->call)
		mpijob_call_cancel(lease->call);
	lease->call = NULL;
	lease->request = REQUEST_NONE;
}

void mpijob_lease_free(mpijob_lease *lease)
{
	if (!lease)
		return;
	cancel(lease);
	for (int i = 0; i < EVENTS; i++)
		if (lease->events[i].call)
			mpijob_call_cancel(lease->events[i].call);
	mpijob__timer_clear(&lease->next);
	mpijob__timer_clear(&lease->deadline);
	destroy(lease);
}

/* --- what is known --- */

static int is_ours(const mpijob_lease *lease)
{
	return lease->doc && strcmp(lease->holder, lease->identity) == 0;
}

/* By our own clock alone. */
static int is_valid(const mpijob_lease *lease)
{
	return lease->doc && now_of(lease) < lease->observed_ms + lease->holds_ms;
}

int mpijob_lease_leading(const mpijob_lease *lease)
{
	return lease->leading && is_ours(lease) && now_of(lease) < lease->renewed_ms + lease->options.lease_ms;
}

const char *mpijob_lease_holder(const mpijob_lease *lease)
{
	return lease->holder;
}

int mpijob_lease_healthy(const mpijob_lease *lease, int64_t tolerance_ms)
{
	return !is_ours(lease) || now_of(lease) - lease->observed_ms <= lease->options.lease_ms + tolerance_ms;
}

/* --- what is told --- */

static void tell(mpijob_lease *lease)
{
	if (lease->options.changed)
		lease->options.changed(lease->options.user, lease->leading, lease->holder);
}

static void log_failure(mpijob_lease *lease, const char *what, int code, int status, const char *message)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	mpijob_text text = { 0 };

	if (!lease->options.log || (lease->told_code == code && lease->told_status == status))
		return;
	lease->told_code = code;
	lease->told_status = status;
	finding.severity = MPIJOB_SEVERITY_WARNING;
	finding.id = "lease-failed";
	finding.message = mpijob_error_text(MPIJOB_ERR_NOMEM);
	if (mpijob__text_printf(&text, "cannot %s the Lease %s/%s: %s", what, lease->namespace_, lease->name,
				message ? message : mpijob_error_text(code)) == 0)
		finding.message = mpijob_text_data(&text);
	lease->options.log(lease->options.user, &finding);
	mpijob__text_release(&text);
}

/* --- Events about it --- */

static void send_event(mpijob_lease *lease, enum event number);

static void event_sent(void *user, const struct mpijob_answer *answer)
{
	struct event_call *event = user;

	(void)answer; /* nothing depends on it */
	event->call = NULL;
	for (int i = 0; i < EVENTS; i++)
		if (event->lease->events[i].waits)
			send_event(event->lease, (enum event)i);
}

static void put_now(mpijob_doc *doc, mpijob_node *map, const char *key)
{
	char text[MPIJOB__TIME_SIZE];

	if (mpijob__time_format(mpijob__clock_wall_ms() / 1000, text))
		mpijob_node_put_string(doc, map, key, text);
}

static void copy_word(mpijob_doc *doc, mpijob_node *to, const mpijob_node *from, const char *key)
{
	mpijob_node_put_string(doc, to, key, mpijob_node_string(mpijob_node_get(from, key)));
}

static int write_event(mpijob_lease *lease, enum event number, mpijob_text *body)
{
	static const char *const words[EVENTS] = { "became leader", "stopped leading" };
	const mpijob_node *about = mpijob_node_get(mpijob_doc_root(lease->doc), "metadata");
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc), *map;
	mpijob_text text = { 0 };
	int rc = mpijob__text_printf(&text, "%s.%016" PRIx64, lease->name, roll(lease) ^ (uint64_t)mpijob__clock_wall_ms() << 20);

	mpijob_node_put_string(doc, root, "apiVersion", "v1");
	mpijob_node_put_string(doc, root, "kind", "Event");
	map = mpijob_node_put_map(doc, root, "metadata");
	mpijob_node_put_string(doc, map, "name", mpijob_text_data(&text));
	mpijob_node_put_string(doc, map, "namespace", lease->namespace_);
	map = mpijob_node_put_map(doc, root, "involvedObject");
	mpijob_node_put_string(doc, map, "apiVersion", API_VERSION);
	mpijob_node_put_string(doc, map, "kind", "Lease");
	mpijob_node_put_string(doc, map, "namespace", lease->namespace_);
	mpijob_node_put_string(doc, map, "name", lease->name);
	copy_word(doc, map, about, "uid");
	copy_word(doc, map, about, "resourceVersion");
	mpijob_node_put_string(doc, root, "reason", "LeaderElection");
	mpijob_node_put_string(doc, root, "type", "Normal");
	mpijob_node_put_string(doc, mpijob_node_put_map(doc, root, "source"), "component", lease->component);
	mpijob_node_put_string(doc, root, "reportingComponent", lease->component);
	mpijob_node_put_string(doc, root, "reportingInstance", "");
	mpijob_node_put_int(doc, root, "count", 1);
	put_now(doc, root, "firstTimestamp");
	put_now(doc, root, "lastTimestamp");
	mpijob_text_clear(&text);
	if (rc == 0)
		rc = mpijob__text_printf(&text, "%s %s", lease->identity, words[number]);
	mpijob_node_put_string(doc, root, "message", mpijob_text_data(&text));
	if (rc == 0)
		rc = mpijob_doc_error(doc);
	if (rc == 0)
		rc = mpijob_node_write(root, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, body);
	mpijob__text_release(&text);
	mpijob_doc_free(doc);
	return rc;
}

/* One at a time, so that they arrive in their order. */
static void send_event(mpijob_lease *lease, enum event number)
{
	struct event_call *event = &lease->events[number];
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, event_sent, event };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text body = { 0 };

	if (!lease->component || !lease->doc)
		return;
	event->waits = 1;
	for (int i = 0; i < EVENTS; i++)
		if (lease->events[i].call)
			return;
	event->waits = 0;
	target.api_version = "v1";
	target.kind = "Event";
	target.namespace_ = lease->namespace_;
	if (write_event(lease, number, &body) == 0)
		(void)mpijob__request_start(lease->client, "POST", &target, "application/json", &body, &callbacks, &event->call);
	mpijob__text_release(&body);
}

/* --- the record --- */

static const char *word_at(const mpijob_node *spec, const char *key)
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

/* What another's renewing changes. */
static int write_record(const mpijob_node *spec, mpijob_text *record)
{
	return mpijob__text_printf(record, "%s\n%s\n%s\n%s\n%s", word_at(spec, "holderIdentity"),
				   word_at(spec, "leaseDurationSeconds"), word_at(spec, "leaseTransitions"),
				   word_at(spec, "acquireTime"), word_at(spec, "renewTime"));
}

/*
 * Take the Lease as the server gave it; `observed_ms` is when its record was new, if it differs from the one
 * that is known. 0, MPIJOB_ERR_NOMEM or MPIJOB_ERR_SYNTAX, with nothing changed.
 */
static int take_answer(mpijob_lease *lease, const struct mpijob_answer *answer, int64_t observed_ms, int ours)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	const mpijob_node *spec;
	mpijob_doc *doc = NULL;
	mpijob_text record = { 0 };
	char *holder = NULL;
	int64_t seconds;
	int rc;

	options.format = MPIJOB_FORMAT_JSON;
	rc = mpijob_doc_parse(answer->body, answer->body_len, &options, &doc, NULL);
	if (rc)
		return rc;
	spec = mpijob_node_get(mpijob_doc_root(doc), "spec");
	rc = write_record(spec, &record);
	if (rc == 0)
		holder = strdup(word_at(spec, "holderIdentity"));
	if (rc || !holder) {
		mpijob__text_release(&record);
		mpijob_doc_free(doc);
		return MPIJOB_ERR_NOMEM;
	}
	if (ours || !lease->doc || strcmp(mpijob_text_data(&record), mpijob_text_data(&lease->record)) != 0)
		lease->observed_ms = observed_ms;
	seconds = number_at(spec, "leaseDurationSeconds");
	lease->holds_ms = seconds < 0 ? 0 : seconds > INT32_MAX ? INT64_C(1000) * INT32_MAX : seconds * 1000;
	mpijob_doc_free(lease->doc);
	lease->doc = doc;
	mpijob__text_release(&lease->record);
	lease->record = record;
	free(lease->holder);
	lease->holder = holder;
	return 0;
}

/* A time with six digits of fraction, as Leases have it. */
static int put_micro(mpijob_doc *doc, mpijob_node *spec, const char *key)
{
	int64_t now_ms = mpijob__clock_wall_ms();
	char second[MPIJOB__TIME_SIZE];
	mpijob_text text = { 0 };
	int rc = 0;

	if (!mpijob__time_format(now_ms / 1000, second))
		return 0;
	rc = mpijob__text_printf(&text, "%.*s.%03d000Z", (int)strlen(second) - 1, second, (int)(now_ms % 1000));
	mpijob_node_put_string(doc, spec, key, mpijob_text_data(&text));
	mpijob__text_release(&text);
	return rc;
}

static mpijob_node *map_of(mpijob_doc *doc, const char *key)
{
	mpijob_node *map = mpijob_doc_find(doc, key);

	return map && mpijob_node_kind(map) == MPIJOB_NODE_MAP ? map : mpijob_node_put_map(doc, mpijob_doc_edit(doc), key);
}

/* The Lease as it is to be: ours, or nobody's. What else it holds stays. */
static int write_lease(const mpijob_lease *lease, int let_go, mpijob_text *body)
{
	mpijob_doc *doc = lease->doc ? mpijob_doc_clone(lease->doc) : mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc), *spec = map_of(doc, "spec"), *metadata = map_of(doc, "metadata");
	int64_t transitions = number_at(spec, "leaseTransitions");
	int rc = 0;

	mpijob_node_put_string(doc, root, "apiVersion", API_VERSION);
	mpijob_node_put_string(doc, root, "kind", "Lease");
	mpijob_node_put_string(doc, metadata, "name", lease->name);
	mpijob_node_put_string(doc, metadata, "namespace", lease->namespace_);
	if (let_go || !is_ours(lease))
		rc = put_micro(doc, spec, "acquireTime");
	if (!let_go && lease->doc && !is_ours(lease))
		transitions++;
	mpijob_node_put_string(doc, spec, "holderIdentity", let_go ? "" : lease->identity);
	mpijob_node_put_int(doc, spec, "leaseDurationSeconds", let_go ? 1 : lease->options.lease_ms / 1000);
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

/* --- requests --- */

static const char *word_of(enum request request)
{
	switch (request) {
	case REQUEST_GET:
		return "look at";
	case REQUEST_POST:
		return "create";
	case REQUEST_LET_GO:
		return "give up";
	default:
		return "take or renew";
	}
}

static void answered(void *user, const struct mpijob_answer *answer);

static int send(mpijob_lease *lease, enum request number)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, answered, lease };
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text path = { 0 }, body = { 0 };
	int rc;

	target.api_version = API_VERSION;
	target.kind = "Lease";
	target.namespace_ = lease->namespace_;
	target.name = number == REQUEST_POST ? NULL : lease->name;
	rc = mpijob_target_write(&target, mpijob_text_write, &path);
	if (rc == 0 && number != REQUEST_GET)
		rc = write_lease(lease, number == REQUEST_LET_GO, &body);
	if (rc == 0) {
		request.method = number == REQUEST_GET ? "GET" : number == REQUEST_POST ? "POST" : "PUT";
		request.path = mpijob_text_data(&path);
		if (body.len) {
			request.content_type = "application/json";
			request.body = mpijob_text_data(&body);
			request.body_len = body.len;
		}
		request.timeout_ms = lease->options.renew_ms / 2;
		if (request.timeout_ms < LEAST_LIMIT_MS)
			request.timeout_ms = LEAST_LIMIT_MS;
		lease->request = number;
		lease->written_ms = now_of(lease);
		rc = mpijob__client_start(lease->client, &request, MPIJOB__CALL_ONCE | MPIJOB__CALL_UNPACED, &callbacks,
					  &lease->call);
	}
	mpijob__text_release(&path);
	mpijob__text_release(&body);
	if (rc) {
		lease->request = REQUEST_NONE;
		log_failure(lease, word_of(number), rc, 0, NULL);
	}
	return rc;
}

/* --- standing, leading --- */

static void stop_leading(mpijob_lease *lease)
{
	if (!lease->leading)
		return;
	lease->leading = 0;
	send_event(lease, EVENT_STOPPED);
	tell(lease);
}

/* The attempt has failed; the deadline of renewing goes on. */
static void try_later(mpijob_lease *lease)
{
	int64_t now_ms = now_of(lease), retry_ms = lease->options.retry_ms, due_ms;

	if (lease->leading) {
		due_ms = lease->begun_ms + retry_ms;
		mpijob__timer_set(&lease->next, due_ms > now_ms ? due_ms : now_ms);
		return;
	}
	mpijob__timer_set(&lease->next, now_ms + retry_ms + (int64_t)(roll(lease) % (uint64_t)(retry_ms * 12 / 10 + 1)));
}

/* Ours, as of when that was written. */
static void succeed(mpijob_lease *lease)
{
	int64_t next_ms = now_of(lease) + lease->options.retry_ms;

	lease->told_code = lease->told_status = 0;
	lease->renewed_ms = lease->written_ms;
	mpijob__timer_set(&lease->next, next_ms);
	mpijob__timer_set(&lease->deadline, next_ms + lease->options.renew_ms);
	if (lease->leading)
		return;
	lease->leading = 1;
	send_event(lease, EVENT_LEADS);
	tell(lease);
}

/* Somebody else has it, and it holds. */
static void stand_by(mpijob_lease *lease)
{
	lease->told_code = lease->told_status = 0;
	if (lease->leading) { /* it was taken from us */
		mpijob__timer_clear(&lease->deadline);
		stop_leading(lease);
	}
	try_later(lease);
}

/* Begin one of the attempt's requests, or fail it. */
static void go_on(mpijob_lease *lease, enum request request)
{
	if (send(lease, request))
		try_later(lease);
}

static void attempt(void *user)
{
	mpijob_lease *lease = user;

	if (lease->call || lease->released)
		return;
	lease->begun_ms = now_of(lease);
	go_on(lease, is_ours(lease) && is_valid(lease) ? REQUEST_FAST_PUT : REQUEST_GET);
}

static void give_up(void *user)
{
	mpijob_lease *lease = user;

	cancel(lease);
	if (lease->released)
		return;
	stop_leading(lease);
	try_later(lease);
}

static void look(mpijob_lease *lease, const struct mpijob_answer *answer)
{
	char *before;
	int rc;

	if (answer->code == MPIJOB_ERR_NOT_FOUND && answer->status == 404) {
		mpijob_doc_free(lease->doc);
		lease->doc = NULL;
		go_on(lease, REQUEST_POST);
		return;
	}
	before = answer->code ? NULL : strdup(lease->holder);
	rc = answer->code ? answer->code : before ? take_answer(lease, answer, now_of(lease), 0) : MPIJOB_ERR_NOMEM;
	if (rc) {
		log_failure(lease, "look at", rc, answer->status, answer->message);
		try_later(lease);
	} else if (*lease->holder && is_valid(lease) && !is_ours(lease)) {
		int another = strcmp(before, lease->holder) != 0 && !lease->leading;

		stand_by(lease);
		if (another)
			tell(lease);
	} else {
		go_on(lease, REQUEST_PUT);
	}
	free(before);
}

static void written(mpijob_lease *lease, enum request request, const struct mpijob_answer *answer)
{
	int rc = answer->code ? answer->code : take_answer(lease, answer, lease->written_ms, 1);

	if (rc == 0 && is_ours(lease)) {
		succeed(lease);
		return;
	}
	/* Who comes second is no failure; it looks again later. */
	if (rc != MPIJOB_ERR_CONFLICT)
		log_failure(lease, word_of(request), rc ? rc : MPIJOB_ERR_SYNTAX, answer->status, answer->message);
	if (request == REQUEST_FAST_PUT)
		go_on(lease, REQUEST_GET);
	else
		try_later(lease);
}

/* --- giving up --- */

static void let_go_answered(mpijob_lease *lease, enum request request, const struct mpijob_answer *answer)
{
	int rc = answer->code;

	if (request == REQUEST_LET_GO && rc == MPIJOB_ERR_CONFLICT) {
		rc = send(lease, REQUEST_GET);
	} else if (request == REQUEST_GET && rc == 0) {
		rc = take_answer(lease, answer, now_of(lease), 0);
		if (rc == 0 && is_ours(lease))
			rc = send(lease, REQUEST_LET_GO);
	} else if (request == REQUEST_LET_GO && rc == 0) {
		(void)take_answer(lease, answer, now_of(lease), 0);
	}
	if (rc && rc != MPIJOB_ERR_NOT_FOUND)
		log_failure(lease, "give up", rc, answer->status, answer->message);
	if (!lease->call)
		mpijob__timer_clear(&lease->deadline);
}

void mpijob_lease_release(mpijob_lease *lease)
{
	int unknown = lease->call && lease->request != REQUEST_GET; /* a write may still arrive */

	if (lease->released)
		return;
	lease->released = 1;
	cancel(lease);
	mpijob__timer_clear(&lease->next);
	mpijob__timer_set(&lease->deadline, now_of(lease) + lease->options.renew_ms);
	if (unknown)
		(void)send(lease, REQUEST_GET);
	else if (is_ours(lease))
		(void)send(lease, REQUEST_LET_GO);
	if (!lease->call)
		mpijob__timer_clear(&lease->deadline);
	stop_leading(lease);
}

int mpijob_lease_busy(const mpijob_lease *lease)
{
	int events = 0;

	for (int i = 0; i < EVENTS; i++)
		events |= lease->events[i].waits || lease->events[i].call;
	return events || (lease->released && lease->call);
}

static void answered(void *user, const struct mpijob_answer *answer)
{
	mpijob_lease *lease = user;
	enum request request = lease->request;

	lease->call = NULL;
	lease->request = REQUEST_NONE;
	if (lease->released)
		let_go_answered(lease, request, answer);
	else if (request == REQUEST_GET)
		look(lease, answer);
	else
		written(lease, request, answer);
}
