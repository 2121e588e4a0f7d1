"""Encrypted fields of Django's models.

For example, with ``SEALANE_KEYRING = "file:/etc/app/fields.json"`` in the settings::

    from sealane.django import EncryptedTextField

    class Patient(models.Model):
        id = models.UUIDField(primary_key=True, default=uuid.uuid4)
        name = models.CharField(max_length=100)
        diagnosis = EncryptedTextField(null=True, row=["id"])

The database has a column of bytes. A value opens only in its table and column, and with ``row`` only
in its row. NULL stays NULL. ``reencrypt`` moves a model's table to a new key.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from django.conf import settings
from django.core import checks
from django.core.exceptions import FieldError
from django.db import models, transaction
from django.db.models import expressions, functions, lookups, signals
from django.db.models.sql.compiler import SQLCompiler
from django.db.models.sql.query import Query

from sealane import _fields
from sealane._fields import Bound, Field, KeyringLike, Sealed
from sealane._frames import forgetting

__all__ = ["EncryptedBinaryField", "EncryptedJSONField", "EncryptedTextField", "Sealed", "reencrypt"]


class _Ciphertext(bytes):
    """What is stored as it is."""


class _Encrypted(models.Field):  # type: ignore[type-arg]
    """What the encrypted fields share."""

    _kind: type

    @forgetting
    def __init__(
        self,
        *args: Any,
        keyring: KeyringLike | None = None,
        row: Sequence[str] = (),
        searchable: bool = False,
        renamed_from: tuple[str, str] | None = None,
        **options: Any,
    ) -> None:
        if "db_default" in options:
            raise ValueError("the database would store db_default without encryption; pass default=")
        if not searchable and any(options.get(name) for name in ("unique", "db_index", "primary_key")):
            raise ValueError(_fields.NO_INDEX)
        if options.get("primary_key"):
            raise ValueError(_fields.NO_KEY)
        self.row, self.searchable, self.renamed_from = tuple(row), searchable, renamed_from
        self._keyring = keyring
        self._keys = _fields.Keys(self._from_settings if keyring is None else keyring, searchable, row)
        super().__init__(*args, **options)

    def contribute_to_class(self, cls: type[models.Model], name: str, private_only: bool = False) -> None:
        """Adds the field to a model; Django calls it, for a copy where the model is abstract."""
        super().contribute_to_class(cls, name, private_only)
        self.__dict__.pop("_row_fields", None)
        self.sealing = Field(self._keys, self._codec(), self.row, self._place, self._key_of)

    def check(self, **options: Any) -> list[checks.CheckMessage]:
        """Returns what is wrong with the field and with its use in the model; Django calls it."""
        return super().check(**options) + [checks.Error(why, obj=self) for why in self._misuses()]

    def _misuses(self) -> Iterator[str]:
        meta = self.model._meta
        made: Any = [*meta.indexes, *meta.constraints]
        if self.name in getattr(meta.pk, "field_names", ()):
            yield _fields.NO_KEY
        named = [*meta.unique_together, *(getattr(one, "fields", ()) for one in made)]
        if not self.searchable and any(self.name in [one.lstrip("-") for one in names] for names in named):
            yield _fields.NO_INDEX
        order: Any = meta.ordering
        latest: Any = meta.get_latest_by or ()
        ordered = [*order, *([latest] if isinstance(latest, str) else latest)]
        computed = [*ordered, *(one for each in made for one in getattr(each, "expressions", ()))]
        computed += [getattr(one, "expression", None) for one in meta.local_fields]
        query = Query(self.model, alias_cols=False)
        for part in _parts_of(*(one[0] if isinstance(one, tuple) else one for one in computed)):
            name = vars(part)["name"] if type(part) is models.F else part
            if isinstance(name, str) and name.lstrip("-") == self.name:
                yield _fields.NOT_COMPUTED
                return
        for condition in filter(None, (getattr(one, "condition", None) for one in made)):
            try:
                where = query.build_where(condition)
                _check_parts(where)
                finds = any(isinstance(part, _In) and part.lhs.target == self for part in _parts_of(where))
            except (FieldError, TypeError) as why:
                finds = str(why).startswith(f"{self.sealing} ")
            if finds:
                yield _fields.NOT_COMPUTED
                return

    def rel_db_type(self, connection: Any) -> NoReturn:
        """Raises ValueError for a foreign key to this field."""
        raise ValueError(f"{self.sealing}: {_fields.NO_KEY}")

    def get_col(self, alias: str, output_field: Any = None) -> expressions.Col:
        """Returns the column in a statement; Django calls it."""
        return _Column(alias, self, output_field)

    def _codec(self) -> _fields.Codec:
        return _fields.CODECS[self._kind]

    def _from_settings(self) -> Any:
        name = "SEALANE_SEARCH_KEYRING" if self.searchable else "SEALANE_KEYRING"
        found = getattr(settings, name, None)
        if found is None:
            raise ValueError(f"no keyring: pass keyring=, or set {name} in the settings")
        return found() if callable(found) else found

    def _place(self) -> tuple[str, str]:
        return self.renamed_from or (self.model._meta.db_table, str(self.column))

    def deconstruct(self) -> Any:
        """Returns the arguments for a migration: never a keyring, only references and functions."""
        name, path, args, options = super().deconstruct()
        options |= {
            key: value for key in ("row", "searchable", "renamed_from") if (value := getattr(self, key))
        }
        if isinstance(self._keyring, str) or callable(self._keyring):
            options["keyring"] = self._keyring
        return name, path, args, options

    def db_type(self, connection: Any) -> Any:
        """Returns the column's type, bytes. ``get_internal_type`` returns the values' type."""
        return models.BinaryField().db_type(connection)

    cast_db_type = db_type

    def db_check(self, connection: Any) -> None:
        """Returns no check of the column: ciphertext is not JSON."""

    def row_of(self, instance: models.Model) -> list[Any]:
        """Returns the values that a value of this object is bound to, as the database returns them."""
        return [convert(getattr(instance, name)) for name, convert in self._row_fields]

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        """Returns the value with its row; Django calls it."""
        value = super().pre_save(model_instance, add)
        if not self.row or value is None or hasattr(value, "resolve_expression"):
            return value
        row = self.row_of(model_instance)
        if None not in row:
            return Bound(value, row)
        raise ValueError(
            f"{self.sealing} is bound to {', '.join(self.row)}, which has no value before the row is stored: "
            "bind to a UUIDField with a default, or save the object with None first"
        )

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """Encrypts a value; Django calls it."""
        if value is None:
            return None
        if not isinstance(value, _Ciphertext):
            bound = isinstance(value, Bound)
            if self.row and not bound:
                raise TypeError(
                    f"{self.sealing} is bound to its row: save objects, or pass field.for_row(value, "
                    f"{', '.join(f'{name}=…' for name in self.row)})"
                )
            plain = self.get_prep_value(value.value if bound else value)
            value = self.sealing.seal(plain, value.row if bound else ())
        return connection.Database.Binary(value)

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        """Encrypts a value; Django calls it, also with expressions, which the database computes."""
        if not hasattr(value, "as_sql"):
            return self.get_db_prep_value(value, connection)
        if not self._is_own(value):
            raise TypeError(f"{self.sealing} is encrypted: the database cannot compute its values")
        return value

    def _is_own(self, made: Any) -> bool:
        """Returns whether an expression gives values of this field only, such as that of ``bulk_update``."""
        if isinstance(made, models.Value):
            value: Any = made
            return value.value is None or bool(value._output_field_or_none == self)
        if isinstance(made, expressions.Col):
            return bool(made.target == self)
        if isinstance(made, models.When):
            return self._is_own(made.result)
        return type(made) in (models.Case, functions.Cast) and all(
            map(self._is_own, made.get_source_expressions())
        )

    def get_placeholder(self, value: Any, compiler: Any, connection: Any) -> Any:
        """Returns the place of a value in a statement; Django calls it."""
        query = compiler.query
        if self.row and self in getattr(query, "update_fields", ()):
            names = {each.attname for each in query.unique_fields}
            if not names.issuperset(name for name, _ in self._row_fields):
                raise ValueError(
                    f"{self.sealing} is bound to {', '.join(self.row)}, which an updated row keeps: update "
                    "objects, or pass these as unique_fields"
                )
        return connection.ops.binary_placeholder_sql(value)

    def get_db_converters(self, connection: Any) -> list[Any]:
        """Returns the functions that decrypt values; Django calls them."""
        return [self.sealing.sealed if self.row else self.sealing.opener.open]

    def _key_of(self, sealed: Any, *found: Any) -> Sequence[object]:
        """Returns the primary key of an object, or else of a row that has this value."""
        if self.row:
            return [one.pk for one in found]
        with contextlib.suppress(Exception):
            rows = _rows(self.model, self, found[-1].alias).filter(sealane_stored=sealed)
            return rows.values_list("pk")[0]  # type: ignore[no-any-return]
        return ()

    @functools.cached_property
    def _row_fields(self) -> list[tuple[str, Callable[[Any], Any]]]:
        fields: list[Any] = [self.model._meta.get_field(name) for name in self.row]
        return [(field.attname, field.to_python) for field in fields]

    def for_row(self, value: Any, **row: object) -> Any:
        """Returns a value for a statement without objects, such as ``update``, bound to the named fields.

        >>> Patient.objects.filter(id=number).update(diagnosis=field.for_row("well", id=number))
        1
        """
        return Bound(value, self.sealing.row_of(row))

    def get_lookup(self, lookup_name: str) -> Any:
        """Returns the lookups ``isnull``, and ``exact`` and ``in``, which need a searchable field."""
        return {"exact": _Exact, "in": _In, "isnull": lookups.IsNull}.get(lookup_name)

    def get_transform(self, lookup_name: str) -> NoReturn:
        """Raises FieldError: nothing can be computed of an encrypted value."""
        raise FieldError(f"{self.sealing} is encrypted: there is no lookup {lookup_name!r} of its values")


class _Column(expressions.Col):
    """An encrypted column in a statement."""

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        """Returns the SQL, or refuses a statement that computes with encrypted values."""
        if not hasattr(compiler, "sealane_checked"):
            # A subquery or a part of a union does not know the statement around it, which may have
            # no other encrypted column. But the compiler of that one is calling us.
            compilers, frame = [compiler], sys._getframe()
            while frame.f_back is not None and frame.f_code.co_name != "execute_sql":
                frame = frame.f_back
                if frame.f_code.co_name == "as_sql":
                    compilers.append(frame.f_locals.get("self"))
            for each in compilers:
                if isinstance(each, SQLCompiler) and not hasattr(each, "sealane_checked"):
                    each.sealane_checked = True  # type: ignore[attr-defined]
                    _check_statement(each)
        return super().as_sql(compiler, connection)


def _check_statement(compiler: Any) -> None:
    """Refuses a statement whose result would come from ciphertexts instead of values."""
    query = compiler.query
    order = [one.resolve_expression(query, allow_joins=True) for one, _ in compiler._order_by_pairs()]
    joins = [getattr(join, "filtered_relation", None) for join in query.alias_map.values()]
    conditions = [join.resolved_condition for join in joins if join is not None]
    stored = [(target, value) for target, _, value in getattr(query, "values", ())]
    stored += [(one, getattr(new, one.attname)) for new in getattr(query, "objs", ()) for one in query.fields]
    _check_parts(query.where, *query.annotations.values(), *conditions, *order, *(one for _, one in stored))
    for target, value in stored:
        for field in _fields_in(value):
            if field != target:
                raise FieldError(f"{field.sealing} is encrypted: {target} would get its ciphertext")
    compared: list[Any] = [query.group_by if isinstance(query.group_by, tuple) else ()]
    if query.distinct_fields:
        compared.append([query.resolve_ref(name) for name in query.distinct_fields])
    elif query.distinct:
        compared.append([*query.select, *query.annotation_select.values()])
    united = [_columns_of(one, query.selected, compiler.connection) for one in query.combined_queries]
    compared += [] if query.combinator_all else united
    for columns in compared:
        # Beside a primary key, an encrypted value decides nothing.
        if not any(getattr(getattr(one, "target", None), "primary_key", False) for one in columns):
            for field in _fields_in(*columns):
                if not field.searchable:
                    raise FieldError(f"{field.sealing} is encrypted: {_fields.NOT_EQUAL}")
    for first, *others in zip(*united, strict=False):
        for other in others:
            own, found = list(_fields_in(first)), list(_fields_in(other))
            if own != found and not (own and isinstance(other, models.Value) and other.value is None):
                raise FieldError(
                    f"{[*own, *found][0].sealing} is encrypted: beside it, a union has values of another "
                    "column, which would not be decrypted; select the same field"
                )


def _check_parts(*expressions: Any) -> None:
    """Refuses expressions that make something else of encrypted values than themselves."""
    for part in _parts_of(*expressions):
        for field in _fields_in(*getattr(part, "get_source_expressions", tuple)()):
            if getattr(part, "distinct", False) and not field.searchable:
                raise FieldError(f"{field.sealing} is encrypted: {_fields.NOT_EQUAL}")
            if isinstance(part, _OTHER):
                continue
            if isinstance(part, _PASSING) and part.output_field != field:
                raise FieldError(
                    f"{field.sealing} is encrypted: {type(part).__name__} would return its ciphertext as "
                    f"{type(part.output_field).__name__}; let it have values and the type of this field only"
                )
            if not isinstance(part, _PASSING):
                made = "an order" if isinstance(part, models.OrderBy) else type(part).__name__
                raise FieldError(
                    f"{field.sealing} is encrypted: the database cannot compute {made} of its values"
                )


def _columns_of(query: Any, selected: Any, connection: Any) -> list[Any]:
    """Returns what a part of a union selects: what the whole does, unless it has its own columns."""
    query = query.clone()
    if selected is not None and query.selected is None:
        query.set_values(selected)
    compiler = query.get_compiler(connection=connection)
    compiler.setup_query()
    return [expression for expression, *_ in compiler.select]


def _parts_of(*expressions: Any) -> Iterator[Any]:
    """Returns expressions and all that they consist of."""
    for one in filter(None, expressions):
        yield one
        yield from _parts_of(*getattr(one, "get_source_expressions", tuple)())


def _fields_in(*made: Any) -> Iterator[Any]:
    """Returns the encrypted fields whose values expressions have."""
    for one in made:
        if isinstance(one, _Column):
            yield one.target
        elif isinstance(one, Query):
            yield from _fields_in(*one.select, *one.annotation_select.values(), *one.combined_queries)
        elif isinstance(one, _PASSING) and not isinstance(one, _OTHER):
            yield from _fields_in(*one.get_source_expressions())


class _In(lookups.In):
    """Compares with the values under all enabled keys."""

    def __init__(self, lhs: Any, rhs: Any) -> None:
        if hasattr(rhs, "resolve_expression") or any(hasattr(one, "resolve_expression") for one in rhs):
            raise TypeError(f"{lhs.output_field.sealing} is encrypted: it can only be compared with values")
        field = lhs.output_field
        if not isinstance(lhs, expressions.Col):
            raise TypeError(f"{field.sealing} is encrypted: the database cannot compute with its values")
        values = [field.get_prep_value(value) for value in rhs if value is not None]
        super().__init__(lhs, [_Ciphertext(one) for value in values for one in field.sealing.find(value)])

    def get_prep_lookup(self) -> Any:
        return self.rhs


class _Exact(_In):
    lookup_name = "exact"

    def __init__(self, lhs: Any, rhs: Any) -> None:
        super().__init__(lhs, rhs if hasattr(rhs, "resolve_expression") else [rhs])
        if rhs is None:
            self.rhs = None


_OTHER = (_In, lookups.IsNull, models.Count, models.ExpressionWrapper, models.Exists)
"""What has values of another type. Who wraps a column in one asks for its ciphertext."""
_PASSING = (
    *(models.Case, models.When, models.Subquery, models.Window, expressions.Ref),
    *(functions.Lag, functions.Lead, functions.FirstValue, functions.LastValue, functions.NthValue),
)
"""What returns one of its values as it is."""


class EncryptedTextField(_Encrypted, models.TextField):  # type: ignore[type-arg]
    """Encrypted text.

    Parameters
    ----------
    keyring : Keyring, str or callable, optional
        The keyring, a reference to it, or a function that returns it. Migrations contain references
        and functions, never a Keyring. By default it is ``SEALANE_KEYRING`` of the settings, and
        ``SEALANE_SEARCH_KEYRING`` of a searchable field.
    row : list of str
        Names of fields, of int, str, bytes or UUID. The value opens only in a row with the same
        values in them, so name fields that do not change, such as the primary key. ``values()`` and
        ``values_list()`` return ``Sealed``, and ``update()`` takes ``for_row(…)`` of the field.
    searchable : bool
        Whether the lookups ``exact`` and ``in`` find rows, and ``unique=True`` is allowed. The keyring
        must have aes-256-siv keys. **Reveals** to readers of the database which rows have the same
        value, how often it occurs, how long it is, and whether a value that they can get encrypted
        occurs.
    renamed_from : (str, str), optional
        The table and column that existing values are bound to, if either was renamed since.
    *args, **options
        The other options of ``TextField``.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid. Later, if a value with ``row`` is stored without an object.
    EncryptedFieldError
        While rows are read, if a value does not open.

    Examples
    --------
    >>> EncryptedTextField(null=True, keyring="file:fields.json")
    <sealane.django.EncryptedTextField>
    """

    _kind = str


class EncryptedBinaryField(_Encrypted, models.BinaryField):  # type: ignore[type-arg]
    """Encrypted bytes. The parameters are those of ``EncryptedTextField`` and of ``BinaryField``.

    Examples
    --------
    >>> EncryptedBinaryField(row=["id"])
    <sealane.django.EncryptedBinaryField>
    """

    _kind = bytes


class EncryptedJSONField(_Encrypted, models.JSONField):
    """Encrypted JSON. The parameters are those of ``EncryptedTextField`` and of ``JSONField``.

    Lookups inside of the value are refused.

    Examples
    --------
    >>> EncryptedJSONField(default=dict)
    <sealane.django.EncryptedJSONField>
    """

    _kind = dict

    def _codec(self) -> _fields.Codec:
        encoder, decoder = self.encoder, self.decoder
        return lambda x: json.dumps(x, cls=encoder).encode(), lambda x: json.loads(x, cls=decoder), object


def _prepared(sender: Any, **_: Any) -> None:
    """Connects the signals of a model that has values bound to their rows."""
    fields = [one for one in sender._meta.concrete_fields if isinstance(one, _Encrypted) and one.row]
    if not fields:
        return

    def opened(instance: Any, **_: Any) -> Any:
        data = instance.__dict__
        for field in fields:
            value, sealing = data.get(field.attname), field.sealing
            if type(value) is Sealed:
                aad = sealing.aad(field.row_of(instance))
                data[field.attname] = sealing.opener.open(value.data, aad, instance)
            elif type(value) is Bound:
                data[field.attname] = value.value
        return instance

    def saving(instance: Any, raw: bool, update_fields: frozenset[str] | None, **_: Any) -> None:
        for field in fields:
            bound = {*field.row, *(name for name, _ in field._row_fields)}
            if update_fields is not None and field.name not in update_fields and update_fields & bound:
                raise ValueError(
                    f"{field.sealing} is bound to {', '.join(field.row)}: save {field.name} too, or it "
                    "no longer opens"
                )
            if raw:  # loaddata stores what the object has, without asking the field
                setattr(instance, field.attname, field.pre_save(instance, False))

    # Not the signal post_init, which takes a third of the time.
    loaded = sender.from_db.__func__
    sender.from_db = classmethod(lambda *found, **options: opened(loaded(*found, **options)))
    signals.pre_save.connect(saving, sender=sender, weak=False)
    signals.post_save.connect(opened, sender=sender, weak=False)


def reencrypt(
    model: type[models.Model],
    *,
    using: str = "default",
    batch: int = 1000,
    progress: Callable[[int, int | None], object] | None = None,
) -> int:
    """Moves the encrypted fields of a model to the primary keys of their keyrings.

    After an interruption, the same call continues: values that are under the primary key are left. A
    row that changes during the call keeps its new value.

    Parameters
    ----------
    model : model class
        The model, whose own table is read in the order of the primary key.
    using : str
        The database, as in ``QuerySet.using``.
    batch : int
        Rows per transaction.
    progress : callable(done, total), optional
        Called after each batch with the number of values read, and of all.

    Returns
    -------
    int
        Number of values that were not under the primary key.

    Raises
    ------
    EncryptedFieldError
        If a value does not open, under whichever key, with its primary key. Earlier batches are done.
    ValueError
        If the model has no encrypted field, or if a primary key of a keyring has the prefix "raw".

    Examples
    --------
    >>> reencrypt(Patient)
    0
    """
    fields = [one for one in model._meta.local_concrete_fields if isinstance(one, _Encrypted)]
    if not fields:
        raise ValueError(f"{model._meta.label}: expected encrypted fields")
    total = len(fields) * model._base_manager.using(using).count()
    return _fields.reencrypt([_parts(model, field, using, batch) for field in fields], total, progress)


def _rows(model: Any, field: _Encrypted, using: str) -> Any:
    """Returns the rows of a model in their order, with the stored value of a field, of any type."""
    stored = models.ExpressionWrapper(models.F(field.attname), output_field=models.Field())
    return model._base_manager.using(using).order_by("pk").annotate(sealane_stored=stored)


def _parts(model: Any, field: _Encrypted, using: str, batch: int) -> _fields.Parts:
    rows = _rows(model, field, using)

    def batches() -> Iterator[list[_fields.Cell]]:
        after = rows
        while found := list(after.values_list("pk", *field.row, "sealane_stored")[:batch]):
            yield [([key], row, _fields.whole(sealed)) for key, *row, sealed in found]
            after = rows.filter(pk__gt=found[-1][0])

    def write(pairs: list[tuple[_fields.Cell, bytes]]) -> None:
        with transaction.atomic(using):
            for ((key,), _, old), new in pairs:
                rows.filter(pk=key, sealane_stored=old).update(**{field.attname: _Ciphertext(new)})

    return field.sealing, batches(), write


signals.class_prepared.connect(_prepared)
