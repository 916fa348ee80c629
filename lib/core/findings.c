/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a kind of finding in the table of findings.inc. docs/findings.md is generated from the
 * table (tests/unit/test_core_findings.c), and tests/lint/test-findings compares it with the
 * reports in the sources.
 */
#include <mpijob/diag.h>

#include <string.h>

#define ERROR   MPIJOB_SEVERITY_ERROR
#define WARNING MPIJOB_SEVERITY_WARNING
#define INFO    MPIJOB_SEVERITY_INFO

#define KIND(id, severity, summary, advice, example)                                       \
	{                                                                                  \
		sizeof(struct mpijob_finding_kind), id, severity, summary, advice, example \
	}

static const struct mpijob_finding_kind kinds[] = {
#include "core/findings.inc"
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

size_t mpijob_finding_kind_count(void)
{
	return KINDS;
}

const struct mpijob_finding_kind *mpijob_finding_kind_at(size_t index)
{
	return index < KINDS ? &kinds[index] : NULL;
}

const struct mpijob_finding_kind *mpijob_finding_kind_find(const char *id)
{
	size_t low = 0, high = KINDS;

	while (id && low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(id, kinds[middle].id);

		if (order == 0)
			return &kinds[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
