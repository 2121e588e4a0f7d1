"""Installs the package in place: the library that cargo built, and the sources of this folder.

    develop.py FOLDER-OF-THE-LIBRARY

maturin only writes the metadata. It would build the library again, with other features of its dependencies
than `cargo test`.
"""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SITE = Path(sysconfig.get_path("purelib"))


def library(folder: Path) -> None:
    """Copies the library. A running process may map the old file, so it is replaced, not changed."""
    built = folder / ("lib_native.dylib" if platform.system() == "Darwin" else "lib_native.so")
    placed = HERE / "sealane" / "_native.abi3.so"
    if not placed.exists() or placed.stat().st_mtime_ns != built.stat().st_mtime_ns:
        new = placed.with_suffix(".new")
        shutil.copy2(built, new)
        new.replace(placed)


def metadata() -> None:
    """Writes what pip writes: the path of the sources, the names and entry points, and the program."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "uninstall", "--yes", "sealane"], check=True, stderr=subprocess.DEVNULL)
    command = [sys.executable, "-m", "maturin", "pep517", "write-dist-info", "--metadata-directory", SITE]
    subprocess.run(
        [*command, "--interpreter", sys.executable], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    (info,) = SITE.glob("sealane-*.dist-info")
    (info / "INSTALLER").write_text("sealane\n")
    (SITE / "sealane.pth").write_text(f"{HERE}\n")
    program = Path(sys.executable).with_name("sealane")
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom sealane.__main__ import main\nsys.exit(main())\n"
    )
    program.chmod(0o755)
    files = [*(file for file in info.rglob("*") if file.is_file()), SITE / "sealane.pth", program]
    names = (os.path.relpath(file, SITE) for file in [*files, info / "RECORD"])
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in names))


library(Path(sys.argv[1]))
stamp = SITE / "sealane.pth"
if not stamp.exists() or stamp.stat().st_mtime < (ROOT / "pyproject.toml").stat().st_mtime:
    metadata()
