"""No key bytes in the memory of a process in which a call with the key has failed, in its output or logs.

Each case makes new secrets, and the child process gets them only by the place where a user keeps them.
``memory_image.py`` says what is searched for. Two exceptions have a test of their own below: what a key
service has returned in cleartext, and keys in the environment.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import secrets
import sys
from pathlib import Path
from typing import Any

import pytest
from failing_calls import (
    LOCAL,
    RINGS,
    Case,
    damaged_file,
    damaged_ring,
    jwk,
    key_file_with_a_typing_error,
    plugin,
    right_passphrase,
    wrong_identity,
    wrong_passphrase,
)
from key_services import (
    Answer,
    Aws,
    Service,
    garbage,
    made,
    nothing_there,
    plaintext,
    refusal,
    shortened,
    silence,
)
from memory_image import MemoryImage, found_in, program, python
from sealane.keys import Keyring, resolve
from tokens import PIN, Tokens
from tokens import made as made_with_token

ROOT = Path(__file__).parents[3]


def failed(case: Case, folder: Path) -> MemoryImage:
    found = python(case.source, folder)
    assert found.error.startswith(case.error), found.error
    return found


# claim: memory-failed
@pytest.mark.parametrize("name", LOCAL)
def test_python(name: str, tmp_path: Path) -> None:
    case = LOCAL[name](tmp_path)
    assert failed(case, tmp_path).shows(**case.secrets) == []


# claim: memory-failed
@pytest.mark.parametrize(
    ("held", "shape"),
    [
        ("sealane.keys.load('key')", "raw"),
        ("open('key', 'rb').read()", "base64url"),
        ("bytes(sealane.keys.load('key')).hex()", "hexadecimal"),
    ],
)
def test_the_search_finds_a_key(held: str, shape: str, tmp_path: Path) -> None:
    """A key that is in use is found, so the other tests can fail."""
    key = secrets.token_bytes(32)
    (tmp_path / "key").write_text(jwk(key))
    found = python(f"alive.append({held})\n1 / 0", tmp_path)
    assert found.error.startswith("ZeroDivisionError")
    assert any(one.startswith(f"memory: key: {shape}, ") for one in found.shows(key=key))


# claim: memory-failed
def test_shapes() -> None:
    key = secrets.token_bytes(32)
    for start in range(3):
        for encode in base64.b64encode, base64.urlsafe_b64encode:
            assert found_in(b"..." + encode(bytes(start) + key + bytes(3)) + b"...", {"key": key})
    assert found_in(b"..." + key[7:24] + b"...", {"key": key}) == [
        "key: raw, from byte 8",
        "key: raw, from byte 16",
    ]
    assert found_in(key.hex().upper().encode(), {"key": key})
    assert not found_in(secrets.token_bytes(100_000), {"key": key})


def secrets_of(ring: Keyring) -> dict[str, bytes]:
    """Returns the key of a keyring. The rest of the keyset has names that every process knows."""
    content = ring.to_bytes()
    return {"key": content[content.index(b"\x1a\x20") + 2 :][:32]}


def of_reference(reference: str) -> dict[str, bytes]:
    ring = resolve(reference)
    assert isinstance(ring, Keyring)
    return secrets_of(ring)


RESOLVE = (
    "from sealane import _wrapping_key\n"
    "_wrapping_key.READ_SECONDS, _wrapping_key.TRIES = 1, 2\n"
    "sealane.keys.resolve({reference!r})"
)


# claim: memory-failed
@pytest.mark.parametrize(
    "world", ["refusal", "garbage", "another context", "changed", "nothing there", "silence", "busy"]
)
def test_a_key_service_that_fails(service: Service, tmp_path: Path, world: str) -> None:
    reference = made(service, tmp_path / "key.json")
    found = of_reference(reference)
    source, error = RESOLVE.format(reference=reference), "KeyServiceError"
    if world == "refusal":
        with service.answering(refusal(service)):
            left, error = python(source, tmp_path), "KeyRefusedError"
    elif world == "garbage":
        with service.answering(garbage):
            left = python(source, tmp_path)
    elif world == "busy":
        with service.answering(lambda *_: (503, b'{"errors": []}')):
            left = python(source, tmp_path)
    elif world == "another context":
        left, error = python(source.replace("sales", "wages"), tmp_path), "AuthenticationError"
    elif world == "changed":
        content = json.loads((tmp_path / "key.json").read_text())
        sealed = bytearray(base64.b64decode(content["encryptedKeyset"]))
        sealed[len(sealed) // 2] ^= 1
        content["encryptedKeyset"] = base64.b64encode(sealed).decode()
        (tmp_path / "key.json").write_text(json.dumps(content))
        left, error = python(source, tmp_path), "AuthenticationError"
    else:
        with {"nothing there": nothing_there, "silence": silence}[world](service):
            left = python(source, tmp_path)
    assert left.error.startswith(error), left.error
    assert left.shows(**found) == []


# claim: memory-failed
@pytest.mark.parametrize("refused", ["encrypt", "decrypt"])
def test_a_rewrap_that_the_new_wrapping_key_refuses(service: Service, tmp_path: Path, refused: str) -> None:
    """The new key is tried with random bytes before the old one decrypts the keyset."""
    reference = made(service, tmp_path / "key.json")
    found, old = of_reference(reference), reference.partition("#")[0]
    new = service.new_key("us-east-1") if isinstance(service, Aws) else service.new_key("transit/refused")
    name = new.partition(":")[2]

    def instead(operation: str, request: dict[str, Any]) -> Answer | None:
        # Vault has the name in the path, and no other key is asked to encrypt.
        if operation.lower() == refused and request.get("KeyId", name) == name:
            return refusal(service)(operation, request)
        return None

    call = f"sealane.fs.rewrap_dataset_key('{tmp_path}/key.json', identity={old!r}, wrapping_key={new!r})"
    source = f"import sealane.fs\n{call}"
    with service.answering(instead):
        left = python(source, tmp_path)
    assert left.error.startswith("KeyRefusedError"), left.error
    assert left.shows(**found) == []


# claim: memory-others
@pytest.mark.parametrize("shape", ["another length", "cut"])
def test_a_key_service_that_returns_another_keyset(service: Service, tmp_path: Path, shape: str) -> None:
    """A named exception. The service has decrypted the keyset, and boto3, hvac and their HTTP libraries hold
    the response in immutable objects of Python, which cannot be wiped. So memory has it, and no text has it.
    """
    reference = made(service, tmp_path / "key.json")
    ring = Keyring.generate()
    sent = shortened(ring.to_bytes()) if shape == "another length" else ring.to_bytes()[:-7]
    arn = reference.partition("#")[0].partition("?")[0].partition(":")[2]
    response = plaintext(service, sent, arn)
    with service.answering(lambda *_: response):
        left = python(RESOLVE.format(reference=reference), tmp_path)
    assert left.error.startswith("FormatError"), left.error
    assert [one for one in left.shows(**secrets_of(ring)) if not one.startswith("memory")] == []


# claim: memory-others
def test_the_environment_holds_its_keys(tmp_path: Path) -> None:
    """A named exception: the environment is a part of the memory of the process."""
    key = secrets.token_bytes(32)
    left = python("sealane.keys.resolve('env:TEST_KEY'); 1 / 0", tmp_path, {"TEST_KEY": jwk(key)})
    assert left.error.startswith("ZeroDivisionError")
    assert left.shows(key=key)
    assert all(
        one.startswith("memory: key: base64url") for one in left.shows(key=key) if "base64," not in one
    )


# claim: memory-failed
@pytest.mark.parametrize("world", ["wrong pin", "another context", "garbage", "removed", "another key"])
def test_a_token_that_fails(tokens: Tokens, tmp_path: Path, world: str) -> None:
    """The PIN comes from a file, because the environment would hold it."""
    key = tokens.new_key()
    reference = made_with_token(key, tmp_path / "key.json")
    found = of_reference(reference)
    pin, environment = PIN, {"SEALANE_PKCS11_PIN": "", "ODD_MODULE": ""}
    if world == "wrong pin":
        pin = secrets.token_hex(8)
    elif world == "another context":
        reference = reference.replace("sales", "wages")
    elif world == "another key":
        reference = reference.replace(key.partition("?")[0], tokens.new_key().partition("?")[0])
    else:
        environment["ODD_MODULE"] = world
    (tmp_path / "pin").write_text(pin + "\n")
    reference = reference.replace("?", f"?pin-source={tmp_path}/pin&", 1)
    left = python(f"sealane.keys.resolve({reference!r})", tmp_path, environment)
    assert left.error.startswith(("Key", "AuthenticationError", "FormatError")), left.error
    assert left.shows(pin=pin.encode(), **found) == []


@functools.cache
def binary() -> Path:
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "sealane"
    found = Path(os.environ.get("SEALANE_BINARY", built))
    if not found.exists():
        pytest.fail(f"{found} does not exist: cargo build --locked -p sealane-cli")
    return found


def arguments(folder: Path, name: str) -> tuple[list[str], dict[str, bytes], list[int]]:
    """Returns arguments of the program, the secrets that it reads, and descriptors that it inherits."""
    if name.startswith("keyring, "):
        found = damaged_ring(folder, RINGS[name.removeprefix("keyring, ")]).secrets
        (folder / "data").write_bytes(bytes(1000))
        return ["decrypt", "-k", "ring.json", "-o", "out", "data"], found, []
    if name == "list of a keyring":
        return ["keyring", "list", "ring.json"], damaged_ring(folder, RINGS["duplicate ids"]).secrets, []
    if name in ("damaged file", "standard output"):
        found = damaged_file(folder, "").secrets
        return ["decrypt", "-k", "key.jwk", "-o", "out" if name == "damaged file" else "-", "data"], found, []
    if name == "wrong passphrase":
        found = wrong_passphrase(folder, "file").secrets
        descriptor = os.open(folder / "passphrase", os.O_RDONLY)
        words = ["decrypt", "-p", "--passphrase-fd", str(descriptor), "-o", "out", "data"]
        return words, found, [descriptor]
    if name == "right passphrase":
        found = right_passphrase(folder).secrets
        descriptor = os.open(folder / "passphrase", os.O_RDONLY)
        words = ["decrypt", "-k", "key", "--passphrase-fd", str(descriptor), "-o", "out", "data"]
        return words, found, [descriptor]
    if name in ("wrong identity", "damaged age file"):
        found = wrong_identity(folder, "age", damaged=name == "damaged age file").secrets
        return ["decrypt", "-i", "identity", "-o", "out", "data"], found, []
    if name == "wrong identity, post-quantum":
        found = wrong_identity(folder, "age-pq", damaged=False).secrets
        return ["decrypt", "-i", "identity", "-o", "out", "data"], found, []
    if name.startswith("plugin "):
        found = plugin(folder, name.removeprefix("plugin ")).secrets
        return ["decrypt", "-i", "identity", "-o", "out", "data"], found, []
    found = key_file_with_a_typing_error(folder, name.removeprefix("key file, ")).secrets
    (folder / "data").write_bytes(bytes(1000))
    return ["decrypt", "-k", "key", "-o", "out", "data"], found, []


PROGRAM = [
    *(f"keyring, {name}" for name in RINGS),
    "list of a keyring",
    "damaged file",
    "standard output",
    "wrong passphrase",
    "right passphrase",
    "wrong identity",
    "wrong identity, post-quantum",
    "damaged age file",
    *(f"plugin {behaviour}" for behaviour in ("is missing", "ends", "lies", "repeats")),
    *(f"key file, {kind}" for kind in ("jwk", "escaped jwk", "hexadecimal", "x25519", "p-256")),
]


# claim: memory-failed
@pytest.mark.parametrize("name", PROGRAM)
def test_program(name: str, tmp_path: Path) -> None:
    words, found, inherited = arguments(tmp_path, name)
    try:
        plugins_first = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        left = program([binary(), *words], tmp_path, inherited=inherited, environment=plugins_first)
    finally:
        for descriptor in inherited:
            os.close(descriptor)
    assert left.memory, "the process was examined"
    assert left.shows(**found) == []


# claim: memory-failed
def test_the_search_finds_a_key_of_a_program(tmp_path: Path) -> None:
    """A program that keeps what it reads, until it exits."""
    key = secrets.token_bytes(32)
    (tmp_path / "key").write_text(jwk(key))
    keep = "import os; text = open('key').read(); os._exit(1)"
    left = program([sys.executable, "-c", keep], tmp_path)
    assert any(one.startswith("memory: key: base64url, ") for one in left.shows(key=key))
