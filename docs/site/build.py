"""Builds the documentation site in target/site/html, without network. ``make docs`` runs it.

The pages are those of the repository: the guide, the decisions, the records, the READMEs of the packages
for other languages. This script copies them, translates their links, and generates the references: of the
Python package from its stubs and docstrings, and of the program from its definition. MkDocs makes the site,
and warnings are errors.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import check
import figures
import speed

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SITE = ROOT / "target" / "site"
PAGES = SITE / "pages"

# Pages of the repository and their places in the site. Folders are copied with their `.md` files.
PLACES = {
    "docs/guide/README.md": "guide/index.md",
    "docs/guide": "guide",
    "docs/decisions": "project/decisions",
    "lab/record": "records",
    "lab/README.md": "project/lab.md",
    "SECURITY.md": "project/security.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "bindings/c/README.md": "languages/c.md",
    "bindings/go/README.md": "languages/go.md",
    "bindings/elixir/README.md": "languages/elixir.md",
    "bindings/crystal/README.md": "languages/crystal.md",
    "bindings/rustls/README.md": "languages/rustls.md",
    "docs/site/index.md": "index.md",
    "docs/site/rust.md": "reference/rust.md",
    "docs/site/python.md": "reference/python/index.md",
    "README.md": "project/readme.md",
}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def places() -> dict[Path, Path]:
    """Returns the place in the site of each page of the repository."""
    found: dict[Path, Path] = {}
    for source, place in PLACES.items():
        path = ROOT / source
        if path.is_dir():
            for page in sorted(path.glob("*.md")):
                found.setdefault(page, PAGES / place / page.name)
        else:
            found[path] = PAGES / place
    return found


def relative(target: Path, page: Path) -> str:
    """Returns the link from a page of the site to a file of the site."""
    return Path(*[".."] * len(page.parent.relative_to(PAGES).parts), target.relative_to(PAGES)).as_posix()


def translated(text: str, source: Path, page: Path, known: dict[Path, Path]) -> str:
    """Translates the links of a page: to pages of the site, to pictures, or to names of files."""

    def link(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        if picture:
            words = words.strip()
        elif LINK.search(words):
            words = LINK.sub(link, words)
        if "://" in target or target.startswith(("#", "mailto:")):
            return f"{picture}[{words}]({target})"
        name, _, anchor = target.partition("#")
        path = (source.parent / name).resolve()
        anchor = f"#{anchor}" if anchor else ""
        if path.is_dir() and path / "README.md" in known:
            path = path / "README.md"
        if path in known:
            return f"{picture}[{words}]({relative(known[path], page)}{anchor})"
        if picture:
            copy = PAGES / "pictures" / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
            return f"![{words}]({relative(copy, page)})"
        in_repository = path.relative_to(ROOT).as_posix()
        return words if in_repository in words else f"{words} (`{in_repository}`)"

    parts = FENCE.split(text)
    return "".join(part if at % 2 else LINK.sub(link, part) for at, part in enumerate(parts))


def copy_pages() -> dict[Path, Path]:
    """Copies the pages of the repository and returns their places."""
    known = places()
    for source, page in known.items():
        text = source.read_text(encoding="utf-8")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(translated(text, source, page, known), encoding="utf-8")
    for name in ["site.css", "site.js", "favicon.svg"]:
        shutil.copy(HERE / name, PAGES)
    return known


def modules() -> list[ModuleType]:
    """Returns the public modules of the Python package."""
    package = importlib.import_module("sealane")
    found = pkgutil.walk_packages(package.__path__, "sealane.")
    names = [
        module.name for module in found if not any(part.startswith("_") for part in module.name.split("."))
    ]
    return [package, *(importlib.import_module(name) for name in sorted(names))]


def public_names(module: ModuleType) -> list[str]:
    """Returns the names of a public module that are documented: those in ``__all__`` that are no modules."""
    names = getattr(module, "__all__", [])
    return [
        name for name in names if not isinstance(getattr(module, name), ModuleType) and name != "__version__"
    ]


def write_python_reference() -> list[tuple[str, str]]:
    """Writes one page for each public module; returns titles and places."""
    folder = PAGES / "reference" / "python"
    index = folder / "index.md"
    lines = [index.read_text(encoding="utf-8"), "## Modules", "", "| module | content |", "|---|---|"]
    nav = [("Overview", "reference/python/index.md")]
    for module in modules():
        names = public_names(module)
        summary = (module.__doc__ or "").strip().split("\n")[0]
        lines.append(f"| [`{module.__name__}`]({module.__name__}.md) | {summary} |")
        text = [
            f"# {module.__name__}",
            "",
            f"::: {module.__name__}",
            "    options:",
            "      members: false",
            "      show_root_heading: false",
            "      show_root_toc_entry: false",
            "",
        ]
        for name in sorted(names, key=str.lower):
            text += [f"::: {module.__name__}.{name}", ""]
        (folder / f"{module.__name__}.md").write_text("\n".join(text), encoding="utf-8")
        nav.append((module.__name__, f"reference/python/{module.__name__}.md"))
    index.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return nav


def write_program_reference() -> None:
    """Writes the reference of the program, which an example of its crate prints."""
    command = ["cargo", "run", "--quiet", "--package", "sealane-cli", "--example", "reference"]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    (PAGES / "reference" / "program.md").write_text(text, encoding="utf-8")


def title(page: Path) -> str:
    """Returns the first heading of a page without markup."""
    line = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return line.removeprefix("# ").replace("`", "").replace('"', "'")


def configuration(python: list[tuple[str, str]]) -> str:
    """Returns the configuration with the lists of pages that follow from the files."""
    text = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"[\w./-]+\.md", text))

    def pages(folder: str, prefix: str = "") -> list[tuple[str, str]]:
        found = sorted((PAGES / folder).glob(f"{prefix}*.md"))
        places = [page.relative_to(PAGES).as_posix() for page in found]
        return [(title(PAGES / place), place) for place in places if place not in named]

    migration = [("Overview", "guide/coming-from.md"), *pages("guide", "from-")]
    named |= {place for _, place in migration}
    lists = {
        "migration": migration,
        "rest": pages("guide"),
        "python": python,
        "records": pages("records"),
        "decisions": pages("project/decisions"),
    }
    for name, entries in lists.items():
        text = re.sub(
            rf'^( *)- ([\w ]+): "\*{name}"$',
            lambda line, entries=entries: (
                "\n".join(
                    [
                        f"{line[1]}- {line[2]}:",
                        *(f'{line[1]}    - "{words}": {place}' for words, place in entries),
                    ]
                )
                if entries
                else ""
            ),
            text,
            flags=re.MULTILINE,
        )
    return text.replace("../../docs/site/", f"{HERE.as_posix()}/").replace(
        "../../bindings", f"{ROOT}/bindings"
    )


def main() -> int:
    if stale := speed.stale():
        sys.exit(f"write the tables of these pages again, by docs/site/speed.py: {', '.join(stale)}")
    if stale := figures.stale():
        sys.exit(f"draw these figures again, by docs/site/figures.py: {', '.join(stale)}")
    shutil.rmtree(SITE, ignore_errors=True)
    copy_pages()
    (PAGES / "reference").mkdir(exist_ok=True)
    write_program_reference()
    config = SITE / "mkdocs.yml"
    config.write_text(configuration(write_python_reference()), encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", "--config-file", str(config)]
    subprocess.run(command, check=True)
    rust = ROOT / "target" / "doc"
    if (rust / "sealane" / "index.html").exists():
        shutil.copytree(rust, SITE / "html" / "rust", ignore=shutil.ignore_patterns(".lock"))
    else:
        print("NOT COPIED: the Rust reference, which 'make docs' builds", file=sys.stderr)
    problems = check.problems(SITE / "html", {module.__name__: public_names(module) for module in modules()})
    print("\n".join(problems) or f"{SITE / 'html' / 'index.html'}: no problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
