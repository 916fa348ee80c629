/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet of the embedded cluster: until it is there, clusters without a node work and pods stay
 * Pending.
 */
#include "kubelet.h"

int mpijob__kubelet_new(struct mpijob_local *local, const char *program, struct kubelet **out, mpijob_diag *diag)
{
	(void)local;
	(void)program;
	(void)out;
	(void)diag;
	return MPIJOB_ERR_UNSUPPORTED;
}

void mpijob__kubelet_free(struct kubelet *kubelet)
{
	(void)kubelet;
}

void mpijob__kubelet_changed(struct kubelet *kubelet, struct object *object, int change)
{
	(void)kubelet;
	(void)object;
	(void)change;
}

int mpijob__kubelet_run(struct kubelet *kubelet, int64_t clock_ms, int64_t *next_ms)
{
	(void)kubelet;
	(void)clock_ms;
	*next_ms = -1;
	return 0;
}

struct log *mpijob__kubelet_log(struct kubelet *kubelet, const char *uid, const char *container, int previous)
{
	(void)kubelet;
	(void)uid;
	(void)container;
	(void)previous;
	return NULL;
}
