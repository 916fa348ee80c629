/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how progress is shown: one line that is redrawn on a terminal, one line for each change
 * elsewhere.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "print.h"
#include "progress.h"

#define REDRAW_MS 200

static void print(const struct progress *progress, int64_t now_ms)
{
	print_to(stderr, "mpijob: %s: %s", progress->name, progress->phase);
	if (progress->workers > 0)
		fprintf(stderr, ", workers ready %d/%d", progress->ready, progress->workers);
	fprintf(stderr, ", %.1f s", (double)(now_ms - progress->begun_ms) / 1000.0);
}

void progress_hide(struct progress *progress)
{
	if (!progress->live)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->live = 0;
}

void progress_show(struct progress *progress, const char *phase, int ready, int workers,
    int64_t now_ms)
{
	int changed = !progress->phase || strcmp(progress->phase, phase) != 0 ||
		      progress->ready != ready || progress->workers != workers;

	if (progress->terminal && progress->waits)
		return;
	if (!changed && (!progress->terminal || now_ms - progress->drawn_ms < REDRAW_MS))
		return;
	progress->phase = phase;
	progress->ready = ready;
	progress->workers = workers;
	progress->drawn_ms = now_ms;
	if (progress->terminal)
		fputs("\r\033[K", stderr);
	print(progress, now_ms);
	if (progress->terminal)
		fflush(stderr);
	else
		fputc('\n', stderr);
	progress->live = progress->terminal;
}

void progress_say(struct progress *progress, const char *format, ...)
{
	va_list values;

	progress_hide(progress);
	fputs("mpijob: ", stderr);
	va_start(values, format);
	print_values(stderr, format, values);
	va_end(values);
	fputc('\n', stderr);
}
