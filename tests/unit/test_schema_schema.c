/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema's blob holds together: every text ends, names are in order, types and keys exist, and
 * some facts are as everybody knows them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schema/schema.h"

static void check_field(int type, const struct mpijob__schema_field *field)
{
	const char *keys = mpijob__schema_text(field->keys);

	assert_true(field->flags & (SCHEMA_IN_CRD | SCHEMA_IN_KUBERNETES));
	assert_ptr_equal(mpijob__schema_find(type, mpijob__schema_text(field->name)), field);
	assert_true((field->kind == SCHEMA_OBJECT) == (field->of != SCHEMA_NONE));
	assert_true(!(field->flags & SCHEMA_KEYED) || !(field->flags & SCHEMA_IN_CRD) || *keys);
	while (*keys) {
		size_t len = strcspn(keys, " ");
		char name[64] = { 0 };

		assert_true(len < sizeof(name));
		memcpy(name, keys, len);
		assert_non_null(mpijob__schema_find(field->of, name));
		keys += len + (keys[len] == ' ');
	}
}

static void every_field(void **state)
{
	size_t all = 0;

	(void)state;
	for (int type = 0; type < SCHEMA_NONE; type++) {
		size_t count;
		const struct mpijob__schema_field *fields = mpijob__schema_fields(type, &count);

		assert_true(*mpijob__schema_type_name(type));
		for (size_t i = 0; i < count; i++) {
			if (i)
				assert_true(strcmp(mpijob__schema_text(fields[i - 1].name),
						mpijob__schema_text(fields[i].name)) < 0);
			check_field(type, &fields[i]);
		}
		all += count;
	}
	assert_true(all > 500);
}

static void known_facts(void **state)
{
	const struct mpijob__schema_field *field =
	    mpijob__schema_find(SCHEMA_ContainerPort, "protocol");

	(void)state;
	assert_non_null(field);
	assert_true(mpijob__schema_allows(field, "TCP"));
	assert_true(mpijob__schema_allows(field, "SCTP"));
	assert_false(mpijob__schema_allows(field, "tcp"));
	assert_false(mpijob__schema_allows(field, ""));
	assert_string_equal(mpijob__schema_text(field->fill), "TCP");
	field = mpijob__schema_find(SCHEMA_HostPathVolumeSource, "type");
	assert_non_null(field);
	assert_true(mpijob__schema_allows(field, ""));
	assert_true(mpijob__schema_allows(field, "Socket"));
	field = mpijob__schema_find(SCHEMA_Container, "ports");
	assert_non_null(field);
	assert_int_equal(field->shape, SCHEMA_LIST);
	assert_int_equal(field->of, SCHEMA_ContainerPort);
	assert_string_equal(mpijob__schema_text(field->keys), "containerPort protocol");
	assert_string_equal(mpijob__schema_text(field->patch), "containerPort");
	assert_true(mpijob__schema_allows(field, "anything"));
	field = mpijob__schema_find(SCHEMA_PodSpec, "schedulingGroup");
	assert_non_null(field);
	assert_int_equal(field->flags & (SCHEMA_IN_CRD | SCHEMA_IN_KUBERNETES),
	    SCHEMA_IN_KUBERNETES);
	field = mpijob__schema_find(SCHEMA_PodSpec, "workloadRef");
	assert_non_null(field);
	assert_int_equal(field->flags & (SCHEMA_IN_CRD | SCHEMA_IN_KUBERNETES), SCHEMA_IN_CRD);
	assert_null(mpijob__schema_find(SCHEMA_PodSpec, "nodeselector"));
	assert_string_equal(mpijob__schema_type_name(SCHEMA_PodSpec), "PodSpec");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_field),
		cmocka_unit_test(known_facts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
