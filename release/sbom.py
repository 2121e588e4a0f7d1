"""Writes a bill of materials (CycloneDX 1.6, JSON) for each artefact: the wheel, the program and the C
library.

It lists the crates in the artefact, with version, licence, the registry's checksum and dependencies. They
come from the lock file for the given platform, so the same commit gives the same file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]

# Each artefact and the crate it is built from.
ARTEFACTS = {"wheel": "sealane-python", "program": "sealane-cli", "c-library": "sealane-c"}


def metadata(platform: str) -> dict[str, Any]:
    """Returns the workspace's crates and their dependencies on a platform."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", platform]
    found: dict[str, Any] = json.loads(
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout
    )
    return found


def checksums() -> dict[tuple[str, str], str]:
    """Returns the SHA-256 of each crate from the registry."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    packages = lock["package"]
    return {(one["name"], one["version"]): one["checksum"] for one in packages if "checksum" in one}


def component(package: dict[str, Any], hashes: dict[tuple[str, str], str]) -> Component:
    """Returns a crate's entry."""
    name, version = package["name"], package["version"]
    purl = PackageURL("cargo", None, name, version)
    checksum = hashes.get((name, version))
    # Old manifests separate licences by a slash.
    licence = (package["license"] or "").replace(" / ", " OR ").replace("/", " OR ")
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=purl.to_string(),
        purl=purl,
        licenses=[LicenseExpression(licence)] if licence else [],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum)] if checksum else [],
    )


def bill(root: str, workspace: dict[str, Any]) -> Bom:
    """Returns the bill of a crate's artefact, without what only tests and builds need."""
    packages = {package["id"]: package for package in workspace["packages"]}
    nodes = {node["id"]: node for node in workspace["resolve"]["nodes"]}
    hashes = checksums()
    start = next(id for id, package in packages.items() if package["name"] == root)
    found: dict[str, Component] = {}
    below: dict[str, list[str]] = {}
    waiting = [start]
    while waiting:
        id = waiting.pop()
        if id in found:
            continue
        found[id] = component(packages[id], hashes)
        linked = [d["pkg"] for d in nodes[id]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])]
        # A macro runs in the compiler. Nothing of it is in the artefact.
        below[id] = [d for d in linked if not any("proc-macro" in t["kind"] for t in packages[d]["targets"])]
        waiting += below[id]
    bom = Bom()
    bom.metadata.component = found[start]
    # A timestamp would make every build differ.
    bom.metadata.timestamp = None
    for id, one in sorted(found.items()):
        if id != start:
            bom.components.add(one)
        bom.register_dependency(one, [found[d] for d in below[id]])
    return bom


def write(platform: str, out: Path) -> list[Path]:
    """Writes a platform's bills, checks each against the schema, and returns their paths."""
    out.mkdir(parents=True, exist_ok=True)
    workspace = metadata(platform)
    paths = []
    for artefact, root in ARTEFACTS.items():
        document = json.loads(JsonV1Dot6(bill(root, workspace)).output_as_string())
        # Random, and useless for a file identified by its artefact.
        document.pop("serialNumber", None)
        document["metadata"].pop("timestamp", None)
        text = json.dumps(document, indent=1, sort_keys=True) + "\n"
        error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
        if error:
            raise SystemExit(f"the bill of the {artefact} does not match the schema: {error}")
        path = out / f"sealane-{artefact}-{platform}.cdx.json"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platform", default="x86_64-unknown-linux-gnu", help="a target of Rust")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "sbom")
    options = parser.parse_args()
    for path in write(options.platform, options.out):
        print(f"{path}: {len(json.loads(path.read_text())['components'])} components")


if __name__ == "__main__":
    main()
