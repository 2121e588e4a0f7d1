"""Rights never widen: no user can read or write a new file unless the replaced file or the umask allows it.

Other users and groups, ACLs of files and folders, and file systems without unnamed files.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
import sealane

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as other users")


class User(NamedTuple):
    uid: int
    gid: int
    groups: tuple[int, ...] = ()


BOB = User(61002, 63000)
MEMBER = User(61001, 60100, (63000,))
"""A member of the group of Bob's files, with another primary group."""
OUTSIDER = User(61003, 60100)
"""A member of the primary group of MEMBER."""
CAROL = User(62002, 63000)
NAMED = User(60033, 60033)
EVE = User(62003, 62003)
ROOT = User(0, 0)
USERS = (BOB, MEMBER, OUTSIDER, CAROL, NAMED, EVE)

NONE = 0xFFFFFFFF


def acl(owner: int, named: tuple[tuple[int, int], ...], group: int, mask: int, other: int) -> bytes:
    """Encodes a POSIX ACL as Linux stores it in an extended attribute."""
    entries = [(0x01, owner, NONE), *((0x02, rights, uid) for uid, rights in named)]
    entries += [(0x04, group, NONE), (0x10, mask, NONE), (0x20, other, NONE)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def rights(path: Path) -> dict[User, set[str]]:
    """Returns what each user can do with a file, by trying it."""
    return {user: {how for how in "rw" if _can(path, user, how)} for user in USERS}


def _can(path: Path, user: User, how: str) -> bool:
    # The effective user decides, and this process can become root again.
    own = os.getgroups()
    try:
        os.setgroups(user.groups)
        os.setegid(user.gid)
        os.seteuid(user.uid)
        os.close(os.open(path, os.O_RDONLY if how == "r" else os.O_WRONLY))
    except PermissionError:
        return False
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(own)
    return True


NO_PROC = 'mount -t tmpfs none /proc && exec "$@"'
"""Without /proc an unnamed file cannot get a name, so the program uses a temporary one."""


class Program:
    def __init__(self, binary: Path, folder: Path, *, proc: bool) -> None:
        self.folder, self.proc = folder, proc
        self.binary = folder / "sealane"
        shutil.copy(binary, self.binary)
        self.binary.chmod(0o755)
        (folder / "key").write_text(sealane.keys.generate("aes-256").to_text())
        (folder / "key").chmod(0o644)
        (folder / "plain").write_bytes(b"secret" * 5000)
        (folder / "plain").chmod(0o644)
        assert self("encrypt", "-k", "key", "-o", "sealed", "plain") == ""
        (folder / "sealed").chmod(0o644)

    def __call__(self, *arguments: str, user: User = ROOT, umask: int = 0o022) -> str:
        """Runs the program as a user and returns its errors."""
        groups = ["--groups", ",".join(map(str, user.groups))] if user.groups else ["--clear-groups"]
        setpriv = ["setpriv", f"--reuid={user.uid}", f"--regid={user.gid}", *groups]
        command = [*setpriv, str(self.binary), *arguments, "-q"]
        if not self.proc:
            command = ["unshare", "-m", "sh", "-c", NO_PROC, "sh", *command]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, umask=umask)
        assert (done.returncode == 0) == (done.stderr == ""), done.stderr
        return done.stderr


@pytest.fixture(params=[True, False], ids=["proc", "no-proc"])
def program(request: pytest.FixtureRequest, sealane_binary: Path, shared: Path) -> Program:
    if not request.param and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("the system does not let us hide /proc (unshare -m)")
    return Program(sealane_binary, shared, proc=request.param)


def replaced(folder: Path, mode: int, owner: User = BOB, list_: bytes | None = None) -> Path:
    """Creates a file that the program replaces."""
    path = folder / "target"
    path.unlink(missing_ok=True)
    path.write_bytes(b"old")
    os.chown(path, owner.uid, owner.gid)
    path.chmod(mode)
    if list_ is not None:
        os.setxattr(path, "system.posix_acl_access", list_)
    return path


ACTORS = {"root": ROOT, "owner": BOB, "member": MEMBER, "other": OUTSIDER}


# claim: users-rights
@pytest.mark.parametrize("actor", ACTORS)
def test_replacing_a_file_gives_no_user_more_rights(program: Program, actor: str) -> None:
    user = ACTORS[actor]
    lists = [
        None,
        acl(
            6, ((NAMED.uid, 6),), 0, 6, 0
        ),  # The group class of the mode is the mask, not the right of the group.
        acl(6, ((NAMED.uid, 4), (MEMBER.uid, 6)), 4, 6, 0),
        acl(6, ((OUTSIDER.uid, 6),), 0, 6, 4),
    ]
    done = 0
    for mode in (0o600, 0o640, 0o660, 0o664, 0o666, 0o606, 0o060, 0o662):
        for list_ in lists if mode == 0o600 else lists[:1]:
            for umask in (0o022, 0o077):
                path = replaced(program.folder, mode, list_=list_)
                before = rights(path)
                refused = program("decrypt", "-k", "key", "-o", "target", "sealed", user=user, umask=umask)
                assert path.read_bytes() == (b"old" if refused else b"secret" * 5000)
                after = rights(path)
                for other in USERS:
                    # The user that wrote the content has it anyway.
                    assert other == user or after[other] <= before[other], (oct(mode), list_, other)
                if refused:
                    assert "w" not in before.get(user, set())
                elif user in (ROOT, BOB):
                    assert after == before, oct(mode)
                done += not refused
    assert done >= 2
    names = {path.name for path in program.folder.iterdir()}
    assert names == {"sealane", "key", "plain", "sealed", "target"}


# claim: users-rights
def test_an_acl_is_kept_with_the_file(program: Program) -> None:
    list_ = acl(6, ((NAMED.uid, 6),), 0, 6, 0)
    path = replaced(program.folder, 0o600, list_=list_)
    assert program("encrypt", "-k", "key", "-o", "target", "plain") == ""
    assert os.getxattr(path, "system.posix_acl_access") == list_
    # Where the owner cannot be kept, the list would have another meaning.
    os.setxattr(path, "system.posix_acl_access", acl(6, ((MEMBER.uid, 6),), 0, 6, 0))
    assert program("encrypt", "-k", "key", "-o", "target", "plain", user=MEMBER) == ""
    assert (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) == (MEMBER.uid, 0o600)
    assert "system.posix_acl_access" not in os.listxattr(path)


def test_the_acl_of_the_folder_is_for_new_files_only(program: Program) -> None:
    default = acl(6, ((EVE.uid, 6),), 4, 6, 0)
    os.setxattr(program.folder, "system.posix_acl_default", default)
    path = replaced(program.folder, 0o640)
    os.removexattr(path, "system.posix_acl_access")
    path.chmod(0o660)
    before = rights(path)
    assert program("encrypt", "-k", "key", "-o", "target", "plain") == ""
    assert rights(path) == before
    assert not before[EVE]
    (program.folder / "example").touch()
    assert program("encrypt", "-k", "key", "-o", "new", "plain") == ""
    assert rights(program.folder / "new") == rights(program.folder / "example")
    assert program("keygen", "-o", "secret") == ""
    assert not any(rights(program.folder / "secret").values())


def test_a_folder_that_cannot_be_searched_may_have_a_description(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = program.folder / "home"
    home.mkdir()
    os.chown(home, EVE.uid, EVE.gid)
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    assert program("init", "-k", "key", "home/vault", user=EVE) == ""
    for mode in (0o000, 0o600):
        (home / "vault").chmod(mode)
        for options in ((), ("-k", "key")):
            assert "home/vault: permission denied" in program("ls", *options, "home/vault", user=EVE)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o027, 0o077])
def test_new_files_have_the_rights_that_the_umask_leaves(program: Program, umask: int) -> None:
    assert program("encrypt", "-k", "key", "-o", "new", "plain", umask=umask) == ""
    assert stat.S_IMODE((program.folder / "new").stat().st_mode) == 0o666 & ~umask
    assert program("keygen", "-o", "secret", umask=umask) == ""
    assert stat.S_IMODE((program.folder / "secret").stat().st_mode) == 0o600


# claim: users-private
@pytest.mark.slow  # It needs strace.
def test_a_temporary_file_is_private_until_it_is_complete(sealane_binary: Path, shared: Path) -> None:
    program = Program(sealane_binary, shared, proc=False)
    replaced(shared, 0o644)
    strace = shutil.which("strace") or pytest.fail("apt-get install strace")
    for target in ("target", "new"):
        encrypt = f"exec {program.binary} encrypt -k key -o {target} plain"
        command = f"mount -t tmpfs none /proc && umask 000 && {encrypt}"
        calls = "trace=openat,fchmod,fchmodat,fchown,pwrite64,write,renameat,renameat2"
        traced = [strace, "-f", "-qq", "-y", "-o", "trace", "-e", calls, "unshare", "-m", "sh", "-c", command]
        done = subprocess.run(traced, cwd=shared, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        log = (shared / "trace").read_text().splitlines()
        created = [line for line in log if "O_CREAT|O_EXCL" in line and ".part" in line]
        assert ", 0600)" in created[0], created
        name = re.search(r"\.\w+\.[0-9a-f]{16}\.part", created[0])
        assert name is not None
        started, ended = log.index(created[0]), max(at for at, line in enumerate(log) if "rename" in line)
        changed = [at for at, line in enumerate(log) if "chmod" in line and started < at < ended]
        assert len(changed) == 1
        descriptor = re.search(r"= (\d+)<", created[0])
        assert descriptor is not None
        written = [at for at, line in enumerate(log) if re.search(rf"write(64)?\({descriptor[1]}<", line)]
        assert written
        assert max(written) < changed[0] < ended
        # An empty file shows the mode of new files. Nothing is written to it.
        for line in created[1:]:
            example = re.search(r"= (\d+)<", line)
            assert example is not None
            assert example[1] != descriptor[1]
        assert {path.name for path in shared.iterdir()} >= {target}
        assert not list(shared.glob(".*.part"))
