/* SPDX-License-Identifier: Apache-2.0 */
/* From kinds to resource names. */
#ifndef MPIJOB__CLIENT_RESOURCES_H
#define MPIJOB__CLIENT_RESOURCES_H

#include <mpijob/base.h>

/*
 * Append the plural of a kind ("Pod": "pods"), guessed as kubectl does when the kind is unknown.
 * 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_USAGE (an empty kind).
 */
int mpijob__client_resource_plural(const char *api_version, const char *kind, mpijob_text *out);
/* 1 when objects of the kind have a namespace, or when the kind is unknown; else 0. */
int mpijob__client_resource_namespaced(const char *api_version, const char *kind);

#endif
