/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user of MPIJobs must be allowed to do, and the commands with which an administrator allows
 * it: they add to what is there, so that they can be given again, and in any order. And which
 * rights the operator lacks, as its Events say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "base/clock.h"
#include "doctor.h"
#include "objects.h"
#include "when.h"

#define ANYBODY "--user=NAME" /* where the server does not tell who we are */

/* What follows a command that makes an object, so that one that is there gets what it lacks. */
#define RECONCILE " --dry-run=client -o yaml | kubectl auth reconcile -f -"

/* ---- who ---- */

static int is_plain(const char *name)
{
	return *name &&
	       name[strspn(name,
		   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-")] ==
		   0;
}

/* Who cannot be written into a command as he is must be put there by hand. */
static char *make_subject(const char *user)
{
	static const char account[] = "system:serviceaccount:";
	char *option = NULL;
	int len;

	if (!is_plain(user))
		return strdup(ANYBODY);
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
	mpijob_node *root = mpijob_doc_edit(review);
	mpijob_node_put_string(review, root, "apiVersion", target.api_version);
	mpijob_node_put_string(review, root, "kind", target.kind);
	int code = mpijob_doc_error(review);
	if (code == 0)
		code =
		    mpijob_client_create(doctor->connection->client, &target, root, &answer, NULL);
	if (code == 0)
		doctor->subject =
		    make_subject(text_at(mpijob_doc_root(answer), "status.userInfo.username"));
	mpijob_doc_free(review);
	mpijob_doc_free(answer);
	return doctor->subject ? doctor->subject : ANYBODY;
}

/* ---- commands ---- */

/* Commands in lines, for a Role of that name in a namespace, or without one a ClusterRole. */
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

/* To whom it is given is the last line. The commands, or NULL when memory ran out. */
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

char *allow_look(struct doctor *doctor, const struct place *place,
    const struct mpijob_target *target)
{
	struct role role = { .name = "mpijob-doctor", .namespace_ = target->namespace_ };

	if (!role_begin(&role))
		return NULL;
	role_allow(&role, target->name ? "get" : "list", place->resource, target->name);
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
	    ": jobs cannot be looked at" },
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

/* 1, 0, or negative: it is not to be known, or all ends. */
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
		say(doctor, RESULT_WARN, "rights", NOT_WELL,
		    "whether you may %s %s%s%s is not to be known: %s", right->verb,
		    right->resource, slash, sub, mpijob_error_text(answer));
	else
		say(doctor, answer ? RESULT_OK : right->otherwise, "rights", NULL,
		    "you may%s %s %s%s%s in %s%s%s", answer ? "" : " not", right->verb,
		    right->resource, slash, sub, namespace_ ? "namespace " : "all namespaces",
		    namespace_ ? namespace_ : "", answer ? "" : right->why);
	return answer;
}

/* The rights to MPIJobs that are missing, one by one; whoever lacks one to look at the rest gets
 * them all. */
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

#define LATELY_S   600 /* what still holds the operator repeats at least every five minutes */
#define MOST_LACKS 16

struct lack {
	char user[256], verb[32], resource[128], group[128];
};

/* Read what the API server says about a right that somebody lacks: 0 when a message says something
 * else. */
static int read_lack(const char *message, struct lack *lack)
{
	static const char begin[] = " is forbidden: User \"";
	static const char format[] =
	    "%255[^\"]\" cannot %31s resource \"%127[^\"]\" in API group \"%127[^\"]";
	const char *at = strstr(message, begin);

	memset(lack, 0, sizeof(*lack));
	/* The core group is empty, and matches nothing. */
	return at && sscanf(at + strlen(begin), format, lack->user, lack->verb, lack->resource,
			 lack->group) >= 3;
}

/*
 * The command asks the API server, and grants nothing: who may create Events can put any words into
 * one. The caller frees it.
 */
static char *ask_again(const struct lack *lack, const char *namespace_)
{
	int name = (int)strcspn(lack->resource, "/");
	const char *part = lack->resource + name;
	char *command = NULL;
	int len;

	if (!is_plain(lack->user) || !is_plain(lack->verb) || !is_plain(lack->resource) ||
	    !is_plain(namespace_) || (*lack->group && !is_plain(lack->group)))
		return strdup("kubectl get events -A --field-selector "
			      "involvedObject.kind=MPIJob,type=Warning");
	len = asprintf(&command, "kubectl auth can-i %s %.*s%s%s%s%s -n %s --as=%s", lack->verb,
	    name, lack->resource, *lack->group ? "." : "", lack->group,
	    *part ? " --subresource=" : "", *part ? part + 1 : "", namespace_, lack->user);
	return len < 0 ? NULL : command;
}

static void say_lack(struct doctor *doctor, const mpijob_node *event, const struct lack *lack)
{
	const char *namespace_ = text_at(event, "metadata.namespace");
	char *mend = ask_again(lack, namespace_);

	if (mend)
		say(doctor, RESULT_FAIL, "operator-rights", mend,
		    "MPIJob %s/%s: the operator lacks the right to %s %s%s%s: %s", namespace_,
		    text_at(event, "involvedObject.name"), lack->verb, lack->resource,
		    *lack->group ? " of " : "", lack->group, text_at(event, "message"));
	else
		doctor->code = MPIJOB_ERR_NOMEM;
	free(mend);
}

static int is_known(const struct lack *lacks, size_t count, const struct lack *lack)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(&lacks[i], lack, sizeof(*lack)) == 0)
			return 1;
	return 0;
}

void check_operator_rights(struct doctor *doctor)
{
	static const struct place place = { "v1", "Event", "events", "operator-rights",
		"the Events about MPIJobs", "involvedObject.kind=MPIJob,type=Warning" };
	const char *namespace_ =
	    doctor->arguments->all_namespaces ? NULL : doctor->connection->namespace_;
	struct lack lacks[MOST_LACKS];
	mpijob_doc *doc = NULL;
	int there = look_at(doctor, &place, namespace_, NULL, &doc);
	const mpijob_node *items =
	    there > 0 ? mpijob_node_get(mpijob_doc_root(doc), "items") : NULL;
	int64_t now = mpijob__base_clock_wall_ms() / 1000;
	size_t count = 0;

	for (size_t i = 0; i < mpijob_node_count(items) && count < MOST_LACKS && doctor->code == 0;
	     i++) {
		const mpijob_node *event = mpijob_node_at(items, i);
		int64_t at = 0;
		if (when_parse(text_at(event, "lastTimestamp"), &at) || now - at > LATELY_S ||
		    !read_lack(text_at(event, "message"), &lacks[count]) ||
		    is_known(lacks, count, &lacks[count]))
			continue;
		say_lack(doctor, event, &lacks[count++]);
	}
	mpijob_doc_free(doc);
}
