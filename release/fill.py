"""Fills in the files of package managers that need a hash of the source distribution.

``make -C release formula`` runs it: it writes dist/sealane.rb and dist/conda/recipe.yaml.
"""

from __future__ import annotations

import hashlib
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = {"homebrew/sealane.rb": "sealane.rb", "conda/recipe.yaml": "conda/recipe.yaml"}


def main() -> None:
    dist = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "dist"
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    source = dist / f"sealane-{workspace['version']}.tar.gz"
    if not source.exists():
        sys.exit(f"{source} is missing: 'make -C release sdist' makes it")
    values = {
        "VERSION": workspace["version"],
        "ADDRESS": workspace["repository"],
        "SHA256": hashlib.sha256(source.read_bytes()).hexdigest(),
    }
    for template, name in FILES.items():
        first, _, text = (ROOT / "release" / template).read_text(encoding="utf-8").partition("\n")
        assert first.startswith("#"), "the first line is for us"
        for key, value in values.items():
            text = text.replace(key, value)
        path = dist / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
