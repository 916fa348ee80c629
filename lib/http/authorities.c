/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a system keeps the certificates of authorities. A libcurl of the system knows it, and then
 * there is nothing to do here. One that was built for any system (cmake
 * -DMPIJOB_CA_FILES=file:file:...) does not: the files are looked for when a transport is opened.
 * Two variables come first; that kubectl heeds them too is why people set them.
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
