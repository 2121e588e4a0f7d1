"""A Django application with encrypted fields, for the tests of it and of the docstrings."""

from __future__ import annotations

import os
import uuid

import django
from django.conf import settings
from sealane.keys import Keyring

RING, INDEX = Keyring.generate("xaes-256-gcm"), Keyring.generate("aes-256-siv")

DATABASES = {
    "sqlite": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"},
    "postgresql": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": os.environ.get("SEALANE_TEST_DATABASE", ""),
        "HOST": os.environ.get("SEALANE_TEST_SOCKET", ""),
        "USER": "test",
    },
}

if not settings.configured:
    settings.configure(
        DATABASES={"default": DATABASES[os.environ.get("SEALANE_TEST_KIND", "sqlite")]},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[],
        SEALANE_KEYRING=RING,
        SEALANE_SEARCH_KEYRING=lambda: INDEX,
        USE_TZ=True,
    )
    django.setup()

from django.db import connection, models  # noqa: E402
from sealane.django import EncryptedBinaryField, EncryptedJSONField, EncryptedTextField  # noqa: E402


class Patient(models.Model):
    """A row with every kind of encrypted field."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    name = models.CharField(max_length=100)
    email = EncryptedTextField(searchable=True, unique=True, null=True)
    diagnosis = EncryptedTextField(null=True, blank=True, row=["id"])
    scan = EncryptedBinaryField(null=True)
    values_ = EncryptedJSONField(default=dict, blank=True)

    class Meta:
        app_label = "clinic"


class Note(models.Model):
    """A row with an automatic number."""

    ward = models.CharField(max_length=10)
    number = models.IntegerField()
    text = EncryptedTextField(null=True, row=["ward", "number"])
    secret = EncryptedTextField(null=True, row=["id"])

    class Meta:
        app_label = "clinic"


class Visitor(Patient):
    """A proxy."""

    class Meta:
        app_label = "clinic"
        proxy = True


class Inpatient(Patient):
    """A table beside that of its parent."""

    room = EncryptedTextField()

    class Meta:
        app_label = "clinic"


class Person(models.Model):
    """No table."""

    remark = EncryptedTextField()

    class Meta:
        app_label = "clinic"
        abstract = True


class Doctor(Person):
    """A table with the columns of an abstract model."""


class Nurse(Person):
    """Another one."""


def create_tables() -> None:
    """Creates the tables."""
    with connection.schema_editor() as editor:
        for model in (Patient, Note, Inpatient, Doctor, Nurse):
            editor.create_model(model)


def delete_tables() -> None:
    """Deletes the tables, and closes the connection."""
    with connection.schema_editor() as editor:
        for model in (Nurse, Doctor, Inpatient, Note, Patient):
            editor.delete_model(model)
    connection.close()
