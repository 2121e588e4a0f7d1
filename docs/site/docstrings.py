"""An extension of griffe: translates docstrings to Markdown, and finds those of the native module.

The stub ``_native.pyi`` has the signatures, and the binary has the docstrings.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import griffe

RULE = re.compile(r"^=+(?: +=+)+$")
# The section of parameters, up to the next section.
PARAMETERS = re.compile(r"^Parameters\n-{10}\n(?:(?!\S+\n-+\n).*\n?)*", re.MULTILINE)
# An entry for several parameters, such as "src, dst : str", with the lines of its text.
SHARED = re.compile(
    r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)+)(?P<rest>.*\n(?:(?: .*)?(?:\n|$))*)", re.MULTILINE
)


class Docstrings(griffe.Extension):
    """Runs once, when all objects of the package are known."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Sets the docstrings of the native module, and translates all docstrings."""
        for obj in objects(pkg):
            text = obj.docstring.value if obj.docstring else None
            if text is None and obj.path.startswith("sealane._native."):
                text = native(obj.path)
            if text is not None:
                obj.docstring = griffe.Docstring(markdown(text), parent=obj, parser="numpy")
        spell_out_types(pkg)


def objects(parent: griffe.Object) -> Iterator[griffe.Object]:
    """Lists an object and all below it, without aliases."""
    yield parent
    for member in parent.members.values():
        if isinstance(member, griffe.Object):
            yield from objects(member)


def spell_out_types(pkg: griffe.Module) -> None:
    """Writes what a name of a type stands for in its place: the reference does not list these names."""
    aliases = {
        found.path: found.value
        for found in objects(pkg)
        if isinstance(found, griffe.Attribute) and str(found.annotation) == "TypeAlias"
    }
    functions = [found for found in objects(pkg) if isinstance(found, griffe.Function)]
    overloads = [one for function in functions for one in function.overloads or []]
    for function in [*functions, *overloads]:
        function.returns = spelled_out(function.returns, aliases)
        for parameter in function.parameters:
            parameter.annotation = spelled_out(parameter.annotation, aliases)


def spelled_out(part: Any, aliases: dict[str, Any]) -> Any:
    """Returns an expression without aliases."""
    if isinstance(part, griffe.ExprName) and part.canonical_path in aliases:
        return spelled_out(aliases[part.canonical_path], aliases)
    if isinstance(part, griffe.Expr):
        changed = {
            field.name: spelled_out(getattr(part, field.name), aliases)
            for field in dataclasses.fields(part)
            if field.name != "parent"
        }
        return dataclasses.replace(part, **changed)
    return [spelled_out(one, aliases) for one in part] if isinstance(part, list) else part


def native(path: str) -> str | None:
    """Returns the docstring of an object of the native module, for example ``sealane._native.Aead.seal``."""
    names = path.split(".")[2:]
    if not names:
        return None
    # These classes exist in the stub only; any class below has their methods.
    concrete = {
        "_AeadMethods": "Aead",
        "_Keystream": "AesCtr",
        "_AeadStream": "AeadEncryptor",
    }
    names[0] = concrete.get(names[0], names[0])
    try:
        module = importlib.import_module("sealane._native")
        found = functools.reduce(getattr, names, module)
    except AttributeError:
        return None
    text = getattr(found, "__doc__", None)
    is_value = not (inspect.isclass(found) or callable(found) or inspect.isdatadescriptor(found))
    return None if is_value or not text else inspect.cleandoc(text)


def markdown(text: str) -> str:
    """Translates the parts of reStructuredText that the docstrings use, for example tables."""
    # As a hyphen, it would be read as a subtraction of types.
    text = re.sub(r"\bbytes-like\b", "bytes\N{NON-BREAKING HYPHEN}like", text)
    text = PARAMETERS.sub(lambda section: SHARED.sub(divided, section[0]), text)
    lines = text.split("\n")
    out: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        if RULE.match(line.strip()):
            end = closing(lines, index)
            out += [*table(lines[index:end]), ""]
            index = end
        elif line.strip() == ".. warning::":
            out.append("!!! warning")
            index += 1
        else:
            is_literal = line.rstrip().endswith("::") and not line.strip().startswith("..")
            out.append(line.rstrip()[:-1] if is_literal else line)
            index += 1
    return re.sub(r":(?:class|func|meth|mod|attr):`~?([^`]+)`", r"`\1`", "\n".join(out))


def divided(entry: re.Match[str]) -> str:
    """Gives each of several parameters an entry: griffe shows the type and default of the first for all."""
    *names, last = entry["names"].split(", ")
    return "".join(f"{name}{entry['rest'].rstrip()}\n" for name in names) + last + entry["rest"]


def closing(lines: list[str], start: int) -> int:
    """Returns the line after a table. An empty line follows its last rule."""
    for at in range(start + 1, len(lines)):
        is_last = at + 1 == len(lines) or not lines[at + 1].strip()
        if RULE.match(lines[at].strip()) and is_last:
            return at + 1
    raise ValueError(f"a table without an end: {lines[start:]}")


def table(lines: list[str]) -> list[str]:
    """Translates a simple table; a row whose first cell is empty continues the row above."""
    margin = len(lines[0]) - len(lines[0].lstrip())
    starts = [found.start() for found in re.finditer("=+", lines[0][margin:])]
    ends = [*starts[1:], None]

    def cells(line: str) -> list[str]:
        return [line[margin:][a:b].strip().replace("|", "\\|") for a, b in zip(starts, ends, strict=True)]

    rows: list[list[str]] = []
    for line in (line for line in lines if not RULE.match(line.strip())):
        row = cells(line)
        continues = rows and len(rows) > 1 and (not row[0] or not row[-1])
        if continues:
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    if sum(bool(RULE.match(line.strip())) for line in lines) == 2:
        # It has no header, which Markdown needs.
        rows.insert(0, [""] * len(starts))
    head, *body = (" | ".join(row) for row in rows)
    return [f"| {head} |", "|" + "---|" * len(starts), *(f"| {row} |" for row in body)]
