/* SPDX-License-Identifier: Apache-2.0 */
/* Which file of authorities is taken: the first that is there, and none where the environment names
 * one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "http/ca_bundle.h"

static const char *set_name, *set_value;

static const char *variable(const char *name)
{
	return set_name && strcmp(set_name, name) == 0 ? set_value : NULL;
}

static void test_first_that_is_there(void **state)
{
	const char *const files[] = { "/nowhere/a", "/dev/null", "/dev/zero", NULL };
	const char *const none[] = { "/nowhere/a", NULL };
	const char *const empty[] = { NULL };

	(void)state;
	set_name = NULL;
	assert_ptr_equal(mpijob__http_ca_bundle_find(files, variable), files[1]);
	assert_null(mpijob__http_ca_bundle_find(none, variable));
	assert_null(mpijob__http_ca_bundle_find(empty, variable));
}

static void test_environment_comes_first(void **state)
{
	const char *const files[] = { "/dev/null", NULL };
	const char *const names[] = { "SSL_CERT_FILE", "SSL_CERT_DIR" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		set_name = names[i];
		set_value = "/mine";
		assert_null(mpijob__http_ca_bundle_find(files, variable));
		set_value = "";
		assert_ptr_equal(mpijob__http_ca_bundle_find(files, variable), files[0]);
	}
}

static void test_built_for_this_system(void **state)
{
	(void)state;
	set_name = NULL;
#ifndef MPIJOB_CA_FILES
	assert_null(mpijob__http_ca_bundle_file(variable));
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_that_is_there),
		cmocka_unit_test(test_environment_comes_first),
		cmocka_unit_test(test_built_for_this_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
