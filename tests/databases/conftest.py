"""The databases of these tests: SQLite in memory or a file, and a PostgreSQL server on a socket."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from programs import program
from schema import Base


@pytest.fixture(scope="session")
def postgres_folder() -> Iterator[Path]:
    """The folder with the socket of a server that ends with the tests. It refuses to run as root."""
    initdb, postgres = program("initdb"), program("postgres")
    # Not below the tests' own folder, which other users cannot enter.
    folder = Path(tempfile.mkdtemp(prefix="sealane-pg-", dir="/tmp"))
    nobody = pwd.getpwnam("nobody")
    user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
    if user:
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    common: dict[str, object] = {"cwd": folder, "env": environment, **user}
    log = Path(folder, "log").open("wb")  # noqa: SIM115 - open as long as the server
    try:
        command = [initdb, "--auth=trust", "--username=test", "--no-sync", "--encoding=UTF8", "data"]
        subprocess.run(command, check=True, stdout=log, stderr=log, **common)  # type: ignore[call-overload]
        command = [postgres, "-D", "data", "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"]
        server = subprocess.Popen(command, stdout=log, stderr=log, **common)  # type: ignore[call-overload]
        try:
            import psycopg

            for _ in range(600):
                try:
                    psycopg.connect(f"host={folder} user=test dbname=postgres").close()
                    break
                except psycopg.OperationalError:
                    assert server.poll() is None, Path(folder, "log").read_text()
                    time.sleep(0.1)
            yield folder
        finally:
            server.terminate()
            server.wait(60)
    finally:
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tables() -> Iterator[None]:
    """The tables of Django's models."""
    import django_app

    django_app.create_tables()
    yield
    django_app.delete_tables()


EMPTY = """
select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid();
drop schema public cascade;
create schema public
"""


@pytest.fixture
def postgres(postgres_folder: Path) -> str:
    """The name of a database, emptied, because a new one takes longer; `postgres_folder` has its socket."""
    import psycopg

    with psycopg.connect(f"host={postgres_folder} user=test dbname=postgres", autocommit=True) as connection:
        connection.execute(EMPTY)
    return "postgres"


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest) -> Iterator[sa.Engine]:
    if request.param == "sqlite":
        engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    else:
        name = request.getfixturevalue("postgres")
        folder = request.getfixturevalue("postgres_folder")
        engine = sa.create_engine(f"postgresql+psycopg://test@/{name}?host={folder}")
    Base.metadata.create_all(engine)
    yield engine
    engine.dispose()
