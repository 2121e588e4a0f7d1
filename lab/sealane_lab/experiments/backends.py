"""rfc8439's table: who computes ChaCha20, Poly1305 and both, and the same for AES-GCM.

Its figures were one run each: 1 GB of ChaCha20 (the bench that is published makes 1024 messages of 1 MiB of
it) and 64 MB of the others, written to memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import sealane

from sealane_lab import machine, variant_ways
from sealane_lab.model import OURS, Cell, Experiment, Plot, Ready, Room, Row, Scale
from sealane_lab.peers import here, need
from sealane_lab.referee import KEY, NONCE, key_of, nonce_of, opened, same
from sealane_lab.timing import Work
from sealane_lab.variant_ways import AEADS, TASKS, job

SMALL = 16 << 10

LARGE: dict[Scale, dict[str, tuple[int, ...]]] = {
    "full": {**dict.fromkeys(TASKS, (64 << 20,)), "chacha20": (1 << 20, 1 << 30)},
    "quick": dict.fromkeys(TASKS, (4 << 20,)),
    "tiny": {},
}


def cells(scale: Scale) -> list[Cell]:
    sizes = [Cell(task, SMALL) for task in TASKS]
    return [*sizes, *(Cell(task, size) for task, larger in LARGE[scale].items() for size in larger)]


def rows() -> list[Row]:
    providers = [
        Row(
            OURS,
            f"sealane {row.provider} {row.variant}".removesuffix(" opaque"),
            row.algorithm,
            partial(_ours, row.provider),
        )
        for row in sealane.providers()
        if row.algorithm in TASKS and row.available and (row.chosen or row.provider != "native")
    ]
    peers = [Row(way.partition(" ")[0], way, task, prepare) for (way, task), prepare in PEERS.items()]
    return [
        *providers,
        *variant_ways.rows(dict(zip(TASKS, TASKS, strict=True))),
        *peers,
        *machine.memory_limits(*AEADS, "chacha20"),
    ]


def _ours(provider: str, room: Room) -> Ready:
    task = room.cell.task
    mine = job(task, room.plain, provider)

    def check() -> str:
        mine.run()
        if task in AEADS:
            return opened(room, task, mine.out(), by_other_than=OURS)
        if here("cryptography").version is None:
            return ""
        theirs = _text(room) if task == "chacha20" else _tag(room.plain)
        return same(theirs, mine.out(), "cryptography")

    return Ready(mine.run, check)


def _text(room: Room) -> bytes:
    """By cryptography: it has a counter of 32 bits, then the nonce."""
    ciphers = need("cryptography.hazmat.primitives.ciphers")
    cipher = ciphers.Cipher(ciphers.algorithms.ChaCha20(KEY, bytes(4) + NONCE), None)
    text: bytes = cipher.encryptor().update(room.plain)
    return text


def _tag(data: bytes) -> bytes:
    tag: bytes = need("cryptography.hazmat.primitives.poly1305").Poly1305.generate_tag(KEY, data)
    return tag


def _stream(run: Work, room: Room, out: Callable[[], Any]) -> Ready:
    """Of ChaCha20, at the beginning of its stream."""

    def check() -> str:
        return same(sealane.hazmat.ChaCha20(KEY, NONCE).xor_at(0, room.plain), out(), OURS)

    return Ready(run, check)


def _chacha20_cryptography(room: Room) -> Ready:
    ciphers = need("cryptography.hazmat.primitives.ciphers")
    cipher = ciphers.Cipher(ciphers.algorithms.ChaCha20(KEY, bytes(4) + NONCE), None)
    update, plain, out = cipher.encryptor().update_into, room.plain, room.out
    return _stream(lambda: update(plain, out), room, lambda: cipher.encryptor().update(plain))


def _chacha20_pycryptodome(room: Room) -> Ready:
    new, plain, out = need("Crypto.Cipher.ChaCha20").new, room.plain, room.back
    encrypt = new(key=KEY, nonce=NONCE).encrypt
    return _stream(lambda: encrypt(plain, output=out), room, lambda: new(key=KEY, nonce=NONCE).encrypt(plain))


def _poly1305_cryptography(room: Room) -> Ready:
    tag, plain = need("cryptography.hazmat.primitives.poly1305").Poly1305.generate_tag, room.plain

    def check() -> str:
        return same(sealane.hazmat.Poly1305(KEY).update(plain).finalize(), tag(KEY, plain), OURS)

    return Ready(lambda: tag(KEY, plain), check)


def _poly1305_pycryptodome(room: Room) -> Ready:
    """It takes no key for one message, but makes one of a key and a nonce."""
    new, cipher, plain = need("Crypto.Hash.Poly1305").new, need("Crypto.Cipher.ChaCha20"), room.plain
    run: Callable[[], Any] = lambda: new(key=KEY, nonce=NONCE, cipher=cipher, data=plain).digest()  # noqa: E731

    def check() -> str:
        mac = sealane.hazmat.Poly1305.from_chacha20(KEY, NONCE)
        return same(mac.update(plain).finalize(), run(), OURS)

    return Ready(run, check)


def _aead_rencrypt(kind: str, algorithm: str, room: Room) -> Ready:
    """It fills the buffer with ciphertext, tag and nonce."""
    of, plain, out = need("rencrypt"), room.plain, bytearray(room.size + 28)
    meta = getattr(of.CipherMeta, kind)(getattr(getattr(of, f"{kind}Algorithm"), algorithm))
    seal = of.Cipher(meta, bytearray(KEY)).seal_in_place_from

    def check() -> str:
        seal(plain, out)
        return opened(room, room.cell.task, out[:-12], by_other_than="rencrypt", nonce=out[-12:])

    return Ready(lambda: seal(plain, out), check)


def _aead_cryptography(name: str, room: Room) -> Ready:
    aead = getattr(need("cryptography.hazmat.primitives.ciphers.aead"), name)(KEY)
    encrypt, plain, out = aead.encrypt_into, room.plain, room.out
    run: Callable[[], Any] = lambda: encrypt(NONCE, plain, None, out)  # noqa: E731
    return _sealed(room, "cryptography", run, lambda: (run(), bytes(out))[1])


def _aead_pynacl(name: str, room: Room) -> Ready:
    encrypt, plain = getattr(need("nacl.bindings"), name), room.plain
    run: Callable[[], Any] = lambda: encrypt(plain, b"", NONCE, KEY)  # noqa: E731
    return _sealed(room, "PyNaCl", run, run)


def _aead_pycryptodome(room: Room) -> Ready:
    new, plain = need("Crypto.Cipher.ChaCha20_Poly1305").new, room.plain

    def run() -> bytes:
        _, tag = new(key=KEY, nonce=NONCE).encrypt_and_digest(plain)
        return bytes(tag)

    def whole() -> bytes:
        text, tag = new(key=KEY, nonce=NONCE).encrypt_and_digest(plain)
        return bytes(text + tag)

    return _sealed(room, "pycryptodome", run, whole)


def _sealed(room: Room, peer: str, run: Work, out: Callable[[], bytes]) -> Ready:
    def check() -> str:
        return opened(room, room.cell.task, out(), by_other_than=peer)

    return Ready(run, check)


def _aegis(name: str, room: Room) -> Ready:
    task = room.cell.task
    cipher, key, nonce = getattr(need("pyaegis"), name)(tag_size=16), key_of(task), nonce_of(task)
    encrypt, plain, out = cipher.encrypt, room.plain, room.out
    run: Callable[[], Any] = lambda: encrypt(key, nonce, plain, None, out)  # noqa: E731
    return _sealed(room, "pyaegis", run, lambda: (run(), bytes(out))[1])


# By the way's name, which the peer's begins, and the task.
PEERS: dict[tuple[str, str], Callable[[Room], Ready]] = {
    ("cryptography", "chacha20"): _chacha20_cryptography,
    ("pycryptodome", "chacha20"): _chacha20_pycryptodome,
    ("cryptography", "poly1305"): _poly1305_cryptography,
    ("pycryptodome", "poly1305"): _poly1305_pycryptodome,
    **{
        (f"rencrypt {kind}", "chacha20-poly1305"): partial(_aead_rencrypt, kind, algorithm)
        for kind, algorithm in {
            "Ring": "ChaCha20Poly1305",
            "RustCrypto": "ChaCha20Poly1305",
            "Sodiumoxide": "ChaCha20Poly1305Ietf",
            "Orion": "ChaCha20Poly1305",
        }.items()
    },
    ("cryptography", "chacha20-poly1305"): partial(_aead_cryptography, "ChaCha20Poly1305"),
    ("PyNaCl", "chacha20-poly1305"): partial(_aead_pynacl, "crypto_aead_chacha20poly1305_ietf_encrypt"),
    ("pycryptodome", "chacha20-poly1305"): _aead_pycryptodome,
    ("cryptography", "aes-256-gcm"): partial(_aead_cryptography, "AESGCM"),
    ("pyaegis", "aegis-128l"): lambda room: _aegis("Aegis128L", room),
    ("pyaegis", "aegis-128x4"): lambda room: _aegis("Aegis128X4", room),
    ("PyNaCl", "aes-256-gcm"): partial(_aead_pynacl, "crypto_aead_aes256gcm_encrypt"),
}

EXPERIMENT = Experiment(
    name="backends",
    title="Who computes it",
    about="Every provider that sealane can ask, every instruction set that its own code can use here, "
    "and the peers; one thread, from Python.",
    cells=cells,
    rows=rows,
    plots=(
        Plot("Messages of 16 KiB", TASKS, "rate", over="way", size=SMALL),
        Plot("Long messages", TASKS, "rate", over="way"),
    ),
    budget={"full": 180, "quick": 8, "tiny": 0.2},
)
