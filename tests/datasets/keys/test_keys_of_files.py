"""Every kind of key reference, a key for each file, and a dataset key for several recipients."""

from __future__ import annotations

import pickle
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.dataset
import pytest
import sealane
from parts import JWK, KEY, RAW, VARIABLE, Place, key_of
from sealane.exceptions import AuthenticationError, FormatError, NoMatchingKeyError, SealaneError
from sealane.fs import create_dataset_key, rewrap_dataset_key
from support import pattern

EACH = "each:parts:key_of"


def test_every_kind_of_reference(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sealane.keys.Key.from_text(JWK).save(tmp_path / "key.jwk")
    references = [KEY, f"file:{tmp_path / 'key.jwk'}", "call:parts:called"]
    for number, writes in enumerate(references):
        place.sealed(writes).pipe_file(place.path(f"{number}"), b"content")
        for reads in references:
            assert place.sealed(reads).cat_file(place.path(f"{number}")) == b"content"


def test_a_key_of_128_bits(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    short = sealane.keys.generate("aes-128")
    monkeypatch.setenv(VARIABLE, short.to_text())
    place.fs.pipe_file(place.path("file"), b"content")
    assert sealane.decrypt(place.stored()["file"], key=short) == b"content"
    assert place.fs.cat_file(place.path("file")) == b"content"


@pytest.mark.parametrize("kind", ["age", "x25519", "aes-192"])
def test_rejects_a_key_of_another_length(folder: Place, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, sealane.keys.generate(kind).to_text())
    with pytest.raises((ValueError, TypeError, SealaneError)):
        folder.fs.pipe_file(folder.path("file"), b"content")
    assert folder.stored() == {}


def test_a_key_for_each_file(place: Place) -> None:
    fs = place.sealed(EACH)
    fs.pipe({place.path("a"): b"of a", place.path("b/c"): b"of c"})
    stored = place.stored()
    assert sealane.decrypt(stored["a"], key=key_of("a")) == b"of a"
    assert sealane.decrypt(stored["b/c"], key=key_of("c")) == b"of c"
    with fs.transaction, fs.open(place.path("d"), "wb") as file:
        file.write(b"of d")
    assert sealane.decrypt(place.stored()["d"], key=key_of("d")) == b"of d"
    assert pickle.loads(pickle.dumps(fs)).cat(fs.find(place.root)) == {
        path: f"of {path[-1]}".encode() for path in fs.find(place.root)
    }
    assert fs.cat_ranges([place.path("a"), place.path("d")], [0, 1], [2, 4]) == [b"of", b"f d"]
    # A file in the place of another is detected.
    place.target.pipe_file(place.path("a"), stored["b/c"])
    fs.invalidate_cache()
    with pytest.raises(AuthenticationError, match="a"):
        fs.cat_file(place.path("a"))


@pytest.mark.parametrize("deed", ["mv", "cp_file", "copy", "rename"])
def test_a_file_with_a_key_of_its_own_can_be_moved(place: Place, deed: str) -> None:
    """It is encrypted again for its new name, or the call fails. It is not lost."""
    fs = place.sealed(EACH)
    fs.pipe_file(place.path("old"), pattern(50_000))
    try:
        getattr(fs, deed)(place.path("old"), place.path("new"))
    except (NotImplementedError, ValueError, SealaneError):
        assert fs.cat_file(place.path("old")) == pattern(50_000)
        assert not fs.exists(place.path("new"))
    else:
        assert fs.cat_file(place.path("new")) == pattern(50_000)


def test_a_key_for_each_file_and_a_chain(place: Place) -> None:
    options = {"sealane": {"key": EACH}, place.protocol: place.target_options}
    with fsspec.open(place.url("x/y"), "wb", **options) as file:
        file.write(b"content")
    assert sealane.decrypt(place.stored()["x/y"], key=key_of("y")) == b"content"
    with fsspec.open(f"sealane::simplecache::{place.below('x/y')}", **options) as file:
        assert file.read() == b"content"


@pytest.fixture
def readers(tmp_path: Path) -> dict[str, sealane.keys.Key]:
    readers = {name: sealane.keys.generate("age") for name in ("alice", "bob")}
    for name, key in readers.items():
        key.save(tmp_path / f"{name}.key")
    return readers


def test_recipients_are_added_and_removed(
    place: Place, readers: dict[str, sealane.keys.Key], tmp_path: Path
) -> None:
    identity = {name: f"file:{tmp_path / name}.key" for name in readers}
    publics = {name: key.public for name, key in readers.items()}
    place.target.makedirs(place.path("data"), exist_ok=True)
    where = place.below("data/_key.age")

    def opened(name: str) -> fsspec.AbstractFileSystem:
        type(place.fs).clear_instance_cache()
        return place.sealed(f"age:{place.path('data/_key.age')}", identity=identity[name])

    create_dataset_key(where, recipients=[publics["alice"]], storage_options=place.target_options)
    first = place.stored()["data/_key.age"]
    assert first.startswith(b"-----BEGIN AGE ENCRYPTED FILE-----\n")
    assert len(first) < 1000
    opened("alice").pipe_file(place.path("data/file"), b"content")
    with pytest.raises(NoMatchingKeyError, match=r"_key\.age"):
        opened("bob").cat_file(place.path("data/file"))

    rewrap_dataset_key(
        where,
        identity=identity["alice"],
        recipients=[publics["alice"], publics["bob"]],
        storage_options=place.target_options,
    )
    for name in readers:
        assert opened(name).cat_file(place.path("data/file")) == b"content"
    rewrap_dataset_key(
        where, identity=identity["bob"], recipients=[publics["bob"]], storage_options=place.target_options
    )
    assert opened("bob").cat_file(place.path("data/file")) == b"content"
    with pytest.raises(NoMatchingKeyError, match=r"_key\.age"):
        opened("alice").cat_file(place.path("data/file"))

    # Rewrapping needs a matching identity. A failed attempt changes nothing.
    before = place.stored()
    with pytest.raises(NoMatchingKeyError, match=r"_key\.age"):
        rewrap_dataset_key(
            where,
            identity=identity["alice"],
            recipients=[publics["alice"]],
            storage_options=place.target_options,
        )
    for recipients in [], ["age1nobody"]:
        with pytest.raises((ValueError, TypeError, FormatError)):
            rewrap_dataset_key(
                where, identity=identity["bob"], recipients=recipients, storage_options=place.target_options
            )
    assert place.stored() == before


def test_a_dataset_key_is_not_overwritten(place: Place, readers: dict[str, sealane.keys.Key]) -> None:
    """Without the key, all data under it would be lost."""
    place.target.makedirs(place.root, exist_ok=True)
    create_dataset_key(
        place.below("_key.age"), recipients=[readers["alice"].public], storage_options=place.target_options
    )
    before = place.stored()
    with pytest.raises(FileExistsError, match=r"_key\.age"):
        create_dataset_key(
            place.below("_key.age"),
            recipients=[readers["alice"].public],
            storage_options=place.target_options,
        )
    assert place.stored() == before


def test_rejects_what_is_not_a_dataset_key(
    place: Place, readers: dict[str, sealane.keys.Key], tmp_path: Path
) -> None:
    fs = place.sealed(f"age:{place.path('_key.age')}", identity=f"file:{tmp_path / 'alice.key'}")
    place.target.makedirs(place.root, exist_ok=True)
    with pytest.raises((FileNotFoundError, SealaneError), match=r"_key\.age"):
        fs.pipe_file(place.path("file"), b"content")
    whole = sealane.encrypt(b"no key at all", recipients=[readers["alice"].public])
    for data in b"", b"not an age file", whole, whole[:-1], whole[:50]:
        place.target.pipe_file(place.path("_key.age"), data)
        type(fs).clear_instance_cache()
        fs = place.sealed(f"age:{place.path('_key.age')}", identity=f"file:{tmp_path / 'alice.key'}")
        with pytest.raises((SealaneError, ValueError), match=r"_key\.age"):
            fs.pipe_file(place.path("file"), b"content")
    assert list(place.stored()) == ["_key.age"]


def test_an_age_key_needs_an_identity(folder: Place) -> None:
    with pytest.raises((TypeError, ValueError), match="identity"):
        folder.sealed(f"age:{folder.path('_key.age')}").pipe_file(folder.path("file"), b"content")


def test_a_table_with_its_key_in_the_folder(
    place: Place, readers: dict[str, sealane.keys.Key], tmp_path: Path
) -> None:
    """The key file does not disturb readers of the folder."""
    place.target.makedirs(place.path("d"), exist_ok=True)
    create_dataset_key(
        place.below("d/_key.age"),
        recipients=[readers["alice"].public],
        storage_options=place.target_options,
    )
    fs = place.sealed(f"age:{place.path('d/_key.age')}", identity=f"file:{tmp_path / 'alice.key'}")
    table = pa.table({"year": [1, 2] * 50, "sum": range(100)})
    pa.dataset.write_dataset(
        table,
        place.path("d"),
        filesystem=fs,
        format="parquet",
        partitioning=["year"],
        partitioning_flavor="hive",
        existing_data_behavior="overwrite_or_ignore",
    )
    back = pa.dataset.dataset(place.path("d"), filesystem=fs, format="parquet", partitioning="hive")
    assert back.to_table().sort_by("sum")["sum"].to_pylist() == list(range(100))


def test_one_identity_many_recipients(
    place: Place, readers: dict[str, sealane.keys.Key], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Identities are given by reference, and recipients as text."""
    monkeypatch.setenv("BOB", readers["bob"].to_text())
    place.target.makedirs(place.root, exist_ok=True)
    create_dataset_key(
        place.below("_key.age"),
        recipients=[str(key.public) for key in readers.values()],
        storage_options=place.target_options,
    )
    fs = place.sealed(f"age:{place.path('_key.age')}", identity="env:BOB")
    fs.pipe_file(place.path("file"), RAW)
    assert fs.cat_file(place.path("file")) == RAW
    sent = pickle.dumps(fs)
    assert readers["bob"].to_text().encode().strip() not in sent
    assert pickle.loads(sent).cat_file(place.path("file")) == RAW
