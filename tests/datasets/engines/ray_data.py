"""Reads and writes encrypted tables with Ray Data, whose tasks run in processes of their own."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import fsspec
import pandas as pd
import pytest
import ray
import sealane

os.environ["DATASET_KEY"] = sealane.keys.generate("aes-256").to_text()  # the workers inherit it
folder = Path(sys.argv[1])
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
fs = fsspec.filesystem(
    "sealane", target_protocol="file", target_options={"auto_mkdir": True}, key="env:DATASET_KEY"
)
frame = pd.DataFrame({"a": range(1000), "b": [f"name-{n % 7}" for n in range(1000)]})
ray.data.from_pandas(frame).repartition(4).write_parquet(str(folder / "t"), filesystem=fs)
files = [path.read_bytes() for path in (folder / "t").iterdir()]
assert len(files) == 4
assert not any(data.startswith(b"PAR1") or b"name-" in data for data in files)

table = ray.data.read_parquet(str(folder / "t"), filesystem=fs)
assert table.to_pandas().sort_values("a", ignore_index=True).astype(frame.dtypes).equals(frame)
assert table.map_batches(lambda batch: {"twice": batch["a"] * 2}).sum("twice") == 999_000

changed = next((folder / "t").iterdir())
changed.write_bytes(changed.read_bytes()[:-1])
with pytest.raises(Exception, match=re.escape(changed.name)):
    ray.data.read_parquet(str(folder / "t"), filesystem=fs).count()
print("done")
