"""Age plugins: files of sealane and of the program age, with a plugin on the crate ``age-plugin``.

Plugins that are missing, slow or hostile are tested in ``crates/sealane/tests/it/plugins``.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sealane
from programs import run, typed
from support import ROOT, children, in_child, leftovers

NAME = "age-plugin-sealanetest"
DATA = b"attack at dawn"


@pytest.fixture(scope="module")
def folder() -> Path:
    """Returns the folder with the plugin."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "plugin" / "debug"
    if not (built / NAME).exists():
        pytest.fail(f"{built / NAME} does not exist: make plugin")
    return built


@pytest.fixture(autouse=True)
def on_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    yield
    sealane.plugins.disable()


def pair(flags: str = "", byte: int = 7) -> tuple[str, str]:
    """Returns a recipient and its identity, whose plugin does what the flags say."""
    recipient, identity = run(NAME, str(byte), flags).decode().splitlines()
    return recipient.removeprefix("# recipient: "), identity


def script(folder: Path, name: str, text: str) -> None:
    """Writes a plugin that is a shell script."""
    path = folder / f"age-plugin-{name}"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)


READ = "while read -r line; do test \"$line\" = '-> done' && break; done; read -r line\n"


class User:
    """A user that responds to every question, and a log of the questions."""

    def __init__(self, secret: str = "1234", confirms: bool = True) -> None:
        self.log: list[str] = []
        self.secret, self.confirms = secret, confirms

    def message(self, plugin: str, text: str) -> None:
        self.log.append(f"{plugin}: {text}")

    def request(self, plugin: str, prompt: str, secret: bool) -> str:
        self.log.append(f"{plugin}: {prompt}? secret={secret}")
        return self.secret if secret else "slot"

    def confirm(self, plugin: str, prompt: str, yes: str, no: str | None) -> bool:
        self.log.append(f"{plugin}: {prompt}? {yes} or {no}")
        return self.confirms

    def enable(self, timeout: float = 60, path: Path | None = None) -> None:
        sealane.plugins.enable(
            message=self.message, request=self.request, confirm=self.confirm, timeout=timeout, path=path
        )


# ---- exchange of files ---------------------------------------------------------------------------


def test_files_with_the_program_age(tmp_path: Path) -> None:
    sealane.plugins.enable()
    recipient, identity = pair()
    (tmp_path / "identity").write_text(f"# a comment\n{identity}\n")
    theirs = run("age", "-r", recipient, stdin=DATA)
    ours = sealane.encrypt(DATA, recipients=[recipient])
    assert run("age", "-d", "-i", tmp_path / "identity", stdin=ours) == DATA
    for sealed in theirs, ours:
        for source in identity, tmp_path / "identity", sealane.keys.load(tmp_path / "identity"):
            assert sealane.decrypt(sealed, identities=[source]) == DATA
        with pytest.raises(sealane.NoMatchingKeyError):
            sealane.decrypt(sealed, identities=[pair(byte=8)[1]])
        (tmp_path / "sealed").write_bytes(sealed)
        assert sealane.inspect(tmp_path / "sealed").recipients == ["sealanetest"]


def test_several_recipients(tmp_path: Path) -> None:
    """One process of the plugin serves all of its recipients, and others can be combined with them."""
    sealane.plugins.enable()
    other = sealane.keys.generate("age")
    pairs = [pair(byte=byte) for byte in range(5)]
    sealed = sealane.encrypt(DATA, recipients=[*(recipient for recipient, _ in pairs), other.public])
    assert sealane.decrypt(sealed, identities=[other]) == DATA
    for _, identity in pairs:
        assert sealane.decrypt(sealed, identities=[pair(byte=99)[1], identity]) == DATA
        (tmp_path / "identity").write_text(identity)
        assert run("age", "-d", "-i", tmp_path / "identity", stdin=sealed) == DATA


def test_an_identity_as_recipient() -> None:
    sealane.plugins.enable()
    recipient, identity = pair()
    key = sealane.keys.Key.from_text(identity)
    assert key.public is None
    assert sealane.decrypt(sealane.encrypt(DATA, recipients=[key]), identities=[key]) == DATA
    with pytest.raises(sealane.PluginError, match="it reports an error: unknown identity"):
        sealane.encrypt(DATA, recipients=[sealane.plugins.identity("sealanetest")])
    assert str(sealane.keys.PublicKey(recipient)) == recipient


def test_all_ways_to_files(tmp_path: Path) -> None:
    sealane.plugins.enable()
    recipient, identity = pair()
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(DATA)
    sealane.encrypt_file(plain, sealed, recipients=[recipient])
    sealane.decrypt_file(sealed, tmp_path / "back", identities=[identity])
    assert (tmp_path / "back").read_bytes() == DATA
    with sealane.open(sealed, "rb", identities=[identity]) as file:
        assert file.read(6) == DATA[:6]
    decryptor = sealane.Decryptor(identities=[identity])
    pieces = [decryptor.update(sealed.read_bytes()[at : at + 1]) for at in range(sealed.stat().st_size)]
    assert b"".join([*pieces, decryptor.finalize()]) == DATA
    sealane.rewrap(sealed, sealed, identities=[identity], recipients=[pair(byte=8)[0]])
    assert sealane.decrypt(sealed.read_bytes(), identities=[pair(byte=8)[1]]) == DATA
    (tmp_path / "tree").mkdir()
    for number in range(20):
        (tmp_path / "tree" / str(number)).write_bytes(DATA)
    report = sealane.encrypt_tree(tmp_path / "tree", tmp_path / "out", recipients=[recipient])
    assert not report.failed
    assert not sealane.verify_tree(tmp_path / "out", identities=[identity]).failed


def test_post_quantum_recipients() -> None:
    sealane.plugins.enable()
    quantum, classical = sealane.keys.generate("age-pq"), sealane.keys.generate("age")
    recipient, identity = pair("q")
    sealed = sealane.encrypt(DATA, recipients=[recipient, quantum.public])
    assert sealane.decrypt(sealed, identities=[identity]) == DATA
    for both in [recipient, classical.public], [pair()[0], quantum.public]:
        with pytest.raises(ValueError, match="cannot be combined"):
            sealane.encrypt(DATA, recipients=both)


# ---- interaction ---------------------------------------------------------------------------------


def test_questions_to_the_user() -> None:
    user = User()
    user.enable()
    recipient, identity = pair("mspco")
    sealed = sealane.encrypt(DATA, recipients=[recipient])
    questions = [
        "sealanetest: Please touch the key",
        "sealanetest: PIN? secret=True",
        "sealanetest: Name of the slot? secret=False",
        "sealanetest: Use the key?? use it or skip it",
        "sealanetest: Insert the key? inserted or None",
    ]
    assert user.log == questions
    assert sealane.decrypt(sealed, identities=[identity]) == DATA
    assert user.log == 2 * questions
    for other in User(secret="4321"), User(confirms=False):
        other.enable()
        with pytest.raises(sealane.PluginError, match="no success with the flag"):
            sealane.decrypt(sealed, identities=[identity])


@pytest.mark.parametrize("flag", "mspco")
def test_no_user(flag: str) -> None:
    sealane.plugins.enable()
    with pytest.raises(sealane.PluginError, match=f"no success with the flag {flag}") as caught:
        sealane.encrypt(DATA, recipients=[pair(flag)[0]])
    assert caught.value.plugin == "sealanetest"


def test_exceptions_of_callbacks() -> None:
    class Stopped(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stopped

    sealane.plugins.enable(message=stop, request=stop, confirm=stop)
    for flag in "mspco":
        with pytest.raises(Stopped):
            sealane.encrypt(DATA, recipients=[pair(flag)[0]])
    sealane.plugins.enable(request=lambda *_: 1234)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="the result of request must be str"):
        sealane.encrypt(DATA, recipients=[pair("s")[0]])
    sealane.plugins.enable(request=lambda *_: None, confirm=lambda *_: None)
    with pytest.raises(sealane.PluginError):
        sealane.encrypt(DATA, recipients=[pair("s")[0]])


def test_callbacks_call_sealane() -> None:
    """A callback may use sealane itself, for example for a PIN in an encrypted file."""
    recipient, identity = pair("s")
    key = sealane.keys.generate("age")
    pin = sealane.encrypt(b"1234", recipients=[key.public])
    sealane.plugins.enable(request=lambda *_: sealane.decrypt(pin, identities=[key]).decode())
    sealed = sealane.encrypt(DATA, recipients=[recipient])
    assert sealane.decrypt(sealed, identities=[identity]) == DATA


@pytest.mark.parametrize("arguments", [{"message": 1}, {"timeout": 0}, {"timeout": -1}, {"timeout": "1"}])
def test_wrong_arguments(arguments: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        sealane.plugins.enable(**arguments)  # type: ignore[arg-type]


# ---- errors --------------------------------------------------------------------------------------


# claim: plugin-permission
def test_without_permission() -> None:
    recipient, identity = pair()
    for call in (
        lambda: sealane.encrypt(DATA, recipients=[recipient]),
        lambda: sealane.decrypt(sealane.encrypt(DATA, passphrase="x"), identities=[identity]),
    ):
        with pytest.raises(sealane.PluginError, match=r"call sealane\.plugins\.enable\(\) before") as caught:
            call()
        assert caught.value.plugin == "sealanetest"


# claim: plugin-errors
def test_a_missing_plugin(tmp_path: Path) -> None:
    sealane.plugins.enable(path=tmp_path)
    with pytest.raises(sealane.PluginError, match="expected the program age-plugin-sealanetest in a folder"):
        sealane.encrypt_file(__file__, tmp_path / "out", recipients=[pair()[0]])
    assert leftovers(tmp_path) == []
    for name in "a/b", "", "ä", "../x":
        with pytest.raises(sealane.FormatError, match="name of an age plugin"):
            sealane.plugins.identity(name)


# claim: plugin-bounded
def test_a_silent_plugin_is_ended(tmp_path: Path) -> None:
    script(tmp_path, "silent", READ + "sleep 60")
    User().enable(timeout=0.5, path=tmp_path)
    began = time.monotonic()
    with pytest.raises(sealane.PluginError, match="age plugin silent: it was silent for 500ms"):
        sealane.encrypt(DATA, recipients=[sealane.plugins.identity("silent")])
    assert time.monotonic() - began < 30
    assert not {"sleep", "age-plugin-sile"} & {*children()}


# claim: plugin-errors
def test_secrets_are_not_shown() -> None:
    """The plugin puts its identity into the text of an error."""
    sealane.plugins.enable()
    recipient, identity = pair("l")
    key = sealane.keys.Key.from_text(identity)
    assert repr(key) == "<sealane.keys.Key age-plugin-sealanetest>"
    assert key.to_text() == f"{identity}\n"
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(key)
    with pytest.raises(sealane.PluginError) as caught:
        sealane.encrypt(DATA, recipients=[key])
    assert identity.lower() not in str(caught.value).lower()
    assert "contains a secret" in str(caught.value)
    recipient, identity = pair("e")
    with pytest.raises(sealane.PluginError, match=r"the key is locked\\n\\u001b\[31mfor ever"):
        sealane.encrypt(DATA, recipients=[recipient])
    assert sealane.keys.Key.from_text(identity) == sealane.keys.Key.from_text(identity) != key


def test_a_forked_child_runs_plugins() -> None:
    sealane.plugins.enable()
    recipient, identity = pair()
    sealed = in_child(lambda: sealane.encrypt(DATA, recipients=[recipient]))
    assert sealane.decrypt(sealed, identities=[identity]) == DATA


# ---- the command line ----------------------------------------------------------------------------

PROGRAM = [sys.executable, "-m", "sealane"]


def sealane_run(*arguments: str | Path, status: int = 0) -> str:
    done = subprocess.run([*PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


# claim: plugin-permission
def test_program(tmp_path: Path) -> None:
    recipient, identity = pair("m")
    plain, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    plain.write_bytes(DATA)
    (tmp_path / "identity").write_text(identity)
    (tmp_path / "identity").chmod(0o600)
    (tmp_path / "recipients").write_text(f"# the team\n{recipient}\n")
    said = "sealane: age plugin sealanetest: Please touch the key\n"
    for option in ["-r", recipient], ["-R", str(tmp_path / "recipients")]:
        assert sealane_run("-e", *option, "-o", sealed, plain) == said
        assert sealane_run("-d", "-i", tmp_path / "identity", "-o", back, sealed) == said
        assert back.read_bytes() == DATA
    assert (
        sealane_run("decrypt", "--json", "-i", tmp_path / "identity", "-o", back, sealed).count("message")
        == 1
    )
    sealane_run("rewrap", "-i", tmp_path / "identity", "-r", pair(byte=9)[0], sealed)
    shown = sealane_run("decrypt", "-i", tmp_path / "identity", sealed, status=1)
    assert "no matching key" in shown
    shown = sealane_run("encrypt", "-r", pair("e")[0], "-o", tmp_path / "out", plain, status=1)
    assert "age plugin sealanetest: it reports an error: the key is locked" in shown
    shown = sealane_run("encrypt", "--json", "-j", "no-such-plugin", "-o", tmp_path / "out", plain, status=1)
    assert '"kind":"plugin"' in shown
    assert "expected the program age-plugin-no-such-plugin in a folder of PATH" in shown
    assert "expected the name of an age plugin" in sealane_run("-e", "-j", "a/b", plain, status=1)
    assert identity not in sealane_run("decrypt", "-i", identity, sealed, status=2)
    assert not (tmp_path / "out").exists()


def test_program_at_a_terminal(tmp_path: Path) -> None:
    recipient, identity = pair("spco")
    plain, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    plain.write_bytes(DATA)
    (tmp_path / "identity").write_text(identity)
    (tmp_path / "identity").chmod(0o600)
    responses = ["1234", "slot", "3", "1", ""]
    command = [PROGRAM[0], *PROGRAM[1:], "encrypt", "-r", recipient, "-o", sealed, plain]
    status, shown = typed(responses, *command)
    assert status == 0, shown
    assert 'age plugin sealanetest: Use the key? (type 1 for "use it" or 2 for "skip it"): ' in shown
    command = [PROGRAM[0], *PROGRAM[1:], "decrypt", "-i", tmp_path / "identity", "-o", back, sealed]
    assert typed(responses, *command)[0] == 0
    assert back.read_bytes() == DATA
    command = [PROGRAM[0], *PROGRAM[1:], "decrypt", "-i", tmp_path / "identity", sealed]
    assert typed(["4321"], *command)[0] == 1
    # Without a terminal, the plugin is told that there is no user.
    assert "no success with the flag s" in sealane_run("-d", "-i", tmp_path / "identity", sealed, status=1)
