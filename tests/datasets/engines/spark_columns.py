"""Parquet files with encrypted columns, written by Spark and read by PyArrow and Polars, and the other way.

Spark uses parquet-java, with a KmsClient in Java (StubKms.java) that wraps data keys as ``sealane.parquet``,
and a factory (EncryptedOnly.java) that refuses plaintext files.
"""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pyspark
import pytest
import sealane
from pyspark.sql import SparkSession
from sealane.parquet import ParquetKeys

folder = Path(sys.argv[1])
for name in "table", "pii":
    key = sealane.keys.generate("aes-256")
    os.environ[name.upper()] = key.to_text()
    os.environ[f"KEY_{name}"] = base64.b64encode(bytes(key)).decode()
keys = ParquetKeys({"table": "env:TABLE", "pii": "env:PII"})
jars = Path(pyspark.__file__).parent / "jars"
subprocess.run(
    ["javac", "-cp", f"{jars}/*", "-d", str(folder), *map(str, Path(__file__).parent.glob("*.java"))],
    check=True,
)
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .config("spark.driver.extraClassPath", str(folder))
    .config("spark.hadoop.parquet.encryption.kms.client.class", "StubKms")
    .config("spark.hadoop.parquet.crypto.factory.class", "EncryptedOnly")
    .getOrCreate()
)
COMPRESSION = "gzip"
"""Java has it. The library of Spark for Snappy does not load where musl is installed beside glibc."""
FRAME = pl.DataFrame({"a": range(1000), "b": [f"name {n}" for n in range(1000)]})


def spark_writes(path: str, columns: bool) -> None:
    writer = spark.createDataFrame(FRAME.to_pandas()).coalesce(1).write.option("compression", COMPRESSION)
    if columns:
        writer = writer.option("parquet.encryption.footer.key", "table")
        writer = writer.option("parquet.encryption.column.keys", "pii:b")
    else:
        writer = writer.option("parquet.encryption.uniform.key", "table")
    writer.parquet(f"{path}.d")
    (part,) = Path(f"{path}.d").glob("*.parquet")
    part.rename(path)


def spark_reads(path: str, columns: bool) -> pl.DataFrame:
    return pl.DataFrame(spark.read.parquet(path).toPandas())


def duckdb_reads(path: str, columns: bool) -> pl.DataFrame:
    connection = duckdb.connect()
    keys.add_to_duckdb(connection, "table", source=path)
    query = f"FROM read_parquet('{path}', encryption_config = {{footer_key: 'table'}}) ORDER BY a"
    return pl.DataFrame(connection.execute(query).fetchall(), schema=FRAME.schema, orient="row")


def pyarrow_reads(path: str, columns: bool) -> pl.DataFrame:
    with keys.open(path) as file:
        return pl.DataFrame(pq.read_table(file, decryption_properties=keys.decryption(file)))


def polars_reads(path: str, columns: bool) -> pl.DataFrame:
    with keys.open(path) as file:
        return pl.read_parquet(file, decryption=keys.polars_decryption(source=file))


WRITERS: dict[str, Callable[[str, bool], Any]] = {
    "spark": spark_writes,
    "pyarrow": lambda path, columns: pq.write_table(
        FRAME.to_arrow(),
        path,
        compression=COMPRESSION,
        encryption_properties=keys.encryption("table", {"pii": ["b"]} if columns else None),
    ),
}
READERS: dict[str, Callable[[str, bool], pl.DataFrame]] = {
    "spark": spark_reads,
    "pyarrow": pyarrow_reads,
    "polars": polars_reads,
    "duckdb": duckdb_reads,
}
REFUSED = {("spark", "duckdb", False), ("spark", "duckdb", True), ("pyarrow", "duckdb", True)}
"""The writers and readers that do not work together, with keys of columns or without."""
for writer, write in WRITERS.items():
    for columns in False, True:
        path = str(folder / f"{writer}-{columns}.parquet")
        write(path, columns)
        assert Path(path).read_bytes()[-4:] == b"PARE"
        for reader, read in READERS.items():
            if (writer, reader, columns) in REFUSED:
                with pytest.raises(duckdb.Error):
                    read(path, columns)
            else:
                assert read(path, columns).sort("a").equals(FRAME), (writer, reader, columns)
# A plaintext file in the place of an encrypted one.
path = str(folder / "forged.parquet")
pq.write_table(FRAME.to_arrow(), path, compression=COMPRESSION)
with pytest.raises(Exception, match=r"(?i)plaintext"):
    spark_reads(path, columns=False)
spark.stop()
print("done")
