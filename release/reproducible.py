"""Builds the wheel and the program twice, in two folders, and compares their bytes.

Paths of the machine are replaced in the debug information and in messages, and the time stamps are those
of the commit. ``--fast`` builds without optimisation: it shows the same differences in a fraction of the
time.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAST = {
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
    "CARGO_PROFILE_RELEASE_DEBUG": "0",
}


def build(folder: Path, fast: bool) -> dict[str, str]:
    """Builds a clone of the commit in a folder and returns the SHA-256 of each artefact."""
    source, target = folder / "source", folder / "target"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(source)], check=True)
    epoch = ["git", "-C", str(source), "log", "-1", "--format=%ct"]
    home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    prefixes = {str(source): "/sealane", str(target): "/target", home: "/cargo"}
    variables = os.environ | {
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(f"--remap-path-prefix={a}={b}" for a, b in prefixes.items()),
        "CARGO_INCREMENTAL": "0",
        "CARGO_TARGET_DIR": str(target),
        "CFLAGS": " ".join(f"-ffile-prefix-map={a}={b}" for a, b in prefixes.items()),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SOURCE_DATE_EPOCH": subprocess.run(epoch, check=True, capture_output=True, text=True).stdout.strip(),
        **(FAST if fast else {}),
    }
    wheel = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--strip"]
    wheel += ["--interpreter", sys.executable, "--out", str(folder)]
    program = ["cargo", "build", "--release", "--locked", "--package", "sealane-cli"]
    for command in [wheel, program]:
        subprocess.run(command, check=True, cwd=source, env=variables, capture_output=True)
    artefacts = [*folder.glob("*.whl"), target / "release" / "sealane"]
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in artefacts}
    for path in artefacts:
        shutil.copy(path, folder.parent / f"{folder.name}-{path.name}")
    shutil.rmtree(folder)
    return digests


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="without optimisation")
    parser.add_argument("--keep", type=Path, help="a folder for the artefacts; default: they are removed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep.resolve() if options.keep else Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        first, second = (build(folder / name, options.fast) for name in ["one", "another-folder"])
    profile = "without optimisation" if options.fast else "in the release profile"
    for name, digest in first.items():
        if second[name] != digest:
            print(f"{name}: {digest} and {second[name]}", file=sys.stderr)
            return 1
        print(f"{name} {digest} {profile}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
