/* SPDX-License-Identifier: Apache-2.0 */
/* The forms that Kubernetes asks of names, keys, paths and addresses. */
#ifndef MPIJOB__JOB_SYNTAX_H
#define MPIJOB__JOB_SYNTAX_H

#include <stddef.h>

/* NULL when a text has the form; else what it must be, to be said behind "must be". Text is never NULL. */
typedef const char *mpijob__syntax(const char *text);

mpijob__syntax mpijob__syntax_label;      /* DNS-1123, at most 63. */
mpijob__syntax mpijob__syntax_subdomain;  /* DNS-1123, at most 253. */
mpijob__syntax mpijob__syntax_prefix;     /* A subdomain, or what one begins with. */
mpijob__syntax mpijob__syntax_driver;     /* A subdomain of at most 63, in any case. */
mpijob__syntax mpijob__syntax_host;       /* A subdomain of at most 64. */
mpijob__syntax mpijob__syntax_search;     /* An entry of dnsConfig.searches. */
mpijob__syntax mpijob__syntax_key;        /* Of a label, with an optional prefix. */
mpijob__syntax mpijob__syntax_annotation; /* A key of any case. */
mpijob__syntax mpijob__syntax_value;      /* Of a label. */
mpijob__syntax mpijob__syntax_variable;   /* The name of an environment variable. */
mpijob__syntax mpijob__syntax_port;       /* The name of a port. */
mpijob__syntax mpijob__syntax_file;       /* A key of a ConfigMap or Secret. */
mpijob__syntax mpijob__syntax_header;     /* Of HTTP. */
mpijob__syntax mpijob__syntax_sysctl;
mpijob__syntax mpijob__syntax_address;   /* IPv4 or IPv6. */
mpijob__syntax mpijob__syntax_image;     /* No space around it. */
mpijob__syntax mpijob__syntax_steps;     /* A path without "..". */
mpijob__syntax mpijob__syntax_absolute;  /* A path that begins with "/". */
mpijob__syntax mpijob__syntax_relative;  /* A path that does not, without "..". */
mpijob__syntax mpijob__syntax_projected; /* Relative, and not beginning with "..". */
mpijob__syntax mpijob__syntax_iscsi;     /* An iSCSI qualified name. */
mpijob__syntax mpijob__syntax_windows_user;
mpijob__syntax mpijob__syntax_credential; /* A gMSA credential specification. */
mpijob__syntax mpijob__syntax_no_slash;
mpijob__syntax mpijob__syntax_registry; /* host:port, several with commas. */
mpijob__syntax mpijob__syntax_tenant;   /* Of Quobyte. */

/* A label key of `len` bytes. */
int mpijob__syntax_is_key(const char *text, size_t len);

#endif
