# SPDX-License-Identifier: Apache-2.0
"""MPI tasks in a Flyte whose backend stays as it is: a connector that makes their MPIJobs itself, for mpi-operator or Kueue.

    pyflyte serve connector --modules mpijob.flyte.connector

serves it, with the cluster that kubectl would find. Flyte sends a task with its arguments filled in; this file knows what is
kept to find the job again, and how Flyte's questions are answered from the cluster.
"""
from __future__ import annotations

import hashlib
import os
import re
import threading
import time
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional

import mpijob
from flyteidl.admin.agent_pb2 import GetTaskLogsResponse, GetTaskLogsResponseBody
from flyteidl.core.execution_pb2 import TaskExecution, TaskLog
from flytekit.extend.backend.base_connector import AsyncConnectorBase, ConnectorRegistry, Resource, ResourceMeta
from flytekit.models.literals import LiteralMap
from flytekit.models.task import TaskExecutionMetadata, TaskTemplate
from google.protobuf.json_format import MessageToDict

from . import backend

_PHASES = {
    "Undefined": TaskExecution.QUEUED,  # UNDEFINED would be a failure: propeller then reads an older field, whose zero is one
    "Queued": TaskExecution.QUEUED,
    "Running": TaskExecution.RUNNING,
    "Success": TaskExecution.SUCCEEDED,
    "RetryableFailure": TaskExecution.RETRYABLE_FAILED,
}
_LAUNCHER = "training.kubeflow.org/job-name={},training.kubeflow.org/job-role=launcher"
_OF_FLYTE = re.compile("FLYTE_INTERNAL_.*|_F_PN|FLYTE_ATTEMPT_NUMBER|FLYTE_EXECUTION_URL")
_LONGEST_NAME = 40  # pods' names, which become host names, are longer than the job's


@dataclass
class MPIJobMeta(ResourceMeta):
    """What Flyte keeps of a job between its questions."""

    name: str
    namespace: str
    uid: str


class MPIConnector(AsyncConnectorBase):
    """Makes, follows and deletes the MPIJobs of tasks of the type "mpi".

    client     makes a mpijob.Client; called once in each thread
    config     section `plugins.k8s` of propeller's configuration, as a dict
    links      pairs of a name and an address with Flyte's placeholders, for the logs of pods; None: Kubernetes' dashboard
    timeout    seconds that a job may wait for an operator
    repaired   as for backend.job()
    """

    name = "MPIJob Connector"

    def __init__(self, client: Callable[[], Any] = mpijob.Client, *, config: Optional[Mapping[str, Any]] = None,
                 links: Any = None, timeout: int = 60, repaired: Any = None, task_type_version: int = 1) -> None:
        super().__init__(metadata_type=MPIJobMeta, task_type_name="mpi", task_type_version=task_type_version)
        self._make = client
        self._config = config
        self._links = backend.DEFAULT_LINKS if links is None else links
        self._timeout = timeout
        self._repaired = repaired
        self._own = threading.local()

    @property
    def _client(self) -> Any:
        """The client of this thread: flytekit calls from many, and a client belongs to one thread of one process."""
        if getattr(self._own, "process", None) != os.getpid():
            self._own.client, self._own.process = self._make(), os.getpid()
        return self._own.client

    def create(self, task_template: TaskTemplate, output_prefix: str, inputs: Optional[LiteralMap] = None,
               task_execution_metadata: Optional[TaskExecutionMetadata] = None, **kwargs: Any) -> MPIJobMeta:
        """Make the job. Asked twice for the same execution, it gives the job that there is."""
        template = _without_variables_of_flyte(MessageToDict(task_template.to_flyte_idl()), task_execution_metadata)
        execution = _execution(output_prefix, task_execution_metadata)
        execution.setdefault("namespace", self._client.namespace or "default")
        made, _ = backend.job(template, execution=execution, config=self._config, repaired=self._repaired)
        with made:
            try:
                stored = self._client.submit(made, execution["namespace"])
            except mpijob.ConflictError:
                if not _is_known(task_execution_metadata):
                    raise
                stored = self._client.get(execution["name"], execution["namespace"])
        return MPIJobMeta(name=stored.name, namespace=stored.namespace, uid=stored.uid)

    def get(self, resource_meta: MPIJobMeta, **kwargs: Any) -> Resource:
        """The phase of the job, and where its logs are."""
        try:
            found = self._client.get(resource_meta.name, resource_meta.namespace)
        except mpijob.NotFoundError:
            return _gone(resource_meta)
        if found.uid != resource_meta.uid:
            return _gone(resource_meta)
        status = backend.status(found.document, now=time.time(), timeout=self._timeout, links=self._links,
                                launcher_pod=self._launcher(resource_meta))
        if status.timed_out:
            self.delete(resource_meta)  # else an operator that comes later would run it beside the next attempt
            return Resource(phase=TaskExecution.RETRYABLE_FAILED, message=status.error)
        return Resource(phase=_PHASES[status.phase], message=self._message(resource_meta, status),
                        log_links=[TaskLog(name=link.name, uri=link.uri) for link in status.links])

    def _message(self, meta: MPIJobMeta, status: backend.Status) -> str:
        """Of a failure, with what the cluster shows of its cause."""
        text = status.error or status.message or status.reason
        if status.phase != "RetryableFailure":
            return text
        try:
            causes = self._client.diagnose(meta.name, meta.namespace)
        except mpijob.Error:  # a failure is a failure also where pods may not be read
            return text
        return "\n".join([text, *(str(cause) for cause in causes)])

    def _launcher(self, meta: MPIJobMeta) -> Optional[str]:
        """The name of the launcher's youngest pod."""
        try:
            pods = self._client.list_objects("v1", "Pod", meta.namespace, _LAUNCHER.format(meta.name))
        except mpijob.AuthError:  # without the right to list pods there is no link, and all else is known
            return None
        made = sorted((pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]) for pod in pods)
        return made[-1][1] if made else None

    def delete(self, resource_meta: MPIJobMeta, **kwargs: Any) -> None:
        """Delete the job with all that it owns, unless it is gone, or another one of its name is there."""
        try:
            self._client.delete(resource_meta.name, resource_meta.namespace, uid=resource_meta.uid)
        except (mpijob.NotFoundError, mpijob.ConflictError):
            pass

    def get_logs(self, resource_meta: MPIJobMeta, **kwargs: Any) -> GetTaskLogsResponse:
        """What the launcher has printed: with it, what all ranks have."""
        lines: List[str] = [line.text for line in self._client.logs(resource_meta.name, resource_meta.namespace, role="launcher")]
        return GetTaskLogsResponse(body=GetTaskLogsResponseBody(results=lines))


def _without_variables_of_flyte(template: Dict[str, Any], metadata: Optional[TaskExecutionMetadata]) -> Dict[str, Any]:
    """Flyte sends a pod with the variables that it adds itself; backend.job() adds them too, and each is needed once."""
    spec = template.get("k8sPod", {}).get("podSpec", {})
    given = dict(metadata.environment_variables or {}) if metadata else {}
    for container in [*spec.get("initContainers", []), *spec.get("containers", [])]:
        container["env"] = [each for each in container.get("env", [])
                            if each["name"] not in given and not _OF_FLYTE.fullmatch(each["name"])]
    return template


def _gone(meta: MPIJobMeta) -> Resource:
    return Resource(phase=TaskExecution.RETRYABLE_FAILED,
                    message=f"the MPIJob {meta.namespace}/{meta.name} was deleted by somebody else")


def _is_known(metadata: Optional[TaskExecutionMetadata]) -> bool:
    """Whether it names an execution; over gRPC what was not sent arrives empty."""
    return bool(metadata and metadata.task_execution_id.node_execution_id.execution_id.name)


def _execution(output_prefix: str, metadata: Optional[TaskExecutionMetadata]) -> Dict[str, Any]:
    """What is known of the execution, by the names that backend.job() has for it."""
    known: Dict[str, Any] = {
        "inputPath": f"{output_prefix}/inputs.pb",
        "inputPrefix": output_prefix,
        "outputPrefix": output_prefix,
        "rawOutputPrefix": f"{output_prefix}/raw_output",
        "checkpointPrefix": f"{output_prefix}/checkpoint_output",
        "previousCheckpointPrefix": f"{output_prefix}/prev_checkpoint",
    }
    if not _is_known(metadata):
        return {**known, "name": f"flyte-{uuid.uuid4().hex[:16]}"}
    assert metadata
    task, node, attempt = (metadata.task_execution_id.task_id, metadata.task_execution_id.node_execution_id,
                           metadata.task_execution_id.retry_attempt)
    given = {
        "namespace": metadata.namespace,
        "labels": dict(metadata.labels or {}),
        "annotations": dict(metadata.annotations or {}),
        "environment": dict(metadata.environment_variables or {}),
        "serviceAccount": metadata.k8s_service_account,
        "executionName": node.execution_id.name,
        "project": node.execution_id.project,
        "domain": node.execution_id.domain,
        "nodeId": node.node_id,
        "taskName": task.name,
        "taskProject": task.project,
        "taskDomain": task.domain,
        "taskVersion": task.version,
    }
    return {**known, **{name: value for name, value in given.items() if value}, "attempt": attempt,
            "name": _name(f"{node.execution_id.name}-{node.node_id}-{attempt}")}


def _name(text: str) -> str:
    """A name for the job and its pods: the text itself where it is one, else what is left of it and a hash."""
    plain = re.sub("[^a-z0-9-]+", "-", text.lower()).strip("-")
    if plain == text and len(plain) <= _LONGEST_NAME and plain[:1].isalpha():
        return plain
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    return f"f{plain}"[:_LONGEST_NAME - 11].rstrip("-") + "-" + digest


ConnectorRegistry.register(MPIConnector(), override=True)
ConnectorRegistry.register(MPIConnector(task_type_version=0), override=True)
