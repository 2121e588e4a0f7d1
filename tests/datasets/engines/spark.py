"""Reads and writes encrypted tables in Python functions of PySpark. Spark's own readers refuse the files."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import sealane
from pyspark.sql import SparkSession

# The workers inherit both.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["DATASET_KEY"] = sealane.keys.generate("aes-256").to_text()
folder = Path(sys.argv[1])
OPTIONS = {"sealane": {"key": "env:DATASET_KEY"}}


def read(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        for url in frame["url"]:
            yield pd.read_parquet(url, storage_options=OPTIONS)


def write(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        url = f"sealane::file://{folder}/written-{uuid.uuid4()}.parquet"
        frame.to_parquet(url, storage_options=OPTIONS)
        yield pd.DataFrame({"url": [url], "rows": [len(frame)]})


urls = [f"sealane::file://{folder}/{number}.parquet" for number in range(4)]
for number, url in enumerate(urls):
    part = pd.DataFrame({"a": range(number * 100, number * 100 + 100)})
    part.to_parquet(url, storage_options=OPTIONS)
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .getOrCreate()
)
table = (
    spark.createDataFrame([(url,) for url in urls], "url string").repartition(4).mapInPandas(read, "a long")
)
assert table.groupBy().sum("a").collect()[0][0] == sum(range(400))
written = table.mapInPandas(write, "url string, rows long").collect()
assert sum(row["rows"] for row in written) == 400
back = pd.concat([pd.read_parquet(row["url"], storage_options=OPTIONS) for row in written])
assert sorted(back["a"]) == list(range(400))
with pytest.raises(Exception, match=r"0\.parquet"):
    spark.read.parquet(f"{folder}/0.parquet").count()
spark.stop()
print("done")
