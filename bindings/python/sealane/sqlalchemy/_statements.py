"""Statements of SQLAlchemy that would compute with ciphertexts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql import elements, operators, selectable

from sealane import _fields
from sealane._fields import Field


def refused(field: Field) -> TypeError:
    return TypeError(f"{field} is encrypted: it can only be compared by equality with values")


def parts_of(statement: Any) -> Iterator[Any]:
    """Returns all parts of a statement, with the selects whose columns it has."""
    # By their numbers, because columns compare with SQL. The dict keeps them alive.
    found: dict[int, Any] = {}
    left = [statement]
    while left:
        if id(element := left.pop()) not in found:
            yield found.setdefault(id(element), element)
            left += element.get_children()
            left += [one for one in [getattr(element, "table", None)] if isinstance(one, sa.FromClause)]
            for values in (one for group in getattr(element, "_multi_values", ()) for one in group):
                each = values.values() if isinstance(values, dict) else values
                left += [value for value in each if isinstance(value, sa.ClauseElement)]


def check_use(element: Any) -> None:
    """Refuses a part of a statement whose result would come from ciphertexts instead of values."""
    for operand in _operands(element):
        for field in fields_in(operand):
            raise refused(field)
    made, parts = _computed(element)
    for part in parts:
        for field in fields_in(_named(element, part)):
            raise TypeError(f"{field} is encrypted: the database cannot compute {made} of its values")
    _check_groups(element)
    _check_results(element)


def fields_in(value: Any) -> Iterator[Field]:
    """Returns the encrypted columns whose values an expression has."""
    passed = _passed(value)
    if passed is not None:
        for one in passed:
            yield from fields_in(one)
    elif (field := _field_of(value)) is not None and not isinstance(value, sa.BindParameter):
        yield field


def _field_of(value: Any) -> Field | None:
    """Returns the field that decrypts the results of an expression."""
    field = getattr(getattr(value, "type", None), "keyring", None)
    return field if isinstance(field, Field) else None


def _passed(value: Any) -> Iterable[Any] | None:
    """Returns the expressions of whose values one is a value of this one; None if it makes new values."""
    if isinstance(value, sa.Case):
        return [*(result for _, result in value.whens), value.else_]
    if isinstance(value, sa.ScalarSelect):
        return [column for columns in selected(value) for column in columns]
    if isinstance(value, sa.UnaryExpression):
        return [value.element] if value.operator in (None, operators.distinct_op) else None
    if isinstance(value, sa.FunctionElement):
        return value.clauses if value.name in _PASSING else None
    if isinstance(value, elements.ClauseList):
        return value.clauses
    if isinstance(value, sa.FunctionFilter):
        return [value.func]
    return [value.element] if isinstance(value, _WRAPPING) else None


_WRAPPING = (sa.Label, sa.Over, elements.Grouping, elements._label_reference)
_PASSING = {"lag", "lead", "first_value", "last_value", "nth_value"}
"""Functions that return values as they are."""
_CONDITIONS = ("_where_criteria", "_having_criteria", "onclause", "update_whereclause", "criterion")


def _operands(element: Any) -> Iterable[Any]:
    """Returns what an element compares or takes for a condition."""
    if isinstance(element, sa.BinaryExpression):
        is_null = element.operator in (operators.is_, operators.is_not) and isinstance(element.right, sa.Null)
        return () if is_null else [element.left, element.right]
    if isinstance(element, sa.Case):
        return [element.value, *(condition for condition, _ in element.whens)]
    if (
        isinstance(element, sa.UnaryExpression)
        and _passed(element) is None
        and not isinstance(element, sa.Exists)
    ):
        return [element.element]
    if isinstance(element, sa.Tuple | elements.ExpressionClauseList):
        return element.clauses
    found = [getattr(element, name, None) for name in _CONDITIONS]
    return [each for one in found for each in (one if isinstance(one, tuple) else [one])]


def _named(element: Any, part: Any) -> Any:
    """Returns the expression that an ORDER BY means, which can be a name of a column."""
    while isinstance(part, sa.UnaryExpression | elements._label_reference):
        part = part.element
    if not isinstance(part, elements._textual_label_reference):
        return part
    tables: Any = element.get_final_froms() if isinstance(element, sa.Select) else ()
    named = [columns.get(part.element) for columns in (element.selected_columns, *(t.c for t in tables))]
    return next((column for column in named if column is not None), None)


def _computed(element: Any) -> tuple[str, Iterable[Any]]:
    """Returns what an element makes of values, and the values."""
    if isinstance(element, selectable.GenerativeSelect):
        return "an order", element._order_by_clauses
    if isinstance(element, sa.Over | elements.AggregateOrderBy):
        return "an order", getattr(element.order_by, "clauses", ())
    if isinstance(element, sa.Cast | sa.TryCast):
        return "CAST", [element.clause]
    if isinstance(element, sa.Extract):
        return "EXTRACT", [element.expr]
    name = getattr(element, "name", "a function")
    is_computing = isinstance(element, sa.FunctionElement) and name not in {"count", *_PASSING}
    return name, element.clauses if is_computing else ()


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
    if isinstance(element, sa.UnaryExpression) and element.operator is operators.distinct_op:
        groups.append([element.element])
    for group in groups:
        # Beside a primary key, an encrypted value decides nothing.
        if not any(getattr(getattr(one, "element", one), "primary_key", False) for one in group):
            for found in (field for one in group for field in fields_in(_named(element, one))):
                if not found.searchable:
                    raise TypeError(f"{found} is encrypted: {_fields.NOT_EQUAL}")


def _check_results(element: Any) -> None:
    """Refuses results that SQLAlchemy would return as ciphertexts."""
    columns = [*getattr(element, "_raw_columns", ()), *getattr(element, "_returning", ())]
    pairs = [(column, field) for column in columns for field in fields_in(column)]
    pairs = [(one, field) for one, field in pairs if not isinstance(one, elements.ClauseList)]
    if isinstance(element, sa.CompoundSelect):
        for first, *others in zip(*selected(element), strict=False):
            own = [field for one in [first, *others] if (field := _field_of(one)) is not None]
            given = [one for one in [first, *others] if not isinstance(getattr(one, "element", one), sa.Null)]
            pairs += [(one, field) for one in [first, *given] for field in own]
    for column, field in pairs:
        if str(_field_of(column)) != str(field):
            raise TypeError(
                f"{field} is encrypted: its values would be returned without decryption; give each expression"
                " for it the column's type, with type_coerce(…, column.type)"
            )


def selected(select: Any) -> Iterator[list[Any]]:
    """Returns the columns of a select and of each part of a union; those of text are not known."""
    select = getattr(select, "element", select)
    if isinstance(select, sa.CompoundSelect):
        for part in select.selects:
            yield from selected(part)
    else:
        yield list(select.selected_columns) if isinstance(select, sa.Select) else []
