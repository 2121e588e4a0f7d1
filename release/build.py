"""Builds what the packages of a platform hold: the program, the C library and the Elixir library.

The verbs of release/Makefile run it, and it prints the folder of what it built. One run of cargo compiles
each crate once for all of them. As for the wheels, Zig is the C compiler, no symbol is newer than the oldest
C library that is supported, and this machine's paths are replaced, so another folder gives the same bytes.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import wheels

HERE = platform.machine()
# The program of an OCI image has musl in it; such a build can make no shared library.
PLATFORMS = wheels.PLATFORMS | {
    f"static-{machine}": (f"{machine}-unknown-linux-musl", "static") for machine in ("x86_64", "aarch64")
}
PACKAGES = {
    "sealane-cli": "sealane",
    "sealane-c": "libsealane_c.a",
    "sealane-elixir": "libsealane_elixir.so",
}


def build(name: str, packages: list[str], target: Path) -> Path:
    """Builds packages for a platform and returns the folder with the results."""
    triple, tag = PLATFORMS[name]
    machine, _, _, library = triple.split("-")
    subprocess.run(["rustup", "target", "add", triple], check=True, cwd=wheels.ROOT)
    variables = wheels.environment(target)
    # What Zig links against, by its name for the platform.
    zig = f"{machine}-linux-{library}"
    minor = tag.rsplit("_", 1)[-1]
    if tag.startswith("manylinux"):
        zig, triple = f"{zig}.2.{minor}", f"{triple}.2.{minor}"
    if tag.startswith("musllinux"):
        variables["CARGO_ENCODED_RUSTFLAGS"] += "\x1f-Ctarget-feature=-crt-static"
    command = ["cargo-zigbuild", "build", "--release", "--locked", "--target", triple]
    command += [word for package in packages for word in ("--package", package)]
    subprocess.run(command, check=True, cwd=wheels.ROOT, env=variables, stdout=sys.stderr)
    built, parts = target / PLATFORMS[name][0] / "release", target / "parts" / name
    binutils = "" if machine == HERE else f"{machine}-linux-gnu-"
    parts.mkdir(parents=True, exist_ok=True)
    for package in packages:
        path = built / PACKAGES[package]
        if package == "sealane-c":
            variables["CC"] = f"{sys.executable} -m ziglang cc -target {zig}"
            variables["CROSS_COMPILE"] = binutils
            link = [str(wheels.ROOT / "bindings/c/link.sh"), str(path), str(parts / "c")]
            subprocess.run(link, check=True, env=variables)
        else:  # Zig's C code has debug information with this machine's paths
            path = Path(shutil.copy(path, parts))
            subprocess.run([f"{binutils}strip", "--strip-unneeded", str(path)], check=True)
    for path in (path for path in parts.rglob("*") if path.is_file()):
        content = path.read_bytes()
        if str(wheels.ROOT).encode() in content:
            sys.exit(f"{path} contains the path {wheels.ROOT}, so another folder would give other bytes")
        # The names of versions stand as text in a program or shared library.
        newest = max((int(one) for one in re.findall(rb"\0GLIBC_2\.(\d+)", content)), default=0)
        if tag.startswith("manylinux") and newest > int(minor):
            sys.exit(f"{path} needs glibc 2.{newest}, expected 2.{minor} or older")
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", choices=[*PACKAGES, []], help="default: all")
    parser.add_argument("--platform", default=f"manylinux-{HERE}", choices=PLATFORMS)
    parser.add_argument("--target-dir", type=Path, default=wheels.ROOT / "target" / "wheels")
    options = parser.parse_args()
    is_static = options.platform.startswith("static")
    packages = options.packages or (["sealane-cli"] if is_static else [*PACKAGES])
    print(build(options.platform, packages, options.target_dir.resolve()))


if __name__ == "__main__":
    main()
