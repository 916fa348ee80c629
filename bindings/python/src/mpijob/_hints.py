# SPDX-License-Identifier: Apache-2.0
"""Words of annotations for what every program imports: `typing.get_type_hints()` can evaluate them, and `typing`, which takes as
long to import as the rest, is not needed for it. There they say less: "any object" and the type of a word."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any as Any, Literal as Literal, Union as Union
else:
    Any = object

    class Union:
        """Any of some types."""

        def __class_getitem__(cls, members):
            return object

    class Literal:
        """One of some words."""

        def __class_getitem__(cls, words):
            return type(words[0] if isinstance(words, tuple) else words)
