/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as answers of a DNS server: they are read inside of what came, and only an answer to
 * the question counts. */
#include "../../programs/mpijob-operator/names.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void log_line(int32_t severity, const char *format, ...)
{
	(void)severity;
	(void)format;
}

/* The number of the only question, or of none. */
static const struct slot *asked(const struct names *names)
{
	const struct slot *slot = names->slots;

	while (slot->state == SLOT_EMPTY)
		slot++;
	return slot;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct names names;
	uint8_t answer[2 * MAX_QUERY] = { 0 };
	const struct slot *slot;
	int ends[2], is_answer;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends))
		abort();
	memset(&names, 0, sizeof(names));
	names.fd = ends[0];
	names.domain = (char[]){ "here.test" };
	if (names_resolve(&names, "pi-worker-0.pi.team.svc") != 0)
		abort();
	slot = asked(&names);
	if (size > sizeof(answer))
		size = sizeof(answer);
	memcpy(answer, data, size);
	/* Half of them have the right number, half are answers, and some are short. */
	if (size > 2 && data[0] % 2)
		put16(answer, slot->id);
	if (size > 2 && data[1] % 2)
		answer[2] |= FLAG_ANSWER;
	if (size > 2 * HEADER && data[2] % 4 == 0)
		size = data[3] % (2 * HEADER);
	is_answer = size >= HEADER && ((unsigned)answer[0] << 8 | answer[1]) == slot->id &&
		    (answer[2] & FLAG_ANSWER);
	if (send(ends[1], answer, size, 0) != (ssize_t)size)
		abort();
	read_answers(&names);
	if (slot->state != (!is_answer                 ? SLOT_QUERIED
			       : answer[3] & CODE_MASK ? SLOT_MISSING
						       : SLOT_EXISTS))
		abort();
	close(ends[0]);
	close(ends[1]);
	return 0;
}
