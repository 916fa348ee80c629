/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of the API server.
 *
 * Timestamps of an API server must not be compared with the clock of this machine: they may differ
 * by hours, and the local clock may be set meanwhile. The Date of each answer is the server's time,
 * to the second, at some moment between request and answer. That bounds the offset to our monotonic
 * clock on both sides, and each answer narrows the bounds. A server that sends no Date is assumed
 * to run on this machine.
 */
#include "client/server_clock.h"

#include "base/clock.h"
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
	/* The server's clock was past the beginning of that second when the answer arrived, and
	 * before its end when the request was sent. */
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
	return clock->known ? now_ms + clock->ahead_ms : mpijob__base_clock_wall_ms();
}
