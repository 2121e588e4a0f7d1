"""Data keys under key services: AWS KMS (moto), and Vault's Transit (the server of these tests)."""

from __future__ import annotations

import base64
import itertools
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import dask.bag as db
import fsspec
import pytest
import sealane
from distributed import Client
from key_services import (
    DECRYPT,
    Answer,
    Aws,
    Service,
    Transit,
    decrypts,
    garbage,
    made,
    name_of,
    plaintext,
    refusal,
)
from parts import Place
from sealane import AuthenticationError, KeyRefusedError, KeyServiceError, _kms
from sealane.fs import create_dataset_key, rewrap_dataset_key
from sealane.keys import Keyring, resolve
from support import in_child

MESSAGE = b"a message under a key service"


def test_a_dataset(service: Service, place: Place) -> None:
    place.target.makedirs(place.root, exist_ok=True)
    wrapping_key = service.new_key() + "?context=sales%2F2026"
    options = place.target_options
    create_dataset_key(place.below("_key.json"), wrapping_key=wrapping_key, storage_options=options)
    with pytest.raises(FileExistsError):
        create_dataset_key(place.below("_key.json"), wrapping_key=wrapping_key, storage_options=options)
    fs = place.sealed(f"{wrapping_key}#{place.path('_key.json')}")
    with service.counting() as calls:
        for number in range(20):
            fs.pipe_file(place.path(f"file-{number}"), MESSAGE)
        assert fs.cat_file(place.path("file-7")) == MESSAGE
    assert calls == [DECRYPT[name_of(service)]]
    # The key is protected as the other kind of dataset key is.
    with pytest.raises(PermissionError):
        fs.rm_file(place.path("_key.json"))
    assert place.path("_key.json") not in fs.ls(place.root, detail=False)


def test_the_file_is_what_tink_documents(service: Service, tmp_path: Path) -> None:
    reference = made(service, tmp_path / "key.json")
    found = json.loads((tmp_path / "key.json").read_text())
    ring = resolve(reference)
    assert isinstance(ring, Keyring)
    (key,) = ring.keys
    assert found["keysetInfo"] == {
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
    assert len(base64.b64decode(found["encryptedKeyset"])) > 100
    assert sorted(found) == ["encryptedKeyset", "keysetInfo"]


@pytest.mark.parametrize("kind", ["aes-128", "aes-256"])
def test_kinds_of_keys(service: Service, tmp_path: Path, kind: str) -> None:
    wrapping_key = service.new_key()
    create_dataset_key(str(tmp_path / "key.json"), wrapping_key=wrapping_key, kind=kind)
    ring = resolve(f"{wrapping_key}#{tmp_path / 'key.json'}")
    assert isinstance(ring, Keyring)
    assert ring.keys[0].algorithm == f"{kind}-gcm"


def test_every_caller_has_a_keyring_of_its_own(service: Service, tmp_path: Path) -> None:
    """The cache is not changed by a caller that rotates its keyring."""
    reference = made(service, tmp_path / "key.json")
    ring = resolve(reference)
    assert isinstance(ring, Keyring)
    before = ring.primary
    ring.rotate()
    again = resolve(reference)
    assert isinstance(again, Keyring)
    assert (again.primary, len(again.keys)) == (before, 1)


def test_bulk_jobs(service: Service, tmp_path: Path) -> None:
    reference = made(service, tmp_path / "key.json")
    (tmp_path / "raw").mkdir()
    for number in range(30):
        (tmp_path / "raw" / str(number)).write_bytes(MESSAGE)
    with service.counting() as calls:
        report = sealane.encrypt_tree(tmp_path / "raw", tmp_path / "sealed", key=reference)
    assert (report.done, decrypts(calls)) == (30, 1)
    with (
        service.counting() as calls,
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor,
    ):
        report = sealane.decrypt_tree(
            tmp_path / "sealed", tmp_path / "plain", key=reference, executor=executor
        )
    assert report.done == 30
    assert decrypts(calls) <= 2, "once for each worker"
    assert (tmp_path / "plain" / "29").read_bytes() == MESSAGE
    # The keyset is a file of the keys, which no output may replace.
    with pytest.raises(ExceptionGroup) as caught:
        sealane.encrypt_many([(tmp_path / "raw" / "1", tmp_path / "key.json")], key=reference)
    assert "would replace" in str(caught.value.exceptions[0])
    assert resolve(reference)


def configured(environment: dict[str, str]) -> None:
    os.environ.update(environment)


def cleared() -> None:
    fsspec.get_filesystem_class("sealane").clear_instance_cache()
    _kms._forget()


@pytest.mark.parametrize("files", [200])
def test_a_dask_job_asks_once_per_worker(
    service: Service, cluster: Client, tmp_path: Path, files: int
) -> None:
    (tmp_path / "data").mkdir()
    reference = made(service, tmp_path / "data" / "_key.json")
    fs = fsspec.filesystem("sealane", target_protocol="file", key=reference)
    for number in range(files):
        fs.pipe_file(f"{tmp_path}/data/{number:04}.txt", MESSAGE + b"\n")
    cluster.run(configured, service.environment)
    cluster.run(cleared)
    lines = db.read_text(f"sealane::file://{tmp_path}/data/*.txt", storage_options={"key": reference})
    cleared()
    with service.counting() as calls:
        assert lines.count().compute(scheduler=cluster) == files
    # The two workers, and no process for each file.
    assert 1 <= decrypts(calls) <= 2
    assert set(calls) == {DECRYPT[name_of(service)]}


def test_the_program(service: Service, tmp_path: Path) -> None:
    reference = made(service, tmp_path / "key.json")
    (tmp_path / "plain").write_bytes(MESSAGE)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sealane", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)

    done = run("encrypt", "-k", reference, "-o", "sealed", "plain")
    assert (done.returncode, done.stderr) == (0, "")
    assert sealane.decrypt((tmp_path / "sealed").read_bytes(), key=resolve(reference)) == MESSAGE
    done = run("decrypt", "-k", reference, "-o", "again", "sealed")
    assert (done.returncode, (tmp_path / "again").read_bytes()) == (0, MESSAGE)
    other = reference.replace("context=sales", "context=other")
    done = run("decrypt", "-k", other, "-o", "never", "sealed")
    assert done.returncode == 1
    assert "authentication failed" in done.stderr
    assert other.partition("#")[0] in done.stderr
    assert not (tmp_path / "never").exists()
    done = run("encrypt", "-k", reference, "-f", "-o", "key.json", "plain")
    assert done.returncode == 2, "the output would replace the keyset"


def test_threads_ask_once(service: Service, tmp_path: Path) -> None:
    reference = made(service, tmp_path / "key.json")
    with service.counting() as calls, ThreadPoolExecutor(8) as pool:
        rings = list(pool.map(lambda _: resolve(reference), range(16)))
    assert len({ring.to_bytes() for ring in rings if isinstance(ring, Keyring)}) == 1
    assert decrypts(calls) == 1


def test_a_keyring_is_kept_for_a_time(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = made(service, tmp_path / "key.json")
    fs = fsspec.filesystem("sealane", target_protocol="file", key=reference)
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with service.counting() as calls:
        resolve(reference)
        fs.pipe_file(f"{tmp_path}/file", MESSAGE)
        now[0] += _kms.TIME_LIMIT - 1
        resolve(reference)
        assert fs.cat_file(f"{tmp_path}/file") == MESSAGE
    assert decrypts(calls) <= 2, "one for the file, one for the path of the filesystem"
    with service.counting() as calls:
        now[0] += 1
        resolve(reference)
        assert fs.cat_file(f"{tmp_path}/file") == MESSAGE
    assert decrypts(calls) >= 1
    # A service that refuses now is noticed after the time limit, and the key is not used any more.
    now[0] += _kms.TIME_LIMIT + 1
    with service.answering(refusal(service)), pytest.raises(KeyRefusedError):
        fs.cat_file(f"{tmp_path}/file")
    assert fs.cat_file(f"{tmp_path}/file") == MESSAGE
    assert len(_kms._entries) <= 2


def test_the_cache_is_bounded(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_kms, "_MAX_ENTRIES", 3)
    for number in range(5):
        resolve(made(service, tmp_path / f"{number}.json"))
    assert len(_kms._entries) == 3


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_asks_itself(service: Service, tmp_path: Path) -> None:
    """Also if a thread of the parent was asking at that time."""
    reference = made(service, tmp_path / "key.json")
    parent = resolve(reference)
    assert isinstance(parent, Keyring)

    def in_the_child() -> tuple[int, bool, str]:
        before = len(_kms._entries)
        ring = resolve(reference)
        assert isinstance(ring, Keyring)
        fs = fsspec.filesystem("sealane", target_protocol="file", key=reference)
        fs.pipe_file(f"{tmp_path}/of the child", MESSAGE)
        return before, ring.primary == parent.primary, type(ring).__name__

    asking, go_on = threading.Event(), threading.Event()

    def waits(name: str, request: dict[str, Any]) -> Answer | None:
        if threading.current_thread() is not main and not go_on.is_set():
            asking.set()
            go_on.wait(0.5)
        return None

    main = threading.main_thread()
    other = made(service, tmp_path / "other.json")
    with service.answering(waits):
        thread = threading.Thread(target=lambda: resolve(other))
        thread.start()
        asking.wait(10)
        with _kms._guard:
            assert in_child(in_the_child) == (0, True, "Keyring")
        go_on.set()
        thread.join()
    assert sealane.decrypt((tmp_path / "of the child").read_bytes(), key=parent) == MESSAGE


# claim: service-rewrap
def test_rewrap(service: Service, place: Place) -> None:
    place.target.makedirs(place.root, exist_ok=True)
    old, new = service.new_key() + "?context=a", service.new_key() + "?context=b"
    url, options = place.below("_key.json"), {"storage_options": place.target_options}
    create_dataset_key(url, wrapping_key=old, **options)
    path = place.path("_key.json")
    place.sealed(f"{old}#{path}").pipe_file(place.path("file"), MESSAGE)
    before = place.stored()
    with service.counting() as calls:
        rewrap_dataset_key(url, identity=old, wrapping_key=new, **options)
    if isinstance(service, Aws):
        assert calls == ["ReEncrypt", "Decrypt"]
    after = place.stored()
    assert after["file"] == before["file"]
    assert after["_key.json"] != before["_key.json"]
    place.target.invalidate_cache()
    assert place.sealed(f"{new}#{path}").cat_file(place.path("file")) == MESSAGE
    fsspec.get_filesystem_class("sealane").clear_instance_cache()
    for wrong in old, old.replace("=a", "=b"), new.replace("=b", "=a"), new.partition("?")[0]:
        with pytest.raises((AuthenticationError, KeyServiceError)) as caught:
            place.sealed(f"{wrong}#{path}").cat_file(place.path("file"))
        assert wrong in str(caught.value)
        assert "_key.json" in str(caught.value)
    # The same key with another context, and back.
    rewrap_dataset_key(url, identity=new, wrapping_key=old, **options)
    place.target.invalidate_cache()
    assert place.sealed(f"{old}#{path}").cat_file(place.path("file")) == MESSAGE


def test_rewrap_between_services_and_regions(
    aws: Aws, vault: Transit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (aws.environment | vault.environment).items():
        monkeypatch.setenv(name, value)
    path = str(tmp_path / "key.json")
    keys = [aws.new_key() + "?context=x", vault.new_key(), aws.new_key("us-east-1"), vault.new_key()]
    create_dataset_key(path, wrapping_key=keys[0])
    ring = resolve(f"{keys[0]}#{path}")
    for old, new in itertools.pairwise(keys):
        rewrap_dataset_key(path, identity=old, wrapping_key=new)
        found = resolve(f"{new}#{path}")
        assert isinstance(ring, Keyring)
        assert isinstance(found, Keyring)
        assert found.to_bytes() == ring.to_bytes()
    with aws.counting() as calls:
        create_dataset_key(str(tmp_path / "b"), wrapping_key=keys[0])
        far = aws.new_key("us-east-1")
        rewrap_dataset_key(str(tmp_path / "b"), identity=keys[0], wrapping_key=far)
    assert "ReEncrypt" not in calls, "AWS KMS does so within one region"


# claim: service-rewrap
def test_a_failed_rewrap_changes_nothing(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    reference = made(service, path)
    old, new = reference.partition("#")[0], service.new_key()
    before = path.read_bytes()
    other = Keyring.generate("aes-256-gcm").to_bytes()
    seen: list[str] = []

    def no_second_answer(name: str, request: dict[str, Any]) -> Answer | None:
        seen.append(name)
        return refusal(service)(name, request) if len(seen) > 1 else None

    def another_keyset(name: str, request: dict[str, Any]) -> Answer | None:
        if name not in DECRYPT.values():
            return None
        return plaintext(service, other, new.partition(":")[2])

    for instead in refusal(service), garbage, no_second_answer, another_keyset:
        with service.answering(instead), pytest.raises((KeyServiceError, AuthenticationError)):
            rewrap_dataset_key(str(path), identity=old, wrapping_key=new)
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["key.json"]
    assert isinstance(resolve(reference), Keyring)


def test_arguments(tmp_path: Path, aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    path, key, alice = str(tmp_path / "k"), aws.new_key(), sealane.keys.generate("age")
    with pytest.raises(TypeError, match="either recipients or wrapping_key"):
        create_dataset_key(path)
    with pytest.raises(TypeError, match="either recipients or wrapping_key"):
        create_dataset_key(path, recipients=[alice.public], wrapping_key=key)
    for wrong in "env:KEY", "aws-kms:alias/sales", "vault:sales", f"{key}#{path}", "arn:aws:kms:a:1:key/1":
        with pytest.raises(ValueError, match=r"wrapping key|expected"):
            create_dataset_key(path, wrapping_key=wrong)
    with pytest.raises(ValueError, match="both must match"):
        rewrap_dataset_key(path, identity="file:k", wrapping_key=key)
    with pytest.raises(ValueError, match="both must match"):
        rewrap_dataset_key(path, identity=key, recipients=[alice.public])
    arn = key.partition(":")[2]
    for wrong in (
        f"aws-kms:{arn}",
        f"aws-kms:{arn}#",
        f"aws-kms:{arn}?context=#k",
        f"aws-kms:{arn}?other=a#k",
        f"aws-kms:{arn}?context=a&context=b#k",
        "aws-kms:arn:aws:kms:eu-west-1:1:key/a#k",
        f"aws-kms:{arn}/../x#k",
        "vault:transit#k",
        "vault:transit/../sys/x#k",
        "vault:/transit/x#k",
        "vault:transit/x%2Fy#k",
    ):
        with pytest.raises(ValueError, match=r"expected|begins with") as caught:
            resolve(wrong)
        assert wrong.partition("#")[0] in str(caught.value)
        with pytest.raises(ValueError, match=r"expected|begins with"):
            fsspec.filesystem("sealane", target_protocol="memory", key=wrong, skip_instance_cache=True)
    with pytest.raises(ValueError, match="expected an identity"):
        sealane._reference.identity(f"{key}#k")
    assert not os.listdir(tmp_path)


def test_a_keyset_at_a_url(service: Service) -> None:
    wrapping_key, url = service.new_key(), f"memory://keysets/{name_of(service)}.json"
    create_dataset_key(url, wrapping_key=wrapping_key)
    assert isinstance(resolve(f"{wrapping_key}#{url}"), Keyring)
    fsspec.filesystem("memory").pipe_file(f"/keysets/{name_of(service)}.json", bytes(1 << 19))
    with pytest.raises(sealane.FormatError):
        resolve(f"{wrapping_key}#{url}")
    with pytest.raises(FileNotFoundError):
        resolve(f"{wrapping_key}#{url}.other")
