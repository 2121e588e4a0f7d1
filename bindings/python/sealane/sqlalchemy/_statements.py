"""Statements of SQLAlchemy that would compute with ciphertexts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql import elements, selectable

from sealane import _fields
from sealane._fields import Field


def refused(field: Field) -> TypeError:
    return TypeError(f"{field} is encrypted: it can only be compared by equality with values")


def check_use(element: Any) -> None:
    """Refuses a part of a statement that computes, orders or groups by ciphertexts."""
    for operand in _operands(element):
        if (field := _field_of(operand)) is not None:
            raise refused(field)
    _check_order(element)
    _check_groups(element)


def _operands(element: Any) -> Iterable[Any]:
    """Returns what an element compares, without the left sides, whose types refuse it themselves."""
    if isinstance(element, sa.BinaryExpression):
        return [element.right]
    if isinstance(element, sa.Case):
        return [element.value]
    return element.clauses if isinstance(element, sa.Tuple) else ()


def _field_of(value: Any) -> Field | None:
    """Returns the encrypted column whose values an expression has."""
    value = value.element if isinstance(value, elements._label_reference) else value
    field = getattr(getattr(value, "type", None), "keyring", None)
    return field if isinstance(field, Field) and not isinstance(value, sa.BindParameter) else None


def _check_order(element: Any) -> None:
    """Refuses an order of ciphertexts, and functions that compute with them."""
    made, parts = _computed(element)
    for part in parts:
        if isinstance(part, elements._textual_label_reference):
            tables: Any = element.get_final_froms() if isinstance(element, sa.Select) else ()
            named = [
                columns.get(part.element) for columns in (element.selected_columns, *(t.c for t in tables))
            ]
            part = next((column for column in named if column is not None), None)
        if (found := _field_of(part)) is not None:
            raise TypeError(f"{found} is encrypted: the database cannot compute {made} of its values")


def _computed(element: Any) -> tuple[str, Iterable[Any]]:
    """Returns what an element makes of values, and the values."""
    if isinstance(element, selectable.GenerativeSelect):
        return "an order", element._order_by_clauses
    if isinstance(element, sa.Over | sa.WithinGroup):
        return "an order", getattr(element.order_by, "clauses", ())
    if isinstance(element, sa.Cast | sa.TryCast):
        return "CAST", [element.clause]
    name = getattr(element, "name", "a function")
    return name, element.clauses if isinstance(element, sa.FunctionElement) and name not in _PASSING else ()


_PASSING = {"count", "lag", "lead", "first_value", "last_value", "nth_value"}
"""Functions that count values, or return them as they are."""


def _check_groups(element: Any) -> None:
    """Refuses to group or compare rows by values that are encrypted differently each time."""
    groups: list[Any] = []
    if isinstance(element, selectable.GenerativeSelect):
        groups.append(element._group_by_clauses)
    if isinstance(element, sa.Select) and element._distinct:
        groups.append(element._distinct_on or element.selected_columns)
    if isinstance(element, sa.CompoundSelect) and not element.keyword.value.endswith(" ALL"):
        groups += selected(element)
    if isinstance(element, sa.Over):
        groups.append(getattr(element.partition_by, "clauses", ()))
    for group in groups:
        # Beside a primary key, an encrypted value decides nothing.
        if not any(getattr(getattr(one, "element", one), "primary_key", False) for one in group):
            for found in filter(None, map(_field_of, group)):
                if not found.searchable:
                    raise TypeError(f"{found} is encrypted: {_fields.NOT_EQUAL}")


def selected(select: Any) -> Iterator[list[Any]]:
    """Returns the columns of a select and of each part of a union; those of text are not known."""
    select = getattr(select, "element", select)
    if isinstance(select, sa.CompoundSelect):
        for part in select.selects:
            yield from selected(part)
    else:
        yield list(select.selected_columns) if isinstance(select, sa.Select) else []
