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

#define MOST (1 << 20) /* bytes: what a ConfigMap can hold */

/* ---- the file ---- */

/* 0; MPIJOB_ERR_IO after having logged the reason; MPIJOB_ERR_NOMEM. */
static int read_file(const char *path, char **out, size_t *len)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(MOST + 1) : NULL;
	int code = 0;

	if (!file) {
		log_line(MPIJOB_SEVERITY_ERROR, "%s: cannot open: %s", path, strerror(errno));
		return MPIJOB_ERR_IO;
	}
	*len = text ? fread(text, 1, MOST + 1, file) : 0;
	if (!text) {
		code = MPIJOB_ERR_NOMEM;
	} else if (ferror(file)) {
		log_line(MPIJOB_SEVERITY_ERROR, "%s: cannot read: %s", path, strerror(errno));
		code = MPIJOB_ERR_IO;
	} else if (*len > MOST) {
		log_line(MPIJOB_SEVERITY_ERROR, "%s: a configuration has at most 1 MiB", path);
		code = MPIJOB_ERR_IO;
	}
	(void)fclose(file);
	if (code) {
		free(text);
		return code;
	}
	*out = text;
	return 0;
}

static int parse(struct configuration *configuration, mpijob_operator_config **out)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();

	options.source = configuration->path;
	int code = diag ? mpijob_operator_config_parse(configuration->text, configuration->len,
			      &options, out, diag)
			: MPIJOB_ERR_NOMEM;
	log_findings(diag);
	mpijob_diag_free(diag);
	return code;
}

static void note_good(struct configuration *configuration)
{
	configuration->read_s = mpijob__base_clock_wall_ms() / 1000;
	configuration->text_good = configuration->good = 1;
}

/* Apply the current content of the file. */
static int read_again(struct configuration *configuration)
{
	mpijob_operator_config *config = NULL;
	int code = parse(configuration, &config);

	if (code == 0 && configuration->operator_)
		code = mpijob_operator_configure(configuration->operator_, config);
	if (code) {
		mpijob_operator_config_free(config);
		configuration->text_good = configuration->good = 0;
		return code;
	}
	mpijob_operator_config_free(configuration->config);
	configuration->config = config;
	note_good(configuration);
	return 0;
}

/* ---- watching ---- */

static int watch(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder =
	    slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd = folder ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1;

	if (fd >= 0 && inotify_add_watch(fd, folder, IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
		(void)close(fd);
		fd = -1;
	}
	if (fd < 0)
		log_line(MPIJOB_SEVERITY_WARNING,
		    "%s: cannot be watched for changes (%s); it is read again at SIGHUP", path,
		    strerror(errno));
	free(folder);
	return fd;
}

static void forget_events(int fd)
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
	configuration->fd = watch(path);
	int code = read_file(path, &configuration->text, &configuration->len);
	return code ? code : read_again(configuration);
}

int configuration_apply(struct configuration *configuration, mpijob_operator *operator_)
{
	configuration->operator_ = operator_;
	return configuration->config ? mpijob_operator_configure(operator_, configuration->config)
				     : 0;
}

void configuration_look(struct configuration *configuration, int asked)
{
	char *text = NULL;
	size_t len = 0;

	forget_events(configuration->fd);
	if (!configuration->path) {
		log_line(MPIJOB_SEVERITY_INFO,
		    "SIGHUP asks to read the configuration again, but --config was not given");
		return;
	}
	int code = read_file(configuration->path, &text, &len);
	if (code == 0 && !asked && len == configuration->len &&
	    memcmp(text, configuration->text, len) == 0) {
		if (configuration->text_good && !configuration->good)
			log_line(MPIJOB_SEVERITY_INFO, "%s: available again, without a change",
			    configuration->path);
		configuration->good = configuration->text_good;
		free(text);
		return;
	}
	if (code == 0) {
		free(configuration->text);
		configuration->text = text;
		configuration->len = len;
		code = read_again(configuration);
	}
	configuration->good = code == 0;
	if (code)
		log_line(MPIJOB_SEVERITY_ERROR,
		    "%s: not applied (%s); the configuration before it stays in effect",
		    configuration->path, mpijob_error_text(code));
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
	int len = asprintf(&text, "%s%d\n%s%" PRId64 "\n", head, configuration->good, time,
	    configuration->read_s);
	int code = len < 0 ? MPIJOB_ERR_NOMEM : mpijob_text_write(out, text, (size_t)len);
	if (len >= 0)
		free(text);
	return code;
}

void configuration_end(struct configuration *configuration)
{
	if (configuration->fd >= 0)
		(void)close(configuration->fd);
	free(configuration->text);
	mpijob_operator_config_free(configuration->config);
}
