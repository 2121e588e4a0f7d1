"""The experiments, in the order of the report."""

from __future__ import annotations

import importlib

from sealane_lab.model import Experiment

NAMES = ("buffers", "small", "files", "aes-keys", "hybrid", "backends", "ctr", "speck", "threads", "growth")
"""Names on the command line; a module name has an underscore instead of the hyphen."""


def experiment(name: str) -> Experiment:
    """Returns an experiment. Raises KeyError for a name that is not in NAMES."""
    if name not in NAMES:
        raise KeyError(name)
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    found: Experiment = module.EXPERIMENT
    return found
