"""A key and every kind of executor, for the tests of bulk calls."""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sealane

KEY = sealane.keys.generate("aes-256")


def opened(path: Path, **how: Any) -> bytes:
    return sealane.decrypt(path.read_bytes(), **(how or {"key": KEY}))


class Here(concurrent.futures.Executor):
    """An executor that runs each call at once, on the calling thread."""

    def submit(self, work: Any, /, *given: Any, **named: Any) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            future.set_result(work(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future


class Pickling(concurrent.futures.ThreadPoolExecutor):
    """Stores the pickles of all arguments and results."""

    def __init__(self) -> None:
        super().__init__(2)
        self.seen: list[bytes] = []

    def submit(self, work: Any, /, *given: Any, **named: Any) -> concurrent.futures.Future[Any]:
        pickled = pickle.dumps((work, given, named))
        self.seen.append(pickled)

        def unpickled() -> Any:
            again, given, named = pickle.loads(pickled)
            result = pickle.dumps(again(*given, **named))
            self.seen.append(result)
            return pickle.loads(result)

        return super().submit(unpickled)


EXECUTORS: dict[str, Callable[[], Any]] = {
    "its own threads": contextlib.nullcontext,
    "threads": lambda: concurrent.futures.ThreadPoolExecutor(2),
    "here": Here,
    "pickling": Pickling,
    "forked": lambda: concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("fork")),
    "spawned": lambda: concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")),
}


ELSEWHERE = ["forked", "spawned"]
