/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of pod templates by their paths: types, shapes, choices, and what is no path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/fields.h>

static struct mpijob_template_field find(const char *path)
{
	struct mpijob_template_field field = MPIJOB_TEMPLATE_FIELD_INIT;

	assert_int_equal(mpijob_template_field_find(path, &field), 1);
	return field;
}

static void types_and_shapes(void **state)
{
	struct mpijob_template_field field = find("");

	(void)state;
	assert_string_equal(field.type, "PodTemplateSpec");
	assert_true(field.is_object && field.in_crd && field.in_kubernetes);
	field = find("spec.containers");
	assert_string_equal(field.name, "containers");
	assert_string_equal(field.type, "Container");
	assert_int_equal(field.shape, MPIJOB_SHAPE_LIST);
	assert_true(field.required);
	assert_string_equal(find("spec.hostNetwork").type, "boolean");
	assert_string_equal(find("spec.containers[0].resources.limits").type, "quantity");
	assert_int_equal(find("spec.containers[0].resources.limits").shape, MPIJOB_SHAPE_MAP);
	assert_int_equal(find("spec.containers.env").shape, MPIJOB_SHAPE_LIST);
	assert_string_equal(find("spec.terminationGracePeriodSeconds").type, "int64");
	assert_string_equal(find("spec.containers[1].livenessProbe.httpGet.port").type,
	    "int or string");
}

static void choices_are_a_chain_of_words(void **state)
{
	const char *word = find("spec.containers.imagePullPolicy").choices;

	(void)state;
	assert_non_null(word);
	assert_string_equal(word, "Always");
	word += strlen(word) + 1;
	assert_string_equal(word, "IfNotPresent");
	word += strlen(word) + 1;
	assert_string_equal(word, "Never");
	assert_string_equal(word + strlen(word) + 1, "");
	assert_null(find("spec.containers.image").choices);
}

static void no_path(void **state)
{
	static const char *const paths[] = { "nothing", "spec.nothing", "spec.hostNetwork.x",
		"spec..x", ".", "[", "spec.containers.name.x",
		"spec.thisNameIsLongerThanAnyNameThatAFieldOfKubernetesHasEverHadAndWillEverHave" };
	struct mpijob_template_field field = MPIJOB_TEMPLATE_FIELD_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(mpijob_template_field_find(paths[i], &field), 0);
	assert_null(field.name);
	assert_int_equal(mpijob_template_field_find(NULL, &field), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_template_field_find("", NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_template_field_at("spec.hostNetwork", 0, &field), 0);
	field.size = 1;
	assert_int_equal(mpijob_template_field_at("", 0, &field), MPIJOB_ERR_USAGE);
}

/* Each child is what its path gives, all the way down one level. */
static void children_are_found_by_path(void **state)
{
	struct mpijob_template_field child = MPIJOB_TEMPLATE_FIELD_INIT;
	size_t count = 0;

	(void)state;
	for (; mpijob_template_field_at("spec", count, &child) == 1; count++) {
		char path[80] = "spec.";

		assert_true(strlen(child.name) < 70);
		strcat(path, child.name);
		assert_string_equal(find(path).type, child.type);
		assert_int_equal(find(path).shape, child.shape);
	}
	assert_true(count > 35);
}

static void a_shorter_struct_gets_what_it_holds(void **state)
{
	struct mpijob_template_field field = MPIJOB_TEMPLATE_FIELD_INIT;

	(void)state;
	field.size = offsetof(struct mpijob_template_field, type);
	field.type = "untouched";
	assert_int_equal(mpijob_template_field_find("spec", &field), 1);
	assert_string_equal(field.name, "spec");
	assert_string_equal(field.type, "untouched");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_and_shapes),
		cmocka_unit_test(choices_are_a_chain_of_words),
		cmocka_unit_test(no_path),
		cmocka_unit_test(children_are_found_by_path),
		cmocka_unit_test(a_shorter_struct_gets_what_it_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
