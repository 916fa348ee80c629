/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the file of --config, and again when it changes. The directory is watched, because a
 * mounted ConfigMap changes by a renamed link, and editors replace the file. An invalid file
 * prevents the start. Later it changes nothing; the log and a metric report it.
 */
#include "configuration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "log.h"

#define MAX_BYTES (1 << 20) /* the maximum size of a ConfigMap */

/* ---- the file ---- */

/* 0; MPIJOB_ERR_IO after having logged the reason; MPIJOB_ERR_NOMEM. */
static int read_file(const char *path, char **out, size_t *len)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(MAX_BYTES + 1) : NULL;
	int rc = 0;

	if (!file) {
		log_line(MPIJOB_SEVERITY_ERROR, "%s: cannot open: %s", path, strerror(errno));
		return MPIJOB_ERR_IO;
	}
	*len = text ? fread(text, 1, MAX_BYTES + 1, file) : 0;
	if (!text) {
		rc = MPIJOB_ERR_NOMEM;
	} else if (ferror(file)) {
		log_line(MPIJOB_SEVERITY_ERROR, "%s: cannot read: %s", path, strerror(errno));
		rc = MPIJOB_ERR_IO;
	} else if (*len > MAX_BYTES) {
		log_line(MPIJOB_SEVERITY_ERROR, "%s: the configuration is larger than 1 MiB", path);
		rc = MPIJOB_ERR_IO;
	}
	(void)fclose(file);
	if (rc) {
		free(text);
		return rc;
	}
	*out = text;
	return 0;
}

static int parse(struct configuration *configuration, mpijob_operator_config **out)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();

	options.source = configuration->path;
	int rc = diag ? mpijob_operator_config_parse(configuration->text, configuration->len,
			    &options, out, diag)
		      : MPIJOB_ERR_NOMEM;
	log_findings(diag);
	mpijob_diag_free(diag);
	return rc;
}

static void mark_valid(struct configuration *configuration)
{
	configuration->read_s = mpijob__base_clock_wall_ms() / 1000;
	configuration->text_valid = configuration->loaded = 1;
}

/* Parse and apply configuration->text. */
static int apply_text(struct configuration *configuration)
{
	mpijob_operator_config *config = NULL;
	int rc = parse(configuration, &config);

	if (rc == 0 && configuration->operator_)
		rc = mpijob_operator_configure(configuration->operator_, config);
	if (rc) {
		mpijob_operator_config_free(config);
		configuration->text_valid = configuration->loaded = 0;
		return rc;
	}
	mpijob_operator_config_free(configuration->config);
	configuration->config = config;
	mark_valid(configuration);
	return 0;
}

/* ---- watching ---- */

static int watch_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory =
	    slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd = directory ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1;

	if (fd >= 0 && inotify_add_watch(fd, directory, IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
		(void)close(fd);
		fd = -1;
	}
	if (fd < 0)
		log_line(MPIJOB_SEVERITY_WARNING,
		    "%s: cannot be watched for changes (%s); it is read again at SIGHUP", path,
		    strerror(errno));
	free(directory);
	return fd;
}

static void drain_events(int fd)
{
	char events[4096];

	while (fd >= 0 && read(fd, events, sizeof(events)) > 0)
		;
}

/* ---- for the daemon ---- */

int configuration_begin(struct configuration *configuration, const char *path)
{
	configuration->fd = -1;
	if (!path || !*path)
		return 0;
	configuration->path = path;
	configuration->fd = watch_directory(path);
	int rc = read_file(path, &configuration->text, &configuration->len);
	return rc ? rc : apply_text(configuration);
}

int configuration_apply(struct configuration *configuration, mpijob_operator *operator_)
{
	configuration->operator_ = operator_;
	return configuration->config ? mpijob_operator_configure(operator_, configuration->config)
				     : 0;
}

void configuration_reload(struct configuration *configuration, int requested)
{
	char *text = NULL;
	size_t len = 0;

	drain_events(configuration->fd);
	if (!configuration->path) {
		log_line(MPIJOB_SEVERITY_INFO,
		    "SIGHUP requests to read the configuration again, but --config is not set");
		return;
	}
	int rc = read_file(configuration->path, &text, &len);
	if (rc == 0 && !requested && len == configuration->len &&
	    memcmp(text, configuration->text, len) == 0) {
		if (configuration->text_valid && !configuration->loaded)
			log_line(MPIJOB_SEVERITY_INFO, "%s: available again, without a change",
			    configuration->path);
		configuration->loaded = configuration->text_valid;
		free(text);
		return;
	}
	if (rc == 0) {
		free(configuration->text);
		configuration->text = text;
		configuration->len = len;
		rc = apply_text(configuration);
	}
	configuration->loaded = rc == 0;
	if (rc)
		log_line(MPIJOB_SEVERITY_ERROR,
		    "%s: not applied (%s); the configuration before it stays in effect",
		    configuration->path, mpijob_error_text(rc));
	else
		log_line(MPIJOB_SEVERITY_INFO, "%s: applied; all jobs are planned again",
		    configuration->path);
}

int configuration_write_metrics(const struct configuration *configuration, mpijob_text *out)
{
	static const char head[] =
	    "# HELP mpi_operator_config_last_reload_successful 1 when the file of --config was "
	    "good when it was read last.\n# TYPE mpi_operator_config_last_reload_successful gauge\n"
	    "mpi_operator_config_last_reload_successful ";
	static const char time[] =
	    "# HELP mpi_operator_config_last_reload_success_timestamp_seconds When the "
	    "configuration that holds was read.\n# TYPE "
	    "mpi_operator_config_last_reload_success_timestamp_seconds gauge\n"
	    "mpi_operator_config_last_reload_success_timestamp_seconds ";
	char *text = NULL;

	if (!configuration->path)
		return 0;
	int len = asprintf(&text, "%s%d\n%s%" PRId64 "\n", head, configuration->loaded, time,
	    configuration->read_s);
	int rc = len < 0 ? MPIJOB_ERR_NOMEM : mpijob_text_write(out, text, (size_t)len);
	if (len >= 0)
		free(text);
	return rc;
}

void configuration_end(struct configuration *configuration)
{
	if (configuration->fd >= 0)
		(void)close(configuration->fd);
	free(configuration->text);
	mpijob_operator_config_free(configuration->config);
}
