/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the DNS of the cluster whether names exist: one UDP query for each, without waiting.
 *
 * A cache between here and the server may store the answer that a name does not exist, and the
 * launcher would find it there a moment later. So no address is queried: each query uses another of
 * the types for private use, which no cache contains. A server answers NOERROR without records for
 * a name that exists, else NXDOMAIN.
 */
#include "names.h"

#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mpijob/mpijob.h>

#include "base/clock.h"
#include "base/random.h"
#include "log.h"

#define SLOTS        1024 /* a power of two */
#define AGAIN_MS     50   /* after the answer that there is no such name */
#define LOST_MS      300  /* a query without an answer is lost */
#define KNOWN_MS     2000 /* a name that exists is not asked again */
#define QUERY_MOST   512
#define HEADER       12
#define NAME_MOST    253
#define LABEL_MOST   63
#define TYPE_PRIVATE 65280 /* the first of 255 types for private use */
#define CLASS_IN     1
#define FLAG_RECURSE 0x01
#define FLAG_ANSWER  0x80
#define CODE_MASK    0x0f

enum { UNASKED, ASKED, EXISTS, MISSING };

struct slot {
	uint64_t hash; /* of the name */
	int64_t ms;    /* since when it is in this state */
	uint16_t id;   /* of the last query */
	unsigned char state;
};

struct names {
	int fd;
	unsigned type;
	char *domain;
	struct slot slots[SLOTS];
};

/* ---- resolv.conf ---- */

static int connect_to(const char *server)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_DGRAM };
	struct addrinfo *found = NULL;
	int fd = -1;

	if (getaddrinfo(server, "53", &hints, &found))
		return -1;
	fd = socket(found->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen)) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	return fd;
}

/* The first server, and the domain after "svc." in the last search list, which only pods have. */
static void read_line(char *line, struct names *names)
{
	char *rest = NULL, *word = strtok_r(line, " \t\n", &rest);
	int is_search = word && strcmp(word, "search") == 0;
	int is_server = word && strcmp(word, "nameserver") == 0;

	while (
	    word && (is_search || is_server) && (word = strtok_r(NULL, " \t\n", &rest)) != NULL) {
		if (is_server && names->fd < 0)
			names->fd = connect_to(word);
		if (is_search && strncmp(word, "svc.", 4) == 0 && !names->domain)
			names->domain = strdup(word + 4);
	}
}

static void read_file(FILE *file, struct names *names)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, file) >= 0)
		read_line(line, names);
	free(line);
}

struct names *names_new(const char *path, const char *domain)
{
	struct names *names = calloc(1, sizeof(*names));
	FILE *file = names ? fopen(path, "re") : NULL;

	if (names)
		names->fd = -1;
	if (file) {
		read_file(file, names);
		fclose(file);
	}
	if (names && names->domain && domain && *domain) {
		free(names->domain);
		names->domain = strdup(domain);
	}
	if (names && names->fd >= 0 && names->domain)
		return names;
	names_free(names);
	log_line(MPIJOB_SEVERITY_INFO,
	    "%s has no DNS server of a cluster: launchers start after the full time of "
	    "--launcher-hold",
	    path);
	return NULL;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	if (names->fd >= 0)
		close(names->fd);
	free(names->domain);
	free(names);
}

/* ---- queries ---- */

static void put16(uint8_t *at, unsigned number)
{
	at[0] = (uint8_t)(number >> 8);
	at[1] = (uint8_t)number;
}

/* Returns the length; 0 when the name is not valid. */
static size_t write_name(const char *name, uint8_t *out)
{
	size_t len = 0;

	if (strlen(name) > NAME_MOST)
		return 0;
	for (;;) {
		size_t label = strcspn(name, ".");

		if (label == 0 || label > LABEL_MOST)
			return 0;
		out[len++] = (uint8_t)label;
		memcpy(out + len, name, label);
		len += label;
		name += label;
		if (!*name)
			break;
		name++;
	}
	out[len++] = 0;
	return len;
}

static int send_query(struct names *names, const char *name, struct slot *slot)
{
	uint8_t query[QUERY_MOST] = { 0 };
	uint16_t noise;
	size_t len = write_name(name, query + HEADER);

	if (len == 0 || mpijob__base_random_fill(&noise, sizeof(noise)))
		return -1;
	/* The lower bits of the number are the slot's. */
	slot->id = (uint16_t)((noise & ~(SLOTS - 1U)) | (unsigned)(slot - names->slots));
	put16(query, slot->id);
	query[2] = FLAG_RECURSE;
	put16(query + 4, 1);
	put16(query + HEADER + len, TYPE_PRIVATE + names->type++ % 255);
	put16(query + HEADER + len + 2, CLASS_IN);
	len += HEADER + 4;
	return send(names->fd, query, len, 0) == (ssize_t)len ? 0 : -1;
}

/* Only the header counts: the question and records behind it are not read. */
static void take_answer(struct names *names, const uint8_t header[HEADER])
{
	unsigned id = (unsigned)header[0] << 8 | header[1];
	struct slot *slot = &names->slots[id & (SLOTS - 1U)];

	if (slot->state != ASKED || slot->id != id || !(header[2] & FLAG_ANSWER))
		return;
	slot->state = (header[3] & CODE_MASK) == 0 ? EXISTS : MISSING;
	slot->ms = mpijob__base_clock_monotonic_ms();
}

/* Read at most as many packets as there are queries: a flood must not occupy the operator. */
static void read_answers(struct names *names)
{
	uint8_t answer[QUERY_MOST];
	ssize_t len = 0;

	for (int i = 0; i < SLOTS && len >= 0; i++) {
		len = recv(names->fd, answer, sizeof(answer), 0);
		if (len >= HEADER)
			take_answer(names, answer);
	}
}

static uint64_t hash(const char *text)
{
	uint64_t sum = UINT64_C(14695981039346656037);

	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return sum;
}

static int is_over(const struct slot *slot)
{
	static const int64_t after_ms[] = {
		[UNASKED] = 0,
		[ASKED] = LOST_MS,
		[EXISTS] = KNOWN_MS,
		[MISSING] = AGAIN_MS,
	};

	return mpijob__base_clock_monotonic_ms() - slot->ms >= after_ms[slot->state];
}

int names_resolve(void *user, const char *name)
{
	struct names *names = user;
	uint64_t number = hash(name);
	struct slot *slot = &names->slots[(number ^ number >> 32) & (SLOTS - 1U)];
	char full[NAME_MOST + 1];
	int len;

	read_answers(names);
	if (slot->hash == number && !is_over(slot))
		return slot->state == EXISTS;
	len = snprintf(full, sizeof(full), "%s.%s", name, names->domain);
	if (len < 0 || (size_t)len >= sizeof(full) || send_query(names, full, slot))
		return -1;
	slot->hash = number;
	slot->state = ASKED;
	slot->ms = mpijob__base_clock_monotonic_ms();
	return 0;
}
