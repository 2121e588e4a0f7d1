"""How each library seals and opens one message with AES-GCM: the rows that several experiments share.

Three ways to call, as REncrypt's README has them: ``in place`` (the message lies where its ciphertext goes),
``into`` (from one buffer to another), ``new bytes``. With a key that is ready where the library has such a
thing; PyFLocker, pycryptodome and PyNaCl take the key with every message.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sealane

from sealane_lab.model import OURS, Ready, Room, Row
from sealane_lab.peers import need
from sealane_lab.referee import NONCE, Bytes, key_of, opened, same, sealed
from sealane_lab.timing import Work

Prepare = Callable[[Room, str], Ready]


@dataclass(frozen=True)
class Way:
    peer: str
    how: str
    encrypt: Prepare
    decrypt: Prepare
    algorithms: tuple[str, ...] = ("aes-128-gcm", "aes-192-gcm", "aes-256-gcm")
    largest: int | None = None

    @property
    def name(self) -> str:
        return f"{self.peer} {self.how}"


def rows(algorithm: str, *hows: str, peers: tuple[str, ...] | None = None) -> list[Row]:
    """The tasks ``encrypt`` and ``decrypt``, in the ways named, by all peers or those named."""

    def bound(prepare: Prepare) -> Callable[[Room], Ready]:
        return lambda room: prepare(room, algorithm)

    return [
        Row(way.peer, way.name, task, bound(prepare), way.largest)
        for way in WAYS
        if algorithm in way.algorithms and way.how in hows and (peers is None or way.peer in peers)
        for task, prepare in (("encrypt", way.encrypt), ("decrypt", way.decrypt))
    ]


def _seals(room: Room, peer: str, algorithm: str, run: Work, out: Callable[[], tuple[Bytes, Bytes]]) -> Ready:
    """``out`` tells nonce, and ciphertext with tag, after a run."""

    def check() -> str:
        run()
        nonce, wire = out()
        return opened(room, algorithm, wire, by_other_than=peer, nonce=nonce)

    return Ready(run, check)


def _opens(
    room: Room, run: Work, out: Callable[[], Bytes], reset: Work | None = None, by: str = OURS
) -> Ready:
    """``out`` tells the message after a run; its ciphertext was made by ``by``."""

    def check() -> str:
        if reset is not None:
            reset()
        run()
        same(room.plain, out(), "who opens")
        return by

    return Ready(run, check, reset)


# ---- sealane. What it opens was sealed by another library, if there is one.


def _foreign(room: Room, algorithm: str) -> tuple[bytes, str]:
    def make() -> tuple[bytes, str]:
        # Equal to what another library seals, or that one could not open it.
        ours = sealed(room, algorithm)
        return ours, opened(room, algorithm, ours, by_other_than=OURS)

    made: tuple[bytes, str] = room.once(("foreign", algorithm), make)
    return made


def _sealane_in_place(room: Room, algorithm: str) -> Ready:
    buffer = sealane.Aead(algorithm, key_of(algorithm)).buffer(room.size)
    buffer.plaintext[:] = room.plain
    size, seal = room.size, buffer.seal

    def out() -> tuple[bytes, bytes]:
        buffer.plaintext[:] = room.plain
        wire = bytes(seal(size))
        return wire[:12], wire[12:]

    # Timed over its own ciphertext, again and again: the same work, and nothing to refill.
    return _seals(room, OURS, algorithm, lambda: seal(size), out)


def _sealane_open_in_place(room: Room, algorithm: str) -> Ready:
    decrypt = sealane.Aead(algorithm, key_of(algorithm)).decrypt_into
    wire, by = _foreign(room, algorithm)
    place, size = bytearray(wire), room.size

    def reset() -> None:
        place[:] = wire

    return _opens(room, lambda: decrypt(NONCE, place, None, place), lambda: place[:size], reset, by)


def _sealane_into(room: Room, algorithm: str) -> Ready:
    encrypt = sealane.Aead(algorithm, key_of(algorithm)).encrypt_into
    plain, out = room.plain, room.out
    return _seals(room, OURS, algorithm, lambda: encrypt(NONCE, plain, None, out), lambda: (NONCE, out))


def _sealane_open_into(room: Room, algorithm: str) -> Ready:
    decrypt = sealane.Aead(algorithm, key_of(algorithm)).decrypt_into
    (wire, by), out = _foreign(room, algorithm), room.back
    return _opens(room, lambda: decrypt(NONCE, wire, None, out), lambda: out, by=by)


def _sealane_new(room: Room, algorithm: str) -> Ready:
    encrypt, plain = sealane.Aead(algorithm, key_of(algorithm)).encrypt, room.plain
    return _seals(
        room, OURS, algorithm, lambda: encrypt(NONCE, plain, None), lambda: (NONCE, encrypt(NONCE, plain))
    )


def _sealane_open_new(room: Room, algorithm: str) -> Ready:
    decrypt = sealane.Aead(algorithm, key_of(algorithm)).decrypt
    wire, by = _foreign(room, algorithm)
    return _opens(room, lambda: decrypt(NONCE, wire, None), lambda: decrypt(NONCE, wire), by=by)


# ---- cryptography


def _aesgcm(algorithm: str) -> Any:
    return need("cryptography.hazmat.primitives.ciphers.aead").AESGCM(key_of(algorithm))


def _cryptography_into(room: Room, algorithm: str) -> Ready:
    encrypt, plain, out = _aesgcm(algorithm).encrypt_into, room.plain, room.out
    run: Callable[[], Any] = lambda: encrypt(NONCE, plain, None, out)  # noqa: E731 - called a million times: no frame more
    return _seals(room, "cryptography", algorithm, run, lambda: (NONCE, out))


def _cryptography_open_into(room: Room, algorithm: str) -> Ready:
    decrypt = _aesgcm(algorithm).decrypt_into
    wire, out = sealed(room, algorithm), room.back
    return _opens(room, lambda: decrypt(NONCE, wire, None, out), lambda: out)


def _cryptography_new(room: Room, algorithm: str) -> Ready:
    encrypt, plain = _aesgcm(algorithm).encrypt, room.plain
    return _seals(
        room,
        "cryptography",
        algorithm,
        lambda: encrypt(NONCE, plain, None),
        lambda: (NONCE, encrypt(NONCE, plain, None)),
    )


def _cryptography_open_new(room: Room, algorithm: str) -> Ready:
    decrypt, wire = _aesgcm(algorithm).decrypt, sealed(room, algorithm)
    return _opens(room, lambda: decrypt(NONCE, wire, None), lambda: decrypt(NONCE, wire, None))


# ---- PyFLocker, with its faster backend


def _pyflocker(algorithm: str, encrypting: bool) -> Callable[[], Any]:
    ciphers = need("pyflocker.ciphers")
    new, backend, key = ciphers.AES.new, ciphers.Backends.CRYPTOGRAPHY, key_of(algorithm)
    gcm = need("pyflocker.ciphers.modes").Modes.MODE_GCM
    return lambda: new(encrypting, key, gcm, NONCE, backend=backend)


def _pyflocker_into(room: Room, algorithm: str) -> Ready:
    new, plain, size = _pyflocker(algorithm, True), room.plain, room.size
    # Its backend wants room for a block more than it writes.
    target = room.once("pyflocker", lambda: bytearray(room.size + 16))
    tags: list[bytes] = [b""]

    def run() -> None:
        cipher = new()
        cipher.update_into(plain, target)
        cipher.finalize()
        tags[0] = cipher.calculate_tag()

    return _seals(room, "PyFLocker", algorithm, run, lambda: (NONCE, target[:size] + tags[0]))


def _pyflocker_open_into(room: Room, algorithm: str) -> Ready:
    new, size, wire = _pyflocker(algorithm, False), room.size, memoryview(sealed(room, algorithm))
    text, tag = wire[:size], bytes(wire[size:])
    target = room.once("pyflocker", lambda: bytearray(room.size + 16))

    def run() -> None:
        cipher = new()
        cipher.update_into(text, target)
        cipher.finalize(tag)

    return _opens(room, run, lambda: target[:size])


def _pyflocker_new(room: Room, algorithm: str) -> Ready:
    new, plain = _pyflocker(algorithm, True), room.plain
    parts: list[bytes] = []

    def run() -> bytes:
        cipher = new()
        text: bytes = cipher.update(plain)
        cipher.finalize()
        parts[:] = [cipher.calculate_tag()]
        return text

    return _seals(room, "PyFLocker", algorithm, run, lambda: (NONCE, run() + parts[0]))


def _pyflocker_open_new(room: Room, algorithm: str) -> Ready:
    new, size, wire = _pyflocker(algorithm, False), room.size, memoryview(sealed(room, algorithm))
    text, tag = wire[:size], bytes(wire[size:])

    def run() -> bytes:
        cipher = new()
        plain: bytes = cipher.update(text)
        cipher.finalize(tag)
        return plain

    return _opens(room, run, run)


# ---- pycryptodome


def _pycryptodome_into(room: Room, algorithm: str) -> Ready:
    aes, key, plain, size = need("Crypto.Cipher.AES"), key_of(algorithm), room.plain, room.size
    new, gcm, out = aes.new, aes.MODE_GCM, room.out
    target, tags = memoryview(out)[:size], [b""]

    def run() -> None:
        _, tags[0] = new(key, gcm, nonce=NONCE).encrypt_and_digest(plain, output=target)

    return _seals(room, "pycryptodome", algorithm, run, lambda: (NONCE, out[:size] + tags[0]))


def _pycryptodome_open_into(room: Room, algorithm: str) -> Ready:
    aes, key, wire, size = need("Crypto.Cipher.AES"), key_of(algorithm), sealed(room, algorithm), room.size
    new, gcm, out = aes.new, aes.MODE_GCM, room.back
    text, tag = memoryview(wire)[:size], wire[size:]
    run: Callable[[], Any] = lambda: new(key, gcm, nonce=NONCE).decrypt_and_verify(text, tag, output=out)  # noqa: E731
    return _opens(room, run, lambda: out)


def _pycryptodome_new(room: Room, algorithm: str) -> Ready:
    aes, key, plain = need("Crypto.Cipher.AES"), key_of(algorithm), room.plain
    new, gcm = aes.new, aes.MODE_GCM
    run: Callable[[], Any] = lambda: new(key, gcm, nonce=NONCE).encrypt_and_digest(plain)  # noqa: E731
    return _seals(room, "pycryptodome", algorithm, run, lambda: (NONCE, b"".join(run())))


def _pycryptodome_open_new(room: Room, algorithm: str) -> Ready:
    aes, key, wire, size = need("Crypto.Cipher.AES"), key_of(algorithm), sealed(room, algorithm), room.size
    new, gcm, text, tag = aes.new, aes.MODE_GCM, memoryview(wire)[:size], wire[size:]
    run: Callable[[], Any] = lambda: new(key, gcm, nonce=NONCE).decrypt_and_verify(text, tag)  # noqa: E731
    return _opens(room, run, run)


# ---- rencrypt: ciphertext || tag || nonce


def _rencrypt(algorithm: str) -> Any:
    of = need("rencrypt")
    name = {"aes-128-gcm": "Aes128Gcm", "aes-256-gcm": "Aes256Gcm"}[algorithm]
    meta = of.CipherMeta.Ring(getattr(of.RingAlgorithm, name))
    return of.Cipher(meta, bytearray(key_of(algorithm)))  # It wipes the key that it is given.


def _rencrypt_in_place(room: Room, algorithm: str) -> Ready:
    seal, size, plain = _rencrypt(algorithm).seal_in_place, room.size, room.plain
    place = room.once("rencrypt", lambda: bytearray(room.size + 28))

    def out() -> tuple[Bytes, Bytes]:
        place[:size] = plain
        seal(place, size)
        return place[-12:], place[:-12]

    return _seals(room, "rencrypt", algorithm, lambda: seal(place, size), out)


def _rencrypt_open_in_place(room: Room, algorithm: str) -> Ready:
    open_, size = _rencrypt(algorithm).open_in_place, room.size
    wire = room.once("rencrypt wire", lambda: sealed(room, algorithm) + NONCE)
    place, whole = room.once("rencrypt", lambda: bytearray(room.size + 28)), len(wire)

    def reset() -> None:
        place[:] = wire

    return _opens(room, lambda: open_(place, whole), lambda: place[:size], reset)


def _rencrypt_into(room: Room, algorithm: str) -> Ready:
    seal, plain = _rencrypt(algorithm).seal_in_place_from, room.plain
    place = room.once("rencrypt", lambda: bytearray(room.size + 28))
    return _seals(room, "rencrypt", algorithm, lambda: seal(plain, place), lambda: (place[-12:], place[:-12]))


def _rencrypt_open_into(room: Room, algorithm: str) -> Ready:
    open_, size = _rencrypt(algorithm).open_in_place_from, room.size
    wire = room.once("rencrypt wire", lambda: sealed(room, algorithm) + NONCE)
    place = room.once("rencrypt", lambda: bytearray(room.size + 28))
    return _opens(room, lambda: open_(wire, place), lambda: place[:size])


# ---- tink: nonce || ciphertext || tag


def _tink(algorithm: str) -> Any:
    tink, aead = need("tink"), need("tink.aead")
    token = need("tink.secret_key_access").TOKEN
    aead.register()
    key = key_of(algorithm)
    one = {
        "keyData": {
            "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmKey",
            # A message of protocol buffers whose field 3 is the key.
            "value": base64.b64encode(bytes([0x1A, len(key)]) + key).decode(),
            "keyMaterialType": "SYMMETRIC",
        },
        "status": "ENABLED",
        "keyId": 1,
        "outputPrefixType": "RAW",
    }
    text = json.dumps({"primaryKeyId": 1, "key": [one]})
    return tink.json_proto_keyset_format.parse(text, token).primitive(aead.Aead)


def _tink_new(room: Room, algorithm: str) -> Ready:
    encrypt, plain = _tink(algorithm).encrypt, room.plain

    def out() -> tuple[bytes, bytes]:
        wire = encrypt(plain, b"")
        return wire[:12], wire[12:]

    return _seals(room, "tink", algorithm, lambda: encrypt(plain, b""), out)


def _tink_open_new(room: Room, algorithm: str) -> Ready:
    decrypt, wire = _tink(algorithm).decrypt, NONCE + sealed(room, algorithm)
    return _opens(room, lambda: decrypt(wire, b""), lambda: decrypt(wire, b""))


# ---- PyNaCl


def _pynacl_new(room: Room, algorithm: str) -> Ready:
    encrypt, key, plain = need("nacl.bindings").crypto_aead_aes256gcm_encrypt, key_of(algorithm), room.plain
    run: Callable[[], Any] = lambda: encrypt(plain, b"", NONCE, key)  # noqa: E731
    return _seals(room, "PyNaCl", algorithm, run, lambda: (NONCE, run()))


def _pynacl_open_new(room: Room, algorithm: str) -> Ready:
    decrypt, key = need("nacl.bindings").crypto_aead_aes256gcm_decrypt, key_of(algorithm)
    wire = sealed(room, algorithm)
    run: Callable[[], Any] = lambda: decrypt(wire, b"", NONCE, key)  # noqa: E731
    return _opens(room, run, run)


_ONE, _TWO = ("aes-256-gcm",), ("aes-128-gcm", "aes-256-gcm")

WAYS: tuple[Way, ...] = (
    Way(OURS, "in place", _sealane_in_place, _sealane_open_in_place),
    Way(OURS, "into", _sealane_into, _sealane_open_into),
    Way(OURS, "new bytes", _sealane_new, _sealane_open_new),
    Way("cryptography", "into", _cryptography_into, _cryptography_open_into),
    Way("cryptography", "new bytes", _cryptography_new, _cryptography_open_new),
    Way("PyFLocker", "into", _pyflocker_into, _pyflocker_open_into),
    Way("PyFLocker", "new bytes", _pyflocker_new, _pyflocker_open_new),
    Way("rencrypt", "in place", _rencrypt_in_place, _rencrypt_open_in_place, _TWO),
    Way("rencrypt", "into", _rencrypt_into, _rencrypt_open_into, _TWO),
    Way("pycryptodome", "into", _pycryptodome_into, _pycryptodome_open_into),
    Way("pycryptodome", "new bytes", _pycryptodome_new, _pycryptodome_open_new),
    Way("tink", "new bytes", _tink_new, _tink_open_new, _TWO),
    Way("PyNaCl", "new bytes", _pynacl_new, _pynacl_open_new, _ONE),
)
