"""The report that a bulk call returns."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, repr=False)
class BulkReport:
    """The result of a bulk call, which lists the files that failed with their errors."""

    done: int
    """Number of files processed by this call."""
    skipped: int
    """Number of files that the manifest lists as finished, or that are under the primary key already."""
    bytes: int
    """Number of bytes in the sources processed by this call."""
    failed: dict[str, Exception]
    """The error of each file that failed, by its source."""
    removed: tuple[str, ...] = ()
    """The encrypted files that ``delete`` removed because their source is gone."""
    unproven: tuple[str, ...] = ()
    """Files whose source is gone and that stay, because nothing shows that sealane wrote them, and files and
    folders whose names do not decrypt."""
    links: int = 0
    """Number of symbolic links that ``preserve`` copied."""

    def __repr__(self) -> str:
        counts = f"{self.done} done, {self.skipped} skipped, {len(self.failed)} failed"
        return f"<BulkReport: {counts}, {self.bytes} bytes>"
