# SPDX-License-Identifier: Apache-2.0
"""The generated interface against the compiler and the built libraries: layouts, initial values, constants, functions."""
import ctypes
import json
import keyword
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from mpijob import _abi, _library

SOURCE = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("MPIJOB_BUILD") or SOURCE / "build/release")
LIBRARIES = {"mpijob": _library.core, "mpijob-flyte": _library.flyte, "mpijob-operator": _library.operator, "mpijob-http": _library._http, "mpijob-local": _library._local}


def in_c(member):
    """The name of a member in C; one that is a word of Python has an underscore here."""
    return member[:-1] if member.endswith("_") and keyword.iskeyword(member[:-1]) else member


def program():
    """A C program that prints, as JSON, what the compiler makes of the public headers."""
    lines = []
    for name in _abi.STRUCTS:
        struct = getattr(_abi, name)
        lines.append(f'\tprintf("\\"{name}\\": %zu,\\n", sizeof(struct {name}));')
        for member, _ in struct._fields_:
            c = in_c(member)
            lines.append(f'\tprintf("\\"{name}.{member}\\": [%zu, %zu],\\n", offsetof(struct {name}, {c}), '
                         f'sizeof(((struct {name} *)0)->{c}));')
        macro = name.upper() + "_INIT"
        lines.append(f"#ifdef {macro}\n\t{{ static const struct {name} initial = {macro};\n"
                     f'\tprintf("\\"{name} initial\\": \\"");\n'
                     "\tfor (size_t i = 0; i < sizeof(initial); i++) printf(\"%02x\", ((const unsigned char *)&initial)[i]);\n"
                     '\tprintf("\\",\\n"); }\n#endif')
    for name, value in vars(_abi).items():
        if name.startswith("MPIJOB_"):
            form = "%s" if isinstance(value, str) else "%d"
            quotes = '\\"' if isinstance(value, str) else ""
            lines.append(f'\tprintf("\\"{name}\\": {quotes}{form}{quotes},\\n", {name});')
    headers = "".join(f"#include <mpijob/{path.name}>\n" for path in sorted((SOURCE / "include/mpijob").glob("*.h")))
    body = "\n".join(lines)
    return f'{headers}#include <stdio.h>\nint main(void)\n{{\n\tprintf("{{\\n");\n{body}\n\tprintf("\\"end\\": 0}}\\n");\n}}\n'


def differences(told):
    """Where the module differs from what the compiler told."""
    found, checked = [], 0
    for key, value in told.items():
        name, _, member = key.partition(".")
        if key.endswith(" initial"):
            ours = bytes(getattr(_abi, key[:-8])()).hex()
        elif key.startswith("MPIJOB_"):
            ours = getattr(_abi, key)
        elif member:
            field = getattr(getattr(_abi, name), member)
            ours = [field.offset, field.size]
        elif key == "end":
            continue
        else:
            ours = ctypes.sizeof(getattr(_abi, name))
        checked += 1
        if ours != value:
            found.append((key, ours, value))
    return found, checked


class Interface(unittest.TestCase):
    def test_compiler(self):
        compiler = os.environ.get("CC") or shutil.which("cc")
        if not compiler:
            self.skipTest("no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "layout.c"
            source.write_text(program(), encoding="utf-8")
            subprocess.run([*compiler.split(), "-I", str(SOURCE / "include"), "-o", f"{folder}/layout", str(source)],
                           check=True)
            environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
            told = json.loads(subprocess.run([f"{folder}/layout"], check=True, capture_output=True, text=True,
                                             env=environment).stdout)
        found, checked = differences(told)
        self.assertEqual(found, [])
        self.assertGreater(checked, 500)
        for key in ("mpijob_finding", "mpijob_finding.message", "mpijob_pod_facts initial", "MPIJOB_ERR_SPEC"):
            wrong = dict(told)
            wrong[key] = [1, 2]
            self.assertEqual([f[0] for f in differences(wrong)[0]], [key])

    def test_exported(self):
        for name in LIBRARIES:
            path = BUILD / f"lib/lib{name}.so"
            if not path.exists():
                continue
            listing = subprocess.run(["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True,
                                     check=True).stdout
            exported = {line.split()[-1].split("@")[0] for line in listing.splitlines() if " T " in line}
            self.assertEqual(exported, set(_abi.FUNCTIONS[name]), name)

    def test_functions_resolve(self):
        for name, library in LIBRARIES.items():
            if (BUILD / f"lib/lib{name}.so").exists():
                for function in _abi.FUNCTIONS[name]:
                    self.assertTrue(callable(getattr(library, function)), function)
        with self.assertRaises(AttributeError):
            _library.core.mpijob_no_such_function  # noqa: B018

    def test_text_without_nul(self):
        """Text with a length is an address where nothing says that a NUL follows."""
        self.assertIs(_abi.mpijob_log_line.text.size, 8)
        self.assertIs(dict(_abi.mpijob_log_line._fields_)["text"], ctypes.c_void_p)
        self.assertIs(_abi.mpijob_write_fn._argtypes_[1], ctypes.c_void_p)
        self.assertIs(_library.core.mpijob_parse.argtypes[0], ctypes.c_char_p)

    def test_unknown_member(self):
        with self.assertRaises(TypeError):
            _abi.mpijob_render_options(refernce=1)

    def test_two_threads_make_one_class(self):
        """Struct classes are made on demand; in a fresh process many threads ask at once, and get the same."""
        code = ("import threading, mpijob._abi as a\n"
                "got = []\n"
                "from mpijob._library import core\n"
                "go = threading.Barrier(8)\n"
                "def ask():\n    go.wait()\n    [getattr(core, n) for n in a.FUNCTIONS['mpijob']]\n"
                "    got.append([getattr(a, n) for n in a.STRUCTS])\n"
                "all_ = [threading.Thread(target=ask) for _ in range(8)]\n"
                "[t.start() for t in all_]\n[t.join() for t in all_]\n"
                "assert all(g == got[0] for g in got) and all(c._fields_ for c in got[0])\n")
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()
