"""Builds the program of the Debian package or of the OCI image, and prints its path.

``make -C release deb`` and ``oci`` run it. The program of the image is static: Zig links musl into it.
It is built like the wheels: this machine's paths are replaced, so another folder gives the same bytes.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
from pathlib import Path

import wheels


def build(target: Path, is_static: bool = False) -> Path:
    """Builds the program for this machine and returns its path."""
    triple = f"{platform.machine()}-unknown-linux-{'musl' if is_static else 'gnu'}"
    if is_static:
        subprocess.run(["rustup", "target", "add", triple], check=True, cwd=wheels.ROOT)
    cargo = "cargo-zigbuild" if is_static else "cargo"
    command = [cargo, "build", "--release", "--locked", "--package", "sealane-cli", "--target", triple]
    subprocess.run(command, check=True, cwd=wheels.ROOT, env=wheels.environment(target))
    path = target / triple / "release" / "sealane"
    if is_static:  # Zig's C code has debug information with this machine's paths
        subprocess.run(["strip", str(path)], check=True)
    if str(wheels.ROOT).encode() in path.read_bytes():
        sys.exit(f"{path} contains the path {wheels.ROOT}, so another folder would give other bytes")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target-dir", type=Path, default=wheels.ROOT / "target" / "wheels")
    parser.add_argument("--static", action="store_true", help="with musl in it, for the OCI image")
    options = parser.parse_args()
    print(build(options.target_dir.resolve(), options.static))


if __name__ == "__main__":
    main()
