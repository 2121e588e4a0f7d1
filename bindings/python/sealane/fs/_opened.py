"""Encrypted files on another filesystem whose header and end are verified, so that ranges can be read."""

from __future__ import annotations

import collections
import errno
from dataclasses import dataclass
from typing import Any

from sealane._about import about
from sealane._native import CHUNK_LEN, HEADER_LEN, DecryptWith, Ranges, plain_len, sealed_range
from sealane.exceptions import SealaneError
from sealane.fs._below import Below
from sealane.fs._claims import Claim, fetch, with_claim

SMALL = 256 << 10
"""Largest file, in bytes, that is fetched completely when it is opened: one request instead of two."""
TAIL = 64 << 10
"""Number of plaintext bytes at the end that are fetched on opening. Parquet readers begin there."""
MAX_HEADERS = 512
"""Number of files whose headers a filesystem remembers."""


@dataclass(frozen=True)
class Opened:
    """An encrypted file whose header and end are verified."""

    ranges: Ranges
    size: int
    """Number of plaintext bytes."""
    tail_start: int
    """Position of ``tail`` in the plaintext."""
    tail: bytes
    """The plaintext of the last chunks."""
    claim: Claim
    """The properties that the other filesystem has reported when the file was opened."""


class Headers:
    """The headers of the files that were opened last, so that opening them again takes one request.

    A remembered header is a guess: it opens the file if nobody has written the file since. The end of the
    file is fetched and verified in any case. If that fails, the header is fetched again.
    """

    def __init__(self) -> None:
        self._known: collections.OrderedDict[str, tuple[DecryptWith, dict[str, Any], Ranges]]
        self._known = collections.OrderedDict()

    def find(self, path: str, decryption: DecryptWith, claim: Claim) -> Ranges | None:
        """Returns the header of a file that has the same properties as when it was opened."""
        known = self._known.get(path)
        if known is None or known[0] is not decryption or known[1] != claim.properties:
            return None
        return known[2]

    def remember(self, path: str, decryption: DecryptWith, claim: Claim, ranges: Ranges) -> None:
        """Remembers a verified header."""
        self._known.pop(path, None)
        self._known[path] = decryption, claim.properties, ranges
        while len(self._known) > MAX_HEADERS:
            try:
                self._known.popitem(last=False)
            except KeyError:
                break  # Another thread has removed it.

    def forget(self, path: str) -> None:
        """Forgets the header of a file."""
        self._known.pop(path, None)


async def open_verified(below: Below, path: str, decryption: DecryptWith, headers: Headers) -> Opened:
    """Fetches and verifies the header and the end of a file together."""

    async def work(claim: Claim) -> Opened:
        if claim.size is None:
            raise OSError(errno.ESPIPE, "The server does not report the size of the file", path)
        return await _open_claimed(below, path, decryption, headers, claim, claim.size)

    with about(path):
        return await with_claim(below, path, work)


async def _open_claimed(
    below: Below, path: str, decryption: DecryptWith, headers: Headers, claim: Claim, size: int
) -> Opened:
    """Opens a file whose size is said to be ``size``, and finds its true size."""
    plain = plain_len(size)
    tail_start = 0 if size <= SMALL else max(plain - TAIL, 0) // CHUNK_LEN * CHUNK_LEN
    sealed_start, _ = sealed_range(tail_start, tail_start)

    def opened(ranges: Ranges, sealed: memoryview) -> Opened:
        # One byte more than the plaintext has, so that the last chunk is verified even if it is empty.
        tail = ranges.open(tail_start, plain + 1, sealed)
        # Fewer bytes than requested were verified to be the end of a shorter file, which is the true size.
        return Opened(ranges, tail_start + len(tail), tail_start, tail, claim)

    if tail_start and (known := headers.find(path, decryption, claim)) is not None:
        (end,) = await fetch(below, path, [(sealed_start, size)])
        try:
            return await below.compute(opened, known, memoryview(end), size=len(end))
        except SealaneError:
            headers.forget(path)  # The file was replaced, and the properties do not show it.
    spans = [(0, size)] if tail_start == 0 else [(0, HEADER_LEN), (sealed_start, size)]
    header, *rest = await fetch(below, path, spans)
    sealed = memoryview(rest[0] if rest else header)[0 if rest else HEADER_LEN :]

    def opened_first() -> Opened:
        return opened(Ranges(header[:HEADER_LEN], decryption), sealed)

    found = await below.compute(opened_first, size=len(sealed))
    if tail_start:
        headers.remember(path, decryption, claim, found.ranges)
    return found
