/* SPDX-License-Identifier: Apache-2.0 */
/* Which extended resources are accelerators. */
#ifndef MPIJOB__BASE_ACCELERATOR_H
#define MPIJOB__BASE_ACCELERATOR_H

enum mpijob__base_accelerator {
	MPIJOB__BASE_ACCELERATOR_NONE,
	MPIJOB__BASE_ACCELERATOR_SHARED, /* its number is not that of GPUs */
	MPIJOB__BASE_ACCELERATOR_GPU,
	MPIJOB__BASE_ACCELERATOR_NVIDIA_GPU
};

/* The kind of a resource, "nvidia.com/gpu"; `name` is not NULL. */
enum mpijob__base_accelerator mpijob__base_accelerator_of(const char *name);

#endif
