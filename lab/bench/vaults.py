"""A file of 1 GiB in vaults of gocryptfs and rclone, read by these tools and by sealane, in turns.

    python lab/bench/vaults.py PROGRAM FOLDER [ROUNDS]

PROGRAM is a release build of ``sealane``; the vaults are made in FOLDER, and removed at the end. It
needs root, or ``fusermount3``. Warm: the stored files are in the page cache, and what a mount returned
is not. Again: both are. Cold: neither is. ``rclone cat`` drops what it has read from the page cache,
so the stored files are read before each turn.
"""

from __future__ import annotations

import io
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import sealane

GIB = 1 << 30
PIECE = 1 << 20
READS = 2000


def make(place: Path) -> None:
    """Makes both vaults, with one file each."""
    for name in ("store", "secret", "gocryptfs", "sealane", "plain"):
        (place / name).mkdir(parents=True)
    (place / "pass").write_text("correct")
    call = ["gocryptfs", "-q", "-passfile", str(place / "pass")]
    subprocess.run([*call, "-init", "-scryptn", "14", str(place / "secret")], check=True)
    subprocess.run([*call, str(place / "secret"), str(place / "gocryptfs")], check=True)
    with open(place / "plain" / "file", "wb") as plain, open(place / "gocryptfs" / "file", "wb") as file:
        for _ in range(GIB // PIECE):
            piece = random.randbytes(PIECE)
            plain.write(piece)
            file.write(piece)
    config = str(place / "rclone.conf")
    words = ["rclone", "--config", config]
    made = ["config", "create", "it", "crypt", f"remote={place / 'store'}", "password=correct", "--obscure"]
    subprocess.run([*words, *made], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*words, "copy", str(place / "plain"), "it:"], check=True)
    os.environ["RCLONE_CONFIG"] = config


def prepare(place: Path, state: str) -> None:
    """Drops files from the page cache, or reads them into it."""
    os.sync()
    stored = [*(place / "secret").iterdir(), *(place / "store").iterdir(), place / "plain" / "file"]
    mounted = [place / name / "file" for name in ("gocryptfs", "sealane")]
    for path in {"warm": mounted, "again": [], "cold": [*mounted, *stored]}[state]:
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if state != "cold":
        for path in stored:
            with open(path, "rb", buffering=0) as file:
                read(file)


def read(file: IO[bytes] | io.RawIOBase) -> int:
    buffer, count = bytearray(PIECE), 0
    while n := file.readinto(buffer):  # type: ignore[union-attr]
        count += n
    return count


def in_order(path: Path) -> None:
    with open(path, "rb", buffering=0) as file:
        assert read(file) == GIB


def at_random(path: Path) -> None:
    with open(path, "rb", buffering=0) as file:
        # Without reading ahead, as a database asks for it.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        pieces(file)


def in_order_in(folder: sealane.Folder) -> None:
    with folder.open("file") as file:
        assert read(file) == GIB


def at_random_in(folder: sealane.Folder) -> None:
    with folder.open("file") as file:
        pieces(file)


def pieces(file: IO[bytes] | io.RawIOBase) -> None:
    places = random.Random(1)
    for _ in range(READS):
        file.seek(places.randrange(GIB // 4096) * 4096)
        assert len(file.read(4096)) == 4096


def piped(words: list[str]) -> None:
    with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert read(child.stdout) == GIB
    assert child.returncode == 0


def nothing(words: list[str]) -> None:
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def table(place: Path, rounds: int, rows: dict[str, Callable[[], None]], *, state: str) -> None:
    times: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(rounds):
        for name, work in rows.items():
            prepare(place, state)
            began = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - began)
    for name, found in times.items():
        print(f"{name:44}{statistics.median(found):8.3f} s", flush=True)


def main() -> None:
    program, place, rounds = sys.argv[1], Path(sys.argv[2]).absolute(), int((*sys.argv[3:], "3")[0])
    try:
        make(place)
        words = ["--passphrase-command", f"cat {place / 'pass'}"]
        secret = str(place / "secret")
        subprocess.run([program, "mount", *words, secret, str(place / "sealane")], check=True)
        folder = sealane.Folder(secret, passphrase=b"correct")
        remote = sealane.Folder(place / "store", rclone="it")
        ours = [program, "cat", *words]
        theirs = ["rclone", "cat", "it:file"]
        reads: dict[str, Callable[[], None]] = {
            "plain file": lambda: in_order(place / "plain" / "file"),
            "gocryptfs: its mount": lambda: in_order(place / "gocryptfs" / "file"),
            "gocryptfs: sealane mount": lambda: in_order(place / "sealane" / "file"),
            "gocryptfs: sealane.Folder": lambda: in_order_in(folder),
            "gocryptfs: sealane cat": lambda: piped([*ours, f"{secret}/file"]),
            "rclone: rclone cat": lambda: piped(theirs),
            "rclone: sealane.Folder": lambda: in_order_in(remote),
            "rclone: sealane cat": lambda: piped([program, "cat", "--rclone", "it", "file"]),
        }
        for state in ("warm", "again", "cold"):
            print("1 GiB in order,", state)
            table(place, rounds, reads, state=state)
        starts = {
            "gocryptfs: sealane cat of no bytes": lambda: nothing(
                [*ours, "--range", "0:0", f"{secret}/file"]
            ),
            "rclone: rclone cat of no bytes": lambda: nothing([*theirs, "--count", "1"]),
            "rclone: sealane cat of no bytes": lambda: nothing(
                [program, "cat", "--rclone", "it", "--range", "0:0", "file"]
            ),
        }
        print("start of the program, with scrypt")
        table(place, rounds, starts, state="again")
        mounts: dict[str, Callable[[], None]] = {
            "plain file": lambda: at_random(place / "plain" / "file"),
            "gocryptfs: its mount": lambda: at_random(place / "gocryptfs" / "file"),
            "gocryptfs: sealane mount": lambda: at_random(place / "sealane" / "file"),
            "gocryptfs: sealane.Folder": lambda: at_random_in(folder),
        }
        for state in ("warm", "cold"):
            print(f"{READS} reads of 4 KiB at random places,", state)
            table(place, rounds, mounts, state=state)
    finally:
        for name in ("gocryptfs", "sealane"):
            subprocess.run(["umount", str(place / name)], check=False)
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
