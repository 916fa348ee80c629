/* SPDX-License-Identifier: Apache-2.0 */
/* Where the values of a text are, in bytes. The readers record it for edit_text.c. */
#ifndef MPIJOB__DOC_LAYOUT_H
#define MPIJOB__DOC_LAYOUT_H

#include "doc/stack.h"

#include <stdint.h>

enum mpijob__doc_event_type {
	MPIJOB__DOC_EVENT_SCALAR, /* also a key */
	MPIJOB__DOC_EVENT_ALIAS,
	MPIJOB__DOC_EVENT_CLOSE, /* the end of a list or map */
	MPIJOB__DOC_EVENT_LIST,
	MPIJOB__DOC_EVENT_MAP
};

enum mpijob__doc_event_style {
	MPIJOB__DOC_STYLE_BLOCK, /* list, map: in lines of its own */
	MPIJOB__DOC_STYLE_FLOW,  /* list, map: in brackets */
	MPIJOB__DOC_STYLE_PLAIN,
	MPIJOB__DOC_STYLE_SINGLE,
	MPIJOB__DOC_STYLE_DOUBLE,
	MPIJOB__DOC_STYLE_LITERAL,
	MPIJOB__DOC_STYLE_FOLDED
};

struct mpijob__doc_event {
	uint8_t type;
	uint8_t style;
	uint8_t anchored;
	uint8_t tagged;
	uint32_t start; /* includes anchor and tag; not known of the CLOSE of a block */
	uint32_t end;   /* not known of a block */
	uint32_t match; /* of a list or map: its end; of the end: the list or map */
	int32_t line;   /* as in the node */
	int32_t column;
};

struct mpijob__doc_layout {
	struct mpijob__doc_stack events;
	struct mpijob__doc_stack roots; /* uint32_t: the event of each document's root */
	struct mpijob__doc_stack open;  /* uint32_t: events that are open */
	uint32_t root;                  /* of the current document */
	int json;                       /* the text is JSON */
	int converted; /* the text was UTF-16: the offsets are not those of the text */
};

void mpijob__doc_layout_init(struct mpijob__doc_layout *layout);
void mpijob__doc_layout_free(struct mpijob__doc_layout *layout);
/* Forget all events. */
void mpijob__doc_layout_clear(struct mpijob__doc_layout *layout);
/* Add the next event; sets `match`. Returns 0 or MPIJOB_ERR_NOMEM. */
int mpijob__doc_layout_add(struct mpijob__doc_layout *layout,
    const struct mpijob__doc_event *event);
/* The current document is complete. Returns 0 or MPIJOB_ERR_NOMEM. */
int mpijob__doc_layout_end(struct mpijob__doc_layout *layout);

static inline struct mpijob__doc_event *
mpijob__doc_layout_at(const struct mpijob__doc_layout *layout, uint32_t at)
{
	return mpijob__doc_stack_at(&layout->events, at);
}

static inline int mpijob__doc_event_opens(const struct mpijob__doc_event *event)
{
	return event->type >= MPIJOB__DOC_EVENT_LIST;
}

/* The event after a value that begins with event `at`. */
static inline uint32_t mpijob__doc_layout_next(const struct mpijob__doc_layout *layout, uint32_t at)
{
	const struct mpijob__doc_event *event = mpijob__doc_layout_at(layout, at);

	return (mpijob__doc_event_opens(event) ? event->match : at) + 1;
}

#endif
