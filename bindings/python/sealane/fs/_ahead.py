"""Files that are opened ahead of a caller that opens the files of a folder one after the other.

Opening an encrypted file waits for a request, because the size of an open file is the verified one. PyArrow
opens the files of a dataset in one thread, and reads them in several. Plain files are opened without a
request, so their first requests are in flight together. Encrypted files would wait in turn: a scan of four
files on a store that answers after 30 ms took 370 ms instead of 230 ms.

PyArrow opens the first file twice, once for the schema of the dataset and once to read it. So the file that
was opened first after a listing is kept for the next call.

A file that was opened ahead or kept is used once, and only if the store still reports the same properties.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sealane._native import DecryptWith
from sealane.fs._below import Below, Direct, finished
from sealane.fs._claims import claim_of
from sealane.fs._keys import Keys
from sealane.fs._opened import Headers, Opened, open_verified

AHEAD: Final = 4
"""Number of files that are opened ahead, as many as PyArrow reads at a time."""
SECONDS: Final = 5.0
"""Time in seconds after which a file that was opened ahead or kept is not used."""


class Ahead(Protocol):
    """What a filesystem opens before it is asked to."""

    def listed(self, entries: Iterable[dict[str, Any]]) -> None:
        """Takes the entries of a listing, whose files may be opened next."""

    def take(self, path: str, decryption: DecryptWith) -> Opened | None:
        """Returns the file if it was opened ahead, and opens the next ones of the listing."""

    def opened(self, path: str, decryption: DecryptWith, opened: Opened) -> None:
        """Takes a file that was opened by the caller, which may open it again next."""

    def forget(self) -> None:
        """Drops the files that were opened ahead."""


class Nothing:
    """Opens no file ahead: the other filesystem answers one call at a time."""

    def listed(self, entries: Iterable[dict[str, Any]]) -> None:
        """Does nothing."""

    def take(self, path: str, decryption: DecryptWith) -> Opened | None:
        """Returns None."""
        return None

    def opened(self, path: str, decryption: DecryptWith, opened: Opened) -> None:
        """Does nothing."""

    def forget(self) -> None:
        """Does nothing."""


@dataclass(frozen=True)
class _Pending:
    decryption: DecryptWith
    future: Future[Opened]


@dataclass(frozen=True)
class _Kept:
    path: str
    decryption: DecryptWith
    opened: Opened
    until: float
    """The reading of the clock until which the file may be used."""


class InListing:
    """Opens the next files of the last listing as soon as two files of it were opened in its order.

    The same file opened twice counts as well: PyArrow opens the first file once for the schema of a dataset,
    and once to read it. There are no locks, because a signal handler or a forked child may open files too.

    Parameters
    ----------
    files : fsspec.AbstractFileSystem
        The other filesystem, for calls that block.
    below : Below
        The way to call it from its event loop.
    loop : asyncio.AbstractEventLoop
        This event loop, which runs in a thread of its own.
    keys : Keys
        The keys of the files.
    headers : Headers
        The headers of files that were opened before.
    """

    def __init__(
        self, files: Any, below: Below, loop: asyncio.AbstractEventLoop, keys: Keys, headers: Headers
    ) -> None:
        self._files, self._below, self._loop, self._keys, self._headers = files, below, loop, keys, headers
        self._process = os.getpid()
        self._pending: dict[str, _Pending] = {}
        self._kept: _Kept | None = None
        self._first: str | None = None
        self._names: list[str] = []
        self._places: dict[str, int] = {}
        self._last: int | None = None
        self._reached = -1

    def listed(self, entries: Iterable[dict[str, Any]]) -> None:
        """Takes the entries of a listing, whose files may be opened next."""
        self._names = [entry["name"] for entry in entries if entry.get("type") == "file"]
        self._places, self._last, self._reached = {}, None, -1
        self._kept = self._first = None

    def take(self, path: str, decryption: DecryptWith) -> Opened | None:
        """Returns the file if it was opened ahead, and opens the next ones of the listing."""
        if self._keys.per_file:
            return (
                None  # A function that returns keys is called for files that are opened, and for no others.
            )
        if self._process != os.getpid() or _running() is self._loop:
            return None  # The loop does not run in a forked child, and never waits for itself.
        kept, self._kept = self._kept, None
        pending = self._pending.pop(path, None)
        self._go_on(path, decryption)
        try:
            if kept is not None and kept.path == path and kept.decryption is decryption:
                opened = kept.opened
                if time.monotonic() > kept.until:
                    return None
            elif pending is not None and pending.decryption is decryption:
                opened = pending.future.result()
            else:
                return None
            # This takes no request if the listing is cached. A plain file is opened in the same way.
            claim = finished(claim_of(Direct(self._files), path))
        except Exception:
            return None  # Opening the file now raises the error.
        return opened if opened.claim == claim else None

    def _go_on(self, path: str, decryption: DecryptWith) -> None:
        """Opens files that follow ``path`` in the listing, if the file before it was opened last."""
        names, places = self._names, self._places
        if names and not places:
            places = self._places = {name: place for place, name in enumerate(names)}
        last, here = self._last, places.get(path)
        self._last = here
        if here is None:
            return
        if last is None:
            self._first = path
        if last is None or not 0 <= here - last <= 1:
            self._reached = here
            return
        first, self._reached = max(self._reached, here) + 1, max(self._reached, here + AHEAD)
        for name in names[first : here + AHEAD + 1]:
            work = open_verified(self._below, name, decryption, self._headers)
            future = asyncio.run_coroutine_threadsafe(self._limited(name, work), self._loop)
            self._pending[name] = _Pending(decryption, future)

    def opened(self, path: str, decryption: DecryptWith, opened: Opened) -> None:
        """Keeps the file that was opened first after a listing, until the next file is opened."""
        if path == self._first:
            self._first = None
            self._kept = _Kept(path, decryption, opened, time.monotonic() + SECONDS)

    async def _limited(self, name: str, work: Coroutine[Any, Any, Opened]) -> Opened:
        """Opens a file, which is dropped after a time."""
        self._loop.call_later(SECONDS, self._pending.pop, name, None)
        return await work

    def forget(self) -> None:
        """Drops the files that were opened ahead."""
        pending, self._pending, self._kept = self._pending, {}, None
        for one in pending.values():
            one.future.cancel()


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
