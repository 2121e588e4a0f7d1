"""How each library makes a key pair, and writes and reads a message for it.

Keys of the lab are made once a process. RSA's are shared by all who use them, so that nobody has the luckier
one.
"""

from __future__ import annotations

import base64
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import sealane
from sealane import hybrid, keys
from sealane.lab.model import OURS, Ready, Room, Row, Wrong
from sealane.lab.peers import here, need
from sealane.lab.referee import KEY, NONCE, same

KEYGEN, WRAP, SEAL, OPEN = "making a key", "wrapping a key", "sealing", "opening"


@dataclass(frozen=True)
class Scheme:
    """One library's way with one kind of key, ready to be called.

    Parameters
    ----------
    make : callable() -> text
        A new private key in a form that sealane reads.
    seal, open : callable
        Message to blob and back. What a blob is, is the library's affair.
    other : str
        Who reads and writes the same blobs,
    read : callable
        and how.
    """

    make: Callable[[], Any]
    text: Callable[[Any], str]
    seal: Callable[[bytes], Any]
    open: Callable[[Any], bytes]
    other: str
    read: Callable[[Any], bytes]


@dataclass(frozen=True)
class Wrap:
    """OAEP alone, by a library that has it so."""

    bits: int
    oaep: Literal["sha1", "sha256"]
    ready: Callable[[], Callable[[bytes], Any]]


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
        for task, prepare in ((KEYGEN, _keygen), (WRAP, _wrap), (SEAL, _seal), (OPEN, _open)):
            found.append(Row(way.peer, name, task, functools.partial(prepare, way)))
    return found


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
        opened = hybrid.rsa_open_parts(_rsa(way.wrap.bits), *parts, oaep=way.wrap.oaep)
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
        return same(plain, scheme.read(made), scheme.other)

    return check


# ---- RSA: capsule || nonce[12] || ciphertext || tag[16]


def _rsa(bits: int) -> keys.Key:
    return _made(f"rsa-{bits}")


def _theirs(text: str) -> Any:
    return need("cryptography.hazmat.primitives.serialization").load_pem_private_key(text.encode(), None)


def _oaep() -> Any:
    padding = need("cryptography.hazmat.primitives.asymmetric.padding")
    sha256 = need("cryptography.hazmat.primitives.hashes").SHA256
    return padding.OAEP(padding.MGF1(sha256()), sha256(), None)


def _pem(key: Any) -> str:
    """Of a key of cryptography's."""
    form = need("cryptography.hazmat.primitives.serialization")
    done: bytes = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    return done.decode()


def _rsa_cryptography(bits: int) -> Scheme:
    private = _theirs(_rsa(bits).to_text())
    public, oaep, capsule = private.public_key(), _oaep(), bits // 8
    aesgcm = need("cryptography.hazmat.primitives.ciphers.aead").AESGCM
    generate = need("cryptography.hazmat.primitives.asymmetric.rsa").generate_private_key

    def seal(plain: bytes) -> bytes:
        secret, nonce = aesgcm.generate_key(256), os.urandom(12)
        sealed: bytes = public.encrypt(secret, oaep) + nonce + aesgcm(secret).encrypt(nonce, plain, None)
        return sealed

    def open_(blob: bytes) -> bytes:
        secret = private.decrypt(blob[:capsule], oaep)
        plain: bytes = aesgcm(secret).decrypt(blob[capsule : capsule + 12], blob[capsule + 12 :], None)
        return plain

    key = _rsa(bits)
    return Scheme(lambda: generate(65537, bits), _pem, seal, open_, OURS, lambda blob: hybrid.open(key, blob))


def _rsa_ours(bits: int) -> Scheme:
    key = _rsa(bits)
    to = key.public
    assert to is not None
    return Scheme(
        lambda: _new(f"rsa-{bits}"),
        keys.Key.to_text,
        lambda plain: hybrid.seal(to, plain),
        lambda blob: hybrid.open(key, blob),
        "cryptography",
        lambda blob: _rsa_cryptography(bits).open(blob),
    )


def _rsa_pycryptodome(bits: int) -> Scheme:
    """As the notebook has it: SHA-1 inside OAEP, a nonce of 16 bytes, the parts apart."""
    rsa, aes, oaep = need("Crypto.PublicKey.RSA"), need("Crypto.Cipher.AES"), need("Crypto.Cipher.PKCS1_OAEP")
    key = _rsa(bits)
    private = rsa.import_key(key.to_text())
    public = private.public_key()

    def seal(plain: bytes) -> tuple[bytes, bytes, bytes, bytes]:
        secret = os.urandom(32)
        capsule = oaep.new(public).encrypt(secret)
        cipher = aes.new(secret, aes.MODE_GCM)
        text, tag = cipher.encrypt_and_digest(plain)
        return capsule, text, cipher.nonce, tag

    def open_(parts: tuple[bytes, bytes, bytes, bytes]) -> bytes:
        capsule, text, nonce, tag = parts
        secret = oaep.new(private).decrypt(capsule)
        plain: bytes = aes.new(secret, aes.MODE_GCM, nonce).decrypt_and_verify(text, tag)
        return plain

    return Scheme(
        lambda: rsa.generate(bits),
        lambda made: str(made.export_key(pkcs=8).decode()),
        seal,
        open_,
        OURS,
        lambda parts: hybrid.rsa_open_parts(key, *parts),
    )


def _wrap_cryptography(bits: int) -> Wrap:
    def ready() -> Callable[[bytes], Any]:
        public, oaep = _theirs(_rsa(bits).to_text()).public_key(), _oaep()
        encrypt = public.encrypt
        return lambda secret: encrypt(secret, oaep)

    return Wrap(bits, "sha256", ready)


def _wrap_pycryptodome(bits: int) -> Wrap:
    def ready() -> Callable[[bytes], Any]:
        public = need("Crypto.PublicKey.RSA").import_key(_rsa(bits).to_text()).public_key()
        new = need("Crypto.Cipher.PKCS1_OAEP").new
        return lambda secret: new(public).encrypt(secret)

    return Wrap(bits, "sha1", ready)


# ---- ECIES on secp256k1, as eciespy has it


def _new(kind: str) -> keys.Key:
    """With the public side, which sealane would compute when it is asked for."""
    key = keys.generate(kind)
    assert key.public is not None
    return key


_MADE: dict[str, keys.Key] = {}


def _made(kind: str) -> keys.Key:
    if kind not in _MADE:
        _MADE[kind] = _new(kind)
    return _MADE[kind]


def _to(kind: str) -> keys.PublicKey:
    public = _made(kind).public
    assert public is not None
    return public


def _ecies_ours() -> Scheme:
    key, to = _made("secp256k1"), _to("secp256k1")
    return Scheme(
        lambda: _new("secp256k1"),
        keys.Key.to_text,
        lambda plain: hybrid.seal(to, plain),
        lambda blob: hybrid.open(key, blob),
        "eciespy",
        lambda blob: bytes(need("ecies").decrypt(key.to_hex(), blob)),
    )


def _eciespy() -> Scheme:
    ecies, key = need("ecies"), _made("secp256k1")
    private, public = key.to_hex(), _to("secp256k1").to_hex()
    new = need("coincurve").PrivateKey
    return Scheme(
        new,
        lambda made: str(made.to_pem().decode()),
        lambda plain: ecies.encrypt(public, plain),
        lambda blob: bytes(ecies.decrypt(private, blob)),
        OURS,
        lambda blob: hybrid.open(key, blob),
    )


# ---- HPKE


def _suite(kem: str) -> Any:
    hpke = need("cryptography.hazmat.primitives.hpke")
    return hpke.Suite(getattr(hpke.KEM, kem), hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_256_GCM)


def _hpke_ours(kind: str) -> Scheme:
    key, to = _made(kind), _to(kind)
    return Scheme(
        lambda: _new(kind),
        keys.Key.to_text,
        lambda plain: hybrid.seal(to, plain),
        lambda blob: hybrid.open(key, blob),
        "cryptography",
        lambda blob: (_x25519() if kind == "x25519" else _x_wing()).open(blob),
    )


def _x25519() -> Scheme:
    suite, private = _suite("X25519"), _theirs(_made("x25519").to_text())
    public = private.public_key()
    generate = need("cryptography.hazmat.primitives.asymmetric.x25519").X25519PrivateKey.generate
    key = _made("x25519")
    return Scheme(
        generate,
        _pem,
        lambda plain: suite.encrypt(plain, public),
        lambda blob: bytes(suite.decrypt(blob, private)),
        OURS,
        lambda blob: hybrid.open(key, blob),
    )


_X_WING_HEAD = bytes.fromhex("3034020100300d060b2b0601040183e62d81c87a0420")
"""PKCS#8 up to the seed."""


def _x_wing() -> Scheme:
    hpke, suite = need("cryptography.hazmat.primitives.hpke"), _suite("MLKEM768_X25519")
    ml_kem = need("cryptography.hazmat.primitives.asymmetric.mlkem").MLKEM768PrivateKey
    x25519 = need("cryptography.hazmat.primitives.asymmetric.x25519").X25519PrivateKey
    hashes, key = need("cryptography.hazmat.primitives.hashes"), _made("x-wing")

    def from_seed(seed: bytes) -> Any:
        shake = hashes.Hash(hashes.SHAKE256(96))
        shake.update(seed)
        wide = shake.finalize()
        halves = ml_kem.from_seed_bytes(wide[:64]), x25519.from_private_bytes(wide[64:])
        return hpke.MLKEM768X25519PrivateKey(*halves)

    def make() -> bytes:
        seed = os.urandom(32)
        from_seed(seed).public_key()
        return seed

    der = base64.b64decode("".join(key.to_text().strip().splitlines()[1:-1]))
    private = from_seed(der[len(_X_WING_HEAD) :])
    public = private.public_key()
    return Scheme(
        make,
        lambda seed: _armoured(_X_WING_HEAD + seed),
        lambda plain: suite.encrypt(plain, public),
        lambda blob: bytes(suite.decrypt(blob, private)),
        OURS,
        lambda blob: hybrid.open(key, blob),
    )


def _armoured(der: bytes) -> str:
    text = base64.b64encode(der).decode()
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----", ""])


def _of(scheme: Callable[[Any], Scheme], what: Any) -> Callable[[], Scheme]:
    return lambda: scheme(what)


WAYS: tuple[Way, ...] = (
    *(
        way
        for bits in (2048, 3072)
        for way in (
            Way(f"RSA-{bits}", OURS, _of(_rsa_ours, bits)),
            Way(f"RSA-{bits}", "cryptography", _of(_rsa_cryptography, bits), _wrap_cryptography(bits)),
            Way(f"RSA-{bits}", "pycryptodome", _of(_rsa_pycryptodome, bits), _wrap_pycryptodome(bits)),
        )
    ),
    Way("ECIES", OURS, _ecies_ours),
    Way("ECIES", "eciespy", _eciespy),
    Way("HPKE X25519", OURS, _of(_hpke_ours, "x25519")),
    Way("HPKE X25519", "cryptography", _x25519),
    Way("X-Wing", OURS, _of(_hpke_ours, "x-wing")),
    Way("X-Wing", "cryptography", _x_wing),
)
