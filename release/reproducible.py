"""Builds the wheel and the program twice, from clones in two folders, and compares their bytes.

``wheels.py`` and ``build.py`` build them, as for a release. ``--fast`` builds without optimisation:
it shows the same differences in a fraction of the time. ``--first FOLDER`` skips the first build and
takes a wheel and a program of this commit that were built before.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLATFORM = f"manylinux-{platform.machine()}"
FAST = {
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
    "CARGO_PROFILE_RELEASE_DEBUG": "0",
}


def build(folder: Path, fast: bool) -> None:
    """Builds a clone of the commit; leaves only the wheel and the program in the folder."""
    work = folder / "work"
    source, target = work / "source", work / "target"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(source)], check=True)
    options = ["--target-dir", str(target)]
    wheel = ["wheels.py", PLATFORM, "--out", str(folder)]
    # Without optimisation a wheel takes 30 MB.
    scripts = [[*wheel, "--max-len", "100000000"] if fast else wheel, ["build.py", "sealane-cli"]]
    for script, *arguments in scripts:
        command = [sys.executable, str(source / "release" / script), *arguments, *options]
        variables = os.environ | (FAST if fast else {})
        done = subprocess.run(
            command, check=False, cwd=source, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode:
            sys.exit(f"{script} failed: {done.stdout.decode(errors='replace')[-2000:]}")
    (program,) = target.glob("parts/*/sealane")
    shutil.move(program, folder)
    shutil.rmtree(work)


def digests(folder: Path) -> dict[str, str]:
    """Returns the SHA-256 of this machine's wheel and of the program in a folder."""
    found = [*folder.glob(f"*manylinux*_{platform.machine()}.whl"), *folder.glob("sealane")]
    if len(found) != 2:
        sys.exit(f"expected a wheel and a program in {folder}, found {found}")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="without optimisation")
    parser.add_argument("--first", type=Path, help="a folder with a wheel and a program of this commit")
    parser.add_argument("--keep", type=Path, help="new folder for the artefacts; default: remove them")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        first, second = options.first or folder / "one", folder / "another-folder"
        if not options.first:
            build(first, options.fast)
        build(second, options.fast)
        expected, found = digests(first), digests(second)
    profile = "without optimisation" if options.fast else "in the release profile"
    for name, digest in expected.items():
        if found.get(name) != digest:
            print(f"{name}: {digest} and {found}", file=sys.stderr)
            return 1
        print(f"{name} {digest} {profile}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
