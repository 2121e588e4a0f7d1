"""The results of a run as a CSV of samples and a JSON of the machine, and the comparison of two runs."""

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
    """A line of the CSV: one contender at one task and size.

    ``median``, ``low`` and ``high`` (the quartiles) are seconds of one call, or bytes of memory if ``unit``
    is "B"; ``n`` is the number of rounds.
    ``checked`` is the library that decrypted the output, or empty if none was installed.
    """

    experiment: str
    task: str
    contender: str
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
        """The columns that identify a measurement in two runs."""
        return self.experiment, self.task, self.contender, self.size, self.threads

    @property
    def rate(self) -> float:
        """The throughput in GB/s, where a gigabyte has 10^9 bytes."""
        return self.size / self.median / 1e9

    @property
    def calls(self) -> float:
        """The number of calls in a second, for tasks with short messages."""
        return 1 / self.median

    @classmethod
    def of(
        cls, key: tuple[str, str, str, str, int, int], figures: Summary, checked: str, unit: str = "s"
    ) -> Sample:
        """Makes a sample from the first six columns and the figures."""
        return cls(*key, figures.median, figures.low, figures.high, figures.n, unit, checked)


@dataclass(frozen=True)
class Skipped:
    """A contender that was not measured, and the reason."""

    experiment: str
    task: str
    contender: str
    size: int
    why: str


@dataclass
class Results:
    """The results of a run. ``machine`` is the return value of ``machine.describe``."""

    machine: dict[str, Any] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def of(self, experiment: str) -> list[Sample]:
        """Returns the samples of one experiment, in the order in which they were measured."""
        return [sample for sample in self.samples if sample.experiment == experiment]

    def save(self, folder: Path) -> None:
        """Writes both files, each atomically."""
        folder.mkdir(parents=True, exist_ok=True)
        # Every line of the CSV is complete without the JSON.
        about = {name: self.machine.get(name, "") for name in _MACHINE}
        versions = {peer["name"]: peer["version"] or "" for peer in self.machine.get("peers", [])}
        with _atomic_file(folder / CSV_NAME) as file:
            writer = csv.DictWriter(file, _HEAD, lineterminator="\n")
            writer.writeheader()
            for sample in self.samples:
                writer.writerow({**_line(sample), "version": versions.get(sample.peer, ""), **about})
        with _atomic_file(folder / JSON_NAME) as file:
            json.dump({**self.machine, "skipped": [asdict(one) for one in self.skipped]}, file, indent=2)
            file.write("\n")


_MACHINE = ("cpu", "cores", "os", "python")
_COLUMNS = [column.name for column in fields(Sample)]
_HEAD = [*_COLUMNS, "version", *_MACHINE]


def load(folder: Path) -> Results:
    """Reads the files that ``Results.save`` wrote.

    Raises OSError, and ValueError for files of another format.
    """
    with open(folder / JSON_NAME, encoding="utf-8") as file:
        machine = json.load(file)
    if not isinstance(machine, dict):
        raise ValueError(
            f"expected a JSON object of sealane-lab, found another value in {folder / JSON_NAME}"
        )
    skipped = [Skipped(**_renamed(one)) for one in machine.pop("skipped", [])]
    with open(folder / CSV_NAME, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        reader.fieldnames = list(_renamed(dict.fromkeys(reader.fieldnames or ())))
        if missing := set(_COLUMNS) - set(reader.fieldnames):
            raise ValueError(f"{folder / CSV_NAME} lacks the columns {', '.join(sorted(missing))}")
        samples = [_sample(line) for line in reader]
    return Results(machine, samples, skipped)


def _renamed(columns: dict[str, Any]) -> dict[str, Any]:
    """Renames the column "way", the name of "contender" in files written until 2026-11-22."""
    return {"contender" if name == "way" else name: value for name, value in columns.items()}


@dataclass(frozen=True)
class Change:
    """The same measurement in two runs.

    ``ratio`` is the new time divided by the old one, so that values above 1 are slower; ``low`` and ``high``
    are its range by the quartiles of both. ``noise`` is the relative difference of two runs of the same
    build.
    """

    old: Sample
    new: Sample
    noise: float

    @property
    def ratio(self) -> float:
        """The median of the new run divided by the median of the old run."""
        return self.new.median / self.old.median

    @property
    def low(self) -> float:
        """The least ratio by the quartiles."""
        return self.new.low / self.old.high

    @property
    def high(self) -> float:
        """The largest ratio by the quartiles."""
        return self.new.high / self.old.low

    @property
    def beyond_noise(self) -> bool:
        """Whether the quartiles do not overlap, come from enough rounds, and the difference exceeds the
        noise.
        """
        enough = min(self.old.n, self.new.n) >= ENOUGH
        apart = not self.low <= 1 <= self.high
        return enough and apart and abs(math.log(self.ratio)) > math.log1p(self.noise)


ENOUGH = 5
"""The minimum number of rounds for meaningful quartiles."""

MIN_NOISE = 0.03
"""The relative difference of two runs of one build on an idle machine."""


def compare(old: Results, new: Results) -> list[Change]:
    """Compares the times that are in both runs, in the order of the new one."""
    before = {sample.key: sample for sample in old.samples if sample.unit == "s"}
    pairs = [(before[sample.key], sample) for sample in new.samples if sample.key in before]
    noise = _noise(pairs)
    return [Change(*pair, noise) for pair in pairs]


def _noise(pairs: Iterable[tuple[Sample, Sample]]) -> float:
    """Returns the change that nine of ten limits stay below.

    No library runs in a limit, so the machine caused it.
    """
    moved = sorted(abs(math.log(b.median / a.median)) for a, b in pairs if b.peer == LIMIT)
    return max(MIN_NOISE, math.expm1(moved[int(len(moved) * 0.9)]) if moved else 0.0)


def only_in(these: Results, others: Results) -> list[Sample]:
    """Returns the samples that the other run lacks."""
    known = {sample.key for sample in others.samples}
    return [sample for sample in these.samples if sample.key not in known]


def contenders_of(samples: Iterable[Sample]) -> list[str]:
    """Returns the names of the contenders in order, each once."""
    return list(dict.fromkeys(sample.contender for sample in samples))


def _line(sample: Sample) -> dict[str, Any]:
    # Nine digits are more than any clock resolves, and give the same text on every machine.
    return {name: f"{v:.9g}" if isinstance(v, float) else v for name, v in asdict(sample).items()}


_KINDS = {"size": int, "threads": int, "n": int, "median": float, "low": float, "high": float}


def _sample(line: dict[str, str]) -> Sample:
    values: dict[str, Any] = {name: _KINDS.get(name, str)(line[name]) for name in _COLUMNS}
    return Sample(**values)


class _atomic_file:
    """A text file that is renamed to its final name when it is complete."""

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
