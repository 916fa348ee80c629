/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_REPLY_H
#define MPIJOB_LOCAL_REPLY_H

#include "local/store.h"

struct mpijob__local_call;

/* An answer of unlimited length: a watch or a log. */
struct mpijob__local_stream {
	/* Send a part. 1: there may be more; 0: nothing available now; 2: the end; negative: the
	 * error.
	 */
	int (*feed)(struct mpijob__local_stream *stream, struct mpijob__local_call *call);
	void (*free)(struct mpijob__local_stream *stream);
};

/* An answer that is not sent yet. */
struct mpijob__local_reply {
	int status;
	mpijob_text *text;                       /* the body, or */
	struct mpijob__local_revision *revision; /* a shared body */
	const char *warning;                     /* a constant, or NULL */
	const char *type;                        /* Content-Type; NULL for JSON */
	struct mpijob__local_stream *stream;     /* the rest of the answer, or NULL */
};

void mpijob__local_reply_clear(struct mpijob__local_reply *reply);

/* Each function fills the reply and returns 0 or MPIJOB_ERR_NOMEM. They take ownership of
 * `message`; NULL means that memory ran out. */
int mpijob__local_reply_error(struct mpijob__local_reply *reply, int code, const char *reason,
    const struct mpijob__local_kind *kind, const char *name, char *message);
int mpijob__local_reply_cause(struct mpijob__local_reply *reply, int code, const char *reason,
    const struct mpijob__local_kind *kind, const char *name, const char *cause, const char *field,
    char *message);
int mpijob__local_reply_invalid(struct mpijob__local_reply *reply,
    const struct mpijob__local_kind *kind, const char *name, const char *cause, const char *field,
    char *message);
int mpijob__local_reply_not_found(struct mpijob__local_reply *reply,
    const struct mpijob__local_kind *kind, const char *name);
int mpijob__local_reply_unsupported(struct mpijob__local_reply *reply,
    const struct mpijob__local_kind *kind, const char *name, const char *what);
int mpijob__local_reply_deleted(struct mpijob__local_reply *reply,
    const struct mpijob__local_object *object);
int mpijob__local_reply_object(struct mpijob__local_reply *reply, int code,
    const struct mpijob__local_object *object);
int mpijob__local_reply_revision(struct mpijob__local_reply *reply, int code,
    struct mpijob__local_revision *revision);
int mpijob__local_reply_doc(struct mpijob__local_reply *reply, int code, const mpijob_doc *doc);
/* 409 for a failed precondition: as in Kubernetes, details.kind is the kind, not the plural. */
int mpijob__local_reply_conflict(struct mpijob__local_reply *reply,
    const struct mpijob__local_kind *kind, const char *name, char *message);

/* The Status (410 Expired) for the ERROR event of a watch whose version is no longer in the
 * history. NULL when memory ran out. */
mpijob_text *mpijob__local_reply_expired(uint64_t requested, uint64_t oldest);

#endif
