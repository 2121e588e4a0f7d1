"""Expressions, keys and constraints of encrypted fields of Django that cannot work are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import django_app
import pytest
from django.core.exceptions import FieldError
from django.db import connection, models
from django.db.models.functions import Coalesce, Concat, Lag, Lower
from django.db.models.lookups import Contains, Exact, GreaterThan, In, IsNull
from django_app import Inpatient, Note, Patient
from sealane.django import EncryptedTextField


@pytest.fixture(autouse=True)
def tables() -> Iterator[None]:
    django_app.create_tables()
    yield
    django_app.delete_tables()


@pytest.mark.parametrize(
    "query",
    [
        lambda: Patient.objects.aggregate(models.Max("email")),
        lambda: Patient.objects.aggregate(models.Min("diagnosis")),
        lambda: Patient.objects.filter(GreaterThan(models.F("email"), "a")),
        lambda: Patient.objects.filter(Exact(models.F("diagnosis"), "flu")),
        lambda: Patient.objects.filter(Exact(models.Value("a"), models.F("email"))),
        lambda: Patient.objects.filter(Contains(models.F("email"), "a")),
        lambda: Patient.objects.filter(In(models.F("email"), ["a"])),
        lambda: Patient.objects.filter(name=models.F("email")),
        lambda: Patient.objects.exclude(models.Q(name=models.F("email")) | models.Q(name="a")),
        lambda: Patient.objects.annotate(x=Lower("email")),
        lambda: Patient.objects.annotate(
            x=Concat("email", models.Value("!"), output_field=models.TextField())
        ),
        lambda: Patient.objects.annotate(
            x=Coalesce("email", models.Value("none"), output_field=models.TextField())
        ),
        lambda: Patient.objects.annotate(x=models.Case(models.When(name="a", then=Lower("email")))),
        lambda: Patient.objects.filter(models.Exists(Patient.objects.filter(name=models.F("email")))),
        lambda: Inpatient.objects.annotate(x=Lower("patient_ptr__email")),
        lambda: Patient.objects.values("email").annotate(x=models.Max("diagnosis")),
    ],
)
def test_expressions_as_objects_are_refused(query: Callable[[], object]) -> None:
    Inpatient.objects.create(name="a", diagnosis="flu", room="7")
    with pytest.raises(
        FieldError, match=r"^clinic_patient\.(email|diagnosis) is encrypted: the database cannot"
    ):
        list(query())  # type: ignore[call-overload]


def test_expressions_that_pass_values_on() -> None:
    for name in "ab":
        Patient.objects.create(name=name, email=f"{name}@x", diagnosis="flu")
    assert Patient.objects.aggregate(n=models.Count("email", distinct=True)) == {"n": 2}
    before = models.Window(Lag("email"), order_by="name")
    assert [one.x for one in Patient.objects.annotate(x=before).order_by("name")] == [None, "a@x"]
    assert Patient.objects.filter(IsNull(models.F("diagnosis"), False)).count() == 2
    counted = Patient.objects.values("email").annotate(n=models.Count("pk")).order_by("n")
    assert sorted(row["email"] for row in counted) == ["a@x", "b@x"]


def test_uses_in_a_model_that_cannot_work_are_errors_of_a_check() -> None:
    class Code(models.Model):
        plain = EncryptedTextField()
        both = EncryptedTextField()
        lower = EncryptedTextField(searchable=True)
        good = EncryptedTextField(searchable=True)
        target = EncryptedTextField(searchable=True, unique=True)

        class Meta:
            app_label = "codes"
            constraints = [  # noqa: RUF012
                models.UniqueConstraint(fields=["good", "id"], name="good"),
                models.UniqueConstraint(Lower("lower"), name="lower"),
                models.CheckConstraint(condition=models.Q(good__isnull=False), name="check"),
            ]
            indexes = [models.Index(fields=["-plain"], name="plain")]  # noqa: RUF012
            unique_together = [("id", "both")]  # noqa: RUF012

    class Use(models.Model):
        code = models.ForeignKey(Code, to_field="target", on_delete=models.CASCADE)

        class Meta:
            app_label = "codes"

    found = {str(error.obj.name): error.msg for error in Code.check() if hasattr(error.obj, "name")}
    assert found.keys() == {"plain", "both", "lower"}
    assert found["plain"] == found["both"]
    assert found["plain"].startswith("equal values are encrypted differently")
    assert found["lower"] == "the database cannot compute with encrypted values"
    with pytest.raises(
        ValueError, match=r"^codes_code.target: an encrypted value cannot be a primary key or the t"
    ):
        Use._meta.get_field("code").db_type(connection)
    assert not Note.check()
