"""A budget of memory, shared by the transfers of an event loop."""

from __future__ import annotations

import asyncio
import collections
import contextlib
from collections.abc import AsyncIterator


class Share:
    """A transfer's share of a budget."""

    def __init__(self, budget: Budget, size: int) -> None:
        self._budget, self.size = budget, size

    def shrink(self, size: int) -> None:
        """Gives back all but ``size`` bytes."""
        if size < self.size:
            self._budget.give(self.size - size)
            self.size = size


class Budget:
    """A number of bytes shared by the coroutines of an event loop, in request order."""

    def __init__(self, total: int) -> None:
        self.total = self._free = total
        self._waiting: collections.deque[tuple[int, asyncio.Future[None]]] = collections.deque()

    @contextlib.asynccontextmanager
    async def reserve(self, size: int) -> AsyncIterator[Share]:
        """Waits for ``size`` free bytes. A transfer larger than the budget takes all of it."""
        size = min(size, self.total)
        await self._take(size)
        share = Share(self, size)
        try:
            yield share
        finally:
            self.give(share.size)

    async def _take(self, size: int) -> None:
        if not self._waiting and size <= self._free:
            self._free -= size
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((size, future))
        try:
            await future
        except BaseException:
            if future.done() and not future.cancelled():
                self.give(size)  # It was granted and cancelled at the same time.
            else:
                self._waiting.remove((size, future))
                self.give(0)
            raise

    def give(self, size: int) -> None:
        """Returns bytes to the budget."""
        self._free += size
        while self._waiting and (self._waiting[0][0] <= self._free or self._waiting[0][1].done()):
            size, future = self._waiting[0]
            if future.done():
                return  # It was cancelled and removes itself.
            self._waiting.popleft()
            self._free -= size
            future.set_result(None)
