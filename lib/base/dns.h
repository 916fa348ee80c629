/* SPDX-License-Identifier: Apache-2.0 */
/* DNS names as Kubernetes allows them (RFC 1123, lower case only). */
#ifndef MPIJOB__BASE_DNS_H
#define MPIJOB__BASE_DNS_H

#include <stddef.h>

#define MPIJOB__BASE_DNS_LABEL 63 /* maximum length of a label; the functions do not check it */

/* Whether the text is letters, digits and `-`, at least one, with a letter or digit at both ends.
 */
int mpijob__base_dns_is_label(const char *text, size_t len);
/* Whether a cluster domain has only letters, digits, `.` and `-`. It is written into a shell script
 * without quotes, as by the reference. */
int mpijob__base_dns_is_domain(const char *text);
/* Whether the text consists of such labels with `.` between them. */
int mpijob__base_dns_is_name(const char *text, size_t len);

#endif
