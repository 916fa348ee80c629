/* SPDX-License-Identifier: Apache-2.0 */
/* The trail: the annotation of a converted job from which the conversion back restores the
 * original. */
#ifndef MPIJOB__CONVERT_TRAIL_H
#define MPIJOB__CONVERT_TRAIL_H

#include "convert/conversion.h"

/*
 * Remove the annotation from a job if it was converted from this version. *out receives the trail,
 * yours, or is unchanged. Returns 0 or MPIJOB_ERR_NOMEM. An annotation that cannot be parsed is
 * kept, with a finding.
 */
int mpijob__convert_trail_remove(struct mpijob__convert_conversion *conversion, const char *version,
    mpijob_doc **out);

/* Restore the entries whose values have not changed since, and mark them in the trail. */
void mpijob__convert_trail_restore(struct mpijob__convert_conversion *conversion,
    mpijob_doc *trail);

/* Whether a field was restored, so that findings about it are not needed. */
int mpijob__convert_trail_restored(const mpijob_doc *trail, const char *field);

/* Write the annotation into the result: the differences between the original and `back`, the result
 * converted back. */
void mpijob__convert_trail_write(struct mpijob__convert_conversion *result, const char *version,
    const mpijob_node *original, const mpijob_node *back);

#endif
