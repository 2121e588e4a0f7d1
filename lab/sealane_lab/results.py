"""What came out: a CSV of samples, a JSON of the machine, and the comparison of two runs."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from sealane_lab.model import LIMIT
from sealane_lab.timing import Summary

CSV_NAME = "results.csv"
JSON_NAME = "machine.json"


@dataclass(frozen=True)
class Sample:
    """A line of the CSV: one way to do one task at one size.

    ``median``, ``low`` and ``high`` (the quartiles) are seconds of one call; ``n`` is the number of rounds.
    ``checked`` is the library that undid what this way did, empty if there was none or nothing to undo.
    """

    experiment: str
    task: str
    way: str
    peer: str
    size: int
    threads: int
    median: float
    low: float
    high: float
    n: int
    unit: str = "s"
    checked: str = ""

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        return self.experiment, self.task, self.way, self.size, self.threads

    @property
    def rate(self) -> float:
        """GB/s, of 10^9 bytes."""
        return self.size / self.median / 1e9

    @property
    def calls(self) -> float:
        """Calls a second."""
        return 1 / self.median

    @classmethod
    def of(cls, key: tuple[str, str, str, str, int, int], figures: Summary, checked: str) -> Sample:
        return cls(*key, figures.median, figures.low, figures.high, figures.n, "s", checked)


@dataclass(frozen=True)
class Skipped:
    """Something that was not measured, and why."""

    experiment: str
    task: str
    way: str
    size: int
    why: str


@dataclass
class Results:
    """All of a run. ``machine`` is what ``machine.describe`` says."""

    machine: dict[str, Any] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def of(self, experiment: str) -> list[Sample]:
        return [sample for sample in self.samples if sample.experiment == experiment]

    def save(self, folder: Path) -> None:
        """Writes both files; each appears whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        # So that a line says all of itself without the JSON.
        about = {name: self.machine.get(name, "") for name in _MACHINE}
        versions = {peer["name"]: peer["version"] or "" for peer in self.machine.get("peers", [])}
        with _whole(folder / CSV_NAME) as file:
            writer = csv.DictWriter(file, _HEAD, lineterminator="\n")
            writer.writeheader()
            for sample in self.samples:
                writer.writerow({**_row(sample), "version": versions.get(sample.peer, ""), **about})
        with _whole(folder / JSON_NAME) as file:
            json.dump({**self.machine, "skipped": [asdict(one) for one in self.skipped]}, file, indent=2)
            file.write("\n")


_MACHINE = ("cpu", "cores", "os", "python")
_COLUMNS = [column.name for column in fields(Sample)]
_HEAD = [*_COLUMNS, "version", *_MACHINE]


def load(folder: Path) -> Results:
    """What ``Results.save`` wrote there.

    Raises OSError, and ValueError for a file that is none of the lab's.
    """
    with open(folder / JSON_NAME, encoding="utf-8") as file:
        machine = json.load(file)
    if not isinstance(machine, dict):
        raise ValueError(f"{folder / JSON_NAME} is not the lab's")
    skipped = [Skipped(**one) for one in machine.pop("skipped", [])]
    with open(folder / CSV_NAME, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if not set(_COLUMNS) <= set(reader.fieldnames or ()):
            raise ValueError(f"{folder / CSV_NAME} does not have the lab's columns")
        samples = [_sample(row) for row in reader]
    return Results(machine, samples, skipped)


@dataclass(frozen=True)
class Change:
    """The same measurement in two runs.

    ``ratio`` is new time through old, so above 1 is slower; ``low`` and ``high`` are what it may be by the
    quartiles of both. ``noise`` is what the runs differ by anyway.
    """

    old: Sample
    new: Sample
    noise: float

    @property
    def ratio(self) -> float:
        return self.new.median / self.old.median

    @property
    def low(self) -> float:
        return self.new.low / self.old.high

    @property
    def high(self) -> float:
        return self.new.high / self.old.low

    @property
    def beyond_noise(self) -> bool:
        """The quartiles of both do not overlap, each is of enough rounds to have some, and the difference is
        larger than the noise.
        """
        enough = min(self.old.n, self.new.n) >= ENOUGH
        apart = not self.low <= 1 <= self.high
        return enough and apart and abs(math.log(self.ratio)) > math.log1p(self.noise)


ENOUGH = 5
"""Rounds whose quartiles mean anything."""

LEAST_NOISE = 0.03
"""What two runs of one build differ by on a quiet machine."""


def compare(old: Results, new: Results) -> list[Change]:
    """Every measurement that both have, in the order of the new one."""
    before = {sample.key: sample for sample in old.samples}
    pairs = [(before[sample.key], sample) for sample in new.samples if sample.key in before]
    noise = _noise(pairs)
    return [Change(*pair, noise) for pair in pairs]


def _noise(pairs: Iterable[tuple[Sample, Sample]]) -> float:
    """By how much nine of ten limits changed at most: they run nobody's code, so the machine did that."""
    moved = sorted(abs(math.log(b.median / a.median)) for a, b in pairs if b.peer == LIMIT)
    return max(LEAST_NOISE, math.expm1(moved[int(len(moved) * 0.9)]) if moved else 0.0)


def only_in(these: Results, others: Results) -> list[Sample]:
    known = {sample.key for sample in others.samples}
    return [sample for sample in these.samples if sample.key not in known]


def ways_of(samples: Iterable[Sample]) -> list[str]:
    """Without doubles, in order."""
    return list(dict.fromkeys(sample.way for sample in samples))


def _row(sample: Sample) -> dict[str, Any]:
    # Nine digits: more than any clock here has, and the same text on every machine.
    return {name: f"{v:.9g}" if isinstance(v, float) else v for name, v in asdict(sample).items()}


_KINDS = {"size": int, "threads": int, "n": int, "median": float, "low": float, "high": float}


def _sample(row: dict[str, str]) -> Sample:
    values: dict[str, Any] = {name: _KINDS.get(name, str)(row[name]) for name in _COLUMNS}
    return Sample(**values)


class _whole:
    """A text file that gets its name when it is complete."""

    def __init__(self, path: Path) -> None:
        self._path, self._part = path, path.with_name(path.name + ".part")

    def __enter__(self) -> Any:
        self._file = open(self._part, "w", newline="", encoding="utf-8")
        return self._file

    def __exit__(self, error: object, *_: object) -> None:
        self._file.close()
        if error is None:
            os.replace(self._part, self._path)
        else:
            self._part.unlink()
