/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod template passes through, and is not a part of the field table. But an operator cannot even read a
 * job whose template has a wrong type, and some are written every day: `args: [-np, 2]`, and a number or
 * true as the value of a variable. So what every container has is checked here; all else is left to the server.
 */
#include "job/template.h"

#include "base/field_path.h"
#include "job/value.h"

/* One step from the template to a value; the path is put together only when there is something to say. */
struct step {
	const struct step *before; /* NULL: the template itself. */
	const char *key;           /* NULL: an entry of a list. */
	size_t index;
};

struct cursor {
	struct mpijob__report *report;
	const char *pod_template;   /* Its path. */
	struct mpijob__place place; /* Where it stands. */
};

static int put_path(struct mpijob_text *out, const struct cursor *at, const struct step *step)
{
	int code;

	if (!step)
		return mpijob__text_puts(out, at->pod_template);
	code = put_path(out, at, step->before);
	if (code)
		return code;
	return step->key ? mpijob__field_path_key(out, step->key) : mpijob__field_path_index(out, step->index);
}

/* VALUE_*, and a complaint where the kind is wrong. */
static int check(const struct cursor *at, const struct step *step, const mpijob_node *node, int32_t kind)
{
	const struct mpijob__row row = { .field.kind = kind };
	struct mpijob__spot spot = { NULL, mpijob__report_place(at->report, node, &at->place) };
	struct mpijob_text path = { 0 };
	struct mpijob__value value;
	int state = mpijob__value_read(&row, node, &value);

	if (state != VALUE_WRONG)
		return state;
	if (put_path(&path, at, step))
		at->report->code = MPIJOB_ERR_NOMEM;
	spot.path = mpijob_text_data(&path);
	mpijob__value_complain(at->report, &spot, &row, node);
	mpijob__text_release(&path);
	return state;
}

typedef void inside_fn(const struct cursor *at, const struct step *step, const mpijob_node *entry);

/* Check the list at a key of a map, and each entry's kind; entries that fit go to `inside`. */
static void check_list(const struct cursor *at, const struct step *before, const mpijob_node *map, const char *key,
		       int32_t kind, inside_fn *inside)
{
	const mpijob_node *list = mpijob_node_get(map, key);
	const struct step step = { before, key, 0 };

	if (check(at, &step, list, MPIJOB_KIND_LIST) != VALUE_GIVEN)
		return;
	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const struct step entry = { &step, NULL, i };

		if (check(at, &entry, mpijob_node_at(list, i), kind) == VALUE_GIVEN && inside)
			inside(at, &entry, mpijob_node_at(list, i));
	}
}

static void check_string(const struct cursor *at, const struct step *before, const mpijob_node *map, const char *key)
{
	const struct step step = { before, key, 0 };

	check(at, &step, mpijob_node_get(map, key), MPIJOB_KIND_STRING);
}

static void check_variable(const struct cursor *at, const struct step *step, const mpijob_node *variable)
{
	check_string(at, step, variable, "name");
	check_string(at, step, variable, "value");
}

static void check_container(const struct cursor *at, const struct step *step, const mpijob_node *container)
{
	check_string(at, step, container, "name");
	check_string(at, step, container, "image");
	check_list(at, step, container, "command", MPIJOB_KIND_STRING, NULL);
	check_list(at, step, container, "args", MPIJOB_KIND_STRING, NULL);
	check_list(at, step, container, "env", MPIJOB_KIND_OBJECT, check_variable);
}

void mpijob__template_check_types(struct mpijob__report *report, int id, const mpijob_node *pod_template)
{
	const mpijob_node *spec = mpijob_node_get(pod_template, "spec");
	const struct step step = { NULL, "spec", 0 };
	const struct cursor at = { report, mpijob__field_row(id)->field.path,
				   mpijob__report_place(report, pod_template, NULL) };

	if (check(&at, &step, spec, MPIJOB_KIND_OBJECT) != VALUE_GIVEN)
		return;
	check_list(&at, &step, spec, "initContainers", MPIJOB_KIND_OBJECT, check_container);
	check_list(&at, &step, spec, "containers", MPIJOB_KIND_OBJECT, check_container);
}
