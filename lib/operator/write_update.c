/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes objects without the right `patch`, which the ClusterRole of mpi-operator v0.8.2 does not
 * grant for some kinds: the object is read, the patch is merged into it, and an update replaces it.
 *
 * The first refusal shows which kinds these are. They are updated from then on, until an update is
 * refused too. An update carries the resourceVersion that was read, so it does not overwrite a
 * change of another client.
 */
#include "operator/write_update.h"

#include "base/secret.h"
#include "operator/read.h"

#include <string.h>

/* A patch of a child. The role of the job itself is 0. */
static int is_patch(const struct mpijob__operator_write *write)
{
	return write->action.role && write->action.verb == MPIJOB_ACTION_PATCH;
}

int mpijob__operator_write_is_update(const struct mpijob__operator_write *write)
{
	return is_patch(write) && (write->operator_->rights.updated_kinds &
				      MPIJOB__OPERATOR_KIND_BIT(write->action.kind));
}

int mpijob__operator_write_fall_back(struct mpijob__operator_write *write, const char *message)
{
	unsigned bit = MPIJOB__OPERATOR_KIND_BIT(write->action.kind);
	unsigned *updated_kinds = &write->operator_->rights.updated_kinds;

	/* If both verbs are forbidden, the message about the first one is reported: our own
	 * ClusterRole grants it. */
	if (!write->forbidden)
		write->forbidden = strdup(message);
	if (mpijob__operator_write_is_read(write))
		return mpijob__operator_read_refused(write->operator_, write->action.kind,
			   write->is_list) &&
		       mpijob__operator_write_read(write, write->state) == 0;
	if (!is_patch(write))
		return 0;
	if (write->state == MPIJOB__OPERATOR_ACTION_UPDATE_IN_FLIGHT) {
		*updated_kinds &= ~bit;
		return 0;
	}
	*updated_kinds |= bit;
	return mpijob__operator_write_read(write, MPIJOB__OPERATOR_ACTION_MERGING) == 0;
}

static int parse(const char *text, size_t len, mpijob_doc **out)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;

	options.format = MPIJOB_FORMAT_JSON;
	options.no_places = 1;
	return mpijob_doc_parse(text, len, &options, out, NULL);
}

/*
 * The key of a Secret must not be in a tree: the text of its patch, {"metadata":...,"data":...},
 * ends with the new data, which is appended to the other members of the object.
 */
static int merge_secret(mpijob_doc *object, const mpijob_text *patch, mpijob_text *out)
{
	const char *data = strstr(mpijob_text_data(patch), "\"data\":");
	int rc = data ? 0 : MPIJOB_ERR_USAGE;

	mpijob_node_remove(mpijob_doc_edit(object, ""), "data");
	if (rc == 0)
		rc = mpijob_node_write(mpijob_doc_root(object), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, out);
	if (rc == 0) {
		out->len -= strlen("}");
		rc = mpijob__base_text_printf(out, ",%s", data);
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
		rc = mpijob_node_write(mpijob_doc_root(object), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, out);
	mpijob_doc_free(change);
	return rc;
}

int mpijob__operator_write_merge(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer, mpijob_text *patch)
{
	mpijob_doc *object = NULL;
	mpijob_text merged = { 0 };
	const char *uid;
	int rc = parse(answer->body, answer->body_len, &object);

	if (rc)
		return rc;
	uid = mpijob_node_string(mpijob_doc_edit(object, "metadata.uid"));
	if (!uid || !write->action.uid || strcmp(uid, write->action.uid) != 0)
		rc = MPIJOB_ERR_CONFLICT;
	else if (write->action.role == MPIJOB_ROLE_SECRET)
		rc = merge_secret(object, patch, &merged);
	else
		rc = merge_tree(object, patch, &merged);
	mpijob_doc_free(object);
	if (patch->data && write->action.role == MPIJOB_ROLE_SECRET)
		mpijob__base_secret_wipe(patch->data, patch->len);
	mpijob__base_text_release(patch);
	*patch = merged;
	return rc;
}
