"""Sources with their mutants, for `mutants.py`."""

import dataclasses
import itertools
import pathlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator

import tree_sitter
import tree_sitter_rust

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
IN_TEST = "in a test"
CONSTANT = "in a constant, or of a type without a name"
OTHER_SYSTEM = "for another system"


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A mutant as cargo-mutants lists it. Number 0 means none, so numbers begin at 1."""

    number: int
    file: str
    function: str
    name: str
    genre: str
    returns: str
    replacement: str
    start: tuple[int, int]
    end: tuple[int, int]


@dataclasses.dataclass
class Edit:
    """A change of bytes `start..end` of a file. Each alternative replaces them if its mutant is active."""

    start: int
    end: int
    kind: str  # "insert", "cut" or "choice"
    alternatives: list[tuple[int, bytes]]


def run(*command: str, cwd: pathlib.Path = ROOT) -> str:
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True, check=True).stdout


def holds(tokens: list[str], known: frozenset[str]) -> bool:
    """Evaluates the condition of a `cfg` attribute, and removes its tokens."""
    name = tokens.pop(0)
    if tokens[:1] == ["="]:
        tokens.pop(0)
        return f"{name}={tokens.pop(0)}" in known
    if tokens[:1] != ["("]:
        return name in known
    parts = []
    while tokens.pop(0) != ")":
        if tokens[0] != ")":
            parts.append(holds(tokens, known))
    return not parts[0] if name == "not" else all(parts) if name == "all" else any(parts)


def default_features() -> frozenset[str]:
    """Returns the default features of all crates, as conditions. The tests are built with them."""
    manifests = [tomllib.loads(path.read_text()) for path in ROOT.glob("crates/*/Cargo.toml")]
    return frozenset(
        f'feature="{name}"' for one in manifests for name in one.get("features", {}).get("default", ())
    )


class Source:
    """A source file, and how it looks with its mutants."""

    SYSTEM = frozenset(run("rustc", "--print", "cfg").split()) | default_features()

    def __init__(self, path: str) -> None:
        self.path = path
        self.text = (ROOT / path).read_bytes()
        self.lines = self.text.split(b"\n")
        self.line_starts = list(itertools.accumulate((len(line) + 1 for line in self.lines), initial=0))
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
        self.root = parser.parse(self.text).root_node
        self.ranges: list[tuple[int, int, int]] = []  # in the changed file: start, end, mutant
        self.choices: list[tuple[int, int, list[int]]] = []
        self.left_out: str | None = None

    def offset(self, place: tuple[int, int]) -> int:
        line, column = place
        return self.line_starts[line - 1] + len(self.lines[line - 1].decode()[: column - 1].encode())

    def ancestors(self, start: int, end: int) -> Iterator[tree_sitter.Node]:
        node = self.root.descendant_for_byte_range(start, end)
        while node is not None:
            yield node
            node = node.parent

    def file_not_compiled(self) -> str:
        """Returns why the attribute of its `mod` item leaves out the file, or an empty string."""
        path = pathlib.PurePath(self.path)
        for parent in (path.with_name("mod.rs"), path.with_name("lib.rs"), path.parent.with_suffix(".rs")):
            if parent != path and (ROOT / parent).exists():
                for item in Source(str(parent)).root.children:
                    name = item.child_by_field_name("name")
                    if item.type == "mod_item" and name is not None and name.text == path.stem.encode():
                        return self.not_compiled(item)
        return ""

    def not_compiled(self, node: tree_sitter.Node) -> str:
        """Returns why an attribute leaves out the node, or an empty string."""
        before = node.prev_sibling
        while before is not None and before.type in ("attribute_item", "line_comment"):
            if condition := re.fullmatch(rb"#\[cfg\((.*)\)\]", before.text or b"", re.S):
                tokens = re.findall(r'"[^"]*"|\w+|[(),=]', condition[1].decode())
                if not holds(list(tokens), self.SYSTEM):
                    return IN_TEST if holds(tokens, self.SYSTEM | {"test"}) else OTHER_SYSTEM
            before = before.prev_sibling
        return ""

    def edit(self, mutant: Mutant, constant: set[str]) -> list[Edit] | str:
        """Returns the edits of a mutant, or why it has none."""
        start, end = self.offset(mutant.start), self.offset(mutant.end)
        if self.left_out is None:
            self.left_out = self.file_not_compiled()
        if self.left_out:
            return self.left_out
        if mutant.genre == "FnValue" and "impl " in mutant.returns:
            return CONSTANT
        cuts = []
        for node in self.ancestors(start, end):
            if node.type in ("const_item", "static_item", "array_type", "enum_variant"):
                return CONSTANT
            if node.type == "block" and node.parent is not None and node.parent.type == "type_arguments":
                return CONSTANT
            if why := self.not_compiled(node):
                return why
            if node.type == "function_item" and not cuts:
                modifiers = [child for child in node.children if child.type == "function_modifiers"]
                for modifier in (
                    child for one in modifiers for child in one.children if child.type == "const"
                ):
                    if mutant.function in constant:
                        return CONSTANT
                    cuts.append(Edit(modifier.start_byte, modifier.end_byte, "cut", []))
        one = self.one_edit(mutant, start, end)
        return [*cuts, one] if one else "does not parse"

    def one_edit(self, mutant: Mutant, start: int, end: int) -> Edit | None:
        number, new = mutant.number, mutant.replacement.encode()

        def choice(node: tree_sitter.Node, text: bytes) -> Edit:
            return Edit(node.start_byte, node.end_byte, "choice", [(number, text)])

        def within(types: tuple[str, ...]) -> tree_sitter.Node:
            return next(node for node in self.ancestors(start, end) if node.type in types)

        if mutant.genre == "FnValue":
            bodies = (
                node.child_by_field_name("body")
                for node in self.ancestors(start, end)
                if node.type == "function_item"
            )
            at = next(body.start_byte for body in bodies if body is not None and body.start_byte < start) + 1
            return Edit(
                at, at, "insert", [(number, b" if ::mutants::active(%d) { return %s; }" % (number, new))]
            )
        if mutant.genre == "MatchArmGuard":
            return Edit(start, end, "choice", [(number, new)])
        if mutant.genre == "MatchArm":
            arm = next(
                node
                for node in self.ancestors(start, end)
                if node.type == "match_arm" and node.start_byte >= start
            )
            pattern = arm.child_by_field_name("pattern")
            assert pattern is not None
            assert arm.parent is not None
            others = [
                one.child_by_field_name("pattern") for one in arm.parent.children if one.type == "match_arm"
            ]
            if not any(one is not None and one.text == b"_" for one in others):
                return None
            condition = pattern.child_by_field_name("condition")
            if condition is not None:
                return choice(condition, b"false")
            at = pattern.end_byte
            return Edit(at, at, "insert", [(number, b" if !::mutants::active(%d)" % number)])
        if mutant.genre == "StructField":
            whole = within(("struct_expression",))
            rest = self.text[end : whole.end_byte]
            return choice(whole, self.text[whole.start_byte : start] + re.sub(rb"^\s*,", b"", rest))
        if mutant.genre in ("BinaryOperator", "UnaryOperator"):
            kinds = ("binary_expression", "compound_assignment_expr", "unary_expression", "let_chain")
            whole = within(kinds)
            if whole.type == "let_chain":
                return None
            return choice(whole, self.text[whole.start_byte : start] + new + self.text[end : whole.end_byte])
        sys.exit(f"cargo-mutants lists a mutant of an unknown kind: {mutant.genre} in {mutant.name}")

    def write(self, edits: Iterable[Edit]) -> None:
        merged: dict[tuple[int, int, str], Edit] = {}
        for edit in edits:
            key = (edit.start, edit.end, edit.kind)
            merged.setdefault(
                key, dataclasses.replace(edit, alternatives=[])
            ).alternatives += edit.alternatives
        ordered = sorted(merged.values(), key=lambda one: (one.start, one.kind == "choice", -one.end))
        out = bytearray()
        self.ranges.clear()
        self.choices.clear()
        rest = self.render(out, 0, len(self.text), ordered)
        assert not rest, f"edits of {self.path} cross: {rest[0]}"
        target = TREE / self.path
        if target.read_bytes() != out:
            target.write_bytes(out)

    def render(self, out: bytearray, start: int, end: int, edits: list[Edit]) -> list[Edit]:
        """Appends `start..end` with the edits in it, the outer ones first; returns the other edits."""
        at = start
        while edits and edits[0].end <= end:
            edit, *edits = edits
            out += self.text[at : edit.start]
            began = len(out)
            if edit.kind == "choice":
                out += b"("
            for number, text in edit.alternatives:
                if edit.kind == "choice":
                    out += b"if ::mutants::active(%d) { (" % number
                self.ranges.append((len(out), len(out) + len(text), number))
                out += text
                if edit.kind == "choice":
                    out += b") } else "
            if edit.kind == "choice":
                out += b"{ ("
                edits = self.render(out, edit.start, edit.end, edits)
                out += b") })"
            self.choices.append((began, len(out), [number for number, _ in edit.alternatives]))
            at = edit.end
        out += self.text[at:end]
        return edits

    def mutants_at(self, start: int, end: int) -> set[int]:
        return {number for first, last, number in self.ranges if first <= start and end <= last}

    def mutants_around(self, start: int, end: int) -> set[int]:
        """Returns the mutants of the smallest change that overlaps the bytes."""
        around = [one for one in self.choices if one[0] < end and start < one[1] and one[2]]
        return set(min(around, key=lambda one: one[1] - one[0])[2]) if around else set()
