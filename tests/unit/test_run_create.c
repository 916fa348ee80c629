/* SPDX-License-Identifier: Apache-2.0 */
/* Creating what a job needs: namespaces, what exists already, what differs, and the order. */
#include "../support/fake_cluster.h"

#include <setjmp.h>

#include <cmocka.h>

#define CONFIG "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: b}}"

struct scene {
	struct fake fake;
	mpijob_client *client;
	mpijob_diag *diag;
	int never_strict; /* the server does not know fieldValidation=Strict */
};

static int decide(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	const struct scene *scene = fake->user;

	(void)method;
	if (!scene->never_strict || !strstr(path, "fieldValidation=Strict"))
		return 0;
	reply->status = 501;
	reply->body = "{\"kind\":\"Status\",\"reason\":\"NotImplemented\",\"code\":501}";
	return 1;
}

static int up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->client = fake_client(&scene->fake);
	scene->fake.decide = decide;
	scene->fake.user = scene;
	scene->diag = mpijob_diag_new();
	*state = scene;
	return 0;
}

static int down(void **state)
{
	struct scene *scene = *state;

	mpijob_client_free(scene->client);
	mpijob_diag_free(scene->diag);
	fake_release(&scene->fake);
	free(scene);
	return 0;
}

static int create(struct scene *scene, const char *yaml,
    const struct mpijob_submit_options *options)
{
	mpijob_doc *object = NULL, *stored = NULL;
	int rc;

	mpijob_diag_clear(scene->diag);
	assert_int_equal(mpijob_doc_parse(yaml, strlen(yaml), NULL, &object, NULL), 0);
	rc = mpijob_run_create(scene->client, mpijob_doc_root(object), options, &stored,
	    scene->diag);
	assert_int_equal(rc >= 0, stored != NULL);
	mpijob_doc_free(stored);
	mpijob_doc_free(object);
	return rc;
}

static void exists_once(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(create(scene, CONFIG, NULL), 0);
	assert_string_equal(scene->fake.log[0],
	    "POST "
	    "/api/v1/namespaces/default/configmaps?fieldManager=mpijob&fieldValidation=Strict");
	assert_int_equal(create(scene, CONFIG, NULL), 1);
	assert_int_equal(mpijob_diag_count(scene->diag, 0), 0);
	assert_int_equal(create(scene,
			     "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: x}}",
			     NULL),
	    MPIJOB_ERR_CONFLICT);
	assert_int_equal(mpijob_diag_count(scene->diag, 0), 1);
	assert_string_equal(mpijob_diag_at(scene->diag, 0)->message,
	    "ConfigMap 'c' exists and differs at a; only a server-side apply changes it");
	/* What the server adds does not count, nor what is empty. */
	assert_int_equal(create(scene,
			     "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {}}}",
			     NULL),
	    1);
}

static void secrets_are_encoded(void **state)
{
	static const char given[] =
	    "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {k: secret}}";
	struct scene *scene = *state;

	fake_put(&scene->fake, "/api/v1/secrets", "default",
	    "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {k: c2VjcmV0}}");
	assert_int_equal(create(scene, given, NULL), 1);
	assert_int_equal(
	    create(scene,
		"{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {k: secreT}}",
		NULL),
	    MPIJOB_ERR_CONFLICT);
	assert_null(strstr(mpijob_diag_at(scene->diag, 0)->message, "secreT"));
}

static void options_count(void **state)
{
	struct mpijob_submit_options options = MPIJOB_SUBMIT_OPTIONS_INIT;
	struct scene *scene = *state;

	options.namespace_ = "team";
	options.field_manager = "me";
	options.field_validation = "Warn";
	options.dry_run = 1;
	assert_int_equal(create(scene, CONFIG, &options), 0);
	assert_string_equal(scene->fake.log[0],
	    "POST /api/v1/namespaces/team/configmaps?fieldManager=me&fieldValidation=Warn&dryRun="
	    "All");
	/* A kind without namespaces has none. */
	assert_int_equal(create(scene, "{apiVersion: v1, kind: Namespace, metadata: {name: team}}",
			     &options),
	    0);
	assert_int_equal(fake_count(&scene->fake, "POST /api/v1/namespaces?"), 1);
	options.apply = 1;
	options.dry_run = 0;
	assert_int_equal(create(scene, CONFIG, &options), 0);
	assert_int_equal(fake_count(&scene->fake, "PATCH /api/v1/namespaces/team/configmaps/c?"),
	    1);
	options.apply = 2;
	assert_int_equal(create(scene, CONFIG, &options), MPIJOB_ERR_USAGE);
	assert_int_equal(create(scene, "{kind: ConfigMap}", NULL), MPIJOB_ERR_SPEC);
	assert_string_equal(mpijob_diag_at(scene->diag, 0)->id, "no-api-version");
}

static void old_servers(void **state)
{
	struct mpijob_submit_options options = MPIJOB_SUBMIT_OPTIONS_INIT;
	struct scene *scene = *state;

	scene->never_strict = 1;
	assert_int_equal(create(scene, CONFIG, NULL), 0);
	assert_int_equal(scene->fake.log_count, 2);
	options.field_validation = "Strict";
	assert_int_equal(create(scene, CONFIG, &options), MPIJOB_ERR_UNSUPPORTED);
}

static void in_order(void **state)
{
	static const char *const kinds[] = { "{kind: Namespace}", "{kind: PriorityClass}",
		"{kind: Secret}", "{kind: ConfigMap}", "{kind: Other}",
		"{apiVersion: kubeflow.org/v2beta1, kind: MPIJob}" };
	int last = -1;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		mpijob_doc *doc = NULL;

		assert_int_equal(mpijob_doc_parse(kinds[i], strlen(kinds[i]), NULL, &doc, NULL), 0);
		assert_true(mpijob_run_order(mpijob_doc_root(doc)) > last);
		last = mpijob_run_order(mpijob_doc_root(doc));
		mpijob_doc_free(doc);
	}
	assert_true(mpijob_run_order(NULL) < last);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(exists_once),
		TEST(secrets_are_encoded),
		TEST(options_count),
		TEST(old_servers),
		TEST(in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
