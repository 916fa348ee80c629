/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the CA bundle of the system is. The libcurl of a distribution knows it, and then this file
 * does nothing. A libcurl that was built for any system does not: cmake
 * -DMPIJOB_CA_FILES=file:file:... lists the candidates, and mpijob_http_new() uses the first
 * readable one. SSL_CERT_FILE and SSL_CERT_DIR take precedence, as in kubectl.
 */
#include "http/ca_bundle.h"

#include <stddef.h>
#include <unistd.h>

const char *mpijob__http_ca_bundle_find(const char *const *files,
    const char *(*variable)(const char *name))
{
	const char *file = variable("SSL_CERT_FILE"), *directory = variable("SSL_CERT_DIR");

	if ((file && *file) || (directory && *directory))
		return NULL;
	while (*files && access(*files, R_OK))
		files++;
	return *files;
}

const char *mpijob__http_ca_bundle_file(const char *(*variable)(const char *name))
{
	static const char *const files[] = {
#ifdef MPIJOB_CA_FILES
		MPIJOB_CA_FILES,
#endif
		NULL
	};

	return mpijob__http_ca_bundle_find(files, variable);
}
