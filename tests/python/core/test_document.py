# SPDX-License-Identifier: Apache-2.0
"""Documents, findings and exceptions."""
import builtins
import copy
import datetime
import pathlib
import pickle
import tempfile
import unittest

import mpijob
from mpijob import _abi, errors
from mpijob.findings import Diag


class Model:
    """What the models of the package kubernetes have in common."""

    openapi_types = {"host_network": "bool", "containers": "list", "node_name": "str", "created": "datetime"}
    attribute_map = {"host_network": "hostNetwork", "containers": "containers", "node_name": "nodeName", "created": "created"}

    def __init__(self, host_network=None, containers=None, node_name=None, created=None):
        self.host_network, self.containers, self.node_name, self.created = host_network, containers, node_name, created


class Pydantic:
    def model_dump(self, by_alias, exclude_none):
        assert by_alias and exclude_none
        return {"a": 1}


class Documents(unittest.TestCase):
    def test_sources(self):
        wanted = {"kind": "X", "list": [1, 2.5, None, True, "é"]}
        text = 'kind: X\nlist: [1, 2.5, null, true, "é"]\n'
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.yaml"
            path.write_text(text, encoding="utf-8")
            for source in (text, text.encode(), wanted, path, mpijob.Document(wanted)):
                self.assertEqual(mpijob.Document(source).to_dict(), wanted, source)
            self.assertEqual(mpijob.Document.load(path).source, str(path))
        self.assertEqual(mpijob.Document().to_dict(), {})

    def test_models(self):
        created = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
        model = Model(host_network=False, containers=[Model(node_name="n")], created=created)
        self.assertEqual(mpijob.Document({"spec": model}).to_dict(),
                         {"spec": {"hostNetwork": False, "containers": [{"nodeName": "n"}], "created": "2026-01-02T03:04:05Z"}})
        self.assertEqual(mpijob.Document({"b": Pydantic()}).to_dict(), {"b": {"a": 1}})
        with self.assertRaises(TypeError):
            mpijob.Document({"x": object()})
        with self.assertRaises(ValueError):
            mpijob.Document({"x": float("nan")})

    def test_lossless(self):
        text = '{"z":1e3,"a":0.10,"n":null,"big":123456789012345678901234567890}'
        self.assertEqual(mpijob.Document(text).to_json(indent=False), text)
        self.assertEqual(list(mpijob.Document(text).to_dict()), ["z", "a", "n", "big"])
        document = mpijob.Document.loads("a:\n  b: [x,\n   z]\n", "f.yaml")
        self.assertEqual(document.place("a.b[1]"), (3, 4))
        self.assertEqual(document.find("a.b[1]"), "z")
        self.assertIsNone(document.find("a.c"))
        self.assertEqual(mpijob.Document({"a": 1}).place("a"), (0, 0), "nobody saw the text of a dict")

    def test_merge_copy_pickle(self):
        document = mpijob.Document({"a": {"b": 1, "c": 2}})
        twin = copy.deepcopy(document)
        document.merge({"a": {"b": None, "d": 3}})
        self.assertEqual(document.to_dict(), {"a": {"c": 2, "d": 3}})
        self.assertEqual(twin.to_dict(), {"a": {"b": 1, "c": 2}})
        self.assertNotEqual(document, twin)
        self.assertEqual(pickle.loads(pickle.dumps(twin)), twin)

    def test_many(self):
        self.assertEqual([d.to_dict() for d in mpijob.loads_all("a: 1\n---\n---\nb: 2\n")], [{"a": 1}, {"b": 2}])
        self.assertEqual(mpijob.loads_all(""), [])
        with self.assertRaises(mpijob.ParseError):
            mpijob.loads_all("a: [")

    def test_close(self):
        with mpijob.Document({"a": 1}) as document:
            pass
        document.close()
        with self.assertRaises(ValueError):
            document.to_dict()
        self.assertEqual(repr(document), "<Document closed>")

    def test_limits(self):
        with self.assertRaises(mpijob.ParseError) as caught:
            mpijob.Document.loads("[[[[1]]]]", max_depth=3)
        self.assertEqual(caught.exception.findings[0].id, "limit-depth")
        with self.assertRaises(TypeError):
            mpijob.Document.loads("a", max_deepness=3)


class Findings(unittest.TestCase):
    def test_error_carries_findings(self):
        with self.assertRaises(mpijob.ParseError) as caught:
            mpijob.Document.loads("a: 1\nb: [1\nc: 2\n", "f.yaml")
        error = caught.exception
        self.assertEqual(error.code, _abi.MPIJOB_ERR_SYNTAX)
        finding = error.findings[0]
        self.assertEqual((finding.severity, finding.source, finding.line), ("error", "f.yaml", 3))
        self.assertEqual(str(error), "\n".join(map(str, error.findings)))
        self.assertTrue(str(finding).startswith("f.yaml:3:"), str(finding))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), again.code, again.findings, str(again)),
                         (mpijob.ParseError, error.code, error.findings, str(error)))

    def test_families(self):
        codes = {value for name, value in vars(_abi).items() if name.startswith("MPIJOB_ERR_")}
        self.assertEqual(set(errors.FAMILIES), codes, "each code has a family")
        for builtin, family in ((ValueError, mpijob.UsageError), (OSError, mpijob.InputOutputError),
                                (builtins.TimeoutError, mpijob.TimeoutError), (MemoryError, mpijob.NoMemoryError)):
            with self.assertRaises(builtin):
                errors.check(family.code)
        self.assertEqual(errors.check(3), 3)
        with self.assertRaises(mpijob.Error):
            errors.check(-99)

    def test_diag(self):
        finding = mpijob.Finding("warning", "own", None, "spec.x", "something", "s", 3, 4)
        with Diag({"own": "error"}) as diag:
            diag.add(finding)
            self.assertEqual(len(diag), 1)
        self.assertEqual(diag.findings[0].severity, "error")
        self.assertEqual(str(finding), "s:3:4: warning: spec.x: something")
        self.assertNotEqual(diag.findings[0], finding)
        self.assertEqual(len({finding, pickle.loads(pickle.dumps(finding))}), 1)
        with Diag({"own": "silent"}) as diag:
            diag.add(finding)
        self.assertEqual(diag.findings, [])
        with self.assertRaises(ValueError):
            Diag({"own": "loud"})

    def test_catalogue(self):
        kinds = mpijob.finding_kinds()
        self.assertGreater(len(kinds), 100)
        self.assertEqual([k.id for k in kinds], sorted(k.id for k in kinds))
        kind = mpijob.finding_kind("unsupported-value")
        self.assertEqual((kind.severity, bool(kind.advice)), ("error", True))
        self.assertIsNone(mpijob.finding_kind("no-such"))

    def test_nul(self):
        with self.assertRaises(ValueError):
            mpijob.finding_kind("a\0b")


if __name__ == "__main__":
    unittest.main()
