"""Calls that fail after they have read a key: statements, their exception, and the secrets that they read.

Each function writes the files of its call to a folder, with new secrets. The statements know ``sealane`` and
``secret(path)``, see ``memory_image.python``.
"""

from __future__ import annotations

import base64
import functools
import json
import secrets
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import sealane
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from sealane.keys import Keyring


class Case(NamedTuple):
    """Statements that fail, the exception with which they do, and the secrets that they have read."""

    source: str
    error: str
    secrets: dict[str, bytes]


def jwk(key: bytes) -> str:
    return json.dumps({"kty": "oct", "k": base64.urlsafe_b64encode(key).decode().rstrip("=")})


def entry(key: bytes, number: int, **changed: str) -> dict[str, object]:
    """Returns a key of a Tink keyset for AES-256-GCM."""
    value = base64.b64encode(b"\x1a" + bytes([len(key)]) + key).decode()
    data = {
        "typeUrl": "type.googleapis.com/google.crypto.tink." + changed.get("type", "AesGcmKey"),
        "value": changed.get("value", value),
        "keyMaterialType": "SYMMETRIC",
    }
    status = changed.get("status", "ENABLED")
    return {"keyData": data, "status": status, "keyId": number, "outputPrefixType": "TINK"}


def keyset(*keys: dict[str, object], primary: int = 1) -> str:
    return json.dumps({"primaryKeyId": primary, "key": keys})


def two() -> dict[str, bytes]:
    return {"first key": secrets.token_bytes(32), "second key": secrets.token_bytes(32)}


def damaged_ring(folder: Path, change: Callable[[bytes, bytes], str], error: str = "FormatError") -> Case:
    """A file with a keyring of two keys that cannot be used."""
    keys = two()
    (folder / "ring.json").write_text(change(*keys.values()))
    return Case("sealane.keys.resolve('file:ring.json')", error, keys)


def without_end(a: bytes, b: bytes) -> str:
    return keyset(entry(a, 1), entry(b, 2))[:-9]


def with_escapes(a: bytes, b: bytes) -> str:
    """JSON writers may escape any character. Here, the second key has a type that does not exist."""
    text = keyset(entry(a, 1), entry(b, 2, type="Other"))
    return "".join(f"\\u{ord(c):04x}" if c in "+/=AQg" and i > 150 else c for i, c in enumerate(text))


def with_a_number_as_text(a: bytes, b: bytes) -> str:
    """The secret is where another kind of value belongs."""
    return keyset(entry(a, 1), entry(b, 2)).replace('"keyId": 2', '"keyId": "' + b.hex() + '"')


def with_a_typing_error(a: bytes, b: bytes) -> str:
    value = base64.b64encode(b"\x1a\x20" + b).decode()
    return keyset(entry(a, 1), entry(b, 2, value=value[:-3] + "*" + value[-2:]))


RINGS: dict[str, Callable[[bytes, bytes], str]] = {
    "unknown type": lambda a, b: keyset(entry(a, 1), entry(b, 2, type="HpkePrivateKey")),
    "duplicate ids": lambda a, b: keyset(entry(a, 1), entry(b, 1)),
    "no primary": lambda a, b: keyset(entry(a, 1), entry(b, 2), primary=3),
    "disabled primary": lambda a, b: keyset(entry(a, 1, status="DISABLED"), entry(b, 2)),
    "destroyed primary": lambda a, b: keyset(entry(a, 1, status="DESTROYED"), entry(b, 2)),
    "another length": lambda a, b: keyset(entry(a, 1), entry(b[:31], 2)),
    "truncated": without_end,
    "escapes": with_escapes,
    "text for a number": with_a_number_as_text,
    "typing error": with_a_typing_error,
}


def damaged_binary_ring(folder: Path) -> Case:
    keys = two()
    ring = Keyring.from_json(keyset(*(entry(key, at + 1) for at, key in enumerate(keys.values())))).to_bytes()
    (folder / "ring").write_bytes(ring[:-1])
    return Case("sealane.keys.load('ring')", "FormatError", keys)


def disabled_key(folder: Path) -> Case:
    """A file whose key is disabled in the keyring."""
    keys = two()
    a, b = keys.values()
    sealed = sealane.encrypt(b"data", key=b)
    (folder / "data").write_bytes(sealed)
    (folder / "ring.json").write_text(keyset(entry(a, 1), entry(b, 2, status="DISABLED")))
    return Case(
        "sealane.decrypt_file('data', 'out', key=sealane.keys.load('ring.json'))", "AuthenticationError", keys
    )


def disabled_message_key(folder: Path) -> Case:
    keys = two()
    a, b = keys.values()
    ring = Keyring.from_json(keyset(entry(b, 2), primary=2))
    (folder / "message").write_bytes(sealane.Aead(keyring=ring).seal(b"data"))
    (folder / "ring.json").write_text(keyset(entry(a, 1), entry(b, 2, status="DISABLED")))
    return Case(
        "sealane.Aead(keyring=sealane.keys.load('ring.json')).open(open('message', 'rb').read())",
        "AuthenticationError",
        keys,
    )


def damaged_file(folder: Path, statement: str, **options: str) -> Case:
    """A file that was changed, under the right key."""
    key = secrets.token_bytes(32)
    (folder / "key.jwk").write_text(jwk(key))
    sealed = bytearray(sealane.encrypt(bytes(100_000), key=key, **options))  # type: ignore[arg-type]
    sealed[50_000] ^= 1
    (folder / "data").write_bytes(sealed)
    return Case(statement, "AuthenticationError", {"key": key})


def wrong_key_file(folder: Path) -> Case:
    key = secrets.token_bytes(32)
    (folder / "key.jwk").write_text(jwk(key))
    (folder / "data").write_bytes(sealane.encrypt(b"data", key=secrets.token_bytes(32)))
    return Case(
        "sealane.decrypt_file('data', 'out', key=sealane.keys.load('key.jwk'))",
        "AuthenticationError",
        {"key": key},
    )


def changed_message(folder: Path, algorithm: str) -> Case:
    key = secrets.token_bytes(len(sealane.generate_key(algorithm)))
    (folder / "key.jwk").write_text(jwk(key))
    (folder / "message").write_bytes(bytes(100))
    source = f"sealane.Aead({algorithm!r}, sealane.keys.load('key.jwk')).open(open('message', 'rb').read())"
    return Case(source, "AuthenticationError", {"key": key})


def key_file_with_a_typing_error(folder: Path, kind: str) -> Case:
    """A file with a secret key in which one character is wrong."""
    key = secrets.token_bytes(32)
    if kind == "jwk":
        text = jwk(key).replace('"}', '*"}')
    elif kind == "escaped jwk":
        text = jwk(key)
        text = text[:40] + "\\ud800" + text[41:]
    elif kind == "hexadecimal":
        text = key.hex()[:-1] + "g"
    else:
        found = sealane.keys.generate(kind)
        text = found.to_text()
        if kind == "age":
            raw = bech32(text.strip().lower())
            (folder / "key").write_text(text.strip()[:-1] + ("Q" if text.strip()[-1] != "Q" else "P"))
            source = "sealane.decrypt(b'x', identities=[__import__('pathlib').Path('key')])"
            return Case(source, "FormatError", {"identity": raw, "text": text_of(text)})
        body = base64.b64decode("".join(line for line in text.splitlines() if "-----" not in line))
        key = body[-40:-8] if kind == "p-256" else body[-32:]
        if kind == "p-256":
            at = body.index(b"\x04\x20") + 2
            key = body[at : at + 32]
        text = text.replace("-----END", "*\n-----END")
    (folder / "key").write_text(text)
    return Case("sealane.keys.load('key')", "FormatError", {"key": key})


def text_of(identity: str) -> bytes:
    """Returns what is secret in the text of an age identity."""
    return identity.strip().rpartition("1")[2].encode()


def bech32(text: str) -> bytes:
    """Returns the 32 bytes of an age identity in lower case."""
    values = ["qpzry9x8gf2tvdw0s3jn54khce6mua7l".index(c) for c in text.rpartition("1")[2][:-6]]
    return int("".join(f"{value:05b}" for value in values)[:256], 2).to_bytes(32, "big")


def wrong_passphrase(folder: Path, kind: str) -> Case:
    """A passphrase that does not decrypt a file or a key file."""
    text = secrets.token_hex(20).encode()
    (folder / "passphrase").write_bytes(text)
    key = sealane.keys.generate("x25519" if kind == "pkcs8" else "aes-256")
    if kind == "file":
        (folder / "data").write_bytes(sealane.encrypt(b"data", passphrase="another"))
        source = "sealane.decrypt_file('data', 'out', passphrase=passphrase)"
    else:
        key.save(folder / "key", passphrase="another")
        source = "sealane.keys.load('key', passphrase)"
    source = f"passphrase = secret('passphrase')\ntry: {source}\nfinally: passphrase[:] = bytes(40)"
    return Case(source, "NoMatchingKeyError", {"passphrase": text})


def right_passphrase(folder: Path) -> Case:
    """A key file that a passphrase decrypts, and a file that the key does not."""
    text, key = secrets.token_hex(20).encode(), secrets.token_bytes(32)
    (folder / "passphrase").write_bytes(text)
    sealane.keys.Key.from_bytes(key).save(folder / "key", passphrase=text)
    (folder / "data").write_bytes(bytes(1000))
    source = (
        "passphrase = secret('passphrase')\n"
        "key = sealane.keys.load('key', passphrase)\n"
        "passphrase[:] = bytes(40)\n"
        "sealane.decrypt_file('data', 'out', key=key)"
    )
    return Case(source, "AuthenticationError", {"passphrase": text, "key": key})


def wrong_identity(folder: Path, kind: str, damaged: bool) -> Case:
    identity, other = sealane.keys.generate(kind), sealane.keys.generate(kind)
    text = identity.to_text().strip()
    (folder / "identity").write_text(text)
    reader = identity if damaged else other
    assert reader.public is not None
    sealed = bytearray(sealane.encrypt(bytes(100_000), recipients=[reader.public]))
    sealed[-50_000] ^= 1
    (folder / "data").write_bytes(sealed)
    source = "import pathlib; sealane.decrypt_file('data', 'out', identities=[pathlib.Path('identity')])"
    return Case(
        source,
        "AuthenticationError" if damaged else "NoMatchingKeyError",
        {"identity": bech32(text.lower()), "text": text_of(text), "lower": text_of(text).lower()},
    )


def right_passphrase_of(folder: Path, kind: str) -> Case:
    """A private key that a passphrase decrypts, and a call that fails with it."""
    text = secrets.token_hex(20).encode()
    (folder / "passphrase").write_bytes(text)
    (folder / "data").write_bytes(sealane.encrypt(b"data", key=secrets.token_bytes(32)))
    error, found = "AuthenticationError", {"passphrase": text}
    if kind == "rsa":
        private = rsa.generate_private_key(65537, 2048)
        (folder / "key").write_bytes(
            private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(text))
        )
        numbers = private.private_numbers()
        found |= {"p": numbers.p.to_bytes(128, "big"), "qinv": numbers.iqmp.to_bytes(128, "big")}
        call = "sealane.hybrid.open(sealane.keys.load('key', passphrase), bytes(1000))"
    else:
        (folder / "key").touch(0o600)
        pair = ed25519.Ed25519PrivateKey.generate()
        (folder / "key").write_bytes(pair.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
        new = ["ssh-keygen", "-q", "-p", "-N", text.decode(), "-f", str(folder / "key")]
        subprocess.run(new, check=True, capture_output=True)
        found["seed"] = pair.private_bytes_raw()
        call = "sealane.signing.sign(pathlib.Path('missing'), key='key', passphrase=passphrase)"
        error = "FileNotFoundError"
        if kind == "identity":
            call = "sealane.decrypt_file('data', 'out', identities=[sealane.keys.load('key', passphrase)])"
            error = "FormatError"
    source = (
        "import pathlib, sealane.hybrid, sealane.signing\n"
        f"passphrase = secret('passphrase')\ntry: {call}\nfinally: passphrase[:] = bytes(40)"
    )
    return Case(source, error, found)


def wrong_age_dataset_key(folder: Path) -> Case:
    """A dataset key in an age file, for a file that it does not decrypt."""
    key, identity = secrets.token_bytes(32), sealane.keys.generate("age")
    assert identity.public is not None
    (folder / "_key.age").write_bytes(sealane.encrypt(jwk(key).encode(), recipients=[identity.public]))
    identity.save(folder / "identity")
    (folder / "data").write_bytes(bytes(1000))
    source = (
        "import fsspec\n"
        f"fs = fsspec.filesystem('sealane', target_protocol='file', key='age:{folder}/_key.age',\n"
        f"                       identity='file:{folder}/identity', skip_instance_cache=True)\n"
        f"fs.cat_file('{folder}/data')"
    )
    text = identity.to_text().strip()
    return Case(
        source,
        "AuthenticationError",
        {"key": key, "identity": bech32(text.lower()), "text": text_of(text)},
    )


def failing_rewrap(folder: Path, recipients: str, error: str) -> Case:
    """A dataset key that cannot be encrypted again."""
    found = wrong_age_dataset_key(folder)
    source = (
        "import sealane.fs\n"
        f"sealane.fs.rewrap_dataset_key('{folder}/_key.age', identity='file:{folder}/identity', "
        f"recipients={recipients})"
    )
    return Case(source, error, found.secrets)


def fernet(folder: Path) -> Case:
    key = secrets.token_bytes(32)
    (folder / "key").write_bytes(base64.urlsafe_b64encode(key))
    source = (
        "from sealane.compat.fernet import Fernet\n"
        "text = secret('key')\n"
        "fernet = Fernet(text)\n"
        "text[:] = bytes(44)\n"
        "fernet.decrypt(b'gAAAAA' + b'A' * 94)"
    )
    return Case(source, "InvalidToken", {"key": key})


def plugin(folder: Path, behaviour: str) -> Case:
    """A plugin that is missing, silent, ends early or lies."""
    data = secrets.token_bytes(32)
    text = bech32_encoded("age-plugin-bad-", data).upper()
    (folder / "identity").write_text(text)
    reader = sealane.keys.generate("age").public
    assert reader is not None
    (folder / "data").write_bytes(sealane.encrypt(b"data", recipients=[reader]))
    read = "while read -r line; do test \"$line\" = '-> done' && break; done; read -r line\n"
    scripts = {
        "hangs": read + "sleep 60",
        "ends": "exit 0",
        "lies": read
        + "echo '-> file-key 0'; echo AAAAAAAAAAAAAAAAAAAAAA; read -r line; echo '-> done'; echo",
        "repeats": 'read -r a; read -r a; read -r id; echo "-> error internal"; echo "$id"',
    }
    if behaviour != "is missing":
        (folder / "age-plugin-bad").write_text(f"#!/bin/sh\n{scripts[behaviour]}\n")
        (folder / "age-plugin-bad").chmod(0o700)
    # On a busy machine a script may be silent for half a second before it does what it is there
    # for.
    timeout = 0.5 if behaviour == "hangs" else 60
    source = (
        "import pathlib\n"
        f"sealane.plugins.enable(timeout={timeout}, path='{folder}')\n"
        "sealane.decrypt_file('data', 'out', identities=[pathlib.Path('identity')])"
    )
    return Case(
        source,
        "PluginError",
        {"identity": data, "text": text[16:].encode(), "lower": text[16:].lower().encode()},
    )


def bech32_encoded(prefix: str, data: bytes) -> str:
    """Returns Bech32 (BIP 173) of 32 bytes."""
    bits = f"{int.from_bytes(data, 'big'):0256b}0000"
    values = [int(bits[at : at + 5], 2) for at in range(0, 260, 5)]
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    check = 1
    for value in [*expanded, *values, *[0] * 6]:
        top, check = check >> 25, (check & 0x1FFFFFF) << 5 ^ value
        for i, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= generator if top >> i & 1 else 0
    values += [(check ^ 1) >> 5 * (5 - i) & 31 for i in range(6)]
    return prefix + "1" + "".join("qpzry9x8gf2tvdw0s3jn54khce6mua7l"[value] for value in values)


LOCAL: dict[str, Callable[[Path], Case]] = {
    **{
        f"rewrap, {name}": functools.partial(failing_rewrap, recipients=recipients, error=error)
        for name, recipients, error in [
            ("no recipient", "['age1thisisnorecipient']", "FormatError"),
            ("empty", "[]", "ValueError"),
            ("a number", "[1]", "TypeError"),
            ("a plugin", "['age1bad1qqqq']", "FormatError"),
        ]
    },
    **{f"keyring, {name}": functools.partial(damaged_ring, change=change) for name, change in RINGS.items()},
    "keyring, binary": damaged_binary_ring,
    "disabled key": disabled_key,
    "disabled key of a message": disabled_message_key,
    "damaged file": functools.partial(
        damaged_file, statement="sealane.decrypt_file('data', 'out', key=sealane.keys.load('key.jwk'))"
    ),
    "damaged Tink file": functools.partial(
        damaged_file,
        statement="sealane.decrypt_file('data', 'out', format='tink-4kb', key=sealane.keys.load('key.jwk'))",
        format="tink-4kb",
    ),
    "damaged file, read": functools.partial(
        damaged_file, statement="sealane.open('data', key=sealane.keys.load('key.jwk')).read()"
    ),
    "damaged file, dataset": functools.partial(
        damaged_file,
        statement="import fsspec, os; fsspec.filesystem('sealane', target_protocol='file', "
        "key='file:' + os.path.abspath('key.jwk'), skip_instance_cache=True)"
        ".cat_file(os.path.abspath('data'))",
    ),
    "wrong key": wrong_key_file,
    "key file, jwk": functools.partial(key_file_with_a_typing_error, kind="jwk"),
    "key file, escaped jwk": functools.partial(key_file_with_a_typing_error, kind="escaped jwk"),
    "key file, hexadecimal": functools.partial(key_file_with_a_typing_error, kind="hexadecimal"),
    "key file, age": functools.partial(key_file_with_a_typing_error, kind="age"),
    "key file, x25519": functools.partial(key_file_with_a_typing_error, kind="x25519"),
    "key file, p-256": functools.partial(key_file_with_a_typing_error, kind="p-256"),
    "wrong passphrase of a file": functools.partial(wrong_passphrase, kind="file"),
    "wrong passphrase of a key": functools.partial(wrong_passphrase, kind="age"),
    "wrong passphrase of a PKCS#8 key": functools.partial(wrong_passphrase, kind="pkcs8"),
    "right passphrase": right_passphrase,
    **{
        f"right passphrase, {kind}": functools.partial(right_passphrase_of, kind=kind)
        for kind in ("rsa", "identity", "signature")
    },
    "wrong identity": functools.partial(wrong_identity, kind="age", damaged=False),
    "wrong identity, post-quantum": functools.partial(wrong_identity, kind="age-pq", damaged=False),
    "damaged age file": functools.partial(wrong_identity, kind="age", damaged=True),
    "dataset key in an age file": wrong_age_dataset_key,
    "Fernet": fernet,
    **{
        f"plugin {behaviour}": functools.partial(plugin, behaviour=behaviour)
        for behaviour in ("is missing", "hangs", "ends", "lies", "repeats")
    },
    **{
        f"changed message, {algorithm}": functools.partial(changed_message, algorithm=algorithm)
        for algorithm in (
            "aes-256-gcm",
            "aes-256-gcm-siv",
            "chacha20-poly1305",
            "xchacha20-poly1305",
            "aegis-256",
        )
    },
}
