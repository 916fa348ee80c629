/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages for libyaml's problems. */
#ifndef MPIJOB__DOC_YAML_ERROR_H
#define MPIJOB__DOC_YAML_ERROR_H

/* The message for libyaml's `problem`; sets `id` to the kind of finding. */
const char *mpijob__doc_yaml_error_text(const char *problem, const char **id);

#endif
