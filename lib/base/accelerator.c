/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that the device plugins of Kubernetes give to GPUs and other accelerators, and which of
 * them can be counted as GPUs.
 */
#include "base/accelerator.h"

#include <string.h>

static const struct {
	const char *name; /* a final '*' matches every suffix */
	enum mpijob__base_accelerator kind;
} accelerators[] = {
	{ "nvidia.com/gpu", MPIJOB__BASE_ACCELERATOR_NVIDIA_GPU },
	{ "nvidia.com/mig-*", MPIJOB__BASE_ACCELERATOR_NVIDIA_GPU },
	{ "amd.com/gpu", MPIJOB__BASE_ACCELERATOR_GPU },
	{ "gpu.intel.com/i915", MPIJOB__BASE_ACCELERATOR_GPU },
	{ "gpu.intel.com/xe", MPIJOB__BASE_ACCELERATOR_GPU },
	{ "habana.ai/gaudi", MPIJOB__BASE_ACCELERATOR_GPU },
	{ "nvidia.com/gpu.shared", MPIJOB__BASE_ACCELERATOR_SHARED },
	{ "aws.amazon.com/neuron*", MPIJOB__BASE_ACCELERATOR_SHARED },
	{ "google.com/tpu", MPIJOB__BASE_ACCELERATOR_SHARED },
};

enum mpijob__base_accelerator mpijob__base_accelerator_of(const char *name)
{
	for (size_t i = 0; i < sizeof(accelerators) / sizeof(accelerators[0]); i++) {
		size_t len = strlen(accelerators[i].name);

		if (accelerators[i].name[len - 1] == '*'
			? strncmp(name, accelerators[i].name, len - 1) == 0
			: strcmp(name, accelerators[i].name) == 0)
			return accelerators[i].kind;
	}
	return MPIJOB__BASE_ACCELERATOR_NONE;
}
