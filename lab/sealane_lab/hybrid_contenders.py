"""Key generation, and encryption for a public key, by each library."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sealane
from sealane import hybrid, keys

from sealane_lab import hpke_schemes, rsa_schemes
from sealane_lab.hybrid_schemes import Scheme
from sealane_lab.model import OURS, Contender, Ready, Workspace, WrongOutput
from sealane_lab.peers import find, require
from sealane_lab.referee import KEY, NONCE, same
from sealane_lab.rsa_schemes import Wrap

KEYGEN, WRAP, SEAL, OPEN = "making a key", "wrapping a key", "sealing", "opening"
BULK, WHOLE = "the AES part alone", "a new key and a message"

NOTEBOOK = ("RSA-2048", "RSA-3072", "ECIES")
"""The schemes that the notebook timed, with a new key for each message."""


@dataclass(frozen=True)
class Implementation:
    """One scheme for hybrid encryption, as one library implements it."""

    name: str
    peer: str
    scheme: Callable[[], Scheme]
    wrap: Wrap | None = None


def contenders() -> list[Contender]:
    """Returns the contenders of all tasks, of which some may be absent on this machine."""
    found = []
    for implementation in IMPLEMENTATIONS:
        name = f"{implementation.name} {implementation.peer}"
        tasks = [(KEYGEN, _keygen), (WRAP, _wrap), (SEAL, _seal), (OPEN, _open)]
        if implementation.name in NOTEBOOK:
            tasks.append((WHOLE, _whole))
        for task, prepare in tasks:
            found.append(
                Contender(implementation.peer, name, task, functools.partial(prepare, implementation))
            )
    bulk = [
        Contender(peer, f"AES-256-GCM {peer}", BULK, functools.partial(_bulk, peer, ready))
        for peer, ready in BULKS.items()
    ]
    return [*found, *bulk]


def _keygen(implementation: Implementation, workspace: Workspace) -> Ready:
    scheme = implementation.scheme()

    # Only one key is checked, because checking each of them would double the number of keys.
    def check() -> str:
        text = scheme.text(scheme.make())
        if implementation.peer != OURS:
            sealane.keys.Key.from_text(text)
            return OURS
        return scheme.other if _reads_key(scheme.other, text) else ""

    return Ready(scheme.make, check)


def _reads_key(peer: str, text: str) -> bool:
    """Returns whether the peer could read the key. Raises WrongOutput if it rejects it."""
    if peer != "cryptography" or find(peer).version is None or not text.startswith("-----"):
        return False
    try:
        require("cryptography.hazmat.primitives.serialization").load_pem_private_key(text.encode(), None)
    except Exception as error:
        if "1.3.6.1.4.1.62253" in str(error):  # It has no file format for X-Wing keys.
            return False
        raise WrongOutput(f"{peer} cannot read the key: {error}") from error
    return True


def _wrap(implementation: Implementation, workspace: Workspace) -> Ready:
    """OAEP alone if the library offers it, otherwise a message of 32 bytes."""
    secret = workspace.plain
    if implementation.wrap is None:
        scheme = implementation.scheme()
        seal = scheme.seal
        return Ready(lambda: seal(secret), _confirmed(implementation, scheme, secret))
    wrap = implementation.wrap.ready()

    def check() -> str:
        """Decrypts a message under the secret, together with the wrapped key."""
        assert implementation.wrap is not None
        sealed = sealane.Aead("aes-256-gcm", secret).encrypt(NONCE, KEY)
        parts = wrap(secret), sealed[:-16], NONCE, sealed[-16:]
        opened = hybrid.rsa_open_parts(
            rsa_schemes.lab_key(implementation.wrap.bits), *parts, oaep=implementation.wrap.oaep
        )
        return same(KEY, opened, OURS)

    return Ready(lambda: wrap(secret), check)


def _seal(implementation: Implementation, workspace: Workspace) -> Ready:
    scheme, plain = implementation.scheme(), workspace.plain
    seal = scheme.seal
    return Ready(lambda: seal(plain), _confirmed(implementation, scheme, plain))


def _open(implementation: Implementation, workspace: Workspace) -> Ready:
    scheme, plain = implementation.scheme(), workspace.plain
    blob, open_ = scheme.seal(plain), scheme.open
    confirmed = _confirmed(implementation, scheme, plain, blob)

    def check() -> str:
        same(plain, open_(blob), implementation.peer)
        return confirmed()

    return Ready(lambda: open_(blob), check)


def _confirmed(
    implementation: Implementation, scheme: Scheme, plain: bytes, blob: Any = None
) -> Callable[[], str]:
    def check() -> str:
        made = scheme.seal(plain) if blob is None else blob
        if find(scheme.other).version is None:
            same(plain, scheme.open(made), implementation.peer)
            return ""
        return same(plain, scheme.read(scheme.key, made), scheme.other)

    return check


# ---- a new key and a message, as the notebook timed them


def _whole(implementation: Implementation, workspace: Workspace) -> Ready:
    scheme, plain = implementation.scheme(), workspace.plain
    make, send = scheme.make, scheme.send
    assert send is not None

    def check() -> str:
        fresh = make()
        blob, text = send(fresh, plain), scheme.text(fresh)
        if find(scheme.other).version is None:
            return ""
        return same(plain, scheme.read(keys.Key.from_text(text), blob), scheme.other)

    return Ready(lambda: send(make(), plain), check)


# ---- the AES part: a new key of 32 bytes each time, a nonce, the message

Bulk = Callable[[bytes, bytes], tuple[bytes, bytes, bytes]]
"""Maps key and message to nonce, ciphertext, and the tag if the library returns it separately."""


def _bulk(peer: str, ready: Callable[[], Bulk], workspace: Workspace) -> Ready:
    plain, seal = workspace.plain, ready()

    def check() -> str:
        nonce, text, tag = seal(KEY, plain)
        for name, (lengths, open_) in _READERS.items():
            if name != peer and len(nonce) in lengths and find(name).version is not None:
                return same(plain, open_(nonce, text + tag), name)
        return ""

    return Ready(lambda: seal(os.urandom(32), plain), check)


def _aesgcm(key: bytes) -> Any:
    return require("cryptography.hazmat.primitives.ciphers.aead").AESGCM(key)


_READERS: dict[str, tuple[tuple[int, ...], Callable[[bytes, bytes], bytes]]] = {
    "cryptography": ((12, 16), lambda nonce, text: bytes(_aesgcm(KEY).decrypt(nonce, text, None))),
    OURS: ((12,), lambda nonce, text: sealane.Aead("aes-256-gcm", KEY).decrypt(nonce, text)),
}
"""The nonce lengths that a library takes, and its decryption."""


def _bulk_ours() -> Bulk:
    aead = sealane.Aead

    def seal(key: bytes, plain: bytes) -> tuple[bytes, bytes, bytes]:
        nonce = os.urandom(12)
        return nonce, aead("aes-256-gcm", key).encrypt(nonce, plain), b""

    return seal


def _bulk_cryptography() -> Bulk:
    aesgcm = require("cryptography.hazmat.primitives.ciphers.aead").AESGCM

    def seal(key: bytes, plain: bytes) -> tuple[bytes, bytes, bytes]:
        nonce = os.urandom(12)
        return nonce, aesgcm(key).encrypt(nonce, plain, None), b""

    return seal


def _bulk_pycryptodome() -> Bulk:
    """With a nonce of 16 bytes, as in the notebook."""
    aes = require("Crypto.Cipher.AES")

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


IMPLEMENTATIONS: tuple[Implementation, ...] = (
    *(
        implementation
        for bits in (2048, 3072)
        for implementation in (
            Implementation(f"RSA-{bits}", OURS, _of(rsa_schemes.rsa_ours, bits)),
            Implementation(
                f"RSA-{bits}",
                "cryptography",
                _of(rsa_schemes.rsa_cryptography, bits),
                rsa_schemes.wrap_cryptography(bits),
            ),
            Implementation(
                f"RSA-{bits}",
                "pycryptodome",
                _of(rsa_schemes.rsa_pycryptodome, bits),
                rsa_schemes.wrap_pycryptodome(bits),
            ),
        )
    ),
    Implementation("ECIES", OURS, rsa_schemes.ecies_ours),
    Implementation("ECIES", "eciespy", rsa_schemes.eciespy),
    Implementation("HPKE X25519", OURS, _of(hpke_schemes.hpke_ours, "x25519")),
    Implementation("HPKE X25519", "cryptography", hpke_schemes.x25519_cryptography),
    Implementation("HPKE X25519", "tink", hpke_schemes.x25519_tink),
    Implementation("sealed box", "PyNaCl", hpke_schemes.sealed_box_pynacl),
    Implementation("X-Wing", OURS, _of(hpke_schemes.hpke_ours, "x-wing")),
    Implementation("X-Wing", "cryptography", hpke_schemes.x_wing_cryptography),
)
