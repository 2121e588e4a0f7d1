from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import fsspec
import pytest
import s3fs
from distributed import Client, LocalCluster
from key_services import Aws, Service, Transit
from parts import JWK, VARIABLE, Place, Server, forget_filesystems
from sealane import _aws_kms, _kms, _vault

NUMBERS = itertools.count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs the tests of the cluster in one process of pytest-xdist, so that it is started once."""
    for item in items:
        if "cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("cluster"))


@pytest.fixture(scope="session", autouse=True)
def key() -> Iterator[None]:
    """Puts the key into the environment, also for every process that is started later."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, JWK)
        yield


@pytest.fixture(autouse=True)
def no_old_filesystems() -> Iterator[None]:
    """Drops cached filesystems, except those of S3: creating one takes a quarter of a second."""
    yield
    forget_filesystems(but=s3fs.S3FileSystem)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    forget_filesystems()
    gc.collect()
    server.close()


def place_of(kind: str, request: Any) -> Place:
    if kind == "s3":
        server = request.getfixturevalue("server")
        place = Place(
            "s3",
            f"bucket-{next(NUMBERS)}",
            {
                "key": "testing",
                "secret": "testing",
                "endpoint_url": server.url,
                "client_kwargs": {"region_name": "eu-west-1"},
            },
        )
        place.target.mkdir(place.root)
        place.target.invalidate_cache()
        return place
    if kind == "memory":
        fsspec.filesystem("memory").mkdir(root := f"/memory-{next(NUMBERS)}")
        return Place("memory", root, {})
    return Place("file", str(request.getfixturevalue("tmp_path") / "data"), {"auto_mkdir": True})


@pytest.fixture(params=["file", "memory", "s3"])
def place(request: Any) -> Place:
    """An empty folder on disk, in memory and on S3."""
    return place_of(request.param, request)


@pytest.fixture
def bucket(request: Any) -> Place:
    return place_of("s3", request)


@pytest.fixture
def folder(request: Any, tmp_path: Path) -> Place:
    (tmp_path / "data").mkdir()
    return place_of("file", request)


@pytest.fixture(scope="session")
def cluster(key: None) -> Iterator[Client]:
    """A cluster of two worker processes."""
    with (
        dask.config.set({"distributed.worker.memory.terminate": False}),
        LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Shorter time limits for key services, and an empty cache of their keyrings."""
    for module in _aws_kms, _vault:
        monkeypatch.setattr(module, "READ_SECONDS", 1)
        monkeypatch.setattr(module, "TRIES", 2)
    _kms._forget()
    yield
    _kms._forget()


@pytest.fixture(scope="session")
def aws() -> Iterator[Aws]:
    server = Aws()
    yield server
    server.close()


@pytest.fixture(scope="session")
def vault() -> Iterator[Transit]:
    server = Transit()
    yield server
    server.close()


@pytest.fixture(params=["aws", "vault"])
def service(request: Any, hasty: None, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A key service that this process, and every process that it starts, uses."""
    found: Service = request.getfixturevalue(request.param)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    return found
