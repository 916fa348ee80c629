/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a kubeconfig: it is refused with an error, or becomes a configuration that a
 * transport can use: an address that fits into a request, and no credentials without TLS.
 */
#define _GNU_SOURCE
#include "http/config.h"
#include "http/request_headers.h"
#include "http/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(int condition)
{
	if (!condition)
		abort();
}

static void check(const mpijob_http_config *config)
{
	const char *server = mpijob_http_config_server(config);
	mpijob_http_config *copy = mpijob__http_config_clone(config);

	need(strncmp(server, config->tls ? "https://" : "http://", config->tls ? 8 : 7) == 0);
	need(server[strlen(server) - 1] != '/' && !strpbrk(server, " \r\n\t?#"));
	need(strstr(server, "://")[3 + strcspn(strstr(server, "://") + 3, "/@")] != '@');
	need(mpijob_http_config_namespace(config) != NULL);
	need(config->tls || (!config->token.len && !config->token_file && !config->username &&
				!config->exec.command && !config->certificate.data.len));
	need(!config->token.len || !mpijob__http_request_headers_has_control(config->token.data));
	need(!config->insecure || (!config->ca.data.len && !config->ca.file));
	need(!(config->as_uid || config->as_groups || config->as_extra_count) || config->as);
	need(!config->exec.command || (config->exec.api_version && config->exec.interactive_mode <=
								       MPIJOB__HTTP_EXEC_ALWAYS));
	need(copy != NULL);
	mpijob_http_config_free(copy);
}

/* Each error has a finding, and each finding prints as one line. */
static void check_findings(const mpijob_diag *diag, int code)
{
	need(code == 0 || mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR) > 0);
	need(code != 0 || mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR) == 0);
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		mpijob_text *text = mpijob_text_new();

		need(mpijob_finding_write(mpijob_diag_at(diag, i), mpijob_text_write, text) == 0);
		need(!strchr(mpijob_text_data(text), '\n'));
		mpijob_text_free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	struct mpijob_http_config_options options = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	mpijob_http_config *config = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	char path[64];
	int code;

	if (file < 0)
		file = memfd_create("kubeconfig", MFD_CLOEXEC);
	need(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	options.kubeconfig = path;
	code = mpijob__http_config_load(&options, "/nonexistent", &config, diag);
	need((code == 0) == (config != NULL));
	check_findings(diag, code);
	if (config)
		check(config);
	mpijob_http_config_free(config);
	mpijob_diag_free(diag);
	return 0;
}
