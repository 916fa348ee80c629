/* SPDX-License-Identifier: Apache-2.0 */
/* A uid in sixteen bytes, since there is one for each pod. */
#ifndef MPIJOB__BASE_UID_H
#define MPIJOB__BASE_UID_H

#include <stdint.h>

#define MPIJOB__UID_ROOM 37 /* for the text of a UUID and its NUL */

/* A UUID as API servers make them, or a text that is ours. */
struct mpijob__uid {
	_Alignas(void *) unsigned char bytes[16];
};

/* 0 or MPIJOB_ERR_NOMEM. A text is copied; a uid that was set before is not freed. */
int mpijob__uid_set(struct mpijob__uid *uid, const char *text);
/* The same without a copy, for a question: it is valid as long as `text`, and must not be cleared. */
void mpijob__uid_borrow(struct mpijob__uid *uid, const char *text);
void mpijob__uid_clear(struct mpijob__uid *uid);
int mpijob__uid_same(const struct mpijob__uid *a, const struct mpijob__uid *b);
uint64_t mpijob__uid_hash(const struct mpijob__uid *uid, uint64_t seed);
/* Its text: in `room`, or its own. */
const char *mpijob__uid_text(const struct mpijob__uid *uid, char room[MPIJOB__UID_ROOM]);

#endif
