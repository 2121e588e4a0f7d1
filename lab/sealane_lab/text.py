"""Formats figures with three digits and a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sealane_lab.results import Sample


def size_text(size: int) -> str:
    """Returns a size in the largest unit of which it is a whole number, for example "1 KiB" or "1500 B"."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >> shift and not size % (1 << shift):
            return f"{size >> shift} {unit}"
    if size >= 10 << 20:
        return f"{size / (1 << 20):.1f} MiB"
    return f"{size} B"


def time_text(seconds: float) -> str:
    """Returns a time with its unit, for example "12.3 µs"."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{digits(seconds / scale)} {unit}"
    return f"{digits(seconds / 1e-9)} ns"


def cost_text(sample: Sample) -> str:
    """Returns the cost of a byte, for example "0.0783 ns a byte"."""
    return f"{digits(sample.median / sample.size * 1e9)} ns a byte"


def memory_text(size: float) -> str:
    """Returns an amount of memory, for example "28.3 MiB"."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{digits(size / (1 << shift))} {unit}"
    return f"{size:.0f} B"


def rate_text(gigabytes: float) -> str:
    """Returns a rate in GB/s or MB/s, where GB is 10^9 bytes."""
    return f"{digits(gigabytes)} GB/s" if gigabytes >= 1 else f"{digits(gigabytes * 1000)} MB/s"


def calls_text(calls: float) -> str:
    """Returns a number of calls per second, for example "1.20 M/s"."""
    for unit, scale in (("M", 1e6), ("k", 1e3)):
        if calls >= scale:
            return f"{digits(calls / scale)} {unit}/s"
    return f"{digits(calls)} /s"


def times_text(ratio: float) -> str:
    """Returns a ratio, for example "2.00x"."""
    return f"{digits(ratio)}x"


def digits(value: float) -> str:
    """Returns a number with three significant digits."""
    if value < 0.0995:
        return f"{value:.3g}"
    # The limits are those of the rounded value: 9.999 becomes 10.0.
    places = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{places}f}"
