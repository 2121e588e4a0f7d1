"""Runs the examples of README.md and of the guide as printed, in an empty folder."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import pytest
from programs import PACKAGES, program

ROOT = pathlib.Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """Returns the code blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page").write_text("a page")
    return tmp_path


def test_python(folder: pathlib.Path) -> None:
    (script,) = blocks("python")
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)
    assert (folder / "README.sealed").exists()


def environment() -> dict[str, str]:
    """Returns an environment in which the program of this Python is found first."""
    return os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}


def test_shell(folder: pathlib.Path) -> None:
    (script,) = blocks("sh")
    done = subprocess.run(
        ["sh", "-euc", script], cwd=folder, env=environment(), check=True, capture_output=True, text=True
    )
    assert "\nsealane" in done.stdout, "cat --range shows what the comment says"
    assert "docs/page" in done.stdout
    assert (folder / "notes.md").read_bytes() == (folder / "README.md").read_bytes()
    assert (folder / "key.jwk").stat().st_mode & 0o777 == 0o600


def guide(language: str) -> dict[str, str]:
    """Returns the code blocks of the guide in a language, by page and number."""
    return {
        f"{page.name}-{number}": text
        for page in sorted((ROOT / "docs" / "guide").glob("*.md"))
        for number, text in enumerate(
            re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL), 1
        )
    }


PYTHON, SHELL = guide("python"), guide("sh")


@pytest.mark.parametrize("name", PYTHON)
def test_guide(name: str, folder: pathlib.Path) -> None:
    script = folder / "example.py"
    script.write_text(PYTHON[name])
    subprocess.run([sys.executable, script], cwd=folder, check=True)


def can_mount() -> bool:
    """Returns whether this process may mount: with fusermount3, or CAP_SYS_ADMIN (bit 21)."""
    capabilities = re.search(r"^CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text(), re.MULTILINE)
    is_permitted = capabilities and int(capabilities[1], 16) >> 21 & 1
    return os.access("/dev/fuse", os.R_OK | os.W_OK) and bool(is_permitted or shutil.which("fusermount3"))


@pytest.mark.parametrize("name", SHELL)
def test_guide_in_the_shell(name: str, folder: pathlib.Path) -> None:
    if name.startswith("vaults.md") or "vault 3< passphrase" in SHELL[name]:
        with tarfile.open(ROOT / "vectors" / "vaults" / "gocryptfs" / "gcm.tar") as archive:
            archive.extractall(folder / "vault", filter="tar")
        (folder / "passphrase").write_text("gocryptfs vectors pass 1\n")
    if "sealane mount" in SHELL[name] and not can_mount():
        pytest.skip("NOT RUN: needs the right to mount with /dev/fuse")
    for needed in PACKAGES:
        if re.search(rf"(^|[|;&(]) *{re.escape(needed)} ", SHELL[name], re.MULTILINE):
            program(needed)
    subprocess.run(["sh", "-euc", SHELL[name]], cwd=folder, env=environment(), check=True)


def test_rust_block_is_the_crates_first_example() -> None:
    """The documentation test of the crate runs it, so the README must contain the same code."""
    library = (ROOT / "crates/sealane/src/lib.rs").read_text()
    documented = "\n".join(line.removeprefix("//!").removeprefix(" ") for line in library.splitlines())
    (example,) = blocks("rust")
    for line in filter(str.strip, example.splitlines()):
        assert line in documented, f"not in crates/sealane/src/lib.rs: {line}"
