/* SPDX-License-Identifier: Apache-2.0 */
/* Children of jobs: events and responses become facts. */
#ifndef MPIJOB__OPERATOR_CACHE_CHILDREN_H
#define MPIJOB__OPERATOR_CACHE_CHILDREN_H

#include "operator/cache_jobs.h"

/* A resourceVersion as a number; 0 when it is not a number. */
uint64_t mpijob__operator_version_parse(const char *text);
/* A child from a list or watch: find its job, or drop it. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__operator_children_event(struct mpijob__operator_informer *informer,
    const struct mpijob_watch_event *object);
/* An object from the response to a request of this job. 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_SYNTAX. */
int mpijob__operator_children_answer(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const char *json, size_t len);
/* 1 when the object was deleted, and this version is older than its last event. */
int mpijob__operator_children_is_deleted(const mpijob_operator *operator_, const char *uid,
    uint64_t version);
/* `on` 1: this operator deletes it, so its last event is not a loss. 0: it did not. */
void mpijob__operator_children_set_deleting(mpijob_operator *operator_, const char *uid, int on);
/* A response says that it is deleted; its last event may follow. */
void mpijob__operator_children_deleted(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const char *uid);
/* 1 when children of this role have no informer and are read by name. */
int mpijob__operator_children_is_unwatched(const mpijob_operator *operator_, int32_t role);
/* No event reports that an unwatched foreign object is deleted: forget it, so that the next plan
 * finds out. */
void mpijob__operator_children_forget_foreign(mpijob_operator *operator_,
    struct mpijob__operator_job *job);
/* Forget the children that a list did not contain. */
void mpijob__operator_children_sweep(struct mpijob__operator_informer *informer,
    const char *list_version);
void mpijob__operator_children_release(struct mpijob__operator_job *job,
    mpijob_operator *operator_);

#endif
