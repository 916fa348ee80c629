/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the kinds of findings of libmpijob.
 *
 * Each directory and program declares its kinds in its findings.inc, as KIND(id, severity, summary,
 * advice, example). This is the only file that includes from directories above, and only those
 * files. It drops summary and example: the explanations are in the command
 * (programs/mpijob/finding_kinds.c) and in docs/findings.md, which tests/unit/test_core_findings.c
 * writes.
 */
#include <mpijob/diag.h>

#include <string.h>

#define ERROR   MPIJOB_SEVERITY_ERROR
#define WARNING MPIJOB_SEVERITY_WARNING
#define INFO    MPIJOB_SEVERITY_INFO
#define KIND(id, severity, summary, advice, example)                     \
	{                                                                \
		sizeof(struct mpijob_finding_kind), id, severity, advice \
	}

static const struct mpijob_finding_kind kinds[] = {
#include "core/findings.inc"
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct mpijob_finding_kind *mpijob_finding_kind_at(size_t index)
{
	return index < KINDS ? &kinds[index] : NULL;
}

const struct mpijob_finding_kind *mpijob_finding_kind_find(const char *id)
{
	for (size_t i = 0; id && i < KINDS; i++)
		if (strcmp(kinds[i].id, id) == 0)
			return &kinds[i];
	return NULL;
}
