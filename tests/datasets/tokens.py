"""Tokens of SoftHSM 2, and a module before them that misbehaves if told to."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from programs import program
from sealane.fs import create_dataset_key

PIN, OTHER_PIN = "1234-sealane", "4321-sealane"


def softhsm() -> str:
    """Returns the path of the module."""
    return program("libsofthsm2.so")


class Tokens:
    """A folder of tokens. The first one is called "sealane"."""

    def __init__(self, folder: Path) -> None:
        for name in "libsofthsm2.so", "softhsm2-util", "pkcs11-tool":
            program(name)
        self.folder = folder
        (folder / "tokens").mkdir()
        config = f"directories.tokendir = {folder}/tokens\nobjectstore.backend = file\nlog.level = ERROR\n"
        (folder / "softhsm2.conf").write_text(config)
        self.module = str(folder / "odd_module.so")
        source = Path(__file__).with_name("odd_module.c")
        subprocess.run(
            ["cc", "-Wall", "-Werror", "-shared", "-fPIC", "-o", self.module, source, "-ldl"],
            check=True,
        )
        (folder / "pin").write_text(PIN + "\n")
        self.log = folder / "log"
        self.environment = {
            "SOFTHSM2_CONF": f"{folder}/softhsm2.conf",
            "ODD_MODULE_REAL": softhsm(),
            "ODD_MODULE_LOG": str(self.log),
            "SEALANE_PKCS11_PIN": PIN,
        }
        self._numbers = itertools.count()
        self.new_token("sealane")

    def new_token(self, label: str, pin: str = PIN) -> None:
        words = ["--init-token", "--free", "--label", label, "--pin", pin, "--so-pin", "so-" + pin]
        self._run("softhsm2-util", *words)

    def new_key(
        self, kind: str = "aes", *, label: str | None = None, token: str = "sealane", id: str = ""
    ) -> str:
        """Creates a key that cannot leave its token, and returns its reference."""
        label = label or f"{kind.replace(' ', '-')}-{next(self._numbers)}"
        verb, type = {
            "aes": ("--keygen", "AES:32"),
            "rsa": ("--keypairgen", "rsa:2048"),
            "rsa always": ("--keypairgen", "rsa:2048"),
            "ec": ("--keypairgen", "EC:prime256v1"),
        }[kind]
        words = [verb, "--key-type", type, "--label", label, "--id", id or f"{next(self._numbers):08x}"]
        self._run(
            "pkcs11-tool",
            *("--module", softhsm(), "--token-label", token, "--login", "--pin", PIN),
            *(["--always-auth"] if kind == "rsa always" else []),
            *(*words, "--sensitive", *(["--usage-decrypt"] if kind != "ec" else ["--usage-sign"])),
        )
        return f"pkcs11:token={token};object={label}?module-path={self.module}"

    def new_key_without(self, usage: str) -> str:
        """Creates an AES key that may not "ENCRYPT" or "DECRYPT", with python-pkcs11 in another process."""
        label = f"no-{usage}-{next(self._numbers)}"
        script = (
            "import pkcs11\n"
            f"token = pkcs11.lib({softhsm()!r}).get_token(token_label='sealane')\n"
            f"with token.open(rw=True, user_pin={PIN!r}) as session:\n"
            f"    session.generate_key(pkcs11.KeyType.AES, 256, label={label!r}, store=True,\n"
            f"                         template={{pkcs11.Attribute.{usage}: False}})\n"
        )
        subprocess.run([sys.executable, "-c", script], env=os.environ | self.environment, check=True)
        return f"pkcs11:token=sealane;object={label}?module-path={self.module}"

    def _run(self, name: str, *words: str) -> None:
        environment = os.environ | self.environment
        done = subprocess.run([program(name), *words], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    @contextlib.contextmanager
    def counting(self) -> Iterator[list[str]]:
        """Yields the list of the logins during the block, each with the number of its process.

        A login that another process disturbed does not count; another one followed.
        """
        counted: list[str] = []
        before = len(self._logins())
        yield counted
        counted += self._logins()[before:]
        for event in [event for event in counted if event.startswith("disturbed")]:
            counted.remove(event)
            counted.remove(event.replace("disturbed", "login"))

    def _logins(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


def made(key: str, path: Path, context: str = "sales") -> str:
    """Makes an encrypted keyset and returns the reference to it."""
    wrapping_key = f"{key}&context={context}" if context else key
    create_dataset_key(str(path), wrapping_key=wrapping_key)
    return f"{wrapping_key}#{path}"
