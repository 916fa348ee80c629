/* SPDX-License-Identifier: Apache-2.0 */
/* The transports of the suite, each as a client that is ready. */
#ifndef TESTS_TRANSPORT_TRANSPORTS_H
#define TESTS_TRANSPORT_TRANSPORTS_H

#include <mpijob/mpijob.h>

int open_silence(mpijob_client **out);
int open_embedded(mpijob_client **out);
int open_recorder(mpijob_client **out);
int open_replay(mpijob_client **out); /* of what the recorder recorded */
void forget_recording(void);
int open_blocking(mpijob_client **out);
int open_http(mpijob_client **out);

#endif
