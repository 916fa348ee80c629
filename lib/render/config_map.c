/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ConfigMap with the hostfile and the script by which elastic programs find the workers that run now. An API
 * server accepts no more than 1 MiB of texts together, which is checked before anything is sent.
 */
#include "render/build.h"

#include "base/diag.h"

static void add_text(struct mpijob__build *b, mpijob_node *data, const char *key,
		     int (*print)(const struct mpijob__subject *, mpijob_write_fn, void *), size_t *total)
{
	int code;

	mpijob_text_clear(&b->scratch);
	code = print(b->subject, mpijob_text_write, &b->scratch);
	if (code != 0 && b->code == 0)
		b->code = code;
	*total += b->scratch.len;
	mpijob_node_put(b->doc, data, key,
			mpijob_node_new_string(b->doc, mpijob_text_data(&b->scratch), b->scratch.len));
}

static int count_bytes(void *user, const char *data, size_t len)
{
	(void)data;
	*(size_t *)user += len;
	return 0;
}

static const char *remedy(const struct mpijob__subject *subject)
{
	if (mpijob__subject_compact(subject))
		return "use fewer workers, or a shorter name";
	if (subject->options.reference)
		return "use fewer workers, or a shorter name, namespace or cluster domain";
	return "set compact_hosts (--compact-hosts), or use fewer workers, or a shorter name, namespace or cluster domain";
}

/* Tell now when the ConfigMap is small enough only while not all workers run. */
static void look_ahead(struct mpijob__build *b, size_t hostfile)
{
	struct mpijob__subject all = *b->subject;
	size_t total = hostfile;

	all.options.running = NULL;
	if (mpijob__discover_hosts_write(&all, count_bytes, &total) != 0 || total <= MPIJOB__CONFIG_MAP_MOST)
		return;
	mpijob__diag_addf(b->diag, MPIJOB_SEVERITY_WARNING, "config-map-will-be-too-large", "TooLong",
			  "spec.mpiReplicaSpecs[Worker].replicas", NULL,
			  "the ConfigMap takes %zu bytes once all workers run; at most %zu are accepted: %s", total,
			  MPIJOB__CONFIG_MAP_MOST, remedy(b->subject));
	if (mpijob__diag_raised(b->diag, "config-map-will-be-too-large"))
		b->code = MPIJOB_ERR_SPEC;
}

void mpijob__config_map_refuse(const struct mpijob__subject *subject, mpijob_diag *diag)
{
	mpijob__diag_addf(
		diag, MPIJOB_SEVERITY_ERROR, "config-map-too-large", "TooLong", "spec.mpiReplicaSpecs[Worker].replicas",
		NULL,
		"hostfile and discover_hosts.sh of %d workers take more than the %zu bytes that a ConfigMap may "
		"hold: %s",
		(int)mpijob__subject_workers(subject), MPIJOB__CONFIG_MAP_MOST, remedy(subject));
}

void mpijob__config_map_build(struct mpijob__build *b)
{
	mpijob_node *root = mpijob__build_head(b, MPIJOB_ROLE_CONFIG_MAP, 0, 1);
	mpijob_node *data = mpijob_node_put_map(b->doc, root, "data");
	size_t hostfile = 0, total;

	add_text(b, data, MPIJOB__KEY_HOSTFILE, mpijob__hostfile_write, &hostfile);
	total = hostfile;
	if (b->code == 0)
		add_text(b, data, MPIJOB__KEY_DISCOVER_HOSTS, mpijob__discover_hosts_write, &total);
	if (b->code == 0 && total > MPIJOB__CONFIG_MAP_MOST)
		b->code = MPIJOB_ERR_SPEC;
	if (b->code == MPIJOB_ERR_SPEC)
		mpijob__config_map_refuse(b->subject, b->diag);
	else if (b->code == 0 && b->subject->options.running != NULL && !b->subject->options.reference)
		look_ahead(b, hostfile);
}
