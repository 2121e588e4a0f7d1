"""Data keys under keys of PKCS#11 tokens (SoftHSM 2), beside Tink and python-pkcs11."""

from __future__ import annotations

import functools
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import dask.bag as db
import fsspec
import pkcs11
import pytest
import sealane
import tink
from distributed import Client
from key_services import Aws
from parts import Place
from programs import program, typed
from sealane import AuthenticationError, KeyRefusedError, _kms
from sealane.fs import create_dataset_key, rewrap_dataset_key
from sealane.keys import Keyring, resolve
from support import in_child
from tink import aead
from tokens import PIN, Tokens, made, softhsm

MESSAGE = b"a message under a token"
PROGRAM = [sys.executable, "-m", "sealane"]

aead.register()


def ring_of(reference: str) -> Keyring:
    found = resolve(reference)
    assert isinstance(found, Keyring)
    return found


def test_a_dataset(token_key: str, tokens: Tokens, place: Place) -> None:
    place.target.makedirs(place.root, exist_ok=True)
    key = f"{token_key}&context=sales%2F2026"
    options = place.target_options
    create_dataset_key(place.below("_key.json"), wrapping_key=key, storage_options=options)
    with pytest.raises(FileExistsError):
        create_dataset_key(place.below("_key.json"), wrapping_key=key, storage_options=options)
    fs = place.sealed(f"{key}#{place.path('_key.json')}")
    with tokens.counting() as logins:
        for number in range(20):
            fs.pipe_file(place.path(f"file-{number}"), MESSAGE)
        assert fs.cat_file(place.path("file-7")) == MESSAGE
    assert len(logins) == 1
    with pytest.raises(PermissionError):
        fs.rm_file(place.path("_key.json"))
    assert place.path("_key.json") not in fs.ls(place.root, detail=False)


def test_the_file_is_what_tink_documents(token_key: str, tmp_path: Path) -> None:
    reference = made(token_key, tmp_path / "key.json")
    (key,) = ring_of(reference).keys
    assert json.loads((tmp_path / "key.json").read_text())["keysetInfo"] == {
        "primaryKeyId": key.id,
        "keyInfo": [
            {
                "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmKey",
                "status": "ENABLED",
                "keyId": key.id,
                "outputPrefixType": "TINK",
            }
        ],
    }


@functools.cache
def session() -> Any:
    """A session of python-pkcs11, for a child: it leaves the module initialized and the process logged in."""
    return pkcs11.lib(softhsm()).get_token(token_label="sealane").open(user_pin=PIN)


class Remote(aead.Aead):
    """The key of a token as python-pkcs11 uses it, in the interface of Tink."""

    def __init__(self, label: str) -> None:
        self._session = session()
        self._label = label

    def _key(self, kind: pkcs11.ObjectClass) -> Any:
        return self._session.get_key(label=self._label, object_class=kind)


class RemoteAes(Remote):
    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:
        nonce = os.urandom(12)
        return nonce + self._run("encrypt", nonce, plaintext, associated_data)

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:
        return self._run("decrypt", ciphertext[:12], ciphertext[12:], associated_data)

    def _run(self, verb: str, nonce: bytes, data: bytes, associated_data: bytes) -> bytes:
        parameters = pkcs11.GCMParams(nonce, associated_data or None, 128)
        call = getattr(self._key(pkcs11.ObjectClass.SECRET_KEY), verb)
        try:
            found: bytes = call(data, mechanism=pkcs11.Mechanism.AES_GCM, mechanism_param=parameters)
        except pkcs11.exceptions.PKCS11Error as error:
            raise tink.TinkError(repr(error)) from error
        return found


class RemoteRsa(Remote):
    """RSA-OAEP with SHA-1, because SoftHSM has no other."""

    options = {  # noqa: RUF012
        "mechanism": pkcs11.Mechanism.RSA_PKCS_OAEP,
        "mechanism_param": (pkcs11.Mechanism.SHA_1, pkcs11.MGF.SHA1, None),
    }

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:
        assert not associated_data
        found: bytes = self._key(pkcs11.ObjectClass.PUBLIC_KEY).encrypt(plaintext, **self.options)
        return found

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:
        assert not associated_data
        found: bytes = self._key(pkcs11.ObjectClass.PRIVATE_KEY).decrypt(ciphertext, **self.options)
        return found


def tinks(reference: str) -> aead.Aead:
    """Tink's object for a wrapping key, for a child."""
    label = reference.partition("object=")[2].partition("?")[0]
    if label.startswith("aes"):
        return RemoteAes(label)
    return aead.KmsEnvelopeAead(aead.aead_key_templates.AES256_GCM, RemoteRsa(label))


@pytest.mark.parametrize("context", ["", "sales"])
def test_tink_reads_our_keysets(token_key: str, tmp_path: Path, context: str) -> None:
    path = tmp_path / "key.json"
    ring = ring_of(made(token_key, path, context))
    sealed = sealane.Aead(keyring=ring).seal(MESSAGE, aad=b"header")

    def read() -> None:
        parse = tink.json_proto_keyset_format.parse_encrypted
        handle = parse(path.read_text(), tinks(token_key), context.encode())
        assert handle.primitive(aead.Aead).decrypt(sealed, b"header") == MESSAGE
        with pytest.raises(tink.TinkError):
            parse(path.read_text(), tinks(token_key), b"another")

    in_child(read)


@pytest.mark.parametrize("binary", [False, True])
def test_we_read_keysets_of_tink(token_key: str, tmp_path: Path, binary: bool) -> None:
    path = tmp_path / "tink"

    def write() -> bytes:
        handle = tink.new_keyset_handle(aead.aead_key_templates.AES256_GCM)
        formats = tink.proto_keyset_format if binary else tink.json_proto_keyset_format
        content = formats.serialize_encrypted(handle, tinks(token_key), b"sales")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        sealed: bytes = handle.primitive(aead.Aead).encrypt(MESSAGE, b"header")
        # python-pkcs11 uses the module, which stays initialized and logged in.
        assert isinstance(resolve(f"{token_key}&context=sales#{path}"), Keyring)
        tinks(token_key)
        return sealed

    sealed = in_child(write)
    ring = ring_of(f"{token_key}&context=sales#{path}")
    assert sealane.Aead(keyring=ring).open(sealed, aad=b"header") == MESSAGE


def test_bulk_jobs(token_key: str, tokens: Tokens, tmp_path: Path) -> None:
    reference = made(token_key, tmp_path / "key.json")
    (tmp_path / "raw").mkdir()
    for number in range(30):
        (tmp_path / "raw" / str(number)).write_bytes(MESSAGE)
    with tokens.counting() as logins:
        report = sealane.encrypt_tree(tmp_path / "raw", tmp_path / "sealed", key=reference)
    assert (report.done, len(logins)) == (30, 1)
    with tokens.counting() as logins, ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        report = sealane.decrypt_tree(
            tmp_path / "sealed", tmp_path / "plain", key=reference, executor=executor
        )
    assert report.done == 30
    assert len(logins) <= 2, "once for each worker"
    assert (tmp_path / "plain" / "29").read_bytes() == MESSAGE
    with pytest.raises(ExceptionGroup) as caught:
        sealane.encrypt_many([(tmp_path / "raw" / "1", tmp_path / "key.json")], key=reference)
    assert "would replace" in str(caught.value.exceptions[0])


def configured(environment: dict[str, str]) -> None:
    os.environ.update(environment)


def test_a_dask_job_logs_in_once_per_worker(tokens: Tokens, cluster: Client, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    reference = made(tokens.new_key(), tmp_path / "data" / "_key.json")
    fs = fsspec.filesystem("sealane", target_protocol="file", key=reference)
    for number in range(50):
        fs.pipe_file(f"{tmp_path}/data/{number:04}.txt", MESSAGE + b"\n")
    cluster.run(configured, tokens.environment)
    lines = db.read_text(f"sealane::file://{tmp_path}/data/*.txt", storage_options={"key": reference})
    with tokens.counting() as logins:
        assert lines.map(str.strip).compute(scheduler=cluster) == [MESSAGE.decode()] * 50
    assert len(logins) <= 2


def test_processes_that_log_in_at_the_same_time(tokens: Tokens, tmp_path: Path) -> None:
    """SoftHSM writes to a token at each login, and hides it from other processes for this moment."""
    reference = made(tokens.new_key(), tmp_path / "key.json")
    source = (
        "import sys; from sealane import _kms, keys\n"
        "for _ in range(10): _kms._forget(); keys.resolve(sys.argv[1])"
    )
    environment = os.environ | tokens.environment
    children = [subprocess.Popen([sys.executable, "-c", source, reference], env=environment) for _ in "12"]
    assert [child.wait() for child in children] == [0, 0]


def test_the_cache_has_a_time_limit(tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = made(tokens.new_key(), tmp_path / "key.json")
    monkeypatch.setattr(_kms, "TIME_LIMIT", 0.2)
    with tokens.counting() as logins:
        resolve(reference)
        resolve(reference)
        time.sleep(0.3)
        resolve(reference)
    assert len(logins) == 2


def test_threads_log_in_once(tokens: Tokens, tmp_path: Path) -> None:
    reference = made(tokens.new_key(), tmp_path / "key.json")
    with tokens.counting() as logins, ThreadPoolExecutor(8) as executor:
        rings = list(executor.map(ring_of, [reference] * 16))
    assert len({ring.primary for ring in rings}) == 1
    assert len(logins) == 1


def test_threads_with_different_keys_wait_for_each_other(tokens: Tokens, tmp_path: Path) -> None:
    references = [made(tokens.new_key(kind), tmp_path / f"{kind}.json") for kind in ("aes", "rsa")]
    with ThreadPoolExecutor(4) as executor:
        for _ in range(3):
            _kms._forget()
            found = list(executor.map(ring_of, references * 2))
            assert [ring.primary for ring in found[:2]] == [ring.primary for ring in found[2:]]


def test_a_forked_child_logs_in_itself(token_key: str, tokens: Tokens, tmp_path: Path) -> None:
    reference = made(token_key, tmp_path / "key.json")
    ring = ring_of(reference)

    def child() -> tuple[bytes, int]:
        return ring_of(reference).to_bytes(), os.getpid()

    with tokens.counting() as logins:
        content, process = in_child(child)
        assert ring_of(reference).to_bytes() == content == ring.to_bytes()
    assert logins == [f"login {process}"]


def test_a_fork_during_a_call(tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child refuses the module, in whose calls another thread of its parent was. The parent goes on."""
    reference = made(tokens.new_key(), tmp_path / "key.json")
    monkeypatch.setenv("ODD_MODULE", "slow")
    found: list[Keyring] = []
    before = len(tokens._logins())
    thread = threading.Thread(target=lambda: found.append(ring_of(reference)))
    thread.start()
    while len(tokens._logins()) == before:
        time.sleep(0.01)

    def child() -> str:
        with pytest.raises(KeyRefusedError, match="forked") as caught:
            resolve(reference)
        return str(caught.value)

    assert in_child(child).startswith(reference.partition("#")[0])
    thread.join()
    monkeypatch.delenv("ODD_MODULE")
    _kms._forget()
    assert ring_of(reference).to_bytes() == found[0].to_bytes()
    assert in_child(lambda: ring_of(reference).to_bytes()) == found[0].to_bytes()


def test_rewrap(tokens: Tokens, aws: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in aws.environment.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "key.json"
    key = tokens.new_key("aes") + "&context=sales"
    sealed = sealane.Aead(keyring=ring_of(made(key.removesuffix("&context=sales"), path))).seal(MESSAGE)
    for new in tokens.new_key("rsa") + "&context=sales", aws.new_key(), tokens.new_key("aes"):
        rewrap_dataset_key(str(path), identity=key, wrapping_key=new)
        assert sealane.Aead(keyring=ring_of(f"{new}#{path}")).open(sealed) == MESSAGE
        with pytest.raises(AuthenticationError):
            resolve(f"{key}#{path}")
        key = new


def test_places_of_the_pin(tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tokens.new_key()
    made(key, tmp_path / "key.json", "")
    monkeypatch.delenv("SEALANE_PKCS11_PIN")
    for query in (
        f"pin-source={tokens.folder}/pin",
        f"pin-source=file:{tokens.folder}/pin",
        f"pin-source=file://localhost{tokens.folder}/pin",
        f"pin-value={PIN}",
    ):
        _kms._forget()
        assert ring_of(f"{key}&{query}#{tmp_path}/key.json")
    _kms._forget()
    with pytest.raises(KeyRefusedError, match="needs a PIN"):
        resolve(f"{key}#{tmp_path}/key.json")
    monkeypatch.setenv("ODD_MODULE", "keypad")
    monkeypatch.setenv("ODD_MODULE_PIN", PIN)
    assert ring_of(f"{key}#{tmp_path}/key.json")
    monkeypatch.delenv("ODD_MODULE")
    # A text in the reference has precedence over the variable.
    monkeypatch.setenv("SEALANE_PKCS11_PIN", "another")
    _kms._forget()
    assert ring_of(f"{key}&pin-source={tokens.folder}/pin#{tmp_path}/key.json")


def test_names_of_the_module(tokens: Tokens, tmp_path: Path) -> None:
    program("p11-kit-proxy.so")
    key = tokens.new_key()
    made(key, tmp_path / "key.json", "")
    name = key.partition("?")[0]
    folder = str(Path(softhsm()).parent)
    for query in "?module-name=softhsm2", f"?module-path={folder}&module-name=softhsm2", "":
        # Without a module, p11-kit's proxy is used, for which softhsm2 is configured.
        _kms._forget()
        assert ring_of(f"{name}{query}#{tmp_path}/key.json")


def test_attributes_of_the_token(tokens: Tokens, tmp_path: Path) -> None:
    tokens.new_token("named twice")
    tokens.new_token("named twice")
    key = tokens.new_key(id="c0ffee01")
    made(key, tmp_path / "key.json", "")
    label = key.partition("object=")[2].partition("?")[0]
    module = key.partition("?")[2]
    ids = "id=%C0%FF%EE%01"
    for name in (
        f"token=sealane;{ids}",
        f"token=sealane;{ids};object={label};type=secret-key;model=SoftHSM%20v2",
    ):
        _kms._forget()
        assert ring_of(f"pkcs11:{name}?{module}#{tmp_path}/key.json")


# claim: token-no-secrets
def test_a_pin_in_the_reference_is_not_stored(tokens: Tokens, tmp_path: Path) -> None:
    key = tokens.new_key()
    made(key, tmp_path / "key.json", "")
    reference = f"{key}&pin-value={PIN}#{tmp_path}/key.json"
    with pytest.raises(ValueError, match="must not contain a PIN") as caught:
        fsspec.filesystem("sealane", target_protocol="file", key=reference)
    assert PIN not in str(caught.value)
    with pytest.raises(ValueError, match="must not contain a PIN") as caught:
        sealane.encrypt_many([(tmp_path / "a", tmp_path / "b")], key=reference)
    assert PIN not in str(caught.value)
    assert PIN not in f"{_kms.parse(reference)[0]!r} {_kms.parse(reference)[0]}"
    fs = fsspec.filesystem("sealane", target_protocol="file", key=f"{key}#{tmp_path}/key.json")
    fs.pipe_file(f"{tmp_path}/file", MESSAGE)
    again = pickle.loads(pickle.dumps(fs))
    assert again.cat_file(f"{tmp_path}/file") == MESSAGE


def run(*words: str | Path, status: int = 0, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [*PROGRAM, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment
    )
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_the_program(token_key: str, tokens: Tokens, tmp_path: Path) -> None:
    reference = made(token_key, tmp_path / "key.json")
    (tmp_path / "plain").write_bytes(MESSAGE)
    run("encrypt", "-k", reference, tmp_path / "plain", "-o", tmp_path / "sealed")
    with tokens.counting() as logins:
        assert MESSAGE.decode() in run("decrypt", "-k", reference, tmp_path / "sealed", "-o", "-")
    assert len(logins) == 1
    url = reference.replace(f"#{tmp_path}", f"#file://{tmp_path}")
    assert MESSAGE.decode() in run("decrypt", "-k", url, tmp_path / "sealed", "-o", "-")
    fs = fsspec.filesystem("sealane", target_protocol="file", key=reference)
    assert fs.cat_file(f"{tmp_path}/sealed") == MESSAGE
    said = run("decrypt", "-k", reference, tmp_path / "sealed", "-o", tmp_path / "key.json", status=2)
    assert "would replace" in said
    said = run("decrypt", "-k", reference.replace("sales", "wages"), tmp_path / "sealed", "-o", "-", status=1)
    assert "context=wages" in said
    assert "authentication failed" in said


# claim: token-no-secrets
def test_the_program_shows_no_pin(tokens: Tokens, tmp_path: Path) -> None:
    key = tokens.new_key()
    made(key, tmp_path / "key.json", "")
    (tmp_path / "plain").write_bytes(MESSAGE)
    reference = f"{key}&pin-value={PIN}#{tmp_path}/key.json"
    run("encrypt", "-k", reference, tmp_path / "plain", "-o", tmp_path / "sealed")
    for wrong in (
        reference.replace("object=", "object=no-"),
        reference.replace("&pin-value", "&pin-source=/p&pin-value"),
        reference.replace("key.json", "no.json"),
        reference.replace(f"#{tmp_path}", f"#file://{tmp_path}/no"),
    ):
        done = subprocess.run(
            [*PROGRAM, "decrypt", f"-k{wrong}", tmp_path / "sealed", "-o", "-"],
            capture_output=True,
            text=True,
        )
        assert done.returncode in (1, 2)
        assert PIN not in done.stdout + done.stderr
    assert PIN not in run("decrypt", f"--no-such-option={reference}", status=2)


def test_the_program_asks_for_the_pin(
    tokens: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = made(tokens.new_key(), tmp_path / "key.json")
    (tmp_path / "plain").write_bytes(MESSAGE)
    run("encrypt", "-k", reference, tmp_path / "plain", "-o", tmp_path / "sealed")
    monkeypatch.delenv("SEALANE_PKCS11_PIN")
    words = [*PROGRAM[1:], "decrypt", "-k", reference, str(tmp_path / "sealed"), "-o"]
    status, shown = typed([PIN], sys.executable, *words, str(tmp_path / "again"))
    assert status == 0, shown
    assert "PIN of the token sealane: " in shown
    assert (tmp_path / "again").read_bytes() == MESSAGE
    with tokens.counting() as logins:
        status, shown = typed(["wrong-pin"], sys.executable, *words, str(tmp_path / "never"))
    assert (status, len(logins)) == (1, 1)
    assert "refuses the PIN" in shown
    assert "wrong-pin" not in shown[shown.index("pkcs11:") :]
    assert not (tmp_path / "never").exists()
    assert "needs a PIN" in run(*words[2:], "-", status=1)
