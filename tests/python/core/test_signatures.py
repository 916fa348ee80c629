# SPDX-License-Identifier: Apache-2.0
"""Signatures of all public functions: their annotations can be resolved, and arguments of other types are refused first."""
import importlib
import inspect
import pathlib
import re
import sys
import typing
import unittest

import mpijob

# mpijob.flyte and mpijob.kubernetes_transport need packages of their own.
MODULES = [name for name in ("_run", "aio", "client", "document", "errors", "fields", "findings", "job", "launch", "local", "plan",
                             "rank", "render", "transport")]


def members(owner, prefix, module):
    """Public functions of a module or class, with their names."""
    for name, member in vars(owner).items():
        if name.startswith("_") and name != "__init__":
            continue
        inner = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if inspect.isclass(member) and prefix == module and member.__module__ == f"mpijob.{module}":
            yield from members(member, f"{prefix}.{name}", module)
        elif inspect.isfunction(inner) and inner.__module__ == f"mpijob.{module}":
            yield f"{prefix}.{name}", inner


def functions():
    for name in MODULES:
        yield from members(importlib.import_module(f"mpijob.{name}"), name, name)


class Hints(unittest.TestCase):
    @unittest.skipIf(sys.version_info < (3, 10), "Python 3.9 cannot evaluate `str | None`")
    def test_of_all_functions(self):
        known = dict(functions())
        self.assertIn("job.MPIJob.render", known)
        for name, function in known.items():
            with self.subTest(name):
                if name in ("errors.check", "errors.failure"):  # the package's own
                    continue
                typing.get_type_hints(function)


class Arguments(unittest.TestCase):
    """Every argument whose annotation names plain types only refuses an object of another type, by its name."""

    CHECKED = ("_run.run", "aio.Client", "aio.LocalCluster", "client.Client", "document.Document", "document.loads_all",
               "fields.explain", "findings.finding_kind", "job.MPIJob", "job.convert", "launch.", "local.", "plan.Facts")
    PLAIN = re.compile(r"((str|bytes|int|float|bool|None|Literal\[[^\]]*\]|Mapping\[[^\]]*\]|os\.PathLike\[str\])( \| )?)+$")

    def test_of_all_functions(self):
        tried = 0
        for name, function in functions():
            if not name.startswith(self.CHECKED):
                continue
            for parameter in inspect.signature(function).parameters.values():
                hint = parameter.annotation
                if not isinstance(hint, str) or not self.PLAIN.match(hint) or parameter.kind is parameter.VAR_KEYWORD:
                    continue
                tried += 1
                with self.subTest(f"{name}({parameter.name})"):
                    self.refuses(function, parameter)
        self.assertGreater(tried, 150)

    def refuses(self, function, wrong):
        given = {p.name: None for p in inspect.signature(function).parameters.values()
                 if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        fill = {"str": "x", "int": 1, "float": 1.0, "bytes": b"", "str | bytes": "x", "str | Sequence[str]": "x"}
        parameters = inspect.signature(function).parameters
        given = {name: fill.get(parameters[name].annotation) for name in given}
        given[wrong.name] = object()
        positional = [given.pop(p.name) for p in parameters.values()
                      if p.kind is p.POSITIONAL_OR_KEYWORD and p.name in given and p.default is p.empty]
        with self.assertRaisesRegex(TypeError, rf"{function.__name__.replace('__init__', '')}\(\): {wrong.name} must be "):
            result = function(*positional, **given)
            if inspect.iscoroutine(result):
                result.send(None)


if __name__ == "__main__":
    unittest.main()
