/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests of the fields that the operator sets in a child. The digests of the wanted and the
 * observed child are equal if these fields are equal. The digests ignore what servers and other
 * controllers may change: the queue that Volcano sets in a PodGroup, labels of the Job controller
 * in a pod template, the order of keys, the spelling of quantities.
 */
#include "base/api.h"
#include "render/render.h"

#include "base/digest.h"
#include "render/build.h"
#include "base/quantity.h"

#include <string.h>

/* Mix the bits, so that digests can be added. Never 0. */
static uint64_t finish(uint64_t digest)
{
	digest ^= digest >> 33;
	digest *= UINT64_C(0xff51afd7ed558ccd);
	digest ^= digest >> 33;
	digest *= UINT64_C(0xc4ceb9fe1a85ec53);
	digest ^= digest >> 33;
	return digest != 0 ? digest : 1;
}

static uint64_t of_bytes(const void *data, size_t len)
{
	return finish(mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START, data, len));
}

static uint64_t of_text(const char *text)
{
	return of_bytes(text, strlen(text));
}

static uint64_t of_pair(uint64_t a, uint64_t b)
{
	uint64_t both[2] = { a, b };

	return of_bytes(both, sizeof(both));
}

static uint64_t of_number(const mpijob_node *node)
{
	int64_t whole;

	if (mpijob_node_int(node, &whole))
		return of_pair(MPIJOB_NODE_NUMBER, (uint64_t)whole);
	return of_bytes(mpijob_node_text(node), mpijob_node_length(node));
}

/* deeper values in labels or tolerations are not valid in Kubernetes, and ignored */
#define MAX_LEVELS 200

/* 0 for a value that counts as absent: null, an empty map or list, a map of such values. */
static uint64_t of_value(const mpijob_node *node, int level)
{
	int32_t kind = mpijob_node_kind(node);
	uint64_t sum = 0;
	int yes;

	switch (kind) {
	case MPIJOB_NODE_STRING: return of_bytes(mpijob_node_text(node), mpijob_node_length(node));
	case MPIJOB_NODE_NUMBER: return of_number(node);
	case MPIJOB_NODE_BOOL:
		return of_pair(MPIJOB_NODE_BOOL, mpijob_node_bool(node, &yes) ? (uint64_t)yes : 0);
	case MPIJOB_NODE_LIST:
		for (size_t i = 0; i < mpijob_node_count(node); i++)
			sum = of_pair(sum,
			    level < MAX_LEVELS ? of_value(mpijob_node_at(node, i), level + 1) : 0);
		return sum;
	case MPIJOB_NODE_MAP:
		for (size_t i = 0; i < mpijob_node_count(node); i++) {
			uint64_t value =
			    level < MAX_LEVELS ? of_value(mpijob_node_at(node, i), level + 1) : 0;

			if (value != 0)
				sum += of_pair(of_text(mpijob_node_key(node, i)), value);
		}
		return sum;
	default: return 0;
	}
}

static uint64_t of_node(const mpijob_node *node)
{
	return of_value(node, 0);
}

/* The digest of the fields `keys` of a map. */
static uint64_t of_fields(const mpijob_node *map, const char *const *keys, size_t count)
{
	uint64_t digest = 0;

	for (size_t i = 0; i < count; i++)
		digest = of_pair(digest, of_node(mpijob_node_get(map, keys[i])));
	return finish(digest);
}

static uint64_t service(uint64_t selector, int publish)
{
	return of_pair(selector, (uint64_t)publish);
}

uint64_t mpijob__render_observed_service(const mpijob_node *spec)
{
	int publish = 0;

	mpijob_node_bool(mpijob_node_get(spec, "publishNotReadyAddresses"), &publish);
	return service(of_node(mpijob_node_get(spec, "selector")), publish);
}

uint64_t mpijob__render_wanted_service(const struct mpijob__render_subject *subject)
{
	uint64_t selector =
	    of_pair(of_text(MPIJOB__BASE_API_LABEL_OPERATOR),
		of_text(MPIJOB__BASE_API_OPERATOR_NAME)) +
	    of_pair(of_text(MPIJOB__BASE_API_LABEL_JOB_NAME), of_text(subject->name));

	return service(selector, mpijob__render_subject_launcher_has_ranks(subject));
}

/* A sink that reads the hosts of a script; pieces may end anywhere. */
struct hosts {
	uint64_t line; /* digest of the line so far */
	size_t len;    /* of the line so far */
	int is_echo;   /* the line so far matches the beginning of "echo " */
	uint64_t sum;
	int32_t count;
};

static const char echo[] = "echo ";
#define ECHO_LEN (sizeof(echo) - 1)

static void end_line(struct hosts *hosts)
{
	if (hosts->is_echo && hosts->len > ECHO_LEN) {
		hosts->sum += finish(hosts->line);
		hosts->count++;
	}
	hosts->line = MPIJOB__BASE_DIGEST_START;
	hosts->len = 0;
	hosts->is_echo = 1;
}

static int read_hosts(void *user, const char *data, size_t len)
{
	struct hosts *hosts = user;

	while (len > 0) {
		const char *end;
		size_t part;

		if (*data == '\n') {
			end_line(hosts);
			data++;
			len--;
			continue;
		}
		if (hosts->len < ECHO_LEN) {
			hosts->is_echo = hosts->is_echo && *data == echo[hosts->len];
			hosts->len++;
			data++;
			len--;
			continue;
		}
		end = memchr(data, '\n', len);
		part = end != NULL ? (size_t)(end - data) : len;
		hosts->line = mpijob__base_digest_add(hosts->line, data, part);
		hosts->len += part;
		data += part;
		len -= part;
	}
	return 0;
}

static uint64_t hosts_digest(struct hosts *hosts, int32_t *count)
{
	end_line(hosts);
	if (count != NULL)
		*count = hosts->count;
	return of_pair(hosts->sum, (uint64_t)hosts->count);
}

uint64_t mpijob__render_observed_hosts(const char *script, size_t len, int32_t *count)
{
	struct hosts hosts = { MPIJOB__BASE_DIGEST_START, 0, 1, 0, 0 };

	read_hosts(&hosts, script, len);
	return hosts_digest(&hosts, count);
}

int mpijob__render_wanted_hosts(const struct mpijob__render_subject *subject,
    const uint8_t *running, size_t running_count, uint64_t *out, int32_t *count)
{
	struct hosts hosts = { MPIJOB__BASE_DIGEST_START, 0, 1, 0, 0 };
	struct mpijob__render_subject now = *subject;
	int code;

	now.options.running = running;
	now.options.running_count = running_count;
	code = mpijob__render_discover_hosts_lines(&now, read_hosts, &hosts);
	if (code == 0)
		*out = hosts_digest(&hosts, count);
	return code;
}

/* A map of quantities, by their values. */
static uint64_t of_quantities(const mpijob_node *map)
{
	uint64_t sum = 0;

	if (mpijob_node_kind(map) != MPIJOB_NODE_MAP)
		return 0;
	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		const mpijob_node *node = mpijob_node_at(map, i);
		struct mpijob__base_quantity value;
		uint64_t digest = of_node(node);

		if (mpijob_node_text(node) != NULL &&
		    mpijob__base_quantity_parse(mpijob_node_text(node), mpijob_node_length(node),
			&value))
			digest =
			    of_bytes(value.limb, sizeof(value.limb)) + (uint64_t)value.negative;
		sum += of_pair(of_text(mpijob_node_key(map, i)), digest);
	}
	return sum;
}

/* The low 16 bits are for the queue, 0 without one; the others for all other fields. */
#define QUEUE_BITS UINT64_C(0xffff)

uint64_t mpijob__render_observed_network_policy(const mpijob_node *spec)
{
	static const char *const keys[] = { "podSelector", "policyTypes", "ingress" };

	return of_fields(spec, keys, sizeof(keys) / sizeof(keys[0]));
}

int mpijob__render_wanted_network_policy(const struct mpijob__render_subject *subject,
    uint64_t *out)
{
	struct mpijob__render_build b;

	mpijob__render_build_start(&b, subject, NULL);
	mpijob__render_network_policy_build(&b);
	if (b.code == 0 && mpijob_doc_error(b.doc) == 0)
		*out = mpijob__render_observed_network_policy(
		    mpijob_node_get(mpijob_doc_root(b.doc), "spec"));
	return mpijob__render_build_discard(&b);
}

uint64_t mpijob__render_observed_pod_group(const mpijob_node *spec)
{
	static const char *const keys[] = { "minMember", "priorityClassName",
		"scheduleTimeoutSeconds" };
	const char *name = mpijob_node_string(mpijob_node_get(spec, "queue"));
	uint64_t queue = name != NULL && name[0] != '\0' ? of_text(name) & QUEUE_BITS : 0;
	uint64_t rest = of_pair(of_fields(spec, keys, sizeof(keys) / sizeof(keys[0])),
	    of_quantities(mpijob_node_get(spec, "minResources")));

	if (name != NULL && name[0] != '\0' && queue == 0)
		queue = 1;
	rest &= ~QUEUE_BITS;
	return (rest != 0 ? rest : QUEUE_BITS + 1) | queue;
}

int mpijob__render_wanted_pod_group(const struct mpijob__render_subject *subject, uint64_t *out,
    mpijob_diag *diag)
{
	struct mpijob__render_build b;

	mpijob__render_build_start(&b, subject, diag);
	mpijob__render_pod_group_build(&b);
	if (b.code == 0 && mpijob_doc_error(b.doc) == 0)
		*out = mpijob__render_observed_pod_group(
		    mpijob_node_get(mpijob_doc_root(b.doc), "spec"));
	return mpijob__render_build_discard(&b);
}

int mpijob__render_pod_group_same(uint64_t wanted, uint64_t observed)
{
	uint64_t difference = wanted ^ observed;

	if ((wanted & QUEUE_BITS) == 0)
		difference &= ~QUEUE_BITS;
	return difference == 0;
}

/* Whether the Job controller adds a label to the template. */
static int is_job_label(const char *key)
{
	return strncmp(key, "batch.kubernetes.io/", strlen("batch.kubernetes.io/")) == 0 ||
	       strcmp(key, "controller-uid") == 0 || strcmp(key, "job-name") == 0;
}

static uint64_t of_labels(const mpijob_node *labels)
{
	uint64_t sum = 0;

	if (mpijob_node_kind(labels) != MPIJOB_NODE_MAP)
		return 0;
	for (size_t i = 0; i < mpijob_node_count(labels); i++) {
		const char *key = mpijob_node_key(labels, i);

		if (!is_job_label(key))
			sum += of_pair(of_text(key), of_node(mpijob_node_at(labels, i)));
	}
	return sum;
}

uint64_t mpijob__render_observed_directives(const mpijob_node *pod_template)
{
	static const char *const keys[] = { "nodeSelector", "tolerations", "schedulingGates" };
	const mpijob_node *metadata = mpijob_node_get(pod_template, "metadata");
	uint64_t digest =
	    of_fields(mpijob_node_get(pod_template, "spec"), keys, sizeof(keys) / sizeof(keys[0]));

	digest = of_pair(digest, of_labels(mpijob_node_get(metadata, "labels")));
	return of_pair(digest, of_node(mpijob_node_get(metadata, "annotations")));
}

int mpijob__render_wanted_directives(const struct mpijob__render_subject *subject, uint64_t *out,
    mpijob_diag *diag)
{
	struct mpijob__render_build b;
	mpijob_node *template;

	mpijob__render_build_start(&b, subject, diag);
	template = mpijob__render_launcher_job_template(&b, mpijob_doc_edit(b.doc, ""));
	if (b.code == 0 && mpijob_doc_error(b.doc) == 0)
		*out = mpijob__render_observed_directives(template);
	return mpijob__render_build_discard(&b);
}
