"""Opening an encrypted file on a store: fetches and verifies its header and its end.

PyArrow opens the files of a dataset one after the other in one thread and reads them in several.
Our opening waits for a request, because an open file's size is the verified one; a plain file opens
without a request. A scan of four encrypted files on a store that answers after 30 ms took 370 ms
instead of 230 ms. So we open the next files of a listing ahead. PyArrow also opens the first file
twice, for the schema of the dataset and to read it, so we keep the first file opened after a
listing.

A file opened ahead or kept is used once, and only if the store still reports the same properties.
"""

from __future__ import annotations

import asyncio
import collections
import errno
import os
import time
from collections.abc import Coroutine, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from sealane._error_paths import about
from sealane._native import CHUNK_LEN, HEADER_LEN, DecryptWith, Ranges, plain_len, sealed_range
from sealane.exceptions import SealaneError
from sealane.fs._store import Store, file_size

SMALL = 256 << 10
"""Largest file in bytes fetched completely on opening: one request instead of two."""
TAIL = 64 << 10
"""Plaintext bytes fetched from the end on opening. Parquet readers begin there."""
MAX_HEADERS = 512
"""Number of file headers a filesystem remembers."""
AHEAD: Final = 4
"""Number of files opened ahead: as many as PyArrow reads at a time."""
SECONDS = 5.0
"""Seconds after which a file opened ahead or kept is not used."""


@dataclass(frozen=True)
class Opened:
    """An encrypted file with verified header and end."""

    ranges: Ranges
    size: int
    """Number of plaintext bytes."""
    tail_start: int
    """Position of ``tail`` in the plaintext."""
    tail: bytes
    """The plaintext of the last chunks."""
    info: dict[str, Any]
    """What the store reported on opening, such as the modification time."""


class Headers:
    """The headers of recently opened files; opening them again takes one request.

    A remembered header is a guess: it opens the file unless somebody has written the file since.
    The end of the file is always fetched and verified. If that fails, the header is fetched again.
    """

    def __init__(self) -> None:
        self._known: collections.OrderedDict[str, tuple[DecryptWith, dict[str, Any], Ranges]]
        self._known = collections.OrderedDict()

    def find(self, path: str, decryption: DecryptWith, info: dict[str, Any]) -> Ranges | None:
        """Returns the header of a file with the same properties as when it was opened."""
        known = self._known.get(path)
        if known is None or known[0] is not decryption or known[1] != info:
            return None
        return known[2]

    def remember(self, path: str, decryption: DecryptWith, info: dict[str, Any], ranges: Ranges) -> None:
        """Remembers a verified header."""
        self._known.pop(path, None)
        self._known[path] = decryption, info, ranges
        while len(self._known) > MAX_HEADERS:
            try:
                self._known.popitem(last=False)
            except KeyError:
                break  # Another thread has removed it.

    def forget(self, path: str) -> None:
        """Forgets the header of a file."""
        self._known.pop(path, None)


async def open_verified(store: Store, path: str, decryption: DecryptWith, headers: Headers) -> Opened:
    """Fetches and verifies a file's header and end together, and finds its true size."""

    async def work(info: dict[str, Any]) -> Opened:
        if (size := info["size"]) is None:
            raise OSError(errno.ESPIPE, "The server does not report the size of the file", path)
        plain = plain_len(size)
        tail_start = 0 if size <= SMALL else max(plain - TAIL, 0) // CHUNK_LEN * CHUNK_LEN
        sealed_start, _ = sealed_range(tail_start, tail_start)

        def opened(ranges: Ranges, sealed: memoryview) -> Opened:
            # One byte beyond the plaintext, so that the last chunk is verified even if it is empty.
            tail = ranges.open(tail_start, plain + 1, sealed)
            # If shorter than requested, the bytes are verified to be the end of a shorter file: its
            # true size.
            return Opened(ranges, tail_start + len(tail), tail_start, tail, info)

        if tail_start and (known := headers.find(path, decryption, info)) is not None:
            (end,) = await store.fetch(path, [(sealed_start, size)])
            try:
                return await store.compute(opened, known, memoryview(end), size=len(end))
            except SealaneError:
                headers.forget(path)  # The file was replaced, and the properties do not show it.
        spans = [(0, size)] if tail_start == 0 else [(0, HEADER_LEN), (sealed_start, size)]
        header, *rest = await store.fetch(path, spans)
        sealed = memoryview(rest[0] if rest else header)[0 if rest else HEADER_LEN :]
        found = await store.compute(
            lambda: opened(Ranges(header[:HEADER_LEN], decryption), sealed), size=len(sealed)
        )
        if tail_start:
            headers.remember(path, decryption, info, found.ranges)
        return found

    with about(path):
        return await store.with_info(path, work)


def plain_entry(entry: dict[str, Any], *, listed: bool = True) -> dict[str, Any]:
    """Returns a file's properties with its plaintext size.

    A size that no encrypted file has is reported as it is in a listing, and an error otherwise.
    """
    size = file_size(entry.get("size"))
    if entry.get("type") != "file" or size is None:
        return entry
    try:
        plain = plain_len(size)
    except SealaneError:
        if not listed:
            raise
        plain = size
    return {**entry, "size": plain, "sealed_size": size}


@dataclass(frozen=True)
class _Early:
    """A file opened ahead or kept."""

    path: str
    decryption: DecryptWith
    until: float
    """The file may be used until this clock reading."""
    future: Future[Opened]


class Opener:
    """Opens files, and the next files of the last listing once two were opened in its order.

    Opening the same file twice counts as well. There are no locks, because a signal handler or a
    forked child may open files too.

    Parameters
    ----------
    store : Store
        The store, for blocking calls.
    ahead : bool
        Whether to open files ahead.
    """

    def __init__(self, store: Store, ahead: bool) -> None:
        self._store, self._ahead = store, ahead
        self.headers = Headers()
        self._process = os.getpid()
        self._pending: dict[str, _Early] = {}
        self._kept: _Early | None = None
        self._first: str | None = None
        self._names: list[str] = []
        self._places: dict[str, int] = {}
        self._last: int | None = None
        self._reached = -1

    def open(self, path: str, decryption: DecryptWith) -> Opened:
        """Returns a verified file, perhaps opened ahead."""
        # The loop does not run in a forked child.
        ahead = self._ahead and self._process == os.getpid()
        if ahead and (early := self._take(path, decryption)) is not None:
            return early
        opened = self._store.run(open_verified(self._store, path, decryption, self.headers))
        if ahead and path == self._first:
            self._first = None
            future: Future[Opened] = Future()
            future.set_result(opened)
            self._kept = _Early(path, decryption, time.monotonic() + SECONDS, future)
        return opened

    def listed(self, entries: Iterable[dict[str, Any]]) -> None:
        """Takes the entries of a listing; their files may be opened next."""
        if self._ahead:
            self._names = [entry["name"] for entry in entries if entry.get("type") == "file"]
            self._places, self._last, self._reached = {}, None, -1
            self._kept = self._first = None

    def forget(self) -> None:
        """Drops the files opened ahead."""
        pending, self._pending, self._kept = self._pending, {}, None
        for one in pending.values():
            one.future.cancel()

    def _take(self, path: str, decryption: DecryptWith) -> Opened | None:
        """Returns the file if it was opened ahead, and opens the next ones of the listing."""
        kept, self._kept = self._kept, None
        pending = self._pending.pop(path, None)
        self._go_on(path, decryption)
        early = kept if kept is not None and kept.path == path else pending
        if early is None or early.decryption is not decryption or time.monotonic() > early.until:
            return None
        try:
            # No request if the listing is cached. A plain file is opened the same way.
            info = self._store.run(self._store.info(path))
            opened = early.future.result()
        except Exception:
            return None  # Opening the file now raises the error.
        return opened if opened.info == info else None

    def _go_on(self, path: str, decryption: DecryptWith) -> None:
        """Opens the files after ``path`` in the listing, if the file before it was opened last."""
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
            work = open_verified(self._store, name, decryption, self.headers)
            future = asyncio.run_coroutine_threadsafe(self._limited(name, work), self._store.loop)
            self._pending[name] = _Early(name, decryption, time.monotonic() + SECONDS, future)

    async def _limited(self, name: str, work: Coroutine[Any, Any, Opened]) -> Opened:
        """Opens a file and drops it after a time."""
        asyncio.get_running_loop().call_later(SECONDS, self._pending.pop, name, None)
        return await work
