/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of all kinds of findings with their explanations, for `mpijob explain`. The libraries
 * have parts of it only: libmpijob the advice for its own findings, the others nothing.
 */
#include <string.h>

#include "findings.h"

#define ERROR   MPIJOB_SEVERITY_ERROR
#define WARNING MPIJOB_SEVERITY_WARNING
#define INFO    MPIJOB_SEVERITY_INFO
#define KIND(id, severity, summary, advice, example)   \
	{                                              \
		id, severity, summary, advice, example \
	}

static const struct finding_kind kinds[] = {
#include "finding_kinds.inc"
};

const struct finding_kind *finding_kind_find(const char *id)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].id, id) == 0)
			return &kinds[i];
	return NULL;
}
