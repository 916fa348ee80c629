/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a system keeps the certificates of its authorities. A libcurl of the system knows it, and
 * this file has nothing to do. A libcurl that was built for any system (cmake
 * -DMPIJOB_CA_FILES=file:file:...) does not, so the files are searched when a transport is opened.
 * Two environment variables take precedence, as they do for kubectl.
 */
#include "http/authorities.h"

#include <stddef.h>
#include <unistd.h>

const char *mpijob__http_authorities_find(const char *const *files,
    const char *(*variable)(const char *name))
{
	const char *file = variable("SSL_CERT_FILE"), *folder = variable("SSL_CERT_DIR");

	if ((file && *file) || (folder && *folder))
		return NULL;
	while (*files && access(*files, R_OK))
		files++;
	return *files;
}

const char *mpijob__http_authorities_file(const char *(*variable)(const char *name))
{
	static const char *const files[] = {
#ifdef MPIJOB_CA_FILES
		MPIJOB_CA_FILES,
#endif
		NULL
	};

	return mpijob__http_authorities_find(files, variable);
}
