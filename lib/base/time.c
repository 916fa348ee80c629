/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calendar: converts dates of the proleptic Gregorian calendar to seconds and back. libc's
 * functions depend on the time zone, or are not in every libc. It accepts what Go's time.RFC3339
 * accepts, because an API server and the reference operator do.
 */
#include "base/time.h"

#include <stddef.h>

#define DAY               86400
#define DAYS_TO_1970      719468 /* from 0000-03-01 */
#define DAYS_OF_400_YEARS 146097

/* Years begin in March in this calculation, so that the leap day is the last day of a year. */
static int64_t days_of_date(int64_t year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

	return era * DAYS_OF_400_YEARS + day_of_era - DAYS_TO_1970;
}

static int days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* Read exactly `count` digits and advance the text. */
static int digits(const char **text, int count, int least, int most, int *out)
{
	int value = 0;

	for (int i = 0; i < count; i++) {
		char c = (*text)[i];

		if (c < '0' || c > '9')
			return 0;
		value = value * 10 + (c - '0');
	}
	*text += count;
	*out = value;
	return value >= least && value <= most;
}

static int letter(const char **text, char c)
{
	if (**text != c)
		return 0;
	(*text)++;
	return 1;
}

static int fraction(const char **text, int32_t *nanoseconds)
{
	int32_t unit = 100000000;

	*nanoseconds = 0;
	if (**text != '.' && **text != ',')
		return 1;
	(*text)++;
	if (**text < '0' || **text > '9')
		return 0;
	for (; **text >= '0' && **text <= '9'; (*text)++, unit /= 10)
		*nanoseconds += (**text - '0') * unit;
	return 1;
}

static int zone(const char **text, int *offset)
{
	int hours, minutes, sign;

	*offset = 0;
	if (letter(text, 'Z'))
		return 1;
	sign = **text == '-' ? -1 : 1;
	if (!letter(text, '+') && !letter(text, '-'))
		return 0;
	if (!digits(text, 2, 0, 24, &hours) || !letter(text, ':') ||
	    !digits(text, 2, 0, 60, &minutes))
		return 0;
	*offset = sign * (hours * 60 + minutes) * 60;
	return 1;
}

int mpijob__base_time_parse_ns(const char *text, int64_t *seconds, int32_t *nanoseconds)
{
	int year, month, day, hour, minute, second, offset;
	int32_t parsed;

	if (!digits(&text, 4, 0, 9999, &year) || !letter(&text, '-') ||
	    !digits(&text, 2, 1, 12, &month) || !letter(&text, '-') ||
	    !digits(&text, 2, 1, days_in_month(year, month), &day) || !letter(&text, 'T'))
		return 0;
	/* Go accepts an hour of one digit. */
	if (!digits(&text, *text && text[1] == ':' ? 1 : 2, 0, 23, &hour) || !letter(&text, ':') ||
	    !digits(&text, 2, 0, 59, &minute) || !letter(&text, ':') ||
	    !digits(&text, 2, 0, 59, &second))
		return 0;
	if (!fraction(&text, &parsed) || !zone(&text, &offset) || *text != '\0')
		return 0;
	*seconds =
	    days_of_date(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset;
	if (nanoseconds)
		*nanoseconds = parsed;
	return 1;
}

int mpijob__base_time_parse(const char *text, int64_t *seconds)
{
	return mpijob__base_time_parse_ns(text, seconds, NULL);
}

static void put(char **out, int64_t value, int count)
{
	for (int i = count - 1; i >= 0; i--) {
		(*out)[i] = (char)('0' + value % 10);
		value /= 10;
	}
	*out += count;
}

int mpijob__base_time_format(int64_t seconds, char out[MPIJOB__BASE_TIME_SIZE])
{
	int64_t first = days_of_date(0, 1, 1) * DAY;
	int64_t end = days_of_date(10000, 1, 1) * DAY;
	int64_t days, rest, era, day_of_era, year_of_era, day_of_year, shifted;
	int month;

	out[0] = '\0';
	if (seconds < first || seconds >= end)
		return 0;
	days = (seconds - first) / DAY + days_of_date(0, 1, 1);
	rest = (seconds - first) % DAY;
	days += DAYS_TO_1970;
	era = (days >= 0 ? days : days - (DAYS_OF_400_YEARS - 1)) / DAYS_OF_400_YEARS;
	day_of_era = days - era * DAYS_OF_400_YEARS;
	year_of_era =
	    (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	shifted = (5 * day_of_year + 2) / 153;
	month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
	put(&out, year_of_era + era * 400 + (month <= 2 ? 1 : 0), 4);
	*out++ = '-';
	put(&out, month, 2);
	*out++ = '-';
	put(&out, day_of_year - (153 * shifted + 2) / 5 + 1, 2);
	*out++ = 'T';
	put(&out, rest / 3600, 2);
	*out++ = ':';
	put(&out, rest / 60 % 60, 2);
	*out++ = ':';
	put(&out, rest % 60, 2);
	*out++ = 'Z';
	*out = '\0';
	return 1;
}

int mpijob__base_time_format_ns(int64_t seconds, int32_t nanoseconds, int digits,
    char out[MPIJOB__BASE_TIME_NS_SIZE])
{
	char *at = out + MPIJOB__BASE_TIME_SIZE - 2; /* the Z */

	if (!mpijob__base_time_format(seconds, out))
		return 0;
	*at++ = '.';
	put(&at, nanoseconds, 9);
	at -= 9 - digits;
	*at++ = 'Z';
	*at = '\0';
	return 1;
}
