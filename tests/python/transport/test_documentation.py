# SPDX-License-Identifier: Apache-2.0
"""The programs in bindings/python/docs/transport.md: what they print."""
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests/faults"))
from server import Server, normal  # noqa: E402

TEXT = (SOURCE / "bindings/python/docs/transport.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", TEXT, flags=re.S))
PRINTED = {
    "over_http_client.py": "['a', 'b', 'c']\npods \"/namespaces/t/mpijobs/pi\" not found\n",
    "from_a_table.py": "pi\nnothing is there\n",
}


def test_no_program_is_forgotten():
    assert set(BLOCKS) == set(PRINTED)
    assert TEXT.count("```python") == len(BLOCKS)


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_a_program(name, tmp_path):
    (tmp_path / name).write_text(BLOCKS[name], encoding="utf-8")
    server = Server([normal])
    done = subprocess.run([sys.executable, "-W", "error", name, server.url], cwd=tmp_path, capture_output=True, text=True, timeout=30,
                          check=False)
    server.close()
    assert (done.stdout, done.stderr, done.returncode) == (PRINTED[name], "", 0)
