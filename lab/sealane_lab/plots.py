"""Draws the plots: lines labelled at their ends, or horizontal dots; limits are thin lines.

The report contains every plot twice, wide and narrow, because a scaled-down plot is too small to read on a
phone.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sealane_lab import style
from sealane_lab.findings import shown, value_text
from sealane_lab.model import LIMIT, OURS, Experiment, Plot
from sealane_lab.results import Sample, contenders_of
from sealane_lab.text import calls_text, digits, memory_text, size_text, time_text

WIDE, NARROW = 8.0, 3.6
"""Inches."""

UNITS = {
    "rate": "GB/s",
    "time": "time of one call",
    "calls": "calls a second",
    "cost": "ns a byte",
    "memory": "of a process",
}
"""The label of an axis, by the quantity that it shows."""

_LABEL = 0.155
"""Height of a line of text, in inches."""

_LETTER = 0.068
"""Width of a letter, in inches."""


def chosen(plot: Plot, samples: Sequence[Sample]) -> list[Sample]:
    """Returns the samples to draw: all of sealane and the limits, and the fastest contender of each other
    peer.

    The other contenders are in the tables.
    """
    mine = shown(plot, samples)
    if plot.over == "contender" or plot.families:
        return mine
    drawn: set[str] = set()
    peers = dict.fromkeys(sample.peer for sample in mine)
    for peer in peers:
        contenders = contenders_of(sample for sample in mine if sample.peer == peer)
        if peer in (OURS, LIMIT):
            drawn.update(contenders)
        else:
            drawn.add(
                min(
                    contenders, key=lambda contender: _mean_log([s for s in mine if s.contender == contender])
                )
            )
    return [sample for sample in mine if sample.contender in drawn]


def _mean_log(samples: Sequence[Sample]) -> float:
    return math.fsum(math.log(s.median) for s in samples) / len(samples)


def figure(plot: Plot, samples: Sequence[Sample], width: float) -> Any:
    """Returns a matplotlib figure of that width in inches, or None if there is nothing to draw."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    drawn = chosen(plot, samples)
    panels = [(task, [s for s in drawn if s.task == task]) for task in plot.tasks]
    panels = [(task, mine) for task, mine in panels if mine]
    if not panels:
        return None
    draw = _dots if plot.over == "contender" else _lines
    columns = len(panels) if width > 5 and plot.over != "contender" and len(panels) <= 2 else 1
    down = math.ceil(len(panels) / columns)
    heights = [_height(plot, mine) for _, mine in panels][::columns]
    with rc_context(_RC):
        whole = Figure(figsize=(width, sum(heights) + 0.1))
        grid = whole.add_gridspec(down, columns, height_ratios=heights)
        values = [value for _, mine in panels for value in _values(plot, mine)]
        for index, (task, mine) in enumerate(panels):
            axes: Any = whole.add_subplot(grid[index // columns, index % columns])
            axes.lab_title = axes.set_title(_title(plot, task))
            draw(axes, plot, mine, values, width / columns)
        _fit(whole, plot, columns, down, width, heights, panels)
    return whole


def _height(plot: Plot, samples: Sequence[Sample]) -> float:
    lines = len(contenders_of(samples))
    return 0.75 + lines * 0.2 if plot.over == "contender" else max(3.0, 1.0 + (lines + 1) * _LABEL)


def _title(plot: Plot, task: str) -> str:
    return f"{task}, {UNITS[plot.value]}"


def _values(plot: Plot, samples: Sequence[Sample]) -> list[float]:
    return [_value(plot, sample) for sample in samples]


def _value(plot: Plot, sample: Sample) -> float:
    if plot.value == "rate":
        return sample.rate if sample.size else 0.0
    if plot.value == "cost":
        return sample.median / sample.size * 1e9
    return sample.calls if plot.value == "calls" else sample.median


def _spread(plot: Plot, sample: Sample) -> tuple[float, float]:
    """Returns the quartiles in the unit of the plot."""
    if plot.value in ("time", "memory"):
        return sample.low, sample.high
    if plot.value == "cost":
        return sample.low / sample.size * 1e9, sample.high / sample.size * 1e9
    amount = sample.size / 1e9 if plot.value == "rate" else 1.0
    return amount / sample.high, amount / sample.low


def _lines(axes: Any, plot: Plot, samples: Sequence[Sample], values: Sequence[float], width: float) -> None:
    along: Callable[[Sample], int] = (lambda s: s.threads) if plot.over == "threads" else (lambda s: s.size)
    places = sorted({along(sample) for sample in samples})
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    _ticks(axes.yaxis, plot, min(values), max(values))
    ticks = _apart(places, 3 if width < 3.8 else 4 if width < 5 else 6)
    text = (lambda place: f"{place}") if plot.over == "threads" else size_text
    axes.set_xticks(ticks, [text(place) for place in ticks])
    axes.xaxis.set_minor_locator(_nothing())
    ends = []
    for contender in contenders_of(samples):
        mine = sorted((s for s in samples if s.contender == contender), key=along)
        x, y = [along(s) for s in mine], _values(plot, mine)
        peer = mine[0].peer
        if peer == LIMIT:
            colour = style.INK["limit"][0]
            line: dict[str, Any] = {"linewidth": 0.8}
        else:
            colour = style.colour(peer)
            line = {
                "linewidth": 2.0 if peer == OURS else 1.2,
                "linestyle": style.dash(contender),
            }
            low, high = zip(*(_spread(plot, s) for s in mine), strict=True)
            axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0)
        axes.plot(x, y, color=colour, zorder=3 if peer == OURS else 2, **line)
        if len(x) == 1:
            axes.plot(x, y, "o", color=colour, markersize=3)
        ends.append((contender, colour, x[-1], y[-1], peer == OURS))
    axes.margins(x=0.02)
    bottom, top = min(values), max(values)
    axes.set_ylim(bottom / 1.25, top * 1.25)
    if plot.over == "threads":
        axes.set_xlabel("threads")
    axes.lab_ends = ends


def _apart(places: Sequence[int], max_ticks: int) -> list[int]:
    """Returns ticks whose labels do not touch on an axis for ``max_ticks`` labels; always the last tick."""
    least = math.log2(places[-1] / places[0]) / max_ticks - 1e-9
    ticks = [places[-1]]
    for place in reversed(places[:-1]):
        if math.log2(ticks[-1] / place) >= least:
            ticks.append(place)
    return ticks[::-1]


def _dots(axes: Any, plot: Plot, samples: Sequence[Sample], _: Sequence[float], width: float) -> None:
    up = plot.value != "time"
    ordered = sorted(samples, key=lambda s: _value(plot, s), reverse=not up)
    values = _values(plot, ordered)
    axes.set_xscale("log")
    for row, sample in enumerate(ordered):
        value, ours = values[row], sample.peer == OURS
        colour = style.INK["limit"][0] if sample.peer == LIMIT else style.colour(sample.peer)
        axes.plot(_spread(plot, sample), (row, row), color=colour, linewidth=1.2, solid_capstyle="butt")
        marker = {"marker": "|", "markersize": 8} if sample.peer == LIMIT else {"marker": "o"}
        axes.plot([value], [row], color=colour, **{"markersize": 5.5 if ours else 4.5, **marker})
        axes.annotate(
            value_text(plot, sample),
            (_spread(plot, sample)[1], row),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color=style.INK["ink" if ours else "soft"][0],
        )
    axes.set_yticks(range(len(ordered)), [sample.contender for sample in ordered])
    for label, sample in zip(axes.get_yticklabels(), ordered, strict=True):
        label.set_color(style.INK["limit"][0] if sample.peer == LIMIT else style.colour(sample.peer))
        label.set_fontweight("bold" if sample.peer == OURS else "normal")
    axes.set_ylim(-0.7, len(ordered) - 0.3)
    # Leaves space for the figure after the upper quartile; it is text, so its width is not to
    # scale.
    spreads = [_spread(plot, sample) for sample in ordered]
    low, high = min(low for low, _ in spreads), max(high for _, high in spreads)
    reach = high / low
    axes.set_xlim(low / max(reach, 2) ** 0.04, high * max(reach, 3) ** (1.5 / width))
    axes.grid(False)
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.lab_ends = []


def _fit(
    whole: Any,
    plot: Plot,
    columns: int,
    down: int,
    width: float,
    heights: Sequence[float],
    panels: Sequence[tuple[str, Sequence[Sample]]],
) -> None:
    """Sets the margins in inches, so that the text fits at every plot size, and writes the names."""
    # The names of sealane are bold, so wider.
    letters = {
        sample.contender: 0.077 if sample.peer == OURS else _LETTER for _, mine in panels for sample in mine
    }
    names = max(len(contender) * letter for contender, letter in letters.items()) + 0.15
    total = sum(heights) + 0.1
    left, right = (
        (names, 0.1) if plot.over == "contender" else (0.62 if plot.value == "memory" else 0.5, names)
    )
    # An axis with a label needs more space below it.
    tall, between = (0.5, 0.8) if plot.over == "threads" else (0.36, 0.62)
    whole.subplots_adjust(
        left=left / width,
        right=1 - right / width,
        top=1 - 0.3 / total,
        bottom=(0.1 if plot.over == "contender" else tall) / total,
        wspace=(left + right) / ((width - columns * (left + right)) / columns),
        hspace=between / (total / down - between),
    )
    whole.canvas.draw_idle()
    for axes in whole.axes:
        # The title starts at the edge of the plot, because a long one would not fit over a narrow
        # panel.
        axes.lab_title.set_x(0.03 / width - left / (axes.get_position().width * width))
        _name_ends(axes)


def _name_ends(axes: Any) -> None:
    """Writes the names at the ends of the lines. Names that would overlap move apart and get a thin line."""
    ends = axes.lab_ends
    if not ends:
        return
    figure = axes.figure
    inches = axes.get_position().height * figure.get_figheight()
    wide = axes.get_position().width * figure.get_figwidth()
    low, high = (math.log(limit) for limit in axes.get_ylim())
    last = max(end[2] for end in ends)
    ends = sorted(ends, key=lambda end: end[3])
    wanted = [(math.log(end[3]) - low) / (high - low) * inches for end in ends]
    placed = spread(wanted, _LABEL, 0.0, inches)
    for (contender, colour, x, y, ours), to, was in zip(ends, placed, wanted, strict=True):
        left, right = (math.log(limit) for limit in axes.get_xlim())
        ahead = (math.log(last) - math.log(x)) / (right - left) * wide
        if ahead > len(contender) * _LETTER:  # The line ends early; its name follows directly.
            axes.annotate(contender, (x, y), xytext=(4, 4), textcoords="offset points", color=colour)
            continue
        offset = (9 + ahead * 72, (to - was) * 72)
        weight = "bold" if ours else "normal"
        axes.annotate(
            contender,
            (x, y),
            offset,
            textcoords="offset points",
            va="center",
            color=colour,
            fontweight=weight,
        )
        if abs(to - was) > 0.05 or ahead > 0:
            hair = {"arrowstyle": "-", "linewidth": 0.5, "color": colour, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (x, y), (offset[0] - 1, offset[1]), textcoords="offset points", arrowprops=hair)


def spread(wanted: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Moves the sorted places until they are ``apart`` from each other, between ``low`` and ``high`` if they
    fit.
    """
    last = max(low, high - (len(wanted) - 1) * apart)
    # This is an isotonic regression: after the distances are subtracted, the places have to be in
    # order, and places that are not are merged into a group at their mean.
    groups: list[tuple[float, int]] = []
    for index, place in enumerate(wanted):
        sum_, size = min(max(place - index * apart, low), last), 1
        while groups and groups[-1][0] / groups[-1][1] > sum_ / size:
            before = groups.pop()
            sum_, size = sum_ + before[0], size + before[1]
        groups.append((sum_, size))
    middles = [sum_ / size for sum_, size in groups for _ in range(size)]
    return [middle + index * apart for index, middle in enumerate(middles)]


def _ticks(axis: Any, plot: Plot, low: float, high: float) -> None:
    """Sets ticks at 1, 2 and 5 of every decade, or only at 1 if these would be too many."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    decades = math.log10(high / low)
    steps = (1, 2, 5) if decades < 3.2 else (1,)
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    places = [step * 10.0**e for e in range(first, last) for step in steps]
    if plot.value == "memory":
        places = [float(1 << shift) for shift in range(10, 50, 2)]
    axis.set_major_locator(FixedLocator(places))
    axis.set_minor_locator(_nothing())
    texts = {"time": time_text, "calls": calls_text, "rate": digits, "cost": digits, "memory": memory_text}
    axis.set_major_formatter(FuncFormatter(lambda value, _: _short(texts[plot.value](value))))


def _short(text: str) -> str:
    return re.sub(r"\.0+(?=\D|$)", "", re.sub(r"(\.\d*?[1-9])0+(?=\D|$)", r"\1", text))


def _nothing() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


_RC: Any = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": style.FONTS,
    "font.size": 8.5,
    "text.color": style.INK["ink"][0],
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.edgecolor": style.INK["faint"][0],
    "axes.labelcolor": style.INK["soft"][0],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": style.INK["faint"][0],
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.color": style.INK["faint"][0],
    "xtick.labelcolor": style.INK["soft"][0],
    "ytick.color": style.INK["faint"][0],
    "ytick.labelcolor": style.INK["soft"][0],
    "ytick.major.size": 0,
    "xtick.major.size": 3,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def svg(plot: Plot, samples: Sequence[Sample], width: float, salt: str, themed: bool = True) -> str | None:
    """Returns the plot as text of an ``<svg>``; the same samples give the same text.

    ``salt`` makes its ids unique in a page. A themed plot uses the colours of the page, others a white
    background.
    """
    drawn = figure(plot, samples, width)
    if drawn is None:
        return None
    text = _svg(drawn, salt, "none" if themed else "white")
    if not themed:
        return text
    for light, name in style.NAMES.items():
        text = text.replace(light, f"var({name})")
    # The plot takes the fonts and the width of the page.
    text = re.sub(r'font-family="[^"]*"|font-family: [^;"]*', lambda m: "", text)
    text = re.sub(r"(font: (?:bold )?[\d.]+px) [^;\"]*", r"\1 sans-serif", text)
    text = re.sub(r'<svg ([^>]*?)width="([\d.]+)pt" height="[\d.]+pt"', r"<svg \1", text, count=1)
    text = re.sub(
        r'<g id="[^"]*"', "<g", text
    )  # No element refers to these ids, and all plots have the same.
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    return text.replace("<svg ", f'<svg role="img" data-salt="{salt}" ', 1)


def _svg(drawn: Any, salt: str, page: str) -> str:
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({**_RC, "svg.hashsalt": salt}):
        drawn.savefig(out, format="svg", facecolor=page, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def save(experiment: Experiment, samples: Sequence[Sample], folder: Path) -> list[Path]:
    """Writes every plot of an experiment as PNG and SVG, on white. Returns the paths."""
    from matplotlib import rc_context

    written = []
    for index, plot in enumerate(experiment.plots):
        drawn = figure(plot, samples, WIDE)
        if drawn is None:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{experiment.name}-{index + 1}"
        lines, pixels = folder / f"{name}.svg", folder / f"{name}.png"
        lines.write_text(_svg(drawn, name, "white"), encoding="utf-8")
        with rc_context(_RC):
            drawn.savefig(pixels, dpi=160, facecolor="white")
        written += [lines, pixels]
    return written
