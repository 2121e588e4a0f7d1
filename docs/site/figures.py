"""Draws the figures of the guide in docs/guide/figures: ``python docs/site/figures.py``.

The plot comes from a record, and the bars from the rows of the page on speed. ``make docs`` fails if a figure
differs from what this script draws. Each is 400 units wide, so that it can be read on a telephone.
"""

from __future__ import annotations

import csv
import functools
import math
import textwrap
from collections import defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

import speed

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "guide" / "figures"
RECORD = ROOT / "lab" / "record" / "lab-zen4-2026-11-22" / "results.csv"

# The colours follow the reader's system. Contrast with the background is at least 4.5 in both.
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1b1f24; }
.small { font-size: 11px; fill: #57606a; }
.tiny { font-size: 10px; fill: #57606a; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.box { fill: #f6f8fa; stroke: #8c959f; }
.hot { fill: #ddf4ff; stroke: #0969da; }
.ours { fill: #0969da; } .other { fill: #9aa4ae; }
.line { fill: none; stroke: #8c959f; }
.grid { stroke: #d0d7de; stroke-width: 0.5; }
.a { stroke: #0969da; fill: none; stroke-width: 2.5; } text.a { fill: #0969da; stroke: none; }
.b { stroke: #bc4c00; fill: none; stroke-width: 1.5; } text.b { fill: #bc4c00; stroke: none; }
.c { stroke: #1a7f37; fill: none; stroke-width: 1.5; } text.c { fill: #1a7f37; stroke: none; }
.d { stroke: #8250df; fill: none; stroke-width: 1.5; } text.d { fill: #8250df; stroke: none; }
.e { stroke: #57606a; fill: none; stroke-dasharray: 4 3; } text.e { fill: #57606a; stroke: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .small, .tiny { fill: #9198a1; }
  .box { fill: #161b22; stroke: #6e7681; } .hot { fill: #0c2d6b; stroke: #58a6ff; }
  .ours { fill: #58a6ff; } .other { fill: #6e7681; }
  .line { stroke: #6e7681; } .grid { stroke: #30363d; }
  .a { stroke: #58a6ff; } text.a { fill: #58a6ff; } .b { stroke: #f0883e; } text.b { fill: #f0883e; }
  .c { stroke: #3fb950; } text.c { fill: #3fb950; } .d { stroke: #bc8cff; } text.d { fill: #bc8cff; }
  .e { stroke: #9198a1; } text.e { fill: #9198a1; }
}
"""


class Figure:
    """An SVG picture of 400 units width."""

    def __init__(self, height: int, title: str) -> None:
        self.height, self.title = height, title
        self.parts: list[str] = []

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{style}">{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, *lines: str, style: str = "box") -> None:
        """Draws a box with lines of text in its middle; lines after the first are small."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" class="{style}"/>'
        )
        top = y + height / 2 + 4 - 7 * (len(lines) - 1)
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + 14 * number, line, "middle" + (" small" if number else ""))

    def path(self, points: list[tuple[float, float]], style: str = "line") -> None:
        self.parts.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" class="{style}"/>')

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        angle = math.atan2(to_y - y, to_x - x)
        wings = [
            (to_x - 7 * math.cos(angle + turn), to_y - 7 * math.sin(angle + turn)) for turn in (-0.4, 0.4)
        ]
        self.path([(x, y), (to_x, to_y)])
        self.path([wings[0], (to_x, to_y), wings[1]])

    def __str__(self) -> str:
        # Without a size of its own, a picture would fill the page of README.
        size = f'width="560" height="{self.height * 1.4:g}" viewBox="0 0 400 {self.height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        return "\n".join(
            [head, f"<title>{escape(self.title)}</title>", f"<style>{STYLE}</style>", *self.parts, "</svg>\n"]
        )


# Ways of the record, their labels, and where the labels stand: the size, the place beside the line.
WAYS = [
    ("sealane into", "sealane", "a", 256, (-6, -10), "end"),
    ("cryptography into", "cryptography", "b", 1 << 17, (0, 16), "middle"),
    ("pycryptodome into", "pycryptodome", "c", 4096, (8, 14), ""),
    ("PyNaCl new bytes", "PyNaCl", "d", 64, (8, 14), ""),
]


def throughput() -> Figure:
    """Draws the throughput of one message by its size, from the record."""
    rates: dict[str, dict[int, float]] = defaultdict(dict)
    with RECORD.open() as file:
        for row in csv.DictReader(file):
            if row["experiment"] in {"small", "buffers"} and row["task"] == "encrypt":
                size = int(row["size"])
                rates[row["way"]][size] = size / float(row["median"]) / 1e9
    figure = Figure(
        300, "Throughput of one message by its size, of sealane, cryptography, pycryptodome and PyNaCl"
    )
    left, right, top, bottom = 44, 390, 34, 262
    sizes, gigabytes = (4, 20), (-3.6, 1.2)

    def place(size: float, rate: float) -> tuple[float, float]:
        x = left + (math.log2(size) - sizes[0]) / (sizes[1] - sizes[0]) * (right - left)
        y = bottom - (math.log10(rate) - gigabytes[0]) / (gigabytes[1] - gigabytes[0]) * (bottom - top)
        return x, y

    figure.text(8, 16, "AES-256-GCM from Python, one message, GB/s")
    for rate, label in ((0.001, "0.001"), (0.01, "0.01"), (0.1, "0.1"), (1, "1"), (10, "10")):
        figure.path([place(16, rate), place(1 << 20, rate)], "grid")
        figure.text(left - 5, place(16, rate)[1] + 4, label, "small end")
    for size, label in ((16, "16 B"), (256, "256 B"), (4096, "4 KiB"), (65536, "64 KiB"), (1 << 20, "1 MiB")):
        figure.path([place(size, 10 ** gigabytes[0]), place(size, 10 ** gigabytes[1])], "grid")
        figure.text(
            place(size, 1)[0], bottom + 15, label, "small " + ("end" if size == 1 << 20 else "middle")
        )
    limit = rates["AES in registers"]
    ceiling = min(limit[size] for size in limit if size <= 1 << 20)
    figure.path([place(16, ceiling), place(1 << 20, ceiling)], "e")
    figure.text(
        place(16, ceiling)[0] + 4, place(16, ceiling)[1] - 5, "what the processor's AES can do", "e small"
    )
    for way, label, style, at, (right_by, down_by), anchor in WAYS:
        points = sorted((size, rate) for size, rate in rates[way].items() if size <= 1 << 20)
        figure.path([place(*point) for point in points], style)
        x, y = place(at, rates[way][at])
        figure.text(x + right_by, y + down_by, label, f"{style} {anchor}")
    figure.text(8, 294, "PyNaCl: XSalsa20-Poly1305. AMD EPYC (Zen 4); medians of one run", "small")
    return figure


def layout() -> Figure:
    """Draws an encrypted file, and what a read of 4 KiB touches."""
    figure = Figure(
        190, "An encrypted file: a header, then chunks; a read of 4 KiB touches the header and one chunk"
    )
    figure.text(8, 18, "plaintext")
    for number in range(4):
        figure.box(74 + 80 * number, 28, 76, 26, "16 KiB", style="hot" if number == 2 else "box")
    figure.box(294, 32, 12, 18, style="hot")
    figure.arrow(300, 70, 300, 52)
    figure.text(180, 74, "4 KiB that you read", "small")
    figure.text(8, 100, "file")
    figure.box(8, 108, 62, 34, "header", "56 bytes", style="hot")
    for number in range(4):
        lines = ("chunk", "and tag") if number != 2 else ("chunk", "verified")
        figure.box(74 + 80 * number, 108, 76, 34, *lines, style="hot" if number == 2 else "box")
    figure.text(8, 162, "Only what is blue is fetched. Each chunk is bound to its place", "small")
    figure.text(8, 177, "and the last to the end; what does not verify is not returned.", "small")
    return figure


def keys() -> Figure:
    """Draws which key opens which."""
    figure = Figure(
        220,
        "Keys: a key service or token wraps the dataset key, which holds a keyring; its keys encrypt files",
    )
    figure.box(8, 20, 118, 44, "key service", "or hardware token")
    figure.box(141, 20, 118, 44, "dataset key", "lies beside the data")
    figure.box(274, 20, 118, 44, "keyring", "a Tink keyset")
    figure.arrow(126, 42, 139, 42)
    figure.arrow(259, 42, 272, 42)
    figure.text(67, 80, "wraps", "small middle")
    figure.text(200, 80, "holds", "small middle")
    for number, (name, state) in enumerate((("key 1", "opens old"), ("key 2", "encrypts new"))):
        x = 196 + 100 * number
        figure.box(x, 104, 96, 38, name, state, style="hot" if number else "box")
        figure.arrow(333, 64, x + 48, 102)
        figure.box(x, 166, 96, 26, "files", style="hot" if number else "box")
        figure.arrow(x + 48, 142, x + 48, 164)
    figure.text(8, 118, "Rotating adds a key.", "small")
    figure.text(8, 134, "No data is rewritten", "small")
    figure.text(8, 150, "until you want it.", "small")
    figure.text(8, 212, "A key or keyring in a file works without a key service.", "small")
    return figure


def recipients() -> Figure:
    """Draws who can open an age file."""
    figure = Figure(204, "An age file: its key is wrapped for each recipient, and any of them opens it")
    for number, (who, key) in enumerate(
        (("Alice", "age identity"), ("Bob", "SSH key"), ("Carol", "token, plugin"))
    ):
        y = 16 + 50 * number
        figure.box(8, y, 116, 38, who, key)
        figure.arrow(124, y + 19, 168, y + 19)
        figure.box(170, y, 104, 38, "file key", f"for {who}")
        figure.arrow(274, y + 19, 302, 85)
    figure.box(304, 60, 88, 50, "file", "opens", style="hot")
    figure.text(8, 184, "Encrypting needs public keys only: a machine can write what", "small")
    figure.text(8, 199, "it cannot read.", "small")
    return figure


def reveals() -> Figure:
    """Draws what an encrypted folder shows without a key."""
    figure = Figure(
        236,
        "An encrypted folder shows sizes, times and the tree; names unless they are encrypted",
    )
    figure.text(104, 16, "you have", "middle")
    figure.text(296, 16, "the holder of the disk sees", "middle")
    rows = [
        ("letters/", "Zq3f…/", "names, if encrypted"),
        ("2026-04.txt", "b81T….sealed", "one file for each file"),
        ("3,120 bytes", "3,192 bytes", "sizes, to the byte"),
        ("changed 11:02", "changed 11:02", "with --preserve"),
        ("Dear Alice,", "8f 1c 77 e0 …", "nothing of the content"),
    ]
    for number, (mine, theirs, note) in enumerate(rows):
        y = 28 + 40 * number
        figure.box(8, y, 130, 26, mine, style="hot")
        figure.box(150, y, 110, 26, theirs)
        figure.text(268, y + 17, note, "small")
    figure.text(8, 230, "An inventory finds exchanged and old files.", "small")
    return figure


# The groups of the rows that each figure of bars shows.
BARS = {
    "speed-messages": ("Messages and ciphers", "gcm siv ctr chacha python aegis speck tls"),
    "speed-python": ("From Python", "calls hybrid jwe rsa"),
    "speed-files": ("Files, folders and datasets", "files age folders vaults local many parquet fields"),
}


def bars(name: str, slug: str) -> Figure:
    """Draws the ratios of a processor: a bar to the right of 1 is faster than the peer."""
    title, groups = BARS[name]
    found = [column for column in speed.columns() if column.record.name.startswith(slug)]
    entries: list[tuple[list[str], list[float | None]]] = []
    for row in speed.rows():
        if row.group not in groups.split() or row.shows != "ratio":
            continue
        columns = [row.figures(column) for column in found]
        for at, work in enumerate(row.works):
            if shown := [some[at] for some in columns if some]:
                label = work if "beside" in work else f"{work}, beside {shown[0].peer}"
                ratios = [some[at].ratio if some else None for some in columns]
                entries.append((textwrap.wrap(label, 60, break_on_hyphens=False), ratios))
    lines = sum(len(label) for label, _ in entries)
    figure = Figure(56 + 12 * lines + 24 * len(entries), f"{title}: how many times as fast as the peer")
    left, right, y = 12, 368, 50
    highest = max([16.0, *(ratio for _, ratios in entries for ratio in ratios if ratio)])

    def place(ratio: float) -> float:
        return left + math.log2(max(ratio, 0.25) / 0.25) / math.log2(highest / 0.25) * (right - left)

    figure.text(8, 16, f"{title}, times as fast as the peer")
    for number, column in enumerate(found):
        figure.box(8 + 120 * number, 24, 10, 10, style="other" if number else "ours")
        figure.text(22 + 120 * number, 33, column.title, "small")
    ticks = (0.25, 0.5, 1, 2, 4, 8, 16)
    for ratio in ticks:
        figure.text(place(ratio), y - 4, f"{ratio:g}", "small middle")
    for label, ratios in entries:
        for line in label:
            y += 12
            figure.text(left, y, line, "small")
        # No line of the grid crosses a label.
        for ratio in ticks:
            x = place(ratio)
            figure.path([(x, y + 3), (x, y + 22)], "line" if ratio == 1 else "grid")
        for at, ratio in enumerate(ratios):
            if ratio is not None:
                one, end = sorted((place(1), place(ratio)))
                figure.box(one, y + 4 + 9 * at, max(end - one, 1), 8, style="other" if at else "ours")
                figure.text(end + 3, y + 12 + 9 * at, f"{ratio:.3g}", "tiny")
        y += 24
    return figure


FIGURE_OF = {
    **{f"{name}-{slug}": functools.partial(bars, name, slug) for name in BARS for slug in speed.PROCESSORS},
    "throughput": throughput,
    "file": layout,
    "keys": keys,
    "recipients": recipients,
    "reveals": reveals,
}


def stale() -> list[str]:
    """Returns the names of the figures that differ from what this script draws."""
    paths = {name: FIGURES / f"{name}.svg" for name in FIGURE_OF}
    return [
        name
        for name, path in paths.items()
        if not path.is_file() or path.read_text() != str(FIGURE_OF[name]())
    ]


if __name__ == "__main__":
    FIGURES.mkdir(exist_ok=True)
    for name, draw in FIGURE_OF.items():
        (FIGURES / f"{name}.svg").write_text(str(draw()))
