"""The three calls of REncrypt's tables, by ``sealane.compat.rencrypt``.

The releases of REncrypt that can be installed lack the third call, which returns new bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sealane.compat.rencrypt import Cipher, REncrypt

from sealane_lab.model import OURS, Contender, Ready, Workspace, WrongOutput
from sealane_lab.peers import find, require
from sealane_lab.referee import KEY, Bytes, same
from sealane_lab.timing import Work

INDEX, AAD = 42, b"AAD"

NAMES = tuple(f"sealane REncrypt {how}" for how in ("in place", "into", "new bytes"))


def contenders() -> list[Contender]:
    """Returns the tasks ``encrypt`` and ``decrypt`` with all contenders of this comparison."""
    tasks = {"encrypt": (_in_place, _into, _new), "decrypt": (_open_in_place, _open_into, _open_new)}
    return [
        Contender(OURS, name, task, prepare)
        for task, all_three in tasks.items()
        for name, prepare in zip(NAMES, all_three, strict=True)
    ]


def _cipher() -> REncrypt:
    return REncrypt(Cipher.AES256GCM, KEY)


def _buffer(workspace: Workspace) -> bytearray:
    """Returns the buffer that all calls share."""
    buffer: bytearray = workspace.once("rencrypt call", lambda: bytearray(workspace.size + 28))
    return buffer


def _wire(workspace: Workspace) -> bytes:
    made: bytes = workspace.once(
        "rencrypt call wire", lambda: bytes(_cipher().encrypt_from(workspace.plain, INDEX, AAD))
    )
    return made


def _confirmed(workspace: Workspace, wire: Bytes) -> str:
    """Returns the library that decrypted the message, or "" if only sealane is installed."""
    for name, open_ in (("rencrypt", _rencrypt), ("cryptography", _cryptography)):
        if find(name).version is not None:
            try:
                plain = open_(wire)
            except Exception as error:
                raise WrongOutput(f"{name} cannot open it: {error}") from error
            return same(workspace.plain, plain, name)
    same(
        workspace.plain, _cipher().decrypt_from(wire, INDEX, AAD), "sealane"
    )  # Finds wrong output, but is no independent confirmation.
    return ""


def _rencrypt(wire: Bytes) -> Any:
    of, place = require("rencrypt"), bytearray(wire)
    cipher = of.Cipher(of.CipherMeta.Ring(of.RingAlgorithm.Aes256Gcm), bytearray(KEY))
    length: int = cipher.open_in_place(place, len(place), INDEX, AAD)
    return memoryview(place)[:length].toreadonly()


def _cryptography(wire: Bytes) -> Any:
    aead = require("cryptography.hazmat.primitives.ciphers.aead").AESGCM(KEY)
    return aead.decrypt(wire[-12:], wire[:-12], AAD + INDEX.to_bytes(8, "little"))


def _seals(workspace: Workspace, run: Work, wire: Callable[[], Bytes]) -> Ready:
    return Ready(run, lambda: _confirmed(workspace, wire()))


def _opens(workspace: Workspace, run: Work, out: Callable[[], Bytes], reset: Work | None = None) -> Ready:
    """Returns a contender of decryption. ``out`` decrypts once and returns the message."""

    def check() -> str:
        same(workspace.plain, out(), "the decryption")
        return _confirmed(workspace, _wire(workspace))

    return Ready(run, check, reset)


def _in_place(workspace: Workspace) -> Ready:
    encrypt, place, size = _cipher().encrypt, _buffer(workspace), workspace.size

    def wire() -> bytearray:
        place[:size] = workspace.plain
        encrypt(place, size, INDEX, AAD)
        return place

    return _seals(workspace, lambda: encrypt(place, size, INDEX, AAD), wire)


def _into(workspace: Workspace) -> Ready:
    encrypt, place, plain = _cipher().encrypt_into_buf, _buffer(workspace), workspace.plain

    def wire() -> bytearray:
        encrypt(plain, place, INDEX, AAD)
        return place

    return _seals(workspace, lambda: encrypt(plain, place, INDEX, AAD), wire)


def _new(workspace: Workspace) -> Ready:
    encrypt, plain = _cipher().encrypt_from, workspace.plain
    return _seals(workspace, lambda: encrypt(plain, INDEX, AAD), lambda: encrypt(plain, INDEX, AAD))


def _open_in_place(workspace: Workspace) -> Ready:
    decrypt, place, wire = _cipher().decrypt, _buffer(workspace), _wire(workspace)
    whole = len(wire)

    def reset() -> None:
        place[:] = wire

    def out() -> bytearray:
        reset()
        return place[: decrypt(place, whole, INDEX, AAD)]

    return _opens(workspace, lambda: decrypt(place, whole, INDEX, AAD), out, reset)


def _open_into(workspace: Workspace) -> Ready:
    decrypt, place, wire = _cipher().decrypt_into_buf, _buffer(workspace), _wire(workspace)

    def out() -> bytearray:
        return place[: decrypt(wire, place, INDEX, AAD)]

    return _opens(workspace, lambda: decrypt(wire, place, INDEX, AAD), out)


def _open_new(workspace: Workspace) -> Ready:
    decrypt, wire = _cipher().decrypt_from, _wire(workspace)
    run: Callable[[], Any] = lambda: decrypt(wire, INDEX, AAD)  # noqa: E731
    return _opens(workspace, run, run)
