# SPDX-License-Identifier: Apache-2.0
"""Certificates for the tests: authorities, servers and clients, made by the openssl command."""
import pathlib
import subprocess


class Authority:
    """A CA in a folder, and what it signs."""

    def __init__(self, folder, name="ca"):
        self.folder, self.name = pathlib.Path(folder), name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / f"{name}.crt"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                      "-keyout", f"{name}.key", "-out", f"{name}.crt", "-subj", f"/CN=test authority {name}")

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def sign(self, name, subject, names=None, expired=False):
        """Make NAME.crt and NAME.key; `names` is a subjectAltName such as "DNS:a,IP:127.0.0.1". Gives both paths."""
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                      f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={names}\n" if names else "basicConstraints=CA:FALSE\n", encoding="utf-8")
        serial = str(abs(hash((self.name, name))) + 1)
        if expired:
            (self.folder / "index.txt").write_text("", encoding="utf-8")
            (self.folder / "ca.cnf").write_text(
                "[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\n"
                "policy=p\nunique_subject=no\n[p]\ncommonName=supplied\n", encoding="utf-8")
            self._openssl("ca", "-batch", "-notext", "-config", "ca.cnf", "-cert", f"{self.name}.crt", "-keyfile", f"{self.name}.key",
                          "-in", f"{name}.csr", "-out", f"{name}.crt", "-extfile", f"{name}.ext",
                          "-startdate", "20200101000000Z", "-enddate", "20200201000000Z")
        else:
            self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{self.name}.crt", "-CAkey", f"{self.name}.key",
                          "-set_serial", serial, "-days", "20", "-out", f"{name}.crt", "-extfile", f"{name}.ext")
        return self.folder / f"{name}.crt", self.folder / f"{name}.key"
