/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effective values of a job under a configuration of the operator, as a table.
 */
#ifndef MPIJOB_PROGRAM_EFFECTIVE_H
#define MPIJOB_PROGRAM_EFFECTIVE_H

#include <mpijob/mpijob.h>
#include <mpijob/operator_config.h>

/* Read a configuration; 0 or a code, with findings. */
int effective_read(const char *path, mpijob_operator_config **out, mpijob_diag *diag);

/* Print the effective values and where they come from. 0 or MPIJOB_ERR_NOMEM. */
int effective_print(const mpijob_operator_config *config, const mpijob *job);

#endif
