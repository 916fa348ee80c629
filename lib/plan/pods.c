/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of one job, up to tens of thousands of them.
 *
 * Each pod is one block: its facts, name, uid and message; what pods have in common (owner, node,
 * reason) is interned. One array keeps them in the order of the public header, one open hash
 * finds them by uid. A name can belong to one pod at a time: of two pods with the same name and
 * different uids the younger one is there, and news of the older one is stale.
 */
#include "plan/pods.h"

#include "base/digest.h"

#include <stdlib.h>
#include <string.h>

static int same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static int order(const struct mpijob_pod_facts *a, const struct mpijob_pod_facts *b)
{
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Find where a pod stands, or would stand. */
static int find(const struct mpijob__pods *pods, const struct mpijob_pod_facts *pod, size_t *at)
{
	size_t low = 0, high = pods->count;

	/* Lists and creations mostly arrive in order. */
	if (high && order(pods->sorted[high - 1], pod) < 0)
		low = high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int result = order(pods->sorted[middle], pod);

		if (result == 0) {
			*at = middle;
			return 1;
		}
		if (result < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*at = low;
	return 0;
}

size_t mpijob__pods_first(const struct mpijob__pods *pods, int32_t role)
{
	size_t low = 0, high = pods->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pods->sorted[middle]->role < role)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t home(const struct mpijob__pods *pods, const char *uid)
{
	uint64_t hash = mpijob__digest_add(MPIJOB__DIGEST_START, uid, strlen(uid));

	return (size_t)(hash ^ (hash >> 32)) & (pods->slots - 1);
}

/* The slot of a uid, or the free slot where it belongs. There is always a free one. */
static size_t slot_of(const struct mpijob__pods *pods, const char *uid)
{
	size_t slot = home(pods, uid);

	while (pods->by_uid[slot] && strcmp(pods->by_uid[slot]->uid, uid) != 0)
		slot = (slot + 1) & (pods->slots - 1);
	return slot;
}

static struct mpijob_pod_facts *find_uid(const struct mpijob__pods *pods, const char *uid)
{
	return pods->slots ? pods->by_uid[slot_of(pods, uid)] : NULL;
}

/* Empty a slot and move up what stood behind it for want of room. */
static void slot_clear(struct mpijob__pods *pods, size_t slot)
{
	size_t hole = slot, mask = pods->slots - 1;

	for (size_t next = (slot + 1) & mask; pods->by_uid[next]; next = (next + 1) & mask) {
		size_t ideal = home(pods, pods->by_uid[next]->uid);

		if (((next - ideal) & mask) >= ((next - hole) & mask)) {
			pods->by_uid[hole] = pods->by_uid[next];
			hole = next;
		}
	}
	pods->by_uid[hole] = NULL;
}

static int room_sorted(struct mpijob__pods *pods)
{
	size_t cap = pods->cap + pods->cap / 2 + 4;
	struct mpijob_pod_facts **sorted;

	if (pods->count < pods->cap)
		return 0;
	sorted = realloc(pods->sorted, cap * sizeof(struct mpijob_pod_facts *));
	if (!sorted)
		return -1;
	pods->sorted = sorted;
	pods->cap = cap;
	return 0;
}

static int room_slots(struct mpijob__pods *pods)
{
	struct mpijob_pod_facts **old = pods->by_uid;
	struct mpijob_pod_facts **by_uid;
	size_t slots = pods->slots ? pods->slots * 2 : 8;

	if ((pods->count + 1) * 4 <= pods->slots * 3)
		return 0;
	by_uid = calloc(slots, sizeof(struct mpijob_pod_facts *));
	if (!by_uid)
		return -1;
	pods->by_uid = by_uid;
	pods->slots = slots;
	for (size_t i = 0; i < pods->count; i++)
		by_uid[slot_of(pods, pods->sorted[i]->uid)] = pods->sorted[i];
	free(old);
	return 0;
}

static void pod_free(struct mpijob__pods *pods, struct mpijob_pod_facts *pod)
{
	mpijob__intern_put(&pods->strings, pod->owner_uid);
	mpijob__intern_put(&pods->strings, pod->reason);
	mpijob__intern_put(&pods->strings, pod->node);
	free(pod);
}

static char *place(char *at, const char *text, size_t len, const char **member)
{
	memcpy(at, text, len + 1);
	*member = at;
	return at + len + 1;
}

static int share(struct mpijob__pods *pods, const char *text, const char **member)
{
	*member = NULL;
	if (!text)
		return 0;
	*member = mpijob__intern_get(&pods->strings, text);
	return *member ? 0 : -1;
}

static struct mpijob_pod_facts *pod_new(struct mpijob__pods *pods, const struct mpijob_pod_facts *given)
{
	size_t name_len = strlen(given->name), uid_len = strlen(given->uid);
	size_t message_len = given->message ? strlen(given->message) : 0;
	struct mpijob_pod_facts *pod;
	char *at;

	pod = malloc(sizeof(*pod) + name_len + 1 + uid_len + 1 + (given->message ? message_len + 1 : 0));
	if (!pod)
		return NULL;
	*pod = *given;
	pod->size = sizeof(*pod);
	at = place((char *)(pod + 1), given->name, name_len, &pod->name);
	at = place(at, given->uid, uid_len, &pod->uid);
	if (given->message)
		place(at, given->message, message_len, &pod->message);
	pod->reason = pod->node = NULL;
	if (share(pods, given->owner_uid, &pod->owner_uid) || share(pods, given->reason, &pod->reason) ||
	    share(pods, given->node, &pod->node)) {
		pod_free(pods, pod);
		return NULL;
	}
	return pod;
}

static int same_pod(const struct mpijob_pod_facts *a, const struct mpijob_pod_facts *b)
{
	return a->role == b->role && a->index == b->index && a->phase == b->phase && a->ready == b->ready &&
	       a->deleting == b->deleting && a->exit_code == b->exit_code && a->created_ms == b->created_ms &&
	       a->running_since_ms == b->running_since_ms && same_text(a->name, b->name) && same_text(a->uid, b->uid) &&
	       same_text(a->owner_uid, b->owner_uid) && same_text(a->reason, b->reason) &&
	       same_text(a->message, b->message) && same_text(a->node, b->node);
}

/* Creation times have whole seconds; a pod that was made again in the same second is the one that is not going. */
static int is_stale(const struct mpijob_pod_facts *known, const struct mpijob_pod_facts *news)
{
	if (!known->created_ms || !news->created_ms)
		return 0;
	if (known->created_ms != news->created_ms)
		return news->created_ms < known->created_ms;
	return news->deleting && !known->deleting;
}

static void remove_at(struct mpijob__pods *pods, size_t at)
{
	struct mpijob_pod_facts *pod = pods->sorted[at];

	slot_clear(pods, slot_of(pods, pod->uid));
	pods->count--;
	memmove(&pods->sorted[at], &pods->sorted[at + 1], (pods->count - at) * sizeof(struct mpijob_pod_facts *));
	pod_free(pods, pod);
}

int mpijob__pods_put(struct mpijob__pods *pods, const struct mpijob_pod_facts *given)
{
	struct mpijob_pod_facts *pod, *known = find_uid(pods, given->uid);
	size_t at;

	if (known && same_pod(known, given))
		return 0;
	if (find(pods, given, &at) && strcmp(pods->sorted[at]->uid, given->uid) != 0 &&
	    is_stale(pods->sorted[at], given))
		return 0;
	if (room_sorted(pods) || room_slots(pods))
		return MPIJOB_ERR_NOMEM;
	pod = pod_new(pods, given);
	if (!pod)
		return MPIJOB_ERR_NOMEM;

	/* From here on nothing fails. */
	if (known && find(pods, known, &at)) {
		if (order(known, pod) == 0) {
			pods->by_uid[slot_of(pods, pod->uid)] = pod;
			pods->sorted[at] = pod;
			pod_free(pods, known);
			return 1;
		}
		remove_at(pods, at);
	}
	if (find(pods, pod, &at))
		remove_at(pods, at);
	memmove(&pods->sorted[at + 1], &pods->sorted[at], (pods->count - at) * sizeof(struct mpijob_pod_facts *));
	pods->sorted[at] = pod;
	pods->by_uid[slot_of(pods, pod->uid)] = pod;
	pods->count++;
	return 1;
}

int mpijob__pods_forget(struct mpijob__pods *pods, const char *uid)
{
	struct mpijob_pod_facts *known = find_uid(pods, uid);
	size_t at;

	if (!known || !find(pods, known, &at))
		return 0;
	remove_at(pods, at);
	return 1;
}

void mpijob__pods_free(struct mpijob__pods *pods)
{
	for (size_t i = 0; i < pods->count; i++)
		free(pods->sorted[i]);
	free(pods->sorted);
	free(pods->by_uid);
	mpijob__intern_free(&pods->strings);
	memset(pods, 0, sizeof(*pods));
}
