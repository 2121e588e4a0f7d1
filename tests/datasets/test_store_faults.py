"""The encrypted filesystem over S3 behind a proxy that delays, breaks, repeats and falsifies.

The result of each operation is the right content, or an error of sealane or of the operating system with the
path. A failed write keeps the old content. The same call without the fault then succeeds.
"""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
import sealane
import sealane.fs._opening
import sealane.fs._reading
import sealane.fs._transfer
import sealane.fs._writing
from faulty_proxy import Exchange, Proxy
from parts import NUMBERS, Place, Server, place_of
from store_faults import Fault, faults
from store_operations import (
    ALICE,
    ARRAY,
    FOLDERS,
    LISTS,
    READS,
    WRITES,
    Site,
    Write,
    fill,
    whole_files,
)

# A server that answers with another file can give zarr both versions of its metadata.
pytestmark = pytest.mark.filterwarnings("ignore:Both zarr.json")
SECONDS = 120
"""The longest time of an operation, also on a busy machine. Most take less than a second."""
FAULTS = tuple(faults())
FILES_OF_THEIR_OWN = {"cat", "cat_ranges", "get of a folder"}
"""Operations that read several files. Each can be an older version of itself, or another file."""
SILENT = {"no response", "a response that stalls"}
"""Faults after which the client waits until its time limit."""
ANY_LIE = Fault(lambda exchange: None, lie="claim content stored")
ALL = (*READS, *LISTS, *WRITES)
LONG_ONES = {name for name in WRITES if name.endswith("long")}
"""Operations that send more than 5 MiB, and take longer."""


@pytest.fixture(scope="module", autouse=True)
def no_filesystems_left() -> Iterator[None]:
    """Frees the filesystems of this module after its tests.

    s3fs closes the connections of one that is freed on the event loop of the thread, which could be that of
    another test. It then failed with futures of another loop.
    """
    yield
    gc.collect()


def limited(work: Callable[[], Any]) -> Any:
    """Returns the result of ``work``, or raises its exception. Fails if it takes too long."""
    found: list[tuple[bool, Any]] = []

    def run() -> None:
        try:
            found.append((True, work()))
        except BaseException as error:
            found.append((False, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert found, f"the operation has not ended after {SECONDS} seconds"
    done, value = found[0]
    if not done:
        raise value
    return value


def once(fault: Fault, number: int = 0) -> Callable[[Exchange], None]:
    """Applies a fault to one of the requests that it is for, which are counted from 0."""
    count = -1

    def change(exchange: Exchange) -> None:
        nonlocal count
        if exchange.operation in fault.operations:
            count += 1
            if count == number:
                fault.apply(exchange)

    return change


def always(fault: Fault) -> Callable[[Exchange], None]:
    def change(exchange: Exchange) -> None:
        if exchange.operation in fault.operations:
            fault.apply(exchange)

    return change


class Bench:
    """The bucket, the proxy, and the right results of the operations that read."""

    def __init__(self, place: Place, proxy: Proxy, tmp: Path) -> None:
        self.place, self.proxy, self.tmp = place, proxy, tmp
        fill(place)
        self.clients = {wait: self.client(wait) for wait in (30, 1)}
        self._results: dict[str, list[Any]] = {}
        self._requests: dict[str, list[str]] = {}

    def client(self, wait: int) -> dict[str, Any]:
        """Returns the options of a client that waits this number of seconds for a byte of the server."""
        retries = {"total_max_attempts": 2, "mode": "legacy"}
        limits = {"read_timeout": wait, "connect_timeout": 5, "retries": retries}
        options = {**self.place.target_options, "endpoint_url": self.proxy.url, "config_kwargs": limits}
        fsspec.filesystem("s3", **options).retries = 3
        return options

    def site(self, wait: int = 30, folder: str = "data") -> Site:
        options = self.clients[wait]
        s3 = fsspec.filesystem("s3", **options)
        s3.invalidate_cache()
        (tmp := self.tmp / f"{next(NUMBERS)}").mkdir()
        return Site(self.place, s3, options, tmp, folder)

    def results(self, name: str) -> list[Any]:
        """Returns the right results of an operation that reads, for all folders."""
        work = {**READS, **LISTS}[name]
        if name not in self._results:
            self._results[name] = [work(self.site(folder=folder)) for folder in FOLDERS]
        return self._results[name]

    def requests(self, name: str) -> list[str]:
        """Returns the requests of an operation without faults."""
        if name not in self._requests:
            site = self.site(folder=f"w{next(NUMBERS)}" if name in WRITES else "data")
            run: Callable[[Site], Any] = {**READS, **LISTS}.get(name) or WRITES[name].run
            if name in WRITES:
                WRITES[name].prepare(site)
            self.proxy.seen.clear()
            run(site)
            self._requests[name] = list(self.proxy.seen)
        return self._requests[name]


@pytest.fixture(scope="module")
def bench(request: Any, server: Server, tmp_path_factory: Any) -> Iterator[Bench]:
    proxy = Proxy(server.url)
    with pytest.MonkeyPatch.context() as patch:
        # Small files take the paths of large ones.
        patch.setattr(sealane.fs._opening, "SMALL", 60_000)
        patch.setattr(sealane.fs._opening, "TAIL", 20_000)
        patch.setattr(sealane.fs._reading, "MAX_BLOCK", 1 << 16)
        patch.setattr(sealane.fs._transfer, "STEP", 1 << 15)
        patch.setattr(sealane.fs._transfer, "FIRST", 50_000)
        patch.setattr("sealane.fs._filesystem.WHOLE", 1 << 20)
        patch.setattr(sealane.fs._writing, "IN_MEMORY", 1 << 20)
        patch.setattr(sealane.fs._writing, "PART", 5 << 20)
        patch.setattr("botocore.retryhandler.delay_exponential", lambda *_, **__: 0.02)
        patch.setenv("ALICE", ALICE.to_text())
        yield Bench(place_of("s3", request), proxy, tmp_path_factory.mktemp("faults"))
    proxy.close()


def acceptable(error: Exception, names: list[str]) -> None:
    """Checks that an error is one of sealane or of the operating system, and names the file."""
    if isinstance(error, AssertionError):
        raise error
    if isinstance(error, ValueError) and "outside the destination" in str(error):
        return  # fsspec refuses a name that leaves the local folder.
    assert isinstance(error, sealane.SealaneError | OSError | NotImplementedError), repr(error)
    text = f"{error} {getattr(error, 'filename', '')}"
    assert any(name in text for name in names), f"the error names no path: {error!r}"


def check_read(bench: Bench, name: str, change: Callable[[Exchange], None], fault: Fault, wait: int) -> None:
    work = {**READS, **LISTS}[name]
    right, *others = bench.results(name)
    site = bench.site(wait)
    with bench.proxy.changing(change):
        try:
            found = limited(lambda: work(site))
        except Exception as error:
            # A listing that lies can name files of the bucket that the caller did not ask for.
            acceptable(error, [f"{site.place.root}/" if fault.lies else f"{site.place.root}/data"])
        else:
            check_result(name, found, right, others, fault)
    if name in LISTS:
        site.s3.invalidate_cache()
    assert limited(lambda: work(site)) == right, "the second call is not right"


def check_result(name: str, found: Any, right: Any, others: list[Any], fault: Fault) -> None:
    if found == right or (name in LISTS and fault.lies):
        return
    if name == "zarr" and fault.lies:
        # Chunks that do not exist are filled, and each chunk is a file of its own, or another file.
        assert set(found) <= {7, *(int(n) + 100 + at for at in range(len(FOLDERS)) for n in ARRAY.flat)}
    elif isinstance(found, dict) and name in FILES_OF_THEIR_OWN and fault.lies:
        known = [*whole_files(), *(data for one in (right, *others) for data in one.values())]
        assert all(data in known for data in found.values())
        assert "claim" in fault.lie or found.keys() == right.keys()
    else:
        assert "content" in fault.lie, f"{name}: a wrong result"
        assert found in others, f"{name}: a mixture"


def check_write(bench: Bench, name: str, change: Callable[[Exchange], None], fault: Fault, wait: int) -> None:
    operation = WRITES[name]
    site = bench.site(wait, f"w{next(NUMBERS)}")
    operation.prepare(site)
    failed = False
    with bench.proxy.changing(change):
        try:
            limited(lambda: operation.run(site))
        except Exception as error:
            acceptable(error, [f"{site.place.root}/{site.folder}"])
            failed = True
    if "stored" in fault.lie:
        state = damaged(operation, site)
    else:
        state = operation.state(site)
        assert failed or state == "after", "the operation has succeeded, and the file is the old one"
    heal(operation, site, state)
    stored = {path.rpartition("/")[2] for path in site.place.target.find(site.path(""))}
    assert stored <= {"file", "source"}


def damaged(operation: Write, site: Site) -> str:
    """Checks that data which the server has damaged is not read."""
    with pytest.MonkeyPatch.context():
        try:
            return operation.state(site)
        except sealane.SealaneError:
            if not operation.recipients:
                with pytest.raises(sealane.SealaneError, match="file"):
                    site.fs.cat_file(site.path("file"))
            return "damaged"


def heal(operation: Write, site: Site, state: str) -> None:
    site.s3.invalidate_cache()
    if operation.recipients and state == "damaged":
        return  # Nothing is left of it. The next write replaces it.
    try:
        limited(lambda: operation.run(site))
    except (FileExistsError, FileNotFoundError, sealane.NoMatchingKeyError):
        assert state != "before"
    site.place.target.invalidate_cache()
    if state != "damaged" or operation.exists:
        assert operation.state(site) == "after"


def check(bench: Bench, name: str, change: Callable[[Exchange], None], fault: Fault, wait: int = 30) -> None:
    (check_write if name in WRITES else check_read)(bench, name, change, fault, wait)


def concerned(bench: Bench, fault: Fault) -> list[str]:
    """Returns the operations with a request that the fault changes."""
    return [name for name in ALL if set(fault.operations).intersection(bench.requests(name))]


@pytest.mark.parametrize("name", FAULTS)
def test_faults_and_operations(bench: Bench, name: str) -> None:
    """Each fault in some of the operations, in one request or in all of them."""
    chance = random.Random(name)
    fault = faults()[name]
    few = 1 if name in SILENT else 2
    found = [one for one in concerned(bench, fault) if one not in LONG_ONES]
    for operation in chance.sample(found, min(few, len(found))):
        fault = faults()[name]
        often = name not in SILENT and chance.random() < 0.3
        change = always(fault) if often else once(fault, chance.choice([0, 0, 1, 2]))
        check(bench, operation, change, fault, 1 if name in SILENT else 30)


@pytest.mark.slow
@pytest.mark.parametrize("operation", ALL)
def test_all_faults_in_an_operation(bench: Bench, operation: str) -> None:
    """Each fault in each request of an operation, and in all of them."""
    failures: list[str] = []
    for name in FAULTS:
        operations = faults()[name].operations
        concerned = [one for one in bench.requests(operation) if one in operations]
        wait, every = (1, []) if name in SILENT else (30, [None] if concerned else [])
        for number in [*range(min(4, len(concerned))), *every]:
            fault = faults()[name]
            change = always(fault) if number is None else once(fault, number)
            try:
                check(bench, operation, change, fault, wait)
            except Exception as error:
                failures.append(f"{name}, request {number}: {error!r}")
    assert not failures, "\n".join(failures)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_faults(bench: Bench, seed: int) -> None:
    """Many faults in the requests of one operation, in a random order."""
    chance = random.Random(seed)
    for _ in range(10):
        operation = chance.choice([one for one in ALL if one not in LONG_ONES])
        table = {name: fault for name, fault in faults().items() if name not in SILENT}
        rate = chance.choice([0.2, 0.5, 0.8])

        def change(exchange: Exchange, table: Any = table, rate: float = rate) -> None:
            possible = [fault for fault in table.values() if exchange.operation in fault.operations]
            if possible and chance.random() < rate:
                chance.choice(possible).apply(exchange)

        # Any lie may be among them.
        check(bench, operation, change, ANY_LIE)
