/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts about one job's children: which observations change them, and which are ignored.
 *
 * An object that the MPIJob controls but that does not have the name of a child is ignored. A
 * foreign object that has the name of a child is kept: the plan reports the name conflict.
 */
#include "plan/facts.h"

#include "base/api.h"
#include "base/struct.h"
#include "base/text.h"
#include "render/render.h"

#include <stdlib.h>
#include <string.h>

mpijob_facts *mpijob_facts_new(void)
{
	return calloc(1, sizeof(mpijob_facts));
}

/* The slot of a child; -1 for other roles. */
static int slot_of(int32_t role)
{
	if (role == MPIJOB_ROLE_NETWORK_POLICY)
		return 0;
	return role > 0 && role < MPIJOB__PLAN_CHILD_SLOTS ? role : -1;
}

static void child_clear(struct mpijob__plan_child *child)
{
	mpijob__base_arena_free(&child->arena);
	mpijob_doc_free(child->doc);
	memset(child, 0, sizeof(*child));
}

static void launcher_clear(struct mpijob__plan_launcher *launcher)
{
	mpijob__base_arena_free(&launcher->arena);
	mpijob_doc_free(launcher->doc);
	memset(launcher, 0, sizeof(*launcher));
}

void mpijob_facts_free(mpijob_facts *facts)
{
	if (!facts)
		return;
	mpijob__plan_pods_free(&facts->pods);
	launcher_clear(&facts->launcher);
	for (int i = 0; i < MPIJOB__PLAN_CHILD_SLOTS; i++)
		child_clear(&facts->children[i]);
	free(facts);
}

/* Times are added and subtracted; larger ones are invalid. */
#define FARTHEST_MS (INT64_C(1) << 53)

static int is_time(int64_t ms)
{
	return ms >= -FARTHEST_MS && ms <= FARTHEST_MS;
}

static int copy_node(const mpijob_node **member, mpijob_doc **doc)
{
	if (!*member)
		return 0;
	*doc = mpijob_doc_from_node(*member, NULL);
	*member = *doc ? mpijob_doc_root(*doc) : NULL;
	return *doc ? 0 : MPIJOB_ERR_NOMEM;
}

static int put_pod(mpijob_facts *facts, const struct mpijob_pod_facts *given)
{
	struct mpijob_pod_facts pod;
	int code = mpijob__base_struct_check(&pod, sizeof(pod), given);

	if (code)
		return code;
	if (!pod.name || !pod.uid ||
	    (pod.role != MPIJOB_ROLE_WORKER && pod.role != MPIJOB_ROLE_LAUNCHER))
		return MPIJOB_ERR_USAGE;
	if (pod.phase < 0 || pod.phase > MPIJOB_POD_UNKNOWN ||
	    !mpijob__base_struct_is_flag(pod.ready) || !mpijob__base_struct_is_flag(pod.deleting))
		return MPIJOB_ERR_USAGE;
	if (!is_time(pod.created_ms) || !is_time(pod.running_since_ms) || !is_time(pod.ended_ms))
		return MPIJOB_ERR_USAGE;
	return mpijob__plan_pods_put(&facts->pods, &pod);
}

static int same_launcher(const struct mpijob_launcher_facts *a,
    const struct mpijob_launcher_facts *b)
{
	return a->deleting == b->deleting && a->suspended == b->suspended &&
	       a->complete == b->complete && a->has_failed == b->has_failed &&
	       a->active == b->active && a->succeeded == b->succeeded && a->failed == b->failed &&
	       a->start_ms == b->start_ms && a->completion_ms == b->completion_ms &&
	       a->directives == b->directives && mpijob__base_text_same(a->name, b->name) &&
	       mpijob__base_text_same(a->uid, b->uid) &&
	       mpijob__base_text_same(a->owner_uid, b->owner_uid) &&
	       mpijob__base_text_same(a->resource_version, b->resource_version) &&
	       mpijob__base_text_same(a->failed_reason, b->failed_reason) &&
	       mpijob__base_text_same(a->failed_message, b->failed_message) &&
	       mpijob_node_equal(a->node_selector, b->node_selector);
}

static int launcher_copy(struct mpijob__plan_launcher *out,
    const struct mpijob_launcher_facts *given)
{
	int code;

	memset(out, 0, sizeof(*out));
	out->facts = *given;
	code = mpijob__base_arena_own(&out->arena, &out->facts.name);
	if (!code)
		code = mpijob__base_arena_own(&out->arena, &out->facts.uid);
	if (!code)
		code = mpijob__base_arena_own(&out->arena, &out->facts.owner_uid);
	if (!code)
		code = mpijob__base_arena_own(&out->arena, &out->facts.resource_version);
	if (!code)
		code = mpijob__base_arena_own(&out->arena, &out->facts.failed_reason);
	if (!code)
		code = mpijob__base_arena_own(&out->arena, &out->facts.failed_message);
	if (!code)
		code = copy_node(&out->facts.node_selector, &out->doc);
	if (code)
		launcher_clear(out);
	return code;
}

/* Of two Jobs with the name of the launcher, the one with the higher resourceVersion exists. A
 * version that is not a number cannot be compared. */
static int is_older(const char *version, const char *than)
{
	size_t len, than_len;

	if (!version || !than || !*version || !*than)
		return 0;
	len = strspn(version, "0123456789");
	than_len = strspn(than, "0123456789");
	if (version[len] || than[than_len])
		return 0;
	return len != than_len ? len < than_len : strcmp(version, than) < 0;
}

static int put_launcher(mpijob_facts *facts, const struct mpijob_launcher_facts *given)
{
	struct mpijob_launcher_facts local;
	struct mpijob__plan_launcher copy;
	int code = mpijob__base_struct_check(&local, sizeof(local), given);

	if (code)
		return code;
	if (!local.name || !local.uid || !is_time(local.start_ms) ||
	    !is_time(local.completion_ms) || !mpijob__base_struct_is_flag(local.deleting) ||
	    !mpijob__base_struct_is_flag(local.suspended) ||
	    !mpijob__base_struct_is_flag(local.complete) ||
	    !mpijob__base_struct_is_flag(local.has_failed))
		return MPIJOB_ERR_USAGE;
	if (mpijob_facts_launcher(facts) && same_launcher(&facts->launcher.facts, &local))
		return 0;
	if (facts->launcher.facts.name && strcmp(facts->launcher.facts.uid, local.uid) != 0 &&
	    is_older(local.resource_version, facts->launcher.facts.resource_version))
		return 0;
	code = launcher_copy(&copy, &local);
	if (code)
		return code;
	launcher_clear(&facts->launcher);
	facts->launcher = copy;
	return 1;
}

static int same_listed(const struct mpijob_child_facts *a, const struct mpijob_child_facts *b)
{
	if (!a->listed_workers || !b->listed_workers)
		return a->listed_workers == b->listed_workers;
	return a->listed_workers_count == b->listed_workers_count &&
	       (!a->listed_workers_count ||
		   memcmp(a->listed_workers, b->listed_workers, a->listed_workers_count) == 0);
}

static int same_child(const struct mpijob_child_facts *a, const struct mpijob_child_facts *b)
{
	return a->role == b->role && a->deleting == b->deleting && a->digest == b->digest &&
	       a->listed == b->listed && a->listed_count == b->listed_count &&
	       mpijob__base_text_same(a->name, b->name) && mpijob__base_text_same(a->uid, b->uid) &&
	       mpijob__base_text_same(a->owner_uid, b->owner_uid) && same_listed(a, b) &&
	       mpijob_node_equal(a->owned, b->owned);
}

static int copy_listed(struct mpijob__plan_child *out)
{
	uint8_t *listed;

	if (!out->facts.listed_workers)
		return 0;
	listed = mpijob__base_arena_alloc(&out->arena, out->facts.listed_workers_count);
	if (!listed)
		return MPIJOB_ERR_NOMEM;
	if (out->facts.listed_workers_count)
		memcpy(listed, out->facts.listed_workers, out->facts.listed_workers_count);
	out->facts.listed_workers = listed;
	return 0;
}

static int child_copy(struct mpijob__plan_child *out, const struct mpijob_child_facts *given)
{
	int code;

	memset(out, 0, sizeof(*out));
	out->facts = *given;
	code = mpijob__base_arena_own(&out->arena, &out->facts.name);
	if (!code)
		code = mpijob__base_arena_own(&out->arena, &out->facts.uid);
	if (!code)
		code = mpijob__base_arena_own(&out->arena, &out->facts.owner_uid);
	if (!code)
		code = copy_listed(out);
	if (!code)
		code = copy_node(&out->facts.owned, &out->doc);
	if (code)
		child_clear(out);
	return code;
}

static int put_child(mpijob_facts *facts, const struct mpijob_child_facts *given)
{
	struct mpijob_child_facts local;
	struct mpijob__plan_child copy, *known;
	int slot, code = mpijob__base_struct_check(&local, sizeof(local), given);

	if (code)
		return code;
	slot = slot_of(local.role);
	if (!local.name || !local.uid || slot < 0 || !mpijob__base_struct_is_flag(local.deleting))
		return MPIJOB_ERR_USAGE;
	known = &facts->children[slot];
	if (known->facts.name && same_child(&known->facts, &local))
		return 0;
	code = child_copy(&copy, &local);
	if (code)
		return code;
	child_clear(known);
	*known = copy;
	return 1;
}

/* The result of a deleted Job is kept: with a short ttlSecondsAfterFinished, end and deletion may
 * be observed together. */
static int forget_launcher(struct mpijob__plan_launcher *launcher)
{
	int known = !launcher->deleted;

	if (launcher->facts.complete || launcher->facts.has_failed)
		launcher->deleted = 1;
	else
		launcher_clear(launcher);
	return known;
}

int mpijob_facts_forget(mpijob_facts *facts, const char *uid)
{
	if (!facts || !uid)
		return MPIJOB_ERR_USAGE;
	if (facts->launcher.facts.name && strcmp(facts->launcher.facts.uid, uid) == 0)
		return forget_launcher(&facts->launcher);
	for (int i = 0; i < MPIJOB__PLAN_CHILD_SLOTS; i++) {
		struct mpijob__plan_child *child = &facts->children[i];

		if (child->facts.name && strcmp(child->facts.uid, uid) == 0) {
			child_clear(child);
			return 1;
		}
	}
	return mpijob__plan_pods_remove(&facts->pods, uid);
}

/* Whether an object has the name of the controlling MPIJob's child of this role, or no MPIJob
 * controls it: 1 or 0; MPIJOB_ERR_NOMEM. */
static int is_child(const struct mpijob_observed *observed, int32_t role)
{
	struct mpijob_text name = { 0 };
	int code;

	if (!observed->owner_kind || strcmp(observed->owner_kind, MPIJOB__BASE_API_KIND) != 0 ||
	    !observed->owner_name)
		return 1;
	code = mpijob__render_name(observed->owner_name, role, -1, &name);
	if (!code)
		code = observed->name && strcmp(observed->name, mpijob_text_data(&name)) == 0;
	mpijob__base_text_release(&name);
	return code;
}

int mpijob_facts_apply(mpijob_facts *facts, const struct mpijob_observed *given)
{
	struct mpijob_observed observed;
	int code;

	if (!facts || !given)
		return MPIJOB_ERR_USAGE;
	code = mpijob__base_struct_check(&observed, sizeof(observed), given);
	if (code)
		return code;
	if (observed.event < MPIJOB_EVENT_NONE || observed.event > MPIJOB_EVENT_ERROR ||
	    !mpijob__base_struct_is_flag(observed.deleting) ||
	    !mpijob__base_struct_is_flag(observed.initial_events_end))
		return MPIJOB_ERR_USAGE;
	if (!observed.pod && !observed.launcher && !observed.child)
		return 0;
	if (observed.event == MPIJOB_EVENT_DELETED)
		return observed.uid ? mpijob_facts_forget(facts, observed.uid) : 0;
	if (observed.pod)
		return put_pod(facts, observed.pod);
	code = is_child(&observed, observed.launcher ? MPIJOB_ROLE_LAUNCHER : observed.child->role);
	if (code <= 0)
		return code;
	if (observed.launcher)
		return put_launcher(facts, observed.launcher);
	return put_child(facts, observed.child);
}

int mpijob_facts_pod_find(const mpijob_facts *facts, int32_t role, int32_t index, const char *name,
    size_t *out)
{
	const struct mpijob_pod_facts like = { .role = role, .index = index, .name = name };
	size_t at;

	if (!facts || !name || !out)
		return MPIJOB_ERR_USAGE;
	if (!mpijob__plan_pods_find(&facts->pods, &like, &at))
		return 0;
	*out = at;
	return 1;
}

const struct mpijob_pod_facts *mpijob_facts_pod_at(mpijob_facts *facts, size_t index)
{
	return facts ? mpijob__plan_pods_view(&facts->pods, index) : NULL;
}

const struct mpijob_launcher_facts *mpijob_facts_launcher(const mpijob_facts *facts)
{
	return facts && facts->launcher.facts.name && !facts->launcher.deleted
		   ? &facts->launcher.facts
		   : NULL;
}

const struct mpijob_child_facts *mpijob_facts_child(const mpijob_facts *facts, int32_t role)
{
	int slot = slot_of(role);

	return facts && slot >= 0 && facts->children[slot].facts.name ? &facts->children[slot].facts
								      : NULL;
}
