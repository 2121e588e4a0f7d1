#!/usr/bin/env python3
"""Runs the commands of action.yml, .pre-commit-hooks.yaml, the Homebrew formula and the conda recipe.

``make -C release test-integrations`` runs it with a Python whose environment has the program sealane. With
a wheel and a folder of the four files, as ``test_integrations.py WHEEL FOLDER``, it needs nothing else of the
repository. The services themselves cannot be reached; what cannot run here is printed as NOT RUN.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parents[2]).resolve()
# A stand-in for the part of Homebrew that the formula calls, and for its method `test`.
BREW = """
require "pathname"
class Pathname; def write(text) = File.write(self, text); def install(files) = files; end
class Formula
  def self.test(&block) = (@@test = block)
  def self.method_missing(*, **) = nil
  def self.respond_to_missing?(*) = true
  def self.ours = @@test
  def bin = Pathname.new(ENV["BIN"])
  def man1 = Pathname.new("man1")
  def testpath = Pathname.new(Dir.pwd)
  def std_cargo_args(path:) = ["--path", path]
  def generate_completions_from_executable(program, command, shells:)
    shells.each { |shell| raise "no completions for #{shell}" if `#{program} #{command} #{shell}`.empty? }
  end
  def system(program, *words)
    return puts("cargo #{words.join(" ")}") if program == "cargo"
    raise "#{program} #{words}" unless Kernel.system(program.to_s, *words)
  end
  def shell_output(command) = `#{command}`
  def assert_equal(one, other) = (raise "#{one.inspect} is not #{other.inspect}" unless one == other)
end
load ARGV[0]
formula = Sealane.new
formula.install
raise "no manual pages" if Dir["man1/*.1"].length < 15
formula.instance_eval(&Sealane.ours)
"""


def run(command: list[str | Path], folder: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **more)


def succeed(command: list[str | Path], folder: Path, **more: Any) -> str:
    done = run(command, folder, **more)
    if done.returncode:
        sys.exit(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def environment(**more: str) -> dict[str, str]:
    return os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"} | more


def keys_and_files(folder: Path) -> None:
    """Makes two keys, and a file under each."""
    (folder / "text").write_text("hello\n")
    succeed(["sealane", "keygen", "-o", "key.jwk"], folder, env=environment())
    public = succeed(["sealane", "keygen", "-t", "age", "-o", "me.key"], folder, env=environment()).strip()
    succeed(["sealane", "encrypt", "-k", "key.jwk", "-o", "one.sealed", "text"], folder, env=environment())
    succeed(["sealane", "encrypt", "-r", public, "-o", "two.age", "text"], folder, env=environment())


def action(folder: Path) -> None:
    """The steps that decrypt: with secrets in the environment, and with names of both kinds."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    install, decrypt = (step["run"] for step in steps)
    secrets = {"IDENTITY": (folder / "me.key").read_text(), "KEY": (folder / "key.jwk").read_text()}
    done = environment(FILES="one.sealed\n\ntwo.age\n", **secrets)
    succeed(["bash", "-eo", "pipefail", "-c", decrypt], folder, env=done)
    assert (folder / "one").read_text() == (folder / "two").read_text() == "hello\n"
    wrong = run(["bash", "-eo", "pipefail", "-c", decrypt], folder, env=environment(FILES="text", **secrets))
    assert wrong.returncode != 0
    assert "expected a name that ends in" in wrong.stderr, wrong
    print("ok       action: decrypts")
    pattern = f"*-manylinux_2_28_{platform.machine()}.whl"
    wheels = [Path(sys.argv[1])] if sys.argv[1:] else sorted((ROOT / "dist").glob(pattern))
    if not wheels:
        print("NOT RUN  action, its step that installs: 'make -C release wheels' makes a wheel for it")
        return
    paths = folder / "paths"
    package = environment(PACKAGE=str(wheels[-1]), RUNNER_TEMP=str(folder), GITHUB_PATH=str(paths))
    succeed(["bash", "-eo", "pipefail", "-c", install], folder, env=package)
    assert (Path(paths.read_text().strip()) / "sealane").exists()
    print("ok       action: installs")


def hooks(folder: Path) -> None:
    """The hooks pass what they should and refuse the rest."""
    encrypted, private = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    entry = ["bash", "-c", f'{encrypted["entry"]} "$@"', "bash"]
    assert run([*entry, "one.sealed", "two.age"], folder, env=environment()).returncode == 0
    assert run([*entry, "one.sealed", "text"], folder, env=environment()).returncode != 0
    pattern = re.compile(private["entry"])
    names = ["key.jwk", "me.key", "secret.pem.jwk", "keyring"]
    succeed(["sealane", "keygen", "-t", "p-256", "-o", names[2]], folder, env=environment())
    command = "import sealane; print(sealane.keys.Keyring.generate('aes-256-gcm').to_json())"
    (folder / names[3]).write_text(succeed([sys.executable, "-c", command], folder))
    for name in names:
        assert pattern.search((folder / name).read_text()), name
    public = succeed(["sealane", "keygen", "-y", "me.key"], folder, env=environment())
    assert not pattern.search(public + (folder / "text").read_text())
    print("ok       hooks: refuse plaintext and private keys")
    if importlib.util.find_spec("pre_commit") is None:
        print("NOT RUN  pre-commit itself, which is not installed: its schema of the hooks")
    else:
        succeed(
            [sys.executable, "-m", "pre_commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"], folder
        )
        print("ok       hooks: pre-commit accepts them")


def formula(folder: Path) -> None:
    """The formula installs, and its test passes, with a stand-in for Homebrew."""
    if shutil.which("ruby") is None:
        print("NOT RUN  formula: ruby is not installed")
        return
    (folder / "brew.rb").write_text(BREW)
    (folder / "formula").mkdir()
    program = shutil.which("sealane", path=environment()["PATH"]) or sys.exit("sealane is not installed")
    command = ["ruby", folder / "brew.rb", ROOT / "release" / "homebrew" / "sealane.rb"]
    printed = succeed(command, folder / "formula", env=environment(BIN=str(Path(program).parent)))
    assert "cargo install --path cli" in printed, printed
    print("ok       formula: installs completions and manual pages, and its test passes")
    print("NOT RUN  formula: Homebrew itself, which is not here, and its build, which is that of the crates")


def conda(folder: Path) -> None:
    """The recipe is read by rattler-build, and its tests pass."""
    path = ROOT / "release" / "conda" / "recipe.yaml"
    recipe = yaml.safe_load(path.read_text())
    for script in recipe["tests"][1]["script"]:
        succeed(["sh", "-c", script], folder, env=environment())
    succeed([sys.executable, "-c", f"import {recipe['tests'][0]['python']['imports'][0]}"], folder)
    print("ok       conda: the tests of the recipe pass")
    if importlib.util.find_spec("rattler_build") is None:
        print("NOT RUN  conda: rattler-build renders the recipe; the package py-rattler-build is missing")
    else:
        text = path.read_text()
        for key, value in {"VERSION": "0.1.0", "ADDRESS": "https://example.org", "SHA256": "0" * 64}.items():
            text = text.replace(key, value)
        (folder / "recipe.yaml").write_text(text)
        render = "import rattler_build as r; r.Stage0Recipe.from_yaml(open('recipe.yaml').read())"
        succeed([sys.executable, "-c", f"{render}.render(r.VariantConfig())"], folder)
        print("ok       conda: rattler-build renders the recipe")
    print("NOT RUN  conda: the build, which needs the packages of conda-forge")


def main() -> None:
    if sys.argv[1:] and sys.prefix == sys.base_prefix:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            succeed([sys.executable, "-m", "venv", "--system-site-packages", name], folder)
            python = folder / "bin" / "python"
            succeed([python, "-m", "pip", "install", "--quiet", "--no-index", sys.argv[1]], folder)
            sys.exit(subprocess.run([python, *sys.argv], check=False).returncode)
    for test in (action, hooks, formula, conda):
        with tempfile.TemporaryDirectory() as folder:
            keys_and_files(Path(folder))
            test(Path(folder))


if __name__ == "__main__":
    main()
