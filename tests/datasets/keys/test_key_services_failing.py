"""Key services that fail, lie or refuse, and secrets that must not leave: AWS KMS and Vault's Transit."""

from __future__ import annotations

import base64
import json
import logging
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import fsspec
import pytest
import sealane
from key_services import (
    Answer,
    Aws,
    Service,
    Transit,
    answer_of,
    decrypts,
    errors,
    made,
    nothing_there,
    plaintext,
    refusal,
    shortened,
    silence,
)
from sealane import AuthenticationError, KeyNotFoundError, KeyRefusedError, KeyServiceError, _kms
from sealane.fs import create_dataset_key, rewrap_dataset_key
from sealane.keys import Keyring, resolve

MESSAGE = b"a message under a key service"


# claim: service-errors
@pytest.mark.parametrize("world", [nothing_there, silence])
def test_a_service_that_cannot_be_reached(
    service: Service, tmp_path: Path, world: Callable[[Service], Any]
) -> None:
    reference = made(service, tmp_path / "key.json")
    with world(service), pytest.raises(KeyServiceError) as caught:
        resolve(reference)
    assert type(caught.value) is KeyServiceError
    assert reference.partition("#")[0] in str(caught.value)
    with world(service), pytest.raises(KeyServiceError):
        made(service, tmp_path / "new.json")
    assert os.listdir(tmp_path) == ["key.json"]
    assert resolve(reference), "a failure is not kept"


# claim: service-errors, service-no-keys
def test_answers_that_are_none(service: Service, tmp_path: Path) -> None:
    reference = made(service, tmp_path / "key.json")
    arn = reference.partition("#")[0].partition("?")[0].partition(":")[2]
    ring = Keyring.generate("aes-256-gcm").to_bytes()
    body = json.dumps({"KeyId": arn, "Plaintext": "%%%"}).encode()
    another = json.dumps({"KeyId": f"{arn}0", "Plaintext": base64.b64encode(ring).decode()}).encode()
    answers: dict[Answer, type[Exception]] = {
        (200, b""): KeyServiceError,
        (200, b"{}"): KeyServiceError,
        (200, b"[1, 2]"): KeyServiceError,
        (200, b"\xff\xfe"): KeyServiceError,
        (200, b"<html>"): KeyServiceError,
        (200, body if isinstance(service, Aws) else answer_of(plaintext="%%%")): KeyServiceError,
        (200, another if isinstance(service, Aws) else answer_of(ciphertext="x")): KeyServiceError,
        (500, b"no"): KeyServiceError,
        (503, b'{"errors": {"a": 1}}'): KeyServiceError,
        (302, b""): KeyServiceError,
        plaintext(service, b"", arn): KeyServiceError,
        plaintext(service, bytes(5000), arn): KeyServiceError,
        plaintext(service, bytes(32), arn): sealane.FormatError,
        plaintext(service, ring[:-7], arn): sealane.FormatError,
        # A key of 31 bytes: the lengths of the key and of the messages around it are one less.
        plaintext(service, shortened(ring), arn): sealane.FormatError,
        plaintext(service, sealane.keys.generate("aes-256").to_text().encode(), arn): sealane.FormatError,
    }
    for answer, expected in answers.items():
        with (
            service.answering(lambda name, request, answer=answer: answer),
            pytest.raises(expected) as caught,
        ):
            resolve(reference)
        assert reference.partition("#")[0] in str(caught.value), answer
        shown = "".join(traceback.format_exception(caught.value))
        assert base64.b64encode(ring).decode()[:40] not in shown
        assert repr(ring)[2:-1] not in shown
    assert resolve(reference)


# claim: service-errors
def test_a_busy_service_is_asked_again(service: Service, tmp_path: Path) -> None:
    reference = made(service, tmp_path / "key.json")
    busy = (503, b'{"errors": []}')
    left = [busy]
    with service.counting() as calls, service.answering(lambda *_: left.pop() if left else None):
        assert resolve(reference)
    assert decrypts(calls) == 2
    _kms._forget()
    with service.counting() as calls, service.answering(lambda *_: busy), pytest.raises(KeyServiceError):
        resolve(reference)
    assert decrypts(calls) == 2, "the number of tries in these tests"
    with service.counting() as calls, service.answering(refusal(service)), pytest.raises(KeyRefusedError):
        resolve(reference)
    assert decrypts(calls) == 1, "a refusal is an answer"


# claim: service-errors
def test_refusals(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = made(service, tmp_path / "key.json")
    with service.answering(refusal(service)), pytest.raises(KeyRefusedError, match="said the test"):
        resolve(reference)
    content = json.loads((tmp_path / "key.json").read_text())
    sealed = bytearray(base64.b64decode(content["encryptedKeyset"]))
    sealed[len(sealed) // 2] ^= 1
    content["encryptedKeyset"] = base64.b64encode(sealed).decode()
    (tmp_path / "changed.json").write_text(json.dumps(content))
    with pytest.raises(AuthenticationError):
        resolve(reference.replace("key.json", "changed.json"))
    for other in (reference.replace("sales", "other"), reference.replace("?context=sales", "")):
        with pytest.raises(AuthenticationError) as caught:
            resolve(other)
        assert other.partition("#")[0] in str(caught.value)
    key, place = service.new_key(), reference.partition("#")[2]
    with pytest.raises((AuthenticationError, KeyServiceError)):
        resolve(f"{key}?context=sales#{place}")
    with pytest.raises(FileNotFoundError):
        resolve(reference + "-not-there")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "cleartext").write_text(Keyring.generate().to_json())
    (tmp_path / "long").write_bytes(bytes(1 << 19))
    for name in "empty", "cleartext", "long":
        with pytest.raises(sealane.FormatError):
            resolve(f"{key}#{tmp_path / name}")
    if isinstance(service, Aws):
        missing = key.replace(key[-4:], "0000")
        disabled = (
            400,
            b'{"__type": "DisabledException", "message": "the key is disabled"}',
        )  # moto ignores it
        with service.answering(lambda *_: disabled), pytest.raises(KeyRefusedError, match="is disabled"):
            resolve(reference)
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
        with pytest.raises(KeyRefusedError, match="credentials"):
            resolve(f"{missing}#{place}")
    else:
        with pytest.raises(KeyNotFoundError, match="not found"):
            resolve(f"vault:transit/not-there#{place}")
        monkeypatch.setenv("VAULT_TOKEN", "another")
        with pytest.raises(KeyRefusedError, match="permission denied"):
            resolve(f"{key}#{place}")
        monkeypatch.delenv("VAULT_ADDR")
        with pytest.raises(KeyRefusedError, match="VAULT_ADDR"):
            resolve(f"{key}#{place}")


def test_a_key_that_does_not_exist(aws: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in aws.environment.items():
        monkeypatch.setenv(name, value)
    missing = aws.new_key()[:-4] + "0000"
    with pytest.raises(KeyNotFoundError, match="NotFoundException"):
        create_dataset_key(str(tmp_path / "key.json"), wrapping_key=missing)
    assert not os.listdir(tmp_path)


def test_a_client_that_is_not_installed(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = made(service, tmp_path / "key.json")
    package = "boto3" if isinstance(service, Aws) else "hvac"
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(KeyNotFoundError, match="pip install sealane"):
        resolve(reference)


def test_clients_are_imported_when_they_are_used() -> None:
    code = (
        "import sys, sealane, sealane.fs; print({'boto3', 'botocore', 'hvac', 'requests'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_too_many_keys_for_a_service(service: Service) -> None:
    ring = Keyring.generate()
    for _ in range(50):
        ring.rotate()
    with service.counting() as calls, pytest.raises(sealane.LimitExceededError, match="4096"):
        _kms.wrapped(_kms.parse_wrapping_key(service.new_key()), ring)
    assert decrypts(calls) == 0


def test_a_vault_that_binds_no_context(
    vault: Transit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old versions ignore associated_data. Derived keys bind the context in these too."""
    for name, value in vault.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(vault, "knows_associated_data", False)
    with pytest.raises(KeyServiceError, match="does not bind the context"):
        made(vault, tmp_path / "key.json")
    assert not os.listdir(tmp_path)
    wrapping_key = vault.new_key(derived=True)
    create_dataset_key(str(tmp_path / "key.json"), wrapping_key=f"{wrapping_key}?context=sales")
    assert resolve(f"{wrapping_key}?context=sales#{tmp_path}/key.json")
    with pytest.raises(AuthenticationError):
        resolve(f"{wrapping_key}?context=other#{tmp_path}/key.json")
    with pytest.raises(KeyRefusedError, match="derived"):
        resolve(f"{wrapping_key}#{tmp_path}/key.json")


def forms(ring: Keyring) -> dict[str, bytes]:
    """Returns the forms in which the key or the whole keyset could be found."""
    content = ring.to_bytes()
    key = content[content.index(b"\x1a\x20") + 2 :][:32]
    found = {}
    for name, secret in {"key": key, "keyset": content}.items():
        found[f"{name} raw"] = secret
        found[f"{name} hex"] = secret.hex().encode()
        found[f"{name} repr"] = repr(secret)[2:-1].encode()
        for start in range(3):
            inner = base64.b64encode(secret[start : start + (len(secret) - start) // 3 * 3])
            found[f"{name} base64 {start}"] = inner
    return found


def secrets_in(data: object, ring: Keyring) -> list[str]:
    seen = data if isinstance(data, bytes) else f"{data!s}\n{data!r}".encode()
    return [name for name, shape in forms(ring).items() if shape in seen]


# claim: service-no-keys
def test_no_key_in_logs_and_pickles(
    service: Service, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in "", "boto3", "botocore", "hvac", "urllib3", "requests", "sealane", "fsspec":
        caplog.set_level(logging.DEBUG, name)
    reference = made(service, tmp_path / "key.json")
    old, new = reference.partition("#")[0], service.new_key()
    fs = fsspec.filesystem("sealane", target_protocol="file", key=reference)
    fs.pipe_file(f"{tmp_path}/file", MESSAGE)
    ring = resolve(reference)
    assert isinstance(ring, Keyring)
    assert secrets_in(base64.b64encode(ring.to_bytes()), ring), "the search finds it"
    rewrap_dataset_key(str(tmp_path / "key.json"), identity=old, wrapping_key=new)
    said = "\n".join(f"{r.getMessage()} {r.args!r} {r.exc_text}" for r in caplog.records)
    assert not secrets_in(said, ring)
    assert "OperationModel(name=CreateKey)" in said or isinstance(service, Transit)
    assert not any(f"OperationModel(name={name})" in said for name in ("Encrypt", "Decrypt", "ReEncrypt"))
    for thing in pickle.dumps(fs), cloudpickle.dumps(fs), fs.to_json(include_password=True), fs, fs.keys:
        assert not secrets_in(thing, ring)
    with pytest.raises(TypeError):
        pickle.dumps(ring)
    logging.getLogger("botocore.endpoint").debug("logged after the calls")
    assert "logged after the calls" in caplog.text


# claim: service-no-keys
def test_no_key_in_errors(service: Service, tmp_path: Path) -> None:
    """Not even if the service repeats the request or the keyset in its error."""
    sent: list[Keyring] = []

    def repeats(name: str, request: dict[str, Any]) -> Answer | None:
        if (text := request.get("Plaintext") or request.get("plaintext")) is None:
            return None
        sent.append(Keyring.from_bytes(base64.b64decode(text)))
        if isinstance(service, Aws):
            return 400, json.dumps({"__type": "AccessDeniedException", "message": text}).encode()
        return 403, errors(text)

    with service.answering(repeats), pytest.raises(KeyRefusedError) as caught:
        made(service, tmp_path / "key.json")
    assert sent
    error: BaseException | None = caught.value
    while error is not None:
        assert not secrets_in(error, sent[0])
        assert not secrets_in("".join(traceback.format_exception(error)), sent[0])
        assert not secrets_in(error.__dict__, sent[0])
        at = error.__traceback__
        while at is not None:
            if at.tb_frame.f_globals["__name__"].startswith("sealane"):
                assert not secrets_in(dict(at.tb_frame.f_locals), sent[0])
            at = at.tb_next
        error = error.__cause__ or error.__context__
