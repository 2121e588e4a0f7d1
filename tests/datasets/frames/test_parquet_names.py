"""Names and lists of Parquet columns: what PyArrow would change is refused before anything is written."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import sealane
from sealane._native import parquet_footer
from sealane.exceptions import FormatError, SealaneError
from sealane.parquet import KmsClient, ParquetKeys, _opening
from sealane.parquet._opening import data_key, material

FRAME = pl.DataFrame({"a": range(1000), "b": [f"name {n}" for n in range(1000)]})

NAMES = ["salary, net", "a;b", "a:b", ",", " name", "name ", "\tname", "name\n", "", " ", "name\u2003"]


# claim: parquet-columns
@pytest.mark.parametrize("name", NAMES)
def test_names_that_pyarrow_would_change(keys: ParquetKeys, tmp_path: Path, name: str) -> None:
    for work in keys.configuration, keys.encryption, keys.dataset_encryption, keys.open:
        first: Any = ("t.parquet",) if work == keys.open else ()
        with pytest.raises(ValueError, match="rename the column"):
            work(*first, "table", {"pii": ["b", name]})  # type: ignore[operator]
    with pytest.raises(ValueError, match="rename the column"):
        keys.filesystem("table", {"pii": [name]})
    # Polars takes names one by one.
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({name: ["secret-value"], "b": ["x"]})
    frame.write_parquet(
        path, encryption=keys.polars_encryption("table", {name: "pii"}), compression="uncompressed"
    )
    assert b"secret-value" not in path.read_bytes()


# claim: parquet-columns
@pytest.mark.parametrize(
    "name", ["a\0b", "\ufeffname", "\u200bname", "list.element", "a=b", "'a'", "a]", "a\nb", "NAME", "é"]
)
def test_names_that_pyarrow_keeps(keys: ParquetKeys, tmp_path: Path, name: str) -> None:
    table = pa.table({name: ["secret-value"], "name": ["other-value"]})
    properties = keys.encryption("table", {"pii": [name]})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, encryption_properties=properties, compression="none", use_dictionary=False)
    content = path.read_bytes()
    assert b"secret-value" not in content
    assert b"other-value" in content


# claim: parquet-columns
@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ({"pii": "name"}, TypeError),
        ({"pii": b"name"}, TypeError),
        ({"pii": 5}, TypeError),
        ({"pii": [b"b"]}, TypeError),
        ({"pii": [None]}, TypeError),
        (["b"], TypeError),
        ({"pii": []}, ValueError),
        ({"pii": ["b", "b"]}, ValueError),
        ({"pii": ["b"], "table": ["b"]}, ValueError),
        ({5: ["b"]}, TypeError),
    ],
)
def test_malformed_lists_of_columns(keys: ParquetKeys, columns: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        keys.encryption("table", columns)


# claim: parquet-columns
def test_a_column_that_does_not_exist(keys: ParquetKeys, tmp_path: Path) -> None:
    """A typing error leaves no file with the column in clear."""
    path = tmp_path / "t.parquet"
    with pytest.raises(OSError, match="not in file schema"):
        pq.write_table(FRAME.to_arrow(), path, encryption_properties=keys.encryption("table", {"pii": ["B"]}))
    options = ds.ParquetFileFormat().make_write_options(
        encryption_config=keys.dataset_encryption("table", {"pii": ["B"]})
    )
    with pytest.raises(OSError, match="not in file schema"):
        ds.write_dataset(FRAME.to_arrow(), tmp_path / "d", format="parquet", file_options=options)
    with pytest.raises(pl.exceptions.PolarsError, match="not found"):
        FRAME.write_parquet(path, encryption=keys.polars_encryption("table", {"B": "pii"}))
    assert not any(b"name 7" in file.read_bytes() for file in tmp_path.rglob("*.parquet"))


def test_a_stored_name_that_stands_twice() -> None:
    """Readers of JSON choose differently between two members with one name."""
    stored = b'{"keyMaterialType": "PKMT1", "internalStorage": true, "masterKeyID": "a", "wrappedDEK": "x"}'
    assert material(stored, None)["masterKeyID"] == "a"
    with pytest.raises(FormatError, match="does not store its keys as PyArrow does"):
        material(stored[:-1] + b', "masterKeyID": "b"}', None)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_keys_that_pyarrow_would_change(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be empty, contain ':', ';' or ',', or begin or end with a"):
        ParquetKeys({name: "env:A"})


# claim: parquet-columns
@pytest.mark.parametrize("plaintext_footer", [False, True])
def test_a_key_of_the_footer_under_the_name_of_another(
    keys: ParquetKeys, tmp_path: Path, plaintext_footer: bool
) -> None:
    """PyArrow looks for the key of a data key by its identifier, whatever master key the file names."""
    path, forger = tmp_path / "t.parquet", ParquetKeys({"table": "env:TABLE"})
    properties = forger.encryption("table", {"table": ["b"]}, plaintext_footer=plaintext_footer)
    pq.write_table(FRAME.to_arrow(), path, encryption_properties=properties)
    content = path.read_bytes()
    with forger.open(path, plaintext_footer=plaintext_footer) as file:
        footer = file.footer
    assert footer.key is not None
    key = data_key(KmsClient({"table": "env:TABLE"}), material(footer.key, None))
    cipher, ending = sealane.Aead("aes-256-gcm", key), footer.content[:-8]
    algorithm, _, _, end = parquet_footer(ending, not plaintext_footer)
    assert algorithm is not None
    aad, nonce = algorithm[0], bytes(12)

    def renamed(metadata: bytes) -> bytes:
        before, after = b'"masterKeyID":"table"', b'"masterKeyID":"pii"  '
        assert len(before) == len(after)
        return after.join(metadata.rsplit(before, 1))

    if plaintext_footer:
        first = ending[:end].rindex(footer.key)
        changed = renamed(ending[:first]) + ending[first:end]
        ending = changed + nonce + cipher.encrypt(nonce, changed, aad)[-16:]
    else:
        metadata = cipher.decrypt(ending[end + 4 : end + 16], ending[end + 16 :], aad)
        ending = ending[: end + 4] + nonce + cipher.encrypt(nonce, renamed(metadata), aad)
    path.write_bytes(content[: footer.start] + ending + content[-8:])
    for reader in keys, forger:
        for columns in {"pii": ["b"]}, {"pii": ["b"], "table": ["a"]}, {"table": ["a"]}, None:
            options = {"footer": "table", "columns": columns, "plaintext_footer": plaintext_footer}
            for work in (
                lambda options=options, reader=reader: reader.open(path, **options),
                lambda options=options, reader=reader: reader.filesystem(**options).open_input_file(
                    str(path)
                ),
            ):
                with pytest.raises(sealane.FormatError, match=r"key is under 'pii'"):
                    work()


def test_who_changes_what_a_file_says_does_not_lock_others_out(
    keys: ParquetKeys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file with the encrypted keys is authenticated by nothing but the keys in it."""
    monkeypatch.setattr(_opening, "_OWNERS", {})
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path in paths:
        properties = keys.encryption("table", {"pii": ["b"]}, external=path)
        pq.write_table(FRAME.to_arrow(), path, encryption_properties=properties)
    beside = tmp_path / "_KEY_MATERIAL_FOR_a.parquet.json"
    genuine = beside.read_text()
    for name in "table", "unknown", "x" * 2000, "pii":
        beside.write_text(genuine.replace(r'"masterKeyID\":\"pii', rf'"masterKeyID\":\"{name}'))
        with contextlib.suppress(SealaneError):
            keys.open(paths[0])
        for footer, columns in ("table", {"pii": ["b"]}), (None, None):
            with keys.open(paths[1], footer, columns) as file:
                decryption = keys.decryption(file, external=paths[1])
                assert pq.read_table(file, decryption_properties=decryption) == FRAME.to_arrow()
    assert set(_opening._OWNERS.values()) == {"table", None}
    # What is remembered is limited; then every file must prove what it says.
    monkeypatch.setattr(_opening, "MAX_OWNERS", len(_opening._OWNERS))
    path, other = tmp_path / "c.parquet", ParquetKeys(keys._references)
    properties = other.encryption("table", {"pii": ["b"]})
    pq.write_table(FRAME.to_arrow(), path, encryption_properties=properties)
    other.open(path, "table", {"pii": ["b"]}).close()
    with pytest.raises(FormatError, match="key is under 'pii'"):
        ParquetKeys({"table": "env:TABLE"}).open(path)
    assert len(_opening._OWNERS) == _opening.MAX_OWNERS
