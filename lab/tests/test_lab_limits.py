"""The speed limits of the machine, and the command line of the lab."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from sealane_lab import machine, peers
from sealane_lab.cli import main
from sealane_lab.model import LIMIT, Absent, Cell, Workspace


def test_limits_that_cannot_be_measured_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find", lambda _: peers.Presence("numpy", None, "not installed"))
    (contender,) = machine.aes_limits("encrypt")
    assert contender.peer == LIMIT
    for measure, reason in ((None, "pip install ./lab"), (lambda *_: None, "no AES instructions")):
        monkeypatch.setattr(machine, "measure_aes", measure)
        monkeypatch.setattr(machine, "NO_NATIVE", "not built; pip install ./lab", raising=False)
        missing = {limit.name: limit.reason for limit in machine.absent_limits()}
        assert missing["xor in place"] == "NumPy is not installed"
        assert reason in missing[machine.AES_LIMIT]
        with pytest.raises(Absent, match=reason):
            contender.prepare(Workspace(Cell("encrypt", 1 << 20)))
    monkeypatch.setattr(machine, "measure_aes", lambda key_len, size: size / 4e10)
    assert machine.AES_LIMIT not in {limit.name for limit in machine.absent_limits()}
    ready = contender.prepare(Workspace(Cell("encrypt", 1 << 20)))
    assert ready.timed is not None
    assert ready.timed(3) == pytest.approx(3 * (1 << 20) / 4e10)


def test_the_aes_limit(
    aes_limit: Callable[[int, int], float | None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of the rounds grows with the bytes and with the key, and arguments are checked."""
    if aes_limit is None:
        pytest.skip("sealane_lab._native is not installed, and there is no cargo to build it")
    monkeypatch.setattr(machine, "measure_aes", aes_limit)
    known = machine.variants()["aes-ctr"] != "native portable"
    if aes_limit(32, 0) is None:
        assert not known
        assert machine.AES_LIMIT in {limit.name for limit in machine.absent_limits()}
    else:
        assert machine.AES_LIMIT not in {limit.name for limit in machine.absent_limits()}
        # The least of several runs, because other load only adds to it.
        short, long = (min(aes_limit(32, size) or 0.0 for _ in range(15)) for size in (1 << 20, 1 << 23))
        assert short > 0
        assert 4 < long / short < 16
        assert 0.5 < min(aes_limit(16, 1 << 23) or 0.0 for _ in range(15)) / long < 0.95
        tiny = aes_limit(24, 1)
        assert tiny is not None
        assert 0 <= tiny < 1
    for key_len in (0, 15, 33, 1 << 40):
        with pytest.raises(ValueError, match="16, 24 or 32 bytes"):
            aes_limit(key_len, 1)
    for size in ((1 << 36) + 1, (1 << 64) - 1):
        with pytest.raises(ValueError, match="expected at most 68719476736 bytes"):
            aes_limit(32, size)
    for wrong in ((-16, 1), (16, -1), (32, 1 << 64), (32, 1 << 5000)):
        with pytest.raises(OverflowError):
            aes_limit(*wrong)
    with pytest.raises(TypeError):
        aes_limit(32, 1.5)  # type: ignore[arg-type]


def test_the_help_lists_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert re.findall(r"^    (\w+) +\w", capsys.readouterr().out, re.MULTILINE) == [
        "run",
        "report",
        "compare",
        "record",
    ]


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sealane_lab", "run", "--list", "small"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Small messages" in done.stdout


def test_importing_sealane_stays_light() -> None:
    code = (
        "import sealane, sys; print([m for m in ('matplotlib', 'numpy', 'sealane_lab') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
