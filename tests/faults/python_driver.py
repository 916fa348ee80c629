# SPDX-License-Identifier: Apache-2.0
"""What driver.c does, with a client over the package `kubernetes`: KUBECONFIG VERB TIMEOUT_MS."""
import ctypes
import os
import pathlib
import sys

import kubernetes

from mpijob import _abi
from mpijob._library import core
from mpijob.errors import check
from mpijob.kubernetes_transport import KubernetesTransport


def main():
    config, verb, timeout_ms = sys.argv[1:]
    kubernetes.config.load_kube_config(config)
    transport = KubernetesTransport(request_timeout=int(timeout_ms) / 1000)
    struct, taken = transport._mpijob_transport()
    client = ctypes.c_void_p()
    check(core.mpijob_client_new(ctypes.byref(struct), taken, ctypes.byref(client)))
    drive = ctypes.CDLL(str(pathlib.Path(os.environ["MPIJOB_BUILD"], "tests/faults/faults-drive.so"))).faults_drive
    drive.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64]
    drive.restype = None
    drive(client, verb.encode(), int(timeout_ms))


if __name__ == "__main__":
    main()
