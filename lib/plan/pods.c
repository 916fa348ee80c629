/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of one job, up to tens of thousands.
 *
 * A pod needs little memory: strings that pods share (owner, node, reason, the beginning of a
 * worker's name) are interned, the UID is packed, and the data about its end is allocated only when
 * it ended. Pods are in one array. A sorted array, in the order of the public header, and a hash
 * table by UID refer to them by index. A name belongs to one pod at a time: of two pods with the
 * same name and different UIDs the younger one exists, and observations of the older one are stale.
 */
#include "plan/pods.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define NO_EXIT_CODE (-1)

/* The public view of a pod. */
struct mpijob__plan_view {
	struct mpijob_pod_facts facts;
	char uid[MPIJOB__BASE_UID_ROOM];
	char name[];
};

/* --- names --- */

/* The decimal digits of a number >= 0, at the end of `room`. */
static const char *digits_of(int32_t number, char room[12])
{
	char *at = room + 11;

	*at = 0;
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return at;
}

/* The length of a name without the index at its end; 0 when it does not end in the index. */
static size_t stem_of(const char *name, int32_t index)
{
	size_t len = strlen(name), digits_len;
	const char *digits;
	char room[12];

	if (index < 0)
		return 0;
	digits = digits_of(index, room);
	digits_len = strlen(digits);
	return len > digits_len && strcmp(name + len - digits_len, digits) == 0 ? len - digits_len
										: 0;
}

static int compare_name(const struct mpijob__plan_pod *pod, const char *name)
{
	size_t len;
	char room[12];
	int result;

	if (!pod->split)
		return strcmp(pod->stem, name);
	len = strlen(pod->stem);
	result = strncmp(pod->stem, name, len);
	return result ? result : strcmp(digits_of(pod->index, room), name + len);
}

int mpijob__plan_pod_write_name(const struct mpijob__plan_pod *pod, mpijob_text *out)
{
	char room[12];
	int code = mpijob__base_text_puts(out, pod->stem);

	return code || !pod->split ? code
				   : mpijob__base_text_puts(out, digits_of(pod->index, room));
}

/* --- places --- */

static int order(const struct mpijob__plan_pod *a, const struct mpijob_pod_facts *b)
{
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return compare_name(a, b->name);
}

/* Find the position of a pod, or where it would be inserted. */
int mpijob__plan_pods_find(const struct mpijob__plan_pods *pods, const struct mpijob_pod_facts *pod,
    size_t *at)
{
	size_t low = 0, high = pods->count;

	/* Lists and creations mostly arrive in order. */
	if (high && order(mpijob__plan_pods_at(pods, high - 1), pod) < 0)
		low = high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int result = order(mpijob__plan_pods_at(pods, middle), pod);

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

/* The position of a stored pod. */
static size_t place_of(const struct mpijob__plan_pods *pods, const struct mpijob__plan_pod *pod)
{
	size_t low = 0, high = pods->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mpijob__plan_pod *other = mpijob__plan_pods_at(pods, middle);

		if (other->role < pod->role ||
		    (other->role == pod->role && other->index < pod->index))
			low = middle + 1;
		else
			high = middle;
	}
	/* Only launcher pods have the same index. */
	while (mpijob__plan_pods_at(pods, low) != pod)
		low++;
	return low;
}

size_t mpijob__plan_pods_first(const struct mpijob__plan_pods *pods, int32_t role)
{
	size_t low = 0, high = pods->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (mpijob__plan_pods_at(pods, middle)->role < role)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t home(const struct mpijob__plan_pods *pods, const struct mpijob__base_uid *uid)
{
	return (size_t)mpijob__base_uid_hash(uid, 0) & (pods->slots - 1);
}

/* The pod in a slot; NULL when it is free. */
static struct mpijob__plan_pod *in_slot(const struct mpijob__plan_pods *pods, size_t slot)
{
	return pods->by_uid[slot] ? &pods->places[pods->by_uid[slot] - 1] : NULL;
}

/* The slot of a UID, or the free slot where it would be. There is always a free slot. */
static size_t slot_of(const struct mpijob__plan_pods *pods, const struct mpijob__base_uid *uid)
{
	size_t slot = home(pods, uid);

	while (pods->by_uid[slot] && !mpijob__base_uid_same(&in_slot(pods, slot)->uid, uid))
		slot = (slot + 1) & (pods->slots - 1);
	return slot;
}

static struct mpijob__plan_pod *find_uid(const struct mpijob__plan_pods *pods, const char *text)
{
	struct mpijob__base_uid uid;

	mpijob__base_uid_borrow(&uid, text);
	return pods->slots ? in_slot(pods, slot_of(pods, &uid)) : NULL;
}

/* Clear a slot and move back the entries that were displaced by it. */
static void clear_slot(struct mpijob__plan_pods *pods, size_t slot)
{
	size_t hole = slot, mask = pods->slots - 1;

	for (size_t next = (slot + 1) & mask; pods->by_uid[next]; next = (next + 1) & mask) {
		size_t ideal = home(pods, &in_slot(pods, next)->uid);

		if (((next - ideal) & mask) >= ((next - hole) & mask)) {
			pods->by_uid[hole] = pods->by_uid[next];
			hole = next;
		}
	}
	pods->by_uid[hole] = 0;
}

/* --- memory --- */

static int reserve_sorted(struct mpijob__plan_pods *pods)
{
	size_t cap = pods->cap + pods->cap / 4 + 4;
	uint32_t *sorted;

	if (pods->count < pods->cap)
		return 0;
	sorted = realloc(pods->sorted, cap * sizeof(*sorted));
	if (!sorted)
		return -1;
	pods->sorted = sorted;
	pods->cap = cap;
	return 0;
}

static int reserve_slots(struct mpijob__plan_pods *pods)
{
	uint32_t *old = pods->by_uid, *by_uid;
	size_t slots = pods->slots ? pods->slots * 2 : 8;

	if ((pods->count + 1) * 4 <= pods->slots * 3)
		return 0;
	by_uid = calloc(slots, sizeof(*by_uid));
	if (!by_uid)
		return -1;
	pods->by_uid = by_uid;
	pods->slots = slots;
	for (size_t i = 0; i < pods->count; i++)
		by_uid[slot_of(pods, &mpijob__plan_pods_at(pods, i)->uid)] = pods->sorted[i] + 1;
	free(old);
	return 0;
}

/* Grow the array of places without initialising new ones. */
static int reserve_places(struct mpijob__plan_pods *pods)
{
	size_t room = (size_t)pods->room + pods->room / 4 + 2;
	struct mpijob__plan_pod *places;

	if (pods->free || pods->used < pods->room)
		return 0;
	places = room < UINT32_MAX ? realloc(pods->places, room * sizeof(*places)) : NULL;
	if (!places)
		return -1;
	pods->places = places;
	pods->room = (uint32_t)room;
	return 0;
}

/* --- one pod --- */

static uint32_t place_number(const struct mpijob__plan_pods *pods,
    const struct mpijob__plan_pod *pod)
{
	return (uint32_t)(pod - pods->places);
}

/* Get a zeroed pod; memory was reserved. */
static struct mpijob__plan_pod *new_place(struct mpijob__plan_pods *pods)
{
	struct mpijob__plan_pod *pod;

	if (pods->free) {
		pod = &pods->places[pods->free - 1];
		pods->free = (uint32_t)pod->index;
	} else {
		pod = &pods->places[pods->used++];
	}
	memset(pod, 0, sizeof(*pod));
	return pod;
}

static void free_place(struct mpijob__plan_pods *pods, struct mpijob__plan_pod *pod)
{
	pod->index = (int32_t)pods->free;
	pods->free = place_number(pods, pod) + 1;
}

static void end_free(struct mpijob__plan_pods *pods, struct mpijob__plan_pod_end *end)
{
	if (!end)
		return;
	mpijob__plan_intern_put(&pods->strings, end->reason);
	free(end->message);
	free(end);
}

static void pod_free(struct mpijob__plan_pods *pods, struct mpijob__plan_pod *pod)
{
	mpijob__plan_intern_put(&pods->strings, pod->stem);
	mpijob__plan_intern_put(&pods->strings, pod->owner_uid);
	mpijob__plan_intern_put(&pods->strings, pod->node);
	mpijob__base_uid_clear(&pod->uid);
	end_free(pods, pod->end);
	free_place(pods, pod);
}

static int share(struct mpijob__plan_pods *pods, const char *text, const char **member)
{
	if (!text)
		return 0;
	*member = mpijob__plan_intern_get(&pods->strings, text);
	return *member ? 0 : -1;
}

static int share_stem(struct mpijob__plan_pods *pods, const struct mpijob_pod_facts *given,
    struct mpijob__plan_pod *pod)
{
	size_t len = stem_of(given->name, given->index);
	char *stem;
	int code;

	if (!len)
		return share(pods, given->name, &pod->stem);
	stem = strndup(given->name, len);
	if (!stem)
		return -1;
	pod->split = 1;
	code = share(pods, stem, &pod->stem);
	free(stem);
	return code;
}

static int copy_end(struct mpijob__plan_pods *pods, const struct mpijob_pod_facts *given,
    struct mpijob__plan_pod *pod)
{
	if (!given->reason && !given->message && given->exit_code == NO_EXIT_CODE &&
	    !given->ended_ms)
		return 0;
	pod->end = calloc(1, sizeof(*pod->end));
	if (!pod->end)
		return -1;
	pod->end->exit_code = given->exit_code;
	pod->end->ended_ms = given->ended_ms;
	if (given->message)
		pod->end->message = strdup(given->message);
	return given->message && !pod->end->message ? -1
						    : share(pods, given->reason, &pod->end->reason);
}

const struct mpijob__plan_pod_end *mpijob__plan_pod_end(const struct mpijob__plan_pod *pod)
{
	static const struct mpijob__plan_pod_end none = { NULL, NULL, 0, NO_EXIT_CODE };

	return pod->end ? pod->end : &none;
}

int mpijob__plan_pod_ended_before(const struct mpijob__plan_pod *pod,
    const struct mpijob__plan_pod *other)
{
	int64_t ms = mpijob__plan_pod_end(pod)->ended_ms, other_ms;

	if (!other)
		return 1;
	other_ms = mpijob__plan_pod_end(other)->ended_ms;
	return ms && (!other_ms || ms < other_ms);
}

/* Unknown phases become 0. */
static uint8_t phase_of(const struct mpijob_pod_facts *given)
{
	return given->phase > 0 && given->phase <= MPIJOB_POD_UNKNOWN ? (uint8_t)given->phase : 0;
}

static struct mpijob__plan_pod *pod_new(struct mpijob__plan_pods *pods,
    const struct mpijob_pod_facts *given)
{
	struct mpijob__plan_pod *pod = new_place(pods);

	pod->created_ms = given->created_ms;
	pod->running_since_ms = given->running_since_ms;
	pod->index = given->index;
	pod->role = (uint8_t)given->role;
	pod->phase = phase_of(given);
	pod->ready = given->ready != 0;
	pod->deleting = given->deleting != 0;
	if (copy_end(pods, given, pod) || share_stem(pods, given, pod) ||
	    share(pods, given->owner_uid, &pod->owner_uid) ||
	    share(pods, given->node, &pod->node) || mpijob__base_uid_set(&pod->uid, given->uid)) {
		pod_free(pods, pod);
		return NULL;
	}
	return pod;
}

/* Compare two pods with the same UID. */
static int same_pod(const struct mpijob__plan_pod *a, const struct mpijob_pod_facts *b)
{
	const struct mpijob__plan_pod_end *end = mpijob__plan_pod_end(a);

	return a->role == b->role && a->index == b->index && a->phase == phase_of(b) &&
	       a->ready == (b->ready != 0) && a->deleting == (b->deleting != 0) &&
	       end->exit_code == b->exit_code && end->ended_ms == b->ended_ms &&
	       a->created_ms == b->created_ms && a->running_since_ms == b->running_since_ms &&
	       compare_name(a, b->name) == 0 &&
	       mpijob__base_text_same(a->owner_uid, b->owner_uid) &&
	       mpijob__base_text_same(end->reason, b->reason) &&
	       mpijob__base_text_same(end->message, b->message) &&
	       mpijob__base_text_same(a->node, b->node);
}

static int is_uid(const struct mpijob__plan_pod *pod, const char *text)
{
	struct mpijob__base_uid uid;

	mpijob__base_uid_borrow(&uid, text);
	return mpijob__base_uid_same(&pod->uid, &uid);
}

/* Creation times are whole seconds. If a pod was recreated in the same second, the one that is not
 * being deleted is the newer one. */
static int is_stale(const struct mpijob__plan_pod *known, const struct mpijob_pod_facts *given)
{
	if (!known->created_ms || !given->created_ms)
		return 0;
	if (known->created_ms != given->created_ms)
		return given->created_ms < known->created_ms;
	return given->deleting && !known->deleting;
}

/* --- public views --- */

static void free_views(struct mpijob__plan_pods *pods)
{
	if (!pods->views)
		return;
	for (size_t i = 0; i < pods->count; i++)
		free(pods->views[i]);
	free(pods->views);
	pods->views = NULL;
}

static struct mpijob__plan_view *make_view(const struct mpijob__plan_pod *pod)
{
	const struct mpijob__plan_pod_end *end = mpijob__plan_pod_end(pod);
	mpijob_text name = { 0 };
	struct mpijob__plan_view *view = NULL;

	if (mpijob__plan_pod_write_name(pod, &name) == 0)
		view = calloc(1, sizeof(*view) + name.len + 1);
	if (view) {
		memcpy(view->name, mpijob_text_data(&name), name.len + 1);
		view->facts.size = sizeof(view->facts);
		view->facts.name = view->name;
		view->facts.uid = mpijob__base_uid_text(&pod->uid, view->uid);
		view->facts.owner_uid = pod->owner_uid;
		view->facts.role = pod->role;
		view->facts.index = pod->index;
		view->facts.phase = pod->phase;
		view->facts.ready = pod->ready;
		view->facts.deleting = pod->deleting;
		view->facts.exit_code = end->exit_code;
		view->facts.reason = end->reason;
		view->facts.message = end->message;
		view->facts.node = pod->node;
		view->facts.created_ms = pod->created_ms;
		view->facts.running_since_ms = pod->running_since_ms;
		view->facts.ended_ms = end->ended_ms;
	}
	mpijob__base_text_release(&name);
	return view;
}

const struct mpijob_pod_facts *mpijob__plan_pods_view(struct mpijob__plan_pods *pods, size_t index)
{
	if (index >= pods->count)
		return NULL;
	if (!pods->views)
		pods->views = calloc(pods->count, sizeof(struct mpijob__plan_view *));
	if (pods->views && !pods->views[index])
		pods->views[index] = make_view(mpijob__plan_pods_at(pods, index));
	return pods->views && pods->views[index] ? &pods->views[index]->facts : NULL;
}

/* --- changes --- */

static void remove_at(struct mpijob__plan_pods *pods, size_t at)
{
	struct mpijob__plan_pod *pod = &pods->places[pods->sorted[at]];

	clear_slot(pods, slot_of(pods, &pod->uid));
	pods->count--;
	memmove(&pods->sorted[at], &pods->sorted[at + 1],
	    (pods->count - at) * sizeof(*pods->sorted));
	pod_free(pods, pod);
}

/* Cannot fail: memory was reserved. */
static void place(struct mpijob__plan_pods *pods, struct mpijob__plan_pod *known,
    struct mpijob__plan_pod *pod, const struct mpijob_pod_facts *given)
{
	size_t at = known ? place_of(pods, known) : 0;
	uint32_t number = place_number(pods, pod);

	if (known && order(known, given) == 0) {
		pods->by_uid[slot_of(pods, &pod->uid)] = number + 1;
		pods->sorted[at] = number;
		pod_free(pods, known);
		return;
	}
	if (known)
		remove_at(pods, at);
	if (mpijob__plan_pods_find(pods, given, &at))
		remove_at(pods, at);
	memmove(&pods->sorted[at + 1], &pods->sorted[at],
	    (pods->count - at) * sizeof(*pods->sorted));
	pods->sorted[at] = number;
	pods->by_uid[slot_of(pods, &pod->uid)] = number + 1;
	pods->count++;
}

/* Reserve memory for one more pod. Pointers to pods become invalid. */
static int reserve(struct mpijob__plan_pods *pods)
{
	return reserve_sorted(pods) || reserve_slots(pods) || reserve_places(pods)
		   ? MPIJOB_ERR_NOMEM
		   : 0;
}

int mpijob__plan_pods_put(struct mpijob__plan_pods *pods, const struct mpijob_pod_facts *given)
{
	const struct mpijob__plan_pod *known = find_uid(pods, given->uid);
	struct mpijob__plan_pods before;
	struct mpijob__plan_pod *pod;
	size_t at;

	if (known && same_pod(known, given))
		return 0;
	if (mpijob__plan_pods_find(pods, given, &at) &&
	    !is_uid(mpijob__plan_pods_at(pods, at), given->uid) &&
	    is_stale(mpijob__plan_pods_at(pods, at), given))
		return 0;
	if (reserve(pods))
		return MPIJOB_ERR_NOMEM;
	pod = pod_new(pods, given);
	if (!pod)
		return MPIJOB_ERR_NOMEM;
	before = *pods; /* `given` may point into a view */
	pods->views = NULL;
	place(pods, find_uid(pods, given->uid), pod, given);
	free_views(&before);
	return 1;
}

int mpijob__plan_pods_remove(struct mpijob__plan_pods *pods, const char *uid)
{
	struct mpijob__plan_pod *known = find_uid(pods, uid);
	struct mpijob__plan_pods before = *pods;

	if (!known)
		return 0;
	pods->views = NULL;
	remove_at(pods, place_of(pods, known));
	free_views(&before); /* `uid` may point into a view */
	return 1;
}

void mpijob__plan_pods_free(struct mpijob__plan_pods *pods)
{
	free_views(pods);
	for (size_t i = 0; i < pods->count; i++) {
		struct mpijob__plan_pod *pod = &pods->places[pods->sorted[i]];

		mpijob__base_uid_clear(&pod->uid);
		end_free(pods, pod->end);
	}
	free(pods->places);
	free(pods->sorted);
	free(pods->by_uid);
	mpijob__plan_intern_free(&pods->strings);
	memset(pods, 0, sizeof(*pods));
}
