/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints where a value comes from: the job, one of its annotations, a section of the operator's
 * configuration, a limit that changed it, or none of these. The flags of the operator are not known
 * here.
 */
#include "effective.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "table.h"

#define MOST (1 << 20) /* bytes that the operator reads */

int effective_read(const char *path, mpijob_operator_config **out, mpijob_diag *diag)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(MOST + 1) : NULL;
	int code;

	if (!file)
		return findings_add(diag, MPIJOB_ERR_IO, path, "unreadable", "cannot open: %s",
		    strerror(errno));
	size_t len = text ? fread(text, 1, MOST + 1, file) : 0;
	options.source = path;
	if (!text)
		code = MPIJOB_ERR_NOMEM;
	else if (ferror(file))
		code = findings_add(diag, MPIJOB_ERR_IO, path, "unreadable", "cannot read: %s",
		    strerror(errno));
	else if (len > MOST)
		code = findings_add(diag, MPIJOB_ERR_SYNTAX, path, "limit-size",
		    "the configuration is larger than 1 MiB");
	else
		code = mpijob_operator_config_parse(text, len, &options, out, diag);
	fclose(file);
	free(text);
	return code;
}

static const char *origin(const struct mpijob_effective_value *value)
{
	switch (value->origin) {
	case MPIJOB_ORIGIN_JOB: return "the job";
	case MPIJOB_ORIGIN_ANNOTATION: return "an annotation of the job";
	case MPIJOB_ORIGIN_NAMESPACE:
	case MPIJOB_ORIGIN_DEFAULTS: return "defaults";
	case MPIJOB_ORIGIN_LIMIT: return "limits";
	default: return "nobody set it";
	}
}

/* "limits of namespaces[1]; 9 is wanted: the job does not begin" */
static char *reason(const struct mpijob_effective_value *value)
{
	char section[48] = "", *text = NULL;

	if (value->rule >= 0)
		(void)snprintf(section, sizeof(section), " of namespaces[%d]", (int)value->rule);
	int len = asprintf(&text, "%s%s%s%s%s", origin(value), section,
	    value->wanted ? "; wanted is " : "", value->wanted ? value->wanted : "",
	    value->refused ? ": the job does not begin" : "");
	return len < 0 ? NULL : text;
}

/* Of the features, only those that the job or the configuration sets. */
static int is_shown(const struct mpijob_effective_value *value)
{
	return value->origin != MPIJOB_ORIGIN_BUILT_IN || !mpijob_feature_find(value->field);
}

static int put_values(const mpijob_effective *effective)
{
	const struct mpijob_effective_value *value;
	struct table table = { 0 };

	table_column(&table, "WHAT HOLDS");
	table_column(&table, "VALUE");
	table_column(&table, "FROM");
	for (size_t i = 0; (value = mpijob_effective_at(effective, i)) != NULL; i++) {
		if (!is_shown(value))
			continue;
		char *from = reason(value);
		table_cell(&table, value->field);
		table_cell(&table, value->value ? value->value : "none");
		table_cell(&table, from ? from : "");
		table.failed |= !from;
		free(from);
	}
	int code = table_print(&table);
	table_free(&table);
	return code;
}

int effective_print(const mpijob_operator_config *config, const mpijob *job)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_effective *effective = NULL;
	int code =
	    diag ? mpijob_effective_new(config, job, NULL, &effective, diag) : MPIJOB_ERR_NOMEM;

	if (code == 0) {
		putchar('\n');
		code = put_values(effective);
		findings_print(diag, stdout);
		putchar('\n');
	}
	mpijob_effective_free(effective);
	mpijob_diag_free(diag);
	return code;
}
