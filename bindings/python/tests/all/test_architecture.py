"""The architecture rule for Python: no cycle between the modules of the package."""

from __future__ import annotations

import ast
import graphlib
from pathlib import Path

import pytest
from support import ROOT

PACKAGE = ROOT / "bindings" / "python" / "sealane"


def modules_of(package: Path) -> dict[str, Path]:
    """Returns the files of a package by module name, for example ``sealane.fs._keys``."""
    files = [*package.rglob("*.py"), *package.rglob("*.pyi")]
    return {
        ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(files)
    }


def imports_of(module: str, text: str, *, is_package: bool, known: set[str]) -> set[str]:
    """Returns the modules among ``known`` that a module imports.

    Imports inside functions and under ``TYPE_CHECKING`` count as well. ``from package import name`` means the
    submodule ``name`` if there is one, and the package otherwise. The packages above an imported module do
    not count, although Python imports them first.
    """
    package = module if is_package else module.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                submodule = f"{source}.{alias.name}"
                found.add(submodule if submodule in known else source)
    return {name for name in found if name in known}


def graph_of(package: Path) -> dict[str, set[str]]:
    modules = modules_of(package)
    return {
        name: imports_of(name, path.read_text(), is_package=path.stem == "__init__", known=set(modules))
        for name, path in modules.items()
    }


def test_modules_have_no_import_cycle() -> None:
    graph = graph_of(PACKAGE)
    assert {"sealane", "sealane._native", "sealane.fs._reading"} <= graph.keys()
    assert graph["sealane.fs._keys"] >= {"sealane._native", "sealane._reference", "sealane.fs._dataset_key"}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail("import cycle: " + " <- ".join(error.args[1]))


@pytest.mark.parametrize(
    ("files", "edges"),
    [
        ({"a": "import p.b", "b": "def f():\n    from p import a"}, {"p.a": {"p.b"}, "p.b": {"p.a"}}),
        (
            {"a": "from . import b", "b": "if TYPE_CHECKING:\n    from .a import X"},
            {"p.a": {"p.b"}, "p.b": {"p.a"}},
        ),
        ({"__init__": "from p.a import x", "a": "from p import x"}, {"p": {"p.a"}, "p.a": {"p"}}),
        ({"__init__": "from .a import x", "a": "import os, p.b", "b": ""}, {"p": {"p.a"}, "p.a": {"p.b"}}),
    ],
)
def test_the_import_graph_has_every_kind_of_import(
    tmp_path: Path, files: dict[str, str], edges: dict[str, set[str]]
) -> None:
    (tmp_path / "p").mkdir()
    for name, text in files.items():
        (tmp_path / "p" / f"{name}.py").write_text(text)
    assert {name: used for name, used in graph_of(tmp_path / "p").items() if used} == edges
