# SPDX-License-Identifier: Apache-2.0
"""A cluster inside of this process: an API store, the operator, and pods as real processes of this machine.

    with mpijob.LocalCluster() as cluster:
        cluster.submit("job.yaml")
        for line in cluster.logs("pi", role="launcher", follow=True):
            print(line.text)

Pods see this machine's files as their image, whatever the template says (docs/image-contract.md), and have host names,
addresses and processes of their own. When the cluster is closed, or this process ends for whatever reason, all of it is gone.
Nothing happens in it but while a call of it waits: it has no thread.
"""
from __future__ import annotations

import os
from typing import Any

from . import _channel
from ._arguments import checked_class
from .client import Client

__all__ = ["LocalCluster"]

SILENT = {"not-strict": "silent"}  # it never is, and nobody sees the job but we
NODE = os.path.join(os.path.dirname(__file__), "_libexec", "mpijob-node")


def channel(options: dict[str, Any]) -> _channel.Channel:
    """A channel to a new embedded cluster."""
    if options.get("node_program") is None and os.path.exists(NODE):
        options["node_program"] = NODE
    return _channel.embedded(**options)


@checked_class
class LocalCluster(Client):
    """A Client of a new cluster in this process.

    node             False: pods are stored and stay Pending; for tests
    operator         False: nobody makes the children of jobs
    namespace        to work in; "default" is there, others are made with `create_object()`
    reference        exactly what mpi-operator v0.8.2 makes of jobs
    cluster_domain   DNS domain; None: cluster.local
    allow_host_path  hostPath volumes reach this machine's files; else such a pod fails
    backoff_base     seconds of the first back-off of jobs and restarts; None: 10
    node_program     the program `mpijob-node`

    UnsupportedError tells what this machine lacks.
    """

    _severities = SILENT

    def __init__(self, *, node: bool = True, operator: bool = True, namespace: str | None = None, reference: bool = False,
                 cluster_domain: str | None = None, allow_host_path: bool = False, backoff_base: float | None = None,
                 node_program: str | None = None) -> None:
        self._begin(channel({"node": node, "operator": operator, "namespace": namespace, "reference": reference,
                             "cluster_domain": cluster_domain, "allow_host_path": allow_host_path,
                             "backoff_base": backoff_base, "node_program": node_program}))
