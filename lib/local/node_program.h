/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_NODE_PROGRAM_H
#define MPIJOB_LOCAL_NODE_PROGRAM_H

/* The path of mpijob-node. The caller frees it; NULL when memory ran out. */
char *mpijob__local_node_program_find(void);

#endif
