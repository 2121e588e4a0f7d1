"""Checks that a commit can be released. ``make -C release check`` runs it.

Each check prints one line: ``ok``, ``FAILED`` with the reason, or ``NOT RUN`` with what is missing
(a database of advisories that this machine cannot reach, for example). ``TO FILL`` names what only
the project's owner can fill in; on a commit with a tag ``v...`` it is a failure. The exit status is
1 if a check failed.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

import sbom
import semver
from wheels import MAX_LEN, PLATFORMS

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / "target" / "tools" / "bin"


class NotRun(Exception):
    """A check cannot run on this machine; the text says why."""


class Refused(Exception):
    """A check found a reason not to release."""


class ToFill(Exception):
    """The project's owner must fill something in before the first release; the text says what."""


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def version() -> str:
    """Returns the workspace's version."""
    found: str = tomllib.loads(read("Cargo.toml"))["workspace"]["package"]["version"]
    return found


def versions_agree() -> str:
    """All packages have the workspace's version."""
    expected = version()
    patterns = {
        "bindings/elixir/mix.exs": r'^ +version: "([^"]+)"',
        "bindings/crystal/shard.yml": r"^version: (\S+)",
    }
    found = {path: re.findall(pattern, read(path), re.MULTILINE) for path, pattern in patterns.items()}
    members = tomllib.loads(read("Cargo.toml"))["workspace"]["members"]
    for member in members:
        manifest = tomllib.loads(read(f"{member}/Cargo.toml"))
        inherits = manifest["package"]["version"] == {"workspace": True}
        found[f"{member}/Cargo.toml"] = [expected if inherits else manifest["package"]["version"]]
    lock = tomllib.loads(read("Cargo.lock"))["package"]
    names = {tomllib.loads(read(f"{member}/Cargo.toml"))["package"]["name"] for member in members}
    found["Cargo.lock"] = sorted({one["version"] for one in lock if one["name"] in names})
    wrong = {path: versions for path, versions in found.items() if versions != [expected]}
    if wrong:
        raise Refused(f"expected version {expected}, found {wrong}")
    return f"{expected} in {len(found)} files"


def change_log() -> str:
    """The change log begins with a section for the next release, and it has entries."""
    sections = re.split(r"^## ", read("CHANGELOG.md"), flags=re.MULTILINE)[1:]
    title, _, text = sections[0].partition("\n")
    expected = ["Unreleased", version()]
    if title.split(" - ")[0].strip("[] ") not in expected:
        raise Refused(f"CHANGELOG.md begins with the section {title!r}; expected one of {expected}")
    entries = len(re.findall(r"^- ", text, re.MULTILINE))
    if not entries:
        raise Refused(f"the section {title!r} of CHANGELOG.md has no entry")
    return f"{entries} entries in {title!r}"


def owner() -> str:
    """The repository's address and the release keys are filled in."""
    missing = [
        f"the address in {path}, where example.invalid stands"
        for path in ["Cargo.toml", "cli/Cargo.toml", "bindings/go/go.mod"]
        if "example.invalid" in read(path)
    ]
    keys = [line for line in read("release/allowed_signers").splitlines() if line[:1] not in ("", "#")]
    if not keys:
        missing.append("the public key of releases in release/allowed_signers, where no key stands")
    if not missing:
        return f"addresses, and {len(keys)} keys in release/allowed_signers"
    tags = run("git", "tag", "--points-at", "HEAD", "--list", "v*").stdout.split()
    text = f"before the first release, fill in {'; '.join(missing)}"
    if tags:
        raise Refused(f"{text}; the commit has the tag {tags[0]}")
    raise ToFill(text)


def licences() -> str:
    """deny.toml allows the licences and sources of all crates."""
    deny(["bans", "licenses", "sources"])
    return "deny.toml"


def advisories_of_crates() -> str:
    """No crate has a RustSec advisory."""
    deny(["advisories"])
    return "no advisory"


def deny(checks: list[str]) -> None:
    """Runs cargo-deny."""
    program = TOOLS / "cargo-deny"
    if not program.exists():
        raise NotRun("needs cargo-deny; 'make -C release check' fetches it")
    done = run(str(program), "--all-features", "--locked", "check", *checks)
    if done.returncode:
        text = done.stderr.strip()
        is_away = any(
            words in text for words in ["failed to fetch advisory database", "failed to load advisory"]
        )
        if is_away:
            raise NotRun("no crate was compared with RustSec: its database cannot be reached from here")
        raise Refused(text[-2000:])


def advisories_of_packages() -> str:
    """No package in the wheel's extras has a PyPI advisory."""
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"].values()
    names = {re.split(r"[<>=\[]", one)[0] for extra in extras for one in extra}
    pinned = [
        line
        for line in read("bindings/python/tests/requirements.txt").splitlines()
        if re.split(r"[=\[]", line)[0] in names
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "requirements.txt"
        path.write_text("\n".join(pinned) + "\n", encoding="utf-8")
        done = run(sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "-r", str(path))
    if done.returncode:
        is_away = "ConnectionError" in done.stderr or "HTTPError" in done.stderr or "Timeout" in done.stderr
        if is_away:
            raise NotRun("the advisories of PyPI cannot be reached from here")
        raise Refused((done.stdout + done.stderr)[-2000:])
    return f"no advisory for {', '.join(pinned)}"


def public_names() -> str:
    """The version fits the changes of the crates' public names since the last release."""
    base = semver.last_release()
    if base is None and semver.is_shallow():
        raise NotRun("the clone lacks old commits and their tags; 'git fetch --unshallow --tags' gets them")
    if base is None:
        raise NotRun(
            "there is no tag v... of a release to compare with; use 'make -C release semver BASE=REVISION'"
        )
    if not (TOOLS / "cargo-semver-checks").exists():
        raise NotRun("needs cargo-semver-checks; 'make -C release semver' fetches it")
    done = semver.compare(base)
    if done.returncode:
        raise Refused(f"compared with {base}: {(done.stdout + done.stderr)[-4000:]}")
    return f"{', '.join(semver.crates())} compared with {base}"


def packages() -> str:
    """The published crates can be packaged without network, and each package builds alone."""
    folder = ROOT / "target" / "packages"
    shutil.rmtree(folder / "package", ignore_errors=True)
    names = [argument for crate in semver.crates() for argument in ("--package", crate)]
    command = ["cargo", "package", "--locked", "--offline", "--allow-dirty", "--target-dir", str(folder)]
    done = run(*command, *names, *(["--no-verify"] if "--fast" in OPTIONS.reproducible else []))
    if done.returncode:
        raise Refused(done.stderr[-4000:])
    if "warning:" in done.stderr:
        raise Refused(f"cargo package warns: {done.stderr[-4000:]}")
    found = sorted((folder / "package").glob("*.crate"))
    if len(found) != len(semver.crates()):
        raise Refused(f"expected {len(semver.crates())} packages, found {[path.name for path in found]}")
    for path in found:
        check_package(path)
    sizes = ", ".join(f"{path.name} {path.stat().st_size // 1000} kB" for path in found)
    return sizes + (", not built" if "--fast" in OPTIONS.reproducible else "")


def check_package(path: Path) -> None:
    """Refuses a package that lacks licences, README, metadata or the version of a dependency."""
    with tarfile.open(path) as package:
        names = {name.split("/", 1)[1] for name in package.getnames()}
        content = package.extractfile(f"{path.stem}/Cargo.toml")
        manifest = tomllib.loads(content.read().decode()) if content else {}
    missing = {"Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT", "README.md"} - names
    fields = {"description", "license", "readme", "repository", "keywords", "categories", "rust-version"}
    missing |= fields - manifest["package"].keys()
    if missing:
        raise Refused(f"{path.name} lacks {', '.join(sorted(missing))}")
    for name, dependency in manifest["dependencies"].items() if "dependencies" in manifest else []:
        if isinstance(dependency, dict) and "version" not in dependency:
            raise Refused(f"{path.name}: the dependency {name} has no version")


def bills_of_materials() -> str:
    """The bills of materials can be written and match their schema."""
    paths = sbom.write("x86_64-unknown-linux-gnu", ROOT / "dist" / "sbom")
    return ", ".join(path.name for path in paths)


def reproducible() -> str:
    """Wheel and program are the same bytes when built in another folder."""
    script = str(ROOT / "release" / "reproducible.py")
    done = run(sys.executable, script, *OPTIONS.reproducible.split())
    if done.returncode:
        raise Refused((done.stdout + done.stderr)[-2000:])
    return done.stdout.strip().replace("\n", "; ")


def wheels() -> str:
    """dist/ has a wheel for each platform, of this version and not too large."""
    found = sorted((ROOT / "dist").glob("*.whl"))
    old = [wheel.name for wheel in found if wheel.name.split("-")[1] != version()]
    if old:
        raise Refused(f"expected wheels of version {version()}, found {old}")
    lengths = {wheel.stem.split("-")[-1]: wheel.stat().st_size for wheel in found}
    long = {tag: length for tag, length in lengths.items() if length > MAX_LEN}
    if long:
        raise Refused(f"expected at most {MAX_LEN} bytes, found {long}")
    text = ", ".join(f"{tag} {length / 1e6:.2f} MB" for tag, length in lengths.items())
    missing = {f"{tag}_{triple.split('-')[0]}" for triple, tag in PLATFORMS.values()} - lengths.keys()
    if missing:
        raise NotRun(
            f"'make -C release wheels' builds {', '.join(sorted(missing))}; found {text or 'no wheel'}"
        )
    return text


def sums() -> str:
    """Writes the SHA-256 of all published files in dist/."""
    folder = ROOT / "dist"
    folder.mkdir(exist_ok=True)
    paths = [
        path
        for pattern in ("*.whl", "*.tar.gz", "*.deb", "go/**/*.zip", "sbom/*.json")
        for path in sorted(folder.glob(pattern))
    ]
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in paths
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    return f"{len(lines)} files in dist/SHA256SUMS"


CHECKS: list[Callable[[], str]] = [
    versions_agree,
    change_log,
    public_names,
    packages,
    owner,
    licences,
    advisories_of_crates,
    advisories_of_packages,
    bills_of_materials,
    wheels,
    sums,
    reproducible,
]
OPTIONS = argparse.Namespace(reproducible="")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skip", action="append", default=[], help="name of a check; printed as NOT RUN")
    parser.add_argument("--only", action="append", default=[], help="name of a check; others do not run")
    parser.add_argument("--reproducible", default="", help="options of release/reproducible.py")
    parser.parse_args(namespace=OPTIONS)
    failed = 0
    if unknown := {*OPTIONS.only} - {check.__name__ for check in CHECKS}:
        parser.error(f"there is no check {', '.join(sorted(unknown))}")
    for check in [one for one in CHECKS if not OPTIONS.only or one.__name__ in OPTIONS.only]:
        name = check.__name__.replace("_", " ")
        try:
            if check.__name__ in OPTIONS.skip:
                raise NotRun("skipped by an option")
            print(f"ok       {name}: {check()}", flush=True)
        except NotRun as reason:
            print(f"NOT RUN  {name}: {reason}", flush=True)
        except ToFill as reason:
            print(f"TO FILL  {name}: {reason}", flush=True)
        except Refused as reason:
            failed += 1
            print(f"FAILED   {name}: {reason}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
