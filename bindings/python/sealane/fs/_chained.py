"""What the filesystems over another one share: how they find it, and how they strip paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fsspec


def filesystem_below(fs: Any, protocol: str | None, options: dict[str, Any] | None) -> Any:
    """Returns the other filesystem: ``fs``, or the one with this protocol and these options."""
    if (fs is None) == (protocol is None):
        raise TypeError("give exactly one of fs and target_protocol, or a URL such as 'sealane::s3://…'")
    return fsspec.filesystem(protocol, **(options or {})) if fs is None else fs


def stripping(own: Callable[[Any], Any], fs: Any) -> Callable[[Any], Any]:
    """Returns ``_strip_protocol`` for one filesystem over ``fs``: each instance has another below."""

    def strip_protocol(path: Any) -> Any:
        if isinstance(path, list):
            return [strip_protocol(one) for one in path]
        return fs._strip_protocol(own(path))

    return strip_protocol
