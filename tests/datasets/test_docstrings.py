"""Runs the examples of the docstrings, and checks that every entry point has one."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import doctest
import getpass
import importlib
import inspect
import io
import os
import pathlib
import pkgutil
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import fsspec
import pyarrow
import pyarrow.parquet as pq
import pytest
import sealane
import sealane.aio
import sealane.fs
import sealane.hazmat
import sealane.parquet
import sealane.sqlalchemy
import sqlalchemy.orm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.registry import _registry
from key_services import Aws
from programs import program

MODULES = [
    "sealane",
    *(
        module.name
        for module in pkgutil.walk_packages(sealane.__path__, "sealane.")
        if not any(part.startswith("_") for part in module.name.split("."))
    ),
]

NO_EXAMPLE = {
    "sealane.AlgorithmInfo": "algorithms() returns it",
    "sealane.BulkReport": "encrypt_many() returns it",
    "sealane.Difference": "a part of InventoryReport",
    "sealane.EncryptedReader": "open() returns it",
    "sealane.EncryptedWriter": "open() returns it",
    "sealane.FileInfo": "inspect() returns it",
    "sealane.FolderEntry": "Folder.ls() returns it",
    "sealane.InventoryReport": "verify_inventory() returns it",
    "sealane.ProviderInfo": "providers() returns it",
    "sealane.SalvageReport": "salvage_file() returns it",
    "sealane.django.Sealed": "a query for a bound value alone returns it",
    "sealane.keys.KeyringKey": "Keyring.keys returns it",
    "sealane.signing.Verified": "verify() returns it",
}

NOT_RUN = {
    "sealane.Folder.read_link": "a link in the folder",
    "sealane.plugins": "the plugin age-plugin-yubikey and the key in hardware",
}
"""Docstrings whose examples are compiled but not run, and what a run would need."""


def documented() -> Iterator[tuple[str, Any]]:
    """Lists the public modules, and what they define, with the methods of classes, each once."""
    seen = set()
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        yield module_name, module
        for name in getattr(module, "__all__", []):
            found = getattr(module, name)
            if inspect.ismodule(found) or id(found) in seen:
                continue
            seen.add(id(found))
            yield f"{module_name}.{name}", found
            if inspect.isclass(found):
                members = [(key, value) for key, value in vars(found).items() if not key.startswith("_")]
                yield from ((f"{module_name}.{name}.{key}", value) for key, value in members)


def examples(name: str, found: object) -> list[doctest.Example]:
    """Returns the examples of an object that has a docstring of its own.

    Raises ValueError with ``name`` if an example contains a line break, which has to be written as ``\\n``.
    """
    has_docstring = inspect.ismodule(found) or inspect.isclass(found) or callable(found)
    return doctest.DocTestParser().get_examples(inspect.getdoc(found) or "", name) if has_docstring else []


def test_every_entry_point_has_an_example() -> None:
    entries = [
        name
        for name, found in documented()
        if name.rpartition(".")[0] in MODULES
        and callable(found)
        and not (inspect.isclass(found) and issubclass(found, BaseException))
        and not examples(name, found)
    ]
    assert sorted(entries) == sorted(NO_EXAMPLE)


class Socket:
    def sendall(self, data: bytes) -> None:
        pass


class Bucket(MemoryFileSystem):
    """A memory in place of a bucket of S3."""

    protocol = "s3"
    store: dict[str, Any] = {}  # noqa: RUF012 - fsspec has it in the class

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return super()._strip_protocol(path.removeprefix("s3://"))


def write(path: str, content: bytes = b"0123456789") -> str:
    """Writes a file, with its folder."""
    pathlib.Path(path).parent.mkdir(exist_ok=True)
    pathlib.Path(path).write_bytes(content)
    return path


def messages(key: sealane.keys.Key) -> dict[str, Any]:
    """Returns the names of the examples that encrypt messages."""
    nonce = os.urandom(12)
    encryptor = sealane.hazmat.AeadEncryptor("aes-256-gcm", key, nonce).aad(b"header")
    return {
        "nonce": nonce,
        "iv": os.urandom(16),
        "ciphertext": encryptor.update(b"first second"),
        "tag": encryptor.finalize(),
        "aead": sealane.Aead("aes-256-gcm", key),
        "file": io.BytesIO(b"0123456789"),
        "socket": Socket(),
    }


def files(key: sealane.keys.Key, alice: sealane.keys.Key, bob: sealane.keys.Key) -> dict[str, Any]:
    """Writes the files that examples read to the working directory, and returns the names of those."""
    both, ring = [alice.public, bob.public], sealane.keys.Keyring.generate("aes-256-gcm")
    sealane.encrypt_file(write("lines", b"one line\n" * 1000), "backup.sealed", key=key)
    sealane.encrypt_file(write("data.csv"), "backup.age", recipients=both)
    sealane.encrypt_many([(write("a.csv"), "a.sealed"), (write("b.csv"), "b.sealed")], key=key)
    for name in ["photos/a.jpg", "photos/b.jpg", "photos/c.tmp", "data/a.csv", "data/b.csv"]:
        write(name)
    sealane.encrypt_tree("photos", "photos.sealed", suffix=".sealed", key=key)
    # One bit of the second chunk, behind the header of 56 bytes.
    image = bytearray(sealane.encrypt(bytes(3 * 16384), key=key))
    image[56 + 16400 + 100] ^= 1
    write("disk.img.sealed", image)
    for number in range(10):
        write(f"plain/{number}", bytes(16384))
    sealane.encrypt_tree("plain", "backups", key=ring)
    return {"ring": ring}


def inventory(key: sealane.keys.Key) -> None:
    """Writes a signed inventory of a folder, and then exchanges a file of the folder."""
    program("ssh-keygen")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "id_ed25519"], check=True)
    shutil.copy("id_ed25519.pub", "release.pub")
    sealane.encrypt_tree("data", "vault", key=key)
    sealane.write_inventory("vault", "vault.inventory", sign_key="id_ed25519", key=key)
    sealane.encrypt_file("b.csv", "vault/a.csv", key=key)


def signed() -> None:
    """Writes a key that signs, a list with it, and a signature."""
    program("ssh-keygen")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "release.key"], check=True)
    public = pathlib.Path("release.key.pub").read_text()
    pathlib.Path("allowed_signers").write_text(f"release@example.com {public}")
    pathlib.Path("app.tar.gz").write_bytes(b"an archive")
    pathlib.Path("app.tar.gz.sig").write_bytes(sealane.signing.sign("app.tar.gz", "release.key"))


def described(key: sealane.keys.Key) -> sealane.Folder:
    """Makes a folder that describes itself, with two files."""
    folder = sealane.Folder.create("vault", key=key, encrypt_names=True)
    folder.encrypt_from("photos", exclude=["*.tmp"])
    return folder


def stored_parts() -> dict[str, Any]:
    """Returns a private key and the parts of a message to it, as PyCryptodome programs store them."""
    private, aes_key, nonce = sealane.keys.generate("rsa-2048"), os.urandom(32), os.urandom(16)
    public = serialization.load_pem_public_key(str(private.public).encode())
    assert isinstance(public, rsa.RSAPublicKey)
    oaep = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
    sealed = AESGCM(aes_key).encrypt(nonce, b"hello", None)
    return {
        "private": private,
        "wrapped_key": public.encrypt(aes_key, oaep),
        "nonce": nonce,
        "ciphertext": sealed[:-16],
        "tag": sealed[-16:],
    }


def databases(name: str) -> Iterator[dict[str, Any]]:
    """Prepares the databases of the examples, and yields the names that they use."""
    if name.startswith("sealane.sqlalchemy"):
        base: Any = sqlalchemy.orm.declarative_base()
        ring = sealane.keys.Keyring.generate("xaes-256-gcm")
        notes = sealane.sqlalchemy.Encrypted(sqlalchemy.Text, keyring=ring, row=["id"])
        columns = {"id": sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)}
        columns["notes"] = sqlalchemy.Column(notes)
        user = type("User", (base,), {"__tablename__": "users", **columns})
        engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.StaticPool)
        base.metadata.create_all(engine)
        with sqlalchemy.orm.Session(engine) as session:
            session.add(user(notes="tea"))
            session.commit()
        some = {one: getattr(sqlalchemy, one) for one in ("Column", "Integer", "MetaData", "Table")}
        yield {"engine": engine, "User": user, "notes": notes, "ring": ring, **some}
        engine.dispose()
    elif name.startswith("sealane.django"):
        import django_app

        django_app.create_tables()
        patient = django_app.Patient.objects.create(diagnosis="flu")
        field = django_app.Patient._meta.get_field("diagnosis")
        yield {"Patient": django_app.Patient, "field": field, "number": patient.pk}
        django_app.delete_tables()
    else:
        yield {}


@pytest.fixture
def names(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Any]]:
    """Prepares what the examples of a docstring need, and returns the names that they use."""
    monkeypatch.chdir(tmp_path)
    key = sealane.keys.generate("aes-256")
    alice, bob = sealane.keys.generate("age"), sealane.keys.generate("age")
    values = messages(key) | files(key, alice, bob) | {"key": key, "alice": alice, "bob": bob}
    for variable in ["DATASET_KEY", "TABLE_KEY", "PII_KEY"]:
        monkeypatch.setenv(variable, sealane.keys.generate("aes-128").to_text())
    name = request.node.callspec.params["name"]
    if "inventory" in name:
        inventory(key)
    if name.startswith("sealane.Folder.") and not name.endswith((".create", ".encrypt_from")):
        values["folder"] = described(key)
    if name.startswith("sealane.signing."):
        signed()
    if name in ("sealane.decrypt_file", "sealane.fs.rewrap_dataset_key"):
        alice.save("alice.key")
    if name == "sealane.hazmat.XChaCha20":
        values["nonce"] = os.urandom(24)
    if name == "sealane.hybrid.rsa_open_parts":
        values |= stored_parts()

    monkeypatch.setitem(_registry, "s3", Bucket)
    Bucket.store.clear()
    if name.endswith("create_dataset_key"):
        aws: Aws = request.getfixturevalue("aws")
        for variable, value in aws.environment.items():
            monkeypatch.setenv(variable, value)
        kms = aws.client("eu-west-1")
        kms.create_alias(AliasName="alias/sales", TargetKeyId=kms.create_key()["KeyMetadata"]["KeyId"])
    if name.endswith("rewrap_dataset_key"):
        sealane.fs.create_dataset_key("s3://bucket/sales.key.age", recipients=[alice.public])
    Bucket().pipe_file("bucket/backup.age", pathlib.Path("backup.age").read_bytes())
    libraries = {"sealane": sealane, "os": os, "pathlib": pathlib, "getpass": getpass, "fsspec": fsspec}
    with contextlib.contextmanager(databases)(name) as more:
        yield (
            values
            | more
            | libraries
            | {"pyarrow": pyarrow, "pq": pq, "table": pyarrow.table({"name": ["a"], "size": [1]})}
        )
    sealane.plugins.disable()


@pytest.mark.parametrize("name", [name for name, found in documented() if examples(name, found)])
def test_examples(name: str, names: dict[str, Any]) -> None:
    """Every example runs, and prints what the docstring shows."""
    module = next(one for one in sorted(MODULES, key=len, reverse=True) if f"{name}.".startswith(f"{one}."))
    found = dict(documented())[name]
    scope = vars(importlib.import_module(module)) | names
    with asyncio.Runner() as runner:
        for example in examples(name, found):
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            code = compile(
                example.source, f"<{name}, line {example.lineno}>", "single", flags, dont_inherit=True
            )
            if name in NOT_RUN:
                continue
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                result = eval(code, scope)
                if inspect.iscoroutine(result):
                    runner.run(result)
            is_as_shown = doctest.OutputChecker().check_output(
                example.want, printed.getvalue(), doctest.ELLIPSIS
            )
            assert is_as_shown, f"{example.source}shows {example.want!r}, not {printed.getvalue()!r}"
