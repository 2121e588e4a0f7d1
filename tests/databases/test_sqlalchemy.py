"""Encrypted columns of SQLAlchemy in SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import decimal
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sealane
import sqlalchemy as sa
from schema import INDEX, RING, SECRET, Base, Color, Document, User, load, raw, store
from sealane.exceptions import EncryptedFieldError
from sealane.keys import Keyring
from sealane.sqlalchemy import Encrypted, Sealed, reencrypt
from sqlalchemy import orm
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine


def test_values_of_objects(engine: sa.Engine) -> None:
    one = User(
        email="a@example.com", notes=SECRET, name="", data={"a": [1, None]}, counts={"x": 1}, comment="c"
    )
    store(engine, one, User(email="b@example.com"))
    assert (one.notes, one.comment) == (SECRET, "c")
    first, second = load(engine)
    assert (first.email, first.notes, first.name) == ("a@example.com", SECRET, "")
    assert (first.data, first.counts, first.comment) == ({"a": [1, None]}, {"x": 1}, "c")
    assert (second.notes, second.name, second.data, second.counts) == (None,) * 4
    assert raw(engine, "select count(*) from users where notes is null and name is null") == [(1,)]
    stored = raw(engine, "select notes, name, email from users order by id")[0]
    assert not any(SECRET.encode() in bytes(value) for value in stored)


def test_changes_of_objects(engine: sa.Engine) -> None:
    store(engine, User(email="a@example.com", notes="old", data={"a": 1}))
    with orm.Session(engine) as session:
        user = session.scalars(sa.select(User)).one()
        user.notes, user.data["b"] = "new", 2  # type: ignore[index]
        session.commit()
        assert (user.notes, user.data) == ("new", {"a": 1, "b": 2})
        session.refresh(user, ["notes"])
        user.notes = None
        session.flush()
        assert user.data == {"a": 1, "b": 2}
        session.rollback()
        assert user.notes == "new"
        user.id = 70
        session.commit()
    (user,) = load(engine)
    assert (user.id, user.notes, user.data) == (70, "new", {"a": 1, "b": 2})


def test_a_new_identity_seals_again_what_is_not_loaded(engine: sa.Engine) -> None:
    store(engine, User(email="a@example.com", notes="old", comment="c"))
    with orm.Session(engine) as session:
        user = session.scalars(sa.select(User).options(orm.load_only(User.id))).one()
        user.id = 70
        session.commit()
    (user,) = load(engine)
    assert (user.id, user.notes, user.comment) == (70, "old", "c")


def test_defaults_are_known_before_the_row_is_stored(engine: sa.Engine) -> None:
    document = Document()
    store(engine, document)
    (found,) = load(engine, Document)
    assert (found.id, found.tenant, found.body) == (document.id, "first", b"empty")


def test_deferred_and_joined(engine: sa.Engine) -> None:
    store(engine, User(email="a@example.com", notes=SECRET))
    with orm.Session(engine) as session:
        user = session.scalars(sa.select(User).options(orm.defer(User.notes))).one()
        assert "notes" not in user.__dict__
        assert user.notes == SECRET
        other = orm.aliased(User)
        rows = session.execute(sa.select(User, other).join(other, User.id == other.id)).all()
        assert rows[0][1].notes == SECRET
    with orm.Session(engine) as session:
        only = sa.select(Document).options(orm.load_only(Document.body))
        store(engine, Document(body=b"x"))
        with pytest.raises(
            ValueError, match=r"documents.body is bound to tenant, id: load these columns too"
        ):
            session.scalars(only).all()


def test_a_failed_write_leaves_the_objects_as_they_were(engine: sa.Engine) -> None:
    store(engine, User(email="a@example.com"))
    again = User(email="a@example.com", notes=SECRET)
    with orm.Session(engine) as session:
        session.add(again)
        with pytest.raises(sa.exc.IntegrityError) as caught:
            session.flush()
        assert SECRET not in str(caught.value)
        session.rollback()
        assert again.notes == SECRET
        again.email = "b@example.com"
        session.add(again)
        session.commit()
        assert again.notes == SECRET


# claim: field-row
@pytest.mark.parametrize("column", ["notes", "comment", "data"])
def test_a_value_of_another_row_is_refused(engine: sa.Engine, column: str) -> None:
    store(
        engine,
        *(User(email=f"{one}@example.com", notes=one, comment=one, data={one: one}) for one in "ab"),
    )
    raw(engine, f"update users set {column} = (select {column} from users where id = 1) where id = 2")
    with pytest.raises(EncryptedFieldError, match=rf"^users.{column}, primary key 2: ") as caught:
        load(engine)
    error = caught.value
    assert (error.table, error.column, error.primary_key) == ("users", column, 2)


# claim: field-place
def test_a_value_of_another_column_or_table_is_refused(engine: sa.Engine) -> None:
    store(engine, User(email="a@example.com", notes=SECRET, comment="c", name="n"))
    raw(engine, "update users set notes = comment")
    with pytest.raises(EncryptedFieldError, match=r"users.notes, primary key 1"):
        load(engine)
    table = sa.Table("other", sa.MetaData(), sa.Column("name", Encrypted(sa.Text, keyring=RING)))
    table.create(engine)
    raw(engine, "insert into other select name from users")
    with engine.connect() as connection, pytest.raises(EncryptedFieldError, match=r"^other.name: "):
        connection.execute(sa.select(table)).all()
    with engine.begin() as connection:
        connection.execute(table.delete())
        connection.execute(table.insert().values(name=SECRET))
        assert connection.scalar(sa.select(table.c.name)) == SECRET


# claim: field-private
@pytest.mark.parametrize("stored", [b"", b"x", b"plaintext " * 9, SECRET.encode()])
def test_what_does_not_open_is_not_shown(engine: sa.Engine, stored: bytes) -> None:
    store(engine, User(email="a@example.com", name="n", notes="n"))
    raw(engine, "update users set name = :value", value=stored)
    with pytest.raises(EncryptedFieldError, match=r"^users.name: the value does not open") as caught:
        load(engine)
    raw(engine, "update users set name = null, notes = :value", value=stored)
    with pytest.raises(EncryptedFieldError, match=r"^users.notes, primary key 1: ") as again:
        load(engine)
    for error in caught.value, again.value:
        assert "plaintext" not in repr(error)
        assert SECRET not in repr(error)
        assert error.__cause__ is error.__context__ is None


# claim: field-names
def test_what_an_error_names(engine: sa.Engine) -> None:
    store(engine, User(email="a@x", name="n", notes="n"), User(email="b@x", name="n", notes="n"))
    user: Any = User
    mark = b"\x01" + RING.primary.to_bytes(4, "big")
    for column, key in ("name", None), ("notes", 2):
        raw(engine, f"update users set {column} = :value where id = 2", value=mark + b"changed")
        for query in sa.select(user), sa.select(user).options(orm.load_only(getattr(user, column))):
            with orm.Session(engine) as session, pytest.raises(EncryptedFieldError) as caught:
                session.scalars(query.where(user.id == 2)).all()
            error = caught.value
            assert (error.table, error.column, error.primary_key) == ("users", column, key)
        with pytest.raises(EncryptedFieldError) as caught:
            reencrypt(engine, user)
        assert (caught.value.column, caught.value.primary_key) == (column, 2)
        raw(engine, f"update users set {column} = null")


def test_plaintext_in_a_column_without_types() -> None:
    """SQLite stores any type in any column."""
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    Base.metadata.create_all(engine)
    store(engine, User(email="a@example.com", name="n"))
    raw(engine, "update users set name = :value", value=SECRET)
    with pytest.raises(EncryptedFieldError) as caught:
        load(engine)
    assert SECRET not in str(caught.value)
    engine.dispose()


def statements(session: orm.Session) -> dict[str, Callable[[], object]]:
    users: Any = User.__table__
    return {
        "insert": lambda: session.execute(users.insert().values(email="z", notes=SECRET)),
        "several": lambda: session.execute(sa.insert(User), [{"email": "z", "notes": SECRET}]),
        "update": lambda: session.execute(sa.update(User).values(notes=SECRET)),
        "bulk": lambda: session.bulk_save_objects([User(email="z", notes=SECRET)]),
    }


# claim: field-private
@pytest.mark.parametrize("name", ["insert", "several", "update", "bulk"])
def test_a_statement_without_an_object_is_refused(engine: sa.Engine, name: str) -> None:
    """Also where the row would be known to a reader: what is bound is never stored unbound."""
    store(engine, User(email="a@example.com"))
    with orm.Session(engine) as session:
        with pytest.raises(TypeError, match=r"users.notes is bound to its row: add an object") as caught:
            statements(session)[name]()
        assert SECRET not in str(caught.value)
    assert raw(engine, "select notes from users") == [(None,)]


def test_statements_with_the_row(engine: sa.Engine) -> None:
    users: Any = User.__table__
    value = users.c.notes.type.for_row(SECRET, id=7)
    assert SECRET not in repr(value)
    with engine.begin() as connection:
        connection.execute(users.insert().values(id=7, email="a@example.com", notes=value))
        (found,) = connection.execute(sa.select(users.c.notes)).scalars()
    assert isinstance(found, Sealed)
    assert repr(found) == "<a sealed value of users.notes>"
    assert found.open(id=7) == SECRET
    assert load(engine)[0].notes == SECRET
    with pytest.raises(EncryptedFieldError):
        found.open(id=8)
    for row in ({}, {"ID": 7}, {"id": 7, "more": 1}):
        with pytest.raises(TypeError, match="expected the columns id"):
            found.open(**row)


# claim: field-private
@pytest.mark.parametrize("value", [5, SECRET.encode(), [SECRET], object(), "\ud800" + SECRET])
def test_a_value_of_another_type_is_refused_and_not_shown(engine: sa.Engine, value: object) -> None:
    for name in "name", "notes", "email":
        with orm.Session(engine) as session:
            session.add(User(**{"email": "a@example.com"} | {name: value}))
            with pytest.raises(
                TypeError, match=rf"^users.{name}: could not encode a value of type "
            ) as caught:
                session.flush()
        assert SECRET not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert raw(engine, "select count(*) from users") == [(0,)]


def test_searching(engine: sa.Engine) -> None:
    store(engine, *(User(email=f"{one}@example.com", notes=one) for one in "abc"))
    with orm.Session(engine) as session:

        def found(*where: Any) -> list[str]:
            return sorted(session.scalars(sa.select(User.email).where(*where)))

        assert found(User.email == "a@example.com") == ["a@example.com"]
        assert found(User.email == "nobody") == []
        assert found(User.email != "a@example.com") == ["b@example.com", "c@example.com"]
        assert found(User.email.in_(["a@example.com", "b@example.com"])) == ["a@example.com", "b@example.com"]
        assert found(User.email.in_([])) == []
        assert found(User.email.not_in(["a@example.com"])) == ["b@example.com", "c@example.com"]
        assert len(found(User.name.is_(None), User.notes != None)) == 3  # noqa: E711
        assert session.scalars(sa.select(User).filter_by(email="b@example.com")).one().notes == "b"
        INDEX.rotate()
        store(engine, User(email="d@example.com"))
        assert found(User.email.in_(["a@example.com", "d@example.com"])) == ["a@example.com", "d@example.com"]
        assert reencrypt(session.connection(), User) == 3
        assert found(User.email == "a@example.com") == ["a@example.com"]


def test_values_bound_to_a_column_that_was_not_loaded(engine: sa.Engine) -> None:
    store(engine, Document(body=b"x"))
    with orm.Session(engine) as session:
        document = session.scalars(sa.select(Document)).one()
        session.expire(document)
        document.tenant = "second"
        session.commit()
        assert document.body == b"x"


def test_joined_tables_with_numbers_of_the_database(engine: sa.Engine) -> None:
    class Own(orm.DeclarativeBase):
        pass

    class Person(Own):
        __tablename__ = "people"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        kind: orm.Mapped[str]
        note: orm.Mapped[str] = orm.mapped_column(Encrypted(sa.Text, keyring=RING, row=["id"]))
        __mapper_args__ = {"polymorphic_on": "kind", "polymorphic_identity": "person"}  # noqa: RUF012

    class Employee(Person):
        __tablename__ = "employees"
        id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("people.id"), primary_key=True)
        salary: orm.Mapped[int] = orm.mapped_column(Encrypted(sa.Integer, keyring=RING, row=["id"]))
        __mapper_args__ = {"polymorphic_identity": "employee"}  # noqa: RUF012

    Own.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add_all([Employee(note=str(salary), salary=salary) for salary in range(3)])
        session.commit()
        assert [(each.note, each.salary) for each in session.scalars(sa.select(Employee))] == [
            (str(salary), salary) for salary in range(3)
        ]
    RING.rotate()
    assert reencrypt(engine, Employee) == 6
    Own.metadata.drop_all(engine)


def test_rows_of_columns(engine: sa.Engine) -> None:
    store(engine, *(User(email=f"{one}@x", name=one) for one in "ab"))
    for _ in range(2):  # the second time, SQLAlchemy takes the statement from its cache
        with engine.connect() as connection:
            found = connection.execute(sa.select(User.id, User.name, User.email, User.notes)).all()
        assert [tuple(row) for row in found] == [(1, "a", "a@x", None), (2, "b", "b@x", None)]


def test_rotation_with_progress_and_resumption(engine: sa.Engine) -> None:
    store(engine, *(User(email=f"{number}@x", notes=str(number), name="n") for number in range(25)))
    store(engine, User(email="none"))
    old = RING.primary
    new = RING.rotate()
    assert [user.notes for user in load(engine)[:25]] == [str(number) for number in range(25)]
    calls: list[tuple[int, int | None]] = []

    def stop(done: int, total: int | None) -> None:
        calls.append((done, total))
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reencrypt(engine, Base.metadata.tables["users"], batch=10, progress=stop)
    calls.clear()
    left = reencrypt(engine, User, batch=10, progress=lambda done, total: calls.append((done, total)))
    assert 0 < left <= 50
    assert calls[-1] == (26 * 6, 26 * 6)
    assert reencrypt(engine, User) == 0
    RING.disable(old)
    assert [user.notes for user in load(engine)[:25]] == [str(number) for number in range(25)]
    prefix = b"\x01" + new.to_bytes(4, "big")
    assert all(bytes(notes)[:5] == prefix for (notes,) in raw(engine, "select notes from users") if notes)
    RING.enable(old)


def test_a_disabled_key_opens_nothing(engine: sa.Engine) -> None:
    store(engine, User(email="a@example.com", name="n"))
    old = RING.primary
    RING.rotate()
    RING.disable(old)
    try:
        with pytest.raises(EncryptedFieldError):
            load(engine)
    finally:
        RING.enable(old)
    assert load(engine)[0].name == "n"


# claim: field-row
def test_reencryption_does_not_launder_a_moved_value(engine: sa.Engine) -> None:
    store(engine, *(User(email=f"{one}@example.com", notes=one) for one in "ab"))
    raw(engine, "update users set notes = (select notes from users where id = 1) where id = 2")
    before = raw(engine, "select id, notes from users order by id")
    RING.rotate()
    with pytest.raises(EncryptedFieldError, match=r"^users.notes, primary key 2: "):
        reencrypt(engine, User)
    assert raw(engine, "select id, notes from users order by id") == before


def test_reencryption_of_composite_keys_and_of_what_it_cannot_do(engine: sa.Engine) -> None:
    raw_ring = Keyring.generate("xaes-256-gcm", prefix="raw")
    data = sa.MetaData()
    pairs = sa.Table(
        "pairs",
        data,
        sa.Column("a", sa.String(5), primary_key=True),
        sa.Column("b", sa.Integer, primary_key=True),
        sa.Column("value", Encrypted(sa.Text, keyring=RING, row=["b", "a"])),
    )
    plain = sa.Table("plain", data, sa.Column("id", sa.Integer, primary_key=True))
    unmarked = sa.Table(
        "unmarked",
        data,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("value", Encrypted(sa.Text, keyring=raw_ring)),
    )
    data.create_all(engine)
    seal = pairs.c.value.type.for_row
    rows = [{"a": a, "b": b, "value": seal(f"{a}{b}", a=a, b=b)} for a in "xyz" for b in range(3)]
    with engine.begin() as connection:
        connection.execute(pairs.insert(), rows)
    RING.rotate()
    assert reencrypt(engine, pairs, batch=2) == 9
    with engine.connect() as connection:
        found = connection.execute(sa.select(pairs)).all()
    assert all(value.open(a=a, b=b) == f"{a}{b}" for a, b, value in found)
    with pytest.raises(ValueError, match="plain: expected encrypted columns"):
        reencrypt(engine, plain)
    with pytest.raises(ValueError, match="prefix 'raw'"):
        reencrypt(engine, unmarked)
    data.drop_all(engine)


VALUES: list[tuple[Any, list[object]]] = [
    (sa.Text, ["", "é\0"]),
    (sa.LargeBinary, [b"", b"\0"]),
    (sa.JSON, [[], {"a": None}, "x", 0, False]),
    (sa.Integer, [0, -5, 1 << 70]),
    (sa.Float, [0.1, -1e300]),
    (sa.Numeric, [decimal.Decimal("1.10"), decimal.Decimal("-1E+5")]),
    (sa.Boolean, [True, False]),
    (sa.Date, [datetime.date(2026, 2, 28)]),
    (sa.DateTime(timezone=True), [datetime.datetime(2026, 1, 1, 1, 1, 1, 5, datetime.UTC)]),
    (sa.Uuid, [uuid.UUID(int=5)]),
    (sa.Enum(Color), [Color.blue]),
]


@pytest.mark.parametrize(("type_", "values"), VALUES, ids=lambda value: str(value)[:30])
def test_types(engine: sa.Engine, type_: Any, values: list[object]) -> None:
    column: sa.Column[Any] = sa.Column("value", Encrypted(type_, keyring=RING))
    table = sa.Table("values_", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), column)
    table.create(engine)
    with engine.begin() as connection:
        connection.execute(table.insert(), [{"value": value} for value in values])
        found = list(connection.scalars(sa.select(column).order_by(table.c.id)))
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]
    table.drop(engine)


def test_null_of_json(engine: sa.Engine) -> None:
    column: sa.Column[Any] = sa.Column("value", Encrypted(sa.JSON, keyring=RING))
    table = sa.Table("values_", sa.MetaData(), column)
    table.create(engine)
    with engine.begin() as connection:
        connection.execute(table.insert().values(value=sa.JSON.NULL))
        assert connection.scalars(sa.select(column)).all() == [None]
        assert connection.scalar(sa.select(sa.func.count()).where(column.is_(None))) == 0
    table.drop(engine)


def test_a_type_with_a_codec(engine: sa.Engine) -> None:
    codec = (lambda value: str(value).encode(), lambda data: complex(data.decode()))
    type_: Any = Encrypted(sa.PickleType, keyring=RING, codec=codec)
    table = sa.Table("values_", sa.MetaData(), sa.Column("value", type_))
    table.create(engine)
    with engine.begin() as connection:
        connection.execute(table.insert().values(value=1 + 2j))
        assert connection.scalar(sa.select(table.c.value)) == 1 + 2j
    table.drop(engine)


def test_a_shared_type_knows_each_of_its_columns(engine: sa.Engine) -> None:
    """SQLAlchemy caches statements by their types, and must not take one for another."""
    secret = Encrypted(sa.Text, keyring=RING)
    table = sa.Table("two", sa.MetaData(), sa.Column("a", secret), sa.Column("b", secret))
    table.create(engine)
    with engine.begin() as connection:
        connection.execute(table.insert().values(a="a"))
        connection.execute(table.insert().values(b="b"))
        assert connection.execute(sa.select(table.c.a, table.c.b)).all() == [("a", None), (None, "b")]
        for column in table.c:
            copied = sa.insert(table).values({column: sa.literal("c", column.type)})
            connection.execute(copied)
        assert connection.execute(sa.select(table.c.b)).scalars().all() == [None, "b", None, "c"]
    table.drop(engine)


def test_a_renamed_column(engine: sa.Engine) -> None:
    def table(name: str, **options: Any) -> sa.Table:
        return sa.Table("things", sa.MetaData(), sa.Column(name, Encrypted(sa.Text, keyring=RING, **options)))

    old = table("old")
    old.create(engine)
    with engine.begin() as connection:
        connection.execute(old.insert().values(old=SECRET))
    raw(engine, "alter table things rename column old to new")
    with engine.connect() as connection:
        with pytest.raises(EncryptedFieldError, match=r"things\.new"):
            connection.execute(sa.select(table("new"))).all()
        assert connection.scalar(sa.select(table("new", renamed_from=("things", "old")))) == SECRET
    old.drop(engine)


def test_the_associated_data_is_as_documented(engine: sa.Engine) -> None:
    """Other programs can read the column with the keyring and docs/decisions/031-database-fields.md."""
    store(engine, User(email="a@example.com", notes=SECRET))
    ((stored,),) = raw(engine, "select notes from users")
    parts = [b"users", b"notes", b"1"]
    aad = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    assert sealane.Aead(keyring=RING).open(bytes(stored), aad) == SECRET.encode()


def test_keyrings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RING.save(tmp_path / "ring.json")
    monkeypatch.setenv("FIELDS", RING.to_json())
    key = sealane.keys.generate("aes-256")
    key.save(tmp_path / "key.jwk")
    for keyring in (f"file:{tmp_path}/ring.json", "env:FIELDS", lambda: RING):
        column: sa.Column[Any] = sa.Column("a", Encrypted(sa.Text, keyring=keyring))
        sa.Table("t", sa.MetaData(), column)
        assert column.type.keyring.open(column.type.keyring.seal("x")) == "x"  # type: ignore[attr-defined]
        assert "FIELDS" not in repr(column.type)
    column = sa.Column("a", Encrypted(sa.Text, keyring=f"file:{tmp_path}/key.jwk"))
    sa.Table("t", sa.MetaData(), column)
    with pytest.raises(TypeError, match="expected a Keyring, found Key"):
        column.type.keyring.seal("x")  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="expected a Keyring, a key reference"):
        Encrypted(sa.Text, keyring=key)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected a keyring of AEAD keys"):
        Encrypted(sa.Text, keyring=INDEX)
    with pytest.raises(ValueError, match="expected a keyring of aes-256-siv keys"):
        Encrypted(sa.Text, keyring=RING, searchable=True)


def test_invalid_arguments() -> None:
    with pytest.raises(TypeError, match="pass \\['id'\\]"):
        Encrypted(sa.Text, keyring=RING, row="id")
    with pytest.raises(ValueError, match="equal values would differ"):
        Encrypted(sa.Text, keyring=INDEX, searchable=True, row=["id"])
    with pytest.raises(ValueError, match="pass codec="):
        Encrypted(sa.Interval, keyring=RING)
    for option in "unique", "index", "primary_key":
        with pytest.raises(ValueError, match="pass searchable=True"):
            sa.Column("a", Encrypted(sa.Text, keyring=RING), **{option: True})  # type: ignore[arg-type]
    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection, pytest.raises(ValueError, match="needs the column of a table"):
        connection.execute(sa.select(sa.literal("x", Encrypted(sa.Text, keyring=RING))))
    engine.dispose()


def test_a_row_of_other_types_or_without_columns(engine: sa.Engine) -> None:
    class Own(orm.DeclarativeBase):
        pass

    class Dated(Own):
        __tablename__ = "dated"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        day: orm.Mapped[datetime.date]
        text: orm.Mapped[str | None] = orm.mapped_column(Encrypted(sa.Text, keyring=RING, row=["day"]))

    Own.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add(Dated(day=datetime.date(2026, 1, 1), text="x"))
        with pytest.raises(TypeError, match="values are bound to columns of int, str, bytes and UUID"):
            session.flush()
    Own.metadata.drop_all(engine)

    class Wrong(orm.DeclarativeBase):
        pass

    class Missing(Wrong):
        __tablename__ = "missing"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        text: orm.Mapped[str | None] = orm.mapped_column(Encrypted(sa.Text, keyring=RING, row=["ID"]))

    with pytest.raises(ValueError, match=r"missing.text: there is no column 'ID'"):
        Wrong.registry.configure()
    Wrong.registry.dispose()


@pytest.mark.parametrize("driver", ["aiosqlite", "asyncpg", "psycopg"])
def test_async(driver: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/file.db"
    if driver != "aiosqlite":
        name, folder = request.getfixturevalue("postgres"), request.getfixturevalue("postgres_folder")
        url = f"postgresql+{driver}://test@/{name}?host={folder}"

    async def work() -> None:
        engine = create_async_engine(url)
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        async with AsyncSession(engine) as session:
            session.add(User(email="a@example.com", notes=SECRET, name="n"))
            await session.commit()
        async with AsyncSession(engine) as session:
            user = (await session.scalars(sa.select(User).where(User.email == "a@example.com"))).one()
            assert (user.notes, user.name) == (SECRET, "n")
        RING.rotate()
        async with engine.connect() as connection:
            assert await connection.run_sync(reencrypt, User) == 2
        async with engine.begin() as connection:
            await connection.execute(sa.text("update users set notes = name"))
        async with AsyncSession(engine) as session:
            with pytest.raises(EncryptedFieldError, match=r"users.notes, primary key 1"):
                await session.scalars(sa.select(User))
        await engine.dispose()

    asyncio.run(work())


def test_pickled_objects_have_no_key() -> None:
    import pickle

    with contextlib.suppress(Exception):
        assert RING.to_json().encode() not in pickle.dumps(User(email="a", notes="b"))
    assert pickle.loads(pickle.dumps(User(email="a", notes="b"))).notes == "b"
