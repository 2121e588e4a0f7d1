"""Tests that the docstrings of all public names are a reference: parameters, errors and examples."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import sealane
from support import ROOT

# Records that calls return. Their fields have docstrings of their own in the sources.
RECORDS = {"BulkReport", "FolderEntry", "Difference", "InventoryReport", "SalvageReport", "Verified"}
# `sealane.open` creates these objects, and the names of algorithms of the other package are an
# enumeration.
MADE_ELSEWHERE = {"EncryptedReader", "EncryptedWriter", "Cipher", "Sealed"}


def modules() -> Iterator[ModuleType]:
    """Lists the public modules of the package."""
    yield sealane
    for found in pkgutil.walk_packages(sealane.__path__, "sealane."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield importlib.import_module(found.name)


def public() -> Iterator[tuple[str, ModuleType, Any]]:
    """Lists the public functions and classes of the package with their full names, without errors."""
    for module in modules():
        for name in getattr(module, "__all__", []):
            found = getattr(module, name)
            is_ours = getattr(found, "__module__", "").startswith("sealane")
            is_error = inspect.isclass(found) and issubclass(found, BaseException)
            if is_ours and not is_error and callable(found):
                yield f"{module.__name__}.{name}", module, found


def calls() -> Iterator[tuple[str, ModuleType, Any, Any]]:
    """Lists all public calls with their names, modules and classes."""
    for name, module, found in public():
        short = name.rpartition(".")[2]
        if not inspect.isclass(found):
            yield name, module, None, found
            continue
        if short not in RECORDS | MADE_ELSEWHERE:
            yield name, module, None, found
        for member, value in vars(found).items():
            is_method = inspect.isroutine(value) or isinstance(value, staticmethod | classmethod)
            if is_method and not member.startswith("_"):
                yield f"{name}.{member}", module, found, getattr(found, member)


def text_of(thing: Any, module: ModuleType, owner: Any, seen: set[int]) -> str:
    """Returns a docstring with those of the calls that it refers to, for example ``encrypt_file``."""
    if id(thing) in seen:
        return ""
    seen.add(id(thing))
    text = inspect.getdoc(thing) or ""
    words = re.findall(r"``([\w.]+)(?:\(\))?``", text)
    for word in words:
        for start in (owner, module, sealane):
            found = start
            for part in word.removeprefix("sealane.").split("."):
                found = getattr(found, part, None)
            if callable(found) and getattr(found, "__doc__", None):
                text += text_of(found, module, owner, seen)
    return text


def inherited(owner: Any, member: str) -> set[str]:
    """Returns the parameters of a method in classes outside of sealane, which document them."""
    found: set[str] = set()
    for base in inspect.getmro(owner) if owner else ():
        method = None if base.__module__.startswith("sealane") else vars(base).get(member)
        if method is not None and method.__doc__:
            found |= set(inspect.signature(method).parameters)
    return found


CALLS = [*calls()]


# Without the other arguments, whose text has addresses: the processes of a run must collect the
# same names.
@pytest.mark.parametrize(("name", "module", "owner", "call"), CALLS, ids=[name for name, *_ in CALLS])
def test_every_parameter_is_documented(name: str, module: ModuleType, owner: Any, call: Any) -> None:
    try:
        parameters = inspect.signature(call).parameters.values()
    except ValueError:
        pytest.fail(f"{name} has no signature")
    variable = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    named = {one.name for one in parameters if one.kind not in variable} - {"self", "cls"}
    text = text_of(call, module, owner, set()) + (inspect.getdoc(owner) or "" if owner else "")
    missing = {one for one in named if not re.search(rf"\b{one}\b", text)}
    missing -= inherited(owner, name.rpartition(".")[2])
    assert not missing, f"the docstring of {name} lacks {sorted(missing)}"


def test_every_entry_point_has_an_example() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
    blocks = [
        block
        for page in pages
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    ]
    code = "\n".join(blocks)
    made = RECORDS | MADE_ELSEWHERE | {"AlgorithmInfo", "FileInfo", "ProviderInfo", "AsyncFile", "KeyringKey"}
    missing = []
    for name, _, found in public():
        short = name.rpartition(".")[2]
        has_example = ">>>" in (inspect.getdoc(found) or "") or re.search(rf"\b{short}\b", code)
        if short not in made and not has_example:
            missing.append(name)
    assert not missing, f"neither the guide nor the docstring has an example of {missing}"


def test_fields_of_records_are_documented() -> None:
    for name in RECORDS:
        (found,) = (thing for full, _, thing in public() if full.rpartition(".")[2] == name)
        source = inspect.getsource(found)
        for field in found.__annotations__:
            assert re.search(rf'^    {field}: [^\n]+\n    """\w', source, re.MULTILINE), f"{name}.{field}"
