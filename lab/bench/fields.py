"""Encrypted fields of databases: selecting rows, beside plain columns and sqlalchemy-utils.

python lab/bench/fields.py [--rows N] [--rounds N] [--skip-utils]

Each row has a number and one text of 40 characters, in a table of SQLite in memory. The kinds
alternate; the times are medians of the rounds, the ratios are to plain columns in the same round.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import django
import sqlalchemy as sa
from django.conf import settings
from sealane.keys import Keyring
from sealane.sqlalchemy import Encrypted, reencrypt
from sqlalchemy import orm

RING, INDEX = Keyring.generate("aes-256-gcm"), Keyring.generate("aes-256-siv")
GOAL = 2.0


def sqlalchemy_tables(utils: bool) -> dict[str, Any]:
    base: Any = orm.declarative_base()
    types: dict[str, Any] = {
        "plain": sa.Text,
        "encrypted": Encrypted(sa.Text, keyring=RING),
        "bound to its row": Encrypted(sa.Text, keyring=RING, row=["id"]),
        "searchable": Encrypted(sa.Text, keyring=INDEX, searchable=True),
    }
    if utils:
        from sqlalchemy_utils import StringEncryptedType
        from sqlalchemy_utils.types.encrypted.encrypted_type import AesGcmEngine, FernetEngine

        types["sqlalchemy-utils, Fernet"] = StringEncryptedType(sa.Text, "key", FernetEngine)
        types["sqlalchemy-utils, AES-GCM"] = StringEncryptedType(sa.Text, "key", AesGcmEngine)
    found = {}
    for number, (name, type_) in enumerate(types.items()):
        columns = {"id": sa.Column(sa.Integer, primary_key=True), "value": sa.Column(type_)}
        found[name] = type(f"T{number}", (base,), {"__tablename__": f"t{number}", **columns})
    return found


def django_models() -> dict[str, Any]:
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        SEALANE_KEYRING=RING,
        SEALANE_SEARCH_KEYRING=INDEX,
    )
    django.setup()
    from django.db import connection, models
    from sealane.django import EncryptedTextField

    fields: dict[str, Any] = {
        "plain": models.TextField(),
        "encrypted": EncryptedTextField(),
        "bound to its row": EncryptedTextField(row=["number"]),
        "searchable": EncryptedTextField(searchable=True),
    }
    found = {}
    for number, (name, field) in enumerate(fields.items()):
        meta = type("Meta", (), {"app_label": "lab"})
        columns = {"number": models.IntegerField(), "value": field, "Meta": meta, "__module__": __name__}
        found[name] = type(f"M{number}", (models.Model,), columns)
        with connection.schema_editor() as editor:
            editor.create_model(found[name])
    return found


def measure(title: str, calls: dict[str, Callable[[], int]], rows: int, rounds: int) -> None:
    """Prints the median of each call, and of its ratio to the first one in the same round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        names = list(calls)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            start = time.perf_counter()
            assert calls[name]() == rows
            if number:
                times[name].append(time.perf_counter() - start)
    print(f"\n## {title}\n")
    plain = times["plain"]
    for name, some in times.items():
        ratios = sorted(one / other for one, other in zip(some, plain, strict=True))
        middle = statistics.median(ratios)
        ours = "" if name == "plain" or "utils" in name else f"<= {GOAL}: {'OK' if middle <= GOAL else 'NO'}"
        spread = f"{ratios[0]:.2f}-{ratios[-1]:.2f}"
        print(f"{name:28} {statistics.median(some) * 1e3:8.1f} ms {middle:7.2f} {spread:>12}  {ours}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--skip-utils", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    texts = [f"{number:08} {'x' * 31}" for number in range(options.rows)]

    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    tables = sqlalchemy_tables(not options.skip_utils)
    next(iter(tables.values())).metadata.create_all(engine)
    with orm.Session(engine) as session:
        for table in tables.values():
            session.add_all([table(id=number, value=text) for number, text in enumerate(texts)])
        session.commit()

    def objects(table: Any) -> int:
        with orm.Session(engine) as session:
            return sum(len(each.value) == 40 for each in session.scalars(sa.select(table)))

    def columns(table: Any) -> int:
        with engine.connect() as connection:
            return sum(len(row[1]) == 40 for row in connection.execute(sa.select(table.id, table.value)))

    many = [options.rows, options.rounds]
    measure("SQLAlchemy, objects", {name: lambda t=t: objects(t) for name, t in tables.items()}, *many)
    rows = {name: lambda t=t: columns(t) for name, t in tables.items() if name != "bound to its row"}
    measure("SQLAlchemy, rows of columns", rows, *many)

    models = django_models()
    for model in models.values():
        model.objects.bulk_create([model(number=number, value=text) for number, text in enumerate(texts)])

    def instances(model: Any) -> int:
        return sum(len(each.value) == 40 for each in model.objects.all())

    measure("Django, objects", {name: lambda m=m: instances(m) for name, m in models.items()}, *many)

    RING.rotate()
    start = time.perf_counter()
    assert reencrypt(engine, tables["encrypted"]) == options.rows
    print(f"\nreencrypt: {time.perf_counter() - start:.2f} s for {options.rows} rows")


if __name__ == "__main__":
    main()
