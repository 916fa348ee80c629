/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mpijob.h
 * Everything of libmpijob in one include. (local.h belongs to libmpijob-local and is not among it.)
 */
#ifndef MPIJOB_MPIJOB_H
#define MPIJOB_MPIJOB_H

#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/convert.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/fields.h>
#include <mpijob/job.h>
#include <mpijob/operator.h>
#include <mpijob/plan.h>
#include <mpijob/render.h>
#include <mpijob/spec.h>
#include <mpijob/transport.h>

#endif /* MPIJOB_MPIJOB_H */
