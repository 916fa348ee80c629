/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes quantities ("500m", "1.5Gi", "2e3"), calculated exactly. */
#ifndef MPIJOB_BASE_QUANTITY_H
#define MPIJOB_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

#define MPIJOB__BASE_QUANTITY_LIMBS 6

#define MPIJOB__BASE_QUANTITY_DECIMAL  0 /* 500m, 2k */
#define MPIJOB__BASE_QUANTITY_BINARY   1 /* 1Gi */
#define MPIJOB__BASE_QUANTITY_EXPONENT 2 /* 2e3 */

/* A number of billionths, below 2^192 in size, and its format. All zeros is 0. */
struct mpijob__base_quantity {
	uint32_t limb[MPIJOB__BASE_QUANTITY_LIMBS]; /* least significant first */
	int negative;
	int format; /* MPIJOB__QUANTITY_* */
};

/* bytes of the longest printed quantity with its NUL */
#define MPIJOB__BASE_QUANTITY_TEXT 80

/* Read a quantity. Returns 1; 0 when the text is not a quantity, its value is 2^192 billionths or
 * more, or its digits without the point are a number of 2^192 or more. */
int mpijob__base_quantity_parse(const char *text, size_t len, struct mpijob__base_quantity *out);
/* Multiply. Returns 1, or 0 on overflow; `quantity` is then undefined. */
int mpijob__base_quantity_multiply(struct mpijob__base_quantity *quantity, int64_t factor);
/* Add `other`; a zero gets the format of `other`. Returns 1, or 0 on overflow. */
int mpijob__base_quantity_add(struct mpijob__base_quantity *quantity,
    const struct mpijob__base_quantity *other);
/* Returns -1, 0 or 1 if `a` is less than, equal to or greater than `b`. */
int mpijob__base_quantity_compare(const struct mpijob__base_quantity *a,
    const struct mpijob__base_quantity *b);
/* Whether it has no fraction. */
int mpijob__base_quantity_is_whole(const struct mpijob__base_quantity *quantity);
/* Get the value rounded away from zero. Returns 1, or 0 when it does not fit. */
int mpijob__base_quantity_value(const struct mpijob__base_quantity *quantity, int64_t *out);
/* Print in Kubernetes' canonical form. Returns the length. */
size_t mpijob__base_quantity_print(const struct mpijob__base_quantity *quantity,
    char out[MPIJOB__BASE_QUANTITY_TEXT]);

#endif /* MPIJOB_BASE_QUANTITY_H */
