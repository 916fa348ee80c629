/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the events of a text in a flat array, in which the beginning and the end of a list or map
 * refer to each other.
 */
#include "doc/layout.h"

#include <mpijob/base.h>

#include <string.h>

void mpijob__doc_layout_init(struct mpijob__doc_layout *layout)
{
	memset(layout, 0, sizeof(*layout));
	layout->events.size = sizeof(struct mpijob__doc_event);
	layout->roots.size = sizeof(uint32_t);
	layout->open.size = sizeof(uint32_t);
}

void mpijob__doc_layout_free(struct mpijob__doc_layout *layout)
{
	mpijob__doc_stack_free(&layout->events);
	mpijob__doc_stack_free(&layout->roots);
	mpijob__doc_stack_free(&layout->open);
}

void mpijob__doc_layout_clear(struct mpijob__doc_layout *layout)
{
	layout->events.count = 0;
	layout->roots.count = 0;
	layout->open.count = 0;
	layout->json = 0;
	layout->converted = 0;
}

int mpijob__doc_layout_add(struct mpijob__doc_layout *layout, const struct mpijob__doc_event *event)
{
	uint32_t at = (uint32_t)layout->events.count;
	struct mpijob__doc_event *added = mpijob__doc_stack_push(&layout->events, event);
	const uint32_t *open;

	if (!added)
		return MPIJOB_ERR_NOMEM;
	if (added->type == MPIJOB__DOC_EVENT_CLOSE) {
		open = mpijob__doc_stack_top(&layout->open);
		added->match = *open;
		added->style = mpijob__doc_layout_at(layout, *open)->style;
		mpijob__doc_layout_at(layout, *open)->match = at;
		mpijob__doc_stack_pop(&layout->open);
		return 0;
	}
	if (layout->open.count == 0)
		layout->root = at;
	if (!mpijob__doc_event_opens(added))
		return 0;
	return mpijob__doc_stack_push(&layout->open, &at) ? 0 : MPIJOB_ERR_NOMEM;
}

int mpijob__doc_layout_end(struct mpijob__doc_layout *layout)
{
	return mpijob__doc_stack_push(&layout->roots, &layout->root) ? 0 : MPIJOB_ERR_NOMEM;
}
