/* SPDX-License-Identifier: Apache-2.0 */
/* What a converted job keeps so that the way back gives the original. */
#ifndef MPIJOB__CONVERT_TRAIL_H
#define MPIJOB__CONVERT_TRAIL_H

#include "convert/conversion.h"

/*
 * Take the annotation off a job, if it was converted from this version: *out is then a document of
 * your own, else NULL. 0 or MPIJOB_ERR_NOMEM. An annotation that cannot be read is a finding, and
 * stays.
 */
int mpijob__convert_trail_take(struct mpijob__convert_conversion *conversion, const char *version,
    mpijob_doc **out);

/* Put back what still may be; each entry that was put back is marked as done in the trail. */
void mpijob__convert_trail_restore(struct mpijob__convert_conversion *conversion,
    mpijob_doc *trail);

/* 1 when a field was put back as it was, so that nothing needs to be said of it. */
int mpijob__convert_trail_restored(const mpijob_doc *trail, const char *field);

/* Write the annotation into the result: where `back`, converted again, differs from the
 * original. */
void mpijob__convert_trail_leave(struct mpijob__convert_conversion *result, const char *version,
    const mpijob_node *original, const mpijob_node *back);

#endif
