"""Decryption of damaged files: writes every chunk that verifies."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal, NamedTuple

from sealane import _native
from sealane._endpoints import paths_of
from sealane._frames import forgetting
from sealane._native import DecryptWith

if TYPE_CHECKING:
    from sealane._endpoints import Buffer, FileKey, Identities, Path, Progress, Text


class Hole(NamedTuple):
    """A part of a damaged file that could not be verified or read. Ranges exclude their end."""

    start: int
    """Offset of the first missing byte in the plaintext."""
    end: int
    """Offset after the last missing byte in the plaintext."""
    file_start: int
    """Offset of the first damaged chunk in the encrypted file; in an armored file, in the decoded
    data."""
    file_end: int
    """Offset after the last damaged chunk in the encrypted file."""
    first_chunk: int
    """Index of the first damaged chunk, counted from 0."""
    chunks: int
    """Number of damaged chunks."""


@dataclasses.dataclass(frozen=True)
class SalvageReport:
    """The result of ``salvage_file``: which parts of the plaintext are in the output."""

    size: int
    """Length of the output in bytes, including holes."""
    holes: tuple[Hole, ...]
    """The parts that could not be verified or read, in ascending order. The output has zeros
    there."""
    header: Literal["verified", "damaged"]
    """Whether the header is intact. If it is damaged, chunks still verify under the key."""
    end: Literal["verified", "damaged", "cut"]
    """Whether the end of the file is authentic. After a cut, the output ends with a complete
    chunk."""

    @property
    def complete(self) -> bool:
        """Whether the output is the whole plaintext: no holes, and a verified end."""
        return not self.holes and self.end == "verified"

    @property
    def verified(self) -> int:
        """Number of verified bytes in the output, outside the holes."""
        return self.size - sum(hole.end - hole.start for hole in self.holes)


@forgetting
def salvage_file(
    src: Path,
    dst: Path,
    *,
    key: FileKey | None = None,
    identities: Identities | None = None,
    passphrase: Text | None = None,
    context: Buffer = b"",
    format: str | None = None,
    max_work_factor: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    durable: bool = False,
) -> SalvageReport:
    """Decrypts the chunks of the damaged file ``src`` that verify to the file ``dst``.

    Other chunks become zeros, reported as holes. Unverified data is never written. A chunk is lost
    as a whole: 16 KiB with ``key``, 64 KiB in age files, 4 KiB or 1 MiB in Tink files. An
    unreadable chunk, for example in a bad sector, is a hole as well.

    Parameters
    ----------
    src, dst : str or os.PathLike
        Paths of regular files. ``dst`` appears once written, even with holes.
    key, identities, passphrase, context, format, max_work_factor
        As for ``decrypt_file``.
    threads, progress, durable
        As for ``encrypt_file``.

    Returns
    -------
    SalvageReport
        The holes, and whether header and end of the file are intact. ``complete`` is True for an
        undamaged file.

    Raises
    ------
    AuthenticationError, NoMatchingKeyError, FormatError, TruncatedError
        If no chunk verifies; nothing is written. The key or context is wrong, or the salt, the
        nonce or the file key in the header is damaged.
    OSError, TypeError, ValueError
        As for ``decrypt_file``; ``ValueError`` for a pipe.

    Examples
    --------
    >>> report = sealane.salvage_file("disk.img.sealed", "disk.img", key=key)
    >>> report.holes
    (Hole(start=16384, end=32768, file_start=16456, file_end=32856, first_chunk=1, chunks=1),)
    """
    source, target = paths_of(src, dst)
    decryption = DecryptWith(key, identities, passphrase, context, format, max_work_factor)
    size, holes, header, end = _native.salvage_path(source, target, decryption, threads, progress, durable)
    return SalvageReport(size, tuple(Hole(*hole) for hole in holes), header, end)
