"""The table of aesctrat: AES-CTR at any offset, compared with the stream and the GCM of Go's standard
library.

Its columns were std.CTR with 8 KiB, std.GCM with 1350 bytes, and its own code with 32 MiB, slow and fast,
with a key of 128 bits. Here every column has every size. The stream starts at offset 5, inside a block.
Another task reads at distant offsets, which is the purpose of aesctrat.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import sealane

from sealane_lab import aead_contenders, machine, variant_contenders
from sealane_lab.model import OURS, Absent, Cell, Contender, Experiment, Plot, Ready, Scale, Workspace
from sealane_lab.peers import find, require
from sealane_lab.referee import KEY, same
from sealane_lab.timing import Work

IV = bytes(range(16))
OFFSET = 5
PLACE = 4096
STREAMS = {"AES-128-CTR": 16, "AES-192-CTR": 24, "AES-256-CTR": 32}
SEEK = "4 KiB from anywhere"
COLUMNS = "AES-128-CTR by instruction set"
"""The table itself: the portable variant is its slow column, the chosen variant its fast one."""

SIZES: dict[Scale, list[int]] = {
    "full": [1350, *(1 << shift for shift in (10, 13, 16, 20, 25, 28))],
    "quick": [1 << shift for shift in (10, 13, 16, 20, 23)],
    "tiny": [1 << 10],
}

COLUMN_SIZES: dict[Scale, list[int]] = {
    "full": [1350, 8 << 10, 32 << 20],
    "quick": [8 << 10, 4 << 20],
    "tiny": [1350],
}


def cells(scale: Scale) -> list[Cell]:
    streams = [Cell(task, size) for size in SIZES[scale] for task in STREAMS]
    return [*streams, Cell(SEEK, PLACE), *(Cell(COLUMNS, size) for size in COLUMN_SIZES[scale])]


def contenders() -> list[Contender]:
    lengths = {**STREAMS, COLUMNS: 16}
    found = [
        Contender(peer, name, task, partial(prepare, key_len))
        for task, key_len in lengths.items()
        for (peer, name), prepare in STREAM_CONTENDERS.items()
    ]
    found += [Contender(peer, peer, SEEK, prepare) for peer, prepare in SEEK_CONTENDERS.items()]
    found += variant_contenders.contenders({variant_contenders.AES_CTR: COLUMNS})
    for task, key_len in lengths.items():
        gcm = aead_contenders.contenders(f"aes-{key_len * 8}-gcm", "into", peers=(OURS,))
        found += [Contender(OURS, "sealane GCM", task, one.prepare) for one in gcm if one.task == "encrypt"]
        found += machine.aes_limits(task, key_len=key_len)
    return [*found, *machine.memory_limits(*lengths)]


def _from(key: bytes, offset: int, data: bytes) -> tuple[str, bytes]:
    """Returns "cryptography" and its ciphertext at an offset; "" and b"" if it is not installed."""
    if find("cryptography").version is None:
        return "", b""
    ciphers = require("cryptography.hazmat.primitives.ciphers")
    block, skip = divmod(offset, 16)
    counter = ((int.from_bytes(IV, "big") + block) % (1 << 128)).to_bytes(16, "big")
    stream = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CTR(counter)).encryptor()
    stream.update(bytes(skip))
    return "cryptography", stream.update(data)


def _ready(run: Work, key: bytes, offset: int, peer: str, data: bytes, out: Callable[[], bytes]) -> Ready:
    def check() -> str:
        if peer == OURS:
            library, text = _from(key, offset, data)
            return same(text, out(), library) if library else ""
        return same(sealane.hazmat.AesCtr(key, IV).xor_at(offset, data), out(), OURS)

    return Ready(run, check)


def _ours_into(key_len: int, workspace: Workspace) -> Ready:
    key, plain, out = KEY[:key_len], workspace.plain, workspace.back
    cipher = sealane.hazmat.AesCtr(key, IV)
    xor = cipher.xor_into
    return _ready(
        lambda: xor(OFFSET, plain, out), key, OFFSET, OURS, plain, lambda: cipher.xor_at(OFFSET, plain)
    )


def _ours_in_place(key_len: int, workspace: Workspace) -> Ready:
    key, plain = KEY[:key_len], workspace.plain
    cipher = sealane.hazmat.AesCtr(key, IV)
    xor, place = cipher.xor_in_place, bytearray(plain)

    def out() -> bytes:
        fresh = bytearray(plain)
        xor(OFFSET, fresh)
        return bytes(fresh)

    return _ready(lambda: xor(OFFSET, place), key, OFFSET, OURS, plain, out)


def _cryptography(key_len: int, workspace: Workspace) -> Ready:
    """The stream continues from call to call, because moving it to offset 5 would take an extra call."""
    key, plain, out = KEY[:key_len], workspace.plain, workspace.out
    ciphers = require("cryptography.hazmat.primitives.ciphers")
    cipher = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CTR(IV))
    update = cipher.encryptor().update_into
    return _ready(
        lambda: update(plain, out), key, 0, "cryptography", plain, lambda: cipher.encryptor().update(plain)
    )


def _pycryptodome(key_len: int, workspace: Workspace) -> Ready:
    key, plain, out = KEY[:key_len], workspace.plain, workspace.back
    aes = require("Crypto.Cipher.AES")
    new = partial(aes.new, key, aes.MODE_CTR, nonce=b"", initial_value=IV)
    encrypt = new().encrypt
    return _ready(
        lambda: encrypt(plain, output=out), key, 0, "pycryptodome", plain, lambda: new().encrypt(plain)
    )


STREAM_CONTENDERS: dict[tuple[str, str], Callable[[int, Workspace], Ready]] = {
    (OURS, "sealane into"): _ours_into,
    (OURS, "sealane in place"): _ours_in_place,
    ("cryptography", "cryptography into"): _cryptography,
    ("pycryptodome", "pycryptodome into"): _pycryptodome,
}


# ---- another offset in each call, never the start of a block

_PLACES = [n * 1_000_003 + 7 for n in range(1000)]


def _seek_ours(workspace: Workspace) -> Ready:
    plain, out = workspace.plain, workspace.back
    cipher, places = sealane.hazmat.AesCtr(KEY, IV), itertools.cycle(_PLACES)
    xor = cipher.xor_into
    first = _PLACES[0]
    return _ready(
        lambda: xor(next(places), plain, out), KEY, first, OURS, plain, lambda: cipher.xor_at(first, plain)
    )


def _seek_cryptography(workspace: Workspace) -> Ready:
    """Sets a new counter and discards the keystream before the offset in its block."""
    plain, out = workspace.plain, bytearray(workspace.size + 32)
    ciphers = require("cryptography.hazmat.primitives.ciphers")
    stream = ciphers.Cipher(ciphers.algorithms.AES(KEY), ciphers.modes.CTR(IV)).encryptor()
    places, start = itertools.cycle(_PLACES), int.from_bytes(IV, "big")
    if not hasattr(stream, "reset_nonce"):
        raise Absent("this version has no reset_nonce")

    def run(place: int | None = None) -> bytes:
        block, skip = divmod(next(places) if place is None else place, 16)
        stream.reset_nonce((start + block).to_bytes(16, "big"))
        stream.update(bytes(skip))
        stream.update_into(plain, out)
        return bytes(out[: len(plain)]) if place is not None else b""

    return _ready(run, KEY, _PLACES[0], "cryptography", plain, lambda: run(_PLACES[0]))


def _seek_pycryptodome(workspace: Workspace) -> Ready:
    plain, out, aes = workspace.plain, workspace.back, require("Crypto.Cipher.AES")
    places, start = itertools.cycle(_PLACES), int.from_bytes(IV, "big")

    def run(place: int | None = None) -> bytes:
        block, skip = divmod(next(places) if place is None else place, 16)
        stream = aes.new(KEY, aes.MODE_CTR, nonce=b"", initial_value=start + block)
        stream.encrypt(bytes(skip))
        stream.encrypt(plain, output=out)
        return bytes(out) if place is not None else b""

    return _ready(run, KEY, _PLACES[0], "pycryptodome", plain, lambda: run(_PLACES[0]))


SEEK_CONTENDERS: dict[str, Callable[[Workspace], Ready]] = {
    OURS: _seek_ours,
    "cryptography": _seek_cryptography,
    "pycryptodome": _seek_pycryptodome,
}

EXPERIMENT = Experiment(
    name="ctr",
    title="AES-CTR at any offset",
    about="The raw keystream, which detects no change, one thread. sealane starts at offset 5, inside a "
    "block; the others continue their stream. GCM, which detects changes, is shown for comparison.",
    cells=cells,
    contenders=contenders,
    plots=(
        Plot("Speed by size", tuple(STREAMS), "rate"),
        Plot("aesctrat's table", (COLUMNS,), "rate", over="contender"),
        Plot("A random offset", (SEEK,), "time", over="contender"),
    ),
    budget={"full": 150, "quick": 7, "tiny": 0.2},
)
