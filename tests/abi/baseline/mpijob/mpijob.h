/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_MPIJOB_H
#define MPIJOB_MPIJOB_H
#include <mpijob/base.h>
#include <mpijob/blocking.h>
#include <mpijob/client.h>
#include <mpijob/convert.h>
#include <mpijob/diag.h>
#include <mpijob/diagnose.h>
#include <mpijob/doc.h>
#include <mpijob/edit.h>
#include <mpijob/features.h>
#include <mpijob/fields.h>
#include <mpijob/job.h>
#include <mpijob/jobs.h>
#include <mpijob/launch.h>
#include <mpijob/logs.h>
#include <mpijob/plan.h>
#include <mpijob/rank.h>
#include <mpijob/render.h>
#include <mpijob/run.h>
#include <mpijob/spec.h>
#include <mpijob/tasks.h>
#include <mpijob/transport.h>
#include <mpijob/watch.h>
#endif
