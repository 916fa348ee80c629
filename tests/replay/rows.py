# SPDX-License-Identifier: Apache-2.0
"""What may differ between the embedded cluster and an API server, each with its reason."""
import collections
import re

from compare import ABSENT

Row = collections.namedtuple("Row", "name path ours theirs reason")
ANY = ".*"
NONE = re.escape(ABSENT)

ROWS = [
    Row("managedFields", r"(.*\.)?metadata\.managedFields", NONE, ANY, "no server-side apply, which they are for"),
]


def find(_what, _kinds, path, ours, theirs):
    """The row that allows this difference, or None."""
    for row in ROWS:
        if re.fullmatch(row.path, path) and re.fullmatch(row.ours, str(ours), re.S) and re.fullmatch(row.theirs, str(theirs), re.S):
            return row
    return None
