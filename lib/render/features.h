/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the library: what a caller asked for, taken over and checked. */
#ifndef MPIJOB_RENDER_FEATURES_H
#define MPIJOB_RENDER_FEATURES_H

#include <mpijob/features.h>

/*
 * Take over a caller's features; all are off with `given` NULL, and with `reference`.
 *
 * 0; `MPIJOB_ERR_USAGE` (a size, a value out of bounds); `MPIJOB_ERR_UNSUPPORTED` (a newer struct).
 */
int mpijob__render_features_take(const struct mpijob_features *given, int reference,
    struct mpijob_features *out);

#endif /* MPIJOB_RENDER_FEATURES_H */
