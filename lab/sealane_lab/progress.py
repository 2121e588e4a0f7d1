"""A progress bar on a terminal; nothing is written elsewhere.

The bar is written here, in a few lines, because the lab runs without any package but sealane and matplotlib.
"""

from __future__ import annotations

import sys
import time
from typing import TextIO

from sealane_lab.timing import Clock


class Bar:
    """The progress of a run and the time that it still needs.

    Parameters
    ----------
    total : float
        The sum of all steps. The lab counts seconds of budget, so that the time left is known early.
    """

    def __init__(self, total: float, stream: TextIO | None = None, clock: Clock = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()
        self._total, self._done = total, 0.0
        self._clock, self._began = clock, clock()

    def step(self, amount: float, label: str) -> None:
        """Advances the bar by ``amount`` and shows the label of the work that follows."""
        self._done = min(self._done + amount, self._total)
        if self._shown:
            part = self._done / self._total if self._total else 1.0
            full = int(part * 24)
            bar = "━" * full + "─" * (24 - full)
            self._stream.write(f"\r\x1b[K{bar} {part:4.0%}  {self._left(part):>10}  {label}"[:160])
            self._stream.flush()

    def close(self) -> None:
        """Removes the bar from the terminal, so that other text can be printed."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _left(self, part: float) -> str:
        if part < 0.02:
            return ""
        seconds = (self._clock() - self._began) * (1 - part) / part
        return f"{seconds / 60:.0f} min left" if seconds >= 100 else f"{seconds:.0f} s left"
