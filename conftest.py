"""Settings of all Python tests: what Ctrl-C does, and the list of the tests that need a missing program."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest

FILE_MAX = (1 << 30) + (1 << 21)

# In a job in the background of a script, the signal is ignored, and tests that send it would wait
# forever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# On a small disk, a test that makes or reserves a larger file fails only there.
if sys.platform != "win32":
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

# Known keys are not read from the home of the person who runs the tests, nor written to it.
_KNOWN_KEYS = tempfile.TemporaryDirectory(prefix="sealane-known-keys-")
_NUMBERS = itertools.count()


def pytest_runtest_setup() -> None:
    """Gives each test, and the processes that it starts, known keys, state and defaults of its own."""
    place = Path(_KNOWN_KEYS.name, f"known_keys-{next(_NUMBERS)}")
    os.environ["SEALANE_KNOWN_KEYS"] = str(place)
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        os.environ[name] = f"{place}-{name}"
    for name in ("SEALANE_KEY", "SEALANE_IDENTITY"):
        os.environ.pop(name, None)


pytest_runtest_setup()

WORDS = "Skipped: NOT RUN: needs "


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the tests that were not run. `make test` names the file to which Rust tests add theirs."""
    missing: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    if (path := os.environ.get("SEALANE_NOT_RUN")) and Path(path).exists():
        for line in Path(path).read_text().splitlines():
            name, _, test = line.partition("\t")
            missing[name][test] += 1
    for report in terminalreporter.getreports("skipped"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        if reason.startswith(WORDS):
            missing[reason.removeprefix(WORDS)][report.nodeid.partition("::")[0]] += 1
    if not missing:
        return
    from programs import PACKAGES, find

    terminalreporter.section("NOT RUN: tests that need a missing program")
    for name, tests in sorted(missing.items()):
        terminalreporter.line(f"{name}: {sum(tests.values())}")
        for test, count in sorted(tests.items()):
            terminalreporter.line(f"    {test}" + (f" ({count})" if count > 1 else ""))
    # A test names the first program that it misses. It may need others.
    packages = sorted({package for name, package in PACKAGES.items() if find(name) is None})
    if packages:
        terminalreporter.line(f"To run them: apt-get install {' '.join(packages)}")
