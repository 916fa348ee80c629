/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One answer of a blocking call: the pieces that its worker reported and poll has not taken, and
 * the lists that hold it.
 *
 * Only this file knows how a slow reader slows down the worker, and that the whole answer fails
 * when there is no memory for a piece: an incomplete answer must not look complete.
 */
#include "client/blocking_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mpijob__client_blocking_ring(struct adapter *adapter)
{
	const uint64_t one = 1;
	int before = errno;

	/* EAGAIN: the counter is full, so the poll wakes up anyway. */
	while (write(adapter->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	errno = before;
}

void mpijob__client_blocking_push_ready(struct mpijob_blocking_answer *answer)
{
	struct adapter *adapter = answer->adapter;

	if (answer->is_ready)
		return;
	answer->is_ready = 1;
	answer->next_ready = NULL;
	if (adapter->last_ready)
		adapter->last_ready->next_ready = answer;
	else
		adapter->ready = answer;
	adapter->last_ready = answer;
	mpijob__client_blocking_ring(adapter);
}

struct mpijob_blocking_answer *mpijob__client_blocking_pop_ready(struct adapter *adapter)
{
	struct mpijob_blocking_answer *answer = adapter->ready;

	if (!answer)
		return NULL;
	adapter->ready = answer->next_ready;
	if (!adapter->ready)
		adapter->last_ready = NULL;
	answer->is_ready = 0;
	return answer;
}

struct mpijob_blocking_answer *mpijob__client_blocking_pop_waiting(struct adapter *adapter)
{
	struct mpijob_blocking_answer *answer = adapter->waiting;

	adapter->waiting = answer->next_waiting;
	if (!adapter->waiting)
		adapter->last_waiting = NULL;
	adapter->waiting_count--;
	answer->is_waiting = 0;
	return answer;
}

void mpijob__client_blocking_push_waiting(struct mpijob_blocking_answer *answer)
{
	struct adapter *adapter = answer->adapter;

	answer->is_waiting = 1;
	answer->next_waiting = NULL;
	if (adapter->last_waiting)
		adapter->last_waiting->next_waiting = answer;
	else
		adapter->waiting = answer;
	adapter->last_waiting = answer;
	adapter->waiting_count++;
}

void mpijob__client_blocking_drop_waiting(struct mpijob_blocking_answer *answer)
{
	struct mpijob_blocking_answer **at = &answer->adapter->waiting, *before = NULL;

	for (; *at != answer; at = &(*at)->next_waiting)
		before = *at;
	*at = answer->next_waiting;
	if (answer->adapter->last_waiting == answer)
		answer->adapter->last_waiting = before;
	answer->adapter->waiting_count--;
	answer->is_waiting = 0;
}

void mpijob__client_blocking_link(struct mpijob_blocking_answer *answer)
{
	mpijob__base_list_insert(answer->adapter->answers.next, &answer->link, answer);
}

void mpijob__client_blocking_unlink(struct mpijob_blocking_answer *answer)
{
	mpijob__base_list_remove(&answer->link);
}

void mpijob__client_blocking_free_piece(struct piece *piece)
{
	/* A body may hold a Secret: wipe it. */
	explicit_bzero(piece->text, piece->len);
	free(piece);
}

void mpijob__client_blocking_drop_pieces(struct mpijob_blocking_answer *answer)
{
	while (answer->first) {
		struct piece *piece = answer->first;

		answer->first = piece->next;
		mpijob__client_blocking_free_piece(piece);
	}
	answer->last = NULL;
	answer->queued = 0;
}

void mpijob__client_blocking_join(struct mpijob_blocking_answer *answer)
{
	if (answer->has_thread)
		pthread_join(answer->thread, NULL);
	answer->has_thread = 0;
}

/* No list refers to it any more. */
void mpijob__client_blocking_free(struct mpijob_blocking_answer *answer)
{
	mpijob__client_blocking_join(answer);
	mpijob__client_blocking_drop_pieces(answer);
	mpijob__base_text_release(&answer->text);
	mpijob__base_text_release(&answer->body);
	pthread_cond_destroy(&answer->changed);
	free(answer->message);
	free(answer);
}

/* All strings are in one text. The pointers are set when the text does not move any more. */
static int copy_request(struct mpijob_blocking_answer *answer, const struct mpijob_request *request)
{
	size_t path, type = 0;
	int rc = mpijob_text_write(&answer->text, request->method, strlen(request->method) + 1);

	path = answer->text.len;
	if (rc == 0)
		rc = mpijob_text_write(&answer->text, request->path, strlen(request->path) + 1);
	if (rc == 0 && request->content_type) {
		type = answer->text.len;
		rc = mpijob_text_write(&answer->text, request->content_type,
		    strlen(request->content_type) + 1);
	}
	if (rc == 0 && request->body)
		rc = mpijob_text_write(&answer->body, request->body, request->body_len);
	if (rc)
		return rc;
	answer->request = *request;
	answer->request.method = answer->text.data;
	answer->request.path = answer->text.data + path;
	answer->request.content_type = type ? answer->text.data + type : NULL;
	answer->request.body = request->body ? mpijob_text_data(&answer->body) : NULL;
	return 0;
}

struct mpijob_blocking_answer *mpijob__client_blocking_new(struct adapter *adapter,
    const struct mpijob_request *request, mpijob_exchange *exchange)
{
	struct mpijob_blocking_answer *answer = calloc(1, sizeof(*answer));

	if (!answer)
		return NULL;
	answer->adapter = adapter;
	answer->exchange = exchange;
	if (pthread_cond_init(&answer->changed, NULL)) {
		free(answer);
		return NULL;
	}
	if (copy_request(answer, request)) {
		mpijob__client_blocking_free(answer);
		return NULL;
	}
	return answer;
}

/* ---- reports of workers ---- */

/* Called with the lock held. */
static int add_piece(struct mpijob_blocking_answer *answer, struct piece *piece)
{
	if (answer->cancelled) {
		mpijob__client_blocking_free_piece(piece);
		return MPIJOB_ERR_CANCELLED;
	}
	if (answer->last)
		answer->last->next = piece;
	else
		answer->first = piece;
	answer->last = piece;
	answer->queued += piece->len;
	mpijob__client_blocking_push_ready(answer);
	return 0;
}

static struct piece *new_piece(int what, size_t len)
{
	struct piece *piece = len > SIZE_MAX - sizeof(*piece) ? NULL : malloc(sizeof(*piece) + len);

	if (piece) {
		memset(piece, 0, sizeof(*piece));
		piece->what = what;
		piece->len = len;
	}
	return piece;
}

static int report_to_poll(struct mpijob_blocking_answer *answer, struct piece *piece)
{
	struct adapter *adapter = answer->adapter;
	int rc = MPIJOB_ERR_NOMEM;

	pthread_mutex_lock(&adapter->lock);
	if (piece)
		rc = add_piece(answer, piece);
	else
		answer->broken = 1;
	pthread_mutex_unlock(&adapter->lock);
	return rc;
}

void mpijob_blocking_header(mpijob_blocking_answer *answer, const char *name, const char *value)
{
	struct piece *piece;
	size_t name_len, value_len;

	if (!answer || !name || !value)
		return;
	name_len = strlen(name);
	value_len = strlen(value);
	piece = new_piece(PIECE_HEADER, name_len + value_len + 2);
	if (piece) {
		memcpy(piece->text, name, name_len + 1);
		memcpy(piece->text + name_len + 1, value, value_len + 1);
		piece->name_len = name_len;
	}
	(void)report_to_poll(answer, piece);
}

void mpijob_blocking_status(mpijob_blocking_answer *answer, int status)
{
	struct piece *piece;

	if (!answer)
		return;
	piece = new_piece(PIECE_STATUS, 0);
	if (piece)
		piece->status = status;
	(void)report_to_poll(answer, piece);
}

int mpijob_blocking_data(mpijob_blocking_answer *answer, const char *data, size_t len)
{
	struct piece *piece;
	int rc;

	if (!answer || (!data && len))
		return MPIJOB_ERR_USAGE;
	pthread_mutex_lock(&answer->adapter->lock);
	while (answer->queued >= MPIJOB__CLIENT_BLOCKING_FULL && !answer->cancelled)
		pthread_cond_wait(&answer->changed, &answer->adapter->lock);
	rc = answer->cancelled ? MPIJOB_ERR_CANCELLED : answer->broken ? MPIJOB_ERR_NOMEM : 0;
	pthread_mutex_unlock(&answer->adapter->lock);
	if (rc || len == 0)
		return rc;
	piece = new_piece(PIECE_DATA, len);
	if (piece)
		memcpy(piece->text, data, len);
	return report_to_poll(answer, piece);
}

void mpijob_blocking_message(mpijob_blocking_answer *answer, const char *message)
{
	char *copy, *before;

	if (!answer || !message)
		return;
	/* Without memory the message is the text of the code. */
	copy = strdup(message);
	pthread_mutex_lock(&answer->adapter->lock);
	before = answer->message;
	answer->message = copy;
	pthread_mutex_unlock(&answer->adapter->lock);
	free(before);
}

int mpijob_blocking_cancelled(const mpijob_blocking_answer *answer)
{
	int cancelled;

	if (!answer)
		return 0;
	pthread_mutex_lock(&answer->adapter->lock);
	cancelled = answer->cancelled;
	pthread_mutex_unlock(&answer->adapter->lock);
	return cancelled;
}
