/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of finding that the library and its programs report: THE table. Identifier, severity
 * unless somebody changed it, what it means, what to do, and how one looks. docs/findings.md is
 * printed from it (tests/unit/test_base_findings.c), and tests/lint/test-findings compares it with
 * what the sources report. The rows are in the order of their identifiers.
 */
#include <mpijob/diag.h>

#include <string.h>

#define ERROR   MPIJOB_SEVERITY_ERROR
#define WARNING MPIJOB_SEVERITY_WARNING
#define INFO    MPIJOB_SEVERITY_INFO

#define KIND(id, severity, summary, advice, example)                                       \
	{                                                                                  \
		sizeof(struct mpijob_finding_kind), id, severity, summary, advice, example \
	}

static const struct mpijob_finding_kind kinds[] = {
	KIND("access-denied", INFO, "The API server says that you may not do this.",
	    "Ask for a Role that allows it.", "note: may not create jobs: no RBAC policy matched"),
	KIND("alias-cycle", ERROR, "A YAML alias stands inside what it stands for.",
	    "Write the value out at one of the two places.",
	    "job.yaml:7:9: spec: the alias *a stands inside its own value"),
	KIND("annotation-ignored", WARNING,
	    "An annotation `libmpijob/NAME` of a job has no effect: the name or the value is none, "
	    "or the operator's "
	    "configuration does not let tenants use it.",
	    "Correct it as the message says, or ask whoever runs the operator "
	    "(docs/operator-config.md).",
	    "warning: metadata.annotations: the annotation libmpijob/ssh-port has no effect: the "
	    "configuration of the operator "
	    "does not allow it in team-a"),
	KIND("backoff-limit", ERROR, "The launcher failed more often than `backoffLimit` allows.",
	    "Read the other findings and the launcher's log. When the launcher's restartPolicy is "
	    "Never, the pods of "
	    "failed attempts stay with their logs.",
	    "spec.runPolicy.backoffLimit: the launcher failed as often as it may: "
	    "BackoffLimitExceeded: Job has "
	    "reached the specified backoff limit"),
	KIND("bad-base64", ERROR, "The value of a `!!binary` is not base64.",
	    "Correct the value, or write the text without the tag.",
	    "job.yaml:9:12: the value of !!binary is not base64"),
	KIND("bad-key", ERROR, "A YAML key is a list or a map.",
	    "Keys are plain words; put text that begins with `[`, `{` or `?` in quotes.",
	    "job.yaml:5:3: a key must be a word, not a list or map"),
	KIND("bad-merge", ERROR, "What stands behind `<<` is no map and no list of maps.",
	    "Merge a map: `<<: *anchor`.", "job.yaml:8:7: << needs a map, or a list of maps"),
	KIND("bad-options", ERROR,
	    "The options of the operator, or those of a rendering, cannot be used.",
	    "Compare them with operator.h: sizes, numbers, and what must be given.",
	    "the options of the operator are refused: wrong use"),
	KIND("bad-struct", ERROR,
	    "A struct that was given to be stored has a size or a member that cannot be.",
	    "Begin with the struct's `_INIT`, and set members to what the header allows.",
	    "spec.runPolicy: the struct is smaller than any known version"),
	KIND("boolean-key", WARNING,
	    "A key such as `on` or `yes` is read as true, as kubectl does.",
	    "Put the key in quotes.",
	    "job.yaml:12:9: warning: the key 'on' is read as true, as kubectl does; put it in "
	    "quotes"),
	KIND("config-conflict", ERROR,
	    "Two fields of a kubeconfig, or two options, exclude each other.",
	    "Remove one of the two; the message names the other.",
	    "config:9:5: users[0].user.username: a token is given too; keep one way of saying who "
	    "you are"),
	KIND("config-duplicate", ERROR,
	    "Two entries of one list in a kubeconfig have the same name.",
	    "Rename or remove one of the two.",
	    "config:12:9: contexts[1].name: 'dev' is already the name of entry 0, in line 7; keep "
	    "one of the "
	    "two"),
	KIND("config-map-too-large", ERROR,
	    "Hostfile and `discover_hosts.sh` together exceed the 1 MiB that an API server "
	    "accepts.",
	    "Render with `compact_hosts` (`--compact-hosts`), or use fewer workers or shorter "
	    "names.",
	    "spec.mpiReplicaSpecs[Worker].replicas: hostfile and discover_hosts.sh of 9000 workers "
	    "take more "
	    "than the 1048576 bytes that a ConfigMap may hold"),
	KIND("config-map-will-be-too-large", WARNING,
	    "The ConfigMap fits only as long as not all workers run.",
	    "Render with `compact_hosts` (`--compact-hosts`), or use fewer workers or shorter "
	    "names.",
	    "warning: spec.mpiReplicaSpecs[Worker].replicas: the ConfigMap takes 1200000 bytes "
	    "once all "
	    "workers run; at most 1048576 are accepted"),
	KIND("config-missing", ERROR, "Nothing says which cluster to use.",
	    "Set KUBECONFIG, write ~/.kube/config, or name a context or a server.",
	    "config: no current-context, so name a context; there are dev and test"),
	KIND("config-not-found", ERROR,
	    "A context, cluster or user that was named is not in the kubeconfig.",
	    "Use one of those that the message lists.",
	    "config:3:18: current-context: no context 'prod'; there are dev and test"),
	KIND("config-options", ERROR, "The options for a configuration contradict each other.",
	    "Compare them with http.h.",
	    "certificate_authority and insecure_skip_tls_verify exclude each other"),
	KIND("config-required", ERROR, "A field that a kubeconfig needs is not there.", "Add it.",
	    "config:6:5: users[0].user.exec.command: must be given: the plugin's program"),
	KIND("config-type", ERROR, "A field of a kubeconfig has a value of the wrong type.",
	    "Write it as the message says; numbers and true or false need quotes to be strings.",
	    "config:8:15: users[0].user.password: must be a string, not a number; put it in "
	    "quotes"),
	KIND("config-unreadable", ERROR, "A kubeconfig, or a file that it names, cannot be read.",
	    "Look at the name and the permissions. Relative names are seen from the folder of the "
	    "kubeconfig.",
	    "config:5:28: clusters[0].cluster.certificate-authority: the file '/etc/k8s/ca.crt' "
	    "cannot be "
	    "read: there is no such file"),
	KIND("config-unsupported", ERROR,
	    "A kubeconfig asks for something that this library does not do.",
	    "Use what the message proposes.",
	    "config:9:7: users[0].user.auth-provider: auth-provider 'gcp' is not supported; use "
	    "exec with "
	    "gke-gcloud-auth-plugin"),
	KIND("config-unused", WARNING,
	    "Something in a kubeconfig has no effect, or not the one that was meant.",
	    "The message says why.",
	    "config:4:13: warning: clusters[0].cluster.server: the credentials are not sent, "
	    "because the "
	    "server's address does not begin with https://"),
	KIND("config-value", ERROR, "A field of a kubeconfig has a value that it cannot have.",
	    "The message says what would be accepted.",
	    "config:4:13: clusters[0].cluster.server: the server's address has no host"),
	KIND("conflict", ERROR, "Two fields of a pod template cannot be what they are together.",
	    "Change one of the two; the message names both.",
	    "job.yaml:30:21: "
	    "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].ports[0].hostPort: must "
	    "be equal to containerPort with hostNetwork"),
	KIND("container-failed", ERROR, "A container ended with an error of its own.",
	    "Read its log: `mpijob logs JOB`, or `mpijob logs --pod NAME JOB` for a worker.",
	    "container pi of pod pi-launcher-x2k ended with exit code 1"),
	KIND("container-killed", ERROR,
	    "A container was killed by signal 9, and not because of its own memory limit.",
	    "Its node may have run out of memory, or a probe or the end of a grace period killed "
	    "it: see the "
	    "events of pod and node, and set memory requests.",
	    "container pi of pod pi-worker-0 was killed (SIGKILL), but not for its memory limit: "
	    "exit code 137"),
	KIND("container-not-started", ERROR, "The container runtime cannot start a container.",
	    "The message tells why; often a mount path, a device or a security setting does not "
	    "fit the node.",
	    "container pi of pod pi-worker-0 cannot be started: error mounting \"/data\""),
	KIND("container-start", ERROR, "A container of a local pod cannot start.",
	    "The message tells why; often the program is not installed on this machine.",
	    "container pi of pod pi-launcher-x2k cannot start: No such file or directory"),
	KIND("container-stopped", ERROR, "A container was asked to end by signal 15.",
	    "Somebody deleted or drained it, or mpirun stopped its ranks: look at the events of "
	    "pod and node.",
	    "container pi of pod pi-worker-0 was stopped from outside (SIGTERM): exit code 143"),
	KIND("control-character", ERROR, "The text holds a control character.",
	    "Remove it; text that needs one is written in double quotes with an escape.",
	    "job.yaml:4:11: control characters are not allowed"),
	KIND("conversion-change", INFO,
	    "A field is called otherwise, or means something slightly different, in the version "
	    "that was "
	    "written.",
	    "Look whether it is what you mean.",
	    "v1.yaml:6:3: note: spec.cleanPodPolicy: is spec.runPolicy.cleanPodPolicy in v2beta1"),
	KIND("conversion-loss", WARNING, "The version that was written cannot hold a field.",
	    "It is kept in an annotation unless that was refused; without the annotation it is "
	    "lost.",
	    "v1.yaml:9:5: warning: spec.runPolicy.schedulingPolicy: a TrainJob has no such field"),
	KIND("crash-loop", ERROR,
	    "A container ends again and again, and is started later each time.",
	    "Read the log of its last run: `mpijob logs --previous --pod NAME JOB`.",
	    "container pi of pod pi-launcher-x2k ends again and again, last with exit code 1: "
	    "restarted 5 times"),
	KIND("credentials-expired", WARNING,
	    "A credential plugin gave credentials whose time was already over.",
	    "Look at the clock of this machine, and at the plugin.",
	    "warning: the plugin 'get-token' gave credentials that expired before; is the clock "
	    "right?"),
	KIND("credentials-stale", WARNING,
	    "A token, certificate or key file that was read before cannot be read any more.",
	    "What was read last is still used. Look at the file.",
	    "warning: the token file '/run/token' cannot be read: there is no such file; its last "
	    "content is "
	    "still used"),
	KIND("daemon-not-found", ERROR, "mpirun's daemon is not found on a worker.",
	    "Use one image for launcher and workers, and call mpirun by its whole path, which the "
	    "workers then "
	    "use too: a login by ssh has another PATH.",
	    "the workers' login shells find no orted (log of pod pi-launcher-x2k)"),
	KIND("daemons-not-started", ERROR,
	    "mpirun could not start its daemons on the workers; PATH and /tmp, which it names, are "
	    "seldom the "
	    "cause.",
	    "Read the lines in front of it, and the workers' logs: `mpijob logs --all JOB`.",
	    "mpirun could not start its daemons on the workers, and the log says no more (log of "
	    "pod "
	    "pi-launcher-x2k)"),
	KIND("deadline-exceeded", ERROR,
	    "The job took longer than `activeDeadlineSeconds`, all attempts of the launcher "
	    "together.",
	    "Raise `spec.runPolicy.activeDeadlineSeconds`; the other findings and the pods' logs "
	    "show what took "
	    "the time.",
	    "spec.runPolicy.activeDeadlineSeconds: the job took longer than it may: Job was active "
	    "longer than "
	    "specified deadline"),
	KIND("dns-policy-overwritten", WARNING,
	    "With `hostNetwork: true` the operator sets `dnsPolicy: ClusterFirstWithHostNet`, "
	    "whatever is "
	    "given.",
	    "Remove dnsPolicy, or hostNetwork, or ask for `--user-dns-policy`.",
	    "job.yaml:21:22: warning: spec.mpiReplicaSpecs[Worker].template.spec.dnsPolicy: "
	    "'Default' is "
	    "replaced by 'ClusterFirstWithHostNet', as hostNetwork is true"),
	KIND("does-not-settle", WARNING,
	    "The operator acts on a job again and again without news from the cluster.",
	    "Look for another controller that changes the same objects.",
	    "warning: MPIJob default/pi does not settle: 100 plans were carried out without news "
	    "from the "
	    "cluster"),
	KIND("duplicate", ERROR, "Something that must be unique in a pod template is there twice.",
	    "Rename or remove one of the two.",
	    "job.yaml:28:15: spec.mpiReplicaSpecs[Worker].template.spec.containers[1].name: "
	    "another container "
	    "is named 'pi'"),
	KIND("duplicate-key", ERROR, "A map has the same key twice.", "Keep one of the two.",
	    "job.yaml:7:3: spec.slotsPerWorker: the key 'slotsPerWorker' is already given in line "
	    "6; keep one "
	    "of the two"),
	KIND("encoding", ERROR, "The text is not UTF-8 (or UTF-16 with a mark, in YAML).",
	    "Save it as UTF-8.", "job.yaml:3:9: this byte is not UTF-8; save the text as UTF-8"),
	KIND("ephemeral-storage", ERROR,
	    "A pod was evicted because it, or its node, ran out of local disk.",
	    "Write to a volume, set `resources.requests` of ephemeral-storage, or limit emptyDir "
	    "volumes with "
	    "sizeLimit.",
	    "pod pi-worker-0 was evicted, it took too much of its node's disk: The node was low on "
	    "resource: "
	    "ephemeral-storage."),
	KIND("event-dropped", WARNING, "The operator could not record an Event.",
	    "Look whether the API server refuses it; nothing else is affected.",
	    "warning: the Event MPIJobCreated about MPIJob default/pi is dropped after 12 tries"),
	KIND("exec-failed", ERROR, "A program could not be run in a local pod.",
	    "The message tells why.", "the local cluster ended before the program did"),
	KIND("flyte-ignored", WARNING,
	    "A part of a Flyte task, of its execution or of Flyte's configuration has no effect on "
	    "the job.",
	    "The message says what to give in its place; without it the job lacks that part.",
	    "warning: container.args: {{.Input}} stays as it is: the execution does not say its "
	    "value"),
	KIND("flyte-repair", INFO, "Something is done otherwise than Flyte's own plugin does it.",
	    "Each such repair is a row of the list in mpijob/flyte.h, with the reason; --repair "
	    "chooses among them.",
	    "note: spec.slotsPerWorker: 4 in place of 1, as the task says"),
	KIND("flyte-task", ERROR, "A Flyte task cannot become a job.",
	    "Correct the task as the message says; Flyte fails such a task without trying again.",
	    "task.json: custom.workerReplicas.replicas: the number of workers must be greater than "
	    "0"),
	KIND("forbidden", ERROR,
	    "A field of a pod template must not be there, or not with another one.",
	    "Remove the field that the message names.",
	    "job.yaml:25:11: spec.mpiReplicaSpecs[Worker].template.spec.ephemeralContainers: a "
	    "template "
	    "cannot have ephemeral containers"),
	KIND("gang-deadlock", WARNING,
	    "With `WaitForWorkersReady` the launcher is made when all workers are ready, but the "
	    "gang "
	    "scheduler starts no worker before the launcher is there.",
	    "Set `spec.runPolicy.schedulingPolicy.minAvailable` to the number of workers, or "
	    "launcherCreationPolicy to "
	    "AtStartup, or have an operator with `--gang-safe-wait`.",
	    "job.yaml:9:27: warning: spec.launcherCreationPolicy: a gang of 5 pods needs the "
	    "launcher, which "
	    "is made only when all 4 workers run; set spec.runPolicy.schedulingPolicy.minAvailable "
	    "to 4, or "
	    "use AtStartup"),
	KIND("gang-too-large", WARNING, "`minAvailable` is larger than the number of pods.",
	    "Set it to the number of workers and the launcher, or less.",
	    "job.yaml:10:21: warning: spec.runPolicy.schedulingPolicy.minAvailable: the job has 2 "
	    "pods, so a "
	    "gang of 10 is never complete"),
	KIND("gang-waiting", ERROR,
	    "The gang scheduler starts no pod of the job before there is room for all of them.",
	    "Free room, ask for less, or lower `spec.runPolicy.schedulingPolicy.minAvailable`; "
	    "`kubectl describe "
	    "podgroup` tells what it counts.",
	    "pod pi-worker-0 waits for a node: the gang scheduler holds the pod back until its "
	    "whole group fits: "
	    "pod group is not ready"),
	KIND("gang-waits-for-launcher", ERROR,
	    "The gang scheduler waits for the launcher, and the launcher is only made when all "
	    "workers are ready.",
	    "Set `spec.runPolicy.schedulingPolicy.minAvailable` to the number of workers, or "
	    "`spec.launcherCreationPolicy` to AtStartup, or have an operator with "
	    "`--gang-safe-wait`.",
	    "spec.launcherCreationPolicy: the gang scheduler waits for the launcher too, and the "
	    "launcher is "
	    "made when all workers are ready"),
	KIND("gpus-kept", WARNING,
	    "With cleanPodPolicy None, which is the default, the workers stay and keep their "
	    "accelerators "
	    "when the job has ended.",
	    "Set `spec.runPolicy.cleanPodPolicy` to Running or All.",
	    "job.yaml:8:21: warning: spec.runPolicy.cleanPodPolicy: with None the workers keep "
	    "their "
	    "nvidia.com/gpu when the job has ended; use Running or All"),
	KIND("gpus-shared", WARNING,
	    "There are more slots than GPUs on a worker, so that ranks share one.",
	    "Make `spec.slotsPerWorker` and the GPUs of the worker equal, unless ranks are meant "
	    "to share.",
	    "job.yaml:6:19: warning: spec.slotsPerWorker: 8 ranks share the 4 GPUs of a worker "
	    "(nvidia.com/gpu); use as many slots as GPUs"),
	KIND("gpus-unused", INFO,
	    "There are fewer slots than GPUs on a worker: right only where one rank drives "
	    "several.",
	    "Make `spec.slotsPerWorker` and the GPUs of the worker equal, unless a rank drives "
	    "several.",
	    "job.yaml:6:19: note: spec.slotsPerWorker: a worker has 8 GPUs (nvidia.com/gpu) and 1 "
	    "slot: each "
	    "rank must drive several GPUs, or some idle"),
	KIND("group-name", WARNING,
	    "The queue of a Volcano PodGroup is read from the annotation "
	    "`scheduling.volcano.sh/queue-name`; "
	    "the guide of the operator says group-name.",
	    "Write queue-name, or set `spec.runPolicy.schedulingPolicy.queue`.",
	    "job.yaml:6:5: warning: metadata.annotations[scheduling.volcano.sh/group-name]: has no "
	    "effect; "
	    "the queue is read from 'scheduling.volcano.sh/queue-name'"),
	KIND("host-network-collision", WARNING,
	    "Workers with hostNetwork can meet on one node, where only one sshd gets the port.",
	    "Keep them apart: a required podAntiAffinity with topologyKey kubernetes.io/hostname, "
	    "or sshd's "
	    "port in `ports`.",
	    "job.yaml:24:24: warning: spec.mpiReplicaSpecs[Worker].template.spec.hostNetwork: on "
	    "one node "
	    "only one of the 4 workers' sshd gets its port; keep workers apart by a required "
	    "podAntiAffinity "
	    "on kubernetes.io/hostname, or list the port in ports"),
	KIND("host-network-port", INFO,
	    "With hostNetwork the worker's sshd listens on the node, whose own sshd usually has "
	    "port 22.",
	    "Let both ends use another port: `--ssh-port`, or `sshd -p` or Port in sshd_config for "
	    "workers, Port in "
	    "ssh_config for the launcher.",
	    "job.yaml:24:24: note: spec.mpiReplicaSpecs[Worker].template.spec.hostNetwork: sshd "
	    "shares the "
	    "ports of the node, whose own sshd usually has 22; give another Port in the image's "
	    "sshd_config "
	    "and ssh_config"),
	KIND("host-unreachable", ERROR, "A worker has an address, but cannot be reached there.",
	    "Look for a NetworkPolicy or a mesh (Istio: `sidecar.istio.io/inject: \"false\"`) "
	    "between launcher "
	    "and workers, and whether the worker's node is well.",
	    "pi-worker-0.pi.default.svc cannot be reached: timed out (log of pod pi-launcher-x2k)"),
	KIND("hostfile-unreadable", ERROR, "The hostfile that mpirun is to read is not there.",
	    "Leave the hostfile to the operator: no `--hostfile` in the command; it is "
	    "/etc/mpi/hostfile in the "
	    "launcher's first container only.",
	    "mpirun cannot open its hostfile (log of pod pi-launcher-x2k)"),
	KIND("http-descriptor", ERROR, "No descriptor is left for the event loop of a connection.",
	    "Raise the limit (`ulimit -n`), or close what is not needed.",
	    "no descriptor is left in this process or on this machine"),
	KIND("http-libcurl", ERROR,
	    "The libcurl that is installed cannot do what a connection to an API server needs.",
	    "Install libcurl 7.88 or newer, built with OpenSSL and with a thread-safe start.",
	    "libcurl was not built with OpenSSL"),
	KIND("image-not-pulled", ERROR, "The image of a container cannot be pulled.",
	    "Correct `image` in the pod template; for a private registry name a Secret in "
	    "`imagePullSecrets`.",
	    "container pi of pod pi-worker-0 waits: its image cannot be pulled: Back-off pulling "
	    "image "
	    "\"mpi-pi:opnmpi\""),
	KIND("invalid-annotation", ERROR, "An annotation of a pod template is not accepted.",
	    "Change its key or value as the message says.",
	    "job.yaml:19:13: spec.mpiReplicaSpecs[Worker].template.metadata.annotations[a b]: the "
	    "key must be "
	    "letters, digits, '-', '_' and '.'"),
	KIND("invalid-feature", ERROR, "A feature cannot have this value.",
	    "The message says what would be accepted.",
	    "ssh-port: '0x16' is not accepted; use a number from 1 to 65535, or 0"),
	KIND("invalid-label", ERROR,
	    "A label or selector of a pod template is not accepted, or is one that a controller "
	    "sets.",
	    "Change its key or value as the message says.",
	    "job.yaml:19:13: spec.mpiReplicaSpecs[Worker].template.metadata.labels.app: 'a b' must "
	    "be "
	    "letters, digits, '-', '_' and '.'"),
	KIND("invalid-name", ERROR, "The names of the pods would not be names in DNS.",
	    "Use lower case letters, digits and '-'; begin with a letter, end with a letter or "
	    "digit.",
	    "job.yaml:4:9: metadata.name: 'pi-' is no name for pods; use lower case letters, "
	    "digits and '-', "
	    "begin with a letter, end with a letter or digit"),
	KIND("invalid-quantity", ERROR, "A resource is no quantity.",
	    "Write it as 500m, 2 or 1.5Gi.",
	    "job.yaml:26:22: "
	    "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].resources.requests: "
	    "cpu: no quantity such as '500m', '2' or '1.5Gi'"),
	KIND("invalid-value", ERROR,
	    "A value of a pod template has the right type and a wrong form.",
	    "Write it as the message says.",
	    "job.yaml:22:17: spec.mpiReplicaSpecs[Worker].template.spec.containers[0].name: 'Pi' "
	    "must be "
	    "lower case letters, digits and '-'"),
	KIND("job-ended", ERROR,
	    "The job has ended, and what is asked for is not possible any more.",
	    "Delete it and submit it again to run it again.",
	    "status.conditions: the job has ended (Failed) and is left as it is"),
	KIND("job-failed", ERROR, "The job failed, and nothing tells more.",
	    "Submit it again with the launcher's restartPolicy Never, which keeps the pods and "
	    "logs of failed "
	    "attempts.",
	    "the job failed: MPIJobFailed: no message"),
	KIND("job-queued", WARNING, "Kueue has not admitted the job yet.",
	    "`kubectl get workloads` and `kubectl describe workload` tell what it waits for; "
	    "`mpijob doctor` "
	    "whether the queue is there.",
	    "warning: spec.runPolicy.suspend: the job is suspended until Kueue admits it from "
	    "queue team-a"),
	KIND("job-refused", ERROR,
	    "The operator refuses the job. It says so in one Event, and nothing in the status.",
	    "Correct the field; `mpijob validate` tells all of them at once.",
	    "the operator drops this job in silence, as its spec is invalid: "
	    "spec.mpiReplicaSpecs[Worker].replicas: must be greater than or equal to 1"),
	KIND("job-set-aside", ERROR, "The operator does not act on a job.",
	    "Correct the job; the operator looks at it again when it changes.",
	    "MPIJob default/pi is set aside: the job is not valid"),
	KIND("job-suspended", WARNING, "The job is suspended.",
	    "`mpijob resume NAME` lets it go on.",
	    "warning: spec.runPolicy.suspend: the job is suspended"),
	KIND("key-range", ERROR, "A number that is used as a key is too large.",
	    "Put it in quotes.",
	    "job.yaml:8:5: a number this large cannot be a key; put it in quotes"),
	KIND("keys-stay-readable", WARNING,
	    "The feature private-keys changes nothing for a pod whose user is not root.",
	    "Nothing has to be done: ssh of that user takes keys that belong to root whatever "
	    "their mode.",
	    "job.yaml:20:15: warning: spec.mpiReplicaSpecs[Worker].template.spec.securityContext: "
	    "the keys keep their "
	    "mode: the container's user is not root, and could not read them with 0600"),
	KIND("launch-option", ERROR,
	    "A launch command cannot be made as it is wanted: the tool, or the job's MPI, has no "
	    "such option.",
	    "Use what the message names, or leave the option out.",
	    "map_by: 'socket' is none of Hydra's; use slot or node"),
	KIND("launcher-gone", INFO, "The launcher's pod is gone, and its log with it.",
	    "With restartPolicy OnFailure, the default, Kubernetes deletes the pod when the last "
	    "attempt failed: "
	    "set the launcher's to Never.",
	    "note: spec.mpiReplicaSpecs[Launcher].restartPolicy: the launcher's pod and its log "
	    "are gone, so "
	    "more cannot be said"),
	KIND("launcher-gpus-hidden", WARNING,
	    "The launcher asks for GPUs, and the operator hides them: a launcher that is no worker "
	    "gets an "
	    "empty NVIDIA_VISIBLE_DEVICES.",
	    "Set `spec.runLauncherAsWorker`, or do not ask for GPUs there.",
	    "job.yaml:20:33: warning: "
	    "spec.mpiReplicaSpecs[Launcher].template.spec.containers[0].resources.limits: the "
	    "operator "
	    "empties NVIDIA_VISIBLE_DEVICES of a launcher that is no worker, so it does not see "
	    "its "
	    "nvidia.com/gpu; remove them, or set spec.runLauncherAsWorker"),
	KIND("launcher-waits", ERROR,
	    "With `WaitForWorkersReady` the launcher is only made when all workers are ready, and "
	    "one does not "
	    "become ready.",
	    "Look at its readinessProbe and log (`mpijob logs --pod NAME JOB`): sshd must listen "
	    "on the port that is probed.",
	    "spec.launcherCreationPolicy: the launcher is made when all workers are ready, but "
	    "pi-worker-1 runs "
	    "and does not become ready"),
	KIND("lease-failed", WARNING,
	    "The operator cannot look at, take or renew the Lease that decides who acts.",
	    "It tries again; look for missing permissions on leases, and whether the namespace of "
	    "--lock-namespace exists.",
	    "warning: cannot look at the Lease mpi-operator/mpi-operator: connection refused"),
	KIND("limit-aliases", ERROR,
	    "The aliases of the text stand for more values than can be right.",
	    "Write the values out, or raise the limit in the options.",
	    "job.yaml:20:9: the aliases stand for more than 1000000 values"),
	KIND("limit-depth", ERROR, "Values are nested deeper than the limit.",
	    "Look for lists in lists that are not meant, or raise the limit in the options.",
	    "job.json:1:1001: nested deeper than 1000 levels"),
	KIND("limit-directives", ERROR, "Too many lines begin with '%'.",
	    "Put such text in quotes.",
	    "job.yaml: more than 64 lines begin with '%'; put such text in quotes"),
	KIND("limit-size", ERROR, "The text is larger than the limit.",
	    "Look whether it is the right file, or raise the limit in the options.",
	    "job.yaml: has more than 16777216 bytes"),
	KIND("limit-values", ERROR, "The text holds more values than the limit.",
	    "Look whether it is the right file, or raise the limit in the options.",
	    "job.yaml: has more than 1000000 values"),
	KIND("local-node", ERROR, "The helper program that runs local pods failed.",
	    "The message tells why; docs/image-contract.md tells what the machine needs.",
	    "mpijob-node ended"),
	KIND("local-volume", WARNING, "A volume of a running local pod could not be written again.",
	    "The pod goes on with the files that it had; look at the ConfigMap, Secret or labels "
	    "that changed.",
	    "warning: pod pi-launcher: volume conf keeps its old files: a/b: Not a directory"),
	KIND("main-container-unclear", WARNING,
	    "Of several containers only the first gets the operator's environment, mounts and "
	    "default "
	    "command, and it does not look like the main one.",
	    "Put the main container first, and others behind it or among initContainers with "
	    "restartPolicy "
	    "Always.",
	    "job.yaml:20:13: warning: spec.mpiReplicaSpecs[Worker].template.spec.containers: only "
	    "the first "
	    "container, 'proxy', becomes the worker, and another one looks like it; put the main "
	    "one first"),
	KIND("managed-by-other", WARNING,
	    "Another controller is named to act on the job, and has not begun.",
	    "Look whether that controller runs, or submit the job without "
	    "`spec.runPolicy.managedBy`.",
	    "warning: spec.runPolicy.managedBy: the job is left to kueue.x-k8s.io/multikueue, "
	    "which has not "
	    "begun; the MPI operator here does not touch it"),
	KIND("managed-elsewhere", ERROR,
	    "Another controller is named to act on the job, so nothing would run it here.",
	    "Remove `spec.runPolicy.managedBy`.",
	    "job.yaml: spec.runPolicy.managedBy leaves this job to 'kueue.x-k8s.io/multikueue', so "
	    "nothing would run "
	    "it "
	    "here; remove the field"),
	KIND("merge-order", WARNING,
	    "A merge with `<<` stands behind keys that it also has; those given in the map itself "
	    "win, "
	    "wherever they stand.",
	    "Put << first, so that the text says what happens.",
	    "job.yaml:14:7: warning: << stands behind keys of its own map"),
	KIND("missing", ERROR, "A field that must be there is not.", "Add it.",
	    "job.yaml:6:3: spec.mpiReplicaSpecs[Launcher]: a value is required"),
	KIND("mpi-interfaces", ERROR,
	    "Ranks have several networks, and connect over one that Open MPI does not expect.",
	    "Name the network: `mpirun --mca btl_tcp_if_include eth0`.",
	    "Open MPI gets connections from addresses that it does not expect (log of pod "
	    "pi-launcher-x2k)"),
	KIND("mpi-mismatch", ERROR,
	    "The MPI that runs is not the one that the job names, so that hostfile and variables "
	    "do not fit it.",
	    "Set `spec.mpiImplementation` to what is in the image: OpenMPI, MPICH or Intel.",
	    "spec.mpiImplementation: the job says Intel, but what runs in pod pi-launcher-x2k is "
	    "Open MPI, which "
	    "does not know the hosts that way"),
	KIND("mpi-versions-differ", ERROR, "Launcher and workers have different versions of MPI.",
	    "Use one image for launcher and workers.",
	    "launcher and workers have different versions of Open MPI (log of pod "
	    "pi-launcher-x2k)"),
	KIND("mpirun-as-root", ERROR, "Open MPI does not run as root unless it is told to.",
	    "Add `--allow-run-as-root` to the command, or set OMPI_ALLOW_RUN_AS_ROOT=1 and "
	    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 (Open MPI 5: PRTE_ALLOW_RUN_AS_ROOT too) in env.",
	    "Open MPI refuses to run as root (log of pod pi-launcher-x2k)"),
	KIND("mpirun-not-found", ERROR,
	    "The launcher's image has no mpirun or mpiexec in its PATH.",
	    "Give the whole path in `command`, or set PATH in the launcher's env.",
	    "there is no mpirun in the launcher's PATH (log of pod pi-launcher-x2k)"),
	KIND("name-taken", ERROR,
	    "An object with a name that the job needs belongs to something else.",
	    "Delete that object, or give the job another name.",
	    "an object with a name that the job needs belongs to somebody else: Resource "
	    "\"pi-config\" of Kind "
	    "\"ConfigMap\" already exists"),
	KIND("name-too-long", ERROR, "The last worker's name would have more than 63 characters.",
	    "Use a shorter name; the message says how short.",
	    "job.yaml:4:9: metadata.name: has 60 characters; with 2 workers at most 54 are "
	    "possible"),
	KIND("name-unresolved", ERROR,
	    "The launcher asks for the name of a worker that has no address (yet).",
	    "Names come some seconds after pods: set `spec.launcherCreationPolicy: "
	    "WaitForWorkersReady`, or let "
	    "the launcher wait (`mpijob run --wait-for-hosts 2m`), and leave "
	    "`spec.runPolicy.backoffLimit` some "
	    "attempts. When it lasts, compare the hostfile's domain with the cluster's (`mpijob "
	    "doctor`).",
	    "ssh finds no address for pi-worker-0.pi.default.svc (log of pod pi-launcher-x2k)"),
	KIND("no-api-version", ERROR, "An object has no apiVersion or kind.", "Add them.",
	    "secret.yaml: an object without apiVersion or kind"),
	KIND("no-containers", ERROR, "A template has no container.", "Add one with name and image.",
	    "job.yaml:7:15: spec.mpiReplicaSpecs[Launcher].template.spec.containers: at least one "
	    "container "
	    "is required"),
	KIND("no-document", ERROR, "The text is empty, or holds nothing but comments.",
	    "Look whether it is the right file.", "job.yaml: the text holds no document"),
	KIND("no-entropy", ERROR, "The kernel gives no random bytes.",
	    "Try again; without --with-key none are needed.", "the kernel gives no random bytes"),
	KIND("no-files", ERROR, "A directory holds no .yaml, .yml or .json file.",
	    "Name the file, or another directory.", "jobs/: no .yaml, .yml or .json file in here"),
	KIND("no-hosts", WARNING, "Without a worker the hostfile is empty.",
	    "Add a Worker, or set `spec.runLauncherAsWorker`.",
	    "job.yaml:6:20: warning: spec.mpiReplicaSpecs: without a Worker the hostfile is empty; "
	    "add one, "
	    "or set spec.runLauncherAsWorker"),
	KIND("no-job", ERROR, "The files hold no MPIJob.", "Look whether they are the right ones.",
	    "pod.yaml: no MPIJob in here"),
	KIND("no-name", ERROR, "An MPIJob has no metadata.name.", "Add one.",
	    "job.yaml: the MPIJob has no metadata.name"),
	KIND("no-operator", ERROR, "No operator acts on the job.",
	    "Look with `mpijob doctor` whether an MPI operator runs, and whether it looks at this "
	    "namespace.",
	    "nobody has acted on this job for 120 s: it has no status, no pods and no events"),
	KIND("no-p521", ERROR, "libcrypto lacks the curve P-521.",
	    "Use a libcrypto that has it; without entropy no key is made.",
	    "libcrypto does not have the curve P-521, so no SSH key can be made"),
	KIND("no-pod", ERROR, "No local pod has this name.",
	    "See the names that 'mpijob run' prints, and the namespace.",
	    "no pod pi-worker-9 runs in namespace default of any local cluster of this user"),
	KIND("no-slots", WARNING, "With 0 slots no host offers a place for a rank.",
	    "Set `spec.slotsPerWorker` to 1 or more.",
	    "job.yaml:6:19: warning: spec.slotsPerWorker: with 0 slots no host offers a place for "
	    "a rank"),
	KIND("no-space", ERROR, "A file could not be written, as its disk is full.",
	    "/dev/shm has 64 MiB in a pod: mount an emptyDir of medium Memory there. For other "
	    "folders use a "
	    "volume.",
	    "a disk, or /dev/shm, is full (log of pod pi-launcher-x2k)"),
	KIND("no-way-back", ERROR, "A worker cannot connect back to the launcher.",
	    "Let the launcher wait until its own name has an address (`mpijob run --wait-for-hosts "
	    "2m`); look "
	    "for a NetworkPolicy or a mesh that keeps them apart.",
	    "workers cannot connect to pi-launcher (log of pod pi-launcher-x2k)"),
	KIND("node-lost", ERROR, "The node of a pod does not answer.",
	    "See `kubectl get nodes`; delete the pod when the node does not come back, and submit "
	    "the job anew.",
	    "pod pi-worker-0 was lost with node n1"),
	KIND("node-refused", ERROR,
	    "A node's kubelet did not take a pod that was placed there, or shut down.",
	    "Often a device that is gone or a node that shuts down: look at the node, and submit "
	    "the job anew.",
	    "node n1 did not take, or did not keep, pod pi-worker-0: UnexpectedAdmissionError: "
	    "Allocate failed"),
	KIND("none-of", ERROR, "One of several fields must be there, and none is.",
	    "Add one of those that the message names.",
	    "job.yaml:30:15: spec.mpiReplicaSpecs[Worker].template.spec.volumes[0]: needs one of "
	    "configMap "
	    "emptyDir secret"),
	KIND("not-enough-slots", ERROR, "mpirun is asked for more ranks than the hosts have slots.",
	    "Lower `-np`, or raise `spec.slotsPerWorker` or the workers' replicas; mpirun with no "
	    "`-np` uses all "
	    "slots.",
	    "more ranks are asked for than the hosts have slots (log of pod pi-launcher-x2k)"),
	KIND("not-found", ERROR,
	    "A name in a pod template refers to something that the template does not have.",
	    "Correct the name, or add what it refers to.",
	    "job.yaml:27:21: "
	    "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].volumeMounts[0].name: "
	    "there is no volume 'data' in this template"),
	KIND("not-honoured", WARNING, "A field has no effect when a job runs on this machine.",
	    "Nothing, if the job does not need it here.",
	    "warning: spec.nodeSelector is not honoured here"),
	KIND("not-renderable", ERROR, "Something is missing without which nothing can be rendered.",
	    "Fill in the defaults and check the job first.",
	    "spec.mpiReplicaSpecs[Launcher]: must have a launcher"),
	KIND("not-strict", WARNING, "The server does not check for fields that it does not know.",
	    "Validate the job here; ask for `Strict` to have it refused instead.",
	    "warning: the server cannot refuse fields that it does not know, and was not asked to"),
	KIND("nothing-forwarded", WARNING,
	    "A prefix of variables for the ranks fits none that is known.",
	    "Correct the prefix, or name the variables.",
	    "warning: env: no variable that is known here begins with 'TRAIN_', so 'TRAIN_*' sends "
	    "none to the ranks"),
	KIND("nul-in-key", ERROR, "A key holds a NUL character.", "Remove it.",
	    "job.yaml:8:5: a key cannot hold a NUL character"),
	KIND("null-key", ERROR, "A key is null.", "Put it in quotes.",
	    "job.yaml:8:5: a key cannot be null; put it in quotes"),
	KIND("number-range", ERROR, "A number is larger than any that can be kept.",
	    "Write a smaller one, or put it in quotes.",
	    "job.yaml:8:12: this number is too large; the largest is about 1.8e308"),
	KIND("object-missing", ERROR,
	    "A pod refers to a ConfigMap, a Secret or a key that is not there.",
	    "Create it in the job's namespace, or correct its name in the pod template.",
	    "container pi of pod pi-worker-0 waits: something that it refers to is missing: "
	    "configmap \"settings\" not found"),
	KIND("object-set-aside", WARNING, "The operator leaves out an object that it cannot read.",
	    "Look at the object that the message names.",
	    "warning: Pod default/pi-worker-0 is left out: out of memory"),
	KIND("operator-forbidden", ERROR,
	    "The API server refuses what the operator has to do for the job.",
	    "Give the operator's ServiceAccount the right that the message names: `mpijob doctor` "
	    "names each one that is missing.",
	    "the operator lacks a right that it needs for this job: secrets is forbidden: User "
	    "\"system:serviceaccount:"
	    "mpi-operator:mpi-operator\" cannot create resource \"secrets\""),
	KIND("other-namespace", ERROR,
	    "The job names a namespace, and is to be sent to another one.",
	    "Remove metadata.namespace, or send the job to the namespace that it names.",
	    "job.yaml:5:14: metadata.namespace: the job names another namespace than the one that "
	    "it is sent to"),
	KIND("out-of-memory", ERROR, "A container took more memory than its limit and was killed.",
	    "Raise `resources.limits.memory` in the pod template, run fewer ranks on each worker "
	    "(`spec.slotsPerWorker`), or use more workers.",
	    "container pi of pod pi-worker-0 was killed: it took more memory than its limit "
	    "(OOMKilled, exit "
	    "code 137)"),
	KIND("out-of-range", ERROR, "A number is too small or too large.",
	    "Use one in the range that the message tells.",
	    "job.yaml:7:19: spec.runPolicy.backoffLimit: must be at least 0, not -1"),
	KIND("over-limit", ERROR, "A container requests more of a resource than its limit.",
	    "Lower the request, or raise the limit.",
	    "job.yaml:27:22: "
	    "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].resources.requests.cpu: "
	    "is more than the limit"),
	KIND("overridden", WARNING,
	    "The template's restartPolicy has no effect: the role's own one is used.",
	    "Set `restartPolicy` beside `template`, and remove it inside.",
	    "job.yaml:21:26: warning: spec.mpiReplicaSpecs[Worker].template.spec.restartPolicy: "
	    "has no "
	    "effect; spec.mpiReplicaSpecs[Worker].restartPolicy is Never"),
	KIND("own-name-unresolved", ERROR,
	    "The launcher's own name has no address (yet), so that workers cannot connect back to "
	    "it.",
	    "Let the launcher wait until names, its own too, have addresses (`mpijob run "
	    "--wait-for-hosts 2m`), "
	    "or leave `spec.runPolicy.backoffLimit` some attempts.",
	    "the launcher's own name pi-launcher has no address (log of pod pi-launcher-x2k)"),
	KIND("pod-evicted", ERROR,
	    "A pod was evicted from its node; the job cannot go on without it.",
	    "The message tells what the node lacked: set requests for it, so that the scheduler "
	    "counts it; then "
	    "submit the job anew.",
	    "pod pi-worker-0 was evicted from node n1: The node was low on resource: memory."),
	KIND("pod-failed", ERROR, "A pod cannot run.",
	    "Correct the pod's template as the message says.",
	    "pod pi-worker-0 cannot run: no such volume"),
	KIND("pod-pending", INFO,
	    "A pod does not run yet; the message says what it waits for, and since when.",
	    "Wait, or see what its node says: `kubectl describe pod NAME`.",
	    "note: pod pi-worker-0 has been waiting for 45 s, since 2026-11-21T11:59:15Z: Pulling "
	    "image \"mpi-pi:openmpi\""),
	KIND("pod-preempted", ERROR, "A pod was taken away for one of higher priority.",
	    "Set a `priorityClassName` in the pod templates, or wait for room; then submit the job "
	    "anew.",
	    "pod pi-worker-0 had to make room for a pod of higher priority: preempted by pod on "
	    "node n1"),
	KIND("pod-refused", WARNING, "The local cluster refuses the pod of a Job.",
	    "Correct the template as the message says.",
	    "warning: the pod of job pi-launcher was refused: spec.containers: Required value"),
	KIND("pod-security", ERROR, "The namespace's Pod Security level refuses the job's pods.",
	    "Run as another user than root (`securityContext`, and `spec.sshAuthMountPath` in that "
	    "user's home), "
	    "or use a namespace with another level.",
	    "the namespace's pod security refuses the pods of pi: violates PodSecurity "
	    "\"restricted:latest\""),
	KIND("pods-refused", ERROR, "The API server refuses the job's pods.",
	    "The message says why: a webhook, a policy, or a field of the pod template; `mpijob "
	    "validate` finds "
	    "the latter before.",
	    "the API server refuses the pods of pi: admission webhook \"policy\" denied the "
	    "request"),
	KIND("program-crashed", ERROR, "The program of a container crashed.",
	    "Look at its log (`mpijob logs --pod NAME`); a crash at once often means libraries or "
	    "CPU features "
	    "that the image does not have.",
	    "container pi of pod pi-launcher-x2k crashed (SIGSEGV): exit code 139"),
	KIND("program-not-found", ERROR,
	    "The program that a container or a rank is to run is not in the image, or is not "
	    "executable.",
	    "Correct `command`, or the program behind mpirun's options; it must be in the image of "
	    "the workers "
	    "as well.",
	    "container pi of pod pi-launcher-x2k cannot be started: its command is not in the "
	    "image: exec: "
	    "\"mpirun\": executable file not found in $PATH"),
	KIND("pruned-field", WARNING,
	    "A field that Kubernetes has, and the CRD of the operator has not: the server drops "
	    "it.",
	    "Remove it, or ask for a newer CRD.",
	    "job.yaml:25:11: warning: spec.mpiReplicaSpecs[Worker].template.spec.workloadRef: the "
	    "CRD of "
	    "mpi-operator v0.8.2 does not know this field, the server drops it"),
	KIND("quantity-too-large", ERROR, "The resources of a gang are too large to be added up.",
	    "Look for a quantity that is not meant.",
	    "spec.mpiReplicaSpecs[Worker].template.spec.containers: the gang's resources cannot be "
	    "added up"),
	KIND("quota-exceeded", ERROR, "The namespace's quota lets no more pods in.",
	    "Ask for less, or wait; `kubectl describe quota` tells what is used. With Kueue jobs "
	    "wait before "
	    "they take quota.",
	    "no more pods are let in for pi-launcher: pods \"pi-launcher-x2k\" is forbidden: "
	    "exceeded quota: team"),
	KIND("rank-crashed", ERROR, "A rank ended by a signal.",
	    "Read the log in front of mpirun's message: `mpijob logs JOB`.",
	    "a rank on pi-worker-1 crashed (log of pod pi-launcher-x2k)"),
	KIND("rank-failed", ERROR, "A rank ended with an error of its own.",
	    "Read the log in front of mpirun's message: `mpijob logs JOB`.",
	    "a rank ended with an error (log of pod pi-launcher-x2k)"),
	KIND("rank-killed", ERROR,
	    "A rank was killed by signal 9; nearly always for lack of memory.",
	    "Raise `resources.limits.memory` of the workers, or run fewer ranks on each "
	    "(`spec.slotsPerWorker`).",
	    "a rank on pi-worker-1 was killed (log of pod pi-launcher-x2k)"),
	KIND("rank-variable", ERROR,
	    "The variables that tell a process which rank it is make no sense, or contradict each "
	    "other.",
	    "Take away those that were inherited from another launcher.",
	    "PMI_RANK=4: there are not so many ranks"),
	KIND("ranks-on-launcher", WARNING,
	    "All ranks ran on the launcher, and the workers did nothing: mpirun did not know of "
	    "them.",
	    "For Open MPI 5 set PRTE_MCA_prte_default_hostfile=/etc/mpi/hostfile in the launcher's "
	    "env "
	    "(libmpijob's own rendering does), and `spec.mpiImplementation` to the MPI of the "
	    "image.",
	    "warning: sshd let nobody in on 2 workers: all ranks ran on the launcher"),
	KIND("request-failed", ERROR, "A request got no answer, or one that is no success.",
	    "The message tells why; whether trying again helps depends on it.",
	    "the connection was refused"),
	KIND("rights-back", INFO, "The operator may write objects of a kind again.",
	    "Nothing is to be done; the jobs that waited for it go on.",
	    "note: can create Pod in namespace team-a again"),
	KIND("rights-missing", WARNING,
	    "The server does not let the operator write objects of a kind: a right, a quota or the "
	    "kind is missing.",
	    "The message is the server's; compare the operator's role with manifests/, the quota, "
	    "and the CRDs. It is tried "
	    "again by itself.",
	    "warning: cannot create Pod in namespace team-a for now: pods is forbidden"),
	KIND("scheduler-overwritten", WARNING,
	    "The gang scheduler replaces the schedulerName of the template.",
	    "Remove schedulerName.",
	    "job.yaml:21:26: warning: spec.mpiReplicaSpecs[Worker].template.spec.schedulerName: "
	    "'mine' is "
	    "replaced by the gang scheduler 'volcano'"),
	KIND("scheduling-gated", WARNING,
	    "A pod has scheduling gates that nobody has taken away yet.",
	    "Look for who sets `spec.schedulingGates`, Kueue for example: `kubectl get workloads`.",
	    "warning: pod pi-worker-0 is held back by the gates in its spec.schedulingGates"),
	KIND("server-conflict", ERROR, "Somebody else owns a field that is to be set.",
	    "Leave the field to its owner, or apply with force.",
	    "spec.replicas: conflict with \"kubectl\" using apps/v1"),
	KIND("server-duplicate", ERROR, "The API server refuses a value that is there twice.",
	    "Keep one of the two.", "spec.containers[1].name: Duplicate value: \"pi\""),
	KIND("server-forbidden", ERROR, "The API server forbids a field.",
	    "Remove it, or look at what the message asks for.",
	    "spec.template: Forbidden: field is immutable"),
	KIND("server-invalid", ERROR, "The API server refuses a value.",
	    "Correct it as the message says.", "metadata.name: Invalid value: \"Pi\""),
	KIND("server-not-found", ERROR, "The API server misses what a value refers to.",
	    "Create it first, or correct the name.",
	    "spec.volumeMounts[0].name: Not found: \"data\""),
	KIND("server-not-supported", ERROR, "The API server knows other values only.",
	    "Use one of those that the message lists.",
	    "spec.restartPolicy: Unsupported value: \"Sometimes\""),
	KIND("server-refused", ERROR, "The API server refuses a request.",
	    "The message is the server's.", "mpijobs.kubeflow.org \"pi\" already exists"),
	KIND("server-required", ERROR, "The API server misses a field.", "Add it.",
	    "spec.containers: Required value"),
	KIND("server-too-long", ERROR, "A value is longer than the API server allows.",
	    "Shorten it.", "metadata.name: Too long: may not be more than 63 bytes"),
	KIND("server-too-many", ERROR, "There are more values than the API server allows.",
	    "Remove some.", "spec.dnsConfig.nameservers: Too many: 4: must have at most 3 items"),
	KIND("server-type-invalid", ERROR,
	    "A value has a type that the API server does not expect.",
	    "Correct it as the message says.", "spec.replicas: Invalid value: \"string\""),
	KIND("server-unknown-field", ERROR, "The API server does not know a field, and refuses it.",
	    "Correct the name; often it is a slip, or the field of another level.",
	    "job.yaml:9:10: spec.spice: the server does not know this field"),
	KIND("server-warning", WARNING, "A warning of the API server.",
	    "The message is the server's.", "warning: unknown field \"spec.foo\""),
	KIND("several-documents", ERROR, "One document is expected, and there are more.",
	    "Keep one, or read the text as several.",
	    "job.yaml:22:1: the text holds 2 documents, the second begins here; one is expected"),
	KIND("several-jobs", ERROR, "The files hold several MPIJobs, and one is expected.",
	    "Name one with --job.", "jobs.yaml: several MPIJobs; name one with --job"),
	KIND("several-pods", ERROR, "Several local pods have this name.",
	    "Name the namespace, or stop the other cluster.",
	    "several such pods run: default of pi, default of pi"),
	KIND("shadow-action", INFO,
	    "A shadow operator would have done this, and the operator that acts has not.",
	    "Compare with docs/differences.md; what stands there is meant to be.",
	    "note: would create Pod default/pi-worker-0 for MPIJob pi: the worker is not there"),
	KIND("sidecar-keeps-launcher", ERROR,
	    "The launcher has ended, but another container of its pod goes on, so that its Job "
	    "never ends.",
	    "Make it a native sidecar (an init container with restartPolicy Always), or keep it "
	    "out: for Istio "
	    "the annotation `sidecar.istio.io/inject: \"false\"`.",
	    "container pi of pod pi-launcher-x2k has ended, but istio-proxy goes on, so the job "
	    "never ends"),
	KIND("ssh-bad-modes", ERROR,
	    "sshd does not trust the folder of the keys, as others may write to it or own it.",
	    "Set `StrictModes no` in the image's sshd_config: a mounted Secret cannot have the "
	    "owner that sshd "
	    "wants.",
	    "sshd distrusts owner or mode of the directory /root/.ssh where the keys are (log of "
	    "pod pi-worker-0)"),
	KIND("ssh-closed", ERROR, "sshd takes connections and drops them.",
	    "Look at the worker's log (`mpijob logs --workers JOB`): sshd says there why.",
	    "sshd on 10.0.0.7 drops connections (log of pod pi-launcher-x2k)"),
	KIND("ssh-host-key", ERROR,
	    "ssh does not know the workers' host key, or knows another one.",
	    "Set `StrictHostKeyChecking no` and `UserKnownHostsFile /dev/null` in the image's "
	    "ssh_config.",
	    "ssh does not trust the workers' host key (log of pod pi-launcher-x2k)"),
	KIND("ssh-key-open", ERROR, "ssh refuses a private key that others may read.",
	    "Remove `fsGroup` from the launcher's pod template (the kubelet widens the key's mode "
	    "for it), or "
	    "keep the key at /root/.ssh, where the operator sets mode 0600.",
	    "ssh refuses the private key /root/.ssh/id_rsa: others may read it (log of pod "
	    "pi-launcher-x2k)"),
	KIND("ssh-key-refused", ERROR, "sshd does not accept the key of the launcher.",
	    "Is `spec.sshAuthMountPath` the .ssh folder of the user that both run as? The worker's "
	    "log tells "
	    "more: `mpijob logs --workers JOB`.",
	    "sshd does not accept the key for root@pi-worker-0.pi.default.svc (log of pod "
	    "pi-launcher-x2k)"),
	KIND("ssh-key-unreadable", ERROR,
	    "The user that the launcher runs as may not read the private key.",
	    "Set `spec.sshAuthMountPath` to the .ssh folder of that user, and `fsGroup` so that it "
	    "may read the "
	    "key.",
	    "this user may not read the private key /root/.ssh/id_rsa (log of pod "
	    "pi-launcher-x2k)"),
	KIND("ssh-no-host-keys", ERROR, "sshd has no host key that it can read, and ends.",
	    "Make host keys in the image (`ssh-keygen -A`), or name the mounted key in "
	    "sshd_config: `HostKey` "
	    "with `spec.sshAuthMountPath` and /id_rsa.",
	    "sshd has no host key that it can use (log of pod pi-worker-0)"),
	KIND("ssh-no-user", ERROR,
	    "The user's number has no entry in the image's /etc/passwd, and ssh needs one.",
	    "Add the user to the image, or set `runAsUser` to one that it has.",
	    "user 1001 has no name in this image, so ssh refuses to run (log of pod "
	    "pi-launcher-x2k)"),
	KIND("ssh-pam", ERROR, "PAM refuses the login.",
	    "Set `UsePAM no` in the image's sshd_config.",
	    "PAM keeps user root out (log of pod pi-worker-0)"),
	KIND("ssh-port-left-to-user", WARNING,
	    "The feature ssh-port cannot tell sshd, or ssh, the port.",
	    "Give sshd `-p` in your own command and ssh `-p` in your own variables, or leave "
	    "command and args of the worker "
	    "out.",
	    "job.yaml:20:15: warning: "
	    "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].command: it is not known "
	    "that sshd would listen on port 2222; neither sshd nor ssh is told to use it"),
	KIND("sshd-no-root", ERROR, "sshd lacks its empty folder, or may not chroot into it.",
	    "Make /run/sshd in the image, and run sshd as root with the capability SYS_CHROOT; as "
	    "another user "
	    "start it with a configuration of its own (`sshd -De -f FILE`), which needs neither.",
	    "sshd may not chroot into /run/sshd (log of pod pi-worker-0)"),
	KIND("sshd-not-reached", ERROR,
	    "Nothing accepts ssh connections on a worker: sshd is not up yet, does not run, or "
	    "listens on "
	    "another port.",
	    "Give the workers a readinessProbe (tcpSocket on sshd's port) and set "
	    "`spec.launcherCreationPolicy: "
	    "WaitForWorkersReady`; look at the worker's log: `mpijob logs --workers JOB`.",
	    "nothing accepts ssh connections on pi-worker-0.pi.default.svc (log of pod "
	    "pi-launcher-x2k)"),
	KIND("sshd-port-denied", ERROR,
	    "sshd may not listen on its port: ports below 1024 need root or NET_BIND_SERVICE.",
	    "Set the same `Port` above 1024 in the image's sshd_config and ssh_config.",
	    "sshd may not listen on port 22 (log of pod pi-worker-0)"),
	KIND("sshd-port-taken", ERROR,
	    "Something else listens on sshd's port, with hostNetwork the node's own sshd or "
	    "another worker.",
	    "Set another `Port` in the image's sshd_config and ssh_config, and with hostNetwork "
	    "place one pod on "
	    "each node (podAntiAffinity).",
	    "port 22 is taken on this host (log of pod pi-worker-0)"),
	KIND("syntax", ERROR, "The text is neither YAML nor JSON.",
	    "Correct it where the message points.", "job.yaml:7:9: expected ',' or ']'"),
	KIND("tag-mismatch", ERROR, "A value is not what its YAML tag says.",
	    "Correct the value, or remove the tag.",
	    "job.yaml:7:9: the value of !!int is no whole number"),
	KIND("too-few-slots", WARNING,
	    "The launcher asks for more ranks than there are slots: Open MPI and horovodrun refuse "
	    "that, "
	    "Intel MPI and MPICH put several ranks on one slot.",
	    "Use at most workers times slotsPerWorker ranks, or say that more are meant "
	    "(`--oversubscribe`).",
	    "job.yaml:20:24: warning: "
	    "spec.mpiReplicaSpecs[Launcher].template.spec.containers[0].args: mpirun "
	    "asks for 8 ranks, but 2 workers with 2 slots each offer 4, and Open MPI refuses more"),
	KIND("too-long", ERROR, "Text is longer than possible.", "Shorten it as the message says.",
	    "job.yaml:19:11: spec.mpiReplicaSpecs[Worker].template.metadata.annotations: "
	    "annotations may have "
	    "262144 bytes in all, not 300000"),
	KIND("too-many", ERROR, "A list has too many entries.", "Remove some as the message says.",
	    "job.yaml:30:15: spec.mpiReplicaSpecs[Worker].template.spec.dnsConfig.nameservers: at "
	    "most 3 are "
	    "possible"),
	KIND("too-many-of", ERROR, "Of several fields only one may be there.",
	    "Keep one of those that the message names.",
	    "job.yaml:25:17: "
	    "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].env[0].valueFrom: may "
	    "have only one of value valueFrom"),
	KIND("too-many-orphans", WARNING,
	    "The operator sees more objects without a known owner than it keeps.",
	    "Look for pods and Jobs whose MPIJob is gone.",
	    "warning: Pod default/pi-worker-0 names an owner that is not known, as do 4096 others "
	    "of its namespace; it "
	    "and further ones are skipped"),
	KIND("too-many-workers", ERROR, "The job has more workers than one job can have.",
	    "Use fewer.",
	    "spec.mpiReplicaSpecs[Worker].replicas: 2000000000 workers are more than one job can "
	    "have"),
	KIND("two-jobs", ERROR, "Two versions of one MPIJob are expected, and these are two jobs.",
	    "Give both the same name and namespace.",
	    "default/pi and default/tau are two jobs, not two versions of one"),
	KIND("unexpected-replicas", ERROR, "The job does not have as many workers as was said.",
	    "Look how many there are; somebody else may have changed it.",
	    "spec.mpiReplicaSpecs[Worker].replicas: the job has 4 workers and not 3; nothing was "
	    "changed"),
	KIND("unfilled-template", ERROR, "A file is a template whose variables are not filled in.",
	    "Set the variables and pipe the file through envsubst: `envsubst < job.yaml | mpijob "
	    "validate -`.",
	    "job.yaml:4:9: this is a template: '${NAME}' is not filled in; set its variables and "
	    "pipe it through envsubst"),
	KIND("unknown-anchor", ERROR,
	    "An alias refers to an anchor that the document does not have.",
	    "Correct the name behind '*'; text that begins with '*' needs quotes.",
	    "job.yaml:9:11: there is no anchor &a before this alias"),
	KIND("unknown-feature", ERROR, "A feature has a name that is not in docs/options.md.",
	    "Use the name that the message proposes, or look at docs/options.md.",
	    "wait-for-host: there is no such feature; did you mean wait-for-hosts?"),
	KIND("unknown-field", WARNING, "A field that nobody knows: the server drops it.",
	    "Correct the name; often it is a slip, or the field of another level.",
	    "job.yaml:9:5: warning: spec.runPolicy.cleanPodPolcy: unknown field, the server drops "
	    "it; did you "
	    "mean cleanPodPolicy?"),
	KIND("unknown-member", ERROR,
	    "A struct that was given has members that this version of the library does not know.",
	    "Use a newer library, or leave the members zero.",
	    "spec.runPolicy: the struct has a member that this version does not know"),
	KIND("unknown-outcome", ERROR,
	    "The connection broke before the server had answered, or a gateway answered for it: "
	    "the request may have been "
	    "carried out.",
	    "Look what is there before you try again; applying a job again does no harm.",
	    "what became of the request is not known: the job may have been created, or not; it "
	    "cannot be looked for"),
	KIND("unknown-resource", WARNING,
	    "A resource's name is none that Kubernetes knows, and has no domain.",
	    "Correct the name, or put the domain of the device plug-in before it.",
	    "job.yaml:26:17: warning: "
	    "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].resources.limits.gpu: "
	    "unknown resource"),
	KIND("unknown-role", WARNING,
	    "A role other than Launcher and Worker: the operator ignores it.",
	    "Write Launcher or Worker.",
	    "job.yaml:7:5: warning: spec.mpiReplicaSpecs[launcher]: unknown role, the operator "
	    "ignores it; "
	    "did you mean Launcher?"),
	KIND("unknown-setting", ERROR, "The operator's configuration has a key that nobody knows.",
	    "Correct it; docs/operator-config.md lists all keys.",
	    "operator.yaml:4:3: limits.worker: there is no such key; did you mean workers?"),
	KIND("unreadable", ERROR, "A file cannot be read.", "The message tells why.",
	    "job.yaml: cannot open: No such file or directory"),
	KIND("unschedulable-nodes", ERROR,
	    "No node may take a pod: taints, nodeSelector or affinity keep it away.",
	    "Add the `tolerations` that the taint needs, or correct nodeSelector and affinity in "
	    "the pod "
	    "template.",
	    "pod pi-worker-0 waits for a node: no node may take it: 0/2 nodes are available: 2 "
	    "node(s) had "
	    "untolerated taint {gpu: true}."),
	KIND("unschedulable-resources", ERROR, "No node has enough of a resource left for a pod.",
	    "Ask for less in `resources`, wait for other jobs, or add nodes; workers that fit in "
	    "part hold their "
	    "nodes, which a gang scheduler or Kueue avoids.",
	    "pod pi-worker-3 waits for a node: no node has room for it: 0/4 nodes are available: 4 "
	    "Insufficient "
	    "nvidia.com/gpu."),
	KIND("unsupported-object", ERROR, "An object is no MPIJob.",
	    "Look whether it is the right file.", "job.yaml:2:7: kind: 'Job' is no MPIJob"),
	KIND("unsupported-value", ERROR, "A value is none of those that are possible.",
	    "Use one that the message lists.",
	    "job.yaml:8:21: spec.runPolicy.cleanPodPolicy: unsupported value 'Sometimes'; use "
	    "None, Running "
	    "or All"),
	KIND("unsupported-version", ERROR,
	    "An MPIJob of another version of the API, or YAML of an unknown version.",
	    "Use kubeflow.org/v2beta1; 'mpijob convert' writes it from v1.",
	    "job.yaml:1:13: apiVersion: 'kubeflow.org/v1' is the training operator's MPIJob; use "
	    "kubeflow.org/v2beta1"),
	KIND("variable-left-to-user", WARNING,
	    "A variable that the operator would add is left out, because the environment of the "
	    "container "
	    "gives it, or may give it.",
	    "Nothing, if the value there is right; a prefix on the source, or the variable in env, "
	    "makes it "
	    "clear.",
	    "job.yaml:21:15: warning: "
	    "spec.mpiReplicaSpecs[Launcher].template.spec.containers[0].envFrom: "
	    "HYDRA_LAUNCHER_EXTRA_ARGS is not set, as it may be given here; set it in env, or give "
	    "the source "
	    "a prefix"),
	KIND("variable-not-expanded", WARNING,
	    "The value of a variable refers to another one in a way that is left as it is: "
	    "Kubernetes knows "
	    "no `$NAME`, and `$(NAME)` only of variables that stand before.",
	    "Write the whole value, or set it in a shell.",
	    "job.yaml:26:20: warning: "
	    "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].env: PATH: "
	    "'$PATH' stays as it is, Kubernetes expands only $(NAME) of variables given before; "
	    "write the "
	    "whole value, or set it in a shell"),
	KIND("variable-overridden", WARNING,
	    "The operator sets a variable behind the one that is given here, so that this one has "
	    "no effect.",
	    "Remove it, or ask for `--user-variables`.",
	    "job.yaml:32:19: warning: "
	    "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].env: "
	    "K_MPI_JOB_ROLE is set by the operator; the value given here has no effect"),
	KIND("volume-failed", ERROR, "A volume cannot be mounted on the pod's node.",
	    "The message tells why; look at the volume, its node and its driver.",
	    "a volume of pod pi-worker-0 cannot be mounted: timed out waiting for the condition"),
	KIND("volume-missing", ERROR,
	    "A PersistentVolumeClaim of a pod is not there, or not bound.",
	    "Look with `kubectl get pvc`: create it, or give it a storage class that can provide "
	    "it.",
	    "pod pi-worker-0 waits for a node: a volume that the pod needs is not there: "
	    "persistentvolumeclaim "
	    "\"data\" not found"),
	KIND("wait-failed", ERROR,
	    "Waiting for an object came to an end before the object was as it should be.",
	    "The message tells what the server said last.",
	    "waiting ended: a deadline passed; the server said last: connection refused"),
	KIND("wait-for-hosts-left-to-user", WARNING,
	    "The container that waits for hosts is not added, as another one has its name.",
	    "Rename the container in the template, unless it waits for the hosts itself.",
	    "job.yaml:20:15: warning: spec.mpiReplicaSpecs[Launcher].template.spec.initContainers: "
	    "a container is "
	    "called wait-for-hosts already; no other is added that waits for hosts"),
	KIND("watch-back", INFO, "The operator can list and watch objects of a kind again.",
	    "Nothing is to be done.", "note: Pod can be listed and watched again"),
	KIND("watch-failed", WARNING, "The operator cannot list or watch objects of a kind.",
	    "It tries again; look for missing permissions.",
	    "warning: cannot watch MPIJob: the request is not allowed"),
	KIND("worker-ended", ERROR,
	    "A worker's container ended well while the job goes on, so no rank can reach it any "
	    "more.",
	    "A worker has to keep sshd running: leave out `command` and `args` (the operator sets "
	    "`/usr/sbin/sshd -De`), or end your command with it.",
	    "container pi of worker pi-worker-0 ended by itself with exit code 0; a worker has to "
	    "stay"),
	KIND("worker-lost", ERROR,
	    "mpirun lost the connection to a worker while the job ran. mpirun of Open MPI 5 may "
	    "end with exit code 0 then.",
	    "Look at that worker: `kubectl describe pod NAME` tells whether it was killed, "
	    "evicted, or its node lost.",
	    "the connection to pi-worker-1 broke (log of pod pi-launcher-x2k)"),
	KIND("wrong-type", ERROR, "A value has another type than the field.",
	    "Write it as the message says; put numbers and true or false in quotes where text is "
	    "asked for.",
	    "job.yaml:7:19: spec.runPolicy.backoffLimit: must be a whole number of 32 bits, not "
	    "true"),
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

size_t mpijob_finding_kind_count(void)
{
	return KINDS;
}

const struct mpijob_finding_kind *mpijob_finding_kind_at(size_t index)
{
	return index < KINDS ? &kinds[index] : NULL;
}

const struct mpijob_finding_kind *mpijob_finding_kind_find(const char *id)
{
	size_t low = 0, high = KINDS;

	while (id && low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(id, kinds[middle].id);

		if (order == 0)
			return &kinds[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
