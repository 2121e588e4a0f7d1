"""Keeps keys out of the logs of key-service clients."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def unlogged(*names: str) -> Iterator[None]:
    """Drops what this thread logs to these loggers, and loggers below them, during the block.

    At level DEBUG, clients log the bodies of requests and answers, and these contain keys.
    """
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.partition(".")[0] in names:
            logger.addFilter(_is_logged)
    _threads.add(threading.get_ident())
    try:
        yield
    finally:
        _threads.discard(threading.get_ident())


def _is_logged(record: logging.LogRecord) -> bool:
    return threading.get_ident() not in _threads


_threads: set[int] = set()
"""The threads that are in the block."""


if hasattr(os, "register_at_fork"):
    # A thread of the child may have the number of another thread of the parent.
    os.register_at_fork(after_in_child=_threads.clear)
