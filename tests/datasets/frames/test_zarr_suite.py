"""The test suite of zarr for stores, over encrypted files on disk, in memory and on S3.

All tests of the suite hold. zarr awaits the coroutines of the filesystem, so it creates the filesystem with
``asynchronous=True``.
"""

from __future__ import annotations

from typing import Any

import pytest
import sealane
from parts import RAW, Place, place_of
from zarr.core.buffer import Buffer, cpu
from zarr.core.sync import sync
from zarr.storage import FsspecStore
from zarr.testing.store import StoreTests


class TestLocal(StoreTests[FsspecStore, cpu.Buffer]):
    store_cls = FsspecStore
    buffer_cls = cpu.Buffer
    kind = "file"

    @pytest.fixture(autouse=True)
    def place(self, request: Any) -> Place:
        self.folder = place_of(self.kind, request)
        self.folder.target.makedirs(self.folder.root, exist_ok=True)
        return self.folder

    @pytest.fixture
    def store_kwargs(self, place: Place) -> dict[str, Any]:
        store = FsspecStore.from_url(place.url("")[:-1], storage_options=place.options)
        assert store.fs.asynchronous
        return {"fs": store.fs, "path": store.path}

    @pytest.fixture
    def store(self, open_kwargs: dict[str, Any]) -> Any:
        return sync(self.store_cls.open(**open_kwargs))

    @pytest.fixture
    def store_not_open(self, store_kwargs: dict[str, Any]) -> Any:
        return self.store_cls(**store_kwargs)

    async def set(self, store: FsspecStore, key: str, value: Buffer) -> None:
        path = self.folder.path(key)
        self.folder.target.makedirs(path.rpartition("/")[0], exist_ok=True)
        self.folder.target.pipe_file(path, sealane.encrypt(value.to_bytes(), key=RAW))
        store.fs.invalidate_cache()

    async def get(self, store: FsspecStore, key: str) -> Buffer:
        sealed = self.folder.target.cat_file(self.folder.path(key))
        return self.buffer_cls.from_bytes(sealane.decrypt(sealed, key=RAW))

    def test_store_repr(self, store: FsspecStore) -> None:
        assert repr(store) == f"<FsspecStore(SealaneFileSystem, {store.path})>"

    def test_store_supports_writes(self, store: FsspecStore) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: FsspecStore) -> None:
        assert store.supports_listing


class TestMemory(TestLocal):
    kind = "memory"


class TestS3(TestLocal):
    kind = "s3"
