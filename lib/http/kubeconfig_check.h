/* SPDX-License-Identifier: Apache-2.0 */
/* The types of the fields of a kubeconfig. */
#ifndef MPIJOB__HTTP_KUBECONFIG_CHECK_H
#define MPIJOB__HTTP_KUBECONFIG_CHECK_H

#include "http/kubeconfig.h"

/* Report the errors of one file: wrong types, invalid base64, duplicate names. */
void mpijob__http_kubeconfig_check(const struct mpijob__http_kubeconfig_file *file,
    struct mpijob__http_report *report);

#endif
