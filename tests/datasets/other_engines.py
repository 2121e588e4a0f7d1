"""Ray Data and PySpark with encrypted files, each in its own process; ``make -C tests engines`` runs this."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENGINES = Path(__file__).parent / "engines"


@pytest.mark.parametrize("name", os.environ.get("ENGINES", "ray_data spark spark_columns").split())
def test_engine(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ENGINES / f"{name}.py"), str(tmp_path)],
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert done.stdout.endswith("done\n")
