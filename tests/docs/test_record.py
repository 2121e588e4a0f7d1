"""The plots and quotations of the guide on speed match the record that it links to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sealane_lab import findings, plots
from sealane_lab.experiments import experiment
from sealane_lab.results import load

ROOT = Path(__file__).parents[2]
SPEED = (ROOT / "docs" / "guide" / "speed.md").read_text(encoding="utf-8")
CHARTS = re.findall(r"!\[[^\]]+\]\(\.\./\.\./(lab/record/[^/)]+)/([a-z-]+)-(\d)\.svg\)", SPEED)
QUOTES = [line.removeprefix("> ") for line in SPEED.splitlines() if line.startswith("> ")]


def test_the_page_has_plots_and_quotations() -> None:
    assert CHARTS
    assert QUOTES


@pytest.mark.parametrize(("folder", "name", "number"), CHARTS)
def test_a_chart_is_drawn_from_the_record(folder: str, name: str, number: str) -> None:
    plot = experiment(name).plots[int(number) - 1]
    drawn = plots.svg(plot, load(ROOT / folder).of(name), plots.WIDE, f"{name}-{number}", themed=False)
    recorded = (ROOT / folder / f"{name}-{number}.svg").read_text(encoding="utf-8")
    assert drawn == recorded, "draw it again: sealane-lab report, and copy the picture into the record"


@pytest.mark.parametrize("quote", QUOTES)
def test_a_quoted_sentence_is_computed_from_the_record(quote: str) -> None:
    computed = []
    for folder, name, _ in CHARTS:
        one, samples = experiment(name), load(ROOT / folder).of(name)
        computed += findings.of(one, samples)
        computed += [line for plot in one.plots for line in findings.below(plot, samples)]
    assert quote in computed
