"""Tests of keyrings for files, folders, bulk jobs and datasets, and of sealane.rotate_tree."""

from __future__ import annotations

import os
import pickle
import sys
import types
from pathlib import Path

import fsspec
import pytest
import sealane
from sealane import keys
from sealane.fs import SealaneFileSystem, create_dataset_key, rewrap_dataset_key
from sealane.keys import Keyring
from support import pattern


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Keyring, str]:
    """A keyring, and a reference to its file."""
    ring = Keyring.generate()
    ring.save(tmp_path / "ring.json")
    return ring, f"file:{tmp_path}/ring.json"


def tree(folder: Path, ring: Keyring, names: str, context: bytes = b"") -> None:
    """Encrypts a file for each letter below a folder."""
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(names):
        (folder / name).write_bytes(sealane.encrypt(pattern(1000 * number), key=ring, context=context))


def test_references_lead_to_keyrings(saved: tuple[Keyring, str], monkeypatch: pytest.MonkeyPatch) -> None:
    ring, reference = saved
    monkeypatch.setenv("SOME_RING", ring.to_json())
    module = types.ModuleType("some_rings")
    module.make = lambda: ring  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "some_rings", module)
    for one in reference, "env:SOME_RING", "call:some_rings:make":
        found = keys.resolve(one)
        assert isinstance(found, Keyring)
        assert found.to_json() == ring.to_json()


def test_bulk_jobs_take_keyrings(tmp_path: Path, saved: tuple[Keyring, str]) -> None:
    ring, reference = saved
    (tmp_path / "plain").mkdir()
    for name in "abc":
        (tmp_path / "plain" / name).write_bytes(pattern(5000))
    sealane.encrypt_tree(tmp_path / "plain", tmp_path / "first", key=reference)
    ring.rotate()
    sealane.encrypt_tree(tmp_path / "plain", tmp_path / "second", key=ring, verify=True)
    for folder in "first", "second":
        assert sealane.verify_tree(tmp_path / folder, key=ring).done == 3
    with pytest.raises(ExceptionGroup) as caught:
        sealane.verify_tree(tmp_path / "second", key=reference)
    assert {type(error) for error in caught.value.exceptions} == {sealane.AuthenticationError}


def test_only_retired_files_are_encrypted_again(tmp_path: Path, saved: tuple[Keyring, str]) -> None:
    ring, reference = saved
    tree(tmp_path / "tree", ring, "abcde", b"c")
    old = ring.primary
    ring.rotate()
    tree(tmp_path / "tree", ring, "xyz", b"c")
    ring.save(tmp_path / "ring.json", overwrite=True)
    before = {name: (tmp_path / "tree" / name).stat() for name in "xyz"}
    seen: list[tuple[int, int]] = []
    report = sealane.rotate_tree(
        tmp_path / "tree", key=reference, context=b"c", progress=lambda *at: seen.append(at), durable=True
    )
    assert (report.done, report.skipped, report.failed) == (5, 3, {})
    assert seen[-1][0] == seen[-1][1] == sum(f.stat().st_size for f in (tmp_path / "tree").iterdir())
    for name, found in before.items():
        now = (tmp_path / "tree" / name).stat()
        assert (now.st_ino, now.st_mtime_ns) == (found.st_ino, found.st_mtime_ns)
    ring.destroy(old)
    for number, name in enumerate("abcde"):
        assert sealane.decrypt((tmp_path / "tree" / name).read_bytes(), key=ring, context=b"c") == pattern(
            1000 * number
        )
    report = sealane.rotate_tree(tmp_path / "tree", key=ring, context=b"c")
    assert (report.done, report.skipped, report.bytes) == (0, 8, 0)


def test_files_of_no_key_are_reported(tmp_path: Path) -> None:
    ring = Keyring.generate()
    tree(tmp_path / "tree", ring, "ab")
    tree(tmp_path / "tree", Keyring.generate(), "f")
    ring.rotate()
    report = sealane.rotate_tree(tmp_path / "tree", key=ring, errors="return")
    assert (report.done, report.skipped) == (2, 0)
    assert [(Path(path).name, type(error)) for path, error in report.failed.items()] == [
        ("f", sealane.AuthenticationError)
    ]
    with pytest.raises(ExceptionGroup, match="1 of 3 files failed"):
        sealane.rotate_tree(tmp_path / "tree", key=ring)
    with pytest.raises(TypeError, match="expected a keyring"):
        sealane.rotate_tree(tmp_path / "tree", key=bytes(32))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="reference"):
        sealane.rotate_tree(tmp_path / "tree", key="words")
    with pytest.raises(NotADirectoryError):
        sealane.rotate_tree(tmp_path / "tree" / "a", key=ring)


def test_an_interrupted_rotation_continues(tmp_path: Path) -> None:
    ring = Keyring.generate()
    names = [f"{number:03}" for number in range(300)]
    (tmp_path / "tree").mkdir()
    for name in names:
        (tmp_path / "tree" / name).write_bytes(sealane.encrypt(pattern(3000), key=ring))
    ring.rotate()

    def stop(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sealane.rotate_tree(tmp_path / "tree", key=ring, progress=stop)
    assert sorted(os.listdir(tmp_path / "tree")) == names
    report = sealane.rotate_tree(tmp_path / "tree", key=ring)
    assert report.done + report.skipped == 300
    assert report.skipped > 0
    for name in names:
        assert sealane.decrypt((tmp_path / "tree" / name).read_bytes(), key=ring) == pattern(3000)


def test_a_filesystem_resolves_a_keyring_once(tmp_path: Path, saved: tuple[Keyring, str]) -> None:
    ring, reference = saved
    path = str(tmp_path / "data")

    def filesystem() -> SealaneFileSystem:
        return SealaneFileSystem(target_protocol="file", key=reference, skip_instance_cache=True)

    fs = filesystem()
    fs.pipe_file(path, b"old")
    ring.rotate()
    ring.save(tmp_path / "ring.json", overwrite=True)
    later = filesystem()
    later.pipe_file(path + "2", b"new")
    assert [later.cat_file(path), later.cat_file(path + "2")] == [b"old", b"new"]
    # The first one has the keys of its time, until its process ends.
    with pytest.raises(sealane.AuthenticationError):
        fs.cat_file(path + "2")
    secret = ring.to_json().split('"value":"')[1][:20]
    for pickled in pickle.dumps(fs), fs.to_json().encode(), repr(fs).encode():
        assert secret.encode() not in pickled
    assert pickle.loads(pickle.dumps(later)).cat_file(path) == b"old"


def test_a_dataset_key_can_be_a_keyring(tmp_path: Path) -> None:
    alice, bob = keys.generate("age"), keys.generate("age")
    alice.save(tmp_path / "alice")
    bob.save(tmp_path / "bob")
    store = f"{tmp_path}/store"
    create_dataset_key(f"{store}/_key.age", recipients=[alice.public], kind="keyring")
    options = {"target_protocol": "file", "key": f"age:{store}/_key.age", "skip_instance_cache": True}
    fs = fsspec.filesystem("sealane", identity=f"file:{tmp_path}/alice", **options)
    fs.pipe_file(f"{store}/a", b"old")
    found = keys.load(f"{store}/_key.age", identities=[alice])
    assert isinstance(found, Keyring)
    found.rotate()
    found.save(f"{store}/_key.age", recipients=[alice.public], overwrite=True)
    rewrap_dataset_key(
        f"{store}/_key.age", identity=f"file:{tmp_path}/alice", recipients=[alice.public, bob.public]
    )
    again = fsspec.filesystem("sealane", identity=f"file:{tmp_path}/bob", **options)
    assert again.cat_file(f"{store}/a") == b"old"
    again.pipe_file(f"{store}/b", b"new")
    assert sealane.decrypt(Path(store, "b").read_bytes(), key=found) == b"new"
    with pytest.raises(ValueError, match="'keyring'"):
        create_dataset_key(f"{store}/x", recipients=[alice.public], kind="age")
