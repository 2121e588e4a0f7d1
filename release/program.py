"""Builds the program of the Debian package, and prints its path. ``make -C release deb`` runs it.

It is built like the wheels: this machine's paths are replaced, so another folder gives the same bytes.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
from pathlib import Path

import wheels


def build(target: Path) -> Path:
    """Builds the program for this machine and returns its path."""
    triple = f"{platform.machine()}-unknown-linux-gnu"
    command = ["cargo", "build", "--release", "--locked", "--package", "sealane-cli", "--target", triple]
    subprocess.run(command, check=True, cwd=wheels.ROOT, env=wheels.environment(target))
    path = target / triple / "release" / "sealane"
    if str(wheels.ROOT).encode() in path.read_bytes():
        sys.exit(f"{path} contains the path {wheels.ROOT}, so another folder would give other bytes")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target-dir", type=Path, default=wheels.ROOT / "target" / "wheels")
    print(build(parser.parse_args().target_dir.resolve()))


if __name__ == "__main__":
    main()
