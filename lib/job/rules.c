/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that need more than one row of the field table: the name of the last worker must be a DNS
 * label, a template needs a container, and some combinations are accepted but never work. Each rule
 * is one small function.
 */
#include "job/rules.h"

#include <string.h>

#include "base/field_path.h"
#include "base/text.h"
#include "job/advice.h"
#include "job/field.h"
#include "job/quote.h"
#include "job/syntax.h"
#include "job/value.h"

#define LABEL_LENGTH     63
#define GENERATED_LENGTH 5 /* what an API server appends to generateName */

static const struct {
	int object;
	int template;
	int restart_policy;
} roles[] = {
	{ FIELD_LAUNCHER, FIELD_LAUNCHER_TEMPLATE, FIELD_LAUNCHER_RESTART_POLICY },
	{ FIELD_WORKER, FIELD_WORKER_TEMPLATE, FIELD_WORKER_RESTART_POLICY },
};

#define ROLES (sizeof(roles) / sizeof(roles[0]))

static int read(const mpijob_node *root, int id, struct mpijob__job_value *value)
{
	return mpijob__job_value_read(mpijob__job_field_row(id), mpijob__job_field_node(root, id),
	    value);
}

static int is_map(const mpijob_node *node)
{
	return mpijob_node_kind(node) == MPIJOB_NODE_MAP;
}

/* Whether a value has another kind, which the type check reports. */
static int is_wrong(const mpijob_node *node, int32_t kind)
{
	return mpijob_node_kind(node) > MPIJOB_NODE_NULL && mpijob_node_kind(node) != kind;
}

struct mpijob__core_place mpijob__job_rules_place(const struct mpijob__job_report *report,
    const mpijob_node *root, int id)
{
	struct mpijob__core_place place = { report->source, 0, 0 };

	while (!place.line && id != FIELD_ROOT) {
		place = mpijob__job_report_place(report, mpijob__job_field_node(root, id), NULL);
		id = mpijob__job_field_row(id)->parent;
	}
	return mpijob__job_report_place(report, place.line ? NULL : root, &place);
}

static struct mpijob__job_spot spot_of(const struct mpijob__job_report *report,
    const mpijob_node *root, int id)
{
	struct mpijob__job_spot spot = { mpijob__job_field_row(id)->field.path,
		mpijob__job_rules_place(report, root, id) };

	return spot;
}

/* The spot of a value below a template: the template's path with `below` appended, and the place of
 * `node`, or if it has none, of the template. */
struct inner {
	struct mpijob_text path;
	struct mpijob__job_spot spot;
};

static void inner_begin(struct inner *inner, struct mpijob__job_report *report,
    const mpijob_node *root, int template, const char *below, const mpijob_node *node)
{
	struct mpijob__core_place around = mpijob__job_rules_place(report, root, template);

	memset(inner, 0, sizeof(*inner));
	if (mpijob__base_text_puts(&inner->path, mpijob__job_field_row(template)->field.path) ||
	    mpijob__base_text_puts(&inner->path, below))
		report->code = MPIJOB_ERR_NOMEM;
	inner->spot.path = mpijob_text_data(&inner->path);
	inner->spot.place = mpijob__job_report_place(report, node, &around);
}

static void inner_end(struct inner *inner)
{
	mpijob__base_text_release(&inner->path);
}

static const mpijob_node *pod_spec(const mpijob_node *root, int template)
{
	return mpijob_node_get(mpijob__job_field_node(root, template), "spec");
}

/* A template needs at least one container. */
static void rule_containers(struct mpijob__job_report *report, const mpijob_node *root, int object,
    int template)
{
	const mpijob_node *spec = pod_spec(root, template);
	const mpijob_node *containers = mpijob_node_get(spec, "containers");
	int32_t kind = mpijob_node_kind(containers);
	struct inner inner;

	if (!is_map(mpijob__job_field_node(root, object)) || mpijob_node_count(containers) ||
	    is_wrong(containers, MPIJOB_NODE_LIST) || is_wrong(spec, MPIJOB_NODE_MAP) ||
	    is_wrong(mpijob__job_field_node(root, template), MPIJOB_NODE_MAP))
		return;
	inner_begin(&inner, report, root, template, ".spec.containers",
	    kind == MPIJOB_NODE_LIST ? containers : spec);
	mpijob__job_report_error(report, &inner.spot, "no-containers", "Required", "%s",
	    report->reference ? "Required value: must define at least one container"
			      : "at least one container is required");
	inner_end(&inner);
}

static int64_t worker_count(const mpijob_node *root)
{
	struct mpijob__job_value value;

	return read(root, FIELD_WORKER_REPLICAS, &value) == VALUE_GIVEN && value.number > 0
		   ? value.number
		   : 1;
}

static int is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static int is_label_text(const char *text)
{
	if (!is_lower(*text))
		return 0;
	for (; *text; text++) {
		if (!is_lower(*text) && !(*text >= '0' && *text <= '9') && *text != '-')
			return 0;
	}
	return 1;
}

/* The message of mpi-operator, which contains that of Kubernetes. */
static void reference_name(struct mpijob__job_report *report, const struct mpijob__job_spot *spot,
    const char *name, const char *pod, size_t pod_length)
{
	struct mpijob_text message = { 0 };
	int code = mpijob__job_quote_go(&message, name);

	code |= mpijob__base_text_puts(&message,
	    ": will not able to create pod and service with invalid DNS label ");
	code |= mpijob__job_quote_go(&message, pod);
	code |= mpijob__base_text_puts(&message, ": ");
	if (pod_length > LABEL_LENGTH)
		code |= mpijob__base_text_printf(&message, "must be no more than %d characters",
		    LABEL_LENGTH);
	if (pod_length > LABEL_LENGTH && !is_label_text(name))
		code |= mpijob__base_text_puts(&message, ", ");
	if (!is_label_text(name))
		code |= mpijob__base_text_puts(&message,
		    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
		    "start with an alphabetic character, and end with an alphanumeric character "
		    "(e.g. 'my-name',  or 'abc-123', regex used for validation is "
		    "'[a-z]([-a-z0-9]*[a-z0-9])?')");
	if (code)
		report->code = MPIJOB_ERR_NOMEM;
	mpijob__job_report_error(report, spot, "invalid-name", "Invalid", "Invalid value: %s",
	    mpijob_text_data(&message));
	mpijob__base_text_release(&message);
}

/* Names of pods are DNS labels; the name of the last worker is the longest. */
static void check_name(struct mpijob__job_report *report, const struct mpijob__job_spot *spot,
    const char *name, size_t generated, int64_t workers)
{
	struct mpijob_text pod = { 0 };
	size_t length = strlen(name) + generated;
	size_t rest;

	if (mpijob__base_text_printf(&pod, "%s-worker-%lld", name, (long long)(workers - 1)))
		report->code = MPIJOB_ERR_NOMEM;
	rest = mpijob_text_len(&pod) > strlen(name) ? mpijob_text_len(&pod) - strlen(name) : 0;
	if (report->reference) {
		if (length + rest > LABEL_LENGTH || !is_label_text(name))
			reference_name(report, spot, name, mpijob_text_data(&pod), length + rest);
	} else if (!is_label_text(name) || (!generated && name[length - 1] == '-')) {
		mpijob__job_report_error(report, spot, "invalid-name", "Invalid",
		    "'%s' is not a valid name for pods; use lower case letters, digits and '-', "
		    "begin with "
		    "a letter, end with a letter or digit",
		    name);
	} else if (length + rest > LABEL_LENGTH) {
		mpijob__job_report_error(report, spot, "name-too-long", "Invalid",
		    "has %zu characters%s; with %lld workers at most %zu are possible", length,
		    generated ? " with those that the server appends" : "", (long long)workers,
		    (size_t)LABEL_LENGTH - rest);
	}
	mpijob__base_text_release(&pod);
}

static void rule_name(struct mpijob__job_report *report, const mpijob_node *root)
{
	struct mpijob__job_value name, generate;
	struct mpijob__job_spot spot = spot_of(report, root, FIELD_NAME);
	int64_t workers = worker_count(root);
	int state = read(root, FIELD_NAME, &name);
	int has_name = state == VALUE_GIVEN && name.text[0];

	if (state == VALUE_WRONG ||
	    is_wrong(mpijob__job_field_node(root, FIELD_METADATA), MPIJOB_NODE_MAP))
		return;
	if (has_name || report->reference) {
		check_name(report, &spot, has_name ? name.text : "", 0, workers);
	} else if (read(root, FIELD_GENERATE_NAME, &generate) == VALUE_GIVEN && generate.text[0]) {
		spot = spot_of(report, root, FIELD_GENERATE_NAME);
		check_name(report, &spot, generate.text, GENERATED_LENGTH, workers);
	} else {
		mpijob__job_report_error(report, &spot, "missing", "Required",
		    "a value is required");
	}
}

/* The restart policy of the role overrides that of the template. */
static void rule_restart_policy(struct mpijob__job_report *report, const mpijob_node *root,
    int template, int restart_policy)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(restart_policy);
	const mpijob_node *node = mpijob_node_get(pod_spec(root, template), "restartPolicy");
	const char *inside = mpijob_node_string(node);
	struct mpijob__job_value outside;
	struct inner inner;

	if (read(root, restart_policy, &outside) != VALUE_GIVEN)
		outside.text = row->field.default_text;
	if (!inside || !inside[0] || strcmp(inside, outside.text) == 0)
		return;
	inner_begin(&inner, report, root, template, ".spec.restartPolicy", node);
	mpijob__job_report_warning(report, &inner.spot, "overridden", "has no effect; %s is %s",
	    row->field.path, outside.text);
	inner_end(&inner);
}

/* Ranks need hosts: workers, or a launcher that runs ranks. */
static void rule_hosts(struct mpijob__job_report *report, const mpijob_node *root)
{
	struct mpijob__job_value value;
	struct mpijob__job_spot spot = spot_of(report, root, FIELD_REPLICA_SPECS);

	if (mpijob__job_field_node(root, FIELD_WORKER) ||
	    !is_map(mpijob__job_field_node(root, FIELD_REPLICA_SPECS)))
		return;
	if (read(root, FIELD_RUN_LAUNCHER_AS_WORKER, &value) == VALUE_GIVEN && value.number)
		return;
	mpijob__job_report_warning(report, &spot, "no-hosts",
	    "without a Worker the hostfile is empty; add one, or set spec.runLauncherAsWorker");
}

static void rule_slots(struct mpijob__job_report *report, const mpijob_node *root)
{
	struct mpijob__job_value value;
	struct mpijob__job_spot spot = spot_of(report, root, FIELD_SLOTS_PER_WORKER);

	if (read(root, FIELD_SLOTS_PER_WORKER, &value) == VALUE_GIVEN && value.number == 0)
		mpijob__job_report_warning(report, &spot, "no-slots",
		    "with 0 slots no host offers a place for a rank");
}

/* A gang larger than the job is never complete. */
static void rule_gang(struct mpijob__job_report *report, const mpijob_node *root)
{
	struct mpijob__job_value value;
	struct mpijob__job_spot spot = spot_of(report, root, FIELD_MIN_AVAILABLE);
	int64_t pods = 1 + (mpijob__job_field_node(root, FIELD_WORKER) ? worker_count(root) : 0);

	if (read(root, FIELD_MIN_AVAILABLE, &value) == VALUE_GIVEN && value.number > pods)
		mpijob__job_report_warning(report, &spot, "gang-too-large",
		    "the job has %lld pods, so a gang of %lld is never complete", (long long)pods,
		    (long long)value.number);
}

/* Report an entry of the job's labels or annotations. */
static void refuse_entry(struct mpijob__job_report *report, const mpijob_node *root, int id,
    size_t index, const char *what, const char *must)
{
	const mpijob_node *map = mpijob__job_field_node(root, id);
	struct inner inner;

	inner_begin(&inner, report, root, id, "", mpijob_node_at(map, index));
	if (mpijob__base_field_path_key(&inner.path, mpijob_node_key(map, index)))
		report->code = MPIJOB_ERR_NOMEM;
	inner.spot.path = mpijob_text_data(&inner.path);
	mpijob__job_report_error(report, &inner.spot,
	    id == FIELD_LABELS ? "invalid-label" : "invalid-annotation", "Invalid",
	    "the %s must be %s", what, must);
	inner_end(&inner);
}

static void rule_metadata(struct mpijob__job_report *report, const mpijob_node *root, int id)
{
	const mpijob_node *map = mpijob__job_field_node(root, id);

	for (size_t i = 0; is_map(map) && i < mpijob_node_count(map); i++) {
		const char *key = mpijob_node_key(map, i);
		const char *value = mpijob_node_string(mpijob_node_at(map, i));
		const char *must = id == FIELD_LABELS ? mpijob__job_syntax_key(key)
						      : mpijob__job_syntax_annotation(key);

		if (must)
			refuse_entry(report, root, id, i, "key", must);
		must = id == FIELD_LABELS && value ? mpijob__job_syntax_value(value) : NULL;
		if (must)
			refuse_entry(report, root, id, i, "value", must);
	}
}

void mpijob__job_rules_check(struct mpijob__job_report *report, const mpijob_node *root)
{
	rule_name(report, root);
	for (size_t i = 0; i < ROLES; i++)
		rule_containers(report, root, roles[i].object, roles[i].template);
	if (report->reference)
		return;
	for (size_t i = 0; i < ROLES; i++)
		rule_restart_policy(report, root, roles[i].template, roles[i].restart_policy);
	rule_metadata(report, root, FIELD_LABELS);
	rule_metadata(report, root, FIELD_ANNOTATIONS);
	rule_hosts(report, root);
	rule_slots(report, root);
	rule_gang(report, root);
	mpijob__job_advice_check(report, root);
}
