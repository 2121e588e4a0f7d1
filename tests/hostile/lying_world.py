"""A filesystem that lies, fails and changes while it is used, as its tests tell it to."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

from fsspec.asyn import AsyncFileSystem
from fsspec.spec import AbstractFileSystem


class ServerError(Exception):
    """An exception of a client library that knows nothing of OSError."""


ERRORS: list[Callable[[], BaseException]] = [
    lambda: OSError(5, "Input/output error"),
    lambda: ConnectionResetError(104, "Connection reset by peer"),
    lambda: ServerError("503 Slow Down"),
    lambda: ServerError(),
    TimeoutError,
    FileExistsError,
    PermissionError,
    FileNotFoundError,
    OSError,
    EOFError,
    lambda: KeyError("ETag"),
    lambda: ValueError("invalid range"),
    lambda: IndexError("list index out of range"),
    lambda: AttributeError("'NoneType' object has no attribute 'get'"),
    lambda: TypeError("'NoneType' object is not subscriptable"),
    lambda: RuntimeError("cannot schedule new futures"),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    lambda: OverflowError("too large"),
    lambda: AssertionError(),
    StopIteration,
    NotImplementedError,
]

SIZES: list[Callable[[int], Any]] = [
    lambda size: None,
    lambda size: 0,
    lambda size: -1,
    lambda size: size + 1,
    lambda size: max(size - 1, 0),
    lambda size: size + 16400,
    lambda size: max(size - 16400, 0),
    lambda size: size + 100_000,
    lambda size: size + (1 << 20),
    lambda size: 72,
    lambda size: 56 + 16400 * 3 + 16,
    lambda size: (1 << 40) + 72,
    lambda size: 1 << 56,
    lambda size: (1 << 63) - 1,
    lambda size: 1 << 63,
    lambda size: 1 << 200,
    lambda size: float(size),
    lambda size: str(size),
    lambda size: True,
]

NAMES = [
    "/data/phantom",
    "/data/key.age/below",
    "/other/file",
    "/data/../up",
    "/data/",
    "/data",
    "",
    "relative",
    "/data/k*",
]


@dataclasses.dataclass(frozen=True)
class Fault:
    """The failure of one call to the filesystem."""

    call: int
    """Number of the call, counted from the beginning of an operation."""
    kind: str
    n: int
    """A number that selects among the possibilities of this kind."""


READING = [
    "error",
    "size",
    "type",
    "short",
    "long",
    "flip",
    "nothing",
    "count",
    "old",
    "omit",
    "phantom",
    "sticky size",
]
CHANGING = ["replace", "delete", "truncate"]


class World(AbstractFileSystem):
    """Files in memory, and faults that are applied to certain calls.

    ``protected`` is never changed by a fault: it is the dataset key, which only sealane could damage.
    """

    protocol = "world"
    cachable = False
    root_marker = "/"

    def __init__(self, protocol: str = "world", protected: str = "") -> None:
        super().__init__()
        self.protocol = protocol  # type: ignore[misc]
        self.protected = protected
        self.files: dict[str, bytes] = {}
        self.old: dict[str, list[bytes]] = {}
        self.claims: dict[str, Any] = {}
        self.faults: dict[int, Fault] = {}
        self.calls = 0
        self.changed: set[str] = set()
        """Files that a fault has changed, so that nothing is known of them until they are written again."""
        self.injected: set[str] = set()

    def begin(self, faults: list[Fault]) -> None:
        """Begins an operation, whose calls have these faults."""
        self.injected = set()
        self.faults = {fault.call: fault for fault in faults}
        self.calls = 0
        self.claims.clear()

    def be_honest(self) -> None:
        """Ends an operation: from now on there are no faults."""
        self.faults = {}
        self.calls = 0
        self.claims.clear()

    def store(self, path: str, data: bytes) -> None:
        self.old.setdefault(path, []).append(data)
        self.files[path] = data
        self.changed.discard(path)

    def _fault(self, path: str) -> Fault | None:
        """Counts a call, changes files if a fault says so, and returns the fault of this call."""
        self.calls += 1
        assert self.calls < 3000, "this does not end"
        fault = self.faults.get(self.calls - 1)
        if fault is None:
            return None
        self.injected.add(fault.kind)
        if fault.kind in CHANGING and path in self.files and path != self.protected:
            self.changed.add(path)
            match fault.kind:
                case "replace":
                    self.files[path] = self.old[path][fault.n % len(self.old[path])]
                case "delete":
                    del self.files[path]
                case "truncate":
                    self.files[path] = self.files[path][: fault.n % (len(self.files[path]) + 1)]
        if fault.kind == "error":
            raise ERRORS[fault.n % len(ERRORS)]()
        return fault

    # Reports

    def _entry(self, path: str) -> dict[str, Any]:
        if path in self.files:
            size = len(self.files[path])
            return {"name": path, "size": self.claims.get(path, size), "type": "file"}
        if path in ("", "/") or any(name.startswith(path + "/") for name in self.files):
            return {"name": path, "size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    def _lie(self, entry: dict[str, Any], fault: Fault | None) -> dict[str, Any]:
        if fault is None or entry["name"] == self.protected:
            return entry
        match fault.kind:
            case "size" | "sticky size":
                size = entry["size"] if isinstance(entry["size"], int) else 0
                entry = {**entry, "size": SIZES[fault.n % len(SIZES)](size)}
                if fault.kind == "sticky size":
                    self.claims[entry["name"]] = entry["size"]
            case "type":
                entry = {**entry, "type": ["directory", "other", "file", None, 7][fault.n % 5]}
            case "nothing":
                entry = {"name": entry["name"]}
        return entry

    def info(self, path: str, **options: Any) -> Any:
        path = self._strip_protocol(path)
        fault = self._fault(path)
        if fault is not None and fault.kind == "nothing" and fault.n % 2:
            return None
        return self._lie(self._entry(path), fault)

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        path = self._strip_protocol(path).rstrip("/")
        fault = self._fault(path)
        names = {
            "/".join(name.split("/")[: path.count("/") + 2])
            for name in self.files
            if name.startswith(path + "/")
        }
        if not names:
            if path not in self.files:
                raise FileNotFoundError(path)
            names = {path}
        entries = [self._entry(name) for name in sorted(names)]
        if fault is not None and fault.kind in ("omit", "phantom", "size", "type"):
            at = fault.n % len(entries)
            match fault.kind:
                case "omit":
                    del entries[at]
                case "phantom":
                    entries.append({"name": NAMES[fault.n % len(NAMES)], "size": 99, "type": "file"})
                case _:
                    entries[at] = self._lie(entries[at], fault)
        return entries if detail else [entry["name"] for entry in entries]

    def invalidate_cache(self, path: str | None = None) -> None:
        pass

    # Content

    def _answer(self, path: str, data: bytes, fault: Fault | None, start: int | None, end: int | None) -> Any:
        if fault is None or path == self.protected:
            return data
        match fault.kind:
            case "short":
                return data[: fault.n % (len(data) + 1)]
            case "long":
                return data + bytes(fault.n % 50 + 1)
            case "flip" if data:
                at = fault.n % len(data)
                return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
            case "nothing":
                return [None, 7, "text", [], b""][fault.n % 5]
            case "old" if self.old.get(path):
                return self.old[path][fault.n % len(self.old[path])][start:end]
        return data

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> Any:
        path = self._strip_protocol(path)
        fault = self._fault(path)
        if path not in self.files:
            raise FileNotFoundError(path)
        return self._answer(path, self.files[path][start:end], fault, start, end)

    def cat_ranges(self, paths: Any, starts: Any, ends: Any, on_error: str = "return", **options: Any) -> Any:
        fault = self._fault(paths[0] if paths else "")
        found = []
        for path, start, end in zip(paths, starts, ends, strict=True):
            try:
                found.append(self.cat_file(path, start, end))
            except Exception as error:
                if on_error == "raise":
                    raise
                found.append(error)
        if fault is not None and fault.kind == "count":
            return [found[1:], found * 2, [], None, iter(found)][fault.n % 5]
        return found

    # Changes

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        path = self._strip_protocol(path)
        fault = self._fault(path)
        if mode == "create" and path in self.files:
            raise FileExistsError(path)
        if fault is not None and fault.kind == "short" and self.protocol == "world":
            # The connection is lost after a part was written, in place.
            self.store(path, value[: fault.n % (len(value) + 1)])
            raise ConnectionResetError(104, "Connection reset by peer")
        self.store(path, bytes(value))
        if fault is not None and fault.kind == "long":
            raise ConnectionResetError(104, "Connection reset by peer, after the last byte")

    def cp_file(self, path1: str, path2: str, **options: Any) -> None:
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        self._fault(path1)
        if path1 not in self.files:
            raise FileNotFoundError(path1)
        self.store(path2, self.files[path1])
        if path1 in self.changed:
            self.changed.add(path2)

    def mv(self, path1: str, path2: str, **options: Any) -> None:
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        fault = self._fault(path1)
        if path1 not in self.files:
            raise FileNotFoundError(path1)
        self.store(path2, self.files.pop(path1))
        if path1 in self.changed:
            self.changed.add(path2)
        if fault is not None and fault.kind == "long":
            raise TimeoutError(110, "the answer was lost, after the move")

    def rm_file(self, path: str) -> None:
        path = self._strip_protocol(path)
        self._fault(path)
        if path not in self.files:
            raise FileNotFoundError(path)
        del self.files[path]

    def rmdir(self, path: str) -> None:
        self._fault(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self._fault(path)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        for one in reversed(self.expand_path(path, recursive=recursive, maxdepth=maxdepth)):
            if one in self.files:
                self.rm_file(one)


class AsyncWorld(AsyncFileSystem):
    """The same world as an asynchronous filesystem."""

    cachable = False
    root_marker = "/"

    def __init__(self, world: World, **options: Any) -> None:
        super().__init__(**options)
        self.world = world
        self.protocol = world.protocol  # type: ignore[misc]
        self._strip_protocol = world._strip_protocol  # type: ignore[method-assign]

    def invalidate_cache(self, path: str | None = None) -> None:
        pass


def _coroutine(name: str) -> Any:
    async def call(self: AsyncWorld, *args: Any, **options: Any) -> Any:
        # Other tasks run in between, as they do while a request is in flight.
        await asyncio.sleep(0)
        return getattr(self.world, name)(*args, **options)

    return call


CALLS = ["cat_file", "cat_ranges", "cp_file", "info", "ls", "makedirs", "pipe_file", "rm", "rm_file", "rmdir"]
for _name in CALLS:
    setattr(AsyncWorld, f"_{_name}", _coroutine(_name))
