"""What the machine can do at best, and what the Rust program says of the lab."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import sealane
from sealane import _native
from sealane_lab import machine, peers
from sealane_lab.cli import main
from sealane_lab.model import LIMIT, Absent, Cell, Room


def test_limits_that_cannot_be_measured_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "here", lambda _: peers.Presence("numpy", None, "not installed"))
    monkeypatch.setattr(_native, "aes_bound", lambda key_len, size: None)
    assert {limit.name for limit in machine.absent_limits()} >= {"xor in place", machine.AES_BOUND}
    (row,) = machine.aes_limits("encrypt")
    assert row.peer == LIMIT
    with pytest.raises(Absent, match="no AES instructions"):
        row.prepare(Room(Cell("encrypt", 1 << 20)))
    monkeypatch.setattr(_native, "aes_bound", lambda key_len, size: size / 4e10)
    assert machine.AES_BOUND not in {limit.name for limit in machine.absent_limits()}
    ready = row.prepare(Room(Cell("encrypt", 1 << 20)))
    assert ready.timed is not None
    assert ready.timed(3) == pytest.approx(3 * (1 << 20) / 4e10)


def test_the_bound_of_aes() -> None:
    """Seconds of rounds: they grow with the bytes and with the key, and what is asked must be sane."""
    bound = _native.aes_bound
    known = machine.variants()["aes-ctr"] != "native portable"
    if bound(32, 0) is None:
        assert not known
        assert machine.AES_BOUND in {limit.name for limit in machine.absent_limits()}
    else:
        assert machine.AES_BOUND not in {limit.name for limit in machine.absent_limits()}
        # The least of some runs: whatever else runs here only adds to it.
        few, many = (min(bound(32, size) or 0.0 for _ in range(15)) for size in (1 << 20, 1 << 23))
        assert few > 0
        assert 4 < many / few < 16
        assert 0.5 < min(bound(16, 1 << 23) or 0.0 for _ in range(15)) / many < 0.95
        tiny = bound(24, 1)
        assert tiny is not None
        assert 0 <= tiny < 1
    for key_len in (0, 15, 33, 1 << 40):
        with pytest.raises(ValueError, match="16 or 24 or 32 bytes"):
            bound(key_len, 1)
    for wrong in ((-16, 1), (16, -1)):
        with pytest.raises(ValueError, match="never negative"):
            bound(*wrong)
    for size in ((1 << 36) + 1, (1 << 64) - 1, 1 << 64, 1 << 5000):
        with pytest.raises(sealane.exceptions.LimitExceededError):
            bound(32, size)
    with pytest.raises(TypeError):
        bound(32, 1.5)  # type: ignore[arg-type]


def test_the_program_knows_the_same_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its help and its completions are the Rust program's, which the word does not reach otherwise."""
    with pytest.raises(SystemExit):
        main(["--help"])
    mine = set(re.findall(r"^ +(\w+) +\w", capsys.readouterr().out, re.MULTILINE))
    assert mine == {"run", "report", "compare"}
    command = [sys.executable, "-m", "sealane"]
    done = subprocess.run([*command, "help", "lab"], capture_output=True, text=True, check=True)
    assert set(re.findall(r"^ +- (\w+): ", done.stdout, re.MULTILINE)) == mine
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert re.search(r"^  lab  ", done.stdout, re.MULTILINE)
    done = subprocess.run([*command, "lab", "frobnicate"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "sealane lab" in done.stderr
    assert "pip install" not in done.stderr, "the Rust program answered"
