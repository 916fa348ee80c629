/* SPDX-License-Identifier: Apache-2.0 */
/* Quoted strings in messages of mpi-operator. */
#ifndef MPIJOB__JOB_QUOTE_H
#define MPIJOB__JOB_QUOTE_H

#include "base/text.h"

/* As Go's %q does. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__job_quote_go(struct mpijob_text *out, const char *text);
/* As Go's encoding/json does. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__job_quote_json(struct mpijob_text *out, const char *text);

#endif
