"""Speck by sealane, in all ten sizes. No other Python library has it.

A block is checked with the vector of the Speck paper, CTR with single blocks, and the AEAD with CTR and the
Poly1305 of another library.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sealane import hazmat

from sealane_lab.model import OURS, Contender, Ready, Workspace, WrongOutput
from sealane_lab.peers import find, require
from sealane_lab.referee import KEY, same
from sealane_lab.timing import Work

ENCRYPT, DECRYPT, INIT = "a block encrypted", "a block decrypted", "a key and a block"
CTR, AEAD = "CTR of 16 KiB with a key", "AEAD of 16 KiB with a key"

SPECKS = {
    "speck32-64": ("1918111009080100", "6574694c", "a86842f2"),
    "speck48-72": ("1211100a0908020100", "20796c6c6172", "c049a5385adc"),
    "speck48-96": ("1a19181211100a0908020100", "6d2073696874", "735e10b6445d"),
    "speck64-96": ("131211100b0a090803020100", "74614620736e6165", "9f7952ec4175946c"),
    "speck64-128": ("1b1a1918131211100b0a090803020100", "3b7265747475432d", "8c6fa548454e028b"),
    "speck96-96": ("0d0c0b0a0908050403020100", "65776f68202c656761737520", "9e4d09ab717862bdde8f79aa"),
    "speck96-144": (
        "1514131211100d0c0b0a0908050403020100",
        "656d6974206e69202c726576",
        "2bf31072228a7ae440252ee6",
    ),
    "speck128-128": (
        "0f0e0d0c0b0a09080706050403020100",
        "6c617669757165207469206564616d20",
        "a65d9851797832657860fedf5c570d18",
    ),
    "speck128-192": (
        "17161514131211100f0e0d0c0b0a09080706050403020100",
        "726148206665696843206f7420746e65",
        "1be4cf3a13135566f9bc185de03c1886",
    ),
    "speck128-256": (
        "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100",
        "65736f6874206e49202e72656e6f6f70",
        "4109010405c0f53e4eeeb48d9c188f43",
    ),
}
"""Key, plaintext and ciphertext from the paper, big-endian."""


def contenders() -> list[Contender]:
    tasks = ((ENCRYPT, _block), (DECRYPT, _block), (INIT, _block), (CTR, _ctr), (AEAD, _aead))
    return [
        Contender(OURS, f"{_called(name, task)} sealane", task, partial(prepare, name))
        for name in SPECKS
        for task, prepare in tasks
    ]


def _called(name: str, task: str) -> str:
    return name.replace("speck", "Speck ") + ("-Poly1305" if task == AEAD else "")


def _block(name: str, workspace: Workspace) -> Ready:
    key, plain, text = (bytes.fromhex(part) for part in SPECKS[name])
    cipher, new = hazmat.Speck(name, key), hazmat.Speck
    encrypt, decrypt = cipher.encrypt_blocks, cipher.decrypt_blocks

    def check() -> str:
        if (encrypt(plain), decrypt(text)) != (text, plain):
            raise WrongOutput("differs from the vector of the paper")
        return "the paper"

    runs: dict[str, Work] = {
        ENCRYPT: lambda: encrypt(plain),
        DECRYPT: lambda: decrypt(text),
        INIT: lambda: new(name, key).encrypt_blocks(plain),
    }
    return Ready(runs[workspace.cell.task], check)


# ---- 16 KiB, with a new key each time


def _key(name: str) -> bytes:
    return KEY[: len(SPECKS[name][0]) // 2]


def _ctr(name: str, workspace: Workspace) -> Ready:
    new, key, plain = hazmat.SpeckCtr, _key(name), workspace.plain
    iv = bytes(range(hazmat.Speck(name, key).block_len))
    run: Callable[[], Any] = lambda: new(name, key, iv).xor_at(0, plain)  # noqa: E731
    return Ready(run, lambda: same(_xor(_stream(name, iv, len(plain)), plain), run(), "its blocks"))


def _stream(name: str, iv: bytes, length: int) -> bytes:
    """Returns the keystream, computed from blocks. The counter is the whole block, big-endian."""
    block, start = len(iv), int.from_bytes(iv, "big")
    counters = b"".join(
        ((start + n) % (1 << 8 * block)).to_bytes(block, "big") for n in range(-(-length // block))
    )
    return hazmat.Speck(name, _key(name)).encrypt_blocks(counters)[:length]


def _xor(first: bytes, second: bytes) -> bytes:
    return (int.from_bytes(first, "big") ^ int.from_bytes(second, "big")).to_bytes(len(first), "big")


def _aead(name: str, workspace: Workspace) -> Ready:
    """The nonce is one block. Of blocks of 16 bytes, the last four bytes are the counter."""
    block = hazmat.Speck(name, _key(name)).block_len
    new = hazmat.Aead if block == 16 else hazmat.Aead.new_small_block
    algorithm, key, plain = f"{name}-poly1305", _key(name), workspace.plain
    nonce = bytes(range(new(algorithm, key).nonce_len))
    run: Callable[[], Any] = lambda: new(algorithm, key).encrypt(nonce, plain)  # noqa: E731

    def check() -> str:
        same(plain, new(algorithm, key).decrypt(nonce, run()), "the decryption")
        if find("cryptography").version is None:
            return ""
        stream = _stream(name, nonce.ljust(block, b"\0"), 32 + len(plain))
        text = _xor(stream[32:], plain)
        lengths = bytes(8) + len(text).to_bytes(8, "little")
        mac = require("cryptography.hazmat.primitives.poly1305").Poly1305
        tag = mac.generate_tag(stream[:32], text + bytes(-len(text) % 16) + lengths)
        return same(text + tag, run(), "its blocks and cryptography")

    return Ready(run, check)
