"""The table of rfc8439: providers and variants of ChaCha20, Poly1305 and ChaCha20-Poly1305, and also of
AES-GCM.

The figures of rfc8439 were single runs: 1 GB of ChaCha20 (its published benchmark has 1024 messages of 1 MiB)
and 64 MB of the others, written to memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import sealane

from sealane_lab import machine, variant_contenders
from sealane_lab.model import OURS, Cell, Contender, Experiment, Plot, Ready, Scale, Workspace
from sealane_lab.peers import find, require
from sealane_lab.referee import KEY, NONCE, key_of, nonce_of, opened, same
from sealane_lab.timing import Work
from sealane_lab.variant_contenders import AEADS, TASKS, job

SMALL = 16 << 10

LARGE: dict[Scale, dict[str, tuple[int, ...]]] = {
    "full": {**dict.fromkeys(TASKS, (64 << 20,)), "chacha20": (1 << 20, 1 << 30)},
    "quick": dict.fromkeys(TASKS, (4 << 20,)),
    "tiny": {},
}


def cells(scale: Scale) -> list[Cell]:
    sizes = [Cell(task, SMALL) for task in TASKS]
    return [*sizes, *(Cell(task, size) for task, larger in LARGE[scale].items() for size in larger)]


def contenders() -> list[Contender]:
    providers = [
        Contender(
            OURS,
            f"sealane {entry.provider} {entry.variant}".removesuffix(" opaque"),
            entry.algorithm,
            partial(_ours, entry.provider),
        )
        for entry in sealane.providers()
        if entry.algorithm in TASKS and entry.available and (entry.chosen or entry.provider != "native")
    ]
    peers = [
        Contender(name.partition(" ")[0], name, task, prepare) for (name, task), prepare in PEERS.items()
    ]
    return [
        *providers,
        *variant_contenders.contenders(dict(zip(TASKS, TASKS, strict=True))),
        *peers,
        *machine.memory_limits(*AEADS, "chacha20"),
    ]


def _ours(provider: str, workspace: Workspace) -> Ready:
    task = workspace.cell.task
    mine = job(task, workspace.plain, provider)

    def check() -> str:
        mine.run()
        if task in AEADS:
            return opened(workspace, task, mine.out(), by_other_than=OURS)
        if find("cryptography").version is None:
            return ""
        theirs = _text(workspace) if task == "chacha20" else _tag(workspace.plain)
        return same(theirs, mine.out(), "cryptography")

    return Ready(mine.run, check)


def _text(workspace: Workspace) -> bytes:
    """Returns the ciphertext of cryptography, which takes a counter of 32 bits followed by the nonce."""
    ciphers = require("cryptography.hazmat.primitives.ciphers")
    cipher = ciphers.Cipher(ciphers.algorithms.ChaCha20(KEY, bytes(4) + NONCE), None)
    text: bytes = cipher.encryptor().update(workspace.plain)
    return text


def _tag(data: bytes) -> bytes:
    tag: bytes = require("cryptography.hazmat.primitives.poly1305").Poly1305.generate_tag(KEY, data)
    return tag


def _stream(run: Work, workspace: Workspace, out: Callable[[], Any]) -> Ready:
    """Returns a contender of ChaCha20 from the start of its keystream."""

    def check() -> str:
        return same(sealane.hazmat.ChaCha20(KEY, NONCE).xor_at(0, workspace.plain), out(), OURS)

    return Ready(run, check)


def _chacha20_cryptography(workspace: Workspace) -> Ready:
    ciphers = require("cryptography.hazmat.primitives.ciphers")
    cipher = ciphers.Cipher(ciphers.algorithms.ChaCha20(KEY, bytes(4) + NONCE), None)
    update, plain, out = cipher.encryptor().update_into, workspace.plain, workspace.out
    return _stream(lambda: update(plain, out), workspace, lambda: cipher.encryptor().update(plain))


def _chacha20_pycryptodome(workspace: Workspace) -> Ready:
    new, plain, out = require("Crypto.Cipher.ChaCha20").new, workspace.plain, workspace.back
    encrypt = new(key=KEY, nonce=NONCE).encrypt
    return _stream(
        lambda: encrypt(plain, output=out), workspace, lambda: new(key=KEY, nonce=NONCE).encrypt(plain)
    )


def _poly1305_cryptography(workspace: Workspace) -> Ready:
    tag, plain = require("cryptography.hazmat.primitives.poly1305").Poly1305.generate_tag, workspace.plain

    def check() -> str:
        return same(sealane.hazmat.Poly1305(KEY).update(plain).finalize(), tag(KEY, plain), OURS)

    return Ready(lambda: tag(KEY, plain), check)


def _poly1305_pycryptodome(workspace: Workspace) -> Ready:
    """Prepares Poly1305 of pycryptodome, which derives the one-time key from a key and a nonce."""
    new, cipher, plain = (
        require("Crypto.Hash.Poly1305").new,
        require("Crypto.Cipher.ChaCha20"),
        workspace.plain,
    )
    run: Callable[[], Any] = lambda: new(key=KEY, nonce=NONCE, cipher=cipher, data=plain).digest()  # noqa: E731

    def check() -> str:
        mac = sealane.hazmat.Poly1305.from_chacha20(KEY, NONCE)
        return same(mac.update(plain).finalize(), run(), OURS)

    return Ready(run, check)


def _aead_rencrypt(kind: str, algorithm: str, workspace: Workspace) -> Ready:
    """Prepares the call of rencrypt, which fills the buffer with ciphertext, tag and nonce."""
    of, plain, out = require("rencrypt"), workspace.plain, bytearray(workspace.size + 28)
    meta = getattr(of.CipherMeta, kind)(getattr(getattr(of, f"{kind}Algorithm"), algorithm))
    seal = of.Cipher(meta, bytearray(KEY)).seal_in_place_from

    def check() -> str:
        seal(plain, out)
        return opened(workspace, workspace.cell.task, out[:-12], by_other_than="rencrypt", nonce=out[-12:])

    return Ready(lambda: seal(plain, out), check)


def _aead_cryptography(name: str, workspace: Workspace) -> Ready:
    aead = getattr(require("cryptography.hazmat.primitives.ciphers.aead"), name)(KEY)
    encrypt, plain, out = aead.encrypt_into, workspace.plain, workspace.out
    run: Callable[[], Any] = lambda: encrypt(NONCE, plain, None, out)  # noqa: E731
    return _sealed(workspace, "cryptography", run, lambda: (run(), bytes(out))[1])


def _aead_pynacl(name: str, workspace: Workspace) -> Ready:
    encrypt, plain = getattr(require("nacl.bindings"), name), workspace.plain
    run: Callable[[], Any] = lambda: encrypt(plain, b"", NONCE, KEY)  # noqa: E731
    return _sealed(workspace, "PyNaCl", run, run)


def _aead_pycryptodome(workspace: Workspace) -> Ready:
    new, plain = require("Crypto.Cipher.ChaCha20_Poly1305").new, workspace.plain

    def run() -> bytes:
        _, tag = new(key=KEY, nonce=NONCE).encrypt_and_digest(plain)
        return bytes(tag)

    def whole() -> bytes:
        text, tag = new(key=KEY, nonce=NONCE).encrypt_and_digest(plain)
        return bytes(text + tag)

    return _sealed(workspace, "pycryptodome", run, whole)


def _sealed(workspace: Workspace, peer: str, run: Work, out: Callable[[], bytes]) -> Ready:
    def check() -> str:
        return opened(workspace, workspace.cell.task, out(), by_other_than=peer)

    return Ready(run, check)


def _aegis(name: str, workspace: Workspace) -> Ready:
    task = workspace.cell.task
    cipher, key, nonce = getattr(require("pyaegis"), name)(tag_size=16), key_of(task), nonce_of(task)
    encrypt, plain, out = cipher.encrypt, workspace.plain, workspace.out
    run: Callable[[], Any] = lambda: encrypt(key, nonce, plain, None, out)  # noqa: E731
    return _sealed(workspace, "pyaegis", run, lambda: (run(), bytes(out))[1])


# By the name, which begins with the peer, and the task.
PEERS: dict[tuple[str, str], Callable[[Workspace], Ready]] = {
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
    ("pyaegis", "aegis-128l"): lambda workspace: _aegis("Aegis128L", workspace),
    ("pyaegis", "aegis-128x4"): lambda workspace: _aegis("Aegis128X4", workspace),
    ("PyNaCl", "aes-256-gcm"): partial(_aead_pynacl, "crypto_aead_aes256gcm_encrypt"),
}

EXPERIMENT = Experiment(
    name="backends",
    title="Providers and instruction sets",
    about="Every provider of sealane, every instruction set that its own kernels can use on this machine, "
    "and the peers; one thread, from Python.",
    cells=cells,
    contenders=contenders,
    plots=(
        Plot("Messages of 16 KiB", TASKS, "rate", over="contender", size=SMALL),
        Plot("Long messages", TASKS, "rate", over="contender"),
    ),
    budget={"full": 180, "quick": 8, "tiny": 0.2},
)
