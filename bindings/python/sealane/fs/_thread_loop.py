"""The event loop of a thread, for coroutines that seldom wait."""

from __future__ import annotations

import asyncio
import contextlib
import selectors
import types
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class ThreadLoop(asyncio.SelectorEventLoop):
    """The event loop of a thread, closed with it. A poll shares nothing with a forked child."""

    def __init__(self) -> None:
        super().__init__(getattr(selectors, "PollSelector", selectors.SelectSelector)())

    def __del__(self) -> None:
        self.close()

    def result_of(self, work: Coroutine[Any, Any, T]) -> T:
        """Returns a coroutine's result. An exception in the caller, such as Ctrl-C, cancels it."""
        waited = None
        asyncio._set_running_loop(self)
        try:
            # A task and its turns of the loop would take longer than reading a small file.
            while waited is None:
                waited = work.send(None)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        finally:
            asyncio._set_running_loop(None)
        task = self.create_task(_rest(work, waited))
        try:
            return self.run_until_complete(task)
        except BaseException:
            task.cancel()
            with contextlib.suppress(BaseException):
                self.run_until_complete(task)
            raise


async def _rest(work: Coroutine[Any, Any, T], waited: Any) -> T:
    """Returns the result of a coroutine that was begun and waits for a future."""

    @types.coroutine
    def steps() -> Generator[Any, Any, T]:
        found = waited
        try:
            while True:
                try:
                    yield found
                except BaseException as error:
                    found = work.throw(error)
                else:
                    found = work.send(None)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    return await steps()
