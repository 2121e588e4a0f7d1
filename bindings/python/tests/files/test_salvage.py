"""Tests of ``sealane.salvage_file``: the parts of damaged files that verify."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import sealane
from support import leftovers, pattern

KEY = sealane.generate_key("aes-256-gcm")
AGE = sealane.keys.generate("age")
DATA = pattern(300_000)
KEYS: list[tuple[dict[str, Any], dict[str, Any], int]] = [
    ({"key": KEY}, {"key": KEY}, 16_384),
    ({"recipients": [AGE.public]}, {"identities": [AGE]}, 65_536),
    ({"key": KEY, "format": "tink-4kb"}, {"key": KEY, "format": "tink-4kb"}, 4080),
]


@pytest.mark.parametrize(("encrypt", "decrypt", "chunk"), KEYS)
def test_a_changed_bit(tmp_path: Path, encrypt: dict[str, Any], decrypt: dict[str, Any], chunk: int) -> None:
    sealed = bytearray(sealane.encrypt(DATA, **encrypt))
    src, dst = tmp_path / "sealed", tmp_path / "out"
    src.write_bytes(sealed)
    report = sealane.salvage_file(src, str(dst), **decrypt)
    assert (report.complete, report.verified, report.holes) == (True, len(DATA), ())
    assert dst.read_bytes() == DATA
    sealed[150_000] ^= 1
    src.write_bytes(sealed)
    seen: list[int] = []
    report = sealane.salvage_file(
        src, dst, **decrypt, threads=2, progress=lambda done, total: seen.append(done), durable=True
    )
    [hole] = report.holes
    assert hole.file_start <= 150_000 < hole.file_end
    assert hole.end - hole.start == chunk
    assert (report.header, report.end, report.complete) == ("verified", "verified", False)
    assert report.verified == len(DATA) - chunk
    assert seen
    assert dst.read_bytes() == DATA[: hole.start] + bytes(chunk) + DATA[hole.end :]
    src.write_bytes(sealed[:-1])
    assert sealane.salvage_file(src, dst, **decrypt).end == "damaged"
    assert leftovers(tmp_path, "sealed", "out") == []


def test_a_cut_file_and_a_damaged_header(tmp_path: Path) -> None:
    sealed = sealane.encrypt(DATA, key=KEY)
    src, dst = tmp_path / "sealed", tmp_path / "out"
    src.write_bytes(sealed[: 56 + 3 * 16_400])
    report = sealane.salvage_file(src, dst, key=KEY)
    assert (report.end, report.size, report.holes) == ("cut", 3 * 16_384, ())
    assert dst.read_bytes() == DATA[: 3 * 16_384]
    src.write_bytes(sealed[:30] + bytes([sealed[30] ^ 1]) + sealed[31:])
    report = sealane.salvage_file(src, dst, key=KEY)
    assert (report.header, report.complete, dst.read_bytes() == DATA) == ("damaged", True, True)
    dst.unlink()
    src.write_bytes(bytes([sealed[0] ^ 1]) + sealed[1:])
    with pytest.raises(sealane.AuthenticationError):
        sealane.salvage_file(src, dst, key=KEY)
    assert leftovers(tmp_path, "sealed") == []


def test_what_cannot_be_salvaged(tmp_path: Path) -> None:
    src = tmp_path / "sealed"
    src.write_bytes(sealane.encrypt(DATA, key=KEY))
    with pytest.raises(ValueError, match="same file"):
        sealane.salvage_file(src, src, key=KEY)
    with pytest.raises(TypeError, match="paths"):
        sealane.salvage_file(io.BytesIO(), src, key=KEY)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        sealane.salvage_file(tmp_path / "no", tmp_path / "out", key=KEY)
    with pytest.raises(ValueError, match="pipe"):
        sealane.salvage_file("/dev/null", tmp_path / "out", key=KEY)
    src.write_bytes(b"")
    with pytest.raises(sealane.TruncatedError):
        sealane.salvage_file(src, tmp_path / "out", key=KEY)
    assert leftovers(tmp_path, "sealed") == []
