"""How each library makes a key pair, and writes and reads a message for it: the tasks and who takes part."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sealane
from sealane import hybrid, keys

from sealane_lab import hpke_ways, rsa_ways
from sealane_lab.hybrid_schemes import Scheme
from sealane_lab.model import OURS, Ready, Room, Row, Wrong
from sealane_lab.peers import here, need
from sealane_lab.referee import KEY, NONCE, same
from sealane_lab.rsa_ways import Wrap

KEYGEN, WRAP, SEAL, OPEN = "making a key", "wrapping a key", "sealing", "opening"
BULK, WHOLE = "the AES part alone", "a new key and a message"

NOTEBOOKS = ("RSA-2048", "RSA-3072", "ECIES")
"""Whose time the notebook told, with a key that was made for each message."""


@dataclass(frozen=True)
class Way:
    name: str
    peer: str
    scheme: Callable[[], Scheme]
    wrap: Wrap | None = None


def rows() -> list[Row]:
    found = []
    for way in WAYS:
        name = f"{way.name} {way.peer}"
        tasks = [(KEYGEN, _keygen), (WRAP, _wrap), (SEAL, _seal), (OPEN, _open)]
        if way.name in NOTEBOOKS:
            tasks.append((WHOLE, _whole))
        for task, prepare in tasks:
            found.append(Row(way.peer, name, task, functools.partial(prepare, way)))
    bulk = [
        Row(peer, f"AES-256-GCM {peer}", BULK, functools.partial(_bulk, peer, ready))
        for peer, ready in BULKS.items()
    ]
    return [*found, *bulk]


def _keygen(way: Way, room: Room) -> Ready:
    scheme = way.scheme()

    # Twice as many keys are made as are timed, if each is looked at; so one is.
    def check() -> str:
        text = scheme.text(scheme.make())
        if way.peer != OURS:
            sealane.keys.Key.from_text(text)
            return OURS
        return scheme.other if _reads_key(scheme.other, text) else ""

    return Ready(scheme.make, check)


def _reads_key(peer: str, text: str) -> bool:
    """Whether it could look; Wrong is raised where it does not like what it sees."""
    if peer != "cryptography" or here(peer).version is None or not text.startswith("-----"):
        return False
    try:
        need("cryptography.hazmat.primitives.serialization").load_pem_private_key(text.encode(), None)
    except Exception as error:
        if "1.3.6.1.4.1.62253" in str(error):  # It has no file for keys of X-Wing.
            return False
        raise Wrong(f"{peer} cannot read the key: {error}") from error
    return True


def _wrap(way: Way, room: Room) -> Ready:
    """With OAEP alone where the library has it so, as a message of 32 bytes where it has not."""
    secret = room.plain
    if way.wrap is None:
        scheme = way.scheme()
        seal = scheme.seal
        return Ready(lambda: seal(secret), _confirmed(way, scheme, secret))
    wrap = way.wrap.ready()

    def check() -> str:
        """A message under the secret, whose capsule is the one that was made."""
        assert way.wrap is not None
        sealed = sealane.Aead("aes-256-gcm", secret).encrypt(NONCE, KEY)
        parts = wrap(secret), sealed[:-16], NONCE, sealed[-16:]
        opened = hybrid.rsa_open_parts(rsa_ways.lab_key(way.wrap.bits), *parts, oaep=way.wrap.oaep)
        return same(KEY, opened, OURS)

    return Ready(lambda: wrap(secret), check)


def _seal(way: Way, room: Room) -> Ready:
    scheme, plain = way.scheme(), room.plain
    seal = scheme.seal
    return Ready(lambda: seal(plain), _confirmed(way, scheme, plain))


def _open(way: Way, room: Room) -> Ready:
    scheme, plain = way.scheme(), room.plain
    blob, open_ = scheme.seal(plain), scheme.open
    confirmed = _confirmed(way, scheme, plain, blob)

    def check() -> str:
        same(plain, open_(blob), way.peer)
        return confirmed()

    return Ready(lambda: open_(blob), check)


def _confirmed(way: Way, scheme: Scheme, plain: bytes, blob: Any = None) -> Callable[[], str]:
    def check() -> str:
        made = scheme.seal(plain) if blob is None else blob
        if here(scheme.other).version is None:
            same(plain, scheme.open(made), way.peer)
            return ""
        return same(plain, scheme.read(scheme.key, made), scheme.other)

    return check


# ---- a new key and a message, as the notebook timed it


def _whole(way: Way, room: Room) -> Ready:
    scheme, plain = way.scheme(), room.plain
    make, send = scheme.make, scheme.send
    assert send is not None

    def check() -> str:
        fresh = make()
        blob, text = send(fresh, plain), scheme.text(fresh)
        if here(scheme.other).version is None:
            return ""
        return same(plain, scheme.read(keys.Key.from_text(text), blob), scheme.other)

    return Ready(lambda: send(make(), plain), check)


# ---- the AES part of it: a new key of 32 bytes each time, a nonce, the message

Bulk = Callable[[bytes, bytes], tuple[bytes, bytes, bytes]]
"""Key and message to the nonce, the ciphertext, and the tag where that is apart."""


def _bulk(peer: str, ready: Callable[[], Bulk], room: Room) -> Ready:
    plain, seal = room.plain, ready()

    def check() -> str:
        nonce, text, tag = seal(KEY, plain)
        for name, (lengths, open_) in _READERS.items():
            if name != peer and len(nonce) in lengths and here(name).version is not None:
                return same(plain, open_(nonce, text + tag), name)
        return ""

    return Ready(lambda: seal(os.urandom(32), plain), check)


def _aesgcm(key: bytes) -> Any:
    return need("cryptography.hazmat.primitives.ciphers.aead").AESGCM(key)


_READERS: dict[str, tuple[tuple[int, ...], Callable[[bytes, bytes], bytes]]] = {
    "cryptography": ((12, 16), lambda nonce, text: bytes(_aesgcm(KEY).decrypt(nonce, text, None))),
    OURS: ((12,), lambda nonce, text: sealane.Aead("aes-256-gcm", KEY).decrypt(nonce, text)),
}
"""Lengths of nonces that they take, and how they open."""


def _bulk_ours() -> Bulk:
    aead = sealane.Aead

    def seal(key: bytes, plain: bytes) -> tuple[bytes, bytes, bytes]:
        nonce = os.urandom(12)
        return nonce, aead("aes-256-gcm", key).encrypt(nonce, plain), b""

    return seal


def _bulk_cryptography() -> Bulk:
    aesgcm = need("cryptography.hazmat.primitives.ciphers.aead").AESGCM

    def seal(key: bytes, plain: bytes) -> tuple[bytes, bytes, bytes]:
        nonce = os.urandom(12)
        return nonce, aesgcm(key).encrypt(nonce, plain, None), b""

    return seal


def _bulk_pycryptodome() -> Bulk:
    """As the notebook has it: a nonce of 16 bytes."""
    aes = need("Crypto.Cipher.AES")

    def seal(key: bytes, plain: bytes) -> tuple[bytes, bytes, bytes]:
        cipher = aes.new(key, aes.MODE_GCM)
        return cipher.nonce, *cipher.encrypt_and_digest(plain)

    return seal


BULKS: dict[str, Callable[[], Bulk]] = {
    OURS: _bulk_ours,
    "cryptography": _bulk_cryptography,
    "pycryptodome": _bulk_pycryptodome,
}


def _of(scheme: Callable[[Any], Scheme], what: Any) -> Callable[[], Scheme]:
    return lambda: scheme(what)


WAYS: tuple[Way, ...] = (
    *(
        way
        for bits in (2048, 3072)
        for way in (
            Way(f"RSA-{bits}", OURS, _of(rsa_ways.rsa_ours, bits)),
            Way(
                f"RSA-{bits}",
                "cryptography",
                _of(rsa_ways.rsa_cryptography, bits),
                rsa_ways.wrap_cryptography(bits),
            ),
            Way(
                f"RSA-{bits}",
                "pycryptodome",
                _of(rsa_ways.rsa_pycryptodome, bits),
                rsa_ways.wrap_pycryptodome(bits),
            ),
        )
    ),
    Way("ECIES", OURS, rsa_ways.ecies_ours),
    Way("ECIES", "eciespy", rsa_ways.eciespy),
    Way("HPKE X25519", OURS, _of(hpke_ways.hpke_ours, "x25519")),
    Way("HPKE X25519", "cryptography", hpke_ways.x25519_cryptography),
    Way("HPKE X25519", "tink", hpke_ways.x25519_tink),
    Way("sealed box", "PyNaCl", hpke_ways.sealed_box_pynacl),
    Way("X-Wing", OURS, _of(hpke_ways.hpke_ours, "x-wing")),
    Way("X-Wing", "cryptography", hpke_ways.x_wing_cryptography),
)
