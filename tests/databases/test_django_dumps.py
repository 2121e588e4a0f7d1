"""Encrypted fields of Django in fixtures, and as new columns."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.core import serializers
from django.db import connection
from django_app import Note, Patient
from schema import SECRET
from sealane.django import EncryptedTextField

pytestmark = pytest.mark.usefixtures("tables")


@pytest.mark.parametrize("format_", ["xml", "json", "jsonl", "yaml"])
def test_dumped_values_are_loaded_again(format_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apps, "get_model", lambda _: Patient)
    for value in ({"a": [1, None, "é<"]}, [], "text", "[1]", "", 5, 1.5, True):
        Patient.objects.create(name="a", email="é<&>@x", diagnosis=SECRET, scan=b"\0\xff", values_=value)
        dump = serializers.serialize(format_, Patient.objects.all())
        assert SECRET in dump
        Patient.objects.all().delete()
        for one in serializers.deserialize(format_, dump):
            one.save()
        found = Patient.objects.get()
        assert (found.email, found.diagnosis, found.scan) == ("é<&>@x", SECRET, b"\0\xff")
        assert found.values_ == value
        with connection.cursor() as cursor:
            cursor.execute("select diagnosis, email, scan, values_ from clinic_patient")
            stored = cursor.fetchone()
        assert not any(SECRET.encode() in bytes(value) for value in stored)
        found.delete()


def test_an_empty_text_is_the_default_of_an_added_field() -> None:
    Note.objects.create(ward="a", number=1)
    field = EncryptedTextField(blank=True)
    with connection.schema_editor() as editor:
        field.contribute_to_class(Note, "added")
        try:
            editor.add_field(Note, field)
            assert Note.objects.values_list("added", flat=True).get() == ""
        finally:
            Note._meta.local_fields.remove(field)
            Note._meta._expire_cache()  # type: ignore[attr-defined]
