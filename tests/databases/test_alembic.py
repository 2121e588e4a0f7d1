"""An alembic migration of a plaintext column to an encrypted one and back, in SQLite and PostgreSQL."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.config import main
from sealane.keys import Keyring
from support import in_child

MODELS = """
import sqlalchemy as sa
from sqlalchemy import orm
from sealane.sqlalchemy import Encrypted

RING = "file:ring.json"

class Base(orm.DeclarativeBase):
    pass

class User(Base):
    __tablename__ = "users"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    notes: orm.Mapped[str | None] = orm.mapped_column(Encrypted(sa.Text, keyring=RING, row=["id"]))
    name: orm.Mapped[str | None] = orm.mapped_column(Encrypted(sa.Text, keyring=RING))
"""

ENV = """
from alembic import context
import os, sqlalchemy as sa
from models import Base
from sealane.sqlalchemy import Encrypted

def render_item(kind, item, autogen):
    return "sa.LargeBinary()" if kind == "type" and isinstance(item, Encrypted) else False

engine = sa.create_engine(os.environ["DATABASE"])
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, render_item=render_item)
    with context.begin_transaction():
        context.run_migrations()
"""

FIRST = """
import sqlalchemy as sa
from alembic import op
revision, down_revision = "1", None

def upgrade():
    op.create_table("users", sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("notes", sa.Text), sa.Column("name", sa.LargeBinary))
    op.execute("insert into users (id, notes) values (1, 'plain text'), (2, null), (3, '')")
"""

SECOND = """
import sqlalchemy as sa
from alembic import op
from models import User
revision, down_revision = "2", "1"

users = sa.table("users", sa.column("id"), sa.column("notes_plain", sa.Text))
notes = User.__table__.c.notes

def upgrade():
    op.alter_column("users", "notes", new_column_name="notes_plain")
    op.add_column("users", sa.Column("notes", sa.LargeBinary))
    connection = op.get_bind()
    for id, plain in connection.execute(sa.select(users.c.id, users.c.notes_plain)).all():
        if plain is not None:
            new = sa.update(User.__table__).where(User.__table__.c.id == id)
            connection.execute(new.values(notes=notes.type.for_row(plain, id=id)))
    op.drop_column("users", "notes_plain")

def downgrade():
    op.add_column("users", sa.Column("notes_plain", sa.Text))
    connection = op.get_bind()
    for id, sealed in connection.execute(sa.select(User.__table__.c.id, notes)).all():
        if sealed is not None:
            connection.execute(users.update().where(users.c.id == id).values(notes_plain=sealed.open(id=id)))
    op.drop_column("users", "notes")
    op.alter_column("users", "notes_plain", new_column_name="notes")
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_plaintext_column_and_back(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    database = f"sqlite:///{tmp_path}/file.db"
    if kind == "postgresql":
        name, folder = request.getfixturevalue("postgres"), request.getfixturevalue("postgres_folder")
        database = f"postgresql+psycopg://test@/{name}?host={folder}"
    Keyring.generate("xaes-256-gcm").save(tmp_path / "ring.json")

    def alembic(*arguments: str) -> None:
        """Runs a command as the program does, in a child that has its modules already."""

        def command() -> None:
            warnings.resetwarnings()
            os.chdir(tmp_path)
            os.environ["DATABASE"] = database
            sys.path.insert(0, str(tmp_path))
            main(arguments)

        in_child(command)

    alembic("init", "steps")
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "steps" / "env.py").write_text(ENV)
    (tmp_path / "steps" / "versions" / "1.py").write_text(FIRST)
    (tmp_path / "steps" / "versions" / "2.py").write_text(SECOND)
    engine = sa.create_engine(database)

    def stored() -> list[object]:
        with engine.connect() as connection:
            return list(connection.scalars(sa.text("select notes from users order by id")))

    alembic("upgrade", "1")
    alembic("upgrade", "2")
    first, second, third = stored()
    assert second is None
    assert all(isinstance(one, bytes | memoryview) and b"plain" not in bytes(one) for one in (first, third))
    alembic("check")  # the models and the tables agree
    alembic("downgrade", "1")
    assert stored() == ["plain text", None, ""]
    alembic("upgrade", "2")
    with engine.begin() as connection:
        connection.execute(sa.text("alter table users drop column name"))
    alembic("revision", "--autogenerate", "-m", "name")
    (script,) = (tmp_path / "steps" / "versions").glob("*_name.py")
    assert "sa.Column('name', sa.LargeBinary(), nullable=True)" in script.read_text()
    alembic("upgrade", "head")
    engine.dispose()
