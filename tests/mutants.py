"""Mutation tests (`make -C tests mutants`): small changes of the sources that a test should catch.

    mutants.py [--retry] CARGO_MUTANTS FILE...

cargo-mutants lists the mutants of the files (patterns are allowed). It would build the project once for each.
This script builds once: a copy of the tree contains all mutants, and an environment variable chooses one when
a test starts. For example, `a + b` becomes

    (if ::mutants::active(17) { (a - b) } else if ::mutants::active(18) { (a * b) } else { (a + b) })

1. Mutants that do not compile are removed, by the places of the errors, until the copy compiles. `--retry`
   remembers them.
2. Each test runs once by itself and records the mutants that it reaches. A test that fails here is not used.
3. For each mutant, the tests that reach it run until one fails. Short tests, and those that caught other
   mutants of the file, are first. Ten times the usual processor time is a failure, and so is a wait of more
   than ten seconds. After ten seconds of tests, the mutant survives.

Mutants in constants, and of functions that return `impl Trait`, cannot be chosen at run time. They are not
tried. The Python tests do not take part.
`docs/mutants.md` lists the survivors with a reason. The script fails if a function has more of them than
listed there. The sections `Equivalent: ...` list mutants that no test can catch.
Each result is saved. `--retry` keeps those of caught mutants, as long as their file does not change. It
continues a run that was interrupted, and tries the survivors again after new tests.
"""

import argparse
import collections
import contextlib
import dataclasses
import hashlib
import json
import math
import mmap
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mutant_sources import CONSTANT, IN_TEST, OTHER_SYSTEM, ROOT, TREE, WORK, Mutant, Source, run

RESULTS = WORK / "results.jsonl"
NOT_COMPILING = WORK / "not_compiling.json"
REASONS = ROOT / "docs" / "mutants.md"
# Each crate uses those before it.
CRATES = {"kernels": "sealane-kernels", "providers": "sealane-providers", "sealane": "sealane"}
PROGRAM = "sealane-cli"
# Processor time in seconds for the tests of one mutant.
MAX_TESTS = 10.0
# A test that waits for a lock or for input has no processor time to exceed. Its wait counts only while none
# of its threads could run, because other jobs of the machine may leave it a small share of the processors.
MAX_WAIT = 10.0
MAX_PAUSE = 0.05
WORKERS = 2
# A mutant may allocate or write without end. No test needs as much.
MAX_MEMORY = 8 << 30
MAX_FILE = 4 << 30

RUNTIME = """\
//! Chooses the mutant whose number is in `MUTANT`, and records the reached ones in the file
//! `MUTANTS_REACHED`.
use std::ffi::{c_char, c_int, c_long, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::*};

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn atoi(text: *const c_char) -> c_int;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn close(file: c_int) -> c_int;
    fn mmap(at: *mut c_void, len: usize, access: c_int, flags: c_int, file: c_int, from: c_long)
    -> *mut c_void;
}

const UNREAD: u32 = u32::MAX;
static CHOSEN: AtomicU32 = AtomicU32::new(UNREAD);
static REACHED: AtomicPtr<u8> = AtomicPtr::new(null_mut());

// Neither allocates nor locks, because tests count allocations and fork.
#[cold]
fn read() -> u32 {
    unsafe {
        let path = getenv(c"MUTANTS_REACHED".as_ptr());
        if !path.is_null() {
            let file = open(path, 2);
            assert!(file >= 0);
            let map = mmap(null_mut(), COUNT, 3, 1, file, 0);
            assert!(map as isize != -1);
            close(file);
            REACHED.store(map.cast(), Release);
        }
        let chosen = getenv(c"MUTANT".as_ptr());
        let chosen = if chosen.is_null() { 0 } else { atoi(chosen) as u32 };
        CHOSEN.store(chosen, Release);
        chosen
    }
}

#[inline]
pub fn active(number: u32) -> bool {
    let mut chosen = CHOSEN.load(Acquire);
    if chosen == UNREAD {
        chosen = read();
    }
    let reached = REACHED.load(Relaxed);
    if !reached.is_null() {
        unsafe { reached.add(number as usize).write_volatile(1) };
    }
    chosen == number
}
"""


def listed(cargo_mutants: str, files: Iterable[str]) -> list[Mutant]:
    options = [option for file in files for option in ("--file", file)]
    mutants = []
    for entry in json.loads(run(cargo_mutants, "mutants", "--list", "--json", *options)):
        start, end = entry["span"]["start"], entry["span"]["end"]
        mutants.append(
            Mutant(
                number=len(mutants) + 1,
                file=entry["file"],
                function=(entry["function"] or {}).get("function_name", ""),
                returns=(entry["function"] or {}).get("return_type", ""),
                name=entry["name"],
                genre=entry["genre"],
                replacement=entry["replacement"],
                start=(start["line"], start["column"]),
                end=(end["line"], end["column"]),
            )
        )
    return mutants


# ---- the copy of the tree ---------------------------------------------------------------------------------


def crates_of(files: Iterable[str]) -> list[str]:
    """Returns the folders of the crates that have these files. Other crates are built without mutants."""
    mutated = {path.split("/")[1] for path in files}
    return [crate for crate in CRATES if crate in mutated]


def copy_tree(count: int, crates: list[str]) -> None:
    shutil.rmtree(TREE, ignore_errors=True)
    for path in run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0"):
        if path and (ROOT / path).is_file():
            (TREE / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, TREE / path)
    own = TREE / "crates" / "mutants"
    (own / "src").mkdir(parents=True)
    (own / "src" / "lib.rs").write_text(f"{RUNTIME}const COUNT: usize = {count + 1};\n")
    (own / "Cargo.toml").write_text('[package]\nname = "mutants"\nversion = "0.0.0"\nedition = "2024"\n')
    workspace = (TREE / "Cargo.toml").read_text()
    (TREE / "Cargo.toml").write_text(workspace.replace("members = [", 'members = ["crates/mutants",', 1))
    for crate in crates:
        manifest = TREE / "crates" / crate / "Cargo.toml"
        text = manifest.read_text()
        if "\n[dependencies]" not in text:
            text += "\n[dependencies]\n"
        line = '\n[dependencies]\nmutants = { path = "../mutants" }'
        manifest.write_text(text.replace("\n[dependencies]", line, 1))


def cargo(*command: str) -> Iterator[dict[str, Any]]:
    environment = os.environ | {"CARGO_TARGET_DIR": str(WORK / "build"), "CARGO_INCREMENTAL": "0"}
    call = ["cargo", *command, "--offline", "--message-format=json"]
    with subprocess.Popen(
        call, cwd=TREE, env=environment, stdout=subprocess.PIPE, stderr=(WORK / "cargo.log").open("wb")
    ) as job:
        assert job.stdout is not None
        for line in job.stdout:
            if line.startswith(b"{"):
                yield json.loads(line)


class Schemata:
    """The copy of the tree with its mutants, and what became of those that cannot be tried."""

    def __init__(self, mutants: list[Mutant]) -> None:
        self.mutants = {mutant.number: mutant for mutant in mutants}
        self.sources = {path: Source(path) for path in {mutant.file for mutant in mutants}}
        self.constant: set[str] = set()  # functions that have to stay `const`
        self.dropped: dict[int, str] = {}  # mutant: the code of the compiler's error
        self.crates = crates_of(self.sources)

    def write(self) -> None:
        for path, source in self.sources.items():
            edits = []
            for mutant in self.mutants.values():
                if mutant.file == path and mutant.number not in self.dropped:
                    found = source.edit(mutant, self.constant)
                    if isinstance(found, str):
                        self.dropped[mutant.number] = found
                    else:
                        edits += found
            source.write(edits)

    def compile(self) -> None:
        """Removes mutants until the rest compiles. Errors of one phase hide those of the next."""
        while True:
            self.write()
            messages = list(cargo("check", *(f"--package={CRATES[crate]}" for crate in self.crates)))
            if messages and messages[-1].get("success"):
                return
            found = [one["message"] for one in messages if one["reason"] == "compiler-message"]
            errors = [one for one in found if one["level"] == "error" and one["spans"]]
            before = (len(self.dropped), len(self.constant))
            for error in errors:
                self.blame(error)
            if (len(self.dropped), len(self.constant)) == before:
                sys.exit("no mutant explains these errors:\n" + "\n".join(one["rendered"] for one in errors))
            print(f"{len(errors)} errors, {len(self.dropped)} mutants removed", flush=True)

    def load(self) -> None:
        """Removes those that did not compile in an earlier run, if their files are the same."""
        known = json.loads(NOT_COMPILING.read_text()) if NOT_COMPILING.exists() else {}
        for number, mutant in self.mutants.items():
            if why := known.get(Results.key(mutant)):
                self.dropped[number] = why
        self.constant |= set(known.get("constant", ()))

    def save(self) -> None:
        found = {Results.key(self.mutants[number]): why for number, why in self.dropped.items()}
        NOT_COMPILING.write_text(json.dumps(found | {"constant": sorted(self.constant)}))

    def blame(self, error: dict[str, Any]) -> None:
        code = (error["code"] or {"code": "other"})["code"]
        if code == "E0015" and (found := re.search(r"`(?:.*<impl )?([\w:<>' ]+)`", error["message"])):
            called = re.sub("::<[^:]*>$", "", found[1]).split("::")
            if called[-1] != "active":
                names = {one.function for one in self.mutants.values()}
                self.constant |= {name for name in names if name.split("::")[-1] == called[-1]}
                return
            code = CONSTANT
        spans = sorted(error["spans"], key=lambda span: not span["is_primary"])
        spans += [span for child in error["children"] for span in child["spans"]]
        # An error in a macro is at the place that calls it.
        for span in spans:
            if span["expansion"]:
                spans.append(span["expansion"]["span"])
        for find in (Source.mutants_at, Source.mutants_around):
            for span in spans:
                source = self.sources.get(span["file_name"])
                guilty = find(source, span["byte_start"], span["byte_end"]) if source else set()
                if guilty:
                    self.dropped |= {number: code for number in guilty if number not in self.dropped}
                    return


# ---- the tests --------------------------------------------------------------------------------------------


def wants_processor(session: int) -> bool:
    """Returns whether a thread of the session runs, waits for a processor, or waits for a disk."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # State, parent, group and session follow the name, which may have parentheses and spaces.
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                for task in path.parent.glob("task/*/stat"):
                    if task.read_text().rpartition(")")[2].split()[0] in "RD":
                        return True
    return False


@dataclasses.dataclass
class Test:
    program: str
    folder: pathlib.Path
    package: str
    name: str
    seconds: float = 0.0
    reaches: set[int] = dataclasses.field(default_factory=set)

    def passes(self, environment: dict[str, str], usual: float = 60.0) -> tuple[bool, float]:
        """Runs the test by itself, and returns whether it passed, and its processor time in seconds.

        It fails if it takes much more than the usual processor time, or waits for long.
        """
        limit = math.ceil(10 * usual + 1)
        waited = 0.0
        with tempfile.TemporaryDirectory(dir=WORK, ignore_cleanup_errors=True) as scratch:
            job = subprocess.Popen(
                [self.program, "--exact", self.name, "--quiet"],
                cwd=self.folder,
                env=os.environ | {"TMPDIR": scratch, "CARGO_PKG_NAME": self.package} | environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(job.pid, resource.RLIMIT_CPU, (limit, limit + 5))
            pause = 0.001
            while True:
                pid, status, used = os.wait4(job.pid, os.WNOHANG)
                if pid:
                    job.returncode = status
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(job.pid, signal.SIGKILL)
                    return status == 0, used.ru_utime + used.ru_stime
                if waited > MAX_WAIT:
                    os.killpg(job.pid, signal.SIGKILL)
                time.sleep(pause)
                if pause < MAX_PAUSE:
                    pause *= 1.3
                elif not wants_processor(job.pid):
                    waited += pause

    def learn(self, count: int) -> bool:
        """Records the time and the mutants that the test reaches."""
        with tempfile.NamedTemporaryFile(dir=WORK) as file:
            file.truncate(count + 1)
            passed, self.seconds = self.passes({"MUTANTS_REACHED": file.name})
            with mmap.mmap(file.fileno(), count + 1, access=mmap.ACCESS_READ) as reached:
                self.reaches = {number for number in range(1, count + 1) if reached[number]}
        return passed


def built_tests(crates: list[str]) -> list[Test]:
    """Builds the tests of the program, and of the crates that have mutants or use one that does."""
    tests = []
    using = [*CRATES][[*CRATES].index(crates[0]) :]
    packages = [*(CRATES[crate] for crate in using), PROGRAM]
    for message in cargo("test", "--no-run", *(f"--package={one}" for one in packages), "--lib", "--test=it"):
        if message["reason"] == "build-finished" and not message["success"]:
            sys.exit(f"the tests do not compile: run `cargo test --no-run` in {TREE}")
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            folder = pathlib.Path(message["manifest_path"]).parent
            package = tomllib.loads((folder / "Cargo.toml").read_text())["package"]["name"]
            for line in run(message["executable"], "--list", "--format=terse", cwd=folder).splitlines():
                tests.append(Test(message["executable"], folder, package, line.removesuffix(": test")))
    return tests


def try_mutant(mutant: Mutant, tests: list[Test], catches: dict[str, collections.Counter[str]]) -> str:
    """Returns the name of the test that catches the mutant, or an empty string."""
    catches_here = catches[mutant.file]
    reaching = [test for test in tests if mutant.number in test.reaches]
    reaching.sort(key=lambda test: test.seconds / (1 + catches_here[test.name]))
    left = MAX_TESTS
    for test in reaching:
        if left <= 0:
            break
        if test.seconds <= left or left == MAX_TESTS:
            left -= test.seconds
            passed, _ = test.passes({"MUTANT": str(mutant.number)}, test.seconds)
            if not passed:
                catches_here[test.name] += 1
                return test.name
    return ""


@dataclasses.dataclass
class Results:
    """Which test caught each mutant, also in previous runs."""

    caught: dict[str, str] = dataclasses.field(default_factory=dict)

    @staticmethod
    def key(mutant: Mutant) -> str:
        """Returns a key that changes with the file of the mutant, without its tests."""
        source = (ROOT / mutant.file).read_text()
        code = re.split(r"\n#\[cfg\(.*\btest\b.*\)\]\nmod ", source)[0]
        return f"{hashlib.sha256(code.encode()).hexdigest()[:16]} {mutant.name}"

    def load(self) -> None:
        for line in RESULTS.read_text().splitlines() if RESULTS.exists() else []:
            key, test = json.loads(line)
            self.caught[key] = test

    def save(self, mutant: Mutant, test: str) -> None:
        self.caught[self.key(mutant)] = test
        with RESULTS.open("a") as file:
            file.write(json.dumps([self.key(mutant), test]) + "\n")


def listed_survivors() -> tuple[collections.Counter[str], collections.Counter[str]]:
    """Returns how many survivors of each function the page lists: all of them, and the equivalent ones."""
    everything: collections.Counter[str] = collections.Counter()
    equivalent: collections.Counter[str] = collections.Counter()
    section = ""
    for line in REASONS.read_text().splitlines():
        if line.startswith("## "):
            section = line
        if found := re.match(r"- `(\S+?)` `(.*?)`(?:: (\d+))?", line):
            place, count = f"{found[1]} {found[2]}", int(found[3] or 1)
            everything[place] += count
            if section.startswith("## Equivalent"):
                equivalent[place] += count
    return everything, equivalent


def report(mutants: list[Mutant], dropped: dict[int, str], caught: dict[int, str]) -> int:
    figures: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    survivors: dict[str, list[str]] = collections.defaultdict(list)
    allowed, equivalent = listed_survivors()
    for mutant in mutants:
        fate = dropped.get(mutant.number, "viable")
        if fate != "viable":
            continue
        folder = str(pathlib.PurePath(mutant.file).parent)
        crate = "/".join(mutant.file.split("/")[:2])
        is_caught = bool(caught.get(mutant.number))
        if fate == "viable" and not is_caught:
            survivors[f"{mutant.file} {mutant.function}"].append(mutant.name)
            place = f"{mutant.file} {mutant.function}"
            if len(survivors[place]) <= equivalent[place]:
                fate = "equivalent"
        for group in (folder, f"all of {crate}"):
            figures[group][fate] += 1
            figures[group]["caught"] += is_caught
    print("| folder | mutants that compile | caught | | without equivalent ones |")
    print("|---|---|---|---|---|")
    for group, counts in sorted(figures.items()):
        tried = counts["viable"] + counts["equivalent"]
        if tried:
            share, proper = (100 * counts["caught"] / max(one, 1) for one in (tried, counts["viable"]))
            print(f"| `{group}` | {tried} | {counts['caught']} | {share:.1f} % | {proper:.1f} % |")
    reasons = (CONSTANT, IN_TEST, OTHER_SYSTEM)
    fates = collections.Counter(why if why in reasons else "do not compile" for why in dropped.values())
    print(*(f"{count} not tried: {fate}" for fate, count in sorted(fates.items())), sep="\n")
    print(*sorted(name for names in survivors.values() for name in names), sep="\n")
    new = [name for place, names in survivors.items() if len(names) > allowed[place] for name in names]
    print(f"{len(new)} survivors are in functions with more of them than {REASONS.relative_to(ROOT)} lists")
    print(*new, sep="\n")
    tried_files = {mutant.file for mutant in mutants}
    for place, count in allowed.items():
        if place.split()[0] in tried_files and (found_count := len(survivors[place])) < count:
            print(f"listed, but fewer survive: {place}: {found_count} of {count}")
    return 1 if new else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--retry", action="store_true", help="keep the results of caught mutants")
    parser.add_argument("cargo_mutants")
    parser.add_argument("files", nargs="+")
    chosen = parser.parse_args(arguments)
    # A shell lets its background jobs ignore the signal, and then tests that send it would fail.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    began = time.monotonic()
    mutants = listed(chosen.cargo_mutants, chosen.files)
    WORK.mkdir(parents=True, exist_ok=True)
    results = Results()
    if chosen.retry:
        results.load()
    else:
        RESULTS.unlink(missing_ok=True)
    count = len(mutants)
    schemata = Schemata(mutants)
    if chosen.retry:
        schemata.load()
    copy_tree(count, schemata.crates)
    schemata.compile()
    schemata.save()
    tests = built_tests(schemata.crates)
    # A limit of address space would change what is tested, because the library divides no message under one.
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    print(f"{count} mutants, {len(tests)} tests, built after {time.monotonic() - began:.0f} s", flush=True)
    with ThreadPoolExecutor(WORKERS) as pool:
        passed = list(pool.map(lambda test: test.learn(count), tests))
        for test, good in zip(tests, passed, strict=True):
            if not good:
                print(f"not used, because it fails in the copy: {test.name} of {test.folder.name}")
        tests = [test for test, good in zip(tests, passed, strict=True) if good]
        print(f"tests ran after {time.monotonic() - began:.0f} s", flush=True)
        viable = [mutant for mutant in mutants if mutant.number not in schemata.dropped]
        caught = {mutant.number: results.caught.get(results.key(mutant), "") for mutant in viable}
        todo = [mutant for mutant in viable if not caught[mutant.number]]
        catches: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        found = pool.map(lambda one: try_mutant(one, tests, catches), todo)
        for tried, (mutant, test) in enumerate(zip(todo, found, strict=True), 1):
            caught[mutant.number] = test
            results.save(mutant, test)
            if tried % 100 == 0:
                print(f"{tried} of {len(todo)} after {time.monotonic() - began:.0f} s", flush=True)
    return report(mutants, schemata.dropped, caught)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
