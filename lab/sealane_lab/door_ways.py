"""REncrypt's three calls, as its tables have them, by sealane's door for its users.

The packages of REncrypt that can be installed no longer have the third, which returns new bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sealane.compat.rencrypt import Cipher, REncrypt

from sealane_lab.model import OURS, Ready, Room, Row, Wrong
from sealane_lab.peers import here, need
from sealane_lab.referee import KEY, Bytes, same
from sealane_lab.timing import Work

INDEX, AAD = 42, b"AAD"

WAYS = tuple(f"sealane REncrypt {how}" for how in ("in place", "into", "new bytes"))


def rows() -> list[Row]:
    """The tasks ``encrypt`` and ``decrypt``."""
    tasks = {"encrypt": (_in_place, _into, _new), "decrypt": (_open_in_place, _open_into, _open_new)}
    return [
        Row(OURS, way, task, prepare)
        for task, all_three in tasks.items()
        for way, prepare in zip(WAYS, all_three, strict=True)
    ]


def _door() -> REncrypt:
    return REncrypt(Cipher.AES256GCM, KEY)


def _place(room: Room) -> bytearray:
    """One for all three, and for both directions."""
    place: bytearray = room.once("door", lambda: bytearray(room.size + 28))
    return place


def _wire(room: Room) -> bytes:
    made: bytes = room.once("door wire", lambda: bytes(_door().encrypt_from(room.plain, INDEX, AAD)))
    return made


def _confirmed(room: Room, wire: Bytes) -> str:
    """Who opened it; "" if nobody else here can."""
    for name, open_ in (("rencrypt", _rencrypt), ("cryptography", _cryptography)):
        if here(name).version is not None:
            try:
                plain = open_(wire)
            except Exception as error:
                raise Wrong(f"{name} cannot open it: {error}") from error
            return same(room.plain, plain, name)
    same(room.plain, _door().decrypt_from(wire, INDEX, AAD), "the door")  # Better than nothing.
    return ""


def _rencrypt(wire: Bytes) -> Any:
    of, place = need("rencrypt"), bytearray(wire)
    cipher = of.Cipher(of.CipherMeta.Ring(of.RingAlgorithm.Aes256Gcm), bytearray(KEY))
    length: int = cipher.open_in_place(place, len(place), INDEX, AAD)
    return memoryview(place)[:length].toreadonly()


def _cryptography(wire: Bytes) -> Any:
    aead = need("cryptography.hazmat.primitives.ciphers.aead").AESGCM(KEY)
    return aead.decrypt(wire[-12:], wire[:-12], AAD + INDEX.to_bytes(8, "little"))


def _seals(room: Room, run: Work, wire: Callable[[], Bytes]) -> Ready:
    return Ready(run, lambda: _confirmed(room, wire()))


def _opens(room: Room, run: Work, out: Callable[[], Bytes], reset: Work | None = None) -> Ready:
    """``out`` opens once and tells the message."""

    def check() -> str:
        same(room.plain, out(), "who opens")
        return _confirmed(room, _wire(room))

    return Ready(run, check, reset)


def _in_place(room: Room) -> Ready:
    encrypt, place, size = _door().encrypt, _place(room), room.size

    def wire() -> bytearray:
        place[:size] = room.plain
        encrypt(place, size, INDEX, AAD)
        return place

    return _seals(room, lambda: encrypt(place, size, INDEX, AAD), wire)


def _into(room: Room) -> Ready:
    encrypt, place, plain = _door().encrypt_into_buf, _place(room), room.plain

    def wire() -> bytearray:
        encrypt(plain, place, INDEX, AAD)
        return place

    return _seals(room, lambda: encrypt(plain, place, INDEX, AAD), wire)


def _new(room: Room) -> Ready:
    encrypt, plain = _door().encrypt_from, room.plain
    return _seals(room, lambda: encrypt(plain, INDEX, AAD), lambda: encrypt(plain, INDEX, AAD))


def _open_in_place(room: Room) -> Ready:
    decrypt, place, wire = _door().decrypt, _place(room), _wire(room)
    whole = len(wire)

    def reset() -> None:
        place[:] = wire

    def out() -> bytearray:
        reset()
        return place[: decrypt(place, whole, INDEX, AAD)]

    return _opens(room, lambda: decrypt(place, whole, INDEX, AAD), out, reset)


def _open_into(room: Room) -> Ready:
    decrypt, place, wire = _door().decrypt_into_buf, _place(room), _wire(room)

    def out() -> bytearray:
        return place[: decrypt(wire, place, INDEX, AAD)]

    return _opens(room, lambda: decrypt(wire, place, INDEX, AAD), out)


def _open_new(room: Room) -> Ready:
    decrypt, wire = _door().decrypt_from, _wire(room)
    run: Callable[[], Any] = lambda: decrypt(wire, INDEX, AAD)  # noqa: E731
    return _opens(room, run, run)
