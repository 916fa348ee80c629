# SPDX-License-Identifier: Apache-2.0
"""The classes of all objects of an MPIJob, made from the library's table of fields when this module is imported.

Their names and types for type checkers stand in model.pyi, which is made from the same table when the package is built.
"""
from __future__ import annotations

from .fields import fields
from .views import Tree, build

ROWS = fields()
CLASSES, _top = build(ROWS, __name__)
globals().update({view.__name__: view for view in CLASSES.values()})
JobFields = type("JobFields", (Tree,), {**_top, "__doc__": "The fields of an MPIJob.", "__module__": __name__})
