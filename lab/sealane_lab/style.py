"""Colours, dashes and fonts of the plots, readable without telling red from green.

Each peer has one colour in every plot, and each kind of call one dash pattern. The hues are those of Okabe
and Ito, with a lighter set for dark pages. Plots inside the report use the CSS variables of the page.
"""

from __future__ import annotations

from typing import Final

from sealane_lab.model import OURS

# Colours on light and on dark pages.
INK: Final = {
    "ink": ("#1b1b1a", "#eceae6"),
    "soft": ("#6a6964", "#a3a19b"),
    "faint": ("#dddcd8", "#3a3a38"),
    "limit": ("#8f8d87", "#7d7b75"),
}
PEERS: Final = {
    OURS: ("#0069ab", "#58b1ec"),
    "cryptography": ("#cf5a01", "#f0883e"),
    "pycryptodome": ("#b9629a", "#dd94c0"),
    "PyFLocker": ("#b8860a", "#e3b04b"),
    "rencrypt": ("#00825d", "#3cc79b"),
    "PyNaCl": ("#5b4fa3", "#a79ceb"),
    "tink": ("#7a6a00", "#c9b93c"),
    "eciespy": ("#8c3b4a", "#e08b98"),
    "pyaegis": ("#3f7f86", "#77c2ca"),
    "pyrage": ("#76561f", "#c9a36a"),
    "age": ("#5f6b1d", "#b3c15a"),
    "rage": ("#8a5a44", "#d3a58f"),
    "openssl": ("#56606b", "#a9b5c1"),
}

NAMES: Final = {
    **{light: f"--{name}" for name, (light, _) in INK.items()},
    **{light: f"--{name.lower()}" for name, (light, _) in PEERS.items()},
}
"""Maps each light colour to its CSS variable."""

DASHES: Final[dict[str, tuple[float, tuple[float, ...]]]] = {
    "in place": (0, ()),
    "into": (0, (4, 1.5)),
    "new bytes": (0, (1, 1.2)),
    "one thread": (0, (6, 1.5, 1, 1.5)),
    "192": (0, (4, 1.5)),
    "256": (0, (1, 1.2)),
    "RSA-3072": (0, (4, 1.5)),
    "ECIES": (0, (1, 1.2)),
    "HPKE": (0, (6, 1.5, 1, 1.5)),
    "X-Wing": (0, (6, 1.2, 1, 1.2, 1, 1.2)),
    "GCM": (0, (6, 1.5, 1, 1.5)),  # Next to CTR. In "AES-256-GCM" the key length decides.
}

FONTS: Final = ["DejaVu Sans", "Verdana", "Arial"]
"""The first font comes with matplotlib, so that plots are the same everywhere. The reader of an SVG may lack
it and takes the next one; Verdana is as wide. The report uses the font of the page.
"""


def colour(peer: str) -> str:
    """Returns the light colour of a peer; grey if the table has none."""
    return PEERS.get(peer, INK["soft"])[0]


def dash(contender: str) -> tuple[float, tuple[float, ...]]:
    """Returns the dash pattern by a word of the name; a solid line for other names."""
    return next((dashes for word, dashes in DASHES.items() if word in contender), (0, ()))


def css() -> str:
    """Returns the CSS variables for light and dark pages."""
    tables = {**INK, **{name.lower(): pair for name, pair in PEERS.items()}}

    def block(which: int) -> str:
        return "".join(f"--{name}:{pair[which]};" for name, pair in tables.items())

    light = f":root{{color-scheme:light dark;--page:#fbfaf8;--card:#f3f2ee;{block(0)}}}"
    dark = f":root{{--page:#171716;--card:#20201e;{block(1)}}}"
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"
