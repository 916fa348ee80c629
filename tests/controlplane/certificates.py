# SPDX-License-Identifier: Apache-2.0
"""The keys and certificates of a control plane for tests, made by the openssl command. They are good for two days."""

import os
import subprocess


def _openssl(folder, *args, stdin=None):
    done = subprocess.run(("openssl",) + args, cwd=folder, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {' '.join(args[:2])}: {done.stderr.strip()}")


def make_key(folder, name):
    """NAME.key, for ECDSA on P-256."""
    _openssl(folder, "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", name + ".key")
    os.chmod(os.path.join(folder, name + ".key"), 0o600)


def make_public_key(folder, name):
    """NAME.pub, of NAME.key."""
    _openssl(folder, "pkey", "-in", name + ".key", "-pubout", "-out", name + ".pub")


def make_authority(folder, name="ca"):
    """NAME.key and NAME.crt, which sign the others."""
    make_key(folder, name)
    _openssl(folder, "req", "-x509", "-new", "-config", "/dev/stdin", "-key", name + ".key", "-days", "2", "-out",
             name + ".crt", stdin=f"""
[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
CN = mpijob-test-{name}
[extensions]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign, digitalSignature
subjectKeyIdentifier = hash
""")


def make_certificate(folder, name, common_name, organization=None, addresses=(), hosts=(), authority="ca", days=2):
    """NAME.key and NAME.crt for a server with ADDRESSES and HOSTS, or for the user COMMON_NAME of a group."""
    names = ["IP:" + address for address in addresses] + ["DNS:" + host for host in hosts]
    make_key(folder, name)
    subject = ("" if organization is None else "/O=" + organization) + "/CN=" + common_name
    _openssl(folder, "req", "-new", "-key", name + ".key", "-subj", subject, "-out", name + ".csr")
    extensions = "basicConstraints = CA:false\nkeyUsage = critical, digitalSignature\n"
    extensions += "extendedKeyUsage = " + ("serverAuth\n" if names else "clientAuth\n")
    if names:
        extensions += "subjectAltName = " + ", ".join(names) + "\n"
    _openssl(folder, "x509", "-req", "-in", name + ".csr", "-CA", authority + ".crt", "-CAkey", authority + ".key",
             "-CAcreateserial", "-days", str(days), "-extfile", "/dev/stdin", "-out", name + ".crt", stdin=extensions)
    os.unlink(os.path.join(folder, name + ".csr"))
