"""Tests of ``sealane.Folder``, a folder that describes itself."""

from __future__ import annotations

import asyncio
import copy
import io
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
import sealane
import sealane.aio
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.dirfs import DirFileSystem
from sealane import Folder
from sealane.fs import SealaneFileSystem
from sealane.fs._writing import upload_to

KEY = sealane.keys.generate("aes-256")
AGE = sealane.keys.generate("age")
SEALANE = str(Path(sys.executable).parent / "sealane")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    top = tmp_path / "data"
    (top / "sub" / "deep").mkdir(parents=True)
    for name, size in (("letter.txt", 5), ("sub/deep/note", 100_000), ("sub/empty", 0)):
        (top / name).write_bytes(os.urandom(size))
    return top


def content(top: Path) -> dict[str, bytes]:
    return {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}


@pytest.mark.parametrize("encrypt_names", [False, True])
def test_a_folder_is_read_by_its_plaintext_names(tmp_path: Path, data: Path, encrypt_names: bool) -> None:
    made = Folder.create(tmp_path / "vault", recipients=[AGE.public], encrypt_names=encrypt_names)
    assert made.encrypt_from(data).done == 3
    folder = Folder(tmp_path / "vault", identity=AGE)
    assert (folder.identifier, folder.fingerprint) == (made.identifier, made.fingerprint)
    assert (folder.suffix, folder.encrypts_names, folder.preserves) == (".sealed", encrypt_names, False)
    assert [(entry.name, entry.kind) for entry in folder.ls()] == [("letter.txt", "file"), ("sub", "folder")]
    walked = {entry.path: entry.size for entry in folder.walk() if entry.kind == "file"}
    assert walked == {"letter.txt": 5, "sub/deep/note": 100_000, "sub/empty": 0}
    with folder.open("sub/deep/note") as file:
        file.seek(-9, io.SEEK_END)
        assert file.read() == (data / "sub/deep/note").read_bytes()[-9:]
    assert folder.verify().done == 3
    folder.decrypt_to(tmp_path / "out")
    assert content(tmp_path / "out") == content(data)
    assert any("letter" in name for name in content(tmp_path / "vault")) is not encrypt_names
    again = folder.encrypt_from(data, manifest=True)
    assert (again.done, folder.encrypt_from(data, manifest=True).skipped) == (3, 3)
    for missing in ("none", "sub/none/x"):
        with pytest.raises(FileNotFoundError):
            folder.open(missing)
    for outside in ("../x", "/etc/passwd"):
        with pytest.raises(ValueError, match="relative path"):
            folder.open(outside)


def keygen(path: Path) -> Path:
    subprocess.run([SEALANE, "keygen", "-q", "-t", "ed25519", "-o", path], check=True, capture_output=True)
    return path


# claim: folder-write-only
def test_a_folder_that_its_writer_cannot_read(tmp_path: Path, data: Path) -> None:
    place, sign, other = tmp_path / "vault", keygen(tmp_path / "sign"), keygen(tmp_path / "other")
    options: dict[str, Any] = {"suffix": ".age", "preserve": True, "sign_key": sign}
    made = Folder.create(place, recipients=[AGE.public], write_only=True, **options)
    assert made.encrypt_from(data).done == 3
    assert [entry.name for entry in made.ls()] == ["letter.txt", "sub"]
    for read in (lambda: made.decrypt_to(tmp_path / "none"), made.verify, lambda: made.open("letter.txt")):
        with pytest.raises(ValueError, match="give an identity"):
            read()
    folder = Folder(place, identity=AGE)
    assert (folder.identifier, folder.suffix, folder.preserves) == (made.identifier, ".age", True)
    folder.decrypt_to(tmp_path / "out")
    assert content(tmp_path / "out") == content(data)
    # The program checks the signature before it writes.
    for key, status in (sign, 0), (other, 1):
        command = [SEALANE, "encrypt", "--sign-key", key, "-o", place, data]
        assert subprocess.run(command, capture_output=True).returncode == status


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"key": KEY}, ValueError, "for its recipients"),
        ({"passphrase": "horse"}, ValueError, "for its recipients"),
        ({"recipients": [AGE.public], "encrypt_names": True}, ValueError, "encrypted names need a key"),
        ({"recipients": [AGE.public], "sign_passphrase": "x"}, TypeError, "that of sign_key"),
        ({"recipients": [AGE.public], "sign_key": "none"}, FileNotFoundError, "none"),
        ({"recipients": [AGE.public], "sign_key": 5}, TypeError, "a path is needed"),
        (
            {"recipients": [AGE.public], "write_only": False, "sign_key": "sign"},
            ValueError,
            "of a write-only folder",
        ),
    ],
)
def test_options_that_do_not_fit_a_write_only_folder(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    error: type[Exception],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    keygen(Path("sign"))
    with pytest.raises(error, match=words):
        Folder.create("vault", **({"write_only": True} | options))
    assert not (tmp_path / "vault").exists()


def test_only_the_right_key_opens_it(tmp_path: Path) -> None:
    place = tmp_path / "vault"
    Folder.create(place, key=KEY)
    with pytest.raises(sealane.NoMatchingKeyError, match=r"\.sealane"):
        Folder(place, key=sealane.keys.generate("aes-256"))
    with pytest.raises(ValueError, match="symmetric key"):
        Folder(place, identity=AGE)
    for arguments in ({}, {"key": KEY, "identity": AGE}):
        with pytest.raises(TypeError, match="exactly one"):
            Folder(place, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="found no file"):
        Folder(tmp_path, key=KEY)
    with pytest.raises(ValueError, match="already"):
        Folder.create(place, key=KEY)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(ValueError, match="empty folder"):
        Folder.create(tmp_path / "full", key=KEY)
    folder = Folder(place, key=KEY)
    for refused in (
        lambda: folder.decrypt_to(place),
        lambda: folder.decrypt_to(place / "out"),
        lambda: sealane.encrypt_tree(tmp_path / "full", place, key=KEY),
    ):
        with pytest.raises(ValueError, match="describes itself"):
            refused()
    for call in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="never pickled"):
            call(folder)


# claim: folder-description
def test_a_changed_or_replaced_description(tmp_path: Path) -> None:
    place = tmp_path / "vault"
    folder = Folder.create(place, recipients=[AGE.public], encrypt_names=True)
    text = (place / ".sealane").read_text()
    for old, new, error in (
        ('"names": true', '"names": false', sealane.AuthenticationError),
        (".sealed", "", sealane.AuthenticationError),
        ('"version": 1', '"version": 2', sealane.FormatError),
        ('"version": 1', '"version": 3', sealane.UnsupportedVersionError),
        ("{", "", sealane.FormatError),
    ):
        (place / ".sealane").write_text(text.replace(old, new, 1))
        with pytest.raises(error, match=r"\.sealane"):
            Folder(place, identity=AGE)
    (place / ".sealane").write_text(text)
    Folder(f"{place}#{folder.fingerprint}", identity=AGE)
    # Anyone who knows the recipient can make another one.
    Folder.create(tmp_path / "other", recipients=[AGE.public], encrypt_names=True)
    shutil.copy(tmp_path / "other" / ".sealane", place / ".sealane")
    for pinned in (place, f"{place}#{folder.fingerprint}"):
        with pytest.raises(sealane.AuthenticationError):
            Folder(pinned, identity=AGE)


def test_changed_files_are_found_and_names_kept(tmp_path: Path, data: Path) -> None:
    folder = Folder.create(tmp_path / "vault", passphrase="correct horse", encrypt_names=True)
    folder.encrypt_from(data)
    one = max((tmp_path / "vault").rglob("*.sealed"), key=lambda path: path.stat().st_size)
    content = bytearray(one.read_bytes())
    content[5000] ^= 1
    one.write_bytes(content)
    report = folder.verify(errors="return")
    assert list(report.failed) == [str(one)]
    with folder.open("sub/deep/note") as file, pytest.raises(sealane.AuthenticationError):
        file.read()
    os.rename(one, one.with_name("a" * 40 + ".sealed"))
    with pytest.warns(UserWarning, match="not listed: .*the name does not decrypt"):
        assert "sub/deep/note" not in {entry.path for entry in folder.walk()}


def test_forgotten_options_of_other_folders(tmp_path: Path, data: Path) -> None:
    names = sealane.keys.generate("aes-256-siv")
    sealane.encrypt_tree(data, tmp_path / "plain", key=KEY, suffix=".sealed")
    sealane.encrypt_tree(data, tmp_path / "named", key=KEY, suffix=".sealed", encrypt_names=names)
    with pytest.raises(ValueError, match=r"\.sealed"):
        sealane.decrypt_tree(tmp_path / "plain", tmp_path / "out", key=KEY)
    with pytest.raises(ValueError, match="encrypt_names"):
        sealane.decrypt_tree(tmp_path / "named", tmp_path / "out", key=KEY, suffix=".sealed")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("below", ["disk", "folder", "wrapper"])
def test_a_filesystem_copies_a_whole_folder_as_it_is(tmp_path: Path, data: Path, below: str) -> None:
    for number in range(200):
        (data / f"more {number}").write_bytes(b"")
    folder = Folder.create(tmp_path / "vault", key=KEY)
    assert folder.encrypt_from(data).done == 203
    KEY.save(tmp_path / "key")
    (tmp_path / "copies").mkdir()
    disk, root = fsspec.filesystem("file"), str(tmp_path)
    if below == "folder":
        disk, root = DirFileSystem(root, disk), ""
    if below == "wrapper":
        disk = AsyncFileSystemWrapper(disk, asynchronous=False)
    fs = SealaneFileSystem(fs=disk, key=f"file:{tmp_path / 'key'}")
    for _ in range(2):
        fs.cp(f"{root}/vault", f"{root}/copies/", recursive=True)
        assert content(tmp_path / "copies" / "vault") == content(tmp_path / "vault")
    before = content(tmp_path)
    for source, target in ("vault/letter.txt.sealed", "x"), ("copies/vault/letter.txt.sealed", "sub/letter"):
        with pytest.raises(ValueError, match="encrypted folder that describes itself"):
            fs.cp(f"{root}/{source}", f"{root}/vault/{target}")
    assert content(tmp_path) == before


@pytest.mark.parametrize("encrypt_names", [False, True])
def test_single_files_do_not_go_into_a_folder_that_describes_itself(
    tmp_path: Path, data: Path, encrypt_names: bool
) -> None:
    folder = Folder.create(tmp_path / "vault", key=KEY, suffix="", encrypt_names=encrypt_names)
    folder.encrypt_from(data)
    plain, sealed, age = data / "letter.txt", tmp_path / "sealed", tmp_path / "age"
    sealane.encrypt_file(plain, sealed, key=KEY)
    sealane.encrypt_file(plain, age, recipients=[AGE.public])
    (tmp_path / "link").symlink_to("vault")
    KEY.save(tmp_path / "key")
    stored = next(
        path for path in (tmp_path / "vault").iterdir() if path.is_file() and path.name != ".sealane"
    )
    (tmp_path / "file").symlink_to(stored)
    fs = SealaneFileSystem(target_protocol="file", key=f"file:{tmp_path / 'key'}")
    fs.pipe(str(tmp_path / "own"), b"data")
    before = content(tmp_path)

    def write(out: Path, mode: str = "wb") -> None:
        with sealane.open(out, mode, key=KEY) as file:  # type: ignore[call-overload]
            file.write(b"data")

    into: dict[str, Callable[[Path], object]] = {
        "encrypt_file": lambda out: sealane.encrypt_file(plain, out, key=KEY),
        "a file object": lambda out: sealane.encrypt_file(io.BytesIO(b"data"), out, key=KEY),
        "decrypt_file": lambda out: sealane.decrypt_file(sealed, out, key=KEY),
        "decrypt a file object": lambda out: sealane.decrypt_file(io.BytesIO(b"x"), out, key=KEY),
        "salvage_file": lambda out: sealane.salvage_file(sealed, out, key=KEY),
        "rewrap": lambda out: sealane.rewrap(age, out, identities=[AGE], recipients=[AGE.public]),
        "open": write,
        "encrypt_many": lambda out: sealane.encrypt_many([(plain, out)], key=KEY),
        "decrypt_many": lambda out: sealane.decrypt_many([(sealed, out)], key=KEY),
        "aio": lambda out: asyncio.run(sealane.aio.encrypt_file(plain, out, key=KEY)),
        "fs.open": lambda out: fs.open(str(out), "wb").close(),
        "fs.pipe": lambda out: fs.pipe(str(out), b"data"),
        "fs.put": lambda out: fs.put(str(plain), str(out)),
        "fs.touch": lambda out: fs.touch(str(out)),
        "fs.cp": lambda out: fs.cp(str(tmp_path / "own"), str(out)),
        "fs.mv": lambda out: fs.mv(str(tmp_path / "own"), str(out)),
        "fs.get": lambda out: fs.get(str(tmp_path / "own"), str(out)),
    }
    for name, call in into.items():
        for out in ("vault/new", "vault/sub/new", "vault/deep/er/new", "link/new", "file"):
            if name == "fs.get" and out not in ("vault/new", "link/new"):
                continue  # fsspec makes the folders.
            with pytest.raises(ValueError, match="encrypted folder that describes itself"):
                print(name, out, call(tmp_path / out))
            assert content(tmp_path) == before, (name, out)
    with pytest.raises(ValueError, match="encrypted folder that describes itself"):
        write(tmp_path / "vault" / "new", "xb")
    # Swapped arguments would replace the plaintext.
    swapped: list[Callable[[], object]] = [
        lambda: sealane.encrypt_file(stored, plain, key=KEY),
        lambda: sealane.encrypt_many([(plain, sealed), (stored, plain)], key=KEY),
    ]
    for attempt in swapped:
        with pytest.raises(ValueError, match="encrypted already"):
            attempt()
    assert content(tmp_path) == before
    assert folder.encrypt_from(data).done == folder.verify().done == 3


def test_a_description_on_a_server_is_not_replaced(tmp_path: Path, data: Path) -> None:
    """It has the only copy of the keys. Copies of whole folders take it along."""
    folder = Folder.create(tmp_path / "vault", key=KEY)
    folder.encrypt_from(data)
    below = fsspec.filesystem("memory")
    below.put(f"{tmp_path}/vault/", "/b/vault/", recursive=True)
    KEY.save(tmp_path / "key")
    fs, place = SealaneFileSystem(fs=below, key=f"file:{tmp_path / 'key'}"), "/b/vault/.sealane"
    fs.pipe("/b/own", b"data")
    before = below.cat(place)
    for call in (
        lambda: fs.pipe(place, b"data"),
        lambda: fs.open(place, "wb").close(),
        lambda: fs.touch(place),
        lambda: fs.put(str(tmp_path / "key"), place),
        lambda: fs.put(f"{tmp_path}/vault/.sealane", "/b/new/"),
        lambda: fs.cp("/b/own", place),
        lambda: fs.mv("/b/own", place),
        lambda: SealaneFileSystem(fs=DirFileSystem("/b/vault", below), key=fs.storage_options["key"]).pipe(
            ".sealane", b"data"
        ),
        lambda: upload_to("memory:///b/vault/.sealane"),
    ):
        with pytest.raises(ValueError, match="only copy"):
            call()
        assert below.cat(place) == before
    fs.cp("/b/vault", "/b/copied", recursive=True)
    fs.mv("/b/copied", "/b/moved", recursive=True)
    assert Folder("memory://b/moved", key=KEY).verify().done == 3


def test_what_reads_or_belongs_to_a_described_folder_goes_on(tmp_path: Path, data: Path) -> None:
    folder = Folder.create(tmp_path / "vault", recipients=[AGE.public], write_only=True, suffix=".age")
    folder.encrypt_from(data)
    stored, other = tmp_path / "vault" / "letter.txt.age", sealane.keys.generate("age")
    sealane.rewrap(stored, identities=[AGE], recipients=[other.public])
    sealane.decrypt_file(stored, tmp_path / "out", identities=[other])
    sealane.decrypt_many([(stored, tmp_path / "again")], identities=[other])
    assert (tmp_path / "out").read_bytes() == (data / "letter.txt").read_bytes()
    # Beside the folder, and in one with another file of this name.
    (tmp_path / "home" / ".sealane").mkdir(parents=True)
    sealane.encrypt_file(data / "letter.txt", tmp_path / "home" / "x", key=KEY)
