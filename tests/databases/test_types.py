"""mypy accepts a sample project, and finds its mistakes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).with_name("sample_project.py")
MISTAKES = {
    "row=": (
        "Encrypted(sa.Integer(), keyring=lambda: ring, row=",
        "Encrypted(sa.Integer(), keyring=lambda: ring, rows=",
    ),
    "keyring=": ("Encrypted(sa.Text, keyring=ring)", "Encrypted(sa.Text, keyring=5)"),
    "type": ("number: Encrypted[int]", "number: Encrypted[str]"),
    "batch=": ("reencrypt_model(Patient, batch=10)", 'reencrypt_model(Patient, batch="10")'),
}


def mypy(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "sample.py").write_text(text)
    (folder / "mypy.ini").write_text("[mypy]\nstrict = true\n")
    command = [sys.executable, "-m", "mypy", "sample.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_mypy_accepts_a_sample_project(tmp_path: Path) -> None:
    done = mypy(SAMPLE.read_text(), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", MISTAKES)
def test_mypy_finds_mistakes(name: str, tmp_path: Path) -> None:
    right, wrong = MISTAKES[name]
    assert right in SAMPLE.read_text()
    assert mypy(SAMPLE.read_text().replace(right, wrong), tmp_path).returncode == 1
