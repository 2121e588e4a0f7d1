"""Tests of ``sealane.write_inventory`` and ``sealane.verify_inventory``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import sealane

KEY = sealane.generate_key("aes-256-gcm")
AGE = sealane.keys.generate("age")
SIGNER = """-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACCzPq7zfqLffKoBDe/eo04kH2XxtSmk9D7RQyf1xUqrYgAAAJgAIAxdACAM
XQAAAAtzc2gtZWQyNTUxOQAAACCzPq7zfqLffKoBDe/eo04kH2XxtSmk9D7RQyf1xUqrYg
AAAEC2BsIi0QwW2uFscKTUUXNHLsYX4FxlaSDSblbAj7WR7bM+rvN+ot98qgEN796jTiQf
ZfG1KaT0PtFDJ/XFSqtiAAAAEHVzZXJAZXhhbXBsZS5jb20BAgMEBQ==
-----END OPENSSH PRIVATE KEY-----
"""
PUBLIC = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti user@example.com"


@pytest.fixture
def places(tmp_path: Path) -> Path:
    (tmp_path / "sign").write_text(SIGNER)
    (tmp_path / "signers").write_text(f"# backup\n{PUBLIC}\n")
    (tmp_path / "in" / "sub").mkdir(parents=True)
    for name in ("a", "b", "sub/c"):
        (tmp_path / "in" / name).write_text(name * 100)
    return tmp_path


def found(places: Path, min_counter: int = 0) -> list[tuple[str, str]]:
    report = sealane.verify_inventory(
        places / "vault", places / "list", signer=places / "signers", key=KEY, min_counter=min_counter
    )
    return [(one.path, one.kind) for one in report.differences]


# claim: folder-inventory
def test_differences(places: Path) -> None:
    vault = places / "vault"
    sealane.encrypt_tree(places / "in", vault, key=KEY)
    first = sealane.write_inventory(vault, places / "list", sign_key=places / "sign", key=KEY)
    assert (first.files, first.differences, found(places)) == (3, (), [])
    shutil.copy(vault / "a", places / "old")
    sealane.encrypt_file(places / "in" / "a", vault / "a", key=KEY)
    assert found(places) == [("a", "changed")]
    second = sealane.write_inventory(vault, places / "list", sign_key=places / "sign", key=KEY)
    assert second.counter > first.counter
    assert found(places, second.counter) == []
    shutil.copy(places / "old", vault / "a")
    (vault / "b").rename(vault / "x")
    (vault / "sub" / "c").unlink()
    (vault / "link").symlink_to("x")
    expected = [("a", "old"), ("link", "added"), ("sub/c", "missing"), ("x", "renamed")]
    assert found(places) == expected
    with pytest.raises(sealane.AuthenticationError, match="older one"):
        found(places, second.counter + 1)


def test_age_files(places: Path) -> None:
    vault = places / "vault"
    for armor in False, True:
        vault.mkdir(exist_ok=True)
        for name in "a", "b":
            sealane.encrypt_file(places / "in" / name, vault / name, recipients=[AGE.public], armor=armor)
        sealane.write_inventory(vault, places / "list", sign_key=places / "sign", recipients=[AGE.public])
        (vault / "a").rename(places / "x")
        (vault / "b").rename(vault / "a")
        (places / "x").rename(vault / "b")
        report = sealane.verify_inventory(vault, places / "list", signer=places / "signers", identities=[AGE])
        assert [(one.path, one.kind) for one in report.differences] == [
            ("a", "exchanged"),
            ("b", "exchanged"),
        ]


# claim: folder-signature, folder-counter
def test_bad_input(places: Path) -> None:
    vault = places / "vault"
    sealane.encrypt_tree(places / "in", vault, key=KEY)
    with pytest.raises(ValueError, match="outside"):
        sealane.write_inventory(vault, vault / "list", sign_key=places / "sign", key=KEY)
    with pytest.raises(sealane.FormatError, match="private key"):
        sealane.write_inventory(vault, places / "list", sign_key=places / "signers", key=KEY)
    with pytest.raises(ValueError, match="not encrypted"):
        sealane.write_inventory(
            vault, places / "list", sign_key=places / "sign", sign_passphrase="x", key=KEY
        )
    sealane.write_inventory(vault, places / "list", sign_key=places / "sign", key=KEY)
    other = sealane.generate_key("aes-256-gcm")
    with pytest.raises(sealane.AuthenticationError):
        sealane.verify_inventory(vault, places / "list", signer=places / "signers", key=other)
    (places / "list.sig").write_text("x")
    with pytest.raises(sealane.AuthenticationError, match="does not match"):
        found(places)
    (places / "list.sig").unlink()
    with pytest.raises(sealane.AuthenticationError, match="expected a signature"):
        found(places)
    with pytest.raises(TypeError, match="signer must be a path"):
        sealane.verify_inventory(vault, places / "list", signer=1, key=KEY)  # type: ignore[arg-type]


# claim: folder-identifier
def test_the_folder_is_named(places: Path) -> None:
    lists = {}
    for name in "production", "staging":
        sealane.encrypt_tree(places / "in", places / name, key=KEY)
        sign = {"sign_key": places / "sign", "key": KEY}
        lists[name] = sealane.write_inventory(places / name, places / f"{name}.list", **sign).folder
        assert sealane.write_inventory(places / name, places / f"{name}.list", **sign).folder == lists[name]
    assert lists["production"] != lists["staging"]
    check = {"signer": places / "signers", "key": KEY}
    report = sealane.verify_inventory(
        places / "staging", places / "staging.list", folder=lists["staging"], **check
    )
    assert (report.folder, report.differences) == (lists["staging"], ())
    with pytest.raises(sealane.AuthenticationError, match="expected the inventory of folder"):
        sealane.verify_inventory(
            places / "staging", places / "staging.list", folder=lists["production"], **check
        )
    # Recipients cannot read the identifier and give it.
    sign = {"sign_key": places / "sign", "recipients": [AGE.public]}
    for _ in range(2):
        report = sealane.write_inventory(places / "staging", places / "b", folder=lists["staging"], **sign)
        assert report.folder == lists["staging"]
    with pytest.raises(ValueError, match="identifier"):
        sealane.write_inventory(places / "staging", places / "c", folder="staging", **sign)
    for bad in "staging", "", lists["staging"].upper(), lists["staging"] + " ":
        with pytest.raises(ValueError, match="expected the identifier of a folder, which is 32 digits"):
            sealane.verify_inventory(places / "staging", places / "staging.list", folder=bad, **check)


# claim: folder-content
def test_a_holder_of_the_key_changes_a_file(places: Path) -> None:
    vault = places / "vault"
    (places / "in" / "long").write_bytes(b"pay 100 EUR to Alice\n" * 8000)
    sealane.encrypt_tree(places / "in", vault, key=KEY)
    sealane.write_inventory(vault, places / "list", sign_key=places / "sign", key=KEY)
    stored = (vault / "long").read_bytes()
    # Anyone with the key can write the chunks in the middle again.
    for at in range(56, len(stored) - 16, 997):
        changed = bytearray(stored)
        changed[at] ^= 1
        (vault / "long").write_bytes(changed)
        assert found(places) == [("long", "changed")]


# claim: folder-inventory
def test_paths_that_cannot_be_read(places: Path) -> None:
    vault = places / "vault"
    sealane.encrypt_tree(places / "in", vault, key=KEY)
    sealane.write_inventory(vault, places / "list", sign_key=places / "sign", key=KEY)
    (vault / "a").unlink()
    os.mkfifo(vault / "a")
    os.mkfifo(vault / "pipe")
    (vault / "short").write_bytes(b"x")
    (vault / "dangling").symlink_to("/nowhere")
    (vault / os.fsdecode(b"\xff")).write_bytes(b"")
    (vault / "b").unlink()
    expected = {
        ("a", "unreadable"),
        ("b", "missing"),
        ("dangling", "added"),
        ("pipe", "unreadable"),
        ("short", "added"),
        (os.fsdecode(b"\xff"), "added"),
    }
    assert set(found(places)) == expected
    with pytest.raises(OSError, match="pipe"):
        sealane.write_inventory(vault, places / "list", sign_key=places / "sign", key=KEY)


# claim: folder-inventory
def test_paths_that_lead_elsewhere(places: Path) -> None:
    """Links that never end or have no end, and a path that is longer than the system takes."""
    vault = places / "vault"
    sealane.encrypt_tree(places / "in", vault, key=KEY)
    sealane.write_inventory(vault, places / "list", sign_key=places / "sign", key=KEY)
    kept = (vault / "a").rename(places / "kept")
    for target in "a", kept, "/dev/zero", "/proc/self/mem":
        (vault / "a").symlink_to(target)
        assert found(places) == [("a", "changed")], target
        (vault / "a").unlink()
    (vault / "a").mkdir()
    (vault / "a" / "a").write_bytes(kept.read_bytes())
    assert found(places) == [("a/a", "renamed")]
    name, depth = "n" * 255, 20
    above = os.open(vault / "a", os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=above)
        below = os.open(name, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    os.close(above)
    kinds = {kind for path, kind in found(places) if name in path}
    assert kinds == {"unreadable"}
