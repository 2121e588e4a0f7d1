"""A bar on a terminal, and nothing anywhere else.

A dozen lines of our own: the lab needs no other package to run, and every peer is optional.
"""

from __future__ import annotations

import sys
import time
from typing import TextIO

from sealane_lab.timing import Clock


class Bar:
    """How far a run is, and how much longer it takes.

    Parameters
    ----------
    total : float
        Of whatever the steps are counted in; here seconds of budget, so that time left is told well before
        half of the run is over.
    """

    def __init__(self, total: float, stream: TextIO | None = None, clock: Clock = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()
        self._total, self._done = total, 0.0
        self._clock, self._began = clock, clock()

    def step(self, amount: float, what: str) -> None:
        """So much more is done; ``what`` comes next."""
        self._done = min(self._done + amount, self._total)
        if self._shown:
            part = self._done / self._total if self._total else 1.0
            full = int(part * 24)
            bar = "━" * full + "─" * (24 - full)
            self._stream.write(f"\r\x1b[K{bar} {part:4.0%}  {self._left(part):>10}  {what}"[:160])
            self._stream.flush()

    def close(self) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _left(self, part: float) -> str:
        if part < 0.02:
            return ""
        seconds = (self._clock() - self._began) * (1 - part) / part
        return f"{seconds / 60:.0f} min left" if seconds >= 100 else f"{seconds:.0f} s left"
