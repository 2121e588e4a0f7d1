"""Tests of the tests: a child never becomes a second pytest, and a test that hangs says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT, in_child


def test_an_exception_in_a_child_is_a_failure_here() -> None:
    parent = os.getpid()
    assert in_child(os.getppid) == parent
    for ending in (SystemExit(0), KeyboardInterrupt(), pytest.fail.Exception("no")):

        def end(ending: BaseException = ending) -> None:
            raise ending

        with pytest.raises(AssertionError, match=type(ending).__name__):
            in_child(end)
        assert os.getpid() == parent
    with pytest.raises(AssertionError, match="wait status 9"):
        in_child(lambda: os.kill(os.getpid(), signal.SIGKILL))


def test_no_other_test_forks() -> None:
    folders = [ROOT / "bindings" / "python" / "tests", ROOT / "lab" / "tests", ROOT / "tests"]
    files = [path for folder in folders for path in folder.rglob("*.py") if path != Path(__file__)]
    assert len(files) > 50
    call = "os." + "fork("
    found = sorted(path.name for path in files if call in path.read_text())
    # The second one runs a program of its own that forks.
    assert found == ["support.py", "test_descriptors.py"]


def test_a_test_that_hangs_says_so(tmp_path: Path) -> None:
    hanging = tmp_path / "test_hanging.py"
    hanging.write_text("import time\ndef test_hanging():\n    time.sleep(60)\n")
    settings = ["-c", ROOT / "pyproject.toml", "-o", "faulthandler_timeout=1", "-p", "no:cacheprovider"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *settings, hanging], capture_output=True, text=True, timeout=50
    )
    assert ended.returncode == 1
    assert "Timeout" in ended.stderr
    assert "in test_hanging" in ended.stderr
