/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds causes in Events that no object's status shows: rejected pods, failed mounts, waiting
 * gangs, name conflicts. An Event may be outdated: Events about pods that have got past the problem
 * are ignored.
 */
#include "base/api.h"
#include "diagnose/diagnose.h"

#include <string.h>

#define ERROR MPIJOB_SEVERITY_ERROR

struct event {
	const char *kind, *name; /* of the object that it is about */
	const char *reason, *message;
};

const char *mpijob__diagnose_event_time(const mpijob_node *event)
{
	static const char *const paths[] = { "series.lastObservedTime", "lastTimestamp",
		"eventTime", "firstTimestamp" };
	size_t i = 0;

	while (i < sizeof(paths) / sizeof(paths[0]) - 1 &&
	       !*mpijob__diagnose_case_text(event, paths[i]))
		i++;
	return paths[i];
}

const mpijob_node *mpijob__diagnose_events_activity(const struct mpijob__diagnose_case *this,
    const char *pod)
{
	const mpijob_node *last = NULL;
	const char *time = "";

	for (size_t i = 0; i < mpijob_node_count(this->events); i++) {
		const mpijob_node *event = mpijob_node_at(this->events, i);
		const char *when =
		    mpijob__diagnose_case_text(event, mpijob__diagnose_event_time(event));
		/* In the same second the later Event in the list counts. */
		if (strcmp(mpijob__diagnose_case_text(event, "type"), "Normal") == 0 &&
		    strcmp(mpijob__diagnose_case_text(event, "involvedObject.name"), pod) == 0 &&
		    strncmp(when, time, 19) >= 0) {
			last = event;
			time = when;
		}
	}
	return last;
}

int mpijob__diagnose_case_forbidden(struct mpijob__diagnose_case *this, const char *message)
{
	const char *at = strstr(message, " is forbidden: User \"");

	if (!at || !strstr(at, "\" cannot "))
		return 0;
	mpijob__diagnose_case_add(this, "operator-forbidden", ERROR, RANK_NOT_ACTED_ON, message,
	    NULL, "the operator lacks a right that it needs for this job: %s", message);
	return 1;
}

/* Whether an Event is outdated: its pod was scheduled, started or deleted. */
static int is_past(const struct mpijob__diagnose_case *this, const struct event *event)
{
	const mpijob_node *pod = mpijob__diagnose_case_pod(this, event->name);

	if (strcmp(event->kind, "Pod") != 0)
		return 0;
	return this->pods
		   ? !pod || strcmp(mpijob__diagnose_case_text(pod, "status.phase"), "Pending") != 0
		   : 0;
}

static void create_forbidden(struct mpijob__diagnose_case *this, const struct event *event)
{
	const char *about = *event->name ? event->name : "the job";

	if (strstr(event->message, "exceeded quota"))
		mpijob__diagnose_case_add(this, "quota-exceeded", ERROR, RANK_NOT_CREATED, NULL,
		    NULL, "the quota allows no more pods for %s: %s", about, event->message);
	else if (strstr(event->message, "violates PodSecurity"))
		mpijob__diagnose_case_add(this, "pod-security", ERROR, RANK_NOT_CREATED, NULL, NULL,
		    "the namespace's pod security refuses the pods of %s: %s", about,
		    event->message);
	else
		mpijob__diagnose_case_add(this, "pods-refused", ERROR, RANK_NOT_CREATED, NULL, NULL,
		    "the API server refuses the pods of %s: %s", about, event->message);
}

static void mount_failed(struct mpijob__diagnose_case *this, const struct event *event)
{
	if (strstr(event->message, "not found") &&
	    (strstr(event->message, "configmap ") || strstr(event->message, "secret ")))
		mpijob__diagnose_case_add(this, "object-missing", ERROR, RANK_NOT_STARTED,
		    event->name, NULL,
		    "pod %s waits for a volume whose ConfigMap or Secret is missing: %s",
		    event->name, event->message);
	else
		mpijob__diagnose_case_add(this, "volume-failed", ERROR, RANK_NOT_STARTED,
		    event->name, NULL, "a volume of pod %s cannot be mounted: %s", event->name,
		    event->message);
}

/* A kubelet's Event about a container; the status of an existing pod says the same. */
static void create_failed(struct mpijob__diagnose_case *this, const struct event *event)
{
	int32_t severity = this->failed ? ERROR : MPIJOB_SEVERITY_WARNING;
	const char *id = "container-not-started", *what = "its container could not be started";

	if (mpijob__diagnose_case_pod(this, event->name) ||
	    !mpijob__diagnose_case_role(this, event->name))
		return;
	if (mpijob__diagnose_case_no_program(event->message)) {
		id = "program-not-found";
		what = "its container could not be started, its command is not in the image";
	} else if (strstr(event->message, "Failed to pull image") ||
		   strstr(event->message, "ImagePull")) {
		id = "image-not-pulled";
		what = "its image could not be pulled";
	}
	mpijob__diagnose_case_add(this, id, severity, RANK_NOT_STARTED, event->name, NULL,
	    "pod %s was deleted; %s: %s", event->name, what, event->message);
}

static int is(const struct event *event, const char *reason)
{
	return strcmp(event->reason, reason) == 0;
}

static void check_event(struct mpijob__diagnose_case *this, const struct event *event)
{
	if (mpijob__diagnose_case_forbidden(this, event->message))
		return;
	if (is(event, MPIJOB__BASE_API_REASON_INVALID))
		mpijob__diagnose_case_add(this, "job-refused", ERROR, RANK_NOT_ACTED_ON, NULL, NULL,
		    "the operator refuses the job: %s", event->message);
	else if (is(event, MPIJOB__BASE_API_REASON_EXISTS))
		mpijob__diagnose_case_add(this, "name-taken", ERROR, RANK_NOT_CREATED,
		    event->message, NULL,
		    "an object with a name that the job needs already exists and does not belong "
		    "to it: %s",
		    event->message);
	else if (is(event, "FailedCreate") || (is(event, MPIJOB__BASE_API_REASON_FAILED) &&
						  strstr(event->message, "created failed")))
		create_forbidden(this, event);
	else if (is(event, "Failed") && strcmp(event->kind, "Pod") == 0)
		create_failed(this, event);
	else if ((is(event, "FailedMount") || is(event, "FailedAttachVolume")) &&
		 !is_past(this, event))
		mount_failed(this, event);
	else if ((is(event, "FailedScheduling") || is(event, "Unschedulable")) &&
		 !is_past(this, event) && (!this->pods || strcmp(event->kind, "Pod") != 0))
		mpijob__diagnose_case_unschedulable(this, event->name, event->message);
	else if ((is(event, "Evicted") || is(event, "Preempted")) &&
		 !mpijob__diagnose_case_pod(this, event->name))
		mpijob__diagnose_case_add(this,
		    is(event, "Evicted") ? "pod-evicted" : "pod-preempted", ERROR, RANK_DIED,
		    event->name, NULL, "pod %s was deleted: %s", event->name, event->message);
	else if (is(event, "NodeNotReady") && mpijob__diagnose_case_pod(this, event->name))
		mpijob__diagnose_case_add(this, "node-lost", MPIJOB_SEVERITY_WARNING, RANK_DIED,
		    event->name, NULL, "the node of pod %s does not answer: %s", event->name,
		    event->message);
}

void mpijob__diagnose_check_events(struct mpijob__diagnose_case *this)
{
	for (size_t i = 0; i < mpijob_node_count(this->events) && this->code == 0; i++) {
		const mpijob_node *node = mpijob_node_at(this->events, i);
		struct event event = { mpijob__diagnose_case_text(node, "involvedObject.kind"),
			mpijob__diagnose_case_text(node, "involvedObject.name"),
			mpijob__diagnose_case_text(node, "reason"),
			mpijob__diagnose_case_text(node, "message") };
		if (strcmp(mpijob__diagnose_case_text(node, "type"), "Normal") != 0)
			check_event(this, &event);
	}
}
