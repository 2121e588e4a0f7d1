"""Encryption of a file by each library and program, from path to path.

sealane, tink and the age programs write a file format. The other libraries have none. For them, a loop is
measured as users write it, over pieces of 256 KiB with a counter as the nonce, or one long message for
PyFLocker; such a loop detects fewer changes. No contender waits for the disk. The target is removed before
each run, which is not timed.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sealane

from sealane_lab.model import LIMIT, OURS, Absent, Contender, Ready, Workspace, WrongOutput
from sealane_lab.peers import find, require
from sealane_lab.referee import KEY

Coder = Callable[[Path, Path], object]
"""Reads the first file and writes the second."""

PIECE = 256 << 10


@dataclass(frozen=True)
class Tool:
    """Both directions, and the peers that can decrypt its files; the first installed one is the referee."""

    encrypt: Coder
    decrypt: Coder
    readers: tuple[tuple[str, Callable[[], Coder]], ...] = ()


@dataclass(frozen=True)
class Implementation:
    """One library or program, and the format of its files."""

    peer: str
    style: str
    tool: Callable[[], Tool]
    format: str


def contenders() -> list[Contender]:
    """Returns the tasks ``encrypt`` and ``decrypt``, and ``cp`` as their limit."""

    def bound(implementation: Implementation, task: str) -> Contender:
        return Contender(
            implementation.peer,
            f"{implementation.peer} {implementation.style}".strip(),
            task,
            lambda workspace: _ready(workspace, implementation, task),
        )

    ours = [
        bound(implementation, task) for implementation in IMPLEMENTATIONS for task in ("encrypt", "decrypt")
    ]
    return [*ours, *(Contender(LIMIT, "cp", task, _cp) for task in ("encrypt", "decrypt"))]


def _plain(workspace: Workspace) -> Path:
    def make() -> Path:
        path, piece = workspace.folder / "plain", os.urandom(1 << 20)
        with open(path, "wb") as file:
            for start in range(0, workspace.size, len(piece)):
                file.write(piece[: workspace.size - start])
        return path

    path: Path = workspace.once("plain file", make)
    return path


def _ready(workspace: Workspace, implementation: Implementation, task: str) -> Ready:
    """Prepares one direction. All contenders share one target, so that the disk is equally full for all."""
    tool, plain, target = implementation.tool(), _plain(workspace), workspace.folder / "target"

    def reset() -> None:
        target.unlink(missing_ok=True)

    if task == "encrypt":
        run, source = tool.encrypt, plain
    else:
        run, source = tool.decrypt, _sealed(workspace, implementation, tool)

    def check() -> str:
        reset()
        run(source, target)
        sealed, back = (target, workspace.folder / "back") if task == "encrypt" else (source, target)
        reader = _read_by_another(tool, implementation.peer, sealed, workspace.folder / "back")
        if not reader and task == "encrypt":
            tool.decrypt(sealed, back)
        if not filecmp.cmp(plain, back, shallow=False):
            raise WrongOutput(f"other bytes came back from {implementation.peer}")
        (workspace.folder / "back").unlink(missing_ok=True)
        return reader

    return Ready(lambda: run(source, target), check, reset)


def _sealed(workspace: Workspace, implementation: Implementation, tool: Tool) -> Path:
    """Returns one file per format. Ten files of a gigabyte would evict each other from the page cache."""

    def make() -> Path:
        path = workspace.folder / f"sealed-{implementation.format}"
        tool.encrypt(_plain(workspace), path)
        return path

    path: Path = workspace.once(("sealed", implementation.format), make)
    return path


def _read_by_another(tool: Tool, peer: str, sealed: Path, back: Path) -> str:
    for name, reader in tool.readers:
        if name != peer and find(name).version is not None:
            back.unlink(missing_ok=True)
            reader()(sealed, back)
            return name
    return ""


def _cp(workspace: Workspace) -> Ready:
    cp = shutil.which("cp")
    if cp is None:
        raise Absent("no such program")
    plain, target = _plain(workspace), workspace.folder / "target"
    command = [cp, str(plain), str(target)]
    return Ready(lambda: _call(command), lambda: "", lambda: target.unlink(missing_ok=True))


def _call(command: list[str]) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)


# ---- formats that several libraries read


def _cobblestone(sealed: Path, back: Path) -> None:
    peer = require("cryptography.cobblestone").Cobblestone256Decryptor(KEY, b"")
    with open(sealed, "rb") as source, open(back, "wb") as sink:
        while piece := source.read(1 << 20):
            sink.write(peer.update(piece))
        sink.write(peer.finalize())


def _seal_cobblestone(plain: Path, sealed: Path) -> None:
    peer = require("cryptography.cobblestone").Cobblestone256Encryptor(KEY, b"")
    with open(plain, "rb") as source, open(sealed, "wb") as sink:
        while piece := source.read(1 << 20):
            sink.write(peer.update(piece))
        sink.write(peer.finalize())


def _ours(threads: int | None) -> Callable[[], Tool]:
    return lambda: Tool(
        lambda src, dst: sealane.encrypt_file(src, dst, key=KEY, threads=threads),
        lambda src, dst: sealane.decrypt_file(src, dst, key=KEY, threads=threads),
        (("cryptography", lambda: _cobblestone),),
    )


def _their_cobblestone() -> Tool:
    require("cryptography.cobblestone")
    read = lambda: lambda src, dst: sealane.decrypt_file(src, dst, key=KEY)  # noqa: E731
    return Tool(_seal_cobblestone, _cobblestone, ((OURS, read),))


_AGE = sealane.keys.generate("age")
_IDENTITY = next(line for line in _AGE.to_text().splitlines() if line.startswith("AGE-SECRET-KEY"))


def _age_readers() -> tuple[tuple[str, Callable[[], Coder]], ...]:
    ours = lambda: lambda src, dst: sealane.decrypt_file(src, dst, identities=[_AGE])  # noqa: E731
    return ((OURS, ours), ("pyrage", lambda: _pyrage().decrypt), ("age", lambda: _program("age").decrypt))


def _our_age() -> Tool:
    to = str(_AGE.public)
    return Tool(
        lambda src, dst: sealane.encrypt_file(src, dst, recipients=[to]),
        lambda src, dst: sealane.decrypt_file(src, dst, identities=[_AGE]),
        _age_readers(),
    )


def _pyrage() -> Tool:
    pyrage = require("pyrage")
    to = pyrage.x25519.Recipient.from_str(str(_AGE.public))
    identity = pyrage.x25519.Identity.from_str(_IDENTITY)
    return Tool(
        lambda src, dst: pyrage.encrypt_file(str(src), str(dst), [to]),
        lambda src, dst: pyrage.decrypt_file(str(src), str(dst), [identity]),
        _age_readers(),
    )


def _program(name: str) -> Tool:
    """age or rage; both take the same arguments. The key file is in the folder of the target."""

    def decrypt(src: Path, dst: Path) -> None:
        key = dst.parent / "identity"
        if not key.exists():
            key.write_text(_IDENTITY + "\n")
        _call([name, "-d", "-i", str(key), "-o", str(dst), str(src)])

    to = str(_AGE.public)
    return Tool(lambda src, dst: _call([name, "-r", to, "-o", str(dst), str(src)]), decrypt, _age_readers())


_TINK = "tink-1mb"


def _tink_primitive() -> Any:
    streaming, parse = require("tink.streaming_aead"), require("tink").json_proto_keyset_format.parse
    streaming.register()
    keyset = sealane.keys.Keyring.from_key(KEY, _TINK).to_json()
    return parse(keyset, require("tink.secret_key_access").TOKEN).primitive(streaming.StreamingAead)


def _tink() -> Tool:
    streaming = _tink_primitive()

    def encrypt(src: Path, dst: Path) -> None:
        with open(src, "rb") as source, streaming.new_encrypting_stream(open(dst, "wb"), b"") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)

    def decrypt(src: Path, dst: Path) -> None:
        with streaming.new_decrypting_stream(open(src, "rb"), b"") as source, open(dst, "wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)

    read = lambda: lambda src, dst: sealane.decrypt_file(src, dst, key=KEY, format=_TINK)  # noqa: E731
    return Tool(encrypt, decrypt, ((OURS, read),))


def _our_tink() -> Tool:
    return Tool(
        lambda src, dst: sealane.encrypt_file(src, dst, key=KEY, format=_TINK),
        lambda src, dst: sealane.decrypt_file(src, dst, key=KEY, format=_TINK),
        (("tink", lambda: _tink().decrypt),),
    )


# ---- loops


def _loop(seal: Callable[[bytes, bytes, bytearray], int], extra: int) -> Coder:
    """Returns a loop over the pieces of a file.

    ``seal`` writes the result of a piece into a buffer and returns its length. ``extra`` is the number of
    bytes by which a piece of the source is longer than 256 KiB, for example 16 for a tag.
    """

    def run(src: Path, dst: Path) -> None:
        out, length = bytearray(PIECE + 64), PIECE + extra
        view = memoryview(out)
        with open(src, "rb", buffering=0) as source, open(dst, "wb", buffering=0) as sink:
            index = 0
            while piece := source.read(length):
                sink.write(view[: seal(index.to_bytes(12, "big"), piece, out)])
                index += 1

    return run


def _opened_by_ours(extra: int, order: Callable[[bytes, bytes], tuple[bytes, bytes]]) -> Coder:
    aead = sealane.Aead("aes-256-gcm", KEY)

    def open_(counted: bytes, piece: bytes, out: bytearray) -> int:
        nonce, wire = order(counted, piece)
        return aead.decrypt_into(nonce, wire, None, out)

    return _loop(open_, extra)


def _cryptography_loop() -> Tool:
    aes = require("cryptography.hazmat.primitives.ciphers.aead").AESGCM(KEY)

    def seal(nonce: bytes, piece: bytes, out: bytearray) -> int:
        length: int = aes.encrypt_into(nonce, piece, None, memoryview(out)[: len(piece) + 16])
        return length

    def open_(nonce: bytes, piece: bytes, out: bytearray) -> int:
        length: int = aes.decrypt_into(nonce, piece, None, memoryview(out)[: len(piece) - 16])
        return length

    read = lambda: _opened_by_ours(16, lambda counted, piece: (counted, piece))  # noqa: E731
    return Tool(_loop(seal, 0), _loop(open_, 16), ((OURS, read),))


def _rencrypt_loop() -> Tool:
    of = require("rencrypt")
    cipher = of.Cipher(of.CipherMeta.Ring(of.RingAlgorithm.Aes256Gcm), bytearray(KEY))

    def seal(_: bytes, piece: bytes, out: bytearray) -> int:
        length: int = cipher.seal_in_place_from(piece, out)
        return length

    def open_(_: bytes, piece: bytes, out: bytearray) -> int:
        length: int = cipher.open_in_place_from(piece, out)
        return length

    read = lambda: _opened_by_ours(28, lambda _, piece: (piece[-12:], piece[:-12]))  # noqa: E731
    return Tool(_loop(seal, 0), _loop(open_, 28), ((OURS, read),))


def _pyflocker_loop() -> Tool:
    ciphers = require("pyflocker.ciphers")
    gcm, backend = require("pyflocker.ciphers.modes").Modes.MODE_GCM, ciphers.Backends.CRYPTOGRAPHY

    def cipher(encrypting: bool, nonce: bytes) -> Any:
        return ciphers.AES.new(encrypting, KEY, gcm, nonce, backend=backend)

    def through(one: Any, source: Any, sink: Any, left: int) -> None:
        out = bytearray(PIECE + 16)
        view = memoryview(out)
        while left:
            piece = source.read(min(PIECE, left))
            one.update_into(piece, view[: len(piece) + 15])
            sink.write(view[: len(piece)])
            left -= len(piece)

    def encrypt(src: Path, dst: Path) -> None:
        nonce = os.urandom(12)
        one = cipher(True, nonce)
        with open(src, "rb", buffering=0) as source, open(dst, "wb", buffering=0) as sink:
            sink.write(nonce)
            through(one, source, sink, src.stat().st_size)
            one.finalize()
            sink.write(one.calculate_tag())

    def decrypt(src: Path, dst: Path) -> None:
        with open(src, "rb", buffering=0) as source, open(dst, "wb", buffering=0) as sink:
            one = cipher(False, source.read(12))
            through(one, source, sink, src.stat().st_size - 28)
            one.finalize(source.read(16))

    def read(src: Path, dst: Path) -> None:
        dst.write_bytes(sealane.Aead("aes-256-gcm", KEY).open(src.read_bytes()))

    return Tool(encrypt, decrypt, ((OURS, lambda: read),))


def _openssl() -> Tool:
    """AES-CTR, because the program has no authenticated cipher for files. It detects no change."""
    key, iv = KEY.hex(), bytes(16).hex()

    def run(src: Path, dst: Path) -> None:
        _call(["openssl", "enc", "-aes-256-ctr", "-K", key, "-iv", iv, "-in", str(src), "-out", str(dst)])

    def read(src: Path, dst: Path) -> None:
        dst.write_bytes(sealane.hazmat.AesCtr(KEY, bytes(16)).xor_at(0, src.read_bytes()))

    return Tool(run, run, ((OURS, lambda: read),))


IMPLEMENTATIONS: tuple[Implementation, ...] = (
    Implementation(OURS, "", _ours(None), "cobblestone"),
    Implementation(OURS, "1 thread", _ours(1), "cobblestone"),
    Implementation(OURS, "age", _our_age, "age"),
    Implementation(OURS, "Tink streaming", _our_tink, "tink"),
    Implementation("cryptography", "Cobblestone", _their_cobblestone, "cobblestone"),
    Implementation("cryptography", "loop", _cryptography_loop, "pieces"),
    Implementation("PyFLocker", "loop", _pyflocker_loop, "whole"),
    Implementation("rencrypt", "loop", _rencrypt_loop, "rencrypt"),
    Implementation("pyrage", "", _pyrage, "age"),
    Implementation("age", "", lambda: _program("age"), "age"),
    Implementation("rage", "", lambda: _program("rage"), "age"),
    Implementation("tink", "streaming", _tink, "tink"),
    Implementation("openssl", "enc, no tag", _openssl, "ctr"),
)
