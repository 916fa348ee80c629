/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rights that a user of MPIJobs needs, and the commands with which an administrator grants
 * them. These commands only add rights, so they may be repeated, in any order. Also the rights that
 * the operator lacks, from its Events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "base/clock.h"
#include "doctor.h"
#include "objects.h"
#include "when.h"

#define UNKNOWN_SUBJECT "--user=NAME" /* if the server does not report the user's name */

/* Follows a command that creates an object: an existing object gets the missing rights. */
#define RECONCILE " --dry-run=client -o yaml | kubectl auth reconcile -f -"

/* ---- the user ---- */

static int is_plain(const char *name)
{
	return *name &&
	       name[strspn(name,
		   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-")] ==
		   0;
}

/* A name with other characters is not safe in a command: the administrator fills it in. */
static char *make_subject(const char *user)
{
	static const char account[] = "system:serviceaccount:";
	char *option = NULL;
	int len;

	if (!is_plain(user))
		return strdup(UNKNOWN_SUBJECT);
	if (strncmp(user, account, strlen(account)) == 0)
		len = asprintf(&option, "--serviceaccount=%s", user + strlen(account));
	else
		len = asprintf(&option, "--user=%s", user);
	return len < 0 ? NULL : option;
}

const char *subject_option(struct doctor *doctor)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_doc *review = NULL, *answer = NULL;

	if (doctor->subject)
		return doctor->subject;
	target.api_version = "authentication.k8s.io/v1";
	target.kind = "SelfSubjectReview";
	review = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(review, "");
	mpijob_node_put_string(review, root, "apiVersion", target.api_version);
	mpijob_node_put_string(review, root, "kind", target.kind);
	int code = mpijob_doc_error(review);
	if (code == 0)
		code = mpijob_client_write(doctor->connection->client, &target, root, NULL, &answer,
		    NULL);
	if (code == 0)
		doctor->subject =
		    make_subject(text_at(mpijob_doc_root(answer), "status.userInfo.username"));
	mpijob_doc_free(review);
	mpijob_doc_free(answer);
	return doctor->subject ? doctor->subject : UNKNOWN_SUBJECT;
}

/* ---- commands ---- */

/* Commands, one per line, for a Role in a namespace, or without one for a ClusterRole. */
struct role {
	const char *name, *namespace_;
	FILE *lines;
	char *text;
	size_t len;
};

static int role_begin(struct role *role)
{
	role->lines = open_memstream(&role->text, &role->len);
	return role->lines != NULL;
}

static void role_head(const struct role *role, const char *suffix)
{
	fprintf(role->lines, "kubectl create %s%s %s", role->namespace_ ? "role" : "clusterrole",
	    suffix, role->name);
	if (role->namespace_)
		fprintf(role->lines, " -n %s", role->namespace_);
}

static void role_allow(const struct role *role, const char *verbs, const char *resources,
    const char *name)
{
	role_head(role, "");
	fprintf(role->lines, " --verb=%s --resource=%s%s%s" RECONCILE "\n", verbs, resources,
	    name ? " --resource-name=" : "", name ? name : "");
}

/* Append the command for the binding. Returns all commands, or NULL when memory ran out. */
static char *role_end(struct role *role, struct doctor *doctor)
{
	int failed;

	role_head(role, "binding");
	fprintf(role->lines, " --%s=%s %s" RECONCILE, role->namespace_ ? "role" : "clusterrole",
	    role->name, subject_option(doctor));
	failed = ferror(role->lines);
	if (fclose(role->lines) == 0 && !failed)
		return role->text;
	free(role->text);
	return NULL;
}

char *grant_commands(struct doctor *doctor, const struct probe *probe,
    const struct mpijob_target *target)
{
	struct role role = { .name = "mpijob-doctor", .namespace_ = target->namespace_ };

	if (!role_begin(&role))
		return NULL;
	role_allow(&role, target->name ? "get" : "list", probe->resource, target->name);
	return role_end(&role, doctor);
}

/* ---- rights ---- */

static const struct right {
	const char *verb, *group, *resource, *subresource;
	enum result otherwise;
	const char *why;
} rights[] = {
	{ "create", MPIJOB__BASE_API_GROUP, MPIJOB__BASE_API_PLURAL, NULL, RESULT_FAIL,
	    ": no job can be submitted" },
	{ "get", MPIJOB__BASE_API_GROUP, MPIJOB__BASE_API_PLURAL, NULL, RESULT_FAIL,
	    ": jobs cannot be read" },
	{ "list", MPIJOB__BASE_API_GROUP, MPIJOB__BASE_API_PLURAL, NULL, RESULT_FAIL,
	    ": jobs cannot be found" },
	{ "watch", MPIJOB__BASE_API_GROUP, MPIJOB__BASE_API_PLURAL, NULL, RESULT_FAIL,
	    ": jobs cannot be waited for" },
	{ "patch", MPIJOB__BASE_API_GROUP, MPIJOB__BASE_API_PLURAL, NULL, RESULT_WARN,
	    ": jobs cannot be suspended or scaled" },
	{ "delete", MPIJOB__BASE_API_GROUP, MPIJOB__BASE_API_PLURAL, NULL, RESULT_WARN,
	    ": jobs cannot be deleted" },
	{ "list", "", "pods", NULL, RESULT_WARN, ": describe and logs see nothing" },
	{ "get", "", "pods", "log", RESULT_WARN, ": logs see nothing" },
	{ "list", "", "events", NULL, RESULT_WARN, ": describe sees less" },
};

#define RIGHTS (sizeof(rights) / sizeof(rights[0]))

/* 1, 0, or negative: unknown, or the command ends. */
static int check_right(struct doctor *doctor, const struct right *right, const char *namespace_)
{
	struct mpijob_access access = MPIJOB_ACCESS_INIT;
	const char *slash = right->subresource ? "/" : "",
		   *sub = right->subresource ? right->subresource : "";

	access.verb = right->verb;
	access.group = right->group;
	access.resource = right->resource;
	access.subresource = right->subresource;
	access.namespace_ = namespace_;
	int answer = mpijob_client_can(doctor->connection->client, &access, NULL);
	if (answer == MPIJOB_ERR_NOMEM || answer == MPIJOB_ERR_CANCELLED)
		doctor->code = answer;
	else if (answer < 0)
		say(doctor, RESULT_WARN, "rights", SERVER_HEALTH,
		    "whether you may %s %s%s%s cannot be checked: %s", right->verb, right->resource,
		    slash, sub, mpijob_error_text(answer));
	else
		say(doctor, answer ? RESULT_OK : right->otherwise, "rights", NULL,
		    "you may%s %s %s%s%s in %s%s%s", answer ? "" : " not", right->verb,
		    right->resource, slash, sub, namespace_ ? "namespace " : "all namespaces",
		    namespace_ ? namespace_ : "", answer ? "" : right->why);
	return answer;
}

/* Commands for each missing right to MPIJobs, and for all rights to pods, logs and Events if one of
 * them is missing. */
static char *mend_rights(struct doctor *doctor, const char *namespace_, const int missing[RIGHTS])
{
	struct role role = { .name = "mpijob-user", .namespace_ = namespace_ };
	char verbs[64] = "";
	int blind = 0;

	if (!role_begin(&role))
		return NULL;
	for (size_t i = 0; i < RIGHTS; i++) {
		blind |= missing[i] && !*rights[i].group;
		if (missing[i] && *rights[i].group)
			strcat(strcat(verbs, *verbs ? "," : ""), rights[i].verb);
	}
	if (*verbs)
		role_allow(&role, verbs, MPIJOB__BASE_API_RESOURCE, NULL);
	if (blind)
		role_allow(&role, "get,list,watch", "pods,pods/log,events", NULL);
	return role_end(&role, doctor);
}

void check_rights(struct doctor *doctor)
{
	const char *namespace_ =
	    doctor->arguments->all_namespaces ? NULL : doctor->connection->namespace_;
	enum result worst = RESULT_OK;
	int missing[RIGHTS] = { 0 };

	for (size_t i = 0; i < RIGHTS && doctor->code == 0; i++) {
		missing[i] = check_right(doctor, &rights[i], namespace_) == 0;
		if (missing[i] && rights[i].otherwise > worst)
			worst = rights[i].otherwise;
	}
	if (worst == RESULT_OK || doctor->code)
		return;
	char *mend = mend_rights(doctor, namespace_, missing);
	if (mend)
		say(doctor, worst, "rights", mend,
		    "rights are missing; an administrator gives them to you with");
	else
		doctor->code = MPIJOB_ERR_NOMEM;
	free(mend);
}

/* ---- rights of the operator ---- */

#define RECENT_S    600 /* a lasting problem has an Event at least every five minutes */
#define MISSING_MAX 16

struct missing_right {
	char user[256], verb[32], resource[128], group[128];
};

/* Parse the API server's message about a missing right; 0 if it is another message. */
static int parse_missing_right(const char *message, struct missing_right *missing)
{
	static const char begin[] = " is forbidden: User \"";
	static const char format[] =
	    "%255[^\"]\" cannot %31s resource \"%127[^\"]\" in API group \"%127[^\"]";
	const char *at = strstr(message, begin);

	memset(missing, 0, sizeof(*missing));
	/* The name of the core group is empty, and the last conversion does not match an empty
	 * string. */
	return at && sscanf(at + strlen(begin), format, missing->user, missing->verb,
			 missing->resource, missing->group) >= 3;
}

/*
 * The command asks the API server and grants nothing: all who may create Events can write any text
 * into one. The caller frees it.
 */
static char *check_command(const struct missing_right *missing, const char *namespace_)
{
	int name = (int)strcspn(missing->resource, "/");
	const char *part = missing->resource + name;
	char *command = NULL;
	int len;

	if (!is_plain(missing->user) || !is_plain(missing->verb) || !is_plain(missing->resource) ||
	    !is_plain(namespace_) || (*missing->group && !is_plain(missing->group)))
		return strdup("kubectl get events -A --field-selector "
			      "involvedObject.kind=MPIJob,type=Warning");
	len = asprintf(&command, "kubectl auth can-i %s %.*s%s%s%s%s -n %s --as=%s", missing->verb,
	    name, missing->resource, *missing->group ? "." : "", missing->group,
	    *part ? " --subresource=" : "", *part ? part + 1 : "", namespace_, missing->user);
	return len < 0 ? NULL : command;
}

static void say_missing_right(struct doctor *doctor, const mpijob_node *event,
    const struct missing_right *missing)
{
	const char *namespace_ = text_at(event, "metadata.namespace");
	char *mend = check_command(missing, namespace_);

	if (mend)
		say(doctor, RESULT_FAIL, "operator-rights", mend,
		    "MPIJob %s/%s: the operator lacks the right to %s %s%s%s: %s", namespace_,
		    text_at(event, "involvedObject.name"), missing->verb, missing->resource,
		    *missing->group ? " of " : "", missing->group, text_at(event, "message"));
	else
		doctor->code = MPIJOB_ERR_NOMEM;
	free(mend);
}

static int is_known(const struct missing_right *reported, size_t count,
    const struct missing_right *missing)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(&reported[i], missing, sizeof(*missing)) == 0)
			return 1;
	return 0;
}

void check_operator_rights(struct doctor *doctor)
{
	static const struct probe probe = { "v1", "Event", "events", "operator-rights",
		"the Events about MPIJobs", "involvedObject.kind=MPIJob,type=Warning" };
	const char *namespace_ =
	    doctor->arguments->all_namespaces ? NULL : doctor->connection->namespace_;
	struct missing_right reported[MISSING_MAX];
	mpijob_doc *doc = NULL;
	int there = read_object(doctor, &probe, namespace_, NULL, &doc);
	const mpijob_node *items =
	    there > 0 ? mpijob_node_get(mpijob_doc_root(doc), "items") : NULL;
	int64_t now = mpijob__base_clock_wall_ms() / 1000;
	size_t count = 0;

	for (size_t i = 0; i < mpijob_node_count(items) && count < MISSING_MAX && doctor->code == 0;
	     i++) {
		const mpijob_node *event = mpijob_node_at(items, i);
		int64_t at = 0;
		if (when_parse(text_at(event, "lastTimestamp"), &at) || now - at > RECENT_S ||
		    !parse_missing_right(text_at(event, "message"), &reported[count]) ||
		    is_known(reported, count, &reported[count]))
			continue;
		say_missing_right(doctor, event, &reported[count++]);
	}
	mpijob_doc_free(doc);
}
