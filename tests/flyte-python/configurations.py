# SPDX-License-Identifier: Apache-2.0
"""Generated configurations of MPI tasks: each is data, from which the same task is made with either package."""
import datetime

import flytekit
import functions
from flytekit import PodTemplate, Resources, Secret
from flytekit.configuration import (
    FastSerializationSettings, Image, ImageConfig, SerializationSettings)
from flytekit.core.cache import Cache
from flytekit.extras import accelerators
from kubernetes.client import V1Container, V1EnvVar, V1PodSpec, V1ResourceRequirements, V1Toleration

WORDS = ("a", "train.py", "--epochs=3", "", "with space", "ünïcode", "{{.input}}", "$HOME")
IMAGES = ("registry.example/mpi:1", "mpi", "", "{{.images.default.fqn}}:v2", "ghcr.io/x/y@sha256:" + "0" * 64)
COUNTS = (1, 1, 2, 3, 4, 16, 100)
ODD_COUNTS = (0, -1, True, 2**31 - 1, 2**31, 1.0, 1.5, "3")
SOME = 0.35


class Choices:
    """Choosing by a seeded generator; most things are usually left out."""

    def __init__(self, random):
        self.random = random

    def one(self, *values):
        return self.random.choice(values)

    def maybe(self, make, chance=SOME):
        return make() if self.random.random() < chance else None

    def given(self, **makers):
        """Keyword arguments of which only some are there."""
        return {name: make() for name, make in makers.items() if self.random.random() < SOME}

    def words(self):
        return [self.one(*WORDS) for _ in range(self.random.randrange(4))]

    def mapping(self):
        return {f"k{index}/{self.one('a', 'b.c', 'X')}": self.one(*WORDS) for index in range(self.random.randrange(4))}

    def count(self, odd=0.04):
        return self.one(*ODD_COUNTS) if self.random.random() < odd else self.one(*COUNTS)


def resources(choose, pairs=0.02, numbers=1.0):
    values = choose.given(cpu=lambda: choose.one("1", "500m", 2, 0.5, "0"), mem=lambda: choose.one("1Gi", "512Mi", 1024, "0"),
                          gpu=lambda: choose.one("1", 4, "0"), ephemeral_storage=lambda: choose.one("10Gi", 5))
    if choose.random.random() >= numbers:
        values = {name: str(value) for name, value in values.items()}
    if choose.random.random() < pairs:
        values["cpu"] = ("1", "2")
    return Resources(**values)


def replica(choose, replicas):
    fields = choose.given(command=lambda: choose.one(choose.words(), "sleep 3", ()), image=lambda: choose.one(*IMAGES),
                          requests=lambda: resources(choose), limits=lambda: resources(choose),
                          restart_policy=lambda: choose.one("ALWAYS", "FAILURE", "NEVER"))
    return fields if replicas is None else {**fields, "replicas": replicas}


def run_policy(choose):
    seconds = (0, 1, 30, 86400, 2**31 - 1, -5)
    return choose.given(clean_pod_policy=lambda: choose.one("NONE", "ALL", "RUNNING"),
                        ttl_seconds_after_finished=lambda: choose.one(*seconds),
                        active_deadline_seconds=lambda: choose.one(*seconds),
                        backoff_limit=lambda: choose.one(0, 1, 6, 2**40) if choose.random.random() < 0.1 else choose.one(0, 3))


def counts(choose):
    """The new and the deprecated argument: mostly one of them, sometimes both or neither."""
    kind = choose.random.random()
    if kind < 0.72:
        return choose.count(), None
    if kind < 0.90:
        return None, choose.count()
    if kind < 0.95:
        return choose.one(0, 1, 3), choose.one(0, 1, 3)
    return None, None


def configuration(choose):
    workers, old_workers = counts(choose)
    launchers, old_launchers = counts(choose)
    fields = {"worker": replica(choose, workers), "launcher": replica(choose, launchers)}
    policy = choose.maybe(lambda: run_policy(choose), 0.5)
    if policy is not None:
        fields["run_policy"] = policy
    fields.update(choose.given(slots=lambda: choose.count(0.05)))
    for name, value in (("num_workers", old_workers), ("num_launcher_replicas", old_launchers)):
        if value is not None:
            fields[name] = value
    kind = choose.one("MPIJob", "MPIJob", "HorovodJob")
    if kind == "HorovodJob":
        fields.update(choose.given(
            verbose=lambda: choose.one(True, False, None, 1), log_level=lambda: choose.one("DEBUG", "", None, "trace"),
            discovery_script_path=lambda: choose.one("/x/hosts.sh", "a b", None) if choose.random.random() < 0.2 else "/h.sh",
            elastic_timeout=lambda: choose.one(1800, 0, -1, None, 2.5)))
    return kind, fields


def pod_template(choose):
    def container(name):
        return V1Container(name=name, **choose.given(
            image=lambda: choose.one("sidecar:1", "other"), args=choose.words, command=choose.words,
            env=lambda: [V1EnvVar(name="E", value=choose.one(*WORDS))],
            resources=lambda: V1ResourceRequirements(limits={"cpu": "3"})))

    primary = choose.one("primary", "main", "worker")
    names = choose.one([primary], ["sidecar", primary], ["sidecar"], [primary, "x", "y"])
    spec = V1PodSpec(containers=[container(name) for name in names], **choose.given(
        node_selector=lambda: {"zone": "z"}, tolerations=lambda: [V1Toleration(key="gpu", operator="Exists")],
        service_account_name=lambda: "someone", restart_policy=lambda: "Never"))
    return PodTemplate(pod_spec=spec, primary_container_name=primary,
                       **choose.given(labels=choose.mapping, annotations=choose.mapping))


def task_arguments(choose):
    arguments = choose.given(
        container_image=lambda: choose.one(*IMAGES[:1], "{{.image.other.fqn}}:{{.image.default.version}}"),
        environment=choose.mapping, interruptible=lambda: choose.one(True, False), retries=lambda: choose.one(0, 2, 7),
        timeout=lambda: choose.one(datetime.timedelta(minutes=5), 90), deprecated=lambda: "use another",
        accelerator=lambda: choose.one(accelerators.T4, accelerators.A100, accelerators.A100.partition_1g_5gb,
                                       accelerators.A100.unpartitioned),
        shared_memory=lambda: choose.one(True, "2Gi", False), pod_template_name=lambda: "of-the-cluster",
        secret_requests=lambda: [Secret(group="g", key=choose.one("k", "l"))], enable_deck=lambda: choose.one(True, False),
        labels=choose.mapping, annotations=choose.mapping,
        cache=lambda: choose.one(False, Cache(version="3"), Cache(version="4", serialize=True, ignored_inputs=("rate",))))
    if choose.random.random() < 0.3:
        arguments["pod_template"] = pod_template(choose)
    if choose.random.random() < 0.3:
        arguments["resources"] = resources(choose, 0.2, 0.05)
    else:
        arguments.update(choose.given(requests=lambda: resources(choose, numbers=0.05),
                                      limits=lambda: resources(choose, numbers=0.05)))
    return arguments


def settings(choose):
    default = Image("default", choose.one("registry.example/default", "d"), choose.one("v1", "2026"))
    fast = choose.maybe(lambda: FastSerializationSettings(enabled=choose.one(True, True, False), **choose.given(
        destination_dir=lambda: choose.one("/root", "."), distribution_location=lambda: "s3://bucket/code.tar.gz")), 0.4)
    return SerializationSettings(
        image_config=ImageConfig(default_image=default, images=[default, Image("other", "registry.example/o", "v9")]),
        project=choose.one("flytesnacks", "p"), domain=choose.one("development", "d"), version=choose.one("v1", "abc123"),
        fast_serialization_settings=fast,
        **choose.given(env=choose.mapping, git_repo=lambda: "repository", flytekit_virtualenv_root=lambda: "/opt/venv",
                       python_interpreter=lambda: choose.one("/opt/venv/bin/python3", "/usr/bin/python3.11", "python")))


class Configuration:
    """One task as data."""

    def __init__(self, random):
        choose = Choices(random)
        self.kind, self.fields = configuration(choose)
        self.arguments = task_arguments(choose)
        self.settings = settings(choose)
        self.function = choose.one(*functions.ALL)
        self.decorated = choose.one(True, False)

    def is_without_launchers(self):
        return "replicas" not in self.fields["launcher"] and "num_launcher_replicas" not in self.fields

    def config(self, package, **launcher):
        """The task_config with this package's classes, or with those that it was given to accept."""
        fields = dict(self.fields)
        for name, role, more in (("worker", package.Worker, {}), ("launcher", package.Launcher, launcher)):
            values = {**fields[name], **more}
            if "restart_policy" in values:
                values["restart_policy"] = package.RestartPolicy[values["restart_policy"]]
            fields[name] = role(**values)
        if "run_policy" in fields:
            values = dict(fields["run_policy"])
            if "clean_pod_policy" in values:
                values["clean_pod_policy"] = package.CleanPodPolicy[values["clean_pod_policy"]]
            fields["run_policy"] = package.RunPolicy(**values)
        return getattr(package, self.kind)(**fields)

    def task(self, package, **launcher):
        """The task; by flytekit's decorator or by its class, which knows fewer arguments."""
        config = self.config(package, **launcher)
        if self.decorated:
            return flytekit.task(self.function, task_config=config, **self.arguments)
        known = {name: value for name, value in self.arguments.items()
                 if name not in ("cache", "interruptible", "retries", "timeout", "deprecated")}
        function_task = package.MPIFunctionTask if self.kind == "MPIJob" else package.HorovodFunctionTask
        return function_task(config, self.function, **known)
