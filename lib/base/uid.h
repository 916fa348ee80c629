/* SPDX-License-Identifier: Apache-2.0 */
/* A uid in sixteen bytes, because there is one for each pod. */
#ifndef MPIJOB__BASE_UID_H
#define MPIJOB__BASE_UID_H

#include <stdint.h>

#define MPIJOB__BASE_UID_ROOM 37 /* for the text of a UUID and its NUL */

/* A UUID of an API server, or an owned text. */
struct mpijob__base_uid {
	_Alignas(void *) unsigned char bytes[16];
};

/* Set a uid; a text is copied, and the old uid is not freed. Returns 0 or MPIJOB_ERR_NOMEM. */
int mpijob__base_uid_set(struct mpijob__base_uid *uid, const char *text);
/* The same without a copy, to search for a uid: it is valid as long as `text`, and must not be
 * cleared. */
void mpijob__base_uid_borrow(struct mpijob__base_uid *uid, const char *text);
void mpijob__base_uid_clear(struct mpijob__base_uid *uid);
int mpijob__base_uid_same(const struct mpijob__base_uid *a, const struct mpijob__base_uid *b);
uint64_t mpijob__base_uid_hash(const struct mpijob__base_uid *uid, uint64_t seed);
/* Its text: in `room`, or the owned text. */
const char *mpijob__base_uid_text(const struct mpijob__base_uid *uid,
    char room[MPIJOB__BASE_UID_ROOM]);

#endif
