"""Sources that grow or shrink while they are encrypted: an error that names them, and no result."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import sealane

KEY = sealane.keys.generate("aes-256")
SIZE = 3 << 20


# claim: disk-source
@pytest.mark.parametrize("new_size", [0, 1, SIZE - 1, SIZE + 1, SIZE + (1 << 20)])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("format", ["chunked", "tink-1mb", "age"])
def test_a_source_that_changes_its_length(tmp_path: Path, new_size: int, threads: int, format: str) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(bytes(SIZE))
    target.write_bytes(b"old")
    age = sealane.keys.generate("age")
    keys = {"recipients": [age.public]} if format == "age" else {"key": KEY, "format": format}
    with pytest.raises(OSError, match="changed while it was encrypted") as caught:
        sealane.encrypt_file(
            source,
            target,
            threads=threads,
            progress=lambda done, total: os.truncate(source, new_size),
            **keys,  # type: ignore[arg-type]
        )
    assert caught.value.filename == str(source)
    assert target.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "target"]


# claim: disk-source
def test_a_source_that_changes_in_a_job_is_not_finished(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "a").write_bytes(bytes(100))
    (source / "log").write_bytes(bytes(9 << 20))
    changed = False

    def append(done: int, total: int) -> None:
        nonlocal changed
        if not changed:
            changed = True
            with (source / "log").open("ab") as file:
                file.write(b"x")

    # Small files are reported before the large one is begun, or while it is read.
    job = {"key": KEY, "manifest": tmp_path / "manifest"}
    report = sealane.encrypt_tree(source, target, progress=append, errors="return", **job)  # type: ignore[arg-type]
    assert changed
    assert set(report.failed) <= {str(source / "log")}
    assert sealane.encrypt_tree(source, target, **job).failed == {}  # type: ignore[arg-type]
    assert sealane.decrypt((target / "log").read_bytes(), key=KEY) == bytes(9 << 20) + b"x"
