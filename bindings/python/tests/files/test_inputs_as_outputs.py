"""An output never destroys an input of the same call: a key, an identity, a manifest or a source."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import sealane
from sealane.keys import Keyring

Call = Callable[[Path], object]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    sealane.keys.generate("aes-256").save("key")
    sealane.keys.generate("age").save("identity")
    key, identity = sealane.keys.load("key"), sealane.keys.load("identity")
    Path("keyset").write_text(Keyring.from_key(os.urandom(32), "tink-4kb").to_json())
    Path("plain").write_bytes(b"text" * 10_000)
    sealane.encrypt_file("plain", "sealed", key=key)
    sealane.encrypt_file("plain", "age", recipients=[identity.public])
    sealane.keys.generate("aes-256").save("wrapped", recipients=[identity.public])
    identity.public.save("public")
    return tmp_path


def links(folder: Path, file: str) -> list[Path]:
    (folder / "link").symlink_to(file)
    (folder / "here").symlink_to(".")
    os.link(folder / file, folder / "hard-link")
    return [Path(file), folder / file, Path("link"), Path("here", file), Path("hard-link")]


CALLS: list[tuple[str, Call]] = [
    ("key", lambda out: sealane.encrypt_file("plain", out, key=sealane.keys.load("key"))),
    ("key", lambda out: sealane.encrypt_file("plain", out, key=sealane.keys.resolve("file:key"))),
    ("key", lambda out: sealane.decrypt_file("sealed", out, key=sealane.keys.load("key"))),
    ("key", lambda out: sealane.open(out, "wb", key=sealane.keys.load("key"))),
    ("keyset", lambda out: sealane.encrypt_file("plain", out, key=sealane.keys.load("keyset"))),
    ("identity", lambda out: sealane.decrypt_file("age", out, identities=[Path("identity")])),
    ("identity", lambda out: sealane.decrypt_file("age", out, identities=[sealane.keys.load("identity")])),
    ("public", lambda out: sealane.encrypt_file("plain", out, recipients=[sealane.keys.load("public")])),
    (
        "public",
        lambda out: sealane.encrypt_file("plain", out, recipients=[sealane.keys.PublicKey.load("public")]),
    ),
    (
        "identity",
        lambda out: sealane.encrypt_file("plain", out, recipients=[sealane.keys.load("identity").public]),
    ),
    (
        "wrapped",
        lambda out: sealane.encrypt_file(
            "plain", out, key=sealane.keys.load("wrapped", identities=[Path("identity")])
        ),
    ),
]


# claim: output-is-input
@pytest.mark.parametrize(("file", "call"), CALLS)
def test_an_output_is_not_a_key_of_the_call(folder: Path, file: str, call: Call) -> None:
    content = (folder / file).read_bytes()
    for name in links(folder, file):
        with pytest.raises(ValueError, match="would replace"):
            call(name)
        assert (folder / file).read_bytes() == content


def test_a_pipe_decrypted_over_its_key(folder: Path) -> None:
    key = sealane.keys.load("key")
    with open("sealed", "rb") as source, pytest.raises(ValueError, match="would replace"):
        sealane.decrypt_file(source, "key", key=key)
    with open("plain", "rb") as source, pytest.raises(ValueError, match="would replace"):
        sealane.encrypt_file(source, "key", key=key)
    assert sealane.keys.load("key") == key


@pytest.mark.parametrize("source_is_path", [True, False])
def test_a_file_object_and_its_path_are_one_file(folder: Path, source_is_path: bool) -> None:
    key = sealane.keys.load("key")
    content = Path("plain").read_bytes()
    for name in links(folder, "plain"):
        with open(name, "r+b") as file, pytest.raises(ValueError, match="same file"):
            sealane.encrypt_file(*(("plain", file) if source_is_path else (file, "plain")), key=key)
        assert Path("plain").read_bytes() == content


# claim: output-is-input
@pytest.mark.parametrize("key", ["file:key", "object"])
def test_a_bulk_job_keeps_its_key(folder: Path, key: str) -> None:
    given = sealane.keys.load("key") if key == "object" else key
    content = Path("key").read_bytes()
    Path("link").symlink_to("key")
    for target in ("key", "link"):
        report = sealane.encrypt_many([("plain", target), ("age", "done")], key=given, errors="return")
        assert list(report.failed) == ["plain"]
        assert "would replace" in str(report.failed["plain"])
        assert Path("key").read_bytes() == content
    report = sealane.decrypt_many([("age", "identity")], identities=[Path("identity")], errors="return")
    assert "would replace" in str(report.failed["age"])


def test_a_manifest_is_not_a_link_to_a_source_or_a_target(folder: Path) -> None:
    Path("empty").touch()
    Path("notes").symlink_to("empty")
    with pytest.raises(ValueError, match="manifest"):
        sealane.encrypt_many([("empty", "out")], key="file:key", manifest="notes")
    with pytest.raises(ValueError, match="manifest"):
        sealane.encrypt_many([("plain", "empty")], key="file:key", manifest="notes")
    assert Path("empty").read_bytes() == b""
    with pytest.raises(sealane.exceptions.FormatError):
        sealane.encrypt_many([("plain", "out")], key="file:key", manifest="key")
    sealane.keys.load("key")
