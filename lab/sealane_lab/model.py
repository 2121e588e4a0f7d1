"""The parts of an experiment, as data: the runner, the plots and the report loop over them."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from sealane_lab.timing import Timed, Work

LIMIT: Final = "limit"
"""The peer of contenders that are no library but a speed limit of the machine, for example copying memory."""

OURS: Final = "sealane"

Scale = Literal["full", "quick", "tiny"]
"""Effort of a run: all sizes, under two minutes in all, or seconds (for tests)."""


class WrongOutput(Exception):
    """A contender's output is wrong. The contender is not timed."""


class Absent(Exception):
    """A contender cannot run on this machine; the message is the reason."""


@dataclass(frozen=True)
class Cell:
    """One comparison: a task at a size in bytes (0 if the task has no size) with a number of threads."""

    task: str
    size: int = 0
    threads: int = 1


@dataclass(frozen=True)
class Ready:
    """A contender that is ready to be timed.

    Parameters
    ----------
    run : callable
        One call. Its result is ignored.
    check : callable
        Checks the output of ``run`` with another library. Returns the name of that library, or "" if none is
        installed. Raises WrongOutput.
    reset : callable, optional
        Called before each run; its time is not counted.
    count : int
        Number of messages that one run processes.
    memory : callable, optional
        Returns a number of bytes. The contender is not timed then: its figure is this number, measured once.
    timed : callable, optional
        Replaces ``run`` if the work is done elsewhere, such as in another process: number of calls to
        seconds.
    """

    run: Work
    check: Callable[[], str]
    reset: Work | None = None
    count: int = 1
    timed: Timed | None = None
    memory: Callable[[], int] | None = None


@dataclass(frozen=True)
class Contender:
    """One implementation of one task, for example "cryptography into" for the task "encrypt".

    Parameters
    ----------
    peer : str
        A name in ``peers.PEERS``, or LIMIT.
    name : str
        The name in tables and plots. It is short, and the same in every task of an experiment.
    prepare : callable(Workspace)
        Prepares everything but the timed call. Raises Absent if the contender cannot run here.
    largest : int, optional
        Maximum message size in bytes, because larger ones would take minutes or the library refuses them.
    """

    peer: str
    name: str
    task: str
    prepare: Callable[[Workspace], Ready]
    largest: int | None = None


@dataclass(frozen=True)
class Plot:
    """A chart of some tasks, side by side: ``rate`` in GB/s, ``time`` of one call, ``calls`` per second,
    ``cost`` of one byte, or ``memory``.

    ``over`` is the horizontal axis: sizes, threads, or one bar per contender.
    """

    title: str
    tasks: tuple[str, ...]
    value: Literal["rate", "time", "calls", "cost", "memory"]
    over: Literal["size", "threads", "contender"] = "size"
    families: bool = False
    """Compares contenders only if their names are equal without the peer, for example "RSA-3072 sealane"
    with "RSA-3072 cryptography".
    """

    size: int | None = None
    """The message size of a bar chart; None is the largest size that was measured."""

    undrawn: tuple[str, ...] = ()
    """Contenders that appear only in the tables, because their lines would overlap others."""


@dataclass(frozen=True)
class Experiment:
    """A set of cells, the contenders that run in them, and the plots of the results.

    Parameters
    ----------
    cells : callable(Scale)
        The cells to measure, in this order.
    contenders : callable
        The contenders. It is called once per run, because it may ask which providers are available.
    budget : mapping of Scale to float
        Seconds for the whole experiment.
    memory : int
        Memory that a cell needs at most, as a multiple of the message size: the buffers of all contenders and
        the page cache. Larger messages are left out.
    findings : callable, optional
        Computes sentences from the samples, in addition to those that every experiment has.
    """

    name: str
    title: str
    about: str
    cells: Callable[[Scale], list[Cell]]
    contenders: Callable[[], list[Contender]]
    plots: tuple[Plot, ...]
    budget: Mapping[Scale, float]
    findings: Callable[[Any], list[str]] | None = None
    memory: int = 16
    rounds: Mapping[Scale, tuple[int, int]] = field(
        default_factory=lambda: {"full": (7, 101), "quick": (3, 31), "tiny": (2, 2)}
    )


class Workspace:
    """The buffers and files of one cell, shared by its contenders: 1 GiB is allocated once, not ten times."""

    def __init__(self, cell: Cell, folder: Path | None = None) -> None:
        self.cell = cell
        self.size = cell.size
        self._parent = folder
        self._cached: dict[Hashable, Any] = {}
        self._closers: list[Work] = []

    def once(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """Returns the result of the first ``make`` of this name."""
        if name not in self._cached:
            self._cached[name] = make()
        return self._cached[name]

    def on_close(self, close: Work) -> None:
        """Registers a function that ends a process or a thread after the cell."""
        self._closers.append(close)

    def close(self) -> None:
        """Calls the registered functions, the last one first, and removes the folder."""
        while self._closers:
            self._closers.pop()()
        if "folder" in vars(self):
            shutil.rmtree(self.folder, ignore_errors=True)

    @functools.cached_property
    def plain(self) -> bytes:
        """The message. It is random, and no block occurs twice in its first mebibyte."""
        piece = os.urandom(min(self.size, 1 << 20))
        return piece * (self.size // len(piece)) + piece[: self.size % len(piece)] if piece else b""

    @functools.cached_property
    def out(self) -> bytearray:
        """A buffer for the ciphertext and a tag of 16 bytes."""
        return bytearray(self.size + 16)

    @functools.cached_property
    def back(self) -> bytearray:
        """A buffer for the decrypted message."""
        return bytearray(self.size)

    @functools.cached_property
    def folder(self) -> Path:
        """A folder for files, removed with the cell."""
        return Path(tempfile.mkdtemp(dir=self._parent))
