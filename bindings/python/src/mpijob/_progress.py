# SPDX-License-Identifier: Apache-2.0
"""How far a run has come, until its output begins: with rich or tqdm on a terminal where one is installed, else in lines."""
from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Silent:
    """No progress."""

    def show(self, phase: str, ready: int) -> None:
        """This is the phase, and so many workers are ready."""

    def say(self, line: str) -> None:
        """Something worth a line."""

    def hide(self) -> None:
        """Output comes."""


class Lines(Silent):
    """A line for each change, on standard error."""

    def __init__(self, name: str, workers: int) -> None:
        self.name = name
        self.workers = workers
        self._shown = ""

    def show(self, phase: str, ready: int) -> None:
        count = f", {ready} of {self.workers} workers ready" if self.workers and phase not in ("running", "stopping") else ""
        line = f"{self.name}: {phase}{count}"
        if self._shown != line:
            self._shown = line
            self.say(line)

    def say(self, line: str) -> None:
        print(f"mpijob: {line}", file=sys.stderr, flush=True)


class Tqdm(Lines):
    """A bar of workers."""

    def __init__(self, name: str, workers: int, tqdm: Any) -> None:
        super().__init__(name, workers)
        self._bar = tqdm(total=workers, desc=name, unit=" workers", leave=False, file=sys.stderr)

    def show(self, phase: str, ready: int) -> None:
        if self._bar is not None:
            self._bar.set_description(f"{self.name}: {phase}", refresh=False)
            self._bar.n = ready
            self._bar.refresh()

    def hide(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def say(self, line: str) -> None:
        self.hide()
        super().say(line)


class Rich(Lines):
    """A bar of workers with a spinner."""

    def __init__(self, name: str, workers: int, rich: Any, console: Any) -> None:
        super().__init__(name, workers)
        self._bar = rich.Progress(rich.SpinnerColumn(), rich.TextColumn("{task.description}"), rich.BarColumn(),
                                  rich.MofNCompleteColumn(), rich.TimeElapsedColumn(), console=console, transient=True,
                                  redirect_stdout=False, redirect_stderr=False)
        self._task = self._bar.add_task(name, total=workers)
        self._bar.start()

    def show(self, phase: str, ready: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=f"{self.name}: {phase}", completed=ready)

    def hide(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def say(self, line: str) -> None:
        self.hide()
        super().say(line)


def progress(wanted: bool | str | None, name: str, workers: int) -> Silent:
    """The one that is wanted: 'rich', 'tqdm', 'lines', False, or None for the best that there is."""
    if wanted is False:
        return Silent()
    if wanted in (None, True):
        wanted = "rich" if sys.stderr.isatty() else "lines"
        best = True
    else:
        best = False
    if wanted == "rich":
        try:
            return Rich(name, workers, import_module("rich.progress"), import_module("rich.console").Console(stderr=True))
        except ImportError:
            if not best:
                raise
            wanted = "tqdm"
    if wanted == "tqdm":
        try:
            return Tqdm(name, workers, import_module("tqdm").tqdm)
        except ImportError:
            if not best:
                raise
    elif wanted != "lines":
        raise ValueError(f"no progress {wanted!r}: use 'rich', 'tqdm', 'lines', True or False")
    return Lines(name, workers)
