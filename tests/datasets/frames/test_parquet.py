"""Keys of Parquet's own encryption: every pair of writer and reader, and bad input."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import pickle
import random
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest
import sealane
from parts import PII, RAW, secrets_in
from sealane.parquet import KmsClient, ParquetKeys

FRAME = pl.DataFrame(
    {"a": range(1000), "b": [f"name {n}" for n in range(1000)], "c": [n / 7 for n in range(1000)]}
)


def duck(keys: ParquetKeys, path: str | None = None) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    keys.add_to_duckdb(connection, "table", source=path)
    return connection


def duck_writes(keys: ParquetKeys, path: str, columns: bool) -> None:
    options = "footer_key: 'table'" + (", column_keys: {pii: ['b']}" if columns else "")
    connection = duck(keys)
    connection.register("frame", FRAME.to_arrow())
    connection.execute("SET force_mbedtls_unsafe = 'true'")
    connection.execute(f"COPY frame TO '{path}' (FORMAT parquet, ENCRYPTION_CONFIG {{{options}}})")


def duck_reads(keys: ParquetKeys, path: str, columns: bool, own: bool) -> pl.DataFrame:
    options = "footer_key: 'table'" + (", column_keys: {pii: ['b']}" if columns else "")
    query = f"FROM read_parquet('{path}', encryption_config = {{{options}}}) ORDER BY a"
    rows = duck(keys, path if own else None).execute(query).fetchall()
    return pl.DataFrame(rows, schema=FRAME.schema, orient="row")


WRITERS: dict[str, Callable[[ParquetKeys, str, bool], None]] = {
    "pyarrow": lambda keys, path, columns: pq.write_table(
        FRAME.to_arrow(),
        path,
        encryption_properties=keys.encryption("table", {"pii": ["b"]} if columns else None),
    ),
    "polars": lambda keys, path, columns: FRAME.write_parquet(
        path, encryption=keys.polars_encryption("table", {"b": "pii"} if columns else None)
    ),
    "duckdb": duck_writes,
}


def pyarrow_table(keys: ParquetKeys, path: Any, only: list[str] | None = None, **options: Any) -> Any:
    """Reads a file as the guide shows it. ``options`` are those of ``open``."""
    with keys.open(path, **options) as file:
        return pq.read_table(file, columns=only, decryption_properties=keys.decryption(file))


def polars_table(keys: ParquetKeys, path: Any, only: list[str] | None = None, **options: Any) -> Any:
    with keys.open(path, **options) as file:
        return pl.read_parquet(file, columns=only, decryption=keys.polars_decryption(source=file))


def pyarrow_reads(keys: ParquetKeys, path: str, columns: bool, own: bool) -> pl.DataFrame:
    if own:
        return pl.DataFrame(pyarrow_table(keys, path))
    return pl.DataFrame(pq.read_table(path, decryption_properties=pe.create_decryption_properties(RAW)))


def polars_reads(keys: ParquetKeys, path: str, columns: bool, own: bool) -> pl.DataFrame:
    if own:
        return polars_table(keys, path)
    with keys.open(path, "table", {"pii": ["b"]} if columns else None) as file:
        given = keys.polars_decryption("table", {"b": "pii"} if columns else None, source=file)
        return pl.scan_parquet(file, decryption=given).collect()


READERS: dict[str, Callable[[ParquetKeys, str, bool, bool], pl.DataFrame]] = {
    "pyarrow": pyarrow_reads,
    "polars": polars_reads,
    "duckdb": duck_reads,
}
"""The last parameter says whether PyArrow has stored the data keys in the file."""

WORKING = {
    ("pyarrow", "pyarrow", False),
    ("pyarrow", "pyarrow", True),
    ("pyarrow", "polars", False),
    ("pyarrow", "polars", True),
    ("pyarrow", "duckdb", False),
    ("polars", "polars", False),
    ("polars", "polars", True),
    ("polars", "pyarrow", False),
    ("polars", "duckdb", False),
    ("duckdb", "duckdb", False),
}
"""The pairs of writer and reader that work, with keys of columns or without: the table of the guide."""


@pytest.mark.parametrize("columns", [False, True], ids=["uniform", "columns"])
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("writer", WRITERS)
def test_every_pair(keys: ParquetKeys, tmp_path: Path, writer: str, reader: str, columns: bool) -> None:
    path = str(tmp_path / "t.parquet")

    def both() -> pl.DataFrame:
        WRITERS[writer](keys, path, columns)
        assert Path(path).read_bytes()[-4:] == b"PARE"
        return READERS[reader](keys, path, columns, writer == "pyarrow")

    if (writer, reader, columns) in WORKING:
        assert both().equals(FRAME)
        return
    refusals = OSError, duckdb.Error, pl.exceptions.PolarsError, NotImplementedError, sealane.SealaneError
    with pytest.raises(refusals):
        both()


def test_nothing_of_an_encrypted_column_is_in_the_file(keys: ParquetKeys, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    options = {"compression": "none", "use_dictionary": False}
    pq.write_table(
        FRAME.to_arrow(), path, encryption_properties=keys.encryption("table", {"pii": ["b"]}), **options
    )
    content = path.read_bytes()
    assert b"name 7" not in content
    assert b"schema" not in content
    for private in RAW, PII:
        assert private not in content
    pq.write_table(
        FRAME.to_arrow(), path, encryption_properties=keys.encryption("table", {"table": ["a"]}), **options
    )
    assert b"name 7" in path.read_bytes(), "columns that are not listed are in clear, as the guide says"


def test_columns_without_a_key(keys: ParquetKeys, tmp_path: Path) -> None:
    few, path = ParquetKeys({"table": "env:TABLE"}), str(tmp_path / "t.parquet")
    for plaintext_footer in False, True:
        properties = keys.encryption("table", {"pii": ["b"]}, plaintext_footer=plaintext_footer)
        pq.write_table(FRAME.to_arrow(), path, encryption_properties=properties)
        options = {"plaintext_footer": plaintext_footer}
        found = pyarrow_table(few, path, ["a", "c"], **options)
        assert pl.DataFrame(found).equals(FRAME[["a", "c"]])
        with few.open(path, plaintext_footer=plaintext_footer) as file:
            scan = pl.scan_parquet(file, decryption=few.polars_decryption(source=file))
            assert scan.select("a").collect().equals(FRAME[["a"]])
        with pytest.raises(sealane.KeyNotFoundError, match="'pii'"):
            pyarrow_table(few, path, ["b"], **options)
        with pytest.raises(pl.exceptions.PolarsError):
            polars_table(few, path, ["b"], **options)


def test_another_key(keys: ParquetKeys, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    WRITERS["pyarrow"](keys, path, True)
    wrong = ParquetKeys({"table": "env:TABLE", "pii": "env:OTHER"})
    with pytest.raises(sealane.AuthenticationError, match="'pii'"):
        pyarrow_table(wrong, path)
    with pytest.raises(sealane.AuthenticationError, match=r"t\.parquet.*'pii'"):
        polars_table(wrong, path)
    with pytest.raises(sealane.KeyNotFoundError, match="not set"):
        ParquetKeys({"table": "env:NOT_SET"}).open(path)


def test_the_name_of_a_key_is_authenticated(keys: ParquetKeys) -> None:
    client = KmsClient({"one": "env:TABLE", "two": "env:TABLE"})
    wrapped = client.wrap_key(b"k" * 32, "one")
    assert client.unwrap_key(wrapped, "one") == b"k" * 32
    with pytest.raises(sealane.AuthenticationError, match="'two'"):
        client.unwrap_key(wrapped, "two")
    for broken in "", "%", "QUJD", wrapped[:-8], "A" * 5000, "ä":
        with pytest.raises((sealane.FormatError, sealane.AuthenticationError), match="'one'"):
            client.unwrap_key(broken, "one")


def test_keyrings_and_rotation(tmp_path: Path) -> None:
    ring, place = sealane.keys.Keyring.generate(), tmp_path / "ring"

    def saved() -> ParquetKeys:
        place.unlink(missing_ok=True)
        ring.save(place)
        return ParquetKeys({"ring": f"file:{place}"})

    path = tmp_path / "t.parquet"
    properties = saved().encryption("ring", external=path)
    pq.write_table(FRAME.to_arrow(), path, encryption_properties=properties)
    inside = tmp_path / "inside.parquet"
    pq.write_table(FRAME.to_arrow(), inside, encryption_properties=saved().encryption("ring"))
    content, old = path.read_bytes(), ring.primary
    ring.rotate()
    saved().rotate_master_keys(path)
    ring.disable(old)
    keys = saved()
    with keys.open(path) as file:
        found = pq.read_table(file, decryption_properties=keys.decryption(file, external=path))
    assert pl.DataFrame(found).equals(FRAME)
    assert polars_table(keys, path).equals(FRAME)
    assert path.read_bytes() == content
    with pytest.raises(sealane.AuthenticationError, match="'ring'"):
        keys.open(inside)
    with pytest.raises(sealane.FormatError, match="beside it"), path.open("rb") as opened:
        keys.open(opened)
    with pytest.raises(ValueError, match="keyring"):
        keys.polars_encryption("ring")
    (tmp_path / "_KEY_MATERIAL_FOR_t.parquet.json").unlink()
    with pytest.raises(OSError, match=r"t\.parquet"):
        keys.rotate_master_keys(path)


def dataset_of(keys: ParquetKeys, path: Path, **options: Any) -> Any:
    fs = keys.filesystem(**options)
    scan = ds.ParquetFragmentScanOptions(decryption_config=keys.dataset_decryption(fs))
    form = ds.ParquetFileFormat(default_fragment_scan_options=scan)
    return ds.dataset(str(path), filesystem=fs, format=form)


def test_datasets(keys: ParquetKeys, tmp_path: Path) -> None:
    options = ds.ParquetFileFormat().make_write_options(
        encryption_config=keys.dataset_encryption("table", {"pii": ["b"]})
    )
    ds.write_dataset(
        FRAME.to_arrow(),
        tmp_path / "d",
        format="parquet",
        file_options=options,
        max_rows_per_file=300,
        max_rows_per_group=300,
    )
    assert len(list((tmp_path / "d").iterdir())) == 4
    dataset = dataset_of(keys, tmp_path / "d")
    assert pl.DataFrame(dataset.to_table()).sort("a").equals(FRAME)
    assert dataset.to_table(filter=ds.field("a") > 990).num_rows == 9
    fs = keys.filesystem()
    copy = pickle.loads(pickle.dumps(fs))
    assert copy.get_file_info(str(tmp_path / "d")).type == fs.get_file_info(str(tmp_path / "d")).type
    assert secrets_in(pickle.dumps(fs)) == secrets_in(fs) == []
    with pytest.raises(NotImplementedError, match="for reading"):
        fs.delete_file(str(tmp_path / "d" / "part-0.parquet"))
    assert len(list((tmp_path / "d").iterdir())) == 4


def test_only_references_are_pickled_and_shown(keys: ParquetKeys, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    WRITERS["pyarrow"](keys, path, True)
    copy = pickle.loads(pickle.dumps(keys))
    assert pl.DataFrame(pyarrow_table(copy, path)).equals(FRAME)
    client = KmsClient({"table": "env:TABLE"})
    client.wrap_key(b"k" * 16, "table")
    assert secrets_in(pickle.dumps(keys)) == secrets_in(keys) == secrets_in(client) == []

    class Refusing:
        def execute(self, statement: str) -> None:
            raise duckdb.Error(f"syntax error in {statement}")

    with pytest.raises(OSError, match="did not take") as raised:
        keys.add_to_duckdb(Refusing(), "table")
    assert secrets_in(raised.value) == []
    with pytest.raises(ValueError, match="letters"):
        keys.add_to_duckdb(duckdb.connect(), "table'; drop")


@pytest.mark.parametrize(
    "references", [{"": "env:A"}, {"a:b": "env:A"}, {"a": "nowhere"}, {"a": b"key"}, {1: "env:A"}, ["env:A"]]
)
def test_malformed_references(references: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        ParquetKeys(references)


def test_a_name_without_a_reference(keys: ParquetKeys) -> None:
    for work in (
        lambda: keys.encryption("absent"),
        lambda: keys.encryption("table", {"absent": ["a"]}),
        lambda: keys.polars_encryption("absent"),
        lambda: keys.dataset_encryption("absent"),
    ):
        with pytest.raises(sealane.KeyNotFoundError, match="references were given for 'table', 'pii'"):
            work()


def opened(keys: ParquetKeys, content: bytes) -> Any:
    """Returns what the keys of a file depend on."""
    return keys.open(io.BytesIO(content)).footer


# claim: parquet-footer
@pytest.mark.parametrize("plaintext_footer", [False, True])
@pytest.mark.parametrize("columns", [False, True])
def test_changed_and_truncated_footers(
    keys: ParquetKeys, tmp_path: Path, columns: bool, plaintext_footer: bool
) -> None:
    """Every change of the ending is a typed error, or concerns a note to the keys that nothing reads."""
    path, listed = tmp_path / "t.parquet", {"pii": ["b"]} if columns else None
    properties = keys.encryption("table", listed, plaintext_footer=plaintext_footer)
    pq.write_table(FRAME.to_arrow(), path, encryption_properties=properties)
    content, chance = path.read_bytes(), random.Random(3)
    with keys.open(path, plaintext_footer=plaintext_footer) as file:
        expected, data_keys, length = file.footer, keys._data_keys(file), len(file.footer.content)
    for number in range(600):
        changed = bytearray(content)
        at = len(content) - 1 - (number if number < min(300, length) else chance.randrange(length))
        match number % 3:
            case 0:
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                del changed[at:]
            case 2:
                changed[at] = (changed[at] + chance.randrange(1, 256)) % 256
        with contextlib.suppress(sealane.SealaneError):
            found = keys.open(io.BytesIO(bytes(changed)), plaintext_footer=plaintext_footer)
            assert found.footer.columns == expected.columns
            assert not found.footer.signed
            assert keys._data_keys(found) == data_keys


# claim: parquet-bounded
def test_noise_and_claims(keys: ParquetKeys) -> None:
    """A count or a depth that the bytes do not have costs nothing."""
    chance = random.Random(5)
    for number in range(300):
        noise = chance.randbytes(chance.randrange(200))
        with pytest.raises(sealane.FormatError):
            opened(keys, ending(noise, [b"PARE", b"PAR1"][number % 2]))
    huge = b"\xff\xff\xff\xff\xff\x7f"
    for footer in b"\x1c" * 100_000, b"\x19" * 100_000, b"\x19" + b"\x1c\x19" * 50_000:
        with pytest.raises(sealane.FormatError, match=r"nested|in the middle|structure"):
            opened(keys, ending(footer, b"PARE"))
    for kind in range(16):
        for footer in bytes([0x19, 0xF0 | kind]) + huge + b"\0", bytes([0x10 | kind]) + huge + b"\0":
            for magic in b"PARE", b"PAR1":
                with pytest.raises(sealane.FormatError):
                    opened(keys, ending(footer, magic))


def ending(footer: bytes, magic: bytes) -> bytes:
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + magic


def duckdb_table(keys: ParquetKeys, path: str, by_name: bool) -> Any:
    return duck_reads(keys, path, columns=False, own=not by_name)


WAYS: dict[str, Callable[[ParquetKeys, str], Any]] = {
    "pyarrow": pyarrow_table,
    "pyarrow, a filesystem": lambda keys, path: pq.read_table(
        path, filesystem=(fs := keys.filesystem()), decryption_properties=keys.decryption(fs)
    ),
    "pyarrow, ParquetFile": lambda keys, path: pq.ParquetFile(
        file := keys.open(path), decryption_properties=keys.decryption(file)
    ).read(),
    "pyarrow, only the schema": lambda keys, path: pq.read_schema(
        file := keys.open(path), decryption_properties=keys.decryption(file)
    ),
    "dataset": lambda keys, path: dataset_of(keys, Path(path)).to_table(),
    "dataset, a folder": lambda keys, path: dataset_of(keys, Path(path).parent).to_table(),
    "polars": polars_table,
    "polars, scan": lambda keys, path: pl.scan_parquet(
        file := keys.open(path), decryption=keys.polars_decryption(source=file)
    ).collect(),
    "duckdb": lambda keys, path: duckdb_table(keys, path, by_name=True),
    "duckdb, keys of the file": lambda keys, path: duckdb_table(keys, path, by_name=False),
}
"""The ways in that the guide shows."""


def plaintext(keys: ParquetKeys, path: str) -> None:
    pq.write_table(FRAME.to_arrow(), path)


def under_another_key(keys: ParquetKeys, path: str) -> None:
    other = ParquetKeys({"table": "env:OTHER"})
    pq.write_table(FRAME.to_arrow(), path, encryption_properties=other.encryption("table"))


def without_signature(keys: ParquetKeys, path: str) -> None:
    """The footer says that the file is encrypted; the signature is cut off."""
    properties = keys.encryption("table", {"pii": ["b"]}, plaintext_footer=True)
    pq.write_table(FRAME.to_arrow(), path, encryption_properties=properties)
    content = Path(path).read_bytes()
    length = int.from_bytes(content[-8:-4], "little") - 28
    Path(path).write_bytes(content[:-36] + length.to_bytes(4, "little") + b"PAR1")


def signed_by_another(keys: ParquetKeys, path: str) -> None:
    other = ParquetKeys({"table": "env:OTHER", "pii": "env:OTHER"})
    properties = other.encryption("table", {"pii": ["b"]}, plaintext_footer=True)
    pq.write_table(FRAME.to_arrow(), path, encryption_properties=properties)


def truncated(keys: ParquetKeys, path: str) -> None:
    WRITERS["pyarrow"](keys, path, False)
    Path(path).write_bytes(Path(path).read_bytes()[:-1])


def counter_mode(keys: ParquetKeys, path: str) -> None:
    """Pages that are encrypted, and not authenticated."""
    configuration = keys.configuration("table")
    configuration.encryption_algorithm = "AES_GCM_CTR_V1"
    factory = keys.crypto_factory
    properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), configuration)
    pq.write_table(FRAME.to_arrow(), path, encryption_properties=properties)


INSTEAD = plaintext, under_another_key, without_signature, signed_by_another, truncated
REFUSALS = OSError, sealane.SealaneError, duckdb.Error, ValueError


REFUSED_BY = [(way, forge) for way in WAYS for forge in INSTEAD]
REFUSED_BY += [(way, counter_mode) for way in WAYS if way != "duckdb"]
"""Each way in and each forged file. Only PyArrow writes the counter mode; DuckDB cannot name such a key."""


# claim: parquet-plaintext
@pytest.mark.parametrize(
    ("way", "forge"), REFUSED_BY, ids=[f"{way}-{forge.__name__}" for way, forge in REFUSED_BY]
)
def test_another_file_in_its_place(
    keys: ParquetKeys, tmp_path: Path, way: str, forge: Callable[[ParquetKeys, str], None]
) -> None:
    """Each way in reads the file that was written, and refuses all others."""
    path = str(tmp_path / "t.parquet")
    WRITERS["polars" if way == "duckdb" else "pyarrow"](keys, path, False)
    assert WAYS[way](keys, path) is not None
    forge(keys, path)
    with pytest.raises(REFUSALS) as caught:
        WAYS[way](keys, path)
    if forge is plaintext:
        assert "not encrypted" in str(caught.value)


# claim: parquet-plaintext
@pytest.mark.parametrize("forge", INSTEAD, ids=lambda forge: forge.__name__)
def test_plaintext_footers_are_verified(
    keys: ParquetKeys, tmp_path: Path, forge: Callable[[ParquetKeys, str], None]
) -> None:
    path = str(tmp_path / "t.parquet")
    properties = keys.encryption("table", {"pii": ["b"]}, plaintext_footer=True)
    pq.write_table(FRAME.to_arrow(), path, encryption_properties=properties)
    with pytest.raises(sealane.FormatError, match="plaintext_footer=True"):
        keys.open(path)
    assert keys.open(path, plaintext_footer=True).footer.signed
    forge(keys, path)
    with pytest.raises(sealane.SealaneError, match=r"t\.parquet"):
        keys.open(path, plaintext_footer=True)


# claim: parquet-plaintext
def test_the_engines_get_no_keys_for_other_files(keys: ParquetKeys, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    WRITERS["pyarrow"](keys, path, False)
    for work in (
        lambda: keys.decryption(),
        lambda: keys.decryption(path),  # type: ignore[arg-type]
        lambda: keys.dataset_decryption(),
        lambda: keys.dataset_decryption(keys.open(path)),  # type: ignore[arg-type]
        lambda: keys.polars_decryption("table"),
        lambda: keys.polars_decryption(source=path),  # type: ignore[arg-type]
        lambda: keys.polars_decryption(source=keys.filesystem()),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=r"expected what ParquetKeys\."):
            work()


# claim: parquet-plaintext
def test_a_file_that_changes_between_two_readings(keys: ParquetKeys, tmp_path: Path) -> None:
    """A store may answer the engine differently than our check."""
    path, forged = tmp_path / "t.parquet", tmp_path / "forged.parquet"
    WRITERS["pyarrow"](keys, str(path), False)
    size = path.stat().st_size
    FRAME.write_parquet(forged)
    content = forged.read_bytes()
    with keys.open(path) as file:
        # The same length, in place.
        path.write_bytes(content[:-8][: size - 8].ljust(size - 8, b"\0") + content[-8:])
        with pytest.raises((OSError, sealane.SealaneError)):
            pq.read_table(file, decryption_properties=keys.decryption(file))


# claim: parquet-columns
def test_columns_must_be_encrypted_as_configured(keys: ParquetKeys, tmp_path: Path) -> None:
    path, frame = tmp_path / "t.parquet", FRAME.to_arrow()
    asked = {"pii": ["b"], "table": ["a"]}
    good: list[Any] = [asked, {"table": ["a"], "pii": ["b", "c"]}]
    bad: list[Any] = [None, {"pii": ["a", "b"]}, {"pii": ["b"]}, {"table": ["a", "b"]}, {"table": ["c"]}]
    for columns in good + bad:
        for plain in False, True:
            properties = keys.encryption("table", columns, plaintext_footer=plain)
            pq.write_table(frame, path, encryption_properties=properties)
            options = {"footer": "table", "columns": asked, "plaintext_footer": plain}
            if columns in good:
                assert pyarrow_table(keys, path, **options).equals(frame)
                continue
            for work in (
                lambda options=options: keys.open(path, **options),
                lambda options=options: dataset_of(keys, path, **options).to_table(),
            ):
                with pytest.raises(sealane.FormatError, match=r"column '[ab]' must be under the key"):
                    work()
    pq.write_table(frame, path, encryption_properties=keys.encryption("pii"))
    with pytest.raises(sealane.FormatError, match="footer must be under the key 'table', and is under 'pii'"):
        keys.open(path, "table")
    for columns in None, {"table": ["a"]}:
        FRAME.write_parquet(path, encryption=keys.polars_encryption("table", {"b": "pii"}))
        with pytest.raises(sealane.FormatError, match="column 'a' must be under the key 'table'"):
            keys.open(path, "table", columns)


# claim: parquet-columns
def test_nested_columns(keys: ParquetKeys, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pl.DataFrame({"a": [{"b": "secret", "c": 1}], "l": [["secret"]], "d.e": ["x"]}).to_arrow()
    for columns, required, fine in (
        (["a", "l"], ["a", "l"], True),
        (["a.b", "a.c"], ["a"], True),
        (["a.b"], ["a"], False),
        (["a"], ["a.b"], True),
        (["l"], ["a"], False),
        (["d.e"], ["d.e"], True),
        (["a"], ["d.e"], False),
    ):
        properties = keys.encryption("table", {"pii": columns})
        pq.write_table(table, path, encryption_properties=properties)
        if fine:
            keys.open(path, "table", {"pii": required}).close()
            continue
        with pytest.raises(sealane.FormatError, match="in clear"):
            keys.open(path, "table", {"pii": required})


def test_files_that_store_no_keys(keys: ParquetKeys, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path, encryption=keys.polars_encryption("table"))
    with pytest.raises(sealane.FormatError, match="name the footer's key"):
        keys.open(path)
    with (
        pytest.raises(sealane.FormatError, match="give their names"),
        keys.open(path, "table") as file,
    ):
        keys.polars_decryption(source=file)
    path.write_bytes(b"PAR1")
    with pytest.raises(sealane.FormatError, match="4 bytes"):
        keys.open(path)


def test_the_file_object(keys: ParquetKeys, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    WRITERS["pyarrow"](keys, str(path), False)
    content, chance = path.read_bytes(), random.Random(7)
    with keys.open(path) as file, io.BytesIO(content) as plain:
        start = file.footer.start
        for _ in range(300):
            at = chance.choice([start, len(content), 0]) + chance.randrange(-40, 40)
            size = chance.choice([-1, None, 0, 1, 30, 100, len(content)])
            assert file.seek(max(at, 0)) == plain.seek(max(at, 0))
            assert file.read(size) == plain.read(size)
            assert file.tell() == plain.tell() or at > len(content)
        assert (file.seek(-4, 2), file.read()) == (len(content) - 4, b"PARE")
        buffer = bytearray(len(content) + 5)
        file.seek(0)
        assert file.readinto(buffer) == len(content)
        assert buffer[:-5] == content
        assert repr(str(path)) in repr(file)


def test_closed_files_leave_nothing_of_python_to_threads(keys: ParquetKeys, tmp_path: Path) -> None:
    """A thread of PyArrow that frees a Python object while Python exits aborts the process."""
    path = tmp_path / "t.parquet"
    WRITERS["pyarrow"](keys, str(path), False)
    with keys.open(path) as file:
        verified = [found for found in gc.get_objects() if type(found).__name__ == "_Verified"]
        (below,) = [weakref.ref(found) for found in verified if found._name == str(path)]
        kept = ds.ParquetFileFormat().make_fragment(file)  # PyArrow's own reference to the file
        buffer = file.read_buffer(100)
        assert buffer.to_pybytes() == path.read_bytes()[:100]
        assert buffer.is_mutable, "not the memory of a Python object"
    del file, verified
    assert below() is None
    del kept


def test_the_stored_form_names_the_key_only(keys: ParquetKeys, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    WRITERS["pyarrow"](keys, str(path), True)
    with keys.open(path) as file:
        named = {column: stored for column, _, stored in file.footer.columns if stored is not None}
    assert list(named) == ["b"]
    assert json.loads(named["b"])["masterKeyID"] == "pii"
    assert b"env:" not in path.read_bytes()
