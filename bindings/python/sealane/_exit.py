"""Waits at the exit of Python for other libraries' threads that use objects of Python.

PyArrow and DuckDB read files in threads of their own. CPython up to 3.13 ends such a thread if it
needs the interpreter after the exit began, for example to free a file. Then the process aborts or
hangs (apache/arrow#36389), with any file object written in Python.
"""

from __future__ import annotations

import atexit
import glob
import sys
import threading
import time

SECONDS = 2.0
"""Longest wait in seconds. A thread may be busy with something else."""
PAUSE = 0.005
"""Seconds between two looks, in which the others get the interpreter."""


def _is_busy() -> bool:
    """Returns whether a thread that Python did not start is in Python, or any other one can run."""
    own = {thread.ident for thread in threading.enumerate() if not isinstance(thread, threading._DummyThread)}
    if sys._current_frames().keys() - own:
        return True
    for path in glob.iglob("/proc/self/task/*/stat"):
        try:
            with open(path, "rb") as file:
                number, _, rest = file.read().partition(b" ")
        except OSError:
            continue  # The thread has ended.
        state = rest.rpartition(b")")[2].split()[0]
        if state in (b"R", b"D") and int(number) != threading.get_native_id():
            return True
    return False


def wait_for_threads() -> None:
    """Returns when no other thread was busy in two looks."""
    if not {"pyarrow", "duckdb"} & sys.modules.keys():
        return
    until, quiet = time.monotonic() + SECONDS, 0
    while quiet < 2 and time.monotonic() < until:
        time.sleep(PAUSE)
        quiet = 0 if _is_busy() else quiet + 1


atexit.register(wait_for_threads)
