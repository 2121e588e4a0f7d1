"""Expressions of SQLAlchemy: the database cannot compute encrypted values, and stores none as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from schema import INDEX, RING, SECRET, Document, User, load, raw, store
from sealane.sqlalchemy import Encrypted
from sqlalchemy import orm
from sqlalchemy.dialects import postgresql, sqlite


@pytest.mark.parametrize(
    "compare",
    [
        lambda: User.notes == "x",
        lambda: User.name.in_(["x"]),
        lambda: User.name != "x",
        lambda: User.email > "x",
        lambda: User.email.like("x%"),
        lambda: User.email.contains("x"),
        lambda: str(User.email == User.name),
        lambda: str(User.email == sa.bindparam("x")),
        lambda: str(sa.select(User.id).join(Document, Document.body == User.email)),
        lambda: User.email != User.name,
        lambda: sa.func.coalesce(User.email, "x") == "x",
        lambda: sa.func.max(User.email).in_(["x"]),
        lambda: User.email.in_(sa.select(User.email)),
        lambda: User.email.in_(sa.bindparam("x", expanding=True)),
        lambda: User.email + "x",
        lambda: User.email.desc(),
        lambda: sa.nulls_last(User.email),
        lambda: sa.distinct(User.name),
        lambda: User.data["a"],
        lambda: User.email.between("a", "b"),
        lambda: User.email.is_distinct_from("a"),
        lambda: User.email.is_("a"),
        lambda: User.email.is_not(User.name),
    ],
)
def test_what_cannot_be_computed_is_refused(compare: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"^(users|documents)\.\w+ is (encrypted|not searchable)"):
        compare()


NAMES = sa.select(User.name)
EMAIL = sa.select(User.email).limit(1).scalar_subquery()
PLAIN_TABLE = sa.Table("plains", sa.MetaData(), sa.Column("id", sa.Integer), sa.Column("x", sa.Text))
LENGTH = sa.select(sa.func.length(User.email)).limit(1).scalar_subquery()
SUBQUERY = sa.select(sa.func.lower(User.email).label("x"), User.id).subquery()


@pytest.mark.parametrize(
    "statement",
    [
        sa.select(User).order_by(User.email),
        sa.select(User.id).order_by("email"),
        sa.select(User.id, User.name.label("x")).order_by("x"),
        sa.select(User.id).order_by(User.id, User.name),
        sa.select(sa.select(User).order_by(User.name).limit(1).subquery().c.id),
        sa.union_all(NAMES, NAMES).order_by("name"),
        sa.select(sa.func.lower(User.email)),
        sa.select(sa.func.max(User.email)),
        sa.select(sa.func.coalesce(User.name, SECRET)),
        sa.select(User.id).where(sa.func.length(User.name) > 5),
        sa.select(sa.func.row_number().over(order_by=User.email)),
        sa.select(sa.cast(User.email, sa.Text)),
        sa.select(User.id).where(sa.cast(User.email, sa.Text).like("a%")),
        sa.select(sa.extract("year", User.email)),
        sa.select(User.id, User.email.label("x")).order_by(sa.desc("x")),
        sa.select(User.id).order_by(sa.case((User.id == 2, "n"), else_=User.email)),
        sa.select(sa.func.length(sa.select(User.email).limit(1).scalar_subquery())),
        sa.insert(User).values([{"id": 5, "name": None}, {"id": LENGTH, "name": None}]),
        sa.update(Document).where(Document.tenant == SUBQUERY.c.x).values(tenant="x"),
    ],
    ids=str,
)
def test_the_database_computes_nothing_of_ciphertexts(engine: sa.Engine, statement: Any) -> None:
    store(engine, User(email="a@x", name="n"))
    with (
        engine.connect() as connection,
        pytest.raises(TypeError, match=r"^users\.(email|name) is encrypted: the database cannot compute "),
    ):
        connection.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        NAMES.distinct(),
        NAMES.group_by(User.name),
        sa.union(NAMES, NAMES),
        sa.intersect(NAMES, NAMES),
        sa.select(sa.func.count().over(partition_by=User.name)),
        sa.select(NAMES.distinct().subquery()),
        sa.select(User.name.label("x"), sa.func.count()).group_by("x"),
        sa.select(sa.func.count(sa.distinct(sa.case((User.id == 2, "n"), else_=User.name)))),
        sa.select(sa.case((User.id == 1, User.name))).distinct(),
    ],
    ids=str,
)
def test_values_that_are_not_searchable_are_not_compared(engine: sa.Engine, statement: Any) -> None:
    with (
        engine.connect() as connection,
        pytest.raises(TypeError, match=r"^users\.name is encrypted: equal values are encrypted differently"),
    ):
        connection.execute(statement)


def test_what_leaves_ciphertexts_as_they_are(engine: sa.Engine) -> None:
    store(engine, User(email="a@x", name="n"), User(email="b@x"))
    email, name = User.email, User.name
    stored = sa.type_coerce(User.name, sa.LargeBinary())
    filled = NAMES.where(name.is_not(None))
    before = sa.type_coerce(sa.func.lag(email).over(order_by=User.id), email.type)
    for statement, expected in [
        (sa.select(email).order_by(User.id), [("a@x",), ("b@x",)]),
        (sa.select(sa.func.count(name)), [(1,)]),
        (sa.select(sa.func.count(email.distinct())), [(2,)]),
        (sa.select(before).order_by(User.id), [(None,), ("a@x",)]),
        (sa.select(User.id, name).distinct().order_by(User.id), [(1, "n"), (2, None)]),
        (sa.select(User.id, name).group_by(User.id, name).order_by(User.id), [(1, "n"), (2, None)]),
        (sa.select(User.id).order_by(name.is_(None), sa.case((email == "a@x", 1))), [(1,), (2,)]),
        (sa.select(sa.func.length(stored) > 20).where(name.is_not(None)), [(True,)]),
        (sa.union_all(filled, filled), [("n",), ("n",)]),
    ]:
        with engine.connect() as connection:
            assert [tuple(row) for row in connection.execute(statement)] == expected, str(statement)
    with engine.connect() as connection:
        assert len(connection.execute(sa.select(email).group_by(email)).all()) == 2
        assert len(connection.execute(sa.select(email).distinct()).all()) == 2


def test_a_column_is_a_key_of_a_dict() -> None:
    """SQLAlchemy compares it with a copy of itself then."""
    annotated = User.email.__clause_element__()
    assert {User.__table__.c.email: 1, User.__table__.c.notes: 2}[annotated] == 1  # type: ignore[index]
    assert annotated == User.__table__.c.email


PLAIN: Any = sa.func.lower(SECRET)
EXPRESSIONS: list[Any] = [
    PLAIN,
    sa.literal(SECRET),
    sa.text("'x'"),
    sa.literal_column("'x'"),
    User.email,
    sa.select(sa.literal(SECRET)).scalar_subquery(),
    sa.case((User.id == 1, SECRET), else_=User.name),
    sa.func.coalesce(User.name, SECRET),
]


# claim: field-private
@pytest.mark.parametrize("value", EXPRESSIONS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", ["name", "notes"])
def test_what_the_database_computes_is_not_stored(engine: sa.Engine, name: str, value: Any) -> None:
    store(engine, User(email="a@x", name="n", notes="n"))
    user, table = sa.update(User), User.__table__
    upsert = sqlite.insert if engine.name == "sqlite" else postgresql.insert
    conflict = upsert(User).values(email="a@x")
    for statement in (
        user.values({name: value}),
        user.values({getattr(User, name): value}),
        user.ordered_values((getattr(User, name), value)),
        sa.insert(User).values({"email": "b", name: value}),
        sa.insert(User).values([{"email": "b", name: None}, {"email": "c", name: value}]),
        sa.insert(table).values({"email": "b", name: value}),  # type: ignore[arg-type]
        sa.insert(User).from_select(["id", name], sa.select(sa.literal(5), value)),
        sa.select(sa.insert(table).values({"email": "b", name: value}).returning(table.c.id).cte().c.id),  # type: ignore[arg-type]
        sa.select(User.id).add_cte(user.values({name: value}).returning(User.id).cte()),
        conflict.on_conflict_do_update(index_elements=["email"], set_={name: value}),
    ):
        with (
            engine.connect() as connection,
            pytest.raises(TypeError, match=f"^users.{name} is encrypted: the d"),
        ):
            connection.execute(statement)
    for change in True, False:
        with orm.Session(engine) as session:
            session.add(session.get_one(User, 1) if change else User(id=5, email="c"))
            setattr(session.get(User, 1) if change else next(iter(session.new)), name, value)
            with pytest.raises(TypeError, match=f"^users.{name} is encrypted: the database cannot compute"):
                session.flush()
    (found,) = load(engine)
    assert (found.name, found.notes) == ("n", "n")


NAME: Any = User.__table__.c.name
BYTES = sa.literal(SECRET.encode(), sa.LargeBinary)


# claim: field-private
@pytest.mark.parametrize(
    "values",
    [
        sa.select(NAME).union_all(sa.select(BYTES)),
        sa.union_all(sa.select(NAME), sa.select(NAME).union(sa.select(BYTES)).order_by("name")),
        sa.select(sa.select(NAME).union_all(sa.select(BYTES)).subquery().c.name),
        sa.select(sa.select(BYTES.label("name")).union_all(sa.select(NAME)).cte().c.name),
        sa.select(sa.literal_column("'x'", NAME.type)),
        sa.select(sa.type_coerce(sa.func.lower(SECRET), NAME.type)),
        sa.text("select name from users").columns(NAME),
        sa.select(sa.func.max(NAME)),
    ],
)
def test_rows_of_another_select_are_not_stored(engine: sa.Engine, values: Any) -> None:
    store(engine, User(email="a@x", name="n"))
    statement = sa.insert(User).from_select(["name"], values)
    with engine.connect() as connection, pytest.raises(TypeError, match=r"^users.name is encrypted: the d"):
        connection.execute(statement)
    assert raw(engine, "select count(*) from users") == [(1,)]


# claim: field-private
@pytest.mark.filterwarnings("ignore:Additional column names")
def test_an_upsert_by_another_name_of_the_column_is_refused(engine: sa.Engine) -> None:
    """SQLAlchemy would store the value as it is, and only warn."""
    table = sa.Table(
        "users",
        sa.MetaData(),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("email", sa.LargeBinary),
        sa.Column("name", Encrypted(sa.Text, keyring=RING), key="alias"),
    )
    store(engine, User(email="a@x", name="n"))
    insert = sqlite.insert if engine.name == "sqlite" else postgresql.insert
    statement = insert(table).values(id=1, email=b"x")
    for name in "name", sa.column("name"):
        with (
            engine.begin() as connection,
            pytest.raises(TypeError, match=r"^users.name is encrypted: 'name' is not the key"),
        ):
            connection.execute(
                statement.on_conflict_do_update(index_elements=["id"], set_={name: SECRET})  # type: ignore[dict-item]
            )
    with engine.begin() as connection:
        known: Any = {"alias": "x", table.c.alias: "x"}
        for name, value in known.items():
            connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_={name: value}))
    assert load(engine)[0].name == "x"


@pytest.mark.parametrize(
    "where",
    [
        sa.literal("a@x") == User.email,
        sa.literal("n") == User.name,
        sa.literal_column("'a'") != User.email,
        sa.tuple_(User.id, User.email).in_([(1, "a@x")]),
        sa.case({"a@x": True}, value=User.email, else_=False),
        User.id.in_(sa.select(User.id).where(sa.literal("x") == User.email)),
        sa.exists().where(sa.func.lower("x") == User.name),
        sa.literal("a@x").in_([User.email, "y"]),
        sa.literal("a@x").between(User.email, "z"),
        sa.literal("a@x").in_(sa.select(User.email)),
        sa.case((User.id == 2, "n"), else_=User.email) == "a@x",
        User.email,
        sa.and_(User.email, User.id > 0),
        sa.case((User.email, True), else_=False),
        sa.exists().where(Document.tenant == User.email),
    ],
)
def test_a_comparison_from_the_other_side_is_refused(engine: sa.Engine, where: Any) -> None:
    store(engine, User(email="a@x", name="n"))
    with (
        engine.connect() as connection,
        pytest.raises(TypeError, match=r"^users\.\w+ is encrypted: it can only"),
    ):
        connection.execute(sa.select(User.id).where(where))


@pytest.mark.parametrize(
    "statement",
    [
        sa.select(sa.case((User.id == 2, "none"), else_=User.email)),
        sa.select(sa.case((User.id == 2, User.name), else_=User.email)),
        sa.select(sa.func.lag(User.email).over(order_by=User.id)),
        sa.select(sa.select(sa.func.first_value(User.email).over().label("x")).subquery().c.x),
        sa.select(Document.tenant).union_all(sa.select(User.email)),
        sa.select(User.email).union_all(sa.select(Document.tenant)),
        sa.select(User.email).union_all(sa.select(User.name)),
        sa.select(sa.null().label("email")).union_all(sa.select(User.email)),
        sa.insert(User).values(email="b@x").returning(sa.case((User.id == 2, "n"), else_=User.email)),
    ],
    ids=str,
)
def test_results_without_the_type_of_the_column_are_refused(engine: sa.Engine, statement: Any) -> None:
    store(engine, User(email="a@x", name="n"))
    with (
        engine.connect() as connection,
        pytest.raises(TypeError, match=r"^users\.\w+ is encrypted: its values would be returned without dec"),
    ):
        connection.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        sa.update(PLAIN_TABLE).where(PLAIN_TABLE.c.id == User.id).values(x=User.email),
        sa.update(PLAIN_TABLE).values({PLAIN_TABLE.c.x: EMAIL}),
        sa.update(PLAIN_TABLE).values(x=sa.case((PLAIN_TABLE.c.x == "x", "y"), else_=EMAIL)),
        sa.insert(PLAIN_TABLE).values(x=EMAIL),
        sa.insert(PLAIN_TABLE).values([{"x": "x"}, {"x": EMAIL}]),
        sa.insert(PLAIN_TABLE).from_select(["x"], sa.select(User.email)),
        "upsert",
    ],
    ids=str,
)
def test_ciphertext_is_not_stored_in_another_column(engine: sa.Engine, statement: Any) -> None:
    if statement == "upsert":
        upsert = sqlite.insert if engine.name == "sqlite" else postgresql.insert
        statement = upsert(PLAIN_TABLE).on_conflict_do_update(index_elements=["id"], set_={"x": EMAIL})
    with (
        engine.connect() as connection,
        pytest.raises(TypeError, match=r"^users\.email is encrypted: plains\.x would get its ciphertext"),
    ):
        connection.execute(statement)


def test_a_value_is_not_moved_to_another_row(engine: sa.Engine) -> None:
    store(engine, User(email="a@x", notes="a"), User(email="b@x", notes="b"))
    upsert = sqlite.insert if engine.name == "sqlite" else postgresql.insert
    for_row = User.__table__.c.notes.type.for_row  # type: ignore[attr-defined]
    other, new = orm.aliased(User), upsert(User).values(id=1, email="b@x", notes=for_row("new", id=1))
    change = {"notes": new.excluded.notes}
    for statement in (
        sa.insert(User).from_select(["email", "notes"], sa.select(User.email, User.notes)),
        sa.update(User).where(User.id != other.id).values(notes=other.notes),
        new.on_conflict_do_update(index_elements=["email"], set_=change),
    ):
        with (
            engine.connect() as connection,
            pytest.raises(
                TypeError, match=r"^users\.notes is bound to id, and the value to those of another"
            ),
        ):
            connection.execute(statement)
    with engine.begin() as connection:
        connection.execute(new.on_conflict_do_update(index_elements=["id"], set_=change))
    assert [user.notes for user in load(engine)] == ["new", "b"]


def test_what_a_mapping_and_options_add_to_a_statement_is_checked(engine: sa.Engine) -> None:
    class Base(orm.DeclarativeBase):
        pass

    class Person(Base):
        __table__ = User.__table__
        lower: orm.Mapped[str] = orm.column_property(sa.func.lower(__table__.c.email))  # type: ignore[attr-defined]

    for statement, made in [
        (sa.select(Person), "the database cannot compute lower"),
        (
            sa.select(User).options(orm.with_loader_criteria(User, User.id == User.email)),
            "it can only be comp",
        ),
    ]:
        with (
            orm.Session(engine) as session,
            pytest.raises(TypeError, match=f"^users.email is encrypted: {made}"),
        ):
            session.scalars(statement).all()


def test_comparisons_with_null(engine: sa.Engine) -> None:
    store(engine, User(email="a@x", name="n"))
    for where in (
        User.email != sa.null(),
        User.notes == sa.null(),
        User.notes.is_(None),
        User.name.is_not(None),
    ):
        assert raw(engine, str(sa.select(User.id).where(where))) == [(1,)]


# claim: field-private
def test_values_are_not_printed_as_literals() -> None:
    for statement in (
        sa.update(User).values(name=SECRET),
        sa.insert(User).values(name=SECRET),
        sa.select(sa.literal(SECRET, NAME.type)),
    ):
        with pytest.raises(TypeError, match=r"^users.name is encrypted: pass its values as parameters"):
            statement.compile(compile_kwargs={"literal_binds": True})


# claim: field-private
def test_a_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="a variant for sqlite, mysql would store plaintext"):
        Encrypted(sa.Text, keyring=RING).with_variant(sa.Text(), "sqlite", "mysql")


def test_indexes_and_constraints_of_no_use_are_refused() -> None:
    for made in (
        sa.UniqueConstraint("a"),
        sa.UniqueConstraint("id", "a"),
        sa.Index("i", "a"),
        sa.Index("i", "id", "a"),
    ):
        column: Any = sa.Column("a", Encrypted(sa.Text, keyring=RING))
        with pytest.raises(ValueError, match=r"^a: equal values are encrypted differently"):
            sa.Table("t", sa.MetaData(), sa.Column("id", sa.Integer), column, made)
    column = sa.Column("a", Encrypted(sa.Text, keyring=INDEX, searchable=True))
    table = sa.Table("t", sa.MetaData(), sa.Column("id", sa.Integer), column, sa.UniqueConstraint("id", "a"))
    sa.Index("plain", table.c.a)
    with pytest.raises(ValueError, match=r"^a: the database cannot compute with encrypted values"):
        sa.Index("lower", sa.func.lower(table.c.a), unique=True)
    with pytest.raises(ValueError, match=r"^a: an encrypted value cannot be a primary key"):
        sa.Column("a", Encrypted(sa.Text, keyring=INDEX, searchable=True), primary_key=True)
    for where in table.c.id == table.c.a, table.c.a == "x":
        with pytest.raises((TypeError, ValueError), match=r"^t\.a(: the database cannot| is encrypted)"):
            sa.Index("partial", table.c.id, sqlite_where=where)
        with pytest.raises((TypeError, ValueError), match=r"^t\.a(: the database cannot| is encrypted)"):
            table.append_constraint(sa.CheckConstraint(where))
    table.append_constraint(sa.CheckConstraint(table.c.a.is_not(None)))
    column = sa.Column("b", Encrypted(sa.Text, keyring=RING), sa.ForeignKey("t.id"))
    with pytest.raises(ValueError, match=r"^b: an encrypted value cannot be a primary key or the target"):
        sa.Table("u", sa.MetaData(), column)


def test_a_foreign_key_to_an_encrypted_column_is_refused() -> None:
    """SQLAlchemy gives it the type of that column."""
    engine, data = sa.create_engine("sqlite://"), sa.MetaData()
    encrypted = sa.Column("a", Encrypted(sa.Text, keyring=INDEX, searchable=True), unique=True)
    sa.Table("t", data, sa.Column("id", sa.Integer, primary_key=True), encrypted)
    table = sa.Table("u", data, sa.Column("b", sa.ForeignKey("t.a")))
    data.create_all(engine)
    with engine.connect() as connection, pytest.raises(ValueError, match=r"^b: an encrypted value cannot be"):
        connection.execute(table.insert().values(b="x"))


def test_expressions_of_the_column_itself(engine: sa.Engine) -> None:
    store(engine, User(email="a@x", name="n", notes="n"))
    upsert = sqlite.insert if engine.name == "sqlite" else postgresql.insert
    conflict = upsert(User).values(email="a@x", name="new")
    taken = conflict.on_conflict_do_update(index_elements=["email"], set_={"name": conflict.excluded.name})
    with orm.Session(engine) as session:
        session.execute(sa.update(User).values(name=User.name, notes=User.notes, data=sa.null()))
        session.execute(sa.update(User).values(name=sa.bindparam("value")), {"value": "n"})
        session.execute(sa.update(User).values(name=sa.literal("n", User.__table__.c.name.type)))
        session.commit()
        assert session.get_one(User, 1).name == "n"
        session.execute(taken)
        session.commit()
        assert (session.get_one(User, 1).name, session.get_one(User, 1).notes) == ("new", "n")
        for_row = User.__table__.c.notes.type.for_row  # type: ignore[attr-defined]
        rows = [{"id": n, "email": f"{n}@x", "notes": for_row(str(n), id=n)} for n in range(5, 8)]
        found = session.scalars(sa.insert(User).returning(User), rows).all()
        assert sorted(each.notes or "" for each in found) == ["5", "6", "7"]


def test_defaults_of_the_database_are_refused() -> None:
    defaults: list[dict[str, Any]] = [
        {"server_default": SECRET},
        {"server_onupdate": sa.FetchedValue()},
        {"default": PLAIN},
        {"onupdate": PLAIN},
        {"default": sa.Sequence("s")},
    ]
    for options in defaults:
        column: Any = sa.Column("a", Encrypted(sa.Text, keyring=RING), **options)
        with pytest.raises(ValueError, match=r"^a: the database would store its default without encryption"):
            sa.Table("t", sa.MetaData(), column)


# claim: field-private
def test_a_default_of_the_database_that_comes_later_is_refused(engine: sa.Engine) -> None:
    table = sa.Table("users", sa.MetaData(), sa.Column("name", Encrypted(sa.Text, keyring=RING)))
    table.c.name.default = sa.ColumnDefault(sa.func.lower(SECRET))
    with engine.connect() as connection, pytest.raises(ValueError, match="would store its default"):
        connection.execute(table.insert())


def test_an_update_of_the_session_changes_its_objects(engine: sa.Engine) -> None:
    store(engine, User(email="a@x", notes="old"))
    with orm.Session(engine) as session:
        user = session.get_one(User, 1)
        for_row = User.__table__.c.notes.type.for_row  # type: ignore[attr-defined]
        session.execute(sa.update(User).where(User.id == 1).values(notes=for_row("new", id=1)))
        assert user.notes == "new"
        user.id = 2
        session.commit()
        assert user.notes == "new"
