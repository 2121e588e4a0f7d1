"""Checks an installed wheel: published vectors, files of other implementations, new files, threads and fork.

``installed.py FOLDER`` needs only ``vectors/lines.txt`` and ``tests/golden`` from the repository in
``FOLDER``, and only Python's standard library, so it runs in every interpreter that a wheel supports.
"""

from __future__ import annotations

import collections
import functools
import os
import platform
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sealane
from sealane import hazmat

PROVIDERS: dict[str, list[str]] = collections.defaultdict(list)
for row in sealane.providers():
    if row.available:
        PROVIDERS[row.algorithm].append(row.provider)


def pattern(length: int) -> bytes:
    return bytes(i % 251 for i in range(length))


def unhex(digits: str) -> bytes:
    return b"" if digits == "-" else bytes.fromhex(digits)


def refuses(
    error: type[Exception] | tuple[type[Exception], ...], call: Callable[..., Any], *args: Any
) -> None:
    """Checks that a call raises an error of this type."""
    try:
        call(*args)
    except error:
        return
    raise AssertionError(f"expected {error}, found no error")


def aeads(name: str, key: bytes) -> list[Any]:
    """Returns one object per provider of an algorithm."""
    if name.startswith("speck"):
        return [
            hazmat.Aead(name, key) if name.startswith("speck128") else hazmat.Aead.new_small_block(name, key)
        ]
    return [sealane.Aead(name, key, provider) for provider in PROVIDERS[name]]


def aead(name: str, *fields: str) -> None:
    key, nonce, aad, plaintext, sealed = map(unhex, fields[:5])
    if name.startswith("speck128"):
        # The package appends a counter of 4 bytes to a 12-byte nonce; the vectors contain both.
        nonce, counter = nonce[:12], nonce[12:]
        assert counter == bytes(4)
    for one in aeads(name, key):
        if fields[5] == "valid":
            assert one.encrypt(nonce, plaintext, aad) == sealed
            assert one.decrypt(nonce, sealed, aad) == plaintext
            assert one.open(nonce + sealed, aad) == plaintext
        else:
            error = {"invalid": sealane.AuthenticationError, "nonce-length": ValueError}[fields[5]]
            refuses(error, one.decrypt, nonce, sealed, aad)


def stream(name: str, order: str, *fields: str) -> None:
    key, iv, plaintext, ciphertext = (unhex(fields[i]) for i in (0, 1, 3, 4))
    if name.startswith("speck"):
        keystream: Any = hazmat.SpeckCtr(name, key, iv, order)
    elif name == "aes-ctr":
        keystream = hazmat.AesCtr(key, iv)
    else:
        keystream = {"chacha20": hazmat.ChaCha20, "xchacha20": hazmat.XChaCha20}[name](
            key, iv, int(fields[2])
        )
    for at in range(len(plaintext) + 1):
        assert keystream.xor_at(at, plaintext[at:]) == ciphertext[at:]


def poly1305(key: str, message: str, tag: str) -> None:
    assert hazmat.Poly1305(unhex(key)).update(unhex(message)).finalize() == unhex(tag)


def block(name: str, order: str, key: str, plaintext: str, ciphertext: str) -> None:
    speck = hazmat.Speck(name, unhex(key), order)
    assert speck.encrypt_blocks(unhex(plaintext)) == unhex(ciphertext)
    assert speck.decrypt_blocks(unhex(ciphertext)) == unhex(plaintext)


def file(name: str, key: str, context: str, sealed: str, result: str, length: str) -> None:
    def decrypt() -> bytes:
        return sealane.decrypt(unhex(sealed), key=unhex(key), context=unhex(context), format=name)

    if result == "valid":
        assert len(decrypt()) == int(length)
    else:
        refuses((sealane.SealaneError, ValueError), decrypt)


KINDS: dict[str, Callable[..., None]] = {
    "aead": aead,
    "stream": stream,
    "poly1305": poly1305,
    "block": block,
    "file": file,
}


def vectors(folder: Path) -> str:
    """Runs the published vectors with every provider on this machine."""
    counts: collections.Counter[str] = collections.Counter()
    for line in (folder / "vectors" / "lines.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, *fields = line.split(" ")
        try:
            KINDS[kind](*fields)
        except Exception as error:
            error.add_note(line[:200])
            raise
        counts[kind] += 1
    assert counts.keys() == KINDS.keys()
    assert counts.total() > 1200
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def golden(folder: Path) -> str:
    """Decrypts files written by other implementations."""
    chunked = sorted(folder.glob("tests/golden/*.sealed"))
    for path in chunked:
        _, bits, length = path.stem.split("-")
        key = bytes(range(int(bits) // 8))
        assert sealane.decrypt(path.read_bytes(), key=key, context=b"golden") == pattern(int(length))
    age = [path for path in sorted(folder.glob("tests/golden/age/*")) if path.suffix != ".key"]
    for path in age:
        kind, length, _ = path.name.rsplit("-", 2)
        secret: dict[str, Any] = {"identities": [path.with_name(f"{kind}.key")]}
        if kind == "passphrase":
            secret = {"passphrase": "golden"}
        assert sealane.decrypt(path.read_bytes(), **secret) == pattern(int(length))
    tink = sorted(folder.glob("tests/golden/tink/*.tink"))
    for path in tink:
        template, length = path.stem.rsplit("-", 1)
        keyring = sealane.keys.Keyring.from_json(path.with_name(f"{template}.json").read_text())
        assert sealane.decrypt(path.read_bytes(), key=keyring, context=b"golden") == pattern(int(length))
    assert all([chunked, age, tink])
    return f"{len(chunked)} chunked, {len(age)} age, {len(tink)} Tink"


def files(folder: Path) -> str:
    """Encrypts, decrypts, reads and changes files with lengths around chunk borders."""
    lengths = [0, 1, 16383, 16384, 16385, 262143, 262144, 262145, 3_000_000]
    identity = sealane.keys.generate("age")
    secrets: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"key": bytes(32)}, {"key": bytes(32)}),
        ({"recipients": [str(identity.public)]}, {"identities": [identity]}),
    ]
    with tempfile.TemporaryDirectory() as name:
        plain, sealed, back = (Path(name) / part for part in ("plain", "sealed", "back"))
        for length in lengths:
            plain.write_bytes(pattern(length))
            for seal, unseal in secrets:
                sealane.encrypt_file(plain, sealed, **seal)
                sealane.decrypt_file(sealed, back, **unseal)
                assert back.read_bytes() == plain.read_bytes()
                with sealane.open(sealed, "rb", **unseal) as opened:
                    opened.seek(length // 2)
                    assert opened.read() == pattern(length)[length // 2 :]
                changed = bytearray(sealed.read_bytes())
                changed[-1] ^= 1
                sealed.write_bytes(changed)
                decrypt = functools.partial(sealane.decrypt, sealed.read_bytes(), **unseal)
                refuses(sealane.AuthenticationError, decrypt)
    return f"{len(secrets) * len(lengths)} new, and as many changed"


def threads(folder: Path) -> str:
    """Seals and opens with one object on several threads."""
    one, sealed, failures = sealane.Aead("aes-256-gcm", bytes(32)), [], []
    start = threading.Barrier(4)

    def work(number: int) -> None:
        try:
            start.wait()
            for i in range(500):
                text = pattern(number * 500 + i)
                message = one.seal(text, aad=b"header")
                sealed.append(message[: one.nonce_len])
                assert one.open(message, aad=b"header") == text
        except BaseException as error:
            failures.append(error)
            raise

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures
    assert len(set(sealed)) == len(sealed) == 2000
    return f"{len(sealed)} messages on {len(workers)} threads, all nonces different"


def fork(folder: Path) -> str:
    """Seals in a forked child and opens in the parent; nonces differ."""
    one = sealane.Aead("aes-256-gcm", bytes(32))
    one.seal(b"before")
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write, one.seal(b"child"))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    message, ours = os.read(read, 1000), one.seal(b"child")
    assert one.open(message) == one.open(ours) == b"child"
    assert message[: one.nonce_len] != ours[: one.nonce_len]
    return "a message of a forked child"


def interpreter() -> str:
    """Describes the interpreter. A free-threaded one must not have enabled its GIL for us."""
    text = f"{platform.python_implementation()} {platform.python_version()} on {platform.machine()}"
    if "free-threading" not in sys.version:
        return text
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined,unused-ignore]
    return f"{text}, free-threaded, GIL disabled"


def main() -> None:
    folder = Path(sys.argv[1])
    print(f"installed: {interpreter()}, {sealane.__file__}")
    for check in (vectors, golden, files, threads, fork):
        print(f"installed: {check.__name__}: {check(folder)}", flush=True)


if __name__ == "__main__":
    main()
