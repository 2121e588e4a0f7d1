#!/bin/sh
# Installs a wheel or a source distribution in an empty environment, and runs the examples of the
# README, the published vectors, files of other implementations, and the other checks of
# installed.py:
#     [PYTHON=...] test_wheel.sh WHEEL-OR-SDIST [FOLDER]
# FOLDER has these, in the folders of the repository. fresh.sh runs this script on another system. A
# source distribution needs cargo, a C compiler and network: pip fetches maturin, and cargo the crates.
set -eu
wheel=$(realpath "$1") python=${PYTHON:-python3} root=$(realpath "${2:-$(dirname "$0")/../..}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
case $wheel in *.whl) index=--no-index ;; *) index= ;; esac
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check ${index:+"$index"} --no-deps "$wheel"
cp "$root/README.md" "$folder/"
cd "$folder"
mkdir docs
cp README.md docs/page
PATH="$folder/venv/bin:$PATH"
python - <<'END'
import re

blocks = dict(re.findall(r"^```(python|sh)\n(.*?)^```", open("README.md").read(), re.MULTILINE | re.DOTALL))
open("example.py", "w").write(blocks["python"])
open("example.sh", "w").write(blocks["sh"])
END
python example.py
sh -eu example.sh >output
grep -q '^sealane' output
sealane doctor key.jwk >report
grep -q 'self-test passed' report
head -5 report
python "$root/release/tests/installed.py" "$root"
echo "test_wheel: $(basename "$wheel") works"
