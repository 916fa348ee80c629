# SPDX-License-Identifier: Apache-2.0
"""Clocks of another program that jump."""
import os
import pathlib
import shutil
import subprocess


class Clocks:
    """A program that is started with `env` has clocks that are ahead as jump() says."""
    compiler = shutil.which("cc") or shutil.which("gcc")

    def __init__(self, folder):
        self.file, library = pathlib.Path(folder, "jump"), pathlib.Path(folder, "jump.so")
        subprocess.run([self.compiler, "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).with_name("jump.c")], check=True)
        # Whatever sanitizer the program has wants to be first, and need not.
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        self.env = {"LD_PRELOAD": str(library), "JUMP": str(self.file), "ASAN_OPTIONS": asan}
        self.jump()

    def jump(self, monotonic=0, wall=0):
        """Seconds."""
        new = self.file.with_suffix(".new")
        new.write_text(f"{monotonic} {wall}\n", encoding="utf-8")
        new.rename(self.file)
