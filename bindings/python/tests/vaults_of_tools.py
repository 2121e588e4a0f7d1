"""The vaults in ``vectors/vaults``: how tests unpack them, and compare what they hold."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from sealane import Folder
from support import ROOT

VAULTS = ROOT / "vectors" / "vaults"


def unpacked(case: Path, place: Path, patch: pytest.MonkeyPatch) -> tuple[dict[str, Any], dict[str, str]]:
    """Writes a vault to a folder. Returns what the tool reads, and how to open it."""
    about = json.loads(case.read_text())
    with tarfile.open(case.with_suffix(".tar")) as archive:
        archive.extractall(place, filter="fully_trusted")
    entries = {entry["path"]: entry for entry in about["entries"]}
    if "options" not in about or "password2_obscured" not in about:
        return entries, {"passphrase": about["password"]}
    options = {"password": about["password_obscured"], "password2": about["password2_obscured"]}
    lines = [f"{name} = {value}" for name, value in {**options, **about["options"]}.items() if value]
    config = place.parent / "rclone.conf"
    config.write_text("\n".join(["[it]", "type = crypt", f"remote = {place}", *lines]))
    patch.setenv("RCLONE_CONFIG", str(config))
    return entries, {"rclone": "it"}


def check(folder: Folder, entries: dict[str, Any], *, links: bool) -> None:
    """Compares everything in a vault with what its tool reads, and ranges of its files."""
    kinds = {"file": "file", "dir": "folder", "symlink": "link"}
    wanted = {path: kinds[one["type"]] for path, one in entries.items() if links or one["type"] != "symlink"}
    found = {entry.path: entry for entry in folder.walk() if links or entry.kind != "link"}
    assert {path: entry.kind for path, entry in found.items()} == wanted
    for path, entry in found.items():
        if entry.kind == "link":
            assert folder.read_link(path) == entries[path]["target"]
        if entry.kind != "file":
            continue
        with folder.open(path) as file:
            data = file.read()
            assert (len(data), file.size, entry.size) == (entries[path]["size"],) * 3
            assert hashlib.sha256(data).hexdigest() == entries[path]["sha256"]
            for start in {0, len(data) // 2, max(len(data) - 9, 0), len(data)}:
                file.seek(start)
                assert file.read(17) == data[start : start + 17]
