"""Errors say which file they are about."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from sealane.exceptions import SealaneError


@contextlib.contextmanager
def about(path: str) -> Iterator[None]:
    """Adds the path to what goes wrong, where it is not said yet."""
    try:
        yield
    except SealaneError as error:
        if path in str(error):
            raise
        raise type(error)(f"{path}: {error}") from None
    except OSError as error:
        # What a server answers seldom says about which file.
        if error.filename is not None or path in str(error):
            raise
        if error.errno is not None:
            error.filename = path
            raise
        if type(error).__module__ == "builtins":
            raise type(error)(f"{path}: {error}") from error
        error.add_note(path)
        raise
