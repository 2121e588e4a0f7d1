"""A program as a user writes it. The tests check its types, and run nothing of it."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from django.db import models
from sealane.django import EncryptedBinaryField, EncryptedJSONField, EncryptedTextField
from sealane.django import reencrypt as reencrypt_model
from sealane.exceptions import EncryptedFieldError
from sealane.keys import Keyring
from sealane.langgraph import Cipher
from sealane.sqlalchemy import Encrypted, reencrypt
from sealane.temporal import Codec
from sqlalchemy import orm

ring = Keyring.generate("xaes-256-gcm")
text: Encrypted[str] = Encrypted(sa.Text, keyring=ring)
number: Encrypted[int] = Encrypted(sa.Integer(), keyring=lambda: ring, row=("id",))


class Base(orm.DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "users"
    id: orm.Mapped[uuid.UUID] = orm.mapped_column(primary_key=True, default=uuid.uuid4)
    notes: orm.Mapped[str | None] = orm.mapped_column(
        Encrypted(sa.Text, keyring="file:ring.json", row=["id"])
    )
    age: orm.Mapped[int] = orm.mapped_column(number)


class Patient(models.Model):
    id: models.UUIDField[uuid.UUID, uuid.UUID] = models.UUIDField(primary_key=True, default=uuid.uuid4)
    diagnosis = EncryptedTextField(null=True, row=["id"], help_text="confidential")
    scan = EncryptedBinaryField(keyring=ring)
    data = EncryptedJSONField(default=dict, keyring="file:ring.json")


def work(session: orm.Session, engine: sa.Engine, patient: Patient) -> tuple[str | None, int]:
    try:
        user = session.scalars(sa.select(User).where(User.notes.is_not(None))).one()
    except EncryptedFieldError as error:
        raise SystemExit(f"{error.table}.{error.column}, {error.primary_key}") from error
    moved = reencrypt(engine, User, batch=10, progress=print) + reencrypt_model(Patient, batch=10)
    patient.diagnosis = user.notes
    Codec(ring), Cipher(ring)
    return user.notes, user.age + moved
