# SPDX-License-Identifier: Apache-2.0
"""Functions for tasks: flytekit names a task after the module that its function is in."""
import typing


def nothing():
    pass


def train(epochs: int, rate: float = 0.1) -> float:
    """Train for some epochs.

    :param epochs: how many
    """
    return epochs * rate


def split(names: typing.List[str]) -> typing.Tuple[str, int]:
    return names[0], len(names)


ALL = (nothing, train, split)
