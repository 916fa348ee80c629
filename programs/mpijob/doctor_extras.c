/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optional parts of a cluster: queues, gang schedulers, the DNS domain. A part is reported as
 * missing only if the server says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "doctor.h"
#include "objects.h"

/* If the request is forbidden, the user lacks a role that all users have by default. Other
 * failures: an aggregated API server may be down. */
static void say_unknown(struct doctor *doctor, const char *check, const char *name,
    const struct raw *raw, int code)
{
	char *mend = NULL;

	if (code == MPIJOB_ERR_AUTH && asprintf(&mend,
					   "kubectl create clusterrolebinding mpijob-discovery "
					   "--clusterrole=system:discovery %s",
					   subject_option(doctor)) < 0)
		mend = NULL;
	say(doctor, RESULT_WARN, check, mend ? mend : "kubectl get apiservices",
	    "cannot check whether %s is installed: %s", name,
	    raw->message ? raw->message : mpijob_error_text(code));
	free(mend);
}

int serves(struct doctor *doctor, const char *path, const char *check, const char *name,
    struct raw *raw)
{
	int code = get_raw(doctor, path, raw);

	if (code == 0)
		return 1;
	if (code == MPIJOB_ERR_NOT_FOUND)
		return 0;
	if (code == MPIJOB_ERR_CANCELLED || code == MPIJOB_ERR_NOMEM)
		doctor->code = code;
	else
		say_unknown(doctor, check, name, raw, code);
	return -1;
}

static void check_local_queues(struct doctor *doctor, const char *api_version)
{
	const struct probe probe = { api_version, "LocalQueue", "localqueues.kueue.x-k8s.io",
		"kueue", "the LocalQueues", NULL };
	const char *namespace_ =
	    doctor->arguments->all_namespaces ? NULL : doctor->connection->namespace_;
	mpijob_doc *doc = NULL;
	int there = read_object(doctor, &probe, namespace_, NULL, &doc);
	const mpijob_node *items =
	    there > 0 ? mpijob_node_get(mpijob_doc_root(doc), "items") : NULL;

	for (size_t i = 0; i < mpijob_node_count(items); i++)
		say(doctor, RESULT_OK, "kueue", NULL,
		    "Kueue is installed; LocalQueue %s in namespace %s",
		    text_at(mpijob_node_at(items, i), "metadata.name"),
		    text_at(mpijob_node_at(items, i), "metadata.namespace"));
	if (there >= 0 && mpijob_node_count(items) == 0)
		say(doctor, RESULT_WARN, "kueue", "kubectl get clusterqueues",
		    "Kueue is installed, but %s%s has %s LocalQueue: jobs with a queue name would "
		    "wait forever",
		    namespace_ ? "namespace " : "no namespace", namespace_ ? namespace_ : "",
		    namespace_ ? "no" : "a");
	mpijob_doc_free(doc);
}

void check_queues(struct doctor *doctor)
{
	struct raw raw = { 0 };
	int there = serves(doctor, "/apis/kueue.x-k8s.io", "kueue", "Kueue", &raw);

	if (there == 0)
		say(doctor, RESULT_OK, "kueue", NULL, "Kueue is not installed; jobs start at once");
	else if (there > 0)
		check_local_queues(doctor,
		    text_at(mpijob_doc_root(raw.doc), "preferredVersion.groupVersion"));
	free_raw(&raw);
}

void check_gangs(struct doctor *doctor)
{
	static const struct {
		const char *name, *path;
	} schedulers[] = {
		{ "Volcano", "/apis/" MPIJOB__BASE_API_VOLCANO },
		{ "scheduler-plugins", "/apis/" MPIJOB__BASE_API_COSCHEDULING },
	};
	int none = 1;

	for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]) && doctor->code == 0;
	     i++) {
		struct raw raw = { 0 };
		int there = serves(doctor, schedulers[i].path, "gang", schedulers[i].name, &raw);

		if (there > 0)
			say(doctor, RESULT_OK, "gang", NULL, "PodGroups of gang schedulers: %s",
			    schedulers[i].name);
		none &= there == 0;
		free_raw(&raw);
	}
	if (none && doctor->code == 0)
		say(doctor, RESULT_OK, "gang", NULL, "PodGroups of gang schedulers: none");
}

/* The word after "kubernetes" in CoreDNS' configuration. */
void check_domain(struct doctor *doctor)
{
	static const struct probe probe = { "v1", "ConfigMap", "configmaps", "cluster-domain",
		"the configuration of CoreDNS", NULL };
	mpijob_doc *doc = NULL;
	int there = read_object(doctor, &probe, "kube-system", "coredns", &doc);
	const char *file = there > 0 ? text_at(mpijob_doc_root(doc), "data.Corefile") : "";
	const char *at = strstr(file, "kubernetes ");

	if (at) {
		at += strlen("kubernetes ");
		say(doctor, RESULT_OK, "cluster-domain", NULL, "the cluster's domain is %.*s",
		    (int)strcspn(at, " \t\r\n{"), at);
	} else if (there >= 0) {
		say(doctor, RESULT_OK, "cluster-domain", NULL,
		    "the cluster's domain is unknown (no CoreDNS in kube-system)");
	}
	mpijob_doc_free(doc);
}
