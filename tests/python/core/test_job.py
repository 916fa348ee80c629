# SPDX-License-Identifier: Apache-2.0
"""The job: its fields as properties, defaults, checks, conversion."""
import copy
import datetime
import inspect
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

import mpijob
from mpijob.fields import fields, nearest, snake

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE") or pathlib.Path(__file__).resolve().parents[3])
TEXT = """apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: pi
  labels: {team: a}
spec:
  slotsPerWorker: 2
  unknownField: [1, {x: 1e3}]
  runPolicy:
    cleanPodPolicy: Running
    suspend: false
    ttlSecondsAfterFinished: 0
  mpiReplicaSpecs:
    Launcher:
      template: {spec: {containers: [{name: l, image: i, args: [a, b]}]}}
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: w
            image: i
"""


def job():
    return mpijob.loads(TEXT, "job.yaml")


class Files(unittest.TestCase):
    def test_the_only_job_of_several_documents(self):
        """As `mpijob create --template` writes it; its places stay those of the file."""
        other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n"
        one = mpijob.loads(other + TEXT.replace("Running", "Sometimes"), "two.yaml")
        self.assertEqual(one.name, "pi")
        found = [f for f in one.default().validate() if f.field == "spec.runPolicy.cleanPodPolicy"]
        self.assertEqual([(f.source, f.line, f.column) for f in found], [("two.yaml", 14, 21)])
        for several in (TEXT + "---\n" + TEXT, other + other[:-4]):
            self.assertRaises(mpijob.ParseError, mpijob.loads, several)


    def test_pickled_jobs_have_no_places(self):
        back = pickle.loads(pickle.dumps(mpijob.loads(TEXT.replace("Running", "Sometimes"), "job.yaml")))
        self.assertEqual(back.default().validate()[0].line, 0)

    def test_lists_lose_nothing(self):
        one = job()
        spec = one.spec.mpi_replica_specs["Worker"].template["spec"]
        first, second = spec["containers"], one.spec.mpi_replica_specs["Worker"].template["spec"]["containers"]
        first.append({"name": "x"})
        self.assertRaises(RuntimeError, second.append, {"name": "y"})
        self.assertRaises(TypeError, first.append, {"name": object()})
        first.append({"name": "z"})
        names = [c["name"] for c in one.to_dict()["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]]
        self.assertEqual(names, ["w", "x", "z"])

    def test_the_source_is_kept(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(TEXT.replace("Running", "Sometimes"))
            file.flush()
            one = mpijob.MPIJob(pathlib.Path(file.name))
            one.spec.slots_per_worker = 3
            self.assertTrue(str(one.default().validate()[0]).startswith(file.name + ":"))
        one.namespace = "team"
        one.namespace = None
        self.assertIsNone(one.namespace)


class Fields(unittest.TestCase):
    def test_every_row_is_a_property(self):
        """Each row of the table can be set, read and deleted through its property, whatever the row is."""
        values = {"string": "x", "int32": 7, "int64": 1 << 40, "boolean": True, "document": {"a": {"b": ["c"]}},
                  "time": datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)}
        tried = 0
        for row in fields():
            if row.kind in ("object", "list") or "[]" in row.path:
                continue
            fresh = mpijob.MPIJob("x")
            steps = row.path.replace("]", "").replace("[", ".").split(".")
            view = fresh
            for step in steps[:-1]:
                view = getattr(view, snake(step))
            if row.path not in ("apiVersion", "kind", "metadata.name"):
                self.assertIsNone(getattr(view, row.name), row.path)
            value = row.choices[-1] if row.choices else values[row.kind]
            setattr(view, row.name, value)
            self.assertEqual(getattr(view, row.name), value, row.path)
            at = fresh.to_dict()
            for step in steps:
                at = at[step]
            self.assertEqual(at, value if row.kind != "time" else "2026-01-02T00:00:00Z", row.path)
            delattr(view, row.name)
            self.assertIsNone(getattr(view, row.name), row.path)
            tried += 1
        self.assertGreater(tried, 40)

    def test_absent_is_not_zero(self):
        one = job()
        policy = one.spec.run_policy
        self.assertEqual((policy.ttl_seconds_after_finished, policy.backoff_limit, policy.suspend), (0, None, False))
        policy.backoff_limit = 0
        self.assertEqual(one.to_dict()["spec"]["runPolicy"]["backoffLimit"], 0)
        policy.backoff_limit = None
        self.assertNotIn("backoffLimit", one.to_dict()["spec"]["runPolicy"])
        self.assertFalse(one.spec.run_policy.scheduling_policy)
        self.assertTrue(one.spec.run_policy)
        self.assertIsNone(one.spec.run_policy.scheduling_policy.queue)
        one.spec.run_policy.scheduling_policy.queue = "q"
        self.assertEqual(one.to_dict()["spec"]["runPolicy"]["schedulingPolicy"], {"queue": "q"})

    def test_roles(self):
        specs = job().spec.mpi_replica_specs
        self.assertEqual(list(specs), ["Launcher", "Worker"])
        self.assertEqual((specs["Worker"].replicas, specs.worker.replicas, specs["Launcher"].replicas), (2, 2, None))
        self.assertIn("Worker", specs)
        with self.assertRaises(KeyError):
            specs["Helper"]
        del specs["Worker"]
        self.assertEqual((list(specs), specs.worker.replicas, bool(specs.worker)), (["Launcher"], None, False))

    def test_templates_write_through(self):
        one = job()
        template = one.spec.mpi_replica_specs["Worker"].template
        container = template["spec"]["containers"][0]
        container["image"] = "new"
        container["env"] = [{"name": "A", "value": "1"}]
        container["env"].append({"name": "B", "value": "2"})
        container["env"][0]["value"] = "3"
        template["spec"].setdefault("nodeSelector", {})["disk"] = "ssd"
        template["spec"].update(hostNetwork=True)
        self.assertEqual(template, one.spec.mpi_replica_specs["Worker"].template)
        spec = one.to_dict()["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
        self.assertEqual(spec, {"containers": [{"name": "w", "image": "new", "env": [{"name": "A", "value": "3"},
                                                                                     {"name": "B", "value": "2"}]}],
                                "nodeSelector": {"disk": "ssd"}, "hostNetwork": True})
        taken = template["spec"]["containers"].pop(0)
        taken["image"] = "nobody's"
        self.assertEqual(one.to_dict()["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"], [])
        self.assertIs(type(copy.deepcopy(template)), dict)
        self.assertIs(type(pickle.loads(pickle.dumps(template))), dict)

    def test_templates_from_anything(self):
        one = job()
        worker = one.spec.mpi_replica_specs["Worker"]
        wanted = {"spec": {"containers": [{"name": "w", "image": "other"}]}}
        text = "spec:\n  containers:\n  - {name: w, image: other}\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "template.yaml"
            path.write_text(text, encoding="utf-8")
            for source in (text, text.encode(), path, wanted, mpijob.Document(wanted)):
                worker.template = None
                worker.template = source
                self.assertEqual(worker.template, wanted)
        one.spec.mpi_replica_specs["Launcher"] = worker
        self.assertEqual(one.spec.mpi_replica_specs.launcher.to_dict(), worker.to_dict())
        one.spec.run_policy = "{suspend: true}"
        self.assertIs(one.spec.run_policy.suspend, True)

    def test_lists_write_through(self):
        one = job()
        args = one.spec.mpi_replica_specs.launcher.template["spec"]["containers"][0]["args"]
        args[1] = "B"
        args += ["c"]
        args.insert(0, "z")
        args.sort()
        args.remove("a")
        args[0:1] = ["first"]
        del args[-1]
        container = one.to_dict()["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
        self.assertEqual((args, container["args"]), (["first", "c"], ["first", "c"]))

    def test_null_in_documents(self):
        one = job()
        one.metadata.annotations = {"a": "b"}
        one.metadata.annotations["c"] = None
        self.assertEqual(one.to_dict()["metadata"]["annotations"], {"a": "b", "c": None})

    def test_what_is_not_touched_stays(self):
        one = job()
        one.spec.slots_per_worker = 3
        one.default()
        self.assertEqual(one.to_dict()["spec"]["unknownField"], [1, {"x": 1000.0}])
        self.assertEqual(one.spec["unknownField"], [1, {"x": 1000.0}])
        self.assertIn('"x":1000', one.to_json(indent=False))

    def test_places_survive_edits(self):
        """A finding tells line and column of what came from the file, also after something else was changed."""
        one = job().default()
        containers = one.spec.mpi_replica_specs["Worker"].template["spec"]["containers"]
        containers.append({"name": "W_", "image": "i"})
        one.spec.run_policy.clean_pod_policy = "Sometimes"
        one.spec.mpi_replica_specs["Worker"].template["spec"]["containers"][0]["ports"] = []
        found = {f.field: (f.source, f.line, f.column) for f in one.validate()}
        self.assertEqual(found["spec.runPolicy.cleanPodPolicy"], ("job.yaml", 10, 5), "the key's place; the value is new")
        self.assertEqual(found["spec.unknownField"][:2], ("job.yaml", 8))
        name = "spec.mpiReplicaSpecs[Worker].template.spec.containers[1].name"
        self.assertIn(name, found)
        self.assertNotEqual(found[name][1], 1, "a new value is not said to be in line 1")

    def test_misspelled(self):
        one = job()
        for change in (lambda: setattr(one.spec, "slots_per_workers", 1), lambda: setattr(one, "specs", {}),
                       lambda: one.spec.slots_per_workers):
            with self.assertRaises(AttributeError) as caught:
                change()
            self.assertIn("did you mean spec", str(caught.exception).replace("slots_per_worker", "spec"))
        with self.assertRaises(TypeError) as caught:
            mpijob.MPIJob("x", slots_per_workers=1)
        self.assertIn("did you mean slots_per_worker", str(caught.exception))
        with self.assertRaises(TypeError):
            mpijob.MPIJob("x", replicas=1)

    def test_nearest(self):
        words = ["replicas", "template", "cleanPodPolicy", "abc", "abd"]
        for word, found in (("repicas", "replicas"), ("cleanpodpolicy", "cleanPodPolicy"), ("tempalte", "template"), ("volumes", None),
                            ("template", None), ("ab", None), ("", None), ("a" * 200, None)):
            self.assertEqual(nearest(word, words), found)
        self.assertIsNone(nearest("word", []))
        self.assertEqual(nearest("abe", ["abc", "abc"]), "abc")

    def test_wrong_shape(self):
        one = mpijob.loads(TEXT.replace("  runPolicy:\n    cleanPodPolicy: Running\n    suspend: false\n"
                                        "    ttlSecondsAfterFinished: 0\n", "  runPolicy: 7\n"))
        with self.assertRaises(mpijob.SpecError):
            one.spec.run_policy.suspend = True
        one.spec.slots_per_worker = 9
        self.assertEqual(one.spec.slots_per_worker, 9, "a failure does not stick")
        one.spec.run_policy = {"suspend": True}
        self.assertTrue(one.spec.run_policy.suspend)

    def test_conditions(self):
        one = job()
        self.assertEqual(len(one.status.conditions), 0)
        one.status = {"conditions": [{"type": "Created", "status": "True", "lastUpdateTime": "2026-01-02T03:04:05Z"}]}
        condition = one.status.conditions[0]
        self.assertEqual((condition.type, condition.status, condition.reason), ("Created", "True", None))
        self.assertEqual(condition.last_update_time, datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc))
        condition.reason = "Why"
        self.assertEqual([c.reason for c in one.status.conditions], ["Why"])
        with self.assertRaises(ValueError):
            condition.last_update_time = datetime.datetime(2026, 1, 1)
        with self.assertRaises(IndexError):
            one.status.conditions[1]

    def test_documented(self):
        policy = type(job().spec.run_policy)
        self.assertEqual(policy.__name__, "SpecRunPolicy")
        self.assertIn("One of None, Running, All.", inspect.getdoc(policy.clean_pod_policy))
        self.assertIn("clean_pod_policy", dir(job().spec.run_policy))
        field = mpijob.explain("spec.runPolicy.cleanPodPolicy")
        self.assertEqual((field.choices, field.default, field.kind), (("None", "Running", "All"), "None", "choice"))
        self.assertEqual(mpijob.explain("spec.run_policy.clean_pod_policy").path, field.path)
        below = mpijob.explain("spec.mpiReplicaSpecs[Worker].template.spec.containers[0].image_pull_policy")
        self.assertEqual((below.name, below.kind), ("image_pull_policy", "string"))
        with self.assertRaises(KeyError) as caught:
            mpijob.explain("spec.runPolicy.cleanPodPolice")
        self.assertIn("did you mean spec.runPolicy.cleanPodPolicy", str(caught.exception))


class Jobs(unittest.TestCase):
    def test_sources(self):
        wanted = job().to_dict()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "job.yaml"
            path.write_text(TEXT, encoding="utf-8")
            for source in (TEXT, path, wanted, mpijob.Document(TEXT), job(), job().to_json(indent=False)):
                self.assertEqual(mpijob.MPIJob(source).to_dict(), wanted)
            self.assertEqual(mpijob.load(path), job())
        self.assertEqual(mpijob.loads(job().to_yaml()), job())
        self.assertEqual(mpijob.MPIJob.from_dict(wanted), job())

    def test_from_nothing(self):
        template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
        one = mpijob.MPIJob("pi", "space", slots_per_worker=2, clean_pod_policy="All", labels={"a": "b"},
                            launcher={"template": template}, worker={"replicas": 4, "template": template})
        self.assertEqual((one.name, one.namespace, one.api_version), ("pi", "space", "kubeflow.org/v2beta1"))
        self.assertEqual(one.default().check(), [])
        self.assertEqual(one.hostfile().slots, 8)
        self.assertEqual(repr(one), "<MPIJob space/pi>")
        one.name = "tau"
        self.assertEqual(one.metadata.name, "tau")
        self.assertIsNone(mpijob.MPIJob(generate_name="x-").name)

    def test_refused(self):
        with self.assertRaises(mpijob.UnsupportedError):
            mpijob.loads("apiVersion: v1\nkind: Pod\n")
        with self.assertRaises(mpijob.ParseError):
            mpijob.loads("a: [")
        with self.assertRaises(FileNotFoundError):
            mpijob.load("/nowhere/job.yaml")
        with self.assertRaises(TypeError):
            mpijob.MPIJob.from_dict(7j)
        for change in ({"a\0b": "c"}, {"a": float("inf")}):
            with self.assertRaises(ValueError):
                job().metadata.labels = change

    def test_validate(self):
        one = mpijob.loads(TEXT.replace("Running", "Sometimes"), "job.yaml").default()
        findings = one.validate()
        errors = [f for f in findings if f.severity == "error"]
        self.assertEqual([(f.id, f.reason, f.field, f.source, f.line, f.column) for f in errors],
                         [("unsupported-value", "NotSupported", "spec.runPolicy.cleanPodPolicy", "job.yaml", 10, 21)])
        self.assertEqual([f.id for f in findings if f.severity == "warning"], ["unknown-field"])
        with self.assertRaises(mpijob.SpecError) as caught:
            one.check()
        self.assertEqual(caught.exception.findings, findings)
        self.assertEqual(str(caught.exception), str(errors[0]))
        one.spec.run_policy.clean_pod_policy = "None"
        self.assertEqual([f.id for f in one.check()], ["unknown-field"])
        with self.assertRaises(mpijob.SpecError):
            one.check(strict=True)
        with self.assertRaises(mpijob.SpecError):
            one.check(severities={"unknown-field": "error"})
        self.assertEqual(one.validate(severities={"unknown-field": "silent"}), [])
        self.assertEqual(one.validate(reference=True), [])

    def test_default(self):
        one = mpijob.loads(TEXT.replace("      replicas: 2\n", ""))
        self.assertEqual(one.copy().default().spec.mpi_replica_specs.worker.replicas, 1)
        self.assertEqual(one.copy().default(reference=True).spec.mpi_replica_specs.worker.replicas, 0)
        self.assertIsNone(one.spec.mpi_replica_specs.worker.replicas)

    def test_convert(self):
        one = job()
        old = one.convert("v1")
        self.assertEqual(old.to_dict()["apiVersion"], "kubeflow.org/v1")
        self.assertTrue(old.findings)
        self.assertTrue(all(f.source == "job.yaml" for f in old.findings) and any(f.line == 10 for f in old.findings),
                        [str(f) for f in old.findings])
        self.assertEqual(mpijob.MPIJob(mpijob.convert(old, "v2beta1")).to_dict(), one.to_dict())
        with self.assertRaises(mpijob.UnsupportedError):
            one.convert("v9")
        train = one.convert("TrainJob", runtime="mine")
        self.assertEqual(train.find("spec.runtimeRef.name"), "mine")

    def test_copies(self):
        one = job()
        for twin in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one)), one.copy()):
            self.assertEqual(twin, one)
            twin.spec.slots_per_worker = 9
            self.assertNotEqual(twin, one)
        self.assertEqual(one.document.to_dict(), one.to_dict())

    def test_close(self):
        with job() as one:
            pass
        one.close()
        for use in (one.to_dict, one.validate, lambda: one.spec.slots_per_worker):
            with self.assertRaises(ValueError):
                use()
        self.assertEqual(repr(one), "<MPIJob closed>")

    def test_many_edits(self):
        one = job()
        for number in range(5000):
            one.spec.slots_per_worker = number
        self.assertEqual(one.spec.slots_per_worker, 4999)

    def test_examples(self):
        """Every job of the examples is read, completed, checked, and comes back as it was."""
        tried = 0
        for path in sorted((SOURCE / "examples").glob("*/*.yaml")):
            for document in mpijob.loads_all(path.read_text(encoding="utf-8"), str(path)):
                if document.find("kind") == "MPIJob" and document.find("apiVersion") == "kubeflow.org/v2beta1":
                    one = mpijob.MPIJob(document)
                    self.assertEqual(one.to_dict(), document.to_dict())
                    one.default().check()
                    tried += 1
        self.assertGreater(tried, 2)


class Mistakes(unittest.TestCase):
    """What used to be accepted, and did something else."""

    def test_the_document_of_a_job_is_not_changed(self):
        job = mpijob.MPIJob("pi")
        with self.assertRaisesRegex(mpijob.UsageError, "job.merge"):
            job.document.merge({"spec": {"slotsPerWorker": 2}})
        job.merge({"spec": {"slotsPerWorker": 2}})
        self.assertEqual(job.spec.slots_per_worker, 2)
        own = copy.copy(job.document)
        own.merge({"spec": None})
        self.assertEqual((own.find("spec"), job.spec.slots_per_worker), (None, 2))

    def test_a_path_is_no_name(self):
        for path in ("pi.yaml", "jobs/pi", "pi.yml", "./pi.json"):
            with self.subTest(path), self.assertRaisesRegex(mpijob.UsageError, "mpijob.load"):
                mpijob.MPIJob(path)


class Endings(unittest.TestCase):
    def test_objects_that_outlive_the_modules(self):
        """What is still held when the interpreter ends is left to the process, without a word."""
        code = """
import builtins, sys, mpijob
from mpijob import findings, plan
job = mpijob.MPIJob("pi", worker={"replicas": 1})
builtins.kept = [job, mpijob.Document({"a": 1}), findings.Diag(), plan.Facts(), job.default().copy()]
try:
    cluster = mpijob.LocalCluster(node=False)
    builtins.kept += [cluster, cluster.watch(), cluster.logs("pi")]
except (ImportError, mpijob.Error):
    pass
class Teardown:  # takes the library from all modules first, as the interpreter may do
    def __init__(self):
        self.modules = [module for name, module in sys.modules.items() if name.startswith("mpijob.")]
    def __del__(self):
        for module in self.modules:
            module.core = None
builtins.kept.append(Teardown())  # a list drops its last member first
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
