"""Compares the public names of the published crates with the last release's.

``make -C release semver BASE=REVISION`` compares with another revision. cargo-semver-checks builds the
documentation of both, in ``target/semver-checks``, and finds names that were removed or changed so that code
of users does not compile any more.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / "target" / "tools" / "bin"


def git(*arguments: str) -> str:
    """Returns the output of a git command."""
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True, cwd=ROOT).stdout


def last_release() -> str | None:
    """Returns the last tag ``v...`` before this commit, or ``None`` if there is none."""
    # With this option, v1.0.0-rc1 is older than v1.0.0.
    listing = ["-c", "versionsort.suffix=-", "tag", "--list", "v*", "--sort=-version:refname"]
    here = git("tag", "--points-at", "HEAD").split()
    return next((tag for tag in git(*listing, "--merged", "HEAD").split() if tag not in here), None)


def is_shallow() -> bool:
    """Returns whether the clone lacks old commits and their tags."""
    return git("rev-parse", "--is-shallow-repository").strip() == "true"


def crates() -> list[str]:
    """Returns the published crates that have a library."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["members"]
    packages = {
        member: tomllib.loads((ROOT / member / "Cargo.toml").read_text(encoding="utf-8"))["package"]
        for member in members
    }
    return [
        package["name"]
        for member, package in packages.items()
        if package.get("publish") is True and (ROOT / member / "src" / "lib.rs").exists()
    ]


def compare(base: str) -> subprocess.CompletedProcess[str]:
    """Compares the working tree with a revision.

    The exit status is not 0 if the changes need a higher version than the working tree has.
    """
    command = ["cargo", "semver-checks", "--color", "never", "--baseline-rev", base]
    command += [argument for crate in crates() for argument in ("--package", crate)]
    variables = os.environ | {"PATH": f"{TOOLS}:{os.environ['PATH']}"}
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", nargs="?", help="a revision; by default the tag of the last release")
    base = parser.parse_args().base or last_release()
    if base is None:
        print(
            "NOT RUN: there is no tag v... to compare with; BASE=REVISION names a revision", file=sys.stderr
        )
        return 1
    done = compare(base)
    print(done.stdout + done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
