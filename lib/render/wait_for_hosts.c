/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The init container that waits until the names of all hosts in the hostfile resolve: mpirun fails
 * at the first name that does not resolve, whatever the retries of its ssh are. It runs in the
 * launcher's image with a POSIX shell, and has the resources of the launcher's first container, so
 * that neither the resources of the pod nor its quality of service change. The script does not
 * contain "$(NAME)", which Kubernetes would replace.
 */
#include "render/build.h"
#include "render/differences.h"

#include <string.h>

#define NAME    "wait-for-hosts"
#define SECONDS "WAIT_FOR_HOSTS_SECONDS"

/* After the deadline every remaining host is checked once, for at most 5 seconds, to report all
 * missing hosts. */
static const char script[] =
    "if command -v getent >/dev/null; then\n"
    "  known() { getent hosts \"$1\" >/dev/null; }\n"
    "elif command -v ssh >/dev/null; then\n"
    "  known() {\n"
    "    case `ssh -o BatchMode=yes -o ConnectTimeout=2 -o ConnectionAttempts=1 \"$1\" true 2>&1 "
    "</dev/null` in\n"
    "      *\"ould not resolve\"*) return 1 ;;\n"
    "    esac\n"
    "  }\n"
    "else\n"
    "  echo \"" NAME ": the image has neither getent nor ssh\" >&2\n"
    "  exit 1\n"
    "fi\n"
    "now=`date +%s` missing=\n"
    "end=$((now + " SECONDS "))\n"
    "while read -r line; do\n"
    "  host=${line%%[ :]*} said=\n"
    "  until known \"$host\"; do\n"
    "    now=`date +%s`\n"
    "    if [ \"$now\" -ge \"$end\" ]; then\n"
    "      echo \"" NAME ": $host has no address after $" SECONDS " s\" >&2\n"
    "      [ \"$now\" -lt \"$((end + 5))\" ] || exit 1\n"
    "      missing=1\n"
    "      break\n"
    "    fi\n"
    "    [ -n \"$said\" ] || echo \"" NAME ": $host has no address yet\"\n"
    "    said=1\n"
    "    sleep 1\n"
    "  done\n"
    "done <" MPIJOB__JOB_CONFIG_PATH "/" MPIJOB__RENDER_KEY_HOSTFILE "\n"
    "[ -z \"$missing\" ]\n";

/* The user's container with this name; NULL if not found. */
static const mpijob_node *users_container(const mpijob_node *spec)
{
	static const char *const lists[] = { "initContainers", "containers" };

	for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
		const mpijob_node *containers = mpijob_node_get(spec, lists[list]);

		for (size_t i = 0; i < mpijob_node_count(containers); i++) {
			const mpijob_node *container = mpijob_node_at(containers, i);
			const char *name = mpijob_node_string(mpijob_node_get(container, "name"));

			if (name != NULL && strcmp(name, NAME) == 0)
				return container;
		}
	}
	return NULL;
}

static void put_command(struct mpijob__render_build *b, mpijob_node *container)
{
	mpijob_node *command = mpijob_node_put_list(b->doc, container, "command");

	mpijob_node_append_string(b->doc, command, "/bin/sh");
	mpijob_node_append_string(b->doc, command, "-c");
	mpijob_node_append_string(b->doc, command, script);
}

static void put_seconds(struct mpijob__render_build *b, mpijob_node *container)
{
	mpijob_node *env = mpijob_node_put_list(b->doc, container, "env");
	mpijob_node *entry = mpijob_node_append_map(b->doc, env);

	mpijob_node_put_string(b->doc, entry, "name", SECONDS);
	mpijob__render_build_printf(b, entry, "value", "%d",
	    (int)b->subject->features.wait_for_hosts);
}

/* Copy the fields of the launcher's container that affect admission and scheduling. */
static void copy_fields(struct mpijob__render_build *b, mpijob_node *container,
    const mpijob_node *launcher)
{
	static const char *const keys[] = { "imagePullPolicy", "resources", "securityContext" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const mpijob_node *value = mpijob_node_get(launcher, keys[i]);

		if (value != NULL)
			mpijob_node_put_copy(b->doc, container, keys[i], value);
	}
}

static void put_mount(struct mpijob__render_build *b, mpijob_node *container)
{
	mpijob_node *mounts = mpijob_node_put_list(b->doc, container, "volumeMounts");
	mpijob_node *mount = mpijob_node_append_map(b->doc, mounts);

	mpijob_node_put_string(b->doc, mount, "name", MPIJOB__RENDER_CONFIG_VOLUME);
	mpijob_node_put_string(b->doc, mount, "mountPath", MPIJOB__JOB_CONFIG_PATH);
}

void mpijob__render_wait_for_hosts_add(struct mpijob__render_build *b, mpijob_node *spec)
{
	const mpijob_node *launcher = mpijob__render_pod_container(b, spec),
			  *existing = users_container(spec);
	const char *image = mpijob_node_string(mpijob_node_get(launcher, "image"));
	mpijob_node *container;

	if (b->subject->features.wait_for_hosts == 0)
		return;
	if (existing != NULL) {
		mpijob__render_build_report(b, MPIJOB_SEVERITY_WARNING,
		    "wait-for-hosts-left-to-user", NULL, "spec.initContainers", existing,
		    "a container has the name " NAME " already, so no init container is added");
		return;
	}
	container = mpijob_node_append_map(b->doc,
	    mpijob__render_build_list(b, spec, "spec.initContainers"));
	mpijob_node_put_string(b->doc, container, "name", NAME);
	if (image != NULL)
		mpijob_node_put_string(b->doc, container, "image", image);
	put_command(b, container);
	put_seconds(b, container);
	copy_fields(b, container, launcher);
	mpijob_node_put_string(b->doc, container, "terminationMessagePolicy",
	    "FallbackToLogsOnError");
	put_mount(b, container);
}
