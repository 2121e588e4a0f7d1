"""A filesystem over a world that lies, fails and changes at any call.

The one property: what is returned is the verified truth, or an error of sealane or of the operating system
that contains the path. Nothing is silently shorter, older than the last write by a mixture, or endless.
"""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
import sealane
import sealane.fs._opening
import sealane.fs._reading
import sealane.fs._transfer
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from lying_world import CHANGING, READING, AsyncWorld, Fault, World
from sealane.fs import SealaneFileSystem, create_dataset_key, rewrap_dataset_key
from support import CHUNK, pattern

ALICE = sealane.keys.generate("age")
KEY = "/data/key.age"
PATHS = ["/data/a", "/data/b", "/data/sub/c", "/data/sub/d[1]", "/other/e"]
LENGTHS = [0, 1, 100, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 40_000, 70_000, 150_000, 200_001]

paths = st.sampled_from(PATHS)
faults = st.lists(
    st.builds(
        Fault,
        call=st.integers(0, 7),
        kind=st.sampled_from(READING + CHANGING),
        n=st.integers(0, 1 << 20),
    ),
    max_size=3,
)
honest_or_not = st.one_of(st.just([]), faults)
edges = st.one_of(
    st.none(),
    st.sampled_from([0, 1, -1, -9, CHUNK, CHUNK - 1, -CHUNK, 50_000, 200_001, 300_000]),
    st.integers(-250_000, 250_000),
)


class LyingWorld(RuleBasedStateMachine):
    """Every operation of the filesystem, with faults at any of its calls."""

    asynchronous = False

    @initialize(protocol=st.sampled_from(["world", "s3"]), before=faults)
    def begin(self, protocol: str, before: list[Fault]) -> None:
        self.world = World(protocol, protected=KEY)
        self.patch = pytest.MonkeyPatch()
        self.patch.setenv("ALICE", ALICE.to_text())
        self.patch.setattr("sealane.fs._store.url_to_fs", lambda url, **_: (self.world, url))
        # Small files take the paths of large ones.
        self.patch.setattr(sealane.fs._opening, "SMALL", 60_000)
        self.patch.setattr(sealane.fs._opening, "TAIL", 20_000)
        self.patch.setattr(sealane.fs._reading, "MAX_BLOCK", 1 << 16)
        self.patch.setattr(sealane.fs._transfer, "STEP", 1 << 15)
        self.patch.setattr(sealane.fs._transfer, "FIRST", 50_000)
        create_dataset_key(KEY, recipients=[ALICE.public])
        self.key = self.world.files[KEY]
        below = AsyncWorld(self.world) if self.asynchronous else self.world
        self.fs = SealaneFileSystem(
            fs=below, key=f"age:{KEY}", identity="env:ALICE", skip_instance_cache=True
        )
        self.folder = tempfile.TemporaryDirectory()
        # All plaintexts that a path had, and which one it has now. A server can always show an
        # older one.
        self.versions: dict[str, set[bytes]] = {path: set() for path in PATHS}
        self.current: dict[str, bytes] = {}
        self.number = 0

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            self.patch.undo()
            self.folder.cleanup()

    # Checks

    def attempt(self, plan: list[Fault], named: list[str], work: Any) -> Any:
        """Returns the result of ``work``, or None after an acceptable error."""
        self.world.begin(plan)
        try:
            return work()
        except (sealane.SealaneError, OSError, NotImplementedError) as raised:
            self.error = error = raised
        finally:
            self.world.be_honest()
        assert self.names(error, named), f"the error names no path: {error!r}"
        if not plan and not self.world.changed and not isinstance(error, FileNotFoundError | FileExistsError):
            raise AssertionError("an honest world has no failures") from error
        return None

    def names(self, error: Exception, paths: list[str]) -> bool:
        # The first operation reads the dataset key as well.
        text = f"{error} {getattr(error, 'filename', '')}"
        return any(path in text for path in [*paths, KEY])

    def is_known(self, path: str) -> bool:
        return path not in self.world.changed and path in self.current

    def check_content(self, plan: list[Fault], path: str, got: bytes, part: slice) -> None:
        possible = [version for version in self.versions[path] if version[part] == got]
        assert possible, f"{path}: {len(got)} bytes that never were in the file"
        if not plan and self.is_known(path):
            assert got == self.current[path][part]

    # Reading

    @rule(plan=honest_or_not, path=paths, start=edges, end=edges)
    def cat_file(self, plan: list[Fault], path: str, start: int | None, end: int | None) -> None:
        got = self.attempt(plan, [path], lambda: self.fs.cat_file(path, start=start, end=end))
        if got is not None:
            # No bytes are claimed for an empty range, so nothing is asked.
            if (start or 0) >= 0 and end is not None and 0 <= end <= (start or 0):
                assert got == b""
            else:
                self.check_content(plan, path, got, slice(start, end))

    @rule(plan=honest_or_not, wanted=st.lists(st.tuples(paths, edges, edges), min_size=1, max_size=5))
    def cat_ranges(self, plan: list[Fault], wanted: list[tuple[str, Any, Any]]) -> None:
        names, starts, ends = (list(column) for column in zip(*wanted, strict=True))
        found = self.attempt(plan, names, lambda: self.fs.cat_ranges(names, starts, ends))
        if found is None:
            return
        for (path, start, end), got in zip(wanted, found, strict=True):
            if isinstance(got, Exception):
                assert isinstance(got, sealane.SealaneError | OSError | NotImplementedError), repr(got)
                assert self.names(got, [path]), repr(got)
            elif not ((start or 0) >= 0 and end is not None and 0 <= end <= (start or 0)):
                self.check_content(plan, path, got, slice(start, end))

    @rule(
        plan=honest_or_not,
        path=paths,
        cache_type=st.sampled_from(["none", "readahead", "bytes"]),
        reads=st.lists(st.tuples(st.integers(0, 210_000), st.integers(0, 60_000)), max_size=6),
    )
    def open_and_read(
        self, plan: list[Fault], path: str, cache_type: str, reads: list[tuple[int, int]]
    ) -> None:
        seen: list[tuple[int, int, bytes]] = []
        sizes: list[int] = []

        def work() -> None:
            with self.fs.open(path, block_size=CHUNK, cache_type=cache_type) as file:
                sizes.append(file.size)
                for at, n in reads:
                    file.seek(at)
                    seen.append((at, n, file.read(n)))

        self.attempt(plan, [path], work)
        if sizes:
            possible = [
                one
                for one in self.versions[path]
                if len(one) == sizes[0] and all(one[at : at + n] == got for at, n, got in seen)
            ]
            assert possible, f"{path}: no version has this size and these bytes"
            if not plan and self.is_known(path):
                assert self.current[path] in possible

    @rule(plan=honest_or_not, path=paths, to_object=st.booleans())
    def get_file(self, plan: list[Fault], path: str, to_object: bool) -> None:
        target = Path(self.folder.name) / "got"
        target.unlink(missing_ok=True)
        out = io.BytesIO() if to_object else str(target)

        def work() -> bool:
            self.fs.get_file(path, out)
            return True

        done = self.attempt(plan, [path], work)
        if done and isinstance(out, io.BytesIO):
            self.check_content(plan, path, out.getvalue(), slice(None))
        elif target.is_dir():  # The server said that it is a folder, of which nothing can be verified.
            assert "type" in self.world.injected or plan
            target.rmdir()
        elif done:
            self.check_content(plan, path, target.read_bytes(), slice(None))
        else:
            assert not target.exists()
        assert os.listdir(self.folder.name) in ([], ["got"])

    @rule(plan=honest_or_not)
    def listings(self, plan: list[Fault]) -> None:
        """A listing is a claim, but one wrong entry does not hide the others."""
        for work in (
            lambda: self.fs.find("/data", detail=True),
            lambda: self.fs.ls("/data"),
            lambda: self.fs.exists("/data/a"),
            lambda: self.fs.isfile("/data/a"),
        ):
            self.world.begin(plan)
            try:
                found = work()
            except Exception:
                assert plan or "/data" not in self.world.find("/")
                continue
            finally:
                self.world.be_honest()
            if isinstance(found, dict):
                assert KEY not in found
                if not plan:
                    for path, content in self.current.items():
                        if path.startswith("/data/") and self.is_known(path):
                            assert found[path]["size"] == len(content)

    # Writing

    def text(self, length: int) -> bytes:
        self.number += 1
        return (str(self.number).encode() + b" " + pattern(length))[:length]

    @rule(
        plan=honest_or_not,
        path=paths,
        length=st.sampled_from(LENGTHS),
        mode=st.sampled_from(["wb", "xb"]),
    )
    def write(self, plan: list[Fault], path: str, length: int, mode: str) -> None:
        content = self.text(length)
        before = self.world.files.get(path)
        self.versions[path].add(content)

        def work() -> bool:
            with self.fs.open(path, mode) as file:
                for at in range(0, length, 30_000):
                    file.write(content[at : at + 30_000])
            return True

        if self.attempt(plan, [path], work):
            assert mode == "wb" or before is None or plan or path in self.world.changed
            if path not in self.world.changed:
                self.current[path] = content
                assert self.stored(path) == content
        elif path not in self.world.changed:
            # The old file or the new one, whole.
            after = self.world.files.get(path)
            if after == before:
                return
            assert after is not None
            assert self.stored(path) == content
            self.current[path] = content

    def stored(self, path: str) -> bytes:
        self.world.be_honest()
        return sealane.decrypt(self.world.files[path], key=self.dataset_key())

    def dataset_key(self) -> sealane.keys.Key:
        return sealane.keys.Key.from_text(sealane.decrypt(self.world.files[KEY], identities=[ALICE]))

    @rule(plan=honest_or_not, source=paths, other=paths, move=st.booleans())
    def copy_or_move(self, plan: list[Fault], source: str, other: str, move: bool) -> None:
        if source == other or "[" in source or "[" in other:
            return  # fsspec takes such a name for a pattern.
        content = self.world.files.get(source)
        work = self.fs.mv if move else self.fs.cp_file
        self.versions[other] |= self.versions[source]
        self.attempt(plan, [source, other], lambda: work(source, other))
        if content is not None and not self.world.changed & {source, other}:
            # It is lost at neither place before it is complete at the other.
            assert content in (self.world.files.get(source), self.world.files.get(other))
        self.learn()

    @rule(
        plan=honest_or_not,
        path=st.sampled_from(
            ["/data/*", "/data/k*", "/data", "/data/**", "/data/sub", "/other", "/data/a", "/"]
        ),
        recursive=st.booleans(),
        call=st.sampled_from(["rm", "mv", "list"]),
    )
    def remove(self, plan: list[Fault], path: str, recursive: bool, call: str) -> None:
        before = {self.world.files[name] for name in PATHS if name in self.world.files}
        # A move replaces files below its target.
        concerned = ("/data", "/moved") if call == "mv" else "/data"
        outside = {name: data for name, data in self.world.files.items() if not name.startswith(concerned)}
        self.world.begin(plan)
        error = None
        try:
            match call:
                case "rm":
                    self.fs.rm(path, recursive=recursive)
                case "list":
                    self.fs.rm([path, "/data/b"], recursive=recursive)
                case "mv":
                    self.fs.mv(path, "/moved/", recursive=recursive)
        except Exception as raised:
            # Errors of listings are those of the other filesystem, and patterns can match nothing.
            error = raised
        finally:
            self.world.be_honest()
        assert (
            plan
            or self.world.changed
            or not recursive
            or error is None
            or isinstance(error, FileNotFoundError)
            or "moved as well" in str(error)
        )
        if call == "mv" and not self.world.changed:
            assert before <= set(self.world.files.values()), "a move lost a file"
        if path.startswith("/data") and "phantom" not in {fault.kind for fault in plan}:
            for name, content in outside.items():
                assert name in self.world.changed or self.world.files.get(name) == content
        self.learn()

    @rule(plan=honest_or_not)
    def rewrap(self, plan: list[Fault]) -> None:
        self.attempt(
            plan,
            [KEY],
            lambda: rewrap_dataset_key(KEY, identity="env:ALICE", recipients=[ALICE.public]),
        )
        if self.world.files[KEY] != self.key and self.damaged():
            # A disk that loses bytes of a file while it is renamed. The error names a complete
            # copy.
            copies = [name for name in self.world.files if name.startswith("/data/.key.age.")]
            (copy,) = (name for name in copies if name in str(self.error))
            self.world.store(KEY, self.world.files[copy])
        self.key = self.world.files[KEY]
        assert bytes(self.dataset_key()) == bytes(self.fs_key())

    def damaged(self) -> bool:
        try:
            self.dataset_key()
        except sealane.SealaneError:
            return True
        return False

    def fs_key(self) -> sealane.keys.Key:
        if not hasattr(self, "first_key"):
            self.first_key = self.dataset_key()
        return self.first_key

    def learn(self) -> None:
        """Reads what is stored now, after an operation that changes names."""
        for path in PATHS:
            self.current.pop(path, None)
            if path in self.world.files and path not in self.world.changed:
                self.current[path] = self.stored(path)

    @invariant()
    def the_key_is_unchanged(self) -> None:
        if hasattr(self, "key"):
            assert self.world.files.get(KEY) == self.key, "the dataset key was changed or removed"
            assert bytes(self.dataset_key()) == bytes(self.fs_key())


class AsyncLyingWorld(LyingWorld):
    """The same operations over an asynchronous filesystem. Two more read and write many files at a time."""

    asynchronous = True

    @rule(plan=honest_or_not, named=st.lists(paths, min_size=1, unique=True))
    def cat(self, plan: list[Fault], named: list[str]) -> None:
        named = [path for path in named if "[" not in path]
        found = self.attempt(plan, named, lambda: self.fs.cat(named, on_error="return")) if named else None
        for path, got in (found or {}).items():
            if isinstance(got, Exception):
                assert isinstance(got, sealane.SealaneError | OSError | NotImplementedError), repr(got)
                assert self.names(got, [path]), repr(got)
            else:
                self.check_content(plan, path, got, slice(None))

    @rule(plan=honest_or_not, written=st.dictionaries(paths, st.sampled_from(LENGTHS), min_size=1))
    def pipe(self, plan: list[Fault], written: dict[str, int]) -> None:
        contents = {path: self.text(length) for path, length in written.items()}
        for path, content in contents.items():
            self.versions[path].add(content)

        def work() -> bool:
            self.fs.pipe(contents)
            return True

        done = self.attempt(plan, list(contents), work)
        for path, content in contents.items():
            if path in self.world.changed:
                continue
            if done:
                assert self.stored(path) == content
            if path in self.world.files:
                self.current[path] = self.stored(path)
                assert self.current[path] in self.versions[path]


def run(kind: type[LyingWorld], examples: int, steps: int) -> None:
    run_state_machine_as_test(
        kind,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


KINDS = [LyingWorld, AsyncLyingWorld]


# claim: dataset-verified, tested-datasets
@pytest.mark.parametrize("kind", KINDS)
def test_the_truth_or_an_error(kind: type[LyingWorld]) -> None:
    run(kind, 60, 15)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("portion", range(6))
def test_the_truth_or_an_error_in_many_worlds(kind: type[LyingWorld], portion: int) -> None:
    """3000 worlds of each kind, in portions that end long before ``faulthandler_timeout``."""
    run(kind, 500, 30)
