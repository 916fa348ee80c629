/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_NODE_PROGRAM_H
#define MPIJOB_LOCAL_NODE_PROGRAM_H

/* Where mpijob-node is, seen from this library; yours, NULL without memory. */
char *mpijob__local_node_program_find(void);

#endif
