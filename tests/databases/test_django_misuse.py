"""Expressions, keys and constraints of encrypted fields of Django that cannot work are refused."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from django.core.exceptions import FieldError
from django.db import connection, models
from django.db.models.functions import Coalesce, Concat, Lag, Lower, Upper
from django.db.models.lookups import Contains, Exact, GreaterThan, In, IsNull
from django_app import Doctor, Inpatient, Note, Nurse, Patient
from sealane._fields import NO_KEY
from sealane.django import EncryptedTextField

pytestmark = pytest.mark.usefixtures("tables")
EMAIL = models.Subquery(Patient.objects.values("email")[:1])
TEXT = models.TextField()
PK = uuid.UUID(int=7)


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
        lambda: Patient.objects.order_by("email"),
        lambda: Patient.objects.order_by("name", "-diagnosis"),
        lambda: Patient.objects.order_by("email").reverse(),
        lambda: Patient.objects.order_by(models.F("email").desc(nulls_last=True)),
        lambda: Patient.objects.order_by(models.Case(models.When(name="a", then="email"))),
        lambda: Patient.objects.annotate(x=models.F("email")).order_by("x"),
        lambda: Patient.objects.values("email").order_by("email"),
        lambda: Patient.objects.values_list("name").order_by("email"),
        lambda: [Patient.objects.latest("email")],
        lambda: [Patient.objects.earliest("email")],
        lambda: Patient.objects.order_by("email").distinct("email"),
        lambda: Patient.objects.extra(order_by=["email"]),
        lambda: Inpatient.objects.order_by("patient_ptr__email"),
        lambda: Patient.objects.annotate(x=models.Window(Lag("name"), order_by="email")),
        lambda: Patient.objects.values("email").union(Patient.objects.values("email")).order_by("email"),
        lambda: Patient.objects.filter(pk__in=Patient.objects.order_by("email").values("pk")[:1]),
        lambda: Note.objects.filter(ward__in=Patient.objects.values("email")),
        lambda: Note.objects.exclude(ward__in=Patient.objects.values("email")),
        lambda: Note.objects.filter(ward=Patient.objects.values("email")[:1]),
        lambda: Note.objects.filter(pk__in=Note.objects.filter(ward=EMAIL).values("pk")),
        lambda: Note.objects.filter(
            ward__in=Note.objects.values("ward").union(Patient.objects.values("email"))
        ),
        lambda: [Note.objects.filter(ward=EMAIL).delete()],
        lambda: [Note.objects.filter(ward=EMAIL).update(ward="x")],
        lambda: Note.objects.annotate(x=EMAIL).filter(ward=models.F("x")),
        lambda: Note.objects.annotate(x=EMAIL).order_by("x"),
        lambda: Note.objects.order_by(EMAIL),
        lambda: Note.objects.annotate(x=Lower(EMAIL)),
        lambda: Note.objects.annotate(x=Exact(models.F("ward"), EMAIL)),
        lambda: [Note.objects.annotate(x=EMAIL).aggregate(models.Max("x"))],
        lambda: [Patient.objects.all()[:5].aggregate(models.Max("email"))],
        lambda: Patient.objects.filter(models.Exists(Note.objects.filter(ward=models.OuterRef("email")))),
        lambda: Patient.objects.filter(name__in=[models.F("email"), "a"]),
        lambda: Patient.objects.filter(name__range=(models.F("email"), "z")),
        lambda: Inpatient.objects.annotate(
            p=models.FilteredRelation(
                "patient_ptr", condition=models.Q(patient_ptr__name=models.F("patient_ptr__email"))
            )
        ).values_list("p__name"),
    ],
)
def test_expressions_as_objects_are_refused(query: Callable[[], object]) -> None:
    Inpatient.objects.create(name="a", diagnosis="flu", room="7")
    with pytest.raises(
        FieldError, match=r"^clinic_patient\.(email|diagnosis) is encrypted: the database cannot"
    ):
        list(query())  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "query",
    [
        lambda: Patient.objects.values("scan").distinct(),
        lambda: Patient.objects.annotate(x=models.F("scan")).values("x").distinct(),
        lambda: Patient.objects.values("scan").annotate(n=models.Count("pk")),
        lambda: [Patient.objects.aggregate(n=models.Count("scan", distinct=True))],
        lambda: Patient.objects.values("scan").union(Patient.objects.values("scan")),
        lambda: Patient.objects.values("scan").intersection(Patient.objects.values("name")),
        lambda: Patient.objects.values("scan").difference(Patient.objects.values("scan")),
        lambda: (
            Note.objects.annotate(x=models.Subquery(Patient.objects.values("scan")[:1]))
            .values("x")
            .distinct()
        ),
    ],
)
def test_comparison_of_values_that_are_not_searchable_is_refused(query: Callable[[], object]) -> None:
    with pytest.raises(FieldError, match=r"^clinic_patient\.scan is encrypted: equal values are encr"):
        list(query())  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "query",
    [
        lambda: Patient.objects.annotate(
            x=models.Case(models.When(name="a", then="email"), default=models.Value("n"), output_field=TEXT)
        ),
        lambda: Patient.objects.annotate(
            x=models.Case(models.When(name="z", then=models.Value("n")), default="email", output_field=TEXT)
        ),
        lambda: Patient.objects.annotate(
            x=models.Case(models.When(name="z", then="diagnosis"), default="email")
        ),
        lambda: Patient.objects.annotate(x=models.Window(Lag("email"), order_by="name", output_field=TEXT)),
        lambda: Patient.objects.annotate(x=models.Window(Lag("email", output_field=TEXT), order_by="name")),
        lambda: Note.objects.annotate(
            x=models.Subquery(Patient.objects.values("email")[:1], output_field=TEXT)
        ),
        lambda: [Patient.objects.bulk_update([Patient(pk=PK, name=models.F("email"))], ["name"])],
        lambda: [Note.objects.bulk_update([Note(pk=1, ward=EMAIL)], ["ward"])],
    ],
)
def test_ciphertext_is_not_returned_as_another_type(query: Callable[[], object]) -> None:
    Patient.objects.create(pk=PK, name="a", email="a@x", diagnosis="flu")
    with pytest.raises(
        FieldError, match=r"^clinic_patient\.\w+ is encrypted: \w+ would return its ciphertext"
    ):
        list(query())  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "query",
    [
        lambda: Note.objects.values_list("ward").union(Patient.objects.values_list("email"), all=True),
        lambda: Note.objects.values_list("ward").union(Patient.objects.values_list("email")),
        lambda: Note.objects.values_list("ward").intersection(Patient.objects.values_list("email")),
        lambda: Patient.objects.values_list("email").union(Note.objects.values_list("ward"), all=True),
        lambda: Patient.objects.values_list("email").union(Patient.objects.values_list("scan"), all=True),
        lambda: (
            Patient.objects.annotate(x=models.F("name"))
            .union(Patient.objects.annotate(x=models.F("email")), all=True)
            .values("x")
        ),
        lambda: Doctor.objects.all().union(Nurse.objects.all()),
        lambda: [
            Note.objects.values_list("ward").union(Patient.objects.values_list("email"), all=True).count()
        ],
    ],
)
def test_a_union_with_another_column_is_refused(query: Callable[[], object]) -> None:
    Patient.objects.create(name="a", email="a@x")
    with pytest.raises(FieldError, match=r"is encrypted: beside it, a union has values of another column"):
        list(query())  # type: ignore[call-overload]


def test_names_of_a_statement_that_are_no_lookups() -> None:
    for name in ("email__contains", "email__lower__exact", "scan__key", "email__gt"):
        with pytest.raises(FieldError, match=r"^clinic_patient\.(email|scan) is encrypted: there is no lo"):
            Patient.objects.filter(**{name: "a"})


def test_ciphertext_is_not_stored_in_another_field() -> None:
    Patient.objects.create(name="a", email="a@x")
    with pytest.raises(FieldError, match=r"^clinic_patient\.email is encrypted: clinic\.Patient\.name would"):
        Patient.objects.update(name=models.F("email"))
    for write in (
        lambda: Note.objects.create(ward=EMAIL, number=1),
        lambda: Note.objects.bulk_create([Note(ward=EMAIL, number=1)]),
        lambda: Note(pk=1, ward=EMAIL, number=1).save(),
        lambda: Note.objects.update(ward=EMAIL),
    ):
        with pytest.raises(
            FieldError, match=r"^clinic_patient\.email is encrypted: clinic\.Note\.ward would"
        ):
            write()
    assert Patient.objects.update(email=models.F("email")) == 1
    assert Patient.objects.get().name == "a"


def test_rows_are_grouped_and_compared_beside_their_primary_key() -> None:
    for name in "ab":
        Inpatient.objects.create(name=name, email=f"{name}@x", scan=b"1", room="7")
    all_ = Patient.objects.annotate(n=models.Count("name")).order_by("name").distinct()
    assert [(one.scan, one.n) for one in all_] == [(b"1", 1)] * 2
    assert len(Patient.objects.values("pk", "scan").distinct()) == 2
    assert Patient.objects.all().union(Patient.objects.filter(name="a")).count() == 2
    assert len(Patient.objects.values("scan").union(Patient.objects.values("scan"), all=True)) == 4
    named = Patient.objects.annotate(x=models.F("name")).values("x", "email")
    assert [one["x"] for one in named.union(named).order_by("-x")] == ["b", "a"]
    assert len(Patient.objects.values("email").distinct()) == 2
    nothing = Patient.objects.annotate(x=models.Value(None, TEXT)).values("x")
    assert len(Patient.objects.values("email").union(nothing, all=True)) == 4
    assert len(Patient.objects.annotate(x=EMAIL).values("x").distinct()) == 1
    assert Inpatient.objects.select_related("patient_ptr").order_by("name").last().room == "7"


def test_expressions_that_pass_values_on() -> None:
    for name in "ab":
        Patient.objects.create(name=name, email=f"{name}@x", diagnosis="flu")
    assert Patient.objects.aggregate(n=models.Count("email", distinct=True)) == {"n": 2}
    before = models.Window(Lag("email"), order_by="name")
    assert [one.x for one in Patient.objects.annotate(x=before).order_by("name")] == [None, "a@x"]
    assert Patient.objects.filter(IsNull(models.F("diagnosis"), False)).count() == 2
    mine = models.Subquery(Patient.objects.filter(pk=models.OuterRef("pk")).values("email"))
    some = models.Case(models.When(name="b", then="email"))
    found = Patient.objects.annotate(x=mine, y=some).filter(x__isnull=False).order_by("name")
    assert [(one.x, one.y) for one in found] == [("a@x", None), ("b@x", "b@x")]
    assert Patient.objects.annotate(n=models.Count("pk", filter=models.Q(email="a@x"))).count() == 2
    some_email = Patient.objects.values("email").distinct()[:1]
    assert Patient.objects.filter(models.Exists(some_email)).count() == 2
    assert Patient.objects.in_bulk(["a@x"], field_name="email").keys() == {"a@x"}
    counted = Patient.objects.values("email").annotate(n=models.Count("pk")).order_by("n")
    assert sorted(row["email"] for row in counted) == ["a@x", "b@x"]


def test_uses_in_a_model_that_cannot_work_are_errors_of_a_check() -> None:
    class Code(models.Model):
        plain = EncryptedTextField()
        both = EncryptedTextField()
        lower = EncryptedTextField(searchable=True)
        good = EncryptedTextField(searchable=True)
        target = EncryptedTextField(searchable=True, unique=True)
        first = EncryptedTextField()
        last = EncryptedTextField()
        source = EncryptedTextField()
        partial = EncryptedTextField(searchable=True)
        compared = EncryptedTextField(searchable=True)
        upper = models.GeneratedField(
            expression=Upper("source"), output_field=models.TextField(), db_persist=True
        )

        class Meta:
            app_label = "codes"
            ordering = ("id", "-first")
            get_latest_by = "last"
            constraints = [  # noqa: RUF012
                models.UniqueConstraint(fields=["good", "id"], name="good"),
                models.UniqueConstraint(Lower("lower"), name="lower"),
                models.CheckConstraint(condition=models.Q(good__isnull=False), name="check"),
                models.CheckConstraint(condition=models.Q(upper=models.F("compared")), name="compared"),
                models.UniqueConstraint(fields=["id"], condition=models.Q(partial="x"), name="partial"),
            ]
            indexes = [models.Index(fields=["-plain"], name="plain")]  # noqa: RUF012
            unique_together = [("id", "both")]  # noqa: RUF012

    class Key(models.Model):
        pk = models.CompositePrimaryKey("number", "part")
        number = models.IntegerField()
        part = EncryptedTextField(searchable=True)

        class Meta:
            app_label = "codes"

    class Use(models.Model):
        code = models.ForeignKey(Code, to_field="target", on_delete=models.CASCADE)

        class Meta:
            app_label = "codes"

    found = {str(error.obj.name): error.msg for error in Code.check() if hasattr(error.obj, "name")}
    assert found.keys() == {"plain", "both", "lower", "first", "last", "source", "partial", "compared"}
    assert found["lower"] == found["partial"] == found["compared"]
    assert [error.msg for error in Key.check()] == [NO_KEY]
    assert found["lower"] == found["first"] == found["last"] == found["source"]
    assert found["plain"] == found["both"]
    assert found["plain"].startswith("equal values are encrypted differently")
    assert found["lower"] == "the database cannot compute with encrypted values"
    with pytest.raises(
        ValueError, match=r"^codes_code.target: an encrypted value cannot be a primary key or the t"
    ):
        Use._meta.get_field("code").db_type(connection)
    assert not Note.check()
