# SPDX-License-Identifier: Apache-2.0
"""What hatchling cannot know: the wheel has programs and libraries of one platform, and runs under every Python 3."""
import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    """Sets the tag that make-wheel compiled for."""

    def initialize(self, version, build_data):
        """Called by hatchling before it builds; the folder is not complete unless make-wheel laid it out."""
        platform = os.environ.get("MPIJOB_WHEEL_PLATFORM")
        if not platform:
            raise RuntimeError("the wheel is built with: cmake --build --preset release --target wheel")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
