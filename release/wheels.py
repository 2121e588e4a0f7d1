"""Builds wheels for Linux (x86-64 and aarch64, glibc from 2.28 and musl from 1.2) and macOS.

``make -C release wheels`` runs it. One wheel of a platform serves every CPython from 3.11 on (abi3). Zig
compiles and links the C code, so one machine builds all of them, and no symbol is newer than the oldest C
library that a wheel supports.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from unittest import mock

import zopfli.zlib

ROOT = Path(__file__).resolve().parents[1]
MAX_LEN = 12_000_000

# For each platform of a wheel: Rust's target, and the tag that pip compares with its machine.
PLATFORMS = {
    "manylinux-x86_64": ("x86_64-unknown-linux-gnu", "manylinux_2_28"),
    "manylinux-aarch64": ("aarch64-unknown-linux-gnu", "manylinux_2_28"),
    "musllinux-x86_64": ("x86_64-unknown-linux-musl", "musllinux_1_2"),
    "musllinux-aarch64": ("aarch64-unknown-linux-musl", "musllinux_1_2"),
}
# Zig links for macOS without Apple's SDK, but no such system is here to run them.
MACOS = {
    "macos-x86_64": ("x86_64-apple-darwin", "macosx_10_12"),
    "macos-aarch64": ("aarch64-apple-darwin", "macosx_11_0"),
}


def environment(target: Path) -> dict[str, str]:
    """Returns an environment where every build of a commit gives the same bytes."""
    commit = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    epoch = subprocess.run(commit, check=True, capture_output=True, text=True).stdout.strip()
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    prefixes = {str(ROOT): "/sealane", str(target): "/target", cargo: "/cargo"}
    flags = [f"--remap-path-prefix={path}={name}" for path, name in prefixes.items()]
    c_flags = " ".join(f"-ffile-prefix-map={path}={name}" for path, name in prefixes.items())
    # No panic passes through C code, so its tables for unwinding would be dead weight.
    c_flags += " -fno-unwind-tables -fno-asynchronous-unwind-tables"
    return os.environ | {
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
        "CARGO_INCREMENTAL": "0",
        "CARGO_TARGET_DIR": str(target),
        "CFLAGS": c_flags,
        "SOURCE_DATE_EPOCH": epoch,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }


def build(platform: str, out: Path, target: Path) -> Path:
    """Builds a platform's wheel and returns its path."""
    triple, tag = (PLATFORMS | MACOS)[platform]
    subprocess.run(["rustup", "target", "add", triple], check=True, cwd=ROOT)
    command = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--strip", "--zig"]
    command += ["--target", triple, "--interpreter", "python3.11", "--out", str(out)]
    architecture = triple.split("-")[0]
    if platform in MACOS:
        architecture = architecture.replace("aarch64", "arm64")
    else:
        command += ["--compatibility", tag]
    subprocess.run(command, check=True, cwd=ROOT, env=environment(target))
    (wheel,) = out.glob(f"sealane-*-cp311-abi3-{tag}_{architecture}.whl")
    make_links_absolute(wheel)
    return wheel


class Zopfli:
    """Stands in for zlib, which zipfile calls: a wheel becomes 3 % smaller, in half a minute."""

    def __init__(self) -> None:
        self.data = bytearray()

    def compress(self, data: bytes) -> bytes:
        self.data += data
        return b""

    def flush(self) -> bytes:
        # Without zlib's header and checksum: raw deflate.
        compressed: bytes = zopfli.zlib.compress(bytes(self.data), numiterations=5)
        return compressed[2:-4]


def make_links_absolute(wheel: Path) -> None:
    """Makes the links of the README in a wheel absolute, for there are no other files beside it."""
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    address = f"{workspace['repository']}/blob/v{workspace['version']}/"
    with zipfile.ZipFile(wheel) as archive:
        files = {info: archive.read(info) for info in archive.infolist()}
    metadata, record = (
        next(info for info in files if info.filename.endswith(f".dist-info/{name}"))
        for name in ("METADATA", "RECORD")
    )
    text = re.sub(r"\]\((?![a-z]+:|#)", f"]({address}", files[metadata].decode())
    files[metadata] = text.encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(files[metadata]).digest()).decode().rstrip("=")
    line = f"{metadata.filename},sha256={digest},{len(files[metadata])}"
    files[record] = re.sub(
        rf"^{re.escape(metadata.filename)},.*$", line, files[record].decode(), flags=re.M
    ).encode()
    with (
        mock.patch.object(zipfile, "_get_compressor", side_effect=lambda *_: Zopfli()),
        zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for info, content in files.items():
            archive.writestr(info, content)


def check(wheel: Path, max_len: int) -> None:
    """Checks a wheel's length, and that none of its files contains the build folder's path."""
    length = wheel.stat().st_size
    print(f"{wheel.name}: {length / 1e6:.2f} MB")
    if length > max_len:
        sys.exit(f"{wheel.name}: {length} bytes, expected at most {max_len}")
    with zipfile.ZipFile(wheel) as archive:
        modules = [name for name in archive.namelist() if re.search(r"/_native.*\.so$", name)]
        for name in archive.namelist():
            if str(ROOT).encode() in archive.read(name):
                sys.exit(
                    f"{wheel.name}: {name} contains the path {ROOT}, so another folder would give other bytes"
                )
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        if found := re.search(r"\]\((?![a-z]+:|#)[^)]*\)", archive.read(metadata).decode()):
            sys.exit(f"{wheel.name}: its README has the relative link {found[0]}")
    if len(modules) != 1:
        sys.exit(f"{wheel.name}: expected one native module, found {modules}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "platforms", nargs="*", choices=[*PLATFORMS, *MACOS, []], help="default: those for Linux"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--max-len", type=int, default=MAX_LEN, help="of a wheel, in bytes")
    parser.add_argument("--target-dir", type=Path, default=ROOT / "target" / "wheels")
    options = parser.parse_args()
    for platform in options.platforms or PLATFORMS:
        check(build(platform, options.out.resolve(), options.target_dir.resolve()), options.max_len)


if __name__ == "__main__":
    main()
