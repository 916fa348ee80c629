# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio: the loop is never held up, no thread is made, tasks can be cancelled at any point."""
import asyncio
import gc
import os
import socket
import tempfile
import threading
import time
import unittest

import mpijob
import mpijob.aio
from mpijob import _calls
from mpijob.transport import BlockingTransport, Transport
from test_client import JOB, descriptors, named


class Ticker:
    """Measures for how long the loop did not come round."""

    def __init__(self):
        self.longest = 0.0
        self.ticks = 0

    async def __aenter__(self):
        self.task = asyncio.create_task(self.run())
        await asyncio.sleep(0)
        return self

    async def run(self):
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.002)
            now = time.monotonic()
            self.longest, self.ticks, last = max(self.longest, now - last), self.ticks + 1, now

    async def __aexit__(self, *error):
        self.task.cancel()


class Calls(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.cluster = mpijob.aio.LocalCluster(node=False)
        self.addCleanup(self.cluster.close)

    async def test_life_of_a_job(self):
        cluster = self.cluster
        self.assertEqual((await cluster.submit(JOB)).name, "pi")
        with self.assertRaises(mpijob.ConflictError):
            await cluster.submit(JOB)
        await cluster.scale("pi", 3, expected=2)
        with self.assertRaises(mpijob.ConflictError):
            await cluster.scale("pi", 4, expected=2)
        await cluster.suspend("pi")
        self.assertEqual((await cluster.wait("pi", "Suspended", 5)).name, "pi")
        await cluster.resume("pi")
        job = await cluster.get("pi")
        self.assertEqual((job.spec.mpi_replica_specs["Worker"].replicas, job.spec.run_policy.suspend), (3, False))
        self.assertTrue(await cluster.events("pi"))
        self.assertEqual([c for c in await cluster.diagnose("pi") if c.severity == "error"], [])
        self.assertEqual((await cluster.get_object("v1", "Namespace", "default", ""))["kind"], "Namespace")
        self.assertTrue(await cluster.list_objects("v1", "Pod"))
        await cluster.delete("pi")
        self.assertIsNone(await cluster.wait("pi", "Deleted", 5))
        with self.assertRaises(mpijob.NotFoundError):
            await cluster.get("pi")
        with self.assertRaises(mpijob.NotFoundError):
            async for _ in cluster.logs("pi", follow=True, timeout=5):
                pass

    async def test_many_at_a_time_in_one_thread(self):
        await self.cluster.submit(JOB)
        threads = threading.active_count()
        jobs = await asyncio.gather(*(self.cluster.get("pi") for _ in range(200)))
        self.assertEqual({job.name for job in jobs}, {"pi"})
        waits = [asyncio.create_task(self.cluster.wait("pi", "Deleted", 20)) for _ in range(50)]
        await self.cluster.delete("pi")
        self.assertEqual(set(await asyncio.gather(*waits)), {None})
        self.assertEqual(threading.active_count(), threads)

    async def test_the_loop_goes_on(self):
        await self.cluster.submit(JOB)
        async with Ticker() as ticker:
            with self.assertRaises(TimeoutError):
                await self.cluster.wait("pi", "Running", 5)
            self.assertEqual([event.type async for event in self.cluster.watch(timeout=5)][0], "LISTED")
        self.assertGreater(ticker.ticks, 20)
        self.assertLess(ticker.longest, 4)  # who blocks is away for 5 s

    async def test_cancelling_tasks(self):
        await self.cluster.submit(JOB)
        live = len(_calls._live)
        for _ in range(20):
            task = asyncio.create_task(self.cluster.wait("pi", "Running"))
            await asyncio.sleep(0.002)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.cluster.wait("pi", "Running"), 0.1)

        async def read():
            async with self.cluster.watch() as watch:
                async for _ in watch:
                    pass

        task = asyncio.create_task(read())
        await asyncio.sleep(0.05)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        del task
        gc.collect()
        self.assertEqual(len(_calls._live), live)
        self.assertEqual((await self.cluster.get("pi")).name, "pi")

    async def test_watching_while_it_changes(self):
        async def change():
            await self.cluster.submit(JOB)
            await self.cluster.submit(named("other"))
            await self.cluster.delete("other")

        task, seen = None, []
        async with self.cluster.watch(timeout=10) as watch:
            task = asyncio.create_task(change())
            async for event in watch:
                seen.append((event.type, event.name))
                if event.type == "DELETED":
                    break
        await task
        self.assertEqual(seen[-1], ("DELETED", "other"))
        self.assertTrue({name for _, name in seen} == {"pi", "other"})

    async def test_closing(self):
        await self.cluster.submit(JOB)
        task = asyncio.create_task(self.cluster.wait("pi", "Running"))
        await asyncio.sleep(0.02)
        self.cluster.close()
        with self.assertRaises(mpijob.CancelledError):
            await task
        with self.assertRaises(mpijob.UsageError):
            await self.cluster.get("pi")


class Alone(unittest.TestCase):
    def test_nothing_is_left(self):
        async def life():
            async with mpijob.aio.LocalCluster(node=False) as cluster:
                await cluster.submit(JOB)
                async for _ in cluster.watch():
                    break
                cluster.logs("pi", follow=True)

        asyncio.run(life())
        gc.collect()
        before, live = descriptors(), len(_calls._live)
        for _ in range(10):
            asyncio.run(life())
        gc.collect()
        self.assertEqual((descriptors(), len(_calls._live)), (before, live))

    def test_a_client_belongs_to_its_loop(self):
        cluster = mpijob.aio.LocalCluster(node=False)
        self.addCleanup(cluster.close)
        asyncio.run(cluster.submit(JOB))
        with self.assertRaises(mpijob.UsageError):
            asyncio.run(cluster.get("pi"))

    def test_servers_that_hang(self):
        async def life():
            with socket.socket() as server, tempfile.NamedTemporaryFile("w") as config:
                server.bind(("127.0.0.1", 0))
                server.listen(50)
                config.write("apiVersion: v1\nkind: Config\n")
                config.flush()
                url = f"http://127.0.0.1:{server.getsockname()[1]}"
                async with mpijob.aio.Client(config.name, server=url) as client, Ticker() as ticker:
                    for call in (client.get("pi"), client.submit(JOB), client.wait("pi")):
                        with self.assertRaises(asyncio.TimeoutError):
                            await asyncio.wait_for(call, 0.5)
                self.assertLess(ticker.longest, 4)  # who blocks is away for the minute that a request may take
                self.assertGreater(ticker.ticks, 20)

        asyncio.run(life())

    def test_transports_in_python(self):
        class Answers(BlockingTransport):
            def perform(self, request, answer):
                answer.status(200)
                answer.data(b'{"kind":"MPIJobList","apiVersion":"kubeflow.org/v2beta1","metadata":{},"items":[]}')

        class Deaf(Transport):
            pass

        async def life():
            async with mpijob.aio.Client(transport=Answers(), namespace="team") as client:
                self.assertEqual(client.namespace, "team")
                self.assertEqual(await client.list(), [])
            with self.assertRaises(mpijob.UnsupportedError):
                mpijob.aio.Client(transport=Deaf())

        asyncio.run(life())

    def test_closed_in_a_child(self):
        """The event loop's own descriptors are the parent's, too."""
        async def life():
            async with mpijob.aio.LocalCluster(node=False) as cluster:
                await cluster.submit(JOB)
                waits = asyncio.create_task(cluster.wait("pi", "Suspended", 20))
                await asyncio.sleep(0.1)
                child = os.fork()
                if child == 0:
                    try:
                        cluster.close()
                    finally:
                        os._exit(0)
                os.waitpid(child, 0)
                await cluster.suspend("pi")
                self.assertIsNotNone(await waits)

        asyncio.run(asyncio.wait_for(life(), 30))

    def test_no_thread_of_its_own(self):
        def tasks():
            return len(os.listdir("/proc/self/task"))

        async def life():
            async with mpijob.aio.LocalCluster(node=False) as cluster:
                await cluster.submit(JOB)
                return tasks()

        self.assertEqual(asyncio.run(life()), tasks())


if __name__ == "__main__":
    unittest.main()
