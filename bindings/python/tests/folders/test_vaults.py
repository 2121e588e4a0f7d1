"""Vaults of other tools, and described folders on stores, through ``sealane.Folder`` and fsspec."""

from __future__ import annotations

import hashlib
import os
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
import sealane
from fsspec.implementations.memory import MemoryFileSystem
from sealane import Folder
from sealane.fs import SealaneFileSystem
from vaults_of_tools import VAULTS, check, unpacked

CASES = [path for tool in ("gocryptfs", "cryptomator", "rclone") for path in (VAULTS / tool).glob("*.json")]
KEY = sealane.keys.generate("aes-256")
AGE = sealane.keys.generate("age")


@pytest.fixture
def memory() -> Iterator[MemoryFileSystem]:
    fs = fsspec.filesystem("memory")
    yield fs
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]


def put(place: Path, store: Any, root: str) -> None:
    """Copies a folder without its links, which stores do not have."""
    for folder, _, names in os.walk(place):
        target = f"{root}/{Path(folder).relative_to(place)}".removesuffix("/.")
        store.makedirs(target, exist_ok=True)
        for name in names:
            if not os.path.islink(path := os.path.join(folder, name)):
                store.pipe_file(f"{target}/{name}", Path(path).read_bytes())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.stem}")
def test_a_vault_is_read_as_its_tool_reads_it(
    case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: MemoryFileSystem
) -> None:
    place = tmp_path / "vault"
    entries, options = unpacked(case, place, monkeypatch)
    check(Folder(place, **options), entries, links=True)  # type: ignore[arg-type]
    root = f"/{case.parent.name}/{case.stem}"
    put(place, memory, root)
    check(Folder(f"memory:/{root}", **options), entries, links=False)  # type: ignore[arg-type]
    if "passphrase" in options:
        monkeypatch.setenv("PASSPHRASE", options["passphrase"])
        options = {"passphrase": "env:PASSPHRASE"}
    for protocol, folder in (("file", str(place)), ("memory", root)):
        fs, path = fsspec.url_to_fs(f"sealane::{protocol}://{folder}", sealane={"folder": folder, **options})
        assert pickle.loads(pickle.dumps(fs)).isdir(path)
        files = [name for name, entry in entries.items() if entry["type"] == "file"]
        for name in random.Random(1).sample(files, min(5, len(files))):
            size = entries[name]["size"]
            assert fs.info(f"{path}/{name}")["size"] == size
            data = fs.cat_file(f"{path}/{name}")
            assert hashlib.sha256(data).hexdigest() == entries[name]["sha256"]
            assert fs.cat_file(f"{path}/{name}", start=1, end=-1) == data[1:-1]
            ranges = fs.cat_ranges([f"{path}/{name}"] * 3, [0, 3, size], [2, 8, size + 5])
            assert ranges == [data[:2], data[3:8], b""]


def test_jobs_of_a_vault_and_its_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries, options = unpacked(VAULTS / "gocryptfs" / "gcm.json", tmp_path / "vault", monkeypatch)
    folder = Folder(tmp_path / "vault", **options)  # type: ignore[arg-type]
    for refused in (lambda: folder.encrypt_from(tmp_path), lambda: folder.suffix):
        with pytest.raises(ValueError, match="vault of another tool"):
            refused()
    files = [path for path, entry in entries.items() if entry["type"] == "file"]
    seen: list[tuple[int, int]] = []
    assert folder.verify(progress=lambda *counts: seen.append(counts)).done == len(files)
    assert seen[-1][0] == seen[-1][1]
    report = folder.decrypt_to(tmp_path / "out", exclude=["/sub"])
    assert (report.done, report.excluded) == (sum("sub/" not in path for path in files), 1)
    assert not (tmp_path / "out" / "sub").exists()
    assert (
        hashlib.sha256((tmp_path / "out" / "one.bin").read_bytes()).hexdigest()
        == entries["one.bin"]["sha256"]
    )
    assert folder.decrypt_to(tmp_path / "dry", dry_run=True).done == len(files)
    assert not (tmp_path / "dry").exists()
    with pytest.raises(ValueError, match="errors must be"):
        folder.verify(errors="ignore")  # type: ignore[arg-type]

    class Stop(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stop

    with pytest.raises(Stop):
        folder.verify(progress=stop)
    with pytest.raises(sealane.SealaneError, match=r"/vault: wrong passphrase$"):
        Folder(tmp_path / "vault", passphrase="another")
    monkeypatch.setenv("WORDS", options["passphrase"] + "\r\nmore")
    (tmp_path / "words").write_text(options["passphrase"] + "\n\nmore")
    for reference in "env:WORDS", f"file:{tmp_path}/words":
        fs = SealaneFileSystem(target_protocol="file", folder=str(tmp_path / "vault"), passphrase=reference)
        assert fs.isdir(str(tmp_path / "vault"))
        assert len(fs.ls(str(tmp_path / "vault"))) > 1
    (tmp_path / "mark").write_bytes(b"\xef\xbb\xbf" + options["passphrase"].encode())
    fs = SealaneFileSystem(
        target_protocol="file", folder=str(tmp_path / "vault"), passphrase=f"file:{tmp_path}/mark"
    )
    with pytest.raises(ValueError, match="byte order mark"):
        fs.ls(str(tmp_path / "vault"))
    with pytest.raises(ValueError, match=r"no file \.sealane"):
        Folder(tmp_path / "vault", key=KEY)
    other, vault = KEY.fingerprint, tmp_path / "vault"
    rclone = unpacked(next((VAULTS / "rclone").glob("*.json")), tmp_path / "crypt", monkeypatch)[1]
    for place, keys in ((vault, options), (tmp_path / "crypt", rclone)):
        with pytest.raises(ValueError, match="expected no fingerprint"):
            Folder(f"{place}#{other}", **keys)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="give no key"):
        Folder(tmp_path / "vault", rclone="it", key=KEY)
    with pytest.raises(FileNotFoundError, match="vault/none"):
        folder.open("none")
    (tmp_path / "vault" / ".DS_Store").write_bytes(b"?")
    (tmp_path / "vault" / "a\x1b[31m").write_bytes(b"?")
    with pytest.warns(UserWarning, match=r"not listed: [^\x1b]*, and 1 more"):
        listed = folder.ls()
    assert {entry.path for entry in listed} == {path for path in entries if "/" not in path}


@pytest.mark.parametrize("names", [False, True])
def test_a_described_folder_on_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: MemoryFileSystem, names: bool
) -> None:
    data = {"letter.txt": b"hello", "sub/deep/note": os.urandom(3 << 20), "sub/empty": b""}
    for name, content in data.items():
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_bytes(content)
    made = Folder.create(tmp_path / "vault", recipients=[AGE.public], encrypt_names=names)
    made.encrypt_from(tmp_path / "data")
    put(tmp_path / "vault", memory, "/bucket/vault")
    folder = Folder(f"memory://bucket/vault#{made.fingerprint}", identity=AGE)
    assert {one.path: one.size for one in folder.walk() if one.kind == "file"} == {
        name: len(content) for name, content in data.items()
    }
    with folder.open("sub/deep/note") as file:
        assert file.read() == data["sub/deep/note"]
        file.seek(-3, os.SEEK_END)
        assert file.read() == data["sub/deep/note"][-3:]
    for refused in (
        lambda: folder.encrypt_from(tmp_path / "data"),
        lambda: Folder.create("memory://x", key=KEY),
    ):
        with pytest.raises(ValueError, match="read only"):
            refused()
    assert not Path("memory:").exists()
    assert folder.verify().done == len(data)
    assert folder.decrypt_to(tmp_path / "out").done == len(data)
    assert {name: (tmp_path / "out" / name).read_bytes() for name in data} == data
    memory.pipe_file("/bucket/vault/odd", b"?")
    [(path, error)] = folder.verify(errors="return").failed.items()
    assert path.endswith("/bucket/vault/odd")
    assert isinstance(error, sealane.SealaneError)
    memory.rm_file("/bucket/vault/odd")
    with pytest.raises(FileNotFoundError, match="sub/none"):
        folder.open("sub/none")
    for place in folder, made:
        with pytest.raises(IsADirectoryError, match="sub/deep'"):
            place.open("sub/deep")
    other = sealane.keys.generate("aes-256").fingerprint
    with pytest.raises(sealane.AuthenticationError):
        Folder(f"memory://bucket/vault#{other}", identity=AGE)
    with pytest.raises(ValueError, match=r"no file \.sealane"):
        Folder("memory://bucket", identity=AGE)
    monkeypatch.setenv("IDENTITY", AGE.to_text())
    monkeypatch.setenv("OTHER", sealane.keys.generate("age").to_text())
    options: dict[str, Any] = {"folder": f"/bucket/vault#{made.fingerprint}", "identity": "env:IDENTITY"}
    with fsspec.open("sealane::memory://bucket/vault/letter.txt", sealane=options) as file:
        assert file.read() == b"hello"
    fs: Any = SealaneFileSystem(fs=memory, **options)
    assert fs.find("/bucket/vault") == sorted(f"/bucket/vault/{name}" for name in data)
    assert fs.cat("/bucket/vault/sub", recursive=True, on_error="omit")["/bucket/vault/sub/empty"] == b""
    assert fs.ls("/bucket/vault/letter.txt", detail=False) == ["/bucket/vault/letter.txt"]
    assert not fs.exists("/bucket/vault/none")
    for read in fs.cat_file, fs.open, fs.head, fs.read_text:
        with pytest.raises(IsADirectoryError, match="sub/deep'"):
            read("/bucket/vault/sub/deep")
    assert not fs.exists("/bucket/other")
    for refused in (  # type: ignore[assignment]
        lambda: fs.pipe_file("/bucket/vault/new", b"x"),
        lambda: fs.rm("/bucket/vault/letter.txt"),
        lambda: fs.mkdir("/bucket/vault/new"),
    ):
        with pytest.raises(OSError, match="read only"):
            refused()
    letter = "/bucket/vault/letter.txt"
    assert fs.open(letter, cache_type="none").read() == b"hello"
    for call in fs.open, fs.cat_file, fs.info, fs.ls, fs.exists, fs.find:
        with pytest.raises(TypeError, match="version_id"):
            call(letter, version_id="v1")
    with pytest.raises(sealane.NoMatchingKeyError):
        SealaneFileSystem(fs=memory, **{**options, "identity": "env:OTHER"}).exists(letter)
    for wrong in {"context": "x"}, {"passphrse": "env:P"}, {"target_options": {"anon": True}}:
        with pytest.raises(TypeError, match=r"unknown option|target_options"):
            SealaneFileSystem(fs=memory, **options, **wrong)
    with pytest.raises(TypeError, match="give folder"):
        SealaneFileSystem(fs=memory, key="env:K", passphrase="env:P")
    with pytest.raises(ValueError, match="coroutines"):
        SealaneFileSystem(fs=memory, asynchronous=True, **options)


def test_the_program_reads_local_folders_by_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(line: str, *words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "sealane", *line.split(), *words]
        done = subprocess.run(command, capture_output=True, cwd=tmp_path)
        return done.returncode, (done.stdout + done.stderr).decode("latin-1")

    KEY.save(tmp_path / "key")
    (tmp_path / "data" / "sub").mkdir(parents=True)
    (tmp_path / "data" / "sub" / "note").write_text("own")
    Folder.create(tmp_path / "vault", key=KEY, encrypt_names=True).encrypt_from(tmp_path / "data")
    sealane.encrypt_file(tmp_path / "data" / "sub" / "note", tmp_path / "one", key=KEY)
    url = f"file://{tmp_path}"
    assert run(f"cat -k key {url}/vault/sub/note") == (0, "own")
    assert run(f"cat -k key {url}/one") == (0, "own")
    assert run(f"ls -k key {url}/vault/sub") == (0, "note\n")
    (stored,) = (tmp_path / "vault").rglob("*.sealed")
    assert run(f"cat -k key {stored.as_uri()}") == (0, "own")
    assert run(f"inspect {url}/one")[0] == 0
    assert run(f"decrypt -k key -o out {url}/vault/sub/note")[0] == 0
    assert run(f"encrypt -k key -o {url}/more one") == (0, "")
    for path in "vault/none", "none", "no/folder", "one/x", "vault/sub":
        status, text = run(f"cat -k key {url}/{path}")
        assert (status, text.count("\n")) == (1, 1), text
    # The folder of the process is above no URL.
    (tmp_path / ".sealane").write_text("?")
    assert run("cat -k key file:///none/x")[1].endswith("no such file or folder; check the name\n")
    (tmp_path / ".sealane").unlink()
    for tool in "gocryptfs", "cryptomator":
        case = next(case for case in CASES if case.parent.name == tool)
        entries, keys = unpacked(case, tmp_path / tool, monkeypatch)
        (tmp_path / "pass").write_text(keys["passphrase"])
        path, size = next((path, one["size"]) for path, one in entries.items() if one.get("size"))
        status, text = run("cat --passphrase-command", "cat pass", f"{url}/{tool}/{path}")
        assert (status, len(text)) == (0, size)


class Lying(MemoryFileSystem):
    """A store that lies in one way."""

    protocol = "lying"
    cachable = False
    lie = ""

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
        found = [dict(entry) for entry in super().ls(path, detail=True, **kwargs)]
        for entry in found:
            if self.lie == "outside":
                entry["name"] = "/elsewhere/" + entry["name"].rpartition("/")[2]
            elif self.lie == "no names":
                del entry["name"]
            elif self.lie == "names" and entry["type"] == "file":
                entry["name"] = entry["name"].rpartition("/")[0] + "/.."
            elif self.lie == "sizes":
                entry["size"] = "many"
        return found * 2 if self.lie == "twice" else found

    def info(self, path: str, **kwargs: Any) -> Any:
        found = dict(super().info(path, **kwargs))
        change = {"longer": 1, "shorter": -1, "huge": 1 << 62, "sizes": "x", "unknown": None}
        if self.lie in change and found["type"] == "file" and not path.endswith(("conf", "diriv", "sealane")):
            by = change[self.lie]
            found["size"] = found["size"] + by if isinstance(by, int) else by
        return found

    def cat_file(self, path: str, start: Any = None, end: Any = None, **kwargs: Any) -> Any:
        data = super().cat_file(path, start, end, **kwargs)
        return {"short": data[:-1], "long": data + b"x", "text": "text", "other": bytes(len(data))}.get(
            self.lie, data
        )


LIES = ("outside", "no names", "names", "sizes", "twice", "longer", "shorter", "huge", "unknown")


@pytest.mark.parametrize("lie", [*LIES, "short", "long", "text", "other"])
@pytest.mark.parametrize("tool", ["gocryptfs", "own"])
def test_a_store_that_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: str, tool: str) -> None:
    """A lie is a typed error or a warning, and never wrong bytes."""
    store = Lying(global_store=False, skip_instance_cache=True)
    store.store, store.pseudo_dirs = {}, [""]
    place = tmp_path / "vault"
    if tool == "own":
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "one").write_bytes(b"a plain text" * 20_000)
        Folder.create(place, key=KEY, encrypt_names=True).encrypt_from(tmp_path / "data")
        options: dict[str, Any] = {"key": "env:KEY"}
        monkeypatch.setenv("KEY", KEY.to_text())
    else:
        _, found = unpacked(VAULTS / "gocryptfs" / "gcm.json", place, monkeypatch)
        monkeypatch.setenv("PASSPHRASE", found["passphrase"])
        options = {"passphrase": "env:PASSPHRASE"}
    put(place, store, "/v")
    fs: Any = SealaneFileSystem(fs=store, folder="/v", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = {
            name: fs.cat_file(name) for name in fs.find("/v") if fs.isfile(name) and fs.info(name)["size"]
        }
        assert files
    store.lie = lie
    wrong = 0
    for name, content in files.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)
                fs.ls("/v")
                fs.info(name)
                assert fs.cat_file(name) == content
        except (sealane.SealaneError, OSError, UserWarning):
            wrong += 1
    assert wrong == len(files)
