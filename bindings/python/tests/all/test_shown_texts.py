"""Texts of exceptions: no character of an argument that a terminal would obey."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
import sealane
import sealane.fs
import sealane.parquet
from sealane._error_paths import asking
from sealane.compat import rencrypt

KEY = bytes(32)
HIDDEN = ("\x1b[31m", "\n", "\r", "\x9b", "\u202e", "\u2066", "\u2028")
SCHEMES = ["env", "file", "keyring", "call", "aws-kms", "vault", "vault:a/b?x=", "pkcs11", "pkcs11:token="]


def old_file(text: str) -> object:
    return rencrypt.REncrypt(rencrypt.Cipher.AES256GCM, KEY).decrypt_file(text, "out")


def excluding(text: str) -> object:
    Path(text).write_bytes(b"\xff")
    return sealane.encrypt_tree("folder", "out", key=KEY, exclude_from=text)


def vault(text: str) -> object:
    Path(text).mkdir()
    (Path(text) / "gocryptfs.conf").write_bytes(b"{}")
    return sealane.Folder(text, passphrase="words")


def fs(**options: str) -> sealane.fs.SealaneFileSystem:
    options = {"key": "env:KEY"} | options
    return sealane.fs.SealaneFileSystem(target_protocol="memory", skip_instance_cache=True, **options)


def ask(*errors: Exception) -> None:
    for error in errors:
        with asking("/path"):
            raise error


CALLS: dict[str, Callable[[str], object]] = {
    "path": lambda text: sealane.encrypt_file(text, "out", key=KEY),
    "target": lambda text: sealane.encrypt_file("file", f"{text}/none/out/.", key=KEY),
    "format": lambda text: sealane.encrypt_file("file", "out", key=KEY, format=text),
    "mode": lambda text: sealane.open("file", text, key=KEY),
    "recipient": lambda text: sealane.encrypt(b"", recipients=[text]),
    "identity": lambda text: sealane.decrypt(b"", identities=[text]),
    "algorithm": lambda text: sealane.Aead(text, KEY),
    "kind": lambda text: sealane.keys.generate(text),
    "errors": lambda text: sealane.encrypt_many([("file", "out")], key=KEY, errors=text),  # type: ignore[arg-type]
    "exclude_from": excluding,
    "suffix": lambda text: sealane.encrypt_tree("folder", "out", key=KEY, suffix=f"{text}/"),
    "folder": lambda text: sealane.Folder(text, key=KEY),
    "folder options": lambda text: sealane.Folder(text, key=KEY, storage_options={}),
    "folder at a URL": lambda text: sealane.Folder.create(f"memory://{text}", key=KEY),
    "vault": vault,
    "age": lambda text: fs(key=f"age:{text}"),
    "each": lambda text: fs(key=f"each:{text}"),
    "folder of a filesystem": lambda text: fs(folder=f"/{text}", key="env:KEY").ls("/other"),
    "unknown option": lambda text: fs(**{text: "1"}),
    "master key": lambda text: sealane.parquet.KmsClient({"a": "env:KEY"}).wrap_key(KEY, text),
    **{
        f"fs.{name}": lambda text, name=name: getattr(fs(), name)(f"/none/{text}")  # type: ignore[misc]
        for name in ("open", "cat", "info", "ls", "rm", "modified", "created", "ukey", "checksum", "rmdir")
    },
    "fs.cp": lambda text: fs().cp(f"/{text}", "/out"),
    "fs.get": lambda text: fs().get([f"/{text}", "/other"], "out"),
    "fs.mkdir": lambda text: [fs().makedirs(f"/{text}", exist_ok=False) for _ in range(2)],
    "an error of a server": lambda text: ask(PermissionError(text)),
    "an error of a client": lambda text: ask(KeyError(text), ValueError(text)),
    "an error with a number": lambda text: ask(PermissionError(13, f"denied: {text}")),
    "old file": lambda text: old_file(f"{text}/."),
    "old device": lambda text: old_file(text),
    **{
        scheme: lambda text, scheme=scheme: sealane.keys.resolve(f"{scheme}:{text}")  # type: ignore[misc]
        for scheme in SCHEMES
    },
    **{
        f"wrapping key {scheme}": lambda text, scheme=scheme: sealane.fs.create_dataset_key(  # type: ignore[misc]
            "memory://key", wrapping_key=f"{scheme}:{text}"
        )
        for scheme in SCHEMES
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_shown_that_a_terminal_obeys(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEY", sealane.keys.generate("aes-256").to_text())
    Path("file").write_bytes(b"data")
    Path("folder").mkdir()
    for number, hidden in enumerate(HIDDEN):
        with contextlib.suppress(OSError):
            Path(f"a{hidden}{number}").mkdir()
        for text in (f"a{hidden}b", f"a{hidden}{number}"):
            with pytest.raises(Exception) as caught:  # noqa: PT011 - the calls raise different exceptions
                CALLS[name](text)
            shown: BaseException | None = caught.value
            while shown is not None:
                assert hidden not in str(shown), ascii(str(shown))
                shown = shown.__cause__
