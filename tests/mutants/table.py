# SPDX-License-Identifier: Apache-2.0
"""Changes of the source that break a claim, each with the test that must fail then.

A key of CLAIMS is the beginning of a bullet of docs/threat-model.md; "" has the rows for statements in other documents. The text
old of a row is exactly once in its file, however its lines are broken; test is a program of tests/unit with one of its tests, or a script with one of its checks.
"""
import collections
import re

UNIT = "tests/unit/test_"
HOSTILE = "tests/program/test-hostile-text"
LONG = (UNIT + "operator_hostile.c", "long_and_strange_messages_are_cut")
ONE_ASIDE = (UNIT + "operator_hostile.c", "one_of_them_is_set_aside_and_the_others_go_on")
QUEUE = UNIT + "operator_queue.c"
ORPHANS = UNIT + "operator_orphans.c"
RIGHTS = UNIT + "operator_rights.c"
RUN = UNIT + "operator_run.c"
NO_KEY_LEFT = (UNIT + "render_ssh_key.c", "leaves_no_key_in_memory")
EVENTS = UNIT + "operator_events.c"
RENDERED = (UNIT + "render_cases.c", "render_cases")
BEGIN = "tests/daemon/test-begin"
ROLES = "tests/manifests/test-roles"
CONFINED = "tests/local/test-confinement"
ESCAPE = ("tests/escape/test-escape", "check_root")
TLS = ("tests/http/test-tls", "")

CLAIMS = {  # claim: (file, old, new, test, name)...
    "": [
        ("lib/client/watch.c", "#define OBJECT_LIMIT        ((size_t)8 << 20)", "#define OBJECT_LIMIT        ((size_t)64 << 20)",
         UNIT + "client_watch.c", "test_objects_have_eight_mebibytes"),
    ],
    "`limits.workers` of": [
        ("lib/plan/limit.c", "if (wanted <= plan->max_workers || has_finished(plan))",
         "if (wanted <= plan->max_workers + 1 || has_finished(plan))", UNIT + "plan_limit.c", "one_over_the_limit_does_not_begin"),
        ("lib/plan/limit.c", "in_use > plan->max_workers ? in_use : plan->max_workers", "wanted", UNIT + "plan_limit.c",
         "it_grows_to_the_limit_only"),
        ("lib/plan/limit.c", "return plan->old.has_start_time && mpijob__plan_conditions_finished(&plan->old);",
         "return mpijob__plan_conditions_finished(&plan->old);", UNIT + "plan_limit.c", "failed_for_the_limit_it_stays_so"),
        ("lib/plan/limit.c", "pod->index < wanted &&\n\t\t    mpijob__plan_owns(plan, pod->owner_uid))", "pod->index < wanted)",
         UNIT + "plan_limit.c", "foreign_pods_open_no_door"),
        ("lib/operator/config_effective.c", "work->effective->max_workers = (int32_t)most->number;", "", UNIT + "operator_configure.c",
         "one_over_the_limit_is_set_aside_while_others_go_on"),
    ],
    "An MPIJob is skipped if it cannot be read": [
        ("lib/operator/informer.c", "#define JOB_LIMIT ((size_t)2 << 20)", "#define JOB_LIMIT ((size_t)8 << 20)", RUN,
         "a_job_has_two_mebibytes"),
        ("lib/operator/configure.c", 'operator_->metrics.skipped[mpijob__operator_metrics_kind(MPIJOB__BASE_API_KIND)]++;',
         'operator_->metrics.skipped[mpijob__operator_metrics_kind(MPIJOB__BASE_API_KIND)] += 0;', *ONE_ASIDE),
        ("lib/operator/cache_jobs.c", 'operator_->metrics.skipped[mpijob__operator_metrics_kind(MPIJOB__BASE_API_KIND)]++;', "", RIGHTS, "a_job_is_mended"),
        ("lib/operator/reconcile.c", 'if (job->cache.rejection)\n\t\tmpijob__operator_events_emit(operator_, job, "Warning", MPIJOB__BASE_API_REASON_INVALID, job->cache.rejection);',
         "", RIGHTS, "a_job_is_mended"),
        ("lib/operator/reconcile.c", "job, 0);\n\tmpijob__operator_queue_done(&operator_->queue, &job->item, INT64_MIN);",
         "job, 0);\n\tmpijob__operator_queue_failed(&operator_->queue, &job->item, operator_->now_ms, 0, 0);\n"
         '\tmpijob__operator_events_emit(operator_, job, "Warning", "ValidationError", "again");', RIGHTS, "a_job_is_mended"),
    ],
    "Objects are read one by one": [
        ("lib/base/split.c", "if (split->whole <= split->limit) {", "if (1) {", UNIT + "base_split.c", "monsters_are_passed_over"),
        ("lib/base/split.c", "if (split->whole > split->limit) {", "if (0) {", UNIT + "base_split.c", "a_monster_takes_no_memory"),
    ],
    "The nesting of objects and": [
        ("lib/doc/read.c", "r->values <= r->options.max_values - values) {", "r->values <= SIZE_MAX) {", UNIT + "doc_text.c", "limits"),
        ("lib/doc/json_reader.c", "if (r->depth >= r->max_depth)", "if (r->depth > r->max_depth)", UNIT + "doc_json.c", "depth"),
    ],
    "The queue gives turns to namespaces": [
        ("lib/operator/queue.c", "first = group->turn.next;", "first = group->turn.prev->next;", QUEUE, "each_key_once_and_namespaces_take_turns"),
        ("lib/operator/cache_jobs.c", "&job->item, job->namespace_)", "&job->item, job->uid)", RUN,
         "a_namespace_has_no_more_turns_for_more_jobs"),
    ],
    "A namespace that uses half of the request slots": [
        ("lib/operator/queue.c", "group = find_turn(queue, (queue->most + 1) / 2, more);", "group = find_turn(queue, queue->most, more);", QUEUE,
         "slow_requests_do_not_take_all"),
    ],
    "The last two request slots": [
        ("lib/operator/queue.c", "queue->most : queue->most - SPARE, more);", "queue->most : queue->most, more);", QUEUE,
         "some_places_are_left_to_others"),
    ],
    "The time and memory for a job": [
        ("lib/doc/names.c", "if (!names->index && names->count + 1 >= MPIJOB__DOC_INDEX_FROM) {", "if (0) {", "tests/growth/lists", ""),
    ],
    "At most 100 findings of one kind": [
        ("lib/job/report.h", "#define MPIJOB__JOB_REPORT_MOST  100", "#define MPIJOB__JOB_REPORT_MOST  250", UNIT + "job_findings.c",
         "a_hundred_of_a_kind_are_kept"),
    ],
    "A job is validated when it changes": [
        ("lib/operator/cache_jobs.c", "if (!is_valid_as_before(job->cache.mpijob, parsed))",
         "if (!is_valid_as_before(job->cache.mpijob, parsed) || job->cache.mpijob)", RUN, "an_unchanged_job_is_validated_once"),
        ("lib/operator/cache_jobs.c", "paths[] = { \"spec\", ", "paths[] = { ", RUN, "an_unchanged_job_is_validated_once"),
    ],
    "A watch keeps the bytes": [
        ("lib/operator/cache_jobs.c", "\tjob->cache.raw_len = object->json_len;\n",
         "\tjob->cache.raw_len = object->json_len;\n\tif (mpijob__operator_job_parse(operator_, job))\n\t\treturn MPIJOB_ERR_NOMEM;\n", RUN,
         "a_burst_is_read_in_turns"),
    ],
    "Reading, validation and planning": [
        ("lib/operator/reconcile.c", "if (rc == 0 && mpijob__base_clock_cpu_us() - from_us > LONG_US)", "if (rc == 0 && 0)", RUN,
         "validation_that_takes_long_is_a_turn_of_its_own"),
    ],
    "A namespace that used CPU time": [
        ("lib/operator/queue.c", "from_ms + took_us * BACKOFF_FACTOR / 1000;", "from_ms;", QUEUE, "expensive_jobs_wait_for_others"),
        ("lib/operator/operator.c", "\t\tmpijob__operator_queue_charge(&operator_->queue, item, took_us);\n", "", RUN,
         "who_takes_time_lets_others_go_first"),
        ("lib/operator/cache_jobs.c", "(int64_t)(object->json_len / BYTES_PER_US)", "0", RUN, "a_large_job_lets_others_go_first"),
        ("lib/operator/queue.c", "!more && group->in_flight == queue->in_flight &&", "(!more || 1) &&", QUEUE,
         "who_rests_waits_for_others_to_come"),
    ],
    "This wait lasts at most one minute": [
        ("lib/operator/queue.c", "#define MOST_BACKOFF_MS 60000", "#define MOST_BACKOFF_MS 600000", QUEUE, "a_rest_lasts_a_minute_at_most"),
    ],
    "A step of the operator makes plans": [
        ("lib/operator/operator.c", "if (from_us + took_us >= until_us)", "if (0 && until_us)", RUN, "a_step_ends_after_20_ms"),
    ],
    "Names of unknown owners": [
        ("lib/operator/orphans.c", "#define WAITS_MS     600000", "#define WAITS_MS     6000000", ORPHANS, "nothing_waits_for_ever"),
    ],
    "When the table of 4,096": [
        ("lib/operator/orphans.c", "#define MOST_ORPHANS 4096", "#define MOST_ORPHANS 1", ORPHANS, "one_namespace_may_use_the_whole_table"),
        ("lib/operator/orphans.c", "if (largest->count <= wants->count + 1)", "if (largest->count <= wants->count + 100000)", ORPHANS, "a_full_table_has_room_for_others"),
    ],
    "Each namespace is reported at most once": [
        ("lib/operator/orphans.c", "group->warned_ms = operator_->now_ms;", "", ORPHANS, "a_namespace_is_reported_once_in_ten_minutes"),
    ],
    "The job's name and namespace": [
        ("lib/render/subject.c", "const char *form = mpijob__job_syntax_label(name);",
         "const char *form = name ? NULL : mpijob__job_syntax_label(name);", UNIT + "render_hostile.c", "names_are_refused_that_are_none"),
    ],
    "The cluster domain has only": [
        ("lib/base/dns.c", 'XYZ0123456789.-")', 'XYZ0123456789.-$();")', UNIT + "render_hostile.c",
         "cluster_domains_are_refused_that_are_none"),
    ],
    "Nothing else of a job gets into a script": [
        ("lib/render/wait_for_hosts.c", 'mpijob_node_append_string(b->doc, command, script);',
         'mpijob_node_append_string(b->doc, command, b->subject->spec->ssh_auth_mount_path ? b->subject->spec->ssh_auth_mount_path : script);',
         UNIT + "render_hostile.c", "no_string_of_a_job_gets_into_a_script"),
    ],
    "An object of such a name": [
        ("lib/plan/children.c", "return mpijob__plan_owns(plan, child->owner_uid) ? OURS : FOREIGN;", "return OURS;",
         UNIT + "operator_hostile.c", "names_of_others_are_not_taken"),
        ("lib/plan/plan.c", '"Warning", MPIJOB__BASE_API_REASON_EXISTS', '"Warning", "Exists"', RUN, "somebody_elses_service"),
    ],
    "The operator reads a Secret": [
        ("lib/operator/cache_children.c", "&operator_->cache.observed, NULL);",
         "&operator_->cache.observed, NULL);\n\n"
         '\tmpijob__operator_log(operator_, MPIJOB_SEVERITY_INFO, "read", "%.*s", (int)len, json);',
         UNIT + "operator_hostile.c", "the_contents_of_a_secret_go_nowhere"),
    ],
    "A child in another namespace": [
        ("lib/operator/cache_children.c", "strcmp(job->namespace_, observed->namespace_) != 0", "0", RUN, "a_claim_from_another_namespace"),
    ],
    "Of a template's `metadata` only": [
        ("lib/render/pod.c", "int launcher = strcmp(b->role, \"Launcher\") == 0;",
         "int launcher = strcmp(b->role, \"Launcher\") == 0;\n"
         '\tmpijob_node *taken = copy_map(b, template, "metadata.ownerReferences[0]", metadata, "owner");\n'
         '\tmpijob_node *more = mpijob_node_put_copy(b->doc, metadata, "finalizers", mpijob_node_find(template, "metadata.finalizers"));\n\n'
         "\t(void)taken;\n\t(void)more;",
         UNIT + "render_hostile.c", "a_template_owns_nothing"),
    ],
    "The operator's own labels win": [
        ("lib/render/pod.c", "mpijob_node_put_string(b->doc, labels, MPIJOB__BASE_API_LABEL_JOB_NAME, b->subject->name);",
         "if (!mpijob_node_get(labels, MPIJOB__BASE_API_LABEL_JOB_NAME))\n"
         "\t\tmpijob_node_put_string(b->doc, labels, MPIJOB__BASE_API_LABEL_JOB_NAME, b->subject->name);",
         UNIT + "render_hostile.c", "a_template_owns_nothing"),
    ],
    "Labels do not make a pod a child": [
        ("lib/plan/observe.c", "if (controller)\n\t\tin->owner = owner;", "in->owner = owner;", UNIT + "operator_hostile.c",
         "forged_labels_make_no_child"),
    ],
    "A status that says that a job runs": [
        ("lib/plan/limit.c", "return workers > 0 ||", "return plan->old.has_start_time || workers > 0 ||", UNIT + "plan_limit.c",
         "a_forged_status_opens_no_door"),
    ],
    "Text is cut to 1,024 bytes": [
        ("lib/operator/events.c", "#define MESSAGE_LIMIT 1024", "#define MESSAGE_LIMIT 102400", *LONG),
        ("lib/operator/events.c", "while (text.len && ((unsigned char)text.data[text.len] & 0xc0) == 0x80)", "while (0)", *LONG),
        ("lib/plan/message.c", "while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)", "while (0)", *LONG),
        ("lib/plan/message.c", "#define WORDS_LIMIT 512", "#define WORDS_LIMIT 1000", *LONG),
        ("lib/plan/plan.h", "#define MPIJOB__PLAN_MESSAGE_LIMIT 1024", "#define MPIJOB__PLAN_MESSAGE_LIMIT 4096", *LONG),
    ],
    "All programs print text through one function": [
        ("lib/base/escape.c", "code == 0x61c || code == 0x200e", "code == 0x200e", UNIT + "base_text.c", "escaped"),
        ("lib/base/escape.c", "(code >= 0x7f && code < 0xa0)", "code == 0x7f", UNIT + "base_text.c", "escaped"),
        ("programs/mpijob/plan.c", 'print_out("  %s is %s: %s\\n"', 'printf("  %s is %s: %s\\n"', HOSTILE, "test_plan"),
        ("programs/mpijob/describe.c", 'print_out("%.*s", (int)strcspn(text, "\\n"), text);',
         'printf("%.*s", (int)strcspn(text, "\\n"), text);', HOSTILE, "test_a_servers_objects"),
        ("programs/mpijob/progress.c", "print_values(stderr, format, values);", "vfprintf(stderr, format, values);", HOSTILE,
         "test_a_run_on_a_cluster"),
        ("lib/core/diag.c", "return mpijob_escaped_write(string, strlen(string), write, user);",
         "return write(user, string, strlen(string));", HOSTILE, "test_files"),
        ("programs/mpijob-operator/log.c", "rc = mpijob_escaped_write(parts[i], strlen(parts[i]), mpijob_text_write, line);",
         "rc = mpijob_text_write(line, parts[i], strlen(parts[i]));", HOSTILE, "test_the_operators_log"),
    ],
    "In YAML and JSON the same characters": [
        ("lib/doc/write_yaml.c", "return (mpijob__base_escape_needed(code) && code != '\\n') ||", "return (code < 0x20 && code != '\\n') ||",
         HOSTILE, "test_files"),
        ("lib/doc/write_json.c", "return mpijob__base_escape_needed(code) ||", "return code < 0x20 ||", HOSTILE, "test_files"),
    ],
    "Labels of metrics are escaped": [
        ("lib/operator/metrics.c", "else if (*value == '\"' || *value == '\\\\')", "else if (*value == '\"')", UNIT + "operator_shadow.c",
         "labels_are_escaped"),
    ],
    "Besides the launcher and namespace": [
        ("lib/operator/metrics.c", 'put_label(sheet, "namespace", job->namespace_, "} 1\\n");',
         'put_label(sheet, "namespace", job->namespace_, ",");\n\tput_label(sheet, "uid", job->uid, "} 1\\n");',
         UNIT + "operator_shadow.c", "a_life_is_counted"),
    ],
    "At most 25 Events": [
        ("lib/operator/events.c", "#define BURST 25", "#define BURST 26", EVENTS, "one_reason_has_its_limit"),
        ("lib/operator/events.c", "#define REFILL_MS 300000", "#define REFILL_MS 30000", EVENTS, "one_reason_has_its_limit"),
    ],
    "At most four Events": [
        ("lib/operator/events.c", "#define MOST_SENDING 4", "#define MOST_SENDING 5", EVENTS, "few_at_a_time"),
    ],
    "`libmpijob/NAME` on an MPIJob": [
        ("lib/operator/config_effective.c", "if (!is_allowed(work, feature->name)) {", "if (0 && !is_allowed(work, feature->name)) {",
         UNIT + "operator_config.c", "annotations_need_leave"),
    ],
    "If it is not listed, an Event": [
        ("lib/operator/config_effective.c", 'if (mpijob__operator_report(work->diag, &finding, "the annotation',
         'if (0 && mpijob__operator_report(work->diag, &finding, "the annotation', UNIT + "operator_configure.c",
         "annotations_count_where_they_are_allowed"),
    ],
    "Values are parsed as those of a flag": [
        ("lib/operator/config_effective.c", "if (!value || strlen(value) != mpijob_node_length(node) ||", "if (!value ||",
         UNIT + "operator_config.c", "hostile_annotations_are_left_out"),
        ("lib/operator/config_effective.c", "mpijob_features_set(&scratch, feature->name, value, NULL)) {",
         "(mpijob_features_set(&scratch, feature->name, value, NULL) && 0)) {", UNIT + "operator_config.c", "annotations_need_leave"),
    ],
    "The user's variables come before": [
        ("lib/render/environment.c", "return given && b->subject->features.user_variables != 0;",
         "return given && b->subject->features.user_variables >= 0;", *RENDERED),
    ],
    "Children that are deleted": [
        ("lib/operator/cache_jobs.c", "if (job->backoff.losses > LOSSES_FREE)", "if (0)", RUN,
         "who_deletes_again_and_again_waits_longer"),
    ],
    "A job that never settles": [
        ("lib/operator/reconcile.c", "++job->backoff.rounds > MOST_ROUNDS", "0", RUN, "a_job_that_never_settles_is_planned_less_often"),
        ("lib/operator/queue.c", "if (item->failures < 18)", "if (item->failures < 1)", QUEUE, "failures_back_off"),
    ],
    "A rejection by a quota": [
        ("lib/operator/rights.c", "if (*at || operator_->rights.count", "if (operator_->rights.count", RIGHTS,
         "a_right_is_taken_and_given_back"),
        ("lib/operator/reconcile.c", "return each_ms > REFUSED_MS ? each_ms : REFUSED_MS;",
         "return (each_ms > REFUSED_MS ? each_ms : REFUSED_MS) * 100;", RIGHTS, "the_wait_for_a_right_is_bounded"),
    ],
    "When nothing has changed": [
        ("lib/plan/status.c", "if (!same_draft(&plan->old, &plan->draft))", "if (!same_draft(&plan->old, &plan->draft) || 1)", RUN, "a_life"),
        ("lib/plan/children.c", "if (child && child->digest != mpijob__render_wanted_service(&plan->subject)) {", "if (child) {", RUN, "a_life"),
    ],
    "Each job has one key pair": [
        ("lib/operator/write.c", "int rc = with_entropy ? mpijob__base_random_fill(entropy, sizeof(entropy)) : 0;",
         "int rc = 0;\n\n\tmemset(entropy, 7, sizeof(entropy));", UNIT + "operator_hostile.c", "each_job_has_a_key_of_its_own"),
        ("lib/render/ssh_key.c", "BN_mod(d, wide, bound, context) && BN_add_word(d, 1);", "BN_mod(d, wide, bound, context);",
         UNIT + "render_ssh_key.c", "known_answer"),
    ],
    "The private key is in no document": [
        ("lib/render/ssh_key.c", "\tmpijob__base_secret_wipe(key, sizeof(*key));\n", "", *NO_KEY_LEFT),
        ("lib/base/text.c", "\tif (text->data)\n\t\tmpijob__base_secret_wipe(text->data, text->cap + 1);\n\tfree(text->data);", "\tfree(text->data);",
         *NO_KEY_LEFT),
        ("lib/base/text.c", "\t\tmemcpy(data, text->data, text->len);\n\t\tmpijob__base_secret_wipe(text->data, text->cap + 1);\n",
         "\t\tmemcpy(data, text->data, text->len);\n", *NO_KEY_LEFT),
        ("lib/render/secret.c", "if (base64) {", "if (!base64) {", UNIT + "render_objects.c",
         "key_only_where_asked_for"),
    ],
    "`network-policy` (off by default)": [
        ("lib/render/network_policy.c", "\tput_pods(b, from);\n", "\t(void)from;\n", *RENDERED),
    ],
    "`private-keys` sets mode 0600": [
        ("lib/render/pod.c", 'mpijob_node_put_int(b->doc, source, "defaultMode", 0600);',
         'mpijob_node_put_int(b->doc, source, "defaultMode", 0644);', *RENDERED),
    ],
    "The operator has only the rights": [
        ("manifests/operator/role.yaml", "verbs: [get, create, patch]\n- apiGroups: [\"\"]\n  resources: [events]",
         "verbs: [get, list, create, patch]\n- apiGroups: [\"\"]\n  resources: [events]", ROLES, "check_the_operator"),
        ("manifests/operator/role.yaml", "resources: [pods]", "resources: [pods, pods/exec]", ROLES, "check_the_operator"),
        ("manifests/operator/role.yaml", "resources: [jobs]\n  verbs: [get, list, watch, create, patch]",
         "resources: [jobs]\n  verbs: [get, list, watch, create, patch, delete]", ROLES, "check_the_operator"),
    ],
    "With `--namespace` a Role": [
        ("lib/operator/informer.c", "informer->namespace_ = operator_->options.namespace_;", "informer->namespace_ = NULL;", RUN, "options"),
        ("manifests/components/one-namespace/role.yaml", "verbs: [update]", "verbs: [update, patch]", ROLES, "check_one_namespace"),
    ],
    "Deletes carry the uid": [
        ("lib/operator/write.c", "options.uid = action->uid;", "options.uid = NULL;", RIGHTS, "deletes_carry_the_uid"),
    ],
    "Status updates carry the resourceVersion": [
        ("lib/plan/bodies.c",
         'mpijob_node_string(mpijob_node_find(mpijob__job_node(plan->job), "metadata.resourceVersion")));', "NULL);", RIGHTS,
         "a_status_names_its_version"),
    ],
    "An operator that does not hold the Lease": [
        ("lib/operator/reconcile.c", "if (!mpijob__operator_is_leading(operator_) && !operator_->shadow.on) {", "if (0) {", UNIT + "operator_shadow.c",
         "a_standby_waits_for_its_turn"),
    ],
    "A shadow has only read rights": [
        ("manifests/overlays/shadow/role.yaml", "verbs: [list, watch]", "verbs: [list, watch, create]", ROLES, "check_the_shadow"),
    ],
    "`/healthz` and `/readyz` answer": [
        ("programs/mpijob-operator/pages.c", "const struct server_page health_pages[] = {",
         'const struct server_page health_pages[] = {\n\t{ "/metrics", PLAIN, 1, write_metrics },', BEGIN, "check_pages"),
    ],
    "`/metrics` and `/shadow` are off": [
        ("programs/mpijob-operator/flags.c", 'FLAG_NUMBER, "0", AT(monitoring_port)', 'FLAG_NUMBER, "8080", AT(monitoring_port)', BEGIN,
         "check_only_health_is_served"),
    ],
    "The number of connections": [
        ("programs/mpijob-operator/server.c", "#define MAX_PER_ADDRESS   16", "#define MAX_PER_ADDRESS   64", BEGIN,
         "check_clients_that_do_not_behave"),
        ("programs/mpijob-operator/server.c", "if (++server->peers > CLOSE_OLDEST_ABOVE)", "if (++server->peers > 1000)", BEGIN,
         "check_clients_that_do_not_behave"),
    ],
    "The headers of a request": [
        ("programs/mpijob-operator/server.c", "#define REQUEST_MEMORY    (16 << 10)", "#define REQUEST_MEMORY    (16 << 20)", BEGIN,
         "check_clients_that_do_not_behave"),
        ("programs/mpijob-operator/server.c", "#define IDLE_S            10", "#define IDLE_S            100", BEGIN,
         "check_clients_that_do_not_behave"),
        ("programs/mpijob-operator/server.c", "#define MAX_AGE_MS           30000", "#define MAX_AGE_MS           3000000", BEGIN,
         "check_a_client_that_drips"),
    ],
    "Expensive pages have a rate limit": [
        ("programs/mpijob-operator/server.c", "if (page->heavy && exceeds_rate(server))", "if (0 && exceeds_rate(server))", BEGIN,
         "check_heavy_pages_have_a_rate"),
    ],
    "No page changes anything": [
        ("programs/mpijob-operator/server.c", "if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)",
         "if (!method)", BEGIN, "check_pages"),
    ],
    "Unknown keys are errors": [
        ("lib/operator/config.c", 'refuse(reader, NULL, "unknown-setting"', 'if (0)\n\t\trefuse(reader, NULL, "unknown-setting"',
         UNIT + "operator_config.c", "mistakes_are_told"),
        ("programs/mpijob-operator/configuration.c", "return rc ? rc : apply_text(configuration);",
         "return rc ? rc : (apply_text(configuration), 0);", "tests/daemon/test-config", "check_a_wrong_file_keeps_it_from_starting"),
    ],
    "After an invalid change of the file": [
        ("programs/mpijob-operator/configuration.c", "\tif (rc) {\n\t\tmpijob_operator_config_free(config);",
         "\tif (rc) {\n\t\tmpijob_operator_configure(configuration->operator_, NULL);\n\t\tmpijob_operator_config_free(config);",
         "tests/daemon/test-config", "check_a_wrong_file_changes_nothing"),
    ],
    "The server's certificate and the name": [
        ("lib/http/easy.c", "SET(setter, CURLOPT_SSL_VERIFYPEER, config->insecure ? 0L : 1L);", "SET(setter, CURLOPT_SSL_VERIFYPEER, 0L);", *TLS),
        ("lib/http/easy.c", "SET(setter, CURLOPT_SSL_VERIFYHOST, config->insecure ? 0L : 2L);", "SET(setter, CURLOPT_SSL_VERIFYHOST, 0L);", *TLS),
        ("lib/http/easy.c", "\t\tSET(setter, CURLOPT_CAINFO_BLOB, &ca);\n", "", *TLS),
    ],
    "TLS 1.2 is the minimum": [
        ("lib/http/easy.c", "CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2", "CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_0", *TLS),
    ],
    "A redirect is an answer": [
        ("lib/http/easy.c", "SET(setter, CURLOPT_FOLLOWLOCATION, 0L);", "SET(setter, CURLOPT_FOLLOWLOCATION, 1L);", "tests/http/test-exchanges", ""),
    ],
    "Credentials are sent over TLS only": [
        ("lib/http/resolve.c", "\t\tmpijob__http_resolve_drop_credentials(resolve, &server);\n", "\t\t;\n", UNIT + "http_config.c", "test_k10_only_with_tls"),
    ],
    "Keys and certificates are passed": [
        ("lib/http/easy.c", "\t\tSET(setter, CURLOPT_SSLKEY_BLOB, &key);\n",
         "\t\tSET(setter, CURLOPT_SSLKEY_BLOB, &key);\n\t\tFILE *file = fopen(\"/tmp/mutant.key\", \"w\");\n\n"
         "\t\tif (file) {\n\t\t\tfwrite(key.data, 1, key.len, file);\n\t\t\tfclose(file);\n\t\t\tremove(\"/tmp/mutant.key\");\n\t\t}\n", "tests/http/test-disk", ""),
    ],
    "No block of memory that contained a token": [
        ("lib/http/secret.c", "\tmpijob__base_secret_free(secret->data, secret->len);\n\tsecret->data = NULL;",
         "\tfree(secret->data);\n\tsecret->data = NULL;", UNIT + "http_secrets.c", "test_k16_token"),
    ],
    "An exec plugin runs only": [
        ("lib/http/config.c", "if (options->plugin_policy == MPIJOB_HTTP_PLUGINS_ALL)\n\t\treturn 0;",
         "if (options->plugin_policy != 77)\n\t\treturn 0;", UNIT + "http_exec_policy.c", "test_e9_plugin_policy"),
    ],
    "An exec plugin runs without a shell": [
        ("lib/http/plugin.c", "number = posix_spawn(pid, program, &actions, &attributes, arguments, environment);",
         "number = posix_spawn(pid, \"/bin/sh\", &actions, &attributes,\n"
         "\t\t\t\t\t     (char *[]){ (char *)\"sh\", (char *)\"-c\", (char *)(uintptr_t)program, NULL }, environment);\n\t\t(void)arguments;",
         UNIT + "http_exec.c", "test_e2_environment"),
    ],
    "Every path of a pod": [
        ("programs/mpijob-node/inroot.c", "fd = (int)syscall(SYS_openat2, top, *path ? path : \".\", &how, sizeof(how));",
         "{\n\t\t\tpath += strspn(path, \"/\");\n\t\t\thow.resolve = 0;\n"
         "\t\t\tfd = (int)syscall(SYS_openat2, top, *path ? path : \".\", &how, sizeof(how));\n\t\t}", *ESCAPE),
    ],
    "Volumes are attached after": [
        ("programs/mpijob-node/rootfs.c",
         "\tmounts_pivot_root();\n\tfor (size_t i = 0; i < spec->mount_count; i++)\n\t\tmounts_attach_volume(&spec->mounts[i], sources[i]);\n",
         "\tfor (size_t i = 0; i < spec->mount_count; i++)\n\t\tmounts_attach_volume(&spec->mounts[i], sources[i]);\n\tmounts_pivot_root();\n", *ESCAPE),
    ],
    "No descriptor of the node": [
        ("programs/mpijob-node/container.c", "if (syscall(SYS_close_range, 4, ~0U, 0))", "if (0)", *ESCAPE),
    ],
    "What a pod writes": [
        ("programs/mpijob-node/rootfs.c",
         "if (part->kind != PART_OVERLAY || !mount_overlay(&root->node->layers, index, at))\n\t\tbind_part(root, part->path, target);",
         "(void)mount_overlay;\n\t(void)bind_part;\n"
         "\tmounts_attach(mounts_clone(inroot_open(root->host, part->path, O_PATH), part->path), target, part->path);", CONFINED,
         "check_writes_stay_in_the_pod"),
    ],
    "`~/.ssh` is hidden": [
        ("programs/mpijob-node/rootfs.c", '\thide(&root, user_keys, "own");\n', "\tfree(user_keys);\n", CONFINED, "check_ssh_keys_are_hidden"),
    ],
    "A container has the default capabilities": [
        ("lib/local/pod_security.c", '"KILL",	  "SYS_CHROOT",', '"KILL",	  "MKNOD", "SYS_CHROOT",', CONFINED, "check_default"),
        ("programs/mpijob-node/confine.c", "if (!(bounding >> i & 1) &&", "if (!(bounding >> i & 1) && i > 63 &&", CONFINED, "check_default"),
    ],
    "More capabilities need": [
        ("lib/local/pod_security.c", "\tif (!container->pod->local->allow_host_path)\n\t\tadd &= usual;\n", "", CONFINED,
         "check_more_capabilities_take_the_option"),
    ],
    "System calls are filtered": [
        ("programs/mpijob-node/confine.c", "seccomp_init(SCMP_ACT_ERRNO(EPERM))", "seccomp_init(SCMP_ACT_ALLOW)", CONFINED, "check_filter"),
        ("programs/mpijob-node/confine.c", "allow_if(filter, SCMP_SYS(clone), SCMP_A0_64(SCMP_CMP_MASKED_EQ, NAMESPACES, 0));",
         'allow(filter, "unshare");\n\tallow(filter, "clone");', CONFINED, "check_filter"),
        ("programs/mpijob-node/confine.c", '"get_mempolicy", "mbind", "set_mempolicy", "set_mempolicy_home_node"', '"get_mempolicy"', CONFINED,
         "check_memory_may_be_placed"),
    ],
    "`capabilities.drop`, `allowPrivilegeEscalation": [
        ("lib/local/pod_security.c", "return (usual & ~drop) | add;", "return usual | (drop & 0) | add;", CONFINED, "check_capabilities"),
        ("lib/local/pod_security.c", "confine |= NODE_CONFINE_NO_NEW_PRIVILEGES;", "confine |= 0;", CONFINED, "check_no_new_privileges"),
        ("lib/local/pod_security.c", "confine |= NODE_CONFINE_NO_FILTER;", "confine |= 0;", CONFINED, "check_filter_is_off_where_the_pod_says_so"),
    ],
    "Parts of `/proc` and `/sys`": [
        ("programs/mpijob-node/mounts.c", "\t\tmask(masked[i]);", "\t\tif (i > 99)\n\t\t\tmask(masked[i]);", CONFINED, "check_masked_paths"),
        ("programs/mpijob-node/mounts.c", "\t\tmake_read_only(read_only[i]);", "\t\tif (i > 99)\n\t\t\tmake_read_only(read_only[i]);", CONFINED, "check_masked_paths"),
    ],
    "The programs that hold keys": [
        ("programs/mpijob/guard.c", "limit.rlim_cur = soft;", "(void)soft;", CONFINED, "check_programs_with_keys_leave_no_core"),
        ("programs/mpijob-node/node.c", "limit.rlim_cur = 0; /* keys are in this memory */", "", CONFINED,
         "check_programs_with_keys_leave_no_core"),
        ("programs/mpijob-operator/main.c", "limit.rlim_cur = 0;", "", BEGIN, "check_its_memory_is_guarded"),
    ],
    "Other processes of the user cannot read": [
        ("programs/mpijob/guard.c", "\tprctl(PR_SET_DUMPABLE, 0);\n", "", CONFINED, "check_programs_with_keys_leave_no_core"),
        ("programs/mpijob-node/supervisor.c", "prctl(PR_SET_DUMPABLE, 0); ", "", CONFINED, "check_programs_with_keys_leave_no_core"),
        ("programs/mpijob-operator/main.c", "prctl(PR_SET_DUMPABLE, 0);", "", BEGIN, "check_its_memory_is_guarded"),
    ],
    "A container's command has the core limit": [
        ("programs/mpijob-node/container.c", "\trestore_limit(RLIMIT_CORE, node->core_limit);\n", "", CONFINED, "check_limits_of_the_command"),
    ],
    "The node runs from a sealed copy": [
        ("programs/mpijob-node/main.c", "\trun_from_sealed_copy(argv);\n", "\tif (0)\n\t\trun_from_sealed_copy(argv);\n", CONFINED,
         "check_the_node_runs_from_memory"),
    ],
    "The embedded cluster rejects": [
        ("lib/job/object.c", "check_files(&report, object, kind->files[i]);", "(void)check_files;", UNIT + "local_store.c",
         "test_invalid_objects"),
        ("lib/job/template_pod.c", 'names[] = { "hostname", "subdomain" };', 'names[] = { "subdomain", "subdomain" };',
         UNIT + "local_store.c", "test_invalid_objects"),
        ("lib/local/rules.c", "return rc || reply->status ? rc : check_object(old->kind, doc, reply);", "return rc;",
         UNIT + "local_store.c", "test_invalid_changes"),
    ],
}

Row = collections.namedtuple("Row", "claim file old new test name")


def rows():
    return [Row(claim, *row) for claim, found in CLAIMS.items() for row in found]


def places(row, text):
    """Where the mutated text of a row is: white space in it stands for any, and none is needed after a parenthesis or comma."""
    words = [re.escape(word) for word in re.split(r"\s+", row.old.strip())]
    pattern = re.sub(r"(\\\(|,)(?=\S)", r"\1\\s*", r"\s+".join(words))
    return list(re.finditer(pattern, text))
