/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the features of a caller. */
#ifndef MPIJOB_RENDER_FEATURES_H
#define MPIJOB_RENDER_FEATURES_H

#include <mpijob/features.h>

/*
 * Copy and check a caller's features. All are off if `given` is NULL, and with `reference`.
 *
 * 0; `MPIJOB_ERR_USAGE` (a size, a value out of bounds); `MPIJOB_ERR_UNSUPPORTED` (a newer struct).
 */
int mpijob__render_features_take(const struct mpijob_features *given, int reference,
    struct mpijob_features *out);

#endif /* MPIJOB_RENDER_FEATURES_H */
