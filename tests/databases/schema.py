"""The tables of the tests of SQLAlchemy, and how tests fill and read them."""

from __future__ import annotations

import enum
import uuid
from typing import Any

import sqlalchemy as sa
from sealane.keys import Keyring
from sealane.sqlalchemy import Encrypted
from sqlalchemy import orm
from sqlalchemy.ext.mutable import MutableDict

RING, INDEX = Keyring.generate("xaes-256-gcm"), Keyring.generate("aes-256-siv")
SECRET = "secret 51d0 value"


class Color(enum.Enum):
    red = 1
    blue = 2


class Base(orm.DeclarativeBase):
    type_annotation_map = {dict[str, int]: Encrypted(sa.JSON, keyring=lambda: RING)}  # noqa: RUF012


class Timestamped:
    """A mixin, whose columns SQLAlchemy copies into each class."""

    comment: orm.Mapped[str | None] = orm.mapped_column(Encrypted(sa.Text, keyring=RING, row=["id"]))


class User(Timestamped, Base):
    __tablename__ = "users"

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    email: orm.Mapped[str] = orm.mapped_column(
        Encrypted(sa.Text, keyring=INDEX, searchable=True), unique=True
    )
    notes: orm.Mapped[str | None] = orm.mapped_column(Encrypted(sa.Text, keyring=RING, row=["id"]))
    name: orm.Mapped[str | None] = orm.mapped_column(Encrypted(sa.String(50), keyring=RING))
    data: orm.Mapped[dict[str, Any] | None] = orm.mapped_column(
        MutableDict.as_mutable(Encrypted(sa.JSON, keyring=RING, row=["id"]))
    )
    counts: orm.Mapped[dict[str, int] | None]


class Document(Timestamped, Base):
    __tablename__ = "documents"

    id: orm.Mapped[uuid.UUID] = orm.mapped_column(primary_key=True, default=uuid.uuid4)
    tenant: orm.Mapped[str] = orm.mapped_column(sa.String(20), default="first")
    body: orm.Mapped[bytes] = orm.mapped_column(
        Encrypted(sa.LargeBinary, keyring=RING, row=["tenant", "id"]), default=b"empty"
    )


def raw(engine: sa.Engine, statement: str, **values: object) -> Any:
    with engine.begin() as connection:
        result = connection.execute(sa.text(statement), values)
        return [tuple(row) for row in result] if result.returns_rows else None


def load(engine: sa.Engine, kind: Any = User) -> list[Any]:
    with orm.Session(engine) as session:
        found = list(session.scalars(sa.select(kind).order_by(kind.id)))
        session.expunge_all()
        return found


def store(engine: sa.Engine, *objects: object) -> None:
    with orm.Session(engine, expire_on_commit=False) as session:
        session.add_all(objects)
        session.commit()
