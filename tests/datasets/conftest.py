from __future__ import annotations

import asyncio
import functools
import gc
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import pytest
import s3fs
import sealane
from botocore.loaders import JSONFileLoader
from distributed import Client, LocalCluster
from key_services import Aws, Service, Transit
from parts import JWK, PII, RAW, VARIABLE, Place, Server, forget_filesystems, place_of
from sealane import _kms, _wrapping_key
from sealane.parquet import ParquetKeys
from tokens import Tokens


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs the tests of the cluster in one process of pytest-xdist, so that it is started once."""
    for item in items:
        if "cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("cluster"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    """Runs the coroutines of zarr's suite, each with an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames

    async def run() -> None:
        try:
            await pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
        finally:
            for fs in list(s3fs.S3FileSystem._cache.values()):
                if fs.asynchronous and fs._s3 is not None:
                    await fs._s3.close()
                    fs._s3 = None

    asyncio.run(run())
    return True


@pytest.fixture(scope="session", autouse=True)
def key_in_environment() -> Iterator[None]:
    """Puts the key into the environment, also for every process that is started later."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, JWK)
        yield


@pytest.fixture(scope="session", autouse=True)
def descriptions_of_services() -> Iterator[None]:
    """Keeps what botocore parses for each new client, which is half of the time of making one."""
    parsed = functools.cache(JSONFileLoader().load_file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", lambda _, path: parsed(path))
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
def cluster(key_in_environment: None) -> Iterator[Client]:
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
    monkeypatch.setattr(_wrapping_key, "READ_SECONDS", 1)
    monkeypatch.setattr(_wrapping_key, "TRIES", 2)
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


@pytest.fixture(scope="session")
def all_tokens(tmp_path_factory: pytest.TempPathFactory) -> Tokens:
    return Tokens(tmp_path_factory.mktemp("tokens"))


@pytest.fixture
def tokens(all_tokens: Tokens, hasty: None, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    """Tokens that this process, and every process that it starts, uses."""
    for name, value in all_tokens.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("ODD_MODULE", raising=False)
    return all_tokens


@pytest.fixture(params=["aes", "rsa"])
def token_key(request: Any, tokens: Tokens) -> str:
    """The reference of a new wrapping key."""
    return tokens.new_key(request.param)


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> ParquetKeys:
    """Returns the keys of Parquet files."""
    monkeypatch.setenv("TABLE", sealane.keys.Key.from_bytes(RAW).to_text())
    monkeypatch.setenv("PII", sealane.keys.Key.from_bytes(PII).to_text())
    monkeypatch.setenv("OTHER", sealane.keys.generate("aes-256").to_text())
    return ParquetKeys({"table": "env:TABLE", "pii": "env:PII"})
