/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done without the rights `get` and `patch`, which the ClusterRole of mpi-operator v0.8.2 does not have for some kinds:
 * an object is read by a list of its name alone, and replaced by an update that merges the patch into what was read.
 *
 * The server's first refusal shows that a right is missing; after that the operator does not ask again, until the other way is
 * refused too. An update has the resourceVersion that was read, so it overwrites nothing.
 */
#include "operator/act.h"

#include "base/secret.h"
#include "cluster/split.h"

#include <string.h>

#define LARGEST (16u << 20)

int mpijob__act_lists(const struct mpijob__write *write)
{
	return write->updating || (write->action.role && (write->operator_->lists & MPIJOB__SURE(write->action.role)));
}

int mpijob__act_updates(const struct mpijob__write *write)
{
	return write->action.role && write->action.verb == MPIJOB_ACTION_PATCH &&
	       (write->operator_->updates & MPIJOB__SURE(write->action.role));
}

int mpijob__act_instead(struct mpijob__write *write)
{
	unsigned bit = MPIJOB__SURE(write->action.role);
	unsigned *known = write->looking ? &write->operator_->lists : &write->operator_->updates;

	if (!write->action.role || (!write->looking && write->action.verb != MPIJOB_ACTION_PATCH))
		return 0;
	if (write->looking ? write->listing : write->updated) {
		*known &= ~bit;
		return 0;
	}
	*known |= bit;
	write->updating |= !write->looking;
	return mpijob__act_look(write, write->failed) == 0;
}

struct found {
	mpijob_text *text;
	int code;
};

static int take(void *user, const struct mpijob__split_object *object)
{
	struct found *found = user;

	if (found->code == MPIJOB_ERR_NOT_FOUND)
		found->code = object->json ? mpijob_text_write(found->text, object->json, object->len) : MPIJOB_ERR_SYNTAX;
	return 0;
}

int mpijob__act_unwrap(const struct mpijob__write *write, const struct mpijob_answer *answer, mpijob_text *out)
{
	struct found found = { out, MPIJOB_ERR_NOT_FOUND };
	struct mpijob__split split;
	int rc = mpijob__split_init(&split, MPIJOB__SPLIT_LIST, write->action.api_version, write->action.kind, LARGEST);

	if (rc == 0)
		rc = mpijob__split_feed(&split, answer->body, answer->body_len, take, &found);
	if (rc == 0 && !mpijob__split_complete(&split))
		rc = MPIJOB_ERR_SYNTAX;
	mpijob__split_release(&split);
	return rc ? rc : found.code;
}

static int parse(const char *text, size_t len, mpijob_doc **out)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;

	options.format = MPIJOB_FORMAT_JSON;
	options.no_places = 1;
	return mpijob_doc_parse(text, len, &options, out, NULL);
}

/*
 * The key of a Secret stays out of the tree: the text of its patch, {"metadata":...,"data":...}, ends in the new data, which
 * go behind the other members of the object.
 */
static int merge_secret(mpijob_doc *object, const mpijob_text *patch, mpijob_text *out)
{
	const char *data = strstr(mpijob_text_data(patch), "\"data\":");
	int rc = data ? 0 : MPIJOB_ERR_USAGE;

	mpijob_node_remove(mpijob_doc_edit(object), "data");
	if (rc == 0)
		rc = mpijob_node_write(mpijob_doc_root(object), MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, out);
	if (rc == 0) {
		out->len -= strlen("}");
		rc = mpijob__text_printf(out, ",%s", data);
	}
	return rc;
}

static int merge_tree(mpijob_doc *object, const mpijob_text *patch, mpijob_text *out)
{
	mpijob_doc *change = NULL;
	int rc = parse(mpijob_text_data(patch), mpijob_text_len(patch), &change);

	if (rc == 0)
		rc = mpijob_doc_merge(object, mpijob_doc_root(change));
	if (rc == 0)
		rc = mpijob_node_write(mpijob_doc_root(object), MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, out);
	mpijob_doc_free(change);
	return rc;
}

int mpijob__act_merge(const struct mpijob__write *write, const struct mpijob_answer *answer, mpijob_text *patch)
{
	mpijob_doc *object = NULL;
	mpijob_text merged = { 0 };
	const char *uid;
	int rc = parse(answer->body, answer->body_len, &object);

	if (rc)
		return rc;
	uid = mpijob_node_string(mpijob_doc_find(object, "metadata.uid"));
	if (!uid || !write->action.uid || strcmp(uid, write->action.uid) != 0)
		rc = MPIJOB_ERR_CONFLICT;
	else if (write->action.role == MPIJOB_ROLE_SECRET)
		rc = merge_secret(object, patch, &merged);
	else
		rc = merge_tree(object, patch, &merged);
	mpijob_doc_free(object);
	if (patch->data && write->action.role == MPIJOB_ROLE_SECRET)
		mpijob__secret_wipe(patch->data, patch->len);
	mpijob__text_release(patch);
	*patch = merged;
	return rc;
}
