/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_REPLY_H
#define MPIJOB_LOCAL_REPLY_H

#include "store.h"

struct call;

/* An answer that goes on: a watch or a followed log. */
struct stream {
	/* Tell a piece. 1: there may be more; 0: nothing at the moment; 2: it is over; negative: it
	 * failed. */
	int (*feed)(struct stream *stream, struct call *call);
	void (*free)(struct stream *stream);
};

/* An answer before it is told. */
struct reply {
	int status;
	mpijob_text *text;         /* the body, or */
	struct revision *revision; /* a body shared with others */
	const char *warning;       /* a constant; NULL for none */
	const char *type;          /* Content-Type; NULL for JSON */
	struct stream *stream;     /* when it goes on after the body */
};

void mpijob__local_reply_clear(struct reply *reply);

/* Each: 0, or MPIJOB_ERR_NOMEM. `message` is taken; NULL means that there was no memory for it. */
int mpijob__local_reply_refuse(struct reply *reply, int code, const char *reason,
    const struct kind *kind, const char *name, char *message);
int mpijob__local_reply_cause(struct reply *reply, int code, const char *reason,
    const struct kind *kind, const char *name, const char *cause, const char *field, char *message);
int mpijob__local_reply_invalid(struct reply *reply, const struct kind *kind, const char *name,
    const char *cause, const char *field, char *message);
int mpijob__local_reply_not_found(struct reply *reply, const struct kind *kind, const char *name);
int mpijob__local_reply_unsupported(struct reply *reply, const struct kind *kind, const char *name,
    const char *what);
int mpijob__local_reply_deleted(struct reply *reply, const struct object *object);
int mpijob__local_reply_object(struct reply *reply, int code, const struct object *object);
int mpijob__local_reply_revision(struct reply *reply, int code, struct revision *revision);
int mpijob__local_reply_doc(struct reply *reply, int code, const mpijob_doc *doc);
/* A precondition that does not hold: details name the kind, not the collection. */
int mpijob__local_reply_conflict(struct reply *reply, const struct kind *kind, const char *name,
    char *message);

/* The Status of a watch that asks for what is forgotten, as the object of an ERROR event. */
mpijob_text *mpijob__local_reply_expired(uint64_t asked, uint64_t oldest);

#endif
