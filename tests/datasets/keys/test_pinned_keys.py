"""Keys beside the data that an attacker replaced: told by the fingerprint of a reference, or by known keys.

The attacker writes to the storage, and knows the public key of a reader or may encrypt with the wrapping key.
"""

from __future__ import annotations

import asyncio
import dataclasses
import fcntl
import os
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pytest
import sealane
from key_services import Service
from parts import forget_filesystems
from sealane import AuthenticationError, _kms
from sealane._native import encrypted_keyset
from sealane.fs import create_dataset_key, rewrap_dataset_key
from sealane.fs._dataset_key import place
from sealane.keys import Keyring, generate, resolve
from tokens import Tokens

MESSAGE = b"day,sum\nmonday,42\n"
FINGERPRINT = r"key-sha256:[0-9a-f]{64}"


@dataclasses.dataclass
class Dataset:
    """A folder with a dataset key, and what an attacker can do to it."""

    folder: Path
    reference: str
    """As returned by create_dataset_key."""
    identity: str | None
    forge: Callable[[Keyring], bytes]
    """Encrypts another key as the attacker can: without a secret of the readers."""
    rewrap: Callable[[str], str]
    """Rewraps the key at a URL."""

    @property
    def file(self) -> Path:
        return self.folder / "_key"

    @property
    def unpinned(self) -> str:
        return self.reference.rpartition("#")[0]

    @property
    def fingerprint(self) -> str:
        return self.reference.rpartition("#")[2]

    def options(self, key: str) -> dict[str, Any]:
        return {"key": key} | ({} if self.identity is None else {"identity": self.identity})

    def open(self, key: str, **options: Any) -> Any:
        """The filesystem, as a new process has it."""
        forget_filesystems()
        _kms._forget()
        return fsspec.filesystem("sealane", target_protocol="file", **self.options(key), **options)

    def replace_key(self) -> Keyring:
        """Replaces the key by one of the attacker."""
        mine = Keyring.generate()
        self.file.write_bytes(self.forge(mine))
        _kms._forget()
        return mine


@pytest.fixture
def age(tmp_path: Path) -> Dataset:
    alice, bob = generate("age"), generate("age")
    alice.save(tmp_path / "alice.key")
    bob.save(tmp_path / "bob.key")
    (folder := tmp_path / "data").mkdir()
    identity = f"file:{tmp_path}/alice.key"

    def rewrap(url: str) -> str:
        return rewrap_dataset_key(url, identity=identity, recipients=[alice.public, bob.public])

    def forge(ring: Keyring) -> bytes:
        return sealane.encrypt(ring.to_json().encode(), recipients=[str(alice.public)], armor=True)

    return Dataset(
        folder,
        create_dataset_key(f"file://{folder}/_key", recipients=[alice.public]),
        identity,
        forge,
        rewrap,
    )


def wrapped_dataset(tmp_path: Path, old: str, new: str) -> Dataset:
    (folder := tmp_path / "data").mkdir()

    def forge(ring: Keyring) -> bytes:
        key = _kms.parse_wrapping_key(old)
        return encrypted_keyset(ring, _kms._SERVICES[key.scheme].encrypt(key, ring.to_bytes()))

    return Dataset(
        folder,
        create_dataset_key(str(folder / "_key"), wrapping_key=old),
        None,
        forge,
        lambda url: rewrap_dataset_key(url, identity=old, wrapping_key=new),
    )


@pytest.fixture
def served(service: Service, tmp_path: Path) -> Dataset:
    return wrapped_dataset(tmp_path, service.new_key() + "?context=sales", service.new_key())


@pytest.fixture(params=["age", "aws", "vault", "aes", "rsa"])
def dataset(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    found: Dataset
    if request.param == "age":
        found = request.getfixturevalue("age")
        return found
    if request.param in ("aes", "rsa"):
        tokens: Tokens = request.getfixturevalue("tokens")
        return wrapped_dataset(tmp_path, tokens.new_key(request.param) + "&context=sales", tokens.new_key())
    request.getfixturevalue("hasty")
    service: Service = request.getfixturevalue(request.param)
    for name, value in service.environment.items():
        monkeypatch.setenv(name, value)
    return wrapped_dataset(tmp_path, service.new_key() + "?context=sales", service.new_key())


def refused(dataset: Dataset, other: Keyring, work: Callable[[], object]) -> str:
    """Checks that the work fails with both fingerprints, and changes no file."""
    before = {path: path.read_bytes() for path in dataset.folder.rglob("*") if path.is_file()}
    with pytest.raises(AuthenticationError, match=FINGERPRINT) as caught:
        work()
    text = str(caught.value)
    assert dataset.fingerprint in text
    assert other.fingerprint in text
    assert before == {path: path.read_bytes() for path in dataset.folder.rglob("*") if path.is_file()}
    return text


# claim: dataset-key-pinned
def test_a_pinned_key_works_and_a_replaced_one_does_not(dataset: Dataset) -> None:
    """In every way to the files."""
    data, new = str(dataset.folder / "data.csv"), str(dataset.folder / "new.csv")
    dataset.open(dataset.reference).pipe_file(data, MESSAGE)

    def by_async() -> bytes:
        async def read() -> bytes:
            fs = dataset.open(dataset.reference, asynchronous=True)
            return bytes(await fs._cat_file(data))

        return asyncio.run(read())

    options = dataset.options(dataset.reference)
    ways: list[Callable[[], object]] = [
        lambda: dataset.open(dataset.reference).cat_file(data),
        lambda: dataset.open(dataset.reference).open(data, "rb").read(),
        lambda: dataset.open(dataset.reference).cat_ranges([data], [0], [3], on_error="raise"),
        lambda: pickle.loads(pickle.dumps(dataset.open(dataset.reference))).cat_file(data),
        lambda: dataset.open(dataset.reference).pipe_file(new, MESSAGE),
        by_async,
        lambda: fsspec.open(f"sealane::file://{data}", "rb", **options).open().read(),
        lambda: pd.read_csv(f"sealane::file://{data}", storage_options=options).to_csv(),
    ]
    for way in ways:
        dataset.open(dataset.reference)
        way()
    os.remove(new)
    mine = dataset.replace_key()
    Path(data).write_bytes(sealane.encrypt(b"day,sum\nmonday,1\n", key=mine))
    # Another user has no file of known keys. The fingerprint decides alone.
    os.environ["SEALANE_KNOWN_KEYS"] += "-of-another-user"
    for way in ways:
        dataset.open(dataset.reference)
        assert "new reference" in refused(dataset, mine, way)


# claim: dataset-key-known
def test_a_key_that_is_not_pinned_is_trusted_on_first_use(dataset: Dataset) -> None:
    data = str(dataset.folder / "data.csv")
    known = Path(os.environ["SEALANE_KNOWN_KEYS"])
    dataset.open(dataset.unpinned).pipe_file(data, MESSAGE)
    # The user who made the key knows it. Another one trusts it on the first use.
    for user in known, Path(f"{known}-of-another-user"):
        os.environ["SEALANE_KNOWN_KEYS"] = str(user)
        assert dataset.open(dataset.unpinned).cat_file(data) == MESSAGE
        (line,) = user.read_text().splitlines()
        assert line.startswith(f"{dataset.fingerprint} ")
        assert str(dataset.file) in line
    mine = dataset.replace_key()
    for user in known, Path(f"{known}-of-another-user"):
        os.environ["SEALANE_KNOWN_KEYS"] = str(user)
        for way in "cat_file", "pipe_file":
            arguments = (data, MESSAGE) if way == "pipe_file" else (data,)
            work = getattr(dataset.open(dataset.unpinned), way)
            text = refused(dataset, mine, lambda work=work, arguments=arguments: work(*arguments))  # type: ignore[misc]
            assert f"{user}, line 1" in text
    # What the message says: without the line, the key is new.
    user.write_text("# nothing\n")
    dataset.open(dataset.unpinned).pipe_file(data, MESSAGE)
    assert mine.fingerprint in user.read_text()


def test_a_rewrap_keeps_the_fingerprint(dataset: Dataset) -> None:
    data = str(dataset.folder / "data.csv")
    dataset.open(dataset.reference).pipe_file(data, MESSAGE)
    reference = dataset.rewrap(str(dataset.file))
    assert reference.rpartition("#")[2] == dataset.fingerprint
    assert dataset.open(reference).cat_file(data) == MESSAGE


def test_a_replaced_key_is_not_rewrapped(dataset: Dataset) -> None:
    """It would be handed to the new readers with the authority of the owner."""
    mine = dataset.replace_key()
    refused(dataset, mine, lambda: dataset.rewrap(str(dataset.file)))
    os.environ["SEALANE_KNOWN_KEYS"] += "-of-another-user"
    refused(dataset, mine, lambda: dataset.rewrap(f"{dataset.file}#{dataset.fingerprint}"))


def test_references_outside_of_a_filesystem(served: Dataset, tmp_path: Path) -> None:
    """resolve, bulk jobs and the program take the reference that create_dataset_key returned."""
    (tmp_path / "plain").write_bytes(MESSAGE)
    ring = resolve(served.reference)
    assert isinstance(ring, Keyring)
    assert ring.fingerprint == served.fingerprint
    run = [sys.executable, "-m", "sealane", "encrypt", "-o", tmp_path / "sealed"]
    done = subprocess.run([*run, "-k", served.reference, tmp_path / "plain"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    mine = served.replace_key()
    refused(served, mine, lambda: resolve(served.reference))
    refused(served, mine, lambda: resolve(served.unpinned))
    (tmp_path / "sealed").unlink()
    for key in served.reference, served.unpinned:
        done = subprocess.run([*run, "-k", key, tmp_path / "plain"], capture_output=True, text=True)
        assert done.returncode == 1
        assert served.fingerprint in done.stderr
        assert mine.fingerprint in done.stderr
        assert not (tmp_path / "sealed").exists()


@pytest.mark.parametrize("pool", ["threads", "processes"])
def test_workers_get_the_fingerprint(served: Dataset, tmp_path: Path, pool: str) -> None:
    """Without a fingerprint, the known keys of the machine that began the job decide, not the workers'."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a").write_bytes(MESSAGE)
    executor: Any = ThreadPoolExecutor(2)
    if pool == "processes":
        executor = ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    known = os.environ["SEALANE_KNOWN_KEYS"]
    with executor:
        # Processes that begin now have no file of known keys.
        os.environ["SEALANE_KNOWN_KEYS"] = "/dev/null/none"
        executor.submit(int).result()
        os.environ["SEALANE_KNOWN_KEYS"] = known
        for number, key in enumerate([served.reference, served.unpinned]):
            report = sealane.encrypt_tree(
                tmp_path / "raw", tmp_path / str(number), key=key, executor=executor
            )
            assert report.done == 1
        mine = served.replace_key()
        for number, key in enumerate([served.reference, served.unpinned], 2):
            _kms._forget()
            with pytest.raises((AuthenticationError, ExceptionGroup)) as caught:
                sealane.encrypt_tree(tmp_path / "raw", tmp_path / str(number), key=key, executor=executor)
            error = caught.value
            text = str(error.exceptions[0] if isinstance(error, ExceptionGroup) else error)
            assert served.fingerprint in text
            assert mine.fingerprint in text
            assert not (tmp_path / str(number) / "a").exists()


def test_a_worker_that_vanishes_with_the_first_question(served: Dataset, tmp_path: Path) -> None:
    """The worker that replaces it does not know the fingerprint, and would trust any key."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a").write_bytes(MESSAGE)
    resolve(served.unpinned)
    served.replace_key()
    _kms._forget()

    class Replacing(ThreadPoolExecutor):
        asked = 0

        def submit(self, work: Any, /, *given: Any, **named: Any) -> Future[Any]:
            self.asked += 1
            if self.asked > 1:
                os.environ["SEALANE_KNOWN_KEYS"] = "/dev/null/none"
                return super().submit(work, *given, **named)
            vanished: Future[Any] = Future()
            vanished.set_exception(BrokenExecutor())
            return vanished

    with Replacing(1) as executor, pytest.raises(ChildProcessError, match="before it found the key"):
        sealane.encrypt_tree(tmp_path / "raw", tmp_path / "out", key=served.unpinned, executor=executor)
    assert not (tmp_path / "out").exists()


def test_any_reference_can_be_pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, other = generate("aes-256"), generate("aes-256")
    key.save(path := tmp_path / "a#b?c.key")
    monkeypatch.setenv("A_KEY", key.to_text())
    for reference in f"file:{path}", "env:A_KEY":
        assert resolve(reference) == key
        assert resolve(f"{reference}#{key.fingerprint}") == key
        with pytest.raises(AuthenticationError, match=other.fingerprint) as caught:
            resolve(f"{reference}#{other.fingerprint}")
        assert key.fingerprint in str(caught.value)
    monkeypatch.setenv("A_KEY", generate("age").to_text())
    with pytest.raises((TypeError, ValueError), match="symmetric"):
        resolve(f"env:A_KEY#{key.fingerprint}")
    with pytest.raises(ValueError, match="no fingerprint"):
        sealane.decrypt_many([("x", "y")], identities=[f"file:{path}#{key.fingerprint}"])
    with pytest.raises(ValueError, match="own key"):
        fsspec.filesystem("sealane", target_protocol="memory", key=f"each:parts:key_of#{key.fingerprint}")


@pytest.mark.parametrize("name", ["a#b", "a?b", "#", "a#sha256:0", "a#key", "?context=x#y", "a b%20"])
def test_paths_with_the_characters_of_references(age: Dataset, name: str) -> None:
    alice = sealane.keys.load(Path(str(age.identity).removeprefix("file:"))).public
    assert alice is not None
    reference = create_dataset_key(f"{age.folder}/{name}", recipients=[alice])
    assert reference.startswith(f"age:{age.folder}/{name}#key-sha256:")
    data = str(age.folder / "data")
    age.open(reference).pipe_file(data, MESSAGE)
    assert age.open(reference.rpartition("#")[0]).cat_file(data) == MESSAGE


def test_half_a_fingerprint_is_refused(dataset: Dataset) -> None:
    """It would be a part of the path, where an attacker could put a file."""
    good = dataset.reference
    bad = [good[:-1], good + "0", good[:-1] + "g", good[:-64], good.upper(), f"{good}#{dataset.fingerprint}"]
    head, _, last = good.rpartition("#")
    for reference in [*bad[:4], f"{head}#{last.upper()}", f"{head}#{last.title()}", bad[-1]]:
        with pytest.raises(ValueError, match="64 hexadecimal digits"):
            dataset.open(reference)


# claim: input-no-crash
@pytest.mark.parametrize("kind", ["pipe", "device", "long file"])
def test_what_never_ends_in_the_place_of_a_key(dataset: Dataset, kind: str) -> None:
    """Who can write beside the data could stop the readers, or take their memory."""
    dataset.file.unlink()
    if kind == "pipe":
        os.mkfifo(dataset.file)
    elif kind == "device":
        dataset.file.symlink_to("/dev/zero")
    else:
        dataset.file.touch()
        os.truncate(dataset.file, 1 << 30)
    with pytest.raises(sealane.FormatError, match="expected a key file"):
        dataset.open(dataset.reference).cat_file(str(dataset.folder / "data"))
    with pytest.raises(sealane.FormatError, match="expected a key file"):
        dataset.rewrap(str(dataset.file))


def test_a_key_that_is_not_encrypted_is_not_taken(age: Dataset) -> None:
    """The advice to leave the identity out would make the reader take it."""
    age.file.unlink()
    generate("aes-256").save(age.file)
    with pytest.raises(sealane.FormatError, match="expected a key encrypted for recipients"):
        age.open(age.reference).cat_file(str(age.folder / "data"))


@pytest.fixture
def known_keys(age: Dataset, tmp_path: Path) -> Path:
    """A file of known keys that does not exist yet."""
    folder = tmp_path / "home" / "sealane"
    os.environ["SEALANE_KNOWN_KEYS"] = str(folder / "known_keys")
    return folder / "known_keys"


def use(age: Dataset) -> None:
    age.open(age.unpinned).pipe_file(str(age.folder / "data"), MESSAGE)


# claim: known-keys-private
def test_the_file_of_known_keys_is_private(age: Dataset, known_keys: Path) -> None:
    before = os.umask(0)
    try:
        use(age)
    finally:
        os.umask(before)
    assert known_keys.stat().st_mode & 0o777 == 0o600
    assert known_keys.parent.stat().st_mode & 0o777 == 0o700
    for path, mode, good in (
        (known_keys, 0o620, 0o600),
        (known_keys, 0o604, 0o600),
        (known_keys.parent, 0o770, 0o700),
    ):
        path.chmod(mode)
        with pytest.raises(PermissionError, match="others have access") as caught:
            use(age)
        assert caught.value.filename == str(path)
        path.chmod(good)
        use(age)


def test_a_link_of_the_same_user_is_followed(age: Dataset, known_keys: Path, tmp_path: Path) -> None:
    known_keys.parent.mkdir(0o700, parents=True)
    (target := tmp_path / "elsewhere").mkdir(0o700)
    known_keys.symlink_to(target / "keys")
    (target / "keys").touch(0o600)
    use(age)
    assert known_keys.is_symlink()
    assert age.fingerprint in (target / "keys").read_text()


def test_a_key_that_would_be_refused_is_not_written(age: Dataset, known_keys: Path) -> None:
    """Its place is known for another key, and the file of known keys cannot be changed."""
    use(age)
    age.file.unlink()
    lock = known_keys.with_name("known_keys.lock")
    lock.unlink()
    lock.mkdir()
    alice = generate("age")
    with pytest.raises(OSError, match=r"known_keys\.lock"):
        create_dataset_key(str(age.file), recipients=[alice.public])
    assert not age.file.exists()
    lock.rmdir()
    create_dataset_key(str(age.file), recipients=[alice.public])
    assert len(known_keys.read_text().splitlines()) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")
def test_files_of_another_user_are_refused(age: Dataset, known_keys: Path, tmp_path: Path) -> None:
    use(age)
    os.chown(known_keys, 65534, -1)
    with pytest.raises(PermissionError, match="another user owns it"):
        use(age)
    os.chown(known_keys, 0, -1)
    known_keys.rename(tmp_path / "keys")
    known_keys.symlink_to(tmp_path / "keys")
    os.chown(known_keys, 65534, -1, follow_symlinks=False)
    with pytest.raises(PermissionError, match="another user owns it"):
        use(age)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"key-sha256:00 age:/x\n", "line 1"),
        (b"# a comment\n\nage:/x key-sha256:00\n", "line 3"),
        (b"\xff\n", "UTF-8"),
        (b"#" * (4 << 20) + b"\n", "4 MiB"),
    ],
)
def test_a_file_that_cannot_be_read_is_reported(
    age: Dataset, known_keys: Path, content: bytes, said: str
) -> None:
    known_keys.parent.mkdir(0o700, parents=True)
    known_keys.touch(0o600)
    known_keys.write_bytes(content)
    with pytest.raises((OSError, sealane.LimitExceededError), match=said):
        use(age)
    assert known_keys.read_bytes() == content


def test_no_line_is_lost_among_threads(tmp_path: Path, known_keys: Path) -> None:
    alice = generate("age")

    def make(number: int) -> str:
        return create_dataset_key(str(tmp_path / f"{number}.key"), recipients=[alice.public])

    with ThreadPoolExecutor(8) as pool:
        made = {reference.rpartition("#")[2] for reference in pool.map(make, range(40))}
    assert {line.partition(" ")[0] for line in known_keys.read_text().splitlines()} == made
    assert sorted(os.listdir(known_keys.parent)) == ["known_keys", "known_keys.lock"]


def test_a_held_lock_is_waited_for(age: Dataset, known_keys: Path) -> None:
    known_keys.parent.mkdir(0o700, parents=True)
    with open(f"{known_keys}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread = threading.Thread(target=use, args=[age])
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        assert not known_keys.exists()
    thread.join(60)
    assert age.fingerprint in known_keys.read_text()


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"HOME": ""},
        {"HOME": "/nonexistent"},
        {"HOME": "/dev/null"},
        {"SEALANE_KNOWN_KEYS": "/proc/sealane/keys"},
    ],
)
def test_without_a_home_one_warning_names_the_danger(age: Dataset, environment: dict[str, str]) -> None:
    use(age)
    code = f"""
import fsspec, warnings
warnings.simplefilter("always")
for path in "ab":
    options = {age.options(age.unpinned)!r} | {{"skip_instance_cache": True}}
    fs = fsspec.filesystem("sealane", target_protocol="file", **options)
    fs.cat_file({str(age.folder / "data")!r})
"""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=kept | environment, capture_output=True, text=True, check=True
    )
    assert done.stderr.count("UserWarning") == 1
    assert "can replace it" in done.stderr
    assert f"#{age.fingerprint}" in done.stderr
    pinned = code.replace(repr(age.unpinned), repr(age.reference))
    done = subprocess.run(
        [sys.executable, "-c", pinned], env=kept | environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_key_files_for_recipients(age: Dataset, known_keys: Path, tmp_path: Path) -> None:
    """keys.load has no reference, so the known keys decide. Saving a key replaces the known one."""
    alice = sealane.keys.load(tmp_path / "alice.key")
    assert isinstance(alice, sealane.keys.Key)
    ring, path = Keyring.generate(), tmp_path / "ring.age"
    ring.save(path, recipients=[alice.public])
    ring.rotate()
    ring.save(path, recipients=[alice.public], overwrite=True)
    found = sealane.keys.load(path, identities=[alice])
    assert isinstance(found, Keyring)
    assert found.fingerprint == ring.fingerprint
    path.write_bytes(age.forge(mine := Keyring.generate()))
    with pytest.raises(AuthenticationError, match=mine.fingerprint) as caught:
        sealane.keys.load(path, identities=[alice])
    assert ring.fingerprint in str(caught.value)
    # An attacker can leave the encryption out.
    mine.save(plain := tmp_path / "plain")
    plain.replace(path)
    for load in (lambda: sealane.keys.load(path), lambda: resolve(f"file:{path}")):
        with pytest.raises(AuthenticationError, match=mine.fingerprint):
            load()
    ring.rotate()
    ring.save(path, overwrite=True)
    assert sealane.keys.load(path).fingerprint == resolve(f"file:{path}").fingerprint == ring.fingerprint
    # A passphrase is a secret of the user, so the file is authentic.
    ring.save(locked := tmp_path / "locked", "words")
    Keyring.generate().save(locked, "words", overwrite=True)
    assert isinstance(sealane.keys.load(locked, "words"), Keyring)


def test_keys_in_memory_are_not_remembered(known_keys: Path) -> None:
    alice = generate("age")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reference = create_dataset_key("memory://sales/_key", recipients=[alice.public])
    assert reference.startswith("age:/sales/_key#")
    assert not known_keys.exists()
    fsspec.filesystem("memory").rm("/sales", recursive=True)


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    forget_filesystems()
    _kms._forget()


def test_one_file_has_one_place_and_two_servers_have_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = fsspec.filesystem("file")
    cached = fsspec.filesystem("simplecache", fs=local)
    below = fsspec.filesystem("dir", path=str(tmp_path), fs=local)
    places = {place(local, f"{tmp_path}/k", None), place(cached, f"{tmp_path}/k", None)}
    assert places == {place(below, "k", None)} == {f"age:{tmp_path}/k"}
    for name in "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL":
        monkeypatch.delenv(name, raising=False)
    s3 = fsspec.filesystem("s3", anon=True)
    other = fsspec.filesystem("s3", anon=True, endpoint_url="https://s3.example")
    assert place(s3, "bucket/k", None) != place(other, "bucket/k", None)
    for name in "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3":
        monkeypatch.setenv(name, f"https://{name.lower().replace('_', '-')}.example")
        named = fsspec.filesystem("s3", anon=True, endpoint_url=os.environ[name])
        assert place(s3, "bucket/k", None) == place(named, "bucket/k", None)
        assert place(other, "bucket/k", None).endswith("endpoint_url=https://s3.example")
