/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes many workers without making a document for each: one child is printed twice with two
 * different values, and the differences between the prints are the holes. So text of the user is
 * never mistaken for a hole. Each worker is the first print with its index in the holes. The Secret
 * is a print with the private key in the hole, so the key goes from wiped memory directly to the
 * sink.
 */
#include "render/objects.h"

#include "base/text.h"
#include "render/ssh_key.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A range of text that differs between the prints. */
struct hole {
	size_t at;
	size_t len;
};

/* A print and its holes. */
struct stencil {
	struct mpijob_text text;
	struct hole *holes;
	size_t count;
	size_t compared; /* compared bytes of the second print */
};

static void release(struct stencil *stencil)
{
	mpijob__base_text_release(&stencil->text);
	free(stencil->holes);
}

/* Add a hole, or extend the last one if it is adjacent. */
static int add_hole(struct stencil *stencil, size_t at, size_t len)
{
	struct hole *last = stencil->count > 0 ? &stencil->holes[stencil->count - 1] : NULL, *grown;

	if (last != NULL && last->at + last->len == at) {
		last->len += len;
		return 0;
	}
	grown = realloc(stencil->holes, (stencil->count + 1) * sizeof(*grown));
	if (grown == NULL)
		return MPIJOB_ERR_NOMEM;
	stencil->holes = grown;
	grown[stencil->count++] = (struct hole){ at, len };
	return 0;
}

/* The sink for the second print, which must have the same length. */
static int find_holes(void *user, const char *data, size_t len)
{
	struct stencil *stencil = user;
	const char *text = mpijob_text_data(&stencil->text) + stencil->compared;
	size_t at = 0;
	int code = 0;

	if (len > stencil->text.len - stencil->compared)
		return MPIJOB_ERR_UNSUPPORTED;
	while (code == 0 && at < len) {
		size_t start;

		while (at < len && text[at] == data[at])
			at++;
		start = at;
		while (at < len && text[at] != data[at])
			at++;
		if (at > start)
			code = add_hole(stencil, stencil->compared + start, at - start);
	}
	stencil->compared += len;
	return code;
}

/* Check that the second print is complete. */
static int end_holes(const struct stencil *stencil)
{
	return stencil->compared == stencil->text.len ? 0 : MPIJOB_ERR_UNSUPPORTED;
}

/* A sink that indents every line of JSON by two levels, as an item of a List. JSON strings contain
 * no line ends. */
struct inset {
	mpijob_write_fn write;
	void *user;
	int fresh; /* at the beginning of a line */
};

static int write_inset(void *user, const char *data, size_t len)
{
	static const char margin[] = "\n    ";
	struct inset *inset = user;
	int code = 0;

	while (code == 0 && len > 0) {
		const char *end = memchr(data, '\n', len);
		size_t part = end != NULL ? (size_t)(end - data) : len;

		/* an empty line is indented too; the last line end is dropped */
		if (inset->fresh)
			code = inset->write(inset->user, margin, sizeof(margin) - 1);
		inset->fresh = end != NULL;
		if (code == 0 && part > 0)
			code = inset->write(inset->user, data, part);
		data += part + (end != NULL);
		len -= part + (end != NULL);
	}
	return code;
}

/* The context of a child in the output. */
struct frame {
	int32_t format;
	int in_list; /* an item of a JSON List */
};

static int print_doc(const mpijob_doc *doc, const struct frame *frame, mpijob_write_fn write,
    void *user)
{
	struct inset inset = { write, user, 1 };

	if (frame->in_list && frame->format == MPIJOB_FORMAT_JSON)
		return mpijob_node_write(mpijob_doc_root(doc), frame->format, write_inset, &inset);
	return mpijob_node_write(mpijob_doc_root(doc), frame->format, write, user);
}

/* The stencil of workers is the print of worker 1: a hole contains '1' for the index and '2' for a
 * label that is one higher. */
#define STENCIL_INDEX 1

static int make_worker_stencil(const mpijob_objects *objects, const struct frame *frame,
    struct stencil *stencil)
{
	mpijob_doc *doc =
	    mpijob_doc_from_node(mpijob_doc_root(objects->docs[MPIJOB_ROLE_WORKER]), NULL);
	int code = doc != NULL
		       ? mpijob__render_worker_pod_renumber(&objects->subject, doc, STENCIL_INDEX)
		       : MPIJOB_ERR_NOMEM;

	if (code == 0)
		code = print_doc(doc, frame, mpijob_text_write, &stencil->text);
	if (code == 0)
		code =
		    mpijob__render_worker_pod_renumber(&objects->subject, doc, STENCIL_INDEX + 1);
	if (code == 0)
		code = print_doc(doc, frame, find_holes, stencil);
	mpijob_doc_free(doc);
	return code != 0 ? code : end_holes(stencil);
}

/* Write one worker from the stencil. */
static int write_worker(const struct stencil *stencil, size_t index, mpijob_write_fn write,
    void *user)
{
	const char *text = stencil->text.data;
	size_t from = 0;
	int code = 0;

	for (size_t i = 0; code == 0 && i < stencil->count; i++) {
		const struct hole *hole = &stencil->holes[i];
		size_t more = (size_t)(text[hole->at] - '0') - STENCIL_INDEX;
		char digits[MPIJOB__RENDER_NUMBER_SIZE];
		size_t len = mpijob__render_number(index + more, digits);

		code = write(user, text + from, hole->at - from);
		if (code == 0)
			code = write(user, digits, len);
		from = hole->at + hole->len;
	}
	return code != 0 ? code : write(user, text + from, stencil->text.len - from);
}

/* Print the Secret with repeated `letter`s in place of the private key. */
static int print_secret(const mpijob_objects *objects, const struct mpijob__render_ssh_key *key,
    char letter, const struct frame *frame, mpijob_write_fn write, void *user)
{
	size_t len = strlen(key->pem_base64);
	struct mpijob__render_build b;
	char *filler = malloc(len + 1);
	mpijob_doc *doc;
	int code;

	if (filler == NULL)
		return MPIJOB_ERR_NOMEM;
	memset(filler, letter, len);
	filler[len] = '\0';
	mpijob__render_build_start(&b, &objects->subject, NULL);
	mpijob__render_secret_build(&b, filler, key->line_base64);
	code = mpijob__render_build_finish(&b, &doc);
	free(filler);
	if (code != 0)
		return code;
	code = print_doc(doc, frame, write, user);
	mpijob_doc_free(doc);
	return code;
}

static int write_secret(const mpijob_objects *objects, const struct mpijob__render_ssh_key *key,
    const struct frame *frame, mpijob_write_fn write, void *user)
{
	const char *private_key = key->pem_base64;
	struct stencil stencil = { { 0 }, NULL, 0, 0 };
	int code = print_secret(objects, key, 'A', frame, mpijob_text_write, &stencil.text);

	if (code == 0)
		code = print_secret(objects, key, 'B', frame, find_holes, &stencil);
	if (code == 0)
		code = end_holes(&stencil);
	if (code == 0 && (stencil.count != 1 || stencil.holes[0].len != strlen(private_key)))
		code = MPIJOB_ERR_UNSUPPORTED;
	if (code == 0)
		code = write(user, stencil.text.data, stencil.holes[0].at);
	if (code == 0)
		code = write(user, private_key, stencil.holes[0].len);
	if (code == 0) {
		size_t end = stencil.holes[0].at + stencil.holes[0].len;

		code = write(user, stencil.text.data + end, stencil.text.len - end);
	}
	release(&stencil);
	return code;
}

int mpijob__render_objects_write_secret(const mpijob_objects *objects, const uint8_t *entropy,
    size_t entropy_len, mpijob_write_fn write, void *user)
{
	struct frame frame = { MPIJOB_FORMAT_JSON_COMPACT, 0 };
	struct mpijob__render_ssh_key *key = NULL;
	int code = mpijob__render_ssh_key_new(entropy, entropy_len, &key, NULL);

	if (code == 0)
		code = write_secret(objects, key, &frame, write, user);
	mpijob__render_ssh_key_free(key);
	return code;
}

/* Write a child that is not one of several workers. */
static int write_child(const mpijob_objects *objects, int32_t role, int with_key,
    const struct frame *frame, mpijob_write_fn write, void *user)
{
	if (role == MPIJOB_ROLE_SECRET && with_key && objects->key != NULL)
		return write_secret(objects, objects->key, frame, write, user);
	return print_doc(objects->docs[role], frame, write, user);
}

static int is_format(int32_t format)
{
	return format == MPIJOB_FORMAT_YAML || format == MPIJOB_FORMAT_JSON ||
	       format == MPIJOB_FORMAT_JSON_COMPACT;
}

/*
 * The cache of stencils, one for each format, for workers that are written one by one, as a plan
 * does. The first thread that needs a stencil makes it; it does not change afterwards, so several
 * threads may write at the same time.
 */
struct mpijob__render_stencils {
	/* index: format - MPIJOB_FORMAT_YAML */
	_Atomic(struct stencil *) by_format[MPIJOB_FORMAT_JSON_COMPACT];
};

struct mpijob__render_stencils *mpijob__render_stencils_new(void)
{
	return calloc(1, sizeof(struct mpijob__render_stencils));
}

static void stencil_free(struct stencil *stencil)
{
	if (stencil == NULL)
		return;
	release(stencil);
	free(stencil);
}

void mpijob__render_stencils_free(struct mpijob__render_stencils *stencils)
{
	for (size_t i = 0;
	     stencils != NULL && i < sizeof(stencils->by_format) / sizeof(stencils->by_format[0]);
	     i++)
		stencil_free(atomic_load(&stencils->by_format[i]));
	free(stencils);
}

static int get_stencil(const mpijob_objects *objects, const struct frame *frame,
    const struct stencil **out)
{
	_Atomic(struct stencil *) *slot =
	    &objects->stencils->by_format[frame->format - MPIJOB_FORMAT_YAML];
	struct stencil *by_format = atomic_load(slot), *before = NULL;
	int code;

	if (by_format == NULL) {
		by_format = calloc(1, sizeof(*by_format));
		code = by_format != NULL ? make_worker_stencil(objects, frame, by_format)
					 : MPIJOB_ERR_NOMEM;
		if (code != 0) {
			stencil_free(by_format);
			return code;
		}
		if (!atomic_compare_exchange_strong(slot, &before, by_format)) {
			stencil_free(by_format);
			by_format = before;
		}
	}
	*out = by_format;
	return 0;
}

/* With one worker a stencil would be slower. */
static int write_one(const mpijob_objects *objects, int32_t role, size_t worker, int with_key,
    const struct frame *frame, mpijob_write_fn write, void *user)
{
	const struct stencil *stencil;
	int code;

	if (role != MPIJOB_ROLE_WORKER || objects->counts[role] == 1)
		return write_child(objects, role, with_key, frame, write, user);
	code = get_stencil(objects, frame, &stencil);
	return code != 0 ? code : write_worker(stencil, worker, write, user);
}

int mpijob__render_objects_write_child(mpijob_objects *objects, int32_t role, int32_t worker,
    mpijob_write_fn write, void *user)
{
	struct frame frame = { MPIJOB_FORMAT_JSON_COMPACT, 0 };
	const mpijob_doc *doc;
	int code = mpijob__render_objects_child(objects, role, &doc);

	return code != 0 ? code : write_one(objects, role, (size_t)worker, 0, &frame, write, user);
}

/* The text before, between and after the children. */
struct brackets {
	const char *before;
	const char *between;
	const char *behind;
};

static const struct brackets *brackets_of(int32_t format)
{
	static const struct brackets yaml = { "---\n", "---\n", "" };
	static const struct brackets json = {
		"{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"List\",\n  \"items\": [", ",",
		"\n  ]\n}\n"
	};
	static const struct brackets compact = {
		"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[", ",", "]}"
	};

	return format == MPIJOB_FORMAT_YAML   ? &yaml
	       : format == MPIJOB_FORMAT_JSON ? &json
					      : &compact;
}

static int write_string(mpijob_write_fn write, void *user, const char *text)
{
	return text[0] != '\0' ? write(user, text, strlen(text)) : 0;
}

static int write_workers(const mpijob_objects *objects, const struct frame *frame,
    mpijob_write_fn write, void *user)
{
	const char *between = brackets_of(frame->format)->between;
	struct stencil stencil = { { 0 }, NULL, 0, 0 };
	int code = make_worker_stencil(objects, frame, &stencil);

	for (size_t i = 0; code == 0 && i < objects->counts[MPIJOB_ROLE_WORKER]; i++) {
		code = write_string(write, user, between);
		if (code == 0)
			code = write_worker(&stencil, i, write, user);
	}
	release(&stencil);
	return code;
}

static int write_all(const mpijob_objects *objects, int with_key, const struct frame *frame,
    mpijob_write_fn write, void *user)
{
	const struct brackets *brackets = brackets_of(frame->format);
	int32_t role;
	int code = write_string(write, user, brackets->before);

	for (size_t i = 0; code == 0 && (role = mpijob__render_role(i)) != 0; i++) {
		if (objects->counts[role] == 0)
			continue;
		if (role == MPIJOB_ROLE_WORKER) {
			code = write_workers(objects, frame, write, user);
			continue;
		}
		if (role != MPIJOB_ROLE_SERVICE)
			code = write_string(write, user, brackets->between);
		if (code == 0)
			code = write_child(objects, role, with_key, frame, write, user);
	}
	return code != 0 ? code : write_string(write, user, brackets->behind);
}

int mpijob_objects_write(const mpijob_objects *objects, size_t index, int32_t format,
    int32_t with_key, mpijob_write_fn write, void *user)
{
	int all = index == MPIJOB_OBJECTS_ALL;
	struct frame frame = { format, all && format != MPIJOB_FORMAT_YAML };
	int32_t role, worker;

	if (objects == NULL || write == NULL || !is_format(format))
		return MPIJOB_ERR_USAGE;
	if (all)
		return write_all(objects, with_key != 0, &frame, write, user);
	if (!mpijob__render_objects_locate(objects, index, &role, &worker))
		return MPIJOB_ERR_NOT_FOUND;
	return write_one(objects, role, (size_t)worker, with_key != 0, &frame, write, user);
}
