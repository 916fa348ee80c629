# SPDX-License-Identifier: Apache-2.0
"""Rendering, the hostfile, features, and the plan; compared with what the command prints where it prints the same."""
import base64
import datetime
import json
import os
import pathlib
import subprocess
import unittest

import mpijob
from mpijob.render import features

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE") or pathlib.Path(__file__).resolve().parents[3])
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD") or SOURCE / "build/release")
PI = SOURCE / "examples/pi/pi.yaml"


def pi():
    return mpijob.load(PI).default()


class Rendering(unittest.TestCase):
    def test_objects(self):
        things = pi().render()
        self.assertEqual([(t["kind"], t["metadata"]["name"]) for t in things],
                         [("Service", "pi"), ("ConfigMap", "pi-config"), ("Secret", "pi-ssh"), ("Pod", "pi-worker-0"),
                          ("Pod", "pi-worker-1"), ("Job", "pi-launcher")])
        self.assertEqual(things.find("Pod", "pi-worker-1"), things[4])
        with self.assertRaises(KeyError):
            things.find("PodGroup")
        self.assertEqual(things.findings, [])

    def test_as_the_command(self):
        """The command prints the same objects."""
        command = BUILD / "bin/mpijob"
        if not command.exists():
            self.skipTest("the command is not built")
        for options, flags in (({}, []), ({"reference": True}, ["--reference"]),
                               ({"cluster_domain": "cluster.local", "gang_scheduler": "volcano"},
                                ["--cluster-domain=cluster.local", "--gang-scheduling=volcano"]),
                               ({"compact_hosts": True, "wait_for_hosts": "90s"}, ["--compact-hosts", "--wait-for-hosts=90s"])):
            done = subprocess.run([command, "render", *flags, "-o", "json", PI], capture_output=True, text=True, check=True,
                                  env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
            theirs = json.loads(done.stdout)
            ours = mpijob.load(PI).default(reference=bool(options.get("reference"))).render(**options)
            self.assertEqual([t for t in ours if t["kind"] != "Secret"],
                             [t for t in theirs["items"] if t["kind"] != "Secret"], flags)

    def test_text(self):
        self.assertEqual([d.to_dict() for d in mpijob.loads_all(pi().manifests())], list(pi().render()))
        self.assertEqual(json.loads(pi().manifests("json"))["items"], pi().render())

    def test_key(self):
        def private(thing):
            return base64.b64decode(thing.find("Secret")["data"]["ssh-privatekey"])
        self.assertNotIn(b"PRIVATE KEY", private(pi().render()))
        one, other = pi().render(with_key=True), pi().render(with_key=True)
        self.assertIn(b"BEGIN EC PRIVATE KEY", private(one))
        self.assertNotEqual(private(one), private(other), "each time a new key")
        entropy = bytes(range(74))
        self.assertEqual(pi().render(with_key=True, entropy=entropy), pi().render(with_key=True, entropy=entropy))
        self.assertNotIn(b"PRIVATE KEY", private(pi().render(entropy=entropy)), "only who asks for the key gets it")
        with self.assertRaises(mpijob.UsageError):
            pi().render(with_key=True, entropy=b"few")

    def test_options(self):
        script = pi().render(running=[False, True]).find("ConfigMap")["data"]["discover_hosts.sh"]
        self.assertNotIn("pi-worker-0", script)
        self.assertIn("pi-worker-1", script)
        one = pi()
        one.spec.mpi_replica_specs["Worker"].template["spec"]["priorityClassName"] = "high"
        group = one.render(gang_scheduler="x", priority_classes={"high": 5, "low": 1}).find("PodGroup")
        self.assertEqual(group["spec"]["minMember"], 3)
        self.assertTrue(one.render(gang_scheduler="volcano"))
        for wrong, error in (({"compact_host": True}, TypeError), ({"wait_for_hosts": "soon"}, mpijob.SpecError),
                             ({"cluster_domain": "$(rm)"}, mpijob.UsageError)):
            with self.assertRaises(error):
                pi().render(**wrong)
        minute = datetime.timedelta(minutes=1)
        self.assertEqual(pi().render(wait_for_hosts=minute), pi().render(wait_for_hosts=60))
        self.assertNotEqual(pi().render(wait_for_hosts=minute), pi().render(wait_for_hosts=False))
        self.assertIn("wait_for_hosts", [f.name for f in features()])

    def test_not_valid(self):
        with self.assertRaises(mpijob.SpecError) as caught:
            mpijob.load(PI).render()
        self.assertTrue(caught.exception.findings)
        self.assertTrue(all(f.line for f in caught.exception.findings))

    def test_hostfile(self):
        hosts = pi().hostfile()
        self.assertEqual(str(hosts), "pi-worker-0.pi.default.svc slots=2\npi-worker-1.pi.default.svc slots=2\n")
        self.assertEqual(hosts[1], mpijob.Host("pi-worker-1.pi.default.svc", 2, 1))
        self.assertEqual((len(hosts), hosts.slots, [h.worker for h in hosts]), (2, 4, [0, 1]))
        self.assertIn("pi-worker-0.pi.default.svc.a.b", str(pi().hostfile(cluster_domain="a.b")))
        one = pi()
        one.spec.mpi_implementation, one.spec.run_launcher_as_worker = "Intel", True
        self.assertIsNone(one.hostfile()[0].worker)
        self.assertIn(":2\n", str(one.hostfile()))


class Planning(unittest.TestCase):
    def stored(self):
        one = mpijob.load(PI)
        one.metadata.uid, one.namespace = "7", "default"
        return one

    def test_first(self):
        plan = self.stored().plan(now=datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc))
        creates = [(a.stage, a.kind, a.name, a.index) for a in plan if a.verb == "create"]
        self.assertEqual(creates, [(0, "Service", "pi", None), (0, "ConfigMap", "pi-config", None),
                                   (0, "Secret", "pi-ssh", None), (1, "Pod", "pi-worker-0", 0),
                                   (1, "Pod", "pi-worker-1", 1), (2, "Job", "pi-launcher", None)])
        self.assertEqual(plan.transitions, ["created"])
        self.assertEqual(plan.status["startTime"], "2026-01-02T00:00:00Z")
        event = next(a for a in plan if a.verb == "event")
        self.assertEqual((event.verb, event.event_reason, event.event_type), ("event", "MPIJobCreated", "Normal"))
        with self.assertRaises(mpijob.NotFoundError):
            event.body()

    def test_carried_out(self):
        """A world of dicts, in which every action is carried out: the job runs, succeeds, and then there is nothing to do."""
        one, world, now = self.stored(), {}, 1000.0
        one.spec.run_policy.clean_pod_policy = "All"
        for step in range(12):
            plan = one.plan(world.values(), now=now)
            if not plan.actions:
                launcher = world[("Job", "pi-launcher")]
                if "status" in launcher:
                    break
                launcher["status"] = {"succeeded": 1, "completionTime": "1970-01-01T00:20:00Z",
                                      "conditions": [{"type": "Complete", "status": "True"}]}
            for action in plan:
                key = (action.kind, action.name)
                if action.verb == "create":
                    world[key] = {**action.body(), "apiVersion": action.api_version, "kind": action.kind}
                    world[key]["metadata"]["uid"] = f"{action.kind}-{action.name}-{step}"
                    if action.kind == "Pod":
                        world[key]["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
                elif action.verb == "delete":
                    self.assertEqual(world.pop(key)["metadata"]["uid"], action.uid)
                elif action.verb == "patch":
                    document = mpijob.Document(world[key])
                    document.merge(action.body())
                    world[key] = document.to_dict()
                elif action.verb == "patch-status" and action.kind == "MPIJob":
                    one.merge(action.body())
            now += 1
        self.assertLess(step, 11, "nothing is left to do")
        self.assertIn("Succeeded", [c.type for c in one.status.conditions if c.status == "True"])
        self.assertEqual([key for key in world if key[0] == "Pod"], [], "cleanPodPolicy All")
        self.assertIsNotNone(one.status.completion_time)

    def test_facts(self):
        facts = mpijob.Facts()
        pod = {
            "apiVersion": "v1", "kind": "Pod", "metadata": {
                "name": "pi-worker-0", "uid": "p", "labels": {"training.kubeflow.org/job-role": "worker",
                                                              "training.kubeflow.org/job-name": "pi"}},
            "status": {"phase": "Running"}}
        self.assertTrue(facts.apply(pod))
        self.assertFalse(facts.apply(pod), "no news")
        self.assertTrue(facts.apply(json.dumps({"type": "DELETED", "object": pod})))
        self.assertFalse(facts.forget("p"))
        with self.assertRaises(mpijob.ParseError):
            facts.apply("{")

    def test_wrong(self):
        with self.assertRaises(mpijob.UsageError):
            mpijob.load(PI).plan(now=0)
        plan = self.stored().plan(now=0, max_workers=1)
        self.assertEqual({a.verb for a in plan} - {"event", "patch-status"}, set())


if __name__ == "__main__":
    unittest.main()
