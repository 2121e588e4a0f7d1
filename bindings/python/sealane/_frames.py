"""Frames of exceptions: keeps secrets out of them, because error trackers store all their variables."""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import io
import opcode
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

_WITH_EXCEPT_START = opcode.opmap["WITH_EXCEPT_START"]
"""The instruction that calls ``__exit__`` or ``__aexit__`` with an exception."""
_SEND = opcode.opmap["SEND"]
"""The instruction that runs what is awaited."""

_WRAPPERS = ("codecs", "contextlib", "fsspec", "pandas", "pyarrow", "sealane")
"""Packages with context managers that close files without telling them that the block failed."""


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


def failing_blocks(*, own: bool = False) -> list[tuple[FrameType, int]]:
    """Returns this thread's frames that are leaving a ``with`` block because of an exception.

    With ``own``, only a block whose exit calls us through wrappers alone. Other code on the way has
    chosen to close the file, perhaps because it has handled the exception.
    """
    found: list[tuple[FrameType, int]] = []
    error = sys.exception()
    frame: FrameType | None = sys._getframe(1) if error is not None else None
    while frame is not None:
        # The exception itself does not tell: `raise` in the block can raise one that was already
        # handled.
        if _leaves_block(frame.f_code.co_code, frame.f_lasti):
            found.append((frame, frame.f_lasti))
        elif _package(frame) == "pandas" and _has_passed(error, frame):
            found.append((frame, -1))  # Its `finally` closes the file.
        if own and (found or not _is_wrapper(frame)):
            break
        frame = frame.f_back
    return found


def _leaves_block(code: bytes, at: int) -> bool:
    """Returns whether the instruction at ``at`` calls or awaits the exit of a failed block."""
    # SEND is the third instruction after the call; in Python 3.12 the position is one after it.
    calls = [at - back for back in (0, 6, 8) if at >= back]
    return any(code[one] == _WITH_EXCEPT_START and (one == at or code[one + 6] == _SEND) for one in calls)


def _has_passed(error: BaseException | None, frame: FrameType) -> bool:
    """Returns whether an exception was raised in a frame, or in what it called."""
    at = error.__traceback__ if error is not None else None
    return any(one is frame for one, _ in traceback.walk_tb(at))


def _is_wrapper(frame: FrameType) -> bool:
    code, caller = frame.f_code, frame.f_back
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        # ``contextlib.contextmanager`` throws the exception into the generator.
        return caller is not None and _package(caller) == "contextlib" and _raises_again(frame)
    if frame.f_locals.get("suppressed_exc") and not frame.f_locals.get("pending_raise"):
        return False  # An exit stack, after one of its exits has suppressed the exception.
    if _package(frame) in _WRAPPERS:
        return True
    return code.co_argcount > 0 and isinstance(frame.f_locals.get(code.co_varnames[0]), io.IOBase)


def _raises_again(frame: FrameType) -> bool:
    """Returns whether a frame raises the exception that it handles again, as ``finally`` does."""
    code: Any = dis.Bytecode(frame.f_code)
    at, names = frame.f_lasti, {one.offset: one.opname for one in code}
    # Only the code of handlers has a handler that begins with COPY.
    handles = any(
        one.start <= at < one.target and names[one.target] == "COPY" for one in code.exception_entries
    )
    ends = (name for offset, name in names.items() if offset > at and name in ("POP_EXCEPT", "RERAISE"))
    return handles and next(ends, None) == "RERAISE"


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
