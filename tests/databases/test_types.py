"""mypy accepts a sample project, and finds its mistakes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SAMPLE = Path(__file__).with_name("sample_project.py")
MISTAKES = {
    "row": (
        "Encrypted(sa.Integer(), keyring=lambda: ring, row=",
        "Encrypted(sa.Integer(), keyring=lambda: ring, rows=",
    ),
    "keyring": ("Encrypted(sa.Text, keyring=ring)", "Encrypted(sa.Text, keyring=5)"),
    "type": ("number: Encrypted[int]", "number: Encrypted[str]"),
    "batch": ("reencrypt_model(Patient, batch=10)", 'reencrypt_model(Patient, batch="10")'),
}


def test_mypy_accepts_a_sample_project_and_finds_its_mistakes(tmp_path: Path) -> None:
    """All in one run, because mypy spends most of its time on the packages that they import."""
    sample = SAMPLE.read_text()
    (tmp_path / "sample.py").write_text(sample)
    for name, (right, wrong) in MISTAKES.items():
        assert right in sample
        (tmp_path / f"wrong_{name}.py").write_text(sample.replace(right, wrong))
    files = [path.name for path in tmp_path.iterdir()]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *files], cwd=tmp_path, capture_output=True, text=True
    )
    found = {line.partition(".py:")[0] for line in done.stdout.splitlines() if ": error: " in line}
    assert found == {f"wrong_{name}" for name in MISTAKES}, done.stdout + done.stderr
    assert done.returncode == 1
