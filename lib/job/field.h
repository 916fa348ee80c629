/* SPDX-License-Identifier: Apache-2.0 */
/* The field table inside lib/job: struct mpijob_field, and where the C structs store the value. */
#ifndef MPIJOB__JOB_FIELD_H
#define MPIJOB__JOB_FIELD_H

#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/fields.h>

/* Rows, in the order of the document. The numbers are private. 0 is the document itself. */
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

/* The form of a MPIJOB_KIND_DOCUMENT. */
enum mpijob__job_shape { SHAPE_MAP, SHAPE_STRINGS, SHAPE_QUANTITIES };

/* An object that always exists for the operator: defaulting creates it. */
#define FIELD_ALWAYS          1u
#define FIELD_NOT_WRITTEN     2u /* Absent means the default; defaulting does not write it. */
#define FIELD_EMPTY_IS_ABSENT 4u /* An empty string counts as absent. */
#define FIELD_BY_VALUE        8u /* The member is a number, not a pointer to one; 0 is absent. */
/* An object that also has the keys of Kubernetes' ObjectMeta. */
#define FIELD_META    16u
#define FIELD_LENIENT 32u /* mpi-operator v0.8.2 does not check the value. */
#define FIELD_BY_ROLE 64u /* An object whose keys are roles; a path has them in brackets. */

/* What the API server does according to the CRD; the operator does the rest. */
#define CRD_DEFAULTS 1u /* It sets the default. */
#define CRD_CHECKS   2u /* It accepts only the choices. */
#define CRD_REQUIRES 4u /* The field is required. */

struct mpijob__job_row {
	struct mpijob_field field;
	const char *key; /* The last step of the path. */
	/* The field is required; the text is mpi-operator's message. */
	const char *required;
	const char *reference_default; /* The default of v0.8.2 if it is not default_text. */
	const int64_t *maximum;
	size_t offset;       /* Offset of the member in struct `in`. */
	size_t count_offset; /* MPIJOB_KIND_LIST: offset of the count. */
	uint8_t parent;      /* The row of its parent object. */
	uint8_t in;          /* The struct with the member; STRUCT_NONE: there is no member. */
	/* OBJECT, LIST: its struct; STRUCT_NONE: its members are in the struct of its parent. */
	uint8_t of;
	uint8_t list_key; /* LIST: the row whose value identifies an entry. */
	uint8_t shape;
	uint8_t schema; /* SHAPE_MAP: the Kubernetes type, see schema.h. */
	uint8_t flags;
	uint8_t crd; /* CRD_*. */
};

/* The row of an id; FIELD_ROOT is an object without a path. */
const struct mpijob__job_row *mpijob__job_field_row(int id);

/* The full size of a struct. */
size_t mpijob__job_field_struct_size(int id);

/* The offset after the member: a shorter struct does not have it. */
size_t mpijob__job_field_member_end(const struct mpijob__job_row *row);

/* The value at a row's path below the root of a document; not inside lists. NULL when absent or
 * null, or if a parent is not a map. */
const mpijob_node *mpijob__job_field_node(const mpijob_node *root, int id);

#endif
