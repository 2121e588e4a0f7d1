"""Checks the built site: links, files of other servers, and the entries of all public names."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes by which a browser loads a file.
LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
}


class Page(HTMLParser):
    """The links, the anchors and the loaded files of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects the attributes of an element."""
        for name, value in attrs:
            if not value:
                continue
            if name in ("id", "name"):
                self.anchors.add(value)
            if (tag, name) in LOADED and dict(attrs).get("rel") != "canonical":
                self.loaded.append(value)
            elif tag == "a" and name == "href":
                self.links.append(value)


def problems(folder: Path, names: dict[str, list[str]]) -> list[str]:
    """Returns everything that is wrong with the site in a folder."""
    ours = [path for path in sorted(folder.rglob("*.html")) if "rust" not in path.relative_to(folder).parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in ours}
    found = []
    for path, page in pages.items():
        place = path.relative_to(folder)
        found += [f"{place}: loads {url}" for url in page.loaded if is_external(url)]
        for url in [*page.links, *page.loaded]:
            reason = broken(url, path, folder, pages)
            if reason:
                found.append(f"{place}: {url}: {reason}")
    for module, public in names.items():
        page = pages[folder / "reference" / "python" / f"{module}.html"]
        for name in [full for short in public for full in members(module, short)]:
            if name not in page.anchors:
                found.append(f"{module}: {name} has no entry in the reference")
    found += [f"{name} has no docstring" for name in undocumented(names)]
    return found


def is_external(url: str) -> bool:
    """Returns whether a browser asks another server for a URL."""
    return bool(urlsplit(url).netloc)


def broken(url: str, page: Path, folder: Path, pages: dict[Path, Page]) -> str | None:
    """Returns the reason why a link leads nowhere; links to other servers are not followed."""
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return None
    # The page for missing pages has links from the root of the server.
    start = folder if parts.path.startswith("/") else page.parent
    target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else page
    if target.is_dir():
        target = target / "index.html"
    if not target.exists():
        return "there is no such file"
    anchor = unquote(parts.fragment)
    is_missing = anchor and target in pages and anchor not in pages[target].anchors
    return "the page has no such anchor" if is_missing and anchor != "__skip" else None


def members(module: str, name: str) -> Iterator[str]:
    """Lists a public name of a module and, if it is a class of ours, its methods and attributes."""
    yield f"{module}.{name}"
    found = getattr(importlib.import_module(module), name)
    if not inspect.isclass(found) or not found.__module__.startswith("sealane"):
        return
    for member, value in vars(found).items():
        is_documented = (
            inspect.isroutine(value) or inspect.isdatadescriptor(value) or isinstance(value, staticmethod)
        )
        if not member.startswith("_") and is_documented:
            yield f"{module}.{name}.{member}"


def undocumented(names: dict[str, list[str]]) -> list[str]:
    """Returns the public names without a docstring."""
    found = []
    for module, public in names.items():
        for name in public:
            value = getattr(importlib.import_module(module), name)
            if (inspect.isclass(value) or callable(value)) and not inspect.getdoc(value):
                found.append(f"{module}.{name}")
    return found
