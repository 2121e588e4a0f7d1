"""Writes the tables of README and of the guide's page on speed: ``python docs/site/speed.py``.

The rows are in speed.tsv: in ``works``, ``{a / b}`` stands for two lines of a record. The figures come from
the newest record that ``sealane-lab record`` wrote on each processor. ``make docs`` fails if a page differs.
"""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "lab" / "record"
PAGES = {ROOT / "README.md": True, ROOT / "docs" / "guide" / "speed.md": False}
"""The pages, and whether they have only the rows for README."""
PROCESSORS = {"zen4": "Zen 4", "granite-rapids": "Granite Rapids"}
"""The processors of the table in its order, by the first word of their records' names."""
BLOCK = re.compile(r"(?<=<!-- from the record -->\n).*?(?=<!-- end -->)", re.DOTALL)


class Figure(NamedTuple):
    """A line of a record."""

    ours: str
    peer: str
    ratio: float
    of_bound: float | None


class Column(NamedTuple):
    """A processor with or without AVX-512: its figures by group and work."""

    title: str
    record: Path
    figures: dict[tuple[str, str], Figure]


class Row(NamedTuple):
    """A row of the tables. ``shows`` is "ratio", "bound" (ours as a part of the bound) or "time"."""

    in_readme: bool
    shows: str
    group: str
    works: list[str]
    what: str

    def figures(self, column: Column) -> list[Figure]:
        """Returns the figures of a column, or none if the record lacks one of them."""
        found = [column.figures.get((self.group, work)) for work in self.works]
        return [] if None in found else [figure for figure in found if figure]

    def cell(self, column: Column) -> str:
        """Returns the cell of a column."""
        return " / ".join(shown for figure in self.figures(column) if (shown := self.shown(figure)))

    def shown(self, figure: Figure) -> str:
        """Returns a figure as it stands in the table: ``1.24 x``, ``2.6 x``, ``95 %``, ``6.70 us``."""
        if self.shows == "time":
            return figure.ours
        if self.shows == "bound":
            return "" if figure.of_bound is None else f"{100 * figure.of_bound:.0f} %"
        places = 2 if figure.ratio < 2 else 1 if figure.ratio < 9.95 else 0
        return f"{figure.ratio:.{places}f} x"


def rows() -> list[Row]:
    """Returns the rows of speed.tsv."""
    with Path(__file__).with_suffix(".tsv").open(newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = []
    for line in lines:
        head, _, rest = line["works"].partition("{")
        middle, _, tail = rest.partition("}")
        works = [head + part + tail for part in middle.split(" / ")]
        found.append(Row(line["README"] == "yes", line["shows"], line["group"], works, line["what"]))
    return found


def columns(folder: Path = RECORDS) -> list[Column]:
    """Returns the columns of the newest record of each processor."""
    found = []
    for slug, title in PROCESSORS.items():
        records = [
            path for path in sorted(folder.glob(f"{slug}-*.md")) if path.read_text().startswith("# Rows of ")
        ]
        for path in records[-1:]:
            wide, narrow = (figures(path.read_text(), features) for features in ("yes", "no"))
            found += [Column(title, path, wide)] if wide else []
            found += [Column(f"{title} without AVX-512" if wide else title, path, narrow)] if narrow else []
    return found


def figures(record: str, features: str) -> dict[tuple[str, str], Figure]:
    """Returns the figures of a record with or without AVX-512, by group and work."""
    found, group = {}, ""
    for line in record.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if line.startswith("## "):
            group = line[3:]
        elif len(cells) == 8 and cells[1] == features:
            peer, bound = (re.search(r"\((.*)\)", cell) for cell in (cells[4], cells[6]))
            of_bound = float(bound[1]) if bound else None
            found[group, cells[0]] = Figure(cells[3], peer[1] if peer else "", float(cells[5]), of_bound)
    return found


def by_processor(found: list[Column]) -> list[list[Column]]:
    """Returns the columns of each record."""
    records = dict.fromkeys(column.record for column in found)
    return [[column for column in found if column.record == record] for record in records]


def source(page: Path, record: Path) -> str:
    """Returns the processor of a record, with a link to the record."""
    text = record.read_text()
    busy = ", while other programs ran" if "Measured with `--busy`" in text else ""
    machine = text.splitlines()[0].split(", ", 2)[2]
    return f"{machine}{busy} ([record]({os.path.relpath(record, page.parent)}))"


def table(page: Path, only_readme: bool, found: list[Column]) -> str:
    """Returns the processors with their records, and their table."""
    where = [source(page, record) for record in dict.fromkeys(column.record for column in found)]
    lines = ["; ".join(where) + ".", ""]
    lines.append("| what |" + "".join(f" {column.title} |" for column in found))
    lines.append("|---|" + "---|" * len(found))
    for row in rows():
        cells = [row.cell(column) for column in found]
        if any(cells) and (row.in_readme or not only_readme):
            lines.append(f"| {row.what} |" + "".join(f" {cell} |" for cell in cells))
    return "\n".join(lines) + "\n"


def written(page: Path, folder: Path = RECORDS) -> str:
    """Returns the text of a page with its tables: in the guide one for each processor."""
    found = columns(folder)
    tables = [found] if PAGES[page] else by_processor(found)
    text = "\n".join(table(page, PAGES[page], some) for some in tables)
    return BLOCK.sub(lambda _: text, page.read_text(encoding="utf-8"))


def stale() -> list[str]:
    """Returns the pages that differ from what this script writes."""
    return [page.name for page in PAGES if page.read_text(encoding="utf-8") != written(page)]


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written(page), encoding="utf-8")
