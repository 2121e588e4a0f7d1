"""Encrypted columns of SQLAlchemy, for text, bytes, JSON, numbers, dates and other types.

For example::

    from sealane.sqlalchemy import Encrypted

    class User(Base):
        __tablename__ = "users"
        id: Mapped[int] = mapped_column(primary_key=True)
        email: Mapped[str] = mapped_column(Encrypted(Text, keyring=index, searchable=True))
        notes: Mapped[str | None] = mapped_column(Encrypted(Text, keyring=ring, row=["id"]))

The database has a column of bytes. A value opens only in its table and column, and with ``row`` only
in its row. NULL stays NULL. ``reencrypt`` moves a table to a new key.
"""

from __future__ import annotations

import enum
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, orm
from sqlalchemy.exc import DontWrapMixin
from sqlalchemy.sql import operators, visitors

from sealane import _fields
from sealane._fields import Bound, Field, KeyringLike, Sealed
from sealane._frames import forgetting
from sealane.exceptions import escaped
from sealane.sqlalchemy._statements import check_use, fields_in, parts_of, refused, selected

__all__ = ["Encrypted", "Sealed", "reencrypt"]

_T = TypeVar("_T")


class Encrypted(sa.types.TypeDecorator[_T]):
    """The type of an encrypted column.

    Parameters
    ----------
    type_ : TypeEngine
        The type of the values: ``Text``, ``String``, ``LargeBinary``, ``JSON``, ``Integer``,
        ``Numeric``, ``Float``, ``Boolean``, ``Date``, ``DateTime``, ``Uuid``, ``Enum``, or any with
        a ``codec``.
    keyring : Keyring, str or callable
        The keyring, a reference to it, or a function that returns it, which is called often. The
        primary key encrypts, every enabled key decrypts. Changes of the object are followed; a
        reference is resolved once per process.
    row : list of str
        Names of columns of the table, of int, str, bytes or UUID. The value opens only in a row with
        the same values in them, so name columns that do not change, such as the primary key. Such
        values are read and written by objects: a ``select`` of the column alone returns ``Sealed``,
        and statements without objects take ``for_row(…)``.
    searchable : bool
        Whether ``column == value`` and ``column.in_(values)`` find rows. The keyring must have
        aes-256-siv keys. **Reveals** to readers of the database which rows have the same value, how
        often it occurs, how long it is, and whether a value that they can get encrypted occurs.
    renamed_from : (str, str), optional
        The table and column that existing values are bound to, if either was renamed since.
    codec : (callable, callable), optional
        Functions from a value to bytes, and from bytes to the value, for other types.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, for example a keyring of another kind. Later, if a value of another
        type is stored, or if a value with ``row`` is stored without an object.
    EncryptedFieldError
        While rows are read, if a value does not open.

    Examples
    --------
    >>> from sqlalchemy import Text
    >>> ring = sealane.keys.Keyring.generate("xaes-256-gcm")
    >>> Encrypted(Text, keyring=ring)
    Encrypted(Text())
    """

    impl = sa.LargeBinary
    cache_ok = True

    @forgetting
    def __init__(
        self,
        type_: sa.types.TypeEngine[_T] | type[sa.types.TypeEngine[_T]],
        *,
        keyring: KeyringLike,
        row: Sequence[str] = (),
        searchable: bool = False,
        renamed_from: tuple[str, str] | None = None,
        codec: tuple[Callable[[_T], bytes], Callable[[bytes], _T]] | None = None,
    ) -> None:
        super().__init__()
        self.type_ = sa.types.to_instance(type_)
        self.row = tuple(row)
        self._keys = _fields.Keys(keyring, searchable, row)
        self._names = renamed_from
        self._codec = _codec_of(self.type_) if codec is None else (*codec, object)
        self._set_column(None)

    def __repr__(self) -> str:
        return f"Encrypted({self.type_!r})"

    def for_row(self, value: _T, **row: object) -> Any:
        """Returns a value for a statement without objects, bound to the named columns.

        >>> users = Table("users", MetaData(), Column("id", Integer), Column("notes", notes))
        >>> statement = users.insert().values(id=7, notes=users.c.notes.type.for_row("tea", id=7))
        """
        return Bound(value, self.keyring.row_of(row))

    def _set_column(self, column: sa.Column[Any] | None) -> None:
        self._column = column
        # SQLAlchemy caches statements by the attributes that are named as parameters, so one of
        # them has to be unique.
        self.keyring = Field(self._keys, self._codec, self.row, self._place, self._key_of)

    def _place(self) -> tuple[str, str]:
        if self._names is not None:
            return self._names
        table = getattr(self._column, "table", None)
        if self._column is None or table is None:
            raise _unwrapped(ValueError("an encrypted value needs the column of a table"))
        return table.fullname, self._column.name

    def _set_parent(self, parent: Any, outer: bool = False, **options: Any) -> None:
        # Several columns may share a type, so each has a copy, which knows its column.
        super()._set_parent(parent, outer, **options)
        if (parent.unique or parent.index or parent.primary_key) and not self.keyring.searchable:
            raise ValueError(f"{escaped(parent.name)}: {_fields.NO_INDEX}")
        if parent.primary_key:
            raise ValueError(f"{escaped(parent.name)}: {_fields.NO_KEY}")
        # The defaults of a column are known when it gets its table.
        event.listen(parent, "before_parent_attach", _check_defaults)
        parent.type = own = self.copy()
        own._set_column(parent)

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> bytes | None:
        """Encrypts a value; SQLAlchemy calls it."""
        if value is None:
            return None
        try:
            if isinstance(value, Bound):
                return b"" if value.row is None else self.keyring.seal(value.value, value.row)
            if not self.row:
                return self.keyring.seal(value)
            problem: Exception = TypeError(
                f"{self.keyring} is bound to its row: add an object to the session, or pass for_row(value, "
                f"{', '.join(f'{name}=…' for name in self.row)})"
            )
        except Exception as error:
            problem = error
        raise _unwrapped(problem) from None

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Callable[[Any], Any]:
        """Returns a function that decrypts values; SQLAlchemy calls it."""
        field, convert = self.keyring, self.impl_instance.result_processor(dialect, coltype)
        opened = field.sealed if self.row else field.opener.open
        return opened if convert is None else lambda value: opened(convert(value))

    def literal_processor(self, dialect: sa.Dialect) -> NoReturn:
        """Raises TypeError, because SQLAlchemy's own error would show the value."""
        raise _unwrapped(TypeError(f"{self.keyring} is encrypted: pass its values as parameters"))

    def with_variant(self, type_: Any, *dialect_names: str) -> NoReturn:
        """Raises ValueError, because another type would store values without encryption."""
        raise ValueError(f"{self!r}: a variant for {', '.join(dialect_names)} would store plaintext")

    def _key_of(self, sealed: Any, target: Any = None) -> Sequence[object]:
        """Returns the primary key of an object; SQLAlchemy does not say which row other values are of."""
        mapper = None if target is None else sa.inspect(target).mapper
        return () if mapper is None else mapper.primary_key_from_instance(target)

    class comparator_factory(sa.types.TypeDecorator.Comparator[Any]):
        """Comparison with NULL, and by equality with values under all enabled keys."""

        def operate(self, op: Any, *other: Any, **options: Any) -> Any:
            field: Field = self.expr.type.keyring  # type: ignore[attr-defined]
            if op is operators.distinct_op and field.searchable:
                return super().operate(op, *other, **options)
            if op in (_NULL | _EQUAL) and (other[0] is None or isinstance(other[0], sa.Null)):
                return super().operate(op, *other, **options)
            if op is operators.eq and _is_sql(other[0]):
                # SQLAlchemy looks for columns in lists and dicts, so only a statement is refused.
                made: Any = super().operate(op, *other, **options)
                made.__class__, made.field = _Refused, field
                return made
            values = list(other[0]) if op in _IN and isinstance(other[0], _LISTS) else list(other)
            is_column = isinstance(getattr(self.expr, "element", self.expr), sa.ColumnClause)
            if op not in _EQUAL or not is_column or any(_is_sql(value) for value in values):
                raise refused(field)
            found = [sealed for value in values for sealed in field.find(value)]
            stored = sa.type_coerce(self.expr, sa.LargeBinary())
            return stored.in_(found) if op in (operators.eq, operators.in_op) else stored.not_in(found)


class _Refused(sa.BinaryExpression[Any]):
    """A comparison with another column, which no statement may contain."""

    inherit_cache = False
    field: Field

    def _compiler_dispatch(self, visitor: Any, **options: Any) -> Any:
        raise refused(self.field)


_NULL = {operators.is_, operators.is_not}
_IN = {operators.in_op, operators.not_in_op}
_EQUAL = {operators.eq, operators.ne, *_IN}
_LISTS = (list, tuple, set, frozenset)


def _is_sql(value: object) -> bool:
    return isinstance(value, sa.ClauseElement) or hasattr(value, "__clause_element__")


def _codec_of(type_: sa.types.TypeEngine[Any]) -> _fields.Codec:
    """Returns the codec of a type of SQLAlchemy."""
    if isinstance(type_, sa.JSON):
        encode, *rest = _fields.CODECS[dict]
        return (lambda value: encode(None if value is sa.JSON.NULL else value), *rest)
    try:
        kind = type_.python_type
    except NotImplementedError:
        kind = object
    if issubclass(kind, enum.Enum):
        return lambda value: value.name.encode(), lambda data: kind[data.decode()], kind
    if kind not in _fields.CODECS:
        raise ValueError(f"{type_!r}: no codec is known for this type; pass codec=(encode, decode)")
    return _fields.CODECS[kind]


def _unwrapped(error: Exception) -> Exception:
    """Returns the error so that SQLAlchemy does not wrap it in one that shows the parameters."""
    kind = type(error)
    made: Exception = type(kind.__name__, (kind, DontWrapMixin), {"__module__": kind.__module__})(*error.args)
    return made


# What the database computes, it would store as it is. Types see only the values that they get.


class _Stored(sa.LargeBinary):
    """The type of values that are stored as they are."""


_CHECKED: weakref.WeakSet[Any] = weakref.WeakSet()
"""Compiled statements, which SQLAlchemy keeps for the next ones of the same structure."""


@event.listens_for(sa.Engine, "before_cursor_execute")
def _executing(_connection: Any, _cursor: Any, _sql: str, _values: Any, context: Any, _many: bool) -> None:
    """Refuses a statement that computes with encrypted columns, also in a subquery or a CTE."""
    compiled = context.compiled
    if compiled is None or compiled in _CHECKED:
        return
    statement = compiled.statement
    if not isinstance(statement, sa.UpdateBase) and compiled.compile_state is not None:
        statement = compiled.compile_state.statement  # of objects, with what the mapping and options add
    for element in parts_of(statement):
        if isinstance(element, sa.Insert | sa.Update):
            _check_values(element)
        check_use(element)
    _CHECKED.add(compiled)


def _check_values(statement: Any) -> None:
    """Refuses expressions as values of encrypted columns."""
    table = statement.table
    for column in (sealed := _sealed_of(table)):
        _check_defaults(column, table)
    upsert: Any = statement._post_values_clause
    updated: dict[Any, Any] = {}
    for one in getattr(upsert, "clauses", [upsert]):  # SQLite takes several
        updated |= dict(getattr(one, "update_values_to_set", None) or getattr(one, "update", None) or {})
    kept = {getattr(one, "name", one) for one in getattr(upsert, "inferred_target_elements", None) or ()}
    by_column = dict.fromkeys(table.c)
    for key in updated:
        # If a key is not a column's, SQLAlchemy sends the value as it is, and only warns.
        name, known = (key, table.c) if isinstance(key, str) else (key.name, by_column)
        if key not in known and (found := [column for column in sealed if column.name == name]):
            raise TypeError(f"{found[0].type.keyring} is encrypted: {name!r} is not the key of its column")
    several = [each for group in statement._multi_values for each in group]
    pairs = [
        pair for each in (statement._values or {}, updated, *several) for pair in _pairs(statement, each)
    ]
    moved = len(pairs)
    if (select := getattr(statement, "select", None)) is not None:
        names = statement._select_names or []
        for chosen in selected(select):
            each = chosen if len(chosen) == len(names) else [select] * len(names)
            pairs += zip(names, each, strict=True)
    for number, (key, value) in enumerate(pairs):
        if not _is_sql(value):
            continue
        value = value.__clause_element__() if hasattr(value, "__clause_element__") else value
        column = _column_of(statement, key)
        if isinstance(type_ := getattr(column, "type", None), Encrypted):
            if not _is_own(type_, value):
                raise TypeError(f"{type_.keyring} is encrypted: the database cannot compute its values")
            if type_.row and isinstance(value, sa.Column):
                # Of another table, it is what an INSERT would have stored.
                is_same_row = isinstance(value.table, sa.Table) or kept.issuperset(type_.row)
                if number >= moved or not is_same_row:
                    raise TypeError(
                        f"{type_.keyring} is bound to {', '.join(type_.row)}, and the value to those of "
                        "another row: use objects or for_row(…), or upsert by these columns"
                    )
        for field in () if isinstance(type_, Encrypted) else fields_in(value):
            target = escaped(f"{statement.table.name}.{column.key}")
            raise TypeError(f"{field} is encrypted: {target} would get its ciphertext")


def _check_defaults(column: Any, _table: Any) -> None:
    defaults = [one for one in (column.default, column.onupdate) if one is not None]
    computed = any(not (one.is_scalar or one.is_callable) for one in defaults)
    if column.foreign_keys:
        raise ValueError(f"{escaped(column.name)}: {_fields.NO_KEY}")
    if computed or column.server_default or column.server_onupdate:
        raise ValueError(f"{escaped(column.name)}: the database would store its default without encryption")


@event.listens_for(sa.Index, "after_parent_attach")
@event.listens_for(sa.UniqueConstraint, "after_parent_attach")
@event.listens_for(sa.CheckConstraint, "after_parent_attach")
def _check_index(made: Any, _table: Any) -> None:
    """Refuses an index or a constraint that is of no use."""
    conditions = [made.sqltext] if isinstance(made, sa.CheckConstraint) else []
    conditions += [value for name, value in made.dialect_kwargs.items() if name.endswith("_where")]
    for part in (part for one in conditions for part in parts_of(one)):
        check_use(part)
        if isinstance(part, sa.TypeCoerce) and (field := next(fields_in(part.clause), None)):
            raise ValueError(f"{field}: {_fields.NOT_COMPUTED}")
    if isinstance(made, sa.CheckConstraint):
        return
    for expression in getattr(made, "expressions", made.columns):
        column: Any
        for column in visitors.iterate(expression):
            if not isinstance(getattr(column, "type", None), Encrypted):
                continue
            if not column.type.keyring.searchable:
                raise ValueError(f"{escaped(column.name)}: {_fields.NO_INDEX}")
            if column is not expression:
                raise ValueError(f"{escaped(column.name)}: {_fields.NOT_COMPUTED}")


def _pairs(statement: Any, values: Any) -> Any:
    return values.items() if hasattr(values, "items") else zip(statement.table.c.keys(), values, strict=False)


def _column_of(statement: Any, key: Any) -> Any:
    """Returns the column of a key of ``values``, which can be the name of an attribute."""
    if not isinstance(key, str):
        return key
    entity = statement.table._annotations.get("parententity")
    found = None if entity is None else entity.mapper.attrs.get(key)
    return statement.table.c.get(key) if found is None else found.columns[0]


def _is_own(own: Encrypted[Any], value: Any) -> bool:
    """Returns whether an expression is a parameter or a value of the same column."""
    kind = getattr(value, "type", None)
    if isinstance(value, sa.BindParameter) and (value.type._isnull or isinstance(kind, _Stored)):
        return True
    if isinstance(kind, Encrypted) and str(kind.keyring) == str(own.keyring):
        # A column of another select can be anything.
        table = getattr(value, "table", None)
        is_stored = isinstance(value, sa.Column) and isinstance(getattr(table, "element", table), sa.Table)
        return is_stored or isinstance(value, sa.BindParameter)
    return isinstance(value, sa.Null)


# What binds values to rows: they are sealed while the session writes an object, when all its
# columns are known, and opened when an object was loaded.


class _Attribute:
    """A mapped column that is bound to its row."""

    def __init__(self, mapper: orm.Mapper[Any], key: str, column: sa.Column[Any]) -> None:
        type_: Any = column.type
        self.key, self.column, self.field = key, column, type_.keyring
        missing = [name for name in type_.row if name not in column.table.c]
        if missing:
            raise ValueError(f"{self.field}: there is no column {missing[0]!r} that it could be bound to")
        self.columns = [column.table.c[name] for name in type_.row]
        self.kinds = [(mapper.get_property_by_column(one).key, one.type.python_type) for one in self.columns]
        self.names = [mapper.get_property_by_column(column).key for column in self.columns]

    def open(self, target: Any, data: dict[str, Any]) -> None:
        """Opens the value of a loaded object."""
        # A change that is not yet written does not move the row.
        changed = orm.attributes.instance_state(target).committed_state
        row = self.row_in({**data, **changed} if changed else data)
        if None in row:
            raise ValueError(f"{self.field} is bound to {', '.join(self.names)}: load these columns too")
        data[self.key] = self.field.open(data[self.key].data, row, target)

    def row_in(self, data: dict[str, Any]) -> list[Any]:
        """Returns the values of the bound columns as the database returns them, for example 7 for "7"."""
        row = []
        for name, kind in self.kinds:
            value = data.get(name)
            row.append(value if value is None or isinstance(value, kind) else kind(value))
        return row

    def bind(self, target: Any, data: dict[str, Any], insert: bool) -> None:
        """Puts the value with its row in its place, until it is written."""
        state = sa.inspect(target)
        changed = state.committed_state
        if not insert and self.key not in changed:
            if not any(name in changed for name in self.names):
                return
            getattr(target, self.key)  # loads it, because it has to be sealed again for the new row
            orm.attributes.flag_modified(target, self.key)
        if insert and self.key not in data:
            data[self.key] = _default(self.column)
        value = data.get(self.key)
        if value is None or _is_sql(value):
            return
        for name, column in zip(self.names, self.columns, strict=True):
            if insert and data.get(name) is None and (default := _default(column)) is not None:
                setattr(target, name, default)
        row = self.row_in(data)
        data[self.key] = Bound(value, None if insert and None in row else row)


def _default(column: sa.Column[Any]) -> Any:
    """Returns the default that SQLAlchemy would compute only when the statement runs."""
    default: Any = column.default
    if default is None or not (default.is_scalar or default.is_callable):
        return None
    return default.arg(None) if default.is_callable else default.arg


@event.listens_for(orm.Mapper, "mapper_configured")
def _configured(mapper: orm.Mapper[Any], cls: type) -> None:
    found = [
        _Attribute(mapper, property_.key, column)
        for property_ in mapper.column_attrs
        if isinstance(column := property_.columns[0], sa.Column)
        and isinstance(column.type, Encrypted)
        and column.type.row
    ]
    if not found:
        return

    def loaded(target: Any, _context: Any, names: Iterable[str] | None = None) -> None:
        data = target.__dict__
        for one in found:
            if type(value := data.get(one.key)) is Sealed:
                one.open(target, data)
            elif type(value) is Bound and names is not None and one.key in names:
                data[one.key] = value.value  # by an ``update`` of the session, which changes objects too

    def before(insert: bool) -> Callable[[Any, Any, Any], None]:
        def listen(_mapper: Any, _connection: Any, target: Any) -> None:
            session = orm.object_session(target)
            if session is not None:
                session.info.setdefault(_WRITING, []).append((target, found))
            for one in found:
                one.bind(target, target.__dict__, insert)

        return listen

    def after(_mapper: Any, connection: sa.Connection, target: Any) -> None:
        data = target.__dict__
        late: dict[Any, dict[Any, Bound]] = {}
        for one in found:
            value = data.get(one.key)
            if isinstance(value, Bound) and value.row is None:
                # The row's number is known only now.
                row = one.row_in({name: getattr(target, name) for name in one.names})
                late.setdefault(one.column.table, {})[one.column] = Bound(value.value, row)
        for table, values in late.items():
            keys = [c == getattr(target, mapper.get_property_by_column(c).key) for c in table.primary_key]
            connection.execute(sa.update(table).where(*keys).values(values))
        _restore(target, found)

    # With the old value: a value that has to be sealed again opens only for that.
    for name in {name for one in found for name in one.names}:
        event.listen(getattr(cls, name), "set", lambda *_: None, active_history=True)
    # First, so that other listeners, such as those of sqlalchemy.ext.mutable, get the opened value.
    for name in "load", "refresh":
        event.listen(cls, name, loaded, insert=True)
    event.listen(mapper, "before_insert", before(True))
    event.listen(mapper, "before_update", before(False))
    event.listen(mapper, "after_insert", after)
    event.listen(mapper, "after_update", after)


_WRITING = "sealane: objects that are being written"


def _restore(target: Any, found: list[_Attribute]) -> None:
    for one in found:
        if isinstance(value := target.__dict__.get(one.key), Bound):
            target.__dict__[one.key] = value.value


@event.listens_for(orm.Session, "after_flush")
@event.listens_for(orm.Session, "after_soft_rollback")
def _flushed(session: orm.Session, _: Any) -> None:
    """Puts the values back, also after a write that failed."""
    for target, found in session.info.pop(_WRITING, ()):
        _restore(target, found)


def reencrypt(
    bind: sa.Engine | sa.Connection,
    table: sa.Table | type,
    *,
    batch: int = 1000,
    progress: Callable[[int, int | None], object] | None = None,
) -> int:
    """Moves the encrypted columns of a table to the primary keys of their keyrings.

    Each batch is a transaction. After an interruption, the same call continues: values that are
    under the primary key are left. A row that changes during the call keeps its new value.

    Parameters
    ----------
    bind : Engine or Connection
        A connection is committed after each batch. With an async one:
        ``await connection.run_sync(reencrypt, User)``.
    table : Table or mapped class
        The table, with a primary key.
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
        If the table has no encrypted column or no primary key, or if a primary key of a keyring has
        the prefix "raw".

    Examples
    --------
    >>> new = ring.rotate()
    >>> reencrypt(engine, User, progress=print)
    1 1
    1
    """
    if isinstance(bind, sa.Engine):
        with bind.connect() as connection:
            return reencrypt(connection, table, batch=batch, progress=progress)
    if not isinstance(table, sa.Table):
        tables: Any = sa.inspect(table).tables
        return sum(reencrypt(bind, one, batch=batch, progress=progress) for one in tables if _sealed_of(one))
    columns = _sealed_of(table)
    if not columns or not table.primary_key:
        raise ValueError(f"{escaped(table.fullname)}: expected encrypted columns and a primary key")
    total = len(columns) * (bind.scalar(sa.select(sa.func.count()).select_from(table)) or 0)
    return _fields.reencrypt([_parts(bind, column, batch) for column in columns], total, progress)


def _parts(bind: sa.Connection, column: Any, batch: int) -> _fields.Parts:
    keys, bound = list(column.table.primary_key), [column.table.c[name] for name in column.type.row]
    stored = sa.type_coerce(column, sa.LargeBinary())
    query = sa.select(*keys, *bound, stored).order_by(*keys).limit(batch)
    names = [f"key_{number}" for number in range(len(keys))]
    update = (
        column.table.update()
        .where(*(key == sa.bindparam(name) for key, name in zip(keys, names, strict=True)))
        .where(stored == sa.bindparam("old"))
        .values({column: sa.bindparam("new", type_=_Stored())})
    )

    def batches() -> Iterator[list[_fields.Cell]]:
        after = query
        while rows := bind.execute(after).all():
            yield [(row[: len(keys)], row[len(keys) : -1], row[-1]) for row in rows]
            after = query.where(sa.tuple_(*keys) > tuple(rows[-1][: len(keys)]))

    def write(pairs: list[tuple[_fields.Cell, bytes]]) -> None:
        if pairs:
            values = [dict(zip(names, key, strict=True), old=old, new=new) for (key, _, old), new in pairs]
            bind.execute(update, values)
        bind.commit()

    return column.type.keyring, batches(), write


def _sealed_of(table: Any) -> list[Any]:
    return [column for column in table.columns if isinstance(column.type, Encrypted)]
