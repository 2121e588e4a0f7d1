"""What an experiment is made of: data, which the runner, the plots and the report loop over."""

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
"""The peer of rows that are no library, but what the machine can do at best: drawn as thin lines."""

OURS: Final = "sealane"

# Not one Literal of three, which stubtest does not know again.
Scale = Literal["full"] | Literal["quick"] | Literal["tiny"]
"""The seeds' sizes; under two minutes in all; seconds, for tests."""


class Wrong(Exception):
    """Someone's output is not what it should be: it is not timed."""


class Absent(Exception):
    """A way cannot be had here; the text says why."""


@dataclass(frozen=True)
class Cell:
    """What is compared with each other: a task at a size in bytes (0 where it has none)."""

    task: str
    size: int = 0
    threads: int = 1


@dataclass(frozen=True)
class Ready:
    """A way that can be timed.

    Parameters
    ----------
    run : callable
        One call. What it returns is looked at by nobody.
    check : callable
        Lets another library undo what ``run`` does. Returns that library's name, "" if there is none here,
        and raises Wrong.
    reset : callable, optional
        Done before each run; not timed.
    count : int
        How many messages one run is.
    timed : callable, optional
        Takes the place of ``run`` where it is done elsewhere: so many calls to seconds.
    """

    run: Work
    check: Callable[[], str]
    reset: Work | None = None
    count: int = 1
    timed: Timed | None = None


@dataclass(frozen=True)
class Row:
    """One way to do a task.

    Parameters
    ----------
    peer : str
        A name of ``peers.PEERS``, or LIMIT.
    way : str
        What it is called in tables and plots; short, and the same in every task of an experiment.
    prepare : callable(Room)
        Gets everything ready. Raises Absent if this way cannot be had here.
    largest : int, optional
        No messages above this many bytes: it would take minutes, or the peer refuses.
    """

    peer: str
    way: str
    task: str
    prepare: Callable[[Room], Ready]
    largest: int | None = None


@dataclass(frozen=True)
class Plot:
    """A picture of some tasks, side by side: ``rate`` in GB/s, ``time`` of one call, ``calls`` a second.

    ``over`` is what runs along the axis: sizes, threads, or the ways themselves as bars.
    """

    title: str
    tasks: tuple[str, ...]
    value: Literal["rate", "time", "calls"]
    over: Literal["size", "threads", "way"] = "size"
    families: bool = False
    """Whether peers are only compared where the rest of the way's name is the same."""

    size: int | None = None
    """Of rows of dots: which one; None is the largest that was measured."""

    undrawn: tuple[str, ...] = ()
    """Ways that only the tables have: their lines would lie upon others."""


@dataclass(frozen=True)
class Experiment:
    """A table of a seed, and what the seed missed.

    Parameters
    ----------
    cells : callable(Scale)
        What is measured, in this order.
    rows : callable
        Who takes part. Called once a run: it may ask what is there.
    budget : mapping of Scale to float
        Seconds in all.
    memory : int
        How many times as much as the message has to be there in memory, at most: everybody's copies, and what
        the system keeps of files. Larger messages are left out.
    findings : callable, optional
        Sentences that are computed from the samples, besides those that every experiment has.
    """

    name: str
    title: str
    about: str
    cells: Callable[[Scale], list[Cell]]
    rows: Callable[[], list[Row]]
    plots: tuple[Plot, ...]
    budget: Mapping[Scale, float]
    findings: Callable[[Any], list[str]] | None = None
    memory: int = 16
    rounds: Mapping[Scale, tuple[int, int]] = field(
        default_factory=lambda: {"full": (7, 101), "quick": (3, 31), "tiny": (2, 2)}
    )


class Room:
    """The buffers of one cell, shared by all who are measured in it: 1 GiB is had once, not ten times."""

    def __init__(self, cell: Cell, folder: Path | None = None) -> None:
        self.cell = cell
        self.size = cell.size
        self._folder = folder
        self._kept: dict[Hashable, Any] = {}
        self._later: list[Work] = []

    def once(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """What ``make`` returned the first time that someone asked for this name."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def later(self, close: Work) -> None:
        """Called when the cell is done: for processes and threads."""
        self._later.append(close)

    def close(self) -> None:
        while self._later:
            self._later.pop()()
        if "folder" in vars(self):
            shutil.rmtree(self.folder, ignore_errors=True)

    @functools.cached_property
    def plain(self) -> bytes:
        """The message. Random, and never the same block twice in the first mebibyte."""
        piece = os.urandom(min(self.size, 1 << 20))
        return piece * (self.size // len(piece)) + piece[: self.size % len(piece)] if piece else b""

    @functools.cached_property
    def out(self) -> bytearray:
        """Where a ciphertext goes; exactly the message and a tag of 16 bytes."""
        return bytearray(self.size + 16)

    @functools.cached_property
    def back(self) -> bytearray:
        """Where a message goes."""
        return bytearray(self.size)

    @functools.cached_property
    def folder(self) -> Path:
        """For files. It goes with the cell."""
        return Path(tempfile.mkdtemp(dir=self._folder))
