"""``cryptography`` and Tink read and write the encrypted names of folders."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import pytest
import sealane
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from tink import daead as deterministic
from tink import json_proto_keyset_format, secret_key_access

KEY = sealane.keys.generate("aes-256")
TREE = {
    b"a": b"1",
    b"deep/er/name with spaces.txt": b"2",
    b"deep/\xff\n": b"3",
    b"deep/" + b"x" * 134: b"4",
    "ü/ﬁ".encode(): b"5",
}


def encoded(sealed: bytes) -> str:
    return base64.b32hexencode(sealed).decode().rstrip("=").lower()


def decoded(name: str) -> bytes:
    return base64.b32hexdecode(name.upper() + "=" * (-len(name) % 8))


class Pyca:
    """Names under a single key, with ``cryptography``."""

    def __init__(self) -> None:
        self.ours = sealane.keys.generate("aes-256-siv")
        text = json.loads(self.ours.to_text())["k"]
        self.siv = AESSIV(base64.urlsafe_b64decode(text + "=="))

    def encrypt(self, name: bytes, folder: bytes) -> bytes:
        return self.siv.encrypt(name, [folder])

    def decrypt(self, name: bytes, folder: bytes) -> bytes:
        return self.siv.decrypt(name, [folder])


class Tink:
    """Names under a keyring, with Tink."""

    def __init__(self) -> None:
        deterministic.register()
        self.ours = sealane.keys.Keyring.generate("aes-256-siv")
        self.ours.rotate()
        handle = json_proto_keyset_format.parse(self.ours.to_json(), secret_key_access.TOKEN)
        self.keyset = handle.primitive(deterministic.DeterministicAead)

    def encrypt(self, name: bytes, folder: bytes) -> bytes:
        return bytes(self.keyset.encrypt_deterministically(name, folder))

    def decrypt(self, name: bytes, folder: bytes) -> bytes:
        return bytes(self.keyset.decrypt_deterministically(name, folder))


@pytest.fixture(params=[Pyca, Tink])
def other(request: pytest.FixtureRequest) -> Pyca | Tink:
    made: Pyca | Tink = request.param()
    return made


def create(folder: Path, tree: dict[bytes, bytes]) -> None:
    for name, content in tree.items():
        path = folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def read(folder: Path) -> dict[bytes, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {os.fsencode(path.relative_to(folder)): path.read_bytes() for path in files}


def test_they_decrypt_our_names(other: Pyca | Tink, tmp_path: Path) -> None:
    create(tmp_path / "data", TREE)
    os.symlink("deep/er", tmp_path / "data" / "link")
    vault = tmp_path / "vault"
    sealane.encrypt_tree(
        tmp_path / "data", vault, suffix=".sealed", key=KEY, encrypt_names=other.ours, preserve=True
    )
    found, links = {}, {}
    for folder, _, files in os.walk(vault):
        top: list[bytes] = []
        for part in Path(folder).relative_to(vault).parts:
            top.append(other.decrypt(decoded(part), b"/".join(top)))
        for file in files:
            name = other.decrypt(decoded(file.removesuffix(".sealed")), b"/".join(top))
            path = b"/".join([*top, name])
            if os.path.islink(os.path.join(folder, file)):
                links[path] = other.decrypt(decoded(os.readlink(os.path.join(folder, file))), path + b"/")
            else:
                found[path] = sealane.decrypt(Path(folder, file).read_bytes(), key=KEY)
    assert (found, links) == (TREE, {b"link": b"deep/er"})


def test_we_decrypt_their_names(other: Pyca | Tink, tmp_path: Path) -> None:
    vault = {}
    for path, content in TREE.items():
        parts = path.split(b"/")
        names = [encoded(other.encrypt(name, b"/".join(parts[:at]))) for at, name in enumerate(parts)]
        vault[("/".join(names) + ".sealed").encode()] = sealane.encrypt(content, key=KEY)
    create(tmp_path / "vault", vault)
    link = encoded(other.encrypt(b"link", b"")) + ".sealed"
    os.symlink(encoded(other.encrypt(b"deep/er", b"link/")), tmp_path / "vault" / link)
    job = {"suffix": ".sealed", "key": KEY, "encrypt_names": other.ours, "preserve": True}
    assert sealane.verify_tree(tmp_path / "vault", **job).done == len(TREE)  # type: ignore[arg-type]
    sealane.decrypt_tree(tmp_path / "vault", tmp_path / "back", **job)  # type: ignore[arg-type]
    assert os.readlink(tmp_path / "back" / "link") == "deep/er"
    os.unlink(tmp_path / "back" / "link")
    assert read(tmp_path / "back") == TREE
