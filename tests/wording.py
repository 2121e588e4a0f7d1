"""Counts the wording of comments, docstrings and guides.

The project's language rules ask for short, complete sentences in the terms of the field. This script measures
four signs of it and lists the identifiers that use a house metaphor instead of a technical term::

    python tests/wording.py [PATH ...]     # figures per folder, then each offending line
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Files of other origin, and texts that quote what was measured or decided on a certain day.
EXCLUDED = ("vectors/", "fuzz/corpus", "lab/record/", "tests/golden/", "docs/decisions/", "CHANGELOG.md")
INCLUDED_UNDER_VECTORS = "vectors/src/"

PERSONS = re.compile(r"\b(who|whoever|nobody|somebody)\b", re.IGNORECASE)
EXAMPLES = re.compile(r"\b(for example|such as|e\.g\.|for instance)", re.IGNORECASE)

# Parts of identifiers that are house metaphors, for example `door_calls` or `OldCrew`.
METAPHORS = frozenset(
    {
        "door",
        "doors",
        "floor",
        "law",
        "laws",
        "stranger",
        "strangers",
        "papers",
        "people",
        "twin",
        "twins",
        "crowd",
        "crew",
        "coat",
        "capsule",
        "unfit",
        "forged",
        "begun",
        "told",
        "obey",
        "sip",
        "whoever",
        "nobody",
        "somebody",
    }
)
# Whole identifiers that the dictionary replaces.
REPLACED = frozenset(
    {
        "NoKey",
        "Unfit",
        "TooLong",
        "PastEnd",
        "Failed",
        "Forged",
        "Lost",
        "Seen",
        "Begun",
        "Told",
        "Way",
        "Ways",
        "Stamp",
        "Crew",
        "Hand",
        "Crowd",
        "Lock",
        "Unlock",
        "most",
        "most_work",
        "beside",
        "kept",
        "cover",
        "grow",
        "turn",
        "talk",
        "answer",
        "proof",
        "proves",
        "Text",
    }
)
RUST_DEFINITION = re.compile(
    r"\b(?:fn|struct|enum|trait|mod|const|static|type|union|macro_rules!)\s+(?:mut\s+)?([A-Za-z_]\w*)"
    r"|\blet\s+(?:mut\s+)?([a-z_]\w*)\b"
)
GO_DEFINITION = re.compile(
    r"\b(?:func(?:\s+\([^)]*\))?|type|var|const)\s+(\w+)|\b([a-z_]\w*)\b(?:, \w+)*\s+:="
)


@dataclass
class Figures:
    """The counts of a set of texts."""

    words: int = 0
    sentences: int = 0
    persons: int = 0
    what: int = 0
    examples: int = 0
    lines: list[str] = field(default_factory=list)

    def per_thousand(self, count: int) -> float:
        """Returns occurrences per 1,000 words."""
        return 1000 * count / max(self.words, 1)

    @property
    def sentence_length(self) -> float:
        """The average number of words in a sentence."""
        return self.words / max(self.sentences, 1)

    def add(self, where: str, text: str) -> None:
        """Counts one paragraph, for example a doc comment without its code blocks."""
        text = re.sub(r"\]\([^)]*\)|https?://\S+", "]", text)
        text = re.sub(r"\s+", " ", text).strip()
        for sentence in re.split(r"(?<=[.!?])[\"')\]*]*\s+(?=[\"'(*\[`]*[A-Z0-9])", text):
            prose = re.sub(r"`+[^`]*`+", " ", sentence)
            # A list of error types or names is not a sentence.
            if len(re.findall(r"[A-Za-z]+", prose)) < 2:
                continue
            words = re.findall(r"[A-Za-z][\w'-]*", sentence.replace("::", "_"))
            self.sentences += 1
            self.words += len(words)
            persons = len(PERSONS.findall(sentence))
            what = words[0] == "What"
            self.persons += persons
            self.what += what
            self.examples += len(EXAMPLES.findall(sentence))
            if persons or what:
                self.lines.append(f"{where}: {sentence[:140]}")


def paragraphs(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Joins lines of prose to paragraphs. Code blocks, tables, headings and directives are left out."""
    found: list[tuple[int, str]] = []
    current: list[str] = []
    start, fenced = 0, False

    def end() -> None:
        if current:
            found.append((start, " ".join(current)))
            current.clear()

    for number, line in lines:
        text = line.strip()
        if text.startswith(("```", "~~~")):
            fenced = not fenced
            end()
        elif (
            fenced
            or line.startswith("    ")
            or text.startswith(("|", "#", ">>>", "<", "==", "--", "..", "$ "))
        ):
            end()
        elif not text or re.match(r"([-*•]|\d+\.)\s", text):
            end()
            if text:
                start = number
                current.append(re.sub(r"^([-*•]|\d+\.)\s+", "", text))
        else:
            if not current:
                start = number
            current.append(text)
    end()
    return found


def rust_comments(source: str) -> list[tuple[int, str]]:
    """The comment blocks of a Rust file; blocks of one kind that follow each other are one text."""
    texts: list[tuple[int, str]] = []
    block: list[tuple[int, str]] = []
    kind = ""
    for number, line in enumerate(source.splitlines(), 1):
        match = re.match(r"\s*(//[/!]?)(?!/) ?(.*)", line)
        if match is None or match.group(1) != kind:
            texts += paragraphs(block)
            block = []
        if match is not None:
            kind = match.group(1)
            block.append((number, match.group(2)))
        else:
            kind = ""
            trailing = re.search(r"[;,{}\])]\s+// (.+)$", line)
            if trailing:
                texts.append((number, trailing.group(1)))
    return texts + paragraphs(block)


def python_comments(source: str) -> list[tuple[int, str]]:
    """The docstrings and comments of a Python file."""
    texts: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node)
            if documented:
                first = node.body[0].lineno
                lines = [(first + i, line) for i, line in enumerate(documented.splitlines())]
                # The indented descriptions of numpy sections are prose, their "name : type" lines are not.
                lines = [(n, t[4:] if re.match(r"    \S", t) else t) for n, t in lines]
                lines = [(n, "" if re.match(r"[\w, *]+ : ", t) else t) for n, t in lines]
                texts += paragraphs(lines)
    block: list[tuple[int, str]] = []
    last = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not re.match(r"#!|# (type|noqa|ruff|pragma)", token.string):
            if token.start[0] != last + 1:
                texts += paragraphs(block)
                block = []
            last = token.start[0]
            block.append((last, token.string.lstrip("#").removeprefix(" ")))
    return texts + paragraphs(block)


def texts_of(path: Path) -> list[tuple[int, str]]:
    """All prose of one file with the lines where it begins."""
    source = path.read_text()
    # The comments of Go have the same form.
    if path.suffix in {".rs", ".go"}:
        return rust_comments(source)
    if path.suffix in {".py", ".pyi"}:
        return python_comments(source)
    return paragraphs(list(enumerate(source.splitlines(), 1)))


def bad_names(path: Path) -> list[str]:
    """The definitions in one source file whose name is a term that the dictionary replaces."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = line.split("//")[0] if path.suffix in {".rs", ".go"} else line.split("#")[0]
        if path.suffix == ".rs":
            names = [a or b for a, b in RUST_DEFINITION.findall(code)]
        elif path.suffix == ".go":
            names = [a or b for a, b in GO_DEFINITION.findall(code)]
        else:
            names = re.findall(r"^\s*(?:def|class)\s+(\w+)", code) + re.findall(
                r"^\s*(\w+)\s*(?::[^=]+)?=[^=]", code
            )
        for name in names:
            parts = re.findall(r"[a-z]+|[A-Z][a-z]*|[A-Z]+", re.sub(r"[\d_]+", " ", name))
            if name in REPLACED or any(part.lower() in METAPHORS for part in parts):
                found.append(f"{path.relative_to(ROOT)}:{number}: {name}")
    return found


def files(under: list[str] | None = None) -> list[Path]:
    """The files that are counted: sources, tests and guides that the project wrote itself."""
    listed = subprocess.check_output(["git", "ls-files", *(under or [])], cwd=ROOT, text=True).splitlines()
    return [
        ROOT / name
        for name in listed
        if name.endswith((".rs", ".go", ".py", ".pyi", ".md"))
        and (name.startswith(INCLUDED_UNDER_VECTORS) or not name.startswith(EXCLUDED))
        and (ROOT / name).exists()
    ]


def count(paths: list[Path]) -> Figures:
    """Counts the prose of these files together."""
    figures = Figures()
    for path in paths:
        for line, text in texts_of(path):
            figures.add(f"{path.relative_to(ROOT)}:{line}", text)
    return figures


def _row(name: str, figures: Figures) -> str:
    return (
        f"{name:<28} {figures.words:>7} words  {figures.sentence_length:5.1f} a sentence"
        f"   who/nobody {figures.per_thousand(figures.persons):5.2f}"
        f"   What… {figures.per_thousand(figures.what):5.2f}"
        f"   for example {figures.per_thousand(figures.examples):5.2f}"
    )


def main() -> None:
    """Prints the figures of each folder, of all files, and the lines to look at."""
    paths = files(sys.argv[1:])
    groups: dict[str, list[Path]] = {}
    for path in paths:
        parts = path.relative_to(ROOT).parts
        groups.setdefault("/".join(parts[: min(len(parts) - 1, 3)]) or parts[0], []).append(path)
    for name, members in sorted(groups.items()):
        print(_row(name, count(members)))
    total = count(paths)
    print(_row("all", total))
    for line in total.lines:
        print(line)
    for path in paths:
        if path.suffix != ".md":
            for line in bad_names(path):
                print(f"name: {line}")


if __name__ == "__main__":
    main()
