/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identifiers of the deliberate differences from mpi-operator v0.8.2, and when each holds. What
 * each of them is about is in differences.inc, and not in the library.
 */
#include "render/differences.h"

#define DIFFERENCE(name, mode, id, what, why, toggle) \
	[MPIJOB__RENDER_DIFFERENCE_##name] = { id, MPIJOB__RENDER_DIFFERENCE_##mode },

static const struct mpijob__render_difference_row rows[MPIJOB__RENDER_DIFFERENCE_COUNT] = {
#include "render/differences.inc"
};

const struct mpijob__render_difference_row *mpijob__render_difference_row(
    enum mpijob__render_difference difference)
{
	return difference > MPIJOB__RENDER_DIFFERENCE_NONE &&
		       difference < MPIJOB__RENDER_DIFFERENCE_COUNT
		   ? &rows[difference]
		   : NULL;
}

int mpijob__render_difference_holds(enum mpijob__render_difference difference, int reference)
{
	const struct mpijob__render_difference_row *row = mpijob__render_difference_row(difference);

	return row == NULL || row->mode == MPIJOB__RENDER_DIFFERENCE_ALWAYS ||
	       (row->mode == MPIJOB__RENDER_DIFFERENCE_DEFAULT && !reference);
}
