"""Objects in a forked child: those that count nonces refuse to continue, and the parent continues.

The table has every class of the native module and every file object of the package.
"""

from __future__ import annotations

import inspect
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
import sealane
import sealane.fs
from sealane import _native, hazmat
from support import in_child, leftovers, pattern

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

KEY = pattern(32)
NONCE = bytes(12)
DATA = pattern(3 << 20)

CONTINUES = {
    "Aead": "draws nonces from a generator that notices a fork",
    "AeadDecryptor": "decrypts, so it uses no nonce for a new message",
    "AesCtr": "changes with no call; the caller chooses offsets",
    "AlgorithmInfo": "changes with no call",
    "Buffer": "draws nonces from a generator that notices a fork",
    "CallLock": "holds no data; a thread of the parent does not hold it in the child",
    "ChaCha20": "changes with no call; the caller chooses offsets",
    "DecryptWith": "changes with no call",
    "Decryptor": "decrypts, so it uses no nonce for a new message",
    "DeterministicAead": "draws no nonces; equal messages are equal in both processes",
    "EncryptWith": "changes with no call; each file has fresh keys or nonces",
    "DescribedFolder": "holds keys; each file has fresh keys or nonces",
    "EncryptedReader": "decrypts, so it uses no nonce for a new message",
    "Fernet": "draws IVs from a generator that notices a fork",
    "FieldOpener": "holds a keyring, opens, and seals nothing; its lock is held only with the GIL",
    "FileInfo": "changes with no call",
    "FileOver": "decrypts, so it uses no nonce for a new message",
    "Job": "keeps its place in a list of files; each file has fresh keys or nonces",
    "Key": "changes with no call",
    "Keyring": "holds keys and seals nothing; each Aead and each file has the keys of its time",
    "KeyringKey": "changes with no call",
    "LocalFile": "decrypts, so it uses no nonce for a new message",
    "Operation": "changes with no call; each file has fresh keys or nonces",
    "ProviderInfo": "changes with no call",
    "PublicKey": "changes with no call",
    "REncrypt": "draws nonces from a generator that notices a fork",
    "Ranges": "changes with no call",
    "Reader": "decrypts, so it uses no nonce for a new message",
    "RemoteFile": "decrypts, so it uses no nonce for a new message",
    "RewrapWith": "changes with no call; each header has fresh keys",
    "Signature": "hashes; signatures of Ed25519 need no nonce",
    "Speck": "changes with no call",
    "SpeckAead": "draws nonces from a generator that notices a fork; documented to count messages per object",
    "SpeckCtr": "changes with no call; the caller chooses offsets",
    "Vault": "holds keys, reads, and seals nothing",
    "XChaCha20": "changes with no call; the caller chooses offsets",
}
"""Classes whose objects work in a child, with the reason why that is safe."""

Calls = list[Callable[[], object]]


def encryptor(_: Path) -> tuple[Calls, Callable[[], None]]:
    one = hazmat.AeadEncryptor("aes-256-gcm", KEY, NONCE).aad(b"header")
    parts = [one.update(b"first ")]
    out = bytearray(6)

    def go_on() -> None:
        sealed = b"".join(parts) + one.update(b"second") + one.finalize()
        assert sealane.Aead("aes-256-gcm", KEY).decrypt(NONCE, sealed, b"header") == b"first second"

    calls = [lambda: one.aad(b"x"), lambda: one.update(b"second"), lambda: one.update_into(b"second", out)]
    return [*calls, one.finalize], go_on


def mac(_: Path) -> tuple[Calls, Callable[[], None]]:
    one = hazmat.Poly1305(KEY).update(b"data")
    return [one.finalize], lambda: one.verify(hazmat.Poly1305(KEY).update(b"data").finalize())


def writer(target: Any, read: Callable[[], bytes], **options: Any) -> tuple[Calls, Callable[[], None]]:
    file = sealane.open(target, "wb", key=KEY, **options)
    file.write(DATA)

    def go_on() -> None:
        file.write(b"end")
        file.close()
        assert sealane.decrypt(read(), key=KEY, **options) == DATA + b"end"

    return [lambda: file.write(b"x"), lambda: file.write(DATA), file.close], go_on


def writer_to_path(folder: Path) -> tuple[Calls, Callable[[], None]]:
    return writer(folder / "file", lambda: (folder / "file").read_bytes())


def writer_to_object(_: Path) -> tuple[Calls, Callable[[], None]]:
    sink = io.BytesIO()
    return writer(sink, sink.getvalue, format="tink-4kb")


def native_writer(folder: Path) -> tuple[Calls, Callable[[], None]]:
    file = _native.Writer.encrypt(str(folder / "file"), _native.EncryptWith(key=KEY), False)

    def go_on() -> None:
        file.write(DATA)
        file.finish(False)
        assert sealane.decrypt((folder / "file").read_bytes(), key=KEY) == DATA

    return [lambda: file.write(b"x"), lambda: file.write(DATA), lambda: file.finish(False)], go_on


def decryptor_to_path(folder: Path) -> tuple[Calls, Callable[[], None]]:
    file = _native.Writer.decrypt(str(folder / "file"), _native.DecryptWith(key=KEY))
    sealed = sealane.encrypt(DATA, key=KEY)
    file.write(sealed[:2_000_000])

    def go_on() -> None:
        file.write(sealed[2_000_000:])
        file.finish(False)
        assert (folder / "file").read_bytes() == DATA

    return [lambda: file.write(sealed[2_000_000:])], go_on


def output(folder: Path) -> tuple[Calls, Callable[[], None]]:
    file = _native.Writer.plain(str(folder / "file"), True)
    file.write(b"of the parent")

    def go_on() -> None:
        file.finish(False)
        assert (folder / "file").read_bytes() == b"of the parent"

    return [lambda: file.write(b"of the child"), lambda: file.finish(False)], go_on


def written_file(folder: Path) -> tuple[Calls, Callable[[], None]]:
    os.environ["COPIES_KEY"] = sealane.keys.generate("aes-256").to_text()
    fs = fsspec.filesystem("sealane", target_protocol="memory", key="env:COPIES_KEY")
    file = fs.open(f"/{folder.name}/file", "wb")
    file.write(DATA)

    def go_on() -> None:
        file.close()
        assert fs.cat_file(f"/{folder.name}/file") == DATA

    return [lambda: file.write(b"x"), lambda: file.write(DATA), file.close], go_on


REFUSES = {
    "AeadEncryptor": [encryptor],
    "EncryptedWriter": [writer_to_path, writer_to_object],
    "Poly1305": [mac],
    "Writer": [native_writer, decryptor_to_path, output],
    "WrittenFile": [written_file],
}
"""Classes whose objects refuse to continue in a child, with functions that make one."""


def classes() -> set[str]:
    file_objects = [
        sealane.EncryptedReader,
        sealane.EncryptedWriter,
        *(
            member
            for module in (sealane.fs._reading, sealane.fs._writing)
            for _, member in inspect.getmembers(module, inspect.isclass)
            if issubclass(member, io.IOBase) and member.__module__ == module.__name__
        ),
    ]
    native = [member for _, member in inspect.getmembers(_native, inspect.isclass)]
    return {member.__name__ for member in [*native, *file_objects]}


# claim: fork-objects
def test_every_class_is_in_the_table() -> None:
    assert classes() == CONTINUES.keys() | REFUSES.keys()
    assert not CONTINUES.keys() & REFUSES.keys()


def test_no_class_of_the_native_module_is_pickled_unless_all_is_public() -> None:
    public = {"AlgorithmInfo", "CallLock", "FileInfo", "KeyringKey", "ProviderInfo", "PublicKey"}
    # A buffer has words of its own.
    for name, member in inspect.getmembers(_native, inspect.isclass):
        if name not in public | {"Buffer"}:
            with pytest.raises(TypeError, match="never pickled"):
                member.__reduce__()


def result_or_exception(call: Callable[[], object]) -> object:
    try:
        return call()
    except Exception as error:
        return type(error).__name__


def results_in_child(calls: Calls) -> list[object]:
    """Makes the calls in a forked child and returns their results, or the names of their exceptions."""
    return list(in_child(lambda: [result_or_exception(call) for call in calls]))


# claim: fork-objects
@pytest.mark.parametrize("make", [make for makes in REFUSES.values() for make in makes])
def test_a_child_is_refused_and_the_parent_continues(
    make: Callable[[Path], tuple[Calls, Callable[[], None]]], tmp_path: Path
) -> None:
    calls, go_on = make(tmp_path)
    for call in calls:
        assert results_in_child([call]) == ["ForkedError"]
    go_on()
    assert leftovers(tmp_path) in ([], ["file"])


def test_a_child_that_exits_leaves_the_file_of_the_parent(tmp_path: Path) -> None:
    """At the end of a child, destructors run, but not those that would remove or complete something."""
    path = tmp_path / "file"
    file = sealane.open(path, "wb", key=KEY)
    file.write(DATA)
    assert results_in_child([lambda: file.discard() or file.closed]) == [True]
    file.close()
    assert sealane.decrypt(path.read_bytes(), key=KEY) == DATA


def test_objects_that_use_no_nonce_work_in_a_child(tmp_path: Path) -> None:
    sealed = sealane.encrypt(DATA, key=KEY)
    (tmp_path / "sealed").write_bytes(sealed)
    one = sealane.Aead("aes-256-gcm", KEY)
    message = one.encrypt(NONCE, b"data")
    decryptor = hazmat.AeadDecryptor("aes-256-gcm", KEY, NONCE)
    for source in tmp_path / "sealed", io.BytesIO(sealed):
        reader = sealane.open(source, "rb", key=KEY)
        read = results_in_child([lambda r=reader: r.read(10), lambda r=reader: r.read() == DATA[10:]])
        assert read == [DATA[:10], True]
        assert reader.read() == DATA
    assert results_in_child(
        [
            lambda: decryptor.update(message[:-16]),
            lambda: decryptor.finalize(message[-16:]),
            lambda: one.decrypt(NONCE, message),
            lambda: one.open(one.seal(b"x")),
            lambda: hazmat.AesCtr(KEY, bytes(16)).xor_at(5, bytes(3)),
        ]
    ) == [b"data", None, b"data", b"x", hazmat.AesCtr(KEY, bytes(16)).xor_at(5, bytes(3))]


def test_an_upload_of_the_parent_is_not_touched_by_a_child() -> None:
    """A child has a copy of a multipart upload. Its end must neither complete nor abort the upload."""
    from sealane.fs import _store, _writing

    class Spilled:
        closed = discarded = False

        def write(self, data: bytes) -> int:
            return len(data)

        def discard(self) -> None:
            Spilled.discarded = True

    class Objects:
        protocol = "s3"

        def _open(self, *_: object, **__: object) -> Spilled:
            return Spilled()

    upload = _writing.Upload(_store.Store(Objects()), "bucket/key", None, exclusive=False)
    upload.write(bytes(9 << 20))
    assert results_in_child([lambda: upload.discard() or Spilled.discarded]) == [False]
    upload.discard()
    assert Spilled.discarded
