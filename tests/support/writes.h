/* SPDX-License-Identifier: Apache-2.0 */
/* Options of mpijob_client_write() and mpijob_client_delete(), written as arguments. */
#ifndef TESTS_SUPPORT_WRITES_H
#define TESTS_SUPPORT_WRITES_H

#include <mpijob/client.h>

/* WRITE(PATCH_MERGE): MPIJOB_WRITE_PATCH_MERGE, and defaults. */
#define WRITE(verb) WRITE_VERB(MPIJOB_WRITE_##verb)
#define WRITE_VERB(verb)                                                                           \
	(&(const struct mpijob_write_options){ sizeof(struct mpijob_write_options), verb, NULL, 0, \
	    0 })
#define DELETION(uid, propagation)                                                               \
	(&(const struct mpijob_delete_options){ sizeof(struct mpijob_delete_options), uid, NULL, \
	    propagation, NULL })

#endif
