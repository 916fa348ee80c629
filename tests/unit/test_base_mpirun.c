/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about MPI programs and clusters in lib/base: options of mpirun, names of accelerators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/accelerator.h"
#include "base/mpirun.h"

static void test_options(void **state)
{
	(void)state;
	assert_int_equal(mpijob__base_mpirun_option("-np"), MPIJOB__BASE_MPIRUN_COUNT);
	assert_int_equal(mpijob__base_mpirun_option("--hostfile"), MPIJOB__BASE_MPIRUN_HOSTFILE);
	assert_int_equal(mpijob__base_mpirun_option("-H"), MPIJOB__BASE_MPIRUN_OWN_HOSTS);
	assert_int_equal(mpijob__base_mpirun_option("--tag-output"), MPIJOB__BASE_MPIRUN_FLAG);
	assert_int_equal(mpijob__base_mpirun_option("--tag"), MPIJOB__BASE_MPIRUN_UNKNOWN);
	assert_int_equal(mpijob__base_mpirun_option("-"), MPIJOB__BASE_MPIRUN_UNKNOWN);
	assert_int_equal(mpijob__base_mpirun_values("-np"), 1);
	assert_int_equal(mpijob__base_mpirun_values("--map-by"), 1);
	assert_int_equal(mpijob__base_mpirun_values("--mca"), 2);
	assert_int_equal(mpijob__base_mpirun_values("-v"), 0);
	assert_int_equal(mpijob__base_mpirun_values("--unknown"), 0);
}

static void test_accelerators(void **state)
{
	(void)state;
	assert_int_equal(mpijob__base_accelerator_of("nvidia.com/mig-1g.5gb"),
	    MPIJOB__BASE_ACCELERATOR_NVIDIA_GPU);
	assert_int_equal(mpijob__base_accelerator_of("amd.com/gpu"), MPIJOB__BASE_ACCELERATOR_GPU);
	assert_int_equal(mpijob__base_accelerator_of("nvidia.com/gpu.shared"),
	    MPIJOB__BASE_ACCELERATOR_SHARED);
	assert_int_equal(mpijob__base_accelerator_of("nvidia.com/gpus"),
	    MPIJOB__BASE_ACCELERATOR_NONE);
	assert_int_equal(mpijob__base_accelerator_of("cpu"), MPIJOB__BASE_ACCELERATOR_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_accelerators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
