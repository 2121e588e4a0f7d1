"""Encrypted folders and vaults on S3 (moto): from Python, through fsspec, and from the program."""

from __future__ import annotations

import filecmp
import hashlib
import io
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
import sealane
from parts import Server, forget_filesystems
from sealane import Folder
from vaults_of_tools import VAULTS, check, unpacked

TOOLS = {"gocryptfs": "gcm", "cryptomator": "v8-siv-gcm", "rclone": "standard-base32"}


class Store:
    """A bucket, with what each side needs to reach it."""

    def __init__(self, server: Server) -> None:
        self.options: dict[str, Any] = {
            "key": "testing",
            "secret": "testing",
            "client_kwargs": {"endpoint_url": server.url, "region_name": "us-east-1"},
        }
        self.variables = {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_ENDPOINT_URL": server.url,
            "AWS_REGION": "us-east-1",
        }
        self.fs: Any = fsspec.filesystem("s3", **self.options)

    def upload(self, place: Path, root: str) -> None:
        """Copies the files of a folder; S3 has no links and no empty folders."""
        paths = [Path(folder, name) for folder, _, names in os.walk(place) for name in names]
        files = [path for path in paths if not os.path.islink(path)]
        self.fs.put([str(path) for path in files], [f"{root}/{path.relative_to(place)}" for path in files])
        self.fs.invalidate_cache()

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "sealane", *words],
            env={**os.environ, **self.variables, **variables},
            capture_output=True,
            check=False,
            text=True,
            errors="surrogateescape",
        )

    def succeed(self, *words: str, **variables: str) -> str:
        done = self.run(*words, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def store(server: Server, request: Any) -> Iterator[Store]:
    store = Store(server)
    store.fs.call_s3("create_bucket", Bucket="vaults")
    yield store
    store.fs.invalidate_cache()
    store.fs.rm("vaults", recursive=True)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_vault_of_each_tool(
    tool: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "vault"
    entries, keys = unpacked(next((VAULTS / tool).glob(f"{TOOLS[tool]}*.json")), place, monkeypatch)
    # Folders that contain nothing, or only links, are not in the store.
    files = {path: entry for path, entry in entries.items() if entry["type"] == "file"}
    above = {str(folder) for path in files for folder in Path(path).parents} - {"."}
    kept = {path: entry for path, entry in entries.items() if path in files or path in above}
    root = f"vaults/{tool}"
    store.upload(place, root)
    folder = Folder(f"s3://{root}", storage_options=store.options, **keys)  # type: ignore[arg-type]
    if tool == "rclone":
        check(folder, kept, links=False)
    else:
        # Their other folders are there: each has a file that describes it.
        assert {one.path for one in folder.walk() if one.kind == "file"} == set(files)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = folder.verify(errors="return")
    assert report.done == len(files)
    if "passphrase" in keys:
        monkeypatch.setenv("PASSPHRASE", keys["passphrase"])
        keys = {"passphrase": "env:PASSPHRASE"}
    fs, path = fsspec.url_to_fs(f"sealane::s3://{root}", sealane={"folder": root, **keys}, s3=store.options)
    for name, entry in files.items():
        size = entry["size"]
        with fs.open(f"{path}/{name}") as file:
            data = file.read()
            assert hashlib.sha256(data).hexdigest() == entry["sha256"]
            file.seek(size // 2)
            assert file.read(5000) == data[size // 2 :][:5000]
        assert fs.cat_file(f"{path}/{name}", start=1, end=-1) == data[1:-1]
    out = tmp_path / "out"
    report = folder.decrypt_to(out, errors="return")
    found = {name: out / name for name in files if (out / name).is_file()}
    assert set(found) == set(files)
    for name, path in found.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == files[name]["sha256"]


def made(tmp_path: Path, count: int) -> tuple[Path, Path, sealane.keys.Key]:
    """Returns a folder, its encryption after a change, and the key."""
    data, vault, key = tmp_path / "data", tmp_path / "vault", sealane.keys.generate("aes-256")
    key.save(tmp_path / "key")
    for at in range(count):
        folder = data / f"folder {at % 20}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file {at}").write_bytes(os.urandom(at % 300))
    (data / "long").write_bytes(os.urandom(300_000))
    folder = Folder.create(vault, key=key, encrypt_names=True)
    for _ in range(2):
        folder.encrypt_from(data, delete=True, manifest=tmp_path / "manifest")
        (data / "folder 1" / "file 1").write_bytes(b"changed")
        (data / "folder 2" / "file 2").unlink(missing_ok=True)
    folder.encrypt_from(data, delete=True, manifest=tmp_path / "manifest")
    return data, vault, key


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_files(count: int, store: Store, tmp_path: Path) -> None:
    """A folder made on disk is listed, verified, read and restored from S3, and every attack is found."""
    data, vault, key = made(tmp_path, count)
    store.upload(vault, "vaults/many")
    folder = Folder("s3://vaults/many", key=key, storage_options=store.options)
    wanted = {str(path.relative_to(data)): path for path in data.rglob("*") if path.is_file()}
    listed = {one.path: one.size for one in folder.walk() if one.kind == "file"}
    assert listed == {name: path.stat().st_size for name, path in wanted.items()}
    report = folder.verify()
    assert (report.done, report.bytes) == (len(wanted), sum(listed.values()))
    assert folder.decrypt_to(tmp_path / "out").done == len(wanted)
    same, *others = filecmp.cmpfiles(data, tmp_path / "out", list(wanted), shallow=False)
    assert (len(same), *others) == (len(wanted), [], [])
    for name in list(wanted)[:: max(count // 50, 1)]:
        with folder.open(name) as file:
            assert file.read() == wanted[name].read_bytes()

    # Attacks on single objects.
    objects = sorted(store.fs.find("vaults/many"))
    small = [name for name in objects if not name.endswith(".sealane") and store.fs.size(name) > 100]
    changed, one, other, missing, cut = small[:: len(small) // 5][:5]
    content = {name: store.fs.cat_file(name) for name in (changed, one, other, cut)}
    store.fs.pipe_file(changed, content[changed][:-1] + bytes([content[changed][-1] ^ 1]))
    store.fs.pipe_file(one, content[other])  # The content of another file of the folder is valid there.
    store.fs.pipe_file(cut, content[cut][:-20])
    moved = other.rpartition("/")[0] + "/" + changed.rpartition("/")[2]
    store.fs.pipe_file(moved, content[other])  # The name is of another folder.
    store.fs.rm_file(missing)
    store.fs.pipe_file("vaults/many/.DS_Store", b"?")
    store.fs.invalidate_cache()
    report = folder.verify(errors="return")
    kinds = sorted(type(error).__name__ for error in report.failed.values())
    assert len(report.failed) == 4, report.failed
    assert all(isinstance(error, sealane.SealaneError) for error in report.failed.values()), kinds
    assert report.done == len(wanted) - 3
    damaged = next(path for path in report.failed if path.removeprefix("s3://vaults/many/") in wanted)
    with pytest.raises(sealane.SealaneError):
        folder.open(damaged.removeprefix("s3://vaults/many/")).read()
    done = store.run("verify", "-k", str(tmp_path / "key"), "s3://vaults/many")
    assert done.returncode == 1
    assert f"{report.done} files verified" in done.stderr + done.stdout
    assert "4 failed" in done.stderr + done.stdout


def test_a_store_that_lies_about_lengths(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, vault, key = made(tmp_path, 40)
    store.upload(vault, "vaults/lies")
    folder = Folder("s3://vaults/lies", key=key, storage_options=store.options)
    total = folder.verify().done
    for by in (1, -1, 1 << 40):
        real = store.fs.__class__._info

        async def info(
            self: Any, path: str, *args: Any, by: int = by, real: Any = real, **kwargs: Any
        ) -> Any:
            found = dict(await real(self, path, *args, **kwargs))
            if found["type"] == "file" and not path.endswith(".sealane"):
                found["size"] += by
            return found

        with monkeypatch.context() as patch:
            patch.setattr(store.fs.__class__, "_info", info)
            report = folder.verify(errors="return")
        assert (report.done, len(report.failed)) == (0, total)
        assert all(isinstance(error, sealane.SealaneError | OSError) for error in report.failed.values())
    assert folder.verify().done == total


def test_the_program_reads_urls(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, vault, key = made(tmp_path, 40)
    store.upload(vault, "vaults/deep/own")
    place, with_key = "s3://vaults/deep/own", ("-k", str(tmp_path / "key"))
    listed = store.succeed("ls", "-R", *with_key, place).splitlines()
    assert {line for line in listed if not line.endswith("/")} == {
        str(path.relative_to(data)) for path in data.rglob("*") if path.is_file()
    }
    assert "file 4" in store.succeed("ls", *with_key, f"{place}/folder 4")
    content = (data / "long").read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "sealane", "cat", *with_key, "--range", "100000:200000", f"{place}/long"],
        env={**os.environ, **store.variables},
        capture_output=True,
        check=True,
    )
    assert done.stdout == content[100_000:200_000]
    store.succeed("verify", *with_key, place)
    store.succeed("decrypt", *with_key, "-o", str(tmp_path / "out"), place)
    assert (tmp_path / "out" / "long").read_bytes() == content
    # A single encrypted file.
    sealane.encrypt_file(data / "long", tmp_path / "long.sealed", key=key)
    store.fs.put_file(str(tmp_path / "long.sealed"), "vaults/files/long.sealed")
    one = "s3://vaults/files/long.sealed"
    store.succeed("verify", *with_key, one)
    assert "300000 bytes" in store.succeed("inspect", one)
    store.succeed("decrypt", *with_key, "-o", str(tmp_path / "new name"), one)
    assert (tmp_path / "new name").read_bytes() == content
    store.succeed("decrypt", *with_key, "-o", str(tmp_path / "out"), one)
    damaged = bytearray((tmp_path / "long.sealed").read_bytes())
    damaged[200_000] ^= 1
    store.fs.pipe_file("vaults/files/long.sealed", bytes(damaged))
    other = sealane.keys.generate("aes-256")
    other.save(tmp_path / "other")
    for words, status, text in [
        (("decrypt", *with_key, "-o", str(tmp_path / "none"), one), 1, "chunk"),
        (("verify", *with_key, one), 1, "chunk"),
        (("verify", *with_key, "s3://vaults/files/none"), 1, "no such file"),
        (("verify", "-k", str(tmp_path / "other"), place), 1, "give the right key"),
        (("decrypt", *with_key, one), 2, "-o"),
        (("decrypt", *with_key, "-o", "s3://vaults/new", str(tmp_path / "long.sealed")), 2, "found a URL"),
        (("init", *with_key, "s3://vaults/new"), 2, "found a URL"),
        (("cat", *with_key, "nothing://vaults/x"), 1, "nothing"),
    ]:
        failed = store.run(*words)
        assert (failed.returncode, text in failed.stderr) == (status, True), failed.stderr
    assert not (tmp_path / "none").exists()
    # A vault of another tool, with its passphrase.
    entries, keys = unpacked(VAULTS / "gocryptfs" / "gcm.json", tmp_path / "theirs", monkeypatch)
    store.upload(tmp_path / "theirs", "vaults/theirs")
    (tmp_path / "pass").write_text(keys["passphrase"])
    ask = ("--passphrase-command", f"cat {tmp_path / 'pass'}")
    listed = store.succeed("ls", "-R", *ask, "s3://vaults/theirs").splitlines()
    assert {line for line in listed if not line.endswith("/")} >= {
        path for path, entry in entries.items() if entry["type"] == "file" and path.isascii()
    }
    store.succeed("verify", *ask, "s3://vaults/theirs")
    assert "gocryptfs" in store.succeed("inspect", "s3://vaults/theirs")
    forget_filesystems()


def test_the_program_encrypts_at_urls(store: Store, tmp_path: Path) -> None:
    """From and to URLs, in one request and in parts; what fails leaves nothing."""
    sealane.keys.generate("aes-256").save(tmp_path / "key")
    with_key = ("-k", str(tmp_path / "key"))
    contents = {"empty": b"", "small": b"small", "long": os.urandom(20 << 20)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        store.fs.pipe_file(f"vaults/plain/{name}", content)
    paths, urls = ([f"{place}/{name}" for name in contents] for place in (tmp_path, "s3://vaults/plain"))

    def check(url: str, content: bytes) -> None:
        store.succeed("decrypt", *with_key, "-o", str(tmp_path / "back"), url)
        assert (tmp_path / "back").read_bytes() == content

    store.succeed("encrypt", *with_key, "-o", "s3://vaults/to/", *paths)
    store.succeed("encrypt", *with_key, "-o", "s3://vaults/across/", *urls)
    for name, content in contents.items():
        check(f"s3://vaults/to/{name}", content)
        check(f"s3://vaults/across/{name}", content)
    told = json.loads(store.succeed("encrypt", "--json", *with_key, "-o", "s3://vaults/one", urls[1]))
    assert (told["source"], told["target"], told["bytes"]) == (urls[1], "s3://vaults/one", 5)
    check("s3://vaults/one", b"small")
    store.succeed("encrypt", *with_key, "-o", str(tmp_path / "sealed"), urls[2])
    assert sealane.decrypt((tmp_path / "sealed").read_bytes(), key=f"file:{tmp_path}/key") == contents["long"]
    (tmp_path / "folder").mkdir()
    data, vault, _ = made(tmp_path / "folder", 3)
    store.upload(vault, "vaults/own")
    before = sorted(store.fs.find("vaults"))
    for words, status, text in [
        (("encrypt", *with_key, "-o", "s3://vaults/own/new", paths[1]), 2, "describes itself"),
        (("encrypt", *with_key, "-o", "s3://vaults/own", paths[1]), 2, "describes itself"),
        (("encrypt", *with_key, "-o", urls[1], urls[1]), 2, "same file"),
        (("encrypt", *with_key, "-o", "s3://vaults/new", *paths), 2, "expected '/' at the end"),
        (("encrypt", *with_key, "-o", "s3://vaults/new", str(data)), 1, "is a folder"),
        (("encrypt", *with_key, "-o", "s3://vaults/new", "s3://vaults/plain/none"), 1, "no such file"),
        (("encrypt", *with_key, "-o", "s3://vaults/new", str(tmp_path / "none")), 1, "no such file"),
        (("encrypt", *with_key, "-o", "s3://none/new", paths[1]), 1, "s3://none/new"),
        (("encrypt", *with_key, "-o", "s3://vaults/new?versionId=1", paths[1]), 1, "another name"),
        (("encrypt", *with_key, "--recursive", "-o", "s3://vaults/new", str(data)), 2, "found a URL"),
    ]:
        failed = store.run(*words)
        assert (failed.returncode, text in failed.stderr) == (status, True), failed.stderr
    assert sorted(store.fs.find("vaults")) == before
    forget_filesystems()


def test_https(tmp_path: Path) -> None:
    """A file on a web server, which lists nothing."""
    import http.server
    import threading

    key = sealane.keys.generate("aes-256")
    key.save(tmp_path / "key")
    (tmp_path / "web").mkdir()
    content = os.urandom(300_000)
    (tmp_path / "web" / "a.sealed").write_bytes(sealane.encrypt(content, key=key))

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            data = (tmp_path / "web" / self.path.strip("/")).read_bytes()
            first, _, last = self.headers.get("Range", f"bytes=0-{len(data) - 1}")[6:].partition("-")
            end = min(int(last or len(data)), len(data) - 1) + 1
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{len(data)}")
            self.send_header("Content-Length", str(end - int(first)))
            self.end_headers()
            io.BufferedWriter(self.wfile).write(data[int(first) : end])  # type: ignore[arg-type]

    def handler(*args: Any) -> Handler:
        return Handler(*args, directory=str(tmp_path / "web"))

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=[0.05]).start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/a.sealed"
            done = subprocess.run(
                [sys.executable, "-m", "sealane", "cat", "-k", str(tmp_path / "key"), url],
                capture_output=True,
                check=False,
            )
        finally:
            server.shutdown()
    assert done.returncode == 0, done.stderr
    assert done.stdout == content
