"""No secret in what a failing call leaves: the variables of our frames, texts, notes, pickles and logs.

The table has every public function with a parameter for a secret. Each is called with every secret
in every form that it may take, and in every way to fail.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import importlib
import inspect
import itertools
import logging
import pickle
import pkgutil
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest
import sealane
import sealane.aio
import sealane.fs
import sealane.parquet
import sqlalchemy
from executors import Here
from sealane import keys
from sealane.compat.rencrypt import Cipher

KEY = bytes.fromhex("a7c4f01d9b3e5826d1c07f4a93b85ee2146bd9037ac85f21e6904db73c1f88a5")
PASSPHRASE = "correct horse 7c1e battery 5d2a staple"
IDENTITY = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
PIN = "83920175"
OTHER = bytes(range(32))
RING = keys.Keyring.from_key(OTHER, "aes-256-gcm")
TOKEN = sealane.jwe.encrypt(b"", OTHER, alg="dir", enc="A256GCM")

SECRETS = {
    "key": KEY[:31],  # Some values are one byte short.
    "passphrase": PASSPHRASE.encode(),
    "identity": IDENTITY[:60].encode(),
    "lower case": IDENTITY[:60].lower().encode(),
    "pin": PIN.encode(),
}


def _forms() -> Iterator[tuple[str, bytes]]:
    for name, secret in SECRETS.items():
        yield f"{name}, raw", secret
        yield f"{name}, hexadecimal", secret.hex().encode()
        yield f"{name}, repr", repr(secret)[2:-1].encode()
        for start in range(3):
            yield f"{name}, base64", base64.b64encode(secret[start : start + (len(secret) - start) // 3 * 3])
            yield (
                f"{name}, base64url",
                base64.urlsafe_b64encode(secret[start : start + (len(secret) - start) // 3 * 3]),
            )


FORMS = list(_forms())


def found_in(data: bytes) -> list[str]:
    return [name for name, form in FORMS if form in data or form.upper() in data.upper()]


# What is searched


def held(value: object, depth: int = 6) -> Iterator[bytes]:
    """Yields what a variable holds, directly or in what it refers to."""
    if isinstance(value, str):
        yield value.encode(errors="replace")
    elif isinstance(value, bytes | bytearray):
        yield bytes(value)
    elif isinstance(value, memoryview):
        with contextlib.suppress(ValueError):
            yield value.tobytes()
    elif depth:
        inner: list[object] = []
        if isinstance(value, dict):
            inner = [*value, *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            inner = list(value)
        elif isinstance(value, functools.partial):
            inner = [value.func, value.args, value.keywords]
        elif isinstance(value, types.FunctionType):
            inner = [cell.cell_contents for cell in value.__closure__ or () if has_contents(cell)]
        elif isinstance(value, types.MethodType):
            inner = [value.__self__]
        elif isinstance(value, types.CoroutineType) and value.cr_frame is not None:
            inner = [dict(value.cr_frame.f_locals)]
        elif isinstance(value, types.GeneratorType) and value.gi_frame is not None:
            inner = [dict(value.gi_frame.f_locals)]
        elif type(value).__module__.startswith("sealane") and hasattr(value, "__dict__"):
            inner = [vars(value)]
            yield repr(value).encode(errors="replace")
        elif isinstance(value, BaseException):
            inner = [value.args]
        for one in inner:
            yield from held(one, depth - 1)


def has_contents(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def left_by(error: BaseException, seen: set[int]) -> Iterator[tuple[str, bytes]]:
    """Yields what an exception shows or keeps, with those that led to it."""
    if id(error) in seen:
        return
    seen.add(id(error))
    yield "str", str(error).encode(errors="replace")
    yield "repr", repr(error).encode(errors="replace")
    for place in "args", "__dict__", "__notes__":
        for one in held(getattr(error, place, ())):
            yield place, one
    with contextlib.suppress(Exception):
        yield "pickle", pickle.dumps(error)
    at = error.__traceback__
    while at is not None:
        frame = at.tb_frame
        if frame.f_globals.get("__name__", "").partition(".")[0] == "sealane":
            for variable, value in list(frame.f_locals.items()):
                for one in held(value):
                    yield f"{frame.f_code.co_filename}:{at.tb_lineno}: {variable}", one
        at = at.tb_next
    for other in (error.__cause__, error.__context__, *getattr(error, "exceptions", ())):
        if other is not None:
            yield from left_by(other, seen)


# The secrets, by the parameters that take them


def _yielding(*values: object) -> Iterator[object]:
    """An iterable that fails after it has yielded the secret."""
    yield from values
    raise ZeroDivisionError


_BYTES = [
    *(lambda: KEY, lambda: KEY[:31], lambda: bytearray(KEY), lambda: memoryview(KEY[:31])),
    *(lambda: KEY.hex(), lambda: base64.b64encode(KEY), lambda: [KEY], lambda: {"k": KEY}),
    lambda: keys.Key.from_bytes(KEY),
]
_TEXTS = [
    *(lambda: PASSPHRASE, lambda: PASSPHRASE.encode(), lambda: bytearray(PASSPHRASE.encode())),
    *(lambda: [PASSPHRASE], lambda: PASSPHRASE + "\n", lambda: PASSPHRASE.encode() + b"\xff"),
]
_IDENTITIES = [
    *(lambda: [IDENTITY], lambda: [IDENTITY[:-1]], lambda: IDENTITY, lambda: [IDENTITY.encode()]),
    *(lambda: [KEY], lambda: [[IDENTITY]], lambda: _yielding(IDENTITY), lambda: (IDENTITY, 3)),
    *(lambda: ["call:somewhere:wrong_identity"], lambda: ["env:BAD_IDENTITY"]),
]
_REFERENCES = [
    *(lambda: "env:BAD_KEY", lambda: "file:bad.key", lambda: "keyring:service/user"),
    *(lambda: "call:somewhere:short", lambda: "call:somewhere:text", lambda: "call:somewhere:fails"),
    *(lambda: "each:somewhere:short", lambda: "each:somewhere:fails"),
    *(lambda: "env:KEY", lambda: f"pkcs11:token=none?pin-value={PIN}#key.json"),
]
_WRAPPING = [
    *(lambda: f"pkcs11:token=none;object=k?pin-value={PIN}", lambda: f"pkcs11:tok?pin-value={PIN}&x"),
    *(lambda: f"pkcs11:token=none?pin-value={PIN}#place", lambda: [f"pkcs11:?pin-value={PIN}"]),
    *(lambda: KEY.hex(), lambda: KEY),
]
_IDENTITY = [
    *(lambda: "env:BAD_IDENTITY", lambda: "call:somewhere:wrong_identity", lambda: "file:bad.key"),
    *(lambda: "call:somewhere:identity", lambda: "keyring:service/user", lambda: "env:IDENTITY"),
    *(lambda: f"pkcs11:token=none?pin-value={PIN}", lambda: IDENTITY, lambda: KEY),
]
_PRIVATE = [*_BYTES, lambda: IDENTITY, lambda: PASSPHRASE]

FORMS_OF: dict[str, list[Callable[[], Any]]] = {
    "key": [*_BYTES, *_REFERENCES],
    "encrypt_names": [*_BYTES, *_REFERENCES],
    "reference": [*_REFERENCES, lambda: KEY, lambda: KEY.hex(), lambda: [KEY]],
    "recipients": _IDENTITIES,
    "request": [lambda: PASSPHRASE],
    "passphrase": _TEXTS,
    "new_passphrase": _TEXTS,
    "sign_passphrase": _TEXTS,
    "identities": _IDENTITIES,
    "identity": _IDENTITY,
    "wrapping_key": _WRAPPING,
    "private": _PRIVATE,
    "sign_key": [*_BYTES, lambda: IDENTITY],
    "sender": _PRIVATE,
    "psk": _BYTES,
    "sk_hex": _PRIVATE,
    "key_bytes": _BYTES,
    "keyring": _BYTES,
    "storage_options": [lambda: {"secret": PASSPHRASE}],
    "keys": [*(lambda make=make: {"name": make()} for make in [*_BYTES, *_REFERENCES]), *_BYTES],
    "fernets": [lambda: [KEY], lambda: KEY, lambda: _yielding(KEY)],
}
"""The names of parameters for secrets, and what they are given."""

PUBLIC = {
    *("is_ephemeral_key_compressed", "is_hkdf_key_compressed", "master_key_identifier", "wrapped_key"),
    *("token", "include_password", "private_only", "passes", "ordering"),
}
"""Parameters with such a name that take no secret: ciphertexts, for example."""

PARSERS = {
    "Key.from_bytes",
    "Key.from_text",
    "Keyring.from_bytes",
    "Keyring.from_json",
    "Keyring.from_jwk_set",
}
"""The first parameter of these is a whole key."""

MODULES = [
    *("sealane", "sealane.keys", "sealane.hybrid", "sealane.plugins", "sealane.hazmat", "sealane.aio"),
    *("sealane.jwe", "sealane.signing"),
    *("sealane.fs", "sealane.parquet", "sealane.compat.fernet", "sealane.compat.rencrypt"),
    *("sealane.sqlalchemy", "sealane.django", "sealane.langgraph", "sealane.litdata", "sealane.temporal"),
]


def sounds_secret(name: str) -> bool:
    parts = ("key", "pass", "pin", "secret", "identit", "token", "cred", "priv", "ring")
    return any(part in name for part in parts)


def with_secrets() -> dict[str, tuple[Any, list[str]]]:
    """Returns every public callable that takes a secret, and its parameters for secrets."""
    found = {}
    for module in MODULES:
        space = importlib.import_module(module)
        for name in space.__all__:
            thing = getattr(space, name)
            rows = [(name, thing)]
            if inspect.isclass(thing):
                rows += [
                    (f"{name}.{attribute}", getattr(thing, attribute))
                    for attribute in dir(thing)
                    if not attribute.startswith("_") and callable(getattr(thing, attribute))
                ]
            for path, call in rows:
                # The signature of a class can be its metaclass's, which takes anything.
                function = vars(call).get("__init__", call) if inspect.isclass(call) else call
                try:
                    parameters = inspect.signature(function).parameters
                except (TypeError, ValueError):
                    continue
                taken = [one for one in parameters if one in FORMS_OF]
                unknown = {one for one in parameters if sounds_secret(one)} - FORMS_OF.keys() - PUBLIC
                assert not unknown, f"{module}.{path}: are these secrets? {unknown}"
                if path in PARSERS:
                    taken.append(next(iter(parameters)))
                if module == "sealane.aio" and any(
                    one.kind is one.VAR_KEYWORD for one in parameters.values()
                ):
                    # As for the function of the same name in `sealane`.
                    taken += found[f"sealane.{path}"][1]
                if taken:
                    found[f"{module}.{path}"] = (call, taken)
    return found


# The table: what else to give to each callable so that the call fails, one way per entry


def fails(*_: object) -> None:
    raise ZeroDivisionError


def _files(*more: dict[str, Any]) -> list[dict[str, Any]]:
    """Calls with a source and a target: not encrypted, missing, no folder, a failing callback."""
    return [
        {"src": "plain", "dst": "out"},
        {"src": "missing", "dst": "out"},
        {"src": "plain", "dst": "no/folder"},
        {"src": "sealed", "dst": "out"},
        {"src": "sealed", "dst": "out", "context": 5},
        {"src": "sealed.age", "dst": "out", "progress": fails},
        *more,
    ]


def _without(calls: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in call.items() if name not in names} for call in calls]


_SOURCES = _without(_files(), "dst")
_PAIRS = [{"pairs": [("plain", "out")], "executor": executor} for executor in (None, Here())]
_PAIRS += [{"pairs": [("missing", "out")]}, {"pairs": 5}, {"pairs": [("sealed", "out")], "progress": fails}]
_TREES = [{"src_dir": "folder", "dst_dir": "out", "executor": executor} for executor in (None, Here())]
_TREES += [{"src_dir": "missing", "dst_dir": "out"}, {"src_dir": "folder", "dst_dir": "out", "suffix": "/"}]
_TREES += [{"src_dir": "folder", "dst_dir": "out", "errors": "other"}]
_OPEN = [{"file": "plain"}, {"file": "missing"}, {"file": "sealed"}, {"file": "sealed.age"}]
_OPEN += [
    {"file": "no/folder", "mode": "wb"},
    {"file": "out", "mode": "w"},
    {"file": 5},
    {"file": "plain", "mode": "xb"},
]
_DATA = [
    {"data": b"not encrypted"},
    {"data": 5},
    {"data": b"", "context": 5},
    {"data": b"", "format": "other"},
]
_URL = [{"url": "memory://key"}, {"url": "missing://key"}, {"url": "sealed.age"}]
_MESSAGE = [{"blob": b"message"}, {"blob": bytes(200), "suite": "other"}, {"blob": 5}]
_INVENTORY = [{"vault": "folder", "inventory": "inventory"}, {"vault": "missing", "inventory": "inventory"}]

CALLS: dict[str, list[dict[str, Any]]] = {
    "sealane.Aead": [{"algorithm": "aes-256-gcm"}, {"algorithm": "other"}, {}],
    "sealane.DeterministicAead": [{"algorithm": "aes-256-siv"}, {"algorithm": "other"}, {}],
    "sealane.Decryptor": [{}, {"format": "other"}],
    "sealane.decrypt": _DATA,
    "sealane.encrypt": _DATA,
    "sealane.decrypt_file": _files(),
    "sealane.encrypt_file": _files({"src": "plain", "dst": "plain"}),
    "sealane.salvage_file": _files({"src": 5, "dst": "out"}),
    "sealane.verify_file": _SOURCES,
    "sealane.rewrap": _without(_files(), "context"),
    "sealane.open": _OPEN,
    "sealane.decrypt_many": _PAIRS,
    "sealane.encrypt_many": _PAIRS,
    "sealane.decrypt_tree": _TREES,
    "sealane.encrypt_tree": _TREES,
    "sealane.verify_tree": _without(_TREES, "dst_dir"),
    "sealane.rotate_tree": _without(_TREES, "dst_dir", "suffix", "executor"),
    "sealane.Folder": [{"path": "missing"}, {"path": "folder"}],
    "sealane.Folder.create": [{"path": "plain"}, {"path": "no/folder"}],
    "sealane.verify_inventory": [{**one, "signer": "bad.key"} for one in _INVENTORY],
    "sealane.write_inventory": [{**one, "sign_key": "bad.key"} for one in _INVENTORY],
    "sealane.keys.Key.from_bytes": [{}, {"alg": 5}],
    "sealane.keys.Key.from_text": [{}],
    "sealane.keys.Key.save": [{"path": "no/folder"}, {"path": "plain"}, {"path": "out"}],
    "sealane.keys.Key.to_text": [{}],
    "sealane.keys.Keyring.add": [{"algorithm": "aes-256-gcm"}, {"algorithm": "other"}],
    "sealane.keys.Keyring.from_bytes": [{}],
    "sealane.keys.Keyring.from_json": [{}],
    "sealane.keys.Keyring.from_jwk_set": [{}],
    "sealane.keys.Keyring.from_key": [{"algorithm": "aes-256-gcm"}, {"algorithm": "other"}],
    "sealane.keys.Keyring.save": [{"path": "no/folder"}, {"path": "plain"}, {"path": "out"}],
    "sealane.keys.derive": [{"salt": b"short"}, {"salt": bytes(16), "passes": 0}],
    "sealane.keys.load": [{"path": "bad.key"}, {"path": "missing"}, {"path": "sealed.age"}],
    "sealane.keys.resolve": [{}],
    "sealane.hybrid.ecies_decrypt": [{"data": bytes(200)}, {"data": 5}],
    "sealane.hybrid.hpke_open": [{**one, "psk_id": b"id"} for one in _MESSAGE],
    "sealane.hybrid.hpke_seal": [
        {"public": 5, "data": b""},
        {"public": "age1", "data": b"", "psk_id": b"id"},
    ],
    "sealane.hybrid.open": _MESSAGE,
    "sealane.hybrid.rsa_open_parts": [
        {"wrapped_key": bytes(256), "ciphertext": b"", "nonce": bytes(12), "tag": bytes(16)}
    ],
    "sealane.jwe.decrypt": [{"token": one} for one in ("a.b.c.d.e", 5, TOKEN, TOKEN.replace(".", "A.", 1))],
    "sealane.jwe.encrypt": [
        {"plaintext": b"", "alg": alg, "enc": "A256GCM", "headers": headers}
        for alg, headers in [("none", None), ("ECDH-ES", None), ("dir", {"alg": 5}), ("dir", {"a": fails})]
    ],
    "sealane.plugins.enable": [{}],
    "sealane.signing.sign": [
        {"data": b"message"},
        {"data": "missing"},
        {"data": 5},
        {"data": b"", "format": "other"},
        {"data": b"", "namespace": ""},
    ],
    "sealane.hazmat.Aead": [{"algorithm": "speck128-256"}, {"algorithm": "other"}],
    "sealane.hazmat.Aead.new_small_block": [{"algorithm": "speck64-128"}],
    "sealane.hazmat.AeadDecryptor": [{"algorithm": "aes-256-gcm", "nonce": b"short"}],
    "sealane.hazmat.AeadEncryptor": [{"algorithm": "aes-256-gcm", "nonce": b"short"}],
    "sealane.hazmat.AesCtr": [{"iv": b"short"}],
    "sealane.hazmat.ChaCha20": [{"nonce": b"short"}],
    "sealane.hazmat.Poly1305": [{}],
    "sealane.hazmat.Poly1305.from_chacha20": [{"nonce": b"short"}],
    "sealane.hazmat.Speck": [{"variant": "speck128-128"}],
    "sealane.hazmat.SpeckCtr": [{"variant": "speck128-256", "iv": b"short"}],
    "sealane.hazmat.XChaCha20": [{"nonce": b"short"}],
    "sealane.aio.Aead": [{"algorithm": "aes-256-gcm"}, {"algorithm": "other"}],
    "sealane.aio.decrypt": _DATA,
    "sealane.aio.encrypt": _DATA,
    "sealane.aio.decrypt_file": _files(),
    "sealane.aio.encrypt_file": _files(),
    "sealane.aio.open": _OPEN,
    "sealane.aio.verify_file": _SOURCES,
    "sealane.fs.SealaneFileSystem": [{"target_protocol": "memory"}, {"target_protocol": "missing"}, {}],
    "sealane.fs.create_dataset_key": [*_URL, {"url": "memory://key", "kind": "other"}],
    "sealane.fs.rewrap": _URL,
    "sealane.fs.rewrap_dataset_key": [{**one, **to} for one in _URL for to in ({}, {"recipients": []})],
    "sealane.parquet.KmsClient": [{}],
    "sealane.parquet.KmsClient.wrap_key": [{"master_key_identifier": name} for name in ("name", "other", 5)],
    "sealane.parquet.ParquetKeys": [{}],
    "sealane.compat.fernet.Fernet": [{}],
    "sealane.compat.fernet.MultiFernet": [{}],
    "sealane.compat.rencrypt.REncrypt": [{"cipher": Cipher.AES256GCM}, {"cipher": "other"}],
}

CALLS |= {
    "sealane.sqlalchemy.Encrypted": [{"type_": sqlalchemy.Text}, {"type_": sqlalchemy.Interval}],
    "sealane.django.EncryptedTextField": [{}, {"row": ["id"]}],
    "sealane.django.EncryptedBinaryField": [{}],
    "sealane.django.EncryptedJSONField": [{}],
    "sealane.langgraph.Cipher": [{}],
    "sealane.litdata.Encryption": [{}],
    "sealane.temporal.Codec": [{}],
}

OBJECTS: dict[str, Callable[[], Any]] = {
    "Key": lambda: keys.Key.from_bytes(KEY),
    "Keyring": lambda: keys.Keyring.from_key(KEY, "aes-256-gcm"),
    "KmsClient": lambda: sealane.parquet.KmsClient({"name": "env:KEY"}),
}
"""The objects with the methods of the table."""

TOGETHER: dict[tuple[str, str], dict[str, Any]] = {
    ("sealane.fs.SealaneFileSystem", "identity"): {"key": "age:/key.age"},
    ("sealane.fs.rewrap_dataset_key", "identity"): {},
    ("sealane.fs.rewrap_dataset_key", "wrapping_key"): {"identity": "pkcs11:token=old"},
    ("sealane.fs.create_dataset_key", "storage_options"): {"recipients": ["age1"]},
    ("sealane.fs.rewrap_dataset_key", "storage_options"): {"identity": "file:bad.key", "recipients": []},
    ("sealane.fs.rewrap_dataset_key", "recipients"): {"identity": "file:bad.key"},
    ("sealane.hybrid.hpke_open", "psk"): {"private": keys.generate("x25519")},
    ("sealane.hybrid.hpke_open", "sender"): {"private": keys.generate("x25519")},
    ("sealane.decrypt_tree", "encrypt_names"): {"key": OTHER},
    ("sealane.encrypt_tree", "encrypt_names"): {"key": OTHER},
    ("sealane.verify_tree", "encrypt_names"): {"key": OTHER},
    ("sealane.rewrap", "new_passphrase"): {"passphrase": "old"},
    ("sealane.rewrap", "recipients"): {"passphrase": "old"},
    ("sealane.fs.rewrap", "new_passphrase"): {"passphrase": "old"},
    ("sealane.fs.rewrap", "recipients"): {"passphrase": "old"},
    ("sealane.write_inventory", "sign_passphrase"): {"key": OTHER},
    ("sealane.write_inventory", "sign_key"): {"key": OTHER},
    ("sealane.Folder.create", "sign_key"): {"key": OTHER},
    ("sealane.signing.sign", "passphrase"): {"key": "bad.key"},
}
"""Other arguments that a parameter needs."""


def used(made: Any) -> Any:
    """Uses the result of a call, if it fails only then."""
    if inspect.isawaitable(made):

        async def awaited() -> Any:
            return await made

        return asyncio.run(awaited())
    if isinstance(made, sealane.fs.SealaneFileSystem):
        made.pipe_file("/file", b"data")
    if isinstance(made, sealane.parquet.ParquetKeys):
        made.polars_encryption("name")
    if hasattr(made, "decrypt") and type(made).__module__ == "sealane.litdata":
        made.decrypt(b"sealed")
    if isinstance(made, sealane.parquet.KmsClient):
        made.wrap_key(OTHER, "name")
    return made


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the table, and the places of bad keys."""
    monkeypatch.chdir(tmp_path)
    Path("plain").write_bytes(b"not encrypted " * 10)
    Path("sealed").write_bytes(sealane.encrypt(b"data", key=OTHER))
    alice = keys.generate("age")
    assert alice.public is not None
    Path("sealed.age").write_bytes(sealane.encrypt(bytes(100_000), recipients=[alice.public]))
    Path("bad.key").write_text(KEY.hex()[:-1] + "g")
    Path("folder").mkdir()
    Path("folder", "file").write_bytes(b"not encrypted")
    (somewhere := types.ModuleType("somewhere")).__dict__.update(
        short=lambda *_: KEY[:31],
        text=lambda *_: KEY.hex(),
        fails=fails,
        identity=lambda: IDENTITY[:-1],
        wrong_identity=lambda: KEY,
    )
    monkeypatch.setitem(sys.modules, "somewhere", somewhere)
    monkeypatch.setattr(keyring, "get_password", lambda *_: IDENTITY[:-1] + KEY.hex())
    monkeypatch.setenv("BAD_KEY", KEY.hex() + "g")
    monkeypatch.setenv("KEY", keys.Key.from_bytes(KEY).to_text())
    monkeypatch.setenv("BAD_IDENTITY", IDENTITY[:-1])
    monkeypatch.setenv("IDENTITY", IDENTITY)
    monkeypatch.setattr(sealane.fs.SealaneFileSystem, "cachable", False)
    memory = sealane.fs.SealaneFileSystem(target_protocol="memory", key="env:KEY").fs
    memory.pipe_file("/key.age", sealane.encrypt(b"no key", recipients=[alice.public]))
    memory.pipe_file("/key", b"no keyset")
    return tmp_path


TAKEN = with_secrets()


def test_the_table_is_complete() -> None:
    assert TAKEN.keys() == CALLS.keys()
    found = {one.name for one in pkgutil.walk_packages(sealane.__path__, "sealane.")}
    public = {"sealane", *(name for name in found if "._" not in name)}
    # One has other modules, the other exceptions.
    assert public - set(MODULES) == {"sealane.compat", "sealane.exceptions"}


def closure(secret: object) -> Callable[[], object]:
    return lambda: secret


@pytest.mark.parametrize(
    "made",
    [
        *(KEY, KEY.hex().upper(), base64.b64encode(b"1" + KEY), bytearray(KEY), memoryview(KEY)),
        *({"a": [KEY]}, {"a": (3, {"b": KEY})}, repr(KEY), functools.partial(fails, KEY), closure(KEY)),
        *(_yielding(KEY), ValueError(PASSPHRASE), IDENTITY, [f"pin-value={PIN}"]),
    ],
    ids=lambda made: type(made).__name__,
)
def test_the_search_finds_a_variable(made: object) -> None:
    source = "def call(secret):\n    1 / 0\ncall(made)"
    with pytest.raises(ZeroDivisionError) as caught:
        exec(source, {"__name__": "sealane.test", "made": made})
    places = {where.rpartition(" ")[2] for where, data in left_by(caught.value, set()) if found_in(data)}
    assert "secret" in places


def test_the_search_finds_a_text() -> None:
    """In an exception that led to one in a group."""
    inner = ValueError(KEY.hex())
    inner.add_note(PASSPHRASE)
    outer = OSError("no secret")
    outer.__cause__ = inner
    shown = {where for where, data in left_by(ExceptionGroup("no secret", [outer]), set()) if found_in(data)}
    assert shown == {"str", "repr", "args", "__dict__", "__notes__", "pickle"}


# claim: memory-failed
@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_left(name: str, place: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    call, taken = TAKEN[name]
    failed, shown = 0, set()
    for given, parameter in itertools.product(CALLS[name], taken):
        first = name.removeprefix("sealane.keys.") in PARSERS and parameter == taken[-1]
        for make in [*_BYTES, *_TEXTS, lambda: IDENTITY] if first else FORMS_OF[parameter]:
            arguments: list[Any] = [make()] if first else []
            options = TOGETHER.get((name, parameter), {}) | given
            if not first:
                options[parameter] = make()
            owner = name.split(".")[-2]
            if owner in OBJECTS and not first and "from_" not in name:
                arguments = [OBJECTS[owner](), *arguments]
            try:
                made = used(call(*arguments, **options))
            except BaseException as error:
                failed += 1
                shown |= {
                    f"{parameter}: {where}: {what}"
                    for where, data in left_by(error, set())
                    for what in found_in(data)
                }
                del error
            else:
                if not isinstance(made, str | bytes):
                    shown |= {f"repr: {what}" for what in found_in(repr(made).encode())}
                if close := getattr(made, "discard", None):
                    left = close()
                    if inspect.isawaitable(left):
                        used(left)
    for record in caplog.records:
        said = f"{record.getMessage()} {record.args!r} {record.exc_text}".encode(errors="replace")
        shown |= {f"log: {record.name}: {what}" for what in found_in(said)}
    assert failed
    assert not shown, "\n".join(sorted(shown))
