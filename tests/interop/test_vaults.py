"""Vaults that gocryptfs and rclone make now, with their options and names of every kind of byte.

What the tool wrote is listed, verified, decrypted, read by ranges through fsspec, and mounted.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import fsspec
import pytest
from programs import program
from sealane import Folder

PROGRAM = Path(sys.executable).parent / "sealane"
SIZES = [0, 1, 16, 4095, 4096, 4097, 65_535, 65_536, 65_537, 300_001]
NAMES = [
    *(bytes(range(1, 47)), bytes(range(48, 128)), bytes(range(128, 192)), bytes(range(192, 256))),
    *(b" lead", b"trail ", b"trail.", b"...", b"..a", b"-v", b"a\nb", b"a\xc3", b"CON", b"x.bin", b"!1.x"),
    *(b'1.x a:b\\c*?"<>|', b"of-v2001-02-03-040506-123.txt", "é e\u0301 日本 🙂 ␀␁\uff0f".encode()),
    *(b"n" * count for count in (15, 16, 17, 31, 32, 143)),
]

# A file or a folder (`None`) for each path.
Tree = dict[bytes, bytes | None]


def make(place: Path) -> Tree:
    """Writes the files of every size and name, some of them below folders of these names."""
    chance, top = random.Random(1), os.fsencode(place)
    tree: Tree = {b"size %d" % size: chance.randbytes(size) for size in SIZES}
    tree |= {name: name * 3 for name in NAMES} | {b"empty": None, b"sub": None}
    tree |= {b"sub/d" + name: None for name in NAMES[:8]}
    tree |= {b"sub/d%s/%s" % (name, name): name for name in NAMES[:8]}
    for path, content in tree.items():
        if content is None:
            os.mkdir(top + b"/" + path)
        else:
            Path(os.fsdecode(top + b"/" + path)).write_bytes(content)
    with open(place / "sparse", "wb") as file:
        file.truncate(100_000)
        file.seek(50_000)
        file.write(b"middle")
    tree[b"sparse"] = (place / "sparse").read_bytes()
    return tree


def read(place: Path) -> Tree:
    tree: Tree = {}
    for folder, folders, files in os.walk(os.fsencode(place)):
        at = os.path.relpath(folder, os.fsencode(place))
        tree |= {os.path.normpath(os.path.join(at, name)): None for name in folders}
        for name in files:
            with open(os.path.join(folder, name), "rb") as file:
                tree[os.path.normpath(os.path.join(at, name))] = file.read()
    return tree


def check(tree: Tree, place: Path, words: list[str], keys: dict[str, Any], tmp_path: Path) -> None:
    """Reads the vault in every way."""

    def run(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([PROGRAM, *words], capture_output=True)

    files = {os.fsdecode(path): content for path, content in tree.items() if content is not None}
    folder = Folder(place, **keys)
    found = {os.fsencode(entry.path): entry.size if entry.kind == "file" else None for entry in folder.walk()}
    assert found == {path: content if content is None else len(content) for path, content in tree.items()}
    assert folder.verify().done == len(files)
    done = run("decrypt", "--recursive", *words[:-1], "-o", str(tmp_path / "out"), words[-1])
    assert (done.returncode, done.stderr) == (0, b"")
    assert read(tmp_path / "out") == tree
    if "passphrase" in keys:
        keys = {"passphrase": f"file:{tmp_path / 'pass'}"}
    fs, root = fsspec.url_to_fs(f"sealane::file://{place}", sealane={"folder": str(place), **keys})
    for path, content in files.items():
        start = len(content) // 3
        assert fs.cat_file(f"{root}/{path}", start=start, end=-1) == content[start:-1]
    point = tmp_path / "point"
    point.mkdir()
    done = run("mount", "--log", str(tmp_path / "log"), *words, str(point))
    if b"/dev/fuse" in done.stderr or b"fusermount3" in done.stderr:
        pytest.skip("NOT RUN: needs the right to mount with /dev/fuse")
    assert (done.returncode, done.stderr) == (0, b"")
    try:
        assert read(point) == tree
    finally:
        unmount(point)
    assert (tmp_path / "log").read_bytes() == b""


def unmount(point: Path) -> None:
    if subprocess.run(["umount", point], capture_output=True).returncode != 0:
        subprocess.run(["fusermount3", "-u", point], check=True)


@pytest.mark.parametrize(
    "options",
    [
        "",
        "-xchacha",
        "-plaintextnames",
        "-longnamemax 100",
        "-longnamemax 62 -xchacha",
        "-aessiv",
        "-deterministic-names",
        "-raw64=false",
        "-raw64=false -deterministic-names -xchacha",
        "-aessiv -plaintextnames",
        "-hkdf=false",
    ],
)
def test_gocryptfs(options: str, tmp_path: Path) -> None:
    tool, vault, point = program("gocryptfs"), tmp_path / "vault", tmp_path / "theirs"
    vault.mkdir()
    point.mkdir()
    (tmp_path / "pass").write_text(f"pass wörd {options}")
    call = [tool, "-q", "-passfile", str(tmp_path / "pass")]
    init = [*call, "-init", "-scryptn", "11", *options.split(), vault]
    subprocess.run(init, check=True, capture_output=True)
    if subprocess.run([*call, vault, point], capture_output=True).returncode != 0:
        pytest.skip("NOT RUN: needs the right to mount with /dev/fuse")
    try:
        tree = make(point)
    finally:
        unmount(point)
    words = ["--passphrase-command", f"cat '{tmp_path / 'pass'}'", str(vault)]
    check(tree, vault, words, {"passphrase": f"pass wörd {options}"}, tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        "",
        "filename_encoding=base64",
        "filename_encoding=base32768",
        "filename_encryption=obfuscate",
        "filename_encryption=obfuscate directory_name_encryption=false",
        "filename_encryption=off",
        "directory_name_encryption=false",
        "no_data_encryption=true",
        "no_data_encryption=true filename_encryption=off",
        "strict_names=true",
        "password2=",
    ],
)
def test_rclone(options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool, vault, data = program("rclone"), tmp_path / "vault", tmp_path / "data"

    def hidden(text: str) -> str:
        done = subprocess.run([tool, "obscure", "-"], input=text, capture_output=True, check=True, text=True)
        return done.stdout.strip()

    given = dict(option.split("=") for option in options.split())
    lines = {"password": hidden(f"pass wörd {options}"), "password2": hidden("salt"), **given}
    text = "".join(f"{name} = {value}\n" for name, value in lines.items() if value)
    (tmp_path / "rclone.conf").write_text(f"[it]\ntype = crypt\nremote = {vault}\n{text}")
    monkeypatch.setenv("RCLONE_CONFIG", str(tmp_path / "rclone.conf"))
    data.mkdir()
    tree = make(data)
    done = subprocess.run([tool, "copy", "--create-empty-src-dirs", data, "it:"], capture_output=True)
    assert done.returncode == 0, done.stderr
    check(tree, vault, ["--rclone", "it", "."], {"rclone": "it"}, tmp_path)
    if "filename_encryption=off" in options:
        # A newer rclone stores files under another suffix, or none.
        (vault / "other").write_bytes(b"?")
        done = subprocess.run([PROGRAM, "ls", "--rclone", "it", "."], capture_output=True)
        assert done.returncode == 1
        assert b"other: expected a name that ends with the suffix" in done.stderr
