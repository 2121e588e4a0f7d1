"""Keys of Parquet's own encryption: every pair of writer and reader, and bad input."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import random
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
from parts import RAW, secrets_in
from sealane.parquet import KmsClient, ParquetKeys
from sealane.parquet._footer import read_metadata

FRAME = pl.DataFrame(
    {"a": range(1000), "b": [f"name {n}" for n in range(1000)], "c": [n / 7 for n in range(1000)]}
)
PII = bytes(range(32))


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> ParquetKeys:
    monkeypatch.setenv("TABLE", sealane.keys.Key.from_bytes(RAW).to_text())
    monkeypatch.setenv("PII", sealane.keys.Key.from_bytes(PII).to_text())
    monkeypatch.setenv("OTHER", sealane.keys.generate("aes-256").to_text())
    return ParquetKeys({"table": "env:TABLE", "pii": "env:PII"})


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


def pyarrow_reads(keys: ParquetKeys, path: str, columns: bool, own: bool) -> pl.DataFrame:
    properties = keys.decryption() if own else pe.create_decryption_properties(RAW)
    return pl.DataFrame(pq.read_table(path, decryption_properties=properties))


def polars_reads(keys: ParquetKeys, path: str, columns: bool, own: bool) -> pl.DataFrame:
    if own:
        return pl.read_parquet(path, decryption=keys.polars_decryption(source=path))
    given = keys.polars_decryption("table", {"b": "pii"} if columns else None)
    return pl.scan_parquet(path, decryption=given).collect()


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
    with pytest.raises((OSError, duckdb.Error, pl.exceptions.PolarsError, NotImplementedError)):
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
        found = pq.read_table(path, columns=["a", "c"], decryption_properties=few.decryption())
        assert pl.DataFrame(found).equals(FRAME[["a", "c"]])
        decryption = few.polars_decryption(source=path)
        assert pl.scan_parquet(path, decryption=decryption).select("a").collect().equals(FRAME[["a"]])
        with pytest.raises(sealane.KeyNotFoundError, match="'pii'"):
            pq.read_table(path, columns=["b"], decryption_properties=few.decryption())
        with pytest.raises(pl.exceptions.PolarsError):
            pl.read_parquet(path, columns=["b"], decryption=decryption)


def test_another_key(keys: ParquetKeys, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    WRITERS["pyarrow"](keys, path, True)
    wrong = ParquetKeys({"table": "env:TABLE", "pii": "env:OTHER"})
    with pytest.raises(sealane.AuthenticationError, match="'pii'"):
        pq.read_table(path, decryption_properties=wrong.decryption())
    with pytest.raises(sealane.AuthenticationError, match=r"t\.parquet.*'pii'"):
        wrong.polars_decryption(source=path)
    with pytest.raises(sealane.KeyNotFoundError, match="not set"):
        ParquetKeys({"table": "env:NOT_SET"}).polars_decryption(source=path)


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
    assert pl.DataFrame(pq.read_table(path, decryption_properties=keys.decryption(external=path))).equals(
        FRAME
    )
    assert path.read_bytes() == content
    with pytest.raises(sealane.AuthenticationError, match="'ring'"):
        pq.read_table(inside, decryption_properties=keys.decryption())
    with pytest.raises(sealane.FormatError, match="beside it"):
        keys.polars_decryption(source=path)
    with pytest.raises(ValueError, match="keyring"):
        keys.polars_encryption("ring")
    (tmp_path / "_KEY_MATERIAL_FOR_t.parquet.json").unlink()
    with pytest.raises(OSError, match=r"t\.parquet"):
        keys.rotate_master_keys(path)


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
    scan = ds.ParquetFragmentScanOptions(decryption_config=keys.dataset_decryption())
    dataset = ds.dataset(tmp_path / "d", format=ds.ParquetFileFormat(default_fragment_scan_options=scan))
    assert pl.DataFrame(dataset.to_table()).sort("a").equals(FRAME)
    assert dataset.to_table(filter=ds.field("a") > 990).num_rows == 9


def test_only_references_are_pickled_and_shown(keys: ParquetKeys, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    WRITERS["pyarrow"](keys, path, True)
    copy = pickle.loads(pickle.dumps(keys))
    assert pl.DataFrame(pq.read_table(path, decryption_properties=copy.decryption())).equals(FRAME)
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
    with pytest.raises(TypeError, match="either"):
        keys.polars_decryption()


@pytest.mark.parametrize("columns", [False, True])
def test_changed_and_truncated_footers(keys: ParquetKeys, tmp_path: Path, columns: bool) -> None:
    """Every change of the ending is a typed error, or does not concern the keys."""
    path = tmp_path / "t.parquet"
    WRITERS["pyarrow"](keys, str(path), columns)
    content, chance = path.read_bytes(), random.Random(3)
    expected = keys._data_keys(io.BytesIO(content))
    for number in range(600):
        changed = bytearray(content)
        at = len(content) - 1 - (number if number < 300 else chance.randrange(3000))
        match number % 3:
            case 0:
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                del changed[at:]
            case 2:
                changed[at : at + 4] = chance.randbytes(4)
        with contextlib.suppress(sealane.SealaneError):
            assert keys._data_keys(io.BytesIO(bytes(changed))) == expected
    for number in range(300):
        noise = chance.randbytes(chance.randrange(200))
        ending = len(noise).to_bytes(4, "little") + [b"PARE", b"PAR1"][number % 2]
        with pytest.raises(sealane.FormatError):
            keys._data_keys(io.BytesIO(b"PAR1" + noise + ending))
    deep = b"\x1c" * 100_000 + len(b"\x1c" * 100_000).to_bytes(4, "little") + b"PARE"
    with pytest.raises(sealane.FormatError, match="nested"):
        read_metadata(io.BytesIO(b"PAR1" + deep), lambda stored: b"")


def test_a_file_that_is_not_encrypted(keys: ParquetKeys, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path)
    with pytest.raises(sealane.FormatError, match=r"t\.parquet.*not encrypted"):
        keys.polars_decryption(source=path)
    FRAME.write_parquet(path, encryption=keys.polars_encryption("table"))
    with pytest.raises(sealane.FormatError, match="give the keys themselves"):
        keys.polars_decryption(source=path)
    path.write_bytes(b"PAR1")
    with pytest.raises(sealane.FormatError, match="4 bytes"):
        keys.polars_decryption(source=path)


def test_the_stored_form_names_the_key_only(keys: ParquetKeys, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    WRITERS["pyarrow"](keys, str(path), True)
    with open(path, "rb") as file:
        metadata = read_metadata(file, lambda stored: keys._data_keys(str(path))[0])
        assert list(metadata.columns) == ["b"]
        assert json.loads(metadata.columns["b"])["masterKeyID"] == "pii"
        assert b"env:" not in path.read_bytes()
