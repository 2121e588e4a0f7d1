"""The table of SpeckEx: blocks, new keys, CTR and AEAD, in calls per second, against AES and Blowfish.

Its "CTR 1K blocks" are 16 KiB with a new key each. SpeckEx measured blocks of three of its ten sizes, and CTR
and AEAD of one; this experiment measures all ten in every task.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import sealane
from sealane import hazmat

from sealane_lab import machine, speck_contenders
from sealane_lab.model import OURS, Cell, Contender, Experiment, Plot, Ready, Scale, Workspace
from sealane_lab.peers import find, require
from sealane_lab.referee import KEY, NONCE, opened, same
from sealane_lab.speck_contenders import AEAD, CTR, DECRYPT, ENCRYPT, INIT
from sealane_lab.timing import Work

TASKS = (ENCRYPT, DECRYPT, INIT, CTR, AEAD)


def cells(scale: Scale) -> list[Cell]:
    del scale  # All calls are short, so every scale has the same cells.
    return [Cell(task, 16 << 10 if task in (CTR, AEAD) else 0) for task in TASKS]


def contenders() -> list[Contender]:
    others = [
        Contender(peer, f"{cipher} {peer}", task, partial(prepare, cipher, task))
        for peer, prepare in (("cryptography", _cryptography), ("pycryptodome", _pycryptodome))
        for cipher in ("AES-256", "Blowfish")
        for task in (ENCRYPT, DECRYPT, INIT)
    ]
    longer = [Contender(peer, name, task, prepare) for (peer, name, task), prepare in LONG.items()]
    return [*speck_contenders.contenders(), *others, *longer, *machine.call_limits(ENCRYPT, DECRYPT, INIT)]


# Key, plaintext and ciphertext of FIPS 197, C.3, and a key of the Blowfish vectors by Schneier.
VECTORS = {
    "AES-256": (
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
    ),
    "Blowfish": ("fedcba9876543210f0e1d2c3b4a59687", None, None),
}


def _blocks(
    task: str, new: Callable[[], tuple[Any, Any]], plain: bytes, confirm: Callable[[bytes], str]
) -> Ready:
    """Returns a contender for blocks. ``new`` makes both directions of a cipher with its key."""
    encrypt, decrypt = new()
    text = encrypt(plain)

    def check() -> str:
        same(plain, decrypt(text), "the decryption")
        return confirm(text)

    runs: dict[str, Work] = {
        ENCRYPT: lambda: encrypt(plain),
        DECRYPT: lambda: decrypt(text),
        INIT: lambda: new()[0](plain),
    }
    return Ready(runs[task], check)


def _parts(cipher: str) -> tuple[bytes, bytes]:
    key, plain, _ = VECTORS[cipher]
    assert key is not None
    return bytes.fromhex(key), bytes.fromhex(plain) if plain else bytes(8)


def _cryptography(cipher: str, task: str, workspace: Workspace) -> Ready:
    new = partial(_pyca, cipher)
    return _blocks(task, new, _parts(cipher)[1], partial(_confirm, cipher, "cryptography"))


def _pyca(cipher: str) -> tuple[Any, Any]:
    ciphers, key = require("cryptography.hazmat.primitives.ciphers"), _parts(cipher)[0]
    if cipher == "Blowfish":
        algorithm = require("cryptography.hazmat.decrepit.ciphers.algorithms").Blowfish(key)
    else:
        algorithm = ciphers.algorithms.AES(key)
    made = ciphers.Cipher(algorithm, ciphers.modes.ECB())
    return made.encryptor().update, made.decryptor().update


def _pycryptodome(cipher: str, task: str, workspace: Workspace) -> Ready:
    new = partial(_dome, cipher)
    return _blocks(task, new, _parts(cipher)[1], partial(_confirm, cipher, "pycryptodome"))


def _dome(cipher: str) -> tuple[Any, Any]:
    module = require(f"Crypto.Cipher.{'Blowfish' if cipher == 'Blowfish' else 'AES'}")
    made = module.new(_parts(cipher)[0], module.MODE_ECB)
    return made.encrypt, made.decrypt


def _confirm(cipher: str, peer: str, text: bytes) -> str:
    """Checks a block with the vector of the standard, or with the other library."""
    if (vector := VECTORS[cipher][2]) is not None:
        return same(bytes.fromhex(vector), text, "FIPS 197")
    other = "pycryptodome" if peer == "cryptography" else "cryptography"
    if find(other).version is None:
        return ""
    decrypt = (_dome if other == "pycryptodome" else _pyca)(cipher)[1]
    return same(_parts(cipher)[1], decrypt(text), other)


# ---- 16 KiB of AES, with a new key each time

IV = bytes(range(16))


def _aes_ctr(workspace: Workspace) -> Ready:
    new, plain = hazmat.AesCtr, workspace.plain
    run: Callable[[], Any] = lambda: new(KEY, IV).xor_at(0, plain)  # noqa: E731

    def check() -> str:
        if find("cryptography").version is None:
            return ""
        return same(_pyca_ctr(plain), run(), "cryptography")

    return Ready(run, check)


def _pyca_ctr(plain: bytes) -> bytes:
    ciphers = require("cryptography.hazmat.primitives.ciphers")
    cipher = ciphers.Cipher(ciphers.algorithms.AES(KEY), ciphers.modes.CTR(IV))
    text: bytes = cipher.encryptor().update(plain)
    return text


def _aes_ctr_cryptography(workspace: Workspace) -> Ready:
    plain = workspace.plain
    run: Callable[[], Any] = lambda: _pyca_ctr(plain)  # noqa: E731
    return Ready(run, lambda: same(hazmat.AesCtr(KEY, IV).xor_at(0, plain), run(), OURS))


def _gcm(workspace: Workspace) -> Ready:
    new, plain = sealane.Aead, workspace.plain
    run: Callable[[], Any] = lambda: new("aes-256-gcm", KEY).encrypt(NONCE, plain)  # noqa: E731
    return Ready(run, lambda: opened(workspace, "aes-256-gcm", run(), by_other_than=OURS))


def _gcm_cryptography(workspace: Workspace) -> Ready:
    new, plain = require("cryptography.hazmat.primitives.ciphers.aead").AESGCM, workspace.plain
    run: Callable[[], Any] = lambda: new(KEY).encrypt(NONCE, plain, None)  # noqa: E731
    return Ready(run, lambda: opened(workspace, "aes-256-gcm", run(), by_other_than="cryptography"))


LONG: dict[tuple[str, str, str], Callable[[Workspace], Ready]] = {
    (OURS, "AES-256 sealane", CTR): _aes_ctr,
    ("cryptography", "AES-256 cryptography", CTR): _aes_ctr_cryptography,
    (OURS, "AES-256-GCM sealane", AEAD): _gcm,
    ("cryptography", "AES-256-GCM cryptography", AEAD): _gcm_cryptography,
}

EXPERIMENT = Experiment(
    name="speck",
    title="Speck",
    about="Calls per second, one thread, from Python: for a single block, nearly all is the cost of the "
    "call. Speck is measured because SpeckEx has it; on processors with AES instructions, use AES.",
    cells=cells,
    contenders=contenders,
    plots=(
        Plot("Blocks per second", (ENCRYPT, DECRYPT, INIT), "calls", over="contender"),
        Plot("16 KiB, a new key each time", (CTR, AEAD), "calls", over="contender", families=True),
    ),
    budget={"full": 60, "quick": 4, "tiny": 0.2},
)
