/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the DNS of the cluster whether names exist: one UDP query per name, without waiting.
 *
 * A DNS cache may store the negative answer for a name, and the launcher would get it shortly
 * after. Therefore addresses are not queried: each query uses the next of the private-use types,
 * which no cache contains. A server answers NOERROR without records if the name exists, else
 * NXDOMAIN.
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
#include "base/digest.h"
#include "base/random.h"
#include "log.h"

#define SLOTS        1024 /* a power of two */
#define RETRY_MS     50   /* between queries for a name that does not exist */
#define TIMEOUT_MS   300  /* without an answer the query is repeated */
#define CACHE_MS     2000 /* how long the answer for an existing name is valid */
#define MAX_QUERY    512
#define HEADER       12
#define MAX_NAME     253
#define MAX_LABEL    63
#define TYPE_PRIVATE 65280 /* the first of 255 types for private use */
#define CLASS_IN     1
#define FLAG_RECURSE 0x01
#define FLAG_ANSWER  0x80
#define CODE_MASK    0x0f

enum { SLOT_EMPTY, SLOT_QUERIED, SLOT_EXISTS, SLOT_MISSING };

struct slot {
	uint64_t hash; /* of the name */
	int64_t ms;    /* when it entered this state */
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

/* Use the first server, and as domain the text after "svc." in a search list, which only pods have.
 */
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
	size_t size = 0;

	while (getline(&line, &size, file) >= 0)
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

/* Encode a name. Returns the length; 0: the name is invalid. */
static size_t write_name(const char *name, uint8_t *out)
{
	size_t len = 0;

	if (strlen(name) > MAX_NAME)
		return 0;
	for (;;) {
		size_t label = strcspn(name, ".");

		if (label == 0 || label > MAX_LABEL)
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
	uint8_t query[MAX_QUERY] = { 0 };
	uint16_t random_bits;
	size_t len = write_name(name, query + HEADER);

	if (len == 0 || mpijob__base_random_fill(&random_bits, sizeof(random_bits)))
		return -1;
	/* The lower bits of the id are the index of the slot. */
	slot->id = (uint16_t)((random_bits & ~(SLOTS - 1U)) | (unsigned)(slot - names->slots));
	put16(query, slot->id);
	query[2] = FLAG_RECURSE;
	put16(query + 4, 1);
	put16(query + HEADER + len, TYPE_PRIVATE + names->type++ % 255);
	put16(query + HEADER + len + 2, CLASS_IN);
	len += HEADER + 4;
	return send(names->fd, query, len, 0) == (ssize_t)len ? 0 : -1;
}

/* Only the header is needed: question and records are ignored. */
static void handle_answer(struct names *names, const uint8_t header[HEADER])
{
	unsigned id = (unsigned)header[0] << 8 | header[1];
	struct slot *slot = &names->slots[id & (SLOTS - 1U)];

	if (slot->state != SLOT_QUERIED || slot->id != id || !(header[2] & FLAG_ANSWER))
		return;
	slot->state = (header[3] & CODE_MASK) == 0 ? SLOT_EXISTS : SLOT_MISSING;
	slot->ms = mpijob__base_clock_monotonic_ms();
}

/* Read at most as many packets as there can be queries, so that a flood cannot block the operator.
 */
static void read_answers(struct names *names)
{
	uint8_t answer[MAX_QUERY];
	ssize_t len = 0;

	for (int i = 0; i < SLOTS && len >= 0; i++) {
		len = recv(names->fd, answer, sizeof(answer), 0);
		if (len >= HEADER)
			handle_answer(names, answer);
	}
}

static int is_expired(const struct slot *slot)
{
	static const int64_t after_ms[] = {
		[SLOT_EMPTY] = 0,
		[SLOT_QUERIED] = TIMEOUT_MS,
		[SLOT_EXISTS] = CACHE_MS,
		[SLOT_MISSING] = RETRY_MS,
	};

	return mpijob__base_clock_monotonic_ms() - slot->ms >= after_ms[slot->state];
}

int names_resolve(void *user, const char *name)
{
	struct names *names = user;
	uint64_t number = mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START, name, strlen(name));
	struct slot *slot = &names->slots[(number ^ number >> 32) & (SLOTS - 1U)];
	char full[MAX_NAME + 1];
	int len;

	read_answers(names);
	if (slot->hash == number && !is_expired(slot))
		return slot->state == SLOT_EXISTS;
	len = snprintf(full, sizeof(full), "%s.%s", name, names->domain);
	if (len < 0 || (size_t)len >= sizeof(full) || send_query(names, full, slot))
		return -1;
	slot->hash = number;
	slot->state = SLOT_QUERIED;
	slot->ms = mpijob__base_clock_monotonic_ms();
	return 0;
}
