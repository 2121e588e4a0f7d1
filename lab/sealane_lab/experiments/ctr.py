"""aesctrat's table: AES-CTR from any place, beside the standard library's stream and GCM.

Its columns were std.CTR with 8 KiB, std.GCM with 1350 bytes, and its own with 32 MiB, slow and fast, with a
key of 128 bits. Here every column has every size. The stream begins at offset 5, where no block begins, and a
place somewhere far away is asked for as well: that is what it was made for.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import sealane

from sealane_lab import aead_ways, machine, variant_ways
from sealane_lab.model import OURS, Absent, Cell, Experiment, Plot, Ready, Room, Row, Scale
from sealane_lab.peers import here, need
from sealane_lab.referee import KEY, same
from sealane_lab.timing import Work

IV = bytes(range(16))
OFFSET = 5
PLACE = 4096
STREAMS = {"AES-128-CTR": 16, "AES-192-CTR": 24, "AES-256-CTR": 32}
SEEK = "4 KiB from anywhere"
COLUMNS = "AES-128-CTR by instruction set"
"""The table itself: the portable variant is its slow column, the chosen one its fast."""

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


def rows() -> list[Row]:
    lengths = {**STREAMS, COLUMNS: 16}
    found = [
        Row(peer, way, task, partial(prepare, key_len))
        for task, key_len in lengths.items()
        for (peer, way), prepare in WAYS.items()
    ]
    found += [Row(peer, peer, SEEK, prepare) for peer, prepare in SEEKS.items()]
    found += variant_ways.rows({variant_ways.AES_CTR: COLUMNS})
    for task, key_len in lengths.items():
        gcm = aead_ways.rows(f"aes-{key_len * 8}-gcm", "into", peers=(OURS,))
        found += [Row(OURS, "sealane GCM", task, row.prepare) for row in gcm if row.task == "encrypt"]
        found += machine.aes_limits(task, key_len=key_len)
    return [*found, *machine.memory_limits(*lengths)]


def _from(key: bytes, offset: int, data: bytes) -> tuple[str, bytes]:
    """The text at an offset by cryptography, "" and nothing if it is not here."""
    if here("cryptography").version is None:
        return "", b""
    ciphers = need("cryptography.hazmat.primitives.ciphers")
    block, skip = divmod(offset, 16)
    counter = ((int.from_bytes(IV, "big") + block) % (1 << 128)).to_bytes(16, "big")
    stream = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CTR(counter)).encryptor()
    stream.update(bytes(skip))
    return "cryptography", stream.update(data)


def _ready(run: Work, key: bytes, offset: int, peer: str, data: bytes, out: Callable[[], bytes]) -> Ready:
    def check() -> str:
        if peer == OURS:
            who, text = _from(key, offset, data)
            return same(text, out(), who) if who else ""
        return same(sealane.hazmat.AesCtr(key, IV).xor_at(offset, data), out(), OURS)

    return Ready(run, check)


def _ours_into(key_len: int, room: Room) -> Ready:
    key, plain, out = KEY[:key_len], room.plain, room.back
    cipher = sealane.hazmat.AesCtr(key, IV)
    xor = cipher.xor_into
    return _ready(
        lambda: xor(OFFSET, plain, out), key, OFFSET, OURS, plain, lambda: cipher.xor_at(OFFSET, plain)
    )


def _ours_in_place(key_len: int, room: Room) -> Ready:
    key, plain = KEY[:key_len], room.plain
    cipher = sealane.hazmat.AesCtr(key, IV)
    xor, place = cipher.xor_in_place, bytearray(plain)

    def out() -> bytes:
        fresh = bytearray(plain)
        xor(OFFSET, fresh)
        return bytes(fresh)

    return _ready(lambda: xor(OFFSET, place), key, OFFSET, OURS, plain, out)


def _cryptography(key_len: int, room: Room) -> Ready:
    """A stream that goes on: it need not be at offset 5, which it would first have to be brought to."""
    key, plain, out = KEY[:key_len], room.plain, room.out
    ciphers = need("cryptography.hazmat.primitives.ciphers")
    cipher = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CTR(IV))
    update = cipher.encryptor().update_into
    return _ready(
        lambda: update(plain, out), key, 0, "cryptography", plain, lambda: cipher.encryptor().update(plain)
    )


def _pycryptodome(key_len: int, room: Room) -> Ready:
    key, plain, out = KEY[:key_len], room.plain, room.back
    aes = need("Crypto.Cipher.AES")
    new = partial(aes.new, key, aes.MODE_CTR, nonce=b"", initial_value=IV)
    encrypt = new().encrypt
    return _ready(
        lambda: encrypt(plain, output=out), key, 0, "pycryptodome", plain, lambda: new().encrypt(plain)
    )


WAYS: dict[tuple[str, str], Callable[[int, Room], Ready]] = {
    (OURS, "sealane into"): _ours_into,
    (OURS, "sealane in place"): _ours_in_place,
    ("cryptography", "cryptography into"): _cryptography,
    ("pycryptodome", "pycryptodome into"): _pycryptodome,
}


# ---- a place: another one each time, and none where a block begins

_PLACES = [n * 1_000_003 + 7 for n in range(1000)]


def _seek_ours(room: Room) -> Ready:
    plain, out = room.plain, room.back
    cipher, places = sealane.hazmat.AesCtr(KEY, IV), itertools.cycle(_PLACES)
    xor = cipher.xor_into
    first = _PLACES[0]
    return _ready(
        lambda: xor(next(places), plain, out), KEY, first, OURS, plain, lambda: cipher.xor_at(first, plain)
    )


def _seek_cryptography(room: Room) -> Ready:
    """By a new counter, and the bytes before the place in its block thrown away."""
    plain, out = room.plain, bytearray(room.size + 32)
    ciphers = need("cryptography.hazmat.primitives.ciphers")
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


def _seek_pycryptodome(room: Room) -> Ready:
    plain, out, aes = room.plain, room.back, need("Crypto.Cipher.AES")
    places, start = itertools.cycle(_PLACES), int.from_bytes(IV, "big")

    def run(place: int | None = None) -> bytes:
        block, skip = divmod(next(places) if place is None else place, 16)
        stream = aes.new(KEY, aes.MODE_CTR, nonce=b"", initial_value=start + block)
        stream.encrypt(bytes(skip))
        stream.encrypt(plain, output=out)
        return bytes(out) if place is not None else b""

    return _ready(run, KEY, _PLACES[0], "pycryptodome", plain, lambda: run(_PLACES[0]))


SEEKS: dict[str, Callable[[Room], Ready]] = {
    OURS: _seek_ours,
    "cryptography": _seek_cryptography,
    "pycryptodome": _seek_pycryptodome,
}

EXPERIMENT = Experiment(
    name="ctr",
    title="AES-CTR from any place",
    about="The raw keystream, which finds no change, one thread. sealane begins at offset 5, inside a block; "
    "the others go on where they are. GCM, which does find changes, is beside it.",
    cells=cells,
    rows=rows,
    plots=(
        Plot("Speed by size", tuple(STREAMS), "rate"),
        Plot("aesctrat's table", (COLUMNS,), "rate", over="way"),
        Plot("A place", (SEEK,), "time", over="way"),
    ),
    budget={"full": 150, "quick": 7, "tiny": 0.2},
)
