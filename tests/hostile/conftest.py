"""The program under attack, and a folder that every user may write to."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def sealane_binary() -> Path:
    """Returns the program as ``cargo test`` builds it."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "sealane"
    found = Path(os.environ.get("SEALANE_BINARY", built))
    if not found.exists():
        pytest.fail(f"{found} does not exist: cargo build --locked -p sealane-cli")
    return found


@pytest.fixture
def shared() -> Iterator[Path]:
    """Yields a folder in which all users may create and replace files."""
    folder = Path(tempfile.mkdtemp(prefix="sealane-hostile-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)
