"""Encrypted fields of Django: with the models of `django_app.py`, and in a project made by its commands."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sealane
from django.conf import settings
from django.core.exceptions import FieldError, ValidationError
from django.db import IntegrityError, connection, models, transaction
from django.db.migrations.writer import MigrationWriter
from django.db.models.functions import Coalesce, FirstValue, Lower
from django_app import INDEX, RING, Doctor, Inpatient, Note, Nurse, Patient, Visitor
from schema import SECRET
from sealane.django import EncryptedBinaryField, EncryptedJSONField, EncryptedTextField, Sealed, reencrypt
from sealane.exceptions import EncryptedFieldError
from sealane.keys import Keyring

pytestmark = pytest.mark.usefixtures("tables")


def raw(statement: str, *values: object) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else None


def test_values_of_objects() -> None:
    Patient.objects.create(name="a", email="a@x", diagnosis=SECRET, scan=b"\0", values_={"a": [1, None]})
    Patient.objects.bulk_create([Patient(name="b", diagnosis="cold"), Patient(name="c")])
    first = Patient.objects.get(name="a")
    assert (first.email, first.diagnosis, first.scan, first.values_) == (
        "a@x",
        SECRET,
        b"\0",
        {"a": [1, None]},
    )
    first.refresh_from_db()
    assert first.diagnosis == SECRET
    assert Patient.objects.get(name="b").diagnosis == "cold"
    empty = Patient.objects.get(name="c")
    assert (empty.email, empty.diagnosis, empty.scan, empty.values_) == (None, None, None, {})
    assert raw("select count(*) from clinic_patient where diagnosis is null and email is null") == [(1,)]
    stored = raw("select diagnosis, email, scan, values_ from clinic_patient where name = 'a'")[0]
    assert not any(SECRET.encode() in bytes(value) for value in stored)
    first.diagnosis = None
    first.save(update_fields=["diagnosis"])
    assert Patient.objects.get(name="a").diagnosis is None


def test_proxies_children_and_deferred_fields() -> None:
    Inpatient.objects.create(name="a", diagnosis=SECRET, room="7")
    assert Visitor.objects.get().diagnosis == SECRET
    found = Inpatient.objects.get()
    assert (found.diagnosis, found.room) == (SECRET, "7")
    assert Patient.objects.only("name").get().diagnosis == SECRET
    assert Patient.objects.defer("diagnosis").get().diagnosis == SECRET
    assert Patient.objects.raw("select * from clinic_patient")[0].diagnosis == SECRET
    Note.objects.create(ward="w", number=1, text=SECRET)
    assert Note.objects.only("text").get().text == SECRET
    (sealed,) = Note.objects.values_list("text", flat=True)
    assert isinstance(sealed, Sealed)
    assert sealed.open(ward="w", number=1) == SECRET


def test_raw_objects() -> None:
    """Django stores what a fixture (``loaddata``) has without asking the fields."""
    seen = []

    def listener(instance: Any, **_: Any) -> None:
        seen.append(instance.diagnosis)

    models.signals.post_save.connect(listener, sender=Patient)
    try:
        key = uuid.uuid4()
        for text in SECRET, None, SECRET:
            models.Model.save_base(Patient(id=key, name="a", diagnosis=text, scan=b"x"), raw=True)
            assert Patient.objects.get().diagnosis == text
    finally:
        models.signals.post_save.disconnect(listener, sender=Patient)
    assert seen == [SECRET, None, SECRET]
    assert SECRET.encode() not in bytes(raw("select diagnosis from clinic_patient")[0][0])


# claim: field-row
def test_a_value_of_another_row_is_refused() -> None:
    for name in "ab":
        Patient.objects.create(name=name, diagnosis=name, scan=name.encode())
    moved = "(select diagnosis from clinic_patient where name = 'a')"
    raw(f"update clinic_patient set diagnosis = {moved} where name = 'b'")
    key = Patient.objects.values_list("pk", flat=True).get(name="b")
    with pytest.raises(EncryptedFieldError, match=r"^clinic_patient.diagnosis, primary key UUID") as caught:
        list(Patient.objects.all())
    error = caught.value
    assert (error.table, error.column, error.primary_key) == ("clinic_patient", "diagnosis", key)
    RING.rotate()
    with pytest.raises(EncryptedFieldError, match=str(key)):
        reencrypt(Patient)


# claim: field-place
def test_a_field_of_an_abstract_model_knows_its_table() -> None:
    Doctor.objects.create(remark=SECRET)
    Nurse.objects.create(remark=SECRET)
    assert Doctor.objects.get().remark == Nurse.objects.get().remark == SECRET
    raw("update clinic_nurse set remark = (select remark from clinic_doctor)")
    with pytest.raises(EncryptedFieldError, match=r"^clinic_nurse.remark, primary key 1: "):
        Nurse.objects.get()


# claim: field-place
# claim: field-private
def test_a_value_of_another_column_is_refused_and_not_shown() -> None:
    key = Patient.objects.create(name="a", scan=b"x", values_={"a": 1}).pk
    raw("update clinic_patient set values_ = scan")
    with pytest.raises(EncryptedFieldError, match=r"^clinic_patient.values_, primary key UUID"):
        Patient.objects.get()
    for stored in b"", SECRET.encode(), SECRET:
        raw("update clinic_patient set values_ = %s", stored)
        with pytest.raises(EncryptedFieldError) as caught:
            Patient.objects.get()
        assert SECRET not in repr(caught.value)
        assert caught.value.primary_key == key


# claim: field-names
@pytest.mark.parametrize(
    "read",
    [
        lambda: list(Patient.objects.all()),
        lambda: list(Patient.objects.iterator(chunk_size=1)),
        lambda: list(Patient.objects.values()),
        lambda: list(Patient.objects.values("scan")),
        lambda: list(Patient.objects.values_list("scan", flat=True)),
        lambda: list(Patient.objects.values_list("name", models.F("scan"))),
        lambda: list(Patient.objects.annotate(again=models.F("scan")).values("again")),
        lambda: list(Patient.objects.only("scan")),
        lambda: [one.scan for one in Patient.objects.defer("scan")],
        lambda: list(Patient.objects.raw("select * from clinic_patient")),
        lambda: list(Inpatient.objects.select_related()),
        lambda: list(Patient.objects.values_list(models.Window(FirstValue("scan"), order_by=["-name"]))),
        lambda: reencrypt(Patient),
    ],
)
def test_every_way_to_read_names_the_row(read: Callable[[], object]) -> None:
    Inpatient.objects.create(name="a", scan=b"x", room="7")
    key = Inpatient.objects.create(name="b", scan=b"x", room="8").pk
    mark = b"\x01" + RING.primary.to_bytes(4, "big")
    raw("update clinic_patient set scan = %s where name = 'b'", mark + b"\xff" * 12 + b"changed")
    with pytest.raises(EncryptedFieldError) as caught:
        read()
    error = caught.value
    assert (error.table, error.column, error.primary_key) == ("clinic_patient", "scan", key)


# claim: field-private
@pytest.mark.parametrize(
    "store",
    [
        lambda: Patient.objects.update(diagnosis=SECRET),
        lambda: Patient.objects.bulk_update([Patient(diagnosis=SECRET)], ["diagnosis"]),
        lambda: Patient.objects.update(scan=5),
        lambda: Patient.objects.create(scan=SECRET),
        lambda: Patient.objects.create(values_={SECRET: object()}),
        lambda: Note.objects.create(ward="w", number=1, secret=SECRET),
        lambda: Note.objects.bulk_create([Note(ward="w", number=1, secret=SECRET)]),
        lambda: Note.objects.create(ward="w", text=SECRET, number=None),
    ],
)
def test_what_cannot_be_sealed_is_refused_and_not_shown(store: Callable[[], object]) -> None:
    Patient.objects.create(name="before")
    with pytest.raises((TypeError, ValueError)) as caught, transaction.atomic():
        store()
    assert str(caught.value).startswith("clinic_")
    assert SECRET not in repr(caught.value)
    assert raw("select count(*) from clinic_note") == [(0,)]


# claim: field-private
@pytest.mark.parametrize(
    "value",
    [
        models.F("name"),
        models.F("email"),
        models.Value(SECRET),
        models.Value(SECRET.encode(), models.BinaryField()),
        Lower(models.Value(SECRET)),
        models.Subquery(Patient.objects.values("name")[:1]),
        Coalesce("scan", models.Value(SECRET.encode(), models.BinaryField())),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("name", ["scan", "diagnosis"])
def test_what_the_database_computes_is_not_stored(value: Any, name: str) -> None:
    patient = Patient.objects.create(name="a", scan=b"x", diagnosis="d")
    setattr(patient, name, value)
    for store in (
        lambda: Patient.objects.update(**{name: value}),
        lambda: Patient.objects.create(name="b", **{name: value}),
        lambda: Patient.objects.bulk_create([Patient(name="b", **{name: value})]),
        lambda: Patient.objects.bulk_update([patient], [name]),
        patient.save,
    ):
        # Django itself refuses to insert what refers to other columns.
        message = f"^clinic_patient.{name} is encrypted: the database cannot compute|not to insert"
        with pytest.raises((TypeError, ValueError), match=message), transaction.atomic():
            store()
    found = Patient.objects.get()
    assert (found.scan, found.diagnosis) == (b"x", "d")


def test_expressions_of_the_field_itself() -> None:
    one, other = (Patient.objects.create(name=name, scan=name.encode()) for name in "ab")
    one.scan = b"changed"
    assert Patient.objects.bulk_update([one, other], ["scan"]) == 2
    field: Any = Patient._meta.get_field("scan")
    last = models.Case(models.When(name="b", then=models.Value(b"last", field)), default=models.F("scan"))
    assert Patient.objects.update(scan=last) == 2
    assert [each.scan for each in Patient.objects.order_by("name")] == [b"changed", b"last"]
    for value in models.Value(SECRET), models.F("name"), Lower("scan"):
        mixed = models.Case(models.When(name="b", then=value), default=models.F("scan"))
        with pytest.raises(TypeError, match="is encrypted: the database cannot compute its values"):
            Patient.objects.update(scan=mixed)
    with pytest.raises(ValueError, match="pass default="):
        EncryptedTextField(db_default="plain")


def test_an_upsert_does_not_move_a_value_to_another_row() -> None:
    old = Patient.objects.create(name="a", email="a@x", diagnosis="old").pk
    new = Patient(name="new", email="a@x", diagnosis="new")
    options: Any = {"update_conflicts": True, "update_fields": ["name", "diagnosis"]}
    with pytest.raises(ValueError, match=r"diagnosis is bound to id, which an updated row keeps"):
        Patient.objects.bulk_create([new], unique_fields=["email"], **options)
    new.pk = old
    Patient.objects.bulk_create([new], unique_fields=["pk"], **options)
    found = Patient.objects.get()
    assert (found.pk, found.name, found.diagnosis) == (old, "new", "new")


@pytest.mark.parametrize("stored", [5, 1.5, "text", b""])
def test_stored_values_of_other_types(stored: object) -> None:
    """SQLite stores any type in any column."""
    key = Patient.objects.create(name="a").pk
    for column in "scan", "diagnosis":
        raw(f"update clinic_patient set {column} = %s", stored)
        for read in Patient.objects.get, lambda: reencrypt(Patient):
            with pytest.raises(EncryptedFieldError) as caught:
                read()
            assert (caught.value.column, caught.value.primary_key) == (column, key)
        raw(f"update clinic_patient set {column} = null")


def test_a_foreign_key_binds_by_both_of_its_names() -> None:
    with connection.schema_editor() as editor:
        for model in Owner, Pet:
            editor.create_model(model)
    try:
        pet = Pet.objects.create(owner=Owner.objects.create(), tag=SECRET)
        for name in "owner", "owner_id":
            pet.owner = Owner.objects.create()
            with pytest.raises(ValueError, match=r"clinic_pet.tag is bound to owner: save tag too"):
                pet.save(update_fields=[name])
        pet.save(update_fields=["owner_id", "tag"])
        assert Pet.objects.select_related().get().tag == SECRET
    finally:
        with connection.schema_editor() as editor:
            for model in Pet, Owner:
                editor.delete_model(model)


class Owner(models.Model):
    class Meta:
        app_label = "clinic"


class Pet(models.Model):
    owner = models.ForeignKey(Owner, on_delete=models.CASCADE)
    tag = EncryptedTextField(row=["owner"])

    class Meta:
        app_label = "clinic"


def test_statements_with_the_row() -> None:
    patient = Patient.objects.create(name="a")
    field: Any = Patient._meta.get_field("diagnosis")
    Patient.objects.filter(pk=patient.pk).update(diagnosis=field.for_row(SECRET, id=patient.pk))
    assert Patient.objects.get().diagnosis == SECRET
    note = Note.objects.create(ward="w", number="5")
    note.text = SECRET
    note.save()
    assert Note.objects.get().text == SECRET
    with pytest.raises(ValueError, match=r"clinic_note.text is bound to ward, number: save text too"):
        note.save(update_fields=["ward"])
    note.secret = SECRET
    note.save()
    assert Note.objects.get().secret == SECRET


def test_searching() -> None:
    for name in "abc":
        Patient.objects.create(name=name, email=f"{name}@x", diagnosis="d")
    assert Patient.objects.get(email="a@x").name == "a"
    assert not Patient.objects.filter(email="none").exists()
    assert Patient.objects.filter(email__in=["a@x", "b@x"]).count() == 2
    assert Patient.objects.filter(email__in=[]).count() == 0
    assert Patient.objects.exclude(email="a@x").count() == 2
    assert Patient.objects.filter(email=None).count() == 0
    assert Patient.objects.filter(diagnosis__isnull=False).count() == 3
    old = INDEX.primary
    INDEX.rotate()
    assert Patient.objects.get(email="a@x").name == "a"
    with pytest.raises(ValidationError, match="already exists"):
        Patient(name="z", email="a@x").full_clean()
    assert Patient.objects.get_or_create(email="a@x", defaults={"name": "z"})[1] is False
    assert reencrypt(Patient) == 3
    INDEX.disable(old)
    assert Patient.objects.get(email="a@x").name == "a"
    with pytest.raises(IntegrityError), transaction.atomic():
        Patient.objects.create(name="z", email="a@x")
    INDEX.enable(old)


@pytest.mark.parametrize(
    ("where", "error"),
    [
        ({"diagnosis": "x"}, TypeError),
        ({"scan__in": [b"x"]}, TypeError),
        ({"email__contains": "x"}, FieldError),
        ({"email__iexact": "x"}, FieldError),
        ({"email__gt": "x"}, FieldError),
        ({"values___a": 1}, FieldError),
        ({"email": models.F("name")}, TypeError),
        ({"email__in": models.F("name")}, TypeError),
    ],
)
def test_what_cannot_be_computed_is_refused(where: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Patient.objects.filter(**where)
    with pytest.raises(TypeError, match="is encrypted: the database cannot compute with"):
        Patient.objects.annotate(lower=Lower("email")).filter(lower="x")


def test_rotation_with_progress_and_resumption() -> None:
    for number in range(7):
        Patient.objects.create(name=str(number), diagnosis=str(number), email=f"{number}@x")
    Inpatient.objects.create(name="7", diagnosis="7", room="r")
    old, new = RING.primary, RING.rotate()
    calls: list[tuple[int, int | None]] = []

    def stop(done: int, total: int | None) -> None:
        calls.append((done, total))
        if len(calls) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reencrypt(Patient, batch=3, progress=stop)
    assert 0 < reencrypt(Patient, batch=3) < 16
    assert reencrypt(Patient) == 0
    assert reencrypt(Inpatient) == 1
    RING.disable(old)
    try:
        assert sorted(each.diagnosis or "" for each in Patient.objects.all()) == list("01234567")
    finally:
        RING.enable(old)
    prefix = b"\x01" + new.to_bytes(4, "big")
    assert all(bytes(one)[:5] == prefix for (one,) in raw("select diagnosis from clinic_patient"))
    with pytest.raises(ValueError, match="expected encrypted fields"):
        reencrypt(Visitor)


def test_migrations_contain_no_key(tmp_path: Path) -> None:
    ring = Keyring.generate()
    for made in (
        EncryptedTextField(keyring=ring, null=True, row=["id"]),
        EncryptedBinaryField(keyring=f"file:{tmp_path}/ring.json", row=["id"]),
        EncryptedJSONField(keyring=outer, renamed_from=("a", "b")),
        EncryptedTextField(searchable=True, unique=True),
    ):
        text, _ = MigrationWriter.serialize(made)
        _, path, arguments, options = made.deconstruct()
        assert path.rpartition(".")[0] == "sealane.django"
        again = type(made)(*arguments, **options)
        assert again.deconstruct()[2:] == (arguments, options)
        assert ring.to_json() not in text
        assert isinstance(options.get("keyring", ""), str) or options["keyring"] is outer


def outer() -> Keyring:
    return RING


def test_invalid_arguments() -> None:
    key: Any = sealane.keys.generate("aes-256")
    for error, options in (
        (TypeError, {"row": "id"}),
        (TypeError, {"keyring": key}),
        (ValueError, {"row": ["id"], "searchable": True}),
        (ValueError, {"unique": True}),
        (ValueError, {"db_index": True}),
        (ValueError, {"primary_key": True, "searchable": True, "keyring": INDEX}),
        (ValueError, {"keyring": RING, "searchable": True}),
        (ValueError, {"keyring": "somewhere"}),
    ):
        with pytest.raises(error):
            EncryptedTextField(**options)


def test_a_project_without_a_keyring() -> None:
    kept = settings.SEALANE_KEYRING
    try:
        settings.SEALANE_KEYRING = None
        with pytest.raises(ValueError, match="no keyring: pass keyring=, or set SEALANE_KEYRING"):
            Patient(id=uuid.uuid4(), name="a", diagnosis="x").save()
    finally:
        settings.SEALANE_KEYRING = kept


MODELS = """
import uuid
from django.db import models
from sealane.django import EncryptedTextField

class Question(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    question_text = EncryptedTextField(max_length=200, row=["id"])
    author = EncryptedTextField(searchable=True, null=True, blank=True)

    def __str__(self):
        return self.question_text
"""

ADMIN = """
from django.contrib import admin
from .models import Question
admin.site.register(Question)
"""

TESTS = """
from django.conf import settings
from django.contrib.auth.models import User
from django.test import TestCase
from django.urls import reverse
from polls.models import Question
from sealane.django import reencrypt
from sealane.keys import Keyring

class QuestionTests(TestCase):
    def test_search_and_rotation(self):
        Question.objects.create(question_text="What's up?", author="ann")
        for keyring in (settings.SEALANE_KEYRING, settings.SEALANE_SEARCH_KEYRING):
            keyring.rotate()
        self.assertEqual(reencrypt(Question), 2)
        self.assertEqual(Question.objects.get(author="ann").question_text, "What's up?")

    def test_admin(self):
        User.objects.create_superuser("admin", password="admin")
        self.client.login(username="admin", password="admin")
        add, index = reverse("admin:polls_question_add"), reverse("admin:polls_question_changelist")
        data = {"question_text": "What <else>?", "author": ""}
        self.assertRedirects(self.client.post(add, data), index)
        question = Question.objects.get()
        change = reverse("admin:polls_question_change", args=[question.pk])
        self.assertContains(self.client.get(change), "What &lt;else&gt;?")
        self.client.post(change, data | {"question_text": "Changed"})
        self.assertContains(self.client.get(index), "Changed")
        self.client.post(add, {"question_text": "Who?", "author": "ann"})
        self.assertEqual(Question.objects.get(author="ann").question_text, "Who?")
"""

SETTINGS = """
import os
from sealane.keys import Keyring, load
INSTALLED_APPS += ["polls"]
SEALANE_KEYRING = load(BASE_DIR / "ring.json")
SEALANE_SEARCH_KEYRING = load(BASE_DIR / "search.json")
if os.environ.get("TEST_SOCKET"):
    DATABASES["default"] = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": os.environ["TEST_DATABASE"],
        "HOST": os.environ["TEST_SOCKET"],
        "USER": "test",
    }
"""

PLAIN = "models.TextField(default='')"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_project_as_in_the_tutorial(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Django's commands, test runner and admin; and a plaintext column that becomes an encrypted one."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    if kind == "postgresql":
        environment["TEST_DATABASE"] = request.getfixturevalue("postgres")
        environment["TEST_SOCKET"] = str(request.getfixturevalue("postgres_folder"))

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout[-3000:]} {done.stderr[-3000:]}"
        return done.stdout + done.stderr

    Keyring.generate("xaes-256-gcm").save(tmp_path / "ring.json")
    Keyring.generate("aes-256-siv").save(tmp_path / "search.json")
    run("-m", "django", "startproject", "mysite", ".")
    run("manage.py", "startapp", "polls")
    with (tmp_path / "mysite" / "settings.py").open("a") as file:
        file.write(SETTINGS)
    (tmp_path / "polls" / "models.py").write_text(MODELS)
    (tmp_path / "polls" / "admin.py").write_text(ADMIN)
    (tmp_path / "polls" / "tests.py").write_text(TESTS)
    run("manage.py", "makemigrations", "polls")
    migration = (tmp_path / "polls" / "migrations" / "0001_initial.py").read_text()
    assert "sealane.django.EncryptedTextField" in migration
    assert "keyring" not in migration
    run("manage.py", "migrate")
    assert "OK" in run("manage.py", "test", "polls")
    assert "No changes detected" in run("manage.py", "makemigrations", "--check", "--dry-run")

    # A plaintext column becomes an encrypted one and back, with data migrations.
    for number, (before, after) in enumerate([(PLAIN, ENCRYPTED), (ENCRYPTED, PLAIN)]):
        write_migrations(tmp_path / "polls" / "migrations", number, before, after)
    run("manage.py", "migrate", "polls", "0002")
    run("manage.py", "shell", "-c", FILL)
    run("manage.py", "migrate", "polls", "0005")
    run("manage.py", "shell", "-c", CHECK.format(wanted="False"))
    run("manage.py", "migrate", "polls", "0008")
    run("manage.py", "shell", "-c", CHECK.format(wanted="True"))


ENCRYPTED = "sealane.django.EncryptedTextField(null=True, row=['id'])"

FILL = """
import uuid
from django.db import connection
for number in range(3):
    with connection.cursor() as cursor:
        key = uuid.uuid4() if connection.vendor == "postgresql" else uuid.uuid4().hex
        cursor.execute("insert into polls_question (id, question_text, comment) values (%s, %s, %s)",
            [key, b"", "plain text %d" % number])
"""

CHECK = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("select comment from polls_question")
    found = [row[0] for row in cursor.fetchall()]
assert len(found) == 3
texts = [one if isinstance(one, str) else str(bytes(one)) for one in found]
assert all(("plain text" in text) is {wanted} for text in texts), texts
"""


def write_migrations(folder: Path, number: int, before: str, after: str) -> None:
    """Writes the migrations of the guide: rename the column, add a new one, copy, delete the old one."""
    first = 2 + 3 * number
    names = [f"{one:04}_{part}" for one, part in enumerate(("rename", "copy", "delete"), first + 1)]
    head = "import sealane.django\nfrom django.db import migrations, models\n"
    model = "model_name='question'"
    if not number:
        add = f"migrations.AddField({model}, name='comment', field={before})"
        write(folder, "0002_comment", "0001_initial", head, add)
    last = "0002_comment" if not number else "0005_delete"
    rename = f"migrations.RenameField({model}, old_name='comment', new_name='comment_old')"
    add = f"migrations.AddField({model}, name='comment', field={after})"
    # An encrypted column that is renamed still has to open.
    if before == ENCRYPTED:
        opening = before.replace("null", "renamed_from=('polls_question', 'comment'), null")
        rename += f", migrations.AlterField({model}, name='comment_old', field={opening})"
    write(folder, names[0], last, head, f"{rename}, {add}")
    copy = (
        "def copy(apps, editor):\n"
        "    for one in apps.get_model('polls', 'Question').objects.only('comment_old').iterator():\n"
        "        one.comment = one.comment_old\n"
        "        one.save(update_fields=['comment'])\n"
    )
    write(folder, names[1], names[0], head + copy, "migrations.RunPython(copy)")
    write(folder, names[2], names[1], head, f"migrations.RemoveField({model}, name='comment_old')")


def write(folder: Path, name: str, after: str, head: str, operations: str) -> None:
    (folder / f"{name}.py").write_text(
        f"{head}\nclass Migration(migrations.Migration):\n"
        f"    dependencies = [('polls', '{after}')]\n    operations = [{operations}]\n"
    )
