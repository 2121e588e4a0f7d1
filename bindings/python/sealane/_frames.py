"""Keeps secrets out of the frames of exceptions, which error trackers store with all their variables."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def forgetting(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Clears the variables of a function if it raises, and of the functions of sealane it called.

    For functions with a secret in a variable. The traceback keeps its lines.
    """

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def wait(*args: _P.args, **kwargs: _P.kwargs) -> Any:
            try:
                return await function(*args, **kwargs)
            except BaseException as error:
                del args, kwargs
                _clear(error)
                raise

        return wait  # type: ignore[return-value]

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            del args, kwargs
            _clear(error)
            raise

    return call


def _clear(error: BaseException) -> None:
    """Clears our frames of an exception, and of those that led to it."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        if (one := left.pop()) is None or id(one) in seen:
            continue
        seen.add(id(one))
        left += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
        at = one.__traceback__
        while at is not None:
            if at.tb_frame.f_globals.get("__name__", "").partition(".")[0] == "sealane":
                # Refused for a frame that still runs.
                with contextlib.suppress(RuntimeError):
                    at.tb_frame.clear()
            at = at.tb_next
