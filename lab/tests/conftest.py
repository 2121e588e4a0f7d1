"""The native module for the tests of the lab."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sealane_lab import machine


@pytest.fixture(scope="session")
def aes_limit() -> Callable[[int, int], float | None] | None:
    """The function of the native module: installed, or built by Cargo from this repository.

    None if there is neither the module nor Cargo.
    """
    if machine.measure_aes is not None or (cargo := shutil.which("cargo")) is None:
        return machine.measure_aes
    built = subprocess.run(
        # What `make develop` built, so that nothing is built again with other features.
        [cargo, "build", "--locked", "--workspace", "--tests", "--lib", "--bins", "--message-format", "json"],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        check=True,
    )
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    (library,) = [
        message
        for message in messages
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == "sealane_lab_native"
    ]
    (path,) = library["filenames"]
    loader = importlib.machinery.ExtensionFileLoader("_native", path)
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("_native", loader, origin=path))
    loader.exec_module(module)
    found: Callable[[int, int], float | None] = module.aes_limit
    return found
