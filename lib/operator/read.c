/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one object by its name. The ClusterRole of mpi-operator v0.8.2 grants `list` but not `get`
 * for some kinds; such an object is read by a list with a field selector.
 *
 * The first refusal shows which kinds these are. They are listed from then on, until a list is
 * refused too.
 */
#include "operator/read.h"

#include "base/secret.h"
#include "base/split.h"
#include "operator/operator.h"
#include "operator/request.h"

#include <string.h>

#define LARGEST (16u << 20)

int mpijob__operator_read_start(mpijob_operator *operator_, struct mpijob_target target,
    const struct mpijob_callbacks *callbacks, int *is_list, mpijob_call **call)
{
	mpijob_text selector = { 0 };
	const char *query[] = { "fieldSelector", NULL };
	int rc = 0;

	*is_list = (operator_->rights.listed_kinds & MPIJOB__OPERATOR_KIND_BIT(target.kind)) != 0;
	if (*is_list) {
		rc = mpijob__base_text_printf(&selector, "metadata.name=%s", target.name);
		query[1] = mpijob_text_data(&selector);
		target.name = NULL;
		target.query = query;
		target.query_count = 2;
	}
	if (rc == 0)
		rc = mpijob__operator_request_send(operator_->client, "GET", &target, NULL,
		    callbacks, call);
	mpijob__base_text_release(&selector);
	return rc;
}

int mpijob__operator_read_refused(mpijob_operator *operator_, const char *kind, int is_list)
{
	if (is_list)
		operator_->rights.listed_kinds &= ~MPIJOB__OPERATOR_KIND_BIT(kind);
	else
		operator_->rights.listed_kinds |= MPIJOB__OPERATOR_KIND_BIT(kind);
	return !is_list;
}

struct found {
	mpijob_text *text;
	int code;
};

static int take(void *user, const struct mpijob__base_split_object *object)
{
	struct found *found = user;

	if (found->code != MPIJOB_ERR_NOT_FOUND)
		return 0;
	found->code = object->json ? mpijob_text_write(found->text, object->json, object->len)
				   : MPIJOB_ERR_SYNTAX;
	return 0;
}

/* The only object of a list, in `text`. 0; MPIJOB_ERR_NOT_FOUND; MPIJOB_ERR_SYNTAX;
 * MPIJOB_ERR_NOMEM. */
static int unwrap(const char *api_version, const char *kind, const struct mpijob_answer *answer,
    mpijob_text *text)
{
	struct found found = { text, MPIJOB_ERR_NOT_FOUND };
	struct mpijob__base_split split;
	int rc =
	    mpijob__base_split_init(&split, MPIJOB__BASE_SPLIT_LIST, api_version, kind, LARGEST);

	if (rc == 0)
		rc = mpijob__base_split_feed(&split, answer->body, answer->body_len, take, &found);
	if (rc == 0 && !mpijob__base_split_complete(&split))
		rc = MPIJOB_ERR_SYNTAX;
	mpijob__base_split_release(&split);
	return rc ? rc : found.code;
}

int mpijob__operator_read_answer(const char *api_version, const char *kind, int is_list,
    const struct mpijob_answer *answer,
    int (*handle)(void *user, const struct mpijob_answer *answer), void *user)
{
	struct mpijob_answer object = *answer;
	mpijob_text text = { 0 };
	int result;

	if (is_list && answer->code == 0) {
		object.code = unwrap(api_version, kind, answer, &text);
		object.body = mpijob_text_data(&text);
		object.body_len = mpijob_text_len(&text);
	}
	result = handle(user, &object);
	if (text.data)
		mpijob__base_secret_wipe(text.data, text.len);
	mpijob__base_text_release(&text);
	return result;
}
