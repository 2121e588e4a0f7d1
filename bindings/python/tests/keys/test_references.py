"""Key references: the keys that they name, and the errors without one."""

from __future__ import annotations

import pathlib
import sys
import types

import keyring
import keyring.backend
import pytest
import sealane
from sealane import KeyNotFoundError, keys

# Of C0 and C1, and in between one that turns the text round.
CONTROLS = "a\x1b[31m\n\x9b\u202eb"


class Ring(keyring.backend.KeyringBackend):
    """A keyring in memory, which replaces the keyring of the operating system in tests."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password


@pytest.fixture
def ring() -> Ring:
    before, ring = keyring.get_keyring(), Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    module = types.ModuleType("some_keys")
    monkeypatch.setitem(sys.modules, "some_keys", module)
    return module


def test_every_kind_of_reference_finds_its_key(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, ring: Ring, module: types.ModuleType
) -> None:
    key = keys.generate("aes-256")
    monkeypatch.setenv("SOME_KEY", key.to_text())
    monkeypatch.setenv("HOME", str(tmp_path))
    key.save(tmp_path / "key.jwk")
    ring.set_password("sealane", "me", key.to_text())
    module.a_key = lambda: key
    module.inner = types.SimpleNamespace(some_bytes=lambda: bytearray(bytes(key)))
    for reference in [
        "env:SOME_KEY",
        f"file:{tmp_path}/key.jwk",
        "file:~/key.jwk",
        "keyring:sealane/me",
        "call:some_keys:a_key",
        "call:some_keys:inner.some_bytes",
    ]:
        assert bytes(keys.resolve(reference)) == bytes(key), reference


@pytest.mark.parametrize("text", ["junk", '{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"oct","k":"AAAA"}]}'])
def test_an_error_names_the_reference_once(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, ring: Ring, text: str
) -> None:
    monkeypatch.setenv("SOME_KEY", text)
    (tmp_path / "key").write_text(text)
    ring.set_password("sealane", "me", text)
    for reference in "env:SOME_KEY", f"file:{tmp_path}/key", "keyring:sealane/me":
        with pytest.raises((sealane.FormatError, ValueError)) as raised:
            keys.resolve(reference)
        where = reference.removeprefix("file:")
        assert str(raised.value).startswith(f"{where}: ")
        assert str(raised.value).count(where) == 1


@pytest.mark.parametrize(
    ("reference", "error"),
    [
        ("env:NO_SUCH_KEY", KeyNotFoundError),
        ("env:NO_KEY", sealane.FormatError),
        ("file:/no/such/key", FileNotFoundError),
        ("keyring:sealane/nobody", KeyNotFoundError),
        ("keyring:sealane", ValueError),
        ("call:no_such_module:key", KeyNotFoundError),
        ("call:some_keys:nothing", KeyNotFoundError),
        ("call:some_keys:number", ValueError),
        ("call:some_keys:a_word", TypeError),
        ("call:some_keys", ValueError),
        ("env:", ValueError),
        ("key", ValueError),
        ("", ValueError),
        (bytes(32), TypeError),
        (None, TypeError),
    ],
)
def test_rejects_references_without_a_key(
    reference: str,
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
    ring: Ring,
    module: types.ModuleType,
) -> None:
    monkeypatch.setenv("NO_KEY", "secret words")
    module.number = 3
    module.a_word = lambda: "secret words"
    with pytest.raises(error) as raised:
        keys.resolve(reference)
    assert "secret words" not in str(raised.value), "what was found may be a secret"
    if issubclass(error, sealane.SealaneError | OSError):
        assert reference.partition(":")[2] in str(raised.value)


def test_a_key_of_bytes() -> None:
    assert bytes(keys.Key.from_bytes(bytearray(range(32)))) == bytes(range(32))
    with pytest.raises(TypeError):
        keys.Key.from_bytes("a password")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "reference",
    [
        f"env:{CONTROLS}",
        f"file:{CONTROLS}",
        f"keyring:{CONTROLS}/me",
        f"call:{CONTROLS}:key",
        f"vault:{CONTROLS}/key#{CONTROLS}",
        f"aws-kms:{CONTROLS}#{CONTROLS}",
        f"pkcs11:{CONTROLS}#{CONTROLS}",
        f"pkcs11:object=a#{CONTROLS}",
        CONTROLS,
        f"{CONTROLS}:a",
        f"file:{CONTROLS}#key-sha256:{CONTROLS}",
    ],
)
def test_no_error_shows_a_control_character(reference: str, ring: Ring) -> None:
    """A terminal obeys them, and a line of a log is another one after a newline."""
    with pytest.raises((OSError, ValueError, KeyNotFoundError, sealane.SealaneError)) as caught:
        keys.resolve(reference)
    assert not set("\x1b\n\x9b\u202e") & set(str(caught.value))


def test_no_error_about_a_file_shows_a_control_character(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / CONTROLS
    folder.mkdir()
    (file := folder / "file").write_bytes(b"?")
    key = keys.generate("aes-256")
    text = '{"keys": [{"kty": "oct", "k": "GawgguFyGrWKav7AX4VKUg", "kid": "%s"}]}'
    (jwks := folder / "jwks").write_text(text % CONTROLS.replace("\n", "\\n").replace("\x1b", "\\u001b"))
    for call in [
        lambda: keys.load(folder),
        lambda: keys.load(file),
        lambda: keys.load(folder / "none"),
        lambda: keys.load(jwks, kid=CONTROLS + "c"),
        lambda: keys.Key.from_text(CONTROLS),
        lambda: key.save(folder),
        lambda: key.save(folder / "none" / "key"),
        lambda: sealane.decrypt_file(file, folder / "out", key=key),
        lambda: sealane.encrypt_file(file, file, key=key),
        lambda: sealane.verify_file(file, identities=[file]),
        lambda: sealane.verify_inventory(folder, file, signer=str(file), key=key),
        lambda: sealane.decrypt(b"", recipients=[CONTROLS]),
        lambda: sealane.encrypt(b"", recipients=[CONTROLS]),
        lambda: sealane.decrypt(b"", identities=[CONTROLS]),
        lambda: keys.generate(CONTROLS),
        lambda: sealane.Aead(bytes(32), algorithm=CONTROLS),
    ]:
        with pytest.raises((OSError, ValueError, TypeError, sealane.SealaneError)) as caught:
            call()
        assert not set("\x1b\n\x9b\u202e") & set(str(caught.value)), str(caught.value)
