"""Encrypted fields of databases: the part that SQLAlchemy and Django share.

Each value is one message of a keyring. Its associated data is the table, the column and the values
of the columns to which it is bound, each in UTF-8 with its length in 4 big-endian bytes before it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

from sealane import _reference
from sealane._frames import forgetting
from sealane._native import Aead, DeterministicAead, FieldOpener, Keyring
from sealane.exceptions import AuthenticationError, EncryptedFieldError, FormatError, escaped

KeyringLike: TypeAlias = Keyring | str | Callable[[], Keyring]
Codec: TypeAlias = tuple[Callable[[Any], bytes], Callable[[bytes], Any], Any]
Cell: TypeAlias = tuple[Sequence[object], Sequence[object], bytes | None]
"""The primary key of a row, the values of the bound columns and the stored value."""

NO_INDEX: Final = (
    "equal values are encrypted differently, so an index or a unique constraint is of no use; "
    "pass searchable=True"
)
NO_KEY: Final = (
    "an encrypted value cannot be a primary key or the target of a foreign key: after a rotation, rows that "
    "refer to it would have the old ciphertext"
)
NOT_EQUAL: Final = "equal values are encrypted differently, so the database cannot compare or group them"
NOT_COMPUTED: Final = "the database cannot compute with encrypted values"
_PREFIXES: Final = {"tink": b"\x01", "crunchy": b"\0", "legacy": b"\0"}

CODECS: Final[dict[type, Codec]] = {
    bytes: (bytes, bytes, bytes | bytearray | memoryview),
    str: (str.encode, bytes.decode, str),
    bool: (lambda value: b"%d" % value, lambda data: bool(int(data)), bool),
    int: (lambda value: b"%d" % value, int, int),
    float: (lambda value: repr(float(value)).encode(), float, float | int),
    Decimal: (lambda value: str(value).encode(), lambda data: Decimal(data.decode()), Decimal | int),
    date: (lambda day: date.isoformat(day).encode(), lambda data: date.fromisoformat(data.decode()), date),
    datetime: (lambda at: at.isoformat().encode(), lambda s: datetime.fromisoformat(s.decode()), datetime),
    uuid.UUID: (lambda value: value.bytes, lambda data: uuid.UUID(bytes=data), uuid.UUID),
    dict: (lambda value: json.dumps(value).encode(), json.loads, object),
}
"""How values of a type become bytes and back, and the types that are accepted. ``dict`` is JSON."""


class Keys:
    """The AEAD of a keyring, made again after the keyring has changed."""

    @forgetting
    def __init__(self, keyring: KeyringLike, searchable: bool, row: Sequence[str] = ()) -> None:
        if isinstance(row, str):
            raise TypeError(f"row: expected a list of names, found str; pass [{row!r}]")
        if row and searchable:
            raise ValueError("a searchable value cannot be bound to its row: equal values would differ")
        if isinstance(keyring, str):
            _reference.check(keyring)
        elif not isinstance(keyring, Keyring) and not callable(keyring):
            raise TypeError(
                "keyring: expected a Keyring, a key reference such as 'file:PATH', or a function that "
                f"returns a Keyring; found {type(keyring).__name__}"
            )
        self.source = keyring
        self._kind: type[Aead] | type[DeterministicAead] = DeterministicAead if searchable else Aead
        self._latest: tuple[tuple[object, ...], Any] = ((), None)
        if isinstance(keyring, Keyring):
            self.aead()

    def __repr__(self) -> str:
        return f"<keys of {self.source!r}>"

    def aead(self, found: Any = None) -> Any:
        """Returns the Aead or DeterministicAead of the keyring as it is now."""
        ring = self.ring(found)
        state = (ring, ring.primary, *((key.id, key.state) for key in ring.keys))
        latest, aead = self._latest
        if state != latest:
            old, aead = aead, self._kind(keyring=ring)
            if isinstance(aead, Aead) and latest[:2] == state[:2]:
                aead.count_messages(old.sealed_messages or 0)
            self._latest = state, aead
        return aead

    def ring(self, found: Any = None) -> Keyring:
        """Returns the keyring. A reference is resolved once."""
        if found is None:
            found = self.source() if callable(self.source) else self.source
        if isinstance(found, str):
            found = self.source = _reference.resolve(found)  # type: ignore[assignment]
        if not isinstance(found, Keyring):
            raise TypeError(f"keyring: expected a Keyring, found {type(found).__name__}")
        return found

    def prefix(self) -> bytes:
        """Returns what each message under the primary key begins with."""
        ring = self.ring()
        kind = next(key.prefix for key in ring.keys if key.primary)
        if kind not in _PREFIXES:
            raise ValueError(f"a primary key with the prefix {kind!r} leaves no mark of it in its messages")
        return _PREFIXES[kind] + ring.primary.to_bytes(4, "big")


class Bound(NamedTuple):
    """A value about to be stored, with the row to which it is bound; None if that is not known yet."""

    value: Any
    row: Sequence[object] | None

    def __repr__(self) -> str:
        return "<a value bound to its row>"


class Sealed:
    """A value bound to its row that was read without the row. ``open`` takes the row.

    The field or column makes it, with ``field`` and ``data``, the encrypted value. Parameters of
    ``open`` are the columns to which it is bound, for example ``sealed.open(id=7)``.
    """

    __slots__ = ("data", "field")

    def __init__(self, field: Field, data: bytes) -> None:
        self.field = field
        self.data = data

    def __repr__(self) -> str:
        return f"<a sealed value of {self.field}>"

    def open(self, **row: object) -> Any:
        """Returns the value. The keywords name the columns to which it is bound."""
        return self.field.open(self.data, self.field.row_of(row))


class Field:
    """Seals and opens the values of one column.

    ``place`` returns the names of the table and the column; they are not known from the beginning.
    ``key_of`` finds the primary key of a value that does not open.
    """

    def __init__(
        self,
        keys: Keys,
        codec: Codec,
        row: tuple[str, ...],
        place: Callable[[], tuple[str, str]],
        key_of: Callable[..., Sequence[object]],
    ) -> None:
        self.keys, self.row, self.place, self.key_of = keys, row, place, key_of
        self._encode, self._decode, self._kind = codec
        self.searchable = keys._kind is DeterministicAead
        self._start = b""

    def aad(self, row: Sequence[object]) -> bytes:
        """Returns the associated data of a value in a row."""
        if not (aad := self._start):
            aad = self._start = b"".join(len(x).to_bytes(4, "big") + x for x in map(str.encode, self.place()))
        for value in row:
            part = b"%d" % value if type(value) is int else _part(value)
            aad += len(part).to_bytes(4, "big") + part
        return aad

    def row_of(self, named: dict[str, object]) -> list[object]:
        """Returns the values of the bound columns in their order."""
        if named.keys() != set(self.row):
            raise TypeError(f"{self}: expected the columns {', '.join(self.row)}, found {', '.join(named)}")
        return [named[name] for name in self.row]

    def __str__(self) -> str:
        return escaped(".".join(self.place()))

    @forgetting
    def seal(self, value: Any, row: Sequence[object] = ()) -> bytes:
        """Returns the value encrypted for its place."""
        data, aead = self.encoded(value), self.keys.aead()
        if None in row or len(row) != len(self.row):
            raise ValueError(f"{self} is bound to {', '.join(self.row)}, which has no value")
        aad = self.aad(row)
        return bytes(aead.encrypt(data, aad) if self.searchable else aead.seal(data, aad))

    @forgetting
    def find(self, value: Any) -> list[bytes]:
        """Returns the value encrypted under each enabled key, to be compared with a searchable column."""
        if not self.searchable:
            raise TypeError(
                f"{self} is not searchable: equal values are encrypted differently; pass searchable=True, or "
                "find the row by another column"
            )
        return list(self.keys.aead().encrypt_with_all_keys(self.encoded(value), self.aad(())))

    @forgetting
    def encoded(self, value: Any) -> bytes:
        """Returns the plaintext bytes of a value. The error shows its type, never the value."""
        if isinstance(value, self._kind):
            try:
                return self._encode(value)
            except Exception as error:
                problem = type(error).__name__
        else:
            problem = f"expected {getattr(self._kind, '__name__', self._kind)}"
        raise TypeError(f"{self}: could not encode a value of type {type(value).__name__}: {problem}")

    def sealed(self, value: Any, *_: object) -> Sealed | None:
        """Returns a value that is opened when its row is known."""
        return None if value is None else Sealed(self, whole(value))

    @functools.cached_property
    def opener(self) -> FieldOpener:
        """The native part, which opens values."""
        decode = None if self._decode is bytes.decode else self._decode
        return FieldOpener(self.keys, None if self.row else self.aad(()), decode, self._refuse)

    def open(self, sealed: Any, row: Sequence[object] = (), *rest: object) -> Any:
        """Returns the value of a row, or raises EncryptedFieldError; ``key_of`` gets the rest."""
        return self.opener.open(sealed, self.aad(row), *rest)

    def _refuse(self, opens: bool, sealed: Any, rest: tuple[Any, ...]) -> NoReturn:
        key = self.key_of(sealed, *(rest[1:] if self.row else rest))
        if opens:
            raise FormatError(f"{self.at(key)}: the value opens, but has another type")
        raise self.failed(key)

    def failed(self, primary_key: Sequence[object]) -> EncryptedFieldError:
        """Returns the error for a value that does not open."""
        error = EncryptedFieldError(
            f"{self.at(primary_key)}: the value does not open: another key, a changed value, one moved from "
            "another row or column, or one that was never encrypted"
        )
        (error.table, error.column), error.primary_key = self.place(), _key(primary_key)
        return error

    def at(self, primary_key: Sequence[object]) -> str:
        """Returns the place of a value, as errors say it."""
        return f"{self}, primary key {_key(primary_key)!r}" if primary_key else str(self)

    def resealed(self, cells: Iterable[Cell], prefix: bytes) -> Iterator[tuple[Cell, bytes]]:
        """Opens the values of several rows, and returns new ones for those without the prefix."""
        aead = self.keys.aead()
        unseal, seal = (aead.decrypt, aead.encrypt) if self.searchable else (aead.open, aead.seal)
        for cell in cells:
            (key, row, sealed), plain = cell, None
            if sealed is None:
                continue
            with contextlib.suppress(AuthenticationError, TypeError):
                plain = unseal(sealed, aad := self.aad(row))
            if plain is None:
                raise self.failed(key)
            if sealed[: len(prefix)] != prefix:
                yield cell, seal(plain, aad)


Parts: TypeAlias = tuple[Field, Iterator[list[Cell]], Callable[[list[tuple[Cell, bytes]]], object]]
"""A column to move to another key: its field, its rows in batches, and what writes changed values."""


def reencrypt(
    columns: Iterable[Parts], total: int, progress: Callable[[int, int | None], object] | None
) -> int:
    """Moves columns to the primary keys of their keyrings; returns the number of changed values."""
    changed = done = 0
    for field, batches, write in columns:
        prefix = field.keys.prefix()
        for batch in batches:
            write(pairs := list(field.resealed(batch, prefix)))
            changed, done = changed + len(pairs), done + len(batch)
            if progress is not None:
                progress(done, total)
    return changed


def whole(stored: Any) -> Any:
    """Returns a stored value as bytes, if the driver gave a memoryview."""
    return bytes(stored) if isinstance(stored, memoryview) else stored


def _key(primary_key: Sequence[object]) -> object:
    """Returns a primary key as a user writes it: a tuple only if it has several columns."""
    return tuple(primary_key) if len(primary_key) > 1 else next(iter(primary_key), None)


def _part(value: object) -> bytes:
    """Returns a part of the associated data."""
    if isinstance(value, (str, int, uuid.UUID)) and not isinstance(value, bool):
        return str(value).encode()
    if isinstance(value, bytes):
        return value
    raise TypeError(f"values are bound to columns of int, str, bytes and UUID, found {type(value).__name__}")
