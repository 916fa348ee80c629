/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ConfigMap with the hostfile and discover_hosts.sh, with which elastic programs find the
 * running workers. An API server accepts at most 1 MiB in all, which is checked before anything is
 * sent.
 */
#include "render/build.h"

#include "core/diag.h"

typedef int print_text(const struct mpijob__render_subject *subject, mpijob_write_fn write,
    void *user);

static int count_bytes(void *user, const char *data, size_t len)
{
	(void)data;
	*(size_t *)user += len;
	return 0;
}

/* Compute the length of a text; for a text that is much too long, stop early. */
static int measure(print_text *print, const struct mpijob__render_subject *subject, size_t *out)
{
	int code;

	*out = 0;
	code = print(subject, count_bytes, out);
	if (code == MPIJOB_ERR_SPEC)
		*out = MPIJOB__RENDER_CONFIG_MAP_LIMIT + 1;
	return code == MPIJOB_ERR_SPEC ? 0 : code;
}

static void add_text(struct mpijob__render_build *b, mpijob_node *data, const char *key,
    print_text *print, size_t len)
{
	int code;

	mpijob_text_clear(&b->scratch);
	code = mpijob__base_text_reserve(&b->scratch, len);
	if (code == 0)
		code = print(b->subject, mpijob_text_write, &b->scratch);
	if (code != 0 && b->code == 0)
		b->code = code;
	mpijob_node_put(b->doc, data, key,
	    mpijob_node_new_text(b->doc, MPIJOB_NODE_STRING, mpijob_text_data(&b->scratch),
		b->scratch.len));
}

static const char *advice(const struct mpijob__render_subject *subject)
{
	if (mpijob__render_subject_compact(subject))
		return "use fewer workers, or a shorter name";
	if (subject->options.reference)
		return "use fewer workers, or a shorter name, namespace or cluster domain";
	return "set compact_hosts (--compact-hosts), or use fewer workers, or a shorter name, "
	       "namespace or cluster domain";
}

/* Report a ConfigMap that will be too large when all workers run. */
static void check_full_size(struct mpijob__render_build *b, size_t hostfile)
{
	struct mpijob__render_subject all = *b->subject;
	size_t total;

	if (b->subject->options.reference && !b->subject->all_must_fit)
		return;
	all.options.running = NULL;
	b->code = measure(mpijob__render_discover_hosts_write, &all, &total);
	total += hostfile;
	if (b->code != 0 || total <= MPIJOB__RENDER_CONFIG_MAP_LIMIT)
		return;
	if (b->subject->all_must_fit) {
		b->code = MPIJOB_ERR_SPEC;
		mpijob__render_config_map_too_large(b->subject, b->diag);
		return;
	}
	mpijob__core_diag_addf(b->diag, MPIJOB_SEVERITY_WARNING, "config-map-will-be-too-large",
	    "TooLong", "spec.mpiReplicaSpecs[Worker].replicas", NULL,
	    "the ConfigMap takes %zu bytes once all workers run; at most %zu are accepted: %s",
	    total, MPIJOB__RENDER_CONFIG_MAP_LIMIT, advice(b->subject));
	if (mpijob__core_diag_raised(b->diag, "config-map-will-be-too-large"))
		b->code = MPIJOB_ERR_SPEC;
}

void mpijob__render_config_map_too_large(const struct mpijob__render_subject *subject,
    mpijob_diag *diag)
{
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "config-map-too-large", "TooLong",
	    "spec.mpiReplicaSpecs[Worker].replicas", NULL,
	    "hostfile and discover_hosts.sh of %d workers take more than the %zu bytes that a "
	    "ConfigMap may hold: %s",
	    (int)mpijob__render_subject_workers(subject), MPIJOB__RENDER_CONFIG_MAP_LIMIT,
	    advice(subject));
}

/* Both texts are measured before the first one is made, so a rejected one needs no memory. */
void mpijob__render_config_map_build(struct mpijob__render_build *b)
{
	mpijob_node *root = mpijob__render_build_head(b, MPIJOB_ROLE_CONFIG_MAP, 0, 1);
	mpijob_node *data = mpijob_node_put_map(b->doc, root, "data");
	size_t hostfile = 0, hosts = 0;

	if (b->code == 0)
		b->code = measure(mpijob__render_hostfile_write, b->subject, &hostfile);
	if (b->code == 0)
		b->code = measure(mpijob__render_discover_hosts_write, b->subject, &hosts);
	if (b->code != 0)
		return;
	if (hostfile + hosts > MPIJOB__RENDER_CONFIG_MAP_LIMIT) {
		b->code = MPIJOB_ERR_SPEC;
		mpijob__render_config_map_too_large(b->subject, b->diag);
		return;
	}
	if (b->subject->options.running != NULL)
		check_full_size(b, hostfile);
	add_text(b, data, MPIJOB__RENDER_KEY_HOSTFILE, mpijob__render_hostfile_write, hostfile);
	add_text(b, data, MPIJOB__RENDER_KEY_DISCOVER_HOSTS, mpijob__render_discover_hosts_write,
	    hosts);
}
