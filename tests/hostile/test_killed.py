"""Killed at every system call, and every system call failing.

Afterwards the target is the old file or the new one, whole. The sources and the keys are untouched. Nothing
is left that the guide does not name, and the same command run again ends right.
"""

from __future__ import annotations

import base64
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import killed
import pytest
import sealane
import sealane.fs
from killed import Injection

pytestmark = pytest.mark.slow

KEY = sealane.keys.generate("aes-256")
NAMES = sealane.keys.generate("aes-256-siv")
AGE = sealane.keys.generate("age")
OTHER = sealane.keys.generate("age")
PLAIN = bytes(range(256)) * 700
"""Two jobs: more than 16 chunks, which is less than a second thread needs."""
OLD = b"the old content"
LEFT = re.compile(r"^\.(.+)\.[0-9a-f]{16}\.part$")
"""The name of a temporary file, which the guide names."""

ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EINTR")
LOADER_FAILED = 127


def sealed(content: bytes) -> bool:
    try:
        return sealane.decrypt(content, key=KEY) == PLAIN
    except sealane.exceptions.SealaneError:
        return False


def is_key(content: bytes) -> bool:
    try:
        return sealane.keys.Key.from_text(content).kind == "aes-256"
    except (sealane.exceptions.SealaneError, ValueError):
        return False


def encrypted(name: str, folder: str) -> str:
    """The encrypted name of a file or folder in ``folder``."""
    found = sealane.DeterministicAead("aes-256-siv", NAMES).encrypt(name.encode(), folder.encode())
    return base64.b32hexencode(found).decode().rstrip("=").lower()


@dataclass(frozen=True)
class Case:
    """A command, the files that it may write, and a test of their new content."""

    command: str
    targets: tuple[str, ...]
    is_new: Callable[[bytes], bool]
    old: bytes | None = OLD
    """The content of the targets before; None if they do not exist."""
    setup: str | None = None
    """A command that runs before."""


CASES = {
    "encrypt": Case("encrypt -k key -o target --threads 1 plain", ("target",), sealed),
    "encrypt, two threads": Case("encrypt -k key -o target --threads 2 plain", ("target",), sealed),
    "encrypt, new": Case("encrypt -k key -o target --threads 1 plain", ("target",), sealed, old=None),
    "encrypt, synced": Case("encrypt -k key -o target --threads 1 --sync plain", ("target",), sealed),
    "decrypt": Case("decrypt -k key -o target --threads 1 sealed", ("target",), lambda c: c == PLAIN),
    "decrypt, age": Case("decrypt -i identity -o target --threads 1 age", ("target",), lambda c: c == PLAIN),
    "keygen": Case("keygen -o target", ("target",), is_key, old=None),
    "folder": Case(
        "encrypt --recursive -k key --manifest manifest --threads 2 -o vault folder",
        ("vault/a", "vault/b", "vault/deep/c"),
        sealed,
        old=None,
    ),
    "folder, replaced": Case(
        "encrypt --recursive -k key --manifest manifest --threads 1 -o vault folder",
        ("vault/a", "vault/b", "vault/deep/c"),
        sealed,
    ),
    "folder, names": Case(
        "encrypt --recursive -k key --encrypt-names names --manifest manifest --threads 1 -o vault folder",
        (
            f"vault/{encrypted('a', '')}",
            f"vault/{encrypted('b', '')}",
            f"vault/{encrypted('deep', '')}/{encrypted('c', 'deep')}",
        ),
        sealed,
        old=None,
    ),
    "folder, resumed": Case(
        "encrypt --recursive -k key --manifest manifest --threads 1 -o vault folder",
        ("vault/a", "vault/b", "vault/deep/c"),
        sealed,
        old=None,
        setup="encrypt --recursive -k key --manifest manifest -o vault folder",
    ),
}


class Scene:
    """The files of a case, which are put into place before each run."""

    def __init__(self, folder: Path, case: Case, binary: Path) -> None:
        self.folder, self.case = folder / "scene", case
        self.command = [binary, *case.command.split(), "-q"]
        self.saved = folder / "saved"
        self.saved.mkdir()
        KEY.save(self.saved / "key")
        NAMES.save(self.saved / "names")
        AGE.save(self.saved / "identity")
        (self.saved / "plain").write_bytes(PLAIN)
        (self.saved / "sealed").write_bytes(sealane.encrypt(PLAIN, key=KEY))
        (self.saved / "age").write_bytes(sealane.encrypt(PLAIN, recipients=[AGE.public]))
        for name in ("a", "b", "deep/c"):
            path = self.saved / "folder" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(PLAIN)
        if case.setup is not None:
            self.restore()
            done = killed.run([binary, *case.setup.split()], self.folder)
            assert done.returncode == 0, done.stderr
            # The job is resumed: one result is missing, and one source was changed and changed
            # back.
            (self.folder / "vault" / "b").unlink()
            (self.folder / "folder" / "deep" / "c").touch()
            shutil.rmtree(self.saved)
            shutil.copytree(self.folder, self.saved)
        self.inputs = {
            path.relative_to(self.saved): path.read_bytes()
            for path in self.saved.rglob("*")
            if path.is_file() and path.name != "manifest" and "vault" not in path.parts
        }

    def restore(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.saved, self.folder)
        if self.case.old is not None:
            for target in self.case.targets:
                (self.folder / target).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / target).write_bytes(self.case.old)

    def check(self, what: str, *, left: bool, complete: bool) -> None:
        """Checks all files. ``left`` allows temporary files, which ``complete`` requires to be complete."""
        found = {path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file()}
        targets = {Path(target) for target in self.case.targets}
        for path, content in self.inputs.items():
            assert (self.folder / path).read_bytes() == content, f"{what}: {path} was changed"
        for path in found - set(self.inputs) - {Path("manifest")}:
            content = (self.folder / path).read_bytes()
            if path in targets:
                assert content == self.case.old or self.case.is_new(content), f"{what}: {path} is broken"
                continue
            named = LEFT.match(path.name)
            assert named is not None, f"{what}: {path} is left"
            assert path.with_name(named[1]) in targets, f"{what}: {path} is left"
            assert left, f"{what}: {path} is left"
            assert not complete or self.case.is_new(content), f"{what}: {path} is left incomplete"

    def check_result(self, what: str) -> None:
        for target in self.case.targets:
            assert self.case.is_new((self.folder / target).read_bytes()), f"{what}: {target}"

    def again(self, what: str) -> None:
        """Runs the command once more, without a failure."""
        if self.case.command.startswith("keygen") and (self.folder / self.case.targets[0]).exists():
            return  # It refuses to replace a key.
        done = killed.run(self.command, self.folder)
        assert done.returncode == 0, f"{what}: again: {done.stderr}"
        self.check_result(what)


@pytest.fixture(params=CASES)
def scene(request: pytest.FixtureRequest, tmp_path: Path, sealane_binary: Path) -> Scene:
    return Scene(tmp_path, CASES[request.param], sealane_binary)


def traced(scene: Scene, *options: str) -> str:
    """Returns the log of a run that succeeds."""
    scene.restore()
    done, log = killed.traced(scene.command, scene.folder, *options)
    assert (done.returncode, done.stderr) == (0, "")
    scene.check("undisturbed", left=False, complete=True)
    scene.check_result("undisturbed")
    return log


def plan(scene: Scene, names: str) -> tuple[str, list[Injection]]:
    """Returns the log of a run, and the injections that it needs.

    With ``names="temporary"``, the first file of each thread has a temporary name, as on file systems without
    unnamed files. The injection for that counts calls of ``openat``, of which no other can then be injected.
    """
    log = traced(scene)
    created = killed.unnamed(log)
    assert created is not None
    if names == "unnamed":
        return log, []
    always = Injection(created, "error=EOPNOTSUPP")
    log = traced(scene, "-e", always.text())
    assert "O_CREAT|O_EXCL" in log
    return log, [always]


# claim: disk-atomic
@pytest.mark.parametrize("names", ["unnamed", "temporary"])
def test_killed_at_every_system_call(scene: Scene, names: str) -> None:
    log, always = plan(scene, names)
    # Before, for example in the loader, a killed process leaves what no process leaves.
    names = {f'"{path.parts[0]}"' for path in [*scene.inputs, *map(Path, scene.case.targets)]}
    found = killed.points(log, after={*names, '"."'})
    points = [point for point in found if not (always and point.name == "openat")]
    assert len(points) > 20
    stopped = 0
    for point in points:
        scene.restore()
        done, _ = killed.disturbed(scene.command, scene.folder, *always, Injection(point, "signal=SIGKILL"))
        what = f"killed at {point.name} {point.number}"
        stopped += done.returncode != 0
        # An unnamed file has a name between two calls only, when it is complete.
        left = bool(always) or point.name.startswith("rename") or "folder" in scene.case.command
        scene.check(what, left=left, complete=not always)
        scene.again(what)
    # Where threads race, a run may have fewer calls of a name.
    assert stopped > 0.8 * len(points)


# claim: disk-atomic
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("names", ["unnamed", "temporary"])
def test_every_file_system_call_fails(scene: Scene, error: str, names: str) -> None:
    log, always = plan(scene, names)
    failed = 0
    for point in killed.points(log):
        if point.name not in killed.FAILING_CALLS or (always and point.name == "openat"):
            continue
        scene.restore()
        done, _ = killed.disturbed(scene.command, scene.folder, *always, Injection(point, f"error={error}"))
        what = f"{error} of {point.name} {point.number}: {done.returncode} {done.stderr}"
        assert done.returncode in (0, 1, 2, LOADER_FAILED), what
        if done.returncode == 0:
            scene.check_result(what)
        else:
            failed += 1
            assert done.stderr, what
        # A temporary file stays if the call that removes it fails.
        scene.check(what, left=point.name.startswith("unlink"), complete=False)
        scene.again(what)
    assert failed > 10 or error == "EINTR"


REWRAP = """
import os, sys
import sealane.fs, sealane.keys
new = sealane.keys.load("new")
try:
    os.stat("/the marker")
except OSError:
    pass
sealane.fs.rewrap_dataset_key(sys.argv[1], identity="file:old", recipients=[new.public])
"""


def test_a_dataset_key_that_is_wrapped_again(tmp_path: Path) -> None:
    folder = tmp_path / "scene"
    folder.mkdir()
    AGE.save(folder / "old")
    OTHER.save(folder / "new")
    (folder / "data").mkdir()
    path = folder / "data" / "key.age"
    sealane.fs.create_dataset_key(f"file://{path}", recipients=[AGE.public])
    old = path.read_bytes()
    command = [sys.executable, "-c", REWRAP, f"file://{path}"]
    done, log = killed.traced(command, folder)
    assert done.returncode == 0, done.stderr
    points = killed.points(log, after=["/the marker"])
    assert points
    for point in points:
        path.write_bytes(old)
        killed.disturbed(command, folder, Injection(point, "signal=SIGKILL"))
        what = f"killed at {point.name} {point.number}"
        content = path.read_bytes()
        wrapped_for = AGE if content == old else OTHER
        assert len(sealane.decrypt(content, identities=[wrapped_for])) > 16, what
        for left in path.parent.iterdir():
            assert left == path or left.name.startswith("."), f"{what}: {left}"
            if left != path:
                left.unlink()
