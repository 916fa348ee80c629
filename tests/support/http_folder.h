/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of lib/http: a temporary directory for files, and client certificates. */
#ifndef TESTS_SUPPORT_HTTP_FOLDER_H
#define TESTS_SUPPORT_HTTP_FOLDER_H

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

extern char scratch[64];

int scratch_begin(void **state);
int scratch_end(void **state);
/* The path of a file in the directory, valid until the eighth call from now. */
const char *in_scratch(const char *name);
/* Write a file and create its parent directories. Returns its path, as in_scratch(). */
const char *put(const char *name, const char *text);
const char *put_program(const char *name, const char *text);
/* A client's certificate and key in PEM, both yours. */
void make_pair(char **certificate, char **key);
#endif
