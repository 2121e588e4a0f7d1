"""Colours and type of the pictures: one quiet style, told apart without red and green.

A colour belongs to a peer, in every picture; how it is called makes the dashes. The hues are those of Okabe
and Ito, made lighter for the dark page. Pictures inside the report take them from the page, by name.
"""

from __future__ import annotations

from typing import Final

from sealane_lab.model import OURS

# What is drawn with: light, dark.
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
"""Each light colour to the name that the page has for it."""

DASHES: Final[dict[str, tuple[float, tuple[float, ...]]]] = {
    "in place": (0, ()),
    "into": (0, (4, 1.5)),
    "new bytes": (0, (1, 1.2)),
    "192": (0, (4, 1.5)),
    "256": (0, (1, 1.2)),
    "RSA-3072": (0, (4, 1.5)),
    "ECIES": (0, (1, 1.2)),
    "HPKE": (0, (6, 1.5, 1, 1.5)),
    "X-Wing": (0, (6, 1.2, 1, 1.2, 1, 1.2)),
    "GCM": (0, (6, 1.5, 1, 1.5)),  # Beside CTR; of AES-256-GCM the key's length has it.
}

FONTS: Final = ["DejaVu Sans", "Verdana", "Arial"]
"""What matplotlib brings along: the same pictures everywhere. An SVG asks for the next where the reader lacks
that one; Verdana is as wide. The report has the page's font instead.
"""


def colour(peer: str) -> str:
    """The light one. Grey for who is not in the table."""
    return PEERS.get(peer, INK["soft"])[0]


def dash(way: str) -> tuple[float, tuple[float, ...]]:
    """By a word of the way's name; whole for the others."""
    return next((dashes for word, dashes in DASHES.items() if word in way), (0, ()))


def css() -> str:
    """The names, for light pages and dark ones."""
    tables = {**INK, **{name.lower(): pair for name, pair in PEERS.items()}}

    def block(which: int) -> str:
        return "".join(f"--{name}:{pair[which]};" for name, pair in tables.items())

    light = f":root{{color-scheme:light dark;--page:#fbfaf8;--card:#f3f2ee;{block(0)}}}"
    dark = f":root{{--page:#171716;--card:#20201e;{block(1)}}}"
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"
