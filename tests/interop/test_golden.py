"""Files that other implementations and older releases wrote are readable from Python."""

from __future__ import annotations

from pathlib import Path

import pytest
import sealane
from support import ROOT, pattern

GOLDEN = ROOT / "tests" / "golden"
CHUNKED = sorted(GOLDEN.glob("*.sealed"))
AGE = sorted(path for path in (GOLDEN / "age").iterdir() if path.suffix != ".key")
TINK = sorted(path for path in (GOLDEN / "tink").iterdir() if path.suffix != ".json")


def name(path: Path) -> str:
    return path.name


def test_every_golden_file_has_a_test() -> None:
    known = {
        *CHUNKED,
        *AGE,
        *TINK,
        GOLDEN / "README.md",
        *GOLDEN.glob("age/*.key"),
        *GOLDEN.glob("tink/*.json"),
    }
    assert {path for path in GOLDEN.rglob("*") if path.is_file()} == known
    assert [len(files) for files in (CHUNKED, AGE, TINK)] == [8, 19, 14]


@pytest.mark.parametrize("path", CHUNKED, ids=name)
def test_chunked(path: Path) -> None:
    _, bits, length = path.stem.split("-")
    key = bytes(range(int(bits) // 8))
    assert sealane.decrypt(path.read_bytes(), key=key, context=b"golden") == pattern(int(length))


@pytest.mark.parametrize("path", AGE, ids=name)
def test_age(path: Path) -> None:
    kind, length, _ = path.name.rsplit("-", 2)
    data = pattern(int(length))
    if kind == "passphrase":
        assert sealane.decrypt(path.read_bytes(), passphrase="golden") == data
        return
    key = path.with_name(f"{kind}.key")
    assert sealane.decrypt(path.read_bytes(), identities=[key]) == data
    with sealane.open(path, "rb", identities=[key.read_text()]) as file:
        file.seek(len(data) // 2)
        assert file.read() == data[len(data) // 2 :]


@pytest.mark.parametrize("path", TINK, ids=name)
def test_tink(path: Path) -> None:
    template, length = path.stem.rsplit("-", 1)
    data, key = (
        pattern(int(length)),
        sealane.keys.Keyring.from_json(path.with_name(f"{template}.json").read_text()),
    )
    assert sealane.decrypt(path.read_bytes(), key=key, context=b"golden") == data
    with sealane.open(path, "rb", key=key, context=b"golden") as file:
        file.seek(len(data) // 2)
        assert file.read() == data[len(data) // 2 :]
