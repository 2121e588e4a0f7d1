"""The cost of a byte, from 16 B to the longest message that the memory allows, and the memory it takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import sealane

from sealane_lab.machine import aes_limits
from sealane_lab.model import (
    LIMIT,
    OURS,
    Absent,
    Cell,
    Contender,
    Experiment,
    Plot,
    Ready,
    Scale,
    Workspace,
    WrongOutput,
)
from sealane_lab.peers import find, require
from sealane_lab.referee import KEY, NONCE, opened, same
from sealane_lab.results import Sample, contenders_of
from sealane_lab.text import cost_text, memory_text, size_text, times_text

TIME, MEMORY = "encrypt", "peak memory"

SHORTEST = 4
"""The sizes are powers of 4, from 16 bytes."""

LAST: dict[Scale, int] = {"full": 32, "quick": 26, "tiny": 14}
"""Base-2 logarithm of the largest size."""

FIRST_MEMORY: dict[Scale, int] = {"full": 16, "quick": 20, "tiny": 14}
"""Base-2 logarithm of the smallest message whose memory is measured; shorter ones take as much as none."""

LARGEST_OF_CRYPTOGRAPHY = 1 << 30
"""``cryptography`` takes less than 2 GiB."""

FLAT = 1 << 20
"""Size in bytes from which the cost of a byte should stay the same."""

SAME_MEMORY = ("cryptography into", "cryptography new bytes")
"""Contenders whose lines would lie on those of sealane."""

PIECE = 16 << 20


def cells(scale: Scale) -> list[Cell]:
    sizes = [1 << shift for shift in range(SHORTEST, LAST[scale] + 1, 2 if scale != "tiny" else 10)]
    processes = [1 << shift for shift in range(FIRST_MEMORY[scale], LAST[scale] + 1, 2)]
    return [*(Cell(TIME, size) for size in sizes), *(Cell(MEMORY, size) for size in processes)]


def contenders() -> list[Contender]:
    times = (
        Contender(OURS, "sealane, one thread", TIME, partial(_ours_into, 1)),
        Contender(OURS, "sealane, all threads", TIME, partial(_ours_into, None)),
        Contender(OURS, "sealane new bytes", TIME, _ours_new),
        Contender("cryptography", "cryptography into", TIME, _cryptography_into, LARGEST_OF_CRYPTOGRAPHY),
        Contender(LIMIT, "copy in memory", TIME, _copy),
    )
    processes = [
        Contender(peer, f"{peer} {style}", MEMORY, partial(_process, peer, style), largest)
        for peer, style, largest in (
            (OURS, "in place", None),
            (OURS, "into", None),
            (OURS, "new bytes", None),
            ("cryptography", "into", LARGEST_OF_CRYPTOGRAPHY),
            ("cryptography", "new bytes", LARGEST_OF_CRYPTOGRAPHY),
        )
    ]
    return [*times, *aes_limits(TIME), *processes]


def _ours_into(threads: int | None, workspace: Workspace) -> Ready:
    encrypt = sealane.Aead("aes-256-gcm", KEY, threads=threads).encrypt_into
    plain, out = workspace.plain, workspace.out

    def run() -> None:
        encrypt(NONCE, plain, None, out)

    return _checked(workspace, OURS, run, lambda: out)


def _ours_new(workspace: Workspace) -> Ready:
    encrypt, plain = sealane.Aead("aes-256-gcm", KEY).encrypt, workspace.plain

    def run() -> bytes:
        return encrypt(NONCE, plain, None)

    return _checked(workspace, OURS, run, run)


def _cryptography_into(workspace: Workspace) -> Ready:
    encrypt = require("cryptography.hazmat.primitives.ciphers.aead").AESGCM(KEY).encrypt_into
    plain, out = workspace.plain, workspace.out

    def run() -> None:
        encrypt(NONCE, plain, None, out)

    return _checked(workspace, "cryptography", run, lambda: out)


def _copy(workspace: Workspace) -> Ready:
    """Copies to the buffer of the ciphertexts: the longest message leaves no memory for another one."""
    plain, out = workspace.plain, memoryview(workspace.out)[: workspace.size]

    def run() -> None:
        out[:] = plain

    return Ready(run, lambda: "")


def _checked(workspace: Workspace, peer: str, run: Callable[[], Any], out: Callable[[], Any]) -> Ready:
    def check() -> str:
        run()
        made = out()
        if peer == OURS and find("cryptography").version is not None:
            return _opened_in_pieces(workspace, made)
        return opened(workspace, "aes-256-gcm", made, by_other_than=peer)

    return Ready(run, check)


def _opened_in_pieces(workspace: Workspace, sealed: bytes | bytearray) -> str:
    """Decrypts with ``cryptography`` in pieces, which takes messages of any length and little memory."""
    ciphers = require("cryptography.hazmat.primitives.ciphers")
    wire, plain = memoryview(sealed), memoryview(workspace.plain)
    tag = bytes(wire[workspace.size :])
    decryptor = ciphers.Cipher(ciphers.algorithms.AES256(KEY), ciphers.modes.GCM(NONCE, tag)).decryptor()
    for start in range(0, workspace.size, PIECE):
        end = min(start + PIECE, workspace.size)
        same(bytes(plain[start:end]), decryptor.update(wire[start:end]), "cryptography")
    try:
        decryptor.finalize()
    except Exception as error:
        raise WrongOutput(f"cryptography cannot open it: {error!r}") from error
    return "cryptography"


def _process(peer: str, style: str, workspace: Workspace) -> Ready:
    """Encrypts one message in a process of its own, whose peak the system reports."""
    if not sys.platform.startswith("linux"):
        raise Absent("no such program: only Linux reports the peak of a process in /proc")

    def peak() -> int:
        command = [sys.executable, "-c", _PROCESS, peer, style, str(workspace.size), KEY.hex(), NONCE.hex()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise WrongOutput(f"the process of {peer} failed: {done.stderr.strip()[-200:]}")
        return int(done.stdout)

    other = "cryptography" if peer == OURS else OURS
    return Ready(peak, lambda: other if find(other).version is not None else "", memory=peak)


_PROCESS = """
import sys
peer, style, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
key, nonce = bytes.fromhex(sys.argv[4]), bytes.fromhex(sys.argv[5])
if peer == "sealane":
    import sealane
    aead = sealane.Aead("aes-256-gcm", key)
else:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    aead = AESGCM(key)
if style == "in place":
    place = bytearray(b"m") * (size + 16)
    aead.encrypt_into(nonce, memoryview(place)[:size], None, place)
    made = place
else:
    plain = b"m" * size
    if style == "into":
        made = bytearray(size + 16)
        aead.encrypt_into(nonce, plain, None, made)
    else:
        made = aead.encrypt(nonce, plain, None)
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
# Another library checks the tag after the peak was read.
if peer == "sealane":
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        pass
    else:
        wire = memoryview(made)
        other = Cipher(algorithms.AES256(key), modes.GCM(nonce, bytes(wire[size:]))).decryptor()
        for start in range(0, size, 16 << 20):
            piece = other.update(wire[start : min(start + (16 << 20), size)])
            assert piece == b"m" * len(piece)
        other.finalize()
else:
    import sealane
    assert sealane.Aead("aes-256-gcm", key).decrypt(nonce, made, None) == b"m" * size
print(peak << 10)
"""


def findings(samples: Sequence[Sample]) -> list[str]:
    """Returns where the cost of a byte is lowest, how flat it is, and the memory at the largest size."""
    lines = []
    for contender in contenders_of(s for s in samples if s.task == TIME and s.peer != LIMIT):
        mine = [s for s in samples if s.task == TIME and s.contender == contender]
        lowest = min(mine, key=lambda sample: sample.median / sample.size)
        text = f"{contender}: a byte costs least at {size_text(lowest.size)}, {cost_text(lowest)}"
        if long := [s for s in mine if s.size >= FLAT]:
            costs = [s.median / s.size for s in long]
            ratio, last = times_text(max(costs) / min(costs)), long[-1]
            text += f"; from {size_text(FLAT)} on it differs by {ratio}, and is {cost_text(last)} at "
            text += size_text(last.size)
        lines.append(f"{text}.")
    for contender in contenders_of(s for s in samples if s.task == MEMORY):
        largest = max(
            (s for s in samples if s.task == MEMORY and s.contender == contender), key=lambda s: s.size
        )
        times = times_text(largest.median / largest.size)
        lines.append(
            f"{contender}: a process that encrypts {size_text(largest.size)} takes "
            f"{memory_text(largest.median)}, {times} the message."
        )
    return lines


EXPERIMENT = Experiment(
    name="growth",
    title="Growth",
    about="AES-256-GCM from Python: the cost of a byte by message size, from 16 B to the longest that the "
    "memory allows, from one buffer to another with one thread and with all, and to new bytes. And the peak "
    "memory of a process that encrypts one message, with its buffers.",
    cells=cells,
    contenders=contenders,
    plots=(
        Plot("Cost of a byte", (TIME,), "cost"),
        Plot("Memory of one message", (MEMORY,), "memory", undrawn=SAME_MEMORY),
    ),
    budget={"full": 60, "quick": 3, "tiny": 0.2},
    findings=findings,
    # The message, its ciphertext, and one of the calls that return new bytes.
    memory=3,
    rounds={"full": (3, 101), "quick": (3, 31), "tiny": (2, 2)},
)
