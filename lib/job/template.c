/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod template passes through, and is not a part of the field table. But an operator cannot even read a
 * job whose template has a wrong type, and some are written every day: `args: [-np, 2]`, and a number or
 * true as the value of a variable. So what every container has is checked here; all else is left to the server.
 */
#include "job/template.h"

#include "base/field_path.h"
#include "job/value.h"

struct cursor {
	struct mpijob__report *report;
	struct mpijob_text path;
	struct mpijob__place place; /* Of the nearest value around that has one. */
};

/* VALUE_*, and a complaint where the kind is wrong. */
static int check(struct cursor *at, const mpijob_node *node, int32_t kind)
{
	const struct mpijob__row row = { .field.kind = kind };
	struct mpijob__value value;
	int state = mpijob__value_read(&row, node, &value);
	struct mpijob__spot spot = { mpijob_text_data(&at->path), mpijob__report_place(at->report, node, &at->place) };

	if (state == VALUE_WRONG)
		mpijob__value_complain(at->report, &spot, &row, node);
	return state;
}

static size_t enter_key(struct cursor *at, const char *key)
{
	size_t mark = at->path.len;

	if (mpijob__field_path_key(&at->path, key))
		at->report->code = MPIJOB_ERR_NOMEM;
	return mark;
}

static size_t enter_index(struct cursor *at, size_t index)
{
	size_t mark = at->path.len;

	if (mpijob__field_path_index(&at->path, index))
		at->report->code = MPIJOB_ERR_NOMEM;
	return mark;
}

/* Check the list at a key of a map, and each entry's kind; entries that fit go to `inside`. */
static void check_list(struct cursor *at, const mpijob_node *map, const char *key, int32_t kind,
		       void (*inside)(struct cursor *at, const mpijob_node *entry))
{
	const mpijob_node *list = mpijob_node_get(map, key);
	size_t mark, count;

	if (!list)
		return;
	mark = enter_key(at, key);
	count = check(at, list, MPIJOB_KIND_LIST) == VALUE_GIVEN ? mpijob_node_count(list) : 0;
	for (size_t i = 0; i < count; i++) {
		size_t entry = enter_index(at, i);

		if (check(at, mpijob_node_at(list, i), kind) == VALUE_GIVEN && inside)
			inside(at, mpijob_node_at(list, i));
		mpijob__field_path_cut(&at->path, entry);
	}
	mpijob__field_path_cut(&at->path, mark);
}

static void check_string(struct cursor *at, const mpijob_node *map, const char *key)
{
	size_t mark = enter_key(at, key);

	check(at, mpijob_node_get(map, key), MPIJOB_KIND_STRING);
	mpijob__field_path_cut(&at->path, mark);
}

static void check_variable(struct cursor *at, const mpijob_node *variable)
{
	check_string(at, variable, "name");
	check_string(at, variable, "value");
}

static void check_container(struct cursor *at, const mpijob_node *container)
{
	check_string(at, container, "name");
	check_string(at, container, "image");
	check_list(at, container, "command", MPIJOB_KIND_STRING, NULL);
	check_list(at, container, "args", MPIJOB_KIND_STRING, NULL);
	check_list(at, container, "env", MPIJOB_KIND_OBJECT, check_variable);
}

void mpijob__template_check_types(struct mpijob__report *report, int id, const mpijob_node *pod_template)
{
	const mpijob_node *spec = mpijob_node_get(pod_template, "spec");
	struct cursor at = { .report = report, .place = mpijob__report_place(report, pod_template, NULL) };

	if (!spec)
		return;
	if (mpijob__text_puts(&at.path, mpijob__field_row(id)->field.path))
		report->code = MPIJOB_ERR_NOMEM;
	enter_key(&at, "spec");
	if (check(&at, spec, MPIJOB_KIND_OBJECT) == VALUE_GIVEN) {
		check_list(&at, spec, "initContainers", MPIJOB_KIND_OBJECT, check_container);
		check_list(&at, spec, "containers", MPIJOB_KIND_OBJECT, check_container);
	}
	mpijob__text_release(&at.path);
}
