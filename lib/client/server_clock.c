/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What time it is for the server.
 *
 * What an API server stamps must not be compared with the clock of this machine: they may differ by
 * hours, and this one may be set while we run. Each answer says in its Date what the server's clock
 * was, to the second, somewhen between request and answer; that bounds its distance from our
 * monotonic clock on both sides, and the bounds narrow with every answer. A server that never says
 * a date is taken to be on this machine.
 */
#include "client/server_clock.h"

#include "client/clock.h"
#include "base/time.h"

#include <string.h>

/* "Sat, 21 Nov 2026 18:37:20 GMT". 1, or 0 for anything else. */
static int read_date(const char *text, int64_t *seconds)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const char *comma = strchr(text, ','), *month;
	char name[4] = { 0 }, time[MPIJOB__BASE_TIME_SIZE];
	size_t at;

	if (!comma || strlen(comma) < strlen(", 21 Nov 2026 18:37:20 GMT") || comma[1] != ' ' ||
	    comma[4] != ' ' || strncmp(comma + 22, " GMT", 4) != 0)
		return 0;
	memcpy(name, comma + 5, 3);
	month = strstr(months, name);
	at = month ? (size_t)(month - months) : 1;
	if (at % 3)
		return 0;
	at = at / 3 + 1;
	memcpy(time, "0000-00-00T00:00:00Z", sizeof(time));
	memcpy(time, comma + 9, 4);
	time[5] = (char)('0' + at / 10);
	time[6] = (char)('0' + at % 10);
	memcpy(time + 8, comma + 2, 2);
	memcpy(time + 11, comma + 14, 8);
	return mpijob__base_time_parse(time, seconds);
}

void mpijob__client_server_clock_take(struct mpijob__client_server_clock *clock, const char *date,
    int64_t sent_ms, int64_t came_ms)
{
	int64_t seconds, least, most;

	if (!read_date(date, &seconds))
		return;
	/* It was that second's beginning or later when the answer came, and before its end when the
	 * request left. */
	least = seconds * 1000 - came_ms;
	most = seconds * 1000 + 1000 - sent_ms;
	if (!clock->known || clock->ahead_ms < least)
		clock->ahead_ms = least;
	else if (clock->ahead_ms > most)
		clock->ahead_ms = most;
	clock->known = 1;
}

int64_t mpijob__client_server_clock_ms(const struct mpijob__client_server_clock *clock,
    int64_t now_ms)
{
	return clock->known ? now_ms + clock->ahead_ms : mpijob__client_clock_wall_ms();
}
