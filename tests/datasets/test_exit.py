"""Python exits while PyArrow's threads still read files of sealane.

CPython up to 3.13 ends a thread of PyArrow that needs the interpreter then: the process aborts or
hangs. Each process here leaves in the middle of a scan.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sealane

BEGIN = """
import os, sys, time
import fsspec, pyarrow as pa, pyarrow.dataset as ds, pyarrow.fs as pf, pyarrow.parquet as pq
from fsspec.implementations.memory import MemoryFileSystem

table = pa.table({"a": range(60_000), "b": [str(n) for n in range(60_000)]})
"""
FILESYSTEM = """
class Slow(MemoryFileSystem):
    cachable = False
    pause = 0.0

    def cat_file(self, *args, **kwargs):
        time.sleep(self.pause)
        return super().cat_file(*args, **kwargs)

    def cat_ranges(self, *args, **kwargs):
        time.sleep(self.pause)
        return super().cat_ranges(*args, **kwargs)

below = Slow()
fs = fsspec.filesystem("sealane", fs=below, key="env:EXIT_KEY")
for n in range(12):
    with fs.open(f"/exit/{n}.parquet", "wb") as file:
        pq.write_table(table, file, row_group_size=5000)
below.pause = 0.02
data = ds.dataset("/exit", filesystem=pf.PyFileSystem(pf.FSSpecHandler(fs)), format="parquet")
"""
KEYS = """
from sealane.parquet import ParquetKeys

keys = ParquetKeys({"k": "env:EXIT_KEY"})
os.mkdir("exit")
for n in range(12):
    properties = keys.encryption("k")
    pq.write_table(table, f"exit/{n}.parquet", encryption_properties=properties, row_group_size=5000)
fs = keys.filesystem("k")
options = ds.ParquetFragmentScanOptions(decryption_config=keys.dataset_decryption(fs))
parquet = ds.ParquetFileFormat(default_fragment_scan_options=options)
data = ds.dataset("exit", filesystem=fs, format=parquet)
"""
END = """
batches = iter(data.to_batches(batch_size=5000))
first = next(batches)
print("leaving", first.num_rows)
"""


# claim: exit-threads
@pytest.mark.parametrize("way", [FILESYSTEM, KEYS], ids=["filesystem", "parquet keys"])
def test_a_scan_may_be_left_in_the_middle(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXIT_KEY", sealane.keys.generate("aes-256").to_text())
    for n in range(3):
        (folder := tmp_path / str(n)).mkdir()
        command = [sys.executable, "-c", BEGIN + way + END]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        assert "leaving" in done.stdout
