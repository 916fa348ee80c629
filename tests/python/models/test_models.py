# SPDX-License-Identifier: Apache-2.0
"""A job from models of the package kubernetes, and models from a job, as that package itself would write them."""
import datetime
import unittest

from kubernetes import client

import mpijob


def template():
    return client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels={"app": "pi"}, annotations={}),
        spec=client.V1PodSpec(
            host_network=False, restart_policy=None, automount_service_account_token=True,
            volumes=[client.V1Volume(name="v", host_path=client.V1HostPathVolumeSource(path="/data"))],
            containers=[client.V1Container(
                name="w", image="mpi", image_pull_policy="Always", command=["sleep", "1"],
                env=[client.V1EnvVar(name="NODE", value_from=client.V1EnvVarSource(
                    field_ref=client.V1ObjectFieldSelector(field_path="spec.nodeName")))],
                resources=client.V1ResourceRequirements(limits={"cpu": "500m", "nvidia.com/gpu": "1"}),
                volume_mounts=[client.V1VolumeMount(name="v", mount_path="/data", read_only=True)])]))


class Models(unittest.TestCase):
    def test_into_a_job(self):
        theirs = client.ApiClient().sanitize_for_serialization(template())
        one = mpijob.MPIJob("pi", launcher={"template": template()}, worker={"replicas": 2, "template": template()})
        self.assertEqual(one.spec.mpi_replica_specs["Launcher"].template, theirs)
        one.spec.mpi_replica_specs["Worker"].template = template()
        self.assertEqual(one.to_dict()["spec"]["mpiReplicaSpecs"]["Worker"]["template"], theirs)
        one.spec.mpi_replica_specs["Worker"].template["spec"]["containers"].append(client.V1Container(name="x", image="y"))
        self.assertEqual(one.to_dict()["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][1],
                         {"name": "x", "image": "y"})
        self.assertEqual([f for f in one.default().validate() if f.severity == "error"], [])

    def test_out_of_a_job(self):
        one = mpijob.MPIJob("pi", worker={"template": template()})
        model = mpijob.to_model(one.spec.mpi_replica_specs["Worker"].template, "V1PodTemplateSpec")
        self.assertIsInstance(model, client.V1PodTemplateSpec)
        self.assertEqual(model.to_dict(), template().to_dict())
        one = mpijob.MPIJob("pi", launcher={"template": template()}, worker={"replicas": 1, "template": template()}).default()
        pod = mpijob.to_model(one.render().find("Pod"), "V1Pod")
        self.assertEqual((pod.metadata.name, pod.spec.containers[0].image), ("pi-worker-0", "mpi"))

    def test_observed(self):
        """What a watch of that package gives is what plan() takes."""
        one = mpijob.MPIJob("pi", "default", launcher={"template": template()}, worker={"replicas": 1, "template": template()})
        one.metadata.uid = "u"
        pod = mpijob.to_model(one.copy().default().render().find("Pod"), "V1Pod")
        pod.metadata.uid, pod.metadata.creation_timestamp = "p", datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)
        owner = client.V1OwnerReference(api_version="kubeflow.org/v2beta1", kind="MPIJob", name="pi", uid="u", controller=True)
        pod.metadata.owner_references = [owner]
        pod.status = client.V1PodStatus(phase="Running")
        plan = one.plan([pod], now=1e9)
        self.assertNotIn(("create", "Pod"), [(a.verb, a.kind) for a in plan])
        self.assertIn(("create", "Pod"), [(a.verb, a.kind) for a in one.plan(now=1e9)])


if __name__ == "__main__":
    unittest.main()
