# SPDX-License-Identifier: Apache-2.0
"""How close to flytekitplugins.kfmpi: the one switch, MPIJOB_FLYTE_MODE in the environment.

    (unset)     templates are the same, byte for byte; a launcher without replicas is one launcher, and the members of an
                enum differ from each other
    kfmpi       those two differences are off as well
    repaired    what was given is kept: zeroes reach the template, deprecated arguments work for Horovod too, and counts
                that cannot run are refused when the task is made
"""
from __future__ import annotations

import os

VARIABLE = "MPIJOB_FLYTE_MODE"
DROP_IN, KFMPI, REPAIRED = "", "kfmpi", "repaired"


def mode() -> str:
    """The switch as it stands now; anything but its three positions is an error, not one of them."""
    value = os.environ.get(VARIABLE, DROP_IN)
    if value not in (DROP_IN, KFMPI, REPAIRED):
        raise ValueError(f"{VARIABLE} is '{value}'; it may be '{KFMPI}', '{REPAIRED}' or unset")
    return value
