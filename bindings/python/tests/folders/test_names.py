"""Tests of folders with encrypted names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import sealane
from executors import EXECUTORS, KEY
from support import pattern

# As in test_bulk.py.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

NAMES = sealane.keys.generate("aes-256-siv")
TREE = {"a.csv": 10, "deep/er/b": 20_000, "deep/c": 0, "deep/\udcff\udcfe": 7}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    for name, length in TREE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pattern(length))
    (folder / "empty").mkdir()
    os.symlink("deep/c", folder / "link")
    return folder


def contents(folder: Path) -> dict[str, bytes | str | None]:
    """Files, links and folders below ``folder``; None for a folder."""
    found: dict[str, bytes | str | None] = {}
    for path in folder.rglob("*"):
        link = os.readlink(path) if path.is_symlink() else None
        found[str(path.relative_to(folder))] = link or (None if path.is_dir() else path.read_bytes())
    return found


@pytest.mark.parametrize("kind", ["its own threads", "forked"])
@pytest.mark.parametrize("as_reference", [False, True])
def test_round_trip(
    source: Path, tmp_path: Path, kind: str, as_reference: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEALANE_TEST_KEY", KEY.to_text())
    monkeypatch.setenv("SEALANE_TEST_NAMES", NAMES.to_text())
    names = "env:SEALANE_TEST_NAMES" if as_reference else NAMES
    vault, back, manifest = tmp_path / "vault", tmp_path / "back", tmp_path / "manifest"
    with EXECUTORS[kind]() as executor:
        for number in range(2):
            report = sealane.encrypt_tree(
                source,
                vault,
                suffix=".s",
                key="env:SEALANE_TEST_KEY",
                encrypt_names=names,
                preserve=True,
                manifest=manifest,
                executor=executor,
            )
            assert (report.done, report.skipped, report.links) == ((4, 0, 1), (0, 4, 1))[number]
        for name in contents(vault):
            assert all(part.removesuffix(".s").isalnum() for part in Path(name).parts)
            assert not {"a.csv", "deep", "c", "empty", "link"} & {part[:-2] for part in Path(name).parts}
        read = {"suffix": ".s", "key": "env:SEALANE_TEST_KEY", "encrypt_names": names, "preserve": True}
        assert sealane.verify_tree(vault, executor=executor, **read).done == 4  # type: ignore[arg-type]
        sealane.decrypt_tree(vault, back, executor=executor, **read)  # type: ignore[arg-type]
    assert contents(back) == contents(source)


def test_names_are_those_of_deterministic_aead(source: Path, tmp_path: Path) -> None:
    sealane.encrypt_tree(source, tmp_path / "vault", key=KEY, encrypt_names=NAMES, preserve=True)
    daead = sealane.DeterministicAead("aes-256-siv", NAMES)

    def name(plain: bytes, folder: bytes) -> str:
        import base64

        return base64.b32hexencode(daead.encrypt(plain, folder)).decode().rstrip("=").lower()

    path = tmp_path / "vault" / name(b"deep", b"") / name(b"er", b"deep") / name(b"b", b"deep/er")
    assert sealane.decrypt(path.read_bytes(), key=KEY) == pattern(20_000)
    assert os.readlink(tmp_path / "vault" / name(b"link", b"")) == name(b"deep/c", b"link/")


# claim: names-refused, names-hidden
def test_names_that_do_not_decrypt(source: Path, tmp_path: Path) -> None:
    vault, back = tmp_path / "vault", tmp_path / "back"
    sealane.encrypt_tree(source, vault, key=KEY, encrypt_names=NAMES, preserve=True)
    other = sealane.keys.generate("aes-256-siv")
    report = sealane.decrypt_tree(vault, back, key=KEY, encrypt_names=other, preserve=True, errors="return")
    assert (report.done, len(report.failed)) == (0, 4)
    for path, error in report.failed.items():
        assert isinstance(error, sealane.AuthenticationError)
        assert str(error).startswith(path)
        assert "a.csv" not in str(error)
    assert contents(back) == {}
    # Content is verified without the key of the names.
    assert sealane.verify_tree(vault, key=KEY, preserve=True).done == 4


def test_names_that_are_too_long(source: Path, tmp_path: Path) -> None:
    long = source / ("x" * 144)
    long.write_bytes(b"")
    report = sealane.encrypt_tree(
        source, tmp_path / "vault", key=KEY, encrypt_names=NAMES, preserve=True, errors="return"
    )
    assert report.done == 4
    assert isinstance(report.failed[str(long)], sealane.LimitExceededError)
    assert "at most 143 bytes" in str(report.failed[str(long)])


def test_rotation_and_removal(source: Path, tmp_path: Path) -> None:
    vault, back = tmp_path / "vault", tmp_path / "back"
    ring = sealane.keys.Keyring.generate("aes-256-siv")
    job = {"key": KEY, "preserve": True, "manifest": tmp_path / "manifest"}
    sealane.encrypt_tree(source, vault, encrypt_names=ring, **job)  # type: ignore[arg-type]
    old, before = ring.primary, contents(vault)
    ring.rotate()
    sealane.encrypt_tree(source, vault, encrypt_names=ring, **job)  # type: ignore[arg-type]
    report = sealane.decrypt_tree(vault, back, key=KEY, encrypt_names=ring, preserve=True, errors="return")
    assert (report.done, len(report.failed)) == (0, 10)
    assert {type(error) for error in report.failed.values()} == {sealane.FormatError}

    (vault / "strange").mkdir()
    (source / "a.csv").unlink()
    report = sealane.encrypt_tree(source, vault, encrypt_names=ring, delete=True, **job)  # type: ignore[arg-type]
    assert len(report.removed) == 4 + 1 + 1
    assert (report.unproven, report.unknown) == ((), (str(vault / "strange"),))
    (vault / "strange").rmdir()
    assert not contents(vault).keys() & before.keys()
    ring.disable(old)
    sealane.decrypt_tree(vault, back, key=KEY, encrypt_names=ring, preserve=True)
    assert contents(back) == contents(source)


def test_patterns_apply_to_the_names_before_encryption(source: Path, tmp_path: Path) -> None:
    vault, back = tmp_path / "vault", tmp_path / "back"
    job = {"key": KEY, "encrypt_names": NAMES, "preserve": True}
    sealane.encrypt_tree(source, vault, exclude=["*.csv"], **job)  # type: ignore[arg-type]
    sealane.decrypt_tree(vault, back, exclude=["/*", "!/deep", "er"], **job)  # type: ignore[arg-type]
    assert contents(back).keys() == {"deep", "deep/c", "deep/\udcff\udcfe"}


def test_mistakes(source: Path, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    for bad, raises in [
        (b"short", ValueError),
        (sealane.keys.generate("aes-256"), ValueError),
        (sealane.keys.Keyring.generate("aes-256-gcm"), ValueError),
        ("not a reference", ValueError),
        (7, TypeError),
    ]:
        with pytest.raises(raises) as caught:
            sealane.encrypt_tree(source, vault, key=KEY, encrypt_names=bad)  # type: ignore[arg-type]
        assert "not a reference" not in str(caught.value)
    with pytest.raises(ValueError, match="the output is the input folder"):
        sealane.encrypt_tree(source, source, suffix=".s", key=KEY, encrypt_names=NAMES)
    with pytest.raises(ValueError, match="would reveal the names"):
        sealane.encrypt_tree(source, vault, key=KEY, encrypt_names=NAMES, manifest=vault / "manifest")
    assert not vault.exists()
    sealane.encrypt_tree(source, vault, key=KEY, encrypt_names=NAMES, preserve=True)
    with pytest.raises(ValueError, match="would reveal the names"):
        sealane.decrypt_tree(
            vault, tmp_path / "back", key=KEY, encrypt_names=NAMES, preserve=True, manifest=vault / "manifest"
        )
    # A result does not replace the key of the names.
    (tmp_path / "back").mkdir()
    NAMES.save(tmp_path / "back" / "a.csv")
    loaded = sealane.keys.load(tmp_path / "back" / "a.csv")
    with pytest.raises(ValueError, match=r"a\.csv"):
        sealane.decrypt_tree(vault, tmp_path / "back", key=KEY, encrypt_names=loaded, preserve=True)
    assert sealane.keys.load(tmp_path / "back" / "a.csv") == NAMES


def test_the_name_of_a_description(tmp_path: Path) -> None:
    """If an encrypted file had this name, nobody could open its folder."""
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    (source / "a").write_bytes(b"text")
    for name in ".sealane", ".SEALANE":
        (source / name).write_bytes(b"notes")
        with pytest.raises(ExceptionGroup) as caught:
            sealane.encrypt_tree(source, target, key=KEY, suffix="")
        assert "the name is reserved" in str(caught.value.exceptions[0])
        assert [path.name for path in target.iterdir()] == ["a"]
        with pytest.raises(OSError, match=r"the name is reserved .* choose another name"):
            sealane.encrypt_file(source / "a", target / name, key=KEY)
        (source / name).unlink()
    sealane.decrypt_tree(target, tmp_path / "back", key=KEY, suffix="")
    assert (tmp_path / "back" / "a").read_bytes() == b"text"
    # With a suffix it is another name.
    (source / ".sealane").write_bytes(b"notes")
    sealane.encrypt_tree(source, tmp_path / "other", key=KEY, suffix=".x")
    sealane.decrypt_tree(tmp_path / "other", tmp_path / "all", key=KEY, suffix=".x")
    assert (tmp_path / "all" / ".sealane").read_bytes() == b"notes"
