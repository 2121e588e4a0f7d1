"""What the tests of many files in one call share: a key and every kind of executor."""

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
    """Does it at once, on the calling thread."""

    def submit(self, work: Any, /, *given: Any, **named: Any) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            future.set_result(work(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future


class Pickling(concurrent.futures.ThreadPoolExecutor):
    """Keeps the pickle of everything that goes in and out."""

    def __init__(self) -> None:
        super().__init__(2)
        self.seen: list[bytes] = []

    def submit(self, work: Any, /, *given: Any, **named: Any) -> concurrent.futures.Future[Any]:
        told = pickle.dumps((work, given, named))
        self.seen.append(told)

        def unpickled() -> Any:
            again, given, named = pickle.loads(told)
            came = pickle.dumps(again(*given, **named))
            self.seen.append(came)
            return pickle.loads(came)

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
