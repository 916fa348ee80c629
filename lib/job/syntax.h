/* SPDX-License-Identifier: Apache-2.0 */
/* The formats that Kubernetes requires of names, keys, paths and addresses. */
#ifndef MPIJOB__JOB_SYNTAX_H
#define MPIJOB__JOB_SYNTAX_H

#include <stddef.h>

/* Returns NULL if a text is valid; otherwise a description for a message "must be ...". `text` is
 * not NULL. */
typedef const char *mpijob__job_syntax(const char *text);

mpijob__job_syntax mpijob__job_syntax_label;      /* DNS-1123, at most 63. */
mpijob__job_syntax mpijob__job_syntax_subdomain;  /* DNS-1123, at most 253. */
mpijob__job_syntax mpijob__job_syntax_prefix;     /* A subdomain, or the beginning of one. */
mpijob__job_syntax mpijob__job_syntax_driver;     /* A subdomain of at most 63, in any case. */
mpijob__job_syntax mpijob__job_syntax_host;       /* A subdomain of at most 64. */
mpijob__job_syntax mpijob__job_syntax_search;     /* An entry of dnsConfig.searches. */
mpijob__job_syntax mpijob__job_syntax_key;        /* The key of a label, with an optional prefix. */
mpijob__job_syntax mpijob__job_syntax_annotation; /* A label key, upper case too. */
mpijob__job_syntax mpijob__job_syntax_value;      /* The value of a label. */
mpijob__job_syntax mpijob__job_syntax_variable;   /* The name of an environment variable. */
mpijob__job_syntax mpijob__job_syntax_port;       /* The name of a port. */
mpijob__job_syntax mpijob__job_syntax_file;       /* A key of a ConfigMap or Secret. */
mpijob__job_syntax mpijob__job_syntax_header;     /* The name of an HTTP header. */
mpijob__job_syntax mpijob__job_syntax_sysctl;
mpijob__job_syntax mpijob__job_syntax_address;   /* IPv4 or IPv6. */
mpijob__job_syntax mpijob__job_syntax_image;     /* No white space at its ends. */
mpijob__job_syntax mpijob__job_syntax_no_dotdot; /* A path without "..". */
mpijob__job_syntax mpijob__job_syntax_absolute;  /* A path that begins with '/'. */
/* A path that does not begin with '/', without "..". */
mpijob__job_syntax mpijob__job_syntax_relative;
/* A relative path that does not begin with "..". */
mpijob__job_syntax mpijob__job_syntax_projected;
mpijob__job_syntax mpijob__job_syntax_iscsi; /* An iSCSI qualified name. */
mpijob__job_syntax mpijob__job_syntax_windows_user;
mpijob__job_syntax mpijob__job_syntax_credential; /* A gMSA credential specification. */
mpijob__job_syntax mpijob__job_syntax_no_slash;
mpijob__job_syntax mpijob__job_syntax_registry; /* host:port, several with commas. */
mpijob__job_syntax mpijob__job_syntax_tenant;   /* A tenant of Quobyte. */

/* A label key of `len` bytes. */
int mpijob__job_syntax_is_key(const char *text, size_t len);

#endif
