"""Encryption and decryption of one message with AES-GCM by each library, shared by several experiments.

There are three calling styles, as in the README of REncrypt: ``in place`` (the ciphertext overwrites the
message), ``into`` (from one buffer to another) and ``new bytes``. The key object is reused where the library
has one; PyFLocker, pycryptodome and PyNaCl take the key with every message.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sealane

from sealane_lab.model import OURS, Contender, Ready, Workspace
from sealane_lab.peers import require
from sealane_lab.referee import NONCE, Bytes, key_of, opened, same, sealed
from sealane_lab.timing import Work

Prepare = Callable[[Workspace, str], Ready]


@dataclass(frozen=True)
class Implementation:
    """Encryption and decryption by one library in one calling style."""

    peer: str
    style: str
    encrypt: Prepare
    decrypt: Prepare
    algorithms: tuple[str, ...] = ("aes-128-gcm", "aes-192-gcm", "aes-256-gcm")
    largest: int | None = None

    @property
    def name(self) -> str:
        """The name of the contender, for example "cryptography into"."""
        return f"{self.peer} {self.style}"


def contenders(algorithm: str, *styles: str, peers: tuple[str, ...] | None = None) -> list[Contender]:
    """Returns the tasks ``encrypt`` and ``decrypt`` in these styles, by all peers or those named."""

    def bound(prepare: Prepare) -> Callable[[Workspace], Ready]:
        return lambda workspace: prepare(workspace, algorithm)

    return [
        Contender(implementation.peer, implementation.name, task, bound(prepare), implementation.largest)
        for implementation in IMPLEMENTATIONS
        if algorithm in implementation.algorithms
        and implementation.style in styles
        and (peers is None or implementation.peer in peers)
        for task, prepare in (("encrypt", implementation.encrypt), ("decrypt", implementation.decrypt))
    ]


def _seals(
    workspace: Workspace, peer: str, algorithm: str, run: Work, out: Callable[[], tuple[Bytes, Bytes]]
) -> Ready:
    """Returns a contender of encryption. ``out`` returns nonce, and ciphertext with tag, after a run."""

    def check() -> str:
        run()
        nonce, wire = out()
        return opened(workspace, algorithm, wire, by_other_than=peer, nonce=nonce)

    return Ready(run, check)


def _opens(
    workspace: Workspace, run: Work, out: Callable[[], Bytes], reset: Work | None = None, by: str = OURS
) -> Ready:
    """Returns a contender of decryption. ``out`` returns the message after a run; ``by`` encrypted it."""

    def check() -> str:
        if reset is not None:
            reset()
        run()
        same(workspace.plain, out(), "the decryption")
        return by

    return Ready(run, check, reset)


# ---- sealane. It decrypts what another library confirmed, if there is one.


def _foreign(workspace: Workspace, algorithm: str) -> tuple[bytes, str]:
    def make() -> tuple[bytes, str]:
        # Another library decrypts it, so it is equal to what that library would write.
        ours = sealed(workspace, algorithm)
        return ours, opened(workspace, algorithm, ours, by_other_than=OURS)

    made: tuple[bytes, str] = workspace.once(("foreign", algorithm), make)
    return made


def _sealane_in_place(workspace: Workspace, algorithm: str) -> Ready:
    buffer = sealane.Aead(algorithm, key_of(algorithm)).buffer(workspace.size)
    buffer.plaintext[:] = workspace.plain
    size, seal = workspace.size, buffer.seal

    def out() -> tuple[bytes, bytes]:
        buffer.plaintext[:] = workspace.plain
        wire = bytes(seal(size))
        return wire[:12], wire[12:]

    # Each timed call encrypts the ciphertext of the one before: the same work without a refill.
    return _seals(workspace, OURS, algorithm, lambda: seal(size), out)


def _sealane_open_in_place(workspace: Workspace, algorithm: str) -> Ready:
    decrypt = sealane.Aead(algorithm, key_of(algorithm)).decrypt_into
    wire, by = _foreign(workspace, algorithm)
    place, size = bytearray(wire), workspace.size

    def reset() -> None:
        place[:] = wire

    return _opens(workspace, lambda: decrypt(NONCE, place, None, place), lambda: place[:size], reset, by)


def _sealane_into(workspace: Workspace, algorithm: str) -> Ready:
    encrypt = sealane.Aead(algorithm, key_of(algorithm)).encrypt_into
    plain, out = workspace.plain, workspace.out
    return _seals(workspace, OURS, algorithm, lambda: encrypt(NONCE, plain, None, out), lambda: (NONCE, out))


def _sealane_open_into(workspace: Workspace, algorithm: str) -> Ready:
    decrypt = sealane.Aead(algorithm, key_of(algorithm)).decrypt_into
    (wire, by), out = _foreign(workspace, algorithm), workspace.back
    return _opens(workspace, lambda: decrypt(NONCE, wire, None, out), lambda: out, by=by)


def _sealane_new(workspace: Workspace, algorithm: str) -> Ready:
    encrypt, plain = sealane.Aead(algorithm, key_of(algorithm)).encrypt, workspace.plain
    return _seals(
        workspace,
        OURS,
        algorithm,
        lambda: encrypt(NONCE, plain, None),
        lambda: (NONCE, encrypt(NONCE, plain)),
    )


def _sealane_open_new(workspace: Workspace, algorithm: str) -> Ready:
    decrypt = sealane.Aead(algorithm, key_of(algorithm)).decrypt
    wire, by = _foreign(workspace, algorithm)
    return _opens(workspace, lambda: decrypt(NONCE, wire, None), lambda: decrypt(NONCE, wire), by=by)


# ---- cryptography


def _aesgcm(algorithm: str) -> Any:
    return require("cryptography.hazmat.primitives.ciphers.aead").AESGCM(key_of(algorithm))


def _cryptography_into(workspace: Workspace, algorithm: str) -> Ready:
    encrypt, plain, out = _aesgcm(algorithm).encrypt_into, workspace.plain, workspace.out
    run: Callable[[], Any] = lambda: encrypt(NONCE, plain, None, out)  # noqa: E731 - a lambda without a second frame
    return _seals(workspace, "cryptography", algorithm, run, lambda: (NONCE, out))


def _cryptography_open_into(workspace: Workspace, algorithm: str) -> Ready:
    decrypt = _aesgcm(algorithm).decrypt_into
    wire, out = sealed(workspace, algorithm), workspace.back
    return _opens(workspace, lambda: decrypt(NONCE, wire, None, out), lambda: out)


def _cryptography_new(workspace: Workspace, algorithm: str) -> Ready:
    encrypt, plain = _aesgcm(algorithm).encrypt, workspace.plain
    return _seals(
        workspace,
        "cryptography",
        algorithm,
        lambda: encrypt(NONCE, plain, None),
        lambda: (NONCE, encrypt(NONCE, plain, None)),
    )


def _cryptography_open_new(workspace: Workspace, algorithm: str) -> Ready:
    decrypt, wire = _aesgcm(algorithm).decrypt, sealed(workspace, algorithm)
    return _opens(workspace, lambda: decrypt(NONCE, wire, None), lambda: decrypt(NONCE, wire, None))


# ---- PyFLocker, with its faster backend


def _pyflocker(algorithm: str, encrypting: bool) -> Callable[[], Any]:
    ciphers = require("pyflocker.ciphers")
    new, backend, key = ciphers.AES.new, ciphers.Backends.CRYPTOGRAPHY, key_of(algorithm)
    gcm = require("pyflocker.ciphers.modes").Modes.MODE_GCM
    return lambda: new(encrypting, key, gcm, NONCE, backend=backend)


def _pyflocker_into(workspace: Workspace, algorithm: str) -> Ready:
    new, plain, size = _pyflocker(algorithm, True), workspace.plain, workspace.size
    # Its backend requires space for one block more than it writes.
    target = workspace.once("pyflocker", lambda: bytearray(workspace.size + 16))
    tags: list[bytes] = [b""]

    def run() -> None:
        cipher = new()
        cipher.update_into(plain, target)
        cipher.finalize()
        tags[0] = cipher.calculate_tag()

    return _seals(workspace, "PyFLocker", algorithm, run, lambda: (NONCE, target[:size] + tags[0]))


def _pyflocker_open_into(workspace: Workspace, algorithm: str) -> Ready:
    new, size, wire = _pyflocker(algorithm, False), workspace.size, memoryview(sealed(workspace, algorithm))
    text, tag = wire[:size], bytes(wire[size:])
    target = workspace.once("pyflocker", lambda: bytearray(workspace.size + 16))

    def run() -> None:
        cipher = new()
        cipher.update_into(text, target)
        cipher.finalize(tag)

    return _opens(workspace, run, lambda: target[:size])


def _pyflocker_new(workspace: Workspace, algorithm: str) -> Ready:
    new, plain = _pyflocker(algorithm, True), workspace.plain
    parts: list[bytes] = []

    def run() -> bytes:
        cipher = new()
        text: bytes = cipher.update(plain)
        cipher.finalize()
        parts[:] = [cipher.calculate_tag()]
        return text

    return _seals(workspace, "PyFLocker", algorithm, run, lambda: (NONCE, run() + parts[0]))


def _pyflocker_open_new(workspace: Workspace, algorithm: str) -> Ready:
    new, size, wire = _pyflocker(algorithm, False), workspace.size, memoryview(sealed(workspace, algorithm))
    text, tag = wire[:size], bytes(wire[size:])

    def run() -> bytes:
        cipher = new()
        plain: bytes = cipher.update(text)
        cipher.finalize(tag)
        return plain

    return _opens(workspace, run, run)


# ---- pycryptodome


def _pycryptodome_into(workspace: Workspace, algorithm: str) -> Ready:
    aes, key, plain, size = require("Crypto.Cipher.AES"), key_of(algorithm), workspace.plain, workspace.size
    new, gcm, out = aes.new, aes.MODE_GCM, workspace.out
    target, tags = memoryview(out)[:size], [b""]

    def run() -> None:
        _, tags[0] = new(key, gcm, nonce=NONCE).encrypt_and_digest(plain, output=target)

    return _seals(workspace, "pycryptodome", algorithm, run, lambda: (NONCE, out[:size] + tags[0]))


def _pycryptodome_open_into(workspace: Workspace, algorithm: str) -> Ready:
    aes, key, wire, size = (
        require("Crypto.Cipher.AES"),
        key_of(algorithm),
        sealed(workspace, algorithm),
        workspace.size,
    )
    new, gcm, out = aes.new, aes.MODE_GCM, workspace.back
    text, tag = memoryview(wire)[:size], wire[size:]
    run: Callable[[], Any] = lambda: new(key, gcm, nonce=NONCE).decrypt_and_verify(text, tag, output=out)  # noqa: E731
    return _opens(workspace, run, lambda: out)


def _pycryptodome_new(workspace: Workspace, algorithm: str) -> Ready:
    aes, key, plain = require("Crypto.Cipher.AES"), key_of(algorithm), workspace.plain
    new, gcm = aes.new, aes.MODE_GCM
    run: Callable[[], Any] = lambda: new(key, gcm, nonce=NONCE).encrypt_and_digest(plain)  # noqa: E731
    return _seals(workspace, "pycryptodome", algorithm, run, lambda: (NONCE, b"".join(run())))


def _pycryptodome_open_new(workspace: Workspace, algorithm: str) -> Ready:
    aes, key, wire, size = (
        require("Crypto.Cipher.AES"),
        key_of(algorithm),
        sealed(workspace, algorithm),
        workspace.size,
    )
    new, gcm, text, tag = aes.new, aes.MODE_GCM, memoryview(wire)[:size], wire[size:]
    run: Callable[[], Any] = lambda: new(key, gcm, nonce=NONCE).decrypt_and_verify(text, tag)  # noqa: E731
    return _opens(workspace, run, run)


# ---- rencrypt: ciphertext || tag || nonce


def _rencrypt(algorithm: str) -> Any:
    of = require("rencrypt")
    name = {"aes-128-gcm": "Aes128Gcm", "aes-256-gcm": "Aes256Gcm"}[algorithm]
    meta = of.CipherMeta.Ring(getattr(of.RingAlgorithm, name))
    return of.Cipher(meta, bytearray(key_of(algorithm)))  # The constructor erases the key that it is given.


def _rencrypt_in_place(workspace: Workspace, algorithm: str) -> Ready:
    seal, size, plain = _rencrypt(algorithm).seal_in_place, workspace.size, workspace.plain
    place = workspace.once("rencrypt", lambda: bytearray(workspace.size + 28))

    def out() -> tuple[Bytes, Bytes]:
        place[:size] = plain
        seal(place, size)
        return place[-12:], place[:-12]

    return _seals(workspace, "rencrypt", algorithm, lambda: seal(place, size), out)


def _rencrypt_open_in_place(workspace: Workspace, algorithm: str) -> Ready:
    open_, size = _rencrypt(algorithm).open_in_place, workspace.size
    wire = workspace.once("rencrypt wire", lambda: sealed(workspace, algorithm) + NONCE)
    place, whole = workspace.once("rencrypt", lambda: bytearray(workspace.size + 28)), len(wire)

    def reset() -> None:
        place[:] = wire

    return _opens(workspace, lambda: open_(place, whole), lambda: place[:size], reset)


def _rencrypt_into(workspace: Workspace, algorithm: str) -> Ready:
    seal, plain = _rencrypt(algorithm).seal_in_place_from, workspace.plain
    place = workspace.once("rencrypt", lambda: bytearray(workspace.size + 28))
    return _seals(
        workspace, "rencrypt", algorithm, lambda: seal(plain, place), lambda: (place[-12:], place[:-12])
    )


def _rencrypt_open_into(workspace: Workspace, algorithm: str) -> Ready:
    open_, size = _rencrypt(algorithm).open_in_place_from, workspace.size
    wire = workspace.once("rencrypt wire", lambda: sealed(workspace, algorithm) + NONCE)
    place = workspace.once("rencrypt", lambda: bytearray(workspace.size + 28))
    return _opens(workspace, lambda: open_(wire, place), lambda: place[:size])


# ---- tink: nonce || ciphertext || tag


def _tink(algorithm: str) -> Any:
    tink, aead = require("tink"), require("tink.aead")
    token = require("tink.secret_key_access").TOKEN
    aead.register()
    key = key_of(algorithm)
    one = {
        "keyData": {
            "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmKey",
            # A protobuf message whose field 3 is the key.
            "value": base64.b64encode(bytes([0x1A, len(key)]) + key).decode(),
            "keyMaterialType": "SYMMETRIC",
        },
        "status": "ENABLED",
        "keyId": 1,
        "outputPrefixType": "RAW",
    }
    text = json.dumps({"primaryKeyId": 1, "key": [one]})
    return tink.json_proto_keyset_format.parse(text, token).primitive(aead.Aead)


def _tink_new(workspace: Workspace, algorithm: str) -> Ready:
    encrypt, plain = _tink(algorithm).encrypt, workspace.plain

    def out() -> tuple[bytes, bytes]:
        wire = encrypt(plain, b"")
        return wire[:12], wire[12:]

    return _seals(workspace, "tink", algorithm, lambda: encrypt(plain, b""), out)


def _tink_open_new(workspace: Workspace, algorithm: str) -> Ready:
    decrypt, wire = _tink(algorithm).decrypt, NONCE + sealed(workspace, algorithm)
    return _opens(workspace, lambda: decrypt(wire, b""), lambda: decrypt(wire, b""))


# ---- PyNaCl


def _pynacl_new(workspace: Workspace, algorithm: str) -> Ready:
    encrypt, key, plain = (
        require("nacl.bindings").crypto_aead_aes256gcm_encrypt,
        key_of(algorithm),
        workspace.plain,
    )
    run: Callable[[], Any] = lambda: encrypt(plain, b"", NONCE, key)  # noqa: E731
    return _seals(workspace, "PyNaCl", algorithm, run, lambda: (NONCE, run()))


def _pynacl_open_new(workspace: Workspace, algorithm: str) -> Ready:
    decrypt, key = require("nacl.bindings").crypto_aead_aes256gcm_decrypt, key_of(algorithm)
    wire = sealed(workspace, algorithm)
    run: Callable[[], Any] = lambda: decrypt(wire, b"", NONCE, key)  # noqa: E731
    return _opens(workspace, run, run)


_ONE, _TWO = ("aes-256-gcm",), ("aes-128-gcm", "aes-256-gcm")

IMPLEMENTATIONS: tuple[Implementation, ...] = (
    Implementation(OURS, "in place", _sealane_in_place, _sealane_open_in_place),
    Implementation(OURS, "into", _sealane_into, _sealane_open_into),
    Implementation(OURS, "new bytes", _sealane_new, _sealane_open_new),
    Implementation("cryptography", "into", _cryptography_into, _cryptography_open_into),
    Implementation("cryptography", "new bytes", _cryptography_new, _cryptography_open_new),
    Implementation("PyFLocker", "into", _pyflocker_into, _pyflocker_open_into),
    Implementation("PyFLocker", "new bytes", _pyflocker_new, _pyflocker_open_new),
    Implementation("rencrypt", "in place", _rencrypt_in_place, _rencrypt_open_in_place, _TWO),
    Implementation("rencrypt", "into", _rencrypt_into, _rencrypt_open_into, _TWO),
    Implementation("pycryptodome", "into", _pycryptodome_into, _pycryptodome_open_into),
    Implementation("pycryptodome", "new bytes", _pycryptodome_new, _pycryptodome_open_new),
    Implementation("tink", "new bytes", _tink_new, _tink_open_new, _TWO),
    Implementation("PyNaCl", "new bytes", _pynacl_new, _pynacl_open_new, _ONE),
)
