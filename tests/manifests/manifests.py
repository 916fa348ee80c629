# SPDX-License-Identifier: Apache-2.0
"""What the tests of manifests share: kubectl, which reads YAML and builds overlays without a server, and the rules of a role."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD") or SOURCE / "build/release")
PROGRAMS = pathlib.Path(os.environ.get("MPIJOB_CONTROLPLANE") or SOURCE / "build/controlplane/bin")


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def kubectl():
    """The kubectl of the control plane of the tests, or that of the machine."""
    own = PROGRAMS / "kubectl"
    return str(own) if own.exists() else shutil.which("kubectl") or skip("there is no kubectl: tests/controlplane/build makes one")


def _run(*command, stdin=None):
    done = subprocess.run([kubectl(), *map(str, command)], input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"kubectl {' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def load(text):
    """The documents of a YAML text."""
    mark = "libmpijob.test/read"
    text = _run("annotate", "--local", "--overwrite", "-f", "-", f"{mark}=yes", "-o", "json", stdin=text)
    decoder, found, at = json.JSONDecoder(), [], 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        document, at = decoder.raw_decode(text, at)
        del document["metadata"]["annotations"][mark]
        if not document["metadata"]["annotations"]:
            del document["metadata"]["annotations"]
        found.append(document)
    return found


def build(folder):
    """The objects of a kustomization below manifests/, or of another folder."""
    return load(_run("kustomize", SOURCE / "manifests" / folder))


def ident(document):
    """Kind, namespace and name."""
    return document["kind"], document["metadata"].get("namespace"), document["metadata"]["name"]


def expanded(rules):
    """The rights of rules of a role: (group, resource, verb) each."""
    return {(group, resource, verb) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]
            for verb in rule["verbs"]}
