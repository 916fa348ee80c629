/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the cost of a job grows with each of its lists and maps. All lists and maps are taken from
 * the schema of pod templates and from the table of fields; each is made with N and with 2N
 * entries, and the job is parsed, defaulted, validated, planned, rendered, written and converted. A
 * factor near 2 means that the cost is linear.
 *
 *     bench-lists [N [LIMIT]]     CPU time, the least of three runs; ends with 1 where a factor is
 * above LIMIT (2.6)
 *
 * Built with -DSTEPS, over a library compiled with -fsanitize-coverage=trace-pc, it counts the
 * basic blocks that run instead: the same on every machine and in every run.
 *
 * Kinds of documents: `valid` has different entries; `same` equal ones; `wrong` values of a wrong
 * type; `unknown` keys that nobody knows, in each object; `whole` n entries in all lists of a pod,
 * with one entry in each list of theirs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpijob/mpijob.h>

#include "schema/schema.h"

#define ENTRIES 4000
#define PARTS   40 /* of the entries of one list, in each list of a whole pod */
#define LIMIT   2.6
#define DEEPEST 24

static const char base[] =
    "{\"apiVersion\":\"kubeflow.org/"
    "v2beta1\",\"kind\":\"MPIJob\",\"metadata\":{\"name\":\"b\",\"namespace\":\"t\","
    "\"uid\":\"u\",\"resourceVersion\":\"1\"},\"spec\":{\"slotsPerWorker\":1,\"mpiReplicaSpecs\":{"
    "\"Launcher\":{"
    "\"template\":{\"spec\":{\"containers\":[{\"name\":\"l\",\"image\":\"i\"}]}}},\"Worker\":{"
    "\"replicas\":2,"
    "\"template\":{\"spec\":{\"containers\":[{\"name\":\"w\",\"image\":\"i\"}]}}}}}}";

enum variant { VALID, SAME, WRONG, UNKNOWN };
static const char *const variants[] = { "valid", "same", "wrong", "unknown" };

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench-lists: %s\n", what);
	exit(2);
}

/* ---- what is measured ---- */

#ifdef STEPS
static uint64_t steps;

extern void __sanitizer_cov_trace_pc(void);

__attribute__((visibility("default"))) void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

static double spent(void)
{
	return (double)steps;
}

#define RUNS 1
#define UNIT "steps"
#else
static double spent(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

#define RUNS 3
#define UNIT "ms"
#endif

/* ---- the work ---- */

static int sink(void *user, const char *data, size_t len)
{
	(void)data;
	*(size_t *)user += len;
	return 0;
}

static void write_plan(const mpijob *job)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	uint8_t entropy[MPIJOB_SSH_ENTROPY] = { 1 };
	mpijob_facts *facts = mpijob_facts_new();
	mpijob_plan *plan = NULL;
	size_t bytes = 0;

	options.now_ms = INT64_C(1790000000000);
	need(facts && !mpijob_plan_new(job, facts, &options, &plan, NULL), "mpijob_plan_new");
	for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++)
		if (mpijob_plan_at(plan, i)->role != MPIJOB_ROLE_SECRET)
			(void)mpijob_plan_write_body(plan, i, entropy, sizeof(entropy), sink,
			    &bytes);
	mpijob_plan_free(plan);
	mpijob_facts_free(facts);
}

static void render(const mpijob *job)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob_objects *objects = NULL;
	size_t bytes = 0;

	options.gang_scheduler = "volcano";
	if (mpijob_render(job, &options, &objects, NULL))
		return;
	(void)mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL, MPIJOB_FORMAT_YAML, 0, sink,
	    &bytes);
	mpijob_objects_free(objects);
}

static void convert(const mpijob *job)
{
	mpijob_doc *old = NULL, *back = NULL;
	const mpijob_node *root = mpijob_doc_root(mpijob_document(job));

	if (mpijob_convert(root, NULL, "v1", NULL, &old, NULL) == 0)
		(void)mpijob_convert(mpijob_doc_root(old), NULL, "v2beta1", NULL, &back, NULL);
	mpijob_doc_free(old);
	mpijob_doc_free(back);
}

static void work(const mpijob_text *text)
{
	struct mpijob_validate_options strict = MPIJOB_VALIDATE_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job = NULL;

	need(!mpijob_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &job, diag),
	    "mpijob_parse");
	(void)mpijob_default(job, NULL, diag);
	strict.strict = 1;
	(void)mpijob_validate(job, &strict, diag);
	write_plan(job);
	render(job);
	convert(job);
	mpijob_free(job);
	mpijob_diag_free(diag);
}

static double cost(const mpijob_text *text)
{
	double least = 0;

	for (int i = 0; i < RUNS; i++) {
		double from = spent(), took;

		work(text);
		took = spent() - from;
		least = i == 0 || took < least ? took : least;
	}
	return least;
}

/* ---- documents ---- */

static mpijob_node *scalar(mpijob_doc *doc, const struct mpijob__schema_field *field, size_t i,
    enum variant variant)
{
	char text[32];

	if (variant == WRONG)
		return mpijob_node_new(doc, MPIJOB_NODE_LIST);
	if (variant == SAME)
		i = 0;
	if (field->kind == SCHEMA_BOOL)
		return mpijob_node_new_bool(doc, 0);
	if (field->kind == SCHEMA_INT32 || field->kind == SCHEMA_INT64)
		return mpijob_node_new_text(doc, MPIJOB_NODE_NUMBER, text,
		    (size_t)snprintf(text, sizeof(text), "%zu", 1 + i % 65535));
	if (field->kind == SCHEMA_QUANTITY || field->kind == SCHEMA_INT_OR_STRING)
		return mpijob_node_new_text(doc, MPIJOB_NODE_STRING, "1", 1);
	if (field->choices)
		return mpijob_node_new_text(doc, MPIJOB_NODE_STRING,
		    mpijob__schema_text(field->choices),
		    strlen(mpijob__schema_text(field->choices)));
	return mpijob_node_new_text(doc, MPIJOB_NODE_STRING, text,
	    (size_t)snprintf(text, sizeof(text), "a-%06zu", i));
}

static mpijob_node *object(mpijob_doc *doc, int type, size_t i, enum variant variant, int deep);

static void put_entries(mpijob_doc *doc, mpijob_node *parent,
    const struct mpijob__schema_field *field, size_t n, enum variant variant, int deep)
{
	const char *name = mpijob__schema_text(field->name);
	mpijob_node *list = (mpijob_node *)(uintptr_t)mpijob_node_get(parent, name);
	char key[32];

	if (!list)
		list = field->shape == SCHEMA_LIST ? mpijob_node_put_list(doc, parent, name)
						   : mpijob_node_put_map(doc, parent, name);
	for (size_t i = 0; i < n; i++) {
		mpijob_node *entry = field->kind == SCHEMA_OBJECT
					 ? object(doc, field->of, i, variant, deep)
					 : scalar(doc, field, i, variant);

		snprintf(key, sizeof(key), "a-%06zu", i);
		if (field->shape == SCHEMA_LIST)
			mpijob_node_append(doc, list, entry);
		else
			mpijob_node_put(doc, list, key, entry);
	}
}

/* An object with all its scalars; `deep`: with one entry in each of its lists. */
static mpijob_node *object(mpijob_doc *doc, int type, size_t i, enum variant variant, int deep)
{
	size_t count;
	const struct mpijob__schema_field *fields = mpijob__schema_fields(type, &count);
	mpijob_node *map = mpijob_node_new(doc, MPIJOB_NODE_MAP);

	for (size_t k = 0; k < count; k++) {
		if (!(fields[k].flags & SCHEMA_IN_CRD))
			continue;
		if (fields[k].shape == SCHEMA_ONE && fields[k].kind != SCHEMA_OBJECT &&
		    fields[k].kind != SCHEMA_TIME)
			mpijob_node_put(doc, map, mpijob__schema_text(fields[k].name),
			    scalar(doc, &fields[k], i, variant));
		else if (fields[k].shape != SCHEMA_ONE && deep > 0)
			put_entries(doc, map, &fields[k], 1, variant, deep - 1);
	}
	return map;
}

/* The way from the template to a type. */
struct way {
	const struct mpijob__schema_field *steps[DEEPEST];
	size_t count;
};

static mpijob_node *go(mpijob_doc *doc, const char *role, const struct way *way)
{
	char path[80];
	mpijob_node *at;

	snprintf(path, sizeof(path), "spec.mpiReplicaSpecs.%s.template", role);
	at = mpijob_doc_make(doc, path);
	for (size_t i = 0; at && i < way->count; i++) {
		const struct mpijob__schema_field *step = way->steps[i];
		mpijob_node *next = mpijob_node_edit(at, mpijob__schema_text(step->name));

		if (!next && step->shape == SCHEMA_ONE)
			next = mpijob_node_put_map(doc, at, mpijob__schema_text(step->name));
		if (!next || (step->shape != SCHEMA_ONE && !mpijob_node_count(next))) {
			put_entries(doc, at, step, 1, VALID, 0);
			next = mpijob_node_edit(at, mpijob__schema_text(step->name));
		}
		at = step->shape == SCHEMA_ONE ? next : mpijob_node_edit_at(next, 0);
	}
	need(at != NULL, "a way to a type");
	return at;
}

static mpijob_doc *begin(void)
{
	mpijob_doc *doc = NULL;

	need(!mpijob_doc_parse(base, sizeof(base) - 1, NULL, &doc, NULL), "the base");
	return doc;
}

static mpijob_text *end(mpijob_doc *doc)
{
	mpijob_text *text = mpijob_text_new();

	need(text && !mpijob_doc_error(doc), "memory");
	need(!mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write,
		 text),
	    "writing");
	mpijob_doc_free(doc);
	return text;
}

/* ---- all lists ---- */

/* One kind of document; `put` puts n entries into it. */
struct list {
	char name[160];
	void (*put)(mpijob_doc *doc, const struct list *list, size_t n);
	struct way way;
	const struct mpijob__schema_field *field;
	const struct mpijob_field *row;
	int type;
	enum variant variant;
};

static size_t measured, bad;
static double worst;

static void measure(const struct list *list, size_t n, double limit)
{
	double costs[2], factor;

	for (size_t i = 0; i < 2; i++) {
		mpijob_doc *doc = begin();
		mpijob_text *text;

		list->put(doc, list, n << i);
		text = end(doc);
		costs[i] = cost(text);
		mpijob_text_free(text);
	}
	factor = costs[1] / costs[0];
	worst = factor > worst ? factor : worst;
	measured++;
	bad += factor > limit;
	printf("%-70s %-8s %12.2f %12.2f %6.2f%s\n", list->name, variants[list->variant], costs[0],
	    costs[1], factor, factor > limit ? "  NOT LINEAR" : "");
	fflush(stdout);
}

static void put_list(mpijob_doc *doc, const struct list *list, size_t n)
{
	mpijob_node *worker = go(doc, "Worker", &list->way);

	put_entries(doc, worker, list->field, n / 2, list->variant, 0);
	put_entries(doc, go(doc, "Launcher", &list->way), list->field, n - n / 2, list->variant, 0);
}

static void put_unknown_keys(mpijob_doc *doc, mpijob_node *map, size_t n)
{
	char key[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "b-%06zu", i);
		mpijob_node_put_int(doc, map, key, 1);
	}
}

static void put_unknown(mpijob_doc *doc, const struct list *list, size_t n)
{
	put_unknown_keys(doc, go(doc, "Worker", &list->way), n);
}

/* A row of the table of fields: a list of maps, a map of Kubernetes, or an object with unknown
 * keys. */
static void put_row(mpijob_doc *doc, const struct list *list, size_t n)
{
	const char *path = list->row->path;
	char above[160], key[32];
	mpijob_node *map, *at;

	if (list->row->kind != MPIJOB_KIND_LIST) {
		map = mpijob_doc_make(doc, path);
		need(map != NULL, path);
		for (size_t i = 0; i < n; i++) {
			snprintf(key, sizeof(key), "a-%06zu", i);
			at = list->variant == WRONG ? mpijob_node_put_list(doc, map, key)
						    : mpijob_node_put_string(doc, map, key, "1");
		}
		return;
	}
	snprintf(above, sizeof(above), "%.*s", (int)(strrchr(path, '.') - path), path);
	at = mpijob_node_put_list(doc, mpijob_doc_make(doc, above), strrchr(path, '.') + 1);
	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "A-%06zu", list->variant == SAME ? 0 : i);
		map = mpijob_node_append_map(doc, at);
		mpijob_node_put_string(doc, map, "type", key);
		mpijob_node_put_string(doc, map, "status", list->variant == WRONG ? "No" : "True");
	}
}

/* Roles that nobody knows, each with a template. */
static void put_roles(mpijob_doc *doc, const struct list *list, size_t n)
{
	mpijob_node *roles = mpijob_doc_make(doc, list->row->path);
	const mpijob_node *worker = mpijob_node_get(roles, "Worker");
	char key[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "a-%06zu", i);
		mpijob_node_put_copy(doc, roles, key, worker);
	}
}

/* All lists of a type, and of the objects in it, at once. */
static void put_all(mpijob_doc *doc, mpijob_node *at, int type, size_t n, int depth)
{
	size_t count;
	const struct mpijob__schema_field *fields = mpijob__schema_fields(type, &count);

	for (size_t i = 0; i < count; i++) {
		if (!(fields[i].flags & SCHEMA_IN_CRD))
			continue;
		if (fields[i].shape != SCHEMA_ONE)
			put_entries(doc, at, &fields[i], n, VALID, 1);
		else if (fields[i].kind == SCHEMA_OBJECT && depth > 0)
			put_all(doc,
			    mpijob_node_put_map(doc, at, mpijob__schema_text(fields[i].name)),
			    fields[i].of, n, depth - 1);
	}
}

static void put_whole(mpijob_doc *doc, const struct list *list, size_t n)
{
	mpijob_node *pod = go(doc, "Worker", &list->way);

	n /= PARTS;
	put_all(doc, pod, SCHEMA_PodTemplateSpec, n, 3);
	put_all(doc,
	    mpijob_node_edit_at(mpijob_doc_edit(doc,
				    "spec.mpiReplicaSpecs.Worker.template.spec.containers"),
		0),
	    SCHEMA_Container, n, 3);
}

static void name_of(char out[160], const struct way *way, const char *last)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < way->count && len < 100; i++)
		len += (size_t)snprintf(out + len, 160 - len, "%s%s.",
		    mpijob__schema_text(way->steps[i]->name),
		    way->steps[i]->shape == SCHEMA_ONE ? "" : "[]");
	snprintf(out + len, 160 - len, "%s", last);
}

/* Each type is visited once, by the shortest way; each of its lists is one line. */
static void measure_types(size_t n, double limit)
{
	static unsigned char seen[SCHEMA_NONE];
	static struct way ways[SCHEMA_NONE];
	static int types[SCHEMA_NONE];
	size_t last = 1;

	types[0] = SCHEMA_PodTemplateSpec;
	seen[SCHEMA_PodTemplateSpec] = 1;
	for (size_t next = 0; next < last; next++) {
		size_t count;
		const struct mpijob__schema_field *fields =
		    mpijob__schema_fields(types[next], &count);
		struct list keys = { .put = put_unknown, .way = ways[next], .variant = UNKNOWN };

		name_of(keys.name, &keys.way, "*");
		measure(&keys, n, limit);
		for (size_t i = 0; i < count; i++) {
			struct list list = { .put = put_list,
				.way = ways[next],
				.field = &fields[i] };

			name_of(list.name, &list.way, mpijob__schema_text(fields[i].name));
			for (list.variant = VALID;
			     fields[i].shape != SCHEMA_ONE && list.variant <= WRONG; list.variant++)
				measure(&list, n, limit);
			if (fields[i].kind != SCHEMA_OBJECT || seen[fields[i].of] ||
			    list.way.count == DEEPEST)
				continue;
			seen[fields[i].of] = 1;
			types[last] = fields[i].of;
			list.way.steps[list.way.count++] = &fields[i];
			ways[last++] = list.way;
		}
	}
}

static void measure_rows(size_t n, double limit)
{
	for (size_t i = 0; mpijob_field_at(i); i++) {
		struct list list = { .put = put_row, .row = mpijob_field_at(i) };

		snprintf(list.name, sizeof(list.name), "%s", list.row->path);
		if (strcmp(list.row->path, "spec.mpiReplicaSpecs") == 0) {
			list.put = put_roles;
			measure(&list, n / 8, limit);
			list.put = put_row;
		}
		if (list.row->kind == MPIJOB_KIND_OBJECT) {
			list.variant = UNKNOWN;
			measure(&list, n, limit);
		}
		if (list.row->kind != MPIJOB_KIND_LIST && list.row->kind != MPIJOB_KIND_DOCUMENT)
			continue;
		for (list.variant = VALID; list.variant <= WRONG; list.variant++)
			measure(&list, n, limit);
	}
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : ENTRIES;
	double limit = argc > 2 ? strtod(argv[2], NULL) : LIMIT;
	struct list whole = { .name = "all lists of a pod and a container", .put = put_whole };

	need(n >= PARTS && limit > 1, "usage: bench-lists [N [LIMIT]]");
	printf("%-70s %-8s %12s %12s factor\n", "list or map", "entries", UNIT " (N)",
	    UNIT " (2N)");
	measure(&whole, n, limit);
	measure_rows(n, limit);
	measure_types(n, limit);
	printf("%zu kinds of documents with %zu and %zu entries, the greatest factor is %.2f, %zu "
	       "above %.2f\n",
	    measured, n, 2 * n, worst, bad, limit);
	return bad ? 1 : 0;
}
