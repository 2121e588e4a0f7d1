"""Tokens that are missing, locked or broken: typed errors that name the reference, without PIN and key."""

from __future__ import annotations

import base64
import json
import os
import traceback
from pathlib import Path

import fsspec
import pytest
import sealane
from sealane import (
    AuthenticationError,
    FormatError,
    KeyNotFoundError,
    KeyRefusedError,
    KeyServiceError,
    SealaneError,
    _kms,
    _reference,
)
from sealane.fs import create_dataset_key
from sealane.keys import Keyring, resolve
from tokens import OTHER_PIN, PIN, Tokens, made, softhsm


def ciphertext(path: Path) -> bytes:
    return base64.b64decode(json.loads(path.read_text())["encryptedKeyset"])


def with_ciphertext(path: Path, changed: bytes) -> None:
    content = json.loads(path.read_text())
    content["encryptedKeyset"] = base64.b64encode(changed).decode()
    path.write_text(json.dumps(content))


def fails(reference: str, kind: type[Exception], text: str, pin: str = PIN) -> None:
    """Checks that a reference fails with this class and text, and that the error names it without the PIN."""
    _kms._forget()
    with pytest.raises(kind, match=text) as caught:
        resolve(reference)
    assert type(caught.value) is kind
    named = _kms.shown(reference).partition("#")[0]
    assert str(caught.value).startswith(named), caught.value
    whole = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert pin not in whole


# claim: token-errors
def test_another_key_or_context(tokens: Tokens, tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    for kind in "aes", "rsa":
        key = tokens.new_key(kind)
        made(key, path)
        for other in (
            f"{key}&context=wages",
            key,
            f"{tokens.new_key('aes')}&context=sales",
            tokens.new_key("rsa"),
        ):
            fails(f"{other}#{path}", AuthenticationError, "belongs to another wrapping key or context")
        path.unlink()


# claim: token-errors
@pytest.mark.parametrize("step", [7])
def test_changed_and_truncated_keysets(token_key: str, tmp_path: Path, step: int) -> None:
    path = tmp_path / "key.json"
    reference = made(token_key, path)
    content = ciphertext(path)
    for at in [*range(0, len(content), step), len(content) - 1]:
        with_ciphertext(path, content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        fails(reference, AuthenticationError, "was changed")
    for length in 1, 4, 5, 11, 12, 27, 28, 29, len(content) // 2, len(content) - 1:
        with_ciphertext(path, content[:length])
        fails(reference, AuthenticationError, "was changed")
    with_ciphertext(path, content + bytes(1 << 16))
    fails(reference, AuthenticationError, "was changed")
    path.write_text("{}")
    fails(reference, FormatError, "encrypted Tink keyset")


def test_modules_that_are_none(tokens: Tokens, tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    name = made(tokens.new_key(), path, "").partition("?")[0]
    (tmp_path / "text.so").write_text("no library")
    for query, text in (
        (f"module-path={tmp_path}/missing.so", "cannot be loaded"),
        (f"module-path={tmp_path}/text.so", "cannot be loaded"),
        (f"module-path={tmp_path}", "cannot be loaded"),
        ("module-name=no-such-module", "use module-path"),
    ):
        fails(f"{name}?{query}#{path}", KeyNotFoundError, text)


def test_a_library_that_is_no_module(tokens: Tokens, tmp_path: Path) -> None:
    """Any library of the Python package will do."""
    path = tmp_path / "key.json"
    name = made(tokens.new_key(), path, "").partition("?")[0]
    fails(
        f"{name}?module-path={sealane._native.__file__}#{path}",
        KeyNotFoundError,
        "no function C_GetFunctionList",
    )


# claim: token-errors
def test_tokens_and_keys_that_do_not_match(tokens: Tokens, tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    reference = made(tokens.new_key(), path, "")
    tokens.new_token("a pair")
    tokens.new_token("a pair")
    for other, text in (
        (reference.replace("token=sealane", "token=missing"), "no token with these attributes"),
        (reference.replace("token=sealane", "token=sealane;serial=0"), "no token"),
        (reference.replace("token=sealane", "slot-id=4711"), "no token"),
        (reference.replace("token=sealane;", "token=a%20pair;"), "2 tokens .* add token= or serial="),
        (reference.replace("object=", "object=no-"), "no secret or private key"),
        (reference.replace("object=", "type=private;object="), "no secret or private key"),
        (reference.replace("object=", "id=%01;object="), "no secret or private key"),
    ):
        with tokens.counting() as logins:
            fails(other, KeyNotFoundError, text)
        assert len(logins) == ("key" in text), "no PIN is sent to a token that may be another one"


def test_two_keys_that_match(tokens: Tokens, tmp_path: Path) -> None:
    first = tokens.new_key(label="twice", id="aa01")
    tokens.new_key(label="twice", id="aa02")
    with pytest.raises(KeyNotFoundError, match="several keys"):
        create_dataset_key(str(tmp_path / "key.json"), wrapping_key=first)
    assert not os.listdir(tmp_path)
    made(first.replace("object=", "id=%AA%01;object="), tmp_path / "key.json")
    tokens.new_key("rsa", label="both")
    key = tokens.new_key("aes", label="both")
    fails(f"{key}#{tmp_path}/key.json", KeyNotFoundError, "add id= or type=")


def test_keys_that_cannot_wrap(tokens: Tokens, tmp_path: Path) -> None:
    with pytest.raises(KeyRefusedError, match="expected an AES or RSA key"):
        made(tokens.new_key("ec"), tmp_path / "key.json")
    with pytest.raises(KeyRefusedError, match="asks for the PIN at each use"):
        made(tokens.new_key("rsa always"), tmp_path / "key.json")
    for usage in "DECRYPT", "ENCRYPT":
        key = tokens.new_key_without(usage)
        with pytest.raises(KeyRefusedError, match=f"CKA_{usage} is false"):
            made(key, tmp_path / "key.json")
    assert not os.listdir(tmp_path)


# claim: token-pin-once
def test_a_wrong_pin_is_tried_once(tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "key.json"
    key = tokens.new_key()
    reference = made(key, path, "")
    monkeypatch.setenv("SEALANE_PKCS11_PIN", OTHER_PIN)
    with tokens.counting() as logins:
        fails(reference, KeyRefusedError, "refuses the PIN.*CKR_PIN_INCORRECT", OTHER_PIN)
        fails(reference, KeyRefusedError, "refused this PIN before", OTHER_PIN)
        fs = fsspec.filesystem("sealane", target_protocol="file", key=reference)
        for name in "abc":
            with pytest.raises(KeyRefusedError):
                fs.pipe_file(f"{tmp_path}/{name}", b"data")
        fails(f"{key}&pin-value={OTHER_PIN}#{path}", KeyRefusedError, "refused this PIN before", OTHER_PIN)
        with pytest.raises(KeyRefusedError, match="refused this PIN before"):
            create_dataset_key(str(tmp_path / "new"), wrapping_key=key)
        # The same token through other paths, another module and another attribute.
        alias = tokens.folder / "alias.so"
        alias.symlink_to(tokens.module)
        for module in alias, f"{tokens.folder}/./odd_module.so", softhsm():
            other = key.replace(f"module-path={tokens.module}", f"module-path={module}")
            fails(f"{other}#{path}", KeyRefusedError, "refused this PIN before", OTHER_PIN)
        other = key.replace("token=sealane", "manufacturer=SoftHSM%20project;token=sealane")
        fails(f"{other}#{path}", KeyRefusedError, "refused this PIN before", OTHER_PIN)
    assert len(logins) == 1
    assert os.listdir(tmp_path) == ["key.json"]
    monkeypatch.setenv("SEALANE_PKCS11_PIN", PIN)
    assert resolve(reference)


def test_pins_that_are_missing(tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "key.json"
    key = tokens.new_key()
    made(key, path, "")
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(PIN.encode() + b"\xff")
    (tmp_path / "lines").write_text(f"{PIN}\n{PIN}\n")
    with tokens.counting() as logins:
        for query, text in (
            (f"pin-source={tmp_path}/missing", "cannot be read from"),
            (f"pin-source={tmp_path}/empty", "found an empty one"),
            (f"pin-source={tmp_path}/binary", "one line of text"),
            (f"pin-source={tmp_path}/lines", "one line of text"),
            ("pin-value=", "found an empty one"),
        ):
            fails(f"{key}&{query}#{path}", KeyRefusedError, text)
        monkeypatch.delenv("SEALANE_PKCS11_PIN")
        fails(f"{key}#{path}", KeyRefusedError, "needs a PIN; use pin-source=FILE")
    assert not logins


# claim: token-errors
@pytest.mark.parametrize(
    ("behaviour", "kind", "text"),
    [
        ("locked", KeyRefusedError, "locked after too many wrong ones.*CKR_PIN_LOCKED"),
        ("expired", KeyRefusedError, "has expired"),
        ("final try", KeyRefusedError, "one more wrong PIN locks the token"),
        ("unknown code", KeyServiceError, "0x12345 from C_GetSlotList"),
        ("endless objects", KeyNotFoundError, "several keys"),
        ("removed", KeyServiceError, "CKR_DEVICE_REMOVED"),
        ("short plaintext", KeyServiceError, "another length"),
        ("garbage", FormatError, "cannot be used"),
    ],
)
def test_broken_modules(
    tokens: Tokens,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    behaviour: str,
    kind: type[SealaneError],
    text: str,
) -> None:
    reference = made(tokens.new_key(), tmp_path / "key.json")
    monkeypatch.setenv("ODD_MODULE", behaviour)
    with tokens.counting() as logins:
        fails(reference, kind, text)
    assert len(logins) <= 1
    monkeypatch.delenv("ODD_MODULE")
    _kms._forget()
    assert resolve(reference)


def test_a_login_that_another_process_disturbs(
    tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SoftHSM fails before it looks at the PIN. One login more does not lock a token."""
    reference = made(tokens.new_key(), tmp_path / "key.json")
    monkeypatch.setenv("ODD_MODULE", "disturbed")
    _kms._forget()
    with tokens.counting() as logins:
        fails(reference, KeyServiceError, "CKR_GENERAL_ERROR from C_Login")
    assert len(logins) == 2
    monkeypatch.setenv("ODD_MODULE", "disturbed once")
    _kms._forget()
    with tokens.counting() as logins:
        assert isinstance(resolve(reference), Keyring)
    assert len(logins) == 2


# claim: token-errors
@pytest.mark.parametrize(
    ("behaviour", "kind", "text"),
    [
        ("no mechanism", KeyRefusedError, "CKM_AES_GCM.*CKR_MECHANISM_INVALID"),
        ("short ciphertext", KeyServiceError, "returned 3 bytes"),
        ("no associated data", KeyServiceError, "does not bind the context"),
        ("garbage", KeyServiceError, "does not bind|decrypts something else"),
        ("removed", KeyServiceError, "CKR_DEVICE_REMOVED"),
    ],
)
def test_broken_modules_write_nothing(
    tokens: Tokens,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    behaviour: str,
    kind: type[SealaneError],
    text: str,
) -> None:
    key = tokens.new_key()
    monkeypatch.setenv("ODD_MODULE", behaviour)
    with pytest.raises(kind, match=text):
        made(key, tmp_path / "key.json")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("behaviour", ["garbage", "removed"])
def test_broken_modules_with_rsa(
    tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    key = tokens.new_key("rsa")
    reference = made(key, tmp_path / "key.json")
    monkeypatch.setenv("ODD_MODULE", behaviour)
    fails(
        reference,
        *((AuthenticationError, "was changed") if behaviour == "garbage" else (KeyServiceError, "REMOVED")),
    )
    with pytest.raises(KeyServiceError):
        made(key, tmp_path / "other.json")
    assert os.listdir(tmp_path) == ["key.json"]


def test_a_module_that_chooses_the_nonce(
    tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some hardware security modules replace the nonce by one of their own."""
    key = tokens.new_key()
    monkeypatch.setenv("ODD_MODULE", "own nonce")
    reference = made(key, tmp_path / "key.json")
    monkeypatch.delenv("ODD_MODULE")
    assert ciphertext(tmp_path / "key.json")[:12] == bytes([7] * 12)
    _kms._forget()
    assert resolve(reference)


def test_a_module_without_functions(tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each behaviour is one of loading, so the module is loaded under another name."""
    reference = made(tokens.new_key(), tmp_path / "key.json")
    for number, (behaviour, kind, text) in enumerate(
        (
            ("no function list", KeyNotFoundError, "CKR_GENERAL_ERROR from C_GetFunctionList"),
            ("no functions", KeyServiceError, "lacks a function"),
        )
    ):
        module = tmp_path / f"{number}.so"
        module.write_bytes(Path(tokens.module).read_bytes())
        monkeypatch.setenv("ODD_MODULE", behaviour)
        fails(reference.replace(tokens.module, str(module)), kind, text)


def test_too_many_keys(tokens: Tokens) -> None:
    ring = Keyring.generate()
    for _ in range(50):
        ring.rotate()
    with tokens.counting() as logins, pytest.raises(sealane.LimitExceededError, match="4096"):
        _kms.wrapped(_kms.parse_wrapping_key(tokens.new_key()), ring)
    assert not logins


# claim: token-no-secrets
@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("pkcs11:token=a", "object=LABEL or id=BYTES"),
        ("pkcs11:object=a;color=red", "found another attribute"),
        ("pkcs11:object=a?color=red", "found another attribute"),
        ("pkcs11:object=a;object=b", "found one of them twice"),
        ("pkcs11:object=a;type=cert", "type=secret-key or type=private"),
        ("pkcs11:object=%zz", "two hexadecimal digits"),
        ("pkcs11:object=a?module-path=relative.so", "absolute path"),
        ("pkcs11:object=a?module-name=/a", "without a folder"),
        ("pkcs11:object=a?pin-source=%7Ccat", "absolute path of a file"),
        (f"pkcs11:object=a?pin-value={PIN}&pin-source=/p", "found both"),
        (f"pkcs11:object=a?pin-vlaue={PIN}", "found another attribute"),
        ("pkcs11:object=a?context=", "context=TEXT"),
        ("pkcs11:object=a b", "%20 for a space"),
        (f"pkcs11:object=a&pin-value={PIN}", "%26 for &"),
        (f"pkcs11:object=a?module-name=m;pin-value={PIN}", "another attribute in it"),
        (f"pkcs11:object=a?module-name=m%26user-pin%3D{PIN}", "another attribute in it"),
        (f"pkcs11:object=a?pin-source={PIN}", "absolute path of a file"),
        (f"pkcs11:object=a?%70in-value={PIN}", "found another attribute"),
        (f"pkcs11:object=a?PIN-value={PIN}", "found another attribute"),
        (f"pkcs11:object=a? pin-value={PIN}", "found another attribute"),
        ("pkcs11:object=a?pin-source=file://elsewhere/pin", "absolute path of a file"),
    ],
)
def test_malformed_uris(uri: str, text: str, tmp_path: Path) -> None:
    for call in (
        lambda: resolve(f"{uri}#{tmp_path}/key.json"),
        lambda: create_dataset_key(str(tmp_path / "key.json"), wrapping_key=uri),
        lambda: fsspec.filesystem("sealane", target_protocol="file", key=f"{uri}#/key.json"),
    ):
        with pytest.raises(ValueError, match=text) as caught:
            call()
        assert "pkcs11:" in str(caught.value)
        assert PIN not in "".join(traceback.format_exception(caught.value))
    assert not os.listdir(tmp_path)


# claim: token-no-secrets
def test_a_pin_with_a_number_sign(tmp_path: Path) -> None:
    for call in resolve, _reference.check:
        with pytest.raises(ValueError, match="write %23 in a PIN") as caught:
            call(f"pkcs11:object=a?pin-value=1#{PIN}#{tmp_path}/key.json")
        assert PIN not in "".join(traceback.format_exception(caught.value))


# claim: token-no-secrets
def test_no_key_in_errors(
    token_key: str, tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = made(token_key, tmp_path / "key.json")
    ring = resolve(reference)
    assert isinstance(ring, Keyring)
    key = ring.to_bytes()[ring.to_bytes().index(b"\x1a\x20") + 2 :][:32]
    for behaviour in "garbage", "removed", "short plaintext", "locked":
        monkeypatch.setenv("ODD_MODULE", behaviour)
        _kms._forget()
        with pytest.raises(SealaneError) as caught:
            resolve(reference)
        error: BaseException | None = caught.value
        while error is not None:
            text = f"{error!s} {error!r} {error.__dict__!r} " + "".join(traceback.format_exception(error))
            for form in key.hex(), base64.b64encode(key).decode()[:40], repr(key)[2:-1]:
                assert form not in text
            error = error.__cause__ or error.__context__
