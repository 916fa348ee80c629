/* SPDX-License-Identifier: Apache-2.0 */
/* The field table as the engines of this room see it: what fields.h says, and where a value lives
 * in C. */
#ifndef MPIJOB__JOB_FIELD_H
#define MPIJOB__JOB_FIELD_H

#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/fields.h>

/* Rows. Append in the order of the document; the numbers are private. 0 is the document itself. */
enum mpijob__job_field_id {
	FIELD_ROOT,
	FIELD_API_VERSION,
	FIELD_KIND,
	FIELD_METADATA,
	FIELD_NAME,
	FIELD_GENERATE_NAME,
	FIELD_NAMESPACE,
	FIELD_UID,
	FIELD_LABELS,
	FIELD_ANNOTATIONS,
	FIELD_SPEC,
	FIELD_REPLICA_SPECS,
	FIELD_LAUNCHER,
	FIELD_LAUNCHER_REPLICAS,
	FIELD_LAUNCHER_RESTART_POLICY,
	FIELD_LAUNCHER_TEMPLATE,
	FIELD_WORKER,
	FIELD_WORKER_REPLICAS,
	FIELD_WORKER_RESTART_POLICY,
	FIELD_WORKER_TEMPLATE,
	FIELD_SLOTS_PER_WORKER,
	FIELD_RUN_LAUNCHER_AS_WORKER,
	FIELD_RUN_POLICY,
	FIELD_CLEAN_POD_POLICY,
	FIELD_TTL_SECONDS,
	FIELD_ACTIVE_DEADLINE,
	FIELD_BACKOFF_LIMIT,
	FIELD_SUSPEND,
	FIELD_MANAGED_BY,
	FIELD_SCHEDULING_POLICY,
	FIELD_MIN_AVAILABLE,
	FIELD_QUEUE,
	FIELD_MIN_RESOURCES,
	FIELD_PRIORITY_CLASS,
	FIELD_SCHEDULE_TIMEOUT,
	FIELD_SSH_AUTH_MOUNT_PATH,
	FIELD_LAUNCHER_CREATION_POLICY,
	FIELD_MPI_IMPLEMENTATION,
	FIELD_STATUS,
	FIELD_CONDITIONS,
	FIELD_CONDITION_TYPE,
	FIELD_CONDITION_STATUS,
	FIELD_CONDITION_REASON,
	FIELD_CONDITION_MESSAGE,
	FIELD_CONDITION_UPDATED,
	FIELD_CONDITION_CHANGED,
	FIELD_REPLICA_STATUSES,
	FIELD_LAUNCHER_STATUS,
	FIELD_LAUNCHER_ACTIVE,
	FIELD_LAUNCHER_SUCCEEDED,
	FIELD_LAUNCHER_FAILED,
	FIELD_LAUNCHER_LABEL_SELECTOR,
	FIELD_LAUNCHER_SELECTOR,
	FIELD_WORKER_STATUS,
	FIELD_WORKER_ACTIVE,
	FIELD_WORKER_SUCCEEDED,
	FIELD_WORKER_FAILED,
	FIELD_WORKER_LABEL_SELECTOR,
	FIELD_WORKER_SELECTOR,
	FIELD_START_TIME,
	FIELD_COMPLETION_TIME,
	FIELD_LAST_RECONCILE_TIME,
	FIELD_END
};

/* The typed structs of spec.h. */
enum mpijob__job_struct_id {
	STRUCT_NONE,
	STRUCT_SPEC,
	STRUCT_RUN_POLICY,
	STRUCT_SCHEDULING_POLICY,
	STRUCT_REPLICA_SPEC,
	STRUCT_STATUS,
	STRUCT_CONDITION,
	STRUCT_REPLICA_STATUS,
	STRUCT_END
};

/* What a MPIJOB_KIND_DOCUMENT must look like. */
enum mpijob__job_shape { SHAPE_MAP, SHAPE_STRINGS, SHAPE_QUANTITIES };

/* An object that always exists for the operator: it is made to hold its defaults. */
#define FIELD_MADE    1u
#define FIELD_IMPLIED 2u /* Absent means the default; it is not written. */
#define FIELD_EMPTY   4u /* An empty string counts as absent. */
#define FIELD_PLAIN   8u /* The member is a number itself, not a pointer to one; 0 is absent. */
/* An object whose keys that are no rows are those of Kubernetes' ObjectMeta. */
#define FIELD_META    16u
#define FIELD_LENIENT 32u /* mpi-operator v0.8.2 does not check the value. */
#define FIELD_BY_ROLE 64u /* An object whose keys are roles: they stand in brackets in a path. */

/* What the API server makes sure of, by the CRD; the rest is the operator's. */
#define CRD_FILLS    1u /* It fills in the default. */
#define CRD_CHECKS   2u /* It accepts the choices only. */
#define CRD_REQUIRES 4u /* It must be there. */

struct mpijob__job_row {
	struct mpijob_field field;
	const char *key;               /* The last step of the path. */
	const char *required;          /* Must be there; in the reference's words. */
	const char *reference_default; /* What v0.8.2 fills in where it is not default_text. */
	const int64_t *maximum;
	size_t offset;       /* Of the member in struct `in`. */
	size_t count_offset; /* MPIJOB_KIND_LIST: of the member that counts. */
	uint8_t parent;      /* The row of the object around it. */
	uint8_t in;          /* The struct that has the member; STRUCT_NONE: no struct has. */
	/* OBJECT, LIST: the struct it becomes; STRUCT_NONE: part of the struct around it. */
	uint8_t of;
	uint8_t list_key; /* LIST: the row that tells entries apart. */
	uint8_t shape;
	uint8_t schema; /* SHAPE_MAP: the type of Kubernetes, of schema.h. */
	uint8_t flags;
	uint8_t crd; /* CRD_*. */
};

/* The row of an id; FIELD_ROOT is an object without path. */
const struct mpijob__job_row *mpijob__job_field_row(int id);

/* The full size of a struct. */
size_t mpijob__job_field_struct_size(int id);

/* The member's last byte, counted from the struct's start: a struct that is shorter does not have
 * it. */
size_t mpijob__job_field_member_end(const struct mpijob__job_row *row);

/* The value at a row's path below the root of a document; not through lists. NULL when absent,
 * null, or cut off. */
const mpijob_node *mpijob__job_field_node(const mpijob_node *root, int id);

#endif
