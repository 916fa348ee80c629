# SPDX-License-Identifier: Apache-2.0
"""Clients in Python with a real API server, mpi-operator v0.8.2, and pods that kwok plays."""
import asyncio
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE") or pathlib.Path(__file__).resolve().parents[3])
sys.path.insert(0, str(SOURCE / "tests/program-cluster"))

from fixture import Fixture, equal, holds, pi, run_checks  # noqa: E402
import controlplane  # noqa: E402

import mpijob  # noqa: E402
import mpijob.aio  # noqa: E402

WAITS = """
import sys, mpijob
try:
    with mpijob.Client(sys.argv[1]) as client:
        print("ready", flush=True)
        client.wait("nothing-of-that-name-ends", "Deleted") if len(sys.argv) > 3 else list(client.logs(sys.argv[2], follow=True))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def fails(family, call):
    try:
        call()
    except family as error:
        return error
    raise AssertionError(f"no {family.__name__}")


def check_life_of_a_job(fixture):
    fixture.kubelet.says("life-launcher", "begun\n", "pi is 3\n")
    with mpijob.Client(fixture.cp.kubeconfig) as client:
        equal(client.namespace, "default")
        holds(client.can("create") and client.can("get", "pods", "", subresource="log"), "may")
        tried = client.submit(pi("life"), dry_run=True)
        holds(tried.uid, "a dry run answers")
        fails(mpijob.NotFoundError, lambda: client.get("life"))
        job = client.submit(mpijob.loads(pi("life", run_for="2s")))
        fails(mpijob.ConflictError, lambda: client.submit(pi("life")))
        equal([found.uid for found in client.list() if found.name == "life"], [job.uid])
        begun = time.monotonic()
        lines = [line.text for line in client.logs("life", role="launcher", follow=True, timeout=60)]
        equal(lines, ["begun", "pi is 3"])
        holds(time.monotonic() - begun < 20, "following ends with the job")
        ended = client.wait("life", "Succeeded", 60)
        holds("Succeeded" in [condition.type for condition in ended.status.conditions], ended)
        error = fails(mpijob.SpecError, lambda: client.wait("life", "Failed", 60))
        equal(error.findings[-1].id, "job-ended")
        fails(mpijob.RejectedError, lambda: client.scale("life", 3))
        holds("MPIJobSucceeded" in [event["reason"] for event in client.events("life")], "Events")
        equal([line.text for line in client.logs("life", role="launcher", tail=1)], ["pi is 3"])
        equal([cause for cause in client.diagnose("life") if cause.severity == "error"], [])
        client.delete("life", uid=job.uid)
        client.wait("life", "Deleted", 60)


def check_refusals_have_places(fixture):
    with mpijob.Client(fixture.cp.kubeconfig) as client:
        text = pi("refused").replace("spec:\n", "spec:\n  spice: salt\n", 1)
        error = fails(mpijob.RejectedError, lambda: client.submit(mpijob.loads(text, "job.yaml")))
        finding = next(f for f in error.findings if f.field == "spec.spice")
        equal((finding.source, finding.line), ("job.yaml", text[:text.index("spice")].count("\n") + 1))
        fails(mpijob.AuthError, lambda: mpijob.Client(fixture.cp.kubeconfig, as_user="nobody").list())


def check_changes(fixture):
    with mpijob.Client(fixture.cp.kubeconfig) as client:
        client.submit(pi("changed", exit_code="none"))
        client.wait("changed", "Running", 60)
        client.scale("changed", 3, expected=2)
        fails(mpijob.ConflictError, lambda: client.scale("changed", 4, expected=2))
        client.suspend("changed")
        client.wait("changed", "Suspended", 60)
        client.resume("changed")
        client.wait("changed", "Running", 60)
        applied = client.submit(pi("changed", exit_code="none"), apply=True, force=True)
        equal(applied.spec.mpi_replica_specs["Worker"].replicas, 2)
        client.delete("changed")


def check_a_broken_job(fixture):
    fixture.kubelet.says("broken-launcher", "ssh: Could not resolve hostname broken-worker-0.broken: Name or service not known\n")
    with mpijob.Client(fixture.cp.kubeconfig) as client:
        client.submit(pi("broken", exit_code="3", restart="Never"))
        client.wait("broken", "Failed", 90)
        causes = client.diagnose("broken")
        holds(causes and all(cause.advice for cause in causes), causes)
        client.delete("broken")


def check_watching(fixture):
    with mpijob.Client(fixture.cp.kubeconfig) as client, client.watch(timeout=60) as watch:
        client.submit(pi("seen"))
        types = []
        for event in watch:
            if event.name != "seen":
                continue
            types.append(event.type)
            if types[-1] == "MODIFIED" and event.object.status.conditions and len(types) == 2:
                client.delete("seen")
            if event.type == "DELETED":
                break
        equal((types[0] in ("ADDED", "LISTED"), types[-1]), (True, "DELETED"))


def check_an_api_server_that_goes_away(fixture):
    """Who waits and watches in the meantime is told in the end."""
    with mpijob.Client(fixture.cp.kubeconfig) as client:
        client.submit(pi("patient", exit_code="none"))
        client.wait("patient", "Running", 60)

        # The servers belong to the thread that starts them, so it is another one that waits.
        seen = []
        thread = threading.Thread(target=lambda: seen.append(client.wait("patient", "Succeeded", 120)))
        thread.start()
        fixture.cp.stop_api()
        time.sleep(1)
        fixture.come_back()
        fixture.end_launcher("patient")
        thread.join()
        equal([job.name for job in seen], ["patient"])
        client.delete("patient")


def check_through_the_kubernetes_package(fixture):
    """The transport is Python; all else is as over HTTP."""
    import kubernetes

    from mpijob.kubernetes_transport import KubernetesTransport

    def transport():
        return KubernetesTransport(kubernetes.config.new_client_from_config(fixture.cp.kubeconfig))

    async def look():
        async with mpijob.aio.Client(transport=transport()) as client:
            job, others = await asyncio.gather(client.wait("through", "Succeeded", 60), client.list())
            await client.delete("through")
            return job.name, len(others)

    fixture.kubelet.says("through-launcher", "one\n", "two\n")
    with mpijob.Client(transport=transport()) as client:
        client.submit(pi("through", run_for="1s"))
        equal([line.text for line in client.logs("through", role="launcher", follow=True, timeout=60)], ["one", "two"])
    equal(asyncio.run(look()), ("through", 1))


def check_asyncio(fixture):
    gaps = []

    async def ticker():
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            gaps.append(time.monotonic() - last)
            last = time.monotonic()

    async def life(client, name):
        await client.submit(pi(name, run_for="5s"))
        lines = [line.text async for line in client.logs(name, role="launcher", follow=True, timeout=90)]
        await client.wait(name, "Succeeded", 90)
        await client.delete(name)
        await client.wait(name, "Deleted", 60)
        return lines

    async def all_of_them():
        async with mpijob.aio.Client(fixture.cp.kubeconfig) as client:
            task = asyncio.create_task(ticker())
            holds(await client.can("create"), "may")
            found = await asyncio.gather(*(life(client, f"many{i}") for i in range(4)))
            task.cancel()
            return found

    for i in range(4):
        fixture.kubelet.says(f"many{i}-launcher", f"{i}\n")
    equal(asyncio.run(all_of_them()), [[str(i)] for i in range(4)])
    holds(len(gaps) > 100 and max(gaps) < 4, sorted(gaps)[-5:])  # who blocks is away while the launchers run


def check_ctrl_c(fixture):
    fixture.kubelet.says("going-launcher", "begun\n", ended=False)
    with mpijob.Client(fixture.cp.kubeconfig) as client:
        client.submit(pi("going", exit_code="none"))
        client.wait("going", "Running", 60)
        with subprocess.Popen([sys.executable, "-c", WAITS, fixture.cp.kubeconfig, "going"], stdout=subprocess.PIPE, text=True) as child:
            equal(child.stdout.readline(), "ready\n")
            time.sleep(1)
            begun = time.monotonic()
            child.send_signal(signal.SIGINT)
            equal(child.stdout.readline(), "interrupted\n")
            holds(time.monotonic() - begun < 4, "at once")
        client.delete("going")


if __name__ == "__main__":
    controlplane.in_namespace()
    with controlplane.ControlPlane(nodes=3, operator=True) as cp:
        run_checks(globals(), Fixture(cp))
