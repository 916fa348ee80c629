/* SPDX-License-Identifier: Apache-2.0 */
/* Helpful words for libyaml's complaints. */
#ifndef MPIJOB__DOC_YAML_ERROR_H
#define MPIJOB__DOC_YAML_ERROR_H

/* The finding's id and text for what libyaml calls `problem`. */
const char *mpijob__doc_yaml_error_text(const char *problem, const char **id);

#endif
