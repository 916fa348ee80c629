/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows printf formats, to separate the format from its arguments: a newline of the format is
 * layout, but one in a string from outside could forge a line of output.
 */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mpijob/base.h>

#include "findings.h"
#include "print.h"

struct printing {
	FILE *stream;
	const char *at; /* in the format */
	va_list values;
	int left;
	size_t width;
	size_t precision; /* SIZE_MAX: none */
	size_t size;      /* of the number: that of an int, or 8 */
};

/* Columns, about: characters, not bytes. */
static int count_letters(void *user, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		*(size_t *)user += ((unsigned char)data[i] & 0xc0) != 0x80;
	return 0;
}

/* What stdio could not write is reported at the end, by main(). */
static void put_padded(const struct printing *this, const char *text, size_t len)
{
	size_t letters = 0;

	(void)mpijob_escaped_write(text, len, count_letters, &letters);
	int blanks = this->width > letters ? (int)(this->width - letters) : 0;
	fprintf(this->stream, "%*s", this->left ? 0 : blanks, "");
	(void)mpijob_escaped_write(text, len, file_write, this->stream);
	fprintf(this->stream, "%*s", this->left ? blanks : 0, "");
}

/* A number of the format, or one of the values. */
static size_t read_size(struct printing *this)
{
	size_t size = 0;

	if (*this->at == '*') {
		int value = va_arg(this->values, int);
		this->at++;
		return value < 0 ? 0 : (size_t)value;
	}
	for (; *this->at >= '0' && *this->at <= '9' && size < INT_MAX / 16; this->at++)
		size = size * 10 + (size_t)(*this->at - '0');
	return size;
}

static void read_flags(struct printing *this)
{
	this->left = *this->at == '-';
	this->at += this->left;
	this->width = read_size(this);
	this->precision = SIZE_MAX;
	if (*this->at == '.') {
		this->at++;
		this->precision = read_size(this);
	}
	size_t length = strspn(this->at, "lz");
	this->size = length == 0        ? sizeof(int)
		     : length == 2      ? sizeof(long long)
		     : *this->at == 'z' ? sizeof(size_t)
					: sizeof(long);
	this->at += length;
}

static long long read_signed(struct printing *this)
{
	return this->size == sizeof(int) ? va_arg(this->values, int)
					 : va_arg(this->values, int64_t);
}

static unsigned long long read_unsigned(struct printing *this)
{
	return this->size == sizeof(int) ? va_arg(this->values, unsigned int)
					 : va_arg(this->values, uint64_t);
}

static void put_value(struct printing *this)
{
	char number[400]; /* DBL_MAX has 309 digits */
	const char *text = number;
	size_t len = 0;

	switch (*this->at) {
	case 's':
		text = va_arg(this->values, const char *);
		text = text ? text : "(null)";
		len = strnlen(text, this->precision);
		break;
	case 'c':
		number[0] = (char)va_arg(this->values, int);
		len = 1;
		break;
	case 'd': len = (size_t)snprintf(number, sizeof(number), "%lld", read_signed(this)); break;
	case 'u':
		len = (size_t)snprintf(number, sizeof(number), "%llu", read_unsigned(this));
		break;
	case 'f':
		len = (size_t)snprintf(number, sizeof(number), "%.*f",
		    this->precision < 6 ? (int)this->precision : 6, va_arg(this->values, double));
		break;
	case '%':
		number[0] = '%';
		len = 1;
		break;
	default: abort(); /* a conversion that this file does not know: a defect of the program */
	}
	this->at++;
	put_padded(this, text, len);
}

void print_values(FILE *stream, const char *format, va_list values)
{
	struct printing this = { .stream = stream, .at = format };

	va_copy(this.values, values);
	while (*this.at) {
		size_t len = strcspn(this.at, "%");
		fwrite(this.at, 1, len, stream);
		this.at += len;
		if (*this.at == '\0')
			break;
		this.at++;
		read_flags(&this);
		put_value(&this);
	}
	va_end(this.values);
}

void print_to(FILE *stream, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	print_values(stream, format, values);
	va_end(values);
}

void print_out(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	print_values(stdout, format, values);
	va_end(values);
}
