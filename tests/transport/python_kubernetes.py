# SPDX-License-Identifier: Apache-2.0
"""The suite of all transports over the Python package `kubernetes`, to a real Kubernetes API server."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "controlplane"))
import controlplane  # noqa: E402


def main():
    controlplane.in_namespace()
    with controlplane.ControlPlane() as cp:
        import kubernetes
        import python_suite as suite
        from mpijob.kubernetes_transport import KubernetesTransport
        kubernetes.config.load_kube_config(cp.kubeconfig)
        faults = suite.run("kubernetes", KubernetesTransport())
    faults += suite.unneeded("kubernetes")
    print(f"{suite.count()} checks, {faults} faults")
    return faults != 0


if __name__ == "__main__":
    sys.exit(main())
